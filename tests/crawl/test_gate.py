"""Whom a crawl talks to: a hostile site names other hosts and ports, in `Sitemap:` lines, redirects and indexes."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.names import give_names
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.program import Program, Result

pytestmark = pytest.mark.slow

PUBLIC, OTHER_PUBLIC = "93.184.216.34", "93.184.216.35"
"""Public addresses. The connections of the program under test to them go to the servers here."""


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer({"/": page("/linked"), "/linked": page(), "/hidden": page()}) as server:
        yield server


@pytest.fixture
def victim() -> Iterator[WebServer]:
    with WebServer({"/": page(), "/map.xml": "<urlset></urlset>"}) as server:
        yield server


def warnings(result: Result) -> dict[str, str]:
    found: list[dict[str, Any]] = result.report["warnings"]
    return {warning["url"]: warning["message"] for warning in found if warning["kind"] == "seed-sitemap"}


def sitemap_lines(*urls: str) -> Answer:
    return Answer("".join(f"Sitemap: {url}\n" for url in urls), content_type="text/plain")


def index(*urls: str) -> Answer:
    locs = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return Answer(f"<sitemapindex>{locs}</sitemapindex>", content_type="application/xml")


def urlset(*urls: str) -> Answer:
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return Answer(f'<urlset xmlns="{namespace}">{entries}</urlset>', content_type="application/xml")


def moved(target: str) -> Answer:
    return Answer(status=302, headers={"Location": target})


def test_foreign_ports_are_not_asked(program: Program, site: WebServer) -> None:
    with ExitStack() as stack:
        victims = [stack.enter_context(WebServer()) for _ in range(9)]
        lines, hops, children = victims[:3], victims[3:6], victims[6:]
        site.pages.update({f"/hop-{number}.xml": moved(hop.url("/b.xml")) for number, hop in enumerate(hops)})
        own = [site.url(f"/hop-{number}.xml") for number in range(3)]
        site.pages["/robots.txt"] = sitemap_lines(*(line.url("/a.xml") for line in lines), *own, "/index.xml")
        site.pages["/index.xml"] = index(*(child.url("/c.xml") for child in children))
        result = program.crawl(site.url())
        assert [victim.paths() for victim in victims] == [[]] * 9
        assert result.code == 0
        named = dict.fromkeys((line.url("/a.xml") for line in lines), site.url("/robots.txt"))
        named |= dict.fromkeys(own, site.url("/robots.txt"))
        named |= dict.fromkeys((child.url("/c.xml") for child in children), site.url("/index.xml"))
        assert warnings(result).keys() == named.keys()
        for url, message in warnings(result).items():
            assert "is not requested: " in message
            assert f"another site than {site.url('')}" in message
            assert message.endswith(f"; correct or remove it in {named[url]}")


def test_a_robots_txt_that_redirects_to_another_port_is_not_available(
    program: Program, site: WebServer, victim: WebServer
) -> None:
    site.pages["/robots.txt"] = moved(victim.url("/robots.txt"))
    result = program.crawl(site.url())
    assert (result.code, victim.paths()) == (3, [])
    assert f"{victim.url('')} is another site than {site.url('')}" in result.last_line


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "0177.1",
        "0x7f000001",
        "2130706433",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "0.0.0.0",
        "localhost.",
        "inside.example.com",
        "inside.example.org",
    ],
)
def test_a_public_site_leads_to_no_address_that_is_not_public(
    program: Program, site: WebServer, victim: WebServer, host: str
) -> None:
    names = {"www.example.com": PUBLIC, "inside.example.com": "127.0.0.1", "inside.example.org": "127.0.0.1"}
    connections = give_names(program, names, here=[PUBLIC])
    target = f"http://{host}:{victim.port}/map.xml"
    site.pages["/robots.txt"] = sitemap_lines(target, "/hop.xml", "/index.xml")
    site.pages["/hop.xml"] = moved(target.replace("map", "hopped"))
    site.pages["/index.xml"] = index(target.replace("map", "child"))
    result = program.crawl(f"http://www.example.com:{site.port}/")
    assert result.code == 0, result.err
    assert victim.paths() == []
    assert {line.split()[0] for line in connections.read_text().splitlines()} == {PUBLIC}
    assert len(warnings(result)) == 3
    assert all("is not requested: " in message for message in warnings(result).values())


def test_other_hosts_of_the_domain_and_public_hosts_of_robots_txt_are_asked(program: Program, site: WebServer) -> None:
    names = {"www.example.com": PUBLIC, "maps.example.com": PUBLIC, "cdn.example.org": OTHER_PUBLIC}
    give_names(program, {**names, "third.example.net": OTHER_PUBLIC}, here=[PUBLIC, OTHER_PUBLIC])
    root = f"http://www.example.com:{site.port}/"
    urls = [
        f"http://{host}:{site.port}/{name}.txt" for host, name in (("maps.example.com", "a"), ("cdn.example.org", "b"))
    ]
    site.pages["/robots.txt"] = sitemap_lines(*urls, "/index.xml")
    # An index names hosts of the site's domain and those of robots.txt, and no others.
    third = f"http://third.example.net:{site.port}/d.txt"
    site.pages["/index.xml"] = index(f"http://cdn.example.org:{site.port}/c.txt", third)
    site.pages.update({f"/{name}.txt": f"{root}{name}" for name in "abcd"} | {f"/{name}": page() for name in "abcd"})
    result = program.crawl(root)
    assert result.listed() == [root, *(f"{root}{name}" for name in "abc"), f"{root}linked"]
    assert warnings(result).keys() == {third}


def test_a_site_on_a_private_address_names_no_public_host(program: Program, site: WebServer) -> None:
    connections = give_names(program, {"wiki.corp": "127.0.0.1", "cdn.example.org": PUBLIC}, here=[PUBLIC])
    site.pages["/robots.txt"] = sitemap_lines(f"http://cdn.example.org:{site.port}/a.txt", "/b.txt")
    site.pages["/b.txt"] = f"http://wiki.corp:{site.port}/hidden"
    result = program.crawl(f"http://wiki.corp:{site.port}/")
    assert f"http://wiki.corp:{site.port}/hidden" in result.listed()
    assert {line.split()[0] for line in connections.read_text().splitlines()} == {"127.0.0.1"}
    [message] = warnings(result).values()
    assert f"is another site than http://wiki.corp:{site.port}, which has no public address" in message


def test_a_name_that_becomes_private_during_the_crawl_is_not_connected_to(program: Program, site: WebServer) -> None:
    connections = give_names(program, {"www.example.com": [PUBLIC, "127.0.0.1"]}, here=[PUBLIC])
    result = program.crawl(f"http://www.example.com:{site.port}/", "-s", "RETRY_TIMES=0")
    assert result.code == 3
    assert f"http://www.example.com:{site.port} has the address 127.0.0.1, which is not public" in result.last_line
    assert not connections.exists()
    assert site.paths() == []


def test_a_public_site_that_becomes_a_private_one_is_told_once(program: Program, site: WebServer) -> None:
    give_names(program, {"www.example.com": PUBLIC}, here=[PUBLIC])
    names = program.directory / "names" / "names.json"
    told: list[list[tuple[str, str]]] = []
    for address in (PUBLIC, PUBLIC, "127.0.0.1", "127.0.0.1", PUBLIC):
        names.write_text(json.dumps({"www.example.com": address}))
        result = program.crawl(f"http://www.example.com:{site.port}/")
        assert (result.code, len(result.listed())) == (0, 2), result.err
        told.append([(warning["kind"], warning["message"]) for warning in result.report["warnings"]])
    message = "www.example.com had a public address in the run before, and has none now: this may be another site"
    assert told == [[], [], [("address", message)], [], []]


def test_a_sitemap_that_the_user_names_may_be_anywhere(program: Program, site: WebServer, victim: WebServer) -> None:
    give_names(program, {"www.example.com": PUBLIC}, here=[PUBLIC])
    root = f"http://www.example.com:{site.port}/"
    victim.pages["/map.txt"] = f"{root}hidden"
    result = program.crawl(root, "--seed-sitemap", victim.url("/map.txt"))
    assert result.listed() == [root, f"{root}hidden", f"{root}linked"]


def test_the_validation_of_a_public_target_leads_to_no_private_address(
    program: Program, site: WebServer, victim: WebServer
) -> None:
    names: dict[str, str | list[str]] = {"www.example.com": PUBLIC, "inside.example.com": "127.0.0.1"}
    connections = give_names(program, names | {"turn.example.com": [PUBLIC, "127.0.0.1"]}, here=[PUBLIC])
    for host in ("127.0.0.1", "0x7f.1", "[::ffff:127.0.0.1]", "inside.example.com"):
        site.pages["/sitemap.xml"] = moved(f"http://{host}:{victim.port}/map.xml")
        result = program.run("validate", f"http://www.example.com:{site.port}/sitemap.xml")
        assert result.code == 1
        assert "not public" in result.out or "port" in result.out
    assert victim.paths() == []
    # Its children are not read when the name has changed its address by then.
    root = f"http://turn.example.com:{site.port}"
    site.pages["/sitemap.xml"] = index(f"{root}/child.xml")
    result = program.run("validate", f"{root}/sitemap.xml")
    assert f"{root} has the address 127.0.0.1, which is not public" in result.out
    assert "/child.xml" not in site.paths()
    assert {line.split()[0] for line in connections.read_text().splitlines()} == {PUBLIC}


def test_the_validation_of_a_private_target_stays_at_its_host(
    program: Program, site: WebServer, victim: WebServer
) -> None:
    site.pages["/sitemap.xml"] = moved(victim.url("/map.xml"))
    result = program.run("validate", site.url("/sitemap.xml"))
    assert (result.code, victim.paths()) == (1, [])
    assert f"{victim.url('')} is another site than {site.url('')}, which has no public address" in result.out


def test_listed_urls_that_are_checked_lead_a_public_target_to_no_private_address(
    program: Program, site: WebServer, victim: WebServer
) -> None:
    names = {"www.example.com": PUBLIC, "inside.example.com": "127.0.0.1", "inside.example.org": "127.0.0.1"}
    connections = give_names(program, names | {"shop.example.org": OTHER_PUBLIC}, here=[PUBLIC, OTHER_PUBLIC])
    hosts = ("127.0.0.1", "0x7f.1", "[::1]", "localhost", "inside.example.com", "inside.example.org")
    root, other = f"http://www.example.com:{site.port}/", f"http://shop.example.org:{site.port}/linked"
    locs = [*(f"http://{host}:{victim.port}/secret" for host in hosts), root, other]
    site.pages["/sitemap.xml"] = urlset(*locs)
    result = program.run("validate", f"{root}sitemap.xml", "--check-urls", "--check-media", "--json")
    assert victim.paths() == []
    assert {line.split()[0] for line in connections.read_text().splitlines()} == {PUBLIC, OTHER_PUBLIC}
    assert json.loads(result.out)["statistics"]["checked_urls"] == 2
    assert {"/", "/linked"} <= set(site.paths())


def test_listed_urls_that_are_checked_lead_a_private_target_to_no_other_private_host(
    program: Program, site: WebServer, victim: WebServer
) -> None:
    site.pages["/sitemap.xml"] = urlset(site.url("/linked"), victim.url("/"))
    result = program.run("validate", site.url("/sitemap.xml"), "--check-urls", "--check-media", "--json")
    assert (result.code, victim.paths()) == (1, [])
    assert json.loads(result.out)["statistics"]["checked_urls"] == 1
    assert "is not public" in result.out
    # The user's own file may list anything.
    (program.directory / "map.txt").write_text(f"{site.url('/linked')}\n{victim.url('/')}\n")
    result = program.run("validate", "map.txt", "--check-urls", "--json")
    assert "/" in victim.paths()
    assert json.loads(result.out)["statistics"]["checked_urls"] == 2
