"""Sections: groups of pages with sitemaps of their own, by rules about the URL or by its first directory.

The section of a URL depends on the URL and the rules alone, so a page stays in its section while the rules stay.
The only exception is the limit on the number of sections: see `Sections.assigner`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import unquote

from sitemap_crawler.exceptions import PatternError, SectionError
from sitemap_crawler.sitemap.names import MAX_SECTION_NAME, RESERVED_SECTIONS, is_section_name
from sitemap_crawler.utils.patterns import UserPattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Each section takes an open temporary file while a set is written, and at least one file of the set.
MAX_RULES = 100
"""Sections by rules."""
MAX_DIRECTORIES = 100
"""Sections by directories."""

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


class Sections(NamedTuple):
    """The rules that give each URL its section.

    The first rule whose expression matches names the section, else the first directory below `prefix` does. Any other
    URL belongs to the default section, "".
    """

    rules: tuple[tuple[str, UserPattern], ...] = ()
    """Name of a section and expression."""
    prefix: str = ""
    """Prefix of the scope; "" if directories are no sections."""
    supplied: int = 0
    """Version of the sections that lists of the owner supply for single URLs; 0 without any.

    These sections come before the rules. The version changes when a published page gets another section.
    """

    @classmethod
    def parse(cls, rules: Iterable[str], *, by_directory: bool = False, prefix: str = "") -> Self:
        """Return the sections of rules `NAME=RE` and of the scope's prefix. Raises SectionError."""
        return cls._checked([_split(rule) for rule in rules], prefix if by_directory else "")

    @classmethod
    def from_signature(cls, signature: str) -> Self:
        """Return the sections with this signature. Raises SectionError."""
        try:
            pairs, prefix, *supplied = json.loads(signature) if signature else ([], "")
            rules = [(str(name), str(pattern)) for name, pattern in pairs]
        except (TypeError, ValueError) as error:
            raise SectionError(f"{signature!r} is no signature of sections: {error}") from error
        return cls._checked(rules, str(prefix))._replace(supplied=int(supplied[0]) if supplied else 0)

    @classmethod
    def _checked(cls, rules: list[tuple[str, str]], prefix: str) -> Self:
        if len(rules) > MAX_RULES:
            raise SectionError(f"there are {len(rules)} rules for sections: give at most {MAX_RULES}")
        return cls(tuple((_checked_name(name), _compiled(name, pattern)) for name, pattern in rules), prefix)

    @property
    def signature(self) -> str:
        """The rules as a text; "" without rules. Equal signatures put every URL into the same section."""
        if not self.rules and not self.prefix and not self.supplied:
            return ""
        supplied = [self.supplied] if self.supplied else []
        return json.dumps([[(name, pattern.text) for name, pattern in self.rules], self.prefix, *supplied])

    def section_of(self, url: str) -> str:
        """Return the section by the rules and the directory, without regard to MAX_DIRECTORIES."""
        for name, pattern in self.rules:
            if pattern.found_in(url):
                return name
        return _directory_section(url, self.prefix) if self.prefix else ""

    def assigner(self, published: Iterable[str] = ()) -> Callable[[str], str]:
        """Return a function that gives listed URLs, in their order, their sections.

        At most MAX_DIRECTORIES directories are sections. The sections in `published`, which the same rules have
        published, come first, then further directories in the order of the URLs. The pages of all other directories
        are in the default section. So a page never leaves the section of its directory. It can only go from the default
        section to a new one, after another directory is gone.
        """
        named = {name for name, _ in self.rules} | {""}
        admitted = set(published) - named - RESERVED_SECTIONS

        def assign(url: str) -> str:
            section = self.section_of(url)
            if section in named or section in admitted:
                return section
            if len(admitted) >= MAX_DIRECTORIES:
                return ""
            admitted.add(section)
            return section

        return assign


def _directory_section(url: str, prefix: str) -> str:
    """Return the section name of the first directory below the prefix; "" without a directory or a usable name."""
    path = url.removeprefix(prefix).partition("?")[0].partition("#")[0]
    directory, slash, _ = path.partition("/")
    if not slash or not url.startswith(prefix):
        return ""
    slug = _NOT_IN_A_NAME.sub("-", unquote(directory).lower()).strip("-")[:MAX_SECTION_NAME].rstrip("-")
    return "" if slug in RESERVED_SECTIONS else slug


def _split(rule: str) -> tuple[str, str]:
    name, separator, pattern = rule.partition("=")
    if not separator:
        raise SectionError(f"{rule!r} is not NAME=RE: give a name, = and a regular expression, such as posts=/blog/")
    return name, pattern


def _checked_name(name: str) -> str:
    if name in RESERVED_SECTIONS:
        raise SectionError(f"the section name {name} is reserved for the program's own files: choose another")
    if not is_section_name(name):
        raise SectionError(
            f"{name!r} is no section name: use at most {MAX_SECTION_NAME} of a-z and 0-9, with single hyphens between"
        )
    return name


def _compiled(name: str, pattern: str) -> UserPattern:
    try:
        return UserPattern(pattern)
    except PatternError as error:
        raise SectionError(f"section {name}: {error}") from error
