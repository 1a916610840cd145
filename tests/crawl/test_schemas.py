"""Reports and status files of real runs are as the JSON Schemas in docs/reference/schemas/ say, key by key."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from tests.support.example_site import WWW, serve_example_site
from tests.support.paths import ROOT
from tests.support.webserver import Answer, LoggedRequest, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program
    from tests.support.webserver import WebServer

SCHEMAS = ROOT / "docs" / "reference" / "schemas"


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without room for keys that it does not name, so that a new key has to be described."""
    changed = {key: strict(value) if isinstance(value, dict) else value for key, value in schema.items()}
    if "properties" in schema:
        changed |= {"additionalProperties": False}
        changed["properties"] = {name: strict(value) for name, value in schema["properties"].items()}
    return changed


def check(path: Path, name: str) -> dict[str, Any]:
    """Validate a JSON file, and return it."""
    return check_text(path.read_text(encoding="utf-8"), name)


def check_text(text: str, name: str) -> dict[str, Any]:
    """Validate a JSON text, and return it."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    found: dict[str, Any] = json.loads(text)
    validator = Draft202012Validator(strict(schema))
    assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(found)] == []
    return found


@pytest.fixture
def example(program: Program, site: WebServer) -> WebServer:
    serve_example_site(program, site)
    return site


FILES = ("--report", "report.json", "--status", "status.json")


def check_both(program: Program) -> tuple[dict[str, Any], dict[str, Any]]:
    return check(program.directory / "report.json", "report"), check(program.directory / "status.json", "status")


def test_runs_that_publish_and_change(program: Program, example: WebServer) -> None:
    assert program.run("crawl", f"{WWW}/", *FILES).code == 0
    report, status = check_both(program)
    assert (report["outcome"], status["outcome"], status["state"]) == ("published", "published", "done")
    assert report["diff"]["added"]
    assert report["warnings"]
    # Another date, a page more, a page less, several files.
    example.pages[f"{WWW}/docs/page"] = page("/docs/", "/new", body="<p>Another paragraph.</p>")
    example.pages[f"{WWW}/new"] = page("/")
    example.pages[f"{WWW}/p/boot"] = Answer("gone", status=410)
    assert program.run("crawl", f"{WWW}/", *FILES, "--max-urls", "5", "--gzip").code == 0
    report, _ = check_both(program)
    assert all(report["changes"].values())
    assert len(report["files"]) > 2
    assert program.run("crawl", f"{WWW}/", *FILES, "--dry-run").code == 0
    assert check_both(program)[0]["outcome"] == "dry-run"


def test_hosts(program: Program, example: WebServer) -> None:
    assert program.run("crawl", f"{WWW}/", *FILES, "--subdomains").code == 0
    assert [row["host"] for row in check_both(program)[0]["hosts"]] == ["blog.example.com", "www.example.com"]


def test_shapes_hints_and_refusals(program: Program, example: WebServer) -> None:
    example.pages |= {f"{WWW}/list/{number}": page("/") for number in range(60)}
    example.pages[f"{WWW}/about"] = page(*(f"/list/{number}" for number in range(60)))
    assert program.run("crawl", f"{WWW}/", *FILES).code == 0
    assert check_both(program)[0]["shapes"]["listed"]
    example.pages[f"{WWW}/about"] = page()
    assert program.run("crawl", f"{WWW}/", *FILES, "--exclude", "/list/").code == 3
    report, status = check_both(program)
    assert (report["outcome"], status["exit_code"]) == ("refused", 3)
    example.pages[f"{WWW}/"] = page(body="<p>Nothing leads on.</p>")
    assert program.run("crawl", f"{WWW}/", *FILES, "--fresh", "--allow-shrink", "--max-pages", "1").code == 0
    assert check_both(program)[0]["listed"]


def test_a_run_that_could_not_begin(program: Program, example: WebServer) -> None:
    (program.directory / "file").write_text("in the way")
    assert program.run("crawl", f"{WWW}/", *FILES, "-o", "file/sitemaps").code == 1
    report, status = check_both(program)
    assert (report["run"], status["state"]) == (0, "done")


def test_a_usage_error_that_the_inventory_shows(program: Program, example: WebServer) -> None:
    state = ("--state", "one.sqlite")
    assert program.run("crawl", f"{WWW}/", *FILES, *state).code == 0
    assert program.run("crawl", "http://blog.example.com/", *FILES, *state, "-o", "blog").code == 2
    report, status = check_both(program)
    assert [(found["outcome"], found["exit_code"]) for found in (report, status)] == [("usage-error", 2)] * 2


def test_the_status_of_a_run_that_is_under_way(program: Program, example: WebServer) -> None:
    reached = threading.Event()
    seen: list[dict[str, Any]] = []

    def slow(_request: LoggedRequest) -> Answer:
        seen.append(check(program.directory / "status.json", "status"))
        reached.set()
        return Answer(page())

    example.pages[f"{WWW}/docs/page"] = slow
    assert program.run("crawl", f"{WWW}/", *FILES).code == 0
    assert reached.is_set()
    assert [(status["state"], status["outcome"]) for status in seen] == [("crawling", None)]


def test_several_sites(program: Program, example: WebServer) -> None:
    for name, lines in {
        "a": f'start_url = "{WWW}/"\noutput = "a"',
        "b": 'start_url = "http://blog.example.com/nothing"\noutput = "b"',
        "c": 'start_url = "http://blog.example.com/"\nno_such_key = 1',
    }.items():
        (program.directory / f"{name}.toml").write_text(f"{lines}\n")
    files = [word for name in "abc" for word in ("--config", f"{name}.toml")]
    assert program.run("crawl", *files, "--report", "all.json").code == 2
    report = check(program.directory / "all.json", "sites-report")
    assert [site["outcome"] for site in report["sites"]] == ["published", "refused", "usage-error"]
    for number, site in enumerate(report["sites"]):
        if site["report"] is not None:
            path = program.directory / f"{number}.json"
            path.write_text(json.dumps(site["report"]))
            check(path, "report")
