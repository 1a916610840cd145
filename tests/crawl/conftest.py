"""Fixtures of the tests that run the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.search_engines import FakeIndexNow
from tests.support.secure_server import serving_tls

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def secure_site(tmp_path: Path) -> Iterator[str]:
    with serving_tls(tmp_path / "certificate.pem") as url:
        yield url


@pytest.fixture
def engine() -> Iterator[FakeIndexNow]:
    """A stand-in of IndexNow."""
    with FakeIndexNow() as service:
        yield service
