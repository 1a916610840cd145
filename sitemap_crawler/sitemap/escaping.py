"""Text inside XML and what of it XML can't hold; URLs as the protocol wants them."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# What XML 1.0 forbids even as a reference, https://www.w3.org/TR/xml/#charsets
_FORBIDDEN = "\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff"
_FORBIDDEN_CHARACTER = re.compile(f"[{_FORBIDDEN}]")
_SPECIAL = re.compile(f"[&<>'\"\r{_FORBIDDEN}]")
_REFERENCES = {
    # The five that the protocol demands, https://www.sitemaps.org/protocol.html#escaping
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

# Unreserved and reserved characters but the brackets, and escapes, https://www.rfc-editor.org/rfc/rfc3986#section-2
_URL_CHARACTERS = f"{string.ascii_letters}{string.digits}-._~:/?#@!$&'()*+,;=%"
_URL = re.compile(f"[{re.escape(_URL_CHARACTERS)}]*+")
_URLS_AND_LINE_ENDS = f"{_URL_CHARACTERS}\n".encode()
_NO_URL_CHARACTER = re.compile(r"[^!#-;=?-Z_a-z~]+")
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


def escape(text: str) -> str:
    """Text for an element's content; characters that XML can't hold are left out."""
    return _SPECIAL.sub(_reference, text)


def unescape(text: str) -> str:
    """The text that `escape` made this of."""
    return _REFERENCE.sub(lambda match: _CHARACTERS[match[0]], text)


def without_forbidden(text: str) -> str:
    """Text without the characters that XML can't hold."""
    return _FORBIDDEN_CHARACTER.sub("", text)


def urls_in_xml(urls: Sequence[str]) -> list[str]:
    """URLs as they stand in a sitemap: by that RFC, and escaped. Many at once cost little more than one."""
    text = "\n".join(urls)
    # Nearly all are what the RFC wants; of its characters these two are XML's, too.
    if not text.encode(errors="surrogatepass").translate(None, _URLS_AND_LINE_ENDS):
        found = text.replace("&", "&amp;").replace("'", "&apos;").split("\n")
        if len(found) == len(urls):
            return found
    return [escape(rfc3986(url)) for url in urls]


def rfc3986(url: str) -> str:
    """A normalised URL with what that RFC forbids percent-encoded, as the protocol demands
    (https://www.sitemaps.org/protocol.html#escaping): the URL Standard leaves `[ ] |` in a path and `\\ ^ ` { }`, too,
    in a query. The brackets around an IPv6 address stay."""
    if _URL.fullmatch(url):
        return url
    origin = _ORIGIN.match(url)
    start = origin.end() if origin else 0
    return url[:start] + _NO_URL_CHARACTER.sub(_percent_encoded, url[start:])


def _percent_encoded(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode(errors="replace"))


def _reference(match: re.Match[str]) -> str:
    return _REFERENCES.get(match[0], "")
