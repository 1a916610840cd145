"""The robots.txt files of a run, kept so that what was never asked for can be judged by them too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from sitemap_crawler.inventory.schema import robots
from sitemap_crawler.policy.robots_txt import MAX_BYTES, RobotsTxt, robots_evidence
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection


def store_robots(connection: Connection, run: int, origin: str, *, agent: str, body: bytes | None) -> None:
    """Keep the file that `agent` was given at `origin`; `body` is None where there is none."""
    with connection.begin():
        connection.execute(delete(robots).where(robots.c.origin == origin))
        if body is not None:
            # One byte more than is read, so that it is cut in the same place again.
            row = {"origin": origin, "run": run, "agent": agent, "body": body[: MAX_BYTES + 1]}
            connection.execute(insert(robots).values(row))


class StoredRobots:
    """The files of a run and later ones. A run that did not ask for any has none."""

    def __init__(self, connection: Connection, run: int, *, published: Callable[[str], str]) -> None:
        """`published` gives the public address of a URL, by which it may be forbidden, too."""
        self._published = published
        with connection.begin():
            rows = connection.execute(select(robots).where(robots.c.run >= run)).all()
        self._files = {row.origin: (RobotsTxt.parse(row.body), row.agent) for row in rows}

    def evidence_against(self, url: str) -> str | None:
        """Why robots.txt forbids `url`; None when it doesn't."""
        evidence, public = self._evidence(url), self._published(url)
        return self._evidence(public) if evidence is None and public != url else evidence

    def _evidence(self, url: str) -> str | None:
        origin = origin_of(url)
        if origin not in self._files:
            return None
        file, agent = self._files[origin]
        rule = file.rule_against(url, agent)
        return rule and robots_evidence(origin, rule)
