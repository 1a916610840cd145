"""What must not reach the parser: a tag with so many attributes that libxml2 is busy with it for hours.

It appends each attribute at the end of a linked list, so the time grows with the square of their number: 64,000 take
5 s, and a body of 15 MB has room for millions.
"""

from __future__ import annotations

import re

MAX_ATTRIBUTES = 5_000  # of one tag; the largest real ones have some dozens
_HARMLESS = 131_072  # bytes; the attributes that such a short body has room for take about 3 s

# Bytes that the attributes of one tag need to keep the parser busy for more than some hundredths of a second.
_GAP = 10_000
_TRIES = 20  # in each gap, to find where no tag is open
_BEFORE_QUOTE = 8  # bytes in which the = of a value is looked for

_ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?+)?+"""
_ATTRIBUTES = rb"(?:%s){0,%d}+(?![\s/]*+[^\s/>])" % (_ATTRIBUTE, MAX_ATTRIBUTES)
_TAG = rb"<[a-zA-Z][^\s/>]*+" + _ATTRIBUTES
_COMMENT = rb"<!--(?!-?>)(?:[^-]++|-(?!-!?>))*+"


def _any_case(name: str) -> bytes:
    return "".join(f"[{letter}{letter.upper()}]" for letter in name).encode()


def _raw_text_element(name: str) -> bytes:
    """An element whose content is text up to its own end tag, whatever tags that text seems to have."""
    tag = _any_case(name) + rb"(?=[\s/>])"
    return rb"<%s%s[\s/]*+>(?:[^<]++|<(?!/%s))*+" % (tag, _ATTRIBUTES, tag)


_RAW_TEXT = b"|".join(map(_raw_text_element, ("script", "style", "title", "textarea", "iframe", "xmp", "noembed")))
# Consumes markup up to a tag with too many attributes, each byte once. IGNORECASE would make it twice as slow.
_BOUNDED = re.compile(rb"(?:[^<]++|<(?![a-zA-Z!])|%s|<!|%s|%s)*+" % (_COMMENT, _RAW_TEXT, _TAG))


def without_attribute_flood(body: bytes) -> bytes:
    """Return the body up to the first tag with more than MAX_ATTRIBUTES attributes: nearly always all of it."""
    if not _may_hold_flood(body):
        return body
    bounded = _BOUNDED.match(body)
    return body[: bounded.end()] if bounded else body


def _may_hold_flood(body: bytes) -> bool:
    """Cheap, and nearly always false of real pages: the exact look would cost half as much as the parse."""
    if len(body) <= _HARMLESS:
        return False
    outside = 0
    for at in range(0, len(body) - _GAP, _GAP):
        outside = _outside_of_tags(body, outside, at)
        if outside < 0:
            return True
    return False


def _outside_of_tags(body: bytes, outside: int, at: int) -> int:
    """Return where in the gap from `at` on surely no tag is open, as none is at `outside`; -1 when that can't be said.

    A > ends any tag, unless it stands in a quoted value.
    """
    end = at - 1
    for _ in range(_TRIES):
        end = body.find(b">", end + 1, at + _GAP)
        if end < 0:
            return -1
        if not _may_be_quoted(body, b'"', outside, end) and not _may_be_quoted(body, b"'", outside, end):
            return end + 1
    return -1


def _may_be_quoted(body: bytes, quote: bytes, outside: int, at: int) -> bool:
    """Whether the last quotation mark may have begun a value, as one that an = precedes does."""
    begin = body.rfind(quote, outside, at)
    return begin >= 0 and body[max(outside, begin - _BEFORE_QUOTE) : begin].rstrip()[-1:] in (b"", b"=")
