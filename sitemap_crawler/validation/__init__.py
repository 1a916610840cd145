"""A strict reader of sitemaps, independent of the writer, so that it can judge what the writer wrote."""
