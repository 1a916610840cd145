"""Rules for the images and videos of a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.codes import REGIONS
from sitemap_crawler.validation.findings import Issue, issue
from sitemap_crawler.validation.rules.elements import (
    Children,
    misplaced,
    named,
    parts_of,
    shown,
    unknown_part,
    url_problem,
    url_value,
)
from sitemap_crawler.validation.values import ONE_DAY, Url, moved, parse_url, w3c_datetime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from sitemap_crawler.validation.reading.reader import Node

_IMAGE_CHILDREN = frozenset({"loc", *protocol.IMAGE_RETIRED})
_INTEGER = re.compile(r"[0-9]{1,18}")
_DECIMAL = re.compile(r"[0-9]{1,18}(?:\.[0-9]*)?")


def images(children: Children, _loc: str, _now: datetime) -> Iterator[Issue]:
    """Check the images of a page."""
    nodes = named(children.get(protocol.IMAGE, []), "image")
    yield from misplaced(children.get(protocol.IMAGE, []), "image")
    if len(nodes) > protocol.MAX_IMAGES:
        yield issue("too-many-images", f"the entry has {len(nodes):,} images", nodes[protocol.MAX_IMAGES].line)
    for image in nodes:
        parts = parts_of(image)
        yield from url_value(parts, "loc", "image-loc", image.line)
        for name, elements in parts.items():
            if name in protocol.IMAGE_RETIRED:
                yield issue("image-retired", f"<image:{name}> is no longer read", elements[0].line)
            elif name != "loc":
                yield unknown_part(name, "an image", elements[0].line, _IMAGE_CHILDREN)
            elif len(elements) > 1:
                yield issue("image-loc", f"the image has {len(elements)} <image:loc>", elements[1].line)


def videos(children: Children, loc: str, now: datetime) -> Iterator[Issue]:
    """Check the videos of a page."""
    yield from misplaced(children.get(protocol.VIDEO, []), "video")
    for video in named(children.get(protocol.VIDEO, []), "video"):
        parts = parts_of(video)
        yield from _video_required(parts, loc, video.line)
        yield from _video_structure(parts)
        yield from _video_values(parts, now)
        yield from _uploader_page(parts, loc)


def _video_required(parts: dict[str, list[Node]], loc: str, line: int) -> Iterator[Issue]:
    for name in protocol.VIDEO_REQUIRED:
        if name not in parts or not parts[name][0].value:
            yield issue("video-required", f"the video has no <video:{name}>", line)
    locations = [part for name in ("content_loc", "player_loc") for part in parts.get(name, ())[:1]]
    if not locations:
        yield issue("video-required", "the video has neither <video:content_loc> nor <video:player_loc>", line)
    for name in ("thumbnail_loc", "content_loc", "player_loc"):
        if name in parts and (parts[name][0].value or name != "thumbnail_loc"):
            yield from url_value(parts, name, "video-loc", line)
    for part in locations:
        if loc and part.value == loc:
            yield issue("video-loc-is-page", f"<video:{part.name}> is the page itself", part.line)


def _video_structure(parts: dict[str, list[Node]]) -> Iterator[Issue]:
    for name, nodes in parts.items():
        if name in protocol.VIDEO_RETIRED:
            yield issue("video-retired", f"<video:{name}> is no longer read", nodes[0].line)
        elif name not in protocol.VIDEO_CHILDREN:
            yield unknown_part(name, "a video", nodes[0].line, protocol.VIDEO_CHILDREN)
        elif len(nodes) > 1 and name not in protocol.VIDEO_REPEATABLE:
            yield issue("video-repeated", f"the video has {len(nodes)} <video:{name}>", nodes[1].line)
    tags = parts.get("tag", [])
    if len(tags) > protocol.MAX_VIDEO_TAGS:
        yield issue("video-tags", f"the video has {len(tags)} tags", tags[protocol.MAX_VIDEO_TAGS].line)
    for player in parts.get("player_loc", ()):
        for attribute in sorted(protocol.PLAYER_RETIRED & player.attributes.keys()):
            yield issue("video-retired", f"the attribute {attribute} is no longer read", player.line)


def _video_values(parts: dict[str, list[Node]], now: datetime) -> Iterator[Issue]:
    for name, (rule, is_valid) in _VIDEO_VALUES.items():
        for node in parts.get(name, ())[:1]:
            if not is_valid(node):
                yield issue(rule, f'<video:{name}> is "{shown(node)}"', node.line)
    for name in ("publication_date", "expiration_date"):
        for node in parts.get(name, ())[:1]:
            moment = w3c_datetime(node.value)
            if moment.time is None:
                yield issue("video-date", f'<video:{name}> "{node.value}" {moment.problem}', node.line)
            elif moment.period > ONE_DAY:
                yield issue("video-date", f'<video:{name}> "{node.value}" has no day', node.line)
            elif name == "expiration_date" and moved(moment.time, moment.period) < now:
                yield issue("video-expired", f"the video expired on {node.value}", node.line)


def _uploader_page(parts: dict[str, list[Node]], loc: str) -> Iterator[Issue]:
    """Check that the page about the uploader is on the domain of the page. One host may be a subdomain of the other."""
    for uploader in parts.get("uploader", ())[:1]:
        page = uploader.attributes.get("info")
        if page is None:
            continue
        if problem := url_problem(page):
            yield issue("video-uploader-info", f"the info {problem}", uploader.line)
        elif isinstance(parse_url(loc), Url) and not _share_domain(page, loc):
            yield issue("video-uploader-info", f"the info is on another domain than the page: {page}", uploader.line)


def _share_domain(first: str, second: str) -> bool:
    hosts = [f".{(urlsplit(url).hostname or '').removeprefix('www.')}" for url in (first, second)]
    return hosts[0].endswith(hosts[1]) or hosts[1].endswith(hosts[0])


def _yes_no(node: Node) -> bool:
    return node.value in protocol.YES_NO


def _duration(node: Node) -> bool:
    return bool(_INTEGER.fullmatch(node.value)) and 1 <= int(node.value) <= protocol.MAX_VIDEO_DURATION


def _rating(node: Node) -> bool:
    return bool(_DECIMAL.fullmatch(node.value)) and float(node.value) <= protocol.MAX_VIDEO_RATING


def _has_relationship(node: Node) -> bool:
    return node.attributes.get("relationship") in {"allow", "deny"}


def _restriction(node: Node) -> bool:
    regions = node.value.split()
    return _has_relationship(node) and bool(regions) and REGIONS.issuperset(regions)


def _platform(node: Node) -> bool:
    platforms = node.value.split()
    return _has_relationship(node) and bool(platforms) and protocol.VIDEO_PLATFORMS.issuperset(platforms)


# Rule and check of the value of each element.
_VIDEO_VALUES: dict[str, tuple[str, Callable[[Node], bool]]] = {
    "title": ("video-title", lambda node: len(node.value) <= protocol.MAX_VIDEO_TITLE),
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
