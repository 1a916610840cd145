"""WordPress: the list of its entries with their dates (REST API), and whether a page is one of these entries.

The pages of WordPress name the API. Its answers come from the site, so nothing in them is trusted.
https://developer.wordpress.org/rest-api/using-the-rest-api/discovery/
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.document import rel_tokens
from sitemap_crawler.extract.links import parse_link_header
from sitemap_crawler.utils.nesting import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sitemap_crawler.extract.document import Document

MAX_ANSWER_BYTES = 4_194_304
"""Maximum number of bytes of an answer. A list has about 15 kB; WordPress before 4.9.8 adds the text of each entry."""
PER_PAGE = 100
"""Entries of one page of a list: the most that WordPress allows."""
MAX_TYPES = 50
"""Maximum number of types of entries. WordPress has two, plugins add a few."""
MAX_LINK_LENGTH = 8_192
"""Maximum number of characters of the URL of an entry. Longer URLs cannot be crawled."""

_API = "https://api.w.org/"
_TYPES_PATH = "wp/v2/types"
# Query of a list. The oldest entry comes first, so that a new one moves no other to another page of the list.
_LIST_QUERY = f"per_page={PER_PAGE}&orderby=id&order=asc&_fields=link,modified_gmt&page="
# Media have pages of their own on old sites only. The other types are parts of the theme.
_OTHER_TYPES = frozenset({"attachment", "nav_menu_item"})
_PART_PREFIX = "wp_"
_BASE = re.compile(r"[A-Za-z0-9_-]{1,100}")
_NAMESPACE = re.compile(r"[A-Za-z0-9_-]{1,50}/v[0-9]{1,3}")
_PAGES = re.compile(r"/wp/v2/(?:posts|pages)[?&]")
_MODIFIED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_ENTRY_ADDRESS = re.compile(r"/\d{1,20}/?\Z")
_SHORT_ADDRESS = re.compile(r"[?&]p(?:age_id)?=\d{1,20}\Z")
_MAX_LINKS = 200


class Link(NamedTuple):
    """A `link` element or `Link:` header of a page."""

    rel: frozenset[str]
    href: str
    type: str


class Entry(NamedTuple):
    """An entry of WordPress: a post, a page, or one of another type."""

    url: str
    """As written."""
    modified: str
    """Time of the last change in the database, in ISO 8601 and UTC."""


def api_links(document: Document, link_headers: Sequence[str]) -> list[Link]:
    """Return the links of the page that concern the API; an empty list for a page that names no API."""
    links = list(islice(_links(document, link_headers), _MAX_LINKS))
    return links if any(_API in link.rel for link in links) else []


def api_address(document: Document, links: Sequence[Link]) -> str | None:
    """Return the absolute URL of the API that the page names."""
    return next((document.resolve(link.href) for link in links if _API in link.rel and link.href), None)


def is_entry(links: Sequence[Link]) -> bool:
    """Return whether the page is one entry or the archive of one term, and not a list such as the page of all posts.

    WordPress 5.5 names the address of the entry in the API; earlier versions have a short address of each entry.
    """
    own = [link.href for link in links if "alternate" in link.rel and link.type == "application/json"]
    if own:
        return any(_ENTRY_ADDRESS.search(href) for href in own)
    return any("shortlink" in link.rel and _SHORT_ADDRESS.search(link.href) for link in links)


def types_url(api: str) -> str | None:
    """Return the URL of the types of entries; None for an address that is none of an API."""
    if "?" not in api:
        return f"{api.removesuffix('/')}/{_TYPES_PATH}"
    # Without permalinks: /index.php?rest_route=/
    head, parameter, route = api.partition("?rest_route=")
    return f"{head}{parameter}/{_TYPES_PATH}" if parameter and route in ("/", "%2F", "") else None


def list_urls(types_address: str, body: bytes) -> list[str]:
    """Return the URL of the first page of each list, by the answer of `types_url`. A wrong answer has none."""
    answer = _parse(body)
    if not isinstance(answer, dict):
        return []
    api = types_address.removesuffix(_TYPES_PATH)
    separator = "&" if "?" in api else "?"
    paths = (_list_path(name, values) for name, values in islice(answer.items(), MAX_TYPES))
    return [f"{api}{path}{separator}{_LIST_QUERY}1" for path in dict.fromkeys(filter(None, paths))]


def names_pages(address: str) -> bool:
    """Return whether a list is one of posts or pages, all of which are pages of the site.

    Plugins have types whose entries are parts of pages, or tools of the editor.
    """
    return _PAGES.search(address) is not None


def next_page(address: str) -> str:
    """Return the URL of the page of a list after another one."""
    head, parameter, number = address.rpartition("&page=")
    return f"{head}{parameter}{int(number) + 1}"


def is_last_page(address: str, entries: int, pages_header: bytes | None) -> bool:
    """Return whether a page of a list is its last one, by its header `X-WP-TotalPages` or the number of its entries."""
    number = int(address.rpartition("&page=")[2])
    if pages_header is not None and pages_header.isdigit() and len(pages_header) < 10:
        return number >= int(pages_header)
    return entries < PER_PAGE


def read_entries(body: bytes) -> list[Entry]:
    """Return the entries of a page of a list. Malformed ones are left out."""
    answer = _parse(body)
    return list(filter(None, map(_entry, answer[:PER_PAGE]))) if isinstance(answer, list) else []


def _links(document: Document, link_headers: Sequence[str]) -> Iterator[Link]:
    if any(_API in value for value in link_headers):
        for target, parameters in parse_link_header(link_headers):
            yield Link(rel_tokens(parameters.get("rel")), target, parameters.get("type", "").strip().lower())
    for rel, element in document.link_elements():
        if _API in rel or "alternate" in rel or "shortlink" in rel:
            yield Link(rel, (element.get("href") or "").strip(), (element.get("type") or "").strip().lower())


def _list_path(name: str, values: object) -> str | None:
    """Return the path of the list of a type; None for parts of the theme, and for malformed types."""
    if not isinstance(values, dict) or name in _OTHER_TYPES or name.startswith(_PART_PREFIX):
        return None
    # WordPress before 5.9 names no namespace.
    base, namespace = values.get("rest_base"), values.get("rest_namespace", "wp/v2")
    if not (isinstance(base, str) and _BASE.fullmatch(base)):
        return None
    return f"{namespace}/{base}" if isinstance(namespace, str) and _NAMESPACE.fullmatch(namespace) else None


def _entry(value: object) -> Entry | None:
    if not isinstance(value, dict):
        return None
    url, modified = value.get("link"), value.get("modified_gmt")
    if not (isinstance(url, str) and isinstance(modified, str)) or len(url) > MAX_LINK_LENGTH:
        return None
    return Entry(url, f"{modified}Z") if _MODIFIED.fullmatch(modified) else None


def _parse(body: bytes) -> object:
    """Return the JSON value of an answer; None for other bytes and for a value that is nested too deeply."""
    try:
        return read_json(body)
    except ValueError:
        return None
