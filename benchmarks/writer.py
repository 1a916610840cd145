"""URLs per second of the writer, compared with a loop that only formats and writes the same bytes."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers import OURS
from machine import HERE, RunError, in_turn, median_ratio, print_progress, run_process
from table import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plan import Plan

IMAGES = (0, 3)
Run = tuple[float, float]
"""URLs per second of the writer, and of the whole process."""


def measure(plan: Plan) -> Iterator[Row]:
    for images in IMAGES:
        subject = f"{plan.writer_urls:,} URLs, {f'{images} images each' if images else 'no images'}"
        print_progress(subject)
        with tempfile.TemporaryDirectory(prefix="benchmark-writer-") as temporary:
            directory = Path(temporary)
            made = directory / "made.sqlite"
            arguments = [str(made), str(plan.writer_urls), str(images)]
            run_process([sys.executable, str(HERE / "made_inventory.py"), *arguments], directory)
            contestants = {
                OURS: lambda directory=directory: _ours(directory, plan.writer_urls),
                "bare loop": lambda directory=directory: _bare(directory, plan.writer_urls),
            }
            measured = in_turn(contestants, plan.runs)
        yield from _rows(subject, measured)


def _rows(subject: str, measured: dict[str, list[Run]]) -> Iterator[Row]:
    if OURS not in measured:
        return
    rates = {name: [rate for rate, _ in runs] for name, runs in measured.items()}
    remarks = {
        OURS: "the writer alone, from the decided inventory to published files",
        "bare loop": "from lists in memory, the same bytes; both with fsync and rename",
    }
    for name in rates:
        ratio = f"ours is {median_ratio(rates[OURS], rates[name]):.2f} times it" if name != OURS else ""
        yield Row("writer", subject, name, rates[name], "URLs/s", ratio, remarks[name])
    whole = [whole for _, whole in measured[OURS]]
    yield Row("writer", subject, f"{OURS} write", whole, "URLs/s", "", "the whole process: decides, checks, writes")


def _ours(directory: Path, urls: int) -> Run:
    """Run `write`, and leave the files for the bare loop to read."""
    state, output = directory / "state.sqlite", directory / "sitemaps"
    shutil.copy(directory / "made.sqlite", state)
    shutil.rmtree(output, ignore_errors=True)
    cost = run_process([sys.executable, str(HERE / "timed_write.py"), str(state), str(output)], directory)
    for file in directory.glob("state.sqlite*"):
        file.unlink()
    rate = _rate(directory, urls)
    return rate, urls / cost.seconds


def _bare(directory: Path, urls: int) -> Run:
    output = directory / "bare"
    shutil.rmtree(output, ignore_errors=True)
    command = [sys.executable, str(HERE / "bare_writer.py"), str(directory / "sitemaps"), str(output)]
    cost = run_process(command, directory)
    return _rate(directory, urls), urls / cost.seconds


def _rate(directory: Path, urls: int) -> float:
    """Return the rate by the JSON on the last line of the process's output."""
    output = (directory / "log.txt").read_text(encoding="utf-8")
    result = json.loads(output.splitlines()[-1])
    if result["listed"] != urls:
        raise RunError(f"{result['listed']:,} of {urls:,} URLs are listed:\n{output}")
    return urls / float(result["seconds"])
