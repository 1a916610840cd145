"""The videos of a page from all sources, each once, with the values of the video extension of sitemaps."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.extract.images import real_url
from sitemap_crawler.extract.text import MAX_TITLE, caption, page_description, page_title
from sitemap_crawler.extract.videos.draft import MAX_VIDEOS, VideoDraft, is_inert
from sitemap_crawler.extract.videos.embeds import embedded_players
from sitemap_crawler.extract.videos.open_graph import open_graph_video
from sitemap_crawler.extract.videos.schema_org import video_objects
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from lxml import etree

    from sitemap_crawler.extract.document import Document
    from sitemap_crawler.sitemap.video import Video

MAX_WARNINGS = 20
"""Maximum number of messages about one page."""
_MAX_SOURCES = 64  # of one element
_REQUIRED_OF_ELEMENT = {
    "content": "source with an http(s) URL",
    "thumbnail": "poster (thumbnail)",
    "title": "title",
    "description": "description",
}


def find_videos(document: Document) -> tuple[tuple[Video, ...], tuple[str, ...]]:
    """Return the videos, and a message for each video without a required value.

    VideoObjects come first, then `<video>` elements, embedded players and the Open Graph video, each in document order.
    """
    drafts = _merge_sources(
        video_objects(document),
        [*_video_elements(document), *embedded_players(document)],
        open_graph_video(document),
    )
    if not drafts:
        return (), ()
    videos = [video for video in (draft.video() for draft in drafts) if video]
    warnings = dict.fromkeys(draft.problem() for draft in drafts if draft.video() is None)
    return tuple(videos[:MAX_VIDEOS]), tuple(islice(warnings, MAX_WARNINGS))


def _merge_sources(
    objects: list[VideoDraft], embedded: list[VideoDraft], open_graph: VideoDraft | None
) -> list[VideoDraft]:
    """Return one draft for each video.

    The values of VideoObjects have priority over those of embedded videos, and these over those of Open Graph.
    """
    known = _KnownVideos()
    for draft in objects:
        known.add(draft, known.same(draft))
    matched = {id(known.same(draft)) for draft in embedded}
    # Pages use one poster for many videos. So a poster identifies at most one VideoObject, if nothing else does.
    by_poster: dict[str, VideoDraft] = {}
    for draft in known.drafts:
        if draft.thumbnail and id(draft) not in matched:
            by_poster.setdefault(draft.thumbnail, draft)
    for draft in embedded:
        known.add(draft, known.same(draft) or (by_poster.pop(draft.thumbnail, None) if draft.thumbnail else None))
    if open_graph:
        with_image = (draft for draft in known.drafts if draft.thumbnail and draft.thumbnail == open_graph.thumbnail)
        known.add(open_graph, known.same(open_graph) or next(with_image, None))
    return known.drafts


class _KnownVideos:
    """Drafts of different videos, in the order of their first source."""

    def __init__(self) -> None:
        self.drafts: list[VideoDraft] = []
        self._by_identity: dict[str, VideoDraft] = {}

    def same(self, draft: VideoDraft) -> VideoDraft | None:
        """Return the known draft of the same video, or `None`."""
        return next(filter(None, (self._by_identity.get(identity) for identity in draft.identities())), None)

    def add(self, draft: VideoDraft, same: VideoDraft | None) -> None:
        """Fill the draft `same` with the values of `draft`, or add `draft` as another video."""
        if same is None:
            same = draft
            self.drafts.append(draft)
        else:
            same.fill(draft)
        for identity in draft.identities():
            self._by_identity.setdefault(identity, same)


def _video_elements(document: Document) -> list[VideoDraft]:
    """Return a draft of each `<video>`. The texts of the page replace missing texts of the element."""
    elements = [element for element in document.all("video")[:MAX_VIDEOS] if not is_inert(document, element)]
    if not elements:
        return []
    title, description = page_title(document), page_description(document)
    return [
        VideoDraft(
            f"video no. {number} of the page",
            thumbnail=real_url(document, element.get("poster")),
            title=_element_title(element) or title,
            description=description,
            content=_content_url(document, element),
            required_names=_REQUIRED_OF_ELEMENT,
        )
        for number, element in enumerate(elements, 1)
    ]


def _content_url(document: Document, element: etree._Element) -> str | None:
    """Return the URL of the first usable source."""
    sources = (source.get("src") for source in islice(element.iter("video", "source"), _MAX_SOURCES))
    return next(filter(None, (real_url(document, source) for source in sources)), None)


def _element_title(element: etree._Element) -> str:
    titles = (one_line(element.get(name, ""), MAX_TITLE) for name in ("title", "aria-label"))
    return next(filter(None, titles), "") or caption(element)
