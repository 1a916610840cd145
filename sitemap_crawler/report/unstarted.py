"""The report of a command that ended before a run began. It replaces the report of an earlier run.

The report's path is known although the options cannot be used: from the command line, or from a readable site file.
"""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitemap_crawler.config.options import SECRET_OPTIONS, Options
from sitemap_crawler.exceptions import FileConflictError, OptionError
from sitemap_crawler.report.report import Report, outcome_of
from sitemap_crawler.utils.files import write_json
from sitemap_crawler.utils.nesting import read_json, read_toml
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

REPORT_SETTING = Options.setting("report")
MAX_REPORT_BYTES = 100_000_000
"""Maximum size of a file that is read to see whether it is a report. A larger file is left as it is."""


def site_file_values(site_file: Path | None) -> dict[str, Any]:
    """Return the values of a site file without a check. An unreadable file has none."""
    if site_file is None:
        return {}
    try:
        values = read_toml(site_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if isinstance(values.get("report"), str):
        values["report"] = str(site_file.parent / values["report"])
    settings = values.pop("settings", {})
    if isinstance(settings, dict) and REPORT_SETTING in settings:
        values.setdefault("report", settings[REPORT_SETTING])
    return values


def write_unstarted(values: Mapping[str, Any], error: Exception, *, code: int, sites: bool = False) -> None:
    """Write the report of a command that ended with `error` to the path in `values`, if there is one.

    `values` are options by name, unchecked. With `sites` the report is that of a command for several sites. A file that
    is no report is never replaced: the path may be the mistake. For the same reason a conflict of files creates none.
    """
    text = values.get("report")
    if not isinstance(text, str | Path) or not str(text):
        return
    path = Path(text)
    message = printable(str(error))
    private = any(values.get(name) for name in SECRET_OPTIONS)
    with contextlib.suppress(OSError, ValueError):
        if not (_is_report(path) if path.exists() else not isinstance(error, FileConflictError)):
            return
        if sites:
            values_of_all = {"outcome": str(outcome_of(code)), "exit_code": code, "message": message, "sites": []}
            write_json(path, values_of_all, private=private)
            return
        start_url, sitemap_url = _addresses(values)
        now = datetime.now(UTC)
        Report(outcome_of(code), message, start_url, sitemap_url, run=0, started=now, finished=now).write(
            path, private=private
        )


def _is_report(path: Path) -> bool:
    """Return whether an existing file is a report, or empty."""
    if not path.is_file() or path.stat().st_size > MAX_REPORT_BYTES:
        return False
    text = path.read_bytes()
    if not text.strip():
        return True
    if not text.lstrip().startswith(b"{"):
        return False
    found = read_json(text)
    return isinstance(found, dict) and {"outcome", "exit_code", "message"} <= found.keys() and "pid" not in found


def _addresses(values: Mapping[str, Any]) -> tuple[str, str]:
    """Return start URL and sitemap URL, without credentials. Unusable ones are empty."""
    given = {name: values[name] for name in ("start_url", "sitemap_url") if values.get(name)}
    for names in (given, {"start_url": given.get("start_url")}):
        with contextlib.suppress(OptionError):
            options = Options.parse(names)
            return options.start_url, options.entry_url
    return "", ""
