"""URLs whose pages may only repeat others, in the inventory: samples of refused groups, and the end of a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import nlargest
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, exists, func, select, update

from sitemap_crawler.inventory.frontier import add_waiting, one_in
from sitemap_crawler.inventory.schema import UrlState, frontier, observations, urls
from sitemap_crawler.inventory.sql import SET_STATE, batches_of_urls, chunks, url_key
from sitemap_crawler.inventory.traps import count_admitted
from sitemap_crawler.traps.group_counts import OWN_YIELDS
from sitemap_crawler.traps.shapes import shape_of
from sitemap_crawler.traps.turns import LATE_TURN

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from sqlalchemy import Connection

    from sitemap_crawler.traps.detector import TrapDetector
    from sitemap_crawler.traps.yields import Yields

MIN_GROUP_SAMPLES = 5
"""Number of further samples of a group that the run has refused, before it ends."""
MAX_GROUP_SAMPLES = 50
"""The same for a group of which several pages have yielded: one URL in twenty may yield again."""
FEW_GROUP_SAMPLES = 10
"""The same for a group of which one page has yielded. The first URL of a path nearly always does."""
MAX_EARLIER_SAMPLES = 1
"""The same for a group that an earlier run has refused or left out."""
MAX_NEW_SAMPLES = 10
"""Number of further samples of such a group that has yielded, among the URLs that no earlier run has met."""
MAX_REVISITED = 3
"""Maximum number of pages of a group that an earlier run has refused, and that has yielded, which are fetched again."""
MAX_SAMPLES = 1_000
"""Maximum number of such URLs of all groups at a time."""
MAX_SHAPES = 100_000
"""Number of shapes of left out URLs from which on no further ones are looked for."""
_IS_OBSERVED = exists().where(observations.c.url_id == urls.c.id)
_UNREQUESTED = (urls.c.state == int(UrlState.EXHAUSTED)) & ~_IS_OBSERVED
_LEFT_OUT = (int(UrlState.REPEATS), int(UrlState.EXHAUSTED))


def readmit_repeating(connection: Connection, traps: TrapDetector) -> None:
    """Let those URLs wait that were refused as repeating or when a run ended, and whose group has yielded since."""
    refused = select(urls.c.id, urls.c.url, urls.c.depth, urls.c.state).where(urls.c.state.in_(_LEFT_OUT))
    for rows in batches_of_urls(connection, refused):
        again = [
            row
            for row in rows
            if traps.learnt_refusal(row.url) is None
            and (row.state != UrlState.EXHAUSTED or shape_of(row.url).groups[0] in traps.yields.reopened)
        ]
        SET_STATE.execute(connection, [{"b_id": row.id, "b_state": int(UrlState.ADMITTED)} for row in again])
        add_waiting(
            connection,
            [{"url_id": row.id, "depth": row.depth, "turn": traps.turn_of(row.url)} for row in again],
        )


def readmit_over_budget(connection: Connection, traps: TrapDetector, *, admits: Callable[[str, int], bool]) -> bool:
    """Let those URLs wait that a place had no room for, as far as it has room now. Return whether any was refused.

    Many URLs that a place was full of may only repeat others: they were refused since, and count no longer.
    """
    over = select(urls.c.id, urls.c.url, urls.c.depth).where(
        urls.c.state == int(UrlState.FACETS), urls.c.unlinked_since.is_(None)
    )
    if connection.execute(over.limit(1)).first() is None:
        return False
    traps.facets.forget()
    count_admitted(connection, traps)
    for rows in batches_of_urls(connection, over):
        found = [(row, traps.refusal(row.url)) for row in rows if admits(row.url, row.depth)]
        states = [(row.id, UrlState.ADMITTED if trap is None else UrlState(trap)) for row, trap in found]
        SET_STATE.execute(connection, [{"b_id": row_id, "b_state": int(state)} for row_id, state in states])
        add_waiting(
            connection,
            [
                {"url_id": row.id, "depth": row.depth, "turn": traps.turn_of(row.url)}
                for row, trap in found
                if trap is None
            ],
        )
    return True


def bring_back(connection: Connection, traps: TrapDetector) -> None:
    """Let those URLs wait in the first turn that waited for all others, and whose group has yielded since."""
    waiting = select(urls.c.id, urls.c.url).join(frontier, frontier.c.url_id == urls.c.id)
    for rows in batches_of_urls(connection, waiting.where(frontier.c.turn >= LATE_TURN)):
        ids = [row.id for row in rows if not traps.yields.turns.is_postponed(row.url)]
        connection.execute(update(frontier).where(frontier.c.url_id.in_(ids)).values(turn=0))


def bring_forward(connection: Connection, named: Sequence[str]) -> int:
    """Let URLs that pages name as canonical wait in the first turn, even if they were refused before any request.

    Return the number of those that were refused.
    """
    found = 0
    for chunk in chunks([url_key(url) for url in named]):
        ids = select(urls.c.id).where(urls.c.key.in_(chunk))
        late = frontier.c.url_id.in_(ids) & (frontier.c.turn > 0)
        connection.execute(update(frontier).where(late).values(turn=0))
        refused = select(urls.c.id, urls.c.depth).where(urls.c.id.in_(ids), urls.c.state.in_(_LEFT_OUT), ~_IS_OBSERVED)
        rows = connection.execute(refused).all()
        SET_STATE.execute(connection, [{"b_id": row.id, "b_state": int(UrlState.ADMITTED)} for row in rows])
        add_waiting(connection, [{"url_id": row.id, "depth": row.depth} for row in rows])
        found += len(rows)
    return found


def sample_repeating(
    connection: Connection, traps: TrapDetector, *, known: Container[str], run: int
) -> tuple[list[int], set[str]]:
    """Return the ids of some URLs of each refused group that is not among the `known` ones, and these groups.

    The shapes of URLs that were left out when an earlier run ended are such groups, too. The samples are spread over
    the URLs of a group. Each group has its first sample before any has its second one.
    """
    yields = traps.yields
    samples: dict[str, _Spread] = defaultdict(_Spread)
    new_samples: dict[str, _Spread] = defaultdict(_Spread)
    for row in _refused_unseen(connection):
        group = yields.refusing_group(row.url) or yields.left_out.shape_left_out(row.url)
        if group is None or group in known:
            continue
        samples[group].add(row)
        if row.first_seen == run and group in yields.left_out.earlier and yields.has_yielded(group):
            # A forum has new topics, although its known ones have many further addresses.
            new_samples[group].add(row)
    groups = sorted(samples, key=lambda group: (-samples[group].size, group))
    chosen_of_groups = [samples[group].choose(_number_of_samples(group, yields)) for group in groups]
    new_of_groups = [new_samples[group].choose(MAX_NEW_SAMPLES) for group in groups if group in new_samples]
    again = _pages_to_revisit(connection, traps, known=known, run=run)
    turns = zip_longest(*again.values(), *new_of_groups, *chosen_of_groups)
    chosen = {row.id: row.url for turn in turns for row in turn if row is not None}
    ids = list(chosen)[:MAX_SAMPLES]
    yields.left_out.samples.update(chosen[url_id] for url_id in ids)
    return ids, {*groups, *again}


def _number_of_samples(group: str, yields: Yields) -> int:
    if group in yields.left_out.earlier or group not in yields.refused:
        return MAX_EARLIER_SAMPLES
    _, found = yields.compared.get(group, (0, 0))
    return (MIN_GROUP_SAMPLES, FEW_GROUP_SAMPLES)[found] if found < OWN_YIELDS else MAX_GROUP_SAMPLES


class _Spread:
    """Some rows of many, at equal distances."""

    def __init__(self) -> None:
        self.size = 0
        self._rows: list[Any] = []
        self._distance = 1

    def add(self, row: Any) -> None:
        if self.size % self._distance == 0:
            self._rows.append(row)
        self.size += 1
        if len(self._rows) > 2 * MAX_GROUP_SAMPLES:
            self._rows = self._rows[::2]
            self._distance *= 2

    def choose(self, number: int) -> list[Any]:
        """Return up to `number` of the kept rows, the last one among them. The first few are spread, too."""
        few = self._at_equal_distances(min(number, MIN_GROUP_SAMPLES))
        return [*few, *(row for row in self._at_equal_distances(number) if row not in few)][:number]

    def _at_equal_distances(self, number: int) -> list[Any]:
        rows, number = self._rows, min(number, len(self._rows))
        return [rows[-1 - index * len(rows) // number] for index in range(number)]


def _pages_to_revisit(
    connection: Connection, traps: TrapDetector, *, known: Container[str], run: int
) -> dict[str, list[Any]]:
    """Return some refused pages that earlier runs have fetched, for each group that has yielded.

    A week of a calendar that was empty may have events now. A page with half of the clicks is chosen twice as often.
    """
    yields = traps.yields
    earlier = yields.left_out.earlier & yields.refused
    groups = {group for group in earlier if yields.has_yielded(group) and group not in known}
    chosen: dict[str, list[Any]] = defaultdict(list)
    if not groups:
        return chosen
    columns = select(urls.c.id, urls.c.url, urls.c.depth, observations.c.run)
    refused = columns.join(observations, observations.c.url_id == urls.c.id)
    refused = refused.where(urls.c.state.in_(_LEFT_OUT), observations.c.run < run)

    def urgency(row: Any) -> tuple[float, int]:
        return (run - row.run) / (row.depth + 1), -row.id

    for rows in batches_of_urls(connection, refused):
        for row in rows:
            if (group := yields.refusing_group(row.url)) in groups:
                chosen[group] = nlargest(MAX_REVISITED, [*chosen[group], row], key=urgency)
    return chosen


def exhaust(connection: Connection, traps: TrapDetector) -> None:
    """Refuse the URLs that wait, as the last pages have shown nothing new. Known pages and those in sitemaps stay.

    A sample of each shape of which no page was requested follows before the run ends.
    """
    late = select(urls.c.id, urls.c.url).join(frontier, frontier.c.url_id == urls.c.id)
    for rows in batches_of_urls(connection, late.where(frontier.c.turn >= LATE_TURN)):
        traps.yields.leave_out(row.url for row in rows)
    known = select(urls.c.id).outerjoin(observations, observations.c.url_id == urls.c.id)
    known = known.where(urls.c.id == frontier.c.url_id, urls.c.named.is_not(None) | observations.c.run.is_not(None))
    waits = frontier.c.owner.is_(None) & ~known.exists()
    waiting = select(frontier.c.url_id).where(waits)
    connection.execute(update(urls).where(urls.c.id.in_(waiting)).values(state=int(UrlState.EXHAUSTED)))
    connection.execute(delete(frontier).where(waits))


def is_exhausted(connection: Connection) -> bool:
    """Return whether the run has left URLs out because its last pages had shown nothing new."""
    return connection.scalar(select(urls.c.id).where(_UNREQUESTED).limit(1)) is not None


def count_left_out(connection: Connection) -> tuple[int, int]:
    """Return the numbers of URLs that were left out because the last pages of a run had shown nothing new.

    The first number counts those that were not requested, the second one the others.
    """
    with connection.begin():
        count = select(func.count()).select_from(urls).where(urls.c.state == int(UrlState.EXHAUSTED))
        unrequested = connection.scalar(count.where(~_IS_OBSERVED)) or 0
        return unrequested, (connection.scalar(count) or 0) - unrequested


def left_out_urls(connection: Connection, *, every: int = 1) -> Iterator[list[str]]:
    """Yield these URLs in slices; of `every` URLs one, as `waiting_urls` does."""
    query = select(urls.c.id, urls.c.url).where(_UNREQUESTED, one_in(every, urls.c.id))
    with connection.begin():
        for rows in batches_of_urls(connection, query):
            yield [row.url for row in rows]


def _refused_unseen(connection: Connection) -> Iterator[Any]:
    refused = urls.c.state.in_(_LEFT_OUT) & observations.c.url_id.is_(None)
    query = select(urls.c.id, urls.c.url, urls.c.first_seen)
    query = query.outerjoin(observations, observations.c.url_id == urls.c.id)
    for rows in batches_of_urls(connection, query.where(refused)):
        yield from rows


def left_out_shapes(connection: Connection) -> Counter[str]:
    """Return the numbers of URLs that were left out because the last pages of a run had shown nothing new, by shape."""
    shapes = Counter[str]()
    for rows in batches_of_urls(connection, select(urls.c.id, urls.c.url).where(_UNREQUESTED)):
        shapes.update(shape_of(row.url).groups[0] for row in rows)
        if len(shapes) >= MAX_SHAPES:
            break
    return shapes
