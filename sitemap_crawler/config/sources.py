"""Where options come from: a site file, or values by name; both become Scrapy settings."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from sitemap_crawler.config.option_errors import OptionError, check_names
from sitemap_crawler.config.options import Options

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def apply_options(settings: Any, values: Mapping[str, Any], *, priority: str) -> None:
    """Put options by name into Scrapy settings. Raises OptionError for a name that is no option."""
    check_names(values, Options.model_fields, kind="option")
    for name, value in values.items():
        settings.set(Options.setting(name), value, priority=priority)


def read_site_file(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options and the Scrapy settings (table `settings`) of a TOML site file; its paths are relative to it.

    Raises OptionError when it can't be read or has a key that is no option.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"cannot read the site file {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise OptionError(f"the site file {path} is not UTF-8: save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise OptionError(f"the site file {path} is not TOML: {error}: write each option as name = value") from error
    settings = values.pop("settings", {})
    if not isinstance(settings, dict):
        raise OptionError(f"{path}: settings must be a table of Scrapy settings: write [settings]")
    try:
        check_names(values, Options.model_fields, kind="key")
    except OptionError as error:
        raise OptionError(f"{path}: {error}") from error
    for name in ("output", "report", "status", "log_file", "state", "client_certificate", "client_key", "ca_file"):
        if isinstance(values.get(name), str) and "://" not in values[name]:
            values[name] = str(path.parent / values[name])
    return values, settings
