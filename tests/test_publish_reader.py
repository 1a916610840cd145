"""A search engine may read the output directory at any instant: the set is whole, and no page that stays is missing.

The entry file is read first, then the files that it names. A file that has vanished in between is no fault when the
entry file has ceased to name it: the reader begins again. Pages can move between files while they are read one by one,
so the union is judged where a second look finds the same bytes, and in the states between the renames themselves.
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

from sitemap_crawler.sitemap.entry import Entry
from sitemap_crawler.sitemap.publish import PublishedFile, Target, publish
from sitemap_crawler.validation import read_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BASE = "https://example.com/d/"
ENTRY = "map.xml"
NOW = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
PUBLICATIONS = 200
MAX_URLS = 10
LOCS = [f"{BASE}page-{number:03}" for number in range(90)]

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


def histories(seed: int) -> Iterator[Pages]:
    """Sets that grow, shrink, change, are replaced, and go between one file and many."""
    chance = random.Random(seed)
    pages: Pages = {}
    for number in range(PUBLICATIONS):
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


@dataclass
class Publisher:
    directory: Path
    compress: Callable[[int], bool]
    """Whether the shards of the n-th publication are compressed."""
    previous: tuple[PublishedFile, ...] = ()
    count: int = 0

    def publish(self, pages: Pages) -> None:
        target = Target(
            self.directory, BASE + ENTRY, max_urls=MAX_URLS, max_bytes=50_000, gzip=self.compress(self.count)
        )
        entries = [Entry(loc, pages[loc]) for loc in sorted(pages)]
        self.previous = publish(entries, target, self.previous, NOW + timedelta(hours=self.count)).files
        self.count += 1


MODES = pytest.mark.parametrize(
    "compress",
    [
        pytest.param(lambda _: False, id="plain"),
        pytest.param(lambda _: True, id="gzip"),
        pytest.param(lambda number: number // 7 % 2 == 1, id="now and then gzip"),
    ],
)


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
def test_a_reader_that_never_pauses_finds_a_whole_set(tmp_path: Path, compress: Callable[[int], bool]) -> None:
    publisher = Publisher(tmp_path, compress)
    sets = list(histories(1))
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
    assert publisher.count == PUBLICATIONS
    assert min(poller.numbers) == 1
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
    tmp_path: Path, compress: Callable[[int], bool], snapshots: list[Snapshot]
) -> None:
    first, *others = histories(2)
    publisher = Publisher(tmp_path, compress)
    publisher.publish(first)
    before, moments = first, 0
    for pages in others:
        del snapshots[:-1]
        publisher.publish(pages)
        for snapshot in snapshots:
            check_union(snapshot, before, pages)
        check_readers_in_turn(snapshots, before.keys() & pages.keys())
        before, moments = pages, moments + len(snapshots)
    assert moments > 4 * PUBLICATIONS
