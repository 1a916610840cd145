"""The rows of the report's table of URLs, within a budget of rows and bytes, and their compact form for the script."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select

from sitemap_crawler.inventory.inspections import live_states
from sitemap_crawler.inventory.publications import Change
from sitemap_crawler.inventory.schema import decisions, observations, urls
from sitemap_crawler.inventory.sql import chunks
from sitemap_crawler.items import RenderState
from sitemap_crawler.policy.rules import LINKED_FROM_UNREACHED
from sitemap_crawler.report.html.decision_groups import GROUP_OF, Group
from sitemap_crawler.report.html.engines import MAX_STATE
from sitemap_crawler.report.html.history import changes_of, left_sitemap
from sitemap_crawler.report.html.scan import fair_sample
from sitemap_crawler.report.html.site_facts import latest_answer
from sitemap_crawler.report.html.texts import MAX_SOURCE, clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.inventory.lookup import Inventory
    from sitemap_crawler.report.html.scan import Scan
    from sitemap_crawler.report.html.texts import PageTexts

MAX_BYTES = 1_400_000
"""Maximum size of all rows, so that a report has at most 2 MB however long URLs and titles are."""
MAX_EVIDENCE = 300
"""Characters of an evidence that a row keeps."""
TRIES = 6
"""Maximum number of samples that are taken until one fits MAX_BYTES."""
_CHANGES = ("", *map(str, Change))
_RENDERINGS = ("", "useful", "idle", "failed", "earlier")
"""Results of the rendering of a page. The table of the report names them by their positions.

`useful`: the page was rendered and has gained. `idle`: it has not gained. `failed`: the rendering failed. `earlier`:
the latest run has none, and that of an earlier run counts. Empty: the page was not rendered.
"""


class UrlRow(NamedTuple):
    """A URL in the table. Texts come from the site."""

    url: str
    reason: str | None
    evidence: str
    title: str
    answer: int
    """Status of the latest answer, or a number that stands for none, see `latest_answer`."""
    clicks: int | None
    links_in: int | None
    lastmod: float | None
    """In seconds since 1970."""
    lastmod_source: str
    new: bool
    """Whether the URL has its reason since the latest run."""
    left: bool
    """Whether it left the live sitemap in that run, or would leave it."""
    change: str
    """What that run did with it in the sitemap: a Change, or ""."""
    before: str
    """The reason before that run; "" if there is none, or if it is not known."""
    referrer: str
    engine: str
    """What Google says of it, if it is live."""
    rendering: str
    """One of `_RENDERINGS`."""

    @property
    def status(self) -> int | None:
        """Status of the latest answer."""
        return self.answer if self.answer > 0 else None

    @property
    def group(self) -> Group:
        return group_of(self.reason)


def group_of(reason: str | None) -> Group:
    """Return the group of a reason; None is the reason of a URL that is not decided."""
    return Group.OPEN if reason is None else GROUP_OF[reason]  # type: ignore[index]


@dataclass(slots=True)
class UrlTable:
    """The rows in the order of their URLs."""

    rows: list[UrlRow]
    total: int
    """Number of URLs in scope."""

    def first(self, number: int) -> list[UrlRow]:
        """Return the first rows in the order of the table: by group, then by URL."""
        return sorted(self.rows, key=lambda row: (row.group, row.url))[:number]

    def to_json(self) -> dict[str, Any]:
        """Return the rows for the script. Of a URL only the part is there that the one before does not begin with.

        Reasons, evidences, sources and referrers are positions in lists.
        """
        reasons, texts = _Positions(), _Positions()
        packed: list[list[Any]] = []
        before = ""
        for row in self.rows:
            # JavaScript counts other characters in another way.
            shared = _shared_length(before, row.url) if row.url.isascii() else 0
            before = row.url
            packed.append(
                [
                    shared,
                    row.url[shared:],
                    reasons.of(row.reason or ""),
                    texts.of(row.evidence),
                    row.title,
                    row.answer,
                    -1 if row.clicks is None else row.clicks,
                    -1 if row.links_in is None else row.links_in,
                    0 if row.lastmod is None else int(row.lastmod),
                    texts.of(row.lastmod_source),
                    row.new + 2 * row.left + 4 * _CHANGES.index(row.change) + 16 * _RENDERINGS.index(row.rendering),
                    texts.of(row.before),
                    texts.of(row.referrer),
                    texts.of(row.engine),
                ]
            )
        return {
            "reasons": list(reasons.known),
            "texts": list(texts.known),
            "changes": _CHANGES,
            "renderings": _RENDERINGS,
            "rows": packed,
        }


def _shared_length(first: str, second: str) -> int:
    """Return the number of characters that both texts begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


@dataclass(slots=True)
class _Positions:
    """List of different texts, each with its position."""

    known: dict[str, int] = field(default_factory=dict)

    def of(self, text: str) -> int:
        return self.known.setdefault(text, len(self.known))


def read_table(
    inventory: Inventory,
    found: Scan,
    *,
    limit: int,
    texts: PageTexts,
    published: bool,
) -> UrlTable:
    """Return at most `limit` URLs, fewer if they are long. `published` says that the latest run has published."""
    for _ in range(TRIES):
        ids = sorted(fair_sample(found.by_reason, limit))
        rows = sorted(_rows(inventory, ids, texts, published=published), key=lambda row: row.url)
        table = UrlTable(rows, found.in_scope)
        size = len(json.dumps(table.to_json(), ensure_ascii=False, separators=(",", ":")).encode())
        if size <= MAX_BYTES:
            return table
        limit = int(len(rows) * MAX_BYTES / size * 0.95)
    return UrlTable([], found.in_scope)


def _rows(
    inventory: Inventory,
    ids: list[int],
    texts: PageTexts,
    *,
    published: bool,
) -> Iterator[UrlRow]:
    referrer = urls.alias("referrers")
    seen = observations.c
    run = inventory.run.id
    columns = (
        urls.c.id, urls.c.url, urls.c.depth, urls.c.inlinks, decisions.c.reason, decisions.c.evidence,
        decisions.c.lastmod, decisions.c.lastmod_source, decisions.c.since, decisions.c.before, latest_answer(),
        seen.title, referrer.c.url, left_sitemap(run, published=published), seen.rendered,
        seen.rendering["run"].as_integer(),
    )  # fmt: skip
    query = (
        select(*columns)
        .outerjoin(decisions, decisions.c.url_id == urls.c.id)
        .outerjoin(observations, seen.url_id == urls.c.id)
        .outerjoin(referrer, referrer.c.id == urls.c.referrer)
    )
    for chunk in chunks(ids):
        done = changes_of(inventory.connection, run, chunk) if published else {}
        states = live_states(inventory.connection, chunk)
        for row in inventory.connection.execute(query.where(urls.c.id.in_(chunk))):
            url_id, url, depth, inlinks, reason, evidence, lastmod, source, *others = row
            since, before, answer, title, page, left, state, rendered_in = others
            yield UrlRow(
                url=texts.url(url),
                reason=reason,
                evidence=clean(evidence or "", MAX_EVIDENCE),
                title=texts.title(title),
                answer=answer,
                clicks=None if depth >= LINKED_FROM_UNREACHED else depth,
                links_in=inlinks,
                lastmod=lastmod,
                lastmod_source=clean(source or "", MAX_SOURCE),
                new=since == run,
                left=bool(left),
                change=done.get(url_id, ""),
                before=before or "",
                referrer=texts.url(page),
                engine=clean(states.get(url_id, ""), MAX_STATE),
                rendering=_rendering(state, of_this_run=rendered_in == run),
            )


def _rendering(state: int | None, *, of_this_run: bool) -> str:
    """Return the result of the rendering of a page with this RenderState, one of `_RENDERINGS`."""
    if state in (RenderState.RENDERED, RenderState.MOVED):
        return "useful" if of_this_run else "earlier"
    kinds = {RenderState.NO_GAIN: "idle", RenderState.FAILED: "failed"}
    return kinds.get(RenderState(state), "") if state is not None and of_this_run else ""
