"""The sites to crawl: documentation trees of Debian packages, a directory, or a made site."""

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

from endless import made_page, page_path
from machine import HERE

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGED = {
    "rust": Path("/usr/share/doc/rust-doc/html"),  # Debian's rust-doc
    "postgresql": Path("/usr/share/doc/postgresql-doc-15/html"),  # Debian's postgresql-doc-15
    "python": Path("/usr/share/doc/python3.11/html"),  # Debian's python3.11-doc
}
SMALL_PAGES = "small-pages"
"""Made site of pages of about 1 kB, in a tree of links."""
GENERATED = "generated"
"""Made site of pages of about 10 kB with navigation, for machines without a packaged site."""
TITLES = {
    "rust": "Rust's docs",
    "postgresql": "PostgreSQL's docs",
    "python": "Python's docs",
    SMALL_PAGES: "a made site",
    GENERATED: "a generated site",
}

MAX_GENERATED_PAGES = 2_000
SECTION_PAGES = 50
MODIFIED = 1_700_000_000
"""Time of all made files, in seconds since 1970. The next run would date recently changed pages differently."""
CROSS_LINKS = 20
"""Number of links to arbitrary pages on each generated page."""
WORDS = ("river", "stone", "market", "letter", "winter", "garden", "signal", "copper", "window", "harbour", "forest")


@dataclass(frozen=True, slots=True)
class DocumentTree:
    title: str
    root: Path
    paths: frozenset[str]
    """Decoded paths of the pages that a crawler should find."""
    ordered: list[str]
    """The same paths, breadth-first."""


def installed_sites() -> list[str]:
    """Return the names of the sites to measure by default. The largest sites come first."""
    packaged = [name for name, root in PACKAGED.items() if (root / "index.html").is_file()]
    return [SMALL_PAGES, *(packaged or [GENERATED])]


@contextmanager
def document_tree(site: str, *, pages: int) -> Iterator[DocumentTree]:
    """Yield a site, or its first `pages` pages, breadth-first from index.html, if it has more."""
    with tempfile.TemporaryDirectory(prefix="benchmark-site-") as temporary:
        copy = Path(temporary, "part")
        root = PACKAGED.get(site, Path(site)).resolve()
        if site == GENERATED:
            root = Path(temporary, "generated")
            generate(root, pages=min(pages, MAX_GENERATED_PAGES), seed=1)
        elif site == SMALL_PAGES:
            root = Path(temporary, "small-pages")
            make_small_pages(root, pages=pages)
        if not (root / "index.html").is_file():
            raise SystemExit(f"{root / 'index.html'} does not exist: install its package or choose another --site")
        command = [sys.executable, str(HERE / "reachable.py"), str(root), str(pages), str(copy)]
        part = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        paths = part["paths"]
        prefix = "first " if part["cut"] else ""
        title = f"{TITLES.get(site, site)}, {prefix}{len(paths):,} pages of {part['bytes'] / len(paths) / 1e3:.0f} kB"
        yield DocumentTree(title, copy if part["cut"] else root, frozenset(paths), paths)


def make_small_pages(root: Path, *, pages: int) -> None:
    """Write the pages of `endless.py` as files; equal arguments give equal bytes."""
    for number in range(pages):
        file = root / (page_path(number).lstrip("/") or "index.html")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(made_page(number, pages))
        os.utime(file, (MODIFIED, MODIFIED))


def generate(root: Path, *, pages: int, seed: int) -> None:
    """Write `pages` HTML files, all reachable from index.html; equal arguments give equal bytes."""
    numbers = random.Random(seed)
    paths = ["index.html", *(f"part-{n // SECTION_PAGES:03}/page-{n:05}.html" for n in range(1, pages))]
    # Each page links to its predecessor and successor, so that every page is reachable; the others are navigation.
    navigation = paths[::SECTION_PAGES]
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
