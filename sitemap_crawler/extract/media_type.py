"""What kind of file a response is."""

from __future__ import annotations

import re
from functools import lru_cache

OCTET_STREAM = "application/octet-stream"
DECOMPRESSION_BOMB = "decompression bomb"
"""Takes the place of the type of a body that is none worth reading, whatever its header says."""

_SNIFFED = 1_024  # bytes; what browsers read is 1,445: https://mimesniff.spec.whatwg.org/#reading-the-resource-header
_ESSENCE = re.compile(r"[ \t\r\n]*+([\w!#$%&'*+.^`|~-]++/[\w!#$%&'*+.^`|~-]++)[ \t\r\n]*+(?:[;,]|\Z)", re.ASCII)

# https://mimesniff.spec.whatwg.org/#determining-the-computed-mime-type-of-a-resource
_MEANINGLESS = frozenset({"*/*", "application/unknown", "unknown/unknown"})

# https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type, with meta and link added
_HTML = re.compile(
    rb"""\s*+ (?: <!-- | <(?:!doctype\s++html | html | head | script | iframe | h1 | div | font | table | a | style
    | title | body | br | b | p | meta | link) [\s/>] )""",
    re.IGNORECASE | re.VERBOSE,
)
_XML = re.compile(rb"\s*+<\?xml\b")
_XHTML = re.compile(rb"<(?:!doctype\s++html|html)[\s>]", re.IGNORECASE)
_GZIP = b"\x1f\x8b\x08"
_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
)


def media_type(content_type: str | None, body: bytes) -> str:
    """Return the type and subtype in lower case, sniffed from the body when the header does not say."""
    if body.startswith(_GZIP):
        # Packed once more than the header says, or a file under the wrong name: browsers show neither.
        return "application/gzip"
    return _stated(content_type) or _sniff(body)


# A site sends a handful of different headers with all its pages.
@lru_cache(maxsize=256)
def _stated(content_type: str | None) -> str | None:
    match = _ESSENCE.match(content_type or "")
    essence = match[1].lower() if match else None
    return None if essence in _MEANINGLESS else essence


def _sniff(body: bytes) -> str:
    for magic, essence in _MAGIC:
        if body.startswith(magic):
            return essence
    start = body[:_SNIFFED].removeprefix(b"\xef\xbb\xbf")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        start = start[2:].replace(b"\0", b"")  # enough of UTF-16 to see tags in it
    if _HTML.match(start):
        return "text/html"
    if _XML.match(start):
        return "text/html" if _XHTML.search(start) else "text/xml"
    return OCTET_STREAM
