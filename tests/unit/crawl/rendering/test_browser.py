"""Which browser is taken, and what stops a crawl before its first request."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.config.options import Options
from sitemap_crawler.crawl.rendering.browser import NAMES, check_browser, find_browser
from sitemap_crawler.exceptions import OptionError

if TYPE_CHECKING:
    from pathlib import Path


def options(**values: Any) -> Options:
    return Options.parse({"start_url": "http://www.example.com/", "render": "auto", **values})


def install(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which no browser is installed."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return tmp_path


def test_a_missing_browser_says_what_to_install(machine: Path) -> None:
    with pytest.raises(OptionError) as caught:
        check_browser(options())
    assert str(caught.value) == (
        "--render auto needs Chromium, which was not found: install it (Debian: apt-get install "
        "chromium-headless-shell) or name it with --browser"
    )


def test_the_headless_shell_is_taken_before_all_others(machine: Path) -> None:
    for name in reversed(NAMES):
        installed = install(machine / "bin" / name)
        assert find_browser(options()) == installed
    assert installed.name == "chromium-headless-shell"


def test_a_named_browser_is_taken(machine: Path) -> None:
    install(machine / "bin" / "chromium")
    mine = install(machine / "mine" / "shell")
    assert find_browser(options(browser=str(mine))) == mine
    assert find_browser(options(browser="chromium")) == machine / "bin" / "chromium"


@pytest.mark.parametrize("name", ["missing", "directory", "text"])
def test_what_is_named_has_to_be_a_program(machine: Path, name: str) -> None:
    (machine / "directory").mkdir()
    (machine / "text").write_text("", encoding="utf-8")
    with pytest.raises(OptionError, match="is no program: give the path of Chromium"):
        check_browser(options(browser=str(machine / name)))


@pytest.mark.skipif(sys.platform != "linux", reason="the cache is in another directory")
@pytest.mark.parametrize("variable", [None, "elsewhere"])
def test_browsers_of_playwright_are_found_the_newest_first(
    machine: Path, monkeypatch: pytest.MonkeyPatch, variable: str | None
) -> None:
    base = machine / "home" / ".cache" / "ms-playwright"
    if variable is not None:
        base = machine / variable
        monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(base))
    install(base / "chromium-1200" / "chrome-linux" / "chrome")
    assert find_browser(options()).parts[-3] == "chromium-1200"
    for version in ("999", "1200", "1100"):
        install(base / f"chromium_headless_shell-{version}" / "chrome-linux" / "headless_shell")
    assert find_browser(options()).parts[-3] == "chromium_headless_shell-1200"


def test_root_has_to_ask_for_a_browser_without_sandbox(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(machine / "bin" / "chromium")
    check_browser(options())
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(OptionError, match=r"as root: chromium runs without its sandbox only.*--browser-no-sandbox"):
        check_browser(options())
    check_browser(options(browser_no_sandbox=True))


def test_windows_is_told_that_there_is_no_way(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(machine / "bin" / "chromium")
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(OptionError, match="needs the pipes of Linux or macOS"):
        check_browser(options())
