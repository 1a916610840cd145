"""What must not reach the parser: a tag with so many attributes that libxml2 is busy with it for hours.

It appends each attribute at the end of a linked list, so the time grows with the square of their number: 64,000 take
5 s, and a body of 15 MB has room for millions.
"""

from __future__ import annotations

import re

MAX_ATTRIBUTES = 5_000  # of one tag; the largest real ones have some dozens
_HARMLESS = 131_072  # bytes; the attributes that such a short body has room for take about 3 s

# Bytes without any > that a tag of bare attributes needs, and = signs that one of quoted attributes, which may hide its
# > in their values, needs to be a flood: fewer of them keep the parser busy for half a second at most.
_GAP = 10_000
_EQUALS_SIGNS = 20_000

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
    """Cheap on all real pages, where the exact look would cost half as much as the parse."""
    if len(body) <= _HARMLESS:
        return False
    windows = range(0, len(body) - _GAP, _GAP)
    return body.count(b"=") > _EQUALS_SIGNS or any(body.find(b">", at, at + _GAP) < 0 for at in windows)
