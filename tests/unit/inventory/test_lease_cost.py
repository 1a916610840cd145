"""What a lease reads of a frontier from which many rows were consumed while another client holds an old snapshot."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event

from sitemap_crawler.items import Observation
from tests.support.postgres_server import ICU, USER, needs_postgres
from tests.unit.inventory.test_processes import Run

if TYPE_CHECKING:
    from tests.support.postgres_server import PostgresServer

pytestmark = needs_postgres
psycopg = pytest.importorskip("psycopg")
CONSUMED = 20_000
WAITING = 5_000
LEASED = 256
MAX_RATIO = 3


class Filled(Run):
    """A run with one process and a frontier of many rows."""

    def __init__(self, server: PostgresServer, rows: int) -> None:
        super().__init__(server, 1)
        [self.process] = self.processes
        self.execute(
            "INSERT INTO urls (id, key, url, state, depth, first_seen) SELECT nextval('url_ids'), n, "
            f"'https://www.example.com/' || n, state, 1, 1 FROM urls, generate_series(1, {rows}) n"
        )
        # Rows that are next to each other in the table would hide how many of them a lease reads.
        self.execute("INSERT INTO frontier (url_id, depth) SELECT id, 1 FROM urls WHERE depth = 1 ORDER BY md5(url)")
        self.execute("ANALYZE urls, frontier")

    def consume(self, rows: int) -> None:
        """Lease and complete this many URLs."""
        queue, done = self.process.queue, 0
        while done < rows:
            for queued in queue.lease(LEASED):
                queue.record(Observation(queued.id, datetime.now(UTC), status=200), depth=queued.depth, links=())
                done += 1
            queue.flush()

    def buffers_of_lease(self) -> int:
        """Return the number of pages that the statement of a lease reads, as the server counts them."""
        connection = self.process.store.connection
        executed: list[tuple[str, Any]] = []

        def listen(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
            if "due" in statement and "SKIP LOCKED" in statement:
                executed.append((statement, parameters))

        event.listen(connection, "before_cursor_execute", listen)
        try:
            assert len(self.process.queue.lease(LEASED)) == LEASED
        finally:
            event.remove(connection, "before_cursor_execute", listen)
        [(statement, parameters)] = executed
        with connection.begin():
            [[[plan]]] = connection.exec_driver_sql(
                f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", parameters
            ).all()
            assert plan["Plan"]["Actual Rows"] == LEASED
            return int(plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"])


def test_a_lease_reads_as_much_as_one_of_a_fresh_frontier(postgres: PostgresServer) -> None:
    fresh = Filled(postgres, WAITING)
    expected = fresh.buffers_of_lease()
    fresh.close()
    run = Filled(postgres, WAITING + CONSUMED)
    with psycopg.connect(host=str(postgres.directory), user=USER, dbname=ICU) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT 1 FROM pg_class LIMIT 1")
        run.consume(CONSUMED)
        # No vacuum may remove what the reader sees.
        run.execute("VACUUM frontier")
        run.process.queue.lease(LEASED)
        found = run.buffers_of_lease()
    run.close()
    assert found <= MAX_RATIO * expected, (found, expected)
