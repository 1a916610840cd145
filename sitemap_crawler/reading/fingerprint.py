"""A fingerprint of what a page says: the same while its main content is the same, whatever else its bytes do."""

from __future__ import annotations

import re
import string
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.reading.document import Document

SIZE = 8  # bytes; among a million pages two that differ share one with a chance of 1 in 37 million

# What an element is. Those from _LANDMARK on depend on where it stands, or on what is in it.
_NONE, _CODE, _NO_CONTENT, _CONTENT, _LANDMARK, _ASIDE, _FORM, _LINKS, _ARTICLE = range(9)
_MAIN = 10  # and above: the main content, the lowest is believed first
_NOTHING_SAID = 100
_AS_IT_IS = frozenset({_NONE, _CONTENT})
_ALWAYS_OUT = frozenset({_CODE, _NO_CONTENT})

# Only these are looked at. Tags that a page has by the hundred (p, li, span, td) would cost more than they tell.
_TAGS = {
    "article": _ARTICLE,
    "aside": _ASIDE,
    "dialog": _NO_CONTENT,
    "div": _NONE,
    "footer": _LANDMARK,
    "form": _FORM,
    "header": _LANDMARK,
    "main": _MAIN,
    "nav": _NO_CONTENT,
    "noscript": _CODE,
    "ol": _NONE,
    "script": _CODE,
    "section": _NONE,
    "style": _CODE,
    "table": _NONE,
    "template": _CODE,
    "textarea": _CODE,
    "ul": _NONE,
}
_CODE_TAGS = frozenset(tag for tag, kind in _TAGS.items() if kind == _CODE)
_ROLES = {
    "alertdialog": _NO_CONTENT,
    "banner": _LANDMARK,
    "comment": _NO_CONTENT,
    "complementary": _ASIDE,
    "contentinfo": _LANDMARK,
    "dialog": _NO_CONTENT,
    "main": _MAIN + 1,
    "menu": _NO_CONTENT,
    "menubar": _NO_CONTENT,
    "navigation": _NO_CONTENT,
    "note": _CONTENT,
    "search": _NO_CONTENT,
    "toolbar": _NO_CONTENT,
}


def _are(kind: int, names: str) -> dict[str, int]:
    return dict.fromkeys(names.split(), kind)


# Whole names, in lower case: what is called "has-sidebar" or "comments-open" mostly holds the content, too.
_EITHER = """
    breadcrumb breadcrumbs leftnav mainnav navbar navigation pagination post-navigation related related-posts
    relatedposts rightnav sidebar sidenav topnav
    latest-posts recent-comments recent-posts
    comment-form comments comments-area commentform disqus_thread respond
    cookie-banner cookie-consent cookie-notice cookieconsent
    """
_IDS = {
    **_are(_MAIN + 2, "dokuwiki__content mw-content-text"),
    **_are(_MAIN + 3, "main-content maincontent"),
    **_are(_MAIN + 4, "content"),
    **_are(_MAIN + 5, "main"),
    **_are(_LANDMARK, "banner colophon footer header masthead site-footer site-header"),
    **_are(_LINKS, "links menu"),
    **_are(_NO_CONTENT, _EITHER),
    **_are(_NO_CONTENT, "aside nav onetrust-consent-sdk secondary sidebar-left sidebar-right tertiary wp-calendar"),
}
_CLASSES = {
    **_are(_CONTENT, "admonition footnote footnote-list"),  # an <aside> to docutils
    **_are(_MAIN + 6, "article-body article-content entry-content markdown-body post-content"),
    **_are(_LANDMARK, "copyright copyright-footer footer header site-footer site-header site-info"),
    **_are(_LINKS, "menu nav tags widget"),
    **_are(_NO_CONTENT, _EITHER),
    **_are(
        _NO_CONTENT,
        """
        jp-relatedposts more-posts mw-editsection mw-indicators nav-links navbox navfooter navheader pager printfooter
        read-next recommendations recommended related-articles related-content related-products similar-posts
        skip-link sphinxsidebar spirit-nav yarpp yarpp-related

        widget-area widget_archive widget_calendar widget_categories widget_meta widget_nav_menu widget_recent_comments
        widget_recent_entries widget_rss widget_tag_cloud wp-block-archives wp-block-calendar wp-block-categories
        wp-block-latest-comments wp-block-latest-posts wp-block-rss wp-block-tag-cloud

        comment comment-list comment-respond comment-section commentlist comments-link comments-list comments-section
        comments-wrapper disqus-comments fb-comments post-comments wp-block-comments wp-block-comments-query-loop
        wp-block-post-comments wp-block-post-comments-form

        docinfo entry-views hit-counter page-views pageviews post-views view-count views-count visit-counter

        ad ad-container ad-slot ads adsbygoogle adslot advert advertisement banner-ad newsletter-signup share
        share-buttons sharedaddy sharing social social-links social-share sponsored
        """,
    ),
}

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

# Of references: session ids, tokens against forgery, Unix times, and the key of an address that Cloudflare hides.
_PROTECTED = "/cdn-cgi/l/email-protection#"
_VOLATILE = re.compile(
    r"""[?&;](?:(?:aspsessionid\w*|authenticity_token|cfid|cftoken|csrf[\w-]*|form_build_id|form_key|jsessionid|_?nonce
    |oscsid|phpsessid|sectok|session_?id|tok|_?token|_wpnonce|zenid)=[^&;\#?\s]*+
    |(?:s|sid)=[0-9a-f]{32,}
    |(?:[\w-]{1,20}=)?1[0-9]{9}(?:[0-9]{3})?(?:\.[0-9]+)?(?=[&;\#\s]|\Z))
    |(?<=email-protection)\#[0-9a-f]+""",
    re.IGNORECASE | re.VERBOSE,
)

# Of the text without white space: 1,234 views, Views: 12, Viewed 12 times, 3 comments, 5 minutes ago. A mark is what
# all spellings of a word have, a unit what may stand between the number and the mark.
_COUNTED = (b"iew", b"omment", b"ago")
_UNITS = frozenset(
    f"{unit}{plural}".encode()
    for unit in ("second", "sec", "minute", "min", "hour", "day", "week", "month", "year")
    for plural in ("", "s")
) | {b"v", b"pagev", b"postv", b"totalv", b"uniquev", b"c"}
_LETTERS = string.ascii_letters.encode()
_NUMERALS = b"0123456789.,'"
_NUMBER = rb"[0-9]++(?:[.,'][0-9]{3})*+"
_COUNT_AFTER = re.compile(rb"(?:s|ed)?([:(]?%s\)?(?:times)?)" % _NUMBER)

# Where pages say when and how fast they were made.
_WINDOW = 60  # bytes on either side of such a word
_END = 500  # bytes from the end of the text
_AT_THE_END = (b"second", b"quer", b"odified", b"pdated", b"dited", b"evised", b"opyright", b"ccessed", b"\xa9")
_DATE = (
    rb"(?:[0-9]{1,4}[-/.,:]?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sat|sun)(?:day)?[.,]?"
    rb"|(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    rb"|nov(?:ember)?|dec(?:ember)?)[.,]?|at|t|z|[ap]\.?m\.?|gmt|utc|ce[s]?t|[ep][ds]t|[+-](?=[0-9])){1,20}"
)
_MADE = re.compile(
    rb"(?i:[0-9.]+(?:seconds?|milliseconds|ms)(?:with[0-9]+quer(?:y|ies))?|[0-9]+(?:sql|db|database)?quer(?:y|ies)"
    rb"|accessed%s(?:times)?"
    rb"|(?:last|page)-?(?:modified|updated|edited|changed|revised)(?:on|at)?:?%s"
    rb"|(?:copyright|\xa9|\(c\)){1,2}(?:[0-9]{4}(?:-|,|\xe2\x80\x93)?){1,5})" % (_NUMBER, _DATE)
)

# Bounds on hostile pages; real ones stay far below.
_MAX_CONDITIONAL = 200
_MAX_ARTICLES = 200
_MAX_MENU = 20_000  # bytes of text
_MAX_LINKS = 500
_MAX_STATED = 200
_MAX_SCRIPTS = 50
_MAX_SCRIPT = 1_000_000  # characters

_ONLY_LINKS = 0.8  # of the text of what is a menu

# With the bytes of the no-break space: what else they are part of differs in its other bytes, too.
_WHITE_SPACE = b" \t\n\r\f\v\xc2\xa0"


def fingerprint(document: Document) -> bytes:
    """Return SIZE bytes that stand for the title and the words, links, images and prices of the main content.

    Of structured data only what a product or an article says of itself counts; the rest of it repeats the page or is
    about its date, its ratings and its site.
    """
    body = next(document.root.iterchildren("body"), None)
    text, references = _content(document, document.root if body is None else body)
    digest = blake2b(_title(document), digest_size=SIZE)
    for part in (text, references, _structured(document)):
        digest.update(b"\0")
        digest.update(part)
    return digest.digest()


def _content(document: Document, body: etree._Element) -> tuple[bytes, bytes]:
    """Return the words and the references of the main content, or of the whole body where that is empty."""
    main = next(body.iter("main"), None)
    if main is not None:
        found = _read(document, main, _survey(main).left_out)
        if any(found):
            return found
    survey = _survey(body)
    if survey.main is not None:
        found = _read(document, survey.main, survey.left_out)
        if survey.kind == _MAIN + 1 and any(found):
            return found
        # The only article of a page may be a teaser, and the element that is called "content" a shell.
        rest = _read(document, body, survey.left_out)
        if any(found) and 2 * len(found[0]) >= len(rest[0]):
            return found
    else:
        rest = _read(document, body, survey.left_out)
    if any(rest):
        return rest
    return _read(document, body, {element for element in survey.left_out if element.tag in _CODE_TAGS})


class _Survey(NamedTuple):
    main: etree._Element | None
    kind: int  # of `main`: how far to believe it
    left_out: set[etree._Element]  # what is no content


def _survey(root: etree._Element) -> _Survey:
    best: etree._Element | None = None
    best_kind = _NOTHING_SAID
    left_out = set()
    articles = []
    conditional = 0
    for element in root.iter(*_TAGS):
        kind = _kind(element)
        if kind in _AS_IT_IS or element is root:
            continue
        if kind in _ALWAYS_OUT:
            left_out.add(element)
        elif kind == _ARTICLE:
            articles.append(element)
        elif kind < _MAIN:
            conditional += 1
            if conditional <= _MAX_CONDITIONAL and _is_left_out(element, kind):
                left_out.add(element)
        elif kind < best_kind:
            best, best_kind = element, kind
    if best is None:
        best = _only_article(articles, left_out)
    return _Survey(best, best_kind, left_out)


def _kind(element: etree._Element) -> int:
    kind = _TAGS[element.tag]
    if kind in _ALWAYS_OUT:
        return kind
    attributes: Any = element.items()  # of str, whatever the stubs say
    for name, value in attributes:
        if name == "class":
            kind = _of_class(value) or kind
        elif name == "id":
            kind = _IDS.get(value.lower(), kind)
        elif name == "role":
            kind = _ROLES.get(value.lower(), kind)
        elif name == "itemtype" and value.endswith("schema.org/Comment"):
            kind = _NO_CONTENT
    return kind


# A site has few class attributes that are on many of its pages.
@lru_cache(maxsize=4_096)
def _of_class(value: str) -> int:
    return min((_CLASSES[name] for name in value.lower().split() if name in _CLASSES), default=_NONE)


def _is_left_out(element: etree._Element, kind: int) -> bool:
    if kind == _LANDMARK:
        # https://html.spec.whatwg.org/multipage/sections.html#the-header-element: of that section, not of the page
        return next(element.iterancestors("article", "main", "section"), None) is None
    if kind == _ASIDE:
        return next(element.iterancestors("article"), None) is None
    if kind == _FORM:
        # ASP.NET has the whole page in a form.
        return next(element.iter("article", "h1", "h2", "main", "table"), None) is None
    length = len(_text(element))
    if length > _MAX_MENU:
        return False
    linked = sum(len(_text(link)) for link in islice(element.iter("a"), _MAX_LINKS))
    return linked >= _ONLY_LINKS * length


def _only_article(articles: list[etree._Element], left_out: set[etree._Element]) -> etree._Element | None:
    """Return the article that is alone, save for those in it and in what is left out."""
    found = None
    for article in articles[:_MAX_ARTICLES]:
        ancestors = list(article.iterancestors())
        if found in ancestors or not left_out.isdisjoint(ancestors):
            continue
        if found is not None:
            return None
        found = article
    return found


def _read(document: Document, root: etree._Element, left_out: set[etree._Element]) -> tuple[bytes, bytes]:
    """Return the text, without white space, and the references."""
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
    text = b"".join(_pieces(root, left_out, above)) if above else _text(root)
    references = _references(document, root, inside) + b"\n" + _microdata(document, root, left_out)
    return _words(text), references.strip()


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


def _text(element: etree._Element) -> bytes:
    return etree.tostring(element, method="text", encoding="utf-8", with_tail=False)


def _words(text: bytes) -> bytes:
    """Return the text without white space, which moves with the markup, and without what is counted or timed."""
    text = text.translate(None, _WHITE_SPACE)
    for mark in _COUNTED:
        if mark in text:
            text = _without_counters(text, mark)
    for mark in _AT_THE_END:
        at = text.rfind(mark, -_END)
        if at >= 0:
            start, end = max(0, at - _WINDOW), at + _WINDOW
            text = text[:start] + _MADE.sub(b"", text[start:end]) + text[end:]
    return text


def _without_counters(text: bytes, mark: bytes) -> bytes:
    """Cut a number that stands before or after the word that `mark` is a part of."""
    parts = text.split(mark)
    for at, part in enumerate(parts):
        if at and (number := _COUNT_AFTER.match(part)):
            part = part[: number.start(1)] + part[number.end(1) :]
        if at < len(parts) - 1:
            part = _without_number_before(part)
        parts[at] = part
    return mark.join(parts)


def _without_number_before(part: bytes) -> bytes:
    before = part.rstrip(_LETTERS)
    if before[-1:].isdigit() and part[len(before) :].lower() in _UNITS:
        return before.rstrip(_NUMERALS) + part[len(before) :]
    return part


def _references(document: Document, root: etree._Element, inside: set[etree._Element]) -> bytes:
    links = document.all("a") if root.getparent() is document.root else root.iter("a")
    found = [link.get("href") or "" for link in links if link not in inside]
    if any(map(document.all, _MEDIA)):
        found += [_medium(element) for element in root.iter(*_MEDIA) if element not in inside]
    joined = "\n".join(found)
    if "?" in joined or ";" in joined or _PROTECTED in joined:
        joined = _VOLATILE.sub("", joined)
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
    return b" ".join(_text(titles[0]).split()) if titles else b""


def _structured(document: Document) -> bytes:
    found = []
    scripts = (script for script in document.all("script") if "ld+json" in script.get("type", ""))
    for script in islice(scripts, _MAX_SCRIPTS):
        found += _STRUCTURED.findall((script.text or "")[:_MAX_SCRIPT])
    return "\n".join(map(":".join, found)).encode()
