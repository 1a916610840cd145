"""The other process: what a worker is once it is forked, and how the two speak."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import traceback
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from sitemap_crawler.utils.runtime import parent_death_signal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_WORDS, MAX_TRACEBACK = 1_000, 10_000
"""Characters of an exception."""
_LENGTH = 8
"""Bytes before each message that say how long it is."""
_CHUNK = 1 << 20
_SIGNALS = frozenset((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))


class Failure(NamedTuple):
    words: str
    traceback: str


def start_worker(work: Callable[[Any], Any], prepare: Callable[[], None]) -> tuple[int, socket.socket]:
    """Its process id, and our end of the connection, on which it says first that it is ready. Raises OSError."""
    ours, theirs = socket.socketpair()
    # A signal that comes before the child ignores it would be handled there by what the parent has installed.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        with warnings.catch_warnings():
            # Python warns of forks beside threads. Ours look up hosts, and hold nothing that the child uses.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if not pid:
            _be_worker(theirs, mask, work, prepare)
    except OSError:
        ours.close()
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        theirs.close()
    return pid, ours


def _be_worker(
    connection: socket.socket, mask: Any, work: Callable[[Any], Any], prepare: Callable[[], None]
) -> NoReturn:
    status = 1
    try:
        # Whoever stops the crawl, by Ctrl-C or for all processes of a service, means the parent to do so.
        signal.set_wakeup_fd(-1)
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        parent_death_signal(signal.SIGKILL)()
        _let_go_of_files(connection.fileno())
        prepare()
        # It is ready.
        connection.sendall(b"".join(framed(None)))
        _serve(connection, work)
        status = 0
    finally:
        # Nothing of the parent's may be flushed, closed or told here.
        os._exit(status)


def _let_go_of_files(kept: int) -> None:
    """Locks, files and pipes would live as long as the worker does."""
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    os.close(null)


def _serve(connection: socket.socket, work: Callable[[Any], Any]) -> None:
    received = bytearray()
    try:
        while data := connection.recv(_CHUNK):
            received += data
            del data
            for task in taken_from(received):
                # One by one: of a process that dies, the first task without an answer is the one that it died over.
                connection.sendall(b"".join(_answer(work, task)))
    except ConnectionError:
        # The parent has gone.
        return


def _answer(work: Callable[[Any], Any], task: Any) -> tuple[bytes, bytes]:
    try:
        return framed(work(task))
    except Exception as error:
        words = "".join(traceback.format_exception_only(error)).strip()
        return framed(Failure(words[:MAX_WORDS], traceback.format_exc()[-MAX_TRACEBACK:]))


def framed(message: Any) -> tuple[bytes, bytes]:
    pickled = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(pickled).to_bytes(_LENGTH, "little"), pickled


def taken_from(received: bytearray) -> Iterator[Any]:
    """The messages that are there as a whole; each is removed before it is looked at, for it may be long."""
    while len(received) >= _LENGTH:
        end = _LENGTH + int.from_bytes(received[:_LENGTH], "little")
        if end > len(received):
            break
        with memoryview(received) as view:
            message = pickle.loads(view[_LENGTH:end])  # noqa: S301 - it is from a process of our own
        del received[:end]
        yield message
        del message
