"""What a rendered page has and its plain page has not. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitemap_crawler.items import Page

MIN_TEXT_BYTES = 20
"""Number of bytes by which the main text must grow, at least."""
MIN_TEXT_GROWTH = 1.5
"""Factor by which the main text must grow. Consent notices and counters add less to a page with text of its own."""


class Gain(StrEnum):
    """Something that scripts have added or changed. The inventory stores these strings."""

    LINKS = "links"
    TEXT = "text"
    TITLE = "title"
    CANONICAL = "canonical"
    DIRECTIVES = "directives"
    DATE = "date"
    """The date that the page states."""
    MEDIA = "media"
    """Images or videos."""
    ADDRESS = "address"
    """A script leads to another URL."""


class Gains(NamedTuple):
    """The gains of a rendering."""

    kinds: tuple[Gain, ...] = ()
    links: int = 0
    """Number of new links to pages of the site."""


def gains_of(plain: Page, rendered: Page, *, follows: Callable[[str], bool]) -> Gains:
    """Compare what the readers have found on the plain page and on the rendered one.

    `follows` returns whether a URL is within the site: scripts add links to other sites to nearly all pages.
    """
    known = {plain.queued.url, *plain.links, *plain.nofollow_links}
    links = sum(1 for url in (*rendered.links, *rendered.nofollow_links) if url not in known and follows(url))
    before, after = plain.observation, rendered.observation
    had, has = (0 if page.scripts is None else page.scripts.text_bytes for page in (plain, rendered))
    found = {
        Gain.LINKS: links > 0,
        Gain.TEXT: has >= had + MIN_TEXT_BYTES and has >= had * MIN_TEXT_GROWTH,
        Gain.TITLE: after.title is not None and after.title != before.title,
        # A canonical that names the page itself changes nothing.
        Gain.CANONICAL: (after.canonical or plain.queued.url) != (before.canonical or plain.queued.url),
        Gain.DIRECTIVES: (after.noindex, after.nofollow, after.unavailable_after)
        != (before.noindex, before.nofollow, before.unavailable_after),
        Gain.DATE: after.page_date is not None and after.page_date != before.page_date,
        Gain.MEDIA: not set(after.images) <= set(before.images)
        or any(one not in before.videos for one in after.videos),
    }
    return Gains(tuple([kind for kind, is_gain in found.items() if is_gain]), links)
