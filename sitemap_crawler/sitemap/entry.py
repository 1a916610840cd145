"""One listed page as the bytes of one `<url>` element."""

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


SURELY_SHORT = MAX_LOC // 12
"""Characters of a URL: none becomes more than twelve."""
NO_TEXTS: Mapping[str, tuple[str, str]] = MappingProxyType({})


class Entry(NamedTuple):
    """`lastmod` is a W3C datetime, `changefreq` and `priority` are words of the protocol; URLs are absolute and
    percent-encoded, not yet escaped for XML. `section` is where it stands, "" the default one; `alternates` are the
    language codes and URLs of all versions of the page; `image_texts` title and caption by image, empty for none."""

    loc: str
    lastmod: str | None = None
    images: tuple[str, ...] = ()
    videos: tuple[Video, ...] = ()
    changefreq: str | None = None
    priority: str | None = None
    section: str = ""
    alternates: tuple[tuple[str, str], ...] = ()
    image_texts: Mapping[str, tuple[str, str]] = NO_TEXTS

    @property
    def too_long(self) -> bool:
        return is_too_long(self.loc)


class PlainEntries(NamedTuple):
    """Entries of the default section, in columns, that have no more than most pages of most sites."""

    locs: Sequence[str]
    lastmods: Sequence[str | None]
    images: Sequence[Sequence[str]]

    def entries(self) -> Iterator[Entry]:
        return map(Entry, self.locs, self.lastmods, map(tuple, self.images))


def is_too_long(loc: str) -> bool:
    return len(loc) > SURELY_SHORT and len(rfc3986(loc)) > MAX_LOC


def serialise(entry: Entry) -> bytes:
    """One `<url>` element and a line end, UTF-8. Surplus images and videos that lack a required value are left out."""
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
    parts.extend(map(_image, images, map(entry.image_texts.get, entry.images)))
    if entry.videos:
        parts.extend(serialise_video(video, entry.loc) for video in entry.videos)
    parts.append("</url>\n")
    return "".join(parts).encode()


def serialise_plain(entries: PlainEntries) -> list[bytes]:
    """What `serialise` makes of each."""
    lastmods = entries.lastmods
    together = "".join(filter(None, lastmods))
    if escape(together) != together:
        lastmods = [None if lastmod is None else escape(lastmod) for lastmod in lastmods]
    dates = ["" if lastmod is None else f"<lastmod>{lastmod}</lastmod>" for lastmod in lastmods]
    pages = zip(urls_in_xml(entries.locs), dates, _image_lists(entries.images), strict=True)
    return [f"<url><loc>{loc}</loc>{date}{images}</url>\n".encode() for loc, date, images in pages]


def _image_lists(images: Sequence[Sequence[str]]) -> Sequence[str]:
    """The elements of the images of each page."""
    if not any(images):
        return [""] * len(images)
    shown = [found[:MAX_IMAGES] for found in images]
    elements = iter([_image(image) for image in urls_in_xml(list(chain.from_iterable(shown)))])
    return ["".join(islice(elements, len(found))) for found in shown]


def _image(loc: str, texts: tuple[str, str] | None = None) -> str:
    """Of a location in XML."""
    if texts is None:
        return f"<image:image><image:loc>{loc}</image:loc></image:image>"
    title, caption = texts
    # The schema fixes the order.
    words = f"<image:caption>{escape(caption)}</image:caption>" if caption else ""
    words += f"<image:title>{escape(title)}</image:title>" if title else ""
    return f"<image:image><image:loc>{loc}</image:loc>{words}</image:image>"
