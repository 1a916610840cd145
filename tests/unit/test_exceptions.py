"""The tree of exceptions: complete, drawn as it is, and with the exit codes of the contract."""

from __future__ import annotations

import inspect
import re
from importlib import import_module

import pytest

from sitemap_crawler import exceptions
from sitemap_crawler.exceptions import SitemapCrawlerError
from tests.support.paths import package_modules


def exception_classes(module: str) -> dict[str, type[BaseException]]:
    members = inspect.getmembers(import_module(module), inspect.isclass)
    return {
        name: member for name, member in members if issubclass(member, BaseException) and member.__module__ == module
    }


def test_every_exception_of_the_package_is_in_the_tree() -> None:
    classes = {name: member for module in package_modules() for name, member in exception_classes(module).items()}
    assert len(classes) > 30
    assert [name for name, member in classes.items() if not issubclass(member, SitemapCrawlerError)] == []
    assert [name for name in classes if not name.endswith("Error")] == []


def test_the_tree_is_drawn_as_it_is() -> None:
    drawn: dict[str, tuple[str | None, bool, int]] = {}
    above: list[tuple[int, str]] = []
    for line in (exceptions.__doc__ or "").splitlines():
        row = re.fullmatch(r"    ([ │├└─]*)(\w+Error)( · ValueError)?(?: · OSError)?(?: +(?:exit code )?(\d))?", line)
        if row is None:
            continue
        indent, name, value_error, code = row.groups()
        above = [(width, other) for width, other in above if width < len(indent)]
        parent = above[-1][1] if above else None
        inherited = drawn[parent][2] if parent is not None else 0
        drawn[name] = (parent, value_error is not None, int(code) if code else inherited)
        above.append((len(indent), name))

    classes = exception_classes("sitemap_crawler.exceptions")
    actual = {}
    for name, member in classes.items():
        assert issubclass(member, SitemapCrawlerError)
        parent = None if member is SitemapCrawlerError else member.__bases__[0].__name__
        actual[name] = (parent, ValueError in member.__bases__, member.exit_code)
    assert drawn == actual


@pytest.mark.parametrize(
    ("name", "exit_code"),
    [
        ("SitemapCrawlerError", 1),
        ("OptionError", 2),
        ("ScopeError", 2),
        ("SectionError", 2),
        ("EntryNameError", 2),
        ("AccessError", 2),
        ("ProxyError", 2),
        ("SpellingError", 2),
        ("LocateError", 2),
        ("UnknownRunError", 2),
        ("TargetError", 2),
        ("InventoryError", 1),
        ("NotAnInventoryError", 2),
        ("InventoryBusyError", 4),
        ("OutputError", 1),
        ("PublicationRefusedError", 3),
        ("NothingToPublishError", 3),
        ("IndexOverflowError", 3),
        ("RetryLaterError", 4),
        ("CrawlStoppedError", 4),
    ],
)
def test_the_exit_codes_are_those_of_the_contract(name: str, exit_code: int) -> None:
    assert getattr(exceptions, name).exit_code == exit_code
