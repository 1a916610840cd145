"""The two addresses of a previewed site: the address of the crawl and the address where it will be published."""

from __future__ import annotations

from typing import NamedTuple

from sitemap_crawler.urls.normalise import directory_of, last_segment, origin_of


class PublicAddress(NamedTuple):
    """A pair of directories with the same content. Both end in /. All URLs here are normalised."""

    crawled_at: str
    """Directory that the crawl reads, for example on this machine."""
    published_at: str
    """Directory that the sitemap names."""

    @classmethod
    def for_urls(cls, start_url: str, public_url: str) -> PublicAddress:
        """Return the address pair of a site whose start directory is published as `public_url`.

        The final / of `public_url` is optional. The pair includes the directories above as long as their names agree:
        with http://localhost/docs/ and https://example.com/docs/, http://localhost/logo.png is public, too.
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

    def to_public(self, url: str) -> str:
        """Return the public form of a crawled URL. A URL outside `crawled_at` is returned unchanged."""
        return self.published_at + url[len(self.crawled_at) :] if url.startswith(self.crawled_at) else url

    def to_crawled(self, url: str) -> str:
        """Return the crawled form of a public URL. A URL outside `published_at` is returned unchanged."""
        return self.crawled_at + url[len(self.published_at) :] if url.startswith(self.published_at) else url

    def is_private(self, url: str) -> bool:
        """Return whether a crawled URL has no public form although it is on the crawled host."""
        return not url.startswith(self.crawled_at) and origin_of(url) == origin_of(self.crawled_at)

    @property
    def robots_url(self) -> str | None:
        """Crawled URL of the future robots.txt; None if it is robots.txt of the crawled host or outside the site."""
        url = self.to_crawled(f"{origin_of(self.published_at)}/robots.txt")
        is_separate = url.startswith(self.crawled_at) and url != f"{origin_of(self.crawled_at)}/robots.txt"
        return url if is_separate else None


def _parent(directory: str) -> tuple[str, str]:
    """Return the parent directory and the name of the directory in it."""
    cut = directory.rindex("/", 0, -1) + 1
    return directory[:cut], directory[cut:]
