"""The robots.txt files of a run, stored so that URLs without a request can be judged by them, too."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from sitemap_crawler.inventory.schema import robots
from sitemap_crawler.policy.robots_txt import MAX_BYTES, RobotsTxt, robots_evidence
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection


def store_robots(connection: Connection, run: int, origin: str, *, agent: str, body: bytes | None) -> None:
    """Store the file of an origin for a user agent. `body` is None if the origin has none."""
    with connection.begin():
        connection.execute(delete(robots).where(robots.c.origin == origin))
        if body is not None:
            # One byte more than is parsed, so that a long file is cut in the same place again.
            row = {"origin": origin, "run": run, "agent": agent, "body": body[: MAX_BYTES + 1]}
            connection.execute(insert(robots).values(row))


def robots_digests(connection: Connection, run: int) -> dict[str, bytes]:
    """Return by origin a hash of each file that a run and later ones have stored, and of its user agent."""
    with connection.begin():
        rows = connection.execute(select(robots).where(robots.c.run >= run).execution_options(yield_per=50))
        return {row.origin: blake2b(row.body, key=row.agent.encode()[:64]).digest() for row in rows}


class StoredRobots:
    """The robots.txt files that a run and later ones have stored."""

    def __init__(self, connection: Connection, run: int, *, published: Callable[[str], str]) -> None:
        """`published` returns the public URL of a URL, which robots.txt may forbid, too."""
        self._published = published
        with connection.begin():
            rows = connection.execute(select(robots).where(robots.c.run >= run)).all()
        self._files = {row.origin: (RobotsTxt.parse(row.body), row.agent) for row in rows}

    def evidence_against(self, url: str) -> str | None:
        """Return the evidence that robots.txt forbids a URL, or None."""
        evidence, public = self._evidence(url), self._published(url)
        return self._evidence(public) if evidence is None and public != url else evidence

    def _evidence(self, url: str) -> str | None:
        origin = origin_of(url)
        if origin not in self._files:
            return None
        file, agent = self._files[origin]
        rule = file.rule_against(url, agent, bounded=True)
        return rule and robots_evidence(origin, rule)
