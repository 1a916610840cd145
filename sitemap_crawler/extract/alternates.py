"""The language versions of a page that it names: `hreflang` links of its head and of `Link:` headers."""

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

# Bounds on hostile pages; the largest real sets have fewer than two hundred versions.
MAX_ALTERNATES = 500
MAX_REPORTED = 5
MAX_REPORTED_LENGTH = 40  # characters
_MAX_LINKS = 2_000

# Language of ISO 639-1, script of ISO 15924, region of ISO 3166-1 alpha 2; so neither en_GB nor es-419 is a code:
# https://developers.google.com/search/docs/specialty/international/localized-versions#language-codes
_CODE = re.compile(r"([a-z]{2})(?:-([a-z]{4}))?(?:-([a-z]{2}))?", re.IGNORECASE | re.ASCII)

# A link with one of these media types names a feed or an oEmbed answer, in whatever language.
_DATA = re.compile(r"(?!application/xhtml\+xml)[^;]*(?:[/+]xml|json|oembed)\s*(?:;|$)", re.IGNORECASE)


class Alternates(NamedTuple):
    """What a page says of its language versions, itself among them if it names itself."""

    valid: tuple[tuple[str, str], ...] = ()  # code and absolute URL, each code once; a URL may have several
    invalid: tuple[str, ...] = ()  # some of the codes that are none, as written, shortened
    conflicting: tuple[str, ...] = ()  # codes that name several URLs, with two of these: they count for none


_ALTERNATE = "alternate"
_NONE = Alternates()


def find_alternates(
    document: Document | None,
    headers: Mapping[str, Sequence[str]],
    *,
    url: str,
    resolve: Callable[[str, str, str], str | None],
) -> Alternates:
    """Return what `<link rel=alternate hreflang>` in the head and `Link:` headers say together.

    `headers` has lower-case names; `url` is the page's own URL; `resolve` makes a URL of a reference, its base and its
    charset, or `None`.
    """
    named = [*_in_page(document), *_in_headers(headers.get("link", ()), url, resolve)]
    return sorted_out(named) if named else _NONE


def language_code(text: str) -> str | None:
    """Return an hreflang value in its usual form (`en-GB`, `zh-Hant-TW`, `x-default`), `None` when it is not valid."""
    # The cache must not keep long texts of hostile pages.
    return _language_code(text) if len(text) <= MAX_REPORTED_LENGTH else None


def sorted_out(named: Iterable[tuple[str, str | None]]) -> Alternates:
    """Return what the pairs of a code, as written, and a URL, `None` for what is none, say together."""
    urls: dict[str, set[str]] = {}
    invalid: dict[str, None] = {}
    for text, url in named:
        code = language_code(text)
        if code is None:
            if len(invalid) < MAX_REPORTED:
                invalid[text[:MAX_REPORTED_LENGTH]] = None
        elif url is not None and len(url) <= MAX_LOC:
            urls.setdefault(code, set()).add(url)
    valid = [(code, next(iter(found))) for code, found in urls.items() if len(found) == 1]
    conflicting = [f"{code} ({', '.join(sorted(found)[:2])})" for code, found in urls.items() if len(found) > 1]
    return Alternates(tuple(valid[:MAX_ALTERNATES]), tuple(invalid), tuple(conflicting[:MAX_REPORTED]))


def _in_page(document: Document | None) -> Iterator[tuple[str, str | None]]:
    if document is None or not any(
        link.get("hreflang") is not None for rel, link in document.link_elements() if _ALTERNATE in rel
    ):
        return
    links = (element for element in head_elements(document.root) if element.tag == "link")
    for link in islice((link for link in links if link.get("hreflang") is not None), _MAX_LINKS):
        href, code = link.get("href"), (link.get("hreflang") or "").strip()
        if href and code and _names_version(link.get("rel"), link.get("media"), link.get("type")):
            yield code, document.resolve(href)


def _in_headers(
    link_headers: Sequence[str], url: str, resolve: Callable[[str, str, str], str | None]
) -> Iterator[tuple[str, str | None]]:
    for target, parameters in parse_link_header(link_headers):
        code, rel = parameters.get("hreflang", "").strip(), parameters.get("rel")
        if not code or not target or "anchor" in parameters:
            continue
        if _names_version(rel, parameters.get("media"), parameters.get("type")):
            yield code, resolve(target, url, "utf-8")


def _names_version(rel: str | None, media: str | None, media_type: str | None) -> bool:
    """Tell whether it is a page in another language: with `media` it is one for another device, which Google does not
    want to be mixed with hreflang."""
    if _ALTERNATE not in rel_tokens(rel) or (media or "all").strip().lower() not in ("", "all"):
        return False
    return not media_type or _DATA.match(media_type) is None


@lru_cache(maxsize=1_024)
def _language_code(text: str) -> str | None:
    text = text.strip()
    if text.lower() == X_DEFAULT:
        return X_DEFAULT
    parts = _CODE.fullmatch(text)
    if parts is None:
        return None
    # Loads a megabyte of tables, which a site in one language need not wait for.
    import pycountry

    language, script, region = parts.groups()
    if pycountry.languages.get(alpha_2=language) is None:
        return None
    if script and pycountry.scripts.get(alpha_4=script) is None:
        return None
    if region and pycountry.countries.get(alpha_2=region) is None:
        return None
    return "-".join(filter(None, (language.lower(), script and script.title(), region and region.upper())))
