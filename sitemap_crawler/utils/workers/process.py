"""A worker process, seen from the inside: its start by fork, its loop over tasks, the messages on the connection."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import traceback
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from sitemap_crawler.utils.runtime import parent_death_signal
from sitemap_crawler.utils.shortage import Shortage, shortage_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_MESSAGE, MAX_TRACEBACK = 1_000, 10_000
"""Maximum lengths in characters of the message and the traceback of an exception that is sent to the parent."""
_LENGTH_BYTES = 8
"""Size of the number in front of each message that gives its length in bytes."""
_RECEIVE_BYTES = 1 << 20
_IGNORED_SIGNALS = frozenset((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))


class Failure(NamedTuple):
    """An exception of the work, as it is sent to the parent."""

    message: str
    traceback: str
    shortage: Shortage | None


def start_worker(work: Callable[[Any], Any], prepare: Callable[[], None]) -> tuple[int, socket.socket]:
    """Fork a worker and return its process id and the parent's end of the connection. Raises OSError.

    The first message on the connection says that the worker is ready.
    """
    ours, theirs = socket.socketpair()
    # The parent's signal handlers would run in a child that has not begun to ignore signals yet.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _IGNORED_SIGNALS)
    try:
        with warnings.catch_warnings():
            # Python warns of forks in a process with threads. The threads here look up hosts and hold no lock that the
            # child needs.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if not pid:
            _run_worker(theirs, mask, work, prepare)
    except OSError:
        ours.close()
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        theirs.close()
    return pid, ours


def _run_worker(
    connection: socket.socket, mask: Any, work: Callable[[Any], Any], prepare: Callable[[], None]
) -> NoReturn:
    status = 1
    try:
        # Ctrl-C and the signals of a service manager reach all processes, but only the parent has to act on them.
        signal.set_wakeup_fd(-1)
        for number in _IGNORED_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        parent_death_signal(signal.SIGKILL)()
        _close_other_files(connection.fileno())
        prepare()
        connection.sendall(b"".join(encode(None)))
        _serve(connection, work)
        status = 0
    finally:
        # The child must not flush, close or print anything that belongs to the parent.
        os._exit(status)


def _close_other_files(kept: int) -> None:
    """Close the parent's files but one: its locks, files and pipes would stay open as long as the worker lives."""
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    os.close(null)


def _serve(connection: socket.socket, work: Callable[[Any], Any]) -> None:
    received = bytearray()
    try:
        while data := connection.recv(_RECEIVE_BYTES):
            received += data
            del data
            for task in received_messages(received):
                # Each answer is sent alone: when the process dies, the first task without an answer is the cause.
                connection.sendall(b"".join(_answer(work, task)))
    except ConnectionError:
        # The parent has gone.
        return


def _answer(work: Callable[[Any], Any], task: Any) -> tuple[bytes, bytes]:
    try:
        return encode(work(task))
    except Exception as error:
        message = "".join(traceback.format_exception_only(error)).strip()
        return encode(Failure(message[:MAX_MESSAGE], traceback.format_exc()[-MAX_TRACEBACK:], shortage_of(error)))


def encode(message: Any) -> tuple[bytes, bytes]:
    """Return a message as two pieces, its length and its pickle, so that a long pickle need not be copied."""
    pickled = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return len(pickled).to_bytes(_LENGTH_BYTES, "little"), pickled


def received_messages(received: bytearray) -> Iterator[Any]:
    """Yield the messages that are complete, and remove each one from the buffer before it is used: it may be long."""
    while len(received) >= _LENGTH_BYTES:
        end = _LENGTH_BYTES + int.from_bytes(received[:_LENGTH_BYTES], "little")
        if end > len(received):
            break
        with memoryview(received) as view:
            message = pickle.loads(view[_LENGTH_BYTES:end])  # noqa: S301 - a process of this program has sent it
        del received[:end]
        yield message
        del message
