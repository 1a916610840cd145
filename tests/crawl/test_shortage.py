"""What this machine lacks is no fault of the site: a run ends with exit code 1, the next one publishes all pages."""

from __future__ import annotations

import errno
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.utils.shortage import Shortage
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.program import Program, Result

pytestmark = pytest.mark.slow

PAGES = [f"/{number}" for number in range(150)]
ALONE = {"Connection": "close"}
"""With it every request opens a connection of its own."""
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="prlimit and /proc are Linux's")


def said(shortage: Shortage, place: str) -> str:
    return f"{shortage.lack} ({place}): {shortage.remedy}"


def assert_next_run_lists(program: Program, site: WebServer, paths: list[str], *options: str) -> None:
    """Assert that the same command goes on with the run, and that nothing of the lack is left."""
    result = program.crawl(site.url("/"), *options)
    assert result.code == 0, result.err
    assert (result.report["run"], result.report["excluded"].get("unreachable", 0)) == (1, 0)
    assert sorted(result.listed()) == sorted(map(site.url, paths))


@needs_linux
@pytest.mark.parametrize("delivers", [True, False])
def test_a_process_without_descriptors_ends_and_the_next_one_goes_on(
    program: Program, site: WebServer, *, delivers: bool
) -> None:
    """The limit falls while the start page is answered. Without `delivers` no file can be opened from then on."""
    started: list[subprocess.Popen[str]] = []

    def start_page(_request: LoggedRequest) -> Answer:
        pid = started[0].pid
        used = [int(path.name) for path in Path(f"/proc/{pid}/fd").iterdir()]
        hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (max(used) + 1 if delivers else 3, hard))
        return Answer(page(*PAGES))

    site.pages.update({"/": start_page, **{path: page(title=path) for path in PAGES}})
    process = subprocess.Popen(
        program.command("crawl", site.url("/"), "--report", "report.json", "--concurrency", "32", "-q"),
        cwd=program.directory,
        env=program.environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    started.append(process)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    [line] = err.splitlines()
    assert line.startswith(f"sitemap-crawler: {Shortage.DESCRIPTORS.lack} (at {site.url('/')}")
    assert Shortage.DESCRIPTORS.remedy in line
    assert (program.directory / "report.json").exists() is delivers
    assert not (program.output / "sitemap.xml").exists()
    site.pages["/"] = page(*PAGES)
    assert_next_run_lists(program, site, ["/", *PAGES])


LACK = """
import os, re, socket
from sitemap_crawler.crawl.download import handler

download = handler.BoundedDownloadHandler.download_request
make_socket = handler._Socket

class Failing(make_socket):
    def connect(self, address):
        number = int(os.environ["LACK"])
        raise OSError(number, os.strerror(number))

async def download_request(self, request):
    handler._Socket = Failing if re.search(os.environ["LACK_AT"], request.url) else make_socket
    return await download(self, request)

class Lack:
    @classmethod
    def from_crawler(cls, crawler):
        handler.BoundedDownloadHandler.download_request = download_request
        return cls()
"""


def crawl_with_lack(program: Program, site: WebServer, lack: int, at: str, *options: str) -> Result:
    """Crawl with one request at a time. Connections for URLs that match `at` fail with the errno `lack`."""
    (program.directory / "lack.py").write_text(LACK)
    program.variables = {"LACK": str(lack), "LACK_AT": at}
    result = program.crawl(site.url("/"), "--concurrency", "1", "-q", "-s", 'EXTENSIONS={"lack.Lack": 1}', *options)
    program.variables = {}
    return result


def build_all_kinds(site: WebServer) -> list[str]:
    """Make a site that is asked for all kinds of requests, and return the pages that are to be listed."""
    text = "text/plain"
    robots = f"Sitemap: {site.url('/index.xml')}\n"
    index = f"<sitemapindex><sitemap><loc>{site.url('/old.xml')}</loc></sitemap></sitemapindex>"
    old = f"<urlset><url><loc>{site.url('/named')}</loc></url></urlset>"
    pages = PAGES[:60]
    answers = {
        "/": Answer(page(*pages, "/moves", "/gone"), headers=ALONE),
        "/robots.txt": Answer(robots, content_type=text, headers=ALONE),
        "/index.xml": Answer(index, content_type="application/xml", headers=ALONE),
        "/old.xml": Answer(status=301, headers={"Location": "/new.xml", **ALONE}),
        "/new.xml": Answer(old, content_type="application/xml", headers=ALONE),
        "/moves": Answer(status=301, headers={"Location": "/target", **ALONE}),
        "/gone": Answer(page(title="Page not found"), headers=ALONE),
        **{path: Answer(page(title=path), headers=ALONE) for path in (*pages, "/named", "/target")},
    }
    site.pages.update(answers)
    return ["/", *pages, "/gone", "/named", "/target"]


@pytest.mark.parametrize(
    "at",
    ["/robots.txt", "/", "/7", "/moves", "/target", "/index.xml", "/old.xml", "/new.xml", "/named", "/[0-9a-f]{32}"],
)
def test_no_kind_of_request_turns_a_lack_into_an_observation(program: Program, site: WebServer, at: str) -> None:
    """Pages, redirects, robots.txt, sitemaps and their children, and the probes of a soft 404 pass one gate."""
    expected = build_all_kinds(site)
    result = crawl_with_lack(program, site, errno.EMFILE, f"{at}$" if at != "/" else f"{site.port}/$")
    assert result.code == 1, result.err
    before, _, after = result.last_line.partition(f" (at {site.url('/')}")
    assert (before, after.partition("): ")[2]) == (Shortage.DESCRIPTORS.lack, Shortage.DESCRIPTORS.remedy)
    assert (result.report["outcome"], result.report["listed"], result.report["warnings"]) == ("failed", 0, [])
    assert not (program.output / "sitemap.xml").exists()
    assert_next_run_lists(program, site, expected)
    # Nothing that was asked before the lack is asked again, except robots.txt and a page that went down with it.
    asked = site.paths()
    assert [path for path in expected if asked.count(path) != 1] == []


def build_three_pages(site: WebServer) -> None:
    site.pages.update({path: Answer(page("/a", "/b"), headers=ALONE) for path in ("/", "/a", "/b")})


@pytest.mark.parametrize(
    ("number", "shortage"),
    [
        (errno.ENFILE, Shortage.MACHINE_DESCRIPTORS),
        (errno.ENOMEM, Shortage.MEMORY),
        (errno.ENOBUFS, Shortage.BUFFERS),
        (errno.EADDRNOTAVAIL, Shortage.PORTS),
    ],
)
def test_each_lack_is_named(program: Program, site: WebServer, number: int, shortage: Shortage) -> None:
    build_three_pages(site)
    result = crawl_with_lack(program, site, number, "/b$")
    assert (result.code, result.last_line) == (1, said(shortage, f"at {site.url('/b')}")), result.err
    assert_next_run_lists(program, site, ["/", "/a", "/b"])


def test_a_check_of_listed_urls_finds_no_fault_of_the_site(program: Program, site: WebServer) -> None:
    build_three_pages(site)
    assert program.crawl(site.url("/")).code == 0
    (program.directory / "lack.py").write_text(LACK)
    program.variables = {"LACK": str(errno.EMFILE), "LACK_AT": "/b$"}
    options = ["--check-urls", "--json", "--concurrency", "1", "-s", 'EXTENSIONS={"lack.Lack": 1}']
    result = program.run("validate", "sitemaps/sitemap.xml", *options)
    assert result.code == 1
    assert said(Shortage.DESCRIPTORS, f"at {site.url('/b')}") in result.last_line
    assert [found["rule"] for found in json.loads(result.out)["findings"]] == ["live-incomplete"]


def test_what_the_site_does_stays_an_observation(program: Program, site: WebServer) -> None:
    build_three_pages(site)
    result = crawl_with_lack(program, site, errno.ECONNREFUSED, "/b$", "-s", "RETRY_TIMES=0")
    assert (result.code, result.report["listed"], result.report["excluded"]) == (0, 2, {"unreachable": 1}), result.err


def test_a_port_that_cannot_be_bound_is_no_fault_of_the_site(program: Program, site: WebServer) -> None:
    """The documentation address of RFC 5737 is none of this machine."""
    site.pages["/"] = page()
    result = program.crawl(site.url("/"), "-q", "-s", "DOWNLOAD_BIND_ADDRESS=192.0.2.1")
    assert (result.code, result.last_line) == (1, said(Shortage.PORTS, f"at {site.url('/robots.txt')}"))
    assert_next_run_lists(program, site, ["/"])


READING = """
import os, signal
import sitemap_crawler.extract.links as links

find_links = links.find_links

def find_links_or_fail(document, *given, **options):
    if document.url.endswith("/large"):
        {fault}
    return find_links(document, *given, **options)

links.find_links = find_links_or_fail
"""


@pytest.mark.parametrize(
    ("fault", "workers"),
    [
        ("raise MemoryError", "2"),
        ("raise MemoryError", "0"),
        ("raise OSError(24, os.strerror(24))", "2"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "2"),
    ],
)
def test_a_page_for_which_memory_is_lacking_is_read_by_the_next_run(
    program: Program, site: WebServer, fault: str, workers: str
) -> None:
    """The kernel kills a process, as at the lack of memory, with SIGKILL."""
    site.pages.update({"/": page("/a", "/large"), "/a": page(), "/large": page("/below"), "/below": page()})
    program.patch(READING.format(fault=fault))
    result = program.crawl(site.url("/"), "--workers", workers, "-q", "--log-file", "crawl.log")
    shortage = Shortage.DESCRIPTORS if "OSError" in fault else Shortage.MEMORY
    assert result.code == 1, result.err
    assert result.last_line == said(shortage, f"at the reading of {site.url('/large')}")
    assert not (program.output / "sitemap.xml").exists()
    program.hook = None
    assert_next_run_lists(program, site, ["/", "/a", "/below", "/large"])


ENGINE = """
import asyncio, os
from aiohttp.client_proto import ResponseHandler
from sitemap_crawler.crawl import engine
from sitemap_crawler.crawl.scheduler import FrontierScheduler

create_task = asyncio.BaseEventLoop.create_task
next_request = FrontierScheduler.next_request
calls = 0

def fail_once():
    global calls
    calls += 1
    if calls == 4:
        raise MemoryError

class Lack:
    @classmethod
    def from_crawler(cls, crawler):
        if os.environ["LACK_AT"] == "task":
            def create(self, coroutine, **given):
                if getattr(coroutine, "__qualname__", "") == "SiteEngine._crawl":
                    try:
                        fail_once()
                    except MemoryError:
                        coroutine.close()
                        raise
                return create_task(self, coroutine, **given)
            asyncio.BaseEventLoop.create_task = create
        elif os.environ["LACK_AT"] == "result":
            async def scrape(self, result, request):
                fail_once()
                return await engine_scrape(self, result, request)
            engine_scrape, engine.SiteEngine._scrape = engine.SiteEngine._scrape, scrape
        elif os.environ["LACK_AT"] == "connection":
            def receive(self, data):
                fail_once()
                return data_received(self, data)
            data_received, ResponseHandler.data_received = ResponseHandler.data_received, receive
        else:
            def take(self):
                request = next_request(self)
                if request is not None:
                    fail_once()
                return request
            FrontierScheduler.next_request = take
        return cls()
"""


@pytest.mark.parametrize("at", ["task", "result", "scheduler", "connection"])
def test_a_lack_of_memory_between_two_parts_of_the_engine_ends_the_crawl(
    program: Program, site: WebServer, at: str
) -> None:
    """Only the event loop sees an exception of a task or callback that no code awaits."""
    paths = [f"/{number}" for number in range(9)]
    site.pages.update({"/": page(*paths), **{path: page() for path in paths}})
    (program.directory / "lack.py").write_text(ENGINE)
    program.variables = {"LACK_AT": at}
    result = program.crawl(site.url("/"), "-q", "-s", 'EXTENSIONS={"lack.Lack": 1}')
    assert result.code == 1, result.err
    assert Shortage.MEMORY.lack in result.last_line
    assert len(result.err.splitlines()) == 1
    assert not (program.output / "sitemap.xml").exists()
    program.variables = {}
    assert_next_run_lists(program, site, ["/", *paths])


PROCESSES = """
import os, threading

def fork():
    raise BlockingIOError(11, os.strerror(11))

def start(self):
    raise RuntimeError("can't start new thread")

if os.environ["LACK"] == "fork":
    os.fork = fork
else:
    threading.Thread.start = start
"""


def crawl_without_processes(program: Program, url: str, lack: str) -> Result:
    program.patch(PROCESSES)
    program.variables = {"LACK": lack}
    result = program.crawl(url, "--workers", "2", "--state", "state.sqlite")
    program.hook = None
    return result


def test_a_user_who_may_fork_no_more_reads_pages_in_one_process(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page()})
    result = crawl_without_processes(program, site.url("/"), "fork")
    assert (result.code, result.report["listed"]) == (0, 2), result.err
    line = "WARNING: cannot start more than 0 worker processes: Resource temporarily unavailable"
    assert line in result.err


def test_a_user_who_may_start_no_thread_looks_up_no_name(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a"), "/a": page()})
    url = site.url("/").replace("127.0.0.1", "localhost")
    result = crawl_without_processes(program, url, "thread")
    assert (result.code, result.last_line) == (1, str(Shortage.PROCESSES)), result.err
    assert said(Shortage.PROCESSES, f"at {url}robots.txt") in result.err
    assert not (program.output / "sitemap.xml").exists()
    result = program.crawl(url, "--state", "state.sqlite")
    assert (result.code, result.report["listed"]) == (0, 2), result.err


@needs_linux
@pytest.mark.parametrize("limit", [6, 8, 12, 20, 30])  # with fewer, Python may not find an editable installation
def test_a_limit_that_is_too_low_from_the_start(program: Program, site: WebServer, limit: int) -> None:
    site.pages["/"] = page()
    command = program.command("crawl", site.url("/"), "--report", "report.json")
    done = limited(program, command, lambda: (limit, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"sitemap-crawler: {Shortage.DESCRIPTORS}\n")
    assert site.paths() == []
    assert program.crawl(site.url("/")).code == 0


@pytest.mark.parametrize("limit", [1_000, 20_000, 100_000, 300_000])
def test_a_limit_of_the_size_of_files_is_named(program: Program, site: WebServer, limit: int) -> None:
    """SQLite says "disk I/O error". The first limits are reached at once, the others in the course of the crawl."""
    pages = [f"/{number:{'0'}200}" for number in range(400)]
    site.pages.update({"/": page(*pages), **{path: page(title=path) for path in pages}})
    command = program.command("crawl", site.url("/"), "-q")
    done = limited(program, command, lambda: (limit, limit), resource.RLIMIT_FSIZE)
    [line] = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (1, "")
    assert line.startswith("sitemap-crawler: cannot use the inventory ")
    assert line.endswith(str(Shortage.FILE_SIZE))
    assert not (program.output / "sitemap.xml").exists()
    result = program.crawl(site.url("/"))
    assert result.code == 0, result.err
    assert sorted(result.listed()) == sorted(map(site.url, ["/", *pages]))


def limited(
    program: Program, command: list[str], limits: Callable[[], tuple[int, int]], resource_: int = resource.RLIMIT_NOFILE
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=program.directory,
        env=program.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource_, limits()),
    )


def test_the_end_of_a_run_names_the_lack(program: Program, site: WebServer) -> None:
    """Descriptors run out when all pages are fetched: while the run is decided, and while files are written."""
    site.pages.update({"/": page("/a"), "/a": page()})
    (program.directory / "late.py").write_text(LATE)
    for moment in ("spider_idle", "published"):
        program.variables = {"LATE": moment}
        result = program.crawl(site.url("/"), "-q", "-s", 'EXTENSIONS={"late.Late": 1}')
        assert result.code == 1, result.err
        assert str(Shortage.DESCRIPTORS) in result.last_line
        assert not (program.output / "sitemap.xml").exists()
    program.variables = {}
    assert_next_run_lists(program, site, ["/", "/a"])


LATE = """
import os, resource
from scrapy import signals

def lack(*_, **__):
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

class Late:
    @classmethod
    def from_crawler(cls, crawler):
        if os.environ["LATE"] == "published":
            from sitemap_crawler.publish import conclude
            publish = conclude.publish_sets
            conclude.publish_sets = lambda *given: lack() or publish(*given)
        else:
            crawler.signals.connect(lack, signals.spider_idle)
        return cls()
"""
