"""Runs of the command in forks of a process that has imported the program: imports would take half of the test time.

A fork has the directory, environment, arguments and streams of the run, as a process of its own would; what an
interpreter reads of its environment when it starts, it does not see. `/proc` shows the arguments and the environment of
the server.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

READ_AT_START = ("PYTHON", "LANG", "LC_", "LD_", "MALLOC_", "TZ", "SSL_CERT_")
"""Beginnings of the names of variables that an interpreter, or aiohttp with its TLS context, reads when it starts."""

SERVER, CLIENT = (Path(__file__).with_name(f"fork_{name}.py") for name in ("server", "client"))
START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Job:
    """A run of the command."""

    arguments: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    hook: Path | None = None
    """Python file that is executed before the command."""
    killed_at: int | None = None
    """Number of the commit or rename just before which the command kills itself."""
    new_session: bool = False

    def to_json(self) -> bytes:
        fields = {
            "arguments": list(self.arguments),
            "cwd": str(self.cwd),
            "environment": dict(self.environment),
            "hook": None if self.hook is None else str(self.hook),
            "killed_at": self.killed_at,
            "new_session": self.new_session,
        }
        return json.dumps(fields).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str


class Fork:
    """A run in a fork, with the attributes and methods of `subprocess.Popen` in text mode."""

    def __init__(
        self, job: Job, server: str, *, stdin: int | None = None, stdout: int | None = None, stderr: int | None = None
    ) -> None:
        """Begin a run. The streams are as for `subprocess.Popen`; the standard input is empty if none is given."""
        self.returncode: int | None = None
        self.stdin: IO[str] | None = None
        self.stdout: IO[str] | None = None
        self.stderr: IO[str] | None = None
        with contextlib.ExitStack() as given, socket.socket(socket.AF_UNIX) as client:
            null = os.open(os.devnull, os.O_RDWR)
            given.callback(os.close, null)
            streams = [null, 1, 2]
            for number, stream in enumerate((stdin, stdout, stderr)):
                if stream == subprocess.PIPE:
                    reading, writing = os.pipe()
                    theirs, ours = (writing, reading) if number else (reading, writing)
                    given.callback(os.close, theirs)
                    streams[number] = theirs
                    self._open(number, ours)
                elif stream == subprocess.DEVNULL:
                    streams[number] = null
                elif stream == subprocess.STDOUT:
                    streams[number] = streams[1]
                elif stream is not None:
                    streams[number] = stream
            client.connect(server)
            text = job.to_json()
            sent = socket.send_fds(client, [text], streams)
            if sent < len(text):
                # Otherwise the run may have ended: even sending nothing would fail.
                client.sendall(text[sent:])
            self._answers = client.detach()
        weakref.finalize(self, os.close, self._answers)
        self._lock = threading.Lock()
        pid = self._answer(START_SECONDS)
        assert pid is not None, f"the fork server has not answered in {START_SECONDS} seconds"
        self.pid = pid

    def _open(self, number: int, pipe: int) -> None:
        if number == 0:
            self.stdin = os.fdopen(pipe, "w", encoding="utf-8")
        elif number == 1:
            self.stdout = os.fdopen(pipe, encoding="utf-8")
        else:
            self.stderr = os.fdopen(pipe, encoding="utf-8")

    def _answer(self, timeout: float | None) -> int | None:
        """Return the next number that the server sends. None if it does not come in time."""
        if not select.select([self._answers], [], [], timeout)[0]:
            return None
        number = os.read(self._answers, 8)
        assert number, "the fork server has ended"
        return int.from_bytes(number, signed=True)

    def poll(self) -> int | None:
        # A thread may kill the run while another one waits for its end.
        with self._lock:
            if self.returncode is None:
                self.returncode = self._answer(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit status. Raises subprocess.TimeoutExpired."""
        while (code := self.poll()) is None:
            if not select.select([self._answers], [], [], timeout)[0] and self.poll() is None:
                raise subprocess.TimeoutExpired("sitemap-crawler", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None, *, text: str = "") -> tuple[str, str]:
        """Write the text, read both outputs to their ends, and wait. Raises subprocess.TimeoutExpired."""
        texts = ["", ""]

        def read(number: int, stream: IO[str]) -> None:
            texts[number] = stream.read()

        readers = [
            threading.Thread(target=read, args=(number, stream), daemon=True)
            for number, stream in enumerate((self.stdout, self.stderr))
            if stream is not None and not stream.closed
        ]
        for reader in readers:
            reader.start()
        if self.stdin is not None:
            # The command may end before it has read all.
            with contextlib.suppress(BrokenPipeError), self.stdin as stdin:
                stdin.write(text)
        for reader in readers:
            reader.join(timeout)
            if reader.is_alive():
                raise subprocess.TimeoutExpired("sitemap-crawler", timeout or 0)
        self.wait(timeout)
        self._close()
        return texts[0], texts[1]

    def _close(self) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()

    def __enter__(self) -> Fork:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        self.wait()


class Forks:
    """Client of a fork server, one for each test process. The server ends with the test process."""

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="forks-")
        self.path = f"{self._directory.name}/server"
        """Path of the socket of the server."""
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path)
            listener.listen(64)
            self._server = subprocess.Popen(
                [sys.executable, str(SERVER), str(listener.fileno())],
                stdin=subprocess.PIPE,
                pass_fds=[listener.fileno()],
            )

    def close(self) -> None:
        with self._server, self._directory:
            pass

    def shell_command(self) -> str:
        """Return the beginning of a shell command that runs the program in a fork."""
        return shlex.join([sys.executable, "-I", "-S", str(CLIENT), self.path])

    def start(
        self, job: Job, *, stdin: int | None = None, stdout: int | None = None, stderr: int | None = None
    ) -> Fork:
        return Fork(job, self.path, stdin=stdin, stdout=stdout, stderr=stderr)

    def run(self, job: Job, *, timeout: float) -> Done:
        """Run the command to its end, of which nothing but the command has to end.

        Raises subprocess.TimeoutExpired.
        """
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            running = self.start(job, stdin=subprocess.DEVNULL, stdout=out.fileno(), stderr=err.fileno())
            try:
                code = running.wait(timeout)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()
                raise
            out.seek(0)
            err.seek(0)
            return Done(code, out.read().decode(), err.read().decode())
