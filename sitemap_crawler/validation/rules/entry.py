"""Rules for one entry of a sitemap, one function for each family of rules.

To add a rule, write a function `Entry -> issues` and add it to `URL_RULES` or `SITEMAP_RULES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sitemap_crawler.urls.normalise import SESSION_PARAMETERS, TRACKING_PARAMETERS
from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.findings import Issue, issue
from sitemap_crawler.validation.rules.alternates import alternates
from sitemap_crawler.validation.rules.elements import correction, namespaces
from sitemap_crawler.validation.rules.media import images, videos
from sitemap_crawler.validation.rules.news import news
from sitemap_crawler.validation.values import (
    CLOCK_TOLERANCE,
    WEB_BEGAN,
    WHITE_SPACE,
    Moment,
    Url,
    UrlProblem,
    moved,
    parse_url,
    unescaped,
    w3c_datetime,
)

if TYPE_CHECKING:
    from datetime import datetime

    from sitemap_crawler.validation.reading.reader import Node

_DECIMAL = re.compile(r"[+-]?(?:[0-9]++\.?+[0-9]*|\.[0-9]+)")  # https://www.w3.org/TR/xmlschema-2/#decimal
# References that remain after the XML was read: the program escaped the URL twice.
_REFERENCE = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-f]+);", re.IGNORECASE)


def _parameters(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for parameters of a query, of a path (`;jsessionid=`), or after a & that was escaped twice."""
    alternatives = "|".join(re.escape(name).replace(r"\*", "[^=&;#]*") for name in names)
    return re.compile(rf"[?&;]({alternatives})(?:[=&;#]|$)", re.IGNORECASE)


_PARAMETER = frozenset("?;")
_SESSION = _parameters(SESSION_PARAMETERS)
_TRACKING = _parameters(name for name in TRACKING_PARAMETERS if name not in SESSION_PARAMETERS)


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
        yield issue(url.rule, f"the URL {url.message}", line, value=text)
        return
    if (char := unescaped(text)) is not None:
        yield issue("loc-unescaped", f"the URL contains {char} that is not percent-encoded", line, value=text)
    if _PARAMETER.isdisjoint(text):
        return
    if match := _REFERENCE.search(text):
        yield issue("loc-escaped-twice", f"the URL contains {match[0]} after the XML was read", line, value=text)
    for rule, pattern in (("loc-session-id", _SESSION), ("loc-tracking", _TRACKING)):
        if match := pattern.search(text):
            yield issue(rule, f"the URL has the parameter {match[1]}", line, value=text)


def loc(entry: Entry) -> Iterator[Issue]:
    """Check the loc of an entry."""
    nodes = entry.core.get("loc")
    if not nodes:
        yield issue("loc-missing", f"<{entry.node.name}> has no <loc>", entry.node.line)
        return
    node = nodes[0]
    if node.text and node.text.strip(WHITE_SPACE) != node.text:
        yield issue("loc-padding", "<loc> has white space around its URL", node.line, value=node.text)
    yield from loc_text(entry.loc, parse_url(entry.loc), node.line)


def lastmod(entry: Entry) -> Iterator[Issue]:
    """Check the lastmod of an entry."""
    for node in entry.core.get("lastmod", ())[:1]:
        yield from moment_issues(node, w3c_datetime(node.value), "lastmod-invalid", entry.now)


def moment_issues(node: Node, moment: Moment, rule_of_form: str, now: datetime) -> Iterator[Issue]:
    """Check the date of the last change in an element."""
    if moment.time is None:
        yield issue(rule_of_form, f'{node.name} "{node.value}" {moment.problem}', node.line, value=node.value)
    elif moment.time > now + CLOCK_TOLERANCE:
        yield issue("lastmod-future", f"{node.name} is {node.value}", node.line)
    elif moved(moment.time, moment.period) < WEB_BEGAN:
        yield issue("lastmod-before-web", f"{node.name} is {node.value}", node.line)


def hints(entry: Entry) -> Iterator[Issue]:
    """Check changefreq and priority of an entry."""
    for node in entry.core.get("changefreq", ())[:1]:
        if node.value not in protocol.CHANGE_FREQUENCIES:
            yield issue("changefreq-invalid", f'the changefreq is "{node.value}"', node.line, value=node.value)
    for node in entry.core.get("priority", ())[:1]:
        if not _DECIMAL.fullmatch(node.value) or not 0 <= float(node.value) <= 1:
            yield issue("priority-invalid", f'the priority is "{node.value}"', node.line, value=node.value)


def misplaced_in_root(node: Node, root: str, namespace: str) -> Iterator[Issue]:
    """Report a child of the root element that is no entry. Elements of unknown extensions may stand there."""
    if node.namespace in {namespace, protocol.CORE, ""}:
        entries = frozenset({"sitemap" if root == "sitemapindex" else "url"})
        reason = f": it is not in the namespace of <{root}>" if node.name in entries else ""
        message = f"<{node.name}> does not belong in <{root}>{reason}"
        yield issue("unknown-element", message, node.line, replacement=correction(node.name, entries))
    elif node.namespace in protocol.EXTENSIONS.values():
        message = f"<{node.name}> stands directly in <{root}>, outside of an entry"
        yield issue("unknown-extension-element", message, node.line)


def _structure(allowed: frozenset[str]) -> Rule:
    def structure(entry: Entry) -> Iterator[Issue]:
        if entry.node.value:
            yield issue("stray-text", f"<{entry.node.name}> contains text outside its elements", entry.node.line)
        for name, nodes in entry.core.items():
            if name not in allowed:
                message = f"<{name}> does not belong in <{entry.node.name}>"
                yield issue("unknown-element", message, nodes[0].line, replacement=correction(name, allowed))
                continue
            if len(nodes) > 1:
                yield issue("repeated-element", f"<{name}> occurs {len(nodes)} times in one entry", nodes[1].line)
            if nodes[0].children:
                yield issue("unknown-element", f"<{name}> contains elements", nodes[0].children[0].line)

    return structure


def _extensions(entry: Entry) -> Iterator[Issue]:
    if entry.others:
        for rule in _EXTENSION_RULES:
            yield from rule(entry.others, entry.loc, entry.now)


def _no_extensions(entry: Entry) -> Iterator[Issue]:
    for nodes in entry.others.values():
        yield issue("index-extension", f"<{nodes[0].name}> is an extension of pages", nodes[0].line)


_EXTENSION_RULES = (namespaces, images, videos, news, alternates)
URL_RULES: tuple[Rule, ...] = (_structure(protocol.URL_CHILDREN), loc, lastmod, hints, _extensions)
SITEMAP_RULES: tuple[Rule, ...] = (_structure(protocol.SITEMAP_CHILDREN), loc, lastmod, _no_extensions)


def entry_issues(entry: Entry, rules: tuple[Rule, ...]) -> Iterator[Issue]:
    """Yield the issues of an entry by all `rules`."""
    for rule in rules:
        yield from rule(entry)
