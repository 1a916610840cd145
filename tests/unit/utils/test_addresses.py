"""The gate: classes of addresses, and the hosts that a request may go to."""

from __future__ import annotations

import ast

import pytest

from sitemap_crawler.exceptions import AddressError
from sitemap_crawler.urls.scope import registrable_domain
from sitemap_crawler.utils.addresses import (
    MAX_NAMED_HOSTS,
    MAX_RESOURCE_HOSTS,
    Gate,
    is_local,
    is_loopback,
    is_public,
    literal_address,
)
from tests.support.paths import ROOT

PACKAGE = ROOT / "sitemap_crawler"
SITE = "https://www.example.com"
NETWORK_MODULES = {
    "aiohttp", "asyncio.streams", "ftplib", "http.client", "httpx", "poplib", "requests", "smtplib", "socket", "ssl",
    "telnetlib", "urllib.request", "urllib3",
}  # fmt: skip
NETWORK_CALLS = {
    "ClientSession", "HTTPConnection", "HTTPSConnection", "TCPConnector", "connect", "create_connection",
    "create_datagram_endpoint", "open_connection", "sock_connect", "urlopen", "urlretrieve", "Connections",
}  # fmt: skip
MAY_IMPORT = {
    "crawl/download/connections.py": {"aiohttp"},
    "crawl/download/errors.py": {"socket", "ssl"},
    "crawl/download/handler.py": {"aiohttp", "socket", "ssl"},
    "crawl/download/tls.py": {"ssl"},
    # The services of search engines: the user chooses them, and a crawled site has no say in it.
    "search_engines/http_client.py": {"requests"},
    "search_engines/session.py": {"requests", "ssl"},
    "utils/workers/process.py": {"socket"},
    "inventory/server_owner.py": {"socket"},
    "inventory/store.py": {"socket"},
    "search_engines/site_client.py": {"http.client", "ssl", "urllib.request"},
    "utils/addresses.py": {"socket"},
    "utils/authorities.py": {"ssl"},
    "utils/gated_http.py": {"http.client", "socket", "ssl", "urllib.request"},
    "validation/reading/remote.py": {"http.client", "urllib.request"},
}
MAY_CALL = {
    "crawl/download/handler.py": {"ClientSession", "Connections", "connect"},
    "utils/gated_http.py": {"connect"},
}
"""Calls that open connections. A signal and a database have a method `connect`, too: those are left out."""


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("shop.localhost", True),
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("[::1]", True),
        ("localhost.example.com", False),
        ("127.example.com", False),
        ("128.0.0.1", False),
        ("10.0.0.1", False),
        ("[::2]", False),
        ("www.example.com", False),
        ("", False),
    ],
)
def test_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True), ("a.localhost", True), ("127.0.0.1", True), ("0x7f.1", True), ("[::1]", True),
        ("192.168.1.9", True), ("10.0.0.1", True), ("printer.local", True), ("wiki.corp.internal.", True),
        ("intranet", True), ("nas.home.arpa", True), ("router.LAN", True), ("shop.test", True),
        ("example.com", False), ("local.example.com", False), ("8.8.8.8", False), ("[2606:4700::1111]", False),
        ("test.de", False), ("xn--bcher-kva.example.", False),
    ],
)  # fmt: skip
def test_hosts_of_local_networks(host: str, *, local: bool) -> None:
    assert is_local(host) is local


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("::ffff:93.184.216.34", True),
        ("64:ff9b::5db8:d822", True),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("100.100.100.200", False),
        ("168.63.129.16", False),
        ("192.0.0.192", False),
        ("192.0.2.1", False),
        ("198.18.0.1", False),
        ("224.0.0.1", False),
        ("239.1.2.3", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        ("::127.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("64:ff9b:1::1", False),
        ("2002:a00:1::1", False),
        ("2001:db8::1", False),
        ("2001::1", False),
        ("fe80::1", False),
        ("fe80::1%eth0", False),
        ("fd00:ec2::254", False),
        ("fec0::1", False),
        ("ff02::1", False),
        ("4000::1", False),
    ],
)
def test_public_addresses(address: str, public: bool) -> None:
    assert is_public(address) is public


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0X7F000001", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[::ffff:7f00:1]", "::ffff:7f00:1"),
        ("fa.de", None),
        ("1.2.3.4.5", None),
        ("www.example.com", None),
        ("", None),
    ],
)
def test_hosts_that_are_addresses(host: str, address: str | None) -> None:
    assert literal_address(host) == address


def gate(site: str = SITE, *, addresses: tuple[str, ...] = ("93.184.216.34",), given: tuple[str, ...] = ()) -> Gate:
    made = Gate(site, given=given, domain_of=registrable_domain)
    made.passage(site).root.learn(addresses)
    return made


@pytest.mark.parametrize(
    ("site", "origin", "passes"),
    [
        (SITE, SITE, True),
        (SITE, "http://www.example.com", True),
        (SITE, "https://cdn.example.com", True),
        (SITE, "http://example.com", True),
        (SITE, "https://www.example.com:8443", False),
        (SITE, "https://cdn.example.com:22", False),
        (SITE, "https://example.org", False),
        (SITE, "https://example.com.evil.org", False),
        (SITE, "http://127.0.0.1", False),
        ("https://www.example.com:8443", "https://cdn.example.com:8443", True),
        ("https://www.example.com:8443", "https://cdn.example.com", True),
        ("https://a.github.io", "https://b.github.io", False),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000", True),
        ("http://127.0.0.1:8000", "https://127.0.0.1:8000", True),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8001", False),
        ("http://127.0.0.1:8000", "http://127.0.0.1", False),
        ("http://127.0.0.1:8000", "http://localhost:8000", False),
        ("http://intranet", "https://intranet", True),
        ("http://intranet", "http://intranet:8080", False),
        ("http://[::1]:8000", "http://[::1]:8000", True),
    ],
)
def test_hosts_of_a_site(site: str, origin: str, passes: bool) -> None:
    made = gate(site)
    if passes:
        assert made.passage(origin).origin == origin
    else:
        with pytest.raises(AddressError):
            made.passage(origin)


def test_a_public_site_and_a_private_one() -> None:
    public, private = gate(), gate(addresses=("10.0.0.5",))
    for made in (public, private):
        made.passage("https://cdn.example.com").check("93.184.216.34")
        made.name("https://cdn.example.org")
    private.passage("https://cdn.example.com").check("10.0.0.6")
    with pytest.raises(AddressError, match=r"cdn\.example\.com has the address 10\.0\.0\.6, which is not public"):
        public.passage("https://cdn.example.com").check("10.0.0.6")
    public.passage("https://cdn.example.org").check("93.184.216.35")
    with pytest.raises(AddressError, match="not public"):
        public.passage("https://cdn.example.org").check("::ffff:169.254.169.254")
    with pytest.raises(AddressError, match="which has no public address"):
        private.passage("https://cdn.example.org")


def test_a_site_with_addresses_of_both_kinds_is_public_and_stays_so() -> None:
    made = gate(addresses=("127.0.0.1", "93.184.216.34"))
    made.passage(SITE).root.learn(["127.0.0.1"])
    made.passage(SITE).check("93.184.216.34")
    with pytest.raises(AddressError):
        made.passage(SITE).check("127.0.0.1")


def test_hosts_that_the_user_gives() -> None:
    made = gate(given=("http://127.0.0.1:9000", "https://files.example.org"))
    made.passage("http://127.0.0.1:9000").check("127.0.0.1")
    made.passage("http://files.example.org").root.learn(["93.184.216.35"])
    # Its publicness is its own.
    with pytest.raises(AddressError):
        made.passage("https://files.example.org").check("10.0.0.1")
    with pytest.raises(AddressError):
        made.passage("http://127.0.0.1:9001")


def test_the_number_of_named_hosts_is_bounded() -> None:
    made = gate()
    for number in range(MAX_NAMED_HOSTS + 1):
        made.name(f"https://host-{number}.org")
    made.passage(f"https://host-{MAX_NAMED_HOSTS - 1}.org")
    with pytest.raises(AddressError):
        made.passage(f"https://host-{MAX_NAMED_HOSTS}.org")


def test_nothing_opens_a_connection_but_the_two_clients_of_the_gate() -> None:
    imports: dict[str, set[str]] = {}
    calls: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                is_other = "signals" in ast.unparse(node.func) or (
                    called == "connect" and name.startswith("inventory/")
                )
                if called in NETWORK_CALLS and not is_other:
                    calls.setdefault(name, set()).add(called)
                if called == "TCPConnector":
                    assert "socket_factory" in [keyword.arg for keyword in node.keywords]
                continue
            else:
                continue
            if found := names & NETWORK_MODULES:
                imports.setdefault(name, set()).update(found)
    assert imports == MAY_IMPORT
    assert calls == MAY_CALL


@pytest.mark.parametrize(
    "origin",
    [
        "https://cdn.example.net",
        "http://cdn.example.net",
        "https://8.8.8.8",
        "https://[2606:4700:4700::1111]",
    ],
)
def test_a_page_may_need_something_from_a_public_host(origin: str) -> None:
    gate = Gate(SITE, domain_of=registrable_domain)
    with pytest.raises(AddressError):
        gate.passage(origin)
    gate.name_resource_host(origin)
    passage = gate.passage(origin)
    assert gate.is_resource_host(origin)
    passage.check("8.8.8.8")
    # Whatever the name resolves to at the moment of a connection, also when it was public a moment ago.
    for address in ("127.0.0.1", "10.0.0.1", "::1", "169.254.169.254", "fd00::1", "::ffff:192.168.0.1"):
        passage.root.learn(["8.8.8.8"])
        with pytest.raises(AddressError, match=r"www\.example\.com, which names it"):
            passage.check(address)


@pytest.mark.parametrize(
    "origin", ["http://127.0.0.1", "http://localhost", "https://10.0.0.1", "http://[::1]", "http://0x7f.1"]
)
def test_a_page_may_need_nothing_from_a_host_written_as_a_private_address(origin: str) -> None:
    for site in (SITE, "http://127.0.0.1:8000"):
        gate = Gate(site, domain_of=registrable_domain)
        with pytest.raises(AddressError):
            gate.name_resource_host(origin)
        assert not gate.is_resource_host(origin)


def test_a_page_of_a_private_site_may_need_something_from_a_public_host() -> None:
    gate = Gate("http://10.0.0.1", domain_of=registrable_domain)
    gate.name_resource_host("https://cdn.example.net")
    gate.passage("https://cdn.example.net").check("8.8.8.8")
    with pytest.raises(AddressError):
        gate.passage("https://cdn.example.net").check("10.0.0.2")


def test_hosts_of_resources_have_a_port_of_the_web_and_a_limit() -> None:
    gate = Gate(SITE, domain_of=registrable_domain)
    for port in (22, 6379, 8080):
        with pytest.raises(AddressError, match="no port of the web"):
            gate.name_resource_host(f"https://cdn.example.net:{port}")
    for number in range(MAX_RESOURCE_HOSTS):
        gate.name_resource_host(f"https://cdn{number}.example.net")
    with pytest.raises(AddressError, match="one host too many"):
        gate.name_resource_host("https://cdn.example.org")
    gate.name_resource_host("https://cdn0.example.net")
