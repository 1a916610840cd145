"""The place of an inventory: an SQLite file, or a schema of a PostgreSQL database."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from sitemap_crawler.exceptions import OptionError

if TYPE_CHECKING:
    from typing import TypeAlias

STATE_VARIABLE = "SITEMAP_STATE"
"""Environment variable with the inventory of commands that are given none, so that no password is on a command line."""
SERVER_SCHEMES = ("postgresql", "postgres")
_PARAMETER = re.compile(r"[A-Za-z_]{1,63}")
_OPEN_PARAMETERS = frozenset(
    (
        "application_name", "channel_binding", "client_encoding", "connect_timeout", "dbname", "gssencmode",
        "fallback_application_name", "gsslib", "host", "hostaddr", "keepalives", "keepalives_count", "keepalives_idle",
        "keepalives_interval", "krbsrvname", "load_balance_hosts", "options", "passfile", "port", "require_auth",
        "requirepeer", "service", "ssl_max_protocol_version", "ssl_min_protocol_version", "sslcert", "sslcompression",
        "sslcrl", "sslcrldir", "sslkey", "sslmode", "sslnegotiation", "sslrootcert", "sslsni", "target_session_attrs",
        "tcp_user_timeout", "user",
    )
)  # fmt: skip
"""Parameters that are shown. https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS"""
_SCHEMA = re.compile(r"(?!pg_|information_schema$)[A-Za-z0-9_.-]{1,63}")


@dataclass(frozen=True, slots=True, order=True)
class ServerLocation:
    """A schema of a PostgreSQL database. As text it has no password."""

    shown: str
    """URL of the database without password and schema."""
    schema: str | None
    """None stands for the schema that is derived from the site."""
    url: str = field(repr=False)
    """URL of the database with its password, if it has one, for SQLAlchemy."""
    has_password: bool = field(repr=False)

    def __str__(self) -> str:
        if self.schema is None:
            return self.shown
        return f"{self.shown}{'&' if '?' in self.shown else '?'}schema={self.schema}"

    @property
    def complete_url(self) -> str:
        """URL with password and schema, as `parse_server` reads it. Only for the environment of an own process."""
        url = self.url.replace("postgresql+psycopg:", "postgresql:", 1)
        return url if self.schema is None else f"{url}{'&' if '?' in url else '?'}schema={self.schema}"

    def with_schema(self, schema: str) -> ServerLocation:
        """Return the location with the schema, unless it names one."""
        return self if self.schema else ServerLocation(self.shown, schema, self.url, self.has_password)


StateLocation: TypeAlias = "Path | ServerLocation"


def parse_location(text: str) -> StateLocation:
    """Return the place of an inventory that a value of `--state` names. Raises OptionError."""
    scheme, colon, rest = text.partition(":")
    if not colon or scheme.lower() not in SERVER_SCHEMES:
        if rest.startswith("//") and scheme != "sqlite":
            raise OptionError("bad value for state: give a path, or the URL of a PostgreSQL database", option="state")
        return Path(text.removeprefix("sqlite:///"))
    try:
        return parse_server(text)
    except ValueError as error:
        raise OptionError(f"bad value for state: {error}", option="state") from None


def parse_server(text: str) -> ServerLocation:
    """Parse the URL of a PostgreSQL database. Raises ValueError, whose message has no part of the URL."""
    try:
        parts = urlsplit(text)
        parameters = parse_qsl(parts.query, keep_blank_values=True)
        _ = parts.port
    except ValueError:
        raise ValueError("write postgresql://USER@HOST/DATABASE?schema=NAME") from None
    is_url = parts.scheme in SERVER_SCHEMES and text.partition(":")[2].startswith("//")
    if not is_url or not text.isprintable() or parts.fragment:
        raise ValueError("write postgresql://USER@HOST/DATABASE?schema=NAME")
    names = [name for name, _ in parameters]
    if parts.netloc.count("@") > 1 or "@" in parts.path or not all(map(_PARAMETER.fullmatch, names)):
        raise ValueError("write signs of the password such as @ / : ? # in the percent encoding: %40 %2F %3A %3F %23")
    schemas = [value for name, value in parameters if name == "schema"]
    if len(schemas) > 1 or not all(map(_SCHEMA.fullmatch, schemas)):
        raise ValueError("give one schema, a name of at most 63 letters, digits, - . and _, which begins not with pg_")
    others = [(name, value) for name, value in parameters if name != "schema"]
    login, at, host = parts.netloc.rpartition("@")
    user, _, password = login.partition(":")
    open_parameters = [(name, value) for name, value in others if name in _OPEN_PARAMETERS]
    return ServerLocation(
        shown=_url("postgresql", f"{user}{at}{host}", parts.path, urlencode(open_parameters, safe="/")),
        schema=schemas[0] if schemas else None,
        url=_url("postgresql+psycopg", parts.netloc, parts.path, urlencode(others)),
        has_password=bool(password) or any("password" in name.lower() for name, _ in others),
    )


def _url(scheme: str, netloc: str, path: str, query: str) -> str:
    # urlunsplit leaves out the slashes of an empty authority.
    return f"{scheme}://{netloc}{path}{'?' if query else ''}{query}"
