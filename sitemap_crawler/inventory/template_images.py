"""Images that are on nearly all pages: a logo or the icons of a footer belong to the site's template, not to a page.

A sample of the pages tells which images may be such, and only when there are any all pages are counted. The sample are
the listed URLs with the smallest hashes: spread over the whole site and the same in each run. An image on 90 % of the
pages would have to be missing on half of them to escape. By chance that can't happen (the odds are below 10^-200), and
who chooses URLs for their hashes gets no more of it than his own logo in his own sitemap. Memory does not depend on the
number of pages, nor on what a hostile one holds.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, null, select

from sitemap_crawler.inventory.schema import decisions, observations, urls
from sitemap_crawler.inventory.schema import template_images as remembered_images
from sitemap_crawler.inventory.sql import below, chunks
from sitemap_crawler.sitemap.limits import MAX_IMAGES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from sqlalchemy import Connection, Select

MIN_PAGES = 50
"""Listed pages; on a smaller site an image on each page may well be what it is about."""
# Percent of the listed pages. What was once left out returns below the second one, so that it does not flicker.
ENTERS = 90
STAYS = 70

SAMPLE = 1_000
MAX_FREQUENT = 2 * MAX_IMAGES
READ_ROWS = 50  # at a time, of which each may have MAX_IMAGES of the longest URLs
WRITE_ROWS = 500


def template_images(connection: Connection, *, listed: int, prefix: str | None = None) -> frozenset[str]:
    """Return the images to leave out now; `listed` is the number of pages whose decision this is, below `prefix` if
    there is one. Writes nothing."""
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


def store_template_images(connection: Connection, images: Collection[str]) -> None:
    """These are left out now, and no others."""
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
        image for image, count in counts.items() if 100 * count >= listed * (STAYS if image in remembered else ENTERS)
    )


def frequent_images(pages: Iterable[Collection[str]]) -> set[str]:
    """Return at most MAX_FREQUENT images, among them all that are on more than half of the pages.

    By Misra and Gries, https://doi.org/10.1016/0167-6423(82)90012-0: each time that all counts drop by one, as many
    images are passed over as there are counts, so that happens at most once for two pages.
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
    """Return on how many of the pages each of the candidates is."""
    wanted = frozenset(candidates)
    counts: Counter[str] = Counter()
    for images in pages:
        counts.update(wanted.intersection(images))
    return counts


def _sample(prefix: str | None) -> Select[Any]:
    query = select(urls.c.id).join(decisions, decisions.c.url_id == urls.c.id)
    return query.where(decisions.c.decision == "listed", below(prefix)).order_by(urls.c.key).limit(SAMPLE)


def _images_of(connection: Connection, ids: list[int]) -> Iterator[list[str]]:
    for chunk in chunks(ids):
        yield from _images(connection, select(observations.c.extras).where(observations.c.url_id.in_(chunk)))


def _images_of_all(connection: Connection, prefix: str | None) -> Iterator[list[str]]:
    query = select(observations.c.extras).join(decisions, decisions.c.url_id == observations.c.url_id)
    if prefix is not None:
        query = query.join(urls, urls.c.id == observations.c.url_id).where(below(prefix))
    yield from _images(connection, query.where(decisions.c.decision == "listed"))


def _images(connection: Connection, query: Select[Any]) -> Iterator[list[str]]:
    query = query.where(observations.c.extras.is_not(null())).execution_options(yield_per=READ_ROWS)
    for extras in connection.scalars(query):
        yield extras.get("images", [])
