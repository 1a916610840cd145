"""The layout that ARCHITECTURE.md promises: which rooms know Scrapy, and which settings are safe."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

PURE = [
    "sitemap_crawler.scope",
    "sitemap_crawler.urls",
    "sitemap_crawler.rules",
    "sitemap_crawler.robots",
    "sitemap_crawler.review",
    "sitemap_crawler.shapes",
    "sitemap_crawler.site",
    "sitemap_crawler.writing",
    "sitemap_crawler.locate",
    "sitemap_crawler.explain",
    "sitemap_crawler.inventory.lookup",
    "sitemap_crawler.inventory.findings",
    "sitemap_crawler.options",
    "sitemap_crawler.decide",
    "sitemap_crawler.guards",
    "sitemap_crawler.conclude",
    "sitemap_crawler.inventory.queue",
    "sitemap_crawler.inventory.settled",
    "sitemap_crawler.items",
    "sitemap_crawler.reading.document",
    "sitemap_crawler.reading.links",
    "sitemap_crawler.reading.sitemaps",
    "sitemap_crawler.reading.soft_errors",
    "sitemap_crawler.reading.resources",
    "sitemap_crawler.reading.directives",
    "sitemap_crawler.reading.canonical",
    "sitemap_crawler.reading.images",
    "sitemap_crawler.reading.videos",
    "sitemap_crawler.sitemap.publish",
    "sitemap_crawler.validation",
    "sitemap_crawler.cli",
]


@pytest.mark.parametrize("module", PURE)
def test_pure_modules_do_not_import_scrapy(module: str) -> None:
    code = f"import sys, {module}; sys.exit(any(name.split('.')[0] in ('scrapy', 'twisted') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


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
