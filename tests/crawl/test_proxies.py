"""Proxies named by the standard variables: plain requests, tunnels, and messages of failures."""

from __future__ import annotations

import socket
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.support.names import give_names
from tests.support.proxy_server import ProxyServer
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.program import Program

pytestmark = pytest.mark.slow

LOGIN = "Basic " + b64encode(b"agent:s3cr:et").decode()
CLEAN = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "no_proxy"), "")
"""Overrides the proxies of the environment in which the tests run."""


@pytest.fixture
def proxy() -> Iterator[ProxyServer]:
    server = ProxyServer()
    yield server
    server.close()


@pytest.fixture
def program(program: Program) -> Program:
    program.variables.update(CLEAN)
    return program


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])
def test_requests_go_through_the_proxy(program: Program, site: WebServer, proxy: ProxyServer, variable: str) -> None:
    site.pages.update({"/robots.txt": "", "/": page("/a"), "/a": page()})
    del program.variables[variable.lower()]
    program.variables[variable] = f"http://{proxy.address}"
    if variable.lower() == "all_proxy":
        del program.variables["http_proxy"]
    result = program.crawl(site.url())
    assert result.listed() == [site.url("/"), site.url("/a")]
    assert [target for _, target, _ in proxy.asked] == [site.url(path) for path in ("/robots.txt", "/", "/a")]
    assert len(site.requests) == 3


@pytest.mark.parametrize("exempt", ["127.0.0.1", "example.com, 127.0.0.1:{port}", "*"])
def test_no_proxy(program: Program, site: WebServer, proxy: ProxyServer, exempt: str) -> None:
    site.pages["/"] = page()
    program.variables.update(http_proxy=proxy.address, no_proxy=exempt.format(port=site.port))
    assert program.crawl(site.url()).code == 0
    assert proxy.asked == []


def test_a_proxy_with_a_login(program: Program, site: WebServer) -> None:
    proxy = ProxyServer(LOGIN)
    answers = [Answer(status=500), Answer(page("/a"))]
    site.pages.update({"/": lambda _: answers.pop(0), "/a": page()})
    program.variables["http_proxy"] = f"agent:s3cr%3Aet@{proxy.address}"
    result = program.crawl(site.url(), "-v", "-v", "--auth", "me:hunter2")
    proxy.close()
    # A retry has it, too, and the site does not see it.
    assert result.listed() == [site.url("/"), site.url("/a")]
    assert all("proxy-authorization" not in request.headers for request in site.requests)
    files = b"".join(path.read_bytes() for path in program.directory.rglob("*") if path.is_file())
    for text in (files.decode("latin-1"), result.out, result.err):
        assert "s3cr" not in text
        assert LOGIN.split()[1] not in text


def test_https_goes_through_a_tunnel(program: Program, secure_site: str) -> None:
    proxy = ProxyServer(LOGIN)
    program.variables["https_proxy"] = f"http://agent:s3cr%3Aet@{proxy.address}"
    result = program.crawl(secure_site, "-s", "DOWNLOAD_VERIFY_CERTIFICATES=0", "--auth", "me:hunter2")
    proxy.close()
    assert result.listed() == [secure_site, f"{secure_site}a"]
    assert {(method, target) for method, target, _ in proxy.asked} == {("CONNECT", urlsplit(secure_site).netloc)}
    # The proxy gets its own login and not the site's.
    assert {headers.get("proxy-authorization") for *_, headers in proxy.asked} == {LOGIN}
    assert all("authorization" not in headers for *_, headers in proxy.asked)


def closed_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


@pytest.mark.parametrize("robots", ["ROBOTSTXT_OBEY=1", "ROBOTSTXT_OBEY=0"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_is_not_there(program: Program, scheme: str, robots: str) -> None:
    port = closed_port()
    program.variables[f"{scheme}_proxy"] = f"http://agent:s3cret@127.0.0.1:{port}"
    result = program.crawl(f"{scheme}://127.0.0.1/", "-s", "RETRY_TIMES=0", "-s", robots, "-v", "-v")
    assert result.code == 3
    assert f"no connection to the proxy http://127.0.0.1:{port}: connection refused" in result.last_line
    assert "s3cret" not in result.err + result.out


def test_a_proxy_whose_name_is_unknown(program: Program) -> None:
    give_names(program, {"proxy.corp": socket.EAI_NONAME})
    program.variables["http_proxy"] = "http://proxy.corp:3128"
    result = program.crawl("http://127.0.0.1/", "-s", "RETRY_TIMES=0")
    assert result.code == 3
    assert "the name of the proxy http://proxy.corp:3128 can't be resolved: there is no such host" in result.last_line


@pytest.mark.parametrize(
    ("scheme", "words"),
    [
        ("http", ["status 407", "the proxy asks for a login", "http_proxy"]),
        ("https", ["the proxy http://127.0.0.1:", "answers 407"]),
    ],
)
def test_a_proxy_that_wants_another_login(program: Program, scheme: str, words: list[str]) -> None:
    proxy = ProxyServer(LOGIN)
    program.variables[f"{scheme}_proxy"] = f"http://agent:wr0ng@{proxy.address}"
    result = program.crawl(f"{scheme}://127.0.0.1/", "-s", "RETRY_TIMES=0")
    proxy.close()
    assert result.code == 3
    assert all(word in result.last_line for word in words), result.last_line
    assert "wr0ng" not in result.err


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("http_proxy", "socks5://me:hunter2@127.0.0.1:1080", ["http_proxy", "SOCKS"]),
        ("https_proxy", "socks5h://127.0.0.1:1080", ["https_proxy", "SOCKS"]),
        ("ALL_PROXY", "socks4://127.0.0.1:1080", ["ALL_PROXY", "SOCKS"]),
        ("https_proxy", "https://127.0.0.1:1080", ["https_proxy", "give an http proxy"]),
        ("http_proxy", "http://me:hunter2@127.0.0.1:port", ["http_proxy", "http://HOST:PORT"]),
        ("http_proxy", "http://:3128", ["http_proxy", "http://HOST:PORT"]),
    ],
)
def test_a_variable_that_names_no_usable_proxy(program: Program, variable: str, value: str, words: list[str]) -> None:
    program.variables = {name: text for name, text in program.variables.items() if text}
    program.variables[variable] = value
    result = program.run("crawl", "https://example.com/")
    assert result.code == 2
    assert all(word in result.last_line for word in words)
    assert "hunter2" not in result.err


def test_an_international_name_through_a_proxy(program: Program, site: WebServer, proxy: ProxyServer) -> None:
    site.pages.update({"/": page("/straße"), "/stra%C3%9Fe": page()})
    program.variables["http_proxy"] = proxy.address
    host = f"xn--bcher-kva.example:{site.port}"
    result = program.crawl(f"http://Bücher.example:{site.port}/")
    assert result.listed() == [f"http://{host}/", f"http://{host}/stra%C3%9Fe"]
    assert {headers["host"] for *_, headers in proxy.asked} == {host}
