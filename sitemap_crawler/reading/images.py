"""The images of a page: one URL for each `<img>`."""

from __future__ import annotations

import re
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.sitemap.limits import MAX_IMAGES, MAX_LOC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml import etree

    from sitemap_crawler.reading.document import Document

# Where lazy-loading scripts (lazysizes, WP Rocket, a3, jQuery.lazyload, ...) keep the URL until the image is in view.
_LAZY_URLS = ("data-src", "data-lazy-src", "data-original", "data-lazy")
_LAZY_SRCSETS = ("data-srcset", "data-lazy-srcset", "data-original-set")
_SRCSETS = ("srcset", *_LAZY_SRCSETS)

# An unexpanded template is no URL: Handlebars and Angular write {{ src }}, Shopify's lazy images photo_{width}x.jpg.
_PLACEHOLDERS = ("{{", "{width}")

_NOTHING = frozenset({"0", "1", "0px", "1px"})  # dimensions of what nobody is meant to see

# Bounds on hostile pages; real ones stay far below.
_MAX_RAW_LENGTH = 8_192
_MAX_CANDIDATES = 64
_MAX_IN_PICTURE = 64
_MAX_PICTURES = 1_000


def find_images(document: Document) -> tuple[str, ...]:
    """Return the images' URLs in document order, each once, at most MAX_IMAGES."""
    pictures = document.all("picture")
    elements = document.root.iter("img", "picture") if pictures else document.all("img")
    found: dict[str, None] = {}
    for url in _image_urls(document, elements):
        found[url] = None
        if len(found) == MAX_IMAGES:
            break
    return tuple(found)


def real_url(document: Document, value: str | None) -> str | None:
    """Return the absolute http(s) URL of a file that `value` names; `None` for data:, blob:, placeholders and "#"."""
    if not value or len(value) > _MAX_RAW_LENGTH:
        return None
    value = value.strip()
    if not value or value[0] == "#" or value[:5].lower() == "data:" or any(mark in value for mark in _PLACEHOLDERS):
        return None
    url = document.resolve(value)
    if url is None or len(url) > MAX_LOC or url == document.url:
        return None
    return url


def _image_urls(document: Document, elements: Iterable[etree._Element]) -> Iterator[str]:
    pictures = 0
    for element in elements:
        if element.tag == "img":
            url = _of_image(document, element)
        else:
            pictures += 1
            url = _of_picture(document, element) if pictures <= _MAX_PICTURES else None
        if url:
            yield url


def _of_image(document: Document, image: etree._Element) -> str | None:
    attributes = image.attrib
    if _is_pixel(attributes):
        return None
    url = real_url(document, attributes.get("src"))
    if url:
        return url
    lazy = (real_url(document, attributes.get(name)) for name in _LAZY_URLS)
    return next(filter(None, lazy), None) or _largest(document, attributes, (*_LAZY_SRCSETS, "srcset"))


def _of_picture(document: Document, picture: etree._Element) -> str | None:
    """Return a URL of its `<source>` elements when its `<img>` gives none."""
    # libxml2 nests a <source> in the one before it, so these are descendants, not children.
    parts = list(islice(picture.iter("img", "source"), _MAX_IN_PICTURE))
    if any(part.tag == "img" and _of_image(document, part) for part in parts):
        return None
    urls = (_largest(document, part.attrib, _SRCSETS) for part in parts if part.tag == "source")
    return next(filter(None, urls), None)


def _is_pixel(attributes: etree._Attrib) -> bool:
    """Tell whether this is a tracking pixel or a spacer.

    With a `srcset` it is a picture that CSS sizes: `width="0" height="0" sizes="100vw"` is usual in Next.js.
    """
    width, height = attributes.get("width"), attributes.get("height")
    if width is None and height is None:
        return False
    tiny = any(size is not None and size.strip().lower() in _NOTHING for size in (width, height))
    return tiny and not any(name in attributes for name in _SRCSETS)


def _largest(document: Document, attributes: etree._Attrib, names: Iterable[str]) -> str | None:
    for name in names:
        value = attributes.get(name)
        for candidate in sorted(parse_srcset(value), key=_size, reverse=True) if value else ():
            url = real_url(document, candidate.url)
            if url:
                return url
    return None


class Candidate(NamedTuple):
    url: str
    width: int  # of a `w` descriptor, in pixels, else 0
    density: float  # of an `x` descriptor; 1 without any


_size = itemgetter(1, 2)

# https://html.spec.whatwg.org/multipage/images.html#parsing-a-srcset-attribute
# Commas belong to a URL unless they end it; after it they end the candidate, unless they stand in parentheses.
_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)((?:(?<!,)(?:[^,(]++|\([^)]*+\)?+)++)?+)")
_DESCRIPTORS = re.compile(
    r"(?:[0-9]{1,9}h\s+)?([0-9]{1,9})w(?:\s+[0-9]{1,9}h)?|([0-9]{1,9}|[0-9]{0,9}\.[0-9]{1,9})x|", re.ASCII
)


def parse_srcset(value: str) -> list[Candidate]:
    """Return the valid candidates in their order; those after the first _MAX_CANDIDATES are not looked at."""
    candidates = []
    # Stripped, because trailing separators would make the search for one more URL quadratic.
    for match in islice(_CANDIDATE.finditer(value.strip("\t\n\f\r ,")), _MAX_CANDIDATES):
        url, rest = match.groups()
        descriptors = _DESCRIPTORS.fullmatch(rest.strip())
        if descriptors:
            width, density = descriptors.groups()
            candidates.append(Candidate(url.rstrip(","), int(width or 0), float(density or 1)))
    return candidates
