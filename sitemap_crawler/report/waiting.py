"""The URLs that a run has not requested: lines that say so, and what to do."""

from __future__ import annotations


def limit_notice(waiting: int, *, max_pages: int | None) -> str:
    """Return the line for a run that --max-pages has ended while URLs waited. `max_pages` is None if it is unknown."""
    limit = "--max-pages" if max_pages is None else f"--max-pages {max_pages}"
    were = "1 known URL was" if waiting == 1 else f"{waiting:,} known URLs were"
    return (
        f"{limit} ended the run: {were} not requested and may be missing in the sitemap; crawl with a larger "
        "--max-pages, or without it, to request all"
    )
