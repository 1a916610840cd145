"""For unattended runs: nothing is printed when all went well, so that mail from cron means something."""

from sitemap_crawler.settings import *  # noqa: F403 - a profile is the project's settings plus its few differences

LOG_LEVEL = "WARNING"
SITEMAP_PROGRESS = False
SITEMAP_QUIET = True
