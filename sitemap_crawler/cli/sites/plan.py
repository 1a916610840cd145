"""Plans and results of several sites: their site files, the files that they must not share, their combined outcome."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitemap_crawler.config.paths import FILES
from sitemap_crawler.exceptions import FileConflictError
from sitemap_crawler.inventory.location import state_location
from sitemap_crawler.report.report import EXIT_CODES, Outcome, outcome_of
from sitemap_crawler.sitemap.names import Names
from sitemap_crawler.urls.normalise import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.config.state_location import StateLocation

SEVERITY = (1, 2, 3, 4, 0)
"""Exit codes, the worst first: a failure needs a person, an interrupted run continues with the next command."""
USAGE_ERROR = str(Outcome.USAGE_ERROR)
"""Outcome of a site whose file cannot be used."""
NOT_BEGUN = "not-begun"
"""Outcome of a site whose crawl did not begin before the command was stopped."""


@dataclass(frozen=True, slots=True)
class SitePlan:
    """A site file to crawl."""

    config: Path
    name: str
    """Prefix of the lines of its log."""
    options: Options | None = None
    problem: str | None = None
    """Why the site cannot be crawled. It has no options then."""
    log_level: str = "INFO"

    @property
    def host(self) -> str:
        """Return the host of the start URL, or the name of a site that cannot be crawled."""
        return host_of(self.options.start_url) if self.options else self.name


@dataclass(frozen=True, slots=True)
class SiteResult:
    plan: SitePlan
    exit_code: int
    outcome: str
    message: str
    seconds: float = 0.0
    report: dict[str, Any] | None = field(default=None, repr=False)

    def to_json(self) -> dict[str, Any]:
        return {
            "config": str(self.plan.config),
            "outcome": self.outcome,
            "exit_code": self.exit_code,
            "message": self.message,
            "seconds": round(self.seconds, 1),
            "report": self.report,
        }


def names_of(files: Sequence[Path]) -> dict[Path, str]:
    """Return a name for each site file: the stem of the file if it is unique, otherwise the path."""
    stems = Counter(file.stem for file in files)
    return {file: file.stem if stems[file.stem] == 1 else str(file) for file in files}


def check_apart(plans: Iterable[SitePlan], *, report: Path | None) -> None:
    """Raise FileConflictError if two sites, or a site and the `report` on all sites, would write the same file."""
    usable = [(plan, plan.options) for plan in plans if plan.options is not None]
    taken: dict[Path, _File] = {}
    if report is not None:
        taken[report.resolve()] = _File("report", "the command line")
    schemas: dict[StateLocation, SitePlan] = {}
    for plan, options in usable:
        location = state_location(options)
        if schemas.setdefault(location, plan) is not plan and not isinstance(location, Path):
            message = f"{schemas[location].config} and {plan.config} have the same state {location}"
            raise FileConflictError(f"{message}: give each site a schema of its own")
        for role, path in _own_files(plan, options).items():
            mine = _File(role, str(plan.config))
            other = taken.setdefault(path.resolve(), mine)
            if other.owner != mine.owner and not other.role == mine.role == "log_file":
                both = role if role == other.role else f"{other.role} and {role}"
                raise FileConflictError(
                    f"{other.owner} and {mine.owner} have the same {both} {path}: give each site a file of its own"
                )
    _check_outputs(usable, taken)


@dataclass(frozen=True, slots=True)
class _File:
    role: str
    owner: str
    """The site file that names the file, or the command line."""


def _check_outputs(usable: Sequence[tuple[SitePlan, Options]], taken: Mapping[Path, _File]) -> None:
    """Raise FileConflictError if a file of one site has the name of a sitemap that another site writes."""
    written: dict[Path, list[tuple[SitePlan, Names]]] = {}
    for plan, options in usable:
        written.setdefault(options.output.resolve(), []).append((plan, Names.for_sitemap(options.entry_url)))
    for path, file in taken.items():
        for plan, names in written.get(path.parent, ()):
            if names.derives(path.name):
                message = f"{file.role} {path} of {file.owner} has the name of a sitemap of {plan.config}"
                raise FileConflictError(f"{message}: give another one")
    for plan, options in usable:
        output = options.output.resolve()
        below = [other for other, theirs in usable if output in theirs.output.resolve().parents]
        if options.subdomains and below:
            message = f"{below[0].config} writes below the output of {plan.config}, where each host has a directory"
            raise FileConflictError(f"{message}: give one of them another output directory")
    for directory, sites in written.items():
        for (one, names), (other, others) in combinations(sites, 2):
            if names.derives(others.entry) or others.derives(names.entry):
                message = f"{one.config} and {other.config} write the same sitemap files in {directory}"
                raise FileConflictError(f"{message}: give one of them another output directory")


def _own_files(plan: SitePlan, options: Options) -> dict[str, Path]:
    state = state_location(options)
    files = {name: getattr(options, name) for name in FILES}
    if isinstance(state, Path):
        files["state"] = state
    return {"config": plan.config} | {role: path for role, path in files.items() if path is not None}


def worst(codes: Iterable[int]) -> int:
    """Return the worst exit code, 0 without any."""
    return min(codes, key=SEVERITY.index, default=0)


def combined_outcome(results: Sequence[SiteResult]) -> str:
    """Return the outcome of all sites, in the terms of a single run."""
    code = worst(result.exit_code for result in results)
    if code == EXIT_CODES[Outcome.PUBLISHED]:
        outcomes = {result.outcome for result in results}
        return next(str(outcome) for outcome in EXIT_CODES if outcome in outcomes)
    return str(outcome_of(code))


def combined_message(results: Sequence[SiteResult]) -> str:
    """Return a line such as `3 sites: 2 published, 1 refused`."""
    counts = Counter(result.outcome for result in results)
    sites = f"{len(results):,} {'site' if len(results) == 1 else 'sites'}"
    return f"{sites}: " + ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items())


def combined_report(results: Sequence[SiteResult]) -> dict[str, Any]:
    return {
        "outcome": combined_outcome(results),
        "exit_code": worst(result.exit_code for result in results),
        "message": combined_message(results),
        "sites": [result.to_json() for result in results],
    }
