"""The publication of `update`: some URLs were requested, they alone are decided, and their files alone are written.

That is enough if the new answers change no other decision and no other file. Whatever may do so, even if it seldom
does, raises NotLocalError. Then everything is decided and written, as `write` does. Either way a `write` afterwards
changes nothing.
"""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.config.types import Format
from sitemap_crawler.exceptions import ForeignFilesError, NotLocalError, PublicationRefusedError
from sitemap_crawler.inventory.affected import (
    MAX_CHOSEN,
    canonical_sources,
    canonical_targets,
    claims_of,
    count_runs,
    index_files,
    restore_decisions,
    stored_decisions,
)
from sitemap_crawler.inventory.damage import check_pages_before_publication
from sitemap_crawler.inventory.publications import (
    Change,
    Changes,
    Publications,
    mark_unpublished,
    next_publication,
    published_dates,
    store_published_changes,
)
from sitemap_crawler.inventory.results import add_to_totals
from sitemap_crawler.inventory.runs import SAW_EVERYTHING, decision_backup
from sitemap_crawler.inventory.supplied import supplied_of
from sitemap_crawler.inventory.template_images import settled_template_images
from sitemap_crawler.policy.guards import publish_problem, start_page_problem
from sitemap_crawler.publish.conclude import conclude, decider_of, failures_reported, proves_absence, report_of
from sitemap_crawler.publish.entries import Entries
from sitemap_crawler.publish.owner import owner_problem
from sitemap_crawler.publish.publisher import SitemapSet, sections_of
from sitemap_crawler.publish.sitemap_sets import file_row
from sitemap_crawler.report.report import Outcome, change_row
from sitemap_crawler.sitemap.live_update import PageChange, publish_changes
from sitemap_crawler.sitemap.names import RESERVED_SECTIONS, Names
from sitemap_crawler.sitemap.records import Target
from sitemap_crawler.urls.normalise import host_of, origin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sitemap_crawler.inventory.decisions import DecisionStore
    from sitemap_crawler.policy.decide import Decider, Decision, Facts
    from sitemap_crawler.policy.reasons import Reason
    from sitemap_crawler.publish.context import RunContext
    from sitemap_crawler.report.report import Report
    from sitemap_crawler.sitemap.records import Publication, PublishedFile

logger = logging.getLogger(__name__)

_ESCAPE = re.compile("%(5[B-E]|60|7[B-D])")
"""Escapes that the writer makes of the characters that RFC 3986 forbids: see sitemap/escaping.py."""


class TouchedPages(NamedTuple):
    """What the requests of one `update` have touched."""

    ids: Sequence[int]
    """URLs that were requested, or that their pages name for the first time."""
    before: Mapping[int, Facts]
    """The facts of the requested URLs before the requests."""
    claims: Mapping[int, str]
    """What they said of their language versions before."""
    obstacle: str | None
    """Why everything has to be decided, if that is known already."""


def publish_update(context: RunContext, touched: TouchedPages) -> Report:
    """Decide, publish and return the report. Raises no exception: every failure is an outcome of the report."""
    try:
        report = report_of(context)
        with failures_reported(context, report):
            _LocalUpdate(context, touched, report).publish()
    except NotLocalError as error:
        logger.info("everything is decided and written: %s", error)
        with decision_backup(context.store.connection) as backup:
            report = conclude(context, None)
            backup.keeps_new = report.has_published
    return report


class _LocalUpdate:
    """One publication of the touched pages."""

    def __init__(self, context: RunContext, touched: TouchedPages, report: Report) -> None:
        self._context = context
        self._options = context.options
        self._connection = context.store.connection
        self._touched = touched
        self._report = report
        self._changed = False

    def publish(self) -> None:
        """Decide and publish, and fill in the report. Raises NotLocalError and the exceptions of a publication."""
        self._check_options()
        self._ids = self._affected()
        if len(self._ids) > MAX_CHOSEN:
            raise NotLocalError(f"it may decide on more than {MAX_CHOSEN:,} URLs")
        decisions, decider = self._decider()
        made = list(decider.decisions())
        self._old = stored_decisions(self._connection, self._ids)
        self._live = published_dates(self._connection, self._ids)
        self._check_versions(made)
        problem = start_page_problem(self._context.start_url, find=decisions.find, decider=decider)
        if problem is not None:
            raise PublicationRefusedError(problem)
        self._count(made)
        if self._report.changes.removed:
            check_pages_before_publication(self._context.store.location, self._ids)
        mark_unpublished(self._connection)
        decisions.save(made)
        try:
            self._publish_sets(decisions, made)
        except BaseException:
            restore_decisions(self._connection, self._ids, self._old.values())
            raise
        number = next_publication(self._connection)
        store_published_changes(self._connection, self._context.run.id, self._ids, publication=number)
        add_to_totals(self._connection, self._context.run.id, self._reason_differences(made))
        self._report.outcome = Outcome.PUBLISHED if self._changed else Outcome.UNCHANGED

    def _check_options(self) -> None:
        """Raise NotLocalError for options by which a page may change the entries of other pages, or other files."""
        options = self._options
        if self._touched.obstacle is not None:
            raise NotLocalError(self._touched.obstacle)
        for name in ("changefreq", "priority", "news_name", "dry_run"):
            if getattr(options, name):
                raise NotLocalError(f"the option {name} concerns all pages")
        if options.format != (Format.XML,):
            raise NotLocalError("other formats than XML are written whole")

    def _affected(self) -> list[int]:
        """Return the ids of the URLs whose decisions may change, and of those by which they are decided."""
        decisions, decider = decider_of(self._context, proved=False)
        now = {facts.id: facts for facts in decisions.facts_of(list(self._touched.before))}
        changed = [url_id for url_id, facts in self._touched.before.items() if _differs(facts, now[url_id], decider)]
        with self._connection.begin():
            sources = canonical_sources(self._connection, changed, limit=MAX_CHOSEN)
            if sources is None:
                raise NotLocalError("too many pages name a requested one as their canonical")
            ids = sources.union(self._touched.ids)
            if len(ids) <= MAX_CHOSEN:
                ids |= index_files(self._connection, [now[url_id].url for url_id in now])
                ids |= canonical_targets(self._connection, ids)
        return sorted(ids)

    def _decider(self) -> tuple[DecisionStore, Decider]:
        context = self._context
        proved = count_runs(self._connection, self._ids) and proves_absence(
            context, saw_everything=context.run.ended_by == SAW_EVERYTHING
        )
        return decider_of(context, proved=proved, rows=lambda decisions: decisions.facts_of(self._ids))

    def _check_versions(self, made: Sequence[Decision]) -> None:
        """Raise NotLocalError if the sets of language versions may change."""
        if not self._options.alternates:
            return
        now = claims_of(self._connection, self._ids)
        before = {**now, **{url_id: self._touched.claims.get(url_id, "") for url_id in self._touched.before}}
        for decision in made:
            was, says = before.get(decision.url_id, ""), now.get(decision.url_id, "")
            if (was or says) and (was != says or self._was_decided_listed(decision) != decision.listed):
                raise NotLocalError("the language versions of a page have changed")

    def _was_decided_listed(self, decision: Decision) -> bool:
        old = self._old.get(decision.url_id)
        return old is not None and old["decision"] == "listed"

    def _count(self, made: Sequence[Decision]) -> None:
        """Fill in the differences from the published set."""
        differences: dict[Change, list[tuple[str, float | None, float | None]]] = {kind: [] for kind in Change}
        for decision in sorted(made, key=lambda decision: decision.url):
            was, before = decision.url_id in self._live, self._live.get(decision.url_id)
            row = (decision.url, before, decision.lastmod if decision.listed else None)
            if was and not decision.listed:
                differences[Change.REMOVED].append(row)
            elif decision.listed and not was:
                differences[Change.ADDED].append(row)
            elif decision.listed and before != decision.lastmod:
                differences[Change.CHANGED].append(row)
        self._report.changes = Changes(**{str(kind): len(rows) for kind, rows in differences.items()})
        self._report.diff = {kind: [change_row(kind, *row) for row in rows] for kind, rows in differences.items()}

    def _reason_differences(self, made: Sequence[Decision]) -> dict[str, int]:
        """Return by how much the number of URLs changes, by reason."""
        differences: dict[str, int] = {}
        for decision in made:
            if (old := self._old.get(decision.url_id)) is not None:
                differences[old["reason"]] = differences.get(old["reason"], 0) - 1
            differences[decision.reason] = differences.get(decision.reason, 0) + 1
        return {str(reason): count for reason, count in differences.items() if count}

    def _publish_sets(self, decisions: DecisionStore, made: Sequence[Decision]) -> None:
        pages = [decision for decision in made if decision.listed or decision.url_id in self._live]
        if not self._options.subdomains:
            context = self._context
            prefix = context.rules.scope.prefix
            sitemap_set = SitemapSet(context.sitemap_url, self._options.output, context.start_url, prefix, 0, 0)
            self._publish_set(sitemap_set, decisions, pages)
            return
        by_origin: dict[str, list[Decision]] = {}
        for decision in pages:
            by_origin.setdefault(origin_of(decision.url), []).append(decision)
        for origin, of_origin in sorted(by_origin.items()):
            self._publish_set(self._set_of_host(f"{origin}/"), decisions, of_origin)

    def _set_of_host(self, prefix: str) -> SitemapSet:
        context, host = self._context, host_of(prefix)
        name = context.sitemap_url.rpartition("/")[2]
        start = context.start_url if context.start_url.startswith(prefix) else prefix
        return SitemapSet(prefix + name, self._options.output / host, start, prefix, 0, 0, host=host)

    def _publish_set(self, sitemap_set: SitemapSet, decisions: DecisionStore, pages: Sequence[Decision]) -> None:
        publications = Publications(
            self._connection, sitemap_set.output, Names.for_sitemap(sitemap_set.sitemap_url).entry
        )
        previous = publications.files()
        if not previous:
            raise NotLocalError(f"nothing is published as {sitemap_set.sitemap_url} yet")
        published = sum(file.urls for file in previous if file.section not in RESERVED_SECTIONS)
        listed = published + sum(page.listed - (page.url_id in self._live) for page in pages)
        sitemap_set = sitemap_set._replace(listed=listed, published=published)
        self._approve(sitemap_set)
        publication = self._publish_pages(sitemap_set, publications, previous, decisions, pages)
        publications.replace(publication.files)
        self._report.files += [file_row(file, sitemap_set) for file in publication.files]
        self._changed |= any(file.written for file in publication.files)

    def _approve(self, sitemap_set: SitemapSet) -> None:
        """Check the guards of a set. Raises NotPublishedError; NotLocalError for one host of several."""
        options, output, url = self._options, sitemap_set.output, sitemap_set.sitemap_url
        problem = publish_problem(options, listed=sitemap_set.listed, published=sitemap_set.published)
        foreign = owner_problem(self._connection, options, directory=output, sitemap_url=url)
        if (problem or foreign) and sitemap_set.host:
            raise NotLocalError(f"{sitemap_set.host}: {problem or foreign}")
        if problem:
            raise PublicationRefusedError(problem)
        if foreign:
            raise ForeignFilesError(foreign)

    def _publish_pages(
        self,
        sitemap_set: SitemapSet,
        publications: Publications,
        previous: Sequence[PublishedFile],
        decisions: DecisionStore,
        pages: Sequence[Decision],
    ) -> Publication:
        context, options = self._context, self._options
        sections, live_sections = sections_of(context, sitemap_set, previous)
        assign = sections.assigner(live_sections)

        def section_of(url: str) -> str:
            section = assign(url)
            if options.by_directory and section not in live_sections:
                raise NotLocalError(f"{section or 'the default section'} has no file yet")
            return section

        entries = Entries(
            context,
            decisions,
            now=datetime.now(UTC),
            section_of=section_of if sections.signature else None,
            template_images=self._template_images(sitemap_set, touched=len(pages)),
            prefix=sitemap_set.page_prefix,
            ids=[page.url_id for page in pages],
        )
        target = Target(
            sitemap_set.output, sitemap_set.sitemap_url, options.max_urls, options.max_bytes, gzip=options.gzip
        )
        return publish_changes(
            self._page_changes(pages, section_of if sections.signature else lambda _: ""),
            entries,
            target,
            previous,
            datetime.now(UTC),
            announce=publications.announce,
            section_signature=sections.signature,
            approve=lambda listed: self._approve(sitemap_set._replace(listed=listed)),
        )

    def _page_changes(self, pages: Sequence[Decision], section_of: Callable[[str], str]) -> list[PageChange]:
        with self._context.store.reader() as connection:
            supplied = supplied_of(connection, [page.url_id for page in pages])
        changes = []
        for page in pages:
            loc = self._context.rules.to_public(page.url)
            given = supplied[page.url_id].section if page.url_id in supplied else None
            changes.append(PageChange(loc, given or section_of(loc), page.url_id in self._live))
        return changes

    def _template_images(self, sitemap_set: SitemapSet, *, touched: int) -> frozenset[str]:
        if not self._options.images or self._options.template_images:
            return frozenset()
        counts = {"listed": sitemap_set.listed, "published": sitemap_set.published, "touched": touched}
        images = settled_template_images(self._connection, prefix=sitemap_set.page_prefix, **counts)
        if images is None:
            raise NotLocalError("an image may have become, or ceased to be, one of the template")
        return images


def _differs(before: Facts, now: Facts, decider: Decider) -> bool:
    """Return whether other pages may be decided otherwise because of a URL: it can be listed, or its canonical."""
    return _role(before, decider) != _role(now, decider)


def _role(facts: Facts, decider: Decider) -> tuple[Reason | None, int | None]:
    refusal = decider.refusal(facts)
    canonical = facts.canonical_id if facts.canonical_id != facts.id else None
    return None if refusal is None else refusal.reason, canonical
