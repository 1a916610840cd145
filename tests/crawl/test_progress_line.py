"""The progress line on a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from typing import TYPE_CHECKING

from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program


def test_a_terminal_shows_how_far_the_crawl_is(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page()})
    master, slave = pty.openpty()
    process = subprocess.Popen(
        program.command("crawl", site.url("/")),
        cwd=program.directory,
        env={**program.environment(), "TERM": "xterm", "COLUMNS": "100"},
        stdout=subprocess.DEVNULL,
        stderr=slave,
    )
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 4_096):
            shown += chunk
    except OSError:
        pass  # the end of a terminal whose other side is closed
    os.close(master)
    assert process.wait(60) == 0
    assert re.search(rb"\d+ done, \d+ queued, \d+ to list, \d+\.\d pages/s, \d+\.\d requests/s", shown)
    assert b"INFO" not in shown


def test_there_is_no_progress_line_without_a_terminal(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page()})
    result = program.crawl(site.url("/"))
    assert "pages/s" not in result.err
    assert "\x1b" not in result.err + result.out
