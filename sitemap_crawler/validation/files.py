"""Check of one file: its kind, each entry, and the properties of the whole file and of its set."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from sitemap_crawler.exceptions import UnreadableError
from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.findings import Collector, FileReport, Issue, Kind, issue
from sitemap_crawler.validation.reading.detect import (
    ROOTS,
    bare_name,
    has_text_name,
    head_of,
    looks_like_html,
    looks_like_text,
    looks_like_xml,
    namespace_problem,
)
from sitemap_crawler.validation.reading.reader import Node, read_lines, read_nodes
from sitemap_crawler.validation.reading.stream import Readable, Stream, is_decoded
from sitemap_crawler.validation.rules.entry import (
    SITEMAP_RULES,
    URL_RULES,
    Entry,
    entry_issues,
    loc_text,
    misplaced_in_root,
)
from sitemap_crawler.validation.rules.feeds import feed_issues, link_of, root_issues, url_of
from sitemap_crawler.validation.values import Place, Url, UrlProblem, parse_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

T = TypeVar("T")
_MEDIA = {frozenset({protocol.IMAGE}): "images", frozenset({protocol.VIDEO}): "videos"}
MAX_COMPARED = 4_000_000
"""Maximum number of URLs that are compared for duplicates: those of 80 full files, at about 120 bytes each."""
MAX_ITEMS = 4 * protocol.MAX_ENTRIES
"""Maximum number of entries or lines that are read of one file."""


class Child(NamedTuple):
    """A sitemap that an index lists."""

    url: Url
    loc: str
    line: int


@dataclass(slots=True)
class Validation:
    """State of one validation: the findings and the listed URLs of all its files."""

    now: datetime
    collector: Collector = field(default_factory=Collector)
    files: list[FileReport] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    listed: dict[int, int] = field(default_factory=dict)
    """Position of the first listing by hash of the URL.

    Python's string hash has 64 bits and a secret key, so nobody can cause collisions on purpose.
    """

    def find_earlier(self, group: str, url: Url, line: int) -> tuple[str, int] | None:
        """Return file and line of the first listing of `url` in its group; store them and return None if it is new."""
        key = hash((group, *url))
        position = (len(self.names) - 1) << 32 | line
        if key not in self.listed:
            if len(self.listed) < MAX_COMPARED:
                self.listed[key] = position
            return None
        earlier = self.listed[key]
        return self.names[earlier >> 32], earlier & 0xFFFF_FFFF


@dataclass(slots=True)
class FileCheck:
    """Check of one file."""

    validation: Validation
    name: str
    group: str
    """Name of a set of files in which a URL must be unique."""
    place: Place | None = None
    """Location of the file on the web, if it is known."""
    kind: Kind = "unknown"
    children: list[Child] = field(default_factory=list)
    _namespace: str = ""
    _origin: str = ""
    _urls: int = 0
    _news: int = 0
    # Content of the entries by the first one: news, images, videos or the kind of the file.
    _content: str = ""
    _errors: int = 0
    _truncated: bool = False

    def check(self, source: Readable) -> None:
        """Read the file and add its findings to the validation."""
        self.validation.names.append(self.name)
        stream = Stream(source)
        try:
            self._read(iter(stream))
        except UnreadableError as exc:
            self._report(issue(exc.rule, f"the file {exc.message}"))
        if stream.gzipped and not bare_name(self.name).endswith(".gz"):
            self._report(issue("gzip-name", "the file is gzip, and its name does not end in .gz"))
        if not stream.gzipped and stream.size and bare_name(self.name).endswith(".gz") and not is_decoded(source):
            self._report(issue("not-gzip", "the file is not gzip"))
        if self.kind == "text" and not has_text_name(self.name):
            self._report(issue("text-name", "the file is a text sitemap"))
        self._check_whole()
        self.validation.files.append(FileReport(self.name, self.kind, self._urls, stream.size))

    def _report(self, problem: Issue, url: str | None = None) -> None:
        self._errors += problem.severity == "error"
        self.validation.collector.add(self.name, problem, url)

    def _read(self, pieces: Iterator[bytes]) -> None:
        head = head_of(pieces)
        if not head:
            self._report(issue("empty-file", "the file has no content"))
        elif looks_like_text(head, self.name):
            self.kind = "text"
            self._check_lines(chain([head], pieces))
        elif looks_like_xml(head):
            self._check_elements(chain([head], pieces))
        elif looks_like_html(head):
            self._report(issue("not-a-sitemap", "the file is an HTML page, not a sitemap", 1))
        else:
            self._report(issue("not-a-sitemap", "the file is neither XML nor a list of URLs", 1))

    def _check_lines(self, pieces: Iterable[bytes]) -> None:
        for item in self._bounded(read_lines(pieces)):
            if isinstance(item, Issue):
                self._report(item._replace(message=f"the file {item.message}"))
                continue
            line, text = item
            if not text:
                self._report(issue("blank-line", "the line is blank", line))
                continue
            self._urls += 1
            for problem in loc_text(text, parse_url(text), line):
                self._report(problem, text)
            self._check_listed(text, line)

    def _check_elements(self, pieces: Iterable[bytes]) -> None:
        has_root = False
        for item in self._bounded(read_nodes(pieces)):
            if isinstance(item, Issue):
                self._report(item._replace(message=f"the file {item.message}"))
            elif not has_root:
                has_root = True
                self._check_root(item)
                if self.kind == "unknown":
                    return
            elif self.kind in {"rss", "atom"}:
                self._check_feed_entry(item)
            else:
                self._check_entry(item)

    def _bounded(self, items: Iterable[T]) -> Iterator[T]:
        for number, item in enumerate(items):
            if number > MAX_ITEMS:
                self._truncated = True
                return
            yield item

    def _check_root(self, root: Node) -> None:
        self.kind = ROOTS.get(root.name, "unknown")
        self._namespace = root.namespace
        if self.kind == "unknown":
            message = f"the root element is <{root.name}>, not <urlset> or <sitemapindex>"
            self._report(issue("not-a-sitemap", message, root.line))
        elif problem := namespace_problem(self.kind, root.namespace):
            self._report(issue("wrong-namespace", problem, root.line))
        for stated in root_issues(root):
            self._report(stated)

    def _check_entry(self, node: Node) -> None:
        is_index = self.kind == "sitemapindex"
        expected = "sitemap" if is_index else "url"
        if node.name != expected or node.namespace != self._namespace:
            for problem in misplaced_in_root(node, self.kind, self._namespace):
                self._report(problem)
            return
        self._urls += 1
        entry = Entry.from_node(node, self._namespace, self.validation.now)
        for problem in entry_issues(entry, SITEMAP_RULES if is_index else URL_RULES):
            self._report(problem, entry.loc or None)
        is_news = protocol.NEWS in entry.others
        self._news += is_news
        line = entry.core["loc"][0].line if entry.loc else node.line
        if not self._content:
            self._content = "news" if is_news else _MEDIA.get(frozenset(entry.others), self.kind)
        url = self._check_listed(entry.loc, line)
        if is_index and url and len(self.children) < protocol.MAX_ENTRIES:
            self.children.append(Child(url, entry.loc, line))

    def _check_feed_entry(self, node: Node) -> None:
        if node.name != ("item" if self.kind == "rss" else "entry"):
            return
        self._urls += 1
        link = link_of(node)
        loc = url_of(link) if link else ""
        for problem in feed_issues(node, self.validation.now):
            self._report(problem, loc or None)
        self._check_listed(loc, link.line if link else node.line)

    def _check_listed(self, loc: str, line: int) -> Url | None:
        """Check that a listed URL is below the directory of its sitemap and unique; return it if it is valid."""
        url = parse_url(loc)
        if isinstance(url, UrlProblem):
            return None  # reported by the rules
        self._check_place(url, loc, line)
        # One page may be in several files of a site: XML, text, feed, news sitemap, image sitemap and video sitemap.
        earlier = self.validation.find_earlier(f"{self.group} {self._content or self.kind}", url, line)
        if earlier:
            file, earlier_line = earlier
            where = f"in line {earlier_line}" if file == self.name else f"in {file}, line {earlier_line}"
            self._report(issue("duplicate-loc", f"the URL is listed before, {where}", line), loc)
        return url

    def _check_place(self, url: Url, loc: str, line: int) -> None:
        is_index = self.kind == "sitemapindex"
        if self.place is None:
            self._origin = self._origin or url.origin
            origin, whose = self._origin, "the first one of the file"
        else:
            origin, whose = self.place.origin, "the index" if is_index else "its sitemap"
        if url.origin != origin:
            message = f"the URL is on {url.origin}, {whose} on {origin}"
            self._report(issue("index-child-foreign" if is_index else "foreign-origin", message, line), loc)
        elif self.place and not self.place.contains(url.path):
            message = f"the URL is not below the directory {self.place.directory} of {whose}"
            self._report(issue("index-child-outside" if is_index else "outside-directory", message, line), loc)

    def _check_whole(self) -> None:
        if self._truncated or self._urls > protocol.MAX_ENTRIES:
            count = f"more than {MAX_ITEMS:,} entries or lines" if self._truncated else f"{self._urls:,} entries"
            message = f"the file has {count}, the protocol allows {protocol.MAX_ENTRIES:,}"
            self._report(issue("too-many-entries", message))
        if self._news > protocol.MAX_NEWS:
            message = f"the file has {self._news:,} articles, a news sitemap may have {protocol.MAX_NEWS:,}"
            self._report(issue("too-many-news", message))
        if not self._urls and not self._errors and self.kind != "unknown":
            self._report(issue("empty-sitemap", "the file lists nothing"))
