"""A site on loopback whose published sitemaps and IndexNow key its server has, for tests of `submit`."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

from tests.support.inventories import connect, state_beside
from tests.support.search_engines import INDEXNOW_KEY
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program, Result
    from tests.support.search_engines import FakeIndexNow
    from tests.support.webserver import LoggedRequest, Page

SITE_FILE = "site.toml"
WITHOUT_PAUSES = """
import time

from sitemap_crawler.search_engines.http_client import Clock

slept = 0.0

def sleep(_, seconds):
    global slept
    slept += seconds

Clock.sleep, Clock.monotonic = sleep, lambda _: time.monotonic() + slept
"""
"""Makes the pauses before requests to services pass at once."""


class AnnouncedSite:
    """A site with a site file that names its inventory and the services.

    `server` serves the files of the output directory as they are when it is asked.
    """

    def __init__(self, program: Program, server: WebServer, *, origin: str | None = None, **options: Any) -> None:
        """With an origin such as http://www.example.com the server is the proxy of the program for that host."""
        self.program = program
        self.server = server
        self.origin = origin or server.url("")
        self._prefix = origin or ""
        state = state_beside(program.directory / "state.sqlite", program.directory)
        self.options: dict[str, Any] = {"start_url": f"{self.origin}/", "state": state, **options}
        self.host = self.origin.split("/")[2]
        self.state = program.directory / "state.sqlite"
        # A test that has patched the program before, for other addresses of the services, sleeps.
        if program.hook is None:
            program.patch(WITHOUT_PAUSES)
        if origin is not None:
            program.variables |= {"http_proxy": server.url(), "no_proxy": "127.0.0.1"}
        self.serve(f"/{INDEXNOW_KEY}.txt", f"{INDEXNOW_KEY}\n")
        self.serve("/robots.txt", "User-agent: *\nDisallow:\n")

    @classmethod
    def for_indexnow(cls, program: Program, server: WebServer, engine: FakeIndexNow, **options: Any) -> AnnouncedSite:
        """Return a site that sends its changes to `engine`."""
        made = cls(program, server, indexnow_key=[INDEXNOW_KEY], **options, **engine.urls())
        engine.keys[made.host] = INDEXNOW_KEY
        return made

    def begin(self) -> None:
        """Publish a page, and submit for the first time."""
        assert self.publish("/p/a").code == 0
        assert self.submit().code == 0

    def serve(self, path: str, answer: Page) -> None:
        """Set the answer at a path. A text is plain text."""
        text = Answer(answer, content_type="text/plain") if isinstance(answer, str) else answer
        self.server.pages[f"{self._prefix}{path}"] = text

    def remove(self, path: str) -> None:
        del self.server.pages[f"{self._prefix}{path}"]

    def paths(self) -> list[str]:
        """Return the paths that were requested."""
        return [path.removeprefix(self._prefix) for path in self.server.paths()]

    def publish(self, *paths: str, dates: dict[str, str] | None = None, options: tuple[str, ...] = ()) -> Result:
        """Make these the pages of the site, next to the start page, crawl it, and serve what was published."""
        for old in [path for path in self.server.pages if path.startswith(f"{self._prefix}/p/")]:
            del self.server.pages[old]
        for path in paths:
            stated = (dates or {}).get(path, "2024-01-01")
            meta = f'<meta property="article:modified_time" content="{stated}T00:00:00Z">'
            self.server.pages[f"{self._prefix}{path}"] = page(head=meta, body=f"<p>The text of {stated}</p>")
        self.server.pages[f"{self._prefix}/"] = page(*paths)
        self.write_site_file()
        result = self.program.run("crawl", "--config", SITE_FILE, "-q", *options)
        for file in self.program.output.glob("*"):
            self.serve(f"/{file.name}", _served(file))
        self.server.clear_log()
        return result

    def write_site_file(self) -> Path:
        path = self.program.directory / SITE_FILE
        path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in self.options.items()))
        path.chmod(0o600)
        return path

    def submit(self, *options: str) -> Result:
        self.write_site_file()
        return self.program.run("submit", "--config", SITE_FILE, *options)

    def results(self, *options: str) -> list[dict[str, Any]]:
        """Return the rows of `submit --json`."""
        rows: list[dict[str, Any]] = json.loads(self.submit(*options, "--json").out)["results"]
        return rows

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(connect(self.state)) as connection:
            return connection.execute(query, values).fetchall()

    def change(self, statement: str, *values: Any) -> None:
        with closing(connect(self.state)) as connection, connection:
            connection.execute(statement, values)

    def let_pass(self, seconds: float) -> None:
        """Make all that was sent this much older."""
        self.change("UPDATE submissions SET at = at - ?", seconds)
        for (pauses,) in self.rows("SELECT value FROM meta WHERE name = 'service_pauses'"):
            earlier = {name: until - seconds for name, until in json.loads(pauses).items()}
            self.change("UPDATE meta SET value = ? WHERE name = 'service_pauses'", json.dumps(earlier))

    def add_listed(self, count: int) -> None:
        """Publish pages that no crawl has seen, more than a test can crawl."""
        [(run, url_id)] = self.rows("SELECT max(run), (SELECT max(id) FROM urls) FROM changes")
        with_ids = "WITH RECURSIVE n(id) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT id + 1 FROM n WHERE id < ?)"
        span = (url_id + 1, url_id + count)
        self.change(
            f"{with_ids} INSERT INTO urls (id, key, url, state, depth, first_seen) "
            f"SELECT id, id, '{self.origin}/p/' || id, 3, 1, 1 FROM n",
            *span,
        )
        self.change(f"{with_ids} INSERT INTO listings (url_id) SELECT id FROM n", *span)
        self.change(
            f"{with_ids} INSERT INTO changes (publication, url_id, run, kind) SELECT 2, id, {run}, 'added' FROM n",
            *span,
        )


def _served(file: Path) -> Any:
    def answer(_: LoggedRequest) -> Answer:
        return Answer(file.read_bytes(), content_type="application/xml") if file.exists() else Answer(status=404)

    return answer
