"""Which charset a page's bytes are in, decided in the order of the HTML standard."""

from __future__ import annotations

import codecs
import re

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, resolve_encoding

UTF_8 = "utf-8"
WINDOWS_1252 = "cp1252"

_BOMS = ((codecs.BOM_UTF8, UTF_8), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_UTF_16 = {"utf-16": "utf-16-le", "utf-16-le": "utf-16-le", "utf-16-be": "utf-16-be"}

# Python's names for the encodings of https://encoding.spec.whatwg.org/#names-and-labels. An allow-list, because Python
# also has codecs that no page may choose, such as punycode, unicode_escape and zlib.
_ALLOWED = frozenset(
    {UTF_8, "koi8-r", "koi8-u", "mac-roman", "gb18030", "big5hkscs", "euc_jp", "iso2022_jp", *_UTF_16}
    | {f"cp{number}" for number in (866, 874, 932, 949, *range(1250, 1259))}
    | {f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)}
)

# The first thing on the page that could declare a charset, in one of the ways in which nearly all pages do. What
# differs is looked at by w3lib, in the same bytes, which takes five times as long.
_LOOKED_AT = 4_096
_USUAL = re.compile(
    rb"""(?:[^<]++ | <(?!\s*+(?:meta|body) | !-- | \?xml))*+
    (?: <\?xml\ version="1\.0"\ encoding="([\w-]++)"
      | <meta\ (?:charset="|http-equiv="content-type"\ content="text/html;\ ?charset=)([\w-]++)"\s*+/?>)""",
    re.IGNORECASE | re.VERBOSE,
)


def decide_charset(body: bytes, content_type: str) -> str:
    """Return the Python codec of `body`: from its BOM, `Content-Type` or `<meta>`, else UTF-8 or windows-1252."""
    return _from_bom(body) or _from_header(content_type) or _from_markup(body) or _guess(body)


def to_utf8(body: bytes, charset: str) -> bytes:
    """Return `body` as UTF-8; bytes that are invalid in `charset` become U+FFFD.

    libxml2 ends the document at the first byte that is invalid in any charset but UTF-8, where it replaces it.
    """
    if charset == UTF_8:
        return body
    return body.decode(charset, "replace").encode(UTF_8, "replace")


def _from_bom(body: bytes) -> str | None:
    return next((charset for bom, charset in _BOMS if body.startswith(bom)), None)


def _from_header(content_type: str) -> str | None:
    charset = http_content_type_encoding(content_type)
    return _UTF_16.get(charset, charset) if charset in _ALLOWED else None


def _from_markup(body: bytes) -> str | None:
    usual = _USUAL.match(body, 0, _LOOKED_AT)
    charset = resolve_encoding((usual[1] or usual[2]).decode()) if usual else html_body_declared_encoding(body)
    if charset in _UTF_16:  # what could be read byte by byte is not UTF-16: the standard's rule
        return UTF_8
    return charset if charset in _ALLOWED else None


def _guess(body: bytes) -> str:
    try:
        # Not final: a body that was cut off inside a character is still UTF-8.
        codecs.getincrementaldecoder(UTF_8)().decode(body)
    except UnicodeDecodeError:
        return WINDOWS_1252
    return UTF_8
