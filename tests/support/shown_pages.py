"""Pages that are shown to the yields of a run, each with its texts as numbers."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sitemap_crawler.traps.yields import Yields

HOST = "https://www.example.com"


def texts_of(*texts: int) -> bytes:
    """Return a page that shows these texts, each of ten characters."""
    return array("I", [number for text in texts for number in (text, 10)]).tobytes()


def show(yields: Yields, path: str, *texts: int, links: Iterable[str] = (), is_listable: bool = True) -> int | None:
    """Show a page, put what it proves into effect, and return the percentage that is new; None if it yields.

    A URL is admitted before it is shown, and so is its path.
    """
    for url in (HOST + path.partition("?")[0], HOST + path):
        yields.admit(url)
    percent, refused = yields.add(HOST + path, texts_of(*texts), "Title", links, is_listable=is_listable)
    yields.refuse(refused)
    return percent
