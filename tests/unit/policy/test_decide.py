"""Decisions from observations: every rule, the order of the rules, and canonicals over the whole site."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.config.options import Options
from sitemap_crawler.policy.decide import Decider, Decision, Facts
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.rules import Rules
from sitemap_crawler.traps.detector import Trap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sitemap_crawler.policy.warning_kinds import SiteWarning

SITE = "https://example.com/"
NOW = 2_000.0
LISTED = {Reason.LISTED, Reason.KEPT_AFTER_ERROR}
GOOD = Facts(
    id=1,
    url=f"{SITE}page",
    depth=1,
    fetched=1_000.0,
    status=200,
    content_type="text/html",
    body_bytes=10,
    body_hash=b"1",
)


def rules(**options: object) -> Rules:
    parsed = Options.parse({"start_url": SITE, **options})
    return Rules(parsed, sitemap_url=parsed.entry_url, start_url=SITE)


def decisions_and_warnings(rows: Iterable[Facts], **options: object) -> tuple[dict[str, Decision], list[SiteWarning]]:
    """Return the decisions by URL, and the warnings."""
    rows = list(rows)
    by_url = {facts.url: facts for facts in rows}
    urls = {facts.id: facts.url for facts in rows}
    warned: list[SiteWarning] = []

    def blocked(url: str) -> str | None:
        return "robots.txt: Disallow: /private/" if url.startswith(f"{SITE}private/") else None

    decider = Decider(
        lambda: iter(rows),
        rules(**options),
        now=NOW,
        find=by_url.get,
        blocked=blocked,
        warn=warned.append,
        compared={},
    )
    return {urls[decision.url_id]: decision for decision in decider.decisions()}, warned


@pytest.mark.parametrize(("ahead", "written"), [(-1.0, True), (80_000.0, True), (90_000.0, False)])
def test_a_date_in_the_future_is_not_written(ahead: float, written: bool) -> None:
    decisions, _ = decisions_and_warnings([GOOD._replace(lastmod=NOW + ahead, lastmod_source="observed-change")])
    decision = decisions[GOOD.url]
    assert decision.listed
    assert (decision.lastmod, decision.lastmod_source) == (
        (NOW + ahead, "observed-change") if written else (None, None)
    )


def reason_of(facts: Facts, **options: object) -> Reason:
    decisions, _ = decisions_and_warnings([facts], **options)
    return decisions[facts.url].reason


@pytest.mark.parametrize(
    ("observed", "reason"),
    [
        ({}, "listed"),
        ({"content_type": "application/xhtml+xml"}, "listed"),
        ({"blocked_by": "robots.txt", "status": None}, "blocked-by-robots"),
        ({"status": 500}, "server-error"),
        ({"status": 503}, "server-error"),
        ({"status": 429}, "server-error"),
        ({"status": None, "error": "no answer in time"}, "unreachable"),
        ({"status": 404}, "client-error"),
        ({"status": 410}, "client-error"),
        ({"status": 401}, "client-error"),
        ({"status": 301, "location": f"{SITE}b"}, "redirect"),
        ({"status": 302}, "redirect"),
        ({"status": 304}, "redirect"),
        ({"refresh": f"{SITE}b"}, "redirect"),
        ({"content_type": "application/pdf"}, "not-a-page"),
        ({"content_type": None}, "not-a-page"),
        ({"status": 204}, "not-a-page"),
        ({"body_bytes": 0}, "not-a-page"),
        ({"url": SITE + "x" * (2047 - len(SITE))}, "listed"),
        ({"url": SITE + "x" * (2048 - len(SITE))}, "too-long"),
        ({"url": "https://example.org/"}, "out-of-scope"),
        ({"url": "http://example.com/page"}, "out-of-scope"),
        ({"noindex": True, "directives": "noindex"}, "noindex"),
        # One URL for which several rules speak: the first of the order wins.
        ({"blocked_by": "robots.txt", "status": 500}, "blocked-by-robots"),
        ({"status": 404, "content_type": "text/plain"}, "client-error"),
        ({"status": 200, "refresh": f"{SITE}b", "content_type": "text/plain"}, "redirect"),
        ({"content_type": "image/png", "url": "https://example.org/"}, "not-a-page"),
        ({"url": "https://example.org/" + "x" * 2100}, "too-long"),
        ({"url": "https://example.org/", "noindex": True}, "out-of-scope"),
        ({"noindex": True, "canonical_id": 1}, "noindex"),
    ],
)
def test_reason_of_one_page(observed: dict[str, object], reason: str) -> None:
    assert reason_of(GOOD._replace(**observed)) == reason  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "options", "reason"),
    [
        (f"{SITE}a?print=1", {"exclude": ["print="]}, "excluded-by-rule"),
        (f"{SITE}a", {"exclude": ["print="]}, "listed"),
        (f"{SITE}blog/a", {"include": ["/blog/"]}, "listed"),
        (f"{SITE}shop/a", {"include": ["/blog/"]}, "excluded-by-rule"),
        (f"{SITE}blog/a", {"include": ["/blog/"], "exclude": ["a$"]}, "excluded-by-rule"),
        (f"{SITE}tag/a", {"exclude_listing": ["/tag/"]}, "excluded-by-rule"),
        (f"{SITE}a", {"exclude_listing": ["/tag/"]}, "listed"),
        (f"{SITE}a.pdf", {"content_types": ["text/html"]}, "listed"),
    ],
)
def test_rules_of_the_options(url: str, options: dict[str, object], reason: str) -> None:
    assert reason_of(GOOD._replace(url=url), **options) == reason


@pytest.mark.parametrize(
    ("row", "options", "reason"),
    [
        ({"url": "https://example.org/"}, {}, "out-of-scope"),
        ({"url": f"{SITE}x"}, {"exclude": ["x$"]}, "excluded-by-rule"),
        ({"url": f"{SITE}x", "depth": 3}, {"max_depth": 2}, "limit"),
        ({"url": f"{SITE}x", "depth": 2}, {"max_depth": 2}, "limit"),
        ({"url": f"{SITE}x"}, {"max_pages": 1}, "limit"),
        ({"url": f"{SITE}x", "depth": 65_534}, {"max_depth": 9}, "limit"),
        ({"url": f"{SITE}private/x"}, {"exclude": ["x$"]}, "blocked-by-robots"),
        ({"url": f"{SITE}private/x"}, {"max_pages": 1}, "blocked-by-robots"),
        ({"url": f"{SITE}private/x", "orphan": True}, {}, "blocked-by-robots"),
        ({"url": f"{SITE}x", "orphan": True}, {}, "orphan"),
    ],
)
def test_urls_that_were_never_fetched(row: dict[str, object], options: dict[str, object], reason: str) -> None:
    facts = Facts(**{"id": 1, "depth": 1, **row})  # type: ignore[arg-type]
    decisions, _ = decisions_and_warnings([facts], **options)
    assert decisions[facts.url].reason == reason


def test_a_usable_page_without_links_is_an_orphan() -> None:
    assert reason_of(GOOD._replace(orphan=True)) == "orphan"


FAILING = GOOD._replace(failed=True, failed_status=503)


@pytest.mark.parametrize(
    ("observed", "reason", "evidence"),
    [
        ({"kept": True}, "kept-after-error", "server-error: status 503"),
        ({}, "server-error", "status 503"),
        (
            {"failed_status": None, "failed_error": "no answer in time", "kept": True},
            "kept-after-error",
            "unreachable: no answer in time",
        ),
        ({"failed_status": None, "failed_error": "no answer in time"}, "unreachable", "no answer in time"),
        # What was seen before still counts, and what the rules say now.
        ({"kept": True, "noindex": True, "directives": "noindex"}, "noindex", "noindex"),
        ({"kept": True, "orphan": True}, "orphan", "nothing leads to it any more"),
        ({"noindex": True, "directives": "noindex"}, "server-error", "status 503"),
    ],
)
def test_a_listed_page_stays_while_its_server_fails(observed: dict[str, object], reason: str, evidence: str) -> None:
    decisions, _ = decisions_and_warnings([FAILING._replace(lastmod=500.0, **observed)])  # type: ignore[arg-type]
    decision = decisions[GOOD.url]
    assert (decision.reason, decision.evidence) == (reason, evidence)
    assert decision.listed == (reason == "kept-after-error")
    assert decision.lastmod == (500.0 if decision.listed else None)


def pages(graph: str) -> list[Facts]:
    """Return pages by name: `a>b` has the canonical b, `b` has none, `c!404` has the status 404."""
    specs = [spec.partition(">") for spec in graph.split()]
    ids = {name.partition("!")[0]: number for number, (name, _, _) in enumerate(specs, start=1)}
    rows = []
    for spec, _, target in specs:
        name, _, status = spec.partition("!")
        row = GOOD._replace(id=ids[name], url=SITE + name, status=int(status or 200))
        rows.append(row._replace(canonical_id=ids[target], canonical=SITE + target) if target else row)
    return rows


@pytest.mark.parametrize(
    ("graph", "listed", "warnings"),
    [
        ("a>a", "a", ""),
        ("a>b b>b", "b", ""),
        ("a>b b", "b", "a:one-way"),
        ("a>c b>c c", "c", "a:one-way b:one-way"),
        ("a>b b>c c>c", "c", "a:chain"),
        ("a>b b>c c", "c", "a:chain b:one-way"),
        ("a>b b>c c>d d>d", "d", "a:chain b:chain"),
        ("a>b b!404", "a", "a:broken"),
        ("a>b b!301", "a", "a:broken"),
        ("a>b b!500", "a", "a:broken"),
        ("a>b b>c c!404", "b", "a:one-way b:broken"),
        ("a>b b>a", "a b", "a:broken b:broken"),
        ("a>b b>c c>a", "a b c", "a:broken b:broken c:broken"),
        ("x>a a>b b>a", "a b", "x:one-way a:broken b:broken"),
        ("x>y y>a a>b b>a", "a b", "x:chain y:one-way a:broken b:broken"),
    ],
)
def test_canonicals(graph: str, listed: str, warnings: str) -> None:
    rows = pages(graph)
    for order in (rows, rows[::-1]):
        decisions, warned = decisions_and_warnings(order)
        assert {url for url, decision in decisions.items() if decision.listed} == {
            SITE + name for name in listed.split()
        }
        found = {f"{warning.url.removeprefix(SITE)}:{warning.kind.removesuffix('-canonical')}" for warning in warned}
        assert {word.removesuffix("-canonical") for word in found} == {
            word.replace(":chain", ":canonical-chain") for word in warnings.split()
        }


def test_a_broken_canonical_names_both_urls_and_the_cause() -> None:
    _, [warning] = decisions_and_warnings(pages("a>b b!404"))
    assert warning.url == f"{SITE}a"
    assert (
        warning.message
        == f"its canonical {SITE}b can't be listed (client-error: status 404), so the page itself is listed"
    )


def test_a_canonical_blocked_by_robots_txt_is_accepted_with_a_warning() -> None:
    blocked = Facts(id=2, url=f"{SITE}b", depth=2, fetched=1_000.0, blocked_by="robots.txt: Disallow: /b")
    page = GOOD._replace(canonical_id=2, canonical=blocked.url)
    decisions, [warning] = decisions_and_warnings([page, blocked])
    assert decisions[page.url].reason == "canonical-elsewhere"
    assert (warning.kind, warning.url) == ("blocked-canonical", page.url)
    assert blocked.url in warning.message


@pytest.mark.parametrize(
    ("target", "listed"),
    [({}, False), ({"status": 404}, True), ({"noindex": True}, True), ({"fetched": None, "status": None}, True)],
)
def test_a_canonical_whose_content_other_pages_show_is_accepted(target: dict[str, Any], listed: bool) -> None:
    refused = GOOD._replace(id=2, url=f"{SITE}b?x=1", canonical_id=2, trap=int(Trap.SAME))._replace(**target)
    page = GOOD._replace(canonical_id=2, canonical=refused.url)
    decisions, warned = decisions_and_warnings([page, refused])
    assert not decisions[refused.url].listed
    assert decisions[page.url].listed is listed
    assert bool(warned) is listed


@pytest.mark.parametrize(("moment", "reason"), [(NOW - 1, "noindex"), (NOW, "noindex"), (NOW + 1, "listed")])
def test_unavailable_after_is_noindex_from_then_on(moment: float, reason: str) -> None:
    assert reason_of(GOOD._replace(unavailable_after=moment)) == reason


def test_a_canonical_out_of_the_scope_is_accepted() -> None:
    other = Facts(id=2, url="https://example.org/b", depth=2)
    page = GOOD._replace(canonical_id=2, canonical=other.url)
    decisions, warned = decisions_and_warnings([page, other])
    assert decisions[page.url].reason == "canonical-elsewhere"
    assert decisions[page.url].evidence == "rel=canonical https://example.org/b"
    assert warned == []


@pytest.mark.parametrize(
    ("name", "above", "reason"),
    [
        ("index.html", {}, "duplicate-index-file"),
        ("index.php", {}, "duplicate-index-file"),
        ("Default.aspx", {}, "duplicate-index-file"),
        ("other.html", {}, "listed"),
        ("index.html", {"body_hash": b"2"}, "listed"),
        ("index.html", {"status": 404}, "listed"),
        ("index.html", {"noindex": True}, "listed"),
    ],
)
def test_index_files(name: str, above: dict[str, object], reason: str) -> None:
    directory = GOOD._replace(url=f"{SITE}docs/", **above)  # type: ignore[arg-type]
    file = GOOD._replace(id=2, url=f"{SITE}docs/{name}")
    decisions, _ = decisions_and_warnings([directory, file])
    assert decisions[file.url].reason == reason


def test_an_index_file_is_no_duplicate_of_a_directory_that_names_it_as_canonical() -> None:
    file = GOOD._replace(id=2, url=f"{SITE}docs/index.html", canonical_id=2, canonical=f"{SITE}docs/index.html")
    directory = GOOD._replace(url=f"{SITE}docs/", canonical_id=2, canonical=file.url)
    for order in ([directory, file], [file, directory]):
        decisions, _ = decisions_and_warnings(order)
        assert decisions[file.url].reason == "listed"
        assert decisions[directory.url].reason == "canonical-elsewhere"


def test_an_index_file_is_no_duplicate_of_a_directory_that_nothing_links_to() -> None:
    directory = GOOD._replace(url=f"{SITE}docs/", orphan=True)
    file = GOOD._replace(id=2, url=f"{SITE}docs/index.html")
    decisions, _ = decisions_and_warnings([directory, file])
    assert (decisions[file.url].reason, decisions[directory.url].reason) == ("listed", "orphan")


def test_an_index_file_without_its_directory_is_listed() -> None:
    file = GOOD._replace(url=f"{SITE}docs/index.html")
    assert reason_of(file) == "listed"


def test_lastmod_has_its_source() -> None:
    decisions, _ = decisions_and_warnings([GOOD._replace(lastmod=500.0, lastmod_source="last-modified")])
    assert (decisions[GOOD.url].lastmod, decisions[GOOD.url].lastmod_source) == (500.0, "last-modified")
    decisions, _ = decisions_and_warnings([GOOD])
    assert (decisions[GOOD.url].lastmod, decisions[GOOD.url].lastmod_source) == (None, None)


ADDRESSES = [
    *(f"{SITE}{name}" for name in ("a", "b", "c", "docs/", "docs/index.html", "docs/index.php", "tag/1", "cart")),
    *(f"{SITE}private/{name}" for name in ("", "index.html")),
    *("https://example.org/", "https://example.org/index.html", SITE + "x" * 2_100),
]
RULES = {"exclude": ["cart"], "exclude_listing": ["/tag/"], "max_depth": 3}


@st.composite
def sites(draw: st.DrawFn) -> list[Facts]:
    """Return rows of every kind, with arbitrary canonicals."""
    urls = draw(st.lists(st.sampled_from(ADDRESSES), min_size=1, max_size=12, unique=True))
    size = len(urls)
    rows = []
    for number, url in enumerate(urls, 1):
        canonical = draw(st.none() | st.integers(1, size))
        rows.append(
            Facts(
                id=number,
                url=url,
                depth=draw(st.integers(0, 4)),
                orphan=draw(st.booleans()),
                failed=draw(st.booleans()),
                failed_status=draw(st.sampled_from([None, 429, 503])),
                kept=draw(st.booleans()),
                fetched=draw(st.none() | st.just(1_000.0)),
                status=draw(st.sampled_from([None, 200, 200, 200, 204, 301, 304, 404, 429, 500])),
                blocked_by=draw(st.none() | st.just("robots.txt")),
                content_type=draw(st.sampled_from([None, "text/html", "text/html", "image/png"])),
                body_bytes=draw(st.integers(0, 2)),
                body_hash=draw(st.none() | st.just(b"1")),
                refresh=draw(st.none() | st.just(f"{SITE}r")),
                canonical_id=canonical,
                canonical=urls[canonical - 1] if canonical else None,
                unavailable_after=draw(st.sampled_from([None, 1_999.0, 2_001.0])),
                noindex=draw(st.booleans()),
            )
        )
    return rows


@given(rows=sites(), seed=st.integers(0, 1_000))
def test_every_url_has_one_decision_for_any_order_of_the_rows(rows: list[Facts], seed: int) -> None:
    shuffled = random.Random(seed).sample(rows, len(rows))
    decisions, warned = decisions_and_warnings(rows, **RULES)
    assert decisions.keys() == {facts.url for facts in rows}
    assert all(decision.listed == (decision.reason in LISTED) for decision in decisions.values())
    assert all(decision.reason is Reason.LISTED or decision.evidence for decision in decisions.values())
    again, warned_again = decisions_and_warnings(shuffled, **RULES)
    assert again == decisions
    assert set(warned_again) == set(warned)
