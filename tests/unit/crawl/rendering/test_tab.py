"""What a tab does about a browser that is not ready yet, with a browser of the test."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sitemap_crawler.crawl.rendering import tab as tabs
from sitemap_crawler.crawl.rendering.protocol import BrowserError
from sitemap_crawler.crawl.rendering.tab import Tab


class FakeDevTools:
    """Fails a number of calls with one message."""

    def __init__(self, failures: int, message: str) -> None:
        self.failures, self.message = failures, message
        self.calls: list[str] = []

    async def call(self, method: str, *_: Any, **__: Any) -> dict[str, Any]:
        self.calls.append(method)
        if len(self.calls) <= self.failures:
            raise BrowserError(self.message)
        return {"frameId": "1"}


def call(devtools: FakeDevTools) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        tab = Tab(devtools, "context", "target", "session")  # type: ignore[arg-type]
        return await tab._call_when_active("Page.navigate", {"url": "http://a.example/"})

    return asyncio.run(run())


def test_a_call_is_repeated_until_the_last_document_is_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabs, "ACTIVE_PAUSE_SECONDS", 0)
    devtools = FakeDevTools(3, "Not attached to an active page")
    assert call(devtools) == {"frameId": "1"}
    assert len(devtools.calls) == 4


def test_other_errors_are_not_repeated() -> None:
    devtools = FakeDevTools(3, "Cannot navigate to invalid URL")
    with pytest.raises(BrowserError, match="invalid URL"):
        call(devtools)
    assert len(devtools.calls) == 1


def test_the_repetition_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabs, "ACTIVE_PAUSE_SECONDS", 0)
    with pytest.raises(BrowserError, match="active page"):
        call(FakeDevTools(10**6, "Not attached to an active page"))
