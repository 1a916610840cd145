"""URLs that a person may mean by a typed text, and other addresses that a page often has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from sitemap_crawler.exceptions import SpellingError
from sitemap_crawler.urls.normalise import Resolver, directory_of, host_of, last_segment, origin_of
from sitemap_crawler.urls.scope import registrable_domain

if TYPE_CHECKING:
    from collections.abc import Iterator

INDEX_FILES = frozenset(
    f"{stem}.{suffix}"
    for stem in ("index", "default")
    for suffix in ("html", "htm", "xhtml", "php", "asp", "aspx", "jsp", "shtml", "cgi")
)
"""File names, in lower case, under which web servers commonly serve the page of a directory."""
# The two most common names come first.
_INDEX_FILES = sorted(INDEX_FILES, key=lambda name: (name not in ("index.html", "index.php"), name))
_WITH_SCHEME = re.compile(r"https?:", re.IGNORECASE)
_OTHER_SCHEME = re.compile(
    r"(?:mailto|tel|sms|javascript|data|file|ftp|about|blob|news|urn):|[a-z][a-z0-9+.-]*://", re.I
)
# Schemes in which the text before an @ is not a password.
_ADDRESS = re.compile(r"(?:mailto|sms|news|tel):", re.I)
_AUTHORITY = re.compile(r"(?:[^/\\?#]*@)?(?P<host>[\w.-]+|\[[0-9a-f:.]+\])(?P<port>:\d+)?(?P<path>[/\\?#].*)?", re.I)

MAX_SHOWN = 200
"""Maximum number of characters of a typed text in a message."""
MAX_PARENTS = 64
"""Maximum number of directories that `directories_above` yields."""


def spellings(text: str, start_url: str, resolver: Resolver) -> list[str]:
    """Return the URLs of a crawled site that `text` may mean, the likeliest first. Raises SpellingError."""
    text = _without_brackets(text)
    urls: list[str | None] = []
    if _WITH_SCHEME.match(text):
        urls = [resolver.normalise(text)]
    elif text and not _OTHER_SCHEME.match(text):
        absolute = [resolver.normalise(url) for url in _with_scheme(text, first=start_url.partition(":")[0])]
        relative = [resolver.resolve(text, start_url), resolver.resolve(f"/{text.lstrip('/')}", start_url)]
        if text.startswith(("//", "\\\\")):
            relative.pop()
        urls = [*absolute, *relative] if _is_host(text, host_of(start_url)) else [*relative, *absolute]
    usable = [url for url in dict.fromkeys(urls) if url]
    if not usable:
        raise _spelling_error(text)
    return usable


def _spelling_error(text: str) -> SpellingError:
    return SpellingError(f"{shown(text)} is not an http or https URL: give a URL of the site")


def shown(text: str) -> str:
    """Return the representation of a typed text for a message, without a possible user and password."""
    text = _without_brackets(text)
    return repr((text if _ADDRESS.match(text) else text.rpartition("@")[2])[:MAX_SHOWN])


def absolute_spellings(text: str) -> list[str]:
    """Return the URLs that `text` may mean if no site is known; an empty list if `text` is relative to a site.

    Raises SpellingError if `text` cannot be a URL of any site.
    """
    text = _without_brackets(text)
    normalise = Resolver(()).normalise
    if _WITH_SCHEME.match(text):
        urls = [normalise(text)]
    elif not text or _OTHER_SCHEME.match(text):
        raise _spelling_error(text)
    else:
        urls = [normalise(url) for url in _with_scheme(text, first="https")]
    return [url for url in urls if url]


def without_variant(url: str) -> str:
    """Return `url` without scheme and www: the part that the http, https, www and apex addresses of a page share."""
    return url.partition("://")[2].removeprefix("www.")


def directories_above(url: str) -> Iterator[str]:
    """Yield the directory of a normalised URL and its parent directories, the nearest first."""
    directory, top = directory_of(url), f"{origin_of(url)}/"
    for _ in range(MAX_PARENTS):
        yield directory
        if directory == top:
            return
        directory = directory[: directory.rindex("/", 0, -1) + 1]


def _without_brackets(text: str) -> str:
    return text.strip().removeprefix("<").removesuffix(">").strip()


def _with_scheme(text: str, *, first: str) -> list[str]:
    """Return a text that begins with a host as an https and an http URL; an empty list for any other text."""
    text = text.removeprefix("//")
    if text.startswith(("/", "\\", ".", "?", "#")) or not _AUTHORITY.fullmatch(text):
        return []
    return [f"{scheme}://{text}" for scheme in (first, "http" if first == "https" else "https")]


def _is_host(text: str, start_host: str) -> bool:
    """Return whether `text` probably begins with a host, not with a directory or file of the site."""
    authority = _AUTHORITY.fullmatch(text)
    if authority is None:
        return False
    host = authority["host"].lower()
    if authority["port"] or "@" in text[: authority.end("host")] or host == "localhost" or host.startswith("www."):
        return True
    if host.removeprefix("www.") == start_host.removeprefix("www."):
        return True
    # The path is required, because `readme.md` and `install.sh` could be domains, too.
    return bool(authority["path"]) and "." in host and registrable_domain(host) is not None


def variants(url: str, resolver: Resolver) -> list[str]:
    """Return other addresses that the page of `url` often has, the likeliest first.

    The last ones differ from `url` in both origin and path.
    """
    origins = list(_other_origins(url))
    slashed, *others = _other_paths(url)
    crossed = (path for origin in origins for path in _other_paths(origin))
    normal = (resolver.normalise(variant) for variant in (slashed, *origins, *others, *crossed))
    return [variant for variant in dict.fromkeys(normal) if variant and variant != url]


def _other_origins(url: str) -> Iterator[str]:
    scheme, _, rest = url.partition("://")
    other = "http" if scheme == "https" else "https"
    www = rest.removeprefix("www.") if rest.startswith("www.") else f"www.{rest}"
    yield from (f"{other}://{rest}", f"{scheme}://{www}", f"{other}://{www}")


def _other_paths(url: str) -> Iterator[str]:
    path, mark, query = url.partition("?")
    rest = mark + query
    yield (path[:-1] if path.endswith("/") else f"{path}/") + rest
    name = last_segment(url)
    if name.lower() in INDEX_FILES:
        yield directory_of(url) + rest
    elif not name:
        yield from (f"{path}{index}{rest}" for index in _INDEX_FILES)
    yield path
    origin = origin_of(url)
    below = path[len(origin) :]
    decoded = unquote(below)
    yield origin + below.lower() + rest
    yield origin + decoded.replace("?", "%3F").replace("#", "%23") + rest
    yield from (origin + quote(decoded, safe=safe) + rest for safe in ("/:@!$&'()*,;=+", "/"))
    yield origin + below.replace("+", "%20") + rest
    yield origin + below.replace("%20", "+") + rest
    yield path + mark + unquote(query).replace("#", "%23")
