"""One model of all options: what the settings, the site file and the command line make of it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.config.option_errors import OptionError, check_names
from sitemap_crawler.config.options import Options
from sitemap_crawler.config.sources import read_site_file
from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program

START = "https://example.com/"


@pytest.mark.parametrize(
    ("settings", "name", "value"),
    [
        ({"SITEMAP_MAX_PAGES": "5"}, "max_pages", 5),
        ({"SITEMAP_MAX_PAGES": 5}, "max_pages", 5),
        ({"SITEMAP_GZIP": "true"}, "gzip", True),
        ({"SITEMAP_GZIP": "0"}, "gzip", False),
        ({"SITEMAP_EXCLUDE": "a,b"}, "exclude", ("a,b",)),
        ({"SITEMAP_EXCLUDE": '["a", "b"]'}, "exclude", ("a", "b")),
        ({"SITEMAP_EXCLUDE": "[ab]"}, "exclude", ("[ab]",)),
        ({"SITEMAP_EXCLUDE": ["a"]}, "exclude", ("a",)),
        ({"CONCURRENT_REQUESTS": "32"}, "concurrency", 32),
        ({"DOWNLOAD_DELAY": "0.5"}, "delay", 0.5),
        ({"SITEMAP_STATE": "sqlite:///x.sqlite"}, "state", "x.sqlite"),
        ({"SITEMAP_STATE": "sqlite:////var/x.sqlite"}, "state", "/var/x.sqlite"),
        ({"SITEMAP_START_URL": "HTTPS://EXAMPLE.com:443/a/../#b"}, "start_url", "https://example.com/"),
        ({"SITEMAP_START_URL": "https://bücher.example"}, "start_url", "https://xn--bcher-kva.example/"),
        ({"BOT_NAME": "x", "LOG_LEVEL": "INFO"}, "max_pages", None),
    ],
)
def test_settings_become_options(settings: dict[str, object], name: str, value: object) -> None:
    assert getattr(Options.from_settings({"SITEMAP_START_URL": START, **settings}), name) == value


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("SITEMAP_MAXPAGES", "SITEMAP_MAX_PAGES"),
        ("SITEMAP_IMAGE", "SITEMAP_IMAGES"),
        ("SITEMAP_XYZZY", "--help"),
    ],
)
def test_unknown_settings_are_refused_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(OptionError, match=hint):
        Options.from_settings({"SITEMAP_START_URL": START, name: "1"})


def test_names_are_checked_against_all_that_is_known() -> None:
    check_names(["delay"], ["delay", "output"], kind="option")
    with pytest.raises(OptionError, match=r"^unknown option dealy: did you mean delay\?$"):
        check_names(["dealy"], ["delay", "output"], kind="option")


def test_paths_of_a_site_file_are_relative_to_it(tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text('output = "out"\nstate = "/var/x.sqlite"\n[settings]\nRETRY_TIMES = 5\n')
    values, settings = read_site_file(path)
    assert values == {"output": str(tmp_path / "out"), "state": "/var/x.sqlite"}
    assert settings == {"RETRY_TIMES": 5}


def test_a_value_that_is_long_is_shown_in_part() -> None:
    with pytest.raises(OptionError) as caught:
        Options.parse({"start_url": "x" * 10_000})
    assert len(str(caught.value)) < 500


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


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"max_pages": True}, "bad value True for max_pages"),
        ({"content_types": ["pdf"]}, "content_types: write a list of types"),
        ({"content_types": []}, "content_types"),
        ({"content_types": "text/html,application/pdf"}, "content_types"),
        ({"state": " "}, "state"),
    ],
)
def test_values_that_are_none(values: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        Options.parse({"start_url": "https://example.com/", **values})
