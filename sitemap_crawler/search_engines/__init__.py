"""Search engines: what is sent to them about published sitemaps, and what they answer."""
