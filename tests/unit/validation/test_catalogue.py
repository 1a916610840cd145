"""The catalogue of rules: its texts, and that the code and the catalogue name the same rules."""

from __future__ import annotations

import ast
import re
from functools import cache

from sitemap_crawler.validation.catalogue import FAMILIES, RULES
from tests.support.paths import PACKAGE

NOT_YET_USED = {
    *("scheme-twin", "www-twin", "slash-twin", "lastmod-all-equal", "lastmod-generated", "priority-all-equal"),
    *("index-lastmod-old", "alternate-self", "alternate-not-reciprocal"),
}
"""Rules that are in the catalogue before the code that uses them. This set becomes empty."""

MAKERS = {"issue", "UnreadableError", "UrlProblem"}
"""Functions and classes whose first argument is the id of a rule."""


@cache
def _modules() -> list[ast.Module]:
    # The recommendations name the rules of findings that other modules make.
    others = {"catalogue.py", "recommendations.py"}
    paths = [path for path in sorted((PACKAGE / "validation").rglob("*.py")) if path.name not in others]
    paths += sorted((PACKAGE / "cli" / "validate").glob("*.py"))
    return [ast.parse(path.read_text(encoding="utf-8"), str(path)) for path in paths]


def _used() -> set[str]:
    """Return the ids that the code passes on as texts: to a function, or in a table of rules."""
    docstrings = {
        id(node.body[0].value)
        for module in _modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return {
        node.value
        for module in _modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    } & RULES.keys()


def test_the_code_uses_each_rule_of_the_catalogue() -> None:
    assert RULES.keys() - _used() == NOT_YET_USED


def test_each_rule_that_the_code_names_is_in_the_catalogue() -> None:
    named = {
        node.args[0].value
        for module in _modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in MAKERS
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    assert named
    assert named - RULES.keys() == set()


def test_the_severity_is_a_property_of_the_rule() -> None:
    """No other module makes an issue around the check of its id."""
    made = [
        node.lineno
        for module in _modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Issue"
    ]
    assert len(made) == 1, "only findings.issue makes an Issue"


def test_a_rule_has_complete_texts() -> None:
    for rule_id, rule in RULES.items():
        assert rule_id == rule.id
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.id)
        for text in (rule.problem, rule.remedy):
            assert re.fullmatch(r"[A-Z].*\.", text), text
            assert ". " not in text, f"one sentence: {text}"
            assert "  " not in text
        if rule.source == "this tool":
            assert not rule.link
        else:
            assert rule.link.startswith("https://")
    assert [*dict.fromkeys(rule.family for rule in RULES.values())] == [*FAMILIES]
