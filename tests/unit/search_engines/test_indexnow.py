"""The client of IndexNow, against a fake on loopback: requests, batches, and every status."""

from __future__ import annotations

import json
from datetime import timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.config.search_engines import SearchEngineOptions
from sitemap_crawler.exceptions import ServiceLaterError, ServiceRefusedError, ServiceUnavailableError
from sitemap_crawler.search_engines.indexnow import IndexNow, batches
from sitemap_crawler.search_engines.results import Outcome
from tests.support.search_engines import INDEXNOW_KEY, FakeClock, FakeIndexNow, indexnow_error, json_answer
from tests.support.webserver import Answer, WebServer

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "www.example.com"
URLS = ["https://www.example.com/a", "http://www.example.com/b%C3%A4?x=1"]
KEY_FILE = f"https://{HOST}/{INDEXNOW_KEY}.txt"


@pytest.fixture
def service() -> Iterator[FakeIndexNow]:
    with FakeIndexNow({HOST: INDEXNOW_KEY}) as running:
        yield running


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def client(service: FakeIndexNow, clock: FakeClock) -> Iterator[IndexNow]:
    with IndexNow(SearchEngineOptions(**service.options()), clock=clock) as made:
        yield made


def test_urls_are_sent(service: FakeIndexNow, client: IndexNow, clock: FakeClock) -> None:
    location = "https://www.example.com/keys/one.txt"
    assert client.endpoint == "127.0.0.1"
    assert client.send(HOST, INDEXNOW_KEY, None, URLS).outcome is Outcome.ACCEPTED
    assert client.send(HOST, INDEXNOW_KEY, location, tuple(URLS[:1])).outcome is Outcome.ACCEPTED
    assert service.batches() == [
        {"host": HOST, "key": INDEXNOW_KEY, "urlList": URLS},
        {"host": HOST, "key": INDEXNOW_KEY, "keyLocation": location, "urlList": URLS[:1]},
    ]
    for request in service.requests:
        assert (request.method, request.path) == ("POST", "/indexnow")
        assert request.headers["content-type"] == "application/json; charset=utf-8"
    # One request a second.
    assert clock.pauses == [1]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Answer(status=200), Outcome.ACCEPTED),
        (json_answer({"success": True}), Outcome.ACCEPTED),
        (Answer(status=204), Outcome.ACCEPTED),
        (Answer(status=202), Outcome.PENDING),
        (json_answer({}, 202), Outcome.PENDING),
    ],
)
def test_batches_that_are_taken(service: FakeIndexNow, client: IndexNow, answer: Answer, outcome: Outcome) -> None:
    service.answer_next("send", answer)
    sent = client.send(HOST, INDEXNOW_KEY, None, URLS)
    assert (sent.outcome, sent.answer.status) == (outcome, answer.status)


@pytest.mark.parametrize(
    ("answer", "reason", "advice"),
    [
        (
            indexnow_error(400, "InvalidRequestParameters"),
            "InvalidRequestParameters",
            "report a bug of sitemap-crawler",
        ),
        (
            indexnow_error(403, "UserForbiddedToAccessSite", "User is unauthorized"),
            "UserForbiddedToAccessSite",
            f"check that {KEY_FILE} holds the key, and nothing else; if it does, make a new key",
        ),
        (indexnow_error(403, "KeyNotFound"), "KeyNotFound", f"check that {KEY_FILE} holds the key, and nothing else"),
        (json_answer({"code": "InvalidKey"}, 403), "InvalidKey", f"check that {KEY_FILE} holds the key"),
        (Answer("<html>Forbidden", status=403), None, f"check that {KEY_FILE} holds the key"),
        (json_answer({"message": "no"}, 405), None, "check indexnow_url: the endpoint takes no POST"),
        (Answer(status=404), None, "check indexnow_url"),
        (json_answer({"errorCode": 5}, 422), "5", f"check that {KEY_FILE} holds the key, and that it stands in"),
    ],
)
def test_batches_that_are_refused(
    service: FakeIndexNow, client: IndexNow, clock: FakeClock, answer: Answer, reason: str | None, advice: str
) -> None:
    service.answer_next("send", answer)
    with pytest.raises(ServiceRefusedError) as caught:
        client.send(HOST, INDEXNOW_KEY, None, URLS)
    error = caught.value
    assert (error.exit_code, error.http_status, error.reason) == (1, answer.status, reason)
    assert error.advice.startswith(advice)
    assert (len(service.requests), clock.pauses) == (1, [])
    # The next batch goes on.
    assert client.send(HOST, INDEXNOW_KEY, None, URLS).outcome is Outcome.ACCEPTED


def test_the_advice_names_the_key_file_of_a_site_without_tls(service: FakeIndexNow, client: IndexNow) -> None:
    service.answer_next("send", Answer(status=403))
    with pytest.raises(ServiceRefusedError) as caught:
        client.send(HOST, INDEXNOW_KEY, None, [f"http://{HOST}/a"])
    assert f"check that http://{HOST}/{INDEXNOW_KEY}.txt holds the key" in caught.value.advice


def test_the_advice_names_the_key_file_that_was_given(service: FakeIndexNow, client: IndexNow) -> None:
    location = "https://www.example.com/keys/{one}.txt"
    service.answer_next("send", Answer(status=422))
    with pytest.raises(ServiceRefusedError) as caught:
        client.send(HOST, INDEXNOW_KEY, location, URLS)
    assert caught.value.advice.startswith(f"check that {location} holds the key")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({}, 600), ({"Retry-After": "30"}, 30), ({"Retry-After": "7200"}, 7200), ({"Retry-After": "soon"}, 600)],
)
def test_too_many_requests(
    service: FakeIndexNow, client: IndexNow, clock: FakeClock, headers: dict[str, str], seconds: float
) -> None:
    service.answer_next("send", Answer(status=429, headers=headers))
    with pytest.raises(ServiceLaterError) as caught:
        client.send(HOST, INDEXNOW_KEY, None, URLS)
    assert (caught.value.exit_code, caught.value.retry_after) == (4, seconds)
    assert f"in {seconds} s or later" in caught.value.advice
    assert (len(service.requests), clock.pauses) == (1, [])


def test_too_many_requests_until_a_date(service: FakeIndexNow, client: IndexNow, clock: FakeClock) -> None:
    date = format_datetime(clock.now() + timedelta(hours=1), usegmt=True)
    service.answer_next("send", Answer(status=429, headers={"Retry-After": date}))
    with pytest.raises(ServiceLaterError) as caught:
        client.send(HOST, INDEXNOW_KEY, None, URLS)
    assert caught.value.retry_after == 3600


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (indexnow_error(403, "SiteVerificationNotCompleted", "Site Verification is not completed."), 120),
        (indexnow_error(403, "SiteVerificationNotCompleted", Retry_After="10"), 120),
        (indexnow_error(403, "SiteVerificationNotCompleted", Retry_After="900"), 900),
        (json_answer({"message": "SiteVerificationNotCompleted: wait"}, 403), 120),
    ],
)
def test_a_key_that_is_being_verified(service: FakeIndexNow, client: IndexNow, answer: Answer, seconds: float) -> None:
    service.answer_next("send", answer)
    with pytest.raises(ServiceLaterError) as caught:
        client.send(HOST, INDEXNOW_KEY, None, URLS)
    assert (caught.value.http_status, caught.value.retry_after) == (403, seconds)
    assert caught.value.advice == (f"the key of {HOST} is being verified: run the same command in {seconds} s or later")
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (Answer(status=500), 600),
        (Answer(status=503, headers={"Retry-After": "700"}), 700),
        (Answer(status=503, headers={"Retry-After": "5"}), 600),
        (Answer(drop=True), None),
    ],
)
def test_a_lost_answer_is_not_repeated(
    service: FakeIndexNow, client: IndexNow, answer: Answer, seconds: int | None
) -> None:
    service.answer_next("send", answer)
    with pytest.raises(ServiceUnavailableError) as caught:
        client.send(HOST, INDEXNOW_KEY, None, URLS)
    later = "later" if seconds is None else f"in {seconds} s or later"
    assert (caught.value.retry_after, caught.value.advice) == (seconds, f"run the same command {later}")
    assert len(service.requests) == 1


def test_an_answer_of_another_program(service: FakeIndexNow, client: IndexNow) -> None:
    service.answer_next("send", Answer("<html>Log in to the hotel"))
    with pytest.raises(ServiceUnavailableError, match="check the proxy and the base URL"):
        client.send(HOST, INDEXNOW_KEY, None, URLS)


def test_a_redirect_gets_nothing(service: FakeIndexNow, client: IndexNow) -> None:
    with WebServer() as other:
        service.answer_next("send", Answer(status=308, headers={"Location": other.url("/indexnow")}))
        with pytest.raises(ServiceRefusedError, match="it redirects to"):
            client.send(HOST, INDEXNOW_KEY, None, URLS)
        assert other.requests == []


def test_ten_thousand_long_urls_are_one_request(service: FakeIndexNow, client: IndexNow) -> None:
    urls = [f"https://{HOST}/{number:05}/{'x' * 100}" for number in range(10_000)]
    assert client.send(HOST, INDEXNOW_KEY, None, urls).outcome is Outcome.ACCEPTED
    assert json.loads(service.requests[0].body)["urlList"] == urls


def test_batches_have_one_host_and_at_most_ten_thousand_urls() -> None:
    urls = [f"https://a.example/{number}" for number in range(10_001)]
    found = list(batches([*reversed(urls), "http://b.example/", "https://b.example/", urls[0], "https://b.example:8/"]))
    assert [(batch.host, len(batch.urls)) for batch in found] == [
        ("a.example", 10_000),
        ("a.example", 1),
        ("b.example", 2),
        ("b.example:8", 1),
    ]
    assert [url for batch in found[:2] for url in batch.urls] == sorted(urls)
    assert list(batches([])) == []
    assert [len(batch.urls) for batch in batches(urls[:10_000])] == [10_000]
