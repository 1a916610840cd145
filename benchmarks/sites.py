"""The sites to crawl: documentation trees of Debian packages, a directory, or a generated site."""

from __future__ import annotations

import random
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGED = {
    "postgresql": Path("/usr/share/doc/postgresql-doc-15/html"),  # Debian's postgresql-doc-15
    "python": Path("/usr/share/doc/python3.11/html"),  # Debian's python3.11-doc
}
GENERATED = "generated"

SECTION_SIZE = 50  # pages
CROSS_LINKS = 20  # links to pages anywhere, on each page
WORDS = ("river", "stone", "market", "letter", "winter", "garden", "signal", "copper", "window", "harbour", "forest")


def default_site() -> str:
    return next((name for name, root in PACKAGED.items() if root.is_dir()), GENERATED)


@contextmanager
def site_root(site: str, *, pages: int, seed: int) -> Iterator[Path]:
    """Yield the directory to serve; `pages` and `seed` are those of a generated site."""
    if site != GENERATED:
        root = PACKAGED.get(site, Path(site)).resolve()
        if not (root / "index.html").is_file():
            raise SystemExit(f"There is no {root / 'index.html'}: install its package, or choose another --site.")
        yield root
        return
    with tempfile.TemporaryDirectory(prefix="benchmark-site-") as directory:
        generate(Path(directory), pages=pages, seed=seed)
        yield Path(directory)


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
        file.parent.mkdir(exist_ok=True)
        file.write_text(_page(position, links, numbers), encoding="utf-8")


def _page(position: int, links: list[str], numbers: random.Random) -> str:
    items = "\n".join(f'<li><a href="/{link}">{link}</a></li>' for link in links)
    # Mostly short pages and a few long ones, as on real sites: the median is about 10 kB.
    paragraphs = min(int(numbers.lognormvariate(2.5, 1)) + 1, 300)
    text = "\n".join(f"<p>{' '.join(numbers.choices(WORDS, k=60))}.</p>" for _ in range(paragraphs))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Page {position}</title></head>\n'
        f"<body><nav><ul>\n{items}\n</ul></nav>\n<main><h1>Page {position}</h1>\n{text}\n</main></body></html>\n"
    )
