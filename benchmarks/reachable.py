"""The part of a documentation tree that is crawled: `python benchmarks/reachable.py ROOT PAGES COPY`.

Finds the first PAGES pages, breadth-first from index.html, and prints their paths as JSON. When there are more, that
part of the tree is laid out in the directory COPY with the links to the other pages cut, so that no crawler asks for
them; what needs no change is a symbolic link. It is a process of its own because it takes memory, which would show in
the peaks of the processes that the caller starts.
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
    pages, met, size = _walk(root, limit)
    beyond = {path for path in met - set(pages) if _is_page(_file(root, path))}
    if beyond:
        _lay_out(root, copy, pages, beyond)
    return {"paths": pages, "bytes": size, "cut": bool(beyond)}


def _walk(root: Path, limit: int) -> tuple[list[str], set[str], int]:
    """The pages in order, all paths that they link to, and the bytes of the pages."""
    pages: list[str] = []
    queue, met, size = ["/"], {"/"}, 0
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
            if target is not None and target not in met:
                met.add(target)
                queue.append(target)
    return pages, met, size


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
    # A page may be named twice, as a directory and as its index.html.
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


def _cut(path: str, beyond: set[str], found: re.Match[bytes]) -> bytes:
    href = unescape(found[1].strip(b"\"'").decode(errors="replace"))
    try:
        target = _path(urljoin(ORIGIN + path, href))
    except ValueError:
        return found[0]
    return b"name=" + found[1] if target in beyond else found[0]


def _link(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(file.resolve())


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))))
