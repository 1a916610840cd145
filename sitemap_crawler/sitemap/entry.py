"""One listed page, and the bytes of its `<url>` element."""

from __future__ import annotations

from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.sitemap.escaping import escape, rfc3986, urls_in_xml
from sitemap_crawler.sitemap.limits import MAX_IMAGES, MAX_LOC
from sitemap_crawler.sitemap.video import serialise_video

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sitemap_crawler.sitemap.video import Video


MAX_UNCHECKED_LOC = MAX_LOC // 12
"""Characters of a URL that cannot exceed MAX_LOC: percent-encoding makes at most twelve characters of one."""
NO_TEXTS: Mapping[str, tuple[str, str]] = MappingProxyType({})
"""The image texts of a page without any."""


class Entry(NamedTuple):
    """One page of a sitemap. All URLs are absolute and percent-encoded, but not yet escaped for XML."""

    loc: str
    lastmod: str | None = None
    """A W3C datetime."""
    images: tuple[str, ...] = ()
    videos: tuple[Video, ...] = ()
    changefreq: str | None = None
    """A value of the protocol."""
    priority: str | None = None
    """A value of the protocol."""
    section: str = ""
    """Name of the section; "" for the default section."""
    alternates: tuple[tuple[str, str], ...] = ()
    """Language code and URL of every language version of the page."""
    image_texts: Mapping[str, tuple[str, str]] = NO_TEXTS
    """Title and caption by image URL. Either may be empty."""

    @property
    def too_long(self) -> bool:
        return is_too_long(self.loc)


class PlainEntries(NamedTuple):
    """Columns of entries of the default section that have nothing but URL, lastmod and images, as most pages do."""

    locs: Sequence[str]
    lastmods: Sequence[str | None]
    images: Sequence[Sequence[str]]

    def entries(self) -> Iterator[Entry]:
        return map(Entry, self.locs, self.lastmods, map(tuple, self.images))


def is_too_long(loc: str) -> bool:
    """Return whether the percent-encoded URL exceeds MAX_LOC."""
    return len(loc) > MAX_UNCHECKED_LOC and len(rfc3986(loc)) > MAX_LOC


def serialise(entry: Entry) -> bytes:
    """Return the `<url>` element and a line end, in UTF-8.

    Images beyond MAX_IMAGES and videos without a required value are left out.
    """
    loc, *images = urls_in_xml((entry.loc, *entry.images[:MAX_IMAGES]))
    parts = [f"<url><loc>{loc}</loc>"]
    if entry.lastmod is not None:
        parts.append(f"<lastmod>{escape(entry.lastmod)}</lastmod>")
    if entry.changefreq is not None:
        parts.append(f"<changefreq>{entry.changefreq}</changefreq>")
    if entry.priority is not None:
        parts.append(f"<priority>{entry.priority}</priority>")
    if entry.alternates:
        links = zip(entry.alternates, urls_in_xml([url for _, url in entry.alternates]), strict=True)
        parts.extend(
            f'<xhtml:link rel="alternate" hreflang="{escape(code)}" href="{url}"/>' for (code, _), url in links
        )
    parts.extend(map(_image_element, images, map(entry.image_texts.get, entry.images)))
    if entry.videos:
        parts.extend(serialise_video(video, entry.loc) for video in entry.videos)
    parts.append("</url>\n")
    return "".join(parts).encode()


def serialise_plain(entries: PlainEntries) -> list[bytes]:
    """Return the same bytes as `serialise` for each entry, column by column, which is faster."""
    lastmods = entries.lastmods
    together = "".join(filter(None, lastmods))
    if escape(together) != together:
        lastmods = [None if lastmod is None else escape(lastmod) for lastmod in lastmods]
    dates = ["" if lastmod is None else f"<lastmod>{lastmod}</lastmod>" for lastmod in lastmods]
    pages = zip(urls_in_xml(entries.locs), dates, _image_elements(entries.images), strict=True)
    return [f"<url><loc>{loc}</loc>{date}{images}</url>\n".encode() for loc, date, images in pages]


def _image_elements(pages: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return the image elements of each page as one text."""
    if not any(pages):
        return [""] * len(pages)
    shown = [images[:MAX_IMAGES] for images in pages]
    elements = iter([_image_element(image) for image in urls_in_xml(list(chain.from_iterable(shown)))])
    return ["".join(islice(elements, len(images))) for images in shown]


def _image_element(loc: str, texts: tuple[str, str] | None = None) -> str:
    """Return the element of an image whose URL is already escaped."""
    if texts is None:
        return f"<image:image><image:loc>{loc}</image:loc></image:image>"
    title, caption = texts
    # The schema fixes the order.
    elements = f"<image:caption>{escape(caption)}</image:caption>" if caption else ""
    elements += f"<image:title>{escape(title)}</image:title>" if title else ""
    return f"<image:image><image:loc>{loc}</image:loc>{elements}</image:image>"
