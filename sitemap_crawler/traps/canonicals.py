"""The canonical URLs that pages name, and whether pages that name themselves are believed.

In a shop under one path, such as `/index.php?route=…`, the page of a category names its own URL as canonical. The page
of the same category in another order names it, too. Such a list is content, although it shows only what other pages
show. On other sites each page names the URL of its request. The canonical URL says nothing there.
"""

from __future__ import annotations

from sitemap_crawler.urls.parameters import simplicity

MAX_UNPROVED = 50
"""Number of pages with parameters that name themselves, up to which they are believed without proof."""
MIN_OTHERS = 0.1
"""Number of pages that name another URL, or are noindex, for each further page that is believed."""
MAX_NAMED = 200_000
"""Maximum number of canonical URLs that are remembered."""


class Canonicals:
    """The canonical URLs of the pages with parameters of a site."""

    def __init__(self) -> None:
        self._own = 0
        """Number of pages that name themselves as canonical."""
        self._others = 0
        """Number of pages that name another URL as canonical, or may not be listed for another reason."""

    def count(self, url: str, canonical: str | None, *, is_listable: bool) -> None:
        """Count a page. `is_listable` is False for a page that its own directives keep out of the sitemap."""
        self._own += canonical == url
        self._others += not is_listable

    @property
    def are_believed(self) -> bool:
        """Whether a page that names itself counts as a page of its own."""
        return self._own <= MAX_UNPROVED or self._others >= MIN_OTHERS * self._own


class NamedUrls:
    """The canonical URLs of pages that may be indexed. They are requested whatever their shapes have shown.

    The pages give way to them, so that the content has no other address. Only those count that are simpler, or have a
    shorter path, such as the page of a topic (`/topic/1?page=2`) that has a post (`/topic/1/25`): others could go on
    for ever.
    """

    def __init__(self) -> None:
        self.new: list[str] = []
        """Those that were named since the caller has last let them wait in the first turn and emptied the list."""
        self._hashes: set[int] = set()

    def __contains__(self, url: str) -> bool:
        return bool(self._hashes) and hash(url) in self._hashes

    def add(self, canonical: str, *, url: str) -> None:
        """Add the canonical URL of the page with the URL `url`."""
        is_simpler = simplicity(canonical) < simplicity(url) or len(_path(canonical)) < len(_path(url))
        if is_simpler and len(self._hashes) < MAX_NAMED:
            if canonical not in self:
                self.new.append(canonical)
            self._hashes.add(hash(canonical))


def _path(url: str) -> str:
    return url.partition("?")[0]
