"""The links of a page in plain code: one lxml parse, unique hrefs, `urljoin`."""

from __future__ import annotations

from urllib.parse import urljoin

from lxml import etree


def page_links(body: bytes, url: str) -> list[str]:
    """Return the absolute URLs of the links, without fragments, on any host."""
    root = etree.HTML(body) if body.strip() else None
    if root is None:
        return []
    urls = set()
    for href in {href for link in root.iter("a", "area") if (href := link.get("href"))}:
        try:
            urls.add(urljoin(url, href).partition("#")[0])
        except ValueError:  # the href is no URL
            continue
    return list(urls)
