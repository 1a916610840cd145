"""A search engine may read the output directory at any instant: the set is whole, and no page that stays is missing.

The entry file is read first, then the files that it names. A file that has vanished in between is no fault when the
entry file has ceased to name it: the reader begins again. Pages can move between files while they are read one by one,
so the union is judged where a second look finds the same bytes, and in the states between the renames themselves.
All of this holds for sets with sections, too, whose rules change from one publication to the next.
"""

from __future__ import annotations

import gzip
import os
import random
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from lxml import etree

from sitemap_crawler.sitemap import sections
from sitemap_crawler.sitemap.entry import Entry
from sitemap_crawler.sitemap.live_set import publish
from sitemap_crawler.sitemap.news import NewsEntry
from sitemap_crawler.sitemap.records import PublishedFile, Target
from sitemap_crawler.sitemap.sections import Sections
from sitemap_crawler.validation.entries import read_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow

BASE = "https://example.com/d/"
ENTRY = "map.xml"
NOW = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
PUBLICATIONS = 100
SECTIONED = 50
"""Publications of sets with sections, which have more files."""
MAX_URLS = 10
SITE_DIRECTORIES = ("", "a/", "b/", "c/", "c/", "d/", "d/", "e/", "e/", "e/", "")
LOCS = sorted(f"{BASE}{SITE_DIRECTORIES[number % 11]}page-{number:02}" for number in range(90))

Pages = dict[str, str]
"""The date of each page by its URL."""
Snapshot = dict[str, bytes]
"""Files by their names."""


def kind_and_locs(data: bytes) -> tuple[str, list[str]]:
    """The name of the root element and the URLs of a file. Raises when it is not whole."""
    root = etree.fromstring(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
    locs = [entry.loc for entry in read_entries(data)]
    assert len(locs) == len(root) > 0
    return etree.QName(root).localname, locs


def file_names(entry: bytes) -> list[str]:
    """The files that the entry file leads to: itself when it is no index."""
    kind, locs = kind_and_locs(entry)
    return [loc.removeprefix(BASE) for loc in locs] if kind == "sitemapindex" else [ENTRY]


def check_union(files: Snapshot, before: Pages, after: Pages) -> None:
    """What stays is there; what is there is of one of the two sets."""
    read = [kind_and_locs(files[name]) for name in file_names(files[ENTRY])]
    assert {kind for kind, _ in read} == {"urlset"}
    found = {loc for _, locs in read for loc in locs}
    assert before.keys() & after.keys() <= found <= before.keys() | after.keys()


def histories(seed: int, rules: Callable[[int], Sections]) -> Iterator[Pages]:
    """Sets that grow, shrink, change, are replaced, and go between one file and many."""
    chance = random.Random(seed)
    pages: Pages = {}
    for number in range(PUBLICATIONS if rules is no_sections else SECTIONED):
        step = chance.choice(("grow", "shrink", "change", "mix", "small", "large"))
        known, others = sorted(pages), sorted(set(LOCS) - set(pages))
        if step in ("shrink", "mix"):
            for loc in chance.sample(known, len(known) // chance.randint(2, 6)):
                del pages[loc]
        if step in ("grow", "mix"):
            pages |= dict.fromkeys(chance.sample(others, min(len(others), chance.randint(1, 25))), "2024-01-01")
        if step == "change":
            pages |= dict.fromkeys(
                chance.sample(known, min(len(known), chance.randint(1, 3))), f"2024-02-{number % 28 + 1:02}"
            )
        if step in ("small", "large") or not pages:
            size = chance.randint(1, MAX_URLS) if step == "small" else chance.randint(60, len(LOCS))
            pages = dict.fromkeys(chance.sample(LOCS, size), "2024-03-01")
        yield dict(pages)


NO_SECTIONS = Sections.parse([])
RULES = (
    NO_SECTIONS,
    Sections.parse(["odd=[13579]$"]),
    Sections.parse(["odd=[02468]$", "low=page-[0-3]"]),
    Sections.parse(["low=[13579]$", "odd=page-[3-6]"]),
    Sections.parse(["all=page"]),
)
DIRECTORIES = Sections.parse([], by_directory=True, prefix=BASE)


def no_sections(_: int) -> Sections:
    return NO_SECTIONS


def changing_rules(number: int) -> Sections:
    """Now and then others, and those for a while."""
    return RULES[random.Random(number // 3).randrange(len(RULES))]


def directories(_: int) -> Sections:
    return DIRECTORIES


@dataclass
class Publisher:
    directory: Path
    compress: Callable[[int], bool]
    """Whether the shards of the n-th publication are compressed."""
    sections: Callable[[int], Sections] = no_sections
    previous: tuple[PublishedFile, ...] = ()
    count: int = 0
    signatures: set[str] = field(default_factory=set)

    def publish(self, pages: Pages) -> None:
        target = Target(
            self.directory, BASE + ENTRY, max_urls=MAX_URLS, max_bytes=50_000, gzip=self.compress(self.count)
        )
        rules = self.sections(self.count)
        known = {file.section for file in self.previous if file.rules == rules.signature}
        section_of = rules.assigner(known)
        entries = [Entry(loc, pages[loc], section=section_of(loc)) for loc in sorted(pages)]
        now = NOW + timedelta(hours=self.count)
        news = self._news(pages) if self.sections is not no_sections else []
        self.previous = publish(entries, target, self.previous, now, news=news, section_signature=rules.signature).files
        self.count += 1
        self.signatures.add(rules.signature)

    def _news(self, pages: Pages) -> list[NewsEntry]:
        """None at times, up to two files at others."""
        some = sorted(pages)[: self.count * 7 % 20]
        return [NewsEntry(loc, "The Times", "en", f"2024-05-0{ord(loc[-1]) % 9 + 1}", loc[-3:]) for loc in some]


MODES = pytest.mark.parametrize(
    ("compress", "rules"),
    [
        pytest.param(lambda _: False, no_sections, id="plain"),
        pytest.param(lambda number: number // 7 % 2 == 1, no_sections, id="now and then gzip"),
        pytest.param(lambda number: number // 7 % 2 == 1, changing_rules, id="rules and gzip that change"),
        pytest.param(lambda _: False, directories, id="directories"),
    ],
)


@pytest.fixture(autouse=True)
def few_directories(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer sections than directories, so that pages go from the default section to new ones."""
    monkeypatch.setattr(sections, "MAX_DIRECTORIES", 3)


@dataclass
class Poller:
    """Reads the set again and again in a thread of its own; `sets` grows by one before each publication begins."""

    directory: Path
    sets: list[Pages]
    reads: int = 0
    numbers: set[int] = field(default_factory=set)
    """How many files, the entry file among them, the sets had that were found."""
    fault: BaseException | None = None
    _stopped: bool = False
    _read: threading.Condition = field(default_factory=threading.Condition)

    def run(self) -> None:
        try:
            while not self._stopped:
                self._poll()
        except BaseException as error:
            self.fault = error
        finally:
            with self._read:
                self._stopped = True
                self._read.notify_all()

    def stop(self) -> None:
        self._stopped = True

    def wait_for_reads(self, number: int) -> None:
        with self._read:
            wanted = self.reads + number
            assert self._read.wait_for(lambda: self._stopped or self.reads >= wanted, 60)

    def _poll(self) -> None:
        begun = len(self.sets)
        found, again = self._read_set(), self._read_set()
        under_way = self.sets[begun - 2 :]
        if found == again and len(under_way) <= 2:
            check_union(found, under_way[0], under_way[-1])
            self.numbers.add(len(found))
        with self._read:
            self.reads += 1
            self._read.notify_all()

    def _read_set(self) -> Snapshot:
        """The entry file and the files that it names."""
        while True:
            entry = (self.directory / ENTRY).read_bytes()
            found = {ENTRY: entry}
            try:
                for name in set(file_names(entry)) - {ENTRY}:
                    found[name] = (self.directory / name).read_bytes()
                    assert kind_and_locs(found[name])[0] == "urlset"
            except FileNotFoundError as error:
                missing = Path(error.filename).name
                assert missing not in file_names((self.directory / ENTRY).read_bytes()), f"{missing} is missing"
            else:
                return found


@MODES
def test_a_reader_that_never_pauses_finds_a_whole_set(
    tmp_path: Path, compress: Callable[[int], bool], rules: Callable[[int], Sections]
) -> None:
    publisher = Publisher(tmp_path, compress, rules)
    sets = list(histories(1, rules))
    publisher.publish(sets[0])
    poller = Poller(tmp_path, [sets[0], sets[0]])
    thread = threading.Thread(target=poller.run, daemon=True)
    thread.start()
    try:
        for pages in sets[1:]:
            poller.sets.append(pages)
            publisher.publish(pages)
            # Of two reads that end from here on, the second has seen nothing but this set.
            poller.wait_for_reads(2)
    finally:
        poller.stop()
        thread.join()
    if poller.fault is not None:
        raise poller.fault
    assert publisher.count == len(sets) >= SECTIONED
    assert rules is not no_sections or min(poller.numbers) == 1
    assert max(poller.numbers) > 6


@pytest.fixture
def snapshots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Snapshot]:
    """What others see in the directory after each rename and removal: nothing else changes what is live."""
    taken: list[Snapshot] = []

    def recorded(function: Callable[..., None]) -> Callable[..., None]:
        def call(*arguments: Any, **options: Any) -> None:
            function(*arguments, **options)
            taken.append({path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name[0] != "."})

        return call

    for name in ("replace", "rename", "unlink", "remove"):
        monkeypatch.setattr(os, name, recorded(getattr(os, name)))
    return taken


def check_readers_in_turn(snapshots: list[Snapshot], staying: set[str]) -> None:
    """Whatever the moments at which one reads the files in the order of the index, which is the same afterwards."""
    listing = [{name: set(kind_and_locs(data)[1]) for name, data in files.items()} for files in snapshots]
    for begun, files in enumerate(snapshots):
        same = next((n for n in range(begun, len(snapshots)) if snapshots[n][ENTRY] != files[ENTRY]), len(snapshots))
        names = file_names(files[ENTRY])
        assert not [loc for loc in staying if can_miss(loc, names, listing[begun:same])]


def can_miss(loc: str, names: list[str], listing: list[dict[str, set[str]]]) -> bool:
    moment = 0
    for name in names:
        # To read each file as early as it lacks the page leaves the most to choose for the files after it.
        lacking = (later for later in range(moment, len(listing)) if loc not in listing[later].get(name, {loc}))
        found = next(lacking, None)
        if found is None:
            return False
        moment = found
    return True


@MODES
def test_the_set_is_whole_between_any_two_renames(
    tmp_path: Path,
    compress: Callable[[int], bool],
    rules: Callable[[int], Sections],
    snapshots: list[Snapshot],
) -> None:
    first, *others = histories(2, rules)
    publisher = Publisher(tmp_path, compress, rules)
    publisher.publish(first)
    before, moments = first, 0
    for pages in others:
        del snapshots[:-1]
        publisher.publish(pages)
        for snapshot in snapshots:
            check_union(snapshot, before, pages)
        check_readers_in_turn(snapshots, before.keys() & pages.keys())
        before, moments = pages, moments + len(snapshots)
    assert moments > 4 * publisher.count
    assert len(publisher.signatures) == (len(RULES) if rules is changing_rules else 1)
