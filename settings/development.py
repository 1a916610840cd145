"""For work on the project: every request and item in the log, nothing published."""

from sitemap_crawler.settings import *  # noqa: F403 - a profile is the project's settings plus its few differences

LOG_LEVEL = "DEBUG"
SITEMAP_PROGRESS = False
SITEMAP_DRY_RUN = True
