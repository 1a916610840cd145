"""For Scrapyd, which keeps each job's log: the run's own lines in it, no progress line."""

from sitemap_crawler.settings import *  # noqa: F403 - a profile is the project's settings plus its few differences

LOG_LEVEL = "INFO"
SITEMAP_PROGRESS = False
