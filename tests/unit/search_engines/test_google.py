"""The client of Search Console, against a fake on loopback: requests, answers, and every error with its remedy."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.config.search_engines import SearchEngineOptions
from sitemap_crawler.exceptions import (
    ServiceError,
    ServiceLaterError,
    ServiceRefusedError,
    ServiceUnavailableError,
)
from sitemap_crawler.search_engines.google import (
    Inspection,
    Property,
    SearchConsole,
    SitemapContent,
    SitemapStatus,
)
from tests.support.search_engines import (
    EMAIL,
    FakeClock,
    FakeGoogle,
    google_error,
    json_answer,
    write_authorized_user,
)
from tests.support.webserver import Answer, WebServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROPERTY = "sc-domain:example.com"
SITEMAP = "https://www.example.com/sitemap.xml"
PAGE = "https://www.example.com/page"
LISTED = {PROPERTY: "siteOwner", "https://shop.example.com/": "siteRestrictedUser"}


@pytest.fixture
def google() -> Iterator[FakeGoogle]:
    with FakeGoogle(LISTED) as service:
        yield service


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def console(google: FakeGoogle, clock: FakeClock, tmp_path: Path) -> Iterator[SearchConsole]:
    with SearchConsole(SearchEngineOptions(**google.options(tmp_path)), clock=clock) as client:
        yield client


def test_a_sitemap_is_submitted_read_and_removed(google: FakeGoogle, console: SearchConsole) -> None:
    assert (console.account, console.endpoint, console.warning) == (EMAIL, "127.0.0.1", None)
    assert console.sitemap(PROPERTY, SITEMAP) is None
    assert console.submit_sitemap(PROPERTY, SITEMAP).status == 204
    google.answer_next("submit", Answer(status=200))
    assert console.submit_sitemap(PROPERTY, SITEMAP).status == 200
    google.answer_next("submit", json_answer({}))
    assert console.submit_sitemap(PROPERTY, SITEMAP).status == 200
    submitted = datetime(2026, 11, 23, 12, tzinfo=UTC)
    assert console.sitemap(PROPERTY, SITEMAP) == SitemapStatus(SITEMAP, last_submitted=submitted, pending=True)
    assert console.remove_sitemap(PROPERTY, SITEMAP).status == 204
    assert google.sitemaps == {}
    # One login for all, and no body where Google wants none.
    assert len(google.of("token")) == 1
    assert {request.body for request in (*google.of("submit"), *google.of("remove"))} == {b""}


@pytest.mark.parametrize(
    ("name", "url", "path"),
    [
        (
            "sc-domain:example.com",
            "https://www.example.com/sitemap.xml",
            "/sites/sc-domain%3Aexample.com/sitemaps/https%3A%2F%2Fwww.example.com%2Fsitemap.xml",
        ),
        (
            "https://www.example.com/",
            "https://www.example.com/a/sitemap.xml?lang=de&x=1%202+3#top",
            (
                "/sites/https%3A%2F%2Fwww.example.com%2F/sitemaps/"
                "https%3A%2F%2Fwww.example.com%2Fa%2Fsitemap.xml%3Flang%3Dde%26x%3D1%25202%2B3%23top"
            ),
        ),
        (
            "http://bücher.example:8080/ä/",
            "http://xn--bcher-kva.example:8080/%C3%A4/..%2F~a.xml",
            (
                "/sites/http%3A%2F%2Fb%C3%BCcher.example%3A8080%2F%C3%A4%2F/sitemaps/"
                "http%3A%2F%2Fxn--bcher-kva.example%3A8080%2F%25C3%25A4%2F..%252F~a.xml"
            ),
        ),
    ],
)
def test_properties_and_urls_are_one_segment_each(
    google: FakeGoogle, console: SearchConsole, name: str, url: str, path: str
) -> None:
    google.properties[name] = "siteFullUser"
    console.submit_sitemap(name, url)
    console.sitemap(name, url)
    console.remove_sitemap(name, url)
    sent = [(request.method, request.path) for request in google.requests if "/sitemaps/" in request.path]
    assert sent == [(method, f"/webmasters/v3{path}") for method in ("PUT", "GET", "DELETE")]


def test_properties(google: FakeGoogle, console: SearchConsole) -> None:
    google.properties = {
        "https://b.example/": "SITE_FULL_USER",
        "https://a.example/": "siteUnverifiedUser",
        "sc-domain:c.example": "SITE_OWNER",
        "https://d.example/": "siteRestrictedUser",
        "https://e.example/": "siteSomethingNew",
    }
    found = console.sites()
    assert found == [
        Property("https://a.example/", "unverified"),
        Property("https://b.example/", "full"),
        Property("https://d.example/", "restricted"),
        Property("https://e.example/", "something_new"),
        Property("sc-domain:c.example", "owner"),
    ]
    assert [each.may_submit for each in found] == [False, True, False, False, True]
    google.properties = {}
    assert console.sites() == []


@pytest.mark.parametrize(
    "body",
    [{}, {"siteEntry": None}, {"siteEntry": {}}, {"siteEntry": [None, 1, {}, {"siteUrl": 5}, {"permissionLevel": []}]}],
)
def test_lists_without_usable_rows(google: FakeGoogle, console: SearchConsole, body: dict[str, Any]) -> None:
    google.answer_next("sites", json_answer(body))
    assert console.sites() == []
    google.answer_next("children", json_answer({"sitemap": body.get("siteEntry")}))
    assert console.children(PROPERTY, SITEMAP) == []


@pytest.mark.parametrize("numbers", [{"errors": "0", "warnings": "12"}, {"errors": 0, "warnings": 12}])
@pytest.mark.parametrize("words", [("sitemap", "web", "androidApp"), ("SITEMAP", "WEB", "ANDROID_APP")])
def test_the_status_of_a_sitemap(
    google: FakeGoogle, console: SearchConsole, numbers: dict[str, Any], words: tuple[str, str, str]
) -> None:
    kind, web, app = words
    google.sitemaps[PROPERTY, SITEMAP] = {
        "path": SITEMAP,
        "lastSubmitted": "2026-11-22T23:10:11.123456789Z",
        "lastDownloaded": "2026-11-23T01:00:00+01:00",
        "isPending": False,
        "isSitemapsIndex": True,
        "type": kind,
        "contents": [
            {"type": web, "submitted": "1234567", "indexed": "99"},
            {"type": app, "submitted": 5, "indexed": 0},
            {"type": "HOLOGRAM"},
            "nothing",
        ],
        "somethingNew": 1,
        **numbers,
    }
    assert console.sitemap(PROPERTY, SITEMAP) == SitemapStatus(
        SITEMAP,
        last_submitted=datetime(2026, 11, 22, 23, 10, 11, 123456, tzinfo=UTC),
        last_downloaded=datetime(2026, 11, 23, tzinfo=UTC),
        pending=False,
        is_index=True,
        type="sitemap",
        errors=0,
        warnings=12,
        contents=(
            SitemapContent("web", 1234567),
            SitemapContent("android_app", 5),
            SitemapContent("hologram", None),
        ),
    )


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"path": None, "errors": "many", "warnings": "9" * 5_000, "isPending": "no", "type": 7, "contents": None},
        {"lastSubmitted": "yesterday", "lastDownloaded": 5, "errors": True, "warnings": 1.5, "type": "", "contents": 1},
        {"lastSubmitted": "0001-01-01T00:00:00+14:00", "contents": [[], 1, None], "errors": None, "isPending": 0},
    ],
)
def test_keys_that_are_missing_or_of_another_form(
    google: FakeGoogle, console: SearchConsole, row: dict[str, Any]
) -> None:
    google.sitemaps[PROPERTY, SITEMAP] = row
    assert console.sitemap(PROPERTY, SITEMAP) == SitemapStatus(SITEMAP)


def test_the_children_of_an_index(google: FakeGoogle, console: SearchConsole) -> None:
    names = [f"https://www.example.com/sitemap-{number}.xml" for number in (2, 1)]
    google.index_children[f"{SITEMAP}?a=1&b"] = [{"path": name, "type": "atomFeed", "errors": "1"} for name in names]
    found = console.children(PROPERTY, f"{SITEMAP}?a=1&b")
    assert found == [SitemapStatus(name, type="atom_feed", errors=1) for name in sorted(names)]
    [request] = google.of("children")
    assert request.path.endswith("/sitemaps?sitemapIndex=https%3A%2F%2Fwww.example.com%2Fsitemap.xml%3Fa%3D1%26b")


def test_an_inspection(google: FakeGoogle, console: SearchConsole) -> None:
    google.inspections[PAGE] = {
        "verdict": "PASS",
        "coverageState": "Submitted and indexed",
        "robotsTxtState": "ALLOWED",
        "indexingState": "INDEXING_ALLOWED",
        "lastCrawlTime": "2026-11-20T10:00:00Z",
        "pageFetchState": "SUCCESSFUL",
        "googleCanonical": "https://www.example.com/other",
        "userCanonical": PAGE,
        "sitemap": [SITEMAP],
        "referringUrls": [],
        "crawledAs": "MOBILE",
    }
    assert console.inspect(PROPERTY, PAGE) == Inspection(
        PAGE,
        verdict="PASS",
        coverage_state="Submitted and indexed",
        robots="ALLOWED",
        indexing="INDEXING_ALLOWED",
        fetch="SUCCESSFUL",
        last_crawl=datetime(2026, 11, 20, 10, tzinfo=UTC),
        google_canonical="https://www.example.com/other",
        user_canonical=PAGE,
    )
    [request] = google.of("inspect")
    assert json.loads(request.body) == {"inspectionUrl": PAGE, "siteUrl": PROPERTY, "languageCode": "en-US"}
    for body in ({}, {"inspectionResult": None}, {"inspectionResult": {"indexStatusResult": []}}):
        google.answer_next("inspect", json_answer(body))
        assert console.inspect(PROPERTY, PAGE) == Inspection(PAGE)


def test_a_refused_token_is_replaced_once(google: FakeGoogle, console: SearchConsole) -> None:
    refused = google_error(401, "authError", "Invalid Credentials", word="UNAUTHENTICATED")
    google.answer_next("submit", refused)
    assert console.submit_sitemap(PROPERTY, SITEMAP).status == 204
    tokens = [request.headers["authorization"] for request in google.of("submit")]
    assert tokens == ["Bearer ya29.fake-token-1", "Bearer ya29.fake-token-2"]

    google.answer_next("submit", refused, refused)
    google.clear_log()
    with pytest.raises(ServiceRefusedError) as caught:
        console.submit_sitemap(PROPERTY, SITEMAP)
    assert [len(google.of(operation)) for operation in ("token", "submit")] == [1, 2]
    assert (caught.value.http_status, caught.value.reason, caught.value.exit_code) == (401, "authError", 1)
    assert EMAIL in caught.value.advice


FORBIDDEN = [
    (
        google_error(403, "forbidden", "User does not have sufficient permission for site 'https://x/'."),
        "forbidden",
        (
            f"make {EMAIL} an owner of the property in https://www.google.com/webmasters/verification/home; "
            f"{EMAIL} has https://shop.example.com/ (restricted), sc-domain:example.com (owner)"
        ),
    ),
    (
        google_error(403, "insufficientPermissions", "Request had insufficient authentication scopes."),
        "insufficientPermissions",
        (
            "the token lacks the scope https://www.googleapis.com/auth/webmasters: "
            "gcloud auth application-default login --scopes=https://www.googleapis.com/auth/webmasters,https://www.googleapis.com/auth/cloud-platform"
        ),
    ),
    (
        google_error(403, "accessNotConfigured", "Google Search Console API has not been used in project 7 before"),
        "accessNotConfigured",
        (
            "enable the Google Search Console API of the project at "
            "https://console.cloud.google.com/apis/library/searchconsole.googleapis.com, and wait some minutes"
        ),
    ),
    (
        json_answer(
            {
                "error": {
                    "code": 403,
                    "message": "The searchconsole.googleapis.com API requires a quota project, which is not set.",
                    "status": "PERMISSION_DENIED",
                    "details": [{"@type": "…ErrorInfo", "reason": "SERVICE_DISABLED"}],
                }
            },
            403,
        ),
        "SERVICE_DISABLED",
        (
            "give google_quota_project: a project of yours with the API enabled at "
            "https://console.cloud.google.com/apis/library/searchconsole.googleapis.com"
        ),
    ),
    (
        json_answer(
            {"error": {"code": 403, "message": "", "status": "X", "details": [{"reason": "USER_PROJECT_DENIED"}]}}, 403
        ),
        "USER_PROJECT_DENIED",
        f"give {EMAIL} the role Service Usage Consumer in the project, or another google_quota_project",
    ),
]


@pytest.mark.parametrize(("answer", "reason", "advice"), FORBIDDEN)
def test_what_is_forbidden_for_good(
    google: FakeGoogle, console: SearchConsole, clock: FakeClock, answer: Answer, reason: str, advice: str
) -> None:
    google.answer_next("submit", answer)
    with pytest.raises(ServiceRefusedError) as caught:
        console.submit_sitemap(PROPERTY, SITEMAP)
    error = caught.value
    assert (error.exit_code, error.http_status, error.reason, error.advice) == (1, 403, reason, advice)
    assert error.message.startswith(f"Google answered 403 {reason}")
    assert str(error) == f"{error.message}: {advice}"
    assert clock.pauses == []


def test_the_properties_are_asked_for_once(google: FakeGoogle, console: SearchConsole) -> None:
    google.properties = {f"https://{letter}.example/": "siteOwner" for letter in "abcdefg"}
    for _ in range(3):
        with pytest.raises(ServiceRefusedError, match=r"c.example/ .owner.*e.example/ .owner. and 2 others$"):
            console.submit_sitemap(PROPERTY, SITEMAP)
    assert len(google.of("sites")) == 1


def test_an_account_without_properties_and_a_list_that_fails(google: FakeGoogle, console: SearchConsole) -> None:
    google.properties = {}
    google.answer_next("sites", google_error(400, "badRequest"))
    with pytest.raises(ServiceRefusedError, match=r"verification/home$"):
        console.submit_sitemap(PROPERTY, SITEMAP)
    with pytest.raises(ServiceRefusedError, match=f"; {EMAIL} has no property$"):
        console.submit_sitemap(PROPERTY, SITEMAP)


def test_a_page_outside_the_property(google: FakeGoogle, console: SearchConsole) -> None:
    with pytest.raises(ServiceRefusedError) as caught:
        console.inspect("sc-domain:other.example", PAGE)
    assert (caught.value.http_status, caught.value.reason) == (403, "PERMISSION_DENIED")
    assert caught.value.advice == (
        "the property sc-domain:other.example does not cover the URL: give another google_property"
    )
    assert google.of("sites") == []


@pytest.mark.parametrize(
    ("answer", "requests"),
    [
        (google_error(403, "rateLimitExceeded", "Rate Limit Exceeded"), 4),
        (google_error(403, "userRateLimitExceeded", "User Rate Limit Exceeded"), 4),
        (google_error(429, "rateLimitExceeded", "Quota exceeded for sc-domain:x", word="RESOURCE_EXHAUSTED"), 4),
        (google_error(403, "dailyLimitExceeded", "Daily Limit Exceeded"), 1),
        (google_error(403, "quotaExceeded", "Quota exceeded"), 1),
        (google_error(429, "dailyLimitExceeded", "Daily Limit Exceeded"), 1),
    ],
)
def test_quotas(google: FakeGoogle, console: SearchConsole, clock: FakeClock, answer: Answer, requests: int) -> None:
    google.answer_next("inspect", *[answer] * 4)
    with pytest.raises(ServiceLaterError) as caught:
        console.inspect(PROPERTY, PAGE)
    assert len(google.of("inspect")) == requests
    assert clock.pauses == [1, 2, 4][: requests - 1]
    assert caught.value.exit_code == 4
    assert caught.value.reason in ("rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded", "quotaExceeded")
    assert "midnight Pacific time" in caught.value.advice


def test_a_quota_that_is_free_again(google: FakeGoogle, console: SearchConsole, clock: FakeClock) -> None:
    google.answer_next("inspect", google_error(403, "rateLimitExceeded"), google_error(429, "", Retry_After="20"))
    assert console.inspect(PROPERTY, PAGE).verdict == "NEUTRAL"
    assert clock.pauses == [1, 20]


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_an_error_of_the_server(google: FakeGoogle, console: SearchConsole, clock: FakeClock, status: int) -> None:
    error = google_error(status, "backendError", "Backend Error")
    google.answer_next("submit", error)
    assert console.submit_sitemap(PROPERTY, SITEMAP).status == 204
    google.answer_next("submit", *[error] * 4)
    with pytest.raises(ServiceUnavailableError, match=f"Google answered {status} backendError .Backend Error.: run"):
        console.submit_sitemap(PROPERTY, SITEMAP)
    assert clock.pauses == [1, 1, 2, 4]


@pytest.mark.parametrize(
    ("answer", "reason", "advice"),
    [
        (
            google_error(400, "invalidParameter", "Invalid value"),
            "invalidParameter",
            "check google_property and the URL",
        ),
        (google_error(404, "notFound", "Resource not found."), "notFound", "check google_property and the URL"),
        (Answer("<html>Error 404 (Not Found)!!1", status=404), None, "check google_api_url"),
        (Answer("<html>Error 405 (Method Not Allowed)!!1", status=405), None, "check google_api_url"),
        (json_answer({"error": "invalid"}, 400), None, "check google_property and the URL"),
        (json_answer([], 410), None, ""),
    ],
)
def test_requests_that_are_wrong(
    google: FakeGoogle, console: SearchConsole, answer: Answer, reason: str | None, advice: str
) -> None:
    google.answer_next("submit", answer)
    with pytest.raises(ServiceRefusedError) as caught:
        console.submit_sitemap(PROPERTY, SITEMAP)
    assert (caught.value.http_status, caught.value.reason) == (answer.status, reason)
    assert caught.value.advice.startswith(advice)
    assert len(google.of("submit")) == 1


def test_a_missing_page_of_another_program_is_no_sitemap_that_was_not_submitted(
    google: FakeGoogle, console: SearchConsole
) -> None:
    google.answer_next("get", Answer("<h1>nginx</h1>", status=404))
    with pytest.raises(ServiceRefusedError, match=r"check google_api_url"):
        console.sitemap(PROPERTY, SITEMAP)


@pytest.mark.parametrize("answer", [Answer("<html>Log in to the hotel"), Answer('{"sitemap": [')], ids=["html", "cut"])
@pytest.mark.parametrize("operation", ["sites", "submit", "remove", "get", "children", "inspect"])
def test_an_answer_that_is_no_json(google: FakeGoogle, console: SearchConsole, operation: str, answer: Answer) -> None:
    calls = {
        "sites": console.sites,
        "submit": lambda: console.submit_sitemap(PROPERTY, SITEMAP),
        "remove": lambda: console.remove_sitemap(PROPERTY, SITEMAP),
        "get": lambda: console.sitemap(PROPERTY, SITEMAP),
        "children": lambda: console.children(PROPERTY, SITEMAP),
        "inspect": lambda: console.inspect(PROPERTY, PAGE),
    }
    google.answer_next(operation, answer)
    with pytest.raises(ServiceUnavailableError, match=r"Google answered 200 .no JSON but text/html: .*check the proxy"):
        calls[operation]()


def test_a_redirect_gets_no_token(google: FakeGoogle, console: SearchConsole) -> None:
    with WebServer() as other:
        for operation in ("submit", "token"):
            redirect = Answer(status=307, headers={"Location": other.url("/steal?token=1")})
            google.answer_next(operation, redirect)
        with pytest.raises(ServiceError, match=r"Google's login answered 307 .it redirects to http://127.0.0.1."):
            console.submit_sitemap(PROPERTY, SITEMAP)
        with pytest.raises(ServiceRefusedError, match=r"Google answered 307 .it redirects to http://127.0.0.1."):
            console.submit_sitemap(PROPERTY, SITEMAP)
        assert other.requests == []


def test_a_user_and_the_project_that_pays(google: FakeGoogle, tmp_path: Path, clock: FakeClock) -> None:
    file = write_authorized_user(tmp_path / "user.json")
    options = {"google_credentials": str(file), **google.urls()}
    with SearchConsole(SearchEngineOptions(**options), clock=clock) as console:
        assert console.account == f"the user of {file}"
        console.sites()
        with pytest.raises(ServiceRefusedError, match=r"an owner of the property in Search Console; the user of"):
            console.submit_sitemap("sc-domain:other.example", SITEMAP)
    with SearchConsole(SearchEngineOptions(**options, google_quota_project="mine"), clock=clock) as console:
        console.sites()
    sent = [request.headers["x-goog-user-project"] for request in google.of("sites")]
    assert sent == ["quota-project", "mine"]


def test_a_service_account_pays_itself(google: FakeGoogle, console: SearchConsole) -> None:
    console.sites()
    assert "x-goog-user-project" not in google.of("sites")[0].headers


def test_texts_of_google_cannot_control_a_terminal(google: FakeGoogle, console: SearchConsole) -> None:
    google.properties = {"https://a.example/\x1b[31m\n\u202e": "siteOwner"}
    assert [each.name for each in console.sites()] == [r"https://a.example/[31m \u202e"]
    google.answer_next("submit", google_error(400, "bad\x1bReason", "x\x1b]0;\x07" * 200))
    with pytest.raises(ServiceRefusedError) as caught:
        console.submit_sitemap(PROPERTY, SITEMAP)
    assert len(caught.value.message) <= 300
    assert str(caught.value).isprintable()
    assert (caught.value.reason or "").isprintable()


def test_inspections_in_flight_at_once(google: FakeGoogle, console: SearchConsole) -> None:
    urls = [f"{PAGE}/{number}" for number in range(40)]
    google.inspections = {url: {"verdict": "PASS", "googleCanonical": url} for url in urls}
    google.answer_next("inspect", google_error(401, "authError"))
    with ThreadPoolExecutor(5) as threads:
        found = list(threads.map(lambda url: console.inspect(PROPERTY, url), urls))
    assert [each.google_canonical for each in found] == urls
    # One thread gets a new token for all.
    assert len(google.tokens) == 2
