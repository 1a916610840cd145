"""The date of the last change in the microformats of a page: hAtom (`hentry`) and microformats2 (`h-entry`).

http://microformats.org/wiki/hatom and http://microformats.org/wiki/h-entry
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, cast

from lxml import etree

from sitemap_crawler.extract.dates import parse_date
from sitemap_crawler.extract.structured_data import own_urls

if TYPE_CHECKING:
    from sitemap_crawler.extract.document import Document

_ENTRY = frozenset({"hentry", "h-entry"})
_UPDATED = frozenset({"updated", "dt-updated"})
_PERMALINK = frozenset({"u-url", "u-uid"})
_TITLE = frozenset({"entry-title", "p-name"})
# Elements inside an entry whose dates and links are not those of the entry.
_FOREIGN = frozenset(
    {"vcard", "h-card", "h-cite", "comment", "comments", "comments-area", "comment-list", "commentlist"}
)
# The theme Twenty Twenty-One of WordPress gives its dates of publication the class `updated`, also on posts that have
# been modified since. It is recognised by this class around them, which other default themes of WordPress do not have.
_TWENTY_TWENTY_ONE = "default-max-width"

_FIND_ENTRIES = etree.XPath("descendant-or-self::*[contains(@class, 'hentry') or contains(@class, 'h-entry')]")
_FIND_LINKS = etree.XPath("descendant::a[@href]")

# Bounds on hostile pages; real ones stay far below.
_MAX_TIMES = 1_000
_MAX_LINKS = 2_000
_MAX_DATES = 20
_MAX_DEPTH = 50  # elements between the entry and its dates and links


def entry_date(document: Document) -> str | None:
    """Return the date of the last change of the page's only entry; `None` for several dates, and for a list.

    A page is a list if it has several entries, or if its only entry names another page as its address.
    """
    times = [time for time in islice(document.all("time"), _MAX_TIMES) if not _UPDATED.isdisjoint(_classes(time))]
    if not times:
        return None
    elements = cast("list[etree._Element]", _FIND_ENTRIES(document.root))
    entries = list(islice((element for element in elements if not _ENTRY.isdisjoint(_classes(element))), 2))
    if len(entries) != 1 or _names_another_page(document, entries[0]):
        return None
    stated = (time.get("datetime") or "" for time in islice(times, _MAX_DATES) if _is_date_of(time, entries[0]))
    dates = {moment: text for text in stated if (moment := parse_date(text)) is not None}
    return next(iter(dates.values())) if len(dates) == 1 else None


def _is_date_of(time: etree._Element, entry: etree._Element) -> bool:
    """Return whether the time is a date of modification of the entry itself."""
    is_published = "published" in _classes(time)
    for above in islice(time.iterancestors(), _MAX_DEPTH):
        if above is entry:
            return True
        classes = _classes(above)
        if not _FOREIGN.isdisjoint(classes) or (is_published and _TWENTY_TWENTY_ONE in classes):
            return False
    return False


def _names_another_page(document: Document, entry: etree._Element) -> bool:
    """Return whether the entry has permanent links, and none of them is that of this page."""
    own = own_urls(document)
    named = False
    for link in islice(cast("list[etree._Element]", _FIND_LINKS(entry)), _MAX_LINKS):
        if _is_permalink(link, entry):
            if document.resolve(link.get("href") or "") in own:
                return False
            named = True
    return named


def _is_permalink(link: etree._Element, entry: etree._Element) -> bool:
    classes = _classes(link)
    is_marked = "bookmark" in (link.get("rel") or "").lower().split() or not _PERMALINK.isdisjoint(classes)
    is_title = not _TITLE.isdisjoint(classes)
    for above in islice(link.iterancestors(), _MAX_DEPTH):
        if above is entry:
            break
        around = _classes(above)
        if not _FOREIGN.isdisjoint(around):
            return False
        is_title = is_title or not _TITLE.isdisjoint(around)
    return (is_marked or is_title) and _FOREIGN.isdisjoint(classes)


def _classes(element: etree._Element) -> list[str]:
    return (element.get("class") or "").split()
