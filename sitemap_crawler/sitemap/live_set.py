"""Publication of a sorted stream of entries as the live set of files, which is complete at every instant.

All files are first written as temporary files and synchronised to disk, so that only renames are left. In the order of
the renames the entry file never names a missing file, and a URL is in its new shard before it leaves the old one.

That order suffices for pages that stay in their section, or leave the default section for a new one. After a change of
the section rules any page may move anywhere. Then no live shard is replaced: the new shards have other numbers, one
rename of the entry file switches to them, and the old shards are removed.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import NothingToPublishError
from sitemap_crawler.sitemap import news as news_format
from sitemap_crawler.sitemap.index import IndexedFile, section_rank, set_index
from sitemap_crawler.sitemap.layout import Layout, read_live_set
from sitemap_crawler.sitemap.names import NEWS_SECTION, RESERVED_SECTIONS, Names, is_section_name
from sitemap_crawler.sitemap.records import Publication, Records
from sitemap_crawler.sitemap.serialiser import Serialiser
from sitemap_crawler.sitemap.stage import Stager
from sitemap_crawler.utils.replace import Staging

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
    section_signature: str = "",
    approve: Callable[[int], None] = lambda _: None,
) -> Publication:
    """Publish the set of `entries`.

    `entries` are sorted by loc, with each loc once in a section; images and videos with an entry of their own follow
    their page. `previous` are the files of the last publication. `news` is iterated after `entries`.
    `section_signature` identifies the rules that gave the entries their sections.

    `approve` is called with the number of pages before any file is live, and may raise an exception. `announce` is then
    called with the files that `previous` lacks. A caller that adds them to the previous files leaves no stray file
    behind when the process is killed, even if the rules change afterwards.

    Raises NothingToPublishError, EntryNameError, IndexOverflowError, OSError and every exception of `entries`. The live
    set is then untouched or, after a failure while renaming, a mixture of old and new files, each complete.
    """
    names = Names.for_sitemap(target.sitemap_url, gzip=target.gzip)
    records = Records(names, previous, now, section_signature)
    serialiser = Serialiser(target.max_bytes)
    batches = serialiser.batches(entries)
    first = next(batches, None)
    if first is None:
        raise NothingToPublishError("there is no URL to list: the live files are untouched")
    with Staging(target.directory) as staging:
        stager = Stager(names, staging, max_urls=target.max_urls, max_bytes=target.max_bytes)
        writer = LiveSetWriter(target, names, records, stager)

        def before_live(new: Sequence[PublishedFile]) -> None:
            approve(serialiser.listed)
            announce(new)

        articles = _serialised_news(news, serialiser, max_bytes=target.max_bytes)
        outputs = writer.publish(chain([first], batches), articles, before_live)
        removed = writer.remove_stale({output.name for output in outputs})
    listed = sum(output.urls for output in outputs if output.section not in RESERVED_SECTIONS)
    return Publication(outputs, listed, tuple(serialiser.omitted), removed, tuple(serialiser.omitted_extras))


def _serialised_news(
    entries: Iterable[NewsEntry], serialiser: Serialiser, *, max_bytes: int
) -> Iterator[tuple[str, bytes]]:
    """Yield loc and serialised article, newest first, of the pages that the serialiser has not omitted."""
    newest_first = sorted(entries, key=_newest_first_key)
    max_article_bytes = max_bytes - news_format.NEWS_FRAME.size
    omitted = set(serialiser.omitted)
    for entry in newest_first:
        data = news_format.serialise(entry)
        if len(data) > max_article_bytes:
            serialiser.omitted_extras.append(entry.loc)
        elif entry.loc not in omitted:
            yield entry.loc, data


def _newest_first_key(entry: NewsEntry) -> tuple[float, str]:
    moment = datetime.fromisoformat(entry.publication_date)
    return -(moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), entry.loc


class LiveSetWriter:
    """Writer of one publication: stages its files and makes them live."""

    def __init__(self, target: Target, names: Names, records: Records, stager: Stager) -> None:
        self._target = target
        self._names = names
        self._records = records
        self._stager = stager
        self._live = read_live_set(target.directory, names, records.files)
        """The live shards by name."""

    def publish(
        self,
        batches: Iterable[EntryBatch],
        articles: Iterable[tuple[str, bytes]],
        before_live: Callable[[Sequence[PublishedFile]], None],
    ) -> tuple[OutputFile, ...]:
        """Make the files of the set live. Return all of them, the entry file first. The old shards remain.

        `before_live` is called with the files that are not recorded, when only renames are left.
        """
        self._stager.remove_leftovers(self._records.files)
        sections = self._stager.write_shards(batches, self._layout)
        shards = self._stager.write_news(articles)
        has_default_section_only = not shards and sections.keys() == {""}
        if has_default_section_only and self._stager.fit_one_file(sections[""]):
            entry = self._stager.join_into_entry(sections[""])
        else:
            joined = (self._stager.join_small_neighbours(sections[name]) for name in sorted(sections))
            shards = [*chain.from_iterable(joined), *shards]
            entry = self._write_index([self._indexed(shard) for shard in shards])
        return self._make_live(entry, shards, before_live)

    def _make_live(
        self,
        entry: StagedFile,
        shards: Sequence[StagedFile],
        before_live: Callable[[Sequence[PublishedFile]], None],
        *,
        untouched: Iterable[PublishedFile] = (),
    ) -> tuple[OutputFile, ...]:
        """Make staged files live, and return all files of the set. `shards` are in the order of their pages.

        `untouched` are the live shards of which no file is staged.
        """
        changed = self._stager.find_changed([*shards, entry])
        transition = self._stage_transition_index(shards, changed) if entry in changed else []
        for file in [*changed, *transition]:
            file.file.sync()
        outputs = [self._records.output(file, written=file in changed) for file in shards]
        outputs += map(self._records.kept, untouched)
        outputs.sort(key=self._output_rank)
        outputs.insert(0, self._records.output(entry, written=entry in changed))
        before_live([output for output in outputs if output.name not in self._records.files])
        self._stager.move(shard for shard in shards if shard in changed and shard.name not in self._live)
        self._stager.move(transition)
        # Last shard first, because a live shard takes pages only from the shards before it: see Layout.
        self._stager.move(shard for shard in reversed(shards) if shard in changed and shard.name in self._live)
        self._stager.move([entry] if entry in changed else [])
        return tuple(outputs)

    def _output_rank(self, file: PublishedFile) -> tuple[tuple[bool, str], int]:
        place = self._names.section_and_number(file.name)
        return section_rank(file.section), place[1] if place else 0

    def remove_stale(self, names: set[str]) -> tuple[str, ...]:
        """Remove the recorded shards that are not in `names`. Other files in the directory are not ours."""
        recorded = (name for name in self._records.files if name not in names)
        stale = [name for name in recorded if self._names.section_and_number(name) is not None]
        for name in stale:
            self._stager.remove(name)
        return tuple(stale)

    def _layout(self, section: str) -> Layout:
        """Return the layout of a section. Shards written with other rules stay as they are and keep their numbers."""
        if section == NEWS_SECTION or (section and not is_section_name(section)):
            raise ValueError(f"{section!r} is no section of pages")
        live = {name: shard for name, shard in self._live.items() if shard.section == section}
        usable = [shard for name, shard in live.items() if self._records.has_current_rules(name)]
        taken = {shard.number for shard in live.values()}
        outdated = (name for name in self._records.files if not self._records.has_current_rules(name))
        places = map(self._names.section_and_number, outdated)
        taken.update(place[1] for place in places if place is not None and place[0] == section)
        return Layout(usable, max_urls=self._target.max_urls, max_bytes=self._target.max_bytes, taken=taken)

    def _stage_transition_index(self, shards: Sequence[StagedFile], changed: set[StagedFile]) -> list[StagedFile]:
        """Stage an index of the live and the new shards, which is live while URLs move from the live to the new ones.

        Return an empty list if no URL can move.
        """
        new = [shard for shard in shards if shard.name not in self._live]
        changes_live_shard = any(shard.name in self._live for shard in changed if shard.number)
        if not new or not changes_live_shard:
            return []
        rows = []
        for name, shard in self._live.items():
            recorded = self._records.files.get(name)
            modified = recorded.modified if recorded else self._records.now
            rows.append(IndexedFile(shard.section, shard.number, shard.first, self._names.url(name), modified))
        return [self._write_index([*rows, *map(self._indexed, new)])]

    def _write_index(self, rows: Iterable[IndexedFile]) -> StagedFile:
        return self._stager.write_file(self._names.entry, set_index(rows))

    def _indexed(self, file: StagedFile) -> IndexedFile:
        url = self._names.url(file.name)
        return IndexedFile(file.section, file.number, file.first, url, self._records.modified(file))
