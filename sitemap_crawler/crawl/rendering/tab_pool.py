"""The tabs of a crawl, and their browsers, which are started for the first page and replaced when they age or crash."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from sitemap_crawler.crawl.rendering.browser import REMEDY, Browser, BrowserUnusableError
from sitemap_crawler.crawl.rendering.protocol import BrowserError
from sitemap_crawler.crawl.rendering.tab import Tab

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

logger = logging.getLogger(__name__)

MAX_STARTS = 3
"""Number of times that a browser is started before it counts as unusable."""


class _Generation:
    """One browser with its tabs, until another one takes its place."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.idle: list[Tab] = []
        self.busy = 0
        """Number of tabs that are in use."""
        self.pages = 0
        """Number of pages that were given to the browser."""
        self.is_broken = False

    @property
    def is_usable(self) -> bool:
        return not self.is_broken and not self.browser.devtools.is_lost


class TabPool:
    """Tabs that are kept from page to page. At most one browser takes new pages; others end with their last page."""

    def __init__(
        self,
        program: Path,
        *,
        sandbox: bool,
        recycle: int,
        user_agent: str,
        test: Callable[[Tab], Awaitable[bool]],
        started: Callable[[], object],
    ) -> None:
        """`recycle`: number of pages of a browser. `user_agent` is added to the browser's own, as scripts see it.

        `test` returns whether a tab of a new browser works. `started` is called at the start of each browser.
        """
        self._program = program
        self._sandbox = sandbox
        self._recycle = recycle
        self._user_agent = user_agent
        self._test = test
        self._started = started
        self._isolates = True
        self._current: _Generation | None = None
        self._starting = asyncio.Lock()
        self._endings: set[asyncio.Task[None]] = set()
        """Browsers that are being ended."""

    @asynccontextmanager
    async def tab(self) -> AsyncIterator[Tab]:
        """Lend an empty tab. It is wiped afterwards, or closed if an exception shows that it cannot be.

        Raises BrowserError if the browser dies, BrowserUnusableError if none can be started, and OSError.
        """
        generation = await self._generation()
        generation.busy += 1
        generation.pages += 1
        tab = None
        try:
            tab = await self._open(generation)
            yield tab
            await self._return(generation, tab)
            tab = None
        finally:
            if tab is not None:
                await asyncio.shield(self._in_background(tab.close()))
            generation.busy -= 1
            self._retire(generation)

    async def close(self) -> None:
        """End all browsers and wait until their processes are gone."""
        async with self._starting:
            generation, self._current = self._current, None
        if generation is not None:
            self._end(generation)
        while self._endings:
            await asyncio.gather(*self._endings, return_exceptions=True)

    async def _generation(self) -> _Generation:
        """Return the browser for a new page. Another one is started if there is none, or if it is used up."""
        async with self._starting:
            current = self._current
            if current is not None and current.is_usable and current.pages < self._recycle:
                return current
            self._current = None
            if current is not None:
                self._retire(current)
            self._current = await self._start()
            return self._current

    async def _start(self) -> _Generation:
        """Start and test a browser. Raises BrowserUnusableError and OSError."""
        error: BrowserError | None = None
        for _ in range(MAX_STARTS):
            try:
                return await self._try_to_start()
            except BrowserError as failure:
                error = failure
                # The sandbox of some systems does not work in a network namespace.
                self._isolates = False
                logger.info("the browser is started again: %s", error)
        if isinstance(error, BrowserUnusableError):
            raise error
        raise BrowserUnusableError(f"{self._program} cannot be used as a browser ({error}): {REMEDY}") from error

    async def _try_to_start(self) -> _Generation:
        browser = await Browser.start(self._program, sandbox=self._sandbox, isolate=self._isolates)
        try:
            self._started()
            generation = _Generation(browser)
            tab = await self._open(generation)
            if not await self._test(tab):
                raise BrowserError("it does not render a page with a timer")
            await tab.wipe()
        except BaseException:
            await browser.close()
            raise
        generation.idle.append(tab)
        return generation

    async def _open(self, generation: _Generation) -> Tab:
        while generation.idle:
            tab = generation.idle.pop()
            if not tab.is_lost:
                return tab
        browser = generation.browser
        user_agent = f"{browser.user_agent.replace('HeadlessChrome', 'Chrome')} {self._user_agent}".strip()
        try:
            return await Tab.open(browser.devtools, user_agent=user_agent)
        except BrowserError:
            generation.is_broken = True
            raise

    async def _return(self, generation: _Generation, tab: Tab) -> None:
        """Keep a tab for the next page, if it can be wiped."""
        try:
            await tab.wipe()
        except (BrowserError, TimeoutError):
            await tab.close()
        else:
            generation.idle.append(tab)

    def _retire(self, generation: _Generation) -> None:
        """End a browser that takes no new pages, after its last page."""
        if generation is not self._current and not generation.busy:
            self._end(generation)

    def _end(self, generation: _Generation) -> None:
        self._in_background(generation.browser.close())

    def _in_background(self, work: Awaitable[None]) -> asyncio.Future[None]:
        task = asyncio.ensure_future(work)
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)
        return task
