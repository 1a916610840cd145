"""Finds the part of a documentation tree to crawl: `python benchmarks/reachable.py ROOT PAGES COPY`.

Finds the first PAGES pages, breadth-first from index.html, and prints their paths as JSON. If the tree has more pages,
that part is laid out in the directory COPY without links to the other pages, so that no crawler requests them. Files
that need no change become symbolic links. This is a script of its own because its memory would show in the peaks of
the processes that the caller starts.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin

from page_links import page_links

ORIGIN = "http://site.invalid"
HREF = re.compile(rb"""\bhref=("[^"]*"|'[^']*'|[^\s>"']+)""", re.IGNORECASE)


def main(root: Path, limit: int, copy: Path) -> dict[str, Any]:
    pages, known, size = _walk(root, limit)
    beyond = {path for path in known - set(pages) if _is_page(_file(root, path))}
    if beyond:
        _lay_out(root, copy, pages, beyond)
    return {"paths": pages, "bytes": size, "cut": bool(beyond)}


def _walk(root: Path, limit: int) -> tuple[list[str], set[str], int]:
    """Return the pages in order, all paths that they link to, and the number of bytes of the pages."""
    pages: list[str] = []
    queue, known, size = ["/"], {"/"}, 0
    for path in queue:
        if len(pages) == limit:
            break
        file = _file(root, path)
        if not _is_page(file):
            continue
        body = file.read_bytes()
        pages.append(path)
        size += len(body)
        for url in sorted(page_links(body, ORIGIN + path)):
            target = _path(url)
            if target is not None and target not in known:
                known.add(target)
                queue.append(target)
    return pages, known, size


def _path(url: str) -> str | None:
    if not url.startswith(ORIGIN):
        return None
    return unquote(url.removeprefix(ORIGIN).partition("#")[0].partition("?")[0]) or "/"


def _file(root: Path, path: str) -> Path:
    file = root / path.lstrip("/")
    return file / "index.html" if file.is_dir() else file


def _is_page(file: Path) -> bool:
    return file.suffix in (".html", ".htm") and file.is_file()


def _lay_out(root: Path, copy: Path, pages: list[str], beyond: set[str]) -> None:
    for file in root.rglob("*"):
        if file.is_file() and not _is_page(file):
            _link(file, copy / file.relative_to(root))
    # A page may occur twice: as a directory and as its index.html.
    for file, path in {_file(root, path): path for path in pages}.items():
        body = file.read_bytes()
        cut = HREF.sub(partial(_cut, path, beyond), body)
        target = copy / file.relative_to(root)
        if cut == body:
            _link(file, target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(cut)
            shutil.copystat(file, target)


def _cut(path: str, beyond: set[str], match: re.Match[bytes]) -> bytes:
    """Return the href unchanged, or as another attribute if it leads beyond the part."""
    href = unescape(match[1].strip(b"\"'").decode(errors="replace"))
    try:
        target = _path(urljoin(ORIGIN + path, href))
    except ValueError:
        return match[0]
    return b"name=" + match[1] if target in beyond else match[0]


def _link(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(file.resolve())


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))))
