"""Renderings in words: whether and why a page was rendered, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sitemap_crawler.items import RenderCause, RenderState

if TYPE_CHECKING:
    from sitemap_crawler.items import Note, PageRendering

_WHY = {
    RenderCause.SAMPLE: "as one of the first of its kind",
    RenderCause.SHELL: "because the server sends hardly any text or links",
    RenderCause.TEMPLATE: "because other pages of its kind gain something",
    RenderCause.CHECK: "to check pages of its kind",
    RenderCause.GAINED_BEFORE: "because it gained something before",
    RenderCause.ALWAYS: "by --render always",
}
_WHY_NOT = {
    RenderCause.NO_SCRIPTS: "it has no scripts",
    RenderCause.NOINDEX: "it is noindex",
    RenderCause.INCOMPLETE: "only its beginning was read",
}
_GAINS = {
    "text": "text",
    "title": "another title",
    "canonical": "another canonical",
    "directives": "other robots directives",
    "date": "a date",
    "media": "images or videos",
}
"""Words for the gains of `crawl/rendering/gains.py`, other than links and another address."""


def missed_words(note: Note | None) -> str | None:
    """Return in words what the scripts of a page that stays empty ask for in vain. `note` is that of the page."""
    if not isinstance(note, list):
        return None
    url, reason = note
    return f"{url}, which is not fetched: {reason}"


def rendering_words(rendering: PageRendering, missed: str | None = None) -> str:
    """Return in words whether a page was rendered, why, and what came of it; also what it missed."""
    words = _rendering_words(rendering)
    return words if missed is None else f"{words}; its scripts ask for {missed}"


def _rendering_words(rendering: PageRendering) -> str:
    why = _WHY.get(rendering.cause, "")
    if rendering.state is RenderState.LEFT:
        return f"not rendered: {_WHY_NOT.get(rendering.cause) or _samples(rendering)}"
    if rendering.state is RenderState.FAILED:
        return f"rendering failed, so the page counts as the server sends it: {rendering.problem} (rendered {why})"
    if rendering.state is RenderState.MOVED:
        return f"rendered: a script leads to another URL (rendered {why})"
    return f"rendered: {_gains(rendering)} (rendered {why})"


def _samples(rendering: PageRendering) -> str:
    if not rendering.samples:
        return "renderings of pages of its kind failed"
    samples = "1 sample" if rendering.samples == 1 else f"{rendering.samples} samples"
    return f"{samples} of its kind showed nothing new"


def _gains(rendering: PageRendering) -> str:
    gains = [words for kind, words in _GAINS.items() if kind in rendering.gains]
    if rendering.links:
        gains.insert(0, "1 link" if rendering.links == 1 else f"{rendering.links:,} links")
    return f"adds {', '.join(gains)}" if gains else "adds nothing new"


def rendering_json(rendering: PageRendering | None, missed: str | None = None) -> dict[str, Any] | None:
    """Return a rendering for JSON, with what the page missed; None for a page that was read without `--render`."""
    if rendering is None:
        return None
    return {
        "state": rendering.state.name.lower().replace("_", "-"),
        "cause": str(rendering.cause),
        "sentence": rendering_words(rendering, missed),
        "gains": list(rendering.gains),
        "links": rendering.links,
        "problem": rendering.problem,
        "requests": list(dict.fromkeys(request.url for request in rendering.requests)),
    }
