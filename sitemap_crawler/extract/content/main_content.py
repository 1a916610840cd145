"""Where the main content of a page is, and what beside and in it is none: menus, side bars, comments, scripts."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree

from sitemap_crawler.extract.document import BLOCK_TAGS, slice_within

if TYPE_CHECKING:
    from collections.abc import Sequence

# What an element is. Those from _LANDMARK on depend on where it stands, or on what is in it.
_NONE, _CODE, _NO_CONTENT, _CONTENT, _LANDMARK, _ASIDE, _FORM, _LINKS, _ARTICLE, _BODY = range(10)
MAIN = 10  # and above: the main content, the lowest is believed first
_NOTHING_SAID = 100
_AS_IT_IS = frozenset({_NONE, _CONTENT, _BODY})
_ALWAYS_OUT = frozenset({_CODE, _NO_CONTENT})
_BY_TAG = _ALWAYS_OUT | {_BODY}  # whatever its attributes say

# By tag. What is not named here may be anything: its attributes tell.
_TAGS = dict.fromkeys(BLOCK_TAGS, _NONE) | {
    "article": _ARTICLE,
    "aside": _ASIDE,
    "body": _BODY,
    "dialog": _NO_CONTENT,
    "footer": _LANDMARK,
    "form": _FORM,
    "header": _LANDMARK,
    "main": MAIN,
    "nav": _NO_CONTENT,
    "noscript": _CODE,
    "script": _CODE,
    "style": _CODE,
    "template": _CODE,
    "textarea": _CODE,
}
CODE_TAGS = frozenset(tag for tag, kind in _TAGS.items() if kind == _CODE)
_ROLES = {
    "alertdialog": _NO_CONTENT,
    "banner": _LANDMARK,
    "comment": _NO_CONTENT,
    "complementary": _ASIDE,
    "contentinfo": _LANDMARK,
    "dialog": _NO_CONTENT,
    "main": MAIN + 1,
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
    **_are(MAIN + 2, "dokuwiki__content mw-content-text"),
    **_are(MAIN + 3, "main-content maincontent"),
    **_are(MAIN + 4, "content"),
    **_are(MAIN + 5, "main"),
    **_are(_LANDMARK, "banner colophon footer header masthead site-footer site-header"),
    **_are(_LINKS, "links menu"),
    **_are(_NO_CONTENT, _EITHER),
    **_are(_NO_CONTENT, "aside nav onetrust-consent-sdk secondary sidebar-left sidebar-right tertiary wp-calendar"),
}
_CLASSES = {
    **_are(_CONTENT, "admonition footnote footnote-list"),  # an <aside> to docutils
    **_are(MAIN + 6, "article-body article-content entry-content markdown-body post-content"),
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

# Bounds on hostile pages; real ones stay far below.
_MAX_CONDITIONAL = 200
_MAX_ARTICLES = 200
_MAX_MENU = 20_000  # bytes of text
_MAX_LINKS = 500

_ONLY_LINKS = 0.8  # of the text of what is a menu


class Survey(NamedTuple):
    main: etree._Element | None
    kind: int  # of `main`: how far to believe it
    left_out: set[etree._Element]  # what is no content


def survey(root: etree._Element, blocks: Sequence[etree._Element]) -> Survey:
    """Tell what the main content of `root` is; `blocks` are all of the page."""
    best: etree._Element | None = None
    best_kind = _NOTHING_SAID
    left_out = set()
    articles = []
    conditional = 0
    for element in _inside(root, blocks):
        kind = _kind(element)
        if kind in _AS_IT_IS:
            continue
        if kind in _ALWAYS_OUT:
            left_out.add(element)
        elif kind == _ARTICLE:
            articles.append(element)
        elif kind < MAIN:
            conditional += 1
            if conditional <= _MAX_CONDITIONAL and _is_left_out(element, kind):
                left_out.add(element)
        elif kind < best_kind:
            best, best_kind = element, kind
    if best is None:
        best = _only_article(articles, left_out)
    return Survey(best, best_kind, left_out)


def _inside(root: etree._Element, blocks: Sequence[etree._Element]) -> Sequence[etree._Element]:
    if root.getparent() is None:
        return blocks
    return blocks[slice_within(root, blocks, root)][1:]


def _kind(element: etree._Element) -> int:
    kind = _TAGS[element.tag]
    if kind in _BY_TAG:
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
    length = len(text_of(element))
    if length > _MAX_MENU:
        return False
    linked = sum(len(text_of(link)) for link in islice(element.iter("a"), _MAX_LINKS))
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


def text_of(element: etree._Element) -> bytes:
    return etree.tostring(element, method="text", encoding="utf-8", with_tail=False)
