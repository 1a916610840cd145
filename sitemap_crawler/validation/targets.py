"""Validation of targets: sitemap files, directories, URLs, addresses of sites, and standard input."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import TargetError, UnreadableError
from sitemap_crawler.validation.folders import check_paths
from sitemap_crawler.validation.results import FileTask
from sitemap_crawler.validation.session import Validation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sitemap_crawler.validation.findings import ValidationReport

STANDARD_INPUT = "-"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def validate(*targets: str) -> ValidationReport:
    """Check targets and return the report: see `open_validation`."""
    with open_validation(targets) as validation:
        validation.judge_hosts()
        return validation.report()


@contextmanager
def open_validation(
    targets: Sequence[str], credentials: Sequence[tuple[str, str]] = (), *, logs_all: bool = False
) -> Iterator[Validation]:
    """Check sitemap files, directories, http(s) URLs and standard input (`-`), and keep them readable.

    The sitemaps of an index are checked, too. The address of a site stands for the sitemaps that its robots.txt names,
    or else for its sitemap.xml. The headers `credentials` are sent to the origin of the first address only. With
    `logs_all`, all findings are written to a temporary file. Raises TargetError if a target does not exist.
    """
    given = tuple(targets)
    if not all(given):
        raise TargetError("a target is empty; give a sitemap file, a directory, an http(s) URL, or -")
    with Validation(given, logs_all=logs_all) as validation:
        check_paths(validation, [target for target in given if target != STANDARD_INPUT and not _SCHEME.match(target)])
        for target in dict.fromkeys(given):
            if target == STANDARD_INPUT:
                _check_standard_input(validation)
            elif _SCHEME.match(target):
                # Imported here, because a local check needs no HTTP client.
                from sitemap_crawler.validation.websites import check_address

                check_address(validation, target, credentials)
                credentials = ()
        validation.compare()
        yield validation


def _check_standard_input(validation: Validation) -> None:
    if sys.stdin is None:
        raise TargetError("the standard input is closed: give a file")
    try:
        path = validation.spool.store(sys.stdin.buffer)
    except (UnreadableError, OSError) as exc:
        raise TargetError(f"standard input can't be read: {exc}") from None
    validation.check([FileTask(path, STANDARD_INPUT, STANDARD_INPUT, validation.now)])
