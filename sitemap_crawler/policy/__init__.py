"""Rules that decide which URLs are fetched and listed, and with which date. Pure: no input or output."""
