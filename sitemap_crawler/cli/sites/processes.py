"""Crawls several sites, each in a process of its own: whatever becomes of one, the others go on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from sitemap_crawler.cli.sites.plan import NOT_BEGUN, USAGE_ERROR, SitePlan, SiteResult
from sitemap_crawler.exceptions import FAILED, INTERRUPTED, USAGE
from sitemap_crawler.report.report import EXIT_CODES, Outcome
from sitemap_crawler.utils.runtime import parent_death_signal
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from asyncio import StreamReader
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

PROGRAM = "sitemap-crawler: "
"""Begins the line in which a crawl says why it failed."""
MAX_LINE = 65_536
"""Bytes of a line that is passed on; what is longer comes in pieces."""


class Teller(Protocol):
    """Whoever tells the user what happens."""

    def log(self, plan: SitePlan, line: str) -> None: ...

    def begun(self, plan: SitePlan) -> None: ...

    def ended(self, result: SiteResult) -> None: ...


class SiteProcesses:
    """A signal that ends this process is passed on as a gentle stop, a second one as one at once."""

    def __init__(
        self,
        plans: Sequence[SitePlan],
        *,
        parallel: int,
        command: Callable[[SitePlan], list[str]],
        teller: Teller,
        keep_reports: bool,
    ) -> None:
        """`keep_reports`: whether more of them is wanted than a few numbers."""
        self._plans = plans
        self._parallel = parallel
        self._command = command
        self._teller = teller
        self._keep_reports = keep_reports
        self._processes: set[Process] = set()
        self._stopping = asyncio.Event()
        self._results: dict[SitePlan, SiteResult] = {}

    async def run(self, *, delay: float) -> list[SiteResult]:
        """What came of each, in the order of the plans; the first begins after `delay` seconds."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Under nohup the end of the terminal is to be ignored.
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, self._stop)
        if delay:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), delay)
        if self._parallel == 1:
            for plan in self._plans:
                await self._work(plan)
        else:
            limit, hosts = asyncio.Semaphore(self._parallel), defaultdict[str, asyncio.Lock](asyncio.Lock)
            await asyncio.gather(*(self._work_in_turn(plan, hosts[plan.host], limit) for plan in self._plans))
        return [self._results[plan] for plan in self._plans]

    def _stop(self) -> None:
        self._stopping.set()
        for process in self._processes:
            _end(process)

    async def _work_in_turn(self, plan: SitePlan, host: asyncio.Lock, limit: asyncio.Semaphore) -> None:
        # Two crawls of a host at a time would ask it twice as often as it was promised.
        async with host, limit:
            await self._work(plan)

    async def _work(self, plan: SitePlan) -> None:
        self._results[plan] = result = await self._crawl(plan)
        self._teller.ended(result)

    async def _crawl(self, plan: SitePlan) -> SiteResult:
        if plan.problem is not None:
            return SiteResult(plan, USAGE, USAGE_ERROR, plan.problem)
        if self._stopping.is_set():
            return SiteResult(plan, INTERRUPTED, NOT_BEGUN, "not begun; run the same command to continue")
        begun = time.monotonic()
        self._teller.begun(plan)
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command(plan),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                # The terminal's Ctrl-C goes to this process alone, so that each child gets it once.
                process_group=0,
                # A parent that is killed can pass no signal on: the kernel asks the child to stop.
                preexec_fn=parent_death_signal(signal.SIGTERM) if sys.platform == "linux" else None,
            )
        except OSError as error:
            return SiteResult(plan, FAILED, str(Outcome.FAILED), f"cannot start a process: {error.strerror or error}")
        self._processes.add(process)
        if self._stopping.is_set():
            _end(process)
        out, said = await asyncio.gather(_stream(process.stdout).read(), self._pass_on(plan, _stream(process.stderr)))
        code = await process.wait()
        self._processes.discard(process)
        report = _report(out)
        if report is not None and not self._keep_reports:
            report = {name: report[name] for name in ("outcome", "message", "listed", "changes")}
        seconds = time.monotonic() - begun
        return _result(plan, code, report, said=said, seconds=seconds, stopped=self._stopping.is_set())

    async def _pass_on(self, plan: SitePlan, stream: StreamReader) -> str:
        """Hand its lines to the teller, but for the one that says how it ended, which is returned."""
        said = ""
        async for line in _lines(stream):
            if line.startswith(PROGRAM):
                said = line.removeprefix(PROGRAM)
            else:
                self._teller.log(plan, line)
        return said


def child_command(plan: SitePlan, arguments: Iterable[str]) -> list[str]:
    """The command that crawls one site, and prints its report on standard output."""
    # A console script does not look for modules in the current directory: nor may its children.
    safe = [] if {"", os.getcwd()} & set(sys.path) else ["-P"]  # noqa: PTH109 - sys.path has strings
    program = [sys.executable, *safe, "-m", "sitemap_crawler", "crawl"]
    return [*program, f"--config={plan.config}", "--json", "--no-progress", *arguments]


def _end(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()


def _stream(pipe: StreamReader | None) -> StreamReader:
    if pipe is None:
        raise ValueError("the process was started without this pipe")
    return pipe


async def _lines(stream: StreamReader) -> AsyncIterator[str]:
    rest = b""
    while chunk := await stream.read(MAX_LINE):
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > MAX_LINE:
            lines, rest = [*lines, rest], b""
        for line in lines:
            yield line.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")


def _result(
    plan: SitePlan, code: int, report: dict[str, Any] | None, *, said: str, seconds: float, stopped: bool
) -> SiteResult:
    if code == USAGE:
        outcome, message = USAGE_ERROR, said
    elif code in EXIT_CODES.values() and report is not None:
        outcome, message = report["outcome"], report["message"]
    elif code == INTERRUPTED or (code == -signal.SIGTERM and stopped):
        # It may have been asked to stop before it could say anything.
        code, outcome = INTERRUPTED, str(Outcome.INTERRUPTED)
        message = said or "interrupted; run the same command to continue"
    else:
        outcome, message = str(Outcome.FAILED), said or _death(code)
        code = FAILED
    return SiteResult(plan, code, outcome, printable(message), seconds, report)


def _report(out: bytes) -> dict[str, Any] | None:
    try:
        report = json.loads(out)
    except ValueError:
        return None
    return report if isinstance(report, dict) else None


def _death(code: int) -> str:
    if code >= 0:
        return f"the crawl ended with exit code {code} and no report; run the same command to continue"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    cause = ", perhaps for want of memory" if name == "SIGKILL" else ""
    return f"the crawl was killed by {name}{cause}; run the same command to continue"
