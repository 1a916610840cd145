"""Which listed pages an `--exclude` for other URLs would leave out, too."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from sitemap_crawler.inventory.frontier import one_in
from sitemap_crawler.inventory.schema import decisions, urls
from sitemap_crawler.inventory.sql import STREAM_ROWS
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.report.url_groups.exclusion import ANY_PARAMETERS
from sitemap_crawler.utils.patterns import UserPattern

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy import Connection

    from sitemap_crawler.report.url_groups.exclusion import UrlShape

MAX_READ = 100_000
"""Number of listed pages that are read. Of more pages a part is read."""
_IS_LISTED = decisions.c.decision == "listed"


class ListedPages(NamedTuple):
    """How many listed pages values of --exclude match."""

    matched: Counter[str | None]
    """Their numbers, by option."""
    total: int
    """Number of all listed pages; 0 without options."""
    every: int
    """Number of listed pages of which one was read."""

    def leaves_enough(self, option: str, *, others: int) -> bool:
        """Return whether an option is good advice for a number of other URLs.

        It leaves out no more listed pages than others, at most half of them, and none if it says nothing of a URL but
        its path and that it has parameters.
        """
        number = self.matched[option]
        return number <= min(others, self.total // 2) and not (number and option.endswith(ANY_PARAMETERS))


def with_listed(connection: Connection, shapes: Sequence[UrlShape]) -> list[UrlShape]:
    """Return the shapes with the numbers of listed pages that their options match.

    An option that matches more listed pages than other URLs is none to advise, and left out.
    """
    listed = count_listed(connection, {shape.exclude for shape in shapes if shape.exclude is not None}).matched
    return [
        shape._replace(exclude=None)
        if listed[shape.exclude] > shape.urls
        else shape._replace(listed=listed[shape.exclude])
        for shape in shapes
    ]


def count_listed(connection: Connection, options: Collection[str]) -> ListedPages:
    """Return the numbers of listed pages that values of --exclude match."""
    found: Counter[str | None] = Counter()
    total, every = _number_and_step(connection) if options else (0, 1)
    if total:
        patterns = [UserPattern(option) for option in options]
        query = select(urls.c.url).join(decisions, decisions.c.url_id == urls.c.id)
        query = query.where(_IS_LISTED, one_in(every, urls.c.id))
        for url in connection.execute(query, execution_options={"yield_per": STREAM_ROWS}).scalars():
            found.update({pattern.text: every for pattern in patterns if pattern.found_in(url)})
    return ListedPages(found, total, every)


def with_effects(connection: Connection, shapes: Mapping[str, Sequence[UrlShape]]) -> dict[str, list[UrlShape]]:
    """Return shapes, by reason, those of URLs that are not listed with what their options do to listed pages.

    They have the number of listed pages that the option matches, too. Those that are the way to listed pages lose the
    option: the page of a product in one category may be the only one that names the listed page of the product. So do
    those whose option is no good advice.
    """
    left_out = {reason: found for reason, found in shapes.items() if reason != Reason.LISTED}
    options = {shape.exclude for found in left_out.values() for shape in found if shape.exclude is not None}
    ways = ways_to_listed(connection, options)
    listed = count_listed(connection, options - ways)

    def with_effect(shape: UrlShape) -> UrlShape:
        option = shape.exclude
        if option is None or option in ways or not listed.leaves_enough(option, others=shape.urls):
            return shape._replace(exclude=None)
        return shape._replace(listed=listed.matched[option])

    return {
        reason: list(map(with_effect, found)) if reason in left_out else list(found) for reason, found in shapes.items()
    }


def ways_to_listed(connection: Connection, options: Collection[str]) -> set[str]:
    """Return the values of --exclude that match an unlisted page on which a listed one was first found."""
    if not options:
        return set()
    way, of_way = urls.alias(), decisions.alias()
    query = select(way.c.url).distinct().select_from(urls).join(decisions, decisions.c.url_id == urls.c.id)
    query = query.join(way, way.c.id == urls.c.referrer).join(of_way, of_way.c.url_id == way.c.id)
    query = query.where(_IS_LISTED, of_way.c.decision != "listed", one_in(_number_and_step(connection)[1], urls.c.id))
    patterns = [UserPattern(option) for option in options]
    ways: set[str] = set()
    for url in connection.execute(query, execution_options={"yield_per": STREAM_ROWS}).scalars():
        ways.update(pattern.text for pattern in patterns if pattern.text not in ways and pattern.found_in(url))
    return ways


def _number_and_step(connection: Connection) -> tuple[int, int]:
    """Return the number of listed pages, and the number of which one is read."""
    number = connection.execute(select(func.count()).select_from(decisions).where(_IS_LISTED)).scalar_one()
    return number, max(1, -(-number // MAX_READ))
