"""One tab of the browser: shows a page, waits until its scripts have nothing left to do, and is wiped for the next.

The clock of the page is virtual: timers fire at once, one after the other, and the clock stands while a request has no
answer. So a page is complete however slow the site or the machine is, and nobody waits for a timer.
"""

from __future__ import annotations

import asyncio
import pkgutil
from base64 import b64encode
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sitemap_crawler.crawl.rendering.browser import HEIGHT, WIDTH
from sitemap_crawler.crawl.rendering.network import (
    METHODS,
    PageRequests,
    ResourceRefusedError,
    Wanted,
    header_pairs,
    is_prefetch,
    seen_headers,
)
from sitemap_crawler.crawl.rendering.protocol import (
    BROWSER_LOST,
    MAX_ERROR,
    BrowserError,
    DevTools,
    ignoring_browser_errors,
)
from sitemap_crawler.crawl.rendering.rendered import ResourceKind, unsent
from sitemap_crawler.exceptions import SitemapCrawlerError
from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping

    from sitemap_crawler.crawl.rendering.rendered import PlainPage

PIECE_MS = 650
"""Virtual time after which the page is looked at."""
MIN_PIECES = 3
"""Number of pieces of virtual time before a page counts as unchanged: what a page loads when it comes into view does so
between two pieces, and may bring further things into view."""
MAX_LATE_PIECES = 3
"""Number of pieces after the budget, for a page that still changes at its end."""
FRAME_SECONDS = 0.04
"""Real time between two pieces. Frames are drawn in real time, and observers are called when a frame is drawn."""
MAX_STARVING_TASKS = 2_000
"""Number of tasks without a delay after which the virtual clock goes on although there are more."""
ACTIVE_TRIES = 200
"""Number of tries of a call that fails while the last document is being put in its place, which takes milliseconds."""
ACTIVE_PAUSE_SECONDS = 0.02
OPEN_SECONDS = 30.0
"""Maximum time of the opening of a tab, and of a page in it."""
WIPE_SECONDS = 10.0
"""Maximum time of the wiping of a tab. A tab that takes longer is thrown away."""
COLLECT_PAGES = 10
"""Number of pages of a tab after which the browser frees the memory of the last ones.

Left to itself, it does so when a process has a gigabyte.
"""
MAX_CALL_SECONDS = 3_600.0
"""Maximum time of a call that a page can delay, for a page whose time does not end before."""
_INACTIVE = "active page"
"""Words of the error of such a call: "Not attached to an active page"."""
_WORLD = "sitemap-crawler"
_REPLACED = "a script has replaced the page by another document"
_Result = TypeVar("_Result")

_KINDS = {"Script": ResourceKind.SCRIPT, "XHR": ResourceKind.DATA, "Fetch": ResourceKind.DATA}
_EMPTY_GIF = b64encode(
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01"
    b"\x00\x00\x02\x02D\x01\x00;"
).decode()
_EMPTY = {"Stylesheet": ("text/css", ""), "Image": ("image/gif", _EMPTY_GIF)}
"""Content type and body for what is not fetched although the page would take its lack for an error: some scripts wait
for a style sheet, or put another image in the place of one that fails."""
_SILENT = frozenset(("Font", "Manifest", "Media", "Other", "Ping", "Prefetch", "CSPViolationReport", "TextTrack"))
"""Types of requests whose refusal is not worth a word: no content comes from them."""


class PageReplacedError(SitemapCrawlerError):
    """A script has replaced the page by another document. It would happen in every tab."""


class Shown(NamedTuple):
    """What the tab shows of a page."""

    html: str
    moved_to: str | None
    moved_by_history: bool


@dataclass(slots=True)
class _Visit:
    """The page that a tab shows."""

    url: str
    plain: PlainPage
    requests: PageRequests
    is_answered: bool = False
    """Whether the browser has got the page."""
    address: str = ""
    """Address of the page as the browser spells it."""
    is_shown: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the browser shows the page."""
    replaced: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """Fails when a script has replaced the page."""
    went_to: str | None = None
    """First address to which a script went."""
    origins: set[str] = field(default_factory=set)
    """Origins of all documents: they may have stored something."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)


def _take_exception(future: asyncio.Future[None]) -> None:
    """Keep asyncio from reporting an exception that nobody waits for any more."""
    if not future.cancelled():
        future.exception()


@cache
def _script(name: str) -> str:
    return (pkgutil.get_data(__package__, name) or b"").decode()


class Tab:
    """A tab in a context of its own, so that no page shares a process or storage with the page of another tab."""

    def __init__(self, devtools: DevTools, context: str, target: str, session: str) -> None:
        self._devtools = devtools
        self._context = context
        self._target = target
        self._session = session
        self._visit: _Visit | None = None
        self._pages = 0
        """Number of pages that the tab has shown and wiped."""
        self._expired = asyncio.Event()
        self._is_blank = asyncio.Event()
        """Set when the tab shows no page any more."""
        self._lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lost.add_done_callback(_take_exception)

    @classmethod
    async def open(cls, devtools: DevTools, *, user_agent: str, stubs: bool = True, intercepted: str = "*") -> Tab:
        """Open a tab. Raises BrowserError.

        The tests of the wall do without `stubs`, and intercept the page alone: `intercepted` is a pattern of URLs.
        """
        created = await devtools.call("Target.createBrowserContext", {"disposeOnDetach": True})
        context = created["browserContextId"]
        parameters = {"url": "about:blank", "browserContextId": context, "width": WIDTH, "height": HEIGHT}
        target = (await devtools.call("Target.createTarget", parameters))["targetId"]
        attached = await devtools.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        tab = cls(devtools, context, target, attached["sessionId"])
        devtools.listen(tab._session, tab._receive)
        try:
            # A process that dies before its tab listens leaves calls without an answer.
            async with asyncio.timeout(OPEN_SECONDS):
                await tab._while_alive(tab._set_up(user_agent, stubs=stubs, intercepted=intercepted))
        except TimeoutError:
            raise BrowserError(f"the browser opens no tab in {OPEN_SECONDS:g} s") from None
        return tab

    async def _set_up(self, user_agent: str, *, stubs: bool, intercepted: str) -> None:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("Inspector.enable", {}),
            ("Page.enable", {}),
            ("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
            # Else a script that an earlier page has loaded would come from memory, and not be among the requests.
            ("Network.setCacheDisabled", {"cacheDisabled": True}),
            ("Emulation.setDeviceMetricsOverride",
             {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}),
            ("Emulation.setUserAgentOverride", {"userAgent": user_agent}),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            ("Emulation.setVirtualTimePolicy", {"policy": "pause"}),
            ("Fetch.enable", {"patterns": [{"urlPattern": intercepted}]}),
        ]  # fmt: skip
        if stubs:
            calls.append(("Page.addScriptToEvaluateOnNewDocument", {"source": _script("stubs.js")}))
        for method, params in calls:
            await self._call(method, params)
        context = {"browserContextId": self._context}
        await self._devtools.call("Browser.setDownloadBehavior", {"behavior": "deny", **context})
        await self._devtools.call("Browser.grantPermissions", {"permissions": [], **context})

    @property
    def is_lost(self) -> bool:
        return self._lost.done()

    async def show(
        self, url: str, plain: PlainPage, requests: PageRequests, *, budget_seconds: float, max_length: int
    ) -> Shown:
        """Return what the page shows when it has nothing left to do, or after `budget_seconds` of its own clock.

        Raises BrowserError and PageReplacedError.
        """
        visit = self._visit = _Visit(url, plain, requests)
        visit.replaced.add_done_callback(_take_exception)
        try:
            return await self._while_alive(self._show(visit, budget_seconds * 1000, max_length))
        finally:
            for task in visit.tasks:
                task.cancel()

    async def wipe(self) -> None:
        """End the page and delete all that it has stored. Raises BrowserError."""
        visit, self._visit = self._visit, None
        if visit is not None:
            await self._while_alive(self._wipe(visit.origins))

    async def close(self) -> None:
        """Close the tab. The process of a page that does not end by itself is killed with it."""
        self._devtools.forget(self._session)
        with ignoring_browser_errors():
            await self._devtools.call(
                "Target.disposeBrowserContext", {"browserContextId": self._context}, timeout=WIPE_SECONDS
            )

    async def _show(self, visit: _Visit, budget_ms: float, max_length: int) -> Shown:
        await self._open_page(visit)
        made = await self._call("Page.createIsolatedWorld", {"frameId": self._target, "worldName": _WORLD})
        world = made["executionContextId"]
        await self._settle(visit, world, budget_ms)
        found = await self._evaluate(world, f"snapshot({max_length})")
        address = str(found["url"]).partition("#")[0]
        if not address.startswith(("http://", "https://")):
            raise PageReplacedError(_REPLACED)
        if visit.went_to is not None:
            return Shown(found["html"], visit.went_to, False)
        moved_to = address if address != visit.address else None
        return Shown(found["html"], moved_to, moved_to is not None)

    async def _open_page(self, visit: _Visit) -> None:
        """Wait until the browser shows the page. Its scripts cannot delay that, but a process may die meanwhile."""
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                navigated = await self._call_when_active("Page.navigate", {"url": visit.url})
                if "errorText" in navigated:
                    reason = printable(str(navigated["errorText"]))[:MAX_ERROR]
                    raise BrowserError(f"the browser does not open it ({reason})")
                # A world that is made before belongs to the document before.
                await visit.is_shown.wait()
        except TimeoutError:
            raise BrowserError(f"the browser does not open it in {OPEN_SECONDS:g} s") from None

    async def _settle(self, visit: _Visit, world: int, budget_ms: float) -> None:
        """Let the clock of the page run until nothing changes any more."""
        look = _Look(self, visit, world)
        used_ms, pieces = 0.0, 0
        while used_ms < budget_ms and not (look.is_still and pieces >= MIN_PIECES) and visit.went_to is None:
            piece_ms = min(PIECE_MS, budget_ms - used_ms)
            await look.after(piece_ms)
            used_ms += piece_ms
            pieces += 1
        if used_ms < budget_ms and visit.went_to is None:
            # A timer may take longer than the pieces so far. Without one the clock jumps to its end.
            await look.after(budget_ms - used_ms)
        for _ in range(MAX_LATE_PIECES):
            if look.is_still or visit.went_to is not None:
                return
            await look.after(PIECE_MS)

    async def run_clock(self, milliseconds: float) -> None:
        """Let this time pass on the clock of the page."""
        self._expired.clear()
        policy = {
            "policy": "pauseIfNetworkFetchesPending",
            "budget": milliseconds,
            "maxVirtualTimeTaskStarvationCount": MAX_STARVING_TASKS,
        }
        await self._call("Emulation.setVirtualTimePolicy", policy)
        await self._expired.wait()

    async def signature(self, world: int) -> str:
        return str(await self._evaluate(world, "signature()"))

    async def _evaluate(self, world: int, call: str) -> Any:
        expression = f"{_script('snapshot.js').rstrip().removesuffix(';')}.{call}"
        parameters = {"expression": expression, "contextId": world, "returnByValue": True}
        answer = await self._call("Runtime.evaluate", parameters)
        if "exceptionDetails" in answer:
            raise BrowserError("the document cannot be read")
        return answer["result"].get("value")

    async def _wipe(self, origins: set[str]) -> None:
        context = {"browserContextId": self._context}
        async with asyncio.timeout(WIPE_SECONDS):
            await self._call("Emulation.setVirtualTimePolicy", {"policy": "pause"})
            self._is_blank.clear()
            await self._call("Page.navigate", {"url": "about:blank"})
            await self._is_blank.wait()
            await asyncio.gather(
                self._devtools.call("Storage.clearCookies", context),
                *(
                    self._call("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
                    for origin in sorted(origins)
                ),
            )
            self._pages += 1
            if self._pages % COLLECT_PAGES == 0:
                await self._call("HeapProfiler.collectGarbage")

    async def _while_alive(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Return the result of work that ends with the tab. Raises BrowserError and PageReplacedError."""
        task = asyncio.ensure_future(work)
        ends: list[asyncio.Future[Any]] = [self._lost, *([self._visit.replaced] if self._visit else [])]
        try:
            await asyncio.wait([task, *ends], return_when=asyncio.FIRST_COMPLETED)
            for end in ends:
                if end.done():
                    end.result()
            return await task
        finally:
            task.cancel()

    async def _call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Call a method of the tab. The page may delay the answer; the caller bounds the time."""
        return await self._devtools.call(method, params, session=self._session, timeout=MAX_CALL_SECONDS)

    async def _call_when_active(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Call a method that the browser refuses while it puts the last document in its place."""
        for _ in range(ACTIVE_TRIES):
            try:
                return await self._call(method, params)
            except BrowserError as error:
                if _INACTIVE not in str(error):
                    raise
            await asyncio.sleep(ACTIVE_PAUSE_SECONDS)
        return await self._call(method, params)

    def _send(self, method: str, params: dict[str, Any]) -> None:
        self._devtools.send(method, params, session=self._session)

    def _receive(self, method: str, params: dict[str, Any]) -> None:
        handler = _HANDLERS.get(method)
        if handler is not None:
            handler(self, params)

    def _on_expired(self, params: dict[str, Any]) -> None:
        self._expired.set()

    def _on_lost(self, params: dict[str, Any]) -> None:
        if not self._lost.done():
            self._lost.set_exception(BrowserError("the process of the browser that shows it has ended"))

    def _on_dialog(self, params: dict[str, Any]) -> None:
        self._send("Page.handleJavaScriptDialog", {"accept": params.get("type") == "beforeunload"})

    def _on_document(self, params: dict[str, Any]) -> None:
        frame, visit = params["frame"], self._visit
        is_blank, is_main = frame["url"].startswith("about:"), "parentId" not in frame
        if is_blank and is_main:
            self._is_blank.set()
        if visit is None:
            return
        if not is_blank:
            visit.origins.add(frame.get("securityOrigin") or origin_of(frame["url"]))
        if not is_main:
            return
        if visit.is_shown.is_set() and not visit.replaced.done():
            visit.replaced.set_exception(PageReplacedError(_REPLACED))
        visit.is_shown.set()

    def _on_request(self, params: dict[str, Any]) -> None:
        visit, identity = self._visit, {"requestId": params["requestId"]}
        if visit is None:
            self._send("Fetch.failRequest", {**identity, "errorReason": "Aborted"})
        elif params["resourceType"] == "Document" and params["frameId"] == self._target:
            self._on_navigation(visit, identity, params["request"])
        else:
            task = asyncio.ensure_future(self._answer(visit, identity, params))
            visit.tasks.add(task)
            task.add_done_callback(visit.tasks.discard)

    def _on_navigation(self, visit: _Visit, identity: dict[str, str], request: dict[str, Any]) -> None:
        """Give the browser the page, which the crawl has; note any later address, and stay."""
        if not visit.is_answered:
            visit.is_answered, visit.address = True, request["url"]
            plain = visit.plain
            headers = seen_headers(header_pairs(plain.headers), cookies=True)
            self._fulfil(identity, plain.status, headers, b64encode(plain.body).decode())
            return
        # An answer of another kind would replace the page by a page about an error.
        self._send("Fetch.failRequest", {**identity, "errorReason": "Aborted"})
        if request["method"] != "GET":
            visit.requests.refuse(request["url"], unsent(request["method"]))
        elif request["url"] != visit.address and visit.went_to is None:
            visit.went_to = request["url"]
            self._expired.set()

    async def _answer(self, visit: _Visit, identity: dict[str, str], params: dict[str, Any]) -> None:
        """Answer a request of the page."""
        request, type_ = params["request"], params["resourceType"]
        url, method = request["url"], request["method"]
        if method == "OPTIONS":
            # The browser asks whether it may send the request itself; then the answer says who may read it.
            asks = {name.lower(): value for name, value in request["headers"].items()}
            method = asks.get("access-control-request-method", method)
            if method in METHODS:
                self._fulfil(identity, 204, _allowing(asks, origin_of(visit.address)), "")
                return
        if url.startswith(("data:", "blob:", "about:")):
            self._send("Fetch.continueRequest", identity)
            return
        if type_ in _EMPTY:
            content_type, body = _EMPTY[type_]
            self._fulfil(identity, 200, [("content-type", content_type), ("access-control-allow-origin", "*")], body)
            return
        kind = ResourceKind.FRAME if type_ == "Document" else _KINDS.get(type_)
        try:
            if kind is None:
                if type_ not in _SILENT:
                    visit.requests.refuse(url, f"requests of the type {type_} are not sent")
                raise ResourceRefusedError
            if is_prefetch(request["headers"]):
                raise ResourceRefusedError
            wanted = Wanted.from_browser(url, kind, method=method, headers=request["headers"], page_url=visit.address)
            resource = await visit.requests.fetch(wanted)
        except ResourceRefusedError:
            reason = "Aborted" if kind is ResourceKind.FRAME else "BlockedByClient"
            self._send("Fetch.failRequest", {**identity, "errorReason": reason})
            return
        self._fulfil(identity, resource.status, resource.headers, b64encode(resource.body).decode())

    def _fulfil(
        self, identity: dict[str, str], status: int, headers: Iterable[tuple[str, str]], encoded_body: str
    ) -> None:
        answer = {
            **identity,
            "responseCode": status,
            "responseHeaders": [{"name": name, "value": value} for name, value in headers],
            "body": encoded_body,
        }
        self._send("Fetch.fulfillRequest", answer)


_HANDLERS: dict[str, Callable[[Tab, dict[str, Any]], None]] = {
    "Emulation.virtualTimeBudgetExpired": Tab._on_expired,
    "Fetch.requestPaused": Tab._on_request,
    "Inspector.targetCrashed": Tab._on_lost,
    "Page.frameNavigated": Tab._on_document,
    "Page.javascriptDialogOpening": Tab._on_dialog,
    BROWSER_LOST: Tab._on_lost,
}


def _allowing(asks: Mapping[str, str], origin: str) -> list[tuple[str, str]]:
    """Return the answer that allows a script to send a request, by the headers that ask for it."""
    return [
        ("access-control-allow-origin", origin),
        ("access-control-allow-credentials", "true"),
        ("access-control-allow-methods", ", ".join(METHODS)),
        ("access-control-allow-headers", asks.get("access-control-request-headers", "accept")),
    ]


class _Look:
    """Looks at a page again and again: has it changed?"""

    def __init__(self, tab: Tab, visit: _Visit, world: int) -> None:
        self._tab, self._visit, self._world = tab, visit, world
        self._signature: str | None = None
        self.is_still = False

    async def after(self, milliseconds: float) -> None:
        """Let time pass and look."""
        await self._tab.run_clock(milliseconds)
        await asyncio.sleep(FRAME_SECONDS)
        signature = await self._tab.signature(self._world)
        self.is_still = signature == self._signature and not self._visit.requests.are_pending
        self._signature = signature
