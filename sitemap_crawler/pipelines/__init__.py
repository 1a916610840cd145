"""Each pipeline collects one kind of observation from a page and can be switched off alone; the last one stores it."""
