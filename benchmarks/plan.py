"""How much is measured."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Plan:
    sites: tuple[str, ...]
    crawlers: frozenset[str] | None = None
    """Their names; None for all that are installed."""
    runs: int = 3
    limit: float = 900.0
    """Seconds after which a crawler is stopped."""
    concurrency: int = 32
    site_pages: int = 10_000
    latency_pages: dict[int, int] = field(default_factory=lambda: {8: 4_000, 32: 10_000})
    """By concurrency: enough that the start is a small part."""
    memory_pages: tuple[int, ...] = (10_000, 100_000)
    writer_urls: int = 200_000
    startup_runs: int = 15

    def wants(self, crawler: str) -> bool:
        return self.crawlers is None or crawler in self.crawlers


SMOKE = {
    "runs": 1,
    "site_pages": 200,
    "latency_pages": {8: 200, 32: 500},
    "memory_pages": (500, 2_000),
    "writer_urls": 5_000,
    "startup_runs": 2,
}
"""Shows that all works; its figures are no measurement."""
