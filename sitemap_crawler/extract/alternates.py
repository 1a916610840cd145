"""The language versions that a page names, in `hreflang` links of its head and of `Link:` headers."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.document import head_elements, rel_tokens
from sitemap_crawler.extract.links import parse_link_header
from sitemap_crawler.sitemap.limits import MAX_LOC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sitemap_crawler.extract.document import Document

X_DEFAULT = "x-default"
"""Code of the version for all other languages."""

MAX_ALTERNATES = 500
"""Maximum number of language versions of one page. The largest real sets have fewer than 200."""
MAX_REPORTED = 5
"""Maximum number of invalid codes, and of conflicting codes, that are kept of one page."""
MAX_REPORTED_LENGTH = 40
"""Maximum number of characters of an invalid code that is kept. No valid code is longer."""
_MAX_LINKS = 2_000  # read in one head

# Language of ISO 639-1, script of ISO 15924, region of ISO 3166-1 alpha 2. So en_GB and es-419 are not codes:
# https://developers.google.com/search/docs/specialty/international/localized-versions#language-codes
_CODE = re.compile(r"([a-z]{2})(?:-([a-z]{4}))?(?:-([a-z]{2}))?", re.IGNORECASE | re.ASCII)

# Media types of feeds and oEmbed answers. A link with one of them does not name a language version.
_DATA_TYPE = re.compile(r"(?!application/xhtml\+xml)[^;]*(?:[/+]xml|json|oembed)\s*(?:;|$)", re.IGNORECASE)


class Alternates(NamedTuple):
    """The language versions that a page names, including itself if it names itself."""

    valid: tuple[tuple[str, str], ...] = ()
    """Code and absolute URL, each code once. A URL may have several codes."""
    invalid: tuple[str, ...] = ()
    """Some of the invalid codes, as written, shortened."""
    conflicting: tuple[str, ...] = ()
    """Some of the codes with several URLs, each with two of its URLs. These codes are not among the valid ones."""


_ALTERNATE = "alternate"
_NONE = Alternates()


def find_alternates(
    document: Document | None,
    headers: Mapping[str, Sequence[str]],
    *,
    url: str,
    resolve: Callable[[str, str, str], str | None],
) -> Alternates:
    """Return the versions that `<link rel=alternate hreflang>` in the head and `Link:` headers name together.

    `headers` has lower-case names. `url` is the URL of the page. `resolve` takes a reference, its base and its charset,
    and returns a URL or `None`.
    """
    pairs = [*_pairs_in_head(document), *_pairs_in_headers(headers.get("link", ()), url, resolve)]
    return check_alternates(pairs) if pairs else _NONE


def language_code(text: str) -> str | None:
    """Return an hreflang value in its usual form (`en-GB`, `zh-Hant-TW`, `x-default`), or `None` if it is invalid."""
    # The cache must not keep long texts of hostile pages.
    return _cached_language_code(text) if len(text) <= MAX_REPORTED_LENGTH else None


def check_alternates(pairs: Iterable[tuple[str, str | None]]) -> Alternates:
    """Return the valid, the invalid and the conflicting ones of pairs of a code and a URL.

    The codes are as written. `None` stands for an unusable URL.
    """
    urls: dict[str, set[str]] = {}
    invalid: dict[str, None] = {}
    for text, url in pairs:
        code = language_code(text)
        if code is None:
            if len(invalid) < MAX_REPORTED:
                invalid[text[:MAX_REPORTED_LENGTH]] = None
        elif url is not None and len(url) <= MAX_LOC:
            urls.setdefault(code, set()).add(url)
    valid = [(code, next(iter(targets))) for code, targets in urls.items() if len(targets) == 1]
    conflicting = [f"{code} ({', '.join(sorted(targets)[:2])})" for code, targets in urls.items() if len(targets) > 1]
    return Alternates(tuple(valid[:MAX_ALTERNATES]), tuple(invalid), tuple(conflicting[:MAX_REPORTED]))


def _pairs_in_head(document: Document | None) -> Iterator[tuple[str, str | None]]:
    if document is None or not any(
        link.get("hreflang") is not None for rel, link in document.link_elements() if _ALTERNATE in rel
    ):
        return
    links = (element for element in head_elements(document.root) if element.tag == "link")
    for link in islice((link for link in links if link.get("hreflang") is not None), _MAX_LINKS):
        href, code = link.get("href"), (link.get("hreflang") or "").strip()
        if href and code and _names_version(link.get("rel"), link.get("media"), link.get("type")):
            yield code, document.resolve(href)


def _pairs_in_headers(
    link_headers: Sequence[str], url: str, resolve: Callable[[str, str, str], str | None]
) -> Iterator[tuple[str, str | None]]:
    for target, parameters in parse_link_header(link_headers):
        code, rel = parameters.get("hreflang", "").strip(), parameters.get("rel")
        if not code or not target or "anchor" in parameters:
            continue
        if _names_version(rel, parameters.get("media"), parameters.get("type")):
            yield code, resolve(target, url, "utf-8")


def _names_version(rel: str | None, media: str | None, media_type: str | None) -> bool:
    """Return whether a link names a page in another language.

    A link with `media` names a page for another device. Google asks not to mix such links with hreflang.
    """
    if _ALTERNATE not in rel_tokens(rel) or (media or "all").strip().lower() not in ("", "all"):
        return False
    return not media_type or _DATA_TYPE.match(media_type) is None


@lru_cache(maxsize=1_024)
def _cached_language_code(text: str) -> str | None:
    text = text.strip()
    if text.lower() == X_DEFAULT:
        return X_DEFAULT
    parts = _CODE.fullmatch(text)
    if parts is None:
        return None
    # The import loads a megabyte of tables, which a site in one language does not need.
    import pycountry

    language, script, region = parts.groups()
    if pycountry.languages.get(alpha_2=language) is None:
        return None
    if script and pycountry.scripts.get(alpha_4=script) is None:
        return None
    if region and pycountry.countries.get(alpha_2=region) is None:
        return None
    return "-".join(filter(None, (language.lower(), script and script.title(), region and region.upper())))
