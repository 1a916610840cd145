"""No secret leaves the clients: not in a message, an exception, its chain or traceback, a value or a log record.

Each failure repeats the secrets of its request, as an unfriendly service would.
"""

from __future__ import annotations

import json
import logging
import traceback
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from sitemap_crawler.config.search_engines import SearchEngineOptions
from sitemap_crawler.exceptions import ServiceError
from sitemap_crawler.search_engines.bing import BingWebmaster
from sitemap_crawler.search_engines.google import SearchConsole
from sitemap_crawler.search_engines.results import Result
from tests.support.search_engines import (
    BING_KEY,
    CLIENT_SECRET,
    REFRESH_TOKEN,
    FakeBing,
    FakeClock,
    FakeGoogle,
    service_account_key,
    write_authorized_user,
    write_service_account,
)
from tests.support.webserver import Answer, LoggedRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROPERTY = "sc-domain:example.com"
URL = "https://www.example.com/sitemap.xml"
PRIVATE = str(service_account_key().private_numbers().d)
STATUSES = (200, 204, 302, 400, 401, 403, 404, 422, 429, 500)
TOKEN = "token-of-no-known-form-"
SECRETS = (
    TOKEN,
    "ya29.",
    BING_KEY,
    CLIENT_SECRET,
    REFRESH_TOKEN,
    quote(REFRESH_TOKEN, safe=""),
    "PRIVATE KEY",
    "eyJ",
    "Bearer ya",
)


def echoes(request: LoggedRequest) -> list[bytes]:
    """Return bodies that hold all that a request has: as JSON of each service, as HTML, and cut off."""
    fields = parse_qs(f"{urlsplit(request.path).query}&{request.body.decode()}")
    bare = [request.headers.get("authorization", "").rpartition(" ")[2], *(values[0] for values in fields.values())]
    said = f"{' '.join(bare)} {request.path} {dict(request.headers)} {request.body.decode()}"
    google = {"error": {"message": said, "status": said, "errors": [{"reason": said, "message": said}]}}
    token = {"error": said, "error_description": said}
    bing = {"ErrorCode": 3, "Message": said, "d": said}
    return [
        *(json.dumps(body).encode() for body in (google, token, bing)),
        f"<html>{escape(said)}".encode(),
        json.dumps(google)[:-5].encode(),
        (" " * 9_990 + said).encode(),
    ]


def echo(status: int, form: int) -> Callable[[LoggedRequest], Answer]:
    def answer(request: LoggedRequest) -> Answer:
        target = f"https://{request.headers.get('authorization', 'x').split()[-1]}.example{request.path}"
        headers = {"Location": target, "X-Request-Id": request.path + request.headers.get("authorization", "")}
        return Answer(echoes(request)[form], status, {**headers, "Content-Type": f"text/plain; {request.path}"})

    return answer


def texts_of(error: BaseException) -> Iterator[str]:
    """Return all texts of an exception and of those that it hides."""
    current: BaseException | None = error
    while current is not None:
        yield from (str(current), repr(current), str(current.args), str(vars(current)))
        current = current.__cause__ or current.__context__
    yield "".join(traceback.format_exception(error))


class Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(f"{record.getMessage()} {record.args} {record.exc_info}")


@pytest.fixture
def log() -> Iterator[list[str]]:
    """All log records of all libraries."""
    collector, root = Collector(), logging.getLogger()
    level = root.level
    root.addHandler(collector)
    root.setLevel(logging.DEBUG)
    yield collector.texts
    root.removeHandler(collector)
    root.setLevel(level)


def collected(calls: list[Callable[[], object]]) -> list[str]:
    texts: list[str] = []
    is_fit = True
    for call in calls:
        try:
            texts.append(repr(call()))
        except ServiceError as error:
            texts += texts_of(error)
            row = Result.from_error(error, service="s", host="h", kind="sitemap", target="t")
            texts += [json.dumps(row.to_json()), repr(row)]
            is_fit = is_fit and len(error.message) <= 300 and str(error).isprintable()
    assert is_fit
    return texts


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "user"), [("token", True), ("api", False)])
def test_google(tmp_path: Path, log: list[str], operation: str, user: bool) -> None:
    write = write_authorized_user if user else write_service_account
    file = write(tmp_path / "file.json")
    texts: list[str] = []
    with FakeGoogle({PROPERTY: "siteOwner"}) as google:
        google.token_prefix = TOKEN
        options = SearchEngineOptions(google_credentials=str(file), **google.urls())
        for status in STATUSES:
            for form in range(6):
                with SearchConsole(options, clock=FakeClock()) as console:
                    names = ("token",) if operation == "token" else ("sites", "submit", "get", "inspect")
                    for name in names:
                        google.answer_next(name, *[echo(status, form)] * 16)
                    calls: list[Callable[[], Any]] = [
                        lambda: console.submit_sitemap(PROPERTY, URL),
                        lambda: console.sitemap(PROPERTY, URL),
                        lambda: console.inspect(PROPERTY, URL),
                        console.sites,
                    ]
                    texts += [*collected(calls), repr(console)]
                    google.forget()
        sent = str(google.requests)
    # What must not be repeated was sent.
    assert (TOKEN in sent) is (operation == "api")
    assert (CLIENT_SECRET in sent, "eyJ" in sent) == (user, not user)
    assert len(texts) > 100
    assert any("/webmasters/" in text or "/token" in text for text in log)
    assert [text for text in (*texts, *log) if any(secret in text for secret in SECRETS)] == []
    assert PRIVATE not in "".join((*texts, *log))


def test_bing(log: list[str]) -> None:
    texts: list[str] = []
    with FakeBing(["https://www.example.com/"]) as bing:
        options = SearchEngineOptions(**bing.options())
        for status in STATUSES:
            for form in range(6):
                with BingWebmaster(options, clock=FakeClock()) as client:
                    for name in ("SubmitFeed", "GetFeeds", "GetUserSites"):
                        bing.answer_next(name, *[echo(status, form)] * 4)
                    calls: list[Callable[[], Any]] = [
                        lambda: client.submit_feed("https://www.example.com/", URL),
                        lambda: client.feeds("https://www.example.com/"),
                        client.sites,
                    ]
                    texts += [*collected(calls), repr(client), repr(options)]
                    bing.forget()
        assert all(BING_KEY in request.path for request in bing.requests)
        bing.answer_next("SubmitFeed", *[Answer(drop=True)] * 4)
        with BingWebmaster(options, clock=FakeClock()) as client:
            texts += collected([lambda: client.submit_feed("https://www.example.com/", URL)])
    with BingWebmaster(options, clock=FakeClock()) as client:
        texts += collected([client.sites])  # nothing listens there
    assert any("/SubmitFeed" in text for text in log)
    assert [text for text in (*texts, *log) if BING_KEY in text] == []
