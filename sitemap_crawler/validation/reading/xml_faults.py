"""Faults of XML in the words of the fault: what stands at the place at which expat stops, and what is missing there."""

from __future__ import annotations

import re
from html.entities import name2codepoint
from typing import NamedTuple
from xml.parsers.expat import ErrorString, errors

from sitemap_crawler.validation import protocol

CONTEXT = 200
"""Number of bytes before and after the place that are looked at."""
PREFIXES = {
    "image": protocol.IMAGE,
    "video": protocol.VIDEO,
    "news": protocol.NEWS,
    "xhtml": protocol.XHTML,
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
}
"""The usual prefixes of sitemaps, with their namespaces."""
_FIRST_PRINTABLE = 0x20
_NAME = r"[A-Za-z_][\w.-]{0,40}"
_AMPERSAND = re.compile(rb"&[^;&<>\s]{0,100}\Z")
_LESS_THAN = re.compile(rb"<[^<>]{0,100}\Z")
_UNQUOTED = re.compile(rb"<[\w:.-]{1,40}(?:\s[^<>]{0,100})?=\s{0,10}\Z")
_ENTITY = re.compile(rf"&({_NAME});".encode("ascii"))
# Expat stops behind the `</`.
_END_TAG = re.compile(rf"(?:</)?(?:{_NAME}:)?({_NAME})".encode("ascii"))
_PREFIX = re.compile(rf"</?({_NAME}):".encode("ascii"))
_ATTRIBUTE_PREFIX = re.compile(rf"\s(?!xmlns:|xml:)({_NAME}):{_NAME}\s{{0,10}}=".encode("ascii"))


class XmlFault(NamedTuple):
    """A fault of a document: the rule that it breaks, and a message that follows "the file"."""

    rule: str
    message: str
    replacement: str | None = None
    """The right text, as it is written in the file; None if it is not known."""


def fault_of(code: int, data: bytes, place: int, elements: list[str]) -> XmlFault:
    """Return the fault at which expat stopped with an error code.

    `data` is what expat has read last, and `place` the position of the fault in it; negative if it lies before.
    `elements` are the names of the open elements.
    """
    before = data[max(0, place - CONTEXT) : place] if place >= 0 else b""
    after = data[place : place + CONTEXT] if place >= 0 else b""
    name = errors.messages[code]
    inside = f"within <{elements[-1]}>" if elements else "before its first element"
    if name == errors.XML_ERROR_UNBOUND_PREFIX:
        return _undeclared(after)
    if name == errors.XML_ERROR_MISPLACED_XML_PI:
        where = "has a second <?xml …?>" if elements else "has something before <?xml …?>"
        return XmlFault("text-before-declaration", where)
    if name == errors.XML_ERROR_NO_ELEMENTS and not elements:
        return XmlFault("not-well-formed", "is not well-formed XML: it has no element")
    if name in (errors.XML_ERROR_NO_ELEMENTS, errors.XML_ERROR_UNCLOSED_CDATA_SECTION):
        return XmlFault("cut-file", f"ends {inside}")
    if name in (errors.XML_ERROR_UNCLOSED_TOKEN, errors.XML_ERROR_PARTIAL_CHAR):
        return XmlFault("cut-file", f"ends within a tag, a comment or a character, {inside}")
    if name == errors.XML_ERROR_UNDEFINED_ENTITY and (entity := _ENTITY.match(after)):
        known = name2codepoint.get(entity[1].decode())
        character = None if known is None else f"&#{known};"
        return XmlFault("unknown-entity", f"uses &{entity[1].decode()};, which XML does not know", character)
    if name == errors.XML_ERROR_BAD_CHAR_REF:
        return XmlFault("control-character", "refers to a character that XML does not allow")
    if name == errors.XML_ERROR_TAG_MISMATCH and elements and (end := _END_TAG.match(after)):
        message = f"has </{end[1].decode()}> in the place of </{elements[-1]}>"
        return XmlFault("not-well-formed", f"is not well-formed XML: it {message}")
    if name == errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT:
        return XmlFault("not-well-formed", "is not well-formed XML: it goes on after the end of its root element")
    if name == errors.XML_ERROR_INVALID_TOKEN and after:
        return _invalid_token(before, after)
    return XmlFault("not-well-formed", f"is not well-formed XML: {ErrorString(code) or 'syntax error'}")


def _undeclared(tag: bytes) -> XmlFault:
    found = _PREFIX.match(tag) or _ATTRIBUTE_PREFIX.search(tag.partition(b">")[0])
    if found is None:
        return XmlFault("undeclared-prefix", "uses a prefix that it does not declare")
    prefix = found[1].decode()
    namespace = PREFIXES.get(prefix)
    declaration = f'xmlns:{prefix}="{namespace}" in the first element' if namespace else None
    return XmlFault("undeclared-prefix", f"uses the prefix {prefix}:, which it does not declare", declaration)


def _invalid_token(before: bytes, after: bytes) -> XmlFault:
    if after[0] < _FIRST_PRINTABLE and after[:1] not in b"\t\n\r":
        return XmlFault("control-character", f"has the control character U+{after[0]:04X}")
    if _AMPERSAND.search(before) or after[:1] == b"&":
        return XmlFault("unescaped-character", "has an & that begins no reference", "&amp;")
    if _UNQUOTED.search(before):
        message = "is not well-formed XML: it has an attribute without quotation marks"
        return XmlFault("not-well-formed", message)
    if _LESS_THAN.search(before) or after[:1] == b"<":
        return XmlFault("unescaped-character", "has a < that begins no tag", "&lt;")
    return XmlFault("not-well-formed", "is not well-formed XML: a character stands where it may not")
