"""URLs per second of `validate`, compared with a bare loop of lxml over the same files, and its peak memory."""

from __future__ import annotations

import random
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers import OURS
from machine import in_turn, median_ratio, print_progress, run_process
from table import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from machine import Cost
    from plan import Plan

CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
IMAGE = "http://www.google.com/schemas/sitemap-image/1.1"
SHARDS = (4, 20)
"""Number of files of the set that is timed, and of the one whose memory is measured."""
TIMED = """
import os, sys, time
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[1])])
from sitemap_crawler.validation.targets import validate
started = time.perf_counter()
report = validate(sys.argv[2])
print(report.statistics["total_urls"], len(report.findings), time.perf_counter() - started)
"""
BARE = f"""
import os, pathlib, sys, time
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
from lxml import etree
started = time.perf_counter()
urls = 0
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    for _, element in etree.iterparse(path, tag="{{{CORE}}}url"):
        urls += 1
        element.clear()
print(urls, 0, time.perf_counter() - started)
"""


def measure(plan: Plan) -> Iterator[Row]:
    size = plan.validated_urls
    with tempfile.TemporaryDirectory(prefix="benchmark-validation-") as temporary:
        directory = Path(temporary)
        yield from _speed(plan, directory, size)
        yield from _memory(directory, size)


def _speed(plan: Plan, directory: Path, size: int) -> Iterator[Row]:
    made = directory / "timed"
    make_set(made, SHARDS[0], size)
    subject = f"{SHARDS[0]} files of {size:,} plain URLs with lastmod"
    print_progress(subject)
    names = (f"{OURS} on one core", f"{OURS} on two cores", "bare loop on one core")
    contestants: dict[str, Callable[[], float]] = {
        names[0]: lambda: _rate(directory, TIMED, "1", str(made)),
        names[1]: lambda: _rate(directory, TIMED, "2", str(made)),
        names[2]: lambda: _rate(directory, BARE, str(made)),
    }
    rates = in_turn(contestants, plan.runs)
    one, two, bare = (rates.get(name) for name in names)
    if not one:
        return
    yield Row("validation", subject, names[0], one, "URLs/s")
    if two:
        ratio = f"{median_ratio(two, one):.2f} times one core"
        yield Row("validation", subject, names[1], two, "URLs/s", ratio)
    if bare:
        ratio = f"ours is {median_ratio(one, bare):.2f} times it"
        yield Row("validation", subject, names[2], bare, "URLs/s", ratio, "lxml.etree.iterparse, no check at all")


def _memory(directory: Path, size: int) -> Iterator[Row]:
    large, wrong = directory / "large", directory / "wrong"
    make_set(large, SHARDS[1], size)
    wrong.mkdir()
    make_wrong(wrong / "sitemap.xml", size, 20)
    for subject, target in (
        (f"{SHARDS[1] * size:,} URLs in {SHARDS[1]} files", large),
        (f"{20 * size:,} findings in one file", wrong),
    ):
        print_progress(subject)
        command = [sys.executable, "-m", "sitemap_crawler", "validate", str(target)]
        cost: Cost = run_process(command, directory, codes=(0, 1))
        remarks = f"{cost.seconds:.1f} s, {cost.cpu_seconds:.1f} s of processor time"
        yield Row("validation", subject, OURS, [cost.peak_bytes / 1e6], "MB", "", remarks)


def _rate(directory: Path, code: str, *arguments: str) -> float:
    """Return the URLs per second that a process prints."""
    run_process([sys.executable, "-c", code, *arguments], directory)
    urls, _, seconds = (directory / "log.txt").read_text(encoding="utf-8").split()[-3:]
    return int(urls) / float(seconds)


def make_set(directory: Path, files: int, size: int) -> None:
    """Write sitemaps as WordPress writes them: each entry with a URL and a time."""
    directory.mkdir()
    dice = random.Random(1)
    for number in range(files):
        with (directory / f"sitemap-{number + 1}.xml").open("w", encoding="utf-8") as file:
            file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{CORE}">\n')
            for page in range(size):
                moment = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=dice.randrange(50_000_000))
                loc = f"https://www.example.com/section-{page % 50}/a-page-with-a-title-{number}-{page}/"
                file.write(f"<url>\n<loc>{loc}</loc>\n<lastmod>{moment.isoformat()}</lastmod>\n</url>\n")
            file.write("</urlset>\n")


def make_wrong(path: Path, size: int, findings: int) -> None:
    """Write a sitemap in which each entry has several findings."""
    with path.open("w", encoding="utf-8") as file:
        file.write(f'<urlset xmlns="{CORE}" xmlns:image="{IMAGE}">\n')
        for page in range(size):
            images = "<image:image/>" * findings
            file.write(f"<url><loc>https://www.example.com/{page}</loc>{images}</url>\n")
        file.write("</urlset>\n")
