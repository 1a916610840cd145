"""The rules that decide which URLs are fetched and listed, and with which date."""
