"""Local targets: a file with the sitemaps that it lists, and all sitemaps of a directory."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from sitemap_crawler.exceptions import TargetError, UnreadableError
from sitemap_crawler.validation.findings import issue
from sitemap_crawler.validation.reading.sources import (
    SUFFIX,
    have_same_content,
    is_file,
    kind_of,
    open_file,
    sitemaps_in,
    stem,
)
from sitemap_crawler.validation.results import FileTask
from sitemap_crawler.validation.values import Place

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sitemap_crawler.validation.findings import Issue, Kind
    from sitemap_crawler.validation.results import Child
    from sitemap_crawler.validation.session import Outcome, Validation

_HOST = re.compile(r"(?:[a-z0-9-]+\.)+[a-z0-9-]+(?::[0-9]+)?|localhost(?::[0-9]+)?", re.IGNORECASE)
MAX_DEPTH = 8
"""Maximum number of directories, the last name included, in which the sitemap of an index is looked for."""


def check_paths(validation: Validation, targets: Iterable[str]) -> None:
    """Check files and directories. Files of one directory are one set. Raises TargetError."""
    paths = {target: Path(target) for target in dict.fromkeys(targets)}
    folders: dict[Path, _Folder] = {}
    for target, path in paths.items():
        try:
            is_directory = path.is_dir()
            if not is_directory and not path.exists():
                remedy = "give a sitemap file, a directory or an http(s) URL"
                if _HOST.fullmatch(target.partition("/")[0]) and not SUFFIX.search(target.partition("/")[0]):
                    remedy = f"for a site give its URL, https://{target}"
                raise TargetError(f"{target} does not exist; {remedy}")
            if not is_directory:
                with open_file(path):
                    pass
            place = path if is_directory else path.parent
            folder = folders.setdefault(place.resolve(), _Folder(validation, place))
            if is_directory:
                folder.choose_all()
            else:
                folder.choose(path.name)
        except OSError as exc:
            raise TargetError(f"{target} can't be read: {exc.strerror}; check its name and permissions") from None
        except UnreadableError as exc:
            raise TargetError(
                f"{target} {exc.message}; check its name and permissions, or pipe it to the target -"
            ) from None
    for folder in folders.values():
        folder.check(shows_path=len(folders) > 1)


def _is_name(segment: str) -> bool:
    return segment not in {"", ".", ".."} and not set(segment) & set("/\\\0")


class _Folder:
    """Check of the files of one directory, and of those below it that its indexes list."""

    def __init__(self, validation: Validation, path: Path) -> None:
        self._validation = validation
        self._path = path
        self._chosen: dict[str, Kind | None] = {}
        self._named: set[str] = set()
        """Names of the files that the user has given."""
        self._done: dict[str, Outcome] = {}
        self._prefix = ""

    def choose(self, name: str) -> None:
        """Choose one file. Raises UnreadableError."""
        self._named.add(name)
        self._chosen[name] = kind_of(self._path / name)

    def choose_all(self) -> None:
        """Choose all sitemaps of the directory. Raises TargetError if there is none."""
        kinds = sitemaps_in(self._path)
        if not kinds:
            raise TargetError(f"{self._path} contains no sitemap; give {self._alternative()}")
        self._chosen |= kinds

    def _alternative(self) -> str:
        """Return a target to suggest: a subdirectory with sitemaps, as for a site of several hosts."""
        below = sorted(path.name for path in self._path.iterdir() if path.is_dir() and sitemaps_in(path))
        if below:
            return f"one of its directories, such as {self._path / below[0]}"
        return "a directory with *.xml, *.xml.gz or *.txt sitemaps"

    def check(self, *, shows_path: bool) -> None:
        """Check the chosen files, and the sitemaps that indexes list. With `shows_path` the report has their paths."""
        self._prefix = f"{self._path}/" if shows_path else ""
        self._validation.directory = "" if shows_path else str(self._path)
        places: dict[str, Place | None] = {}
        for name, kind in self._chosen.items():
            if kind == "sitemapindex" and name not in self._done and not self._is_copy(name):
                children = self._check_index(name)
                places[stem(name)] = Place.for_sitemap(children[0].url) if children else None
        others = [name for name in self._chosen if name not in self._done and not self._is_copy(name)]
        for name in others:
            if self._chosen[name] == "urlset" and stem(name) in places and name not in self._named:
                self._report(name, issue("unlisted-file", "the index next to this file does not list it"))
        self._check([self._task(name, f"next to {stem(name)}", places.get(stem(name))) for name in others])

    def _is_copy(self, name: str) -> bool:
        """Return whether a file has the content of another one that is checked, as `gzip -k` writes it."""
        is_compressed = name.endswith(".gz")
        other = name.removesuffix(".gz") if is_compressed else f"{name}.gz"
        is_checked = other in self._done or (is_compressed and other in self._chosen)
        return is_checked and have_same_content([self._path / name, self._path / other])

    def _check_index(self, index: str) -> tuple[Child, ...]:
        """Check an index and its sitemaps; return those."""
        self._check([self._task(index, index)])
        children = self._done[index].children
        names = [self._find(child) for child in children]
        tasks: dict[str, FileTask] = {}
        for name, child in zip(names, children, strict=True):
            if name is None:
                last = unquote(child.url.path.rpartition("/")[2] + child.url.query)
                message = f"there is no file {last!r} in the directory of the index"
                self._report(index, issue("missing-file", message, child.line), child.loc)
            elif name not in self._done and name not in tasks:
                tasks[name] = self._task(name, index, Place.for_sitemap(child.url))
        self._check(tasks.values())
        for name, child in zip(names, children, strict=True):
            if name is not None:
                self._validation.check_child(self._name(index), child, self._done[name], is_same=name == index)
        return children

    def _find(self, child: Child) -> str | None:
        """Return the path of a listed sitemap from here; None if there is none.

        The URL of this directory is not known. So it is the longest end of the URL's path that exists: Hugo writes
        sitemap.xml with de/sitemap.xml below it. A file that is named with the query comes first.
        """
        *folders, last = (unquote(segment) for segment in child.url.path.split("/")[1:])
        for name in dict.fromkeys([last + unquote(child.url.query), last]):
            segments = [*folders, name]
            for start in range(max(0, len(segments) - MAX_DEPTH), len(segments)):
                # The segments come from a file, so they must not lead out of the directory.
                if all(map(_is_name, segments[start:])) and is_file(self._path.joinpath(*segments[start:])):
                    return "/".join(segments[start:])
        return None

    def _name(self, name: str) -> str:
        return f"{self._prefix}{name}"

    def _report(self, name: str, problem: Issue, url: str | None = None) -> None:
        self._validation.collector.add(self._name(name), problem, url)

    def _task(self, name: str, group: str, place: Place | None = None) -> FileTask:
        group = f"{self._path}: {group}"
        return FileTask(self._path / name, self._name(name), group, self._validation.now, place)

    def _check(self, tasks: Collection[FileTask]) -> None:
        names = [task.path.relative_to(self._path).as_posix() for task in tasks]
        self._done.update(zip(names, self._validation.check(list(tasks)), strict=True))
