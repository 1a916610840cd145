"""Renderings in words."""

from __future__ import annotations

import json

import pytest

from sitemap_crawler.items import PageRendering, RenderCause, RenderState, StoredRequest
from sitemap_crawler.report.renderings import rendering_json, rendering_words

SAMPLE = "(rendered as one of the first of its kind)"


@pytest.mark.parametrize(
    ("rendering", "words"),
    [
        (PageRendering(RenderState.LEFT, RenderCause.NOINDEX), "not rendered: it is noindex"),
        (PageRendering(RenderState.LEFT, RenderCause.INCOMPLETE), "not rendered: only its beginning was read"),
        (
            PageRendering(RenderState.LEFT, RenderCause.IDLE_TEMPLATE, samples=3),
            "not rendered: 3 samples of its kind showed nothing new",
        ),
        (
            PageRendering(RenderState.LEFT, RenderCause.IDLE_TEMPLATE),
            "not rendered: renderings of pages of its kind failed",
        ),
        (PageRendering(RenderState.NO_GAIN, RenderCause.SAMPLE), f"rendered: adds nothing new {SAMPLE}"),
        (
            PageRendering(RenderState.RENDERED, RenderCause.SAMPLE, gains=("links", "title"), links=1_400),
            f"rendered: adds 1,400 links, another title {SAMPLE}",
        ),
        (
            PageRendering(RenderState.RENDERED, RenderCause.ALWAYS),
            "rendered: adds nothing new (rendered by --render always)",
        ),
        (
            PageRendering(RenderState.MOVED, RenderCause.SAMPLE, gains=("address",)),
            f"rendered: a script leads to another URL {SAMPLE}",
        ),
    ],
)
def test_every_state_has_words(rendering: PageRendering, words: str) -> None:
    assert rendering_words(rendering) == words


@pytest.mark.parametrize("state", RenderState)
@pytest.mark.parametrize("cause", RenderCause)
def test_every_cause_has_words(state: RenderState, cause: RenderCause) -> None:
    words = rendering_words(PageRendering(state, cause, samples=1, problem="it crashed"))
    assert "None" not in words
    if cause not in (RenderCause.NO_SCRIPTS, RenderCause.NOINDEX, RenderCause.INCOMPLETE, RenderCause.IDLE_TEMPLATE):
        assert "rendered )" not in words


def test_what_is_stored_comes_back() -> None:
    rendering = PageRendering(
        RenderState.RENDERED, RenderCause.SHELL, 3, 7, gains=("links",), links=2, plain_hash="ab",
        requests=(
            StoredRequest("https://example.com/a", "data", '"1"', None, "cd"),
            StoredRequest("https://example.com/a", "data", None, None, "ef", "HEAD", (("accept", "a/b"), ("x-a", "b"))),
        ),
    )  # fmt: skip
    stored = json.loads(json.dumps(rendering.to_json()))
    assert PageRendering.from_stored(3, stored) == rendering
    assert stored["requests"][0] == ["https://example.com/a", "data", '"1"', None, "cd"]
    assert rendering_json(rendering) == {
        "state": "rendered", "cause": "shell", "gains": ["links"], "links": 2, "problem": None,
        "requests": ["https://example.com/a"],
        "sentence": "rendered: adds 2 links (rendered because the server sends hardly any text or links)",
    }  # fmt: skip
    assert PageRendering.from_stored(None, None) is None
    assert rendering_json(None) is None
