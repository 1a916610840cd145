"""The lists of tests that run with both databases name tests that there are."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.support.both_databases import FILE_ONLY, IN_BOTH
from tests.support.paths import ROOT


@cache
def names_in(module: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / module).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", sorted({*IN_BOTH, *FILE_ONLY}))
def test_the_test_exists_and_is_in_one_list(name: str) -> None:
    module, _, test = name.partition("::")
    assert test in names_in(module)
    assert not (name in IN_BOTH and name in FILE_ONLY)
