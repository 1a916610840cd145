"""Makes a sorted stream of entries the live set of files, at no instant leaving it broken.

Everything is first staged in temporary files and on the disk; then only renames are left, in an order in which the
entry file never names a file that is missing and a URL stands in its new shard before it leaves the old one.

That order serves pages that stay in their section, or leave the default one for a section that is new. When the rules
have changed, any page may move anywhere: then no live shard is replaced. The new ones have other numbers, one rename
of the entry file switches over, and the old ones are removed.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import NothingToPublishError
from sitemap_crawler.sitemap import files, news
from sitemap_crawler.sitemap.index import IndexedFile, section_rank, set_index
from sitemap_crawler.sitemap.layout import Layout, read_live_set
from sitemap_crawler.sitemap.names import NEWS_SECTION, RESERVED_SECTIONS, Names, is_section_name
from sitemap_crawler.sitemap.records import Publication, Records
from sitemap_crawler.sitemap.serialiser import Serialiser
from sitemap_crawler.sitemap.stage import Stager

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sitemap_crawler.sitemap.entry import Entry, PlainEntries
    from sitemap_crawler.sitemap.news import NewsEntry
    from sitemap_crawler.sitemap.records import OutputFile, PublishedFile, StagedFile, Target
    from sitemap_crawler.sitemap.serialiser import EntryBatch


def publish(
    entries: Iterable[Entry | PlainEntries],
    target: Target,
    previous: Sequence[PublishedFile],
    now: datetime,
    *,
    announce: Callable[[Sequence[PublishedFile]], None] = lambda _: None,
    news: Iterable[NewsEntry] = (),
    rules: str = "",
    approve: Callable[[int], None] = lambda _: None,
) -> Publication:
    """Write the set of `entries`, which come sorted by loc, each loc once in a section. `previous`: the files of the
    last call. `news` is iterated when `entries` has come to its end. An entry of images or videos follows that of its
    page. `rules`: the signature of the rules that gave the entries their sections. `approve` is told how many pages the
    files hold before any of them is live, and may raise.

    `announce` is told of the files that `previous` lacks before any of them is live: a caller who remembers them as
    previous ones leaves no stray file behind when the process is killed, and may change the rules after that.
    Raises NothingToPublishError, EntryNameError, IndexOverflowError, OSError and whatever `entries` raises. The live
    set is then untouched or, after a failure while renaming, a mixture of old and new files of which each is whole.
    """
    names = Names.for_sitemap(target.sitemap_url, gzip=target.gzip)
    records = Records(names, previous, now, rules)
    serialiser = Serialiser(target.max_bytes)
    batches = serialiser.batches(entries)
    first = next(batches, None)
    if first is None:
        raise NothingToPublishError("there is no URL to list: the published files are left as they are")
    target.directory.mkdir(parents=True, exist_ok=True)
    with files.locked(target.directory), files.Staging() as staging:
        stager = Stager(target.directory, names, staging, max_urls=target.max_urls, max_bytes=target.max_bytes)
        publisher = _Publisher(target, names, records, stager)

        def approved(new: Sequence[PublishedFile]) -> None:
            approve(serialiser.listed)
            announce(new)

        articles = _serialised_news(news, serialiser, max_bytes=target.max_bytes)
        outputs = publisher.publish(chain([first], batches), articles, approved)
        removed = publisher.remove_stale({output.name for output in outputs})
    listed = sum(output.urls for output in outputs if output.section not in RESERVED_SECTIONS)
    return Publication(outputs, listed, tuple(serialiser.omitted), removed, tuple(serialiser.omitted_extras))


def _serialised_news(
    entries: Iterable[NewsEntry], serialiser: Serialiser, *, max_bytes: int
) -> Iterator[tuple[str, bytes]]:
    """Loc and serialised entry, newest first, of the pages that the serialiser has listed."""
    in_order = sorted(entries, key=_newest_first)
    largest = max_bytes - news.NEWS_FRAME.size
    omitted = set(serialiser.omitted)
    for entry in in_order:
        data = news.serialise(entry)
        if len(data) > largest:
            serialiser.omitted_extras.append(entry.loc)
        elif entry.loc not in omitted:
            yield entry.loc, data


def _newest_first(entry: NewsEntry) -> tuple[float, str]:
    moment = datetime.fromisoformat(entry.publication_date)
    return -(moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), entry.loc


class _Publisher:
    def __init__(self, target: Target, names: Names, records: Records, stager: Stager) -> None:
        self._target = target
        self._directory = target.directory
        self._names = names
        self._records = records
        self._stager = stager
        self._live = read_live_set(target.directory, names, records.files)

    def publish(
        self,
        batches: Iterable[EntryBatch],
        articles: Iterable[tuple[str, bytes]],
        announce: Callable[[Sequence[PublishedFile]], None],
    ) -> tuple[OutputFile, ...]:
        self._stager.remove_leftovers(self._records.files)
        sections = self._stager.shards(batches, self._layout)
        shards = self._stager.news(articles)
        if not shards and sections.keys() == {""} and self._stager.fit_one_file(sections[""]):
            entry = self._stager.join_into_entry(sections[""])
        else:
            joined = (self._stager.join_small_neighbours(sections[name]) for name in sorted(sections))
            shards = [*chain.from_iterable(joined), *shards]
            entry = self._write_index([self._indexed(shard) for shard in shards])
        changed = self._stager.find_changed([*shards, entry])
        growing = self._stage_growing(shards, changed) if entry in changed else []
        for file in [*changed, *growing]:
            files.make_durable(file.path, file.destination)
        in_order = [entry, *sorted(shards, key=lambda file: (section_rank(file.section), file.number))]
        outputs = tuple(self._records.output(file, written=file in changed) for file in in_order)
        announce([output for output in outputs if output.name not in self._records.files])
        self._stager.move(shard for shard in shards if shard in changed and shard.name not in self._live)
        self._stager.move(growing)
        # Backwards, as a live shard only ever takes pages from those before it: see Layout.
        self._stager.move(shard for shard in reversed(shards) if shard in changed and shard.name in self._live)
        self._stager.move([entry] if entry in changed else [])
        return outputs

    def remove_stale(self, names: set[str]) -> tuple[str, ...]:
        """Remove the shards that we recorded and that are not among `names`; nothing else in the directory is ours."""
        stale = [name for name in self._records.files if name not in names and self._names.place(name) is not None]
        for name in stale:
            (self._directory / name).unlink(missing_ok=True)
        return tuple(stale)

    def _layout(self, section: str) -> Layout:
        if section == NEWS_SECTION or (section and not is_section_name(section)):
            raise ValueError(f"{section!r} is no section of pages")
        live = {name: shard for name, shard in self._live.items() if shard.section == section}
        usable = [shard for name, shard in live.items() if self._records.has_current_rules(name)]
        taken = {shard.number for shard in live.values()}
        places = (self._names.place(name) for name in self._records.files if not self._records.has_current_rules(name))
        taken.update(place[1] for place in places if place is not None and place[0] == section)
        return Layout(usable, max_urls=self._target.max_urls, max_bytes=self._target.max_bytes, taken=taken)

    def _stage_growing(self, shards: Sequence[StagedFile], changed: set[StagedFile]) -> list[StagedFile]:
        """An index of the live shards and the new ones: live while URLs leave the former for the latter."""
        new = [shard for shard in shards if shard.name not in self._live]
        if not new or all(shard.name not in self._live for shard in changed if shard.number):
            return []
        rows = []
        for name, shard in self._live.items():
            recorded = self._records.files.get(name)
            modified = recorded.modified if recorded else self._records.now
            rows.append(IndexedFile(shard.section, shard.number, shard.first, self._names.url(name), modified))
        return [self._write_index([*rows, *map(self._indexed, new)])]

    def _write_index(self, rows: Iterable[IndexedFile]) -> StagedFile:
        return self._stager.write(self._names.entry, set_index(rows))

    def _indexed(self, file: StagedFile) -> IndexedFile:
        url = self._names.url(file.name)
        return IndexedFile(file.section, file.number, file.first, url, self._records.modified(file))
