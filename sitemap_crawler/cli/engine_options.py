"""Parts that the commands for search engines share: their options from all sources, and the services that are meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sitemap_crawler.config.options import Options
from sitemap_crawler.exceptions import CredentialsError, OptionError
from sitemap_crawler.utils.runtime import echo
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sitemap_crawler.config.state_location import StateLocation

_CONFIGURED_BY = {
    "google": ("google_credentials", "google_property"),
    "bing": ("bing_key",),
    "indexnow": ("indexnow_key",),
}
"""Options that configure each service."""
_VARIABLES = {
    "google": "GOOGLE_APPLICATION_CREDENTIALS", "bing": "BING_WEBMASTER_API_KEY", "indexnow": "INDEXNOW_KEY",
}  # fmt: skip


def site_file_values(file: Path | None) -> dict[str, Any]:
    """Return the options in a site file. Raises OptionError."""
    from sitemap_crawler.config.sources import read_site_file

    return {} if file is None else read_site_file(file)[0]


def meant_services(
    to: str | None, given: Mapping[str, Any], possible: Sequence[str], *, may_be_none: bool = False
) -> tuple[str, ...]:
    """Return the services that `--to` names, or else the configured ones.

    Raises OptionError, and CredentialsError if none is configured, unless there may be none.
    """
    if to is None:
        found = tuple(name for name in possible if any(given.get(option) for option in _CONFIGURED_BY[name]))
        if not found and not may_be_none:
            keys = " or ".join(_CONFIGURED_BY[name][0] for name in possible)
            variables = ", ".join(_VARIABLES[name] for name in possible)
            raise CredentialsError(
                "no search engine is configured", advice=f"give {keys} in the site file (--config), or set {variables}"
            )
        return found
    names = [name.strip().lower() for name in to.split(",") if name.strip()]
    unknown = next((name for name in names if name not in possible), None)
    if unknown is not None or not names:
        raise OptionError(f"--to {printable(to)}: give one or more of {', '.join(possible)}")
    return tuple(name for name in possible if name in names)


def engine_options(
    path: StateLocation, file: Path | None, site_values: Mapping[str, Any], given: Mapping[str, Any]
) -> Options:
    """Return the options of a site file, and of environment and command line (`given`), which win over it.

    The start URL and the user agent are those of the crawl, in the inventory at `path`. Raises OptionError.
    """
    from sitemap_crawler.config.sources import naming_site_file
    from sitemap_crawler.inventory.lookup import open_inventory

    with open_inventory(path) as inventory:
        run = inventory.run
    remembered = {name: run.options[name] for name in ("user_agent",) if name in run.options}
    with naming_site_file(file, site_values, given=given):
        return Options.parse_with_access({"start_url": run.requested_url, **remembered, **site_values, **given})


def warn_of_readable(file: Path | None, site_values: Mapping[str, Any]) -> None:
    """Print a warning if other users can read the secrets in a site file."""
    from sitemap_crawler.utils.replace import is_private

    secrets = sorted(name for name in site_values if Options.flag(name).secret)
    if file is not None and secrets and not is_private(file):
        echo(f"Warning: other users can read {', '.join(secrets)} in {printable(str(file))}: chmod 600 it", err=True)
