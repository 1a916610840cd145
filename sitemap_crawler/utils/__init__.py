"""Helpers without knowledge of the product: text, files, bounded collections."""
