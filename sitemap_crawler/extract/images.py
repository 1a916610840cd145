"""The images of a page: the shown images, the images stated as its own, their titles and captions."""

from __future__ import annotations

import re
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from sitemap_crawler.extract.structured_data import json_ld_objects, json_ld_roots, objects_in, type_names
from sitemap_crawler.extract.text import caption
from sitemap_crawler.sitemap.limits import MAX_IMAGES, MAX_LOC
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lxml import etree

    from sitemap_crawler.extract.document import Document

# Attributes in which lazy-loading scripts (lazysizes, WP Rocket, a3, jQuery.lazyload, ...) keep the URL until the image
# is in view.
_LAZY_URLS = ("data-src", "data-lazy-src", "data-original", "data-lazy")
_LAZY_SRCSETS = ("data-srcset", "data-lazy-srcset", "data-original-set")
_SRCSETS = ("srcset", *_LAZY_SRCSETS)

# Marks of an unexpanded template, which is not a URL: Handlebars and Angular write {{ src }}, Shopify's lazy images
# photo_{width}x.jpg.
_PLACEHOLDERS = ("{{", "{width}")

# Widths and heights of invisible images.
_ZERO_SIZES = frozenset({"0", "0px"})
_POINT_SIZES = _ZERO_SIZES | {"1", "1px"}
_HIDDEN = re.compile(r"(?:\A|;)\s*+display\s*+:\s*+none\b", re.IGNORECASE)
_TINY = re.compile(r"(?:\A|;)\s*+(width|height)\s*+:\s*+(?:0|[01]px)\s*+(?=[;!]|\Z)", re.IGNORECASE)

# Tracking requests in the form of an image: hosts with all their subdomains, and parts of URLs on hosts that also serve
# real images.
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

# Types whose `image` is a logo or a portrait.
_OWNER_TYPES = frozenset({"brand", "corporation", "newsmediaorganization", "organization", "person", "website"})
# Properties below which the images show another subject; in lower case.
_FOREIGN_NAMES = """
    author brand citation comment contributor creator editor isbasedon ispartof isrelatedto issimilarto logo mentions
    provider publisher relatedlink review reviews seller significantlink subjectof
    """
_FOREIGN_PROPERTIES = frozenset(_FOREIGN_NAMES.split())

_OG_IMAGE = "og:image"
_OG_IMAGES = frozenset({_OG_IMAGE, "og:image:url", "og:image:secure_url"})
_OG_ORDER = ("og:image:secure_url", _OG_IMAGE, "og:image:url")

_CANDIDATE_SIZE = itemgetter(1, 2)

# Bounds on hostile pages; real ones stay far below.
_MAX_RAW_LENGTH = 8_192  # characters of a reference
_MAX_IN_PICTURE = 64  # <img> and <source> elements of one <picture>
_MAX_PICTURES = 1_000
_MAX_METAS = 1_000
_MAX_LINKS = 10_000
_MAX_STYLE_LENGTH = 1_000  # characters
_MAX_STATED = 100  # images of one JSON-LD object
_MAX_OBJECTS = 1_000  # JSON-LD objects with images
_MAX_CANDIDATES = 64  # of one srcset
_MAX_TEXT_LENGTH = 500  # characters of a title or a caption; not a limit of the protocol

# https://html.spec.whatwg.org/multipage/images.html#parsing-a-srcset-attribute
# A comma belongs to the URL, except at its end. After the URL a comma ends the candidate, except in parentheses.
# The last match has no URL.
_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+(?:([^\t\n\f\r ]++)((?:(?<!,)(?:[^,(]++|\([^)]*+\)?+)++)?+)|\Z)")
_DESCRIPTORS = re.compile(
    r"(?:[0-9]{1,9}h\s+)?([0-9]{1,9})w(?:\s+[0-9]{1,9}h)?|([0-9]{1,9}|[0-9]{0,9}\.[0-9]{1,9})x|", re.ASCII
)


class Candidate(NamedTuple):
    """One image of a `srcset`."""

    url: str
    width: int
    """Pixels of the `w` descriptor; 0 without one."""
    density: float
    """Value of the `x` descriptor; 1 without one."""


def find_images(document: Document) -> tuple[str, ...]:
    """Return the URLs of the images, each once, at most MAX_IMAGES.

    The images that the page shows come first, in document order; the images that it states as its own follow.
    """
    urls: dict[str, None] = {}
    for url in chain(_shown_urls(document), _open_graph_urls(document), _json_ld_urls(document), _link_urls(document)):
        if url and not _is_beacon(url):
            urls[url] = None
            if len(urls) == MAX_IMAGES:
                break
    return tuple(urls)


def find_image_texts(document: Document) -> dict[str, tuple[str, str]]:
    """Return the title and the caption of each image with at least one of them, by URL.

    The title is the `title` attribute, or else `alt`. The caption is that of the figure. Both go into elements of the
    image extension that search engines no longer read.
    """
    texts: dict[str, tuple[str, str]] = {}
    for image in islice(document.all("img"), MAX_IMAGES):
        url = url_of_image(document, image)
        if url is None or url in texts:
            continue
        titles = (one_line(image.get(name) or "", _MAX_TEXT_LENGTH) for name in ("title", "alt"))
        title = next(filter(None, titles), "")
        title_and_caption = (title, one_line(caption(image), _MAX_TEXT_LENGTH))
        if any(title_and_caption):
            texts[url] = title_and_caption
    return texts


def real_url(document: Document, value: str | None) -> str | None:
    """Return the absolute http(s) URL of the file that `value` names.

    Return `None` for data:, blob:, placeholders, fragments and the URL of the page itself.
    """
    if not value or len(value) > _MAX_RAW_LENGTH:
        return None
    value = value.strip()
    if not value or value[0] == "#" or value[:5].lower() == "data:" or any(mark in value for mark in _PLACEHOLDERS):
        return None
    url = document.resolve(value)
    if url is None or len(url) > MAX_LOC or url == document.url:
        return None
    return url


def url_of_image(document: Document, image: etree._Element) -> str | None:
    """Return the URL of an `<img>`; `None` for a tracking pixel, a spacer, a hidden image or an image without a URL."""
    attributes = image.attrib
    if _is_pixel(attributes):
        return None
    url = real_url(document, attributes.get("src"))
    if url:
        return url
    lazy = (real_url(document, attributes.get(name)) for name in _LAZY_URLS)
    return next(filter(None, lazy), None) or _largest_candidate_url(document, attributes, (*_LAZY_SRCSETS, "srcset"))


def parse_srcset(value: str) -> list[Candidate]:
    """Return the valid ones of the first _MAX_CANDIDATES candidates, in their order."""
    candidates = []
    for match in islice(_CANDIDATE.finditer(value), _MAX_CANDIDATES):
        url, rest = match.groups("")
        descriptors = _DESCRIPTORS.fullmatch(rest.strip())
        if url and descriptors:
            width, density = descriptors.groups()
            candidates.append(Candidate(url.rstrip(","), int(width or 0), float(density or 1)))
    return candidates


def _shown_urls(document: Document) -> Iterator[str | None]:
    pictures = document.all("picture")
    elements = document.root.iter("img", "picture") if pictures else document.all("img")
    inert = _images_in_templates(document) if document.all("template") else ()
    picture_count = 0
    for element in elements:
        if element in inert:
            continue
        if element.tag == "img":
            yield url_of_image(document, element)
        else:
            picture_count += 1
            yield _url_of_picture(document, element) if picture_count <= _MAX_PICTURES else None


def _images_in_templates(document: Document) -> set[etree._Element]:
    """Return the images in templates, which browsers do not show. They show declarative shadow roots."""
    inert: set[etree._Element] = set()
    for template in document.all("template"):
        if template not in inert and template.get("shadowrootmode") is None:
            inert.update(template.iter("img", "picture", "template"))
    return inert


def _url_of_picture(document: Document, picture: etree._Element) -> str | None:
    """Return a URL from the `<source>` elements if the `<img>` has none."""
    # libxml2 nests a <source> in the one before it, so the elements are descendants, not children.
    parts = list(islice(picture.iter("img", "source"), _MAX_IN_PICTURE))
    if any(part.tag == "img" and url_of_image(document, part) for part in parts):
        return None
    urls = (_largest_candidate_url(document, part.attrib, _SRCSETS) for part in parts if part.tag == "source")
    return next(filter(None, urls), None)


def _is_pixel(attributes: etree._Attrib) -> bool:
    """Return whether the image is a tracking pixel or a spacer.

    A tiny image with a `srcset` is a picture that CSS sizes: Next.js writes `width="0" height="0" sizes="100vw"`.
    """
    width, height, style = attributes.get("width"), attributes.get("height"), attributes.get("style")
    if width is None and height is None and style is None:
        return False
    if _is_point_sized(width, height) or (style and _is_tiny(style)):
        return not any(name in attributes for name in _SRCSETS)
    return bool(style and _HIDDEN.search(style[:_MAX_STYLE_LENGTH]))


def _is_point_sized(*dimensions: str | None) -> bool:
    """Return whether the given dimensions are those of a point. A long, thin image is a line and does not count."""
    given = [size for size in (size.strip().lower() for size in dimensions if size) if size]
    return bool(given) and (not _ZERO_SIZES.isdisjoint(given) or _POINT_SIZES.issuperset(given))


def _is_tiny(style: str) -> bool:
    sides = {side.lower() for side in _TINY.findall(style[:_MAX_STYLE_LENGTH])}
    # `width: 0; min-width: 100%` fills the enclosing element.
    return len(sides) == 2 and "min-" not in style


def _is_beacon(url: str) -> bool:
    host = "." + url.split("/", 3)[2]
    return host.endswith(_BEACON_HOSTS) or ("?" in url and any(mark in url for mark in _BEACONS))


def _largest_candidate_url(document: Document, attributes: etree._Attrib, names: Iterable[str]) -> str | None:
    for name in names:
        value = attributes.get(name)
        for candidate in sorted(parse_srcset(value), key=_CANDIDATE_SIZE, reverse=True) if value else ():
            url = real_url(document, candidate.url)
            if url:
                return url
    return None


def _open_graph_urls(document: Document) -> Iterator[str | None]:
    """Yield one URL of each image, preferably its secure URL. https://ogp.me/#structured"""
    image: dict[str, str] = {}
    for meta in islice(document.all("meta"), _MAX_METAS):
        name = meta.get("property") or meta.get("name")
        name = name and name.strip().lower()
        if name not in _OG_IMAGES:
            continue
        # Some pages write the secure URL before the image to which it belongs.
        if name in image or (name == _OG_IMAGE and "og:image:url" in image):
            yield _open_graph_url(document, image)
            image = {}
        image[name] = meta.get("content") or ""
    if image:
        yield _open_graph_url(document, image)


def _open_graph_url(document: Document, image: dict[str, str]) -> str | None:
    return next(filter(None, (real_url(document, image.get(name)) for name in _OG_ORDER)), None)


def _json_ld_urls(document: Document) -> Iterator[str | None]:
    """Yield the `image` of the page and of its subjects."""
    if not any("image" in value for value in json_ld_objects(document)):
        return
    objects = (value for root in json_ld_roots(document) for value in objects_in(root, without=_FOREIGN_PROPERTIES))
    with_images = (
        value for value in objects if "image" in value and _OWNER_TYPES.isdisjoint(type_names(value.get("@type")))
    )
    by_id: dict[str, dict[str, Any]] | None = None
    for value in islice(with_images, _MAX_OBJECTS):
        images = value["image"]
        for image in images[:_MAX_STATED] if isinstance(images, list) else (images,):
            if isinstance(image, dict) and not _file_references(image) and isinstance(image.get("@id"), str):
                by_id = _image_objects_by_id(document) if by_id is None else by_id
                image = by_id.get(image["@id"])
            yield _json_ld_url(document, image)


def _json_ld_url(document: Document, image: object) -> str | None:
    files = _file_references(image) if isinstance(image, dict) else [image]
    return next(filter(None, (real_url(document, file) for file in files if isinstance(file, str))), None)


def _file_references(image: dict[str, Any]) -> list[object]:
    return [image[name] for name in ("contentUrl", "url") if name in image]


def _image_objects_by_id(document: Document) -> dict[str, dict[str, Any]]:
    """Return the image objects by `@id`, the first of each; WordPress plug-ins refer to images by `@id`."""
    by_id: dict[str, dict[str, Any]] = {}
    for value in json_ld_objects(document):
        name = value.get("@id")
        if isinstance(name, str) and _file_references(value) and "imageobject" in type_names(value.get("@type")):
            by_id.setdefault(name, value)
    return by_id


def _link_urls(document: Document) -> Iterator[str | None]:
    for rel, link in islice(document.link_elements(), _MAX_LINKS):
        if "image_src" in rel:
            yield real_url(document, link.get("href"))
