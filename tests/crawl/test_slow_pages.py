"""Pages that take long to read: an interruption does not wait for them, and the next run reads them."""

from __future__ import annotations

import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.webserver import page

if TYPE_CHECKING:
    from tests.support.program import Program
    from tests.support.webserver import WebServer

pytestmark = pytest.mark.slow

ENDLESS = """
import os, pathlib, time
import sitemap_crawler.extract.document as document

parse = document.parse_document

def parse_or_hang(body, **options):
    if len(body) > 200_000:
        with open("reading.txt", "a") as file:
            file.write("x")
        time.sleep({seconds})
    return parse(body, **options)

document.parse_document = parse_or_hang
"""
NAMES = [f"/{number}" for number in range(4)]


@pytest.mark.parametrize("text", [" " * 250_000, " " * 2_100_000])
def test_ctrl_c_does_not_wait_for_pages_in_workers(program: Program, site: WebServer, text: str) -> None:
    result = interrupted(program, site, text, "--workers", "2", seconds=3_600)
    assert (result.returncode, result.stderr.splitlines()[-1]) == (
        4,
        "sitemap-crawler: interrupted; run the same command to continue",
    )
    check_next_run(program, site)


def test_ctrl_c_waits_for_one_page_without_workers(program: Program, site: WebServer) -> None:
    result = interrupted(program, site, " " * 250_000, "--workers", "0", seconds=3)
    assert result.returncode == 4
    assert (program.directory / "reading.txt").read_text() == "x"
    check_next_run(program, site)


def interrupted(
    program: Program, site: WebServer, text: str, *options: str, seconds: int
) -> subprocess.CompletedProcess[str]:
    """Crawl four large pages, and interrupt the crawl when one of them is read."""
    site.pages.update({"/": page(*NAMES), **{name: page(title=name, body=text) for name in NAMES}})
    program.patch(ENDLESS.format(seconds=seconds))
    process = program.start("crawl", site.url("/"), *options, stderr=subprocess.PIPE)
    try:
        while not (program.directory / "reading.txt").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=90)
    finally:
        process.kill()
        process.communicate()
    return subprocess.CompletedProcess("crawl", process.returncode, None, errors)


def check_next_run(program: Program, site: WebServer) -> None:
    program.hook = None
    result = program.crawl(site.url("/"))
    assert (result.code, result.report["run"]) == (0, 1)
    assert result.listed() == [site.url("/"), *map(site.url, NAMES)]
