"""Pages as a browser shows them: Chromium without a network, whose requests the crawl makes."""
