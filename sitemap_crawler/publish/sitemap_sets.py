"""The sitemap sets of a site: one set, or with --subdomains one for each host. Each has its own guards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sitemap_crawler.exceptions import NotPublishedError
from sitemap_crawler.inventory.history import delete_old_changes
from sitemap_crawler.inventory.publications import (
    mark_published,
    next_publication,
    publications_in,
    published_count,
    store_published_pages,
)
from sitemap_crawler.inventory.runs import undo_run_marks
from sitemap_crawler.inventory.sql import listed_by_host, published_by_host, url_index
from sitemap_crawler.inventory.template_images import store_template_images
from sitemap_crawler.policy.guards import publish_problem
from sitemap_crawler.publish.publisher import Publisher, SitemapSet, count_of_pages, set_owner_problem
from sitemap_crawler.report.report import Outcome
from sitemap_crawler.urls.normalise import host_of
from sitemap_crawler.utils.directories import open_directory

if TYPE_CHECKING:
    from sitemap_crawler.inventory.decisions import DecisionStore
    from sitemap_crawler.publish.context import RunContext
    from sitemap_crawler.report.report import Report
    from sitemap_crawler.sitemap.records import OutputFile


def publish_sets(context: RunContext, decisions: DecisionStore, report: Report) -> None:
    """Publish the decisions, and fill in outcome, message and files of `report`.

    Without --subdomains, raises NotPublishedError and OSError: see Publisher.publish.
    """
    publisher = _RunPublisher(context, decisions, report)
    if context.options.subdomains:
        publisher.publish_hosts()
    else:
        publisher.publish_only_set()


class _RunPublisher:
    """Publisher of all sets of a run. `Publisher` publishes one of them."""

    def __init__(self, context: RunContext, decisions: DecisionStore, report: Report) -> None:
        self._context = context
        self._options = context.options
        self._decisions = decisions
        self._report = report
        self._connection = context.store.connection
        self._publication = next_publication(self._connection)
        self._template_images: set[str] = set()
        self._changed = False

    def publish_only_set(self) -> None:
        """Publish the set that has all pages."""
        context, report, output = self._context, self._report, self._options.output
        published = published_count(self._connection) if context.replaces else 0
        prefix = context.rules.scope.prefix
        sitemap_set = SitemapSet(context.sitemap_url, output, context.start_url, prefix, report.listed, published)
        problem = self._problem(sitemap_set)
        if problem is not None:
            report.outcome, report.message = Outcome.REFUSED, problem
        elif self._options.dry_run:
            report.outcome, report.message = Outcome.DRY_RUN, f"{count_of_pages(report.listed)} would be listed"
        else:
            publisher = self._publish(sitemap_set)
            self._store_results(complete=True)
            where = output / publisher.files[0].name if publisher.files else output
            report.outcome = Outcome.PUBLISHED if self._changed else Outcome.UNCHANGED
            report.message = f"{count_of_pages(report.listed)} listed in {where}{self._unchanged_note}"

    def publish_hosts(self) -> None:
        """Publish one set for each host. A refused host does not keep the others from being published."""
        report, output = self._report, self._options.output
        sets = self._sets()
        if not any(sitemap_set.listed for sitemap_set in sets):
            report.outcome = Outcome.REFUSED
            report.message = (
                "no page of any host can be listed, so nothing is published: see the summary for the reasons"
            )
            return
        with url_index(self._connection):
            refused = [row for row in map(self._host_row, sets) if row["outcome"] == Outcome.REFUSED]
        listing = [row for row in report.hosts if row["listed"] and row["outcome"] != Outcome.REFUSED]
        total = f"{count_of_pages(sum(row['listed'] for row in listing))} of {_count_of_hosts(len(listing))}"
        if listing and not self._options.dry_run:
            self._store_results(complete=not refused)
        if refused:
            others = f"; {total} listed in {output}" if listing and not self._options.dry_run else ""
            report.outcome = Outcome.REFUSED
            report.message = f"{refused[0]['host']}: {refused[0]['message']}{others}"
            if len(refused) > 1:
                report.message = f"{len(refused)} hosts are refused, {report.message}"
        elif self._options.dry_run:
            report.outcome, report.message = Outcome.DRY_RUN, f"{total} would be listed"
        else:
            report.outcome = Outcome.PUBLISHED if self._changed else Outcome.UNCHANGED
            report.message = f"{total} listed in {output}{self._unchanged_note}"

    @property
    def _unchanged_note(self) -> str:
        return "" if self._changed else ", nothing had changed"

    def _sets(self) -> list[SitemapSet]:
        context = self._context
        listed = listed_by_host(self._connection)
        published = published_by_host(self._connection) if context.replaces else {}
        name = context.sitemap_url.rpartition("/")[2]
        sets = []
        for prefix in sorted({*listed, *published}):
            host = host_of(prefix)
            start = context.start_url if context.start_url.startswith(prefix) else prefix
            counts = listed.get(prefix, 0), published.get(prefix, 0)
            sets.append(SitemapSet(prefix + name, self._options.output / host, start, prefix, *counts, host=host))
        return sets

    def _host_row(self, sitemap_set: SitemapSet) -> dict[str, Any]:
        """Publish the set of a host. Add its result to the report as a row, and return the row."""
        row: dict[str, Any] = {
            "host": sitemap_set.host,
            "sitemap_url": sitemap_set.sitemap_url,
            "listed": sitemap_set.listed,
        }
        row |= {"outcome": Outcome.DRY_RUN, "message": ""}
        problem = self._problem(sitemap_set)
        if not sitemap_set.listed and self._options.allow_shrink and not self._options.dry_run:
            self._withdraw(sitemap_set)
            problem, row["outcome"] = None, Outcome.PUBLISHED
        elif problem is None and not self._options.dry_run:
            try:
                publisher = self._publish(sitemap_set)
                row["listed"] = publisher.listed
                row["outcome"] = Outcome.PUBLISHED if publisher.changed else Outcome.UNCHANGED
            except NotPublishedError as error:
                problem = str(error)
        if problem is not None:
            row |= {"outcome": Outcome.REFUSED, "message": problem}
            if self._context.run.ended_by is None:
                undo_run_marks(self._connection, self._context.run.id, prefix=sitemap_set.prefix)
        self._report.hosts.append(row)
        return row

    def _problem(self, sitemap_set: SitemapSet) -> str | None:
        problem = publish_problem(self._options, listed=sitemap_set.listed, published=sitemap_set.published)
        if problem is not None:
            return problem
        problem = set_owner_problem(self._context, sitemap_set)
        if problem is not None and self._options.dry_run:
            # The directory is the default one, or was not meant to be used.
            self._report.notices.append(f"a run without --dry-run would be refused: {problem}")
            return None
        return problem

    def _publish(self, sitemap_set: SitemapSet) -> Publisher:
        context = self._context
        publisher = Publisher(context, self._decisions, self._report, sitemap_set)
        publisher.publish()
        if context.replaces:
            store_published_pages(
                self._connection, context.run.id, publication=self._publication, prefix=sitemap_set.page_prefix
            )
        publisher.publish_other_formats()
        self._report.files += [file_row(file, sitemap_set) for file in publisher.files]
        self._template_images |= publisher.template_images
        self._changed |= publisher.changed
        return publisher

    def _withdraw(self, sitemap_set: SitemapSet) -> None:
        """Remove the files of a host that has no page any more."""
        for publications in publications_in(self._connection, sitemap_set.output):
            with open_directory(sitemap_set.output, create=True) as directory:
                for file in publications.files():
                    directory.remove(file.name)
            publications.replace(())
        store_published_pages(
            self._connection, self._context.run.id, publication=self._publication, prefix=sitemap_set.page_prefix
        )
        self._changed = True

    def _store_results(self, *, complete: bool) -> None:
        """Store what the next run needs. `complete`: whether all decisions are published."""
        if self._context.replaces:
            if complete:
                mark_published(self._connection)
            store_template_images(self._connection, self._template_images)
            delete_old_changes(self._connection, self._options.keep_runs)


def _count_of_hosts(count: int) -> str:
    return f"{count} host" + ("" if count == 1 else "s")


def file_row(file: OutputFile, sitemap_set: SitemapSet) -> dict[str, Any]:
    name = f"{sitemap_set.host}/{file.name}" if sitemap_set.host else file.name
    return {"name": name, "url": file.url, "urls": file.urls, "bytes": file.bytes, "written": file.written}
