"""The questions of `monitor` to stand-ins of Google and Bing, and the report of their answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.config.options import Options
from sitemap_crawler.inventory.lookup import open_inventory
from sitemap_crawler.search_engines.fail_on import judge, parse_conditions
from sitemap_crawler.search_engines.monitor_report import MonitorReport, make_report
from sitemap_crawler.search_engines.monitoring import MAX_CHILDREN, SERVICES, Monitor, Questions
from sitemap_crawler.search_engines.published_files import published_site
from tests.support.engine_inventory import PUBLISHED, SHA256, SITE, publish_file, publish_pages
from tests.support.search_engines import (
    EMAIL,
    FakeBing,
    FakeClock,
    FakeGoogle,
    bing_error,
    bing_feed,
    google_error,
    json_answer,
)
from tests.support.webserver import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DOMAIN = "sc-domain:example.com"
ENTRY = f"{SITE}sitemap.xml"
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
MODIFIED = datetime.fromtimestamp(PUBLISHED, UTC)
READ_AT = MODIFIED + timedelta(hours=2)


def wmx(url: str = ENTRY, **fields: Any) -> dict[str, Any]:
    """A sitemap as Google describes it: numbers as texts."""
    return {
        "path": url,
        "lastSubmitted": MODIFIED.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "lastDownloaded": READ_AT.strftime("%Y-%m-%dT%H:%M:%S.123Z"),
        "isPending": False,
        "isSitemapsIndex": False,
        "type": "sitemap",
        "errors": "0",
        "warnings": "2",
        "contents": [{"type": "web", "submitted": "3", "indexed": "0"}, {"type": "IMAGE", "submitted": 7}],
    } | fields


def known(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def bing_date(moment: datetime) -> str:
    return f"/Date({int(moment.timestamp() * 1000)}-0700)/"


class Monitored:
    """A published site of three pages, and an account at both services that has it."""

    def __init__(self, folder: Path, google: FakeGoogle, bing: FakeBing) -> None:
        self.folder, self.google, self.bing = folder, google, bing
        self.path = publish_pages(folder / "a.sqlite", [SITE, f"{SITE}a", f"{SITE}b"])
        self.clock = FakeClock(NOW)
        self.given: dict[str, Any] = {}

    def ask(self, *services: str, inspect: int = 0) -> Questions:
        options = Options.parse(
            {"start_url": SITE, **self.google.options(self.folder), **self.bing.options(), **self.given}
        )
        with open_inventory(self.path) as inventory:
            site = published_site(inventory.connection)
        return Monitor(self.path, site, options, clock=self.clock).ask(services or SERVICES, inspect=inspect)

    def report(self, questions: Questions | None = None, *, fail_on: str = "", **services: bool) -> MonitorReport:
        with open_inventory(self.path) as inventory:
            site = published_site(inventory.connection)
            report = make_report(inventory.connection, site, SERVICES, questions or Questions(), now=self.clock.now())
        judge(report, parse_conditions(fail_on) if fail_on else (), now=self.clock.now())
        return report

    def json(self, *services: str, inspect: int = 0) -> dict[str, Any]:
        return self.report(self.ask(*services, inspect=inspect)).to_json()


@pytest.fixture
def monitored(tmp_path: Path) -> Iterator[Monitored]:
    with FakeGoogle({DOMAIN: "siteRestrictedUser"}) as google, FakeBing([SITE]) as bing:
        yield Monitored(tmp_path, google, bing)


def test_what_google_says_of_a_file(monitored: Monitored) -> None:
    monitored.google.sitemaps[DOMAIN, ENTRY] = wmx()
    report = monitored.json("google")
    assert report["sitemaps"] == [
        {
            "service": "google",
            "property": DOMAIN,
            "url": ENTRY,
            "asked_at": "2026-11-23T12:00:00+00:00",
            "since": "2026-11-23T12:00:00+00:00",
            "known": True,
            "submitted": 3,
            "last_submitted": "2023-11-14T22:14:20+00:00",
            "last_downloaded": "2023-11-15T00:14:20+00:00",
            "pending": False,
            "is_index": False,
            "type": "sitemap",
            "status": None,
            "errors": 0,
            "warnings": 2,
            "contents": [{"type": "web", "submitted": 3}, {"type": "image", "submitted": 7}],
            "published": {"urls": 3, "sha256": SHA256, "modified": "2023-11-14T22:14:20+00:00"},
            "read_since_publication": True,
            "pending_since": None,
            "children": [],
        }
    ]
    assert (report["failed"], report["exit_code"], report["asked_at"]) == ([], 0, "2026-11-23T12:00:00+00:00")
    # Neither answer is called indexed: only inspections say that.
    assert report["coverage"] | {"by_state": {}, "by_verdict": {}} == {
        "property": None, "inspected": 0, "of": 3, "oldest": None, "newest": None, "indexed": 0,
        "indexed_percent": None, "by_state": {}, "by_verdict": {}, "canonical_differs": [],
        "canonical_differs_count": 0, "sample": "rotation",
    }  # fmt: skip
    assert report["quota"] == {"used": 0, "limit": 2_000, "resets_at": "2026-11-24T08:00:00+00:00"}


def test_what_bing_says_of_a_file(monitored: Monitored) -> None:
    row = bing_feed(ENTRY, Status="Success", LastCrawled=bing_date(READ_AT), UrlCount=3)
    monitored.bing.feeds[SITE, ENTRY] = row
    [found] = monitored.json("bing")["sitemaps"]
    expected = {
        "service": "bing", "property": SITE, "known": True, "submitted": 3, "errors": None, "warnings": None,
        "status": "Success", "pending": False, "last_downloaded": "2023-11-15T00:14:20+00:00", "contents": [],
        "read_since_publication": True,
    }  # fmt: skip
    assert found | expected == found


def test_an_index_has_its_files(monitored: Monitored) -> None:
    first, second = f"{SITE}sitemap-1.xml", f"{SITE}sitemap-2.xml"
    publish_file(monitored.path, "sitemap.xml", 0)
    publish_file(monitored.path, "sitemap-1.xml", 2)
    publish_file(monitored.path, "sitemap-2.xml", 1)
    publish_file(monitored.path, "sitemap-news.xml", 5, section="news")
    monitored.google.sitemaps[DOMAIN, ENTRY] = wmx(isSitemapsIndex=True)
    monitored.google.index_children[ENTRY] = [wmx(first, errors=4), wmx(second)]
    monitored.bing.feeds[SITE, ENTRY] = bing_feed(ENTRY)
    monitored.bing.details[ENTRY] = [bing_feed(first, UrlCount=2)]
    rows = monitored.json()["sitemaps"]
    entries = {row["service"]: row for row in rows if row["url"] == ENTRY}
    assert [(child["url"], child["errors"]) for child in entries["google"]["children"]] == [(first, 4), (second, 0)]
    assert [(child["url"], child["submitted"]) for child in entries["bing"]["children"]] == [(first, 2)]
    assert entries["google"]["published"]["urls"] == 3


def test_children_are_bounded(monitored: Monitored) -> None:
    rows = [wmx(f"{SITE}sitemap-{number}.xml") for number in range(MAX_CHILDREN + 200)]
    monitored.google.sitemaps[DOMAIN, ENTRY] = wmx()
    monitored.google.index_children[ENTRY] = rows
    [row] = monitored.json("google")["sitemaps"]
    assert len(row["children"]) == MAX_CHILDREN


def test_a_file_that_was_not_submitted_is_no_failure(monitored: Monitored) -> None:
    report = monitored.json()
    assert [(row["known"], row["read_since_publication"], row["errors"]) for row in report["sitemaps"]] == [
        (False, False, None),
        (False, False, None),
    ]
    assert [row["pending_since"] for row in report["sitemaps"]] == ["2023-11-14T22:14:20+00:00"] * 2
    assert report["exit_code"] == 0


@pytest.mark.parametrize(
    ("fields", "read", "pending_since"),
    [
        ({}, True, None),
        ({"lastDownloaded": "2023-11-14T22:14:20.000Z"}, True, None),
        ({"lastDownloaded": "2023-11-14T22:14:19.900Z"}, False, "2023-11-14T22:14:20+00:00"),
        ({"lastDownloaded": None}, False, "2023-11-14T22:14:20+00:00"),
        ({"isPending": True}, True, "2023-11-14T22:14:20+00:00"),
        ({"isPending": True, "lastSubmitted": "2026-11-20T10:00:00Z"}, True, "2026-11-20T10:00:00+00:00"),
        ({"isPending": None}, True, None),
    ],
)
def test_whether_google_has_read_what_is_published(
    monitored: Monitored, fields: dict[str, Any], read: bool, pending_since: str | None
) -> None:
    monitored.google.sitemaps[DOMAIN, ENTRY] = {
        name: value for name, value in wmx(**fields).items() if value is not None
    }
    [row] = monitored.json("google")["sitemaps"]
    assert (row["read_since_publication"], row["pending_since"]) == (read, pending_since)


def test_an_answer_from_before_the_publication_says_nothing_of_it(monitored: Monitored) -> None:
    monitored.google.sitemaps[DOMAIN, ENTRY] = wmx()
    monitored.ask("google")
    publish_file(monitored.path, "sitemap.xml", 3, modified=NOW.timestamp() + 60)
    [row] = monitored.report().to_json()["sitemaps"]
    assert (row["read_since_publication"], row["pending_since"]) == (None, None)


def test_a_given_property_is_used_for_the_urls_that_it_covers(monitored: Monitored) -> None:
    monitored.google.properties[SITE] = "siteOwner"
    monitored.google.sitemaps[SITE, ENTRY] = wmx()
    monitored.google.sitemaps[DOMAIN, ENTRY] = wmx(errors=9)
    assert [row["property"] for row in monitored.json("google")["sitemaps"]] == [SITE]
    monitored.given["google_property"] = DOMAIN
    monitored.clock.sleep(60)
    assert [row["property"] for row in monitored.json("google")["sitemaps"]] == [DOMAIN]
    monitored.given["google_property"] = "https://shop.example.com/"
    monitored.clock.sleep(60)
    assert [row["property"] for row in monitored.json("google")["sitemaps"]] == [SITE]


def test_an_account_without_the_property(monitored: Monitored) -> None:
    monitored.google.properties = {"https://other.example/": "siteOwner"}
    monitored.bing.sites = {SITE: False}
    report = monitored.json(inspect=3)
    google, bing = report["failed"]
    assert google["message"] == (
        f"the account {EMAIL} has no property of Search Console for {ENTRY}; it has https://other.example/ (owner)"
    )
    assert bing["message"].endswith(f"it has {SITE} (not verified)")
    assert [row["url"] for row in report["failed"]] == [ENTRY, ENTRY]
    assert (report["exit_code"], monitored.google.of("inspect")) == (1, [])


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (google_error(400, "badRequest"), 1),
        (google_error(403, "forbidden", "User does not have sufficient permission for site"), 1),
        (google_error(403, "insufficientPermissions", "Request had insufficient authentication scopes."), 1),
        (google_error(403, "quotaExceeded"), 4),
        (google_error(429, "rateLimitExceeded"), 4),
        (google_error(503, "backendError"), 4),
        (Answer("<html>maintenance</html>"), 4),
        (json_answer([1]), 4),
        (Answer(drop=True), 4),
        (Answer(status=302, headers={"Location": "https://evil.example/"}), 1),
    ],
)
def test_a_failure_of_google_stops_bing_not(monitored: Monitored, answer: Answer, code: int) -> None:
    monitored.google.answer_next("get", *[answer] * 4)
    monitored.bing.feeds[SITE, ENTRY] = bing_feed(ENTRY)
    report = monitored.json(inspect=5)
    assert [row["service"] for row in report["sitemaps"]] == ["bing"]
    assert [row["service"] for row in report["failed"]] == ["google"]
    assert report["exit_code"] == code
    assert monitored.google.of("inspect") == []


@pytest.mark.parametrize(
    ("answer", "code"), [(bing_error(3, "InvalidApiKey", 200), 1), (bing_error(4, "ThrottleUser"), 4)]
)
def test_a_failure_of_bing(monitored: Monitored, answer: Answer, code: int) -> None:
    monitored.bing.answer_next("GetFeeds", *[answer] * 4)
    report = monitored.json("bing")
    assert (report["exit_code"], len(report["failed"])) == (code, 1)


def test_children_that_cannot_be_listed_leave_the_answer_of_the_index(monitored: Monitored) -> None:
    monitored.google.sitemaps[DOMAIN, ENTRY] = wmx()
    monitored.google.answer_next("children", google_error(403, "forbidden"))
    report = monitored.json("google")
    assert [(row["errors"], row["children"]) for row in report["sitemaps"]] == [(0, [])]
    assert report["exit_code"] == 1


def test_unknown_values_and_huge_numbers_pass_through(monitored: Monitored) -> None:
    contents = [{"type": f"KIND_{number}", "submitted": str(10**18)} for number in range(5_000)]
    monitored.google.sitemaps[DOMAIN, ENTRY] = wmx(
        type="OCEANFRONT", errors=str(10**18), warnings="many", contents=contents, isPending="yes", more={"a": 1}
    )
    [row] = monitored.json("google")["sitemaps"]
    assert (row["type"], row["errors"], row["warnings"], row["pending"]) == ("oceanfront", 10**18, None, None)
    assert len(row["contents"]) == 20


def test_inspections_make_the_coverage(monitored: Monitored) -> None:
    monitored.google.sitemaps[DOMAIN, ENTRY] = wmx()
    monitored.google.inspections[f"{SITE}a"] = {
        "verdict": "PASS", "coverageState": "Submitted and indexed", "googleCanonical": f"{SITE}other",
    }  # fmt: skip
    report = monitored.json(inspect=3)
    assert report["coverage"] == {
        "property": DOMAIN,
        "inspected": 3,
        "of": 3,
        "oldest": "2026-11-23T12:00:00+00:00",
        "newest": "2026-11-23T12:00:00+00:00",
        "indexed": 1,
        "indexed_percent": 33.3,
        "by_state": {"URL is unknown to Google": 2, "Submitted and indexed": 1},
        "by_verdict": {"NEUTRAL": 2, "PASS": 1},
        "canonical_differs": [{"url": f"{SITE}a", "google": f"{SITE}other"}],
        "canonical_differs_count": 1,
        "sample": "all",
    }
    assert report["quota"]["used"] == 3
    bodies = [request.body.decode() for request in monitored.google.of("inspect")]
    assert all('"languageCode": "en-US"' in body and f'"siteUrl": "{DOMAIN}"' in body for body in bodies)


def test_pages_outside_of_all_properties_are_not_inspected(monitored: Monitored) -> None:
    monitored.google.properties = {f"{SITE}a": "siteOwner"}
    publish_file(monitored.path, "sitemap.xml", 3)
    monitored.given["google_property"] = f"{SITE}a"
    monitored.google.properties[SITE + "sitemap.xml"] = "siteOwner"
    monitored.ask("google", inspect=10)
    assert [f'"inspectionUrl": "{SITE}a"' in request.body.decode() for request in monitored.google.of("inspect")] == [
        True
    ]


def test_public_addresses_are_asked_about(monitored: Monitored, tmp_path: Path) -> None:
    local = "http://127.0.0.1:8000/"
    monitored.path = publish_pages(tmp_path / "b.sqlite", [local, f"{local}a"], site=local, public_url=SITE)
    publish_file(monitored.path, "sitemap.xml", 2)
    monitored.google.inspections[f"{SITE}a"] = {"verdict": "PASS", "googleCanonical": f"{SITE}a"}
    report = monitored.json("google", inspect=5)
    asked = sorted(request.body.decode().split('"')[3] for request in monitored.google.of("inspect"))
    assert asked == [SITE, f"{SITE}a"]
    assert report["coverage"]["canonical_differs"] == []


@pytest.mark.parametrize(
    ("fields", "fail_on", "met"),
    [
        ({}, "errors", []),
        ({}, "warnings", [f"warnings: google reports 2 warnings in {ENTRY}"]),
        ({"errors": 1}, "errors,warnings,errors", [
            f"errors: google reports 1 error in {ENTRY}", f"warnings: google reports 2 warnings in {ENTRY}",
        ]),
        ({}, "pending:0", []),
        ({"lastDownloaded": None}, "pending:7", [
            f"pending:7: google has not read {ENTRY} since it was published or submitted on 2023-11-14",
        ]),
        ({"lastDownloaded": None}, "pending:2000", []),
        ({"isPending": True, "lastSubmitted": "2026-11-22T11:00:00Z"}, "pending:1", [
            f"pending:1: google has not read {ENTRY} since it was published or submitted on 2026-11-22",
        ]),
        ({"isPending": True, "lastSubmitted": "2026-11-22T13:00:00Z"}, "pending:1", []),
        ({}, "stale:30", [f"stale:30: google last read {ENTRY} on 2023-11-15"]),
        ({"lastDownloaded": "2026-11-20T00:00:00Z"}, "stale:3.25", [
            f"stale:3.25: google last read {ENTRY} on 2026-11-20",
        ]),
        ({"lastDownloaded": "2026-11-20T00:00:00Z"}, "stale:4", []),
        ({"lastDownloaded": None}, "stale:30", [f"stale:30: google has never read {ENTRY}"]),
    ],
)  # fmt: skip
def test_conditions_for_a_failure(monitored: Monitored, fields: dict[str, Any], fail_on: str, met: list[str]) -> None:
    monitored.google.sitemaps[DOMAIN, ENTRY] = known(wmx(**fields))
    report = monitored.report(monitored.ask("google"), fail_on=fail_on)
    assert report.met == met
    assert report.exit_code == bool(met)


def test_a_file_that_is_not_submitted_is_pending_and_not_stale(monitored: Monitored) -> None:
    report = monitored.report(monitored.ask("google"), fail_on="stale:1,pending:1")
    assert report.met == [f"pending:1: google does not know {ENTRY}, published on 2023-11-14: run submit"]


def test_the_share_of_indexed_pages_is_judged_if_it_is_known(monitored: Monitored) -> None:
    monitored.google.sitemaps[DOMAIN, ENTRY] = wmx()
    monitored.google.inspections[SITE] = {"verdict": "PASS"}
    few = monitored.report(monitored.ask("google", inspect=2), fail_on="coverage:90")
    assert (few.met, few.exit_code) == ([], 0)
    assert few.notes == ["coverage:90 cannot be judged: 2 of 3 inspected"]
    all_pages = monitored.report(monitored.ask("google", inspect=1), fail_on="coverage:90")
    assert all_pages.met == ["coverage:90: 33.3 % of 3 inspected pages, of 3 listed, are indexed"]
    assert monitored.report(fail_on="coverage:33").met == []
