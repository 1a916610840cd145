"""Two addresses of one site: where it is crawled, such as a preview on this machine, and where it is published."""

from __future__ import annotations

from typing import NamedTuple

from sitemap_crawler.urls.normalise import directory_of, last_segment, origin_of


class PublicAddress(NamedTuple):
    """Two directories, which end in /, that are the same one. All URLs here are normalised."""

    crawled_at: str
    published_at: str

    @classmethod
    def of(cls, start_url: str, public_url: str) -> PublicAddress:
        """The directory of `start_url` is `public_url`, with or without its / at the end.

        Directories above these that have the same names are the same, too: with http://localhost/docs/ and
        https://example.com/docs/ also http://localhost/logo.png is public.
        """
        crawled = directory_of(start_url)
        if last_segment(public_url) == last_segment(start_url):
            published = directory_of(public_url)
        else:
            published = public_url.rstrip("/") + "/"
        while crawled != f"{origin_of(crawled)}/" and published != f"{origin_of(published)}/":
            (above, name), (public_above, public_name) = _parent(crawled), _parent(published)
            if name != public_name:
                break
            crawled, published = above, public_above
        return cls(crawled, published)

    def published(self, url: str) -> str:
        """The public address of a URL as it was crawled; others stay."""
        return self.published_at + url[len(self.crawled_at) :] if url.startswith(self.crawled_at) else url

    def crawled(self, url: str) -> str:
        """Where to crawl what has a public address; others stay."""
        return self.crawled_at + url[len(self.published_at) :] if url.startswith(self.published_at) else url

    def is_private(self, url: str) -> bool:
        """Whether a URL, as it was crawled, has an address there only."""
        return not url.startswith(self.crawled_at) and origin_of(url) == origin_of(self.crawled_at)

    @property
    def robots_url(self) -> str | None:
        """Where the site has what will be its robots.txt, when that is not the robots.txt of where it is crawled."""
        url = self.crawled(f"{origin_of(self.published_at)}/robots.txt")
        ours = url.startswith(self.crawled_at) and url != f"{origin_of(self.crawled_at)}/robots.txt"
        return url if ours else None


def _parent(directory: str) -> tuple[str, str]:
    """The directory above, and the name in that."""
    cut = directory.rindex("/", 0, -1) + 1
    return directory[:cut], directory[cut:]
