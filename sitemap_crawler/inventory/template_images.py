"""Images that are on nearly all pages: a logo or the icons of a footer belong to the site's template, not to a page.

A sample of the pages gives the candidates. Only if there are any, all pages are counted. The sample consists of the
listed URLs with the smallest hashes: spread over the whole site and the same in each run. To escape, an image on 90 %
of all pages would have to be missing on half of the sample. The odds of that are below 10^-200. A site that chooses its
URLs by their hashes gains no more than its own logo in its own sitemap. Memory depends neither on the number of pages
nor on the content of a hostile one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, null, select

from sitemap_crawler.inventory.schema import decisions, observations, urls
from sitemap_crawler.inventory.schema import template_images as remembered_images
from sitemap_crawler.inventory.sql import chunks, has_prefix
from sitemap_crawler.sitemap.limits import MAX_IMAGES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from sqlalchemy import Connection, Select

MIN_PAGES = 50
"""Number of listed pages from which on images are left out. On a smaller site they may be its subject."""
ENTER_PERCENT = 90
"""Share of the listed pages from which on an image is left out."""
LEAVE_PERCENT = 70
"""Share below which an image that was left out is listed again. The gap keeps it from alternating."""
MARGIN_PERCENT = 5
"""Difference from these shares up to which the share in a sample does not decide."""

SAMPLE = 1_000
"""Number of pages of the sample."""
MAX_FREQUENT = 2 * MAX_IMAGES
"""Maximum number of images that are counted in the sample."""
READ_ROWS = 50
"""Number of rows read at a time. Each may have MAX_IMAGES of the longest URLs."""
WRITE_ROWS = 500
"""Number of rows written at a time."""


def template_images(connection: Connection, *, listed: int, prefix: str | None = None) -> frozenset[str]:
    """Return the images to leave out, without storing them.

    `listed` is the number of listed pages. With `prefix` only pages below it count.
    """
    if listed < MIN_PAGES:
        return frozenset()
    with connection.begin():
        remembered = frozenset(connection.scalars(select(remembered_images.c.url)))
        sample = list(connection.scalars(_sample(prefix)))
        counts = count_pages(
            _images_of(connection, sample), frequent_images(_images_of(connection, sample)) | remembered
        )
        if listed > len(sample):
            candidates = remembered.union(image for image, count in counts.items() if 2 * count >= len(sample))
            counts = count_pages(_images_of_all(connection, prefix), candidates) if candidates else Counter()
    return select_template_images(counts, listed=listed, remembered=remembered)


def settled_template_images(
    connection: Connection, *, listed: int, published: int, touched: int, prefix: str | None = None
) -> frozenset[str] | None:
    """Return the images to leave out, after `touched` pages have changed; None if that may change them.

    All pages of a small site are counted, a sample of a large one. It does not decide while an image is about as
    frequent as ENTER_PERCENT or LEAVE_PERCENT say: it would have to be wrong by five standard deviations.
    """
    if listed < MIN_PAGES and published < MIN_PAGES:
        return frozenset()
    if listed < MIN_PAGES or published < MIN_PAGES:
        return None
    with connection.begin():
        remembered = frozenset(connection.scalars(select(remembered_images.c.url)))
        sample = list(connection.scalars(_sample(prefix)))
        candidates = frequent_images(_images_of(connection, sample)) | remembered
        counts = count_pages(_images_of(connection, sample), candidates)
    chosen = select_template_images(counts, listed=len(sample), remembered=remembered)
    if prefix is None and listed == len(sample):
        return chosen if chosen == remembered else None
    margin = max(MARGIN_PERCENT * len(sample), 100 * touched)
    limits = {image: LEAVE_PERCENT if image in remembered else ENTER_PERCENT for image in candidates}
    if any(abs(100 * counts[image] - limit * len(sample)) <= margin for image, limit in limits.items()):
        return None
    # The images of other hosts are remembered, too.
    return chosen if prefix is not None or chosen == remembered else None


def store_template_images(connection: Connection, images: Collection[str]) -> None:
    """Make these the images that are left out."""
    rows = [{"url": image} for image in sorted(images)]
    with connection.begin():
        connection.execute(delete(remembered_images))
        for start in range(0, len(rows), WRITE_ROWS):
            connection.execute(insert(remembered_images), rows[start : start + WRITE_ROWS])


def select_template_images(counts: Mapping[str, int], *, listed: int, remembered: Collection[str]) -> frozenset[str]:
    """Return the images that are on so many of the listed pages that they belong to the template."""
    if listed < MIN_PAGES:
        return frozenset()
    return frozenset(
        image
        for image, count in counts.items()
        if 100 * count >= listed * (LEAVE_PERCENT if image in remembered else ENTER_PERCENT)
    )


def frequent_images(pages: Iterable[Collection[str]]) -> set[str]:
    """Return at most MAX_FREQUENT images, among them all that are on more than half of the pages.

    The algorithm is that of Misra and Gries, https://doi.org/10.1016/0167-6423(82)90012-0. Each time that all counts
    drop by one, as many images are skipped as there are counts. So that happens at most once for two pages.
    """
    counts: dict[str, int] = {}
    for images in pages:
        for image in images:
            if image in counts:
                counts[image] += 1
            elif len(counts) < MAX_FREQUENT:
                counts[image] = 1
            else:
                counts = {kept: count - 1 for kept, count in counts.items() if count > 1}
    return set(counts)


def count_pages(pages: Iterable[Collection[str]], candidates: Collection[str]) -> Counter[str]:
    """Return the number of pages that have each of the candidates."""
    wanted = frozenset(candidates)
    counts: Counter[str] = Counter()
    for images in pages:
        counts.update(wanted.intersection(images))
    return counts


def _sample(prefix: str | None) -> Select[Any]:
    query = select(urls.c.id).join(decisions, decisions.c.url_id == urls.c.id)
    return query.where(decisions.c.decision == "listed", has_prefix(prefix)).order_by(urls.c.key).limit(SAMPLE)


def _images_of(connection: Connection, ids: list[int]) -> Iterator[list[str]]:
    for chunk in chunks(ids):
        yield from _images(connection, select(observations.c.extras).where(observations.c.url_id.in_(chunk)))


def _images_of_all(connection: Connection, prefix: str | None) -> Iterator[list[str]]:
    query = select(observations.c.extras).join(decisions, decisions.c.url_id == observations.c.url_id)
    if prefix is not None:
        query = query.join(urls, urls.c.id == observations.c.url_id).where(has_prefix(prefix))
    yield from _images(connection, query.where(decisions.c.decision == "listed"))


def _images(connection: Connection, query: Select[Any]) -> Iterator[list[str]]:
    query = query.where(observations.c.extras.is_not(null())).execution_options(yield_per=READ_ROWS)
    for extras in connection.scalars(query):
        yield extras.get("images", [])
