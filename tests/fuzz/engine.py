"""Targets, their corpus, and the check of one input."""

from __future__ import annotations

import gc
import pickle
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from tests.fuzz.mutation import Mutator, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CORPUS = Path(__file__).parent / "corpus"
MAX_SHOWN_BYTES = 500
"""Maximum number of bytes of an input that a failure prints. A longer input is in its file."""
MIN_COUNTED_BYTES = 500
"""Number of bytes of an input from which the calls of functions are counted."""


class PropertyError(AssertionError):
    """A property does not hold for an input."""


@dataclass(frozen=True, slots=True)
class Target:
    """A reader, with the properties that hold for each input."""

    name: str
    check: Callable[[bytes], Any]
    """Function that reads an input, checks its properties and returns what was read. It may not have a memory."""
    modules: str | None = None
    """Pattern of the paths of its modules in the package, whose words are put into inputs."""
    made: Callable[[], list[bytes]] = list
    """Function that returns further inputs, such as compressed ones, which are no files."""
    max_calls: tuple[int, int] = (50_000, 500)
    """Maximum number of calls of functions for an input, and for each of its bytes."""
    max_output: tuple[int, int] = (100_000, 100)
    """Maximum size of the pickled output in bytes for an input, and for each of its bytes."""

    def corpus(self) -> list[bytes]:
        """Return the files of the corpus in the order of their names, then the made inputs."""
        return [path.read_bytes() for path in self.files()] + self.made()

    def files(self) -> list[Path]:
        return sorted((CORPUS / self.name).iterdir())

    def inputs(self, seed: int) -> Iterator[bytes]:
        """Yield mutated inputs without end. The same seed and corpus give the same inputs."""
        random = Random(f"{self.name} {seed}")
        corpus = self.corpus()
        mutator = Mutator(random, corpus, words_of(self.modules) if self.modules is not None else ())
        while True:
            yield mutator.mutated(random.choice(corpus))


def check(target: Target, data: bytes) -> None:
    """Check the target's own properties of an input, that it gives the same output twice, and how much it takes."""
    first = pickle.dumps(target.check(data))
    counter = _Calls()
    # Counting takes three times as long, and a short input shows no growth.
    with counter if len(data) >= MIN_COUNTED_BYTES else nullcontext():
        output = target.check(data)
    second = pickle.dumps(output)
    if first != second:
        raise PropertyError("the same input gives another output")
    base, each = target.max_calls
    if counter.number > base + each * len(data):
        raise PropertyError(f"{counter.number:,} calls for {len(data):,} bytes")
    base, each = target.max_output
    if len(second) > base + each * len(data):
        raise PropertyError(f"{len(second):,} bytes of output for {len(data):,} bytes")


class _Calls:
    """Counter of the calls of functions, those in C included."""

    def __init__(self) -> None:
        self.number = 0

    def __enter__(self) -> None:
        # Finalisers of garbage of earlier inputs would count.
        gc.disable()
        sys.setprofile(self._count)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        gc.enable()

    def _count(self, _frame: object, event: str, _argument: object) -> None:
        if event in ("call", "c_call"):
            self.number += 1


def smaller(target: Target, data: bytes, error: BaseException, *, attempts: int = 2_000) -> bytes:
    """Return a small part of an input that fails in the same way."""
    wanted = _kind(error)
    size = len(data) // 2
    while size and attempts > 0:
        position = 0
        while position < len(data) and attempts > 0:
            candidate = data[:position] + data[position + size :]
            attempts -= 1
            try:
                check(target, candidate)
            except Exception as other:
                if _kind(other) == wanted:
                    data = candidate
                    continue
            position += size
        size //= 2
    return data


def _kind(error: BaseException) -> tuple[str, str, int]:
    """Return the type of an exception and the place that raised it."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = (frame.tb_frame.f_code.co_filename, frame.tb_lineno) if frame is not None else ("", 0)
    return type(error).__name__, *place


def described(data: bytes) -> str:
    return repr(data) if len(data) <= MAX_SHOWN_BYTES else f"{data[:MAX_SHOWN_BYTES]!r}… ({len(data):,} bytes)"
