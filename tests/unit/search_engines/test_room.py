"""What the package of search engines may load and call."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = ROOT / "sitemap_crawler"
ROOM = PACKAGE / "search_engines"
CLIENTS = ("http_client", "google_login", "google", "bing", "indexnow")


def modules_after(code: str) -> set[str]:
    command = [sys.executable, "-c", f"{code}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("path", sorted(ROOM.glob("*.py")), ids=lambda path: path.name)
def test_endpoints_that_are_gone_are_not_called(path: Path) -> None:
    """Google's and Bing's ping answer 404 and 410, and the Indexing API is for other pages than ours."""
    text = path.read_text(encoding="utf-8")
    assert [word for word in ("/ping", "urlNotifications", "indexing.googleapis.com") if word in text] == []


def test_the_clients_load_google_auth_when_they_need_it() -> None:
    loaded = modules_after("".join(f"import sitemap_crawler.search_engines.{name}\n" for name in CLIENTS))
    assert "requests" in loaded
    assert not {name for name in loaded if name.split(".")[:2] in (["google", "auth"], ["google", "oauth2"])}
    assert not {"scrapy", "twisted", "aiohttp", "lxml", "sqlalchemy"} & loaded


def test_results_load_no_client() -> None:
    loaded = modules_after("import sitemap_crawler.search_engines.results")
    assert not {"requests", "pydantic", "sqlalchemy"} & loaded


def test_no_other_package_loads_the_clients_before_it_needs_them() -> None:
    """Imports inside functions are run when the function is."""
    found: list[str] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if ROOM in path.parents:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [f"{path.name}: {name}" for name in names if name.startswith("sitemap_crawler.search_engines")]
    assert found == []
