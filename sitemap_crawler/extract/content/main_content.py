"""The main content of a page, and the elements that are not content: menus, side bars, comments, scripts."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree

from sitemap_crawler.extract.document import BLOCK_TAGS, slice_within

if TYPE_CHECKING:
    from collections.abc import Sequence

# Kinds of elements. For the kinds from _LANDMARK to _ARTICLE, the position or the content of the element decides.
_NONE, _CODE, _NO_CONTENT, _CONTENT, _LANDMARK, _ASIDE, _FORM, _LINKS, _COMMENTS, _RANDOM, _ARTICLE, _BODY = range(12)
MAIN = 12  # this and higher kinds are the main content; the lowest of them is the most reliable
NO_MAIN = 100
_UNMARKED = frozenset({_NONE, _CONTENT, _BODY})
_ALWAYS_EXCLUDED = frozenset({_CODE, _NO_CONTENT})
_BY_TAG = _ALWAYS_EXCLUDED | {_BODY}  # attributes do not change these kinds

# Kinds by tag. A tag without an entry may be anything, so its attributes decide.
_KIND_BY_TAG = dict.fromkeys(BLOCK_TAGS, _NONE) | {
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
CODE_TAGS = frozenset(tag for tag, kind in _KIND_BY_TAG.items() if kind == _CODE)
_KIND_BY_ROLE = {
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


def _kinds(kind: int, names: str) -> dict[str, int]:
    return dict.fromkeys(names.split(), kind)


_HEADINGS = ("h3", "h4", "h5", "h6")
_FIELDS = ("input", "select", "textarea")
_CONTROLS = ("button", "label", "legend", "select", "textarea")
_ACTING_INPUTS = frozenset(("hidden", "checkbox", "submit", "button", "image", "reset"))
"""Types of inputs that hold nothing that a visitor writes or chooses."""

# Kinds by whole names in lower case. Elements with names such as "has-sidebar" or "comments-open" mostly hold the
# content too.
_ID_OR_CLASS = """
    breadcrumb breadcrumbs leftnav mainnav navbar navigation pagination post-navigation related related-posts
    related-products related_products related_products-block relatedposts rightnav sidebar sidenav similar-products
    topnav latest-posts recent-comments recent-posts
    also-purchased also-purchased-products box-also-purchased-products box-latest-products box-popular-products
    box-recently-viewed-products box-similar-products
    comment-form comments-area commentform disqus_thread respond
    cookie-banner cookie-consent cookie-notice cookieconsent
    """
_KIND_BY_ID = {
    **_kinds(MAIN + 2, "dokuwiki__content main_content_section mw-content-text"),
    **_kinds(MAIN + 3, "main-content maincontent"),
    **_kinds(MAIN + 4, "content"),
    **_kinds(MAIN + 5, "main"),
    **_kinds(_LANDMARK, "banner colophon footer header masthead site-footer site-header"),
    **_kinds(_LINKS, "links menu"),
    **_kinds(_COMMENTS, "comments"),
    **_kinds(_NO_CONTENT, _ID_OR_CLASS),
    **_kinds(_NO_CONTENT, "aside nav onetrust-consent-sdk secondary sidebar-left sidebar-right tertiary whoisviewing"),
    **_kinds(_NO_CONTENT, "info_center relatedtagsbox upper_section wp-calendar"),
}
_KIND_BY_CLASS = {
    **_kinds(_CONTENT, "admonition footnote footnote-list"),  # docutils writes these as <aside>
    **_kinds(MAIN + 6, "article-body article-content centercolumn entry-content markdown-body post-content"),
    **_kinds(_LANDMARK, "copyright copyright-footer footer header site-footer site-header site-info"),
    **_kinds(_LINKS, "menu nav tags widget"),
    **_kinds(_COMMENTS, "comments"),
    **_kinds(_NO_CONTENT, _ID_OR_CLASS),
    **_kinds(
        _NO_CONTENT,
        """
        jp-relatedposts more-posts mw-editsection mw-indicators nav-links navbox navfooter navheader pager printfooter
        read-next recommendations recommended related-articles related-content related-tags
        similar-posts skip-link sphinxsidebar spirit-nav yarpp yarpp-related

        action-buttons also-bought block_frame_bestsellers centerboxwrapper cross-selling cross-sells crossselling
        leftboxcontainer
        product-accessories product-recommendations recently-viewed recently-viewed-products rightboxcontainer
        sideboxcontent up-sells upsells

        widget-area widget_archive widget_calendar widget_categories widget_meta widget_nav_menu widget_recent_comments
        widget_recent_entries widget_rss widget_tag_cloud wp-block-archives wp-block-calendar wp-block-categories
        wp-block-latest-comments wp-block-latest-posts wp-block-rss wp-block-tag-cloud

        comment comment-list comment-respond comment-section commentlist comments-link comments-list comments-section
        comments-wrapper disqus-comments fb-comments post-comments wp-block-comments wp-block-comments-query-loop
        wp-block-post-comments wp-block-post-comments-form

        docinfo entry-views hit-counter page-views pageviews post-views view-count views-count visit-counter

        author_statistics birthday-list message-userextras online-list user_info

        ad ad-container ad-slot ads adsbygoogle adslot advert advertisement banner-ad banners newsletter-signup share
        share-buttons sharedaddy sharing social social-links social-share sponsored
        """,
    ),
}

# Parts of names in lower case, such as "navbar-nav" and "main_menu", that menus have, and ends of parts: "globalnav".
_MENU_PARTS = frozenset({"menubar", "navbar", "navigation"})
_MENU_ENDS = ("menu", "nav")

# The beginning of names such as "random-books" and "random_quote", of what is another one at each request.
_RANDOM_NAMES = ("random-", "random_")
# Parts of the names of elements that comments have inside.
_COMMENT_PARTS = ("comment", "repl", "author", "avatar", "user")
_COMMENT_TAGS = ("article", "button", "form", "input", "textarea", "time")

# This includes the bytes of the no-break space. Other characters with these bytes also differ in their other bytes.
_WHITE_SPACE = b" \t\n\r\f\v\xc2\xa0"

# Bounds on hostile pages; real ones stay far below.
_MAX_CONDITIONAL = 200  # elements whose position or content is examined
_MAX_ARTICLES = 200
_MAX_MENU_BYTES = 20_000  # of text
_MAX_LINKS = 500
_MAX_CONTROLS = 200  # of a form
_MAX_COMMENT_ELEMENTS = 500  # elements inside one that is named for comments

_MIN_PROSE_BYTES = 200
"""Length of a text in a form from which on it is content. The notes of forms for comments are shorter."""
_MIN_LINK_SHARE = 0.8  # of the text of a menu


class Survey(NamedTuple):
    """The main content of an element, and the elements inside it that are not content."""

    main: etree._Element | None
    kind: int
    """The kind of `main`; a lower kind is more reliable."""
    excluded: set[etree._Element]


def survey(root: etree._Element, blocks: Sequence[etree._Element]) -> Survey:
    """Return the main content of `root`. `blocks` are all block elements of the page."""
    best: etree._Element | None = None
    best_kind = NO_MAIN
    excluded = set()
    articles = []
    conditional = 0
    for element in _blocks_inside(root, blocks):
        kind = _kind_of(element)
        if kind in _UNMARKED:
            continue
        if kind in _ALWAYS_EXCLUDED:
            excluded.add(element)
        elif kind == _ARTICLE:
            articles.append(element)
        elif kind < MAIN:
            conditional += 1
            if _is_excluded(element, kind) if conditional <= _MAX_CONDITIONAL else kind == _COMMENTS:
                excluded.update(_no_content_of(element) if kind == _FORM else (element,))
        elif kind < best_kind:
            best, best_kind = element, kind
    if best is None:
        best = _only_article(articles, excluded)
    return Survey(best, best_kind, excluded)


def _blocks_inside(root: etree._Element, blocks: Sequence[etree._Element]) -> Sequence[etree._Element]:
    if root.getparent() is None:
        return blocks
    return blocks[slice_within(root, blocks, root)][1:]


def _kind_of(element: etree._Element) -> int:
    kind = _KIND_BY_TAG[element.tag]
    if kind in _BY_TAG:
        return kind
    is_menu = False
    attributes: Any = element.items()  # pairs of str; the stubs are wrong
    for name, value in attributes:
        if name == "class":
            kind = _kind_of_class(value) or kind
            is_menu = is_menu or _names_menu(value)
        elif name == "id":
            kind = _KIND_BY_ID.get(value.lower(), kind)
            is_menu = is_menu or _names_menu(value)
        elif name == "role":
            kind = _KIND_BY_ROLE.get(value.lower(), kind)
        elif name == "itemtype" and value.endswith("schema.org/Comment"):
            kind = _NO_CONTENT
    return kind if kind or not is_menu else _LINKS


# Most pages of a site share a few class attributes.
@lru_cache(maxsize=4_096)
def _kind_of_class(value: str) -> int:
    names = value.lower().split()
    kind = min((_KIND_BY_CLASS[name] for name in names if name in _KIND_BY_CLASS), default=_NONE)
    return _RANDOM if kind == _NONE and any(name.startswith(_RANDOM_NAMES) for name in names) else kind


@lru_cache(maxsize=4_096)
def _names_menu(value: str) -> bool:
    """Return whether a part of a name says that the element is a menu. What it holds must say so, too."""
    parts = value.lower().replace("_", " ").replace("-", " ").split()
    return any(part in _MENU_PARTS or part.endswith(_MENU_ENDS) for part in parts)


def _is_excluded(element: etree._Element, kind: int) -> bool:
    if kind == _LANDMARK:
        # Inside a section, a header or footer belongs to that section:
        # https://html.spec.whatwg.org/multipage/sections.html#the-header-element
        return next(element.iterancestors("article", "main", "section"), None) is None
    if kind == _ASIDE:
        return next(element.iterancestors("article"), None) is None
    if kind == _FORM:
        # ASP.NET wraps the whole page in a form, and forums wrap the posts of a topic.
        if next(element.iter("article", "h1", "h2", "main", "table"), None) is not None:
            return False
        return next(element.iter(*_HEADINGS), None) is None or any(map(_is_field, element.iter(*_FIELDS)))
    if kind == _COMMENTS:
        return not _is_prose(element)
    if kind == _RANDOM:
        return next(element.iter("h1", "main"), None) is None
    length = len(text_bytes(element))
    if length > _MAX_MENU_BYTES:
        return False
    linked = sum(len(text_bytes(link)) for link in islice(element.iter("a"), _MAX_LINKS))
    return linked >= _MIN_LINK_SHARE * length


def _is_prose(element: etree._Element) -> bool:
    """Return whether an element that is named for comments holds one long text: some programs name a description so.

    Comments have forms, names and times inside, or several entries of one kind.
    """
    if (
        len(without_space(text_bytes(element))) < _MIN_PROSE_BYTES
        or next(element.iter(*_COMMENT_TAGS), None) is not None
    ):
        return False
    inner = list(islice(element.iterdescendants("*"), _MAX_COMMENT_ELEMENTS))
    names = [f"{one.get('class') or ''} {one.get('id') or ''}".lower() for one in inner]
    if any(part in name for name in names for part in _COMMENT_PARTS):
        return False
    kinds = [(one.getparent(), one.tag, one.get("class")) for one in inner if one.get("class")]
    return len(set(kinds)) == len(kinds)


def _no_content_of(form: etree._Element) -> Sequence[etree._Element]:
    """Return a form, or only its controls if it has a text of its own: questions and answers may be forms."""
    controls = list(islice(form.iter(*_CONTROLS), _MAX_CONTROLS))
    prose = len(without_space(text_bytes(form))) - sum(len(without_space(text_bytes(control))) for control in controls)
    return controls if prose >= _MIN_PROSE_BYTES else (form,)


def _is_field(element: etree._Element) -> bool:
    """Return whether visitors fill a control of a form in. Buttons, and boxes beside entries, act on its content."""
    return element.tag != "input" or (element.get("type") or "text").lower() not in _ACTING_INPUTS


def _only_article(articles: list[etree._Element], excluded: set[etree._Element]) -> etree._Element | None:
    """Return the only article, apart from articles inside it and inside excluded elements; `None` for several."""
    only = None
    for article in articles[:_MAX_ARTICLES]:
        ancestors = list(article.iterancestors())
        if only in ancestors or not excluded.isdisjoint(ancestors):
            continue
        if only is not None:
            return None
        only = article
    return only


def text_bytes(element: etree._Element) -> bytes:
    """Return the text of an element in UTF-8, white space included."""
    return etree.tostring(element, method="text", encoding="utf-8", with_tail=False)


def without_space(text: bytes) -> bytes:
    """Return a text in UTF-8 without white space. Its characters can be compared, and no longer be decoded."""
    return text.translate(None, _WHITE_SPACE)
