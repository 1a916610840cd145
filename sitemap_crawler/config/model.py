"""The base of the option models: properties of an option outside the model, validation, and messages for errors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from sitemap_crawler.config.types import check_names
from sitemap_crawler.exceptions import OptionError, ScopeError

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTING_PREFIX = "SITEMAP_"
_BEFORE_AT = re.compile(r"^(https?:[/\\]*+)?+.*@", re.IGNORECASE | re.DOTALL)
_PASSWORD = re.compile(r"(password=)[^&]*", re.IGNORECASE)
_URL_OPTIONS = frozenset(
    ("start_url", "sitemap_url", "public_url", "seed_sitemap", "state", "urls", "bing_site", "indexnow_key_location")
)
"""Options whose values are URLs. A message must not repeat a user and password in them."""
_WORDS = {
    "int_parsing": "give a whole number",
    "int_type": "give a whole number",
    "int_from_float": "give a whole number",
    "float_parsing": "give a number",
    "float_type": "give a number",
    "finite_number": "give a number",
    "bool_parsing": "give true or false",
    "bool_type": "give true or false",
    "string_type": "give a text",
    "path_type": "give a text, the path of a file or directory",
    "tuple_type": "give a list of texts",
    "enum": "give {expected}",
    "greater_than_equal": "give {ge} or more",
    "less_than_equal": "give {le} or less",
    "greater_than": "give a number above {gt}",
}
"""Remedies by the type of a validation error, https://docs.pydantic.dev/latest/errors/validation_errors/"""


@dataclass(frozen=True, slots=True)
class Flag:
    """Properties of an option outside the model."""

    setting: str | None = None
    """Name of the Scrapy setting with this meaning, if there is one."""
    metavar: str = ""
    short: str | None = None
    cli: bool = True
    """Whether the command line has the option. All options are settings and keys of site files."""
    remembered: bool = False
    """Whether the option affects decisions or files, so that the inventory stores it for `write`."""
    crawling: bool = False
    """Whether the option affects the crawl, so that a resumed run with another value warns."""
    secret: bool = False
    """Whether the value may be neither shown nor stored."""


class OptionModel(BaseModel):
    """Base of the option models. Values are immutable and validated when they are made."""

    # The validator is built on first use, because --help and other commands do not need it.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    def flags(cls) -> dict[str, Flag]:
        """Return the flags of all options by name."""
        return {name: cls.flag(name) for name in cls.model_fields}

    @classmethod
    def flag(cls, name: str) -> Flag:
        """Return the flag of the option `name`."""
        return next(item for item in cls.model_fields[name].metadata if isinstance(item, Flag))

    @classmethod
    def setting(cls, name: str) -> str:
        """Return the name of the Scrapy setting of the option `name`."""
        return cls.flag(name).setting or SETTING_PREFIX + name.upper()

    @classmethod
    def meant_settings(cls) -> dict[str, str]:
        """Return the real settings by the names SITEMAP_<OPTION> that options with a setting of Scrapy do not have."""
        named = {SETTING_PREFIX + name.upper(): cls.setting(name) for name in cls.model_fields}
        return {guess: setting for guess, setting in named.items() if guess != setting}

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> Self:
        """Validate values by option name. Raises OptionError with the first problem."""
        check_names(values, cls.model_fields, kind="option")
        for name, value in values.items():
            # pydantic would accept True as the number 1.
            if isinstance(value, bool) and cls.model_fields[name].annotation not in (bool, bool | None):
                raise OptionError(f"bad value {value} for {name}: it is not a switch", option=name)
        try:
            return cls.model_validate(dict(values))
        except ScopeError as error:
            raise OptionError(str(error)) from error
        except ValidationError as error:
            raise _first_problem(cls, error) from error


def _first_problem(model: type[OptionModel], error: ValidationError) -> OptionError:
    problem = error.errors(include_url=False)[0]
    words = _WORDS.get(problem["type"])
    message = words.format(**problem.get("ctx", {})) if words else problem["msg"].removeprefix("Value error, ")
    if not problem["loc"]:
        return OptionError(message)
    name = str(problem["loc"][0])
    if problem["type"] == "missing":
        message = f"{name} is missing: give the URL of the page where the crawl starts"
    elif isinstance(problem["input"], (list, tuple)) or model.flag(name).secret:
        message = f"{name}: {message}"
    else:
        # The message must not repeat a possible user and password in a URL.
        value = str(problem["input"])
        if name in _URL_OPTIONS:
            value = _PASSWORD.sub(r"\1…", _BEFORE_AT.sub(r"\1…@", value))
        shown = value if len(value) <= 200 else value[:200] + "…"
        message = f"bad value {shown!r} for {name}: {message}"
    return OptionError(message, option=name)
