"""The end of an update, and of a crawl with --submit: the command `submit` in a process of its own.

Whatever happens to that process, outcome, exit code and files of the run stay as they are. The crawl itself loads
nothing of search engines.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sitemap_crawler
from sitemap_crawler.config.credentials import AUTH_VARIABLE, HEADERS_VARIABLE
from sitemap_crawler.config.search_engines import ENVIRONMENT, SearchEngineOptions
from sitemap_crawler.config.state_location import STATE_VARIABLE
from sitemap_crawler.utils.nesting import read_json
from sitemap_crawler.utils.stopping import interruptible
from sitemap_crawler.utils.text import one_line, printable

if TYPE_CHECKING:
    from sitemap_crawler.config.options import Options
    from sitemap_crawler.config.state_location import StateLocation
    from sitemap_crawler.crawl.job import Job

logger = logging.getLogger(__name__)

MAX_MESSAGE = 1_000
"""Maximum number of characters of the message of a submission."""
_ERROR_PREFIX, _WARNING_PREFIX = "sitemap-crawler: ", "Warning: "
_REMEDY = "run sitemap-crawler submit to go on"
_SITE_OPTIONS = ("user_agent", "ca_file")


def submit_published(job: Job) -> None:
    """Tell search engines about what the run has published, if --submit asks for it, and add the result to the report.

    Raises nothing: a failure is one line in the log.
    """
    report, options = job.report, job.options
    if report is None or not options.submit or not report.has_published or options.dry_run:
        return
    report.submission = submission = run_submit(options, job.store.location)
    # The mail of cron has what -q prints: errors only.
    level = logging.ERROR if submission["exit_code"] != 0 else logging.INFO
    logger.log(level, "submission: %s", submission["message"])
    if options.report is not None:
        try:
            report.write(options.report, private=options.has_secrets)
        except OSError as error:
            logger.error("cannot add the submission to the report %s: %s", options.report, error.strerror or error)


def run_submit(options: Options, state: StateLocation) -> dict[str, Any]:
    """Run the command and return its part of a report. A signal ends the command only. Raises nothing."""
    try:
        with interruptible():
            done = subprocess.run(  # noqa: S603 - this program, with options that were checked
                _command(options, state),
                env=_environment(options, state),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=options.submit_timeout,
                check=False,
            )
    except KeyboardInterrupt:
        return _row(None, f"it was interrupted; {_REMEDY}")
    except subprocess.TimeoutExpired:
        return _row(None, f"it took longer than {options.submit_timeout:g} s and was stopped; {_REMEDY}")
    except (OSError, ValueError) as error:
        return _row(None, f"it could not be started ({getattr(error, 'strerror', None) or error}); {_REMEDY}")
    lines = done.stderr.decode(errors="replace").splitlines()
    for line in lines:
        if line.startswith(_WARNING_PREFIX):
            warning = one_line(line.removeprefix(_WARNING_PREFIX), MAX_MESSAGE)
            logger.warning("submission: %s", printable(warning))
    errors = "; ".join(line.removeprefix(_ERROR_PREFIX) for line in lines if line.startswith(_ERROR_PREFIX))
    results = _results(done.stdout)
    if results is None and not errors:
        return _row(None, f"it ended with code {done.returncode} and no result; {_REMEDY}")
    return _row(done.returncode, errors or _summary(results or []), results)


def _row(code: int | None, message: str, results: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {"exit_code": code, "message": printable(one_line(message, MAX_MESSAGE)), "results": results or []}


def _results(out: bytes) -> list[dict[str, Any]] | None:
    try:
        rows = read_json(out)["results"]
    except (ValueError, KeyError, TypeError):
        return None
    return rows if isinstance(rows, list) else None


def _summary(results: list[dict[str, Any]]) -> str:
    """Return the number of results by service and outcome, in words."""
    counts = Counter(f"{row.get('service')} {row.get('outcome')}" for row in results)
    return ", ".join(f"{words} ({count:,})" if count > 1 else words for words, count in counts.items())


def _command(options: Options, state: StateLocation) -> list[str]:
    """Return the command. Its arguments, which other users can see, hold no secret."""
    # -P: no module comes from the working directory.
    command = [sys.executable, "-P", "-m", "sitemap_crawler", "submit", "--json"]
    if isinstance(state, Path):
        command.append(f"--state={state}")
    for name in sorted({*SearchEngineOptions.names(), *_SITE_OPTIONS} & options.model_fields_set):
        value = getattr(options, name)
        in_environment = bool(os.environ.get(ENVIRONMENT.get(name, "")))
        if options.flag(name).secret or value is None or in_environment:
            continue
        values = value if isinstance(value, tuple) else (value,)
        command += [f"--{name.replace('_', '-')}={text}" for text in values]
    return command


def _environment(options: Options, state: StateLocation) -> dict[str, str]:
    """Return the environment: with the secrets, and with the place of this package, which may be an egg of Scrapyd."""
    package = str(Path(sitemap_crawler.__file__).parents[1])
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    given = {**os.environ, "PYTHONPATH": path}
    if not isinstance(state, Path):
        given[STATE_VARIABLE] = state.complete_url
    if options.bing_key is not None:
        given.setdefault(ENVIRONMENT["bing_key"], options.bing_key.get_secret_value())
    access = options.access
    if access is not None:
        headers = [*access.headers, *([("Cookie", access.cookies)] if access.cookies else [])]
        given[HEADERS_VARIABLE] = "\n".join(f"{name}: {value}" for name, value in headers)
        given.pop(AUTH_VARIABLE, None)
    return given
