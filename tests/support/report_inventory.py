"""An inventory in which every section of the HTML report has something to show: all reasons, all warnings, three runs.

    /                 start page, links to all others
    /docs/  /blog/    directories with pages of every reason, one after the other
    /docs/deep/…/     a path of directories, each a click further
    https://elsewhere.example/  out of the scope

With `hostile` the titles, evidences, sources, messages and some addresses are attacks.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from itertools import cycle
from typing import TYPE_CHECKING, Any

from sitemap_crawler.inventory.schema import UrlState
from sitemap_crawler.inventory.sitemap_answers import SitemapAnswer
from sitemap_crawler.inventory.sql import url_key
from sitemap_crawler.items import RenderCause, RenderState
from sitemap_crawler.policy.reasons import Reason, ReasonGroup
from sitemap_crawler.policy.warning_kinds import WarningKind
from tests.support.inventories import Connected, connect, open_store
from tests.support.made_inventory import STARTED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from pathlib import Path

SITE = "https://www.example.com/"
DAY = 86_400.0
NOT_ASKED = Reason.BLOCKED_BY_ROBOTS
RENDERINGS = (
    (RenderState.RENDERED, 3),
    (RenderState.FAILED, 3),
    (RenderState.NO_GAIN, 3),
    (RenderState.MOVED, 2),
    None,
)
"""Result and run of the renderings of the listed pages, which have them in turn. None: the page was not rendered."""
TRAPS = frozenset((Reason.DUPLICATE_PARAMETERS, Reason.LIMIT))
OPTIONS = {"start_url": SITE, "output": "/nonexistent/sitemaps", "keep_errors": 7, "user_agent": "tests"}
SCRIPT = "window.attacked = true"
ATTACKS = (
    f"<script>{SCRIPT}</script>",
    f"</script><script>{SCRIPT}</script>",
    f"</style><script>{SCRIPT}</script>",
    f"<img src=x onerror='{SCRIPT}'>",
    f'"><svg onload="{SCRIPT}">',
    f"' onmouseover='{SCRIPT}' x='",
    "<!--<script>",
    "{{ 7 * 7 }}{% raw %}",
    f"javascript:{SCRIPT}",
    f"data:text/html,<script>{SCRIPT}</script>",
    "right \u202eto left\u202c",
    "line\u2028paragraph\u2029end",
    "escape \x1b[31mred\x07",
)
HOSTILE_URLS = (
    f"{SITE}docs/</script><script>{SCRIPT}</script>",
    f'{SITE}docs/"onmouseover="{SCRIPT}',
    f"{SITE}docs/'onclick='{SCRIPT}",
    f"javascript:{SCRIPT}",
    f"data:text/html,<script>{SCRIPT}</script>",
    f"{SITE}docs/\u202elmth.x",
    f"{SITE}docs/{{{{7*7}}}}\u2028",
    f"{SITE}docs/{'x' * 2_000}",
)


def make_report_inventory(path: Path, *, pages: int = 120, hostile: bool = False) -> Path:
    """Create the inventory. It has about `pages` URLs in scope."""
    open_store(path).close()
    attacks = cycle(ATTACKS)

    def text(plain: str) -> str:
        return next(attacks) if hostile else plain

    addresses = [SITE, *(HOSTILE_URLS if hostile else ())]
    addresses += [f"{SITE}{'docs' if number % 3 else 'blog'}/{_name(number)}" for number in range(pages)]
    addresses += [f"{SITE}docs/{'deep/' * level}" for level in range(1, 8)]
    with closing(connect(path)) as connection:
        others = cycle([reason for reason in Reason if reason is not Reason.OUT_OF_SCOPE])
        reasons = [Reason.LISTED if number % 2 else next(others) for number in range(1, len(addresses) + 1)]
        rendered = Counter(_rendering_of(number, reason) for number, reason in enumerate(reasons, 1))
        _add_runs(connection, text, Counter(reasons), rendered)
        for number, (url, reason) in enumerate(zip(addresses, reasons, strict=True), 1):
            _add_url(connection, number, url, reason, text)
        _add_url(connection, len(addresses) + 1, "https://elsewhere.example/", Reason.OUT_OF_SCOPE, text)
        _add_warnings(connection, addresses, text)
        _add_publications(connection, text)
        _add_engines(connection, text)
        connection.commit()
    return path


def _name(number: int) -> str:
    return f"page-{number}.html" + ("?view=full" if number % 10 == 0 else "")


def _rendering_of(number: int, reason: Reason) -> tuple[RenderState, int] | None:
    return RENDERINGS[number // 2 % len(RENDERINGS)] if reason is Reason.LISTED else None


def _add_runs(
    connection: sqlite3.Connection | Connected,
    text: Any,
    counts: Mapping[Reason, int],
    rendered: Mapping[tuple[RenderState, int] | None, int],
) -> None:
    warned = {str(kind): 3 for kind in WarningKind}
    totals: dict[str, Any] = {
        "requests": 130,
        "not_modified": 60,
        "bytes": 1_234_567,
        "errors": 3,
        "outcome": "published",
    }
    totals |= {"message": text("done"), "warning_counts": warned, "hints": text("links lead elsewhere")}
    useful, failed, idle, earlier = (rendered[rendering] for rendering in RENDERINGS[:4])
    totals["rendering"] = {"rendered": useful + failed + idle, "useful": useful, "failed": failed, "confirmed": earlier}
    totals["rendering"]["seconds"] = 12.5
    totals["refused"] = {text("ads.example"): 3}
    for run in (1, 2, 3):
        began = STARTED + (run - 1) * DAY
        numbers = {reason: max(0, count + 3 - run) for reason, count in counts.items()}
        listed, kept = numbers.pop(Reason.LISTED), numbers.pop(Reason.KEPT_AFTER_ERROR)
        totals |= {"listed": listed + kept, "kept": kept, "excluded": numbers}
        row = (run, SITE, SITE, f"{SITE}sitemap.xml", began, began + 75, "published", "finished", json.dumps(OPTIONS))
        connection.execute(
            "INSERT INTO runs (id, requested_url, start_url, sitemap_url, started, finished, outcome, ended_by, "
            "options, totals) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, json.dumps(totals)),
        )


def _add_url(connection: sqlite3.Connection | Connected, number: int, url: str, reason: Reason, text: Any) -> None:
    depth = url.count("deep/") or int(number > 1)
    connection.execute(
        "INSERT INTO urls (id, key, url, state, depth, referrer, first_seen, inlinks) VALUES (?, ?, ?, ?, ?, ?, 1, ?)",
        (
            number,
            url_key(url),
            url,
            UrlState.REPEATS if reason in TRAPS else UrlState.ADMITTED,
            depth,
            None if number == 1 else max(1, number // 8),
            number % 5,
        ),
    )
    statuses = {"client-error": 404, "server-error": 500, "redirect": 301, "unreachable": None, NOT_ASKED: None}
    status = statuses.get(reason, 200)
    rendering = _rendering_of(number, reason)
    if reason is not Reason.OUT_OF_SCOPE:
        connection.execute(
            "INSERT INTO observations (url_id, run, fetched, status, body_bytes, elapsed, noindex, nofollow, title, "
            "failed_since, blocked_by, rendered, rendering) VALUES (?, 3, ?, ?, ?, ?, false, false, ?, ?, ?, ?, ?)",
            (
                number,
                STARTED,
                status,
                1_000 * number,
                number,
                text(f"Page {number}"),
                2 if reason == "unreachable" else None,
                "Disallow: /docs/" if reason == NOT_ASKED else None,
                None if rendering is None else int(rendering[0]),
                None if rendering is None else json.dumps({"cause": RenderCause.SAMPLE, "run": rendering[1]}),
            ),
        )
    listed = reason.traits.group in (ReasonGroup.LISTED, ReasonGroup.AT_RISK)
    connection.execute(
        "INSERT INTO decisions (url_id, decision, reason, evidence, lastmod, lastmod_source, since, before) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, 'listed')",
        (
            number,
            "listed" if listed else "excluded",
            reason,
            text(f"evidence of {reason}"),
            STARTED - number * 9 * DAY if listed and number % 4 else None,
            text("last-modified") if listed and number % 4 else None,
            3 if number % 6 == 0 else 1,
        ),
    )


def _add_warnings(connection: sqlite3.Connection | Connected, addresses: list[str], text: Any) -> None:
    rows = [(kind, url) for kind in WarningKind for url in addresses[1:4]]
    for number, (kind, url) in enumerate(rows, 1):
        row = (number, str(kind), url, text(f"message {number}"))
        connection.execute("INSERT INTO warnings (id, run, kind, url, message) VALUES (?, 3, ?, ?, ?)", row)


def _add_publications(connection: sqlite3.Connection | Connected, text: Any) -> None:
    listed = "SELECT url_id FROM decisions WHERE decision = 'listed'"
    removed = "SELECT url_id FROM decisions WHERE decision = 'excluded' AND since = 3 AND reason != 'out-of-scope'"
    some = f"{listed} AND url_id % 7 = 1"
    for statement in (
        f"INSERT INTO listings (url_id) {listed}",
        f"INSERT INTO changes (publication, url_id, run, kind) SELECT 1, url_id, 1, 'added' FROM ({listed}) pages",
        f"INSERT INTO changes (publication, url_id, run, kind) SELECT 1, url_id, 1, 'added' FROM ({removed}) pages",
        f"INSERT INTO changes (publication, url_id, run, kind) SELECT 3, url_id, 3, 'removed' FROM ({removed}) pages",
        f"INSERT INTO changes (publication, url_id, run, kind) SELECT 3, url_id, 3, 'changed' FROM ({some}) pages",
        "UPDATE changes SET before = 1600000000, after = 1700000000 WHERE kind = 'changed'",
    ):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO published (directory, entry, name, url, urls, bytes, sha256, modified, first) "
        "VALUES ('/nonexistent/sitemaps', 'sitemap.xml', 'sitemap.xml', ?, 70, 9000, 'x', 1, ?)",
        (f"{SITE}sitemap.xml", text(SITE)),
    )


def _add_engines(connection: sqlite3.Connection | Connected, text: Any) -> None:
    answers = (
        (
            "google",
            SitemapAnswer(submitted=70, last_downloaded=datetime(2023, 11, 15, tzinfo=UTC), errors=2, warnings=1),
        ),
        (
            "bing",
            SitemapAnswer(submitted=69, last_downloaded=datetime(2023, 11, 14, tzinfo=UTC), status=text("Success")),
        ),
    )
    for number, (service, answer) in enumerate(answers, 1):
        row = (
            number,
            service,
            SITE,
            f"{SITE}sitemap.xml",
            STARTED,
            STARTED,
            json.dumps(answer.to_json() | {"parent": None}),
        )
        connection.execute("INSERT INTO engine_sitemaps VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    (pages,) = connection.execute("SELECT group_concat(url_id) FROM listings").fetchone()
    for number, page in enumerate(pages.split(",")[:20]):
        state = (
            ("PASS", "Submitted and indexed") if number % 3 else ("NEUTRAL", text("Crawled - currently not indexed"))
        )
        chosen = f"{SITE}docs/other" if number % 5 == 0 else None
        connection.execute(
            "INSERT INTO inspections (url_id, property, at, verdict, coverage_state, google_canonical) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (page, SITE, STARTED, *state, chosen),
        )
