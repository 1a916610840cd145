"""The place of an inventory as a value of --state: files, and URLs of databases without and with secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from sitemap_crawler.config.options import Options
from sitemap_crawler.config.state_location import STATE_VARIABLE, parse_location, parse_server
from sitemap_crawler.crawl.submission import _command, _environment
from sitemap_crawler.exceptions import OptionError


@pytest.mark.parametrize(
    ("text", "shown", "database", "host", "has_password"),
    [
        ("postgresql://u@h/db?schema=a", "postgresql://u@h/db?schema=a", "db", "h", False),
        ("postgres://u:p@h:6000/db", "postgresql://u@h:6000/db", "db", "h", True),
        ("postgresql:///db?host=/run/x", "postgresql:///db?host=/run/x", "db", None, False),
        ("postgresql:///?service=x&schema=a", "postgresql:///?service=x&schema=a", None, None, False),
        ("postgresql://h/db?password=p&sslmode=require", "postgresql://h/db?sslmode=require", "db", "h", True),
        ("postgresql://u:a%40b@h/db", "postgresql://u@h/db", "db", "h", True),
        ("PostgreSQL://u@h/db", "postgresql://u@h/db", "db", "h", False),
        ("postgresql://u@h/db?pasword=secret&sslmode=require", "postgresql://u@h/db?sslmode=require", "db", "h", False),
    ],
)
def test_urls_of_databases(text: str, shown: str, database: str | None, host: str | None, has_password: bool) -> None:
    location = parse_server(text)
    assert (str(location), location.has_password) == (shown, has_password)
    url = make_url(location.url)
    assert (url.drivername, url.database or None, url.host or None) == ("postgresql+psycopg", database, host)
    assert "schema" not in url.query
    assert parse_server(location.complete_url) == location
    assert make_url(parse_server(location.complete_url).url) == url
    assert location.url not in repr(location)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql:/u:secret@h/db",
        "postgresql:u:secret@h/db",
        "POSTGRES:/u:secret@h/db",
        "postgresql://u:x@secret@h/db",
        "postgresql://u:x/secret@h/db",
        "postgresql://u:1/secret@h/db",
        "postgresql://u:1?secret@h/db",
        "postgresql://u:1?x=1&secret@h/db",
        "postgresql://u:x#secret@h/db",
    ],
)
def test_urls_that_are_none_are_refused_without_their_password(text: str) -> None:
    with pytest.raises(OptionError) as raised:
        parse_location(text)
    assert "secret" not in str(raised.value)
    assert "postgresql://USER@HOST/DATABASE" in str(raised.value) or "%40" in str(raised.value)


def test_files() -> None:
    assert parse_location("a.sqlite") == Path("a.sqlite")
    assert parse_location("sqlite:////var/a.sqlite") == Path("/var/a.sqlite")
    with pytest.raises(OptionError) as raised:
        parse_location("mysql://u:secret@host/db")
    assert "secret" not in str(raised.value)


def test_the_command_that_a_crawl_runs_gets_the_password_by_its_environment() -> None:
    options = Options.parse({"start_url": "https://www.example.com/", "indexnow_key": ["0123456789abcdef"]})
    location = parse_server("postgresql://u:secret@h/db?schema=a")
    assert "secret" not in " ".join(_command(options, location))
    assert parse_server(_environment(options, location)[STATE_VARIABLE]).url == location.url
    assert "--state=a.sqlite" in _command(options, Path("a.sqlite"))
