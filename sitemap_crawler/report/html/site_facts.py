"""Facts of the site that single queries count: dates, answers of the server, sizes, links, published files."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import case, func, select

from sitemap_crawler.inventory.frontier import one_in
from sitemap_crawler.inventory.schema import decisions, observations, published, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS
from sitemap_crawler.policy.rules import LINKED_FROM_UNREACHED
from sitemap_crawler.report.html.scan import OUT_OF_SCOPE
from sitemap_crawler.report.html.texts import MAX_SOURCE, clean

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select

    from sitemap_crawler.inventory.lookup import Inventory
    from sitemap_crawler.report.html.texts import PageTexts

DAY = 86_400.0
AGES = (("last 7 days", 7), ("last 30 days", 30), ("last 90 days", 90), ("last year", 365), ("last 3 years", 1096))
"""Classes of age, each with its number of days."""
OLDER, UNDATED = "older", "no date"
MAX_TOP = 6
"""Maximum number of pages in a list of the largest, the most linked or the deepest pages."""
MAX_FILES = 30
"""Maximum number of published files that are named."""
FEW_LINKS = 1
"""Maximum number of links to a page that is called weakly linked."""
MANY_CLICKS = 4
"""Number of clicks from which on a page is called far."""
NOT_OBSERVED, NO_ANSWER, NOT_ASKED = 0, -1, -2
"""Numbers of the URLs that were not requested, that did not answer, and that robots.txt keeps from being requested."""
TIMED_URLS = 50_000
"""About how many answer times the medians of the directories are taken from."""
MAX_DIRECTORIES = 1_000
"""Maximum number of directories whose answer times are kept in memory."""
MIN_TIMED = 5
"""Number of answers of a directory from which on it has a median."""
_LISTED = decisions.c.decision == "listed"


class AgeRow(NamedTuple):
    """Number of listed pages of one age, by source of the date."""

    label: str
    total: int
    by_source: dict[str, int]


class Dates(NamedTuple):
    """The dates of the listed pages."""

    ages: list[AgeRow]
    sources: dict[str, int]
    """Number of pages by source, the largest first."""
    total: int
    dated: int


class PageValue(NamedTuple):
    """A page and one number."""

    url: str
    title: str
    value: int


class Links(NamedTuple):
    """Links between the pages of the site."""

    counted: bool
    """Whether links have been counted: not in inventories of earlier releases, and not before the first crawl ended."""
    unlinked: int
    """Number of listed pages that no other page links to, without the start page."""
    weakly_linked: int
    """Number of listed pages that exactly one other page links to."""
    hubs: list[PageValue]
    weakest: list[PageValue]
    """The listed pages with the fewest links, FEW_LINKS at most, the fewest first."""
    deepest: list[PageValue]
    """The pages with the most clicks, MANY_CLICKS at least."""


class AnswerRow(NamedTuple):
    """Number of URLs with one kind of answer."""

    answer: int
    """Status, NO_ANSWER or NOT_ASKED."""
    total: int


class DirectoryTime(NamedTuple):
    """The median time of the answers in one directory of the site."""

    directory: str
    """Its path within the site."""
    answers: int
    median_ms: int


class FileRow(NamedTuple):
    """A published file."""

    name: str
    url: str
    urls: int
    bytes: int


class Server(NamedTuple):
    """The answers of the server, and the published files."""

    answers: list[AnswerRow]
    largest: list[PageValue]
    slowest: list[PageValue]
    """Milliseconds from the request to the end of the answer."""
    median_ms: int | None
    directories: list[DirectoryTime]
    """The directories with the slowest answers. Empty if there are fewer than two to compare."""
    one_of: int
    """The directories are compared by one of so many answers; 1 for all answers."""
    files: list[FileRow]
    file_count: int
    file_bytes: int


def read_dates(connection: Connection, now: float) -> Dates:
    """Return the ages of the listed pages at the time `now`, in seconds since 1970."""
    age = now - decisions.c.lastmod
    known = [(age <= days * DAY, position) for position, (_, days) in enumerate(AGES)]
    column = case((decisions.c.lastmod.is_(None), len(AGES) + 1), *known, else_=len(AGES))
    query = select(column, decisions.c.lastmod_source, func.count()).where(_LISTED)
    labels = [*(label for label, _ in AGES), OLDER, UNDATED]
    rows = [AgeRow(label, 0, {}) for label in labels]
    sources: dict[str, int] = {}
    for position, source, count in connection.execute(query.group_by(column, decisions.c.lastmod_source)):
        row = rows[position]
        name = "" if labels[position] == UNDATED else clean(source or "", MAX_SOURCE)
        row.by_source[name] = row.by_source.get(name, 0) + count
        rows[position] = row._replace(total=row.total + count)
        if name:
            sources[name] = sources.get(name, 0) + count
    total = sum(row.total for row in rows)
    ordered = dict(sorted(sources.items(), key=lambda item: (-item[1], item[0])))
    return Dates(rows, ordered, total, total - rows[-1].total)


def read_links(inventory: Inventory, texts: PageTexts) -> Links:
    """Return the links of the site, as the latest finished crawl counted them."""
    inlinks, start = urls.c.inlinks, inventory.run.start_url
    known = select(urls.c.id, inlinks).join(decisions, decisions.c.url_id == urls.c.id).where(_LISTED)
    total, none, one = inventory.connection.execute(
        known.with_only_columns(
            func.count(inlinks),
            func.count().filter(inlinks == 0, urls.c.url != start),
            func.count().filter(inlinks == 1),
        )
    ).one()
    hubs = known.where(inlinks > 0).order_by(inlinks.desc(), urls.c.id)
    weakest = known.where(inlinks <= FEW_LINKS, urls.c.url != start).order_by(inlinks, urls.c.depth.desc(), urls.c.id)
    is_far = urls.c.depth.between(MANY_CLICKS, LINKED_FROM_UNREACHED - 1)
    deep = known.with_only_columns(urls.c.id, urls.c.depth).where(is_far)
    deep = deep.order_by(urls.c.depth.desc(), urls.c.id)
    return Links(
        bool(total),
        none,
        one,
        _top(inventory, texts, hubs),
        _top(inventory, texts, weakest)[::-1],
        _top(inventory, texts, deep),
    )


def _top(inventory: Inventory, texts: PageTexts, query: Select[Any]) -> list[PageValue]:
    """Return the first pages of a query for ids and values."""
    return _pages(inventory, texts, {row[0]: row[1] for row in inventory.connection.execute(query.limit(MAX_TOP))})


def _pages(inventory: Inventory, texts: PageTexts, values: dict[int, int]) -> list[PageValue]:
    """Return the pages of these ids with their values, the largest first."""
    query = select(urls.c.id, urls.c.url, observations.c.title)
    query = query.outerjoin(observations, observations.c.url_id == urls.c.id).where(urls.c.id.in_(list(values)))
    rows = [
        PageValue(texts.url(row.url), texts.title(row.title), values[row.id])
        for row in inventory.connection.execute(query)
    ]
    return sorted(rows, key=lambda row: (-row.value, row.url))


def latest_answer() -> ColumnElement[int]:
    """Return the number of the latest answer of a URL: its status, or one of the three that stand for none."""
    seen = observations.c
    status = case((seen.failed_since.is_not(None), seen.failed_status), else_=seen.status)
    is_blocked, is_missing = seen.blocked_by.is_not(None), seen.url_id.is_(None)
    return case((is_missing, NOT_OBSERVED), (is_blocked, NOT_ASKED), else_=func.coalesce(status, NO_ANSWER))


def read_server(inventory: Inventory, texts: PageTexts, *, prefix: str) -> Server:
    """Return the answers of the latest requests. `prefix` is the public directory of the site."""
    connection, seen = inventory.connection, observations.c
    answer = latest_answer()
    in_scope = func.coalesce(decisions.c.reason, "") != OUT_OF_SCOPE
    counted = select(answer, func.count()).outerjoin(decisions, decisions.c.url_id == seen.url_id).where(in_scope)
    answers = [AnswerRow(*row) for row in connection.execute(counted.group_by(answer))]
    rows = sorted(answers, key=lambda row: (-row.total, row.answer))
    largest = select(seen.url_id, seen.body_bytes).join(decisions, decisions.c.url_id == seen.url_id).where(_LISTED)
    largest = largest.order_by(seen.body_bytes.desc(), seen.url_id).limit(MAX_TOP)
    sizes: dict[int, int] = {row.url_id: row.body_bytes for row in connection.execute(largest)}
    elapsed = select(seen.url_id, seen.elapsed).where(seen.elapsed.is_not(None))
    timed = connection.scalar(select(func.count(seen.elapsed))) or 0
    one_of = max(1, timed // TIMED_URLS)
    middle = select(seen.elapsed).where(seen.elapsed.is_not(None)).order_by(seen.elapsed)
    files = select(published.c.name, published.c.url, published.c.urls, published.c.bytes)
    files = files.order_by(published.c.directory, published.c.entry, published.c.first, published.c.name)
    totals: Any = connection.execute(select(func.count(), func.coalesce(func.sum(published.c.bytes), 0))).one()
    return Server(
        rows,
        _pages(inventory, texts, sizes),
        _top(inventory, texts, elapsed.order_by(seen.elapsed.desc(), seen.url_id)),
        connection.scalar(middle.limit(1).offset(timed // 2)) if timed else None,
        _times_by_directory(connection, texts, prefix, every=one_of),
        one_of,
        [FileRow(*row) for row in connection.execute(files.limit(MAX_FILES))],
        *totals,
    )


def _times_by_directory(connection: Connection, texts: PageTexts, prefix: str, *, every: int) -> list[DirectoryTime]:
    """Return the slowest of the directories directly below `prefix`, from the answer of one of `every` URLs."""
    seen = observations.c
    query = select(urls.c.url, seen.elapsed).join(urls, urls.c.id == seen.url_id)
    query = query.where(seen.elapsed.is_not(None), one_in(every, seen.url_id)).order_by(urls.c.url)
    times: dict[str, array[int]] = {}
    for url, elapsed in connection.execute(query, execution_options={"yield_per": STREAM_ROWS}):
        public = texts.to_public(url)
        if not public.startswith(prefix):
            continue
        first, slash, _ = public[len(prefix) :].partition("?")[0].partition("/")
        known = times.get(first + slash if slash else "")
        if known is None:
            if len(times) >= MAX_DIRECTORIES:
                continue
            known = times[first + slash if slash else ""] = array("L")
        known.append(elapsed)
    rows = [
        DirectoryTime(clean(f"/{directory}", MAX_SOURCE), len(known), sorted(known)[len(known) // 2])
        for directory, known in times.items()
        if len(known) >= MIN_TIMED
    ]
    return sorted(rows, key=lambda row: (-row.median_ms, row.directory))[:MAX_TOP] if len(rows) > 1 else []
