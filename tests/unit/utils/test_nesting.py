"""Brackets within brackets: a text means the same wherever it is read, by one parser of JSON and TOML."""

from __future__ import annotations

import ast
import json
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.exceptions import NestingError
from sitemap_crawler.utils.nesting import check_expression, read_json, read_toml
from tests.support.paths import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Callable

# Modules that read JSON which the program wrote itself: columns of its inventory, lines of its processes.
OWN_JSON = {
    "cli/validate/live_check.py",
    "crawl/membership.py",
    "crawl/rendering/browser.py",
    "crawl/rendering/guard.py",
    "inventory/decisions.py",
    "inventory/shared_traps.py",
    "inventory/supplied.py",
    "inventory/traps.py",
    "sitemap/sections.py",
    "validation/finding_log.py",
}
PARSERS = {("json", "load"), ("json", "loads"), ("json", "JSONDecoder"), ("tomllib", "load"), ("tomllib", "loads")}


def objects(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


def lists(depth: int) -> str:
    return "[" * depth + "]" * depth


def from_far_below(function: Callable[[], Any]) -> Any:
    """Return what the function returns where little of Python's stack is left."""

    def call(frames: int) -> Any:
        return function() if frames == 0 else call(frames - 1)

    frame, used = sys._getframe(), 0
    while (above := frame.f_back) is not None:
        frame, used = above, used + 1
    return call(sys.getrecursionlimit() - used - 650)


JSON_TEXTS = [objects(200), lists(200), json.dumps(["[{" * 400, '"[{\\"' * 400]), "[" + "[]," * 400 + "[]]"]
TOO_DEEP = [objects(201), lists(201), "[" * 5_000, "[" * 201 + "\x19", '["]",' * 201]


@pytest.mark.parametrize("text", JSON_TEXTS)
def test_json_of_two_hundred_brackets_is_read_anywhere(text: str) -> None:
    expected = json.loads(text)
    assert read_json(text) == expected
    assert read_json(text.encode("utf-16")) == expected
    assert from_far_below(lambda: read_json(text)) == expected


@pytest.mark.parametrize("text", TOO_DEEP)
def test_json_with_more_brackets_is_refused_anywhere(text: str) -> None:
    for run in (lambda function: function(), from_far_below):
        with pytest.raises(NestingError, match="nested more than 200 deep"):
            run(lambda: read_json(text))


def test_other_text_is_no_json() -> None:
    for text in ("", "[", "]" * 400, '"' + "[" * 400, b"\xff\xfe"):
        with pytest.raises((json.JSONDecodeError, UnicodeDecodeError)):
            read_json(text)
    assert read_json('["\x01"]', strict=False) == ["\x01"]
    with pytest.raises(json.JSONDecodeError):
        read_json('["\x01"]')


@pytest.mark.parametrize(
    "text",
    [
        f"a = {lists(200)}",
        # Brackets in the four kinds of strings and in comments are no brackets.
        *(f"a = {quote}{'[' * 250}{quote}" for quote in ('"', "'", '"""', "'''")),
        f"# {'[' * 250}\na = 1",
        'a = """\n""[""" # ' + "[" * 201,
        "a = '''\n''[''' # " + "[" * 201,
        "a = '" + "[" * 120 + '"\'\nb = "' + "[" * 120 + "'\"",
        r'a = "\"' + "[" * 201 + '"',
        "a = [\n" + "[1],\n" * 400 + "]",
        ".".join("a" * 200) + " = 1",
    ],
)
def test_toml_of_two_hundred_brackets_is_read_anywhere(text: str) -> None:
    expected = tomllib.loads(text)
    assert read_toml(text) == expected
    assert from_far_below(lambda: read_toml(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        f"a = {lists(201)}",
        "a = " + "[" * 400 + "\x19",
        "a = " + "{a = " * 201 + "1" + "}" * 201,
        ".".join("a" * 202) + " = 1",
        ".".join("a" * 5_000) + " = 1",
        f"[{'.'.join('a' * 5_000)}]",
        f"[[{'.'.join('a' * 5_000)}]]",
    ],
)
def test_toml_with_more_brackets_is_refused_anywhere(text: str) -> None:
    for run in (lambda function: function(), from_far_below):
        with pytest.raises(NestingError, match="nested more than 200 deep"):
            run(lambda: read_toml(text))


def test_groups_of_an_expression() -> None:
    for text in ("(" * 200 + ")" * 200, "(a)" * 400, r"\(" * 400, "[(]" * 400, "[](]" * 400, r"[\](]" * 400):
        check_expression(text)
    for text in ("(" * 201, "(" * 201 + ")" * 201, "[(](" * 201, r"\\(" * 201):
        with pytest.raises(NestingError):
            check_expression(text)


def test_no_module_parses_json_or_toml_of_others_by_itself() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and (node.value.id.removesuffix("_module"), node.attr) in PARSERS
        )
        or (
            isinstance(node, ast.ImportFrom)
            and any((node.module, name.name) in PARSERS or name.name == "*" for name in node.names)
        )
    }
    assert found - {"utils/nesting.py"} == OWN_JSON
