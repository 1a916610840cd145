"""URLs: resolving links and bringing every URL into its one normal form.

The rules are the URL Standard's (https://url.spec.whatwg.org/), and on top of them those that make two spellings of one
URL equal: see `Resolver`. The functions below it take normalised URLs apart.
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

# Longer URLs are counted by whoever finds them, not stored: they come from traps and broken templates, and a sitemap
# could not list them anyway.
MAX_STORED_URL = 8192

# Parameters that say where a visitor came from or who he is, never which page this is. A trailing * is a prefix.
# Only unmistakable names: `sid`, `ref`, `source` or `session_id` select content on some site.
TRACKING_PARAMETERS: tuple[str, ...] = (
    # Campaigns: Google Analytics and everybody else, Matomo and Piwik, HubSpot
    *("utm_*", "mtm_*", "pk_campaign", "pk_kwd", "pk_keyword", "piwik_campaign", "piwik_kwd", "_openstat"),
    *("hsa_*", "_hsenc", "_hsmi", "__hstc", "__hssc", "__hsfp"),
    # Clicks on advertisements, posts and e-mails
    *("gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid", "fbclid", "msclkid"),
    *("yclid", "ysclid", "twclid", "ttclid", "li_fat_id", "igshid", "igsh", "s_kwcid", "irclickid"),
    *("mc_cid", "mc_eid", "mkt_tok", "vero_id", "oly_anon_id", "oly_enc_id"),
    # Visitors handed over from one host to the next
    *("_ga", "_gl"),
    # Session ids: PHP, Java, ColdFusion, osCommerce, Zen Cart, xt:Commerce, Magento
    *("phpsessid", "jsessionid", "cfid", "cftoken", "oscsid", "zenid", "xtcsid", "___sid"),
)

_C0_AND_SPACE = "".join(map(chr, range(0x21)))
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_HEX = "0123456789ABCDEFabcdef"


def _normal_escape(byte: int) -> str:
    return chr(byte) if chr(byte) in _UNRESERVED else f"%{byte:02X}"


_BYTES = tuple(_normal_escape(byte) for byte in range(256))
# Every spelling of every escape, and the % that begins none. What that one means a server has to guess; as %25 it can't
# become half of an escape when its neighbour is decoded.
_ESCAPES = {f"%{high}{low}": _BYTES[int(high + low, 16)] for high in _HEX for low in _HEX} | {"%": "%25"}
_ESCAPE = re.compile("%(?:[0-9A-Fa-f]{2})?")
_NEWLINES_AND_TABS = str.maketrans("", "", "\t\n\r")
# The standard's query percent-encode set, https://url.spec.whatwg.org/#query-percent-encode-set. It has ' as well for
# http; but servers tell ' from %27, and so do the pages that link to them.
# It is named here by all others, as re takes milliseconds to make a set of most of Unicode.
_NOT_IN_QUERY = re.compile("[^!$-;=?-~]+")
# Decided without the parser, which would copy megabytes of `data:`.
_OTHER_SCHEME = re.compile("(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")

_SEGMENT = "[A-Za-z0-9_~-][A-Za-z0-9_.~+,=()!-]*+"
_SEGMENTS = f"{_SEGMENT}(?:/{_SEGMENT})*+/?"
# Links that need no parser: nothing to decode or encode, no empty segment, no dot segment but ../ at the beginning.
_PLAIN_PATH = re.compile(_SEGMENTS)
_PLAIN_LINK = re.compile(rf"(?:(/)|((?:\.\./)*+))({_SEGMENTS})")
# What the answer depends on beside the href: for these the base's origin,
_ROOTED = ("/", "https://", "http://")
# for these its directory. It depends on the whole base where an href begins with ? or has the antique form `http:?x`,
# and on the page's charset unless all is ASCII.
_CACHEABLE = re.compile("(?!\\?|https?:(?!//))[!-~][ -~]*", re.IGNORECASE)
_MAX_CACHED = 8192  # about 3 MB of usual links, 15 MB of the longest
_MAX_CACHED_LENGTH = 1536  # of one entry, in characters


class Resolver:
    """Resolves links to normalised URLs. Keeps the last base and recent answers: one per thread.

    Normalised: resolved by the URL Standard; no fragment, no user or password; host in lower case and punycode without
    a final dot, no default port, no dot segments; escapes of unreserved characters decoded, the others in upper case, a
    % that begins no escape written as %25; no tracking parameters and session ids, neither in the query nor in the path
    (`;jsessionid=`); no empty query. Reserved characters, `'`, empty path segments and the order of the parameters
    stay as they were written.
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
        """`alias` gives the URL that is meant by a normalised one; `scheme` is what `//host` has on other hosts than
        the base's, if not the base's."""
        self._alias = alias
        self._scheme = scheme
        names = "|".join(
            re.escape(name[:-1]) + "[^=&/;]*" if name.endswith("*") else re.escape(name) for name in tracking_parameters
        )
        # Without names, patterns that match nothing.
        self._parameter = re.compile(f"(?:^|&)(?:{names})(?=[=&]|$)" if names else "(?!)", re.IGNORECASE)
        self._path_parameters = re.compile(f";(?:{names})(?:=[^/;]*)?(?=[/;]|$)" if names else "(?!)", re.IGNORECASE)
        self._cache: dict[tuple[str, str], str | None] = {}
        self._base = ""
        self._base_url: str | None = None
        self._directory = self._root = ""
        self._ancestors: list[str] = []

    def resolve(self, href: str, base: str, charset: str = "utf-8") -> str | None:
        """The normalised URL that `href` names on the page `base`, or None where that is no usable http(s) URL.

        `charset`: the page's, for the characters of the query; an unknown one counts as UTF-8.
        """
        if base != self._base:
            self._enter(base)
        if "#" in href:
            href = _without_fragment(href)
        if not href:
            return self._base_url
        key = (self._root if href.startswith(_ROOTED) else self._directory, href)
        found = self._cache.get(key, "")
        return found if found != "" else self._resolve_uncached(key, charset)

    def normalise(self, url: str) -> str | None:
        """The normal form of an absolute URL, or None where that is no usable http(s) URL."""
        normal = self._parse(url, None, "utf-8")
        return normal if normal is None or self._alias is None else self._alias(normal)

    def _enter(self, base: str) -> None:
        self._base_url = self._normal_base(base)
        self._base = base
        self._directory = directory_of(self._base_url or "")
        self._root = origin_of(self._base_url or "") + "/"
        self._ancestors = [self._directory]

    def _normal_base(self, base: str) -> str | None:
        # The pages of a site follow one another.
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
            url = self._elsewhere(url, self._base_url)
        if self._alias is not None and url is not None:
            url = self._alias(url)
        bounded = len(key[0]) + len(href) + len(url or "") <= _MAX_CACHED_LENGTH
        if bounded and (plain or _CACHEABLE.fullmatch(href)):
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            self._cache[key] = url
        return url

    def _elsewhere(self, url: str, base: str) -> str:
        if host_of(url) == host_of(base):
            return url
        return f"{self._scheme}:{url.partition(':')[2]}"

    def _plain(self, href: str) -> str | None:
        if href.startswith(self._root):
            return href if _PLAIN_PATH.fullmatch(href, len(self._root)) else None
        link = _PLAIN_LINK.fullmatch(href)
        if link is None:
            return None
        root, up, path = link.groups()
        return (self._root if root else self._ancestor(len(up) // 3)) + path

    def _ancestor(self, levels: int) -> str:
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
        # What ended the path stays at its end, else white space before it would be stripped. The query is ours: the
        # parser neither knows the page's charset nor leaves a ' alone.
        url = _join(href + (mark or fragment), base)
        if url is None or not url.startswith(("http://", "https://")):
            return None
        url, inherited, _ = url.partition("#")[0].partition("?")
        if inherited and not mark:
            return base
        url = self._normal_path(_without_final_dot(_without_userinfo(url)))
        query = self._normal_query(query, charset)
        return f"{url}?{query}" if query else url

    def _normal_path(self, url: str) -> str:
        if "%" in url:
            url = _normal_escapes(url)
        if ";" not in url:
            return url
        origin = origin_of(url)
        path = url[len(origin) :]
        kept = self._path_parameters.sub("", path)
        # `/a/..;jsessionid=1/` has become a dot segment.
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
    """An http(s) URL as somebody typed it: without its userinfo; the user and the password in that, decoded."""
    text = url.strip(_C0_AND_SPACE).translate(_NEWLINES_AND_TABS)
    match = re.match(r"(https?:[/\\]*)([^/\\?#]*)@", text, re.IGNORECASE)
    if match is None:
        return url, None, None
    user, colon, password = match[2].partition(":")
    return match[1] + text[match.end() :], unquote(user), unquote(password) if colon else None


def origin_of(url: str) -> str:
    """Scheme, host and port of a normalised URL: `https://example.com:8443`."""
    end = url.find("/", 8)
    return url if end < 0 else url[:end]


def host_of(url: str) -> str:
    """The host of a normalised URL, an IPv6 address in its brackets."""
    authority = origin_of(url).partition("://")[2]
    host, colon, port = authority.rpartition(":")
    return host if colon and not port.endswith("]") else authority


def directory_of(url: str) -> str:
    """A normalised URL up to and including the last / of its path."""
    path = url.partition("?")[0]
    return path[: path.rfind("/") + 1]


def last_segment(url: str) -> str:
    """What follows the last / in the path of a normalised URL: a file's name, or nothing."""
    path = url.partition("?")[0]
    return path[path.rfind("/") + 1 :]


def _join(href: str, base: str | None) -> str | None:
    try:
        return normalize_url(href) if base is None else join_url(base, href)
    except ValueError:
        return None


def _without_fragment(href: str) -> str:
    # White space before the # belongs to the path, at the end it would not: then the # stays.
    cut = href.index("#")
    return href[: cut + 1] if cut and href[cut - 1] <= " " else href[:cut]


def _without_userinfo(url: str) -> str:
    at = url.rfind("@", 0, url.find("/", 8)) if "@" in url else -1
    return url if at < 0 else url[: url.index("//") + 2] + url[at + 1 :]


def _without_final_dot(url: str) -> str:
    """`www.example.com.` is `www.example.com` to the DNS, and to whoever reads it."""
    origin = origin_of(url)
    if not origin.endswith(".") and ".:" not in origin:
        return url
    scheme, _, authority = origin.partition("://")
    host, colon, port = authority.partition(":")
    return f"{scheme}://{host.rstrip('.') or host}{colon}{port}{url[len(origin) :]}"


def _without_surrogates(text: str) -> str:
    # As a browser does it: pairs become their character, single ones the replacement character.
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _normal_escapes(text: str) -> str:
    return _ESCAPE.sub(lambda escape: _ESCAPES[escape[0]], text)


def _percent_encode(text: str, codec: str) -> str:
    # Each byte but the unreserved, although a browser leaves the second byte of `ー` in Shift_JIS (0x5B) bare: that is
    # a [, which the same link escaped by its author has as %5B. A character that the charset lacks becomes &#12354;,
    # escaped too.
    return "".join([_BYTES[byte] for byte in text.encode(codec, "xmlcharrefreplace")])


# What the standard calls an encoding's label often means a larger one, https://encoding.spec.whatwg.org/#names-and-labels.
# The keys are Python's names. Everything else, UTF-16 and codecs that are no charsets among it, is sent as UTF-8.
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
    label = re.sub(r"windows-(?=\d+\Z)", "cp", charset.strip().lower().removeprefix("x-"))
    try:
        return _QUERY_CODECS.get(codecs.lookup(label).name, "utf-8")
    except (LookupError, ValueError):
        return "utf-8"
