"""Makes an inventory without a crawl: `python benchmarks/made_inventory.py STATE PAGES IMAGES [START OUTPUT]`.

Its PAGES pages can all be listed. Each has IMAGES images and a date, one in eight has a query, and links form a tree.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from sitemap_crawler.config.state_location import parse_location
from sitemap_crawler.inventory.schema import UrlState, observations, runs, urls
from sitemap_crawler.inventory.sql import encode_links, url_key
from sitemap_crawler.inventory.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.config.state_location import StateLocation

START = "https://www.example.com/"
STARTED = 1_700_000_000.0
FAN_OUT = 10
BATCH = 5_000


def make(location: StateLocation, pages: int, images: int, start: str = START, output: str | None = None) -> None:
    store = open_store(location)
    run = {"requested_url": start, "start_url": start, "sitemap_url": f"{start}sitemap.xml", "started": STARTED}
    options = {"start_url": start} if output is None else {"start_url": start, "output": output}
    with store.connection.begin():
        ended = {"finished": STARTED + 1, "outcome": "published", "ended_by": "finished", "planned": True}
        store.connection.execute(insert(runs).values(id=1, options=options, **run, **ended))
        for batch in _batches(pages):
            store.connection.execute(insert(urls), [_url(number, start) for number in batch])
            store.connection.execute(insert(observations), [_observation(number, pages, images) for number in batch])
    store.close()


def page_url(number: int, start: str = START) -> str:
    if number == 1:
        return start
    query = f"?id={number}&view=full" if number % 8 == 0 else ""
    return f"{start}section-{number % 97}/an-article-of-some-length-{number}.html{query}"


def _batches(pages: int) -> Iterator[range]:
    for first in range(1, pages + 1, BATCH):
        yield range(first, min(first + BATCH, pages + 1))


def _url(number: int, start: str) -> dict[str, Any]:
    url, depth, above = page_url(number, start), 0, number
    while above > 1:
        depth, above = depth + 1, _parent(above)
    row = {"id": number, "key": url_key(url), "url": url, "state": int(UrlState.ADMITTED), "first_seen": 1}
    return {**row, "depth": depth, "referrer": _parent(number) if number > 1 else None}


def _parent(number: int) -> int:
    return (number - 2) // FAN_OUT + 1


def _observation(number: int, pages: int, images: int) -> dict[str, Any]:
    below = range((number - 1) * FAN_OUT + 2, min(number * FAN_OUT + 2, pages + 1))
    mark = number.to_bytes(16)
    images_of_page = [f"{START}images/{number % 97}/photograph-{number}-{position}.jpg" for position in range(images)]
    return {
        "url_id": number,
        "run": 1,
        "fetched": STARTED,
        "status": 200,
        "content_type": "text/html",
        "body_bytes": 10_000,
        "body_hash": mark,
        "fingerprint": mark,
        "noindex": False,
        "nofollow": False,
        "lastmod": STARTED - 60.0 * number,
        "lastmod_source": "header",
        "title": f"Article {number}",
        "links": encode_links(below),
        "extras": {"images": images_of_page} if images_of_page else None,
    }


if __name__ == "__main__":
    make(parse_location(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:6])
