"""What the processes of a run on a server tell each other of traps: those learnt, counts of places, session ids."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import text

from sitemap_crawler.inventory.sql import url_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from sitemap_crawler.traps.detector import TrapDetector

_LOCK = text("SELECT traps FROM shared_runs WHERE run = :run FOR UPDATE")
_LEARNT = text("UPDATE shared_runs SET traps = traps + 1 WHERE run = :run RETURNING traps")
_ADD_PLACE = text("INSERT INTO trap_places (place, run) VALUES (:place, :run) ON CONFLICT DO NOTHING")
_PLACES = text(
    "SELECT place, counts FROM trap_places WHERE place = ANY(:places) AND run = :run ORDER BY place FOR UPDATE"
)
_COUNT_PLACE = text("UPDATE trap_places SET counts = :counts WHERE place = :place AND run = :run")
_FORGET_PLACES = text("DELETE FROM trap_places WHERE run = :run")
_ADD_SESSION = text("INSERT INTO session_pages (bare, run, url) VALUES (:bare, :run, :url) ON CONFLICT DO NOTHING")
_SESSIONS = text("SELECT url FROM session_pages WHERE bare = ANY(:bares) AND run = :run")


class SharedTraps:
    """The traps of one run. All methods work within the caller's transaction."""

    def __init__(self, connection: Connection, run: int, traps: TrapDetector) -> None:
        self._connection = connection
        self._run = run
        self._traps = traps
        self.version = 0
        """Version of the learnt traps that this process knows."""
        traps.facets.track_changes()

    def lock(self) -> None:
        """Exclude other processes from learning traps until the transaction ends."""
        self._connection.execute(_LOCK, {"run": self._run})

    def announce(self) -> None:
        """Have the other processes load the learnt traps once the transaction ends."""
        self.version = self._connection.scalar(_LEARNT, {"run": self._run}) or 0

    def exchange_places(self) -> list[str]:
        """Add the counts of places to those of the other processes, and learn theirs. Return the places.

        The caller passes them to `FacetBudget.forget_changes` when the transaction has ended.
        """
        facets = self._traps.facets
        places = {url_key(place): place for place in facets.changed_places()}
        if not places:
            return []
        # All processes lock the rows in the same order.
        rows = [{"place": key, "run": self._run} for key in sorted(places)]
        self._connection.execute(_ADD_PLACE, rows)
        stored = self._connection.execute(_PLACES, {"places": list(places), "run": self._run}).all()
        counts = []
        for row in stored:
            merged = facets.merge(places[row.place], None if row.counts is None else json.loads(row.counts))
            if merged is not None:
                counts.append({"place": row.place, "run": self._run, "counts": json.dumps(merged)})
        if counts:
            self._connection.execute(_COUNT_PLACE, counts)
        return list(places.values())

    def forget_places(self) -> None:
        """Forget the counts of all places, which the caller has counted again."""
        self._connection.execute(_FORGET_PLACES, {"run": self._run})

    def admit_sessions(self, urls: Iterable[str]) -> None:
        """Admit one URL of each page with known session ids: the one that any process met first."""
        bares: dict[int, str] = {}
        for url in urls:
            if self._traps.admitted_session(url) == url and (bare := self._traps.without_session(url)) is not None:
                bares.setdefault(url_key(bare), url)
        if bares:
            rows = [{"bare": key, "run": self._run, "url": bares[key]} for key in sorted(bares)]
            self._connection.execute(_ADD_SESSION, rows)
            for url in self._connection.scalars(_SESSIONS, {"bares": list(bares), "run": self._run}):
                self._traps.admit_session(url)
