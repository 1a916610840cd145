"""README.md and docs/: their fenced blocks, and the commands in these."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FENCE = re.compile(r"^(```+)([a-z]+)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: its language, as `sh`, and its text."""

    language: str
    text: str


class Example(NamedTuple):
    """A command of a `console` block, and what it prints."""

    command: str
    output: str


def documents() -> list[Path]:
    """Return README.md, the one of the benchmarks, and the pages of docs/."""
    pages = (path for path in (ROOT / "docs").rglob("*.md") if "_generated" not in path.parts)
    return [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted(pages)]


def name_of(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


def blocks(document: Path, language: str) -> list[Block]:
    text = document.read_text(encoding="utf-8")
    found = (Block(match[2], match[3]) for match in FENCE.finditer(text))
    return [block for block in found if block.language == language]


def commands(block: Block) -> list[str]:
    """Return the commands of an `sh` block: lines without comments, continued lines as one.

    A quotation that spans lines belongs to one command.
    """
    return list(_commands(block.text.replace("\\\n", " ")))


def _commands(text: str) -> Iterator[str]:
    command = ""
    for line in text.splitlines():
        command = f"{command}\n{line}" if command else line.strip()
        if command.count("'") % 2:
            continue
        if command and not command.startswith("#"):
            yield re.sub(r"\s+#\s.*$", "", command)
        command = ""


def examples(block: Block) -> list[Example]:
    """Return the commands of a `console` block, which begin with `$ `, with their output."""
    parts = re.split(r"(?m)^\$ ", block.text)
    return [Example(command, output) for command, _, output in (part.partition("\n") for part in parts[1:])]
