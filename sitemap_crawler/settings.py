"""Scrapy's settings for this project. The `SITEMAP_*` settings and their defaults are in options.py."""

from __future__ import annotations

from sitemap_crawler import __version__

BOT_NAME = "sitemap-crawler"
SPIDER_MODULES = ["sitemap_crawler.crawl.spiders"]
USER_AGENT = f"sitemap-crawler/{__version__} (XML sitemap generator)"

# asyncio without Twisted's reactor, and the aiohttp handler that comes with it: the fastest set-up that Scrapy has.
TWISTED_REACTOR_ENABLED = False

DOWNLOAD_HANDLERS = {
    "http": "sitemap_crawler.crawl.download.handler.BoundedDownloadHandler",
    "https": "sitemap_crawler.crawl.download.handler.BoundedDownloadHandler",
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
}

DOWNLOADER = "sitemap_crawler.crawl.engine.SiteDownloader"
SCHEDULER = "sitemap_crawler.crawl.scheduler.Frontier"
ITEM_PROCESSOR = "sitemap_crawler.crawl.pipelines.manager.PagePipelineManager"
# Ours are the base, so that -s ITEM_PIPELINES adds some, or with null takes one away.
# Those that read a page come first: they may run in another process.
ITEM_PIPELINES_BASE = {
    "sitemap_crawler.crawl.pipelines.extraction.DocumentPipeline": 0,
    "sitemap_crawler.crawl.pipelines.extraction.IndexabilityPipeline": 100,
    "sitemap_crawler.crawl.pipelines.extraction.LastModifiedPipeline": 200,
    "sitemap_crawler.crawl.pipelines.extraction.ContentPipeline": 250,
    "sitemap_crawler.crawl.pipelines.extraction.ImagesPipeline": 300,
    "sitemap_crawler.crawl.pipelines.extraction.VideosPipeline": 400,
    "sitemap_crawler.crawl.pipelines.extraction.NewsPipeline": 420,
    "sitemap_crawler.crawl.pipelines.extraction.AlternatesPipeline": 440,
    "sitemap_crawler.crawl.pipelines.extraction.SoftErrorsPipeline": 450,
    "sitemap_crawler.crawl.pipelines.extraction.ResourcesPipeline": 500,
    "sitemap_crawler.crawl.pipelines.extraction.LikenessPipeline": 550,
    "sitemap_crawler.crawl.pipelines.storage.StartPipeline": 600,
    "sitemap_crawler.crawl.pipelines.storage.SearchRobotsPipeline": 700,
    "sitemap_crawler.crawl.pipelines.storage.TrapsPipeline": 800,
    "sitemap_crawler.crawl.pipelines.storage.InventoryPipeline": 900,
}
# Only what does something here: a component that does nothing still costs a call for every request. Time-outs, default
# headers, decompression, proxies and logins are the download handler's.
DOWNLOADER_MIDDLEWARES_BASE = {
    "sitemap_crawler.crawl.middlewares.robots.RobotsMiddleware": 100,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": 550,
    "sitemap_crawler.crawl.middlewares.cookies.LocalCookies": 700,
    # Next to the network, so that it sees every request leave and every answer come.
    "sitemap_crawler.crawl.middlewares.politeness.PolitenessMiddleware": 950,
}
SPIDER_MIDDLEWARES_BASE: dict[str, int] = {}
EXTENSIONS_BASE = {
    "scrapy.extensions.memusage.MemoryUsage": 0,
    "scrapy.extensions.closespider.CloseSpider": 0,
    "sitemap_crawler.crawl.extensions.progress.Progress": 500,
    "sitemap_crawler.crawl.extensions.soft_404_probe.Probes": 600,
    "sitemap_crawler.crawl.extensions.exporter.Exporter": 900,
}
COMMANDS_MODULE = "sitemap_crawler.crawl.commands"
LOG_FORMATTER = "sitemap_crawler.crawl.log.QuietLogFormatter"

# In total and, as a site is one host, for it, unless CONCURRENT_REQUESTS_PER_DOMAIN is given, too.
CONCURRENT_REQUESTS = 8
# A delay is a promise: Scrapy's own would be half as long now and then.
DOWNLOAD_DELAY_JITTER = 0.0
# Scrapy starts this many tasks for each response; each response here has one item.
CONCURRENT_ITEMS = 1
# Scrapy's list less its Twisted classes: they can't be raised here, and their import delays the start.
RETRY_EXCEPTIONS = [
    "scrapy.exceptions.CannotResolveHostError",
    "scrapy.exceptions.DownloadConnectionRefusedError",
    "scrapy.exceptions.DownloadFailedError",
    "scrapy.exceptions.DownloadTimeoutError",
    "scrapy.exceptions.ResponseDataLossError",
    OSError,
]
# A page that fails for good is a row with its reason, and counted in the summary.
RETRY_GIVE_UP_LOG_LEVEL = "INFO"
DOWNLOAD_TIMEOUT = 30
DOWNLOAD_VERIFY_CERTIFICATES = True
ROBOTSTXT_OBEY = True
COOKIES_ENABLED = False
# Looks at the source of callbacks when the crawl starts, which delays the first page for nothing.
WARN_ON_GENERATOR_RETURN_VALUE = False
# Both run code for whoever reaches their port.
REMOTE_CONTROL_ENABLED = False
TELNETCONSOLE_ENABLED = False
# What a page costs is counted in our own report.
STATS_DUMP = False
LOG_VERSIONS: list[str] = []
