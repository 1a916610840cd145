"""Resolution of links and normalisation of URLs.

The rules are those of the URL Standard (https://url.spec.whatwg.org/), and further ones that make equivalent spellings
of a URL equal: see `Resolver`. The functions after it return the parts of normalised URLs.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ada_url import join_url, normalize_url

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_STORED_URL = 8192
"""Maximum number of characters of a URL that a run stores.

Longer URLs are only counted. They come from traps and broken templates, and a sitemap cannot list them.
"""

SESSION_PARAMETERS = ("phpsessid", "jsessionid", "cfid", "cftoken", "oscsid", "zenid", "xtcsid", "___sid")
"""Parameters with the id of a session: PHP, Java, ColdFusion, osCommerce, Zen Cart, xt:Commerce, Magento."""

# Parameters that identify the visitor or the origin of the visit, and never the page. A trailing * matches any ending.
# Ambiguous names are missing: `sid`, `ref`, `source` and `session_id` select content on some sites.
TRACKING_PARAMETERS: tuple[str, ...] = (
    # Campaigns: Google Analytics and most other tools, Matomo and Piwik, HubSpot
    *("utm_*", "mtm_*", "pk_campaign", "pk_kwd", "pk_keyword", "piwik_campaign", "piwik_kwd", "_openstat"),
    *("hsa_*", "_hsenc", "_hsmi", "__hstc", "__hssc", "__hsfp"),
    # Clicks on advertisements, posts and e-mails
    *("gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid", "fbclid", "msclkid"),
    *("yclid", "ysclid", "twclid", "ttclid", "li_fat_id", "igshid", "igsh", "s_kwcid", "irclickid"),
    *("mc_cid", "mc_eid", "mkt_tok", "vero_id", "oly_anon_id", "oly_enc_id"),
    # Visitors that move from one host to another
    *("_ga", "_gl"),
    *SESSION_PARAMETERS,
)

_C0_AND_SPACE = "".join(map(chr, range(0x21)))
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_HEX = "0123456789ABCDEFabcdef"


def _normal_escape(byte: int) -> str:
    return chr(byte) if chr(byte) in _UNRESERVED else f"%{byte:02X}"


_BYTES = tuple(_normal_escape(byte) for byte in range(256))
# All spellings of all escapes, and the % that does not begin an escape. Servers interpret such a % differently. Written
# as %25 it cannot become part of an escape when the characters after it are decoded.
_ESCAPES = {f"%{high}{low}": _BYTES[int(high + low, 16)] for high in _HEX for low in _HEX} | {"%": "%25"}
_ESCAPE = re.compile("%(?:[0-9A-Fa-f]{2})?")
_NEWLINES_AND_TABS = str.maketrans("", "", "\t\n\r")
# Characters of the query percent-encode set, https://url.spec.whatwg.org/#query-percent-encode-set. For http the
# standard adds ', which stays as it is here: servers distinguish ' from %27, and so do the pages that link to them.
# The pattern negates the other characters, because `re` takes milliseconds to compile a set of most of Unicode.
# The standard leaves [ \ ] ^ ` { | } in a query, and some of them in a path. RFC 3986, by which sitemaps are written,
# allows none of them there.
_NOT_IN_QUERY = re.compile("[^!$-;=?-Z_a-z~]+")
_NOT_IN_PATH = re.compile(r"[\[\\\]^`{|}]+")
# Checked before the parser is called, which would copy the megabytes of a `data:` URL.
_OTHER_SCHEME = re.compile("(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
# The URL Standard allows hosts such as `'x'`, `.` and `a..b`, which no name server knows.
_USABLE_ORIGIN = re.compile(r"https?://(?:\[[0-9a-f:.]++\]|[a-z0-9_-]++(?:\.[a-z0-9_-]++)*+)(?::[0-9]++)?+/")
_CREDENTIALS = re.compile(r"(https?:[/\\]*+)([^/\\?#]*)@", re.IGNORECASE)
_WINDOWS_NUMBER = re.compile(r"windows-(?=\d+\Z)")
_SURROGATE = re.compile("[\ud800-\udfff]")

_SEGMENT = "[A-Za-z0-9_~-][A-Za-z0-9_.~+,=()!-]*+"
_SEGMENTS = f"{_SEGMENT}(?:/{_SEGMENT})*+/?"
# Links that need no parser: no character to decode or encode, no empty segment, no dot segment except leading ../.
_PLAIN_PATH = re.compile(_SEGMENTS)
_PLAIN_LINK = re.compile(rf"(?:(/)|((?:\.\./)*+))({_SEGMENTS})")
# Links with one of these prefixes depend on the origin of the base only; all other links depend on its directory.
_ROOTED = ("/", "https://", "http://")
# Links that are not cacheable: a link that begins with ? or has the antique form `http:?x` depends on the whole base,
# and a link with other than ASCII characters depends on the charset of the page.
_CACHEABLE = re.compile("(?!\\?|https?:(?!//))[!-~][ -~]*", re.IGNORECASE)
_MAX_CACHED = 8192
"""Maximum number of cached links: about 3 MB of usual links, 15 MB of the longest."""
_MAX_CACHED_LENGTH = 1536
"""Maximum number of characters of a cached link with its base and result."""


class Resolver:
    r"""Resolver of links to normalised URLs. Keeps the last base and recent results, so each thread needs its own.

    A normalised URL is resolved by the URL Standard and has these properties:

    - no fragment, no user, no password
    - host in lower case and punycode without a final dot, of letters, digits, hyphens and underscores; no default port
    - no dot segments
    - escapes of unreserved characters decoded, all other escapes in upper case; a % that does not begin an escape
      written as %25
    - no character after the host that RFC 3986 forbids there: `[ \ ] ^ ` { | }` escaped, so that a sitemap has the URL
      as it is stored
    - no tracking parameters and session ids, neither in the query nor in the path (`;jsessionid=`); no empty query

    Reserved characters, `'`, empty path segments and the order of the parameters are preserved.
    """

    __slots__ = (
        "_alias", "_ancestors", "_base", "_base_url", "_cache", "_directory", "_parameter", "_path_parameters", "_root",
        "_scheme",
    )  # fmt: skip

    def __init__(
        self,
        tracking_parameters: Sequence[str] = TRACKING_PARAMETERS,
        *,
        alias: Callable[[str], str] | None = None,
        scheme: str | None = None,
    ) -> None:
        """Remove `tracking_parameters` from all URLs and replace each normalised URL by the result of `alias`.

        `scheme` is the scheme of links such as `//host/` to another host than that of the base; the default is the
        scheme of the base.
        """
        self._alias = alias
        self._scheme = scheme
        names = "|".join(
            re.escape(name[:-1]) + "[^=&/;]*" if name.endswith("*") else re.escape(name) for name in tracking_parameters
        )
        # Without parameters the patterns must match nothing.
        self._parameter = re.compile(f"(?:^|&)(?:{names})(?=[=&]|$)" if names else "(?!)", re.IGNORECASE)
        self._path_parameters = re.compile(f";(?:{names})(?:=[^/;]*)?(?=[/;]|$)" if names else "(?!)", re.IGNORECASE)
        self._cache: dict[tuple[str, str], str | None] = {}
        self._base = ""
        self._base_url: str | None = None
        self._directory, self._root = "", "/"
        self._ancestors: list[str] = []

    def resolve(self, href: str, base: str, charset: str = "utf-8") -> str | None:
        """Return the normalised URL of the link `href` on the page `base`; None if it is not a usable http(s) URL.

        `charset` is the charset of the page. It determines the encoding of the query. An unknown charset counts as
        UTF-8.
        """
        if base != self._base:
            self._set_base(base)
        if "#" in href:
            href = _without_fragment(href)
        if not href:
            return self._base_url
        key = (self._root if href.startswith(_ROOTED) else self._directory, href)
        # The default is "", because the cached result of an unusable link is None.
        cached = self._cache.get(key, "")
        return cached if cached != "" else self._resolve_uncached(key, charset)

    def normalise(self, url: str) -> str | None:
        """Return the normal form of an absolute URL; None if it is not a usable http(s) URL."""
        normal = self._parse(url, None, "utf-8")
        return normal if normal is None or self._alias is None else self._alias(normal)

    def _set_base(self, base: str) -> None:
        self._base_url = self._normal_base(base)
        self._base = base
        self._directory = directory_of(self._base_url or "")
        self._root = origin_of(self._base_url or "") + "/"
        self._ancestors = [self._directory]

    def _normal_base(self, base: str) -> str | None:
        # Successive pages are usually on one host: a plain path below the last root needs no parser.
        if (
            self._base_url is None
            or not base.startswith(self._root)
            or not _PLAIN_PATH.fullmatch(base, len(self._root))
        ):
            return self.normalise(base)
        return base if self._alias is None else self._alias(base)

    def _resolve_uncached(self, key: tuple[str, str], charset: str) -> str | None:
        if self._base_url is None:
            return None
        href = key[1]
        plain = self._plain(href)
        url = plain or self._parse(href, self._base_url, charset)
        if self._scheme is not None and url is not None and href.startswith("//"):
            url = self._with_scheme(url, self._base_url)
        if self._alias is not None and url is not None:
            url = self._alias(url)
        bounded = len(key[0]) + len(href) + len(url or "") <= _MAX_CACHED_LENGTH
        if bounded and (plain or _CACHEABLE.fullmatch(href)):
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            self._cache[key] = url
        return url

    def _with_scheme(self, url: str, base: str) -> str:
        """Return `url` with the configured scheme if it is on another host than `base`."""
        if host_of(url) == host_of(base):
            return url
        return f"{self._scheme}:{url.partition(':')[2]}"

    def _plain(self, href: str) -> str | None:
        """Return the URL of a link that needs no parser; None for other links."""
        if href.startswith(self._root):
            return href if _PLAIN_PATH.fullmatch(href, len(self._root)) else None
        link = _PLAIN_LINK.fullmatch(href)
        if link is None:
            return None
        root, up, path = link.groups()
        return (self._root if root else self._ancestor(len(up) // 3)) + path

    def _ancestor(self, levels: int) -> str:
        """Return the directory `levels` above that of the base, at most the root."""
        while len(self._ancestors) <= levels and self._ancestors[-1] != self._root:
            directory = self._ancestors[-1]
            self._ancestors.append(directory[: directory.rindex("/", 0, -1) + 1])
        return self._ancestors[min(levels, len(self._ancestors) - 1)]

    def _parse(self, href: str, base: str | None, charset: str) -> str | None:
        href = href.strip(_C0_AND_SPACE)
        if _OTHER_SCHEME.match(href):
            return None
        if not href.isascii():
            href = _without_surrogates(href)
        href, fragment, _ = href.partition("#")
        href, mark, query = href.partition("?")
        # The ? or # stays at the end of the path, because the parser strips white space at the end of its input. The
        # query is encoded here: the parser does not know the charset of the page and would escape a '.
        url = _join(href + (mark or fragment), base)
        if url is None or not url.startswith(("http://", "https://")):
            return None
        url, inherited, _ = url.partition("#")[0].partition("?")
        if inherited and not mark:
            return base
        url = _without_final_dot(_without_userinfo(url))
        # The origin of the base is usable.
        if not url.startswith(self._root) and _USABLE_ORIGIN.match(url) is None:
            return None
        url = self._normal_path(url)
        query = self._normal_query(query, charset)
        return f"{url}?{query}" if query else url

    def _normal_path(self, url: str) -> str:
        if "%" in url:
            url = _normal_escapes(url)
        origin = origin_of(url)
        if _NOT_IN_PATH.search(url, len(origin)):
            url = origin + _NOT_IN_PATH.sub(lambda run: _percent_encode(run[0], "ascii"), url[len(origin) :])
        if ";" not in url:
            return url
        path = url[len(origin) :]
        kept = self._path_parameters.sub("", path)
        # Without its parameter, `/a/..;jsessionid=1/` has a dot segment: normalise again.
        return url if kept == path else normalize_url(origin + kept)

    def _normal_query(self, query: str, charset: str) -> str:
        if _NOT_IN_QUERY.search(query):
            codec = _query_codec(charset[:40])
            query = _NOT_IN_QUERY.sub(lambda run: _percent_encode(run[0], codec), query.translate(_NEWLINES_AND_TABS))
        if "%" in query:
            query = _normal_escapes(query)
        if not self._parameter.search(query):
            return query
        kept = [part for part in query.split("&") if not self._parameter.match(part)]
        return "&".join(kept) if any(kept) else ""


def split_credentials(url: str) -> tuple[str, str | None, str | None]:
    """Return a typed http(s) URL without its userinfo, the decoded user and the decoded password."""
    text = url.strip(_C0_AND_SPACE).translate(_NEWLINES_AND_TABS)
    match = _CREDENTIALS.match(text)
    if match is None:
        return url, None, None
    user, colon, password = match[2].partition(":")
    return match[1] + text[match.end() :], unquote(user), unquote(password) if colon else None


def origin_of(url: str) -> str:
    """Return scheme, host and port of a normalised URL: `https://example.com:8443`."""
    end = url.find("/", 8)
    return url if end < 0 else url[:end]


def host_of(url: str) -> str:
    """Return the host of a normalised URL. An IPv6 address keeps its brackets."""
    authority = origin_of(url).partition("://")[2]
    host, colon, port = authority.rpartition(":")
    return host if colon and not port.endswith("]") else authority


def directory_of(url: str) -> str:
    """Return a normalised URL up to and including the last / of its path."""
    path = url.partition("?")[0]
    return path[: path.rfind("/") + 1]


def last_segment(url: str) -> str:
    """Return the text after the last / in the path of a normalised URL: the name of a file, or an empty string."""
    path = url.partition("?")[0]
    return path[path.rfind("/") + 1 :]


def _join(href: str, base: str | None) -> str | None:
    try:
        return normalize_url(href) if base is None else join_url(base, href)
    except ValueError:
        return None


def _without_fragment(href: str) -> str:
    # White space before the # belongs to the path. The parser strips white space at the end, so the # stays there.
    cut = href.index("#")
    return href[: cut + 1] if cut and href[cut - 1] <= " " else href[:cut]


def _without_userinfo(url: str) -> str:
    end = url.rfind("@", 0, url.find("/", 8)) if "@" in url else -1
    return url if end < 0 else url[: url.index("//") + 2] + url[end + 1 :]


def _without_final_dot(url: str) -> str:
    """Return `url` with `www.example.com` instead of `www.example.com.`: both are the same name in the DNS."""
    origin = origin_of(url)
    if not origin.endswith(".") and ".:" not in origin:
        return url
    scheme, _, authority = origin.partition("://")
    host, colon, port = authority.partition(":")
    return f"{scheme}://{host.removesuffix('.') or host}{colon}{port}{url[len(origin) :]}"


def _without_surrogates(text: str) -> str:
    # Browsers do the same: a pair becomes its character, a lone surrogate becomes the replacement character.
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _normal_escapes(text: str) -> str:
    return _ESCAPE.sub(lambda escape: _ESCAPES[escape[0]], text)


def _percent_encode(text: str, codec: str) -> str:
    # All bytes except the unreserved are escaped. A browser leaves the second byte of `ー` in Shift_JIS (0x5B) as [,
    # but where the author has escaped the same link, that byte is %5B. A character that the charset lacks becomes a
    # reference such as &#12354;, which is escaped, too.
    return "".join([_BYTES[byte] for byte in text.encode(codec, "xmlcharrefreplace")])


# Python codecs for queries, by Python's name of the charset. The standard maps many labels to a larger encoding,
# https://encoding.spec.whatwg.org/#names-and-labels. All other charsets are sent as UTF-8, including UTF-16 and codecs
# that are not charsets.
_QUERY_CODECS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gbk",
    "big5": "cp950",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
} | {
    name: name
    for name in (
        *(f"cp{number}" for number in (866, 874, 932, 949, 950, *range(1250, 1259))),
        *(f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
        *("big5hkscs", "euc_jp", "gb18030", "gbk", "iso2022_jp", "koi8-r", "koi8-u", "mac-cyrillic", "mac-roman"),
    )
}


@lru_cache(maxsize=64)
def _query_codec(charset: str) -> str:
    label = _WINDOWS_NUMBER.sub("cp", charset.strip().lower().removeprefix("x-"))
    try:
        return _QUERY_CODECS.get(codecs.lookup(label).name, "utf-8")
    except (LookupError, ValueError):
        return "utf-8"
