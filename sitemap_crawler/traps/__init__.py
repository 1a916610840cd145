"""Crawler traps: what a URL shows, how many combinations of parameters are fetched, what pages prove."""
