"""The installed Scrapy has all private names that the crawl uses."""

from __future__ import annotations

import inspect
import re
from pkgutil import resolve_name
from typing import Any

import pytest
import scrapy

from sitemap_crawler.crawl.engine import CHECKED_SCRAPY, SCRAPY_INTERNALS

NAMES = [(owner, name) for owner, names in SCRAPY_INTERNALS.items() for name in names]


def has_attribute(owner: Any, name: str) -> bool:
    """Return whether a class or module has the name, or `__init__` of the class sets it."""
    if hasattr(owner, name):
        return True
    return inspect.isclass(owner) and name in owner.__init__.__code__.co_names


def takes(function: Any, count: int) -> bool:
    """Return whether the function can be called with `count` positional arguments."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    return True


def is_there(path: str, name: str) -> bool:
    try:
        owner = resolve_name(path)
    except (ImportError, AttributeError):
        return False
    method, *parameters = re.findall(r"\w+", name)
    if not name.endswith(")"):
        return has_attribute(owner, method)
    bound = inspect.isclass(owner) and not isinstance(inspect.getattr_static(owner, method, None), classmethod)
    return hasattr(owner, method) and takes(getattr(owner, method), len(parameters) + bound)


@pytest.mark.parametrize(("owner", "name"), NAMES)
def test_scrapy_still_has_the_name(owner: str, name: str) -> None:
    assert is_there(owner, name), (
        f"Scrapy {scrapy.__version__} no longer has {name} of {owner}, as Scrapy {CHECKED_SCRAPY} had: "
        "sitemap_crawler/crawl/engine.py must be adapted"
    )


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        ("scrapy.core.engine.ExecutionEngine", "_moved"),
        ("scrapy.core.engine.ExecutionEngine", "_moved()"),
        ("scrapy.core.engine.ExecutionEngine", "_start_scheduled_request(request)"),
        ("scrapy.core.engine._Moved", "closing"),
        ("scrapy.moved.Crawler", "closing"),
        ("scrapy.utils.ssl", "_make_ssl_context()"),
    ],
)
def test_a_missing_name_is_recognised(owner: str, name: str) -> None:
    assert not is_there(owner, name)
