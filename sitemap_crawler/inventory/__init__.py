"""The memory of a crawl: every URL seen, what was observed, what was decided, what was published."""
