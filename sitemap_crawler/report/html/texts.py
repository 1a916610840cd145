"""Texts of the site as the report shows them: public addresses, and titles without the name of the site."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sqlalchemy import select

from sitemap_crawler.inventory.schema import decisions, observations
from sitemap_crawler.utils.text import escape_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlalchemy import Connection

MAX_ADDRESS = 2_100
"""Characters of a URL. One that can be listed is shorter."""
MAX_TITLE = 120
"""Characters of a title."""
MAX_SOURCE = 80
"""Characters of the source of a date, or of the name of a directory."""
TITLE_SAMPLE = 500
"""Number of titles in which the name of the site is looked for."""
MIN_TITLES = 5
"""Minimum number of titles with the same end for it to be the name of the site."""
NAMING_SHARE = 0.6
"""Share of the titles that must end with the name of the site."""
_SEPARATORS = (" \u2014 ", " \u2013 ", " | ", " - ", " \u00b7 ", " \u00bb ", " :: ", " \u2022 ")


def clean(text: str, limit: int) -> str:
    """Return a text from the site: at most `limit` characters, with control characters escaped."""
    cut = escape_controls(text[:limit]) + ("\u2026" if len(text) > limit else "")
    return cut if cut.isprintable() else " ".join(cut.split())


class PageTexts:
    """The form of addresses and titles in the report."""

    def __init__(self, to_public: Callable[[str], str], site_name: str = "") -> None:
        """Take the end of titles that is left out, with its separator."""
        self.to_public = to_public
        self._site_name = site_name

    def url(self, url: str | None) -> str:
        """Return the public form of an address; "" for None."""
        return "" if url is None else clean(self.to_public(url), MAX_ADDRESS)

    def title(self, title: str | None) -> str:
        """Return a title without the name of the site that most titles end with; "" for None."""
        return clean((title or "").removesuffix(self._site_name), MAX_TITLE)


def site_name(connection: Connection) -> str:
    """Return the end that most titles of listed pages have in common, with its separator; "" if there is none."""
    query = select(observations.c.title).join(decisions, decisions.c.url_id == observations.c.url_id)
    query = query.where(decisions.c.decision == "listed", observations.c.title.is_not(None)).limit(TITLE_SAMPLE)
    return common_end(connection.scalars(query).all())


def common_end(titles: Iterable[str]) -> str:
    """Return the last part of most titles, with its separator; "" if there is none."""
    ends: Counter[str] = Counter()
    number = 0
    for title in titles:
        number += 1
        cut = max((title.rfind(separator) for separator in _SEPARATORS), default=-1)
        if cut > 0:
            ends[title[cut:]] += 1
    end, count = max(ends.items(), key=lambda item: item[1], default=("", 0))
    return end if count >= max(MIN_TITLES, NAMING_SHARE * number) else ""
