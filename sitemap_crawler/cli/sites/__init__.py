"""Several site files in one command: checks, one process for each site, and their combined outcome."""
