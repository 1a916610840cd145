"""Downloader middlewares, between the engine and the network: robots.txt, politeness, cookies."""
