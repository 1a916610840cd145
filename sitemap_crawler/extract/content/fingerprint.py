"""A fingerprint of the content of a page: it changes with the main content, but not with each rendering."""

from __future__ import annotations

import re
import string
from hashlib import blake2b
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, NamedTuple, cast
from zlib import crc32

from lxml import etree

from sitemap_crawler.extract.content.ages import is_age, is_moment, may_be_age, without_ages
from sitemap_crawler.extract.content.main_content import CODE_TAGS, MAIN, survey, text_bytes, without_space
from sitemap_crawler.extract.content.postings import without_postings, without_years
from sitemap_crawler.extract.content.visitors import (
    may_have_view_columns,
    view_cells,
    view_columns,
    visit_counts,
    without_visitors,
)
from sitemap_crawler.extract.document import slice_within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sitemap_crawler.extract.document import Document

HASH_BYTES = 8
"""Size of a hash of content. Among a million different pages, two share one with a chance of 1 in 37 million."""
_NUMBERS_BYTES = 4
FINGERPRINT_BYTES = 2 * HASH_BYTES + _NUMBERS_BYTES
"""Size of a fingerprint: the hash of the content, that of its outline, and that of its numbers."""

_MEDIA_TAGS = ("area", "embed", "iframe", "img", "source", "video")
_REFERENCE_TAGS = ("a", *_MEDIA_TAGS)
_LAZY_URLS = ("data-src", "data-lazy-src", "data-original", "data-lazy")
_PIXEL_SIZES = frozenset({"0", "1", "2", "0px", "1px", "2px"})
_IMAGE_FILE = re.compile(r"\.(?:avif|gif|ico|jpe?g|png|svg|webp)\Z", re.IGNORECASE)

_MICRODATA_PROPERTIES = frozenset({"availability", "highprice", "lowprice", "price", "pricecurrency"})
_JSON_LD_PROPERTY = re.compile(
    r'"(articleBody|availability|description|headline|highPrice|lowPrice|price|priceCurrency)"'
    r'\s*+:\s*+("(?:[^"\\]++|\\.)*+"|[0-9.]++)',
    re.DOTALL,
)

# Volatile parts of references: session ids, tokens against request forgery and Unix times, and the key of an e-mail
# address that Cloudflare hides. Each pattern begins with one of a few characters, so all other text costs little time.
_VOLATILE = re.compile(
    r"""[?&;](?:(?:aspsessionid\w*|authenticity_token|cfid|cftoken|csrf[\w-]*|form_build_id|form_key|jsessionid|_?nonce
    |oscsid|phpsessid|sectok|session_?id|tok|_?token|_wpnonce|zenid)=[^&;\#?\s]*+
    |(?:s|sid)=[0-9a-f]{32,}
    |(?:[\w-]{1,20}=)?1[0-9]{9}(?:[0-9]{3})?(?:\.[0-9]+)?(?=[&;\#\s]|\Z))""",
    re.IGNORECASE | re.VERBOSE,
)
# A value of a link that is as long as an MD5 hash: a token, under any name. The id of a picture may be such a value.
_TOKEN_OF_LINK = re.compile(r"[?&;][\w-]{1,40}=[0-9a-f]{32}(?![^&;#\s])")
_CLOUDFLARE_EMAIL = "/cdn-cgi/l/email-protection#"
_CLOUDFLARE_KEY = re.compile(r"(?<=email-protection)#[0-9a-f]+", re.IGNORECASE)

# Counters in text without white space, such as: 1,234 views, Views: 12, Viewed 12 times, Visits 12, Hits: 12, 3
# comments, 12 likes, 7 readers like this, Downloads: 12, 3 people are online, 12 Aufrufe; and beside each message of a
# forum, Posts: 12, Threads: 3, Beiträge: 12 of its author. A mark is the common part of all spellings of a word. A unit
# may stand between the number and the mark.
_COUNTER_MARKS = (
    b"iew", b"omment", b"ike", b"nline", b"ownload", b"ufruf", b"isit", b"Hits", b"hits", b"ugriff", b"osts:",
    b"hreads:", b"licks", b"edirects:", "eiträge:".encode(),
)  # fmt: skip
_UNITS = frozenset((b"", b"v", b"pagev", b"postv", b"totalv", b"uniquev", b"c", b"l", b"o", b"d", b"a", b"z")) | {
    f"{who}{what}".encode()
    for who in ("people", "users", "visitors", "guests", "readers")
    for what in ("l", "o", "areo")
}
_LETTERS = string.ascii_letters.encode()
_NUMERALS = b"0123456789.,'"
_NUMBER = rb"[0-9]++(?:[.,'][0-9]{3})*+"
_NUMBER_AFTER = re.compile(rb"(?:e?s|ed|e)?([:(]?%s\)?(?:times)?)" % _NUMBER)

# Statements of when and how fast a page was generated, or of its copyright.
_WINDOW_BYTES = 60  # on either side of a mark
_END_BYTES = 500  # at the end of the text, or at its beginning
_GENERATED_MARKS = (
    b"second", b"quer", b"odified", b"pdated", b"dited", b"evised", b"opyright", b"ccessed", b"enerated", b"endered",
    b"\xa9",
)  # fmt: skip
_DATE = (
    rb"(?:[0-9]{1,4}[-/.,:]?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sat|sun)(?:day)?[.,]?"
    rb"|(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    rb"|nov(?:ember)?|dec(?:ember)?)[.,]?|at|t|z|[ap]\.?m\.?|gmt|utc|ce[s]?t|[ep][ds]t|[+-](?=[0-9])){1,20}"
)
_GENERATED = re.compile(
    rb"(?i:(?<![0-9.])[0-9.]++(?:seconds?|milliseconds|ms)(?:with[0-9]++quer(?:y|ies))?|(?<![0-9])[0-9]++(?:sql|db|database)?quer(?:y|ies)"
    rb"|accessed%s(?:times)?"
    rb"|(?:generated|rendered)(?:on|at)?:?%s"
    rb"|(?:last|page)-?(?:modified|updated|edited|changed|revised)(?:on|at)?:?%s"
    rb"|(?:copyright|\xa9|\(c\)){1,2}(?:[0-9]{4}(?:-|,|\xe2\x80\x93)?){1,5})" % (_NUMBER, _DATE, _DATE)
)
# The date of the request in a citation of the page, such as: accessed November 30, 2026; Retrieved on 2026-11-30.
_ACCESS_MARKS = (b"ccessed", b"etrieved")
_ACCESS = re.compile(rb"(?i:(?:accessed|retrieved)(?:on)?:?%s)" % _DATE)
# The clock of a forum or tracker, in the first or the last _END_BYTES: before a date, and in the languages of phpBB.
_CLOCK_WORDS = (
    b"Itiscurrently", b"Thetimenowis", b"Thecurrenttimeis", b"Currenttime:", b"LocalTime:", b"Servertime:",
    b"ServerTime:",
)  # fmt: skip
_OTHER_CLOCK_WORDS = (
    b"AktuelleZeit:", b"Esistjetzt", b"Noussommesle", b"Fechaactual", "Oggiè".encode(), b"Hetismomenteel", b"Terazjest",
    "Текущеевремя:".encode(),
)  # fmt: skip
_CLOCK_MARKS = _CLOCK_WORDS + _OTHER_CLOCK_WORDS
_CLOCK = re.compile(
    rb"(?i:(?:%s)%s)|(?:%s).{0,40}?[0-9]{1,2}[:.h][0-9]{2}(?![0-9])"
    % (b"|".join(_CLOCK_WORDS), _DATE, b"|".join(_OTHER_CLOCK_WORDS))
)

_DIGITS = string.digits.encode()
_SPACE_BETWEEN_NUMBERS = bytes(byte if byte in _DIGITS else ord(" ") for byte in range(256))
# Prices are content of a page, also where all numbers of a template stand.
_CURRENCY = re.compile(rb"[$]|\xc2[\xa3\xa5]|\xe2\x82[\xa0-\xbf]|EUR|USD|GBP|CHF")
_BEGINNING_BYTES = 1_000
"""Length of the beginning of a text without digits, in which headings and lines for a whole template stand."""
_ENDING_BYTES = 2_000
"""Length of the end of a text without digits. Columns stand there, with numbers of posts by month and by topic."""
_dated = etree.XPath("descendant::*[@title or @datetime]")
_FIGURE = re.compile("[0-9]")
_MAX_SHORT_DATE = 40
"""Maximum number of characters of a text that may be a short date."""

# Bounds on hostile pages; real ones stay far below.
_MAX_ACCESS = 5  # dates of a request
_MAX_STATED = 200  # properties of microdata
_MAX_SCRIPTS = 50
_MAX_CELLS = 5_000  # of tables
_MAX_DATED = 5_000  # elements with attributes that may state a date
_MAX_DATED_TEXTS = 9
_MAX_SCRIPT_LENGTH = 1_000_000  # characters


def fingerprint(document: Document) -> bytes:
    """Return the hash of the title, and of the words, links, images and prices of the main content.

    Of structured data, only the texts and prices of products and articles count. The rest repeats the page or describes
    its date, its ratings and its site. The hash is followed by that of the outline, and by that of the numbers in the
    title, at the beginning and at the end of the text.
    """
    content = read_main_content(document)
    title, stated = _title_text(document), _json_ld_properties(document)
    text = content.text
    begins = _length_with_digits(text[: 2 * _BEGINNING_BYTES], _BEGINNING_BYTES)
    ends = max(begins, len(text) - _length_with_digits(text[: -2 * _ENDING_BYTES - 1 : -1], _ENDING_BYTES))
    outer = b"\0".join((title, text[:begins], text[ends:]))
    # The outline has the digits between them: there, a number is more often content than part of a template.
    inner = _hash(text[begins:ends])
    whole = _hash(outer, inner, content.references, stated)
    outline = _hash(outer.translate(None, _DIGITS), inner, content.embedded, stated, _prices(outer))
    numbers = sum(map(crc32, outer.translate(_SPACE_BETWEEN_NUMBERS).split())) % (1 << 8 * _NUMBERS_BYTES)
    return whole + outline + numbers.to_bytes(_NUMBERS_BYTES)


def _prices(text: bytes) -> bytes:
    """Return the numbers before and after the marks of currencies."""
    pairs = pairwise(_CURRENCY.split(text))
    numbers = (
        (before[len(before.rstrip(_NUMERALS)) :], after[: -len(after.lstrip(_NUMERALS)) or None])
        for before, after in pairs
    )
    return b" ".join(chain.from_iterable(numbers))


def _length_with_digits(text: bytes, length: int) -> int:
    """Return the length of the beginning of a text that has `length` bytes without its digits; at most its own length.

    A number that gets one more digit does not move the end of such a beginning.
    """
    found = length
    while (missing := length - len(text[:found].translate(None, _DIGITS))) and found < len(text):
        found += missing
    return min(found, len(text))


def outline_of(seen: bytes) -> bytes | None:
    """Return the hash of the content without links and outer numbers, from a fingerprint; None if of no document."""
    return seen[HASH_BYTES:-_NUMBERS_BYTES] if len(seen) == FINGERPRINT_BYTES else None


def hash_of_numbers(seen: bytes) -> int:
    """Return the hash of the numbers at both ends, from the fingerprint of a document.

    It is the sum of the hashes of the numbers, modulo 2**32: it grows by the same step on all pages on which one number
    takes the place of another.
    """
    return int.from_bytes(seen[-_NUMBERS_BYTES:])


def _hash(*parts: bytes) -> bytes:
    return blake2b(b"\0".join(parts), digest_size=HASH_BYTES).digest()


class Content(NamedTuple):
    """Content of a page, without volatile parts."""

    text: bytes
    """Words without white space."""
    links: bytes
    """References of links, one on each line."""
    embedded: bytes
    """References of embedded media and values of microdata, one on each line."""

    def __bool__(self) -> bool:
        return bool(self.text or self.references)

    @property
    def references(self) -> bytes:
        return (self.links + b"\n" + self.embedded).strip()


def read_main_content(document: Document) -> Content:
    """Return the main content, or the content of the whole body if the main content is empty."""
    body = next(document.root.iterchildren("body"), None)
    if body is None:
        body = document.root
    main = next((main for main in document.all("main") if body in main.iterancestors()), None)
    if main is not None:
        content = _read_content(document, main, survey(main, document.blocks).excluded)
        if content:
            return content
    surveyed = survey(body, document.blocks)
    if surveyed.main is not None:
        content = _read_content(document, surveyed.main, surveyed.excluded)
        if surveyed.kind == MAIN + 1 and content:
            return content
        # The only article of a page may be a teaser, and an element with the name "content" may be an empty shell.
        whole = _read_content(document, body, surveyed.excluded)
        if content and 2 * len(content.text) >= len(whole.text):
            return content
    else:
        whole = _read_content(document, body, surveyed.excluded)
    if whole:
        return whole
    return _read_content(document, body, {element for element in surveyed.excluded if element.tag in CODE_TAGS})


def _read_content(document: Document, root: etree._Element, excluded: set[etree._Element]) -> Content:
    language = _language(document)
    # Many menus are a table within an excluded element.
    tables = [
        block for block in document.blocks if block.tag == "table" and excluded.isdisjoint((block, block.getparent()))
    ]
    short_dates = dict(_short_dates(document, root, excluded, language))
    excluded = excluded.union(
        _age_cells(tables, language),
        short_dates,
        view_cells(tables),
        visit_counts(document.all("meta")),
    )
    above: set[etree._Element] = set()  # elements of root with an excluded element inside
    elsewhere: set[etree._Element] = set()  # elements outside of root, or inside an excluded element
    inside: set[etree._Element] = set()  # elements with references inside excluded elements
    tags = _REFERENCE_TAGS if any(map(document.all, _MEDIA_TAGS)) else ("a",)
    for element in excluded:
        ancestors: list[etree._Element] = []
        for ancestor in element.iterancestors():
            if ancestor is root or ancestor in above:
                above.update(ancestors, (root,))
                inside.update(element.iter(*tags))
                break
            ancestors.append(ancestor)
            if ancestor in excluded or ancestor in elsewhere:
                elsewhere.update(ancestors)
                break
        else:
            elsewhere.update(ancestors)
    text = b"".join(_text_pieces(root, excluded, above)) if above else text_bytes(root)
    if may_have_view_columns(text) and (columns := excluded.union(view_columns(document.blocks))) != excluded:
        return _read_content(document, root, columns)
    values = _microdata_values(document, root, excluded)
    embedded = _media_references(document, root, inside)
    embedded_and_stated = _lasting("\n".join(embedded)) + b"\n" + values if embedded else values
    words = _stable_text(text, language) + without_space(" ".join(short_dates.values()).encode())
    return Content(words, _lasting_links(_link_references(document, root, inside)), embedded_and_stated)


def _language(document: Document) -> str | None:
    """Return the tag of the page's language, or None if it names none."""
    return document.root.get("lang") or document.root.get("xml:lang") or None


def _age_cells(tables: Sequence[etree._Element], language: str | None) -> Iterator[etree._Element]:
    """Yield the cells of tables that hold an age and nothing else, such as "3 days"."""
    for cell in islice(chain.from_iterable(table.iter("td") for table in tables), _MAX_CELLS):
        text = cell.text
        if not text and len(cell) == 1 and not cell[0].tail:
            text = cell[0].text
        if text and may_be_age(text) and is_age(text, language):
            yield cell


def _short_dates(
    document: Document, root: etree._Element, excluded: set[etree._Element], language: str | None
) -> Iterator[tuple[etree._Element, str]]:
    """Yield the elements that show an age or a short date, with the whole date that an attribute states.

    "15m" becomes "30 Nov" a day later, and "30 Nov 2026" in the next year. The whole date stays, and is content.
    """
    if not document.may_have_dated_texts:
        return
    for element in islice(cast("list[etree._Element]", _dated(root)), _MAX_DATED):
        moment = next(filter(is_moment, (element.get("datetime", ""), element.get("title", ""))), None)
        if moment is not None and excluded.isdisjoint((element, *element.iterancestors())):
            texts = [str(text).strip() for text in islice(element.itertext(), _MAX_DATED_TEXTS)]
            shown = " ".join(text for text in texts if text)
            # The title of a post may have its date, and be a link with that attribute.
            if len(texts) < _MAX_DATED_TEXTS and len(shown) <= _MAX_SHORT_DATE and _may_be_date(shown, language):
                yield element, moment


def _may_be_date(text: str, language: str | None) -> bool:
    """Return whether a text may state a moment: a date has a figure, and so have most ages, but not "a month ago"."""
    if _FIGURE.search(text) is not None or is_age(text, language):
        return True
    data = without_space(text.encode())
    return without_ages(data, language) != data


def _stable_text(text: bytes, language: str | None) -> bytes:
    """Return the text without its white space, ages, dates of posts, counters, visitors, and times of the request.

    White space changes with the markup.
    """
    text = without_years(without_postings(without_ages(without_space(text), language)))
    for mark in _COUNTER_MARKS:
        if mark in text:
            text = _without_counters(text, mark)
    text = without_visitors(text)
    for mark in _ACCESS_MARKS:
        if mark in text:
            text = _without_access(text, mark)
    for mark in _CLOCK_MARKS:
        position = text.find(mark, 0, _END_BYTES)
        text = _without_match(text, text.rfind(mark, -_END_BYTES) if position < 0 else position, _CLOCK)
    for mark in _GENERATED_MARKS:
        text = _without_match(text, text.rfind(mark, -_END_BYTES), _GENERATED)
    return text


def _without_match(text: bytes, position: int, pattern: re.Pattern[bytes]) -> bytes:
    """Return the text without what matches around a position; the whole text if that is negative."""
    if position < 0:
        return text
    start, end = max(0, position - _WINDOW_BYTES), position + _WINDOW_BYTES
    return text[:start] + pattern.sub(b"", text[start:end]) + text[end:]


def _without_access(text: bytes, mark: bytes) -> bytes:
    """Return the text without what matches at the last places with this mark. A citation stands near the end."""
    position = len(text)
    for _ in range(_MAX_ACCESS):
        position = text.rfind(mark, 0, position)
        if position < 0:
            break
        text = _without_match(text, position, _ACCESS)
    return text


def _without_counters(text: bytes, mark: bytes) -> bytes:
    """Return the text without the numbers directly before or after the words with this mark."""
    parts = text.split(mark)
    for index, part in enumerate(parts):
        if index and (number := _NUMBER_AFTER.match(part)):
            part = part[: number.start(1)] + part[number.end(1) :]
        if index < len(parts) - 1:
            part = _without_number_before(part)
        parts[index] = part
    return mark.join(parts)


def _without_number_before(part: bytes) -> bytes:
    before = part.rstrip(_LETTERS)
    if before[-1:].isdigit() and part[len(before) :].lower() in _UNITS:
        return before.rstrip(_NUMERALS) + part[len(before) :]
    return part


def _text_pieces(root: etree._Element, excluded: set[etree._Element], above: set[etree._Element]) -> Iterator[bytes]:
    """Yield the text around the excluded elements, in as few pieces as possible.

    The tree stays unchanged, because other readers use it too.
    """
    yield (root.text or "").encode()
    pending = [(iter(root), "")]
    while pending:
        children, tail = pending[-1]
        for child in children:
            if child in excluded:
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


def _link_references(document: Document, root: etree._Element, inside: set[etree._Element]) -> list[str]:
    links, hrefs = document.all("a"), document.anchor_hrefs()
    if root.getparent() is not document.root:
        part = _slice_within(document, root, "a")
        links, hrefs = links[part], hrefs[part]
    if not inside:
        return [href or "" for href in hrefs]
    return [href or "" for link, href in zip(links, hrefs, strict=True) if link not in inside]


def _media_references(document: Document, root: etree._Element, inside: set[etree._Element]) -> list[str]:
    tags = [tag for tag in _MEDIA_TAGS if document.all(tag)]
    if not tags:
        return []
    if len(tags) == 1:
        elements: Iterable[etree._Element] = document.all(tags[0])[_slice_within(document, root, tags[0])]
    else:
        elements = root.iter(*tags)
    return [_media_reference(element) for element in elements if element not in inside]


def _slice_within(document: Document, root: etree._Element, tag: str) -> slice:
    """Return the slice of all elements with the tag that lies inside `root`."""
    first = next(root.iter(tag), None)
    return slice(0) if first is None else slice_within(root, document.all(tag), first)


def _lasting_links(references: list[str]) -> bytes:
    joined = "\n".join(references)
    return _lasting(_TOKEN_OF_LINK.sub("", joined) if "=" in joined else joined)


def _lasting(joined: str) -> bytes:
    """Return references, one on each line, without their volatile parts."""
    if "?" in joined or ";" in joined:
        joined = _VOLATILE.sub("", joined)
    if _CLOUDFLARE_EMAIL in joined:
        joined = _CLOUDFLARE_KEY.sub("", joined)
    return joined.encode()


def _microdata_values(document: Document, root: etree._Element, excluded: set[etree._Element]) -> bytes:
    properties = (
        element
        for tag in ("meta", "link")
        for element in document.all(tag)
        if (element.get("itemprop") or "").lower() in _MICRODATA_PROPERTIES
    )
    values = []
    for element in islice(properties, _MAX_STATED):
        ancestors = set(element.iterancestors())
        if root in ancestors and excluded.isdisjoint(ancestors):
            values.append(element.get("content") or element.get("href") or "")
    return "\n".join(values).encode()


def _media_reference(element: etree._Element) -> str:
    if element.tag == "img":
        return _image_reference(element)
    return element.get("href" if element.tag == "area" else "src") or ""


def _image_reference(image: etree._Element) -> str:
    if image.get("width") in _PIXEL_SIZES or image.get("height") in _PIXEL_SIZES:
        return ""
    source = image.get("src") or ""
    if not source or source.startswith("data:"):
        source = next(filter(None, map(image.get, _LAZY_URLS)), source)
    path, _, query = source.partition("?")
    # The query after the name of a file is the version for caches. The picture of a captcha is another one each time.
    file = path if query and (_IMAGE_FILE.search(path) or "captcha" in path) else source
    return f"{file} {''.join((image.get('alt') or '').split())}"


def _title_text(document: Document) -> bytes:
    titles = document.all("title")
    return b" ".join(text_bytes(titles[0]).split()) if titles else b""


def _json_ld_properties(document: Document) -> bytes:
    properties = []
    scripts = (script for script in document.all("script") if "ld+json" in script.get("type", ""))
    for script in islice(scripts, _MAX_SCRIPTS):
        properties += _JSON_LD_PROPERTY.findall((script.text or "")[:_MAX_SCRIPT_LENGTH])
    return "\n".join(map(":".join, properties)).encode()
