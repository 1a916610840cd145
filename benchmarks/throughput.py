"""Pages per second of this crawler and of a stock Scrapy spider on the same site, whole process against whole process.

See README.md in this directory.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from machine import HERE, describe_machine, measured_process
from serving import serving
from sites import GENERATED, PACKAGED, default_site, site_root

if TYPE_CHECKING:
    from collections.abc import Callable

PLAUSIBLE = 0.02  # how far the numbers of requests may lie apart before the comparison is called doubtful


@dataclass(frozen=True, slots=True)
class Run:
    seconds: float  # wall time of the process, start-up included
    peak: int  # resident set, bytes
    requests: int
    listed: int

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


def ours(url: str, concurrency: int, directory: Path) -> list[str]:
    files = ["-o", str(directory / "sitemaps"), "--state", str(directory / "state.sqlite")]
    options = ["--concurrency", str(concurrency), "--report", str(directory / "report.json"), "-q"]
    return [sys.executable, "-m", "sitemap_crawler", "crawl", url, *files, *options]


def stock(url: str, concurrency: int, directory: Path) -> list[str]:
    settings = {
        "CONCURRENT_REQUESTS": concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
        "ROBOTSTXT_OBEY": False,
        "LOG_LEVEL": "ERROR",
    }
    options = [f"-s{name}={value}" for name, value in settings.items()]
    arguments = ["-a", f"url={url}", "-a", f"report={directory / 'report.json'}", "-O", str(directory / "items.jsonl")]
    return [sys.executable, "-m", "scrapy", "runspider", str(HERE / "stock_spider.py"), *arguments, *options]


CRAWLERS: dict[str, Callable[[str, int, Path], list[str]]] = {"sitemap-crawler": ours, "stock-scrapy": stock}


def measure(name: str, url: str, concurrency: int) -> Run:
    """Crawl once, with nothing left from earlier runs."""
    with tempfile.TemporaryDirectory(prefix="benchmark-run-") as temporary:
        directory = Path(temporary)
        seconds, peak = measured_process(CRAWLERS[name](url, concurrency, directory), directory)
        report = json.loads((directory / "report.json").read_text(encoding="utf-8"))
    return Run(seconds, peak, report["requests"], report["listed"])


def measure_all(names: list[str], url: str, *, concurrency: int, runs: int) -> dict[str, list[Run]]:
    """Run in turn, so that whatever else the machine does meets all alike; the first round is not counted."""
    measured: dict[str, list[Run]] = {name: [] for name in names}
    for round_number in range(runs + 1):
        for name in names:
            run = measure(name, url, concurrency)
            label = f"run {round_number}" if round_number else "warm-up"
            print(f"  {label:8} {name:16} {run.seconds:7.2f} s {run.rate:9.1f} pages/s", file=sys.stderr, flush=True)
            if round_number:
                measured[name].append(run)
    return measured


def print_table(measured: dict[str, list[Run]]) -> None:
    print(f"\n{'':16} {'pages/s':>9} {'(lowest - highest)':>20} {'peak RSS':>9} {'requests':>9} {'listed':>9}")
    for name, runs in measured.items():
        rates = [run.rate for run in runs]
        spread = f"({min(rates):.1f} - {max(rates):.1f})"
        peak = statistics.median(run.peak for run in runs) / 1e6
        last = runs[-1]
        print(
            f"{name:16} {statistics.median(rates):9.1f} {spread:>20} {peak:6.0f} MB {last.requests:9,} {last.listed:9,}"
        )
    if len(measured) == len(CRAWLERS):
        print_comparison(*measured.values())


def print_comparison(first: list[Run], second: list[Run]) -> None:
    ratio = statistics.median(run.rate for run in first) / statistics.median(run.rate for run in second)
    print(f"{'ratio':16} {ratio:9.2f}")
    counts = [run.requests for run in (*first, *second)]
    if max(counts) - min(counts) > PLAUSIBLE * max(counts):
        print(f"Doubtful: the runs made between {min(counts):,} and {max(counts):,} requests.")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = "|".join((*PACKAGED, GENERATED))
    parser.add_argument("--site", default=default_site(), help=f"{names} or a directory (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="counted runs of each crawler (default: %(default)s)")
    parser.add_argument("--concurrency", type=int, default=32, help="requests at a time (default: %(default)s)")
    parser.add_argument("--only", choices=CRAWLERS, help="measure one crawler")
    parser.add_argument("--pages", type=int, default=2_000, help="size of a generated site (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of a generated site (default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    names = [options.only] if options.only else list(CRAWLERS)
    with site_root(options.site, pages=options.pages, seed=options.seed) as root, serving(root) as (url, server):
        sizes = [file.stat().st_size for file in root.rglob("*.html")]
        print(f"{options.site}: {len(sizes):,} HTML files of {sum(sizes) / len(sizes) / 1e3:.0f} kB, from {server}")
        print(describe_machine())
        print(f"concurrency {options.concurrency}, median of {options.runs} runs after a warm-up", flush=True)
        measured = measure_all(names, url, concurrency=options.concurrency, runs=options.runs)
    print_table(measured)


if __name__ == "__main__":
    main()
