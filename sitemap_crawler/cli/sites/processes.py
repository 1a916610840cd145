"""Processes that crawl several sites, one for each site: a failure of one does not stop the others."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sitemap_crawler.cli.common import PROGRAM
from sitemap_crawler.cli.sites.plan import NOT_BEGUN, USAGE_ERROR, SitePlan, SiteResult
from sitemap_crawler.exceptions import FAILED, INTERRUPTED, USAGE
from sitemap_crawler.report.report import EXIT_CODES, Outcome
from sitemap_crawler.utils.nesting import read_json
from sitemap_crawler.utils.runtime import parent_death_signal
from sitemap_crawler.utils.shortage import advice_for
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from asyncio import StreamReader
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from sitemap_crawler.cli.sites.output import ProgressOutput

ERROR_PREFIX = f"{PROGRAM}: "
"""Beginning of the line in which a crawl says why it failed."""
MAX_LINE_BYTES = 65_536
"""Maximum length of a log line in bytes. A longer line is passed on in pieces."""


class SiteProcesses:
    """Runner of the processes of several sites.

    The first signal to this process stops the crawls gracefully, the second one stops them immediately.
    """

    def __init__(
        self,
        plans: Sequence[SitePlan],
        *,
        parallel: int,
        command: Callable[[SitePlan], list[str]],
        output: ProgressOutput,
        keep_reports: bool,
    ) -> None:
        """`keep_reports`: keep the reports whole, and not only the numbers of the table."""
        self._plans = plans
        self._parallel = parallel
        self._command = command
        self._output = output
        self._keep_reports = keep_reports
        self._processes: set[Process] = set()
        self._stopping = asyncio.Event()
        self._results: dict[SitePlan, SiteResult] = {}

    async def run(self, *, delay_seconds: float) -> list[SiteResult]:
        """Crawl the sites, after `delay_seconds`, and return the results in the order of the plans."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # nohup ignores SIGHUP, and so does this process then.
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, self._stop)
        if delay_seconds:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), delay_seconds)
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
        # Two simultaneous crawls of one host would double the promised rate of requests.
        async with host, limit:
            await self._work(plan)

    async def _work(self, plan: SitePlan) -> None:
        self._results[plan] = result = await self._crawl(plan)
        self._output.finished(result)

    async def _crawl(self, plan: SitePlan) -> SiteResult:
        if plan.problem is not None:
            return SiteResult(plan, USAGE, USAGE_ERROR, plan.problem)
        if self._stopping.is_set():
            return SiteResult(plan, INTERRUPTED, NOT_BEGUN, "not begun; run the same command to continue")
        begun = time.monotonic()
        self._output.started(plan)
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command(plan),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=PIPE,
                # Ctrl-C reaches only this process, which passes it on, so that each child gets it once.
                process_group=0,
                # A parent that is killed can pass no signal on: the kernel asks the child to stop.
                preexec_fn=parent_death_signal(signal.SIGTERM) if sys.platform == "linux" else None,
            )
        except OSError as error:
            advice = advice_for(error, otherwise="run the same command again")
            message = f"cannot start a process: {error.strerror or error}; {advice}"
            return SiteResult(plan, FAILED, str(Outcome.FAILED), message)
        self._processes.add(process)
        if self._stopping.is_set():
            _end(process)
        out, error_message = await asyncio.gather(
            _stream(process.stdout).read(), self._pass_on(plan, _stream(process.stderr))
        )
        code = await process.wait()
        self._processes.discard(process)
        report = _report(out)
        if report is not None and not self._keep_reports:
            report = {name: report[name] for name in ("outcome", "message", "listed", "changes")}
        seconds = time.monotonic() - begun
        return _result(
            plan, code, report, error_message=error_message, seconds=seconds, stopped=self._stopping.is_set()
        )

    async def _pass_on(self, plan: SitePlan, stream: StreamReader) -> str:
        """Print the log lines of a crawl. Return the message of its error line, which is not printed."""
        error_message = ""
        async for line in _lines(stream):
            if line.startswith(ERROR_PREFIX):
                error_message = line.removeprefix(ERROR_PREFIX)
            else:
                self._output.log(plan, line)
        return error_message


def child_command(plan: SitePlan, arguments: Iterable[str]) -> list[str]:
    """Return the command that crawls one site and prints its report as JSON."""
    # A console script does not import modules from the current directory. Its children must not either.
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
    while chunk := await stream.read(MAX_LINE_BYTES):
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > MAX_LINE_BYTES:
            lines, rest = [*lines, rest], b""
        for line in lines:
            yield line.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")


def _result(
    plan: SitePlan, code: int, report: dict[str, Any] | None, *, error_message: str, seconds: float, stopped: bool
) -> SiteResult:
    if code == USAGE:
        outcome, message = USAGE_ERROR, error_message
    elif code in EXIT_CODES.values() and report is not None:
        outcome, message = report["outcome"], report["message"]
    elif code == INTERRUPTED or (code == -signal.SIGTERM and stopped):
        # The signal may have come before the process could print anything.
        code, outcome = INTERRUPTED, str(Outcome.INTERRUPTED)
        message = error_message or "interrupted; run the same command to continue"
    else:
        outcome, message = str(Outcome.FAILED), error_message or _death(code)
        code = FAILED
    return SiteResult(plan, code, outcome, printable(message), seconds, report)


def _report(out: bytes) -> dict[str, Any] | None:
    try:
        report = read_json(out)
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
    cause = ", perhaps because memory ran out" if name == "SIGKILL" else ""
    return f"the crawl was killed by {name}{cause}; run the same command to continue"
