"""The sitemap sets of a site: one, or with --subdomains one for each host; each is published by its own guards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sitemap_crawler.exceptions import IndexOverflowError, NothingToPublishError, PublicationRefusedError
from sitemap_crawler.inventory.history import delete_old_changes
from sitemap_crawler.inventory.publications import (
    next_publication,
    publications_in,
    published_count,
    store_published_pages,
)
from sitemap_crawler.inventory.runs import undo_run_marks
from sitemap_crawler.inventory.sql import listed_by_host, published_by_host, url_index
from sitemap_crawler.inventory.template_images import store_template_images
from sitemap_crawler.policy.guards import publish_problem
from sitemap_crawler.publish.publisher import Publisher, SitemapSet, pages_in_words
from sitemap_crawler.report.report import Outcome
from sitemap_crawler.urls.normalise import host_of

if TYPE_CHECKING:
    from sitemap_crawler.inventory.decisions import DecisionStore
    from sitemap_crawler.publish.context import RunContext
    from sitemap_crawler.report.report import Report
    from sitemap_crawler.sitemap.records import OutputFile


def publish_sets(site: RunContext, settled: DecisionStore, report: Report) -> None:
    """Publish what is settled, and say in `report` what came of it. Raises what the writers of a single set raise."""
    publishing = _Publishing(site, settled, report)
    if site.options.subdomains:
        publishing.publish_hosts()
    else:
        publishing.publish_one()


class _Publishing:
    def __init__(self, site: RunContext, settled: DecisionStore, report: Report) -> None:
        self._site = site
        self._options = site.options
        self._settled = settled
        self._report = report
        self._connection = site.store.connection
        self._publication = next_publication(self._connection)
        self._template: set[str] = set()
        self._changed = False

    def publish_one(self) -> None:
        site, report, output = self._site, self._report, self._options.output
        published = published_count(self._connection) if site.replaces else 0
        prefix = site.rules.scope.prefix
        chosen = SitemapSet(site.sitemap_url, output, site.start_url, prefix, report.listed, published)
        problem = self._problem(chosen)
        if problem is not None:
            report.outcome, report.message = Outcome.REFUSED, problem
        elif self._options.dry_run:
            report.outcome, report.message = Outcome.DRY_RUN, f"{pages_in_words(report.listed)} would be listed"
        else:
            publisher = self._publish(chosen)
            self._remember()
            where = output / publisher.files[0].name if publisher.files else output
            report.outcome = Outcome.PUBLISHED if self._changed else Outcome.UNCHANGED
            report.message = f"{pages_in_words(report.listed)} listed in {where}{self._same}"

    def publish_hosts(self) -> None:
        report, output = self._report, self._options.output
        sets = self._sets()
        if not any(chosen.listed for chosen in sets):
            report.outcome = Outcome.REFUSED
            report.message = "no page of any host can be listed, nothing is published: the summary says why"
            return
        with url_index(self._connection):
            refused = [row for row in map(self._host_row, sets) if row["outcome"] == Outcome.REFUSED]
        listing = [row for row in report.hosts if row["listed"] and row["outcome"] != Outcome.REFUSED]
        words = f"{pages_in_words(sum(row['listed'] for row in listing))} of {_hosts_in_words(len(listing))}"
        if listing and not self._options.dry_run:
            self._remember()
        if refused:
            others = f"; {words} listed in {output}" if listing and not self._options.dry_run else ""
            report.outcome = Outcome.REFUSED
            report.message = f"{refused[0]['host']}: {refused[0]['message']}{others}"
            if len(refused) > 1:
                report.message = f"{len(refused)} hosts are refused, {report.message}"
        elif self._options.dry_run:
            report.outcome, report.message = Outcome.DRY_RUN, f"{words} would be listed"
        else:
            report.outcome = Outcome.PUBLISHED if self._changed else Outcome.UNCHANGED
            report.message = f"{words} listed in {output}{self._same}"

    @property
    def _same(self) -> str:
        return "" if self._changed else ", nothing had changed"

    def _sets(self) -> list[SitemapSet]:
        site = self._site
        listed = listed_by_host(self._connection)
        published = published_by_host(self._connection) if site.replaces else {}
        name = site.sitemap_url.rpartition("/")[2]
        sets = []
        for prefix in sorted({*listed, *published}):
            host = host_of(prefix)
            start = site.start_url if site.start_url.startswith(prefix) else prefix
            counts = listed.get(prefix, 0), published.get(prefix, 0)
            sets.append(SitemapSet(prefix + name, self._options.output / host, start, prefix, *counts, host=host))
        return sets

    def _host_row(self, chosen: SitemapSet) -> dict[str, Any]:
        """Publish the set of a host; what came of it, also as a row of the report."""
        row: dict[str, Any] = {"host": chosen.host, "sitemap_url": chosen.sitemap_url, "listed": chosen.listed}
        row |= {"outcome": Outcome.DRY_RUN, "message": ""}
        problem = self._problem(chosen)
        if not chosen.listed and self._options.allow_shrink and not self._options.dry_run:
            self._withdraw(chosen)
            problem, row["outcome"] = None, Outcome.PUBLISHED
        elif problem is None and not self._options.dry_run:
            try:
                publisher = self._publish(chosen)
                row["listed"] = publisher.listed
                row["outcome"] = Outcome.PUBLISHED if publisher.changed else Outcome.UNCHANGED
            except (PublicationRefusedError, NothingToPublishError, IndexOverflowError) as error:
                problem = str(error)
        if problem is not None:
            row |= {"outcome": Outcome.REFUSED, "message": problem}
            if self._site.run.ended_by is None:
                undo_run_marks(self._connection, self._site.run.id, prefix=chosen.prefix)
        self._report.hosts.append(row)
        return row

    def _problem(self, chosen: SitemapSet) -> str | None:
        return publish_problem(self._options, listed=chosen.listed, published=chosen.published)

    def _publish(self, chosen: SitemapSet) -> Publisher:
        site = self._site
        publisher = Publisher(site, self._settled, self._report, chosen)
        publisher.publish()
        if site.replaces:
            store_published_pages(self._connection, site.run.id, publication=self._publication, prefix=chosen.span)
        publisher.publish_beside()
        self._report.files += [_row(file, chosen) for file in publisher.files]
        self._template |= publisher.template
        self._changed |= publisher.changed
        return publisher

    def _withdraw(self, chosen: SitemapSet) -> None:
        """The host is gone: so is its sitemap."""
        for publications in publications_in(self._connection, chosen.output):
            for file in publications.files():
                (chosen.output / file.name).unlink(missing_ok=True)
            publications.replace(())
        store_published_pages(self._connection, self._site.run.id, publication=self._publication, prefix=chosen.span)
        self._changed = True

    def _remember(self) -> None:
        if self._site.replaces:
            store_template_images(self._connection, self._template)
            delete_old_changes(self._connection, self._options.keep_runs)


def _hosts_in_words(count: int) -> str:
    return f"{count} host" + ("" if count == 1 else "s")


def _row(file: OutputFile, chosen: SitemapSet) -> dict[str, Any]:
    name = f"{chosen.host}/{file.name}" if chosen.host else file.name
    return {"name": name, "url": file.url, "urls": file.urls, "bytes": file.bytes, "written": file.written}
