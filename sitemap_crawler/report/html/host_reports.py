"""The reports of the hosts of a domain: which hosts have one, and the pages of each and of their index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.config.paths import REPORT_INDEX
from sitemap_crawler.inventory.host_excerpts import HostExcerpts, HostRun, prefix_of, urls_by_host
from sitemap_crawler.inventory.results import StoredWarning, totals_by_run
from sitemap_crawler.report.explain import rules_of
from sitemap_crawler.report.html.facts import collect
from sitemap_crawler.report.html.page import page_of
from sitemap_crawler.report.html.render import OtherPage
from sitemap_crawler.report.html.site_index import Domain, SiteLine, render_index
from sitemap_crawler.report.report import MAX_STORED_HOSTS, Outcome
from sitemap_crawler.urls.normalise import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.inventory.host_excerpts import HostUrls
    from sitemap_crawler.inventory.lookup import Inventory
    from sitemap_crawler.report.html.facts import RunResults

MAX_REPORTS = MAX_STORED_HOSTS
"""Maximum number of hosts with a report: each takes 0.1 s and 100 kB at least. The index counts the others."""
MAX_NAMED = 20
"""Maximum number of hosts without a report that the index names."""
MARK = "sitemap-crawler report of a host"
"""Value of the tag `generator` of a host's report, by which an old one is recognised and removed."""
MAX_NAME = 250
"""Characters of a host. File systems allow 255 bytes with `.html`."""


@dataclass(frozen=True, slots=True)
class Hosts:
    """The hosts of a domain that has several."""

    reported: list[HostUrls]
    """Those with a report, in the order of their names."""
    left_out: list[HostUrls]
    """Those without one, the largest first."""
    redirecting: list[HostUrls]
    """Hosts without a page, whose URLs all redirect. They need no report."""

    @property
    def prefixes(self) -> set[str]:
        """The hosts without a report."""
        return {host.prefix for host in (*self.left_out, *self.redirecting)}


class ReportFile(NamedTuple):
    """A file of the directory of hosts."""

    name: str
    data: bytes


def several_hosts(inventory: Inventory, results: RunResults) -> Hosts | None:
    """Return the hosts of a crawl with --subdomains; None without that option, and for a single host.

    The start host, then refused hosts, then those with the most URLs have a report, MAX_REPORTS at most.
    """
    run = inventory.run
    if not run.options.get("subdomains"):
        return None
    known = urls_by_host(inventory)
    found = [host for host in known if not host.only_redirects]
    if len(found) < 2:
        return None
    scope = rules_of(run)[0].scope
    start = prefix_of(run.start_url)
    refused = results.totals.get("by_host", {}).get("refused", {})

    def rank(host: HostUrls) -> tuple[bool, bool, int, str]:
        return host.prefix != start, host_of(host.prefix) not in refused, -host.in_scope, host.prefix

    def is_usable(host: HostUrls) -> bool:
        # The names of files are those of the directories of sitemaps: the scope admits no other hosts.
        return scope.admits(host.prefix) and len(host_of(host.prefix)) <= MAX_NAME

    in_order = sorted(found, key=rank)
    usable = list(filter(is_usable, in_order))[:MAX_REPORTS]
    chosen = {host.prefix for host in usable}
    left_out = [host for host in in_order if host.prefix not in chosen]
    redirecting = [host for host in known if host.only_redirects]
    return Hosts(sorted(usable, key=lambda host: host.prefix), left_out, redirecting)


def host_files(
    inventory: Inventory,
    path: StateLocation,
    hosts: Hosts,
    results: RunResults,
    *,
    rows: int,
    refresh_seconds: int | None,
    whole: str,
) -> Iterator[ReportFile]:
    """Yield the report of each host, and then the index. `whole` is the relative address of the report of all hosts.

    `results` are those of the latest run.
    """
    start = inventory.run.start_url
    warnings = _warnings_by_host(results, hosts, prefix_of(start))
    totals = {**totals_by_run(inventory.connection), inventory.run.id: results.totals}
    link = OtherPage(REPORT_INDEX, "all hosts")
    lines: list[SiteLine] = []
    is_open = False
    with HostExcerpts(inventory, hosts.reported) as excerpts:
        for host in hosts.reported:
            name, is_start = host_of(host.prefix), start.startswith(host.prefix)
            excerpt = excerpts.open(
                host,
                start_url=start if is_start else host.prefix,
                run_of={run: _host_run(values, name, is_start=is_start) for run, values in totals.items()},
                found=warnings[host.prefix],
            )
            facts = collect(excerpt, path, rows=rows)
            # These are the pages of other hosts that lead here. The report of all hosts has what is out of the scope.
            facts.scan.elsewhere = 0
            page = page_of(facts, refresh_seconds=refresh_seconds, other_page=link, mark=MARK)
            is_open = page.is_open
            file = f"{name}.html"
            lines.append(SiteLine(name, file, page.overview, ""))
            yield ReportFile(file, page.data)
    notes = [*_left_out(hosts), *_uncounted(results)]
    domain = Domain(whole, notes, refresh_seconds if is_open else None)
    yield ReportFile(REPORT_INDEX, render_index(lines, domain).encode("utf-8", "backslashreplace"))


def _host_run(totals: dict[str, Any], host: str, *, is_start: bool) -> HostRun:
    """Return what a run was for a host. The numbers of all hosts are not those of one."""
    outcome, message = totals.get("outcome"), totals.get("message", "")
    if by_host := totals.get("by_host"):
        refusal = by_host["refused"].get(host)
        outcome, message = (by_host["others"], "") if refusal is None else (str(Outcome.REFUSED), refusal)
    if outcome is None:
        return HostRun(None, None)
    values = {"outcome": outcome, "message": message}
    if "milliseconds" in totals:
        values["milliseconds"] = totals["milliseconds"]
    if is_start:
        values |= {name: totals[name] for name in ("hints", "notices") if name in totals}
    return HostRun(outcome, values)


def _warnings_by_host(results: RunResults, hosts: Hosts, start: str) -> dict[str, list[StoredWarning]]:
    """Return the warnings by the host of their URL. The start host has those about no host."""
    found: dict[str, list[StoredWarning]] = {host.prefix: [] for host in hosts.reported}
    without_report = hosts.prefixes
    for warning in results.warnings:
        prefix = prefix_of(warning.url)
        if prefix not in without_report:
            mine = found.get(prefix, found.get(start))
            if mine is not None:
                mine.append(StoredWarning(str(warning.kind), warning.url, warning.message))
    return found


def _left_out(hosts: Hosts) -> Iterator[str]:
    """Yield sentences about the hosts without a report."""
    if hosts.left_out:
        number = len(hosts.left_out)
        have = "host has" if number == 1 else "hosts have"
        listed = sum(host.listed for host in hosts.left_out)
        yield (
            f"{number:,} more {have} no report here, as at most {MAX_REPORTS} have one: {_named(hosts.left_out)}, "
            f"{listed:,} of them listed. The report of all hosts together counts them."
        )
    if hosts.redirecting:
        number = len(hosts.redirecting)
        redirect = "host only redirects" if number == 1 else "hosts only redirect"
        yield f"{number:,} more {redirect}: {_named(hosts.redirecting)}."


def _named(hosts: list[HostUrls]) -> str:
    """Return the first hosts by name, and the number of URLs of all of them."""
    names = ", ".join(host_of(host.prefix) for host in hosts[:MAX_NAMED])
    more = f" and {len(hosts) - MAX_NAMED:,} more" if len(hosts) > MAX_NAMED else ""
    in_scope = sum(host.in_scope for host in hosts)
    return f"{names}{more}, with {in_scope:,} URL{'' if in_scope == 1 else 's'} in scope"


def _uncounted(results: RunResults) -> Iterator[str]:
    """Yield a sentence about the kinds of warnings that are not all stored."""
    stored: dict[str, int] = {}
    for warning in results.warnings:
        stored[warning.kind] = stored.get(warning.kind, 0) + 1
    kinds = [kind for kind, count in results.warning_counts.items() if count > stored.get(kind, 0)]
    if kinds:
        yield (
            "The inventory does not keep all warnings of a kind with very many: the reports of hosts have too few of "
            f"{', '.join(kinds)}. The report of all hosts together counts them all."
        )
