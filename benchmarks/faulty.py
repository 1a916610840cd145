"""The made site of `endless.py` with failing and with hostile pages: `python benchmarks/faulty.py LOG PAGES`.

One page in a hundred fails, one in a thousand is hostile. Only pages without pages below them are, so that every other
page can be found. Prints its port on the first line of its output.
"""

from __future__ import annotations

import asyncio
import gzip
import sys
from functools import cache
from pathlib import Path

from endless import FAN_OUT, Endless, page_number
from server import Answer, serve

# Nine of ten pages have none below them.
_FAILING, _HOSTILE = (90, 37), (900, 500)
"""Divisor and remainder of the numbers of these pages."""
FAILURES = ("500 Internal Server Error", "404 Not Found", "410 Gone", "403 Forbidden")
BOMB_BYTES = 100_000_000


class Faulty(Endless):
    def __init__(self, pages: int) -> None:
        super().__init__(pages)
        self._pages = pages

    def answer(self, path: str, headers: dict[str, str]) -> Answer:
        number = page_number(path)
        if number is not None and is_failing(number, self._pages):
            status = FAILURES[number // _FAILING[0] % len(FAILURES)]
            return Answer(status, "text/html", b"<title>Error</title>")
        if number is not None and is_hostile(number, self._pages):
            pages = hostile_pages()
            return pages[number // _HOSTILE[0] % len(pages)]
        return super().answer(path, headers)


def is_failing(number: int, pages: int) -> bool:
    return _is_leaf(number, pages) and number % _FAILING[0] == _FAILING[1]


def is_hostile(number: int, pages: int) -> bool:
    return _is_leaf(number, pages) and number % _HOSTILE[0] == _HOSTILE[1]


def _is_leaf(number: int, pages: int) -> bool:
    return number * FAN_OUT + 1 >= pages


@cache
def hostile_pages() -> list[Answer]:
    """Return one answer of each kind. None leads to another page of the site, and none lasts for ever."""
    bodies = [
        b"<p " + b"".join(b"a%d=1 " % number for number in range(20_000)) + b">",
        b"<div>" * 50_000,
        b"</html " * 20_000,
        b'<script type="application/ld+json">' + b'{"a":[' * 50_000 + b"</script>",
        b"".join(b"<a href=https://other.example/%d>x</a>" % number for number in range(20_000)),
        b"<title>\x1b[2J\0\x9b" + b"A long title. " * 20_000 + b"</title>",
        b'<img srcset="' + b"a.png 1x, " * 50_000 + b'">',
        bytes(range(256)) * 2_000,
        b"<table><tr><td>" * 20_000,
        b'<base href="javascript:x">' + b"<meta http-equiv=refresh content=0;url=//>" * 5_000,
    ]
    answers = [Answer("200 OK", "text/html", body) for body in bodies]
    coded = "Content-Encoding: gzip\r\n"
    bomb = gzip.compress(bytes(BOMB_BYTES), compresslevel=9, mtime=0)
    answers.append(Answer("200 OK", "text/html", bomb, coded))
    answers.append(Answer("200 OK", "text/html", bomb[: len(bomb) // 2], coded))
    answers.append(Answer("200 OK", "text/html; charset=\x7f", b"<a href=x>", "ETag: \x01\r\nLink: <x>;;;rel\r\n"))
    answers.append(Answer("302 Found", "text/html", b"", "Location: http://[\r\n"))
    return answers


if __name__ == "__main__":
    asyncio.run(serve(Faulty(int(sys.argv[2])), Path(sys.argv[1])))
