"""The media type of a response, by its header or by its first bytes."""

from __future__ import annotations

import re
from functools import lru_cache

OCTET_STREAM = "application/octet-stream"
DECOMPRESSION_BOMB = "decompression bomb"
"""Replacement for the media type of a response whose body was dropped because it decompresses to too many bytes."""

# Browsers sniff 1,445 bytes: https://mimesniff.spec.whatwg.org/#reading-the-resource-header
_SNIFFED_BYTES = 1_024
_ESSENCE = re.compile(r"[ \t\r\n]*+([\w!#$%&'*+.^`|~-]++/[\w!#$%&'*+.^`|~-]++)[ \t\r\n]*+(?:[;,]|\Z)", re.ASCII)

# https://mimesniff.spec.whatwg.org/#determining-the-computed-mime-type-of-a-resource
_UNKNOWN_TYPES = frozenset({"*/*", "application/unknown", "unknown/unknown"})

# https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type, with meta and link added
_HTML = re.compile(
    rb"""\s*+ (?: <!-- | <(?:!doctype\s++html | html | head | script | iframe | h1 | div | font | table | a | style
    | title | body | br | b | p | meta | link) [\s/>] )""",
    re.IGNORECASE | re.VERBOSE,
)
_XML = re.compile(rb"\s*+<\?xml\b")
_XHTML = re.compile(rb"<(?:!doctype\s++html|html)[\s>]", re.IGNORECASE)
_GZIP_MAGIC = b"\x1f\x8b\x08"
_TYPE_BY_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
)


def media_type(content_type: str | None, body: bytes) -> str:
    """Return type and subtype in lower case, from the header, or from the body if the header states none."""
    if body.startswith(_GZIP_MAGIC):
        # The body is compressed twice, or the server sent a gzip file with a wrong type. Browsers show neither.
        return "application/gzip"
    return _stated_type(content_type) or _sniffed_type(body)


# The pages of a site have few different headers.
@lru_cache(maxsize=256)
def _stated_type(content_type: str | None) -> str | None:
    match = _ESSENCE.match(content_type or "")
    essence = match[1].lower() if match else None
    return None if essence in _UNKNOWN_TYPES else essence


def _sniffed_type(body: bytes) -> str:
    for magic, essence in _TYPE_BY_MAGIC:
        if body.startswith(magic):
            return essence
    start = body[:_SNIFFED_BYTES].removeprefix(b"\xef\xbb\xbf")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        start = start[2:].replace(b"\0", b"")  # sufficient to find tags in UTF-16
    if _HTML.match(start):
        return "text/html"
    if _XML.match(start):
        return "text/html" if _XHTML.search(start) else "text/xml"
    return OCTET_STREAM
