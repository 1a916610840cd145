"""The commands that read an inventory: explain and pages. Heavy modules are imported only when a command runs."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sitemap_crawler.cli.common import flushed_output, inventory_options
from sitemap_crawler.exceptions import DamagedInventoryError, OptionError, OtherVersionError, PatternError
from sitemap_crawler.utils.runtime import echo
from sitemap_crawler.utils.text import csv_cell, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.inventory.lookup import Inventory, Selection
    from sitemap_crawler.policy.reasons import Reason
    from sitemap_crawler.report.explain import Explanation
    from sitemap_crawler.utils.patterns import UserPattern

BATCH_ROWS = 500
"""Number of URLs whose facts are read at a time."""
SCAN_ROWS = 50_000
"""Number of URLs whose referrers one scan of all links finds, so that memory stays bounded."""
_SERVICE_NAMES = {"indexnow": "IndexNow"}
MAX_PLACES = 20
"""Maximum number of damaged values that `check-inventory` prints."""
MAX_TABLE_REFERRERS = 5
"""Maximum number of linking pages that the table names for a URL."""
REASON_WIDTH, STATUS_WIDTH = 20, 6
"""Columns of the table, in characters."""
URL_SHARE = 0.6
"""Share of the URL in the rest of the terminal's width. The evidence gets the other part."""


@click.command()
@click.argument("url")
@inventory_options
@click.option("--json", "as_json", is_flag=True, help="print the answer as JSON")
def explain(url: str, state: str | None, config: Path | None, *, as_json: bool) -> int:
    """Why a URL is, or is not, in the sitemap; any spelling of it will do."""
    from sitemap_crawler.inventory.location import find_inventory, inventory_for, site_file_of
    from sitemap_crawler.inventory.lookup import open_inventory
    from sitemap_crawler.report.explain import explain as answer

    if state is None and config is not None:
        path = find_inventory(state=None, config=site_file_of(config, url, any_page=True), start_url=None)
    else:
        path = inventory_for(url, state=state)
    with open_inventory(path) as inventory:
        explanation = answer(inventory, url)
    lines = (
        [json.dumps(explanation.to_json(), indent=2)]
        if as_json
        else [printable(line) for line in _explanation_lines(explanation)]
    )
    echo("\n".join(lines))
    return 0


def _explanation_lines(explanation: Explanation) -> Iterator[str]:
    from sitemap_crawler.report.renderings import rendering_words

    facts = explanation.facts
    is_no_page = explanation.renders and facts["status"] not in (None, 200)
    scripts = "not rendered: the answer is no page" if is_no_page else None
    yield _sentence(facts)
    source = f" ({facts['lastmod_source']})" if facts["lastmod_source"] else ""
    shown = {
        "URL": facts["url"],
        "title": facts["title"],
        "file": facts["file"],
        "status": facts["status"],
        "redirects to": facts["redirects_to"],
        "canonical": facts["canonical"],
        "listed URL": explanation.listed_url,
        "linked from": explanation.linked,
        "links": explanation.links,
        "scripts": (rendering_words(explanation.rendering, explanation.missed) if explanation.rendering else scripts),
        "depth": _depth(facts),
        "lastmod": facts["lastmod"] and facts["lastmod"] + source,
        "first seen": facts["first_seen"],
        "last fetched": facts["last_fetched"],
        "Google": _google_words(explanation),
        "site": explanation.start_url,
    }
    for name, value in shown.items():
        if value is not None:
            yield f"  {name:<13} {value}"
    for sent in explanation.to_json()["submissions"]:
        status = f" ({sent['http_status']})" if sent["http_status"] else ""
        answer = "no answer yet" if sent["outcome"] == "sending" else f"{sent['outcome']}{status}"
        yield f"  sent to {_SERVICE_NAMES.get(sent['service'], sent['service'])} {sent['at']}: {answer}"
    near = explanation.nearest
    if near is not None:
        yield f"nearest known: {near['url']}: {_sentence(near)}"


def _google_words(explanation: Explanation) -> str | None:
    """Return what Google says of a page, in words."""
    found = explanation.google
    if found is None:
        return None
    chosen = found["google_canonical"]
    is_own = chosen in (None, explanation.facts["url"], found["user_canonical"])
    canonical = "" if is_own else f", canonical {chosen}"
    return f"{found['coverage_state'] or found['verdict']}{canonical}, inspected {found['inspected'][:10]}"


def _depth(facts: dict[str, Any]) -> str | None:
    depth = facts["depth"]
    if depth == 0 and facts["referrer"] is None:
        return "0, it is the start page"
    clicks = "1 click" if depth == 1 else f"{depth} clicks"
    return None if depth is None else f"{clicks} from the start page"


def _sentence(facts: dict[str, Any]) -> str:
    decision, reason, evidence = facts["decision"], facts["reason"], facts["evidence"]
    if decision == "unknown":
        return f"unknown: {evidence}{_live_note(facts)}"
    because = f" ({evidence})" if evidence else ""
    if decision == "listed":
        kept = "" if reason == "listed" else f": {reason}"
        return f"listed{kept}{because}" + ("" if facts["file"] else ", not published yet")
    return f"not listed: {reason}{because}{_live_note(facts)}"


def _live_note(facts: dict[str, Any]) -> str:
    """Return the end of a line for a URL that a live file contains, although its page fails or is not listed.

    After a refused run or a dry run the decisions are new, and the live files are those of an earlier run.
    """
    if not facts["file"] or facts["reason"] == "listed":
        return ""
    if facts["decision"] == "listed":
        return f", still in {facts['file']}"
    return f", still in {facts['file']} until the next publication"


@click.command()
@click.argument("start_url", required=False)
@inventory_options
@click.option("--decision", type=click.Choice(["listed", "excluded", "unknown"]), help="only URLs decided so")
@click.option("--reason", "reasons", metavar="R", multiple=True, help="only URLs decided for this reason (repeatable)")
@click.option("--match", metavar="RE", help="only URLs in which this regular expression is found")
@click.option(
    "--hosts", type=click.Choice(["own", "other"]), help="only URLs of the site's own host, or of other hosts"
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="at most N URLs")
@click.option("--format", "form", type=click.Choice(["table", "csv", "jsonl"]), default="table", show_default=True)
@click.option(
    "--referrers/--no-referrers",
    default=None,
    help="the pages that link to each URL  [default: with the reasons of broken links and redirects]",
)
def pages(
    start_url: str | None, state: str | None, config: Path | None, *, form: str, referrers: bool | None, **wanted: Any
) -> int:
    """The URLs of an inventory, what was decided of each and why."""
    from sitemap_crawler.inventory.location import find_inventory
    from sitemap_crawler.inventory.lookup import open_inventory

    pattern, hosts = _pattern(wanted.pop("match")), wanted.pop("hosts")
    reasons = _known_reasons(wanted["reasons"])
    if referrers is None:
        referrers = any(reason.traits.is_fixed_in_links for reason in reasons)
    path = find_inventory(state=state, config=config, start_url=start_url, any_page=True)
    with open_inventory(path) as inventory:
        selection = inventory.select(pattern=pattern, admits=_host_filter(inventory, hosts), **wanted)
        rows = _rows(inventory, selection, referrers=referrers)
        with flushed_output():
            if form == "table":
                _write_table(rows, _count_line(selection, inventory.count()))
            elif form == "csv":
                _write_csv(rows, referrers=referrers)
            else:
                sys.stdout.writelines(f"{json.dumps(row)}\n" for row in rows)
    return 0


def _pattern(text: str | None) -> UserPattern | None:
    from sitemap_crawler.utils.patterns import UserPattern

    try:
        return None if text is None else UserPattern(text)
    except PatternError as error:
        raise PatternError(f"--match: {error}") from error


def _host_filter(inventory: Inventory, hosts: str | None) -> Callable[[str], bool] | None:
    """Return the function that admits URLs of these hosts, "own" or "other"; None for all hosts."""
    from sitemap_crawler.report.explain import rules_of

    if hosts is None:
        return None
    scope = rules_of(inventory.run)[0].scope
    return lambda url: scope.is_own_host(url) is (hosts == "own")


def _known_reasons(names: tuple[str, ...]) -> list[Reason]:
    """Return the reasons with these names. Raises OptionError."""
    from sitemap_crawler.policy.reasons import Reason

    known = {str(reason): reason for reason in Reason}
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.75)
            hint = f"did you mean {near[0]}?" if near else f"give one of {', '.join(known)}"
            raise OptionError(f"unknown reason {name}: {hint}")
    return [known[name] for name in names]


def _rows(inventory: Inventory, selection: Selection, *, referrers: bool) -> Iterator[dict[str, Any]]:
    """Yield the facts of each URL. They are read in batches, so that memory stays flat and no query stays open."""
    from sitemap_crawler.report.explain import facts_of, rules_of

    rules, _ = rules_of(inventory.run)
    ids = selection.ids
    for start in range(0, len(ids), BATCH_ROWS):
        if start % SCAN_ROWS == 0:
            linking = inventory.referrers(ids[start : start + SCAN_ROWS]) if referrers else {}
        batch = ids[start : start + BATCH_ROWS]
        names = inventory.urls_of({page for url_id in batch if url_id in linking for page in linking[url_id].ids})
        for entry in inventory.records(batch):
            facts = facts_of(entry, inventory, rules)
            if referrers:
                linked = linking[entry.id]
                facts["referrers"] = [names[page] for page in linked.ids if page in names]
                facts["referrer_count"] = linked.total
            yield facts


def _write_csv(rows: Iterable[dict[str, Any]], *, referrers: bool) -> None:
    from sitemap_crawler.report.explain import KEYS

    header = [*KEYS, "referrers", "referrer_count"] if referrers else KEYS
    writer = csv.writer(sys.stdout)
    writer.writerow(header)
    writer.writerows([csv_cell(row[name]) for name in header] for row in rows)


def _count_line(selection: Selection, total: int) -> str:
    shown, matching = len(selection.ids), selection.matching
    if matching in (shown, total):
        return f"{shown:,} of {total:,} URLs"
    return f"{shown:,} of {matching:,} matching, {total:,} URLs in all"


def _write_table(rows: Iterable[dict[str, Any]], counted: str) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for row in rows:
        sys.stdout.write(_table_row(row, width) + "\n")
        linking = row.get("referrers", ())[:MAX_TABLE_REFERRERS]
        for page in linking:
            sys.stdout.write(printable(f"{'':{REASON_WIDTH}}   linked from {page}") + "\n")
        more = row.get("referrer_count", 0) - len(linking)
        if more:
            sys.stdout.write(f"{'':{REASON_WIDTH}}   and from {more:,} more\n")
    sys.stdout.write(f"{counted}\n")


def _table_row(row: dict[str, Any], width: int | None) -> str:
    from rich.cells import cell_len

    head = f"{row['reason'] or row['decision']:<{REASON_WIDTH}} {row['status'] or '-':<{STATUS_WIDTH}} "
    url, evidence = row["url"], printable(f"{row['evidence'] or ''}{_live_note(row)}".removeprefix(", "))
    if not url.isprintable() or width is not None:
        url = printable(url)
    if width is None:
        return f"{head}{url}  {evidence}".rstrip()
    left = max(width - len(head) - 2, 20)
    room = max(int(left * URL_SHARE), left - cell_len(evidence))
    return f"{head}{_fit(url, room)}  {_fit(evidence, left - room)}".rstrip()


def _fit(text: str, cells: int) -> str:
    """Return the text cut or padded to a number of terminal cells."""
    from rich.cells import cell_len, set_cell_size

    return set_cell_size(text, cells) if cell_len(text) <= cells else set_cell_size(text, cells - 1) + "…"


@click.command("check-inventory")
@click.argument("start_url", required=False)
@inventory_options
@click.option("--migrate", is_flag=True, help="migrate an inventory of an earlier release, after a copy of its file")
def check_inventory(start_url: str | None, state: str | None, config: Path | None, *, migrate: bool) -> int:
    """Check the file of an inventory: its structure (PRAGMA quick_check), every value in it, and whether rows are lost.

    Of an inventory of another schema only the structure is checked, unless --migrate is given.
    """
    from sitemap_crawler.inventory.location import inventory_place
    from sitemap_crawler.inventory.lookup import check_file, open_inventory
    from sitemap_crawler.inventory.store import open_store

    path = inventory_place(state=state, config=config, start_url=start_url)
    if isinstance(path, Path):
        check_file(path)
    _print_damage(path)
    if migrate:
        open_store(path).close()
        # Before the migration the values were not known.
        _print_damage(path)
    try:
        with open_inventory(path) as inventory:
            count = inventory.count()
    except OtherVersionError:
        echo(f"the structure of the file {printable(str(path))} is not damaged, its values are not checked")
        raise
    echo(f"the inventory {printable(str(path))} is not damaged: {count:,} URLs")
    return 0


def _print_damage(path: StateLocation) -> None:
    """Print the places of the damage of an inventory. Raises DamagedInventoryError if there is any."""
    from sitemap_crawler.inventory.damage import damaged, find_damage

    places = list(islice(find_damage(path), MAX_PLACES))
    if places:
        echo("\n".join(map(printable, places)))
        raise DamagedInventoryError(damaged(path, places[0]))
