"""The main content of a page: where it stands, its fingerprint, its similarity to other pages."""
