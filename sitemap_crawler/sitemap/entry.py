"""One listed page as the bytes of one `<url>` element."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.sitemap.escaping import escape, is_plain_url, rfc3986
from sitemap_crawler.sitemap.limits import MAX_IMAGES, MAX_LOC
from sitemap_crawler.sitemap.video import serialise_video

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sitemap_crawler.items import Video


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
        return len(self.loc) > SURELY_SHORT and len(rfc3986(self.loc)) > MAX_LOC


def serialise(entry: Entry) -> bytes:
    """One `<url>` element and a line end, UTF-8. Surplus images and videos that lack a required value are left out."""
    begin = f"<url><loc>{_url(entry.loc)}</loc>"
    if entry.lastmod is not None:
        begin += f"<lastmod>{escape(entry.lastmod)}</lastmod>"
    if not (entry.images or entry.alternates or entry.videos or entry.changefreq or entry.priority):
        return f"{begin}</url>\n".encode()
    parts = [begin]
    if entry.changefreq is not None:
        parts.append(f"<changefreq>{entry.changefreq}</changefreq>")
    if entry.priority is not None:
        parts.append(f"<priority>{entry.priority}</priority>")
    if entry.alternates:
        parts.extend(
            f'<xhtml:link rel="alternate" hreflang="{escape(code)}" href="{_url(url)}"/>'
            for code, url in entry.alternates
        )
    if entry.images:
        parts.extend(_image(image, entry.image_texts.get(image)) for image in entry.images[:MAX_IMAGES])
    if entry.videos:
        parts.extend(serialise_video(video, entry.loc) for video in entry.videos)
    parts.append("</url>\n")
    return "".join(parts).encode()


def _image(image: str, texts: tuple[str, str] | None) -> str:
    title, caption = texts or ("", "")
    # The schema fixes the order.
    words = f"<image:caption>{escape(caption)}</image:caption>" if caption else ""
    words += f"<image:title>{escape(title)}</image:title>" if title else ""
    return f"<image:image><image:loc>{_url(image)}</image:loc>{words}</image:image>"


def _url(url: str) -> str:
    return url if is_plain_url(url) else escape(rfc3986(url))
