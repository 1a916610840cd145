"""One crawl of the labelled site: every URL gets exactly the decision that its label says, and nothing else happens."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

from tests.sites.labelled_site import CASES, MAY_BE_ASKED_AGAIN, NO_ROW, OPTIONS, SITEMAPS, START, Case, Ports, pages
from tests.support.program import Program
from tests.support.webserver import WebServer

if TYPE_CHECKING:
    from pathlib import Path

MAX_PROBES = 3  # addresses that cannot exist, asked for to recognise pages that only say they are missing


@dataclass(frozen=True, slots=True)
class Crawl:
    """What one crawl left behind; plain values, so that parallel test processes share it."""

    ports: Ports
    code: int
    err: str
    rows: dict[str, dict[str, Any]]
    listed: list[str]
    report: dict[str, Any]
    asked: list[str]  # paths, in order
    asked_there: list[str]
    agents: list[str]

    @classmethod
    def run(cls, directory: Path) -> Crawl:
        with WebServer() as site, WebServer() as there:
            ports = Ports(site.port, there.port)
            site.pages.update(pages(ports))
            program = Program(directory)
            done = program.crawl(site.url(START), "--state", "state.db", *OPTIONS)
            return cls(
                ports=ports,
                code=done.code,
                err=done.err,
                rows=read_rows(program) if done.code == 0 else {},
                listed=done.listed() if done.code == 0 else [],
                report=done.report if done.code == 0 else {},
                asked=site.paths(),
                asked_there=there.paths(),
                agents=sorted({request.headers.get("user-agent", "") for request in site.requests}),
            )

    def to_json(self) -> str:
        values = {name: getattr(self, name) for name in self.__slots__ if name != "ports"}
        return json.dumps({**values, "here": self.ports.here, "there": self.ports.there})

    @classmethod
    def from_json(cls, text: str) -> Crawl:
        values = json.loads(text)
        return cls(ports=Ports(values.pop("here"), values.pop("there")), **values)


def read_rows(program: Program) -> dict[str, dict[str, Any]]:
    done = program.run("pages", "--state", "state.db", "--format", "jsonl")
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert len({row["url"] for row in rows}) == len(rows)
    return {row["url"]: row for row in rows}


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return Crawl.run(tmp_path_factory.mktemp("labelled"))
    # The processes of one parallel test run share the parent of their directories.
    shared = tmp_path_factory.getbasetemp().parent / "labelled-site.json"
    with FileLock(f"{shared}.lock"):
        if not shared.exists():
            shared.write_text(Crawl.run(tmp_path_factory.mktemp("labelled")).to_json(), encoding="utf-8")
        return Crawl.from_json(shared.read_text(encoding="utf-8"))


def test_the_labels_are_sound() -> None:
    assert len(CASES) >= 150
    assert [name for name, times in Counter(case.name for case in CASES).items() if times > 1] == []
    assert [url for url, times in Counter(case.url for case in CASES).items() if times > 1] == []


def test_the_crawl_publishes(crawl: Crawl) -> None:
    assert crawl.code == 0, crawl.err
    # The name under which robots.txt addresses the crawler.
    assert [agent.partition("/")[0] for agent in crawl.agents] == ["sitemap-crawler"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_decision(crawl: Crawl, case: Case) -> None:
    row = crawl.rows.get(crawl.ports.url(case.url))
    assert crawl.code == 0, crawl.err
    if case.reason == NO_ROW:
        assert row is None
        return
    assert row is not None
    assert (row["decision"], row["reason"]) == (case.decision, case.reason), row["evidence"]
    assert case.evidence in (row["evidence"] or "")


def test_no_row_is_unlabelled(crawl: Crawl) -> None:
    labelled = {crawl.ports.url(case.url) for case in CASES if case.reason != NO_ROW}
    assert sorted(crawl.rows.keys() - labelled) == []


def test_the_sitemap_lists_what_is_labelled_so(crawl: Crawl) -> None:
    assert crawl.listed == sorted(crawl.ports.url(case.url) for case in CASES if case.reason == "listed")


def test_the_report_counts_them(crawl: Crawl) -> None:
    labelled = Counter(case.reason for case in CASES if case.reason != NO_ROW)
    counted = {"listed": crawl.report["listed"], **crawl.report["excluded"]}
    # The rules leave open where a URL is counted that is too long to be stored.
    stored = labelled.pop("too-long")
    assert counted.pop("too-long") in (stored, stored + 1)
    assert counted == labelled


@pytest.mark.parametrize("case", [case for case in CASES if case.warns is not None], ids=lambda case: case.name)
def test_warning(crawl: Crawl, case: Case) -> None:
    names = [crawl.ports.url(path) for path in (case.url, *(case.warns or ()))]
    said = [f"{warning['url']} {warning['message']} " for warning in crawl.report["warnings"]]
    assert [text for text in said if all(name in text for name in names)]


def test_every_url_is_fetched_once_or_never(crawl: Crawl) -> None:
    here = [case for case in CASES if case.url.startswith("/")]
    asked = Counter(crawl.asked)
    wanted = {crawl.ports.fill(case.url) for case in here if case.fetched} | {"/robots.txt", *SITEMAPS}
    unwanted = {crawl.ports.fill(case.url) for case in here if case.fetched is False}
    again = {crawl.ports.fill(case.url) for case in here if case.reason in MAY_BE_ASKED_AGAIN}
    assert sorted(wanted - asked.keys()) == []
    assert sorted(unwanted & asked.keys()) == []
    assert {path: times for path, times in asked.items() if times > 1 and path not in again} == {}


def test_nothing_else_is_asked_for(crawl: Crawl) -> None:
    labelled = {crawl.ports.fill(case.url) for case in CASES} | {"/robots.txt", *SITEMAPS}
    probes = sorted(set(crawl.asked) - labelled)
    assert len(probes) <= MAX_PROBES, probes
    assert crawl.asked_there == []
