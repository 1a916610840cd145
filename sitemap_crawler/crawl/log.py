"""The log: its file, and filters. Scrapy's lines for every request and item appear only at the level DEBUG."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter
from scrapy.utils.log import TopLevelFormatter

from sitemap_crawler.exceptions import OutputError, UntrustedLinkError
from sitemap_crawler.utils.replace import open_appended
from sitemap_crawler.utils.runtime import echo
from sitemap_crawler.utils.text import escape_controls

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import Settings


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
    logging.getLogger("asyncio").addFilter(_is_no_end)


def _is_no_end(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    is_unfinished = record.getMessage().startswith("Task was destroyed but it is pending")
    return not isinstance(error, SystemExit) and not is_unfinished


class LogFile(logging.Handler):
    """Handler that appends to a file. It holds no buffer: what cannot be written is lost, and costs nothing later."""

    def __init__(self, path: Path, *, encoding: str, truncates: bool, private: bool = False) -> None:
        """Open the file. Raises UntrustedLinkError, OSError."""
        super().__init__()
        self._path = path
        self._encoding = encoding
        self.descriptor = open_appended(path, private=private)
        self._is_cut = False
        """Whether the last line was written in part."""
        self._has_failed = False
        if truncates:
            os.ftruncate(self.descriptor, 0)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = escape_controls(self.format(record))
        except Exception:
            self.handleError(record)
            return
        start = "\n" if self._is_cut else ""
        data = f"{start}{line}\n".encode(self._encoding, "backslashreplace")
        try:
            while data:
                data = data[os.write(self.descriptor, data) :]
                self._is_cut = bool(data)
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """Say the first time that lines are lost. The log is no result of the crawl, so the crawl goes on."""
        if self._has_failed:
            return
        self._has_failed = True
        with suppress(OSError):
            remedy = "free disk space; the crawl goes on, and its log has gaps"
            echo(f"cannot write the log file {self._path}: {error.strerror}; {remedy}", err=True)


def open_log_file(settings: Settings, *, private: bool) -> None:
    """Have the log written to the file of the setting LOG_FILE by our handler. Raises OutputError.

    With `private` only this user can read a new file.
    Scrapy's handler follows links that others have planted, and prints a traceback for each line on a full disk.
    """
    path = Path(settings["LOG_FILE"])
    try:
        file = LogFile(
            path,
            encoding=settings["LOG_ENCODING"] or "utf-8",
            truncates=not settings.getbool("LOG_FILE_APPEND"),
            private=private,
        )
    except UntrustedLinkError:
        raise
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"cannot write log_file {path}: {reason}; give another file, or free disk space") from error
    file.setFormatter(logging.Formatter(settings["LOG_FORMAT"], settings["LOG_DATEFORMAT"]))
    file.setLevel(settings["LOG_LEVEL"])
    if settings.getbool("LOG_SHORT_NAMES"):
        file.addFilter(TopLevelFormatter(["scrapy"]))
    settings.set("LOG_INSTALL_ROOT_HANDLER", value=False, priority="cmdline")
    logging.root.setLevel(logging.NOTSET)
    logging.root.addHandler(file)


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
