"""Names by which the parts of a crawl find each other's values: request metadata, statistics, reasons for closing."""

from __future__ import annotations

from typing import Final


class Meta:
    """Keys of `Request.meta`, ours and those of Scrapy that we set or read."""

    QUEUED: Final = "queued"
    """The QueuedUrl of the inventory that the request fetches."""
    VERBATIM_URL: Final = "verbatim_url"
    """Present when the URL is in its final form: the HTTP client must not quote it again."""
    MAX_BODY_BYTES: Final = "max_body"
    """Limit of the body, in place of the option's."""
    FETCHES_ROBOTS: Final = "robots"
    """Present in a request for robots.txt, which no robots.txt can forbid."""
    SENT_AT: Final = "left_at"
    """Time when the politeness middleware let the request go, on the clock of time.monotonic()."""
    NOT_BEFORE: Final = "not_before"
    """Earliest time of a retry after back-pressure, on the clock of time.monotonic()."""

    RETRIES: Final = "retry_times"
    """Scrapy's: how often the request was retried."""
    MAX_RETRIES: Final = "max_retry_times"
    """Scrapy's: the limit of the request, in place of RETRY_TIMES."""
    NO_RETRY: Final = "dont_retry"
    """Scrapy's."""
    LATENCY_SECONDS: Final = "download_latency"
    """Scrapy's: time from the request to the end of its answer."""
    TIMEOUT_SECONDS: Final = "download_timeout"
    """Scrapy's: the timeout of the request, in place of DOWNLOAD_TIMEOUT."""
    COOKIE_JAR: Final = "cookiejar"
    """Scrapy's: the name of the jar with the cookies of the request."""
    PROXY: Final = "proxy"
    """Scrapy's: the URL of a proxy, in place of the environment's; empty for none."""


class Stat:
    """Names of Scrapy statistics that the crawl counts. Users see them in Scrapy's dump of statistics."""

    BACK_PRESSURE: Final = "politeness/back-pressure"
    BACKOFFS: Final = "politeness/back-offs"
    PAUSES: Final = "politeness/pauses"
    ROBOTS_BLOCKED: Final = "robots/blocked"
    ROBOTS_REQUESTS: Final = "robots/requests"
    SEED_REQUESTS: Final = "seeds/requests"
    PROBE_REQUESTS: Final = "probes/requests"
    PROBE_SAME_PAGES: Final = "probes/same-pages"
    RENDER_REQUESTS: Final = "render/requests"
    """Requests of scripts that were sent."""
    RENDER_BROWSERS: Final = "render/browsers"
    """Browsers that were started."""
    LINKS_TOO_LONG: Final = "links/too-long"
    OUTCOME: Final = "sitemap/outcome"
    RETRIES: Final = "retry/count"
    """Scrapy's."""


class CloseReason:
    """Reasons for which the spider closes. Scrapy logs them and passes them to `spider_closed`."""

    FINISHED: Final = "finished"
    """Scrapy's: nothing is left to fetch."""
    HELPED: Final = "helped"
    """The run has ended that this process helps with."""
    INVENTORY_FAILED: Final = "inventory-failed"
    OUTAGE: Final = "outage"
    RETRY_LATER: Final = "asked-to-wait"
    ROBOTS_UNAVAILABLE: Final = "robots-unavailable"
    SHORTAGE: Final = "shortage"
    START_ELSEWHERE: Final = "start-elsewhere"
