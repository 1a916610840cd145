"""The cost of publishing one page of a large site with `update`: seconds, processor time, memory, files written."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from machine import HERE, RunError, print_progress, run_process
from serving import serving
from table import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from machine import Cost
    from plan import Plan

PROGRAM = [sys.executable, "-m", "sitemap_crawler"]
PAGE = "<!DOCTYPE html><title>{0}</title><main><h1>{0}</h1><p>{1}</p></main>"
CASES = ("a new page", "a changed page", "a page that has not changed", "a page that is gone", "write, for comparison")


def measure(plan: Plan) -> Iterator[Row]:
    for pages in plan.updated_pages:
        subject = f"one of {pages:,} listed pages"
        print_progress(subject)
        with tempfile.TemporaryDirectory(prefix="benchmark-update-") as temporary:
            yield from _measure(Path(temporary), pages, subject, runs=plan.runs)


def _measure(directory: Path, pages: int, subject: str, *, runs: int) -> Iterator[Row]:
    root, state = directory / "site", directory / "state.sqlite"
    root.mkdir()
    (root / "index.html").write_text(PAGE.format("Start", "Start"), encoding="utf-8")
    costs: dict[str, list[tuple[Cost, int]]] = {case: [] for case in CASES}
    with serving(root) as served:
        output = str(directory / "sitemaps")
        made = [str(state), str(pages), "1", served.url, output]
        run_process([sys.executable, str(HERE / "made_inventory.py"), *made], directory)
        run_process([*PROGRAM, "write", "--state", str(state), "-q"], directory)
        for turn in range(runs):
            for case, cost, report in _round(root, directory, served.url, pages, turn):
                written = sum(file["written"] for file in report["files"])
                costs[case].append((cost, written))
                print_progress(f"  run {turn + 1} {case}: {cost.seconds:.2f} s, {cost.memory}, {written} files")
    for case, measured in costs.items():
        seconds = [cost.seconds for cost, _ in measured]
        cpu = sorted(cost.cpu_seconds for cost, _ in measured)[len(measured) // 2]
        largest = max((cost for cost, _ in measured), key=lambda cost: cost.peak_bytes)
        written = max(files for _, files in measured)
        remarks = f"{cpu:.1f} s of processor time, {largest.memory}, {written} files written; the whole process"
        yield Row("update", subject, case, seconds, "s", "", remarks)


def _round(root: Path, directory: Path, url: str, pages: int, turn: int) -> Iterator[tuple[str, Cost, dict[str, Any]]]:
    """Add, change, repeat and remove one page, then publish everything, which must change nothing."""
    path = f"section-{turn}/a-new-article-{pages}.html"
    file = root / path
    file.parent.mkdir(exist_ok=True)
    for case, action, text in (
        (CASES[0], "add", "new"),
        (CASES[1], "update", "changed"),
        (CASES[2], "update", "changed"),
        (CASES[3], "remove", None),
    ):
        if text is None:
            file.unlink()
        else:
            file.write_text(PAGE.format(path, text), encoding="utf-8")
        state = str(directory / "state.sqlite")
        cost = run_process([*PROGRAM, "update", action, url + path, "--state", state, "--json"], directory)
        report = json.loads((directory / "log.txt").read_text(encoding="utf-8"))
        wanted = {"add": "added", "remove": "removed"}.get(action, "changed" if case == CASES[1] else "unchanged")
        if [row["outcome"] for row in report["results"]] != [wanted]:
            raise RunError(f"{case}: {report}")
        yield case, cost, report
    report_file = str(directory / "report.json")
    cost = run_process([*PROGRAM, "write", "--state", state, "-q", "--report", report_file], directory)
    report = json.loads(Path(report_file).read_text(encoding="utf-8"))
    if report["outcome"] != "unchanged":
        raise RunError(f"write after update has changed the files: {report['message']}")
    yield CASES[4], cost, report
