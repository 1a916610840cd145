"""For a Scrapyd that is started in a checkout, where it serves this profile as the project `scrapyd`. An egg has no
profiles: there the settings of the package count, and what a job gives with `setting=`."""

from sitemap_crawler.settings import *  # noqa: F403 - a profile is the project's settings plus its few differences

LOG_LEVEL = "INFO"
SITEMAP_PROGRESS = False
