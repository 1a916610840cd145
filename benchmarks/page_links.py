"""The links of a page as one would write them by hand: one lxml parse, unique hrefs, `urljoin`."""

from __future__ import annotations

from urllib.parse import urljoin

from lxml import etree


def page_links(body: bytes, url: str) -> list[str]:
    """Absolute URLs without fragments, on whatever host."""
    root = etree.HTML(body) if body.strip() else None
    if root is None:
        return []
    found = set()
    for href in {href for link in root.iter("a", "area") if (href := link.get("href"))}:
        try:
            found.add(urljoin(url, href).partition("#")[0])
        except ValueError:  # no URL
            continue
    return list(found)
