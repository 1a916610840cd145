"""Check of one file: its kind, each entry, and the properties of the whole file."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import UnreadableError
from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.finding_log import FindingLog
from sitemap_crawler.validation.findings import FEEDS, Issue, issue
from sitemap_crawler.validation.keys import hash_of, key_of, pair_hash
from sitemap_crawler.validation.plain_entries import PlainEntries, Verdicts
from sitemap_crawler.validation.reading.detect import (
    ROOTS,
    common_origin,
    has_text_name,
    head_of,
    looks_like_html,
    looks_like_text,
    looks_like_xml,
    namespace_problem,
    other_format,
    without_query,
)
from sitemap_crawler.validation.reading.plain import PlainRun, count_lines
from sitemap_crawler.validation.reading.reader import Node, nodes_of, read_lines, read_xml
from sitemap_crawler.validation.reading.sources import open_file
from sitemap_crawler.validation.reading.stream import Readable, Stream
from sitemap_crawler.validation.repeated_values import RepeatedValues
from sitemap_crawler.validation.results import MAX_ITEMS, Child, FileResult, FileTask
from sitemap_crawler.validation.rules.entry import (
    SITEMAP_RULES,
    URL_RULES,
    Entry,
    entry_issues,
    loc_text,
    misplaced_in_root,
)
from sitemap_crawler.validation.rules.feeds import feed_issues, link_of, root_issues, url_of
from sitemap_crawler.validation.statistics import Dated, extension_of
from sitemap_crawler.validation.values import CLOCK_TOLERANCE, Place, Url, UrlProblem, parse_url, w3c_datetime

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MEDIA = {frozenset({protocol.IMAGE}): "images", frozenset({protocol.VIDEO}): "videos"}


def check_file(task: FileTask) -> FileResult:
    """Read a file and check it."""
    check = _FileCheck(task)
    try:
        with open_file(task.path) as source:
            return check.check(source)
    except UnreadableError as exc:
        return check.end(issue(exc.rule, f"the file {exc.message}"))


def check_source(task: FileTask, source: Readable) -> FileResult:
    """Check the content of a file."""
    return _FileCheck(task).check(source)


class _FileCheck:
    """Check of one file."""

    def __init__(self, task: FileTask) -> None:
        self._task = task
        self._result = FileResult(task)
        self._log = None if task.log is None else FindingLog(task.log)
        if self._log is not None:
            self._result.findings.sink = self._log.add
        self._namespace = ""
        self._origin = ""
        """Origin by which the URLs of a file without an address are judged."""
        self._is_majority = False
        """Whether that origin is the one that most URLs have, instead of that of the first URL."""
        self._items = 0
        self._news = 0
        self._errors = 0
        # Content of the entries by the first one: news, images, videos or the kind of the file.
        self._content = ""
        self._repeated = RepeatedValues()
        self._plain: PlainEntries | None = None

    def check(self, source: Readable) -> FileResult:
        """Read the file."""
        stream = Stream(source)
        try:
            self._read(iter(stream))
        except UnreadableError as exc:
            self._report(issue(exc.rule, f"the file {exc.message}"))
        self._result.bytes = stream.size
        self._check_compression(stream)
        return self.end()

    def end(self, problem: Issue | None = None) -> FileResult:
        """Return the result. `problem` is the issue of a file that was not opened."""
        task, result = self._task, self._result
        if problem:
            self._report(problem)
        if result.kind == "text" and not has_text_name(task.name):
            self._report(issue("text-name", "the file is a text sitemap"))
        self._check_whole()
        result.origin = task.place.origin if task.place else self._origin
        if self._log is not None:
            self._log.close()
            result.findings.sink = None
        result.group = f"{task.group} {self._content or result.kind}"
        if result.kind in FEEDS:
            result.group += f" {task.name}"
        result.statistics.files = 1
        result.statistics.bytes = result.bytes
        if result.kind != "sitemapindex":
            result.statistics.total_urls = result.entries
        return result

    def _check_compression(self, stream: Stream) -> None:
        has_name = without_query(self._task.name).lower().endswith(".gz")
        if stream.gzipped and not has_name and self._task.name != "-":
            twice = ": it is compressed twice, as the server sends it with Content-Encoding: gzip"
            more = twice if self._task.is_decoded else ""
            self._report(issue("gzip-name", f"the file is gzip, and its name does not end in .gz{more}"))
        if not stream.gzipped and stream.size and has_name and not self._task.is_decoded:
            self._report(issue("not-gzip", "the file is not gzip"))

    def _report(self, problem: Issue, url: str | None = None) -> bool:
        """Add a finding and return whether it is an error."""
        is_error = problem.severity == "error"
        self._errors += is_error
        self._result.findings.add(self._task.name, problem, url)
        return is_error

    def _read(self, pieces: Iterator[bytes]) -> None:
        head = head_of(pieces)
        if self._task.place is None:
            self._origin, self._is_majority = common_origin(head)
        if not head:
            self._report(issue("empty-file", "the file has no content"))
        elif not head.strip(b"\0"):
            self._report(
                issue("empty-file", "the file has NUL bytes in place of its content, as after a power failure")
            )
        elif looks_like_text(head, self._task.name):
            self._result.kind = "text"
            self._check_lines(chain([head], pieces))
        elif looks_like_xml(head):
            self._check_elements(chain([head], pieces))
        elif looks_like_html(head):
            self._report(issue("not-a-sitemap", "the file is an HTML page, not a sitemap", 1))
        else:
            self._report(issue("not-a-sitemap", f"the file is {other_format(head)}", 1))

    def _check_lines(self, pieces: Iterable[bytes]) -> None:
        for item in read_lines(pieces):
            self._items += 1
            if self._items > MAX_ITEMS:
                return
            if isinstance(item, Issue):
                self._report(item._replace(message=f"the file {item.message}"))
                continue
            line, text = item
            if not text:
                self._report(issue("blank-line", "the line is blank", line))
                continue
            self._result.entries += 1
            url = parse_url(text)
            self._check_listed(text, url, line, loc_text(text, url, line))

    def _check_elements(self, pieces: Iterable[bytes]) -> None:
        has_root = False
        for item in read_xml(pieces):
            if isinstance(item, PlainRun):
                self._check_run(item)
                continue
            self._items += has_root
            if self._items > MAX_ITEMS:
                return
            if isinstance(item, Issue):
                self._report(item._replace(message=f"the file {item.message}"))
            elif not has_root:
                has_root = True
                self._check_root(item)
                if self._result.kind == "unknown":
                    return
            elif self._result.kind in FEEDS:
                self._check_feed_entry(item)
            else:
                self._check_entry(item)

    def _check_root(self, root: Node) -> None:
        kind = self._result.kind = ROOTS.get(root.name, "unknown")
        self._namespace = root.namespace
        if kind == "unknown":
            message = f"the root element is <{root.name}>, not <urlset> or <sitemapindex>"
            self._report(issue("not-a-sitemap", message, root.line))
        elif problem := namespace_problem(kind, root.namespace):
            self._report(issue("wrong-namespace", problem, root.line))
        for stated in root_issues(root):
            self._report(stated)

    def _check_run(self, run: PlainRun) -> None:
        """Check plain entries: many at once, as long as no rule can object to them, and the others by the rules."""
        data, position = run.data, run.start
        line, line_position = run.line, run.start
        while position < run.end and self._items <= MAX_ITEMS:
            plain = self._plain_entries()
            end = plain.end(data, position, run.end) if plain else position
            if plain is None or end == position:
                end = data.index(b"</url>", position) + len(b"</url>")
            elif self._take(plain, data, position, end):
                position = end
                continue
            line += count_lines(data, line_position, position)
            line_position = position
            for node in nodes_of(PlainRun(data, position, end, line)):
                self._items += 1
                if self._items > MAX_ITEMS:
                    return
                self._check_entry(node)
            position = end

    def _plain_entries(self) -> PlainEntries | None:
        if self._plain is None and (place := self._task.place or (Place(self._origin, "/") if self._origin else None)):
            self._plain = PlainEntries(place, Verdicts(self._judge_lastmod, self._task.now), self._is_good_hint)
        return self._plain

    def _judge_lastmod(self, text: str) -> float | None:
        """Return the time of a lastmod; None if a rule objects to it."""
        node = Node(protocol.CORE, "url", 0, {}, "", [_plain_node("loc", _ANY_URL), _plain_node("lastmod", text)])
        if any(entry_issues(Entry.from_node(node, protocol.CORE, self._task.now), URL_RULES)):
            return None
        moment = w3c_datetime(text)
        return moment.time.timestamp() if moment.time else None

    def _is_good_hint(self, text: bytes) -> bool:
        """Return whether no rule objects to the elements changefreq and priority of an entry."""
        if not text:
            return True
        [node] = nodes_of(PlainRun(b"<url><loc>" + _ANY_URL.encode() + b"</loc>" + text, 0, 10**6, 0))
        return not any(entry_issues(Entry.from_node(node, protocol.CORE, self._task.now), URL_RULES))

    def _take(self, plain: PlainEntries, data: bytes, start: int, end: int) -> bool:
        """Count many plain entries at once. Return False if they need the rules."""
        batch = plain.take(data, start, end)
        if batch is None or self._items + len(batch.keys) > MAX_ITEMS:
            return False
        result = self._result
        self._content = self._content or result.kind
        self._items += len(batch.keys)
        result.entries += len(batch.keys)
        result.keys.extend(map(hash, batch.keys))
        endings = Counter(key.rpartition(b"/")[2].rpartition(b".")[1:] for key in batch.keys)
        for (dot, ending), count in endings.items():
            result.statistics.add_extension(extension_of((dot + ending).decode()) if dot else "", count)
        if batch.lastmods:
            with_time = (time for text, time in zip(batch.lastmods, batch.times, strict=True) if len(text) > 10)
            self._repeated.add_dates([text.decode() for text in batch.lastmods], with_time)
            for time in (min(batch.times), max(batch.times)):
                text = batch.lastmods[batch.times.index(time)].decode()
                result.statistics.add_date(Dated(time, text))
        for hint in filter(None, batch.hints):
            if priority := hint.partition(b"<priority>")[2].partition(b"<")[0]:
                self._repeated.add_priority(priority.decode())
        return True

    def _check_entry(self, node: Node) -> None:
        result = self._result
        is_index = result.kind == "sitemapindex"
        expected = "sitemap" if is_index else "url"
        if node.name != expected or node.namespace != self._namespace:
            for problem in misplaced_in_root(node, result.kind, self._namespace):
                self._report(problem)
            return
        result.entries += 1
        entry = Entry.from_node(node, self._namespace, self._task.now)
        line = entry.core["loc"][0].line if entry.loc else node.line
        if not self._content:
            is_news = protocol.NEWS in entry.others
            self._content = "news" if is_news else _MEDIA.get(frozenset(entry.others), result.kind)
        url = parse_url(entry.loc)
        problems = list(entry_issues(entry, SITEMAP_RULES if is_index else URL_RULES))
        self._check_listed(entry.loc, url, line, problems)
        if is_index:
            if isinstance(url, Url) and len(result.children) < protocol.MAX_ENTRIES:
                result.children.append(Child(url, entry.loc, line, _text_of(entry, "lastmod")))
            return
        self._note_lastmod(_text_of(entry, "lastmod"))
        if priority := _text_of(entry, "priority"):
            self._repeated.add_priority(priority)
        if entry.others:
            self._count_extensions(entry)
            if protocol.XHTML in entry.others:
                is_sound = not any(problem.rule.startswith("alternate-") for problem in problems)
                self._note_alternates(entry, url, line, is_sound=is_sound)

    def _note_lastmod(self, text: str) -> None:
        moment = w3c_datetime(text) if text else None
        if moment is None or moment.time is None or moment.time > self._task.now + CLOCK_TOLERANCE:
            return
        time = moment.time.timestamp()
        self._repeated.add_dates([text], () if moment.period else (time,))
        self._result.statistics.add_date(Dated(time, text))

    def _count_extensions(self, entry: Entry) -> None:
        statistics = self._result.statistics
        for namespace, nodes in entry.others.items():
            if namespace == protocol.IMAGE:
                statistics.images += len([node for node in nodes if node.name == "image"])
            elif namespace == protocol.VIDEO:
                statistics.videos += len([node for node in nodes if node.name == "video"])
            elif namespace == protocol.NEWS:
                self._news += 1
                statistics.news += len([node for node in nodes if node.name == "news"])

    def _note_alternates(self, entry: Entry, url: Url | UrlProblem, line: int, *, is_sound: bool) -> None:
        """Note the language versions of a page. With `is_sound` no rule objects to one of them."""
        links = [link for link in entry.others[protocol.XHTML] if _is_alternate(link)]
        self._result.statistics.alternates += len(links)
        if isinstance(url, UrlProblem):
            return
        page = str(url)
        targets = {parse_url(link.attributes["href"]) for link in links}
        for target in targets:
            if isinstance(target, Url) and target != url:
                text = str(target)
                hashes = (pair_hash(page, text), pair_hash(text, page), hash_of(key_of(target)))
                self._result.pairs.extend(hashes)
        if is_sound and targets and url not in targets:
            self._report(issue("alternate-self", "the language versions do not include the page", line), entry.loc)

    def _check_feed_entry(self, node: Node) -> None:
        if node.name != ("item" if self._result.kind == "rss" else "entry"):
            return
        self._result.entries += 1
        link = link_of(node)
        loc = url_of(link) if link else ""
        problems = feed_issues(node, self._task.now)
        self._check_listed(loc, parse_url(loc), link.line if link else node.line, problems)

    def _check_listed(self, loc: str, url: Url | UrlProblem, line: int, problems: Iterable[Issue]) -> None:
        """Report the problems of an entry, and check that its URL is below the directory of its sitemap."""
        result = self._result
        is_invalid = False
        for problem in problems:
            is_invalid |= self._report(problem, loc or None)
        if isinstance(url, Url):
            is_invalid |= self._check_place(url, loc, line)
            result.keys.append(hash_of(key_of(url)))
            if result.kind != "sitemapindex":
                result.statistics.add_extension(extension_of(url.path.removesuffix("/")))
        if result.kind != "sitemapindex":
            result.statistics.invalid_urls += is_invalid

    def _check_place(self, url: Url, loc: str, line: int) -> bool:
        """Report a URL that its sitemap may not list. Return whether it is an error."""
        is_index = self._result.kind == "sitemapindex"
        place = self._task.place
        if place is None:
            self._origin = self._origin or url.origin
            origin, whose = self._origin, "most of the file" if self._is_majority else "the first one of the file"
        else:
            origin, whose = place.origin, "the index" if is_index else "its sitemap"
        if url.origin != origin:
            message = f"the URL is on {url.origin}, {whose} on {origin}"
            return self._report(issue("index-child-foreign" if is_index else "foreign-origin", message, line), loc)
        if place and not place.contains(url.path):
            message = f"the URL is not below the directory {place.directory} of {whose}"
            return self._report(issue("index-child-outside" if is_index else "outside-directory", message, line), loc)
        return False

    def _check_whole(self) -> None:
        result = self._result
        if self._items > MAX_ITEMS or result.entries > protocol.MAX_ENTRIES:
            exceeds = self._items > MAX_ITEMS
            count = f"more than {MAX_ITEMS:,} entries or lines" if exceeds else f"{result.entries:,} entries"
            message = f"the file has {count}, the protocol allows {protocol.MAX_ENTRIES:,}"
            self._report(issue("too-many-entries", message))
        if self._news > protocol.MAX_NEWS:
            message = f"the file has {self._news:,} articles, a news sitemap may have {protocol.MAX_NEWS:,}"
            self._report(issue("too-many-news", message))
        if not result.entries and not self._errors and result.kind != "unknown":
            self._report(issue("empty-sitemap", "the file lists nothing"))
        if result.kind == "urlset" and self._content != "news":
            for problem in self._repeated.issues():
                self._report(problem)


_ANY_URL = "https://www.example.com/a"
"""A URL to which no rule objects."""


def _plain_node(name: str, text: str) -> Node:
    return Node(protocol.CORE, name, 0, {}, text)


def _text_of(entry: Entry, name: str) -> str:
    nodes = entry.core.get(name)
    return nodes[0].value if nodes else ""


def _is_alternate(node: Node) -> bool:
    """Return whether an element is a language version of the page."""
    given = node.attributes.get
    return node.name == "link" and given("rel") == "alternate" and bool(given("hreflang") and given("href"))
