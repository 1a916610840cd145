"""Groups of URLs by their shape, `/tag/*` or `?replytocom=*`: what an owner can take in of a million of them."""

from __future__ import annotations

from sitemap_crawler.shapes.counter import Shapes
from sitemap_crawler.shapes.groups import Shape

__all__ = ["Shape", "Shapes"]
