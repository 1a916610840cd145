"""`submit` to Google and Bing, several services and hosts at once, and the checks of the own site before it."""

from __future__ import annotations

import gzip
import hashlib
import json
import signal
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.crawl.test_schemas import check_text
from tests.support.announced_site import SITE_FILE, AnnouncedSite
from tests.support.names import give_names
from tests.support.proxy_server import ProxyServer
from tests.support.publishing import state as files_of
from tests.support.search_engines import (
    BING_KEY,
    EMAIL,
    INDEXNOW_KEY,
    FakeBing,
    FakeGoogle,
    FakeIndexNow,
    bing_error,
    google_error,
    json_answer,
)
from tests.support.secure_server import write_certificate
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.program import Program
    from tests.support.webserver import LoggedRequest

pytestmark = pytest.mark.slow

WWW = "http://www.example.com"
MAP = f"{WWW}/sitemap.xml"
PROPERTY = "sc-domain:example.com"


@pytest.fixture
def google() -> Iterator[FakeGoogle]:
    with FakeGoogle({PROPERTY: "siteOwner"}) as service:
        yield service


@pytest.fixture
def bing() -> Iterator[FakeBing]:
    with FakeBing([f"{WWW}/"]) as service:
        yield service


@pytest.fixture
def indexnow() -> Iterator[FakeIndexNow]:
    with FakeIndexNow({"www.example.com": INDEXNOW_KEY}) as service:
        yield service


@pytest.fixture
def announced(
    program: Program, site: WebServer, google: FakeGoogle, bing: FakeBing, indexnow: FakeIndexNow
) -> AnnouncedSite:
    options = google.options(program.directory) | bing.options() | indexnow.urls()
    made = AnnouncedSite(program, site, origin=WWW, **options, indexnow_key=[INDEXNOW_KEY])
    assert made.publish("/p/a", "/p/b").code == 0
    return made


def outcomes(rows: list[dict[str, Any]]) -> dict[str, str]:
    return {row["service"]: row["outcome"] for row in rows}


def test_all_services_are_told_and_the_output_is_untouched(
    announced: AnnouncedSite, google: FakeGoogle, bing: FakeBing
) -> None:
    before = files_of(announced.program.output)
    result = announced.submit()
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        f"google {MAP}: accepted (204)\n"
        f"bing {MAP}: accepted (200)\n"
        "indexnow www.example.com: unchanged: first use, so nothing was sent: changes from now on are sent; "
        "--all sends all pages (3)\n"
    )
    [put] = google.of("submit")
    assert put.path == f"/webmasters/v3/sites/{quote(PROPERTY, safe='')}/sitemaps/{quote(MAP, safe='')}"
    [post] = bing.of("SubmitFeed")
    assert json.loads(post.body) == {"siteUrl": f"{WWW}/", "feedUrl": MAP}
    assert files_of(announced.program.output) == before
    found = announced.rows("SELECT service, host, target, kind, sha256, http_status, outcome FROM submissions")
    sha256 = hashlib.sha256((announced.program.output / "sitemap.xml").read_bytes()).hexdigest()
    assert found == [
        ("google", "www.example.com", MAP, "sitemap", sha256, 204, "accepted"),
        ("bing", "www.example.com", MAP, "sitemap", sha256, 200, "accepted"),
    ]


def test_the_same_bytes_are_sent_once_a_day(announced: AnnouncedSite, google: FakeGoogle) -> None:
    def submitted(*options: str) -> tuple[str, int]:
        google.clear_log()
        [row] = announced.results("--to", "google", *options)
        return row["outcome"], len(google.of("submit"))

    assert submitted() == ("accepted", 1)
    assert submitted() == ("unchanged", 0)
    assert submitted("--force") == ("accepted", 1)
    announced.let_pass(86_000)
    assert submitted() == ("unchanged", 0)
    announced.let_pass(500)
    assert submitted() == ("accepted", 1)
    announced.publish("/p/a")
    assert submitted() == ("accepted", 1)


def test_a_pause_that_the_list_of_properties_asks_for_holds_for_later_commands(
    announced: AnnouncedSite, google: FakeGoogle
) -> None:
    google.answer_next("sites", google_error(429, "rateLimitExceeded", **{"Retry-After": "700"}))
    assert announced.submit("--to", "google").code == 4
    google.clear_log()
    result = announced.submit("--to", "google")
    assert (result.code, google.requests) == (4, [])
    assert " has asked for a pause until 20" in result.last_line
    announced.let_pass(701)
    assert announced.submit("--to", "google").code == 0
    assert len(google.of("submit")) == 1


@pytest.mark.parametrize("commits", range(1, 9))
def test_a_kill_sends_no_file_again_within_ten_minutes(
    announced: AnnouncedSite, google: FakeGoogle, bing: FakeBing, commits: int
) -> None:
    def sent() -> dict[str, int]:
        return {"google": len(google.of("submit")), "bing": len(bing.of("SubmitFeed"))}

    services = ("--to", "google,bing")
    killed = announced.program.run_killed(commits, "submit", "--config", SITE_FILE, *services)
    assert killed.code == -signal.SIGKILL
    at_kill = sent()
    rows = dict(announced.rows("SELECT service, outcome FROM submissions"))
    unsure = {service for service, outcome in rows.items() if outcome == "sending"}
    # What was sent is recorded, at least as a request whose answer is not known.
    assert {service for service, count in at_kill.items() if count} <= rows.keys()
    result = announced.submit(*services)
    assert result.code == (4 if unsure else 0)
    assert sent() == {service: count if service in unsure else 1 for service, count in at_kill.items()}
    announced.let_pass(601)
    assert announced.submit(*services).code == 0
    assert sent() == {service: count + 1 if service in unsure else 1 for service, count in at_kill.items()}
    assert set(announced.rows("SELECT service FROM submissions WHERE outcome = 'accepted'")) == {("google",), ("bing",)}


def test_the_services_are_reached_through_a_proxy_with_the_given_authority(program: Program, site: WebServer) -> None:
    authority = program.directory / "authority.pem"
    write_certificate(authority)
    services = (
        FakeGoogle({PROPERTY: "siteOwner"}),
        FakeBing([f"{WWW}/"]),
        FakeIndexNow({"www.example.com": INDEXNOW_KEY}),
    )
    for service in services:
        service.secure(authority)
    google, bing, indexnow = services
    with google, bing, indexnow, ProxyServer() as proxy:
        options = google.options(program.directory) | bing.options() | indexnow.urls()
        announced = AnnouncedSite(program, site, origin=WWW, **options, indexnow_key=[INDEXNOW_KEY])
        assert announced.publish("/p/a").code == 0
        program.variables |= {"https_proxy": f"http://{proxy.address}", "no_proxy": ""}
        refused = announced.submit("--all")
        assert refused.code == 4
        assert sum("cannot be verified" in line for line in refused.err.splitlines()) == 3
        assert [request for service in services for request in service.requests] == []
        announced.options["ca_file"] = str(authority)
        announced.let_pass(601)
        assert announced.submit("--all").code == 0
        assert [len(google.of("submit")), len(bing.of("SubmitFeed")), len(indexnow.batches())] == [1, 1, 1]
        assert {target for _, target, _ in proxy.asked} == {f"127.0.0.1:{service.port}" for service in services}


def test_each_entry_file_is_submitted_and_no_shard(announced: AnnouncedSite, google: FakeGoogle) -> None:
    formats = (part for name in ("xml", "txt", "rss", "html") for part in ("--format", name))
    announced.publish("/p/a", "/p/b", "/p/c", options=("--max-urls", "2", *formats))
    names = [row["target"].removeprefix(f"{WWW}/") for row in announced.results("--to", "google")]
    assert names == ["sitemap-1.txt", "sitemap.rss", "sitemap.txt", "sitemap.xml"]
    assert announced.paths() == [*(f"/{name}" for name in names), "/sitemap-1.xml", "/sitemap-2.xml"]
    assert [request.method for request in announced.server.requests] == ["GET"] * 4 + ["HEAD"] * 2


@pytest.mark.parametrize(
    ("answer", "difference"),
    [
        (Answer("gone", status=404), "answers with status 404"),
        (Answer(status=301, headers={"Location": "https://other.example/x.xml"}), "redirects to https://other.exam"),
        (Answer("<urlset/>"), "has 9 bytes, "),
        (Answer(b"x" * 100_000), "has more than the "),
        (lambda _: Answer(b"x" * SIZE[0]), "has other bytes than the published file (SHA-256 "),
        (Answer(b"x", headers={"Content-Encoding": "br"}), "has the content coding br, which was not asked for"),
        (Answer(gzip.compress(b"x")[:-3], headers={"Content-Encoding": "gzip"}), "cannot be fetched: "),
        (Answer(drop=True), "cannot be fetched: "),
    ],
)
def test_nothing_is_sent_before_the_files_are_live(
    announced: AnnouncedSite, google: FakeGoogle, bing: FakeBing, answer: Any, difference: str
) -> None:
    SIZE[0] = (announced.program.output / "sitemap.xml").stat().st_size
    announced.serve("/sitemap.xml", answer)
    result = announced.submit()
    assert result.code == 3
    lines = result.err.splitlines()
    assert len(lines) == 3
    for line, service in zip(lines, ("google", "bing", "indexnow"), strict=True):
        assert line.startswith(f"sitemap-crawler: {service} refused: not live yet: {MAP} ")
        assert difference in line
        assert line.endswith("run the same command again; --force sends anyway")
    assert announced.paths() == ["/sitemap.xml"]
    assert google.requests == bing.requests == []
    if not difference.startswith("cannot"):
        assert announced.submit("--force").code == 0
        assert len(google.of("submit")) == len(bing.of("SubmitFeed")) == 1


SIZE = [0]


def test_a_compressed_answer_and_a_byte_order_mark_are_fine(announced: AnnouncedSite, indexnow: FakeIndexNow) -> None:
    data = (announced.program.output / "sitemap.xml").read_bytes()
    halves = gzip.compress(data[:200]) + gzip.compress(data[200:])
    announced.serve("/sitemap.xml", Answer(halves, headers={"Content-Encoding": "gzip"}))
    announced.serve(f"/{INDEXNOW_KEY}.txt", Answer(b"\xef\xbb\xbf" + INDEXNOW_KEY.encode() + b"\r\n"))
    assert announced.submit("--all").code == 0
    assert len(indexnow.requests) == 1


def test_a_shard_that_is_not_there_is_noticed(announced: AnnouncedSite, google: FakeGoogle) -> None:
    announced.publish("/p/a", "/p/b", "/p/c", options=("--max-urls", "2"))
    announced.remove("/sitemap-2.xml")
    result = announced.submit("--to", "google")
    assert result.code == 3
    assert f"not live yet: {WWW}/sitemap-2.xml answers with status 404" in result.last_line


def test_at_most_twenty_shards_are_asked_for_and_head_may_be_refused(announced: AnnouncedSite) -> None:
    def get_only(request: LoggedRequest) -> Answer:
        return Answer(status=200 if request.method == "GET" else 405)

    announced.publish(*(f"/p/{number:02}" for number in range(24)), options=("--max-urls", "1"))
    for number in range(1, 26):
        announced.serve(f"/sitemap-{number}.xml", get_only)
    assert announced.submit("--to", "google").code == 0
    assert [request.method for request in announced.server.requests] == ["GET", *["HEAD", "GET"] * 20]


@pytest.mark.parametrize(
    ("answer", "difference"),
    [
        (Answer("no", status=404), "answers with status 404"),
        (Answer("another key", content_type="text/plain"), "does not hold the key"),
        (Answer(status=302, headers={"Location": "http://elsewhere.example/key.txt"}), "redirects to http://elsewhere"),
        (Answer(b"x" * 2_000_000), "does not hold the key"),
    ],
)
def test_a_key_file_that_is_not_in_place(
    announced: AnnouncedSite, indexnow: FakeIndexNow, answer: Answer, difference: str
) -> None:
    announced.serve(f"/{INDEXNOW_KEY}.txt", answer)
    result = announced.submit("--to", "indexnow", "--all")
    assert (result.code, indexnow.requests) == (3, [])
    assert f"the key file is not in place: {WWW}/{INDEXNOW_KEY}.txt {difference}" in result.last_line
    assert "--write-key DIR writes it" in result.last_line


def test_a_server_that_does_not_answer_is_the_problem_and_not_the_files(
    announced: AnnouncedSite, indexnow: FakeIndexNow
) -> None:
    remedy = "check that the server is up and that this machine can reach it"
    announced.serve("/sitemap.xml", Answer(drop=True))
    assert remedy in announced.submit("--to", "indexnow").last_line
    announced.serve(f"/{INDEXNOW_KEY}.txt", Answer(drop=True))
    assert announced.submit("--to", "indexnow", "--force").last_line.endswith(remedy)


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("google_property", "sc-domain:example.org", f"does not cover {MAP}: "),
        ("google_property", f"{WWW}/shop/", f"does not cover {MAP}: "),
        ("bing_site", "https://www.example.com/", f"does not cover {MAP}: "),
        ("indexnow_key_location", "http://example.com/k.txt", "is of another host than the published files: "),
    ],
)
def test_a_given_name_of_another_site_is_an_error(
    announced: AnnouncedSite, google: FakeGoogle, option: str, value: str, words: str
) -> None:
    announced.options[option] = [value] if option == "indexnow_key_location" else value
    result = announced.submit()
    assert (result.code, result.out, google.requests) == (2, "", [])
    assert result.last_line.startswith(f"{option} {value} {words}")


def test_nothing_but_files_is_removed_by_remove(announced: AnnouncedSite, indexnow: FakeIndexNow) -> None:
    announced.submit("--to", "indexnow")
    announced.publish("/p/b")
    assert {row["service"] for row in announced.results("--remove")} == {"google", "bing"}
    result = announced.submit("--remove", "--to", "indexnow")
    assert (result.code, result.last_line.startswith("--remove is for Google and Bing: ")) == (2, True)
    assert indexnow.requests == []


def test_a_key_file_may_redirect_on_its_host(announced: AnnouncedSite, indexnow: FakeIndexNow) -> None:
    announced.serve(f"/{INDEXNOW_KEY}.txt", Answer(status=301, headers={"Location": "/keys/here.txt"}))
    announced.serve("/keys/here.txt", INDEXNOW_KEY)
    assert announced.submit("--to", "indexnow", "--all").code == 0


def test_a_key_in_a_directory_is_for_its_urls(announced: AnnouncedSite, indexnow: FakeIndexNow) -> None:
    announced.options["indexnow_key_location"] = [f"{WWW}/p/key.txt"]
    announced.serve("/p/key.txt", INDEXNOW_KEY)
    assert announced.submit("--to", "indexnow", "--all").code == 0
    [batch] = indexnow.batches()
    assert batch == {
        "host": "www.example.com",
        "key": INDEXNOW_KEY,
        "keyLocation": f"{WWW}/p/key.txt",
        "urlList": [f"{WWW}/p/a", f"{WWW}/p/b"],
    }


def test_one_failing_service_stops_none_of_the_others(
    announced: AnnouncedSite, google: FakeGoogle, bing: FakeBing, indexnow: FakeIndexNow
) -> None:
    google.properties = {"https://www.example.com/": "siteOwner", "sc-domain:example.org": "siteFullUser"}
    bing.answer_next("SubmitFeed", bing_error(14, "NotAuthorized"))
    result = announced.submit("--all")
    assert result.code == 1
    first, second = result.err.splitlines()
    assert first.startswith("sitemap-crawler: google failed: ")
    assert EMAIL in first
    assert "https://www.example.com/ (owner)" in first
    assert second.startswith("sitemap-crawler: bing failed: Bing answered 400 NotAuthorized")
    assert len(indexnow.requests) == 1
    assert announced.rows("SELECT outcome, reason FROM submissions WHERE service = 'bing'") == [
        ("failed", "NotAuthorized")
    ]


@pytest.mark.parametrize(
    ("answer", "code", "outcome"),
    [
        (google_error(403, "quotaExceeded", "Quota exceeded"), 4, "later"),
        (google_error(404, "notFound", "not found"), 1, "failed"),
        (json_answer({}, 200), 0, "accepted"),
        (Answer("<html>proxy</html>", status=407), 1, "failed"),
    ],
)
def test_answers_of_google(
    announced: AnnouncedSite, google: FakeGoogle, answer: Answer, code: int, outcome: str
) -> None:
    google.answer_next("submit", answer)
    result = announced.submit("--to", "google", "--json")
    found = json.loads(result.out)
    assert (result.code, found["exit_code"], found["results"][0]["outcome"]) == (code, code, outcome)
    assert len(result.err.splitlines()) == bool(code)


def test_the_worst_exit_code_counts(announced: AnnouncedSite, google: FakeGoogle, bing: FakeBing) -> None:
    google.answer_next("submit", google_error(403, "quotaExceeded", "Quota exceeded"))
    announced.serve(f"/{INDEXNOW_KEY}.txt", Answer(status=404))
    assert announced.submit().code == 3
    bing.answer_next("SubmitFeed", bing_error(7, "InvalidUrl"))
    announced.let_pass(90_000)
    assert announced.submit().code == 1


def test_a_dry_run_asks_the_own_site_only_and_writes_nothing(
    announced: AnnouncedSite, google: FakeGoogle, bing: FakeBing, indexnow: FakeIndexNow
) -> None:
    for options in ((), ("--all",)):
        before = announced.state.read_bytes()
        rows = announced.results("--dry-run", *options)
        assert outcomes(rows) == dict.fromkeys(("google", "bing", "indexnow"), "planned")
        assert announced.state.read_bytes() == before
    assert rows[-1]["urls"] == {"added": 3, "changed": 0, "removed": 0}
    assert set(announced.paths()) == {"/sitemap.xml", f"/{INDEXNOW_KEY}.txt"}
    assert google.requests == bing.requests == indexnow.requests == []


def test_a_dry_run_after_a_submission_plans_only_what_would_be_sent(
    announced: AnnouncedSite, google: FakeGoogle, bing: FakeBing
) -> None:
    announced.submit("--to", "google,bing")
    sent = len(google.requests), len(bing.requests)
    before = announced.state.read_bytes()
    rows = announced.results("--dry-run", "--to", "google,bing")
    assert outcomes(rows) == {"google": "unchanged", "bing": "unchanged"}
    assert rows[0]["message"].startswith("the same bytes were accepted at ")
    rows = announced.results("--dry-run", "--force", "--to", "google")
    assert outcomes(rows) == {"google": "planned"}
    assert announced.state.read_bytes() == before
    assert (len(google.requests), len(bing.requests)) == sent


def test_a_check_sends_nothing(
    announced: AnnouncedSite, google: FakeGoogle, bing: FakeBing, indexnow: FakeIndexNow
) -> None:
    result = announced.submit("--check")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        f"google {MAP}: ready: the property is {PROPERTY}",
        f"bing {MAP}: ready: the property is {WWW}/",
        f"indexnow www.example.com: ready: the key file {WWW}/{INDEXNOW_KEY}.txt is in place",
        f"robots.txt of www.example.com lacks the line Sitemap: {MAP}",
    ]
    # The accounts are asked for given names, too.
    names = ("--google-property", f"{WWW}/", "--bing-site", f"{WWW}/")
    given = announced.results("--check", "--to", "google,bing", *names)
    assert outcomes(given) == {"google": "failed", "bing": "ready"}
    assert f"has no usable property {WWW}/; it has {PROPERTY} (" in given[0]["message"]
    announced.serve("/robots.txt", f"User-agent: *\nDisallow: /x\nsitemap:{MAP}")
    announced.remove(f"/{INDEXNOW_KEY}.txt")
    google.properties.clear()
    announced.serve("/sitemap.xml", Answer(status=500))
    result = announced.submit("--check")
    assert result.code == 1
    assert f"robots.txt of www.example.com names {MAP}" in result.out
    kept = [(row["service"], row["outcome"]) for row in announced.results("--check")]
    assert kept == [
        *(("google", "refused"), ("google", "failed"), ("bing", "refused"), ("bing", "ready")),
        *(("indexnow", "refused"), ("indexnow", "refused")),
    ]
    assert google.of("submit") == bing.of("SubmitFeed") == indexnow.requests == []
    assert announced.rows("SELECT count(*) FROM submissions") == [(0,)]


def test_a_check_needs_no_service(program: Program, site: WebServer) -> None:
    announced = AnnouncedSite(program, site)
    announced.publish("/p/a")
    result = announced.submit("--check")
    line = f"lacks the line Sitemap: {announced.origin}/sitemap.xml"
    assert (result.code, result.out, result.err) == (0, f"robots.txt of {announced.host} {line}\n", "")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(status=404), f"lacks the line Sitemap: {MAP}"),
        (
            Answer(status=503),
            f"is not known to have the line Sitemap: {MAP}: {WWW}/robots.txt answers with status 503",
        ),
    ],
)
def test_a_check_says_of_robots_txt_what_it_knows(announced: AnnouncedSite, answer: Answer, words: str) -> None:
    announced.serve("/robots.txt", answer)
    assert announced.submit("--check").out.splitlines()[-1] == f"robots.txt of www.example.com {words}"


def test_quiet_prints_failures_only(announced: AnnouncedSite, google: FakeGoogle) -> None:
    for options in (("--check",), ()):
        result = announced.submit(*options, "-q")
        assert (result.code, result.out, result.err) == (0, "", "")
    assert len(google.of("submit")) == 1
    announced.remove("/sitemap.xml")
    result = announced.submit("-q")
    assert (result.code, result.out, len(result.err.splitlines())) == (3, "", 3)
    assert json.loads(announced.submit("-q", "--json").out)["exit_code"] == 3


def test_files_that_are_no_longer_published_are_taken_back(
    announced: AnnouncedSite, google: FakeGoogle, bing: FakeBing
) -> None:
    announced.publish("/p/a", options=("--format", "xml", "--format", "txt"))
    announced.submit("--to", "google,bing")
    announced.publish("/p/a", options=("--format", "xml"))
    announced.submit("--to", "google,bing")
    google.clear_log()
    del google.sitemaps[PROPERTY, f"{WWW}/sitemap.txt"]
    rows = announced.results("--remove", "--to", "google,bing")
    assert [(row["service"], row["kind"], row["target"], row["outcome"]) for row in rows] == [
        ("google", "remove", f"{WWW}/sitemap.txt", "accepted"),
        ("bing", "remove", f"{WWW}/sitemap.txt", "accepted"),
    ]
    assert len(google.of("remove")) == len(bing.of("RemoveFeed")) == 1
    assert google.of("submit") == []
    rows = announced.results("--remove", "--to", "google,bing")
    assert outcomes(rows) == {"google": "unchanged", "bing": "unchanged"}
    assert len(google.of("remove")) == 1


def test_the_results_are_as_the_schema_says(announced: AnnouncedSite, google: FakeGoogle) -> None:
    google.answer_next("submit", google_error(403, "rateLimitExceeded", "slow", Retry_After="900"))
    for options in (("--check",), ("--dry-run",), ("--all",), ("--remove", "--to", "google"), ()):
        check_text(announced.submit(*options, "--json").out, "submit")


def test_every_host_has_its_own_files_key_and_result(
    program: Program, site: WebServer, google: FakeGoogle, indexnow: FakeIndexNow
) -> None:
    blog, second_key = "http://blog.example.com", "b" * 32
    site.pages[f"{blog}/"] = page("/post")
    site.pages[f"{blog}/post"] = page()
    site.pages[f"{blog}/{second_key}.txt"] = second_key
    keys = [f"www.example.com={INDEXNOW_KEY}", f"blog.example.com={second_key}"]
    options = google.options(program.directory) | indexnow.urls() | {"indexnow_key": keys, "subdomains": True}
    announced = AnnouncedSite(program, site, origin=WWW, **options)
    indexnow.keys["blog.example.com"] = second_key
    assert announced.publish("/p/a", f"{blog}/", options=()).code == 0
    for host in ("www.example.com", "blog.example.com"):
        file = program.output / host / "sitemap.xml"
        site.pages[f"http://{host}/sitemap.xml"] = file.read_bytes()
    assert announced.submit("--all").code == 0
    assert {batch["host"]: (batch["key"], batch["urlList"]) for batch in indexnow.batches()} == {
        "blog.example.com": (second_key, [f"{blog}/", f"{blog}/post"]),
        "www.example.com": (INDEXNOW_KEY, [f"{WWW}/", f"{WWW}/p/a"]),
    }
    assert [row["target"] for row in announced.results("--to", "google")] == [f"{blog}/sitemap.xml", MAP]
    # A host that is not live keeps no other from being told.
    site.pages[f"{blog}/sitemap.xml"] = Answer(status=500)
    announced.let_pass(90_000)
    rows = announced.results("--to", "google")
    assert [(row["host"], row["outcome"]) for row in rows] == [
        ("blog.example.com", "refused"),
        ("www.example.com", "accepted"),
    ]


def test_a_preview_is_submitted_by_its_public_addresses(
    program: Program, site: WebServer, indexnow: FakeIndexNow
) -> None:
    preview = "http://preview.local"
    options = indexnow.urls() | {"indexnow_key": [INDEXNOW_KEY], "public_url": f"{WWW}/", "auth": "me:secret"}
    announced = AnnouncedSite(program, site, origin=WWW, **options)
    announced.options["start_url"] = f"{preview}/"
    site.pages |= {f"{preview}/": page("/a"), f"{preview}/a": page()}
    assert announced.publish().code == 0
    assert announced.submit("--all").code == 0
    assert indexnow.batches()[0]["urlList"] == [f"{WWW}/", f"{WWW}/a"]
    # The login is that of the preview.
    assert {request.headers.get("authorization") for request in site.requests} == {None}


def test_the_login_of_the_site_goes_to_the_site_only(
    announced: AnnouncedSite, google: FakeGoogle, bing: FakeBing, indexnow: FakeIndexNow
) -> None:
    announced.options |= {"auth": "me:secret", "header": ["X-Pass: letmein"], "user_agent": "OurBot/7"}
    announced.submit("--all")
    for request in announced.server.requests:
        assert request.headers["authorization"] == "Basic bWU6c2VjcmV0"
        assert (request.headers["x-pass"], request.headers["user-agent"]) == ("letmein", "OurBot/7")
    for service in (google, bing, indexnow):
        assert service.requests
        for request in service.requests:
            assert "x-pass" not in request.headers
            assert "bWU6c2VjcmV0" not in request.headers.get("authorization", "")


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "10.1.2.3", "intranet", "shop.localhost", "wiki.corp.example"])
def test_hosts_that_no_engine_can_reach_are_refused(program: Program, site: WebServer, host: str) -> None:
    """Nobody is asked: the names of the services would be resolved to an address that notes the connection."""
    names = {"api.indexnow.org": "93.184.216.34", "wiki.corp.example": "10.0.0.7", "intranet": "10.0.0.8"}
    connections = give_names(program, names, here=["93.184.216.34", "10.0.0.7"])
    announced = AnnouncedSite(program, site, indexnow_key=[INDEXNOW_KEY])
    announced.publish("/p/a")
    port = announced.host.rpartition(":")[2]
    for column in ("published.url", "runs.sitemap_url", "runs.start_url", "runs.requested_url", "urls.url"):
        table, _, name = column.partition(".")
        announced.change(f"UPDATE {table} SET {name} = replace({name}, '127.0.0.1', ?)", host)
    result = announced.program.run("submit", "--state", "state.sqlite", "--to", "indexnow", "--indexnow-key", "k" * 32)
    assert result.code == 3
    assert f"{host}:{port} is no public host, so no search engine can reach it" in result.last_line
    assert "93.184.216.34" not in connections.read_text()


def test_what_cannot_be_submitted(program: Program, site: WebServer, announced: AnnouncedSite) -> None:
    def failed(*arguments: str) -> tuple[int, str]:
        result = program.run("submit", *arguments)
        return result.code, result.last_line

    code, line = failed("--state", "state.sqlite")
    assert code == 2
    assert all(name in line for name in ("google_credentials", "bing_key", "indexnow_key", "INDEXNOW_KEY"))
    assert failed("--state", "none.sqlite", "--to", "bing")[0] == 2
    code, line = failed("--state", "state.sqlite", "--to", "yahoo")
    assert (code, "google, bing, indexnow" in line) == (2, True)
    assert failed("--state", "state.sqlite", "--to", "bing")[0] == 2
    assert failed("--state", "state.sqlite", "--all", "--rebase", "--to", "bing")[0] == 2
    announced.change("DELETE FROM published")
    code, line = failed("--config", "site.toml")
    assert (code, "no published file" in line) == (3, True)
    announced.change("DELETE FROM runs WHERE outcome IS NOT NULL")
    announced.change(
        "INSERT INTO runs (id, requested_url, start_url, sitemap_url, started) VALUES (9, ?, ?, ?, 1)",
        *(f"{WWW}/", f"{WWW}/", MAP),
    )
    code, line = failed("--config", "site.toml")
    assert (code, "nothing has been published yet" in line) == (3, True)


def test_credentials_come_from_the_environment_too(announced: AnnouncedSite, bing: FakeBing) -> None:
    del announced.options["bing_key"]
    announced.program.variables["BING_WEBMASTER_API_KEY"] = BING_KEY
    assert outcomes(announced.results())["bing"] == "accepted"


def test_a_readable_site_file_with_a_key_gives_one_warning(announced: AnnouncedSite) -> None:
    (announced.write_site_file()).chmod(0o644)
    result = announced.program.run("submit", "--config", "site.toml", "--to", "bing")
    assert (result.code, result.err) == (0, "Warning: other users can read bing_key in site.toml: chmod 600 it\n")


def test_the_key_file_is_written_and_no_other_file_replaced(announced: AnnouncedSite) -> None:
    directory = announced.program.directory / "web"
    directory.mkdir()
    key_file = directory / f"{INDEXNOW_KEY}.txt"
    for _ in range(2):
        assert announced.submit("--write-key", "web").code == 0
        assert key_file.read_text() == f"{INDEXNOW_KEY}\n"
    key_file.unlink()
    for option in ("--dry-run", "--check"):
        result = announced.submit("--write-key", "web", option)
        assert (result.code, result.last_line.startswith("--write-key writes a file, ")) == (2, True)
        assert not key_file.exists()
    key_file.write_text("mine")
    result = announced.submit("--write-key", "web")
    assert (result.code, key_file.read_text()) == (3, "mine")
    result = announced.submit("--write-key", "missing")
    assert (result.code, f"cannot write missing/{INDEXNOW_KEY}.txt" in result.last_line) == (2, True)
