"""The extent of a measurement: sites, crawlers, sizes and numbers of runs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Plan:
    sites: tuple[str, ...]
    crawlers: frozenset[str] | None = None
    """Names of the crawlers; None for all installed ones."""
    runs: int = 3
    limit_seconds: float = 900.0
    """Time after which a crawler is stopped."""
    concurrency: int = 32
    site_pages: int = 10_000
    latency_pages: dict[int, int] = field(default_factory=lambda: {8: 4_000, 32: 10_000})
    """Number of pages by concurrency: enough to make the start-up a small part of the run."""
    memory_pages: tuple[int, ...] = (10_000, 100_000)
    soak_pages: tuple[int, ...] = (1_000_000,)
    writer_urls: int = 200_000
    validated_urls: int = 50_000
    """Number of URLs of each file that is validated."""
    report_pages: tuple[int, ...] = (1_000_000,)
    stored_pages: tuple[int, ...] = (1_000_000,)
    """Numbers of URLs that are inserted and written in both databases."""
    shared_pages: int = 6_000
    """Number of pages of the site that several processes crawl together."""
    updated_pages: tuple[int, ...] = (1_000_000,)
    rendered_sites: tuple[str, ...] = (
        "shop",
        "hash_mode",
        "panels",
        "static_export",
        "script_menu",
        "odd_pages",
        "mixed",
    )
    """Functions that make the sites of rendering.py."""
    rendered_pages: tuple[int, int] = (100, 500)
    """The pages of a rendered site at which the memory is compared."""
    startup_runs: int = 15

    def wants(self, crawler: str) -> bool:
        return self.crawlers is None or crawler in self.crawlers


SMOKE = {
    "runs": 1,
    "site_pages": 200,
    "latency_pages": {8: 200, 32: 500},
    "memory_pages": (500, 2_000),
    "soak_pages": (2_000,),
    "writer_urls": 5_000,
    "validated_urls": 1_000,
    "report_pages": (3_000,),
    "stored_pages": (2_000,),
    "shared_pages": 500,
    "updated_pages": (2_000,),
    "rendered_sites": ("hash_mode",),
    "rendered_pages": (5, 12),
    "startup_runs": 2,
}
"""Values for a smoke run: it shows that everything works and measures nothing."""
