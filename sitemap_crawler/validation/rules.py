"""Rules for one entry of a sitemap, one function for each family of rules.

To add a rule, write a function `Entry -> issues` and add it to `URL_RULES` or `SITEMAP_RULES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sitemap_crawler.validation import extensions, protocol
from sitemap_crawler.validation.findings import Issue, issue
from sitemap_crawler.validation.values import WHITE_SPACE, Url, UrlProblem, parse_url, unescaped, w3c_datetime

if TYPE_CHECKING:
    from sitemap_crawler.validation.reading.reader import Node

_DECIMAL = re.compile(r"[+-]?(?:[0-9]++\.?+[0-9]*|\.[0-9]+)")  # https://www.w3.org/TR/xmlschema-2/#decimal
_CLOCK_TOLERANCE = timedelta(days=1)


@dataclass(slots=True)
class Entry:
    """A `url` or `sitemap` element."""

    node: Node
    core: dict[str, list[Node]]
    """Children of the core namespace, by name."""
    others: dict[str, list[Node]]
    """Other children, by namespace."""
    loc: str
    now: datetime

    @classmethod
    def from_node(cls, node: Node, namespace: str, now: datetime) -> Entry:
        """Return the entry of an element. `namespace` is that of the root. If it is wrong, the root was reported."""
        core: dict[str, list[Node]] = {}
        others: dict[str, list[Node]] = {}
        for child in node.children:
            if child.namespace == namespace:
                core.setdefault(child.name, []).append(child)
            else:
                others.setdefault(child.namespace, []).append(child)
        return cls(node, core, others, core["loc"][0].value if "loc" in core else "", now)


Rule = Callable[[Entry], Iterator[Issue]]


def loc_text(text: str, url: Url | UrlProblem, line: int) -> Iterator[Issue]:
    """Check a listed URL: a loc, a line of a text sitemap or a link of a feed."""
    if isinstance(url, UrlProblem):
        yield issue(url.rule, f"the URL {url.message}", line)
    elif (char := unescaped(text)) is not None:
        yield issue("loc-unescaped", f"the URL contains {char} that is not percent-encoded", line)


def loc(entry: Entry) -> Iterator[Issue]:
    """Check the loc of an entry."""
    nodes = entry.core.get("loc")
    if not nodes:
        yield issue("loc-missing", f"<{entry.node.name}> has no <loc>", entry.node.line)
        return
    node = nodes[0]
    if node.text and node.text.strip(WHITE_SPACE) != node.text:
        yield issue("loc-padding", "<loc> has white space around its URL", node.line)
    yield from loc_text(entry.loc, parse_url(entry.loc), node.line)


def lastmod(entry: Entry) -> Iterator[Issue]:
    """Check the lastmod of an entry."""
    for node in entry.core.get("lastmod", ())[:1]:
        moment = w3c_datetime(node.value)
        if moment.time is None:
            yield issue("lastmod-invalid", f'lastmod "{node.value}" {moment.problem}', node.line)
        elif moment.time > entry.now + _CLOCK_TOLERANCE:
            yield issue("lastmod-future", f"lastmod {node.value} is in the future", node.line)


def hints(entry: Entry) -> Iterator[Issue]:
    """Check changefreq and priority of an entry."""
    for node in entry.core.get("changefreq", ())[:1]:
        if node.value not in protocol.CHANGE_FREQUENCIES:
            allowed = "always, hourly, daily, weekly, monthly, yearly or never"
            yield issue("changefreq-invalid", f'changefreq "{node.value}" is not one of {allowed}', node.line)
    for node in entry.core.get("priority", ())[:1]:
        if not _DECIMAL.fullmatch(node.value) or not 0 <= float(node.value) <= 1:
            yield issue("priority-invalid", f'priority "{node.value}" is not a number from 0.0 to 1.0', node.line)


def _structure(allowed: frozenset[str]) -> Rule:
    def structure(entry: Entry) -> Iterator[Issue]:
        if entry.node.value:
            yield issue("stray-text", f"<{entry.node.name}> contains text outside its elements", entry.node.line)
        for name, nodes in entry.core.items():
            if name not in allowed:
                yield issue("unknown-element", f"<{name}> does not belong in <{entry.node.name}>", nodes[0].line)
                continue
            if len(nodes) > 1:
                yield issue("repeated-element", f"<{name}> occurs {len(nodes)} times in one entry", nodes[1].line)
            if nodes[0].children:
                yield issue("unknown-element", f"<{name}> contains elements", nodes[0].children[0].line)

    return structure


def _extensions(entry: Entry) -> Iterator[Issue]:
    if entry.others:
        for rule in extensions.RULES:
            yield from rule(entry.others, entry.loc, entry.now)


URL_RULES: tuple[Rule, ...] = (_structure(protocol.URL_CHILDREN), loc, lastmod, hints, _extensions)
SITEMAP_RULES: tuple[Rule, ...] = (_structure(protocol.SITEMAP_CHILDREN), loc, lastmod)


def entry_issues(entry: Entry, rules: tuple[Rule, ...]) -> Iterator[Issue]:
    """Yield the issues of an entry by all `rules`."""
    for rule in rules:
        yield from rule(entry)
