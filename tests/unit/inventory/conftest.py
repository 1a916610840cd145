"""Tests of the inventory run on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.postgres_server import needs_postgres

if TYPE_CHECKING:
    from pathlib import Path

    from sitemap_crawler.config.state_location import StateLocation
    from tests.support.postgres_server import PostgresServer


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=needs_postgres)])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> StateLocation:
    """The place of a new inventory: a file, and a schema of a database that sorts texts by a language."""
    if request.param == "sqlite":
        return tmp_path / "state.sqlite"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.location()
