"""The sites that need a browser are what their truths say, as far as that shows without one."""

from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING

import pytest

from tests.sites.rendered.frameworks import panels, script_menu, static_export
from tests.sites.rendered.shop import BUILT as BUILT_AT
from tests.sites.rendered.shop import shop
from tests.support.rendered_crawl import render, serving
from tests.support.rendered_site import BUILT, data
from tests.support.webserver import LoggedRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sites.rendered.truth import Site
    from tests.support.program import Program

MAX_BYTES = 500_000


def request(path: str, **headers: str) -> LoggedRequest:
    return LoggedRequest("GET", path, {name.replace("_", "-"): value for name, value in headers.items()}, 0.0)


def test_the_built_sites_are_small_and_have_the_licences_of_their_code() -> None:
    archives = sorted(BUILT.glob("*.tar.xz"))
    assert [path.name.partition(".")[0] for path in archives] == ["export", "hash", "libraries", "panels", "shop"]
    assert sum(path.stat().st_size for path in archives) < MAX_BYTES
    for path in archives:
        with tarfile.open(path) as archive:
            licences = archive.extractfile("LICENSES.txt")
            assert licences is not None
            assert b"Permission" in licences.read()


def test_a_complete_export_needs_no_browser(program: Program) -> None:
    site = static_export()
    with serving(site) as server:
        outcome = render(program, site, server, mode="never")
    assert outcome.mistakes() == []
    assert outcome.rudeness() == []


@pytest.mark.parametrize("make", [shop, panels, script_menu])
def test_the_others_need_one(program: Program, make: Callable[[], Site]) -> None:
    site = make()
    with serving(site) as server:
        outcome = render(program, site, server, mode="never")
    assert outcome.precision == 1.0
    assert len(outcome.listed) <= 2


def test_every_address_of_the_shop_has_the_same_shell_with_the_date_of_the_build() -> None:
    site = shop()
    with serving(site) as server:
        answers = [server.respond(request(path)) for path in ("/", "/p/1", "/no/such/address?page=2")]
        assert [(answer.status, answer.body == answers[0].body) for answer in answers] == [(200, True)] * 3
        headers = dict(answers[0].header_pairs())
        assert headers["Last-Modified"] == f"{BUILT_AT:%a, %d %b %Y %H:%M:%S} GMT"
        assert server.respond(request("/p/1", if_none_match=headers["ETag"])).status == 304
        assert server.respond(request("/p/1", if_modified_since=headers["Last-Modified"])).status == 304
        assert server.respond(request("/p/1", if_none_match='"other"')).status == 200
        assert server.respond(request("/assets/missing.js")).status == 404


def test_data_have_another_tag_when_they_have_changed() -> None:
    before, after = data({"a": 1}), data({"a": 2})
    tag = dict(before(request("/a.json")).header_pairs())["ETag"]
    assert before(request("/a.json", if_none_match=tag)).status == 304
    assert after(request("/a.json", if_none_match=tag)).status == 200
