"""The sites to crawl: documentation trees of Debian packages, a directory, or a generated site."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from machine import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGED = {
    "postgresql": Path("/usr/share/doc/postgresql-doc-15/html"),  # Debian's postgresql-doc-15
    "python": Path("/usr/share/doc/python3.11/html"),  # Debian's python3.11-doc
    "rust": Path("/usr/share/doc/rust-doc/html"),  # Debian's rust-doc
}
TITLES = {"postgresql": "PostgreSQL's docs", "python": "Python's docs", "rust": "Rust's docs"}
GENERATED = "generated"

GENERATED_PAGES = 2_000
SECTION_SIZE = 50  # pages
MODIFIED = 1_700_000_000  # seconds since 1970: pages that had just changed would be dated otherwise by the next run
CROSS_LINKS = 20  # links to pages anywhere, on each page
WORDS = ("river", "stone", "market", "letter", "winter", "garden", "signal", "copper", "window", "harbour", "forest")


@dataclass(frozen=True, slots=True)
class DocumentTree:
    title: str
    root: Path
    paths: frozenset[str]
    """Of the pages that a crawler should find, decoded."""
    ordered: list[str]
    """The same, breadth-first."""


def installed_sites() -> list[str]:
    return [name for name, root in PACKAGED.items() if (root / "index.html").is_file()] or [GENERATED]


@contextmanager
def document_tree(site: str, *, pages: int) -> Iterator[DocumentTree]:
    """Yield the site, or its first `pages` pages, breadth-first from index.html, when it has more."""
    with tempfile.TemporaryDirectory(prefix="benchmark-site-") as temporary:
        copy = Path(temporary, "part")
        root = PACKAGED.get(site, Path(site)).resolve()
        if site == GENERATED:
            root = Path(temporary, "generated")
            generate(root, pages=min(pages, GENERATED_PAGES), seed=1)
        if not (root / "index.html").is_file():
            raise SystemExit(f"There is no {root / 'index.html'}: install its package, or choose another --site.")
        command = [sys.executable, str(HERE / "reachable.py"), str(root), str(pages), str(copy)]
        found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        paths = found["paths"]
        part = "first " if found["cut"] else ""
        title = f"{TITLES.get(site, site)}, {part}{len(paths):,} pages of {found['bytes'] / len(paths) / 1e3:.0f} kB"
        yield DocumentTree(title, copy if found["cut"] else root, frozenset(paths), paths)


def generate(root: Path, *, pages: int, seed: int) -> None:
    """Write `pages` HTML files, all reachable from index.html; equal arguments give equal bytes."""
    numbers = random.Random(seed)
    paths = ["index.html", *(f"part-{n // SECTION_SIZE:03}/page-{n:05}.html" for n in range(1, pages))]
    # Each page links to its predecessor and successor, so that every page is reachable; the others are navigation.
    navigation = paths[::SECTION_SIZE]
    for position, path in enumerate(paths):
        neighbours = paths[max(position - 1, 0) : position + 2]
        links = [*navigation, *neighbours, *numbers.choices(paths, k=CROSS_LINKS)]
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_page(position, links, numbers), encoding="utf-8")
        os.utime(file, (MODIFIED, MODIFIED))


def _page(position: int, links: list[str], numbers: random.Random) -> str:
    items = "\n".join(f'<li><a href="/{link}">{link}</a></li>' for link in links)
    # Mostly short pages and a few long ones, as on real sites: the median is about 10 kB.
    paragraphs = min(int(numbers.lognormvariate(2.5, 1)) + 1, 300)
    text = "\n".join(f"<p>{' '.join(numbers.choices(WORDS, k=60))}.</p>" for _ in range(paragraphs))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Page {position}</title></head>\n'
        f"<body><nav><ul>\n{items}\n</ul></nav>\n<main><h1>Page {position}</h1>\n{text}\n</main></body></html>\n"
    )
