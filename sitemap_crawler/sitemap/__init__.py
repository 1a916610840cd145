"""The writer: entries become sitemap files, and the files become live. Plain functions and values without Scrapy."""
