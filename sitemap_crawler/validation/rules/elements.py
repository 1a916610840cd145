"""Helpers for rules about the elements of an extension, and the rule about their namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING

from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.findings import Issue, issue
from sitemap_crawler.validation.reading.reader import Node
from sitemap_crawler.validation.values import UrlProblem, parse_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

MAX_SHOWN = 60
"""Maximum number of characters of a value that a message shows."""
MAX_NAME = 40
"""Number of characters of a name that are compared with known names."""
MIN_LIKENESS = 0.75
"""Likeness of two names, from 0 to 1, from which on one counts as a misspelling of the other."""

Children = Mapping[str, list[Node]]
"""The children of an entry that are not in the namespace of sitemaps, by namespace."""


def namespaces(children: Children, _loc: str, _now: datetime) -> Iterator[Issue]:
    """Check the namespaces of extensions.

    Unknown extensions are allowed. A known extension with a misspelled namespace is ignored by search engines.
    """
    known = set(protocol.EXTENSIONS.values())
    for namespace, nodes in children.items():
        line = nodes[0].line
        if namespace == protocol.MOBILE:
            yield issue("mobile-retired", "the entry is marked as a mobile page", line)
        elif namespace not in known and (intended := _intended_namespace(namespace, nodes[0].name)):
            message = f"<{nodes[0].name}> is in {namespace or 'no namespace'}, not in {intended}"
            yield issue("extension-namespace", message, line, replacement=intended)


def _intended_namespace(namespace: str, element: str) -> str | None:
    for part, correct in protocol.EXTENSIONS.items():
        if part in namespace.lower():
            return correct
    return protocol.EXTENSION_ELEMENTS.get(element)


def parts_of(node: Node) -> dict[str, list[Node]]:
    """Return the children of an extension's element by name; for another namespace by namespace and name."""
    parts: dict[str, list[Node]] = {}
    for child in node.children:
        name = child.name if child.namespace == node.namespace else f"{child.namespace} {child.name}"
        parts.setdefault(name, []).append(child)
    return parts


def named(nodes: list[Node], name: str) -> list[Node]:
    """Return the nodes with this name."""
    return [node for node in nodes if node.name == name]


def misplaced(nodes: list[Node], expected: str) -> Iterator[Issue]:
    """Report the elements of an extension that may not stand directly in an entry."""
    for node in nodes:
        if node.name != expected:
            message = f"<{node.name}> stands directly in <url>, where its namespace has only <{expected}>"
            yield issue("unknown-extension-element", message, node.line)


def unknown_part(name: str, whole: str, line: int, known: frozenset[str]) -> Issue:
    """Return the issue of an element that is not part of `whole`, which may have the elements `known`."""
    message = f"<{name}> is not part of {whole}"
    return issue("unknown-extension-element", message, line, replacement=correction(name, known))


@lru_cache(maxsize=256)
def correction(name: str, known: frozenset[str]) -> str | None:
    """Return the tag of the element that is meant; None if none of those `known` is alike, or if it is one of them."""
    if name in known:
        return None
    near = [other for other in known if other.lower() == name.lower()]
    near = near or get_close_matches(name[:MAX_NAME].lower(), sorted(known), n=1, cutoff=MIN_LIKENESS)
    return f"<{near[0]}>" if near else None


def url_value(parts: dict[str, list[Node]], name: str, rule: str, line: int) -> Iterator[Issue]:
    """Check the URL in the element `name`, which must exist."""
    if name not in parts:
        yield issue(rule, f"<{name}> is missing", line)
        return
    node = parts[name][0]
    if problem := url_problem(node.value):
        yield issue(rule, f"<{name}> {problem}", node.line)


def url_problem(text: str) -> str | None:
    """Return the problem of a URL that is used but not listed.

    Such a URL may have a fragment, which players use, and any length.
    """
    url = parse_url(text)
    return url.message if isinstance(url, UrlProblem) and url.rule not in {"loc-fragment", "loc-too-long"} else None


def shown(node: Node) -> str:
    """Return the value of an element as a message shows it: with its relationship, and not all of a long text."""
    length = len(node.value)
    value = node.value if length <= MAX_SHOWN else f"{node.value[:MAX_SHOWN]}… ({length:,} characters)"
    relationship = node.attributes.get("relationship")
    return value if relationship is None else f"{relationship} {value}"
