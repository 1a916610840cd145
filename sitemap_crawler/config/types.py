"""Types of the values of options: their conversion and validation, and the check of names."""

from __future__ import annotations

import re
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BeforeValidator, SecretStr

from sitemap_crawler.config.credentials import basic_authorization, parse_header
from sitemap_crawler.config.state_location import SERVER_SCHEMES, parse_server
from sitemap_crawler.exceptions import OptionError
from sitemap_crawler.sitemap.news import news_language
from sitemap_crawler.sitemap.sections import Sections
from sitemap_crawler.urls.normalise import Resolver, split_credentials
from sitemap_crawler.utils.nesting import read_json
from sitemap_crawler.utils.patterns import UserPattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def check_names(
    names: Iterable[str],
    known: Iterable[str],
    *,
    kind: str,
    otherwise: str = "see --help for the names",
    meant: Mapping[str, str] | None = None,
) -> None:
    """Raise OptionError for the first unknown name.

    The message suggests the name in `meant`, else the most similar known name. It gives the remedy `otherwise` if no
    known name is similar.
    """
    known = list(known)
    for name in names:
        if name not in known:
            # Two swapped letters make a short name less similar than a long one.
            near = [meant[name]] if meant and name in meant else []
            near = near or get_close_matches(name, known, n=1, cutoff=0.75 if len(name) > 4 else 0.6)
            hint = f"did you mean {near[0]}?" if near else otherwise
            raise OptionError(f"unknown {kind} {name}: {hint}")


_HOST_START = re.compile(r"[\w-]++\.[\w-]")
_MEDIA_TYPE = re.compile(r"[\w.+-]++/[\w.+-]++", re.ASCII)


class Format(StrEnum):
    """A format of sitemap files."""

    XML = "xml"
    TXT = "txt"
    RSS = "rss"
    ATOM = "atom"
    HTML = "html"


class RenderMode(StrEnum):
    """Which pages a browser renders."""

    NEVER = "never"
    AUTO = "auto"
    ALWAYS = "always"


class SubresourceHosts(StrEnum):
    """The hosts that the scripts of a page may ask, in addition to the origin of the start page."""

    SITE = "site"
    PUBLIC = "public"
    NONE = "none"


def _absolute_url(value: str) -> str:
    bare, user, _ = split_credentials(value)
    if user is not None:
        raise ValueError("a URL with user and password is not supported: remove them and give --auth USER:PASSWORD")
    url = Resolver(()).normalise(bare)
    if url is None:
        hint = f"; did you mean https://{value.strip('/')}/ ?" if _HOST_START.match(value) else ""
        raise ValueError(f"it is not an absolute http or https URL{hint}")
    return url


def _compilable(value: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in value:
        UserPattern(pattern)
    return value


def list_of_text(value: Any) -> Any:
    """Return the list that a text means (from `-s` or Scrapyd): a JSON list, or else the text as the only value."""
    if isinstance(value, str):
        text = value.strip()
        return read_json(text) if text.startswith("[") and _is_json(text) else [value]
    return value


def _is_json(text: str) -> bool:
    try:
        read_json(text)
    except ValueError:
        return False
    return True


def _media_types(value: tuple[str, ...]) -> tuple[str, ...]:
    invalid = [text for text in value if not _MEDIA_TYPE.fullmatch(text)]
    if invalid or not value:
        raise ValueError('write a list of types such as ["text/html", "application/pdf"]')
    return value


def _state_location(value: str) -> str:
    if not value.strip():
        raise ValueError("give the path of a file")
    if "\0" in value:
        raise ValueError("it has a NUL character: choose another name")
    scheme, separator, rest = value.partition("://")
    if not separator:
        return value
    if scheme in SERVER_SCHEMES:
        parse_server(value)
        return value
    if scheme != "sqlite":
        raise ValueError(f"{scheme} databases are not supported: give the path of an SQLite file")
    return rest.removeprefix("/")


def _given_path(value: object) -> object:
    if value == "":
        raise ValueError("it is empty: give a name, or leave the option out")
    return value


def _text_path(value: Path) -> Path:
    if "\0" in str(value):
        raise ValueError("it has a NUL character: choose another name")
    try:
        str(value).encode()
    except UnicodeEncodeError as error:
        raise ValueError("its name is not UTF-8: choose another") from error
    return value


def _plain_text(value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise ValueError("it must be printable text that is not empty")
    return value


def _headers(value: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
    for line in value:
        parse_header(line.get_secret_value())
    return value


def _login(value: SecretStr) -> SecretStr:
    basic_authorization(value.get_secret_value())
    return value


def _news_language(value: str) -> str:
    language = news_language(value)
    if language is None:
        raise ValueError("give a language code such as en, or zh-cn")
    return language


def _formats(value: tuple[Format, ...]) -> tuple[Format, ...]:
    if not value:
        raise ValueError("give at least one of xml, txt, rss, atom and html")
    return tuple(dict.fromkeys(value))


def _sections(value: tuple[str, ...]) -> tuple[str, ...]:
    Sections.parse(value)
    return value


def _list_sources(value: tuple[str, ...]) -> tuple[str, ...]:
    sources = []
    for source in value:
        if source[:8].lower().startswith(("http://", "https://")):
            sources.append(_absolute_url(source))
            continue
        if not source.strip() or "\0" in source:
            raise ValueError("give the name of a file, a URL, or - for the standard input")
        _text_path(Path(source))
        sources.append(source)
    return tuple(sources)


def _log_sources(value: tuple[str, ...]) -> tuple[str, ...]:
    sources = _list_sources(value)
    for source in sources:
        if "://" in source:
            raise ValueError("a log is a file of this machine: give the name of a file, or - for the standard input")
    return sources


def columns_of(pairs: Iterable[str]) -> dict[str, str]:
    """Return the columns in texts such as `url=loc,lastmod=updated_at`, by the names of the values."""
    parts = [part.strip() for text in pairs for part in text.split(",")]
    split = [part.partition("=") for part in parts if part]
    return {name.strip().lower(): column.strip() for name, _, column in split}


def _list_columns(value: tuple[str, ...]) -> tuple[str, ...]:
    for name, column in columns_of(value).items():
        if name not in LIST_VALUES or not column:
            known = ", ".join(LIST_VALUES)
            raise ValueError(f"{name}={column} is not NAME=COLUMN: give columns of {known}, such as url=loc")
        if column.isascii() and column.isdecimal() and not int(column[:9]):
            raise ValueError(f"{name}={column} names no column: columns are numbered from 1")
    return value


LIST_VALUES = ("url", "lastmod", "images", "videos", "section")
"""Values that an entry of a list can have."""
TextPath = Annotated[Path, BeforeValidator(_given_path), AfterValidator(_text_path)]
PublicUrl = Annotated[str, AfterValidator(_absolute_url)]
PublicUrls = Annotated[tuple[PublicUrl, ...], BeforeValidator(list_of_text)]
Patterns = Annotated[tuple[str, ...], BeforeValidator(list_of_text), AfterValidator(_compilable)]
Texts = Annotated[tuple[str, ...], BeforeValidator(list_of_text)]
ListSources = Annotated[tuple[str, ...], BeforeValidator(list_of_text), AfterValidator(_list_sources)]
LogSources = Annotated[tuple[str, ...], BeforeValidator(list_of_text), AfterValidator(_log_sources)]
ListColumns = Annotated[tuple[str, ...], BeforeValidator(list_of_text), AfterValidator(_list_columns)]
MediaTypes = Annotated[Texts, AfterValidator(_media_types)]
StateLocation = Annotated[str, AfterValidator(_state_location)]
PlainText = Annotated[str, AfterValidator(_plain_text)]
HeaderLines = Annotated[tuple[SecretStr, ...], BeforeValidator(list_of_text), AfterValidator(_headers)]
Login = Annotated[SecretStr, AfterValidator(_login)]
NewsLanguage = Annotated[str, AfterValidator(_news_language)]
Formats = Annotated[tuple[Format, ...], BeforeValidator(list_of_text), AfterValidator(_formats)]
SectionRules = Annotated[tuple[str, ...], BeforeValidator(list_of_text), AfterValidator(_sections)]
