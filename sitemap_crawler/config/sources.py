"""Sources of options and settings: settings modules, TOML site files and values by option name.

The settings module of a run is the program's own, or the profile that Scrapy's environment variables choose:
`SCRAPY_SETTINGS_MODULE` names a module, `SCRAPY_PROJECT` names an entry in the nearest scrapy.cfg. Both have the
meaning that they have for the command `scrapy`:
https://docs.scrapy.org/en/latest/topics/commands.html#sharing-the-root-directory-between-projects.
A scrapy.cfg of another project is ignored.
"""

from __future__ import annotations

import os
import sys
import tomllib
from configparser import Error as ConfigError
from configparser import RawConfigParser
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sitemap_crawler.config.options import Options
from sitemap_crawler.config.types import check_names
from sitemap_crawler.exceptions import NestingError, OptionError
from sitemap_crawler.utils.nesting import read_toml
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping
    from types import ModuleType

OWN_SETTINGS = "sitemap_crawler.settings"
CORE_SETTINGS = ("SCHEDULER", "ITEM_PROCESSOR", "TWISTED_REACTOR_ENABLED")
"""Names of the settings that every profile must have in common with the program's own settings."""
PATH_OPTIONS = (
    *("output", "report", "html_report", "status", "log_file", "state", "client_certificate", "client_key", "ca_file"),
    *("html_template", "google_credentials"),
)
"""Options whose relative paths in a site file are relative to that file."""
LIST_OPTIONS = ("urls", "access_log")
"""Options with several sources, whose relative paths in a site file are relative to that file, too."""


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """The nearest scrapy.cfg."""

    path: Path
    modules: dict[str, str] = field(default_factory=dict)
    """Settings modules by project name."""

    @property
    def is_ours(self) -> bool:
        return OWN_SETTINGS in self.modules.values()


def settings_module() -> ModuleType:
    """Import and return the settings module that the environment chooses.

    Raises OptionError if the environment names a module or project that cannot be used.
    """
    file = _nearest_project_file()
    chosen = os.environ.get("SCRAPY_SETTINGS_MODULE")
    if chosen:
        return _import_settings(chosen, file, origin=f"SCRAPY_SETTINGS_MODULE={chosen}")
    project = os.environ.get("SCRAPY_PROJECT") or "default"
    if file is None or not file.is_ours:
        if project != "default":
            reason = _why_no_project(file)
            raise OptionError(f"SCRAPY_PROJECT={project}: {reason}; unset it, or go to the project's directory")
        return import_module(OWN_SETTINGS)
    # ConfigParser converts the names in a file to lower case.
    module = file.modules.get(project.lower(), OWN_SETTINGS if project == "default" else "")
    if not module:
        names = ", ".join(file.modules)
        raise OptionError(f"SCRAPY_PROJECT={project}: {file.path} has no such project: give one of {names}")
    return _import_settings(module, file, origin=f"{project} = {module} in {file.path}")


def _why_no_project(file: ProjectFile | None) -> str:
    if file is None:
        return "there is no scrapy.cfg here or in a directory above"
    return f"{file.path} belongs to another project, as it does not name {OWN_SETTINGS}"


def _import_settings(name: str, file: ProjectFile | None, *, origin: str) -> ModuleType:
    """Import a settings module. `origin` says in error messages where its name was given."""
    if file is not None and str(file.path.parent) not in sys.path:
        # At the end of the path, as Scrapy does, so that the modules of a project shadow no other module.
        sys.path.append(str(file.path.parent))
    try:
        module = import_module(name)
    except Exception as error:
        reason = printable(f"{type(error).__name__}: {error}")
        raise OptionError(f"{origin}: cannot import these settings ({reason}): correct or unset it") from error
    own = import_module(OWN_SETTINGS)
    if any(getattr(module, setting, None) != getattr(own, setting) for setting in CORE_SETTINGS):
        remedy = f"begin them with 'from {OWN_SETTINGS} import *', or unset it"
        raise OptionError(f"{origin}: these are not settings of sitemap-crawler: {remedy}")
    return module


def _nearest_project_file() -> ProjectFile | None:
    """Return the scrapy.cfg of the working directory or of the nearest directory above that has one."""
    try:
        here = Path.cwd()
        path = next((path for above in (here, *here.parents) if (path := above / "scrapy.cfg").is_file()), None)
    except OSError:
        return None
    if path is None:
        return None
    parser = RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
    except (ConfigError, UnicodeDecodeError, OSError):
        return ProjectFile(path)
    return ProjectFile(path, dict(parser["settings"]) if parser.has_section("settings") else {})


def read_site_file(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options and the Scrapy settings (table `settings`) of a TOML site file.

    Relative paths in the file become relative to the file's directory. Options that the table gives by the names of
    their settings are among the options. Raises OptionError if the file cannot be read or has a key that is not the
    name of an option.
    """
    try:
        values = read_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        found = f"cannot read the site file {path}: {error.strerror or error}"
        raise OptionError(f"{found}: give a readable file with --config") from error
    except UnicodeDecodeError as error:
        raise OptionError(f"the site file {path} is not UTF-8: save it as UTF-8") from error
    except ValueError as error:
        # The parser raises a plain ValueError for a number of thousands of digits.
        reason = error if isinstance(error, tomllib.TOMLDecodeError | NestingError) else "a number in it is too long"
        raise OptionError(f"the site file {path} is not TOML: {reason}: write each option as name = value") from error
    settings = values.pop("settings", {})
    if not isinstance(settings, dict):
        raise OptionError(f"{path}: settings must be a table of Scrapy settings: write [settings]")
    try:
        check_names(values, Options.model_fields, kind="key")
    except OptionError as error:
        raise OptionError(f"{path}: {error}") from error
    for name in PATH_OPTIONS:
        if isinstance(values.get(name), str) and "://" not in values[name]:
            values[name] = str(path.parent / values[name])
    for name in LIST_OPTIONS:
        if isinstance(values.get(name), list):
            values[name] = [_beside(path, source) if isinstance(source, str) else source for source in values[name]]
    for name in Options.model_fields:
        if Options.setting(name) in settings:
            values.setdefault(name, settings.pop(Options.setting(name)))
    return values, settings


def _beside(path: Path, source: str) -> str:
    return source if source == "-" or "://" in source else str(path.parent / source)


def find_site_files(given: Iterable[Path]) -> list[Path]:
    """Return the given files, and the files *.toml of the given directories in the order of their names.

    Raises OptionError for a directory that does not exist or has no such file. A missing file is a failure of its site.
    """
    files: dict[Path, Path] = {}
    for path in given:
        for file in _files_of(path):
            files.setdefault(file.resolve(), file)
    return list(files.values())


def _files_of(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists() and not path.suffix:
            raise OptionError(f"--config {path}: there is no such directory or file: give one that exists")
        return [path]
    try:
        entries = sorted(path.iterdir(), key=lambda entry: entry.name)
    except OSError as error:
        raise OptionError(f"--config {path}: cannot read the directory: {error.strerror or error}") from error
    files = [entry for entry in entries if entry.suffix == ".toml" and entry.name[0] != "." and not entry.is_dir()]
    if not files:
        raise OptionError(f"--config {path}: no site files are there: put files called *.toml in it")
    return files


@contextmanager
def naming_site_file(path: Path | None, values: Container[str], *, given: Container[str]) -> Iterator[None]:
    """Begin the message of an OptionError with the path of the site file if the unusable option is of that file.

    `values` are the options in the file, `given` the options that another source gives with priority. A start URL that
    is missing is missing in the file.
    """
    try:
        yield
    except OptionError as error:
        option = error.option
        if path is None or option is None or option in given:
            raise
        if option in values or option == "start_url":
            raise OptionError(f"{path}: {error}", option=option) from error
        raise


def apply_options(settings: Any, values: Mapping[str, Any], *, priority: str) -> None:
    """Set the options in `values` (by name) as Scrapy settings. Raises OptionError for an unknown name."""
    check_names(values, Options.model_fields, kind="option")
    for name, value in values.items():
        settings.set(Options.setting(name), value, priority=priority)
