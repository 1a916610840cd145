"""Request headers and logins: the headers of a request, and representations without secrets."""

from __future__ import annotations

from base64 import b64encode

import pytest

from sitemap_crawler.config.credentials import Access
from sitemap_crawler.config.options import Options
from sitemap_crawler.exceptions import OptionError

TOKEN = "tok-8f14e45fceea167a"


def test_representations_of_options_show_no_secrets() -> None:
    options = Options.parse({"start_url": "https://me:hunter2@example.com/", "header": [f"X-Key: {TOKEN}"]})
    assert options.start_url == "https://example.com/"
    for text in (repr(options), str(options), repr(options.access), options.model_dump_json()):
        assert "hunter2" not in text
        assert TOKEN not in text
        assert b64encode(b"me:hunter2").decode() not in text
    with pytest.raises(OptionError):
        Options.parse({"start_url": "https://example.com/", "header": [7]})


@pytest.mark.parametrize(
    ("lines", "auth", "headers", "sent"),
    [
        (["X-A: 1"], None, [("If-None-Match", '"1"')], [("If-None-Match", '"1"'), ("X-A", "1")]),
        (["accept: text/html"], None, [("Accept", "*/*")], [("accept", "text/html")]),
        ([], "ünï:pä", [], [("Authorization", "Basic w7xuw686cMOk")]),
        ([], ":", [], [("Authorization", "Basic Og==")]),
        (["Cookie: a=1; b=2"], None, [("Cookie", "b=3; c=4")], [("Cookie", "a=1; b=3; c=4")]),
    ],
)
def test_given_headers_are_merged_into_a_request(
    lines: list[str], auth: str | None, headers: list[tuple[str, str]], sent: list[tuple[str, str]]
) -> None:
    access = Access.parse(lines, auth)
    assert access is not None
    assert access.merge_into(headers) == sent


def test_without_headers_and_login_there_is_no_access() -> None:
    assert Access.parse([], None) is None
