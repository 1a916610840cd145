"""Escaping of text for XML, and percent-encoding of URLs as the sitemap protocol demands."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_FORBIDDEN = "\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff"
"""Characters that XML 1.0 forbids even as a reference, https://www.w3.org/TR/xml/#charsets"""
_FORBIDDEN_CHARACTER = re.compile(f"[{_FORBIDDEN}]")
_SPECIAL = re.compile(f"[&<>'\"\r{_FORBIDDEN}]")
_REFERENCES = {
    # The five characters that the protocol demands to escape, https://www.sitemaps.org/protocol.html#escaping
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "'": "&apos;",
    '"': "&quot;",
    # A parser turns a bare carriage return into a line feed, https://www.w3.org/TR/xml/#sec-line-ends
    "\r": "&#13;",
}
_CHARACTERS = {reference: character for character, reference in _REFERENCES.items()}
_REFERENCE = re.compile("|".join(_CHARACTERS))

_URL_CHARACTERS = f"{string.ascii_letters}{string.digits}-._~:/?#@!$&'()*+,;=%"
"""The unreserved and reserved characters without the brackets, and the percent sign of an escape,
https://www.rfc-editor.org/rfc/rfc3986#section-2"""
_URL = re.compile(f"[{re.escape(_URL_CHARACTERS)}]*+")
_URLS_AND_LINE_ENDS = f"{_URL_CHARACTERS}\n".encode()
_NO_URL_CHARACTER = re.compile(r"[^!#-;=?-Z_a-z~]+")
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


def escape(text: str) -> str:
    """Return the text escaped for an element or an attribute, without the characters that XML forbids."""
    return _SPECIAL.sub(_reference, text)


def unescape(text: str) -> str:
    """Return the text that `escape` was given, without its forbidden characters."""
    return _REFERENCE.sub(lambda match: _CHARACTERS[match[0]], text)


def without_forbidden(text: str) -> str:
    """Return the text without the characters that XML forbids."""
    return _FORBIDDEN_CHARACTER.sub("", text)


def urls_in_xml(urls: Sequence[str]) -> list[str]:
    """Return the URLs percent-encoded by RFC 3986 and escaped for XML.

    One call for many URLs costs little more than a call for one.
    """
    text = "\n".join(urls)
    # Nearly all URLs need no percent-encoding. Of their characters, XML escapes only & and '.
    if not text.encode(errors="surrogatepass").translate(None, _URLS_AND_LINE_ENDS):
        escaped = text.replace("&", "&amp;").replace("'", "&apos;").split("\n")
        if len(escaped) == len(urls):
            return escaped
    return [escape(rfc3986(url)) for url in urls]


def rfc3986(url: str) -> str:
    """Return a normalised URL with the characters that RFC 3986 forbids percent-encoded.

    The protocol demands it, https://www.sitemaps.org/protocol.html#escaping. The URL Standard leaves `[ ] |` in a path,
    and also `\\ ^ ` { }` in a query. The brackets around an IPv6 address stay.
    """
    if _URL.fullmatch(url):
        return url
    origin = _ORIGIN.match(url)
    start = origin.end() if origin else 0
    return url[:start] + _NO_URL_CHARACTER.sub(_percent_encoded, url[start:])


def _percent_encoded(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode(errors="replace"))


def _reference(match: re.Match[str]) -> str:
    return _REFERENCES.get(match[0], "")
