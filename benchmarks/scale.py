"""Memory, speed and disk of a crawl of 100,000 pages beside one of 1,000,000, and of a second run of each.

See README.md in this directory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from endless import STEP
from machine import HERE, describe_machine, measured_process

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARE = 0.1  # of the pages, at the start and at the end, whose rates are compared
EDGE = 0.02  # of the pages that are left out there: start-up, and the last answers


@dataclass(frozen=True, slots=True)
class Run:
    pages: int
    name: str
    seconds: float
    peak: int  # resident set, bytes
    start_rate: float  # pages per second
    end_rate: float
    inventory: int  # bytes
    report: dict[str, Any]


@contextmanager
def serving(pages: int) -> Iterator[str]:
    command = [sys.executable, str(HERE / "endless.py"), str(pages)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/"
        finally:
            process.terminate()


def measure(pages: int, *, concurrency: int) -> Iterator[Run]:
    """The first crawl of a site, and a second one that finds nothing changed."""
    with serving(pages) as url, tempfile.TemporaryDirectory(prefix="benchmark-scale-") as temporary:
        directory = Path(temporary)
        state, report = directory / "state.sqlite", directory / "report.json"
        command = [sys.executable, "-m", "sitemap_crawler", "crawl", url, "-q"]
        command += ["-o", str(directory / "sitemaps"), "--state", str(state), "--report", str(report)]
        command += ["--concurrency", str(concurrency)]
        seen = 0
        for name in ("first run", "second run"):
            seconds, peak = measured_process(command, directory)
            with urlopen(f"{url}times") as answer:
                times = json.load(answer)
            rates = _rates(times[seen:])
            seen = len(times)
            size = state.stat().st_size
            yield Run(pages, name, seconds, peak, *rates, size, json.loads(report.read_text(encoding="utf-8")))


def _rates(times: list[float]) -> tuple[float, float]:
    edge, share = max(1, int(len(times) * EDGE)), max(1, int(len(times) * SHARE))
    start, end = times[edge : edge + share + 1], times[-edge - share - 1 : -edge]
    return tuple(STEP * (len(part) - 1) / (part[-1] - part[0]) for part in (start, end))


def show(run: Run) -> None:
    report = run.report
    print(
        f"{run.pages:>9,} {run.name:<10} {run.seconds:8.1f} s {run.peak / 1e6:6.0f} MB peak"
        f" {run.start_rate:7.0f} pages/s at the start {run.end_rate:7.0f} at the end"
        f" {run.inventory / run.pages:5.0f} B/URL, listed {report['listed']:,}, {report['not_modified']:,} x 304,"
        f" {report['bytes']:,} bytes, {report['outcome']}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", type=int, nargs="*", default=[100_000, 1_000_000], help="sizes of the site")
    parser.add_argument("--concurrency", type=int, default=32, help="requests at a time (default: %(default)s)")
    options = parser.parse_args()
    print(describe_machine(), flush=True)
    for pages in options.pages:
        for run in measure(pages, concurrency=options.concurrency):
            show(run)


if __name__ == "__main__":
    main()
