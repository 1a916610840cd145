"""The flow of `submit`: check the own site, send to each service, record each answer.

Services and hosts are independent of each other: one failure keeps none of the others from being told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.inventory.submissions import Ledger
from sitemap_crawler.inventory.unlocked import UnlockedInventory
from sitemap_crawler.search_engines import indexnow
from sitemap_crawler.search_engines.http_client import Clock
from sitemap_crawler.search_engines.live_check import robots_row
from sitemap_crawler.search_engines.properties import check_given_names
from sitemap_crawler.search_engines.published_files import published_site
from sitemap_crawler.search_engines.site_client import SiteClient
from sitemap_crawler.search_engines.sitemap_submission import remove_sitemaps, submit_sitemaps
from sitemap_crawler.search_engines.submission_context import SubmissionContext, SubmissionReport, Task
from sitemap_crawler.search_engines.url_submission import submit_urls
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.search_engines.results import Result

MAX_SITE_SECONDS = 60.0
"""Maximum time without a received byte of the own site."""


def submit(
    path: StateLocation,
    options: Options,
    task: Task,
    *,
    user_agent: str,
    clock: Clock | None = None,
    on_result: Callable[[Result], None] = lambda _: None,
    on_planned: Callable[[str, str], None] = lambda *_: None,
) -> SubmissionReport:
    """Tell search engines about the site of the inventory at `path`, and return the results.

    `on_result` is called with each result as it comes, `on_planned` with kind and URL of each page that a dry run does
    not send. Raises SubmissionRefusedError if nothing is published,
    OptionError for an unusable option, InventoryError if the inventory cannot be used.
    """
    with UnlockedInventory(path) as inventory:
        ledger = Ledger(inventory, dry_run=task.dry_run)
        with ledger.reading() as connection:
            site = published_site(connection)
        if not task.remove:
            check_given_names(options, site)
        client = SiteClient(
            [files.origin for files in site.hosts],
            user_agent=options.user_agent or user_agent,
            timeout=min(options.request_timeout, MAX_SITE_SECONDS),
            ca_file=options.ca_file,
            access=options.access,
            access_origin=origin_of(site.start_url),
        )
        context = SubmissionContext(
            ledger,
            site,
            options,
            task,
            client=client,
            clock=clock or Clock(),
            on_result=on_result,
            on_planned=on_planned,
        )
        _run(context)
        if not (task.dry_run or task.check):
            ledger.prune(context.now)
    return context.report


def _run(context: SubmissionContext) -> None:
    if context.task.check:
        context.report.robots = [robots_row(context.client, files) for files in context.site.hosts]
    for service in context.task.services:
        if context.task.remove:
            if service != indexnow.SERVICE:
                remove_sitemaps(context, service)
        elif service == indexnow.SERVICE:
            submit_urls(context)
        else:
            submit_sitemaps(context, service)
