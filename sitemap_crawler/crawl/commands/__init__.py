"""Commands of Scrapy that the project replaces."""
