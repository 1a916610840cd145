"""The wall around the browser: a page tries every way out, to a server next to its own.

The stubs of the pages are off. One test has no wall, to show that the ways lead somewhere; one has the flags of the
browser alone, without a network namespace and with only the page itself intercepted; one has the whole wall.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.crawl.rendering import browser as browser_module
from sitemap_crawler.crawl.rendering.browser import Browser
from sitemap_crawler.crawl.rendering.network import Network, PageRequests
from sitemap_crawler.crawl.rendering.rendered import MISSED
from sitemap_crawler.crawl.rendering.tab import Tab
from tests.support.chromium import both_builds, plain, until
from tests.support.rendering_crawl import rendering_crawler
from tests.support.tools import find_tool

if TYPE_CHECKING:
    from types import TracebackType

pytestmark = pytest.mark.slow

PAGE_URL = "http://localhost:1/page"
"""Chromium trusts this host like one with https, so that all kinds of workers are allowed, but no server is there."""
WAYS_OUT = """<!DOCTYPE html><html><head><title>t</title>
<link rel=icon href="http://CANARY/icon"><link rel=stylesheet href="http://CANARY/style">
<link rel=prefetch href="http://CANARY/prefetch"><link rel=preload as=script href="http://CANARY/preload">
<link rel=modulepreload href="http://CANARY/modulepreload"><link rel=preconnect href="http://CANARY/">
<link rel=dns-prefetch href="http://CANARY/"><link rel=manifest href="http://CANARY/manifest">
<script type=speculationrules>{
"prefetch": [{"source": "list", "urls": ["http://CANARY/rules"], "eagerness": "immediate"}],
"prerender": [{"source": "list", "urls": ["http://CANARY/prerender"],
"eagerness": "immediate"}]}</script>
<style>@import "http://CANARY/import"; @font-face {font-family: f; src: url(http://CANARY/font)}
body {background: url(http://CANARY/background); font-family: f}</style>
<script src="http://CANARY/script"></script></head>
<body>text <img src="http://CANARY/image"><img srcset="http://CANARY/srcset 1x"><iframe src="http://CANARY/frame"></iframe>
<object data="http://CANARY/object"></object><embed src="http://CANARY/embed">
<audio src="http://CANARY/audio" preload=auto></audio><video src="http://CANARY/video" poster="http://CANARY/poster"
preload=auto><track src="http://CANARY/track" default></video><input type=image src="http://CANARY/input">
<svg><image href="http://CANARY/svg"/></svg><a id=ping href="#x" ping="http://CANARY/ping">p</a>
<script>
const canary = "http://CANARY", each = (...ways) => ways.forEach(way => { try { way() } catch (e) {} });
const blob = text => URL.createObjectURL(new Blob([text], {type: "text/javascript"}));
each(
  () => fetch(canary + "/fetch", {mode: "no-cors"}),
  () => fetch(canary + "/keepalive", {method: "POST", keepalive: true, mode: "no-cors", body: "x"}),
  () => { const r = new XMLHttpRequest(); r.open("GET", canary + "/xhr"); r.send() },
  () => navigator.sendBeacon(canary + "/beacon", "x"),
  () => import(canary + "/module"),
  () => new Worker(blob(`fetch("${canary}/worker-fetch", {mode: "no-cors"}); new WebSocket("ws://CANARY/worker-socket")`)),
  () => new Worker(blob(`importScripts("${canary}/import-scripts")`)),
  () => new SharedWorker(blob(`fetch("${canary}/shared", {mode: "no-cors"}); new WebSocket("ws://CANARY/shared-socket")`)),
  () => new SharedWorker(blob(`importScripts("${canary}/shared-import")`)),
  () => navigator.serviceWorker.register("/service-worker.js"),
  () => new EventSource(canary + "/events"),
  () => new WebSocket("ws://CANARY/socket"),
  () => new WebTransport("https://CANARY/transport").ready.catch(() => 0),
  () => { const p = new RTCPeerConnection({iceServers: [
      {urls: "stun:CANARY"}, {urls: "turn:CANARY?transport=tcp", username: "u", credential: "c"}]});
    p.createDataChannel("x"); p.createOffer().then(o => p.setLocalDescription(o)) },
  () => document.getElementById("ping").click(),
  () => window.open(canary + "/window"),
  () => { const f = document.createElement("form"); f.action = canary + "/form"; f.target = "_blank"; f.method = "post";
    document.body.append(f); f.submit() },
  () => fetchLater(canary + "/later", {activateAfter: 0}),
  () => new Notification("x", {icon: canary + "/notification"}),
  () => { const s = document.createElement("script"); s.src = canary + "/added"; document.body.append(s) },
  () => { new Image().src = canary + "/new-image" },
  () => fetch("http://canary.example:PORT/name", {mode: "no-cors"}),
  () => fetch("http://[::1]:PORT/six", {mode: "no-cors"}),
  () => document.fonts.load("12px f"),
);
</script></body></html>"""


@dataclass
class Canary:
    """A server that counts what reaches its port: connections and datagrams."""

    connections: list[bytes] = field(default_factory=list)
    datagrams: list[bytes] = field(default_factory=list)

    def __enter__(self) -> Canary:
        self._tcp = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._tcp.getsockname()[1])
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._accept, self._receive)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(b"END")
        self._udp.sendto(b"END", ("127.0.0.1", self.port))
        for thread in self._threads:
            thread.join()
        self._tcp.close()
        self._udp.close()

    def _accept(self) -> None:
        while True:
            connection, _ = self._tcp.accept()
            with connection:
                connection.settimeout(1)
                try:
                    first = connection.recv(200)
                    connection.sendall(b"HTTP/1.1 204 None\r\nConnection: close\r\n\r\n")
                except OSError:
                    first = b""
                if first == b"END":
                    return
                self.connections.append(first)

    def _receive(self) -> None:
        while (data := self._udp.recv(2_000)) != b"END":
            self.datagrams.append(data)

    @property
    def reached(self) -> list[bytes]:
        return [*self.connections, *self.datagrams]


async def try_ways_out(build: str, canary: Canary, *, intercepted: str, isolate: bool, at_least: int) -> Any:
    """Show the page. Wait until the canary was reached so often, or for some seconds if it must not be at all."""
    crawler = rendering_crawler(start_url="http://localhost:1/")
    program = find_tool(build)
    assert program is not None
    started = await Browser.start(program, sandbox=False, isolate=isolate)
    try:
        if isolate and not started.is_isolated:
            pytest.skip("this system gives no network namespace")
        tab = await Tab.open(started.devtools, user_agent="x", stubs=False, intercepted=intercepted)
        requests = PageRequests(Network(crawler), PAGE_URL)
        page = plain(WAYS_OUT.replace("CANARY", f"127.0.0.1:{canary.port}").replace("PORT", str(canary.port)))
        showing = asyncio.ensure_future(tab.show(PAGE_URL, page, requests, budget_seconds=4, max_length=100_000))
        if at_least:
            await until(lambda: len(canary.reached) >= at_least)
        else:
            await showing
            # The clock of the page stands by now, and what was begun in real time may need it.
            for _ in range(4):
                await tab.run_clock(500)
                await asyncio.sleep(0.5)
            leave = f"location.href = 'http://127.0.0.1:{canary.port}/navigation'"
            started.devtools.send("Runtime.evaluate", {"expression": leave}, session=tab._session)
            await asyncio.sleep(1)
        showing.cancel()
        return requests
    finally:
        await started.close()


@pytest.fixture
def open_doors(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Chromium's own protection of local networks is off, and pop-ups are on: they are no part of the wall."""
    features = (*browser_module.DISABLED_FEATURES, "LocalNetworkAccessChecks", "BlockInsecurePrivateNetworkRequests")
    kept = [flag for flag in browser_module.FLAGS if "disable-features" not in flag and "block-new-web" not in flag]
    flags = (*kept, f"--disable-features={','.join(features)}", "--disable-popup-blocking")
    monkeypatch.setattr(browser_module, "FLAGS", flags)
    return monkeypatch


@both_builds
def test_without_a_wall_the_ways_lead_out(build: str, open_doors: pytest.MonkeyPatch) -> None:
    open_doors.setattr(browser_module, "WALL", ())
    with Canary() as canary:
        asyncio.run(try_ways_out(build, canary, intercepted=PAGE_URL, isolate=False, at_least=15))


@both_builds
@pytest.mark.parametrize("intercepted", [PAGE_URL, "*"])
def test_the_flags_alone_let_nothing_out(build: str, intercepted: str, open_doors: pytest.MonkeyPatch) -> None:
    with Canary() as canary:
        asyncio.run(try_ways_out(build, canary, intercepted=intercepted, isolate=False, at_least=0))
        assert canary.reached == []


@both_builds
def test_a_network_namespace_alone_lets_nothing_out(build: str, open_doors: pytest.MonkeyPatch) -> None:
    open_doors.setattr(browser_module, "WALL", ())
    with Canary() as canary:
        asyncio.run(try_ways_out(build, canary, intercepted=PAGE_URL, isolate=True, at_least=0))
        assert canary.reached == []


@both_builds
def test_the_whole_wall_lets_nothing_out_and_tells_of_it(build: str, open_doors: pytest.MonkeyPatch) -> None:
    with Canary() as canary:
        requests = asyncio.run(try_ways_out(build, canary, intercepted="*", isolate=True, at_least=0))
        assert canary.reached == []
    assert f"http://127.0.0.1:{canary.port}/fetch" in [refusal.url for refusal in requests.refused]
    assert {request.body_hash for request in requests.noted} == {MISSED}
