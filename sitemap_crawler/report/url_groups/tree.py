"""Groups of URLs without a query: the tree of their directories.

The directories of all dates are merged, and so are those of many things of one kind, such as the forums of a site.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from sitemap_crawler.report.url_groups.groups import MIN_URLS, TOKENS, GroupCount, UrlGroup

_YEAR, _MONTH, _DAY = "(?:19|20)[0-9][0-9]", "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"
_DATE = tuple(map(re.compile, (_YEAR, _MONTH, _DAY)))
_ARCHIVE = re.compile(rf"/{_YEAR}(?:/{_MONTH}(?:/{_DAY})?)?\Z")
_ARCHIVE_LENGTH = len("/2024/05/17")
MIN_ALIKE = 8
"""Number of directories with a subdirectory of one name, from which on they are merged."""
_ANY = "*"
"""Name of the directory into which they are merged."""
_NUMBERS = "#"
"""End of the key that counts the pages of a directory whose names are other numbers. No URL has a fragment here."""


@dataclass(slots=True)
class Directory:
    """A directory of the tree, with the counts of its pages."""

    children: dict[str, Directory] = field(default_factory=dict)
    pages: GroupCount = field(default_factory=GroupCount)
    """The pages in the directory."""
    archive: GroupCount = field(default_factory=GroupCount)
    """The page of the directory itself, if the directory is a year, a month or a day."""
    numbers: int = 0
    """Number of pages whose names are numbers but no dates."""

    def insert(self, key: str, group: GroupCount) -> None:
        """Add the pages that were counted by `directory_key`."""
        *above, last = key.split("/")
        directory = self
        for name in above:
            directory = directory.children.setdefault(name, Directory())
        if last == _NUMBERS:
            directory.numbers += group.urls
        elif last:
            directory.children.setdefault(last, Directory()).archive.absorb(group)
            return
        directory.pages.absorb(group)

    def fold_dates(self, date: tuple[str, ...], level: int) -> None:
        """Merge the directories of all years, in them those of all months, and in these those of all days.

        `date` has the values above this directory. `level` is 0 where a year may follow, 1 for a month, 2 for a day, 3
        for neither.
        """
        self.pages.date = self.archive.date = date
        dated = level > 0 or self._has_years()
        children, self.children = self.children, {}
        for name, child in children.items():
            key = name
            if dated and level < len(_DATE) and _DATE[level].fullmatch(name):
                child.fold_dates((*date, name), level + 1)
                key = TOKENS[level]
            else:
                child.fold_dates(date, 0 if level == 0 else len(_DATE))
                self.pages.absorb(child.archive)
                child.archive = GroupCount()
            self._put(key, child)

    def fold_alike(self) -> None:
        """Merge the directories that many subdirectories of one name are in: `/forum/*/topic/`."""
        names = Counter(below for child in self.children.values() for below in child.children)
        alike = {name for name, directories in names.items() if directories >= MIN_ALIKE}
        if alike:
            children, self.children = self.children, {}
            for name, child in children.items():
                is_alike = name not in TOKENS and not alike.isdisjoint(child.children)
                self._put(_ANY if is_alike else name, child)
        for child in self.children.values():
            child.fold_alike()

    def collect(self, place: tuple[str, ...], groups: list[UrlGroup], small: int) -> GroupCount:
        """Append the groups below this directory to `groups`. Return the pages that are too few for a group.

        A group has at least `small` URLs.
        """
        rest = GroupCount()
        self.pages.place = place
        rest.absorb(self.pages)
        archives = GroupCount()
        for name, child in self.children.items():
            rest.absorb(child.collect((*place, name), groups, small))
            if child.archive.urls:
                archives = child.archive
                archives.place = (*place, name)
        path = archives.path()
        archives.place = place
        one_month = _is_month(archives, rest)
        if one_month or archives.urls < MIN_URLS:
            rest.absorb(archives)
        else:
            groups.append(archives.as_group(path))
        if rest.urls < small and not one_month:
            return rest
        groups.append(rest.as_group(rest.path() + "*"))
        return GroupCount()

    def _has_years(self) -> bool:
        """Return whether names like 1984 are years. In a directory of mostly other numbers they are not."""
        years = [child for name, child in self.children.items() if _DATE[0].fullmatch(name)]
        others = sum(name.isdigit() for name in self.children) - len(years) + self.numbers
        return others <= len(years) or any(_DATE[1].fullmatch(name) for year in years for name in year.children)

    def _put(self, name: str, other: Directory) -> None:
        """Add a child, or merge it into the child of the same name."""
        mine = self.children.setdefault(name, other)
        if mine is other:
            return
        mine.pages.absorb(other.pages)
        mine.archive.absorb(other.archive)
        for below, child in other.children.items():
            mine._put(below, child)


def _is_month(archives: GroupCount, rest: GroupCount) -> bool:
    """Return whether the archives are the days of one month, and the other pages, if any, belong to this month."""
    if archives.urls < MIN_URLS or len(archives.date) < len(_DATE) or {"YYYY", "MM"} & set(archives.date[:2]):
        return False
    return not rest.urls or rest.date[:2] == archives.date[:2]


def directory_key(directory: str, name: str) -> str:
    """Return the key by which a page is counted: its directory; the whole path for the page of a day, month or year."""
    if not name.isdigit():
        return directory
    archive = _ARCHIVE.search((directory + name)[-_ARCHIVE_LENGTH:])
    return directory + (name if archive else _NUMBERS)
