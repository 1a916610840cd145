"""What the project changes of Scrapy's own commands."""
