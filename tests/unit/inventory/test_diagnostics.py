"""Pages that may be errors: the candidates, and the notes on pages with one content."""

from __future__ import annotations

import json
import re
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from sitemap_crawler.inventory import diagnostics
from sitemap_crawler.inventory.diagnostics import error_pages, note_same_content
from sitemap_crawler.inventory.queue import Queue
from sitemap_crawler.inventory.schema import observations, urls
from sitemap_crawler.items import Observation
from tests.support.inventories import connect, open_store
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.inventory.store import Store
    from sitemap_crawler.items import Note
    from tests.support.program import Program

NAME = r"[0-9a-f]{32}"


CATCH_ALL = page(title="Oops, nothing here")


class CatchAllServer(WebServer):
    """Answers what it does not know by `catch_all`."""

    catch_all: Answer | Callable[[LoggedRequest], Answer] = Answer(CATCH_ALL)

    def answer(self, request: LoggedRequest) -> Answer:
        known = super().answer(request)
        if request.path in self.pages or request.path == "/robots.txt":
            return known
        return self.catch_all(request) if callable(self.catch_all) else self.catch_all

    def probes(self) -> list[str]:
        return [path for path in self.paths() if re.search(NAME, path)]


@pytest.fixture
def site() -> Iterator[CatchAllServer]:
    with CatchAllServer() as server:
        yield server


def notes(program: Program, site: WebServer) -> dict[str, dict[str, Any]]:
    """The notes on soft errors by path."""
    with closing(connect(program.directory / "state.sqlite")) as connection:
        rows = connection.execute("SELECT url, notes FROM urls JOIN observations ON url_id = id WHERE notes NOT NULL")
        found = {url.removeprefix(site.url("")): json.loads(text) for url, text in rows}
    kinds = {"error-page", "soft-404"}
    kept = {path: {kind: note[kind] for kind in kinds & note.keys()} for path, note in found.items()}
    return {path: note for path, note in kept.items() if note}


@pytest.fixture
def store(state: StateLocation) -> Iterator[Store]:
    store = open_store(state)
    yield store
    store.close()


RUN = 2


BODY, OTHER_BODY = b"b" * 16, b"o" * 16


def same_content(store: Store, note: str) -> int:
    return note_same_content(store.connection, RUN, note, body_hash=BODY, fingerprint=None, start_url="http://a/")


def fill(store: Store, pages: dict[str, Observation], *, run: int) -> None:
    rules = {"admits": lambda _url, _depth: True, "follows": lambda _url: True}
    queue = Queue(store.connection, run, readers="r", conditional=False, **rules)  # type: ignore[arg-type]
    for url, observation in pages.items():
        queue.add_start_page(url)
        [queued] = queue.lease(1)
        assert queued.url == url
        observation.url_id = queued.id
        queue.record(observation, depth=0, links=())
    queue.flush()


def seen(body_hash: bytes | None = None, **notes: Note) -> Observation:
    kinds = {kind.replace("_", "-"): note for kind, note in notes.items()}
    return Observation(0, datetime(2024, 5, 1, tzinfo=UTC), status=200, body_hash=body_hash, notes=kinds)


def stored_notes(store: Store) -> dict[str, dict[str, Note] | None]:
    query = select(urls.c.url, observations.c.notes).join(urls, urls.c.id == observations.c.url_id)
    with store.connection.begin():
        return {row.url: row.notes for row in store.connection.execute(query)}


def test_error_pages_of_this_run(store: Store) -> None:
    fill(store, {"http://a/old": seen(error_page="404")}, run=RUN - 1)
    pages = {
        "http://a/1": seen(error_page="Not found"),
        "http://a/2": seen(),
        "http://a/3": seen(deep_page=1),
        "http://a/4": seen(deep_page=1, error_page="404"),
        "http://a/5": seen(error_page="404"),
    }
    fill(store, pages, run=RUN)
    assert error_pages(store.connection, RUN, 10) == ["http://a/1", "http://a/4", "http://a/5"]
    assert error_pages(store.connection, RUN, 2) == ["http://a/1", "http://a/4"]
    assert error_pages(store.connection, RUN + 1, 2) == []


def test_pages_with_a_body_are_noted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnostics, "BATCH_ROWS", 2)
    fill(store, {"http://a/old": seen(BODY)}, run=RUN - 1)
    pages = {
        "http://a/": seen(BODY),
        "http://a/1": seen(BODY, error_page="404", deep_page=1),
        "http://a/2": seen(OTHER_BODY),
        "http://a/3": seen(BODY),
        "http://a/4": seen(),
        "http://a/5": seen(BODY),
    }
    fill(store, pages, run=RUN)
    assert same_content(store, "the same") == 3
    assert stored_notes(store) == {
        "http://a/old": None,
        "http://a/": None,
        "http://a/1": {"error-page": "404", "deep-page": 1, "soft-404": "the same"},
        "http://a/2": None,
        "http://a/3": {"soft-404": "the same"},
        "http://a/4": None,
        "http://a/5": {"soft-404": "the same"},
    }


def test_no_page_has_the_body(store: Store) -> None:
    fill(store, {"http://a/": seen(), "http://a/1": seen(OTHER_BODY)}, run=RUN)
    assert same_content(store, "the same") == 0


def test_so_many_pages_are_noted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnostics, "BATCH_ROWS", 1)
    monkeypatch.setattr(diagnostics, "MAX_NOTED", 2)
    fill(store, {f"http://a/{number}": seen(BODY) for number in range(3)}, run=RUN)
    assert same_content(store, "the same") == 2
    assert list(stored_notes(store).values()) == [{"soft-404": "the same"}, {"soft-404": "the same"}, None]
