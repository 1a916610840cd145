"""A site that answers as badly as it can: the crawl ends well, with the pages that are good, in bounded memory."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from lxml import etree

from tests.sites.hostile_site import DEEP, ESCAPES, KINDS, LISTED, SITEMAPS, HostileSite
from tests.support.paths import ROOT, SCHEMAS

if TYPE_CHECKING:
    from tests.support.program import Program

pytestmark = pytest.mark.slow

# Bytes, resident, of all its processes: 200 MB, and a page of 15 MB of nothing but small tags, a tree of 250 MB.
MAX_MEMORY = 520_000_000
# A crawl that an endless answer holds is ended.
HANG_SECONDS = 300
BENCHMARKS = ROOT / "benchmarks"
# The peak of one of them, or what all together were seen to have.
MEASURED = f"""
import json, resource, subprocess, sys
sys.path.insert(0, {str(BENCHMARKS)!r})
from process_memory import PeakOfAll
process = subprocess.Popen(sys.argv[1:])
with PeakOfAll(process.pid) as together:
    process.wait()
peak = max(1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, together.bytes)
print(json.dumps(peak), file=open("peak.json", "w"))
raise SystemExit(process.returncode)
"""
SETTINGS = ("DOWNLOAD_TIMEOUT=8", "RETRY_TIMES=0", "SITEMAP_MAX_BACK_OFF=0")


class Crawled:
    def __init__(self, program: Program, site: HostileSite) -> None:
        self.site = site
        settings = [part for setting in SETTINGS for part in ("-s", setting)]
        command = program.command("crawl", f"{site.root}/", "--report", "report.json", "-v", *settings)
        self.done = subprocess.run(
            [sys.executable, "-c", MEASURED, *command],
            cwd=program.directory,
            env=program.environment(),
            capture_output=True,
            timeout=HANG_SECONDS,
            check=False,
        )
        self.program = program
        self.log = self.done.stderr.decode()
        self.report: dict[str, Any] = json.loads((program.directory / "report.json").read_text(encoding="utf-8"))
        self.peak: int = json.loads((program.directory / "peak.json").read_text())
        pages = program.run("pages", "--format", "jsonl")
        self.pages = {page["url"]: page for page in map(json.loads, pages.out.splitlines())}


def test_there_are_kinds_enough() -> None:
    assert len(KINDS) >= 40


def it_ends_well(crawled: Crawled) -> None:
    assert crawled.done.returncode == 0, crawled.log
    assert "Traceback" not in crawled.log
    assert crawled.report["outcome"] == "published"
    assert crawled.peak < MAX_MEMORY


def what_is_made_of_each_kind(crawled: Crawled) -> None:
    pages = {kind: crawled.pages[f"{crawled.site.root}/kind/{kind}"] for kind in KINDS}
    wrong = {kind: page for kind, page in pages.items() if page["reason"] != KINDS[kind][1]}
    assert wrong == {}


def exactly_the_good_pages_are_listed(crawled: Crawled) -> None:
    good = {"/", *(f"/good/{n}" for n in range(10)), *(f"/deep/{n}" for n in range(10)), "/deep/named", "/deep/%C3%BC"}
    good |= {f"/deep/{name}" for name in DEEP}
    good |= {f"/kind/{name}" for name, (_, reason) in KINDS.items() if reason == LISTED}
    listed = {url.removeprefix(crawled.site.root) for url, page in crawled.pages.items() if page["reason"] == LISTED}
    assert listed == good
    assert crawled.report["listed"] == len(good)


def the_sitemap_is_valid(crawled: Crawled) -> None:
    checked = crawled.program.run("validate", "sitemaps")
    assert checked.code == 0, checked.out


def the_sitemap_has_the_published_structure(crawled: Crawled) -> None:
    if not SCHEMAS.is_dir():
        # The published schemas are not beside every checkout.
        return
    schema = etree.XMLSchema(etree.parse(SCHEMAS / "sitemap.xsd"))
    tree = etree.parse(crawled.program.output / "sitemap.xml")
    for foreign in tree.getroot().xpath("//*[local-name() = 'image' or local-name() = 'video']"):
        foreign.getparent().remove(foreign)
    schema.assertValid(tree)


def nothing_is_asked_for_twice(crawled: Crawled) -> None:
    pages = [path for path in crawled.site.paths if path.startswith(("/kind/", "/good/", "/deep/"))]
    # The HTTP client itself asks once more where a connection is lost before a word.
    pages = [path for path in pages if path not in {"/kind/closed", "/kind/reset", "/kind/silent"}]
    assert len(pages) == len(set(pages))
    assert set(SITEMAPS) <= set(crawled.site.paths)


def no_terminal_is_told_what_to_do(crawled: Crawled) -> None:
    shown = crawled.done.stdout.decode() + crawled.log
    shown += crawled.program.run("explain", f"{crawled.site.root}/kind/escapes").out
    shown += crawled.program.run("pages", "--match", "escapes").out
    assert not set(shown) & {"\x1b", "\x07", "\u202e", "\x00"}
    assert ESCAPES not in json.dumps(crawled.report)


def the_report_says_what_was_not_read_to_its_end(crawled: Crawled) -> None:
    found = {(warning["kind"], warning["url"].rpartition("/")[2]) for warning in crawled.report["warnings"]}
    assert {("deep-page", "nested"), ("long-body", "one-tag"), ("long-body", "endless")} <= found
    assert ("redirect-loop", "loop-a") in found
    seeds = {warning["url"].removeprefix(crawled.site.root) for warning in crawled.report["warnings"]
             if warning["kind"] == "seed-sitemap"}  # fmt: skip
    assert {"/bomb.xml", "/bomb.xml.gz", "/cut.xml", "/nothing.xml"} <= seeds


def test_a_hostile_site(program: Program) -> None:
    """One crawl, looked at from all sides."""
    with HostileSite() as site:
        crawled = Crawled(program, site)
    it_ends_well(crawled)
    what_is_made_of_each_kind(crawled)
    exactly_the_good_pages_are_listed(crawled)
    the_sitemap_is_valid(crawled)
    the_sitemap_has_the_published_structure(crawled)
    nothing_is_asked_for_twice(crawled)
    no_terminal_is_told_what_to_do(crawled)
    the_report_says_what_was_not_read_to_its_end(crawled)
