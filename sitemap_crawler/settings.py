"""Scrapy settings of this project. `config/options.py` defines the `SITEMAP_*` settings and their defaults."""

from __future__ import annotations

from sitemap_crawler import __version__

BOT_NAME = "sitemap-crawler"
SPIDER_MODULES = ["sitemap_crawler.crawl.spiders"]
USER_AGENT = f"sitemap-crawler/{__version__} (XML sitemap generator)"

# asyncio without Twisted's reactor, and an aiohttp handler: the fastest configuration of Scrapy.
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
SCHEDULER = "sitemap_crawler.crawl.scheduler.FrontierScheduler"
ITEM_PROCESSOR = "sitemap_crawler.crawl.pipelines.manager.PagePipelineManager"
# Renders pages with --render, see crawl/rendering/renderer.py.
PAGE_RENDERER = "sitemap_crawler.crawl.rendering.renderer.Renderer"
# The base setting holds the pipelines of the package: -s ITEM_PIPELINES then adds pipelines, or removes one with null.
# The pipelines that read a page come first, because worker processes run them.
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
    "sitemap_crawler.crawl.pipelines.in_process.StartPipeline": 600,
    "sitemap_crawler.crawl.pipelines.in_process.SearchRobotsPipeline": 700,
    "sitemap_crawler.crawl.pipelines.in_process.TrapsPipeline": 800,
    "sitemap_crawler.crawl.pipelines.in_process.InventoryPipeline": 900,
}
# Components without an effect are left out, because each one costs a call for every request. The download handler is
# in charge of timeouts, default headers, decompression, proxies and logins.
DOWNLOADER_MIDDLEWARES_BASE = {
    "sitemap_crawler.crawl.middlewares.robots.RobotsMiddleware": 100,
    "sitemap_crawler.crawl.middlewares.retry.PageRetryMiddleware": 550,
    "sitemap_crawler.crawl.middlewares.cookies.LocalCookies": 700,
    # Nearest to the network, so that every request and every response passes it.
    "sitemap_crawler.crawl.middlewares.politeness.PolitenessMiddleware": 950,
    # The first to see an exception.
    "sitemap_crawler.crawl.middlewares.shortage.ShortageMiddleware": 1000,
}
SPIDER_MIDDLEWARES_BASE: dict[str, int] = {}
EXTENSIONS_BASE = {
    "scrapy.extensions.memusage.MemoryUsage": 0,
    "scrapy.extensions.closespider.CloseSpider": 0,
    "sitemap_crawler.crawl.extensions.progress.Progress": 500,
    "sitemap_crawler.crawl.extensions.growth.Growth": 550,
    "sitemap_crawler.crawl.extensions.soft_404_probe.Soft404Probe": 600,
    "sitemap_crawler.crawl.extensions.second_look.SecondLook": 650,
    "sitemap_crawler.crawl.extensions.exporter.Exporter": 900,
}
COMMANDS_MODULE = "sitemap_crawler.crawl.commands"
LOG_FORMATTER = "sitemap_crawler.crawl.log.QuietLogFormatter"

# In total, and for the one host of a site unless CONCURRENT_REQUESTS_PER_DOMAIN is given.
CONCURRENT_REQUESTS = 8
# Scrapy's jitter would halve some delays. A configured delay must never be shortened.
DOWNLOAD_DELAY_JITTER = 0.0
# Scrapy starts this many tasks for each response, and each response yields one item.
CONCURRENT_ITEMS = 1
# Scrapy's list without its Twisted classes: nothing raises them here, and their import slows the start.
RETRY_EXCEPTIONS = [
    "scrapy.exceptions.CannotResolveHostError",
    "scrapy.exceptions.DownloadConnectionRefusedError",
    "scrapy.exceptions.DownloadFailedError",
    "scrapy.exceptions.DownloadTimeoutError",
    "scrapy.exceptions.ResponseDataLossError",
    OSError,
]
# The inventory stores the reason of a lasting failure, and the summary counts it: a log line at ERROR says no more.
RETRY_GIVE_UP_LOG_LEVEL = "INFO"
DOWNLOAD_TIMEOUT = 30
DOWNLOAD_VERIFY_CERTIFICATES = True
ROBOTSTXT_OBEY = True
COOKIES_ENABLED = False
# This check reads the source code of the callbacks and delays the first page.
WARN_ON_GENERATOR_RETURN_VALUE = False
# A crawl whose queue grows is told so after as many requests or seconds, if the queue has grown over the window.
GROWTH_AFTER_REQUESTS = 5_000
GROWTH_AFTER_SECONDS = 300
GROWTH_WINDOW = 1_000
# Both run code for every client that reaches their port.
REMOTE_CONTROL_ENABLED = False
TELNETCONSOLE_ENABLED = False
# The report of the run has the numbers.
STATS_DUMP = False
LOG_VERSIONS: list[str] = []
