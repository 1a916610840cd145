"""Rules for one entry of a sitemap or feed."""
