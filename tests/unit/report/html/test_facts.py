"""Facts are equal to what the commands `pages`, `diff` and `runs` say of the same inventory, counted another way."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shlex
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.inventory.lookup import open_inventory
from sitemap_crawler.inventory.results import LISTED_REASONS
from sitemap_crawler.inventory.schema import UrlState
from sitemap_crawler.inventory.sql import encode_links
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.report.html.facts import collect
from sitemap_crawler.report.html.history import MAX_TRENDS, trends_of
from sitemap_crawler.report.html.writer import make_page
from tests.support.inventories import change
from tests.support.made_inventory import add_pages, make_inventory
from tests.support.stored_inventory import run_here

if TYPE_CHECKING:
    from pathlib import Path

    from sitemap_crawler.report.html.facts import Facts

SITE = "https://www.example.com/"
NAMES = ["", "a/", "a/1", "a/2?x=/y/", "a/b/3", "c", "d", "e", "f/g/h/4", "i"]
ERRORS = {"a/2?x=/y/", "d"}


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    path = make_inventory(tmp_path / "a.sqlite", SITE)
    pages = [(number, SITE + name, 404 if name in ERRORS else 200) for number, name in enumerate(NAMES, 1)]
    add_pages(path, [(number, url, status, encode_links([1, 2])) for number, url, status in pages])
    change(
        path,
        "UPDATE decisions SET decision = 'excluded', reason = 'noindex' WHERE url_id = 6",
        "UPDATE decisions SET decision = 'excluded', reason = 'out-of-scope' WHERE url_id = 10",
        "UPDATE decisions SET reason = 'kept-after-error' WHERE url_id = 3",
        "UPDATE runs SET finished = started + 12, outcome = 'published'",
        "INSERT INTO listings (url_id) SELECT url_id FROM decisions WHERE decision = 'listed'",
        "INSERT INTO changes (publication, url_id, run, kind) SELECT 1, url_id, 1, 'added' FROM listings",
    )
    return path


def facts_of(path: Path) -> Facts:
    with open_inventory(path) as inventory:
        return collect(inventory, path)


def csv_rows(path: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    assert run_here("pages", "--state", str(path), "--format", "csv") == 0
    sys.stdout.flush()
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_counts_agree_with_the_csv_of_pages(inventory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = csv_rows(inventory, capsys)
    by_reason = Counter(row["reason"] for row in rows)
    elsewhere = by_reason.pop("out-of-scope")
    facts = facts_of(inventory)
    assert {row.reason: row.total for row in facts.reasons} == by_reason
    assert facts.scan.elsewhere == elsewhere
    assert facts.scan.listed == sum(row["decision"] == "listed" for row in rows)
    in_scope = sum(by_reason.values())
    tree_total = facts.scan.clicks.total if facts.scan.clicks else 0
    clicks = sum(map(sum, facts.scan.by_clicks))
    assert [facts.scan.in_scope, facts.scan.directories.total, tree_total, clicks] == [in_scope] * 4
    inside = [row for row in rows if row["reason"] != "out-of-scope"]
    assert [(row.url, row.reason) for row in facts.table.rows] == [(row["url"], row["reason"]) for row in inside]


def test_a_smaller_table_has_all_of_the_rare_reasons(inventory: Path) -> None:
    with open_inventory(inventory) as opened:
        table = collect(opened, inventory, rows=6).table
    assert Counter(row.reason for row in table.rows) == {
        "listed": 2, "client-error": 2, "noindex": 1, "kept-after-error": 1,
    }  # fmt: skip


def test_live_pages_and_changes_are_those_of_the_publication(inventory: Path) -> None:
    facts = facts_of(inventory)
    assert (facts.history.live, facts.changes.added, facts.requests.seconds) == (6, 6, 12)
    assert facts.verdict.heading == "The sitemap is live with 6 pages"


def test_the_slowest_directories_are_named_by_their_medians(inventory: Path) -> None:
    facts = facts_of(inventory)
    assert facts.server.directories == []
    pages = [(100 + number, f"{SITE}{'quick' if number % 2 else 'slow'}/{number}", 200, None) for number in range(14)]
    add_pages(inventory, [*pages, *((200 + number, f"{SITE}few/{number}", 200, None) for number in range(4))])
    times = {100: 9_000, 102: 700, 104: 40, 106: 500, 108: 600, 110: 300, 112: 1}
    change(
        inventory,
        "UPDATE observations SET elapsed = 20 WHERE url_id BETWEEN 100 AND 113",
        "UPDATE observations SET elapsed = 5000 WHERE url_id >= 200",
        *(f"UPDATE observations SET elapsed = {time} WHERE url_id = {url_id}" for url_id, time in times.items()),
    )
    assert facts_of(inventory).server.directories == [("/slow/", 7, 500), ("/quick/", 7, 20)]
    page = make_page(inventory).text
    assert re.search(r'<span class="value">500 ms</span> <span>/slow/ .*7 answers', page)
    assert "answers was compared" not in page


def test_directories_of_a_large_site_are_compared_by_a_sample(inventory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitemap_crawler.report.html.site_facts.TIMED_URLS", 100)
    kinds = ("quick", "slow")
    pages = [(100 + number, f"{SITE}{kinds[number // 2 % 2]}/{number}", 200, None) for number in range(400)]
    add_pages(inventory, pages)
    change(inventory, "UPDATE observations SET elapsed = url_id WHERE url_id >= 100")
    server = facts_of(inventory).server
    assert server.one_of == 4
    assert sum(row.answers for row in server.directories) == 100
    assert "One of 4 answers was compared." in make_page(inventory).text


def test_reasons_whose_numbers_differ_between_runs_are_trends(inventory: Path) -> None:
    assert facts_of(inventory).trends.reasons == []
    columns = "requested_url, start_url, sitemap_url, started, ended_by, outcome"
    totals = [
        {"outcome": "published", "listed": 10, "kept": 0, "excluded": {"noindex": 3, "out-of-scope": 5}},
        {"outcome": "interrupted"},
        {"outcome": "published", "listed": 9, "kept": 2, "excluded": {"noindex": 3, "out-of-scope": 7, "redirect": 1}},
    ]
    change(
        inventory,
        *(
            f"INSERT INTO runs (id, {columns}, totals) SELECT {run}, {columns}, '{json.dumps(values)}' "
            "FROM runs WHERE id = 1"
            for run, values in enumerate(totals, 2)
        ),
    )
    trends = facts_of(inventory).trends
    assert trends.runs == [2, 4]
    assert {row.reason: (row.counts, row.difference) for row in trends.reasons} == {
        "listed": ([10, 7], -3), "kept-after-error": ([0, 2], 2), "redirect": ([0, 1], 1),
    }  # fmt: skip
    assert '<td class="num">\u22123</td>' in make_page(inventory).text


def test_a_change_says_why(inventory: Path) -> None:
    change(
        inventory,
        "UPDATE decisions SET before = 'noindex', since = 1 WHERE url_id = 8",
        "UPDATE decisions SET before = 'noindex', since = 0 WHERE url_id = 5",
        "UPDATE decisions SET lastmod_source = 'last-modified' WHERE url_id = 9",
        "UPDATE changes SET kind = 'changed', before = 0, after = 86400 WHERE url_id = 9",
    )
    facts = facts_of(inventory)
    pages = {page.url.removeprefix(SITE): page for changes in facts.change_lists for page in changes.pages}
    assert {name: page.reason_before for name, page in pages.items() if page.reason_before} == {"e": "noindex"}
    assert pages["f/g/h/4"].source == "last-modified"
    change(
        inventory,
        "UPDATE runs SET id = 2",
        "UPDATE changes SET run = 2",
        "UPDATE decisions SET since = since + 1",
        "INSERT INTO runs (id, requested_url, start_url, sitemap_url, started, outcome) "
        "SELECT 1, requested_url, start_url, sitemap_url, started, 'published' FROM runs",
    )
    assert f"(before: {Reason.NOINDEX.traits.title})" in make_page(inventory).text


def test_an_empty_inventory_has_a_report(tmp_path: Path) -> None:
    path = make_inventory(tmp_path / "a.sqlite", SITE, ended_by=None)
    page = make_page(path)
    assert (page.urls, page.is_open) == (0, True)
    assert "Run 1 is under way, or was interrupted" in page.text


def test_two_reports_of_an_inventory_differ_in_the_time_only(inventory: Path) -> None:
    first, second = (make_page(inventory).text.splitlines() for _ in range(2))
    different = [line for line, other in zip(first, second, strict=True) if line != other]
    assert all("<dt>Made</dt>" in line for line in different)


def test_the_reasons_that_differ_most_are_shown_in_their_order() -> None:
    names = [str(reason) for reason in Reason if reason not in LISTED_REASONS and reason is not Reason.OUT_OF_SCOPE]
    before = {"listed": 5, "kept": 0, "excluded": dict.fromkeys(names, 10)}
    after = {"listed": 5, "kept": 0, "excluded": {name: 10 + number for number, name in enumerate(names)}}
    trends = trends_of({1: before, 2: after})
    assert [row.reason for row in trends.reasons] == names[-MAX_TRENDS:]
    assert trends.more == len(names) - 1 - MAX_TRENDS


def test_the_command_of_broken_links_names_the_reasons_that_occur(
    inventory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(
        inventory,
        "UPDATE decisions SET reason = 'server-error' WHERE url_id = 4",
        f"INSERT INTO warnings (run, kind, url, message) VALUES (1, 'broken-link', '{SITE}', 'links to {SITE}d')",
    )
    page = make_page(inventory).text
    [command] = re.findall(r"sitemap-crawler (pages .* --reason [^<]*)<", page)
    assert command.endswith(" --reason client-error --reason server-error")
    assert '<a href="#urls" data-group="broken">Show them in the table</a>' in page
    assert run_here(*shlex.split(command), "--format", "csv") == 0
    sys.stdout.flush()
    shown = {row["url"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert shown == {SITE + name for name in ERRORS}


def trap(path: Path, first: int, urls: list[str], *, state: UrlState, evidence: str) -> None:
    """Add URLs that were not requested."""
    ids = range(first, first + len(urls))
    add_pages(path, [(number, url, 200, None) for number, url in zip(ids, urls, strict=True)])
    among = f"BETWEEN {first} AND {ids[-1]}"
    change(
        path,
        f"DELETE FROM observations WHERE url_id {among}",
        f"UPDATE urls SET state = {state:d} WHERE id {among}",
        "UPDATE decisions SET decision = 'excluded', reason = 'duplicate-parameters', "
        f"evidence = '{evidence}' WHERE url_id {among}",
    )


def test_the_kinds_of_urls_that_were_left_out_have_examples_and_an_option(inventory: Path) -> None:
    assert facts_of(inventory).learnt == ([], 0, False)
    assert 'class="learnt"' not in make_page(inventory).text
    sorted_urls = [f"{SITE}list?sort={key}" for key in ("ab", "a", "abc", "abcd", "b")]
    views = [f"{SITE}page/{number}?view=print" for number in range(40, 48)]
    trap(inventory, 100, sorted_urls, state=UrlState.REPEATS, evidence="trap: sort <b>reorders</b>")
    trap(inventory, 200, views, state=UrlState.EXHAUSTED, evidence="trap: nothing new")
    trap(inventory, 300, [f"{SITE}c?x=1"], state=UrlState.SAME, evidence="it shows what another URL shows")
    trap(inventory, 400, [f"{SITE}list?sort=gone"], state=UrlState.REPEATS, evidence="nothing leads to it any more")
    change(inventory, "UPDATE decisions SET reason = 'orphan' WHERE url_id = 400")
    learnt = facts_of(inventory).learnt
    assert learnt.total == 2
    assert [(one.evidence, one.urls) for one in learnt.traps] == [
        ("trap: nothing new", 8), ("trap: sort <b>reorders</b>", 5)
    ]  # fmt: skip
    assert [one.examples for one in learnt.traps] == [
        views[:3], [f"{SITE}list?sort=a", f"{SITE}list?sort=b", f"{SITE}list?sort=ab"]
    ]  # fmt: skip
    others = [SITE + name for name in NAMES]
    for one, urls, wrong in zip(learnt.traps, (views, sorted_urls), (sorted_urls, views), strict=True):
        assert one.exclude is not None
        pattern = re.compile(one.exclude)
        assert all(map(pattern.search, urls))
        assert not any(map(pattern.search, [*wrong, *others]))
    page = make_page(inventory).text
    assert "2 kinds of URLs left out" in page
    assert "sort &lt;b&gt;reorders&lt;/b&gt;" in page
    for one in learnt.traps:
        assert f"--exclude {shlex.quote(one.exclude or '')}" in html.unescape(page)


def test_the_listed_pages_are_counted_that_the_option_of_a_kind_leaves_out_too(
    inventory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap(inventory, 100, [f"{SITE}day?at={day}" for day in range(40)], state=UrlState.ENDLESS, evidence="trap: endless")
    trap(inventory, 200, [f"{SITE}list?sort={key}" for key in "abc"], state=UrlState.REPEATS, evidence="trap: sort")
    assert [one.listed for one in facts_of(inventory).learnt.traps] == [0, 0]
    assert "listed pages, too" not in make_page(inventory).text
    kept = [(300 + day, f"{SITE}day?at={day}", 200, None) for day in range(90, 93)]
    add_pages(inventory, [*kept, (400, f"{SITE}day", 200, None)])
    assert [(one.evidence, one.listed) for one in facts_of(inventory).learnt.traps] == [
        ("trap: endless", 3), ("trap: sort", 0)
    ]  # fmt: skip
    assert make_page(inventory).text.count("It leaves out 3 listed pages, too.") == 1
    # A part of the listed pages is read if they are many.
    limit = facts_of(inventory).scan.listed // 2
    monkeypatch.setattr("sitemap_crawler.report.url_groups.listed_urls.MAX_READ", limit)
    listed = facts_of(inventory).learnt.traps[0].listed
    assert 0 < listed < 10
    assert f"It leaves out about {listed} listed pages, too." in make_page(inventory).text


def test_only_the_largest_kinds_are_shown(inventory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitemap_crawler.report.html.learnt.MAX_TRAPS", 2)
    for number in range(1, 5):
        urls = [f"{SITE}kind{number}?id={item}" for item in range(number)]
        trap(inventory, 100 * number, urls, state=UrlState.REPEATS, evidence=f"trap: kind {number}")
    learnt = facts_of(inventory).learnt
    assert ([one.evidence for one in learnt.traps], learnt.total) == (["trap: kind 4", "trap: kind 3"], 4)
    assert "2 more kinds have fewer URLs." in make_page(inventory).text
