"""Processes that read pages in parallel to the crawling process."""
