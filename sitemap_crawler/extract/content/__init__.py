"""The main content of a page: its position, its fingerprint, and its similarity to other pages."""
