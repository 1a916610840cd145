"""The gate that every outgoing request passes: which hosts may be asked, and which addresses may be connected to.

A site must not choose whom the program talks to. A request belongs to a root: a host that the user has given, or the
site. `Gate.passage` checks the URL of a request, `Passage.check` the address that is connected to. The second check is
made at the moment of the connection, so that a name cannot change its address between the two.
"""

from __future__ import annotations

import re
import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.exceptions import AddressError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_NAMED_HOSTS = 100
"""Maximum number of origins that a site can name on other domains. Sites name one or two."""
MAX_RESOURCE_HOSTS = 1_000
"""Maximum number of origins on other domains that scripts of a site can ask. Pages ask up to twenty."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_GLOBAL_UNICAST = IPv6Network("2000::/3")
"""The only IPv6 addresses that are in public use, https://www.iana.org/assignments/ipv6-address-space"""
_NAT64 = IPv6Network("64:ff9b::/96")
"""IPv6 addresses that stand for an IPv4 address, https://www.rfc-editor.org/rfc/rfc6052#section-2.1"""
_PLATFORM_SERVICES = frozenset(map(IPv4Address, ("168.63.129.16", "192.0.0.192")))
"""Addresses in public ranges at which a cloud serves its own machines. The others are link-local or private."""
_LOCAL_DOMAINS = frozenset({"internal", "lan", "local", "localhost", "test", "invalid"})
"""Top-level domains that are not on the internet: RFC 2606, RFC 6762, and ICANN's decision on `internal`; `lan` is what
routers use."""
_IPV4_SPELLING = re.compile(r"[0-9a-fx.]+", re.IGNORECASE)


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public internet.

    Loopback, private, unique-local, link-local, shared (RFC 6598), multicast, reserved and unspecified addresses are
    not. An IPv6 address that stands for an IPv4 address is what that one is.
    """
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (IPv4Address(int(ip) & 0xFFFF_FFFF) if ip in _NAT64 else None)
        if inner is None:
            return ip in _GLOBAL_UNICAST and ip.is_global
        ip = inner
    return ip.is_global and not ip.is_multicast and ip not in _PLATFORM_SERVICES


def literal_address(host: str) -> str | None:
    """Return the IP address that a host is written as; None for a name.

    Resolvers also accept an IPv4 address in octal, hexadecimal and short spellings, such as `0x7f.1`.
    """
    text = host.strip("[]").rstrip(".")
    try:
        return str(ip_address(text))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(text)) if _IPV4_SPELLING.fullmatch(text) else None
    except OSError:
        return None


def is_loopback(host: str) -> bool:
    """Return whether a host is written as this machine."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address = literal_address(host)
    return address is not None and ip_address(address).is_loopback


def is_local(host: str) -> bool:
    """Return whether a host is written as one that only a local network can reach: its address, or its kind of name."""
    address = literal_address(host)
    if address is not None:
        return not is_public(address)
    name = host.rstrip(".").lower()
    return "." not in name or name.rpartition(".")[2] in _LOCAL_DOMAINS or name.endswith(".home.arpa")


class Root:
    """A host that may be asked, with what is known about its addresses."""

    def __init__(self, origin: str, *, named_by: str | None = None) -> None:
        self.origin = origin
        self.named_by = named_by
        """Origin of the other site that has named the host, so that it must be public; None if the user has."""
        _, self.host, self.port = _split(origin)
        literal = literal_address(self.host)
        self.is_public: bool | None = None
        """Whether the host has a public address; None before its name is resolved."""
        if literal is not None:
            self.is_public = is_public(literal)
        elif is_loopback(self.host):
            self.is_public = False

    def learn(self, addresses: Iterable[str]) -> None:
        """Take the addresses of the host. The first answer counts: a public host does not become a private one."""
        if self.is_public is None:
            self.is_public = any(map(is_public, addresses))


class Passage(NamedTuple):
    """Permission to send a request to a host, as long as the address that is connected to is allowed, too."""

    origin: str
    root: Root
    is_foreign: bool = False
    """Whether the site has named the host and it belongs to another domain: only public addresses are allowed."""

    def check(self, address: str) -> None:
        """Raise AddressError if the IP address must not be connected to."""
        if self.root.named_by is not None and not is_public(address):
            raise AddressError(
                f"{self.origin} has the address {address}, which is not public, and {self.root.named_by}, which "
                "names it, is another site"
            )
        if self.root.is_public is False:
            if self.is_foreign:
                raise AddressError(_private_site(self.origin, self.root))
        elif not is_public(address):
            raise AddressError(
                f"{self.origin} has the address {address}, which is not public, and {self.root.host} is a public host"
            )


class Gate:
    """The rules for the requests of one site or one target. Origins are normalised: `https://example.com:8443`."""

    def __init__(
        self,
        site: str,
        *,
        given: Iterable[str] = (),
        domain_of: Callable[[str], str | None] = lambda _: None,
        named_by: str | None = None,
    ) -> None:
        """Take the origin of the site, and other origins that the user has given.

        `domain_of` returns the registrable domain of a host; None for an IP address and for a name without one. A site
        with `named_by`, the origin of another site, must have a public address.
        """
        self._site = Root(site, named_by=named_by)
        self._domain_of = domain_of
        self._roots = {site: self._site}
        for origin in given:
            self._roots.setdefault(origin, Root(origin))
        self._passages = {
            origin: Passage(origin, root) for origin, root in self._roots.items() if root.named_by is None
        }
        """Permissions that were given before, by origin."""
        self._named: set[str] = set()
        self._resource_hosts: set[str] = set()

    @property
    def site_is_public(self) -> bool | None:
        """Whether the site has a public address; None before its name is resolved, and if a proxy resolves it."""
        return self._site.is_public

    @classmethod
    def for_listed(cls, site: str, *, named_by: str, domain_of: Callable[[str], str | None]) -> Gate:
        """Return the gate for a site whose URLs a sitemap of another site lists: see `passage` for the other site.

        A site that the other one may lead to has its rules. Any other site must have a public address.
        """
        gate = cls(named_by, domain_of=domain_of)
        try:
            gate.passage(site)
        except AddressError:
            return cls(site, domain_of=domain_of, named_by=named_by)
        return gate

    def adopt(self, origin: str) -> None:
        """Take another origin as that of the site: its start page has moved there."""
        self._passages.setdefault(origin, Passage(origin, self._site))

    def name(self, origin: str) -> None:
        """Note that the robots.txt of the site names an origin, or that a sitemap which it names redirects there."""
        if len(self._named) < MAX_NAMED_HOSTS:
            self._named.add(origin)

    def name_resource_host(self, origin: str) -> None:
        """Note that a page of the site needs something from an origin on another domain: a script, or data for one.

        Such a host must have public addresses, whatever the site has, and a port of the web. Raises AddressError.
        """
        if origin in self._resource_hosts:
            return
        if len(self._resource_hosts) >= MAX_RESOURCE_HOSTS:
            raise AddressError(f"{origin} is one host too many: pages have asked {MAX_RESOURCE_HOSTS:,} others")
        _, host, port = _split(origin)
        if port not in _DEFAULT_PORTS.values():
            raise AddressError(f"{origin} is another site than {self._site.origin}, and has no port of the web")
        passage = Passage(origin, Root(origin, named_by=self._site.origin))
        _check_spelling(passage, host)
        self._resource_hosts.add(origin)
        self._passages[origin] = passage

    def is_resource_host(self, origin: str) -> bool:
        """Return whether the origin may be asked only because a page needs something from it."""
        return origin in self._resource_hosts

    def passage(self, origin: str) -> Passage:
        """Return the permission to ask an origin. Raises AddressError, whose message says why there is none."""
        passage = self._passages.get(origin)
        return self._find(origin) if passage is None else passage

    def _find(self, origin: str) -> Passage:
        _, host, port = _split(origin)
        roots = self._roots.values()
        passage = next((Passage(origin, root) for root in roots if _is_same_host(root, host, port)), None)
        if passage is None and self._is_same_domain(host):
            passage = Passage(origin, self._site)
        if passage is None and origin in self._named:
            if self._site.is_public is False:
                raise AddressError(_private_site(origin, self._site))
            passage = Passage(origin, self._site, is_foreign=True)
        if passage is None:
            raise AddressError(f"{origin} is another site than {self._site.origin}")
        if not _is_same_host(passage.root, host, port) and port not in {*_DEFAULT_PORTS.values(), self._site.port}:
            raise AddressError(f"{origin} has neither a port of the web nor the port of {self._site.origin}")
        _check_spelling(passage, host)
        if passage.root.is_public is not None or not passage.is_foreign:
            self._passages[origin] = passage
        return passage

    def _is_same_domain(self, host: str) -> bool:
        domain = self._domain_of(host)
        return domain is not None and domain == self._domain_of(self._site.host)


def _check_spelling(passage: Passage, host: str) -> None:
    """Raise AddressError if the host is written as an address that must not be connected to.

    A name is checked when it is resolved, except by a proxy, which resolves it itself.
    """
    literal = literal_address(host)
    if literal is not None:
        passage.check(literal)
    elif is_loopback(host):
        passage.check("127.0.0.1")


def _private_site(origin: str, site: Root) -> str:
    return f"{origin} is another site than {site.origin}, which has no public address"


def _is_same_host(root: Root, host: str, port: int) -> bool:
    """Return whether these are the host and port of `root`, or its other default port: http and https are one site."""
    defaults = _DEFAULT_PORTS.values()
    return host == root.host and (port == root.port or (port in defaults and root.port in defaults))


def _split(origin: str) -> tuple[str, str, int]:
    scheme, _, authority = origin.partition("://")
    host, colon, port = authority.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = authority, ""
    return scheme, host.rstrip("."), int(port) if port else _DEFAULT_PORTS[scheme]
