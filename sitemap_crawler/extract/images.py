"""The images of a page: one URL for each `<img>`, and those that it states of itself."""

from __future__ import annotations

import re
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sitemap_crawler.extract.srcset import parse_srcset
from sitemap_crawler.extract.structured_data import json_ld, json_ld_roots, kinds, objects_in
from sitemap_crawler.sitemap.limits import MAX_IMAGES, MAX_LOC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml import etree

    from sitemap_crawler.extract.document import Document

# Where lazy-loading scripts (lazysizes, WP Rocket, a3, jQuery.lazyload, ...) keep the URL until the image is in view.
_LAZY_URLS = ("data-src", "data-lazy-src", "data-original", "data-lazy")
_LAZY_SRCSETS = ("data-srcset", "data-lazy-srcset", "data-original-set")
_SRCSETS = ("srcset", *_LAZY_SRCSETS)

# An unexpanded template is no URL: Handlebars and Angular write {{ src }}, Shopify's lazy images photo_{width}x.jpg.
_PLACEHOLDERS = ("{{", "{width}")

_NOTHING = frozenset({"0", "0px"})
_POINT = _NOTHING | {"1", "1px"}  # dimensions of what nobody is meant to see
_HIDDEN = re.compile(r"(?:\A|;)\s*+display\s*+:\s*+none\b", re.IGNORECASE)
_TINY = re.compile(r"(?:\A|;)\s*+(width|height)\s*+:\s*+(?:0|[01]px)\s*+(?=[;!]|\Z)", re.IGNORECASE)

# Requests that only look like images: hosts with all that is below them, and addresses on hosts that have images, too.
_BEACON_HOSTS = (
    ".analytics.twitter.com",
    ".bat.bing.com",
    ".ct.pinterest.com",
    ".doubleclick.net",
    ".google-analytics.com",
    ".googletagmanager.com",
    ".mc.yandex.com",
    ".mc.yandex.ru",
    ".pixel.quantserve.com",
    ".pixel.wp.com",
    ".px.ads.linkedin.com",
    ".scorecardresearch.com",
    ".stats.wp.com",
)
_BEACONS = ("facebook.com/tr?", "facebook.com/tr/?", "//t.co/i/adsct?", "/matomo.php?", "/piwik.php?")

# Whose `image` is a logo or a portrait, and below which properties the images are those of somebody or something else.
_OWNERS = frozenset({"brand", "corporation", "newsmediaorganization", "organization", "person", "website"})
_ABOUT_OTHERS = """
    author brand citation comment contributor creator editor isbasedon ispartof isrelatedto issimilarto logo mentions
    provider publisher relatedlink review reviews seller significantlink subjectof
    """
_OTHERS = frozenset(_ABOUT_OTHERS.split())

_OG_IMAGE = "og:image"
_OG_IMAGES = frozenset({_OG_IMAGE, "og:image:url", "og:image:secure_url"})
_OG_ORDER = ("og:image:secure_url", _OG_IMAGE, "og:image:url")

_SIZE = itemgetter(1, 2)  # of a candidate

# Bounds on hostile pages; real ones stay far below.
_MAX_RAW_LENGTH = 8_192
_MAX_IN_PICTURE = 64
_MAX_PICTURES = 1_000
_MAX_METAS = 1_000
_MAX_LINKS = 10_000
_MAX_STYLE = 1_000  # characters
_MAX_STATED = 100  # images of one object of JSON-LD
_MAX_OBJECTS = 1_000  # that have images


def find_images(document: Document) -> tuple[str, ...]:
    """Return the images' URLs, each once, at most MAX_IMAGES: what it shows in document order, then what it states."""
    found: dict[str, None] = {}
    for url in chain(_shown(document), _in_open_graph(document), _in_json(document), _in_links(document)):
        if url and not _is_beacon(url):
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


def _shown(document: Document) -> Iterator[str | None]:
    pictures = document.all("picture")
    elements = document.root.iter("img", "picture") if pictures else document.all("img")
    inert = _in_templates(document) if document.all("template") else ()
    seen = 0
    for element in elements:
        if element in inert:
            continue
        if element.tag == "img":
            yield url_of_image(document, element)
        else:
            seen += 1
            yield _of_picture(document, element) if seen <= _MAX_PICTURES else None


def _in_templates(document: Document) -> set[etree._Element]:
    """Return what scripts may make images of. A declarative shadow root, though, is shown."""
    inert: set[etree._Element] = set()
    for template in document.all("template"):
        if template not in inert and template.get("shadowrootmode") is None:
            inert.update(template.iter("img", "picture", "template"))
    return inert


def url_of_image(document: Document, image: etree._Element) -> str | None:
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
    if any(part.tag == "img" and url_of_image(document, part) for part in parts):
        return None
    urls = (_largest(document, part.attrib, _SRCSETS) for part in parts if part.tag == "source")
    return next(filter(None, urls), None)


def _is_pixel(attributes: etree._Attrib) -> bool:
    """Tell whether this is a tracking pixel or a spacer.

    With a `srcset` it is a picture that CSS sizes: `width="0" height="0" sizes="100vw"` is usual in Next.js.
    """
    width, height, style = attributes.get("width"), attributes.get("height"), attributes.get("style")
    if width is None and height is None and style is None:
        return False
    if _is_point(width, height) or (style and _is_tiny(style)):
        return not any(name in attributes for name in _SRCSETS)
    return bool(style and _HIDDEN.search(style[:_MAX_STYLE]))


def _is_point(*dimensions: str | None) -> bool:
    """Tell by its attributes; of the width and the height one may not be given. What is long and thin is a line."""
    given = [size for size in (size.strip().lower() for size in dimensions if size) if size]
    return bool(given) and (not _NOTHING.isdisjoint(given) or _POINT.issuperset(given))


def _is_tiny(style: str) -> bool:
    sides = {side.lower() for side in _TINY.findall(style[:_MAX_STYLE])}
    # `width: 0; min-width: 100%` fills what it is in.
    return len(sides) == 2 and "min-" not in style


def _is_beacon(url: str) -> bool:
    host = "." + url.split("/", 3)[2]
    return host.endswith(_BEACON_HOSTS) or ("?" in url and any(mark in url for mark in _BEACONS))


def _largest(document: Document, attributes: etree._Attrib, names: Iterable[str]) -> str | None:
    for name in names:
        value = attributes.get(name)
        for candidate in sorted(parse_srcset(value), key=_SIZE, reverse=True) if value else ():
            url = real_url(document, candidate.url)
            if url:
                return url
    return None


def _in_open_graph(document: Document) -> Iterator[str | None]:
    """Yield one URL of each image, that for https first. https://ogp.me/#structured"""
    image: dict[str, str] = {}
    for meta in islice(document.all("meta"), _MAX_METAS):
        name = meta.get("property") or meta.get("name")
        name = name and name.strip().lower()
        if name not in _OG_IMAGES:
            continue
        # Some write the secure URL before the image that it belongs to.
        if name in image or (name == _OG_IMAGE and "og:image:url" in image):
            yield _of_open_graph(document, image)
            image = {}
        image[name] = meta.get("content") or ""
    if image:
        yield _of_open_graph(document, image)


def _of_open_graph(document: Document, image: dict[str, str]) -> str | None:
    return next(filter(None, (real_url(document, image.get(name)) for name in _OG_ORDER)), None)


def _in_json(document: Document) -> Iterator[str | None]:
    """Yield the `image` of what this page is, or is about."""
    if not any("image" in value for value in json_ld(document)):
        return
    found = (value for root in json_ld_roots(document) for value in objects_in(root, without=_OTHERS))
    stating = (value for value in found if "image" in value and _OWNERS.isdisjoint(kinds(value.get("@type"))))
    named: dict[str, dict[str, Any]] | None = None
    for value in islice(stating, _MAX_OBJECTS):
        images = value["image"]
        for image in images[:_MAX_STATED] if isinstance(images, list) else (images,):
            if isinstance(image, dict) and not _files(image) and isinstance(image.get("@id"), str):
                named = _named_files(document) if named is None else named
                image = named.get(image["@id"])
            yield _of_json(document, image)


def _of_json(document: Document, image: object) -> str | None:
    files = _files(image) if isinstance(image, dict) else [image]
    return next(filter(None, (real_url(document, file) for file in files if isinstance(file, str))), None)


def _files(image: dict[str, Any]) -> list[object]:
    return [image[name] for name in ("contentUrl", "url") if name in image]


def _named_files(document: Document) -> dict[str, dict[str, Any]]:
    """Return the images to which others refer by their `@id`, as WordPress' plug-ins do; the first of each name."""
    named: dict[str, dict[str, Any]] = {}
    for value in json_ld(document):
        name = value.get("@id")
        if isinstance(name, str) and _files(value) and "imageobject" in kinds(value.get("@type")):
            named.setdefault(name, value)
    return named


def _in_links(document: Document) -> Iterator[str | None]:
    for rel, link in islice(document.link_elements(), _MAX_LINKS):
        if "image_src" in rel:
            yield real_url(document, link.get("href"))
