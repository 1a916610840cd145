"""The DevTools protocol on a pipe whose other end is the test."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.crawl.rendering.protocol import (
    BROWSER_LOST,
    BrowserDiedError,
    BrowserError,
    DevTools,
    MessageBuffer,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class FakeBrowser:
    """The browser's end of the pipe."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads, self._writes = reads, writes
        self._buffer = MessageBuffer()
        self._messages: list[dict[str, Any]] = []

    async def read(self) -> dict[str, Any]:
        while not self._messages:
            data = await asyncio.to_thread(os.read, self._reads, 65_536)
            assert data
            self._messages += map(json.loads, self._buffer.feed(data))
        return self._messages.pop(0)

    def write(self, data: bytes | dict[str, Any]) -> None:
        os.write(self._writes, data if isinstance(data, bytes) else json.dumps(data).encode() + b"\0")

    def end(self) -> None:
        for number in (self._reads, self._writes):
            os.close(number)
        self._reads = self._writes = -1

    @property
    def has_ended(self) -> bool:
        return self._reads < 0


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[DevTools, FakeBrowser]]:
    browser_reads, writes = os.pipe()
    reads, browser_writes = os.pipe()
    browser = FakeBrowser(browser_reads, browser_writes)
    devtools = await DevTools.open(reads, writes)
    try:
        yield devtools, browser
    finally:
        devtools.close()
        if not browser.has_ended:
            browser.end()
        # The transports close their descriptors in the next turns.
        await asyncio.sleep(0)
        await asyncio.sleep(0)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_messages_are_cut_at_nul_however_they_arrive(size: int) -> None:
    sent = b'{"a":1}\0{"b":"\xc3\xa9"}\0\0{"c":3}\0{"rest'
    buffer = MessageBuffer()
    pieces = [sent[start : start + size] for start in range(0, len(sent), size)]
    assert [message for piece in pieces for message in buffer.feed(piece)] == [
        b'{"a":1}', b'{"b":"\xc3\xa9"}', b"", b'{"c":3}',
    ]  # fmt: skip


def test_a_message_without_an_end_is_an_error_at_the_limit() -> None:
    buffer = MessageBuffer(max_bytes=10)
    assert list(buffer.feed(b"x" * 10)) == []
    with pytest.raises(BrowserError, match="more than 10 bytes"):
        list(buffer.feed(b"x"))


def test_answers_find_their_calls_in_any_order() -> None:
    async def run() -> None:
        async with connected() as (devtools, browser):
            calls = [asyncio.ensure_future(devtools.call(name, {"n": name}, session="s")) for name in ("A.a", "B.b")]
            first, second = await browser.read(), await browser.read()
            assert [first["method"], second["method"]] == ["A.a", "B.b"]
            assert first["params"] == {"n": "A.a"}
            assert first["sessionId"] == "s"
            browser.write({"id": second["id"], "result": {"is": "b"}})
            browser.write({"id": first["id"], "result": {"is": "a"}})
            assert await asyncio.gather(*calls) == [{"is": "a"}, {"is": "b"}]

    asyncio.run(run())


def test_an_error_is_the_callers_alone() -> None:
    async def run() -> None:
        async with connected() as (devtools, browser):
            failing, other = (asyncio.ensure_future(devtools.call(name)) for name in ("A.a", "B.b"))
            first, second = await browser.read(), await browser.read()
            browser.write({"id": first["id"], "error": {"code": -1, "message": "no such page" + "!" * 1_000}})
            browser.write({"id": second["id"], "result": {}})
            with pytest.raises(BrowserError, match=r"^no such page!{1,300}$"):
                await failing
            assert await other == {}

    asyncio.run(run())


def test_events_go_to_the_handler_of_their_session() -> None:
    async def run() -> None:
        async with connected() as (devtools, browser):
            seen: list[Any] = []
            devtools.listen("one", lambda name, params: seen.append(("one", name, params)))
            devtools.listen(None, lambda name, params: seen.append((None, name, params)))
            browser.write({"method": "E.e", "params": {"x": 1}, "sessionId": "one"})
            browser.write({"method": "E.e", "params": {"x": 2}, "sessionId": "two"})
            browser.write({"method": "F.f"})
            call = asyncio.ensure_future(devtools.call("A.a"))
            browser.write({"id": (await browser.read())["id"], "result": {}})
            await call
            assert seen == [("one", "E.e", {"x": 1}), (None, "F.f", {})]

    asyncio.run(run())


def test_calls_fail_when_the_browser_ends_and_handlers_hear_of_it_once() -> None:
    async def run() -> None:
        async with connected() as (devtools, browser):
            seen: list[str] = []
            devtools.listen("s", lambda name, _: seen.append(name))
            call = asyncio.ensure_future(devtools.call("A.a"))
            await browser.read()
            browser.end()
            with pytest.raises(BrowserDiedError):
                await call
            with pytest.raises(BrowserDiedError):
                await devtools.call("B.b")
            devtools.send("C.c")
            assert devtools.is_lost
            assert seen == [BROWSER_LOST]

    asyncio.run(run())


@pytest.mark.parametrize("data", [b"no json\0", b'{"id": \0'])
def test_nonsense_ends_the_connection(data: bytes) -> None:
    async def run() -> None:
        async with connected() as (devtools, browser):
            call = asyncio.ensure_future(devtools.call("A.a"))
            await browser.read()
            browser.write(data)
            with pytest.raises(BrowserDiedError):
                await call

    asyncio.run(run())


def test_a_call_without_an_answer_ends_with_its_timeout() -> None:
    async def run() -> None:
        async with connected() as (devtools, browser):
            with pytest.raises(BrowserError, match=r"does not answer A\.a in 0\.01 s"):
                await devtools.call("A.a", timeout=0.01)
            # The late answer disturbs nobody.
            browser.write({"id": (await browser.read())["id"], "result": {}})
            call = asyncio.ensure_future(devtools.call("B.b"))
            browser.write({"id": (await browser.read())["id"], "result": {"b": 1}})
            assert await call == {"b": 1}

    asyncio.run(run())
