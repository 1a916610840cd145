"""Fork server: it has imported the program, and each run of the command is a fork of it.

It is started with the number of a listening Unix socket, and ends with its standard input. A client connects once for
each run, and sends a line of JSON with three descriptors: the standard input, output and error of the run. The answer
is the process ID, and, at the end of the run, the exit status as `subprocess` has it: eight bytes each.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pkgutil
import selectors
import signal
import socket
import sys
import tempfile
import traceback
from typing import Any

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
MAX_DESCRIPTOR = 1024
"""Runs inherit no descriptor below this number but their streams."""


def serve(listener: socket.socket) -> None:
    _import_program()
    _stop_heart()
    woken, waking = socket.socketpair()
    waking.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    clients: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        for stream in (sys.stdin, listener, woken):
            selector.register(stream, selectors.EVENT_READ)
        while True:
            ready = [key.fileobj for key, _ in selector.select()]
            if sys.stdin in ready:
                return
            if listener in ready:
                client, _ = listener.accept()
                pid = _begin(client)
                clients[pid] = client
                _answer(client, pid)
            if woken in ready:
                woken.recv(4096)
            while clients:
                # One signal may stand for several ends.
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                with clients.pop(pid) as client:
                    _answer(client, os.waitstatus_to_exitcode(status))


def _import_program() -> None:
    # Imports make no garbage, in the forks neither.
    gc.disable()
    package = importlib.import_module("sitemap_crawler")
    for module in pkgutil.walk_packages(package.__path__, "sitemap_crawler."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in LATE_IMPORTS:
        importlib.import_module(name)
    # The first use of the options would build their validator, and that of search engines a TLS context.
    importlib.import_module("sitemap_crawler.config.options").Options.model_rebuild()
    importlib.import_module("sitemap_crawler.utils.authorities").trusting_context(None)
    # It stands beside this file.
    importlib.import_module("killed_at")
    gc.freeze()


def _stop_heart() -> None:
    """Let no crawl be woken by Scrapy's heartbeat, which hides that something forgets to wake the engine."""
    engine = importlib.import_module("scrapy.core.engine").ExecutionEngine
    assert engine._SLOT_HEARTBEAT_INTERVAL == 5.0  # the attribute is not documented
    engine._SLOT_HEARTBEAT_INTERVAL = 1e6


def _answer(client: socket.socket, number: int) -> None:
    # The client may have ended.
    with contextlib.suppress(OSError):
        client.sendall(number.to_bytes(8, signed=True))


def _begin(client: socket.socket) -> int:
    """Read the job of a client and fork. Return the process ID of the fork."""
    text, streams, _, _ = socket.recv_fds(client, 65536, 3)
    while not text.endswith(b"\n"):
        text += client.recv(65536)
    pid = os.fork()
    if not pid:
        _be(json.loads(text), streams)
    for stream in streams:
        os.close(stream)
    return pid


def _be(job: dict[str, Any], streams: list[int]) -> None:
    """Be the command until its end."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if job.get("new_session"):
        os.setsid()
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["environment"])
    tempfile.tempdir = None  # it is that of the environment of the server
    # As `python -m` does.
    sys.path[0] = job["cwd"]
    sys.argv = ["sitemap-crawler", *job["arguments"]]
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, MAX_DESCRIPTOR)
    sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False))  # noqa: SIM115
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), encoding="utf-8")  # noqa: SIM115
    sys.stderr = io.TextIOWrapper(  # as Python does
        open(2, "wb", closefd=False),  # noqa: SIM115
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
    if job.get("killed_at") is not None:
        sys.modules["killed_at"].arm(job["killed_at"])
    code = 1
    try:
        if job.get("hook") is not None:
            _execute(job["hook"])
        main = importlib.import_module("sitemap_crawler.__main__").main
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    for output in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            output.flush()
    os._exit(code)


def _execute(path: str) -> None:
    """Execute a Python file. Its functions may become parts of the program."""
    loader = importlib.machinery.SourceFileLoader("hook", path)
    spec = importlib.util.spec_from_loader("hook", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["hook"] = module
    loader.exec_module(module)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
