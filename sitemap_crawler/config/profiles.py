"""Which settings a run builds on: the program's own, or the profile that Scrapy's environment variables choose.

`SCRAPY_SETTINGS_MODULE` names a module, `SCRAPY_PROJECT` an entry in the nearest scrapy.cfg, as they do for the command
`scrapy`: https://docs.scrapy.org/en/latest/topics/commands.html#sharing-the-root-directory-between-projects. A
scrapy.cfg of another project means nothing to this program.
"""

from __future__ import annotations

import os
import sys
from configparser import Error as ConfigError
from configparser import RawConfigParser
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sitemap_crawler.config.option_errors import OptionError
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from types import ModuleType

OWN = "sitemap_crawler.settings"
CORE = ("SCHEDULER", "ITEM_PROCESSOR", "TWISTED_REACTOR_ENABLED")
"""Settings without which a crawl would be another program's."""


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """The nearest scrapy.cfg."""

    path: Path
    modules: dict[str, str] = field(default_factory=dict)
    """Its settings modules by project."""

    @property
    def is_ours(self) -> bool:
        return OWN in self.modules.values()


def settings_module() -> ModuleType:
    """The settings that the environment chooses, imported. Raises OptionError for what can't be used."""
    file = _nearest_file()
    chosen = os.environ.get("SCRAPY_SETTINGS_MODULE")
    if chosen:
        return _imported(chosen, file, given=f"SCRAPY_SETTINGS_MODULE={chosen}")
    project = os.environ.get("SCRAPY_PROJECT") or "default"
    if file is None or not file.is_ours:
        if project != "default":
            raise OptionError(f"SCRAPY_PROJECT={project}: {_no_file(file)}; unset it, or go to the project's directory")
        return import_module(OWN)
    # ConfigParser knows the names of a file in lower case only.
    module = file.modules.get(project.lower(), OWN if project == "default" else "")
    if not module:
        names = ", ".join(file.modules)
        raise OptionError(f"SCRAPY_PROJECT={project}: {file.path} has no such project: give one of {names}")
    return _imported(module, file, given=f"{project} = {module} in {file.path}")


def _no_file(file: ProjectFile | None) -> str:
    if file is None:
        return "there is no scrapy.cfg here or in a directory above"
    return f"{file.path} is another project's, as it does not name {OWN}"


def _imported(name: str, file: ProjectFile | None, *, given: str) -> ModuleType:
    if file is not None and str(file.path.parent) not in sys.path:
        # Last, as Scrapy does: a project's modules shadow nothing.
        sys.path.append(str(file.path.parent))
    try:
        module = import_module(name)
    except Exception as error:
        reason = printable(f"{type(error).__name__}: {error}")
        raise OptionError(f"{given}: cannot import these settings ({reason}): correct or unset it") from error
    own = import_module(OWN)
    if any(getattr(module, core, None) != getattr(own, core) for core in CORE):
        advice = f"begin them with 'from {OWN} import *', or unset it"
        raise OptionError(f"{given}: these are not settings of sitemap-crawler: {advice}")
    return module


def _nearest_file() -> ProjectFile | None:
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
