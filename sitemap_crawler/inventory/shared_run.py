"""What the processes of a run on a server tell each other: robots.txt, learnt traps, warnings, and why the run ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from sitemap_crawler.policy.robots_txt import MAX_BYTES
from sitemap_crawler.policy.warning_kinds import SiteWarning, WarningKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

RUN_TABLES = """
CREATE TABLE robots_fetches (origin text COLLATE "C" PRIMARY KEY, run bigint NOT NULL, process bigint NOT NULL,
    state varchar(16) NOT NULL, body bytea, reason text, refused text,
    fetched timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE TABLE shared_runs (run bigint PRIMARY KEY, traps integer NOT NULL DEFAULT 0, stop varchar(16), message text,
    ends_run boolean NOT NULL DEFAULT false);
CREATE TABLE crawl_warnings (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run bigint NOT NULL,
    kind varchar(32) NOT NULL, url text NOT NULL, message text NOT NULL);
CREATE TABLE trap_places (place bigint PRIMARY KEY, run bigint NOT NULL, counts text);
CREATE TABLE session_pages (bare bigint PRIMARY KEY, run bigint NOT NULL, url text NOT NULL)
"""
PATIENCE_SECONDS = 60.0
"""Time after which another process requests a robots.txt, if the one that has begun to does not get to it."""
_CLAIM = text(
    "INSERT INTO robots_fetches AS f (origin, run, process, state) VALUES (:origin, :run, :process, 'fetching') "
    "ON CONFLICT (origin) DO UPDATE SET run = excluded.run, process = excluded.process, state = 'fetching', "
    "fetched = clock_timestamp() "
    "WHERE f.run <> excluded.run OR f.fetched < clock_timestamp() - make_interval(secs => :age) "
    "OR f.state = 'fetching' AND (f.fetched < clock_timestamp() - make_interval(secs => :patience) "
    "OR f.process = excluded.process "
    "OR NOT EXISTS (SELECT FROM processes p WHERE p.id = f.process AND NOT p.ended)) RETURNING f.origin"
)
_COMPLETE = text(
    "UPDATE robots_fetches SET state = :state, body = :body, reason = :reason, refused = :refused, "
    "fetched = clock_timestamp() WHERE origin = :origin AND process = :process"
)
_ABANDON = text("DELETE FROM robots_fetches WHERE origin = :origin AND process = :process AND state = 'fetching'")
_READ = text(
    "SELECT state, body, reason, refused, "
    "extract(epoch FROM clock_timestamp() - fetched)::double precision AS age_seconds "
    "FROM robots_fetches WHERE origin = :origin AND run = :run AND state <> 'fetching'"
)
_BEGIN = (
    text("DELETE FROM robots_fetches"),
    text("DELETE FROM trap_places WHERE run <> :run"),
    text("DELETE FROM session_pages WHERE run <> :run"),
    text("DELETE FROM shared_runs WHERE run <> :run"),
    text("DELETE FROM crawl_warnings WHERE run <> :run"),
    text(
        "INSERT INTO shared_runs (run) VALUES (:run) ON CONFLICT (run) DO UPDATE SET stop = NULL, message = NULL, "
        "ends_run = false"
    ),
)
_STOP = text(
    "UPDATE shared_runs SET stop = :stop, message = :message, ends_run = :ends_run WHERE run = :run AND stop IS NULL"
)
_LOOK = text("SELECT traps, stop, message, ends_run FROM shared_runs WHERE run = :run")
_WARN = text("INSERT INTO crawl_warnings (run, kind, url, message) VALUES (:run, :kind, :url, :message)")
_WARNINGS = text("SELECT kind, url, message FROM crawl_warnings WHERE run = :run ORDER BY id")
_KINDS = {str(kind): kind for kind in WarningKind}


class StoredRobots(NamedTuple):
    """The result of the request of a robots.txt, by any process of the run."""

    body: bytes | None
    """None if the origin has none, or if it is not available."""
    reason: str | None
    """Why it is not available."""
    refused: str | None
    """Why it was not requested, if its host must not be asked."""
    age_seconds: float


class Stop(NamedTuple):
    """Why a process has ended the run for all."""

    kind: str
    message: str
    ends_run: bool


REFUSED, INTERRUPTED = "refused", "interrupted"
"""Kinds of a `Stop`, as in `Ending`."""


class SharedRunTable:
    """The rows of one run. Each method is one transaction. Raises SQLAlchemyError."""

    def __init__(self, connection: Connection, run: int) -> None:
        self._connection = connection
        self._run = run

    def begin(self) -> None:
        """Forget what earlier processes have told, when the main process begins or resumes the run."""
        with self._connection.begin():
            for statement in _BEGIN:
                self._connection.execute(statement, {"run": self._run})

    def claim_robots(self, origin: str, process: int, *, max_age_seconds: float) -> bool:
        """Return whether this process has to request a robots.txt: it is not known, too old, or its requester died.

        A process that does not know whether it has claimed the request, as an answer was lost, may claim it again.
        """
        given = {"origin": origin, "run": self._run, "process": process, "age": max_age_seconds}
        given["patience"] = PATIENCE_SECONDS
        with self._connection.begin():
            return self._connection.execute(_CLAIM, given).first() is not None

    def complete_robots(
        self, origin: str, process: int, *, body: bytes | None, reason: str | None = None, refused: str | None = None
    ) -> None:
        """Store the result of a claimed request: `reason` if the file is not available, else `body`."""
        state = "unavailable" if reason is not None else "absent" if body is None else "stored"
        body = None if body is None else body[: MAX_BYTES + 1]
        values = {"state": state, "body": body, "reason": reason, "refused": refused}
        with self._connection.begin():
            self._connection.execute(_COMPLETE, {"origin": origin, "process": process, **values})

    def abandon_robots(self, origin: str, process: int) -> None:
        """Leave a claimed request to another process."""
        with self._connection.begin():
            self._connection.execute(_ABANDON, {"origin": origin, "process": process})

    def robots(self, origin: str) -> StoredRobots | None:
        """Return the result for an origin, or None while another process requests it."""
        with self._connection.begin():
            row = self._connection.execute(_READ, {"origin": origin, "run": self._run}).first()
        return None if row is None else StoredRobots(row.body, row.reason, row.refused, row.age_seconds)

    def stop(self, stop: Stop) -> None:
        """End the run for all processes. The first reason stays."""
        values = {"stop": stop.kind, "message": stop.message, "ends_run": stop.ends_run}
        with self._connection.begin():
            self._connection.execute(_STOP, {"run": self._run, **values})

    def look(self) -> tuple[int, Stop | None]:
        """Return the version of the learnt traps, and why the run ends, if it does."""
        with self._connection.begin():
            row = self._connection.execute(_LOOK, {"run": self._run}).first()
        if row is None:
            return 0, None
        return row.traps, None if row.stop is None else Stop(row.stop, row.message, row.ends_run)

    def add_warnings(self, warnings: Sequence[SiteWarning]) -> None:
        rows = [{**warning._asdict(), "kind": str(warning.kind), "run": self._run} for warning in warnings]
        if rows:
            with self._connection.begin():
                self._connection.execute(_WARN, rows)

    def warnings(self) -> list[SiteWarning]:
        """Return the warnings that processes have stored during the run."""
        with self._connection.begin():
            rows = self._connection.execute(_WARNINGS, {"run": self._run}).all()
        return [SiteWarning(_KINDS[row.kind], row.url, row.message) for row in rows]
