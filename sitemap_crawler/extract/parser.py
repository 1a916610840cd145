"""The bytes of a page → a tree: its charset, the limits that libxml2 lacks, the parse itself."""

from __future__ import annotations

import codecs
import ctypes
import re
import sys
from itertools import islice

from lxml import etree
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, resolve_encoding

UTF_8 = "utf-8"
WINDOWS_1252 = "cp1252"
XHTML = "application/xhtml+xml"
"""Media type of XHTML."""

_BOMS = ((codecs.BOM_UTF8, UTF_8), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_UTF_16 = {"utf-16": "utf-16-le", "utf-16-le": "utf-16-le", "utf-16-be": "utf-16-be"}

# Python's names for the encodings of https://encoding.spec.whatwg.org/#names-and-labels. An allow-list, because Python
# also has codecs that no page may choose, such as punycode, unicode_escape and zlib.
_ALLOWED = frozenset(
    {UTF_8, "koi8-r", "koi8-u", "mac-roman", "gb18030", "big5hkscs", "euc_jp", "iso2022_jp", *_UTF_16}
    | {f"cp{number}" for number in (866, 874, 932, 949, *range(1250, 1259))}
    | {f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)}
)

# Bytes at the start of a page that are searched for a declaration of its charset.
_MAX_DECLARATION_BYTES = 4_096
# The first declaration of a charset, in one of the forms that nearly all pages use. w3lib reads the other forms in the
# same bytes, which takes five times as long.
_USUAL = re.compile(
    rb"""(?:[^<]++ | <(?!\s*+(?:meta|body) | !-- | \?xml))*+
    (?: <\?xml\ version="1\.0"\ encoding="([\w-]++)"
      | <meta\ (?:charset="|http-equiv="content-type"\ content="text/html;\ ?charset=)([\w-]++)"\s*+/?>)""",
    re.IGNORECASE | re.VERBOSE,
)

MAX_ATTRIBUTES = 5_000
"""Maximum number of attributes of one tag. The largest real tags have some dozens.

libxml2 appends each attribute to a linked list, so its time grows with the square of their number: 64,000 attributes
take 5 s, and a body of 15 MB can hold millions.
"""
# Bytes. The attributes of such a short body take about 3 s at most.
_HARMLESS_BYTES = 131_072
# Bytes of attributes in one tag that keep the parser busy for more than some hundredths of a second.
_GAP_BYTES = 10_000
# Maximum number of `>` tried in each gap to find a place outside of tags.
_MAX_TRIES = 20
# Bytes before a quotation mark that are searched for the `=` of a value.
_BYTES_BEFORE_QUOTE = 8

MAX_TREE_BYTES = 256 * 1024 * 1024
"""Maximum number of bytes of a tree, estimated from the markup.

The largest tree of a real page that was met takes 192 MB: 9.5 MB of highlighted source code. A body of 15 MB can hold
five million tags, whose tree takes 600 MB.
"""
MAX_REFERENCES = 200_000
"""Maximum number of tags of one page that may refer to a URL. Their elements become Python objects with a text each.

The largest number of such tags on a real page that was met is 24,000.
"""
# Bytes of a tree, as measured: of an element with its Python object, of an attribute with its value, of a text.
_ELEMENT_BYTES, _ATTRIBUTE_BYTES, _TEXT_BYTES = 200, 256, 128
# Bytes of a body whose tree takes less than 70 MB, whatever the body holds.
_SMALL_BYTES = 1_000_000
_SLICE_BYTES = 100_000
_REFERENCE_TAG = re.compile(rb"<(?:[aA](?=[\s/>])|(?i:area|embed|frame|iframe|img|link|script|source)(?=[\s/>]))")

_ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?+)?+"""
_ATTRIBUTES = rb"(?:%s){0,%d}+(?![\s/]*+[^\s/>])" % (_ATTRIBUTE, MAX_ATTRIBUTES)
_TAG = rb"<[a-zA-Z][^\s/>]*+" + _ATTRIBUTES
_COMMENT = rb"<!--(?!-?>)(?:[^-]++|-(?!-!?>))*+"


def _any_case(name: str) -> bytes:
    return "".join(f"[{letter}{letter.upper()}]" for letter in name).encode()


def _raw_text_element(name: str) -> bytes:
    """Return the pattern of an element whose content is text up to its own end tag, even if it looks like tags."""
    tag = _any_case(name) + rb"(?=[\s/>])"
    return rb"<%s%s[\s/]*+>(?:[^<]++|<(?!/%s))*+" % (tag, _ATTRIBUTES, tag)


_RAW_TEXT = b"|".join(map(_raw_text_element, ("script", "style", "title", "textarea", "iframe", "xmp", "noembed")))
# Matches markup up to a tag with too many attributes and reads each byte once. IGNORECASE would take twice the time.
_BOUNDED = re.compile(rb"(?:[^<]++|<(?![a-zA-Z!])|%s|<!|%s|%s)*+" % (_COMMENT, _RAW_TEXT, _TAG))

_END_TAG_START = re.compile(rb"</(?:html|HTML|Html)")  # takes half the time of three searches
# An end tag without `>` is dropped with all that follows, as the standard does. So each byte is read once.
_END_TAG = re.compile(rb"</html(?:\s[^>]*+)?(?:>|\Z)", re.IGNORECASE)

# A declared prefix of elements of XHTML: https://www.w3.org/TR/xml-names/#ns-decl
_XHTML_PREFIX = re.compile(
    rb"""\sxmlns:([a-z_][\w.-]{0,30}+)\s{0,9}+=\s{0,9}+(?:"http://www\.w3\.org/1999/xhtml"|'http://www\.w3\.org/1999/xhtml')""",
    re.IGNORECASE,
)
_PREFIXED_TAG = re.compile(rb"<(/?)([a-z_][\w.-]{0,30}+):(?=[a-z])", re.IGNORECASE)
# Maximum number of prefixes of one page. Real pages have one.
_MAX_PREFIXES = 10

# libxml2 ends the document at this depth, whatever its options are.
_DEPTH_LIMIT = 2_048

KEPT_BYTES = 16 * 1024 * 1024
"""Maximum number of freed bytes that the process keeps: the tree of a page of 1 MB."""
# https://man7.org/linux/man-pages/man3/mallopt.3.html
_M_MXFAST, _M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = 1, -1, -3


def decide_charset(body: bytes, content_type: str) -> str:
    """Return the Python codec of `body`, decided in the order of the HTML standard.

    The order is: byte order mark, `Content-Type` header, `<meta>`, and a guess between UTF-8 and windows-1252.
    """
    return _from_bom(body) or _from_header(content_type) or _from_markup(body) or _guess(body)


def to_utf8(body: bytes, charset: str) -> bytes:
    """Return `body` as UTF-8; bytes that are invalid in `charset` become U+FFFD.

    libxml2 replaces invalid bytes in UTF-8 only. In any other charset it ends the document at the first one.
    """
    if charset == UTF_8:
        return body
    return body.decode(charset, "replace").encode(UTF_8, "replace")


def without_xhtml_prefixes(markup: bytes, content_type: str) -> bytes:
    """Return the markup of XHTML with `<h:a>` written as `<a>`, for each prefix `h` that XHTML's namespace is bound to.

    The parser is one of HTML and knows no namespaces. HTML itself has no prefixes: there `h:a` is another element.
    """
    if content_type.partition(";")[0].strip().lower() != XHTML:
        return markup
    declarations = islice(_XHTML_PREFIX.finditer(markup), _MAX_PREFIXES)
    prefixes = {declaration[1] for declaration in declarations}
    if not prefixes:
        return markup
    return _PREFIXED_TAG.sub(lambda tag: b"<" + tag[1] if tag[2] in prefixes else tag[0], markup)


def without_early_end(markup: bytes) -> bytes:
    """Return the markup without its `</html>` tags if more tags follow the first one.

    libxml2 ends the document at `</html>`. By the standard, what follows belongs to the body:
    https://html.spec.whatwg.org/multipage/parsing.html#the-after-after-body-insertion-mode
    """
    start = _END_TAG_START.search(markup)
    if start is not None and markup.find(b"<", start.end()) >= 0:
        return _END_TAG.sub(b"", markup)
    return markup


def without_attribute_flood(markup: bytes) -> bytes:
    """Return the markup up to the first tag with more than MAX_ATTRIBUTES attributes: nearly always all of it."""
    if not _may_hold_flood(markup):
        return markup
    bounded = _BOUNDED.match(markup)
    return markup[: bounded.end()] if bounded else markup


def without_tag_flood(markup: bytes, *, max_references: int) -> bytes:
    """Return the markup up to the tag from which on the page takes too much memory: nearly always all of it.

    Tags in comments and scripts count like others.
    """
    if len(markup) <= _SMALL_BYTES:
        return markup
    tags = markup.count(b"<")
    if (_ELEMENT_BYTES + _TEXT_BYTES) * tags + _ATTRIBUTE_BYTES * markup.count(b"=") > MAX_TREE_BYTES:
        markup = markup[: _end_of_largest_tree(markup)]
    if tags > max_references:
        flood = next(islice(_REFERENCE_TAG.finditer(markup), max_references, None), None)
        if flood is not None:
            markup = markup[: flood.start()]
    return markup


def parse_tree(markup: bytes) -> etree._Element | None:
    """Return the root of the tree of UTF-8 markup, or `None` for markup without any element."""
    try:
        return etree.fromstring(markup, _PARSER)
    except etree.LxmlError:
        return None


def reaches_depth_limit(root: etree._Element) -> bool:
    """Return whether libxml2 cut the document off at its depth limit.

    The last element of such a document stands at the limit.
    """
    depth, element = 1, root
    while len(element):
        depth, element = depth + 1, element[-1]
    return depth >= _DEPTH_LIMIT


def _from_bom(body: bytes) -> str | None:
    return next((charset for bom, charset in _BOMS if body.startswith(bom)), None)


def _from_header(content_type: str) -> str | None:
    charset = http_content_type_encoding(content_type)
    return _UTF_16.get(charset, charset) if charset in _ALLOWED else None


def _from_markup(body: bytes) -> str | None:
    usual = _USUAL.match(body, 0, _MAX_DECLARATION_BYTES)
    charset = resolve_encoding((usual[1] or usual[2]).decode()) if usual else html_body_declared_encoding(body)
    if charset in _UTF_16:  # By the standard: a declaration that was read byte by byte cannot stand in UTF-16.
        return UTF_8
    return charset if charset in _ALLOWED else None


def _guess(body: bytes) -> str:
    try:
        # Not final: a body that was cut off inside a character is still UTF-8.
        codecs.getincrementaldecoder(UTF_8)().decode(body)
    except UnicodeDecodeError:
        return WINDOWS_1252
    return UTF_8


def _end_of_largest_tree(markup: bytes) -> int:
    """Return the position up to which the tree of the markup takes MAX_TREE_BYTES, or the length of the markup."""
    tree_bytes = 0
    for start in range(0, len(markup), _SLICE_BYTES):
        end = start + _SLICE_BYTES
        tags, ends = markup.count(b"<", start, end), markup.count(b"</", start, end)
        texts = tags - markup.count(b"><", start, end)
        attributes = markup.count(b"=", start, end)
        tree_bytes += _ELEMENT_BYTES * (tags - ends) + _TEXT_BYTES * texts + _ATTRIBUTE_BYTES * attributes
        if tree_bytes > MAX_TREE_BYTES:
            return start
    return len(markup)


def _may_hold_flood(markup: bytes) -> bool:
    """Return whether some tag may have too many attributes.

    This check is cheap and nearly always false for real pages. The exact match costs half as much as the parse.
    """
    if len(markup) <= _HARMLESS_BYTES:
        return False
    outside = 0
    for start in range(0, len(markup) - _GAP_BYTES, _GAP_BYTES):
        outside = _outside_of_tags(markup, outside, start)
        if outside < 0:
            return True
    return False


def _outside_of_tags(markup: bytes, outside: int, start: int) -> int:
    """Return a position in the gap from `start` on where certainly no tag is open; -1 when none can be proved.

    No tag is open at `outside`. A `>` ends any tag, unless it stands in a quoted value.
    """
    end = start - 1
    for _ in range(_MAX_TRIES):
        end = markup.find(b">", end + 1, start + _GAP_BYTES)
        if end < 0:
            return -1
        if not _may_be_quoted(markup, b'"', outside, end) and not _may_be_quoted(markup, b"'", outside, end):
            return end + 1
    return -1


def _may_be_quoted(markup: bytes, quote: bytes, outside: int, end: int) -> bool:
    """Return whether the last quotation mark before `end` may begin a value, which is so if an `=` precedes it."""
    mark = markup.rfind(quote, outside, end)
    return mark >= 0 and markup[max(outside, mark - _BYTES_BEFORE_QUOTE) : mark].rstrip()[-1:] in (b"", b"=")


def _tune_allocator() -> None:
    """Make glibc join freed neighbours at once and keep the end of the heap; do nothing with another C library.

    The tree of a page is thousands of small pieces, freed together. By default glibc collects the pieces and sorts them
    all at the next large allocation. It also returns the end of the heap, and the kernel fills that memory with zeros
    for the next tree. Together this takes up to a tenth of the time of a page.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is not None:
        mallopt(_M_MXFAST, 0)
        mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)
        # Any of these settings stops glibc from raising this threshold by itself when a large body is freed.
        mallopt(_M_MMAP_THRESHOLD, KEPT_BYTES)


_tune_allocator()

# Without huge_tree libxml2 drops all elements nested deeper than 255.
_PARSER = etree.HTMLParser(encoding=UTF_8, huge_tree=True, remove_comments=True, remove_pis=True, collect_ids=False)
