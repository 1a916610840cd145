"""Filters of the log: Scrapy's lines for every request and item appear only at the level DEBUG."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


_VERBOSE_LOGGERS = (
    "scrapy.addons",
    "scrapy.core.engine",
    "scrapy.crawler",
    "scrapy.extensions.memusage",
    "scrapy.middleware",
    "scrapy.utils.log",
)


def quieten_scrapy() -> None:
    """Drop Scrapy's lines about its own start and end, but keep its warnings.

    Filters do this, not levels, because Scrapy sets the levels of its loggers when it starts.
    """
    for name in _VERBOSE_LOGGERS:
        logging.getLogger(name).addFilter(_is_warning)


def _is_warning(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING


def quieten_asyncio() -> None:
    """Drop two lines that asyncio logs as errors: a SystemExit, and tasks that a second Ctrl-C leaves unfinished."""
    logging.getLogger("asyncio").addFilter(_is_no_exit)


def _is_no_exit(record: logging.LogRecord) -> bool:
    exits = bool(record.exc_info and record.exc_info[0] is SystemExit)
    return not exits and not record.getMessage().startswith("Task was destroyed but it is pending")


class QuietLogFormatter(LogFormatter):
    """Formatter that returns None for lines that the level drops: a log record costs more than a page's row."""

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
