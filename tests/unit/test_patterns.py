"""Regular expressions of the package: each is a constant, and none takes more than linear time on any text."""

from __future__ import annotations

import ast
import re
from functools import _lru_cache_wrapper, cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from sitemap_crawler.urls.normalise import Resolver
from tests.support.hostile_text import Reader, grows_faster, hostile_texts
from tests.support.paths import PACKAGE, ROOT, package_modules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

METHODS = {"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
# Methods of patterns that no text has.
PATTERN_METHODS = METHODS - {"split"}
# `re.compile` and the names of types and flags; every other function of `re` takes a pattern that is no constant.
ALLOWED = {"compile", "escape", "Pattern", "Match", "error", "PatternError"} | set(re.RegexFlag.__members__)
# Functions and classes that compile what is known at run time only: patterns and names of parameters given by the user.
COMPILING_FUNCTIONS = {
    # Constants from the phrases of a language, as few pages have ages of more than one.
    "extract/content/ages.py": {"_patterns_of"},
    "urls/normalise.py": {"Resolver"},
    "utils/patterns.py": {"UserPattern", "_compiled_by_re2"},
    # Constants around the escaped directory of a sitemap.
    "validation/plain_entries.py": {"_patterns"},
    # Called for constants only, with names of parameters.
    "validation/rules/entry.py": {"_parameters"},
}


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def is_lazy_constant(node: ast.AST) -> bool:
    """Return whether a function has no arguments and is run once: its pattern is a constant too."""
    return (
        isinstance(node, ast.FunctionDef)
        and not any((node.args.args, node.args.posonlyargs, node.args.kwonlyargs, node.args.vararg, node.args.kwarg))
        and any(isinstance(one, ast.Name) and one.id == "cache" for one in node.decorator_list)
    )


def uses_of_re(tree: ast.AST, allowed: set[str], *, inside: bool = False) -> Iterator[str]:
    """Give the lines that compile a pattern inside a function, or hand one to `re`."""
    for node in ast.iter_child_nodes(tree):
        name = getattr(node, "name", "")
        if name in allowed and isinstance(node, ast.ClassDef | ast.FunctionDef):
            continue
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(node, ast.ImportFrom) and node.module in ("re", "re2"):
            yield f"{node.lineno}: from {node.module} import"
        if isinstance(node, ast.Import) and any(
            one.name == "re2" or (one.asname and one.name == "re") for one in node.names
        ):
            yield f"{node.lineno}: import of re2, or of re under another name"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "re":
            if node.attr not in ALLOWED:
                yield f"{node.lineno}: re.{node.attr}"
            elif node.attr == "compile" and inside:
                yield f"{node.lineno}: re.compile inside a function"
        yield from uses_of_re(node, allowed, inside=inside or (is_function and not is_lazy_constant(node)))


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_patterns_are_constants(path: Path) -> None:
    allowed = COMPILING_FUNCTIONS.get(str(path.relative_to(PACKAGE)), set())
    assert list(uses_of_re(ast.parse(path.read_text()), allowed)) == []


@cache
def methods_used() -> dict[Path, list[ast.Attribute]]:
    """Return the uses of methods that patterns have, by module."""
    return {
        path: [
            node
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Attribute) and node.attr in METHODS
        ]
        for path in sources()
    }


@cache
def methods_by_name() -> dict[str, set[str]]:
    """Return the methods that the package calls, by the name of the pattern."""
    found: dict[str, set[str]] = {}
    for nodes in methods_used().values():
        for node in nodes:
            # The value of a cached function is called as `_pattern().fullmatch`.
            subject = node.value.func if isinstance(node.value, ast.Call) else node.value
            if isinstance(subject, ast.Name):
                found.setdefault(subject.id, set()).add(node.attr)
    return found


def patterns_in(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns_in((*value, *value.values()), depth)
    elif isinstance(value, tuple | list | set | frozenset) and depth < 5:
        for one in value:
            yield from patterns_in(one, depth + 1)


class Place(NamedTuple):
    """A module that has a pattern, and the name of the constant or of the cached function there."""

    source: Path
    name: str


def patterns_of_package() -> dict[re.Pattern[Any], list[Place]]:
    """Return the patterns of the package with all places of each."""
    files = set(sources())
    found: dict[re.Pattern[Any], list[Place]] = {}
    for module in package_modules():
        source = ROOT / (module.replace(".", "/") + ".py")
        if source not in files:
            continue
        for name, value in vars(import_module(module)).items():
            if isinstance(value, _lru_cache_wrapper) and value.__module__ == module:
                if value.__annotations__.get("return") != "re.Pattern[str]":
                    continue
                value = value()
            for pattern in patterns_in(value):
                found.setdefault(pattern, []).append(Place(source, name))
    return found


def readers_of(pattern: re.Pattern[Any], places: list[Place]) -> Iterator[Reader]:
    """Give a pattern with each method that is called, or may be, where the pattern is."""
    methods: set[str] = set()
    for source, name in places:
        others = {node.attr for node in methods_used()[source]} & PATTERN_METHODS
        methods |= methods_by_name().get(name) or others or PATTERN_METHODS
    return (Reader(pattern, method) for method in sorted(methods))


PATTERNS = patterns_of_package()


def name_of(value: object) -> str | None:
    """Return the name of a pattern for the name of a test."""
    if not isinstance(value, re.Pattern):
        return None
    source, name = PATTERNS[value][0]
    return f"{source.relative_to(PACKAGE).with_suffix('')}.{name}"


def test_collector_finds_patterns_everywhere() -> None:
    assert len(PATTERNS) > 120


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS, ids=name_of)
def test_time_of_pattern_is_linear(pattern: re.Pattern[Any]) -> None:
    for reader in readers_of(pattern, PATTERNS[pattern]):
        for text in hostile_texts(pattern):
            assert not grows_faster(reader, text)


@pytest.mark.slow
@pytest.mark.parametrize("resolver", [Resolver(), Resolver(("a*", "*", "sid"))], ids=["default", "own"])
@pytest.mark.parametrize("method", ["search", "sub"])
def test_time_of_patterns_of_parameters_is_linear(resolver: Resolver, method: str) -> None:
    for pattern in (resolver._parameter, resolver._path_parameters):
        for text in hostile_texts(pattern):
            assert not grows_faster(Reader(pattern, method), text)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [r"\s+$", r"x(?:jan|feb)[0-9]*[0-9]*;", r"(?:ab|cd)e[^f]*f", r"\[[^\]]*\]\("])
def test_a_pattern_that_takes_more_time_is_found(pattern: str) -> None:
    reader = Reader(re.compile(pattern), "search")
    assert any(grows_faster(reader, text) for text in hostile_texts(reader.pattern))
