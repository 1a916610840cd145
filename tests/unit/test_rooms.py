"""The layout that ARCHITECTURE.md promises: which rooms know Scrapy, and which settings are safe."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from tests.support.paths import package_modules

KNOW_SCRAPY = ("sitemap_crawler.crawl", "sitemap_crawler.settings")

IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
    if not {"scrapy", "twisted"}.isdisjoint(sys.modules):
        sys.exit(f"{name} imports Scrapy")
"""


def knows_scrapy(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in KNOW_SCRAPY)


def test_all_other_rooms_do_not_import_scrapy() -> None:
    pure = [module for module in package_modules() if not knows_scrapy(module)]
    assert len(pure) > 80
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL, *pure], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_room_that_may_import_scrapy_exists() -> None:
    assert set(KNOW_SCRAPY) <= set(package_modules())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REMOTE_CONTROL_ENABLED", False),
        ("TELNETCONSOLE_ENABLED", False),
        ("COOKIES_ENABLED", False),
        ("ROBOTSTXT_OBEY", True),
        ("DOWNLOAD_VERIFY_CERTIFICATES", True),
    ],
)
def test_settings_are_safe(name: str, value: object) -> None:
    assert getattr(import_module("sitemap_crawler.settings"), name) is value


def test_scrapy_finds_the_spider() -> None:
    command = [sys.executable, "-m", "scrapy", "list"]
    environment = {"SCRAPY_SETTINGS_MODULE": "sitemap_crawler.settings", "PATH": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["site"]
