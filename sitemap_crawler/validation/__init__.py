"""Strict validator of sitemaps. It shares no code with the writer, so that it can check the output of the writer."""
