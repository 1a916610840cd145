"""Scope: the URLs that a sitemap may list, and the address variants of a site.

A sitemap may list URLs of its own scheme, host and port that are at or below its directory
(https://www.sitemaps.org/protocol.html#location). All URLs here are normalised, with these exceptions: `for_sitemap`,
`for_start_page`, `scope_for` and `default_sitemap_url` take URLs as the user typed them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from sitemap_crawler.exceptions import ScopeError
from sitemap_crawler.urls.normalise import Resolver, directory_of, host_of, last_segment, origin_of

if TYPE_CHECKING:
    from tldextract import TLDExtract

# Possessive, as text of slashes alone would otherwise be read once for each slash.
_SCHEME = r"^([a-z][a-z0-9+.-]*+:[/\\]++)?+"
_USERINFO = re.compile(_SCHEME + r"[^/\\?#]*@", re.IGNORECASE)
_NO_NEWLINES_AND_TABS = str.maketrans("", "", "\t\r\n")
_BEFORE_AT = re.compile(f"{_SCHEME}.*@", re.IGNORECASE | re.DOTALL)

StartRedirect = Literal["inside", "directory", "variant", "elsewhere"]

_DEFAULT_NAME = "sitemap.xml"
_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
"""Host names that can also be the name of a directory. A URL allows many more."""
_MAX_ORIGINS = 10_000
"""Maximum number of origins whose result `DomainScope.admits` keeps."""
# Without tracking parameters: the result is shown to the user and becomes a directory, so nothing may be removed.
_normalise = Resolver(tracking_parameters=()).normalise


class Scope(NamedTuple):
    """The URLs at or below one directory. `prefix` is `scheme://host[:port]/directory/`."""

    prefix: str

    @classmethod
    def for_sitemap(cls, sitemap_url: str) -> Scope:
        """Return the scope of the sitemap with this URL. Raises ScopeError."""
        url = _normalised("sitemap URL", sitemap_url)
        if "?" in url:
            raise ScopeError(f"sitemap URL {_shown(sitemap_url)} has a query: give one that ends in a file name")
        if not last_segment(url):
            raise ScopeError(
                f"sitemap URL {_shown(sitemap_url)} names no file: give its file name too, as in {url}{_DEFAULT_NAME}"
            )
        return cls(directory_of(url))

    @classmethod
    def for_start_page(cls, start_url: str) -> Scope:
        """Return the scope of a sitemap in the directory of the start URL. Raises ScopeError."""
        return cls(directory_of(_normalised("start URL", start_url)))

    @property
    def origin(self) -> str:
        return origin_of(self.prefix)

    @property
    def description(self) -> str:
        """Location of the scope, as in "at or below https://example.com/docs/"."""
        return f"at or below {self.prefix}"

    def admits(self, url: str) -> bool:
        """Return whether `url` is in the scope."""
        # The prefix ends in /, so neither another port nor `/docs-old/` can begin with it.
        return url.startswith(self.prefix)

    def is_own_host(self, url: str) -> bool:
        """Return whether `url` has the host of the scope, with or without `www.`, at any scheme and port."""
        return host_of(url).removeprefix("www.") == host_of(self.prefix).removeprefix("www.")

    def may_lead_inside(self, url: str) -> bool:
        """Return whether `url` is in the scope or may redirect into it."""
        return self.admits(url)


class DomainScope:
    """The URLs of all hosts of one registrable domain, with the same scheme and port as `prefix`."""

    def __init__(self, prefix: str) -> None:
        """Take a prefix `scheme://host[:port]/`. Raises ScopeError if the host has no registrable domain."""
        self.prefix = prefix
        self.origin = origin_of(prefix)
        host = host_of(prefix)
        domain = registrable_domain(host)
        if domain is None:
            raise ScopeError(f"{host} is not a host of a domain that can be registered: leave --subdomains out")
        self._before, self._after = self.origin.split(host, 1)
        self._domain = domain
        self._admitted: dict[str, bool] = {}

    @property
    def description(self) -> str:
        """Location of the scope, as in "at https://*.example.com/"."""
        return f"at {self._before}*.{self._domain}{self._after}/"

    def admits(self, url: str) -> bool:
        """Return whether `url` is in the scope."""
        origin = origin_of(url)
        admitted = self._admitted.get(origin)
        if admitted is None:
            host = host_of(url)
            same_scheme_and_port = origin == f"{self._before}{host}{self._after}"
            is_host = same_scheme_and_port and _HOST.fullmatch(host) is not None
            # Comparing the ends of host names would admit the hosts below github.io, which belong to different sites.
            admitted = is_host and registrable_domain(host) == self._domain
            if len(self._admitted) >= _MAX_ORIGINS:
                self._admitted.clear()
            self._admitted[origin] = admitted
        return admitted

    def is_own_host(self, url: str) -> bool:
        """Return whether `url` has a host of the domain, at any scheme and port."""
        return f".{host_of(url)}".endswith(f".{self._domain}")

    def may_lead_inside(self, url: str) -> bool:
        """Return whether `url` is in the scope or may redirect into it, as http URLs of an https site do."""
        if self._before == "https://" and not self._after and url.startswith("http://"):
            url = "https://" + url.removeprefix("http://")
        return self.admits(url)


def scope_for(start_url: str, sitemap_url: str | None = None) -> Scope:
    """Return the scope of a crawl. Without a sitemap URL the sitemap is in the directory of the start URL.

    Raises ScopeError.
    """
    if sitemap_url is None:
        return Scope.for_start_page(start_url)
    scope = Scope.for_sitemap(sitemap_url)
    start = _normalised("start URL", start_url)
    if scope.admits(start):
        return scope
    name = last_segment(_normalised("sitemap URL", sitemap_url))
    if start + "/" == scope.prefix:
        remedy = f"start at {scope.prefix}"
    else:
        remedy = f"start at a page below it, or give the sitemap URL {directory_of(start)}{name}"
    raise ScopeError(f"start URL {_shown(start_url)} is outside the sitemap's directory {scope.prefix}: {remedy}")


def default_sitemap_url(start_url: str) -> str:
    """Return the URL of `sitemap.xml` in the directory of the start URL. Raises ScopeError."""
    return Scope.for_start_page(start_url).prefix + _DEFAULT_NAME


def registrable_domain(host: str) -> str | None:
    """Return the registrable domain of a host: example.co.uk for www.example.co.uk, foo.github.io for itself.

    Return None for IP addresses, for localhost and other names without a public suffix, and for public suffixes.
    """
    parts = _suffix_list()(host)
    return f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else None


def variant_of(start_url: str, target_url: str) -> str | None:
    """Return the difference of two addresses of one page: "https", "www", "apex", "https and www" or "https and apex".

    Return None if the target is not such a variant of the start URL. The path of the target may have an additional
    final /.
    """
    if not _same_page(_path_of(start_url), _path_of(target_url)):
        return None
    scheme = _scheme_change(start_url, target_url)
    host = _host_change(host_of(start_url), host_of(target_url))
    if scheme is None or host is None:
        return None
    return " and ".join(word for word in (scheme, host) if word) or None


def redirect_of_start(start_url: str, target_url: str, scope: Scope | DomainScope) -> StartRedirect:
    """Return the kind of a redirect of the start page.

    - "directory": to the same URL with a final /, in the scope or not
    - "inside": to another page in the scope
    - "variant": to an address variant of the site, see `variant_of`
    - "elsewhere": to any other URL
    """
    same_origin = origin_of(target_url) == origin_of(start_url)
    if same_origin and target_url != start_url and _same_page(_path_of(start_url), _path_of(target_url)):
        return "directory"
    if not same_origin and variant_of(start_url, target_url):
        return "variant"
    return "inside" if scope.admits(target_url) else "elsewhere"


def _normalised(kind: str, url: str) -> str:
    """Return the normalised URL. Raises ScopeError, whose message begins with `kind`."""
    normal = _normalise(url)
    if normal is not None:
        return normal
    # `example.com/docs` lacks a scheme; `/docs` and `sitemap.xml` lack a host, too.
    guess = _normalise(f"https://{url.strip()}") if "://" not in url and not url.startswith("/") else None
    if guess is not None and registrable_domain(host_of(guess)):
        remedy = f"did you mean {guess}?"
    else:
        remedy = "give one that begins with http:// or https:// and a host"
    raise ScopeError(f"{kind} {_shown(url)} is not an http or https URL: {remedy}")


def _shown(url: str) -> str:
    """Return the representation of a typed URL without its password."""
    # In text that is not a URL, the password may contain a / or #.
    text = url.strip().translate(_NO_NEWLINES_AND_TABS)
    return repr((_BEFORE_AT if _normalise(text) is None else _USERINFO).sub(r"\1", text))


def _path_of(url: str) -> str:
    """Return path and query."""
    return url.removeprefix(origin_of(url))


def _same_page(start: str, target: str) -> bool:
    """Compare two paths with queries. The path of the target may have an additional final /."""
    path, mark, query = start.partition("?")
    return target == start or (not path.endswith("/") and target == f"{path}/{mark}{query}")


def _scheme_change(start_url: str, target_url: str) -> str | None:
    """Return "" for the same scheme and port, "https" for an upgrade to https, None for any other change.

    An upgrade keeps the port or has the default ports.
    """
    start_scheme, _, start = origin_of(start_url).partition("://")
    target_scheme, _, target = origin_of(target_url).partition("://")
    if start.removeprefix(host_of(start_url)) != target.removeprefix(host_of(target_url)):
        return None
    if start_scheme == target_scheme:
        return ""
    return "https" if target_scheme == "https" else None


def _host_change(start: str, target: str) -> str | None:
    """Return "" for the same host, "www" or "apex" within one registrable domain, None for any other change."""
    if start == target:
        return ""
    if target == f"www.{start}":
        change = "www"
    elif start == f"www.{target}":
        change = "apex"
    else:
        return None
    domain = registrable_domain(start)
    return change if domain is not None and domain == registrable_domain(target) else None


@cache
def _suffix_list() -> TLDExtract:
    # Imported on first use, because tldextract imports an HTTP client, which is slow. Nothing is downloaded: this is
    # the bundled list. It includes the private suffixes (github.io), below which the public can register names.
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
