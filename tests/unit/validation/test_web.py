"""Validation of sitemaps on a web server."""

from __future__ import annotations

import gzip
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.validation.output.text import text_lines
from sitemap_crawler.validation.targets import open_validation, validate
from tests.support.sitemap_documents import (
    E,
    W,
    at,
    index,
    rules,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Answer = tuple[int, dict[str, str], bytes]


@contextmanager
def serving(make: Callable[[str], dict[str, Answer]]) -> Iterator[str]:
    """Serve on the loopback address; `make` gets the URL of the server and returns the answers by path."""
    answers: dict[str, Answer] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = answers.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Silence."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site = f"http://127.0.0.1:{server.server_address[1]}"
        answers.update(make(site))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def ok(body: str | bytes, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return 200, named, body if isinstance(body, bytes) else body.encode()


def test_a_valid_set_on_the_web() -> None:
    def make(site: str) -> dict[str, Answer]:
        return {
            "/docs/sitemap.xml": ok(index(f"{site}/docs/s-1.xml", f"{site}/docs/s-2.xml.gz?v=2")),
            "/docs/s-1.xml": ok(gzip.compress(at(f"{site}/docs/a").encode()), Content_Encoding="gzip"),
            "/docs/s-2.xml.gz?v=2": ok(gzip.compress(at(f"{site}/docs/b").encode())),
        }

    with serving(make) as site:
        report = validate(f"{site}/docs/sitemap.xml#fragment")
    assert report.findings == ()
    assert [(file.name, file.kind, file.urls) for file in report.files] == [
        (f"{site}/docs/sitemap.xml", "sitemapindex", 2),
        (f"{site}/docs/s-1.xml", "urlset", 1),
        (f"{site}/docs/s-2.xml.gz?v=2", "urlset", 1),
    ]


def test_defects_of_a_set_on_the_web() -> None:
    def make(site: str) -> dict[str, Answer]:
        return {
            "/docs/sitemap.xml": ok(
                index(
                    f"{site}/docs/outside.xml",
                    f"{site}/docs/gone.xml",
                    f"{site}/docs/moved.xml",
                    f"{site}/docs/away.xml",
                    f"{site}/docs/index.xml",
                    f"{site}/docs/sitemap.xml",
                    f"{site}/above.xml",
                    f"{site}/docs/brotli.xml",
                    f"{site}/docs/short.xml",
                    f"{site}/docs/chunked.xml",
                    "http://localhost:1/docs/foreign.xml",
                )
            ),
            "/docs/outside.xml": ok(at(f"{site}/blog/a")),
            "/docs/moved.xml": (301, {"Location": "/docs/new.xml"}, b""),
            "/docs/new.xml": ok(at(f"{site}/docs/new")),
            "/docs/away.xml": (302, {"Location": "http://localhost:1/docs/s.xml"}, b""),
            "/docs/index.xml": ok(index(f"{site}/docs/never-fetched.xml")),
            "/above.xml": ok(at(f"{site}/x")),
            "/docs/brotli.xml": ok(b"....", Content_Encoding="br"),
            "/docs/short.xml": ok(at(f"{site}/docs/short"), Content_Length="5000"),
            "/docs/chunked.xml": ok("ffff\r\n<urlset>", Transfer_Encoding="chunked"),
        }

    with serving(make) as site:
        report = validate(f"{site}/docs/sitemap.xml")
    found = {
        (f.severity, f.rule, f.file.removeprefix(site), f.url and f.url.removeprefix(site)) for f in report.findings
    }
    entry = "/docs/sitemap.xml"
    assert found == {
        (E, "outside-directory", "/docs/outside.xml", "/blog/a"),
        (E, "unreachable", "/docs/gone.xml", None),
        (W, "redirected", "/docs/moved.xml", None),
        (E, "unreachable", "/docs/away.xml", None),
        (E, "nested-index", entry, "/docs/index.xml"),
        (E, "index-names-itself", entry, entry),
        (E, "index-child-outside", entry, "/above.xml"),
        (E, "unreachable", "/docs/brotli.xml", None),
        (E, "download-failed", "/docs/short.xml", None),
        (E, "download-failed", "/docs/chunked.xml", None),
        (E, "index-child-foreign", entry, "http://localhost:1/docs/foreign.xml"),
    }


def test_a_redirected_target_is_checked_at_its_final_url() -> None:
    def make(site: str) -> dict[str, Answer]:
        return {
            "/sitemap.xml": (301, {"Location": f"{site}/docs/sitemap.xml"}, b""),
            "/docs/sitemap.xml": ok(at(f"{site}/a")),
        }

    with serving(make) as site:
        report = validate(f"{site}/sitemap.xml")
    assert rules(report) == {(W, "redirected"), (E, "outside-directory")}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((404, {}, b"gone"), "answered 404 Not Found"),
        ((401, {}, b""), "answered 401 Unauthorized: log in with --auth or --header"),
        ((503, {"Retry-After": "10"}, b""), "answered 503"),
        ((204, {}, b""), "answered 204"),
        ((301, {"Location": "ftp://127.0.0.1/sitemap.xml"}, b""), "ftp"),
        ((301, {"Location": "file:///etc/hostname"}, b""), "not http"),
        ((301, {"Location": "/sitemap.xml"}, b""), "redirect"),
    ],
)
def test_an_unreachable_target_is_a_finding(answer: Answer, words: str) -> None:
    with serving(lambda _site: {"/sitemap.xml": answer}) as site:
        report = validate(f"{site}/sitemap.xml")
    (finding,) = report.findings
    assert (finding.rule, finding.file, report.valid) == ("unreachable", f"{site}/sitemap.xml", False)
    assert words in finding.message
    assert "\n" not in finding.message


def test_an_address_without_a_server_is_a_finding() -> None:
    with serving(lambda _site: {}) as site:
        pass
    (finding,) = validate(f"{site}/sitemap.xml").findings
    assert finding.rule == "unreachable"
    assert finding.message == "the sitemap can't be fetched: Connection refused"


def html(_site: str) -> Answer:
    return ok('<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html/>')


def test_the_address_of_a_site_stands_for_the_sitemaps_that_robots_txt_names() -> None:
    def make(site: str) -> dict[str, Answer]:
        return {
            "/shop/": html(site),
            "/robots.txt": ok(f"User-agent: *\nSitemap: {site}/a.xml\nSitemap: {site}/shop/b.xml\nSitemap: c.xml\n"),
            "/a.xml": ok(index(f"{site}/a-1.xml")),
            "/a-1.xml": ok(at(f"{site}/a")),
            "/shop/b.xml": ok(at(f"{site}/shop/#b")),
            "/sitemap.xml": ok(at(f"{site}/never")),
        }

    with serving(make) as site:
        report = validate(f"{site}/shop/")
    assert [file.name.removeprefix(site) for file in report.files] == ["/a.xml", "/a-1.xml", "/shop/b.xml"]
    assert report.to_json()["sites"] == [
        {
            "target": f"{site}/shop/",
            "robots_txt": f"{site}/robots.txt",
            "sitemaps": [f"{site}/a.xml", f"{site}/shop/b.xml"],
        }
    ]
    first, *_ = text_lines(report)
    assert first == f"{site}/shop/ stands for the 2 sitemaps that {site}/robots.txt names"
    assert {(found.rule, found.file.removeprefix(site)) for found in report.findings} == {
        ("loc-fragment", "/shop/b.xml"),
        ("unreachable", "/robots.txt"),
    }


@pytest.mark.parametrize("robots", [None, "User-agent: *\nDisallow: /x\n"])
def test_without_such_lines_it_stands_for_sitemap_xml(robots: str | None) -> None:
    def make(site: str) -> dict[str, Answer]:
        answers = {"/": html(site), "/sitemap.xml": ok(at(f"{site}/a"))}
        return answers if robots is None else {**answers, "/robots.txt": ok(robots)}

    with serving(make) as site:
        report = validate(f"{site}/")
    assert [file.name for file in report.files] == [f"{site}/sitemap.xml"]
    assert report.findings == ()
    assert report.to_json()["sites"] == [
        {"target": f"{site}/", "robots_txt": None, "sitemaps": [f"{site}/sitemap.xml"]}
    ]
    first, *_ = text_lines(report)
    assert first == f"{site}/ stands for {site}/sitemap.xml: the site's robots.txt names no sitemap"


@pytest.mark.parametrize("name", ["sitemap.php", "sitemap", "wp-sitemap.aspx?x=1", "Sitemap_Index.do", "sitemap/"])
@pytest.mark.parametrize("moves", [False, True])
def test_a_page_that_is_named_as_a_sitemap_does_not_stand_for_the_site(name: str, moves: bool) -> None:
    def make(site: str) -> dict[str, Answer]:
        return {
            f"/{name}": (302, {"Location": "/home"}, b"") if moves else html(site),
            "/home": html(site),
            "/robots.txt": ok(f"Sitemap: {site}/public.xml\n"),
            "/public.xml": ok(at(f"{site}/a")),
        }

    with serving(make) as site:
        report = validate(f"{site}/{name}")
    assert (E, "not-a-sitemap") in rules(report)
    assert [file.name for file in report.files] == [f"{site}/{name}"]
    assert report.to_json()["sites"] == []


def test_a_site_without_any_sitemap_is_a_finding() -> None:
    with serving(lambda site: {"/": html(site)}) as site:
        report = validate(f"{site}/")
    assert [(found.rule, found.file) for found in report.findings] == [("unreachable", f"{site}/sitemap.xml")]
    [finding] = report.findings
    assert finding.message == "the sitemap answered 404 Not Found; the site's robots.txt names no sitemap"


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("application/xml", set()),
        ("text/xml; charset=utf-8", set()),
        ("text/plain", set()),
        ("application/rss+xml", set()),
        ("text/html; charset=utf-8", {(W, "content-type")}),
        ("application/json", {(W, "content-type")}),
    ],
)
def test_the_content_type_of_a_sitemap(kind: str, found: set[tuple[str, str]]) -> None:
    with serving(lambda site: {"/map.xml": ok(at(f"{site}/a"), Content_Type=kind)}) as site:
        report = validate(f"{site}/map.xml")
    assert rules(report) == found
    assert all(kind.partition(";")[0] in finding.message for finding in report.findings)


def test_a_sitemap_that_robots_txt_disallows() -> None:
    def make(site: str) -> dict[str, Answer]:
        robots = f"User-agent: *\nDisallow: /maps/\nSitemap: {site}/maps/all.xml\n"
        return {
            "/robots.txt": ok(robots),
            "/maps/all.xml": ok(index(f"{site}/maps/1.xml")),
            "/maps/1.xml": ok(at(f"{site}/maps/a")),
        }

    with serving(make) as site:
        report = validate(f"{site}/maps/all.xml")
    assert [(finding.rule, finding.file) for finding in report.findings] == [
        ("sitemap-disallowed", f"{site}/maps/all.xml"), ("sitemap-disallowed", f"{site}/maps/1.xml"),
    ]  # fmt: skip
    assert report.findings[0].message.endswith("Disallow: /maps/ (line 2, User-agent: *)")


@pytest.mark.parametrize(
    ("target", "line", "message"),
    [
        ("one.xml", "", "robots.txt does not name the sitemap or any other"),
        ("one.xml", "Sitemap: {site}/one.xml", None),
        # An index that is named may list this one.
        ("one.xml", "Sitemap: {site}/other.xml", None),
        ("all.xml", "Sitemap: {site}/other.xml", "robots.txt does not name the sitemap; it names {site}/other.xml"),
    ],
)
def test_a_sitemap_that_robots_txt_does_not_name(target: str, line: str, message: str | None) -> None:
    def make(site: str) -> dict[str, Answer]:
        return {
            "/robots.txt": ok(f"User-agent: *\nDisallow:\n{line.format(site=site)}\n"),
            "/one.xml": ok(at(f"{site}/a")),
            "/all.xml": ok(index(f"{site}/one.xml")),
        }

    with serving(make) as site:
        report = validate(f"{site}/{target}")
    expected = [] if message is None else [("sitemap-unnamed", message.format(site=site))]
    assert [(finding.rule, finding.message) for finding in report.findings] == expected


def test_without_robots_txt_nothing_is_said_of_it() -> None:
    with serving(lambda site: {"/map.xml": ok(at(f"{site}/a"))}) as site:
        assert validate(f"{site}/map.xml").findings == ()


def test_a_login_page_in_place_of_a_sitemap_does_not_stand_for_the_site() -> None:
    def make(site: str) -> dict[str, Answer]:
        return {
            "/secret.xml": (302, {"Location": "/login"}, b""),
            "/login": html(site),
            "/robots.txt": ok(f"Sitemap: {site}/public.xml\n"),
            "/public.xml": ok(at(f"{site}/a")),
        }

    with serving(make) as site:
        report = validate(f"{site}/secret.xml")
    assert rules(report) == {(W, "redirected"), (E, "not-a-sitemap")}


def test_a_page_that_redirects_is_no_sitemap_that_has_moved() -> None:
    def make(site: str) -> dict[str, Answer]:
        return {
            "/admin": (302, {"Location": "/login"}, b""),
            "/login": html(site),
            "/sitemap.xml": ok(at(f"{site}/a")),
        }

    with serving(make) as site:
        report = validate(f"{site}/admin")
    assert report.findings == ()
    assert [file.name for file in report.files] == [f"{site}/sitemap.xml"]


def test_the_listed_urls_can_be_read_after_the_check() -> None:
    def make(site: str) -> dict[str, Answer]:
        dated = at(f"{site}/b").replace("</loc>", "</loc><lastmod>2024-01-02</lastmod>")
        return {
            "/sitemap.xml": ok(index(f"{site}/s-1.xml", f"{site}/s-2.xml.gz")),
            "/s-1.xml": ok(at(f"{site}/a")),
            "/s-2.xml.gz": ok(gzip.compress(dated.encode())),
        }

    with serving(make) as site, open_validation([f"{site}/sitemap.xml"]) as validation:
        for _ in range(2):
            assert list(validation.listed_urls()) == [
                (f"{site}/s-1.xml", 3, f"{site}/a", None),
                (f"{site}/s-2.xml.gz", 3, f"{site}/b", "2024-01-02"),
            ]


def test_sitemaps_beyond_the_time_of_a_validation_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitemap_crawler.validation.reading.remote.MAX_SECONDS", -1)
    with serving(lambda site: {"/sitemap.xml": ok(index(f"{site}/s-1.xml"))}) as site:
        [finding] = validate(f"{site}/sitemap.xml").findings
    assert (finding.severity, finding.rule) == (E, "not-checked")
    assert f"{site}/s-1.xml" in finding.message


@pytest.mark.parametrize("compressed", [False, True])
def test_a_content_encoding_that_is_not_there_is_named(compressed: bool) -> None:
    def make(site: str) -> dict[str, Answer]:
        body = at(f"{site}/a").encode()
        return {"/sitemap.xml": ok(gzip.compress(body) if compressed else body, Content_Encoding="gzip")}

    with serving(make) as site:
        report = validate(f"{site}/sitemap.xml")
    assert [found.rule for found in report.findings] == ([] if compressed else ["false-encoding"])
    assert report.valid == compressed


def test_a_sitemap_that_is_compressed_twice_is_named() -> None:
    def make(site: str) -> dict[str, Answer]:
        return {
            "/sitemap.xml": ok(gzip.compress(gzip.compress(at(f"{site}/a").encode())), Content_Encoding="gzip"),
            "/robots.txt": ok(f"Sitemap: {site}/sitemap.xml\n"),
        }

    with serving(make) as site:
        (found,) = validate(f"{site}/sitemap.xml").findings
    assert found.rule == "gzip-name"
    assert found.message.endswith(": it is compressed twice, as the server sends it with Content-Encoding: gzip")


def test_a_gz_address_may_be_sent_with_the_content_encoding_gzip_and_may_not_be_plain() -> None:
    """Servers that take .gz for a content encoding send what the file contains."""

    def make(site: str) -> dict[str, Answer]:
        return {
            "/sitemap.xml": ok(index(f"{site}/encoded.xml.gz", f"{site}/plain.xml.gz")),
            "/encoded.xml.gz": ok(gzip.compress(at(f"{site}/a").encode()), Content_Encoding="gzip"),
            "/plain.xml.gz": ok(at(f"{site}/b")),
        }

    with serving(make) as site:
        report = validate(f"{site}/sitemap.xml")
    assert [(found.rule, found.file.removeprefix(site)) for found in report.findings] == [("not-gzip", "/plain.xml.gz")]
