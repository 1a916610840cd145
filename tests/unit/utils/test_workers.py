"""Worker processes: their work and their end, and results that are the same without them."""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.crawl.pipelines.transfer import UnreadPage, apply_values, extracted_values
from sitemap_crawler.exceptions import WorkerDiedError, WorkFailedError
from sitemap_crawler.items import Observation, Page, QueuedUrl
from sitemap_crawler.traps.detector import Suspect
from sitemap_crawler.utils.workers.pool import MAX_DEATHS, SLOW_TASK_SECONDS, Worker, WorkerPool, default_workers
from tests.support.paths import ROOT
from tests.support.pool_tasks import all_of, with_workers, work
from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program
    from tests.support.webserver import LoggedRequest

pytestmark = pytest.mark.slow

EARLIER = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_work_is_shared_and_every_answer_belongs_to_its_task() -> None:
    tasks = [("do", number, os.urandom(number * 1_000)) for number in range(200)]
    answers = with_workers(3, lambda pool: all_of(pool, *tasks))
    assert [tuple(answer[2]) for answer in answers] == [task[1:] for task in tasks]
    workers = {answer[0] for answer in answers}
    assert len(workers) == 3
    assert os.getpid() not in workers
    assert all(prepared == [pid] for pid, prepared, _ in answers)


def test_a_few_tasks_do_not_wake_all_workers() -> None:
    answers = with_workers(3, lambda pool: all_of(pool, *[("do",)] * 4))
    assert len({answer[0] for answer in answers}) == 1


def test_large_tasks_run_one_at_a_time() -> None:
    async def use(pool: WorkerPool[Any, Any]) -> Any:
        large = [pool.run(("do", bytes(3_000_000)), alone=True) for _ in range(8)]
        return await asyncio.gather(*large, *[pool.run(("do",)) for _ in range(40)])

    answers = with_workers(2, use)
    assert len({pid for pid, _, _ in answers[:8]}) == 1
    assert len({pid for pid, _, _ in answers}) == 2


@pytest.mark.parametrize(
    ("task", "message"), [(("fail", "no such thing"), "LookupError: no such thing"), (("strange",), "lambda")]
)
def test_failed_work_is_reported_with_its_traceback(task: tuple[str, ...], message: str) -> None:
    failed, other = with_workers(1, lambda pool: all_of(pool, task, ("do", 1)))
    assert isinstance(failed, WorkFailedError)
    assert message in str(failed)
    assert len(str(failed)) <= 1_000
    assert "Traceback" in str(failed.__cause__)
    assert other[2] == [1]


def test_a_long_message_is_bounded() -> None:
    (failed,) = with_workers(1, lambda pool: all_of(pool, ("fail", "x" * 100_000)))
    assert isinstance(failed, WorkFailedError)
    assert (len(str(failed)), len(str(failed.__cause__))) == (1_000, 10_001)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (("die", signal.SIGSEGV), "the process that read it ended with signal 11"),
        (("die", signal.SIGKILL), "the process that read it ended with signal 9"),
        (("leave", 7), "the process that read it ended with status 7"),
    ],
)
def test_only_the_task_that_kills_its_worker_is_lost(task: tuple[Any, ...], message: str) -> None:
    tasks: list[tuple[Any, ...]] = [("do", number) for number in range(20)]
    tasks[2:2] = [task]
    answers = with_workers(2, lambda pool: all_of(pool, *tasks))
    died = answers.pop(2)
    assert isinstance(died, WorkerDiedError)
    assert str(died) == message
    assert [answer[2] for answer in answers] == [[number] for number in range(20)]
    assert os.getpid() not in {answer[0] for answer in answers}


def test_workers_that_die_are_replaced(caplog: pytest.LogCaptureFixture) -> None:
    async def use(pool: WorkerPool[Any, Any]) -> Any:
        for _ in range(5):
            (died,) = await all_of(pool, ("die", signal.SIGKILL))
            assert isinstance(died, WorkerDiedError)
        return await all_of(pool, *[("do", number) for number in range(40)])

    answers = with_workers(2, use)
    assert [answer[2] for answer in answers] == [[number] for number in range(40)]
    assert os.getpid() not in {answer[0] for answer in answers}
    message = "a worker process ended with signal 9: another one takes its place"
    assert caplog.messages == [message] * 10


def test_the_parent_does_no_work_while_the_only_worker_is_replaced() -> None:
    tasks = [("die", signal.SIGKILL), *[("do", number) for number in range(10)], ("die", signal.SIGKILL)]
    first, *answers, last = with_workers(1, lambda pool: all_of(pool, *tasks))
    assert isinstance(first, WorkerDiedError)
    assert isinstance(last, WorkerDiedError)
    assert [answer[2] for answer in answers] == [[number] for number in range(10)]
    assert os.getpid() not in {answer[0] for answer in answers}


def test_a_worker_that_is_killed_from_outside_costs_no_task() -> None:
    async def use(pool: WorkerPool[Any, Any]) -> Any:
        pid, _, _ = await pool.run(("do",))
        os.kill(pid, signal.SIGKILL)
        return pid, await pool.run(("do", 1))

    killed, (pid, _, rest) = with_workers(1, use)
    assert rest == [1]
    assert pid not in (killed, os.getpid())


def test_the_parent_does_the_work_of_workers_that_fail_to_start(caplog: pytest.LogCaptureFixture) -> None:
    parent = os.getpid()

    def fail() -> None:
        if os.getpid() != parent:
            raise MemoryError

    async def main() -> Any:
        pool: WorkerPool[Any, Any] = WorkerPool(work, prepare=fail)
        await pool.open(2)
        answers = await all_of(pool, *[("do", number) for number in range(20)])
        pool.close()
        return answers

    answers = asyncio.run(main())
    assert [(answer[0], answer[2]) for answer in answers] == [(parent, [number]) for number in range(20)]
    message = "a worker process ended with status 1 before its first task: it is not replaced"
    assert caplog.messages == [message] * 2


def test_a_worker_that_takes_too_long_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = "sitemap_crawler.utils.workers.pool.MAX_TASK_SECONDS"
    check_time, kill = Worker._check_time, Worker._kill
    killed: set[Worker] = set()

    def check_time_of_ready_worker(worker: Worker) -> None:
        # A busy machine may take longer to start a worker.
        if worker.ready:
            check_time(worker)
        else:
            worker._timer = asyncio.get_running_loop().call_later(0.05, worker._check_time)

    def count_and_kill(worker: Worker) -> None:
        killed.add(worker)
        if len(killed) == MAX_DEATHS:
            # The other task may take longer, too.
            monkeypatch.setattr(limit, 100)
        kill(worker)

    monkeypatch.setattr(limit, 0.2)
    monkeypatch.setattr("sitemap_crawler.utils.workers.pool.CHECK_SECONDS", 0.05)
    monkeypatch.setattr(Worker, "_check_time", check_time_of_ready_worker)
    monkeypatch.setattr(Worker, "_kill", count_and_kill)
    late, other = with_workers(1, lambda pool: all_of(pool, ("sleep", 60), ("do", 1)))
    assert isinstance(late, WorkerDiedError)
    assert str(late) == "the process that read it took longer than 0.2 s"
    assert other[2] == [1]


def test_no_task_waits_behind_a_slow_one_while_another_worker_is_idle() -> None:
    async def use(pool: WorkerPool[Any, Any]) -> Any:
        long = asyncio.ensure_future(pool.run(("sleep", 60)))
        # Until the task counts as slow.
        await asyncio.sleep(2 * SLOW_TASK_SECONDS)
        answers = await all_of(pool, *[("do", number) for number in range(6)])
        assert not long.done()
        long.cancel()
        return answers

    assert [answer[2] for answer in with_workers(2, use)] == [[number] for number in range(6)]


IGNORED = """
import asyncio, os, signal, sys
sys.path.insert(0, sys.argv[1])
from tests.support.pool_tasks import all_of, with_workers
answers = with_workers(1, lambda pool: all_of(pool, ("die", signal.SIGSEGV), ("do", 1)))
print(answers[0], answers[1][2])
"""


def test_a_supervisor_that_ignores_sigchld_changes_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IGNORED, str(ROOT)],
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "the process that read it ended with signal 11 [1]\n"


def test_the_system_may_refuse_more_processes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse() -> int:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    (answer,) = with_workers(2, lambda pool: all_of(pool, ("do", 1)))
    assert (answer[0], answer[2]) == (os.getpid(), [1])
    assert caplog.messages == ["cannot start more than 0 worker processes: Resource temporarily unavailable"]


def test_a_worker_holds_no_file_and_takes_no_signal(tmp_path: Path) -> None:
    async def use(pool: WorkerPool[Any, Any]) -> Any:
        (pid, _, _), files = await all_of(pool, ("do",), ("files",))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(pid, number)
        return files, pid == (await pool.run(("do",)))[0]

    with (tmp_path / "open").open("w"):
        files, lives = with_workers(1, use)
    assert files[:3] == ["/dev/null"] * 3
    assert [file.partition(":")[0] for file in files[3:]] == ["socket"]
    assert lives


def test_closing_the_pool_ends_its_workers() -> None:
    async def use(pool: WorkerPool[Any, Any]) -> Any:
        # Enough tasks for both workers.
        return {pid for pid, _, _ in await all_of(pool, *[("do",)] * 40)}

    pids = with_workers(2, use)
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, 0)


def test_the_default_is_one_worker_for_each_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    for processors, expected in ((1, 0), (2, 2), (4, 4), (96, 4)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, count=processors: set(range(count)))
        assert default_workers() == expected


def lay_out(site: WebServer) -> None:
    """Make a site of pages with all kinds of facts, some pages broken, far from the start page, or large."""
    site.pages["/robots.txt"] = Answer("User-agent: Googlebot\nDisallow: /*.js\n", content_type="text/plain")
    for number in range(120):
        path = f"/{number}" if number else "/"
        head = (
            f'<link rel="canonical" href="{path}"><link rel="alternate" hreflang="en" href="{path}">'
            f'<script src="/{number % 3}.js"></script>'
        )
        body = f'<main><img src="/{number}.png"><p>{"word " * (number * 50)}</p></main>'
        links = [f"/{below}" for below in range(number * 3 + 1, number * 3 + 4) if below < 120]
        site.pages[path] = page(*links, "/gone", title=f"Page {number}", head=head, body=body)
    site.pages["/117"] = Answer(b"\xff\xfe\x00<html" * 50, headers={"X-Robots-Tag": "noindex"})
    site.pages["/118"] = Answer(b"", 301, headers={"Location": "/9"})
    site.pages["/119"] = page("/1", head='<meta name="robots" content="noindex">')


def test_results_do_not_depend_on_the_number_of_workers(program: Program, site: WebServer) -> None:
    lay_out(site)
    results = []
    for workers in ("0", "1", "3"):
        files = ["--state", f"{workers}.sqlite", "-o", workers]
        result = program.crawl(site.url("/"), "--workers", workers, *files)
        assert result.code == 0, result.err
        rows = program.run("pages", "--format", "jsonl", "--state", f"{workers}.sqlite").out.splitlines()
        pages = sorted((json.loads(row) for row in rows), key=lambda row: row["url"])
        for row in pages:
            del row["first_seen"], row["last_fetched"]
        kept = {name: result.report[name] for name in ("listed", "excluded", "warnings", "hints")}
        # Chance decides which of several pages comes first, and a warning about a resource names that page.
        for warning in kept["warnings"]:
            warning.pop("examples", None)
            if warning["kind"] == "blocked-resource":
                del warning["url"]
        kept["warnings"].sort(key=json.dumps)
        results.append((pages, kept, (program.directory / workers / "sitemap.xml").read_bytes()))
    assert results[0][1]["listed"] == 117
    assert results[1] == results[0]
    assert results[2] == results[0]


DEADLY = """
import os, signal
import sitemap_crawler.extract.links as links

find_links = links.find_links

def find_links_or_die(document, *given, **options):
    if document.url.endswith("/bad"):
        os.kill(os.getpid(), signal.SIGSEGV)
    return find_links(document, *given, **options)

links.find_links = find_links_or_die
"""


def test_a_page_that_kills_its_reader_is_reported_and_costs_no_other_page(program: Program, site: WebServer) -> None:
    paths = [f"/{number}" for number in range(40)]
    bad = ["/1/bad", "/2/bad", "/3/bad"]
    site.pages.update({"/": page(*bad, *paths), **{path: page(title=path) for path in (*paths, *bad)}})
    program.patch(DEADLY)
    result = program.crawl(site.url("/"), "--workers", "2")
    assert result.code == 0, result.err
    assert (result.report["listed"], result.report["excluded"]) == (41, {"unreachable": 3})
    explained = program.run("explain", site.url("/2/bad"))
    assert "the page can't be read: the process that read it ended with signal 11" in explained.out


def test_all_extracted_values_are_copied_back() -> None:
    """Every field that a reader can fill is copied; those of the crawling process keep their values."""
    read = Page(QueuedUrl(0, "http://127.0.0.1/", 0), Observation(0, datetime.now(UTC)))
    for field in dataclasses.fields(Observation):
        setattr(read.observation, field.name, f"observed {field.name}")
    values = {"is_document": True, "links": ("a",), "nofollow_links": ("b",), "resources": ("c",), "likeness": b"d"}
    for name, value in values.items():
        setattr(read, name, value)
    asked = Page(
        QueuedUrl(7, "http://127.0.0.1/", 3),
        Observation(7, EARLIER, body_bytes=12, elapsed_ms=250),
        {"server": ["x"]},
        body=b"x",
    )
    apply_values(asked, pickle.loads(pickle.dumps(extracted_values(read))))
    expected = {field.name: f"observed {field.name}" for field in dataclasses.fields(Observation)}
    assert {name: getattr(asked.observation, name) for name in expected} == {
        **expected, "url_id": 7, "fetched": EARLIER, "body_bytes": 12, "elapsed_ms": 250, "rendering": None
    }  # fmt: skip
    assert {name: getattr(asked, name) for name in values} == values
    assert (asked.queued, asked.body, asked.headers) == (QueuedUrl(7, "http://127.0.0.1/", 3), None, {})


def test_the_parts_that_a_reader_needs_are_copied_to_it() -> None:
    suspect = Suspect(None, [], ["a"], needs_content=True)
    asked = Page(QueuedUrl(7, "http://127.0.0.1/", 3), Observation(7, EARLIER, 200, content_type="text/html"))
    asked.headers, asked.is_start, asked.body, asked.suspect = {"etag": ["x"]}, True, b"<p>", suspect
    asked.observation.notes["long-body"] = 3
    there = pickle.loads(pickle.dumps(UnreadPage.from_page(asked))).to_page()
    seen = there.observation
    assert (there.queued.url, there.headers, there.is_start) == ("http://127.0.0.1/", {"etag": ["x"]}, True)
    assert (there.body, there.suspect) == (b"<p>", suspect)
    assert (seen.fetched, seen.status, seen.content_type, seen.notes) == (EARLIER, 200, "text/html", {"long-body": 3})


READS_TOO = """
class Reads:
    def process_item(self, item):
        if item.document is not None:
            item.observation.title = item.document.root.findtext(".//h2")
        return item
"""


@pytest.mark.parametrize("order", [1, 350, 850])
def test_added_pipelines_have_the_document(program: Program, site: WebServer, order: int) -> None:
    """A pipeline before the parsing pipeline has none, and the title is still read after it."""
    site.pages["/"] = page(title="first", body="<h2>second</h2>")
    (program.directory / "reads.py").write_text(READS_TOO)
    settings = ["-s", f'ITEM_PIPELINES={{"reads.Reads": {order}}}']
    result = program.crawl(site.url("/"), *settings, "--workers", "2")
    assert result.code == 0, result.err
    row = json.loads(program.run("pages", "--format", "jsonl").out)
    assert row["title"] == ("first" if order == 1 else "second")


DROPS = """
from scrapy.exceptions import DropItem


class Drops:
    def process_item(self, item):
        if "/old" in item.queued.url:
            raise DropItem("nobody\\nwants it" + "!" * 10_000)
        return item
"""


@pytest.mark.slow
@pytest.mark.parametrize("order", [-1, 350, 850])
def test_a_page_that_a_pipeline_drops_is_not_listed(program: Program, site: WebServer, order: int) -> None:
    """Its links count unless the page is dropped before they are read. The run counts as complete."""
    site.pages.update({"/": page("/old", "/a"), "/old": page("/below")})
    site.pages.update({path: page(title=path) for path in ("/a", "/below")})
    (program.directory / "drops.py").write_text(DROPS)
    for _ in range(2):
        result = program.crawl(site.url("/"), "-s", f'ITEM_PIPELINES={{"drops.Drops": {order}}}')
        assert result.code == 0, result.err
        below = [site.url("/below")] if order >= 0 else []
        assert result.listed() == [site.url("/"), site.url("/a"), *below]
        assert (result.report["excluded"], result.report["warnings"]) == ({"noindex": 1}, [])
    explained = program.run("explain", site.url("/old")).out
    assert "DropItem: nobody\\nwants it!!!" in explained
    assert len(explained) < 2_000
    assert json.loads(program.run("runs", "--json").out)[0]["ended_by"] == "finished"


def workers_of(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def held_site(site: WebServer) -> tuple[threading.Event, threading.Event]:
    """Return two events: the first is set when a page is requested, and setting the second sends its answer."""
    asked, go_on = threading.Event(), threading.Event()

    def answer(request: LoggedRequest) -> Answer:
        asked.set()
        go_on.wait(60)
        return Answer(page())

    site.pages.update({"/": page("/a", "/b"), "/a": answer, "/b": answer})
    return asked, go_on


def started(program: Program, site: WebServer) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sitemap_crawler", "crawl", site.url("/"), "--workers", "2"],
        cwd=program.directory,
        env=program.environment(),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_workers_end_with_a_crawl_that_is_killed(program: Program, site: WebServer) -> None:
    asked, go_on = held_site(site)
    process = started(program, site)
    try:
        assert asked.wait(60)
        workers = workers_of(process.pid)
        assert len(workers) == 2
    finally:
        process.kill()
        go_on.set()
    # Workers hold the streams of the crawl no longer than the crawl itself.
    process.communicate(timeout=60)
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{pid}/stat").exists() for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert program.crawl(site.url("/")).report["listed"] == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_all_processes_stops_the_crawl_gently(
    program: Program, site: WebServer, number: signal.Signals
) -> None:
    """A terminal and a service manager send signals to all processes."""
    asked, go_on = held_site(site)
    process = started(program, site)
    try:
        assert asked.wait(60)
        os.killpg(process.pid, number)
        go_on.set()
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 4, err
    assert err.splitlines()[-1] == "sitemap-crawler: interrupted; run the same command to continue"
    assert program.crawl(site.url("/")).report["listed"] == 3
