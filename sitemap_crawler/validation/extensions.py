"""Rules for the extensions of a `url` element: images, videos, news and language alternates.

To add a rule, write a function `(children by namespace, loc of the page, now) -> issues` and add it to `RULES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta

from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.findings import Issue, issue
from sitemap_crawler.validation.reading.reader import Node
from sitemap_crawler.validation.values import UrlProblem, parse_url, w3c_datetime

MAX_SHOWN = 60
"""Maximum number of characters of a value that a message shows."""

Children = Mapping[str, list[Node]]
Rule = Callable[[Children, str, datetime], Iterator[Issue]]

_INTEGER = re.compile(r"[0-9]{1,18}")
_DECIMAL = re.compile(r"[0-9]{1,18}(?:\.[0-9]*)?")
_COUNTRIES = re.compile(r"[A-Z]{2}(?: +[A-Z]{2})*")
_NEWS_LANGUAGE = re.compile(r"[a-z]{2,3}|zh-cn|zh-tw")
# The subtags that Google reads (language, script, region) of https://www.rfc-editor.org/rfc/rfc5646#section-2.1.
_HREFLANG = re.compile(r"x-default|[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?", re.IGNORECASE)


def namespaces(children: Children, _loc: str, _now: datetime) -> Iterator[Issue]:
    """Check the namespaces of extensions.

    Unknown extensions are allowed. A known extension with a misspelled namespace is ignored by search engines.
    """
    known = set(protocol.EXTENSIONS.values())
    for namespace, nodes in children.items():
        line = nodes[0].line
        if namespace == protocol.MOBILE:
            yield issue("mobile-retired", "mobile sitemaps are no longer read", line)
        elif namespace not in known and (intended := _intended_namespace(namespace, nodes[0].name)):
            yield issue(
                "extension-namespace",
                f"<{nodes[0].name}> is in {namespace or 'no namespace'}, not in {intended}",
                line,
            )


def _intended_namespace(namespace: str, element: str) -> str | None:
    for part, correct in protocol.EXTENSIONS.items():
        if part in namespace.lower():
            return correct
    return protocol.EXTENSION_ELEMENTS.get(element)


def images(children: Children, _loc: str, _now: datetime) -> Iterator[Issue]:
    """Check the images of a page."""
    nodes = _named(children.get(protocol.IMAGE, []), "image")
    yield from _misplaced(children.get(protocol.IMAGE, []), "image")
    if len(nodes) > protocol.MAX_IMAGES:
        message = f"a page may list {protocol.MAX_IMAGES:,} images, this one has {len(nodes):,}"
        yield issue("too-many-images", message, nodes[protocol.MAX_IMAGES].line)
    for image in nodes:
        parts = _parts(image)
        yield from _url_value(parts, "loc", "image-loc", image.line)
        for name, elements in parts.items():
            if name in protocol.IMAGE_RETIRED:
                yield issue("image-retired", f"<image:{name}> is no longer read", elements[0].line)
            elif name != "loc":
                yield issue("unknown-extension-element", f"<{name}> is not part of an image", elements[0].line)
            elif len(elements) > 1:
                yield issue("image-loc", "an image has one loc", elements[1].line)


def videos(children: Children, loc: str, now: datetime) -> Iterator[Issue]:
    """Check the videos of a page."""
    yield from _misplaced(children.get(protocol.VIDEO, []), "video")
    for video in _named(children.get(protocol.VIDEO, []), "video"):
        parts = _parts(video)
        yield from _video_required(parts, loc, video.line)
        yield from _video_structure(parts)
        yield from _video_values(parts, now)


def _video_required(parts: dict[str, list[Node]], loc: str, line: int) -> Iterator[Issue]:
    for name in protocol.VIDEO_REQUIRED:
        if name not in parts or not parts[name][0].value:
            yield issue("video-required", f"a video needs <video:{name}>", line)
    locations = [part for name in ("content_loc", "player_loc") for part in parts.get(name, ())[:1]]
    if not locations:
        yield issue("video-required", "a video needs <video:content_loc> or <video:player_loc>", line)
    for name in ("thumbnail_loc", "content_loc", "player_loc"):
        if name in parts and (parts[name][0].value or name != "thumbnail_loc"):
            yield from _url_value(parts, name, "video-loc", line)
    for part in locations:
        if loc and part.value == loc:
            yield issue("video-loc-is-page", f"<video:{part.name}> is the page itself", part.line)


def _video_structure(parts: dict[str, list[Node]]) -> Iterator[Issue]:
    for name, nodes in parts.items():
        if name in protocol.VIDEO_RETIRED:
            yield issue("video-retired", f"<video:{name}> is no longer read", nodes[0].line)
        elif name not in protocol.VIDEO_CHILDREN:
            yield issue("unknown-extension-element", f"<{name}> is not part of a video", nodes[0].line)
        elif len(nodes) > 1 and name not in protocol.VIDEO_REPEATABLE:
            yield issue("video-repeated", f"a video has one <video:{name}>", nodes[1].line)
    tags = parts.get("tag", [])
    if len(tags) > protocol.MAX_VIDEO_TAGS:
        message = f"a video has at most {protocol.MAX_VIDEO_TAGS} tags, this one {len(tags)}"
        yield issue("video-tags", message, tags[protocol.MAX_VIDEO_TAGS].line)


def _video_values(parts: dict[str, list[Node]], now: datetime) -> Iterator[Issue]:
    for name, (rule, is_valid) in _VIDEO_VALUES.items():
        for node in parts.get(name, ())[:1]:
            if not is_valid(node):
                yield issue(rule, f'<video:{name}> is "{_shown(node)}"', node.line)
    for name in ("publication_date", "expiration_date"):
        for node in parts.get(name, ())[:1]:
            moment = w3c_datetime(node.value)
            if moment.time is None:
                yield issue("video-date", f'<video:{name}> "{node.value}" {moment.problem}', node.line)
            elif name == "expiration_date" and moment.time < now:
                yield issue("video-expired", f"the video expired on {node.value}", node.line)


def _yes_no(node: Node) -> bool:
    return node.value in {"yes", "no"}


def _duration(node: Node) -> bool:
    return bool(_INTEGER.fullmatch(node.value)) and 1 <= int(node.value) <= protocol.MAX_VIDEO_DURATION


def _rating(node: Node) -> bool:
    return bool(_DECIMAL.fullmatch(node.value)) and float(node.value) <= protocol.MAX_VIDEO_RATING


def _has_relationship(node: Node) -> bool:
    return node.attributes.get("relationship") in {"allow", "deny"}


def _restriction(node: Node) -> bool:
    return _has_relationship(node) and bool(_COUNTRIES.fullmatch(node.value))


def _platform(node: Node) -> bool:
    platforms = node.value.split()
    return _has_relationship(node) and bool(platforms) and protocol.VIDEO_PLATFORMS.issuperset(platforms)


def _shown(node: Node) -> str:
    """Return the value of an element as a message shows it: with its relationship, and not all of a long text."""
    length = len(node.value)
    value = node.value if length <= MAX_SHOWN else f"{node.value[:MAX_SHOWN]}… ({length:,} characters)"
    relationship = node.attributes.get("relationship")
    return value if relationship is None else f"{relationship} {value}"


# Rule and check of the value of each element.
_VIDEO_VALUES: dict[str, tuple[str, Callable[[Node], bool]]] = {
    "description": ("video-description", lambda node: len(node.value) <= protocol.MAX_VIDEO_DESCRIPTION),
    "duration": ("video-duration", _duration),
    "rating": ("video-rating", _rating),
    "view_count": ("video-view-count", lambda node: bool(_INTEGER.fullmatch(node.value))),
    "family_friendly": ("video-yes-no", _yes_no),
    "requires_subscription": ("video-yes-no", _yes_no),
    "live": ("video-yes-no", _yes_no),
    "uploader": ("video-uploader", lambda node: 0 < len(node.value) <= protocol.MAX_VIDEO_UPLOADER),
    "restriction": ("video-restriction", _restriction),
    "platform": ("video-platform", _platform),
}


def news(children: Children, _loc: str, now: datetime) -> Iterator[Issue]:
    """Check the news article of a page."""
    yield from _misplaced(children.get(protocol.NEWS, []), "news")
    articles = _named(children.get(protocol.NEWS, []), "news")
    if len(articles) > 1:
        yield issue("news-repeated", "a page has one <news:news>", articles[1].line)
    for article in articles[:1]:
        parts = _parts(article)
        for name in protocol.NEWS_REQUIRED:
            if name not in parts or not (parts[name][0].value or parts[name][0].children):
                yield issue("news-required", f"an article needs <news:{name}>", article.line)
        for node in parts.get("publication", ())[:1]:
            yield from _publication(node)
        for node in parts.get("publication_date", ())[:1]:
            yield from _article_date(node, now)
        for name, nodes in parts.items():
            if name in protocol.NEWS_RETIRED:
                yield issue("news-retired", f"<news:{name}> is no longer read", nodes[0].line)
            elif name not in protocol.NEWS_REQUIRED:
                yield issue("unknown-extension-element", f"<{name}> is not part of an article", nodes[0].line)
            elif len(nodes) > 1:
                yield issue("news-repeated", f"an article has one <news:{name}>", nodes[1].line)


def _publication(node: Node) -> Iterator[Issue]:
    parts = _parts(node)
    for name in ("name", "language"):
        if name not in parts or not parts[name][0].value:
            yield issue("news-required", f"a publication needs <news:{name}>", node.line)
    for language in parts.get("language", ())[:1]:
        if language.value and not _NEWS_LANGUAGE.fullmatch(language.value):
            message = f'language "{language.value}" is not an ISO 639 code'
            yield issue("news-language", message, language.line)


def _article_date(node: Node, now: datetime) -> Iterator[Issue]:
    if not node.value:
        return  # reported as news-required
    moment = w3c_datetime(node.value)
    if moment.time is None:
        yield issue("news-date", f'publication_date "{node.value}" {moment.problem}', node.line)
    # A date without a time means that whole day in any time zone, so it gets two more days.
    elif moment.time < now - timedelta(days=protocol.NEWS_DAYS + (0 if "T" in node.value else 2)):
        message = f"the article of {node.value} is older than {protocol.NEWS_DAYS} days"
        yield issue("news-old", message, node.line)


def alternates(children: Children, _loc: str, _now: datetime) -> Iterator[Issue]:
    """Check the language versions of a page."""
    yield from _misplaced(children.get(protocol.XHTML, []), "link")
    seen: dict[str, str] = {}
    for link in _named(children.get(protocol.XHTML, []), "link"):
        attributes = link.attributes
        language, href = attributes.get("hreflang", ""), attributes.get("href", "")
        # rel=alternate with media names the mobile version of a page and needs no language:
        # https://developers.google.com/search/docs/crawling-indexing/mobile/mobile-sites-mobile-first-indexing
        required = ("rel", "href") if "media" in attributes else ("rel", "hreflang", "href")
        missing = [name for name in required if not attributes.get(name)]
        if missing:
            yield issue("alternate-incomplete", f"<xhtml:link> has no {' and no '.join(missing)}", link.line)
        if attributes.get("rel", "alternate") not in {"", "alternate"}:
            yield issue("alternate-rel", f'rel "{attributes["rel"]}" has no meaning in a sitemap', link.line)
        if language and not _HREFLANG.fullmatch(language):
            yield issue("alternate-hreflang", f'hreflang "{language}" is not a language code', link.line)
        if href and (problem := _url_problem(href)):
            yield issue("alternate-href", f"the alternate's href {problem}", link.line)
        if language and seen.setdefault(language.lower(), href) != href:
            yield issue("alternate-conflict", f"hreflang {language} names two different pages", link.line)


def _parts(node: Node) -> dict[str, list[Node]]:
    """Return the children of an extension's element by name; for another namespace by namespace and name."""
    parts: dict[str, list[Node]] = {}
    for child in node.children:
        name = child.name if child.namespace == node.namespace else f"{child.namespace} {child.name}"
        parts.setdefault(name, []).append(child)
    return parts


def _named(nodes: list[Node], name: str) -> list[Node]:
    return [node for node in nodes if node.name == name]


def _misplaced(nodes: list[Node], expected: str) -> Iterator[Issue]:
    for node in nodes:
        if node.name != expected:
            message = f"<{node.name}> has no meaning here; of its namespace only <{expected}> belongs in a <url>"
            yield issue("unknown-extension-element", message, node.line)


def _url_value(parts: dict[str, list[Node]], name: str, rule: str, line: int) -> Iterator[Issue]:
    if name not in parts:
        yield issue(rule, f"<{name}> is missing", line)
        return
    node = parts[name][0]
    if problem := _url_problem(node.value):
        yield issue(rule, f"<{name}> {problem}", node.line)


def _url_problem(text: str) -> str | None:
    """Return the problem of a URL that is used but not listed.

    Such a URL may have a fragment, which players use, and any length.
    """
    url = parse_url(text)
    return url.message if isinstance(url, UrlProblem) and url.rule not in {"loc-fragment", "loc-too-long"} else None


RULES: tuple[Rule, ...] = (namespaces, images, videos, news, alternates)
