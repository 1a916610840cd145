"""All findings of a validation in temporary files, for the forms of the report that leave none out.

Memory does not grow with their number. Each process writes a file of its own.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import astuple
from typing import TYPE_CHECKING

from sitemap_crawler.validation.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class FindingLog:
    """Findings in a file: a JSON array on each line."""

    def __init__(self, path: Path) -> None:
        """Create the file, which must not exist."""
        self._path = path
        self._file = path.open("x", encoding="ascii")

    def add(self, finding: Finding) -> None:
        self._file.write(json.dumps(astuple(finding), separators=(",", ":")) + "\n")

    def take(self, path: Path) -> None:
        """Add the findings of a closed log, and remove its file."""
        with path.open(encoding="ascii") as other:
            shutil.copyfileobj(other, self._file)
        path.unlink()

    def __iter__(self) -> Iterator[Finding]:
        self._file.flush()
        with self._path.open(encoding="ascii") as lines:
            for line in lines:
                yield Finding(*json.loads(line))

    def close(self) -> None:
        self._file.close()


def discard_log(path: Path) -> None:
    """Remove the file of a log that its process has not completed."""
    path.unlink(missing_ok=True)
