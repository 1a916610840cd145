from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sitemap_crawler.items import Page


class ReadingPipeline(ABC):
    """One that needs nothing but the page and the settings, so that it may be called in another process.

    What it keeps in itself is then known in that process only.
    """

    @abstractmethod
    def process_item(self, item: Page) -> Page: ...
