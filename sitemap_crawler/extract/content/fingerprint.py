"""A fingerprint of what a page says: the same while its main content is the same, whatever else its bytes do."""

from __future__ import annotations

import re
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree

from sitemap_crawler.extract.content.counters import content_words
from sitemap_crawler.extract.content.main_content import CODE_TAGS, MAIN, survey, text_of
from sitemap_crawler.extract.document import slice_within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sitemap_crawler.extract.document import Document

SIZE = 8  # bytes; among a million pages two that differ share one with a chance of 1 in 37 million

_MEDIA = ("area", "embed", "iframe", "img", "source", "video")
_REFERENCES = ("a", *_MEDIA)
_LAZY_URLS = ("data-src", "data-lazy-src", "data-original", "data-lazy")
_PIXEL = frozenset({"0", "1", "2", "0px", "1px", "2px"})
_IMAGE_FILE = re.compile(r"\.(?:avif|gif|ico|jpe?g|png|svg|webp)\Z", re.IGNORECASE)

_STATED = frozenset({"availability", "highprice", "lowprice", "price", "pricecurrency"})
_STRUCTURED = re.compile(
    r'"(articleBody|availability|description|headline|highPrice|lowPrice|price|priceCurrency)"'
    r'\s*+:\s*+("(?:[^"\\]++|\\.)*+"|[0-9.]++)',
    re.DOTALL,
)

# Of references: session ids, tokens against forgery and Unix times; and the key of an address that Cloudflare hides.
# Each pattern begins with one of a few characters, so that all others cost next to nothing.
_VOLATILE = re.compile(
    r"""[?&;](?:(?:aspsessionid\w*|authenticity_token|cfid|cftoken|csrf[\w-]*|form_build_id|form_key|jsessionid|_?nonce
    |oscsid|phpsessid|sectok|session_?id|tok|_?token|_wpnonce|zenid)=[^&;\#?\s]*+
    |(?:s|sid)=[0-9a-f]{32,}
    |(?:[\w-]{1,20}=)?1[0-9]{9}(?:[0-9]{3})?(?:\.[0-9]+)?(?=[&;\#\s]|\Z))""",
    re.IGNORECASE | re.VERBOSE,
)
_PROTECTED = "/cdn-cgi/l/email-protection#"
_KEY = re.compile(r"(?<=email-protection)#[0-9a-f]+", re.IGNORECASE)

# Bounds on hostile pages; real ones stay far below.

_MAX_STATED = 200
_MAX_SCRIPTS = 50
_MAX_SCRIPT = 1_000_000  # characters


def fingerprint(document: Document) -> bytes:
    """Return SIZE bytes that stand for the title and the words, links, images and prices of the main content.

    Of structured data only what a product or an article says of itself counts; the rest of it repeats the page or is
    about its date, its ratings and its site.
    """
    content = content_of(document)
    digest = blake2b(_title(document), digest_size=SIZE)
    for part in (content.text, content.references, _structured(document)):
        digest.update(b"\0")
        digest.update(part)
    return digest.digest()


class Content(NamedTuple):
    """Words without white space; what is linked, and what is embedded or stated as data, a line each."""

    text: bytes
    links: bytes
    rest: bytes

    def __bool__(self) -> bool:
        return bool(self.text or self.references)

    @property
    def references(self) -> bytes:
        return (self.links + b"\n" + self.rest).strip()


def content_of(document: Document) -> Content:
    """Return the main content, or that of the whole body where it is empty."""
    body = next(document.root.iterchildren("body"), None)
    if body is None:
        body = document.root
    main = next((main for main in document.all("main") if body in main.iterancestors()), None)
    if main is not None:
        found = _read(document, main, survey(main, document.blocks).left_out)
        if found:
            return found
    seen = survey(body, document.blocks)
    if seen.main is not None:
        found = _read(document, seen.main, seen.left_out)
        if seen.kind == MAIN + 1 and found:
            return found
        # The only article of a page may be a teaser, and the element that is called "content" a shell.
        rest = _read(document, body, seen.left_out)
        if found and 2 * len(found.text) >= len(rest.text):
            return found
    else:
        rest = _read(document, body, seen.left_out)
    if rest:
        return rest
    return _read(document, body, {element for element in seen.left_out if element.tag in CODE_TAGS})


def _read(document: Document, root: etree._Element, left_out: set[etree._Element]) -> Content:
    above: set[etree._Element] = set()  # what has something in it that is left out
    elsewhere: set[etree._Element] = set()  # what is not in root, or in something that is left out itself
    inside: set[etree._Element] = set()  # the references in what is left out
    tags = _REFERENCES if any(map(document.all, _MEDIA)) else ("a",)
    for element in left_out:
        ancestors: list[etree._Element] = []
        for ancestor in element.iterancestors():
            if ancestor is root or ancestor in above:
                above.update(ancestors, (root,))
                inside.update(element.iter(*tags))
                break
            ancestors.append(ancestor)
            if ancestor in left_out or ancestor in elsewhere:
                elsewhere.update(ancestors)
                break
        else:
            elsewhere.update(ancestors)
    text = b"".join(_pieces(root, left_out, above)) if above else text_of(root)
    stated = _microdata(document, root, left_out)
    embedded = _embedded(document, root, inside)
    rest = _lasting(embedded) + b"\n" + stated if embedded else stated
    return Content(content_words(text), _lasting(_links(document, root, inside)), rest)


def _pieces(root: etree._Element, left_out: set[etree._Element], above: set[etree._Element]) -> Iterator[bytes]:
    """Yield the text around what is left out, in as few pieces as there are. The tree belongs to other readers, too."""
    yield (root.text or "").encode()
    pending = [(iter(root), "")]
    while pending:
        children, tail = pending[-1]
        for child in children:
            if child in left_out:
                yield (child.tail or "").encode()
            elif child in above:
                yield (child.text or "").encode()
                pending.append((iter(child), child.tail or ""))
                break
            else:
                yield etree.tostring(child, method="text", encoding="utf-8")
        else:
            pending.pop()
            yield tail.encode()


def _links(document: Document, root: etree._Element, inside: set[etree._Element]) -> list[str]:
    links, hrefs = document.all("a"), document.anchor_hrefs()
    if root.getparent() is not document.root:
        part = _span(document, root, "a")
        links, hrefs = links[part], hrefs[part]
    if not inside:
        return [href or "" for href in hrefs]
    return [href or "" for link, href in zip(links, hrefs, strict=True) if link not in inside]


def _embedded(document: Document, root: etree._Element, inside: set[etree._Element]) -> list[str]:
    tags = [tag for tag in _MEDIA if document.all(tag)]
    if not tags:
        return []
    if len(tags) == 1:
        elements: Iterable[etree._Element] = document.all(tags[0])[_span(document, root, tags[0])]
    else:
        elements = root.iter(*tags)
    return [_medium(element) for element in elements if element not in inside]


def _span(document: Document, root: etree._Element, tag: str) -> slice:
    """Return which of all elements with the tag are in `root`."""
    first = next(root.iter(tag), None)
    return slice(0) if first is None else slice_within(root, document.all(tag), first)


def _lasting(references: list[str]) -> bytes:
    joined = "\n".join(references)
    if "?" in joined or ";" in joined:
        joined = _VOLATILE.sub("", joined)
    if _PROTECTED in joined:
        joined = _KEY.sub("", joined)
    return joined.encode()


def _microdata(document: Document, root: etree._Element, left_out: set[etree._Element]) -> bytes:
    stating = (
        element
        for tag in ("meta", "link")
        for element in document.all(tag)
        if (element.get("itemprop") or "").lower() in _STATED
    )
    found = []
    for element in islice(stating, _MAX_STATED):
        ancestors = set(element.iterancestors())
        if root in ancestors and left_out.isdisjoint(ancestors):
            found.append(element.get("content") or element.get("href") or "")
    return "\n".join(found).encode()


def _medium(element: etree._Element) -> str:
    if element.tag == "img":
        return _image(element)
    return element.get("href" if element.tag == "area" else "src") or ""


def _image(image: etree._Element) -> str:
    if image.get("width") in _PIXEL or image.get("height") in _PIXEL:
        return ""
    source = image.get("src") or ""
    if not source or source.startswith("data:"):
        source = next(filter(None, map(image.get, _LAZY_URLS)), source)
    path, _, query = source.partition("?")
    # What a file's name is followed by says which edition caches should ask for.
    file = path if query and _IMAGE_FILE.search(path) else source
    return f"{file} {''.join((image.get('alt') or '').split())}"


def _title(document: Document) -> bytes:
    titles = document.all("title")
    return b" ".join(text_of(titles[0]).split()) if titles else b""


def _structured(document: Document) -> bytes:
    found = []
    scripts = (script for script in document.all("script") if "ld+json" in script.get("type", ""))
    for script in islice(scripts, _MAX_SCRIPTS):
        found += _STRUCTURED.findall((script.text or "")[:_MAX_SCRIPT])
    return "\n".join(map(":".join, found)).encode()
