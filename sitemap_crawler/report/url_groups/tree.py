"""Groups of URLs without a query: the tree of their directories, in which all dates are one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sitemap_crawler.report.url_groups.groups import MIN_URLS, TOKENS, GroupCount, UrlGroup

_YEAR, _MONTH, _DAY = "(?:19|20)[0-9][0-9]", "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"
_DATE = tuple(map(re.compile, (_YEAR, _MONTH, _DAY)))
_ARCHIVE = re.compile(rf"/{_YEAR}(?:/{_MONTH}(?:/{_DAY})?)?\Z")
_ARCHIVE_LENGTH = len("/2024/05/17")
# The end of the key that counts a directory's other numbers; no URL here has a fragment.
_NUMBERS = "#"


@dataclass(slots=True)
class Directory:
    children: dict[str, Directory] = field(default_factory=dict)
    # The pages in it; what else is an archive's own page, by the directory of its name.
    pages: GroupCount = field(default_factory=GroupCount)
    archive: GroupCount = field(default_factory=GroupCount)
    numbers: int = 0

    def insert(self, key: str, group: GroupCount) -> None:
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
        """Lays the directories of all years on one another, in these those of all months, in these those of all days.

        `level`: 0 where a year may follow, 1 a month, 2 a day, 3 no more.
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

    def collect(self, place: tuple[str, ...], found: list[UrlGroup], small: int) -> GroupCount:
        """Adds the groups in here to `found`; returns what is too small for one."""
        rest = GroupCount()
        self.pages.place = place
        rest.absorb(self.pages)
        archives = GroupCount()
        for name, child in self.children.items():
            rest.absorb(child.collect((*place, name), found, small))
            if child.archive.urls:
                archives = child.archive
                archives.place = (*place, name)
        path = archives.path()
        archives.place = place
        one_month = _is_month(archives, rest)
        if one_month or archives.urls < MIN_URLS:
            rest.absorb(archives)
        else:
            found.append(archives.shape(path))
        if rest.urls < small and not one_month:
            return rest
        found.append(rest.shape(rest.path() + "*"))
        return GroupCount()

    def _has_years(self) -> bool:
        """Whether names like 1984 are years: in a directory of mostly other numbers they are numbers too."""
        years = [child for name, child in self.children.items() if _DATE[0].fullmatch(name)]
        others = sum(name.isdigit() for name in self.children) - len(years) + self.numbers
        return others <= len(years) or any(_DATE[1].fullmatch(name) for year in years for name in year.children)

    def _put(self, name: str, other: Directory) -> None:
        mine = self.children.setdefault(name, other)
        if mine is other:
            return
        mine.pages.absorb(other.pages)
        mine.archive.absorb(other.archive)
        for below, child in other.children.items():
            mine._put(below, child)


def _is_month(archives: GroupCount, beside: GroupCount) -> bool:
    """Whether archives are the days of one month, and so its directory, unless that is said of other months too."""
    if archives.urls < MIN_URLS or len(archives.date) < len(_DATE) or {"YYYY", "MM"} & set(archives.date[:2]):
        return False
    return not beside.urls or beside.date[:2] == archives.date[:2]


def directory_key(directory: str, name: str) -> str:
    """Where a page is counted: its directory; a day's, month's or year's own page by all of its path."""
    if not name.isdigit():
        return directory
    archive = _ARCHIVE.search((directory + name)[-_ARCHIVE_LENGTH:])
    return directory + (name if archive else _NUMBERS)
