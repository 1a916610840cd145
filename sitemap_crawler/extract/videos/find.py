"""The videos of a page, wherever it tells of them: each once, as the sitemap's video extension wants them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from sitemap_crawler.extract.videos.draft import MAX_VIDEOS, Draft
from sitemap_crawler.extract.videos.elements import videos_of_elements
from sitemap_crawler.extract.videos.embeds import embedded_players
from sitemap_crawler.extract.videos.open_graph import open_graph_video
from sitemap_crawler.extract.videos.schema_org import video_objects

if TYPE_CHECKING:
    from sitemap_crawler.extract.document import Document
    from sitemap_crawler.sitemap.video import Video

__all__ = ["MAX_VIDEOS", "MAX_WARNINGS", "find_videos"]

MAX_WARNINGS = 20


def find_videos(document: Document) -> tuple[tuple[Video, ...], tuple[str, ...]]:
    """Return the videos, and a message for each that lacks a required value.

    VideoObjects come first, then `<video>` elements, embedded players and the Open Graph video, each in document order.
    """
    shared = open_graph_video(document)
    drafts = _merged(video_objects(document), [*videos_of_elements(document), *embedded_players(document)], shared)
    if not drafts:
        return (), ()
    videos = [video for video in (draft.video() for draft in drafts) if video]
    warnings = dict.fromkeys(draft.problem() for draft in drafts if draft.video() is None)
    return tuple(videos[:MAX_VIDEOS]), tuple(islice(warnings, MAX_WARNINGS))


def _merged(objects: list[Draft], embedded: list[Draft], shared: Draft | None) -> list[Draft]:
    """One draft for each video: a VideoObject goes before what the page embeds, that before what it shares."""
    known = _Known()
    for draft in objects:
        known.add(draft, known.same(draft))
    taken = {id(known.same(draft)) for draft in embedded}
    # Pages use one poster for many videos: it tells which VideoObject is meant only when nothing else does, and once.
    posters: dict[str, Draft] = {}
    for draft in known.drafts:
        if draft.thumbnail and id(draft) not in taken:
            posters.setdefault(draft.thumbnail, draft)
    for draft in embedded:
        known.add(draft, known.same(draft) or (posters.pop(draft.thumbnail, None) if draft.thumbnail else None))
    if shared:
        images = (draft for draft in known.drafts if draft.thumbnail and draft.thumbnail == shared.thumbnail)
        known.add(shared, known.same(shared) or next(images, None))
    return known.drafts


class _Known:
    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self._by_identity: dict[str, Draft] = {}

    def same(self, draft: Draft) -> Draft | None:
        return next(filter(None, (self._by_identity.get(identity) for identity in draft.identities())), None)

    def add(self, draft: Draft, same: Draft | None) -> None:
        if same is None:
            same = draft
            self.drafts.append(draft)
        else:
            same.fill(draft)
        for identity in draft.identities():
            self._by_identity.setdefault(identity, same)
