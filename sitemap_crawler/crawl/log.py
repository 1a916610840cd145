"""Keeps Scrapy's lines for every request and item out of the log unless someone debugs."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


_CHATTY = (
    "scrapy.addons",
    "scrapy.core.engine",
    "scrapy.crawler",
    "scrapy.extensions.memusage",
    "scrapy.middleware",
    "scrapy.utils.log",
)


def quieten_scrapy() -> None:
    """Keep only Scrapy's warnings: its lines about its own start and end say nothing about a site.

    By filters, not levels: Scrapy configures the levels of its loggers anew when it starts.
    """
    for name in _CHATTY:
        logging.getLogger(name).addFilter(_is_warning)


def _is_warning(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING


def leave_quietly() -> None:
    """asyncio logs a SystemExit, and every task that a second Ctrl-C leaves undone, like an error; neither is one."""
    logging.getLogger("asyncio").addFilter(_is_no_exit)


def _is_no_exit(record: logging.LogRecord) -> bool:
    exits = bool(record.exc_info and record.exc_info[0] is SystemExit)
    return not exits and not record.getMessage().startswith("Task was destroyed but it is pending")


class QuietLogFormatter(LogFormatter):
    """Answers None for what the log level would only drop: making a log record costs more than a page's row."""

    def __init__(self, *, debug: bool) -> None:
        self._debug = debug

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> QuietLogFormatter:
        level = logging.getLevelName(crawler.settings["LOG_LEVEL"])
        return cls(debug=isinstance(level, int) and level <= logging.DEBUG)

    def crawled(self, *args: Any, **kwargs: Any) -> Any:
        return super().crawled(*args, **kwargs) if self._debug else None

    def scraped(self, *args: Any, **kwargs: Any) -> Any:
        return super().scraped(*args, **kwargs) if self._debug else None
