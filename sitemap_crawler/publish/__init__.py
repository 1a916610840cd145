"""The end of a run: decide, check the guards, publish the sitemap sets."""
