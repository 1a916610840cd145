"""URLs: their normal form, the scope of a crawl, public addresses and spellings."""
