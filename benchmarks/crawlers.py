"""The crawlers of the comparison: their commands and versions, and which of them are installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from machine import HERE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

OURS, STOCK, FLOOR, BARE = "sitemap-crawler", "CrawlSpider", "Scrapy's floor", "bare loop"


@dataclass(frozen=True, slots=True)
class Crawl:
    url: str
    concurrency: int
    directory: Path
    """Empty directory for the files of the crawl."""
    urls: Sequence[str] = ()
    """All page URLs, for the crawler that follows no links."""


@dataclass(frozen=True, slots=True)
class Crawler:
    command: Callable[[Crawl], list[str]]
    is_installed: Callable[[], bool] = lambda: True
    version: Callable[[], str] | None = None
    codes: tuple[int, ...] = (0,)
    """Exit codes of a successful crawl. Link checkers have a second one for broken links."""
    remarks: str = ""


def ours(crawl: Crawl) -> list[str]:
    directory = crawl.directory
    files = ["-o", str(directory / "sitemaps"), "--state", str(directory / "state.sqlite")]
    options = ["--concurrency", str(crawl.concurrency), "--report", str(directory / "report.json"), "-q"]
    return [sys.executable, "-m", "sitemap_crawler", "crawl", crawl.url, *files, *options]


def stock(crawl: Crawl) -> list[str]:
    items = ["-a", f"url={crawl.url}", "-O", str(crawl.directory / "items.jsonl")]
    return _spider("stock_spider.py", items, _concurrency(crawl))


FLOOR_SETTINGS: dict[str, Any] = {
    "TWISTED_REACTOR_ENABLED": False,
    "DOWNLOAD_HANDLERS": {"http": "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler"},
    "DOWNLOADER_MIDDLEWARES_BASE": {},
    "SPIDER_MIDDLEWARES_BASE": {},
    "EXTENSIONS_BASE": {},
    "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",  # filters nothing
    "CONCURRENT_ITEMS": 1,  # the tasks that Scrapy starts for each response
}


def floor(crawl: Crawl) -> list[str]:
    urls = crawl.directory / "urls.txt"
    urls.write_text("\n".join(crawl.urls), encoding="utf-8")
    return _spider("floor_spider.py", ["-a", f"urls={urls}"], {**FLOOR_SETTINGS, **_concurrency(crawl)})


def _concurrency(crawl: Crawl) -> dict[str, Any]:
    return {"CONCURRENT_REQUESTS": crawl.concurrency, "CONCURRENT_REQUESTS_PER_DOMAIN": crawl.concurrency}


def _spider(file: str, arguments: list[str], settings: dict[str, Any]) -> list[str]:
    settings = {**settings, "ROBOTSTXT_OBEY": False, "LOG_LEVEL": "ERROR"}
    options = [f"-s{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in settings.items()]
    return [sys.executable, "-m", "scrapy", "runspider", str(HERE / file), *arguments, *options]


def bare(crawl: Crawl) -> list[str]:
    return [sys.executable, str(HERE / "bare_crawler.py"), crawl.url, str(crawl.concurrency)]


def crawlee(crawl: Crawl) -> list[str]:
    return ["node", str(HERE / "crawlee_crawler.cjs"), crawl.url, str(crawl.concurrency)]


def linkinator(crawl: Crawl) -> list[str]:
    elsewhere = f"^(?!{re.escape(crawl.url)})"
    options = ["--recurse", "--concurrency", str(crawl.concurrency), "--skip", elsewhere, "--verbosity", "error"]
    return ["linkinator", crawl.url, *options]


def linkchecker(crawl: Crawl) -> list[str]:
    config = crawl.directory / "linkcheckerrc"
    config.write_text("[checking]\nmaxrequestspersecond=1000000\n", encoding="utf-8")
    # LinkChecker run as root becomes another user, who has to read its configuration.
    crawl.directory.chmod(0o755)
    options = ["--no-robots", "--no-status", "--output", "none", "--threads", str(crawl.concurrency)]
    return ["linkchecker", "--config", str(config), *options, crawl.url]


def wget(crawl: Crawl) -> list[str]:
    options = ["--recursive", "--level=inf", "--execute", "robots=off", "--no-verbose"]
    return ["wget", *options, "--directory-prefix", str(crawl.directory / "files"), crawl.url]


@cache
def _crawlee_version() -> str:
    """Return the version, or an empty string if Node does not find Crawlee."""
    if shutil.which("node") is None:
        return ""
    script = "console.log(require('crawlee/package.json').version)"
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, cwd=HERE, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _on_path(name: str) -> Callable[[], bool]:
    return lambda: shutil.which(name) is not None


def _tool_version(name: str) -> Callable[[], str]:
    """Return a function for the name and version that the tool prints."""

    def name_and_version() -> str:
        done = subprocess.run([name, "--version"], capture_output=True, text=True, env=os.environ, check=False)
        number = re.search(r"\d+(\.\d+)+", done.stdout)
        return f"{name} {number[0]}" if number else name

    return name_and_version


CRAWLERS = {
    OURS: Crawler(ours, remarks="all features, inventory and files"),
    STOCK: Crawler(stock, remarks="LinkExtractor"),
    FLOOR: Crawler(floor, remarks="an empty callback, with the list of URLs as input"),
    BARE: Crawler(bare, remarks="aiohttp and lxml, nothing stored"),
    "Crawlee": Crawler(
        crawlee,
        lambda: bool(_crawlee_version()),
        lambda: f"crawlee {_crawlee_version()}",
        remarks="CheerioCrawler, storage in memory",
    ),
    "linkinator": Crawler(
        linkinator, _on_path("linkinator"), _tool_version("linkinator"), (0, 1), "every link, files too"
    ),
    "LinkChecker": Crawler(
        linkchecker,
        _on_path("linkchecker"),
        _tool_version("linkchecker"),
        (0, 1),
        "its throttle off; every link, files too",
    ),
    "wget -r": Crawler(
        wget, _on_path("wget"), _tool_version("wget"), (0, 8), "C, one connection; every link, files too"
    ),
}


def installed_crawlers() -> dict[str, Crawler]:
    return {name: crawler for name, crawler in CRAWLERS.items() if crawler.is_installed()}


def versions() -> list[str]:
    packages = ("sitemap-crawler", "scrapy", "twisted", "aiohttp", "lxml", "sqlalchemy")
    peers = [crawler.version() for crawler in installed_crawlers().values() if crawler.version is not None]
    node = [_tool_version("node")()] if shutil.which("node") else []
    return [*(f"{package} {version(package)}" for package in packages), *peers, *node]
