"""On a real Scrapyd: an egg that scrapyd-deploy builds, jobs by its HTTP API, what their logs and reports say."""

from __future__ import annotations

import json
import subprocess
from fnmatch import fnmatch
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

from sitemap_crawler.validation.entries import read_entries
from tests.support.gated_site import PAGES, Gate, build
from tests.support.postgres_server import needs_postgres
from tests.support.scrapyd_server import (
    PROJECT,
    REQUIREMENTS,
    ROOT,
    NoIndexError,
    Scrapyd,
    copy_checkout,
    environment,
    make_environment,
)
from tests.support.star_site import PAGES as STAR_PAGES
from tests.support.star_site import Star, answer_when_shared
from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.postgres_server import PostgresServer

pytestmark = pytest.mark.slow

# items_dir and jobs_dir give every job FEEDS and JOBDIR, which must not disturb it.
SETTINGS = {"items_dir": "items", "jobs_dir": "jobs", "jobs_to_keep": "100"}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once, for all processes that run tests."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared if shared.name.startswith("pytest-") else shared.parent
    directory, outcome = shared / "scrapyd", shared / "scrapyd.json"
    with FileLock(shared / "scrapyd.lock"):
        if not outcome.exists():
            try:
                make_environment(directory)
                outcome.write_text('""')
            except NoIndexError as error:
                outcome.write_text(json.dumps(str(error)))
    if problem := json.loads(outcome.read_text()):
        pytest.skip(f"Scrapyd can't be installed here: {problem}")
    return directory / "bin"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("deploy") / "checkout"
    copy_checkout(directory)
    return directory


@pytest.fixture(scope="module")
def scrapyd(programs: Path, checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrapyd]:
    with Scrapyd(programs, tmp_path_factory.mktemp("server"), SETTINGS) as server:
        config = checkout / "scrapy.cfg"
        default = "url = http://localhost:6800/"
        assert default in config.read_text().splitlines()
        config.write_text(config.read_text().replace(default, f"url = {server.url}/"))
        deployed = subprocess.run(
            [programs / "scrapyd-deploy", "--version", "first"],
            cwd=checkout,
            env=environment(no_proxy="127.0.0.1"),
            capture_output=True,
            text=True,
            check=False,
        )
        assert deployed.returncode == 0, deployed.stderr + deployed.stdout
        yield server


@pytest.fixture
def job(tmp_path: Path) -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"{tmp_path.name}-{next(numbers)}"


class Places:
    """The directories of one site, and what its jobs are given."""

    def __init__(self, directory: Path) -> None:
        self.output = directory / "public"
        self.report_path = directory / "report.json"
        self.settings = [
            f"SITEMAP_OUTPUT={self.output}",
            f"SITEMAP_STATE={directory / 'site.sqlite'}",
            f"SITEMAP_REPORT={self.report_path}",
        ]

    @property
    def report(self) -> dict[str, Any]:
        return dict(json.loads(self.report_path.read_text(encoding="utf-8")))

    def listed(self) -> list[str]:
        return [entry.loc for entry in read_entries((self.output / "sitemap.xml").read_bytes())]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def test_the_environment_has_the_package_from_the_egg_alone(programs: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [programs / "python", "-c", "import scrapy, scrapyd, sitemap_crawler"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.splitlines()[-1:] == ["ModuleNotFoundError: No module named 'sitemap_crawler'"]


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_the_documents_install_what_these_tests_do(requirement: str) -> None:
    assert requirement in (ROOT / "docs" / "deploy" / "scrapyd.md").read_text(encoding="utf-8")


def test_the_egg_has_the_spider(scrapyd: Scrapyd) -> None:
    assert scrapyd.get("listprojects.json")["projects"] == ["sitemap_crawler"]
    assert scrapyd.get("listversions.json", project="sitemap_crawler")["versions"] == ["first"]
    assert scrapyd.get("listspiders.json", project="sitemap_crawler")["spiders"] == ["site"]


def test_a_deploy_leaves_only_what_git_ignores(scrapyd: Scrapyd, checkout: Path) -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    left = [f"/{path.name}" + "/" * path.is_dir() for path in checkout.iterdir() if path.name not in PROJECT]
    assert "/build/" in left
    assert [name for name in left if not any(fnmatch(name, f"*{pattern}") for pattern in ignored)] == []


def test_a_job_publishes_and_tells_of_it(
    scrapyd: Scrapyd, site: WebServer, places: Places, job: Callable[[], str]
) -> None:
    languages = '<link rel="alternate" hreflang="en" href="/"><link rel="alternate" hreflang="de" href="/de">'
    linked = page("/de", "/a", "/tag/x", "/author/y", head=languages)
    site.pages.update({"/": linked, "/de": page("/", head=languages), "/a": page()})
    name = job()
    excluded = 'SITEMAP_EXCLUDE=["/tag/", "/author/"]'
    settings = [*places.settings, excluded]
    # What begins with an underscore is Scrapyd's: _job, always, and _version.
    scrapyd.schedule(name, url=site.url("/"), _version="first", _other="x", settings=settings)
    log = scrapyd.wait(name)
    assert places.listed() == [site.url("/"), site.url("/a"), site.url("/de")]
    assert b'hreflang="de"' in (places.output / "sitemap.xml").read_bytes()
    report = places.report
    assert (report["outcome"], report["listed"], report["run"]) == ("published", 3, 1)
    assert report["excluded"] == {"excluded-by-rule": 2}
    [line] = [line for line in log.splitlines() if "[sitemap_crawler.crawl.extensions.exporter]" in line]
    assert line.partition("] ")[2] == (
        f"INFO: published: 3 pages listed in {places.output / 'sitemap.xml'} "
        "(run 1; 4 requests; 3 added, 0 changed, 0 removed; 2 not listed; 1 file, 1 written anew)"
    )
    assert " DEBUG: " not in log
    assert " WARNING: " not in log
    assert scrapyd.exit_of(name) == "Process finished:"
    assert [path for path in (scrapyd.directory / "items").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        ({"ulr": "x"}, [], "unknown spider argument ulr: did you mean url?"),
        ({"max_page": "5"}, [], "unknown spider argument max_page: did you mean max_pages?"),
        ({}, ["SITEMAP_MAX_PAGE=5"], "unknown setting SITEMAP_MAX_PAGE: did you mean SITEMAP_MAX_PAGES?"),
    ],
)
def test_unknown_names_are_refused_with_a_hint(
    scrapyd: Scrapyd,
    site: WebServer,
    places: Places,
    job: Callable[[], str],
    arguments: dict[str, str],
    settings: list[str],
    message: str,
) -> None:
    name = job()
    scrapyd.schedule(name, url=site.url("/"), settings=[*places.settings, *settings], **arguments)
    log = scrapyd.wait(name)
    assert log.splitlines()[-1].endswith(f" ERROR: not started: {message}")
    assert scrapyd.exit_of(name) == "Process died: exitstatus=2"
    assert site.requests == []


def test_a_refused_job_is_an_error_in_both_logs(
    scrapyd: Scrapyd, site: WebServer, places: Places, job: Callable[[], str]
) -> None:
    name = job()
    scrapyd.schedule(name, url=site.url("/nothing"), settings=places.settings)
    log = scrapyd.wait(name)
    [line] = [line for line in log.splitlines() if " ERROR: " in line]
    assert " ERROR: refused: the start page " in line
    assert places.report["exit_code"] == 3
    assert scrapyd.exit_of(name) == "Process died: exitstatus=3"
    assert not (places.output / "sitemap.xml").exists()


def test_files_below_the_working_directory_are_warned_of(
    scrapyd: Scrapyd, site: WebServer, job: Callable[[], str]
) -> None:
    site.pages["/"] = page()
    name = job()
    scrapyd.schedule(name, url=site.url("/"))
    [line] = [line for line in scrapyd.wait(name).splitlines() if " WARNING: " in line]
    assert f"the files go to {scrapyd.directory / 'sitemaps'}" in line
    assert (scrapyd.directory / "sitemaps" / "sitemap.xml").exists()
    [state] = (scrapyd.directory / "state" / "sitemap-crawler").glob("*.sqlite")
    assert state.name.startswith("127.0.0.1-")


def test_a_cancelled_job_stops_gently_and_the_next_one_goes_on(
    scrapyd: Scrapyd, site: WebServer, places: Places, job: Callable[[], str]
) -> None:
    gate = Gate(100)
    build(site, gate)
    first, second, third = job(), job(), job()
    scrapyd.schedule(first, url=site.url("/"), settings=places.settings)
    assert gate.reached.wait(60)
    # Another job on the same site while this one is at work.
    scrapyd.schedule(second, url=site.url("/"), settings=places.settings)
    line = scrapyd.wait(second).splitlines()[-1]
    assert " ERROR: interrupted: another run (" in line
    assert "is using the inventory" in line
    assert scrapyd.exit_of(second) == "Process died: exitstatus=4"
    assert scrapyd.cancel(first)["prevstate"] == "running"
    gate.open()
    log = scrapyd.wait(first)
    assert " ERROR: interrupted: run the same command to continue (run 1; " in log
    assert (places.report["outcome"], places.report["run"]) == ("interrupted", 1)
    assert scrapyd.exit_of(first) == "Process died: exitstatus=4"
    assert not (places.output / "sitemap.xml").exists()
    fetched = site.paths()
    assert len(fetched) < PAGES
    scrapyd.schedule(third, url=site.url("/"), settings=places.settings)
    assert " INFO: continuing run 1\n" in scrapyd.wait(third)
    assert (places.report["outcome"], places.report["run"]) == ("published", 1)
    assert len(places.listed()) == PAGES
    # Every page once, and robots.txt in both halves.
    assert len(site.paths()) == PAGES + 2


@needs_postgres
def test_jobs_that_join_crawl_one_site_together(
    scrapyd: Scrapyd, site: WebServer, places: Places, job: Callable[[], str], postgres: PostgresServer
) -> None:
    """Jobs are processes of their own, on one node or on several."""
    star, state = Star(site), postgres.url()
    shared = [f"SITEMAP_STATE={state}", f"SITEMAP_OUTPUT={places.output}", "DOWNLOAD_TIMEOUT=170"]
    main, helper = job(), job()
    scrapyd.schedule(main, url=site.url("/"), settings=[*shared, f"SITEMAP_REPORT={places.report_path}"])
    scrapyd.schedule(helper, url=site.url("/"), join="1", settings=shared)
    answer_when_shared(star, postgres, state, processes=2)
    assert " INFO: helped: helped with " in scrapyd.wait(helper)
    assert " INFO: published: " in scrapyd.wait(main)
    assert {scrapyd.exit_of(name) for name in (main, helper)} == {"Process finished:"}
    assert set(star.requested.values()) == {1}
    assert len(star.requested) == STAR_PAGES - 1
    assert (places.report["outcome"], places.report["listed"]) == ("published", STAR_PAGES)
    assert len(places.listed()) == STAR_PAGES
