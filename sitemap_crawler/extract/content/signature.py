"""A signature of a page that is equal for similar pages, such as the pages of a calendar or of an endless list."""

from __future__ import annotations

import re
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.extract.content.fingerprint import HASH_BYTES, read_main_content
from sitemap_crawler.extract.content.main_content import text_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sitemap_crawler.extract.document import Document

MAX_REFERENCES = 500
"""Maximum number of links that are resolved and named. Later links count as written."""
MAX_METAS = 1_000
"""Maximum number of meta elements read on one page."""

_DIGITS = b"0123456789"
_WHITE_SPACE = b" \t\r\n\f\v"
_DATE_WORDS = re.compile(
    rb"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    rb"|nov(?:ember)?|dec(?:ember)?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?",
    re.IGNORECASE,
)


def signature(
    document: Document, *, dateless: bool, name_of: Callable[[str], str], without: Iterable[str] = ()
) -> bytes:
    """Return HASH_BYTES bytes that stand for the main content.

    With `dateless`, digits and the names of months and days do not count. A link counts as the name that `name_of`
    returns for its URL. Embedded media count as written, because a page may be one picture with a date as its name. The
    words in `without` do not count.
    """
    content = read_main_content(document)
    titles = document.all("title")
    text = (text_bytes(titles[0]) if titles else b"").translate(None, _WHITE_SPACE) + b"\0" + content.text
    for word in without:
        text = text.replace(word.encode(), b"")
    if dateless:
        text = _DATE_WORDS.sub(b"", text.translate(None, _DIGITS))
    digest = blake2b(text, digest_size=HASH_BYTES)
    hrefs = content.links.decode().split("\n")
    names = dict.fromkeys(name_of(document.resolve(href) or href) for href in islice(hrefs, MAX_REFERENCES))
    embedded = content.embedded.decode()
    for word in without:
        embedded = embedded.replace(word, "")
    for name in (*names, *hrefs[MAX_REFERENCES:], embedded, *_preview_images(document)):
        digest.update(b"\0")
        digest.update(name.encode())
    return digest.digest()


def _preview_images(document: Document) -> Iterator[str]:
    """Yield the images for a preview of the page in social networks."""
    for meta in islice(document.all("meta"), MAX_METAS):
        if meta.get("property") == "og:image":
            yield meta.get("content") or ""
