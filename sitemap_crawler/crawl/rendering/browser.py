"""The browser: where it is found, what it may not do, its start and its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitemap_crawler.crawl.rendering.protocol import BrowserError, DevTools
from sitemap_crawler.exceptions import OptionError
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sitemap_crawler.config.options import Options

logger = logging.getLogger(__name__)

WIDTH, HEIGHT = 1024, 8000
"""Size of the window in pixels. It is so high that whatever a page loads when it comes into view is in view."""
MAX_HEAP_MB = 1024
"""Maximum memory of the scripts of a page. One that needs more crashes, and its plain page counts."""
START_SECONDS = 60.0
"""Maximum time of a start. It takes one second on a machine without other work."""
END_SECONDS = 10.0
"""Maximum time of an end, which kills the processes."""
MAX_LOG_LINES = 20
"""Number of last lines of the browser's log that are kept, for the message about a start that fails."""
MAX_REASON = 300
"""Maximum number of characters of a line of that log in a message."""
REMEDY = "run it by hand, or name another one with --browser"
NAMES = (
    "chromium-headless-shell", "chrome-headless-shell", "headless_shell", "chromium", "chromium-browser",
    "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "microsoft-edge-stable", "msedge",
)  # fmt: skip
"""Names of programs, the one that is taken first in front: the headless shell renders three times as many pages."""
PLAYWRIGHT_PLACES = (
    "chromium_headless_shell-*/chrome-*/headless_shell",
    "chromium_headless_shell-*/chrome-*/chrome-headless-shell",
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
)
"""Browsers that `playwright install chromium` has put into its cache."""
MAC_PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
WALL = (
    # Whatever a page asks for meets a proxy that is not there, and names that do not resolve. Loopback is no exception.
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
)
"""Flags that leave the browser without a network. The requests that count are answered by the crawl."""
DISABLED_FEATURES = (
    "AcceptCHFrame", "BackForwardCache", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "IsolateOrigins",
    "IsolateSandboxedIframes", "MediaRouter", "OptimizationHints", "Prerender2", "Translate", "site-per-process",
)  # fmt: skip
FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    f"--window-size={WIDTH},{HEIGHT}",
    f"--js-flags=--max-old-space-size={MAX_HEAP_MB}",
    "--block-new-web-contents",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    f"--disable-features={','.join(DISABLED_FEATURES)}",
    "--disable-gpu",
    "--disable-hang-monitor",
    "--disable-notifications",
    "--disable-renderer-backgrounding",
    "--disable-search-engine-choice-screen",
    # Frames of other sites stay empty. A process for each of them would cost a second.
    "--disable-site-isolation-trials",
    "--disable-sync",
    "--lang=en-US",
    "--metrics-recording-only",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--password-store=basic",
    "--use-mock-keychain",
)
"""Flags without an effect on what pages may do: no window, no helpers, full speed."""


class BrowserUnusableError(BrowserError):
    """The browser cannot be started, or does not work."""


def check_browser(options: Options) -> None:
    """Check what would stop the first rendering. Raises OptionError."""
    if sys.platform == "win32":
        raise OptionError(
            f"--render {options.render} needs the pipes of Linux or macOS: use the Windows Subsystem for Linux (WSL)"
        )
    program = find_browser(options)
    if os.geteuid() == 0 and not options.browser_no_sandbox:
        raise OptionError(
            f"--render {options.render} as root: {program.name} runs without its sandbox only; run as another user, or "
            "give --browser-no-sandbox (in a container)"
        )


def find_browser(options: Options) -> Path:
    """Return the program of the browser. Raises OptionError if there is none."""
    if options.browser is not None:
        given = shutil.which(options.browser)
        if given is None:
            raise OptionError(f"--browser {options.browser} is no program: give the path of Chromium or Chrome")
        return Path(given).absolute()
    for path in _places():
        if os.access(path, os.X_OK) and not Path(path).is_dir():
            return Path(path).absolute()
    raise OptionError(
        f"--render {options.render} needs Chromium, which was not found: install it (Debian: apt-get install "
        "chromium-headless-shell) or name it with --browser"
    )


def _places() -> Iterator[str]:
    """Yield the paths where a browser may be, the first one to be taken first."""
    yield from filter(None, map(shutil.which, NAMES))
    home = Path.home()
    cache = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    default = home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "ms-playwright"
    base = default if cache in (None, "", "0") else Path(cache)
    for pattern in PLAYWRIGHT_PLACES:
        # The last version first, by its number.
        yield from sorted(map(str, base.glob(pattern)), key=lambda path: (len(path), path), reverse=True)
    if sys.platform == "darwin":
        yield from chain.from_iterable((path, f"{home}{path}") for path in MAC_PLACES)


class Browser:
    """A running browser: the connection to it, and its guard."""

    def __init__(self, devtools: DevTools, guard: subprocess.Popen[bytes]) -> None:
        self.devtools = devtools
        self._guard = guard
        self.pid = 0
        """Process id and process group of the browser."""
        self.is_isolated = False
        """Whether the browser has a network of its own, without any interface."""
        self.version = ""
        self.user_agent = ""
        self._told = asyncio.StreamReader()
        """What the guard tells."""
        self._transports: list[asyncio.BaseTransport] = []
        self._profile: str | None = None
        self._log: deque[str] = deque(maxlen=MAX_LOG_LINES)

    @classmethod
    async def start(cls, program: Path, *, sandbox: bool, isolate: bool = True) -> Browser:
        """Start the browser, in a network namespace of its own if `isolate` and the system allows it.

        Raises BrowserUnusableError, and OSError for what this machine lacks.
        """
        command = [str(program), *FLAGS, *WALL, *(() if sandbox else ("--no-sandbox",))]
        browser = await cls._launch(command, isolate=isolate)
        try:
            await browser._greet()
        except BrowserError as error:
            await browser.close()
            raise BrowserUnusableError(browser._start_problem(program, error)) from error
        except BaseException:
            await browser.close()
            raise
        logger.info(
            "%s was started (%s)",
            browser.version,
            "in a network namespace without any interface" if browser.is_isolated else "without network by its flags",
        )
        return browser

    @classmethod
    async def _launch(cls, command: list[str], *, isolate: bool) -> Browser:
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            browser_reads, writes = _pipe(theirs, ours)
            reads, browser_writes = _pipe(ours, theirs)
            plan = {
                "command": command,
                "path": os.environ.get("PATH", os.defpath),
                "reads": browser_reads,
                "writes": browser_writes,
                "isolate": isolate,
            }
            # As text, because the package may be in an archive (Scrapyd's eggs).
            source = pkgutil.get_data(__package__, "guard.py") or b""
            # S603: the program that the user has installed or named.
            guard = subprocess.Popen(  # noqa: S603
                [sys.executable, "-I", "-S", "-c", source.decode(), json.dumps(plan)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(browser_reads, browser_writes),
                process_group=0,
            )
            ours.pop_all()
        browser = cls(await DevTools.open(reads, writes), guard)
        loop = asyncio.get_running_loop()
        protocols: list[tuple[asyncio.BaseProtocol, Any]] = [
            (asyncio.StreamReaderProtocol(browser._told), guard.stdout),
            (_Log(browser._log), guard.stderr),
        ]
        for protocol, pipe in protocols:
            transport, _ = await loop.connect_read_pipe(partial(_same, protocol), pipe)
            browser._transports.append(transport)
        return browser

    async def _greet(self) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                told = await self._told.readline()
        except TimeoutError as error:
            raise BrowserError("its guard does not answer") from error
        if not told:
            raise BrowserError("its guard has ended")
        facts = json.loads(told)
        self.pid, self.is_isolated, self._profile = facts["pid"], facts["isolated"], facts["profile"]
        version = await self.devtools.call("Browser.getVersion", timeout=START_SECONDS)
        self.version = printable(str(version.get("product")))
        self.user_agent = str(version.get("userAgent"))

    def _start_problem(self, program: Path, error: BrowserError) -> str:
        shown = next((line for line in reversed(self._log) if "ERROR" in line or "FATAL" in line), None)
        last = shown or (self._log[-1] if self._log else str(error))
        reason = printable(last)[:MAX_REASON]
        return f"{program} cannot be used as a browser ({reason}): {REMEDY}"

    async def close(self) -> None:
        """Kill the browser, and wait until its processes and its profile are gone."""
        self.devtools.close()
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        if not await _holds(lambda: self._guard.poll() is not None):
            self._guard.kill()
            self._guard.wait()
        if self._guard.returncode and self.pid:
            # The guard was killed, and has left the browser and its profile behind.
            await _holds(lambda: not _kill_group(self.pid))
            if self._profile is not None:
                shutil.rmtree(self._profile, ignore_errors=True)
        for transport in self._transports:
            transport.close()
        # They close their descriptors in the next turn.
        await asyncio.sleep(0)


async def _holds(condition: Callable[[], bool]) -> bool:
    """Wait until a condition holds, for END_SECONDS at most. Return whether it does."""
    deadline = time.monotonic() + END_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True


def _kill_group(group: int) -> bool:
    """Kill a group of processes. Return whether there was any left."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _same(protocol: asyncio.BaseProtocol) -> asyncio.BaseProtocol:
    return protocol


class _Log(asyncio.Protocol):
    """Keeps the last lines of the browser's log, which a page may flood."""

    def __init__(self, lines: deque[str]) -> None:
        self._lines = lines

    def data_received(self, data: bytes) -> None:
        for line in data.decode(errors="replace").splitlines()[-MAX_LOG_LINES:]:
            if line.strip():
                self._lines.append(line.strip()[:1_000])


def _pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    """Return the two ends of a pipe, each of which its stack closes."""
    reads, writes = os.pipe()
    reader.callback(os.close, reads)
    writer.callback(os.close, writes)
    return reads, writes
