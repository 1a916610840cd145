"""The database of a site: every known URL, what was observed, what was decided, what was published."""
