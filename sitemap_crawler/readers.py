"""Which readers make the observations of today: what others have observed is not confirmed by a 304, but read again."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sitemap_crawler.options import Options

VERSION = 2
"""Goes up whenever a reader finds something else on the same page."""
READING_OPTIONS = ("content_types", "follow_nofollow", "image_texts", "max_body", "public_url", "tracking_parameters")


def readers_of(pipelines: Mapping[Any, int | None], options: Options) -> str:
    """A short name of the readers' version, of the pipelines that are on, and of the options that they obey."""
    names = sorted(str(name) for name, order in pipelines.items() if order is not None)
    chosen = options.model_dump(mode="json", include=set(READING_OPTIONS))
    described = json.dumps([VERSION, names, chosen], sort_keys=True)
    return blake2b(described.encode(), digest_size=6).hexdigest()
