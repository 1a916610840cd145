"""Temporary files of a validation: sitemaps from the web or from standard input, and numbers of all files."""

from __future__ import annotations

import tempfile
from array import array
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import UnreadableError
from sitemap_crawler.utils.shortage import raise_shortage
from sitemap_crawler.validation.reading.stream import MAX_RAW_BYTES, PIECE_BYTES

if TYPE_CHECKING:
    from types import TracebackType

    from sitemap_crawler.validation.reading.stream import Readable

MAX_SPOOLED_BYTES = 10 * 1024**3
"""Maximum number of bytes of all files together: those of two hundred full sitemaps."""
MAX_NUMBERS_BYTES = 16 * 1024**2
"""Maximum number of bytes of numbers that are in memory; more of them are in a file."""


class Spool:
    """Temporary directory with files that are read more than once. The directory is removed at the end."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._directory: Path | None = None
        self._bytes = 0
        self._files = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def new_path(self) -> Path:
        """Return the path of a file that does not exist yet."""
        if self._directory is None:
            made = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="sitemap-crawler-"))
            self._directory = Path(made)
        self._files += 1
        return self._directory / str(self._files)

    def store(self, source: Readable) -> Path:
        """Copy a file, but only a little more than a sitemap may have, so that its size is judged like that of others.

        Raises UnreadableError.
        """
        path = self.new_path()
        size = 0
        try:
            with path.open("xb") as file:
                while size <= MAX_RAW_BYTES and (piece := source.read(PIECE_BYTES)):
                    size += len(piece)
                    if self._bytes + size > MAX_SPOOLED_BYTES:
                        message = f"was not checked: all downloads together have more than {MAX_SPOOLED_BYTES:,} bytes"
                        raise UnreadableError("not-checked", message)
                    file.write(piece)
        except OSError as exc:
            raise_shortage(exc)
            message = f"was not checked: it cannot be stored in {path.parent}: {exc.strerror}"
            raise UnreadableError("not-checked", message) from None
        self._bytes += size
        return path

    def numbers(self) -> Numbers:
        """Return an empty collection that ends with the spool."""
        numbers = Numbers()
        self._stack.callback(numbers.close)
        return numbers


class Numbers:
    """Whole numbers of 64 bits, an array for each file, on disk if they are many."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(MAX_NUMBERS_BYTES)  # noqa: SIM115 - `close` closes it
        self._places: list[tuple[int, int]] = []

    def append(self, numbers: array[int]) -> None:
        """Add the array of the next file."""
        start = self._file.seek(0, 2)
        self._file.write(numbers.tobytes())
        self._places.append((start, len(numbers)))

    def count(self, position: int) -> int:
        """Return the length of an array."""
        return self._places[position][1]

    def __getitem__(self, position: int) -> array[int]:
        start, count = self._places[position]
        numbers = array("q")
        self._file.seek(start)
        numbers.frombytes(self._file.read(count * numbers.itemsize))
        return numbers

    def close(self) -> None:
        self._file.close()
