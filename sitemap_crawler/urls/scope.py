"""Scope: which URLs a sitemap may list, and what else is the same site.

A sitemap may list the URLs of its own scheme, host and port, at or below its directory
(https://www.sitemaps.org/protocol.html#location). All URLs here are normalised, except what a user gave: `of_sitemap`,
`of_start`, `scope_for` and `default_sitemap_url` take those as they were typed.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from sitemap_crawler.exceptions import ScopeError
from sitemap_crawler.urls.normalise import Resolver, directory_of, host_of, last_segment, origin_of

if TYPE_CHECKING:
    from tldextract import TLDExtract

_SCHEME = r"^([a-z][a-z0-9+.-]*:[/\\]+)?"
_USERINFO = re.compile(_SCHEME + r"[^/\\?#]*@", re.IGNORECASE)
_BEFORE_AT = re.compile(f"{_SCHEME}.*@", re.IGNORECASE | re.DOTALL)

StartRedirect = Literal["inside", "directory", "variant", "elsewhere"]

_DEFAULT_NAME = "sitemap.xml"
_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
"""What names a host and a directory: URLs allow much more."""
_MAX_ORIGINS = 10_000
"""Whose verdict is remembered."""
# What stays is shown to the user and becomes a directory: nothing is to be removed from it.
_normalise = Resolver(tracking_parameters=()).normalise


class Scope(NamedTuple):
    """All URLs that begin with `prefix`, which is `scheme://host[:port]/directory/`."""

    prefix: str

    @classmethod
    def of_sitemap(cls, sitemap_url: str) -> Scope:
        """The scope of the sitemap at this URL. Raises ScopeError."""
        url = _usable("sitemap URL", sitemap_url)
        if "?" in url:
            raise ScopeError(f"sitemap URL {_shown(sitemap_url)} has a query: give one that ends in a file name")
        if not last_segment(url):
            raise ScopeError(
                f"sitemap URL {_shown(sitemap_url)} names no file: give its file name too, as in {url}{_DEFAULT_NAME}"
            )
        return cls(directory_of(url))

    @classmethod
    def of_start(cls, start_url: str) -> Scope:
        """The scope of a sitemap in the start URL's directory. Raises ScopeError."""
        return cls(directory_of(_usable("start URL", start_url)))

    @property
    def origin(self) -> str:
        return origin_of(self.prefix)

    @property
    def words(self) -> str:
        """What a URL outside is not."""
        return f"at or below {self.prefix}"

    def admits(self, url: str) -> bool:
        # The prefix ends with /, so neither another port nor `/docs-old/` can begin with it.
        return url.startswith(self.prefix)

    def reaches(self, url: str) -> bool:
        """Whether what a URL outside redirects to may be inside."""
        return self.admits(url)


class DomainScope:
    """All hosts of the registrable domain of `prefix`, which is `scheme://host[:port]/`, by that scheme and port."""

    def __init__(self, prefix: str) -> None:
        """Raises ScopeError when the host has no registrable domain."""
        self.prefix = prefix
        self.origin = origin_of(prefix)
        host = host_of(prefix)
        domain = registrable_domain(host)
        if domain is None:
            raise ScopeError(f"{host} is no host of a domain that can be registered: leave --subdomains out")
        self._before, self._after = self.origin.split(host, 1)
        self._domain = domain
        self._admitted: dict[str, bool] = {}

    @property
    def words(self) -> str:
        return f"at {self._before}*.{self._domain}{self._after}/"

    def admits(self, url: str) -> bool:
        origin = origin_of(url)
        admitted = self._admitted.get(origin)
        if admitted is None:
            host = host_of(url)
            same = origin == f"{self._before}{host}{self._after}"
            # Below github.io everybody is somebody else.
            admitted = same and _HOST.fullmatch(host) is not None and registrable_domain(host) == self._domain
            if len(self._admitted) >= _MAX_ORIGINS:
                self._admitted.clear()
            self._admitted[origin] = admitted
        return admitted

    def reaches(self, url: str) -> bool:
        """Also what old links say of a site that has moved to https: it redirects."""
        if self._before == "https://" and not self._after and url.startswith("http://"):
            url = "https://" + url.removeprefix("http://")
        return self.admits(url)


def scope_for(start_url: str, sitemap_url: str | None = None) -> Scope:
    """The scope of a crawl from the start URL, for the sitemap at its own URL or beside it. Raises ScopeError."""
    if sitemap_url is None:
        return Scope.of_start(start_url)
    scope = Scope.of_sitemap(sitemap_url)
    start = _usable("start URL", start_url)
    if scope.admits(start):
        return scope
    name = last_segment(_usable("sitemap URL", sitemap_url))
    if start + "/" == scope.prefix:
        remedy = f"start at {scope.prefix}"
    else:
        remedy = f"start at a page below it, or give the sitemap URL {directory_of(start)}{name}"
    raise ScopeError(f"start URL {_shown(start_url)} is outside the sitemap's directory {scope.prefix}: {remedy}")


def default_sitemap_url(start_url: str) -> str:
    """`sitemap.xml` in the start URL's directory. Raises ScopeError."""
    return Scope.of_start(start_url).prefix + _DEFAULT_NAME


def registrable_domain(host: str) -> str | None:
    """What can be registered under a public suffix: example.co.uk for www.example.co.uk, foo.github.io for itself.

    None for IP addresses, localhost and other names that have no public suffix, and for public suffixes.
    """
    parts = _suffix_list()(host)
    return f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else None


def variant_of(start_url: str, target_url: str) -> str | None:
    """What distinguishes two addresses of one page, when the target is the https, www or apex variant of the start.

    "https", "www", "apex", "https and www" or "https and apex"; None where the target is anything else. The path may
    gain a / at its end.
    """
    if not _same_page(_path_of(start_url), _path_of(target_url)):
        return None
    scheme = _scheme_change(start_url, target_url)
    host = _host_change(host_of(start_url), host_of(target_url))
    if scheme is None or host is None:
        return None
    return " and ".join(word for word in (scheme, host) if word) or None


def redirect_of_start(start_url: str, target_url: str, scope: Scope | DomainScope) -> StartRedirect:
    """Where a redirect of the start page leads.

    "directory": to itself plus /, in the scope or not; "inside": to another page in the scope; "variant": see
    `variant_of`; "elsewhere": all the rest.
    """
    same_origin = origin_of(target_url) == origin_of(start_url)
    if same_origin and target_url != start_url and _same_page(_path_of(start_url), _path_of(target_url)):
        return "directory"
    if not same_origin and variant_of(start_url, target_url):
        return "variant"
    return "inside" if scope.admits(target_url) else "elsewhere"


def _usable(what: str, url: str) -> str:
    """The normalised URL; ScopeError calls it `what`."""
    normal = _normalise(url)
    if normal is not None:
        return normal
    # `example.com/docs` was meant to have one, `/docs` and `sitemap.xml` were not.
    guess = _normalise(f"https://{url.strip()}") if "://" not in url and not url.startswith("/") else None
    if guess is not None and registrable_domain(host_of(guess)):
        remedy = f"did you mean {guess}?"
    else:
        remedy = "give one that begins with http:// or https:// and a host"
    raise ScopeError(f"{what} {_shown(url)} is not an http or https URL: {remedy}")


def _shown(url: str) -> str:
    # Without a password: in what is no URL a / or # may be part of it.
    text = re.sub(r"[\t\r\n]", "", url.strip())
    return repr((_BEFORE_AT if _normalise(text) is None else _USERINFO).sub(r"\1", text))


def _path_of(url: str) -> str:
    """Path and query."""
    return url.removeprefix(origin_of(url))


def _same_page(start: str, target: str) -> bool:
    """Paths with queries: equal, or the target's path is the start's plus /."""
    path, mark, query = start.partition("?")
    return target == start or (not path.endswith("/") and target == f"{path}/{mark}{query}")


def _scheme_change(start_url: str, target_url: str) -> str | None:
    """Empty for the same scheme and port, "https" for its upgrade with the same or the default ports, else None."""
    start_scheme, _, start = origin_of(start_url).partition("://")
    target_scheme, _, target = origin_of(target_url).partition("://")
    if start.removeprefix(host_of(start_url)) != target.removeprefix(host_of(target_url)):
        return None
    if start_scheme == target_scheme:
        return ""
    return "https" if target_scheme == "https" else None


def _host_change(start: str, target: str) -> str | None:
    """Empty for the same host, "www" or "apex" within one registrable domain, else None."""
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
    # Imported when first needed: it brings an HTTP client along, which is slow to import. Nothing is fetched here: the
    # list is the bundled one, with the private part (github.io), whose owners let strangers register names.
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
