"""The page list for visitors: HTML files with links to all listed pages, under headings of their directories.

A page list is public. It holds addresses and titles of listed pages and nothing else. Titles and addresses come from
the site, so they are bounded and escaped.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from sitemap_crawler.sitemap.escaping import escape, rfc3986
from sitemap_crawler.sitemap.formats import ListFile
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sitemap_crawler.sitemap.names import Names

MAX_LINKS = 1_000
"""Links of one file. A visitor can read no more, and a browser shows them at once."""
MAX_LABEL = 200
"""Characters of a title or a heading, because a hostile page can have a title of any length."""
MAX_LEVELS = 5
"""Directories of a URL, from the first one, that can have a heading."""
MIN_GROUP = 5
"""Pages of one file from which on a directory has a heading of its own. Fewer are listed in the directory above."""
HEADING_SEPARATOR = " / "

_REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that reorder the text around them, https://trojansource.codes. Marks of direction stay."""


class ListedTitle(NamedTuple):
    """A listed page of the inventory."""

    url: str
    """Public URL."""
    title: str | None


class Link(NamedTuple):
    """A page as the list shows it."""

    url: str
    """Percent-encoded URL."""
    title: str
    """Title of the page; its address if it has none."""


class Group(NamedTuple):
    """Some pages of one directory, in the order of their URLs."""

    heading: str
    pages: list[Link]


class PageListSite(NamedTuple):
    """The site of a page list."""

    title: str | None
    """Title of the start page."""
    url: str
    """Public URL of the start page."""
    prefix: str
    """Prefix of the public URLs of all pages; it ends in `/`."""


class PageList:
    """Maker of the files of one page list. One file is in memory."""

    def __init__(
        self, render: Callable[[Mapping[str, Any]], bytes], site: PageListSite, names: Names, *, pages: int
    ) -> None:
        """`render` makes a file of its variables. `pages` is the number of all pages."""
        self._render_variables = render
        self._names = names
        self._prefix = site.prefix
        self._count = max(1, -(-pages // MAX_LINKS))
        host = urlsplit(site.url).netloc
        self._site = {
            "site_title": label(site.title) or host,
            "site_url": rfc3986(site.url),
            "host": host,
        }

    def files(self, pages: Iterable[ListedTitle]) -> Iterator[ListFile]:
        """Yield the files of all pages, which are in the order of their URLs.

        Raises every exception of `render`, and ValueError if there are more or fewer pages than was said: the files
        then name files that do not exist.
        """
        stream, number = iter(pages), 0
        while chunk := list(islice(stream, MAX_LINKS)):
            number += 1
            yield ListFile(number, chunk[0].url, len(chunk), self._render(chunk, number))
        if number and number != self._count:
            raise ValueError(f"{number} files of a page list, not {self._count}")

    def _render(self, pages: Sequence[ListedTitle], number: int) -> bytes:
        groups = list(groups_of(pages, self._prefix))
        return self._render_variables(
            {
                **self._site,
                "number": number,
                "count": self._count,
                "groups": groups,
                "listing": listing(groups),
                "navigation": navigation(number, self._count, self._names),
            }
        )


def label(text: str | None) -> str:
    """Return a text of the site as one bounded line without control characters; "" if nothing of it can be seen."""
    line = one_line(_REORDERING.sub("", text or ""), MAX_LABEL + 1)
    if len(line) > MAX_LABEL:
        line = line[:MAX_LABEL].rstrip() + "…"
    return line if any(map(str.isprintable, line)) else ""


def groups_of(pages: Sequence[ListedTitle], prefix: str) -> Iterator[Group]:
    """Group the pages of one file, which keep their order, by the directory that is their heading.

    `prefix` is that of all URLs. The pages of a directory come in several groups if pages of directories with a heading
    of their own stand between them.
    """
    directories = [_directories(page.url.removeprefix(prefix)) for page in pages]
    counts = Counter(directory for chain in directories for directory in chain)
    headings = (next((name for name in reversed(chain) if counts[name] >= MIN_GROUP), "") for chain in directories)
    for directory, rows in groupby(zip(headings, pages, strict=True), key=lambda row: row[0]):
        yield Group(_heading(prefix, directory), [_link(page) for _, page in rows])


def _directories(path: str) -> list[str]:
    """Return the directories of a relative path, the outermost first. A path that ends in `/` is in its own directory.

    `a/b/c.html` and `a/b/` are in `a/` and `a/b/`.
    """
    segments = path.partition("?")[0].partition("#")[0].split("/")[:-1][:MAX_LEVELS]
    return ["/".join(segments[: end + 1]) + "/" for end in range(len(segments))]


def _heading(prefix: str, directory: str) -> str:
    """Return the names of a directory for reading; those of the prefix, with the host, for the directory of the set."""
    path = directory or prefix.partition("://")[2]
    names = (label(unquote(segment)) for segment in path.split("/"))
    return label(HEADING_SEPARATOR.join(filter(None, names))) or urlsplit(prefix).netloc


def _link(page: ListedTitle) -> Link:
    url = rfc3986(page.url)
    return Link(url, label(page.title) or label(url))


def listing(groups: Iterable[Group]) -> str:
    """Return the HTML of the groups: a heading and a list of links for each."""
    return "".join(
        f'<section class="sitemap-group">\n<h2><bdi>{escape(group.heading)}</bdi></h2>\n<ul>\n'
        f"{''.join(map(_item, group.pages))}</ul>\n</section>\n"
        for group in groups
    )


def _item(link: Link) -> str:
    # bdi: a title may be written from right to left. publish/owner.py finds the links by these tags.
    return f'<li class="sitemap-page"><a href="{escape(link.url)}"><bdi>{escape(link.title)}</bdi></a></li>\n'


def navigation(number: int, count: int, names: Names) -> str:
    """Return the HTML of the links to other files; "" for a single file."""
    if count == 1:
        return ""
    items = "".join(f"<li>{_file_link(other, number, names)}</li>\n" for other in numbers_near(number, count))
    return f'<ul class="sitemap-files">\n{items}</ul>\n'


def numbers_near(number: int, count: int) -> list[int]:
    """Return the numbers of the files to which file `number` of `count` links: few, but each file is some clicks away.

    These are the first, the last, and those at distances of 1, 2, 5, 10, 20, 50 and so on.
    """
    steps = [digit * 10**power for power in range(len(str(count))) for digit in (1, 2, 5)]
    near = {1, number, count, *(number - step for step in steps), *(number + step for step in steps)}
    return sorted(other for other in near if 1 <= other <= count)


def _file_link(other: int, number: int, names: Names) -> str:
    if other == number:
        return f'<b aria-current="page">{number}</b>'
    relation = {number - 1: ' rel="prev"', number + 1: ' rel="next"'}.get(other, "")
    # Relative, so that the files also lead to each other before they are on the server.
    return f'<a href="{escape(quote(names.page_list(other)))}"{relation}>{other}</a>'
