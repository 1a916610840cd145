"""What a second run on an unchanged site costs, beside the first: seconds, bytes, requests answered with 304.

See README.md in this directory.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from machine import describe_machine, measured_process
from serving import serving
from sites import GENERATED, PACKAGED, default_site, site_root


def measure(url: str, *, concurrency: int) -> tuple[float, float, dict[str, int], dict[str, int]]:
    """Seconds and numbers of the report of a first run and of a second one, which must write the same bytes."""
    with tempfile.TemporaryDirectory(prefix="benchmark-recrawl-") as temporary:
        directory = Path(temporary)
        report = directory / "report.json"
        command = [sys.executable, "-m", "sitemap_crawler", "crawl", url, "-q", "--report", str(report)]
        command += ["-o", str(directory / "sitemaps"), "--state", str(directory / "state.sqlite")]
        command += ["--concurrency", str(concurrency)]
        runs = []
        for _ in range(2):
            seconds, _peak = measured_process(command, directory)
            found = json.loads(report.read_text(encoding="utf-8"))
            files = {path.name: path.read_bytes() for path in (directory / "sitemaps").iterdir()}
            runs.append(
                (seconds, {name: found[name] for name in ("requests", "not_modified", "bytes", "listed")}, files)
            )
        if runs[0][2] != runs[1][2]:
            raise SystemExit("the second run has written other bytes")
        return runs[0][0], runs[1][0], runs[0][1], runs[1][1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = "|".join((*PACKAGED, GENERATED))
    parser.add_argument("--site", default=default_site(), help=f"{names} or a directory (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="pairs of runs (default: %(default)s)")
    parser.add_argument("--concurrency", type=int, default=32, help="requests at a time (default: %(default)s)")
    parser.add_argument("--pages", type=int, default=2_000, help="size of a generated site (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of a generated site (default: %(default)s)")
    options = parser.parse_args()
    with site_root(options.site, pages=options.pages, seed=options.seed) as root, serving(root) as (url, server):
        print(f"{options.site} from {server}\n{describe_machine()}", flush=True)
        pairs = [measure(url, concurrency=options.concurrency) for _ in range(options.runs)]
    first, second = (statistics.median(pair[at] for pair in pairs) for at in (0, 1))
    print(f"first run  {first:6.2f} s {pairs[-1][2]}\nsecond run {second:6.2f} s {pairs[-1][3]}")
    print(f"ratio      {first / second:6.2f}")


if __name__ == "__main__":
    main()
