"""The record of the renderings of a crawl: what they have shown of templates, and their numbers, in the inventory."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from sitemap_crawler.crawl.rendering.policy import RenderingPolicy, TemplateCounts
from sitemap_crawler.inventory.renderings import REFUSED, load_templates, store_renderings
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from sitemap_crawler.crawl.job import Job
    from sitemap_crawler.crawl.rendering.rendered import Rendered

STORE_SECONDS = 3.0
"""Maximum age of results that are not stored yet, while no page is rendered."""
MAX_REFUSED_HOSTS = 50
"""Maximum number of hosts by which refused requests are counted. Further ones count together."""
MAX_HOST = 259
"""Maximum number of characters of such a host: the longest name that DNS knows, and a port."""
OTHER_HOSTS = "(others)"


class RenderingRecord:
    """The policy of a crawl as the inventory remembers it, and the numbers that are not stored yet."""

    def __init__(self, job: Job, *, always: bool) -> None:
        self._job = job
        rows = load_templates(job.store.connection, job.run.id, of_run_only=job.options.full)
        known = (TemplateCounts(*row) for row in rows)
        self.policy = RenderingPolicy(always=always, known=known)
        self.counts: Counter[str] = Counter()
        """Numbers by the names of `inventory/renderings.py`."""
        self._refused_hosts: set[str] = set()
        self._stored = time.monotonic()

    def add(self, rendered: Rendered) -> None:
        """Count a rendering, whatever it has shown."""
        self.counts["rendered"] += 1
        self.counts["milliseconds"] += round(rendered.seconds * 1000)
        for refusal in rendered.refused:
            self.counts[REFUSED + self._counted_host(refusal.url)] += 1

    def store_if_due(self) -> None:
        if time.monotonic() - self._stored > STORE_SECONDS:
            self.store()

    def store(self) -> None:
        """Store results and numbers, so that a killed run goes on alike."""
        job, self._stored = self._job, time.monotonic()
        if job.ending.failure is None:
            counts, self.counts = self.counts, Counter()
            try:
                store_renderings(job.store.connection, job.run.id, self.policy.take_changed(), counts)
            except Exception as error:
                job.inventory_failed(error)

    def _counted_host(self, url: str) -> str:
        host = origin_of(url).partition("://")[2][:MAX_HOST]
        if host not in self._refused_hosts and len(self._refused_hosts) >= MAX_REFUSED_HOSTS:
            return OTHER_HOSTS
        self._refused_hosts.add(host)
        return host
