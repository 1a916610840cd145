"""The client of Bing Webmaster Tools, against a fake on loopback: requests, answers, and every code of an error."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.config.search_engines import SearchEngineOptions
from sitemap_crawler.exceptions import (
    CredentialsError,
    ServiceLaterError,
    ServiceRefusedError,
    ServiceUnavailableError,
)
from sitemap_crawler.search_engines.bing import BingSite, BingWebmaster, FeedStatus
from tests.support.search_engines import BING_KEY, NEVER, FakeBing, FakeClock, bing_error, bing_feed, json_answer
from tests.support.webserver import Answer, WebServer

if TYPE_CHECKING:
    from collections.abc import Iterator

SITE = "https://www.example.com/"
SITEMAP = "https://www.example.com/sitemap.xml"
SUBMITTED = datetime(2025, 11, 23, 12, tzinfo=UTC)


@pytest.fixture
def bing() -> Iterator[FakeBing]:
    with FakeBing([SITE]) as service:
        yield service


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def client(bing: FakeBing, clock: FakeClock) -> Iterator[BingWebmaster]:
    with BingWebmaster(SearchEngineOptions(**bing.options()), clock=clock) as made:
        yield made


def test_a_feed_is_submitted_read_and_removed(bing: FakeBing, client: BingWebmaster, clock: FakeClock) -> None:
    assert client.endpoint == "127.0.0.1"
    assert client.submit_feed(SITE, SITEMAP).status == 200
    assert client.feeds(SITE) == [
        FeedStatus(
            SITEMAP,
            type="Sitemap",
            status="Pending",
            last_submitted=SUBMITTED,
            last_downloaded=None,
            submitted=0,
            file_bytes=0,
            compressed=False,
        )
    ]
    assert client.feed_details(SITE, SITEMAP) == []
    client.remove_feed(SITE, SITEMAP)
    assert bing.feeds == {}
    # One request a second.
    assert clock.pauses == [1, 1, 1]
    query = f"?apikey={BING_KEY}"
    site = "siteUrl=https%3A%2F%2Fwww.example.com%2F"
    feed = "feedUrl=https%3A%2F%2Fwww.example.com%2Fsitemap.xml"
    assert [(request.method, request.path.removeprefix("/webmaster/api.svc/json")) for request in bing.requests] == [
        ("POST", f"/SubmitFeed{query}"),
        ("GET", f"/GetFeeds{query}&{site}"),
        ("GET", f"/GetFeedDetails{query}&{site}&{feed}"),
        ("POST", f"/RemoveFeed{query}"),
    ]
    for request in (bing.requests[0], bing.requests[3]):
        assert json.loads(request.body) == {"siteUrl": SITE, "feedUrl": SITEMAP}
        assert request.headers["content-type"] == "application/json; charset=utf-8"


def test_sites_have_no_codes(bing: FakeBing, client: BingWebmaster) -> None:
    bing.sites = {"https://b.example/": True, "https://a.example/": False}
    found = client.sites()
    assert found == [BingSite("https://a.example/", False), BingSite("https://b.example/", True)]
    assert "secret" not in repr(found)


@pytest.mark.parametrize(
    ("date", "moment"),
    [
        ("/Date(1763899200000-0800)/", SUBMITTED),
        ("/Date(1763899200000)/", SUBMITTED),
        ("/Date(1763899200000+0530)/", SUBMITTED),
        (NEVER, None),
        ("/Date(-62135568000000-0800)/", None),
        ("/Date(999999999999999)/", None),
        ("/Date(99999999999999999999)/", None),
        ("/Date(x)/", None),
        ("2026-11-23", None),
        (1763899200000, None),
        (None, None),
    ],
)
def test_dates(bing: FakeBing, client: BingWebmaster, date: object, moment: datetime | None) -> None:
    bing.feeds[SITE, SITEMAP] = bing_feed(SITEMAP, LastCrawled=date, UrlCount=7)
    [feed] = client.feeds(SITE)
    assert (feed.last_downloaded, feed.submitted) == (moment, 7)


@pytest.mark.parametrize(
    "body",
    [{}, {"d": None}, {"d": {}}, {"d": [None, 1, {}, {"Url": 5}]}],
)
def test_lists_without_usable_rows(bing: FakeBing, client: BingWebmaster, body: dict[str, Any]) -> None:
    for operation in ("GetUserSites", "GetFeeds", "GetFeedDetails"):
        bing.answer_next(operation, json_answer(body))
    assert (client.sites(), client.feeds(SITE), client.feed_details(SITE, SITEMAP)) == ([], [], [])


def test_keys_that_are_missing_or_of_another_form(bing: FakeBing, client: BingWebmaster) -> None:
    odd = {"Url": f"{SITEMAP}?2", "Type": 1, "Status": None, "UrlCount": "7", "FileSize": True, "Compressed": "no"}
    bing.answer_next("GetFeeds", json_answer({"d": [odd, {"Url": SITEMAP}]}))
    assert client.feeds(SITE) == [FeedStatus(SITEMAP), FeedStatus(f"{SITEMAP}?2")]


def test_the_children_of_an_index(bing: FakeBing, client: BingWebmaster) -> None:
    bing.details[SITEMAP] = [bing_feed(f"{SITEMAP}-{number}") for number in (2, 1)]
    assert [feed.url for feed in client.feed_details(SITE, SITEMAP)] == [f"{SITEMAP}-1", f"{SITEMAP}-2"]


def test_the_url_of_an_index_in_quotation_marks(bing: FakeBing, client: BingWebmaster) -> None:
    """The documentation has it so. It is tried once, after the form that clients use."""
    bing.details[f'"{SITEMAP}"'] = [bing_feed(f"{SITEMAP}-1")]
    bing.answer_next("GetFeedDetails", bing_error(8, "InvalidParameter"))
    assert [feed.url for feed in client.feed_details(SITE, SITEMAP)] == [f"{SITEMAP}-1"]
    bing.answer_next("GetFeedDetails", *[bing_error(8, "InvalidParameter")] * 2)
    with pytest.raises(ServiceRefusedError):
        client.feed_details(SITE, SITEMAP)
    assert len(bing.of("GetFeedDetails")) == 4


REFUSED = {
    2: ("UnknownError", "run the same command later; if the error stays, ask"),
    3: ("InvalidApiKey", "check bing_key or BING_WEBMASTER_API_KEY; a new key works after 30 minutes"),
    6: ("UserBlocked", "the account is blocked"),
    7: ("InvalidUrl", "check bing_site and the URL of the sitemap"),
    8: ("InvalidParameter", "check bing_site and the URL of the sitemap; a site that was verified just now"),
    9: ("TooManySites", "remove sites of the account"),
    10: ("UserNotFound", "check bing_key"),
    11: ("NotFound", "check bing_site and the URL of the sitemap"),
    13: ("NotAllowed", "give the account the right"),
    14: (
        "NotAuthorized",
        f"add {SITE} to Bing Webmaster Tools and verify it there, or give bing_site; the",
    ),
    15: ("UnexpectedState", "run the same command later; if the error stays, ask"),
    16: ("Deprecated", "look for a newer version of sitemap-crawler"),
    99: ("99", "run the same command later; if the error stays, ask"),
}


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("code", REFUSED)
def test_errors_for_good(bing: FakeBing, client: BingWebmaster, code: int, status: int) -> None:
    reason, advice = REFUSED[code]
    bing.answer_next("SubmitFeed", bing_error(code, reason, status))
    with pytest.raises(ServiceRefusedError) as caught:
        client.submit_feed(SITE, SITEMAP)
    error = caught.value
    assert (error.exit_code, error.http_status, error.reason) == (1, status, reason)
    assert error.message == f"Bing answered {status} {reason} (ERROR!!! {reason})"
    assert error.advice.startswith(advice)
    assert len(bing.of("SubmitFeed")) == 1


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("code", [1, 4, 5])
def test_errors_that_pass(bing: FakeBing, client: BingWebmaster, clock: FakeClock, code: int, status: int) -> None:
    answer = bing_error(code, "Throttle", status)
    bing.answer_next("SubmitFeed", answer, answer)
    assert client.submit_feed(SITE, SITEMAP).status == 200
    # The pauses are long enough for one request a second.
    assert clock.pauses == [1, 2]
    bing.answer_next("SubmitFeed", *[answer] * 4)
    with pytest.raises(ServiceLaterError) as caught:
        client.submit_feed(SITE, SITEMAP)
    assert (caught.value.exit_code, caught.value.http_status) == (4, status)
    assert caught.value.advice == "run the same command later"


@pytest.mark.parametrize("code", [12, 81058, "12"])
@pytest.mark.parametrize("status", [200, 400])
def test_a_feed_that_is_there_already(bing: FakeBing, client: BingWebmaster, code: Any, status: int) -> None:
    bing.answer_next("SubmitFeed", bing_error(code, "AlreadyExists", status))
    assert client.submit_feed(SITE, SITEMAP).status == status


@pytest.mark.parametrize("code", [0, None, "none", [], False])
def test_codes_that_are_none(bing: FakeBing, client: BingWebmaster, code: object) -> None:
    bing.answer_next("SubmitFeed", json_answer({"d": None, "ErrorCode": code}))
    assert client.submit_feed(SITE, SITEMAP).status == 200


def test_a_site_of_nobody_and_the_sites_that_there_are(bing: FakeBing, client: BingWebmaster) -> None:
    bing.sites = {f"https://{letter}.example/": letter != "b" for letter in "abcdefg"}
    with pytest.raises(ServiceRefusedError, match="NotAuthorized") as caught:
        client.feeds(SITE)
    assert caught.value.advice.endswith(
        "; the account has https://a.example/, https://b.example/ (not verified), https://c.example/, "
        "https://d.example/, https://e.example/ and 2 others"
    )
    bing.sites = {}
    with pytest.raises(ServiceRefusedError, match=r"the account has no site$"):
        client.feeds(SITE)
    bing.answer_next("GetUserSites", bing_error(14, "NotAuthorized"))
    with pytest.raises(ServiceRefusedError, match=r"or give bing_site$"):
        client.feeds(SITE)


@pytest.mark.parametrize("status", [401, 403, 404, 405])
def test_errors_without_a_code(bing: FakeBing, client: BingWebmaster, status: int) -> None:
    bing.answer_next("SubmitFeed", Answer("<html>Endpoint not found.", status=status))
    with pytest.raises(ServiceRefusedError, match=r"Endpoint not found.*: check bing_api_url, the proxy and bing_key"):
        client.submit_feed(SITE, SITEMAP)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_service(bing: FakeBing, client: BingWebmaster, clock: FakeClock, status: int) -> None:
    bing.answer_next("GetFeeds", *[Answer("busy", status=status, headers={"Retry-After": "90"})])
    with pytest.raises(ServiceLaterError) as caught:
        client.feeds(SITE)
    assert (caught.value.http_status, caught.value.retry_after, clock.pauses) == (status, 90, [])
    bing.answer_next("GetFeeds", Answer(status=status))
    assert client.feeds(SITE) == []


@pytest.mark.parametrize("answer", [Answer("<html>Log in to the hotel"), Answer('{"d":'), json_answer([1])])
def test_an_answer_of_another_form(bing: FakeBing, client: BingWebmaster, answer: Answer) -> None:
    for operation in ("SubmitFeed", "GetFeeds"):
        bing.answer_next(operation, answer)
    with pytest.raises(ServiceUnavailableError, match="check the proxy and the base URL"):
        client.submit_feed(SITE, SITEMAP)
    with pytest.raises(ServiceUnavailableError, match="check the proxy and the base URL"):
        client.feeds(SITE)


def test_a_redirect_gets_no_key_and_shows_none(bing: FakeBing, client: BingWebmaster) -> None:
    with WebServer() as other:
        target = other.url(f"/SubmitFeed?apikey={BING_KEY}")
        bing.answer_next("SubmitFeed", Answer(f"moved to {target}", status=307, headers={"Location": target}))
        with pytest.raises(ServiceRefusedError) as caught:
            client.submit_feed(SITE, SITEMAP)
        assert other.requests == []
    assert BING_KEY not in str(caught.value)


def test_without_a_key() -> None:
    with pytest.raises(CredentialsError, match="there is no API key for Bing: give bing_key in") as caught:
        BingWebmaster(SearchEngineOptions())
    assert caught.value.exit_code == 2
