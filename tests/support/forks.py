"""Runs of the command in forks of a process that has imported the program: imports would take half of the test time.

A fork has the directory, environment, arguments and streams of the run, as a process of its own would; what an
interpreter reads of its environment when it starts, it does not see.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import signal
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

READ_AT_START = ("PYTHON", "LANG", "LC_", "LD_", "MALLOC_", "TZ", "SSL_CERT_")
"""Beginnings of the names of variables that an interpreter, or aiohttp with its TLS context, reads when it starts."""

LATE_IMPORTS = (
    "platformdirs",
    "psycopg",
    "rich.console",
    "scrapy.extensions.closespider",
    "scrapy.extensions.memusage",
    "scrapy.statscollectors",
    "scrapy.utils.engine",
    "sqlalchemy.dialects.postgresql",
)
"""Modules of other packages that a command imports while it runs."""


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str


class Forks:
    """Fork server, one for each test process. It ends with the test process."""

    def __init__(self) -> None:
        # Unbuffered: a buffer that held two answers at once would leave `select` waiting for the second.
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def close(self) -> None:
        with self._server:
            pass

    def run(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        timeout: float,
        killed_at: int | None = None,
    ) -> Done:
        """Run the command. With `killed_at`, it kills itself just before that one of its commits and renames."""
        assert self._server.stdin is not None
        with tempfile.TemporaryDirectory() as directory:
            out, err = f"{directory}/out", f"{directory}/err"
            job = {"arguments": arguments, "cwd": str(cwd), "environment": dict(environment), "out": out, "err": err}
            job["killed_at"] = killed_at
            self._server.stdin.write(json.dumps(job).encode() + b"\n")
            pid = self._answer(60)
            try:
                code = self._answer(timeout)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                self._answer(60)
                raise
            with open(out, encoding="utf-8") as printed, open(err, encoding="utf-8") as failed:  # noqa: PTH123
                return Done(code, printed.read(), failed.read())

    def _answer(self, timeout: float) -> int:
        stream = self._server.stdout
        assert stream is not None
        if not select.select([stream], [], [], timeout)[0]:
            raise TimeoutError(f"no end of the command in {timeout:g} seconds")
        return int(stream.readline())


def serve() -> None:
    # Imports make no garbage, in the forks neither.
    gc.disable()
    package = importlib.import_module("sitemap_crawler")
    for module in pkgutil.walk_packages(package.__path__, "sitemap_crawler."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in LATE_IMPORTS:
        importlib.import_module(name)
    # The first use of the options would build their validator.
    importlib.import_module("sitemap_crawler.config.options").Options.model_rebuild()
    # It stands beside this file.
    importlib.import_module("killed_at")
    gc.freeze()
    _stop_heart()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            _be(json.loads(line))
        print(pid, file=answers)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), file=answers)


def _stop_heart() -> None:
    """Let no crawl be woken by Scrapy's heartbeat, which hides that something forgets to wake the engine."""
    engine = importlib.import_module("scrapy.core.engine").ExecutionEngine
    assert engine._SLOT_HEARTBEAT_INTERVAL == 5.0  # the attribute is not documented
    engine._SLOT_HEARTBEAT_INTERVAL = 1e6


def _be(job: dict[str, Any]) -> None:
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["environment"])
    # As `python -m` does.
    sys.path[0] = job["cwd"]
    sys.argv = ["sitemap-crawler", *job["arguments"]]
    for number, path in enumerate((os.devnull, job["out"], job["err"])):
        flags = os.O_RDONLY if not number else os.O_WRONLY | os.O_CREAT | os.O_APPEND
        os.dup2(os.open(path, flags, 0o600), number)
    os.closerange(3, 256)
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False))  # noqa: SIM115
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), encoding="utf-8")  # noqa: SIM115
    sys.stderr = io.TextIOWrapper(  # as Python does
        open(2, "wb", closefd=False),  # noqa: SIM115
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
    if job["killed_at"] is not None:
        sys.modules["killed_at"].arm(job["killed_at"])
    code = 1
    try:
        main = importlib.import_module("sitemap_crawler.__main__").main
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    serve()
