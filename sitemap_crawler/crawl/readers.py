"""Identifier of the readers: observations of other readers are not confirmed by a 304, the page is downloaded again."""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sitemap_crawler.config.options import Options

VERSION = 2
"""Goes up whenever a reader finds something else on the same page."""
READING_OPTIONS = ("content_types", "follow_nofollow", "image_texts", "max_body", "public_url", "tracking_parameters")


def readers_of(pipelines: Mapping[Any, int | None], options: Options) -> str:
    """Return a short hash of `VERSION`, of the enabled pipelines, and of the options that decide what they find."""
    names = sorted(_identifier(name) for name, order in pipelines.items() if order is not None)
    chosen = options.model_dump(mode="json", include=set(READING_OPTIONS))
    described = json.dumps([VERSION, names, chosen], sort_keys=True)
    return blake2b(described.encode(), digest_size=6).hexdigest()


def _identifier(pipeline: Any) -> str:
    """Return the name of a pipeline in the hash: of ours the class name alone counts, wherever the class stands.

    Inventories hold hashes of the paths that the classes had at first, so their spelling is kept.
    """
    path = str(pipeline)
    if not path.startswith("sitemap_crawler."):
        return path
    name = path.rpartition(".")[2]
    module = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("Pipeline")).lower()
    return f"sitemap_crawler.pipelines.{module}.{name}"
