"""A site of any size, made while it is served: `python benchmarks/endless.py LOG PAGES DELAY`.

Prints its port on the first line of its output. Every answer takes DELAY seconds. Page n links to ten pages below it in
a tree and to three others, has an ETag, and answers a conditional request with 304.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from server import NOT_FOUND, Answer, serve

FAN_OUT = 10
WORDS = ("the", "crawler", "reads", "every", "page", "once", "and", "keeps", "what", "it", "saw", "in", "a", "table")


class Endless:
    def __init__(self, pages: int) -> None:
        self._pages = pages

    def answer(self, path: str, headers: dict[str, str]) -> Answer:
        number = page_number(path)
        if number is None or number >= self._pages:
            return NOT_FOUND
        etag = f'"{number:x}"'
        if headers.get("if-none-match") == etag:
            return Answer("304 Not Modified", "text/html", headers=f"ETag: {etag}\r\n")
        return Answer("200 OK", "text/html; charset=utf-8", made_page(number, self._pages), f"ETag: {etag}\r\n")


def made_page(number: int, pages: int) -> bytes:
    """Return page `number` of a site of `pages` pages, about 1 kB. Equal arguments give equal bytes."""
    below = range(number * FAN_OUT + 1, min((number + 1) * FAN_OUT + 1, pages))
    others = (number // FAN_OUT, (number * 7_919) % pages, 0)
    links = "".join(f'<li><a href="{page_path(target)}">Page {target}</a></li>' for target in (*below, *others))
    words = " ".join(WORDS[(number + position) % len(WORDS)] for position in range(150))
    return (
        f"<!DOCTYPE html><html lang=en><head><title>Page {number}</title></head><body><main><h1>Page {number}</h1>"
        f"<p>{words}</p></main><nav><ul>{links}</ul></nav></body></html>"
    ).encode()


def page_path(number: int) -> str:
    """Return the path of page `number`; the root for page 0."""
    return f"/section-{number % 97}/article-{number}.html" if number else "/"


def page_number(path: str) -> int | None:
    """Return the number of the page at a path, or None if there is no such page."""
    if path == "/":
        return 0
    digits = path.rpartition("-")[2].removesuffix(".html")
    return int(digits) if digits.isascii() and digits.isdigit() and page_path(int(digits)) == path else None


if __name__ == "__main__":
    asyncio.run(serve(Endless(int(sys.argv[2])), Path(sys.argv[1]), delay=float(sys.argv[3])))
