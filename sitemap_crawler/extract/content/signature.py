"""A page's content as far as it tells one page of a calendar, or of a list without end, from the next."""

from __future__ import annotations

import re
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.extract.content.fingerprint import SIZE, content_of
from sitemap_crawler.extract.content.main_content import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sitemap_crawler.extract.document import Document

MAX_REFERENCES = 500
MAX_METAS = 1_000

_DIGITS = b"0123456789"
_WHITE_SPACE = b" \t\r\n\f\v"
_DATE_WORDS = re.compile(
    rb"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    rb"|nov(?:ember)?|dec(?:ember)?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?",
    re.IGNORECASE,
)


def likeness(
    document: Document, *, dateless: bool, name_of: Callable[[str], str], without: Iterable[str] = ()
) -> bytes:
    """Return SIZE bytes that stand for the main content; `dateless`: without digits and the names of months and days.

    A link counts by what `name_of` makes of its URL, what is embedded by itself: a page may be a picture, whose name is
    a date. The words `without` count for nothing.
    """
    content = content_of(document)
    titles = document.all("title")
    words = (text_of(titles[0]) if titles else b"").translate(None, _WHITE_SPACE) + b"\0" + content.text
    for word in without:
        words = words.replace(word.encode(), b"")
    if dateless:
        words = _DATE_WORDS.sub(b"", words.translate(None, _DIGITS))
    digest = blake2b(words, digest_size=SIZE)
    hrefs = content.links.decode().split("\n")
    named = dict.fromkeys(name_of(document.resolve(href) or href) for href in islice(hrefs, MAX_REFERENCES))
    embedded = content.rest.decode()
    for word in without:
        embedded = embedded.replace(word, "")
    for name in (*named, *hrefs[MAX_REFERENCES:], embedded, *_shared_images(document)):
        digest.update(b"\0")
        digest.update(name.encode())
    return digest.digest()


def _shared_images(document: Document) -> Iterator[str]:
    """What it shows to those who share it."""
    for meta in islice(document.all("meta"), MAX_METAS):
        if meta.get("property") == "og:image":
            yield meta.get("content") or ""
