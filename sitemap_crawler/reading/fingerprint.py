"""A fingerprint of what a page says: the same while its main content is the same, whatever else its bytes do."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.reading.document import Document

SIZE = 8  # bytes; among a million pages two that differ share one with a chance of 1 in 37 million

# What an element is. Those from _LANDMARK on depend on where it stands, or on what is in it.
_NONE, _CODE, _NO_CONTENT, _LANDMARK, _ASIDE, _FORM, _LINKS, _ARTICLE = range(8)
_MAIN = 10  # and above: the main content, the lowest is believed first
_NOTHING_SAID = 100
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
    "search": _NO_CONTENT,
    "toolbar": _NO_CONTENT,
}


# Whole names only: what is called "has-sidebar" or "comments-open" mostly holds the content, too.
_IDS = {
    "mw-content-text": _MAIN + 2,
    "dokuwiki__content": _MAIN + 2,
    "main-content": _MAIN + 3,
    "maincontent": _MAIN + 3,
    "content": _MAIN + 4,
    "main": _MAIN + 5,
    **dict.fromkeys("header masthead banner footer colophon site-header site-footer".split(), _LANDMARK),
    **dict.fromkeys("menu links".split(), _LINKS),
    **dict.fromkeys(
        """
        aside breadcrumb breadcrumbs comments comment-form commentform cookie-banner cookie-notice cookieconsent
        disqus_thread leftnav mainnav nav navbar navigation onetrust-consent-sdk recent-comments recent-posts related
        related-posts respond rightnav secondary sidebar sidebar-left sidebar-right sidenav tertiary topnav wp-calendar
        """.split(),
        _NO_CONTENT,
    ),
}
_CLASSES = {
    **dict.fromkeys("entry-content post-content article-content article-body markdown-body".split(), _MAIN + 6),
    **dict.fromkeys("header footer site-header site-footer site-info copyright copyright-footer".split(), _LANDMARK),
    **dict.fromkeys("menu nav tags widget".split(), _LINKS),
    **dict.fromkeys(
        """
        breadcrumb breadcrumbs mw-editsection mw-indicators nav-links navbar navbox navfooter navheader navigation
        pagination pager post-navigation printfooter sidenav skip-link sphinxsidebar spirit-nav topnav
        """.split()  # ways to other pages
        + """
        sidebar widget-area widget_archive widget_calendar widget_categories widget_meta widget_nav_menu
        widget_recent_comments widget_recent_entries widget_rss widget_tag_cloud wp-block-archives wp-block-calendar
        wp-block-categories wp-block-latest-comments wp-block-latest-posts wp-block-rss wp-block-tag-cloud
        """.split()  # what else is new on the site
        + """
        jp-relatedposts more-posts read-next recent-comments recent-posts recommendations recommended related
        related-articles related-content related-posts relatedposts related-products similar-posts yarpp yarpp-related
        """.split()
        + """
        comment comment-form comment-list comment-respond commentlist comments comments-area comments-link
        comments-list comments-section comments-wrapper comment-section disqus-comments fb-comments post-comments
        wp-block-comments wp-block-comments-query-loop wp-block-post-comments wp-block-post-comments-form
        """.split()  # what readers write
        + """
        docInfo entry-views hit-counter hits page-views pageviews post-views view-count views views-count visit-counter
        """.lower().split()  # counters, and dates of the last edit
        + """
        ad ad-container ad-slot ads adsbygoogle adslot advert advertisement banner-ad cookie-banner cookie-consent
        cookie-notice newsletter-signup share share-buttons sharedaddy sharing social social-links social-share
        sponsored
        """.split(),
        _NO_CONTENT,
    ),
}

_REFERENCES = ("a", "area", "audio", "embed", "iframe", "img", "link", "meta", "source", "video")
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
    |oscsid|phpsessid|sectok|session_?id|_?token|_wpnonce|zenid)=[^&;\#?\s]*+
    |(?:s|sid)=[0-9a-f]{32,}
    |(?:[\w-]{1,20}=)?1[0-9]{9}(?:[0-9]{3})?(?:\.[0-9]+)?(?=[&;\#\s]|\Z))
    |(?<=email-protection)\#[0-9a-f]+""",
    re.IGNORECASE | re.VERBOSE,
)

# Of the text without white space: counters, and how long ago something was. The marks tell whether one may be there.
_COUNTED = (b"iew", b"omment", b"ago")
_NUMBER = rb"[0-9]{1,3}(?:[.,\'][0-9]{3}|[0-9])*+"
_COUNTERS = re.compile(
    rb"(?i:"
    rb"(?:%(number)s|no|one)(?:page|post|unique|total)?(?:views?|comments?)(?![a-z])"
    rb"|(?<![a-z])(?:page|post)?(?:views?|comments?)[:(]%(number)s\)?"
    rb"|viewed:?%(number)s(?:times)?"
    rb"|(?:an?|[0-9]{1,3})(?:second|sec|minute|min|hour|day|week|month|year)s?ago"
    rb")" % {b"number": _NUMBER}
)

# Where pages say how and when they were made.
_END = 1_000  # bytes
_AT_THE_END = (b"second", b"quer", b"odified", b"pdated", b"dited", b"evised", b"opyright", b"ccessed", b"\xc2\xa9")
_MONTHS = rb"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
_CLOSING = re.compile(
    rb"(?i:"
    rb"[0-9.]+(?:s|ms|sec|seconds|milliseconds)(?:with[0-9]+quer(?:y|ies))?"
    rb"|[0-9]+(?:sql|db|database)?quer(?:y|ies)"
    rb"|accessed%(number)stimes"
    rb"|(?:last|page)(?:-?modified|updated|edited|changed|revised)(?:on|at|by)?:?(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur?|sun)(?:day)?,?)?"
    rb"(?:[0-9]{1,4}[-/.,:]?|%(months)s[.,]?|at|t|z|[ap]\.?m\.?|(?:gmt|utc|cest|cet|e[ds]t|p[ds]t)|[+-](?=[0-9])){1,20}"
    rb"|(?:copyright|\xc2\xa9|\(c\)){1,2}(?:[0-9]{4}(?:-|,|\xe2\x80\x93)?){1,5}"
    rb")" % {b"number": _NUMBER, b"months": _MONTHS}
)

# Bounds on hostile pages; real ones stay far below.
_MAX_CONDITIONAL = 200
_MAX_ARTICLES = 200
_MAX_LINKS = 500
_ONLY_LINKS = 0.8

_WHITE_SPACE = b" \t\n\r\f\v"
_NO_BREAK_SPACE = "\N{NO-BREAK SPACE}".encode()

_MAX_SCRIPTS = 50
_MAX_SCRIPT = 1_000_000  # characters


def fingerprint(document: Document) -> bytes:
    """Return SIZE bytes that stand for the title and the words, links, images and prices of the main content.

    Of structured data only what a product or an article says of itself counts; the rest of it repeats the page or is
    about its date, its ratings and its site.
    """
    body = document.root.find("body")
    text, references = _content(document.root if body is None else body)
    digest = blake2b(_title(document), digest_size=SIZE)
    for part in (text, references, _structured(document)):
        digest.update(b"\0")
        digest.update(part)
    return digest.digest()


def _content(body: etree._Element) -> tuple[bytes, bytes]:
    """Return the words and the references of the main content, or of the whole body where that is empty."""
    main = next(body.iter("main"), None)
    if main is not None:
        found = _read(main, _survey(main).left_out)
        if any(found):
            return found
    survey = _survey(body)
    if survey.main is not None:
        found = _read(survey.main, survey.left_out)
        if survey.kind == _MAIN + 1 and any(found):
            return found
        # The only article of a page may be a teaser, and the element that is called "content" a shell.
        rest = _read(body, survey.left_out)
        if any(found) and 2 * len(found[0]) >= len(rest[0]):
            return found
    else:
        rest = _read(body, survey.left_out)
    return rest if any(rest) else _read(body, {element for element in survey.left_out if element.tag in _CODE_TAGS})


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
        if kind == _NONE or element is root:
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
    for name, value in element.items():
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
    linked = sum(len(_text(link)) for link in islice(element.iter("a"), _MAX_LINKS))
    return linked >= _ONLY_LINKS * len(_text(element))


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


def _read(root: etree._Element, left_out: set[etree._Element]) -> tuple[bytes, bytes]:
    """Return the text, without white space, and the references."""
    above: set[etree._Element] = set()  # what has something in it that is left out
    inside: set[etree._Element] = set()
    for element in left_out:
        ancestors = []
        for ancestor in element.iterancestors():
            ancestors.append(ancestor)
            if ancestor is root or ancestor in above:
                above.update(ancestors)
                inside.update(element.iter(*_REFERENCES))
                break
    text = b"".join(_pieces(root, left_out, above)) if above else _text(root)
    return _words(text), _references(root, inside)


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
    """Return the text without white space, which moves with the markup, and without the numbers of counters."""
    text = text.translate(None, _WHITE_SPACE).replace(_NO_BREAK_SPACE, b"")
    if any(mark in text for mark in _COUNTED):
        text = _COUNTERS.sub(b"", text)
    end = text[-_END:]
    if any(mark in end for mark in _AT_THE_END):
        text = text[:-_END] + _CLOSING.sub(b"", end)
    return text


def _references(root: etree._Element, inside: set[etree._Element]) -> bytes:
    found = [_reference(element) for element in root.iter(*_REFERENCES) if element not in inside]
    joined = "\n".join(found)
    if "?" in joined or ";" in joined or _PROTECTED in joined:
        joined = _VOLATILE.sub("", joined)
    return joined.encode()


def _reference(element: etree._Element) -> str:
    tag = element.tag
    if tag == "a" or tag == "area":
        return element.get("href") or ""
    if tag == "meta" or tag == "link":
        stated = element.get("itemprop", "").lower() in _STATED
        return (element.get("content") or element.get("href") or "") if stated else ""
    return _image(element) if tag == "img" else element.get("src") or ""


def _image(image: etree._Element) -> str:
    if image.get("width") in _PIXEL or image.get("height") in _PIXEL:
        return ""
    source = image.get("src") or ""
    if not source or source.startswith("data:"):
        source = next(filter(None, map(image.get, _LAZY_URLS)), source)
    path, _, query = source.partition("?")
    # What a file's name is followed by says which edition caches should ask for.
    return f"{path if query and _IMAGE_FILE.search(path) else source} {image.get('alt', '')}"


def _title(document: Document) -> bytes:
    titles = document.all("title")
    return b" ".join(_text(titles[0]).split()) if titles else b""


def _structured(document: Document) -> bytes:
    found = []
    for script in islice(document.all("script"), _MAX_SCRIPTS):
        if "ld+json" in script.get("type", ""):
            found += _STRUCTURED.findall((script.text or "")[:_MAX_SCRIPT])
    return "\n".join(map(":".join, found)).encode()
