"""The reasons of decisions, with all their properties. The rules that give a URL its reason stand elsewhere."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class _Traits(NamedTuple):
    """Properties of a reason, with the part of the program that uses each."""

    description: str
    """Meaning, shown by the documentation."""
    start_page_remedy: str | None = None
    """What to do if the start page has the reason. None if the run may be published (`policy/guards.py`)."""
    hint: str | None = None
    """Words after "URLs" in the hint why a crawl listed few pages; None without a hint (`report/warnings.py`)."""
    hint_position: int = 0
    """Position of the hint among the hints of all reasons."""
    is_error: bool = False
    """Whether a link or redirect to such a URL is broken (`inventory/diagnostics.py`, `report/warnings.py`)."""
    is_fixed_in_links: bool = False
    """Whether the pages that link to the URL are to be fixed, so that `pages` shows them (`cli/inventory.py`)."""
    rarely_changes: bool = False
    """Whether only some runs request a URL that was excluded for long (`inventory/revisits.py`)."""
    fits_sitemap: bool = False
    """Whether an existing sitemap may name such a URL without a warning (`inventory/diagnostics.py`)."""


class Reason(StrEnum):
    """Stable name of the reason why a URL is, or is not, in the sitemap, in the order of messages and documents."""

    traits: _Traits

    def __new__(cls, value: str, traits: _Traits) -> Reason:
        member = str.__new__(cls, value)
        member._value_ = value
        member.traits = traits
        return member

    LISTED = (
        "listed",
        _Traits("A page with status 200, in scope, indexable, canonical to itself or to nothing."),
    )
    KEPT_AFTER_ERROR = (
        "kept-after-error",
        _Traits(
            "Listed. The page was listed before and its server fails now. It stays for seven finished runs "
            "(`keep_errors`) with its date.",
            is_fixed_in_links=True,
        ),
    )
    OUT_OF_SCOPE = (
        "out-of-scope",
        _Traits("Not at or below the sitemap's directory. Not fetched.", fits_sitemap=True),
    )
    EXCLUDED_BY_RULE = (
        "excluded-by-rule",
        _Traits(
            "An `--exclude` or `--exclude-listing` pattern matches, or no `--include` pattern does.",
            hint="excluded by --include or --exclude",
            hint_position=4,
            fits_sitemap=True,
        ),
    )
    BLOCKED_BY_ROBOTS = (
        "blocked-by-robots",
        _Traits(
            "robots.txt disallows the URL. Not fetched.",
            start_page_remedy="robots.txt forbids it: allow this user agent there, or crawl with -s ROBOTSTXT_OBEY=0",
            hint="disallowed by robots.txt",
            hint_position=1,
        ),
    )
    NOINDEX = (
        "noindex",
        _Traits(
            "A robots meta tag or `X-Robots-Tag` forbids indexing, for all robots or for Google's or Bing's.",
            start_page_remedy="remove the directive, or start from a page that may be indexed",
            hint="marked noindex",
            hint_position=2,
            rarely_changes=True,
        ),
    )
    CANONICAL_ELSEWHERE = (
        "canonical-elsewhere",
        _Traits(
            "`rel=canonical` names another URL, and that URL can be listed.",
            hint="of pages whose canonical is another URL",
            hint_position=3,
        ),
    )
    REDIRECT = (
        "redirect",
        _Traits(
            "A 3xx answer, or a meta refresh to another URL. The target is crawled.",
            start_page_remedy="give the address of a page that answers",
            is_fixed_in_links=True,
            rarely_changes=True,
        ),
    )
    CLIENT_ERROR = (
        "client-error",
        _Traits(
            "404, 410 or another 4xx.",
            start_page_remedy="check the address",
            is_error=True,
            is_fixed_in_links=True,
            rarely_changes=True,
        ),
    )
    SERVER_ERROR = (
        "server-error",
        _Traits(
            "A 5xx or 429, after the retries.",
            start_page_remedy="the server fails: try again when it works",
            hint="answered with server errors",
            hint_position=6,
            is_error=True,
            is_fixed_in_links=True,
        ),
    )
    UNREACHABLE = (
        "unreachable",
        _Traits(
            "No answer, after the retries; or none with a page: a 304, not modified, to a request without conditions.",
            start_page_remedy="the server sends no page: check the address, the network and the server",
            hint="unreachable",
            hint_position=7,
            is_error=True,
            is_fixed_in_links=True,
        ),
    )
    NOT_A_PAGE = (
        "not-a-page",
        _Traits(
            "Another content type, an empty body, or a status like 204.",
            start_page_remedy="give the address of an HTML page",
            rarely_changes=True,
        ),
    )
    DUPLICATE_INDEX_FILE = (
        "duplicate-index-file",
        _Traits("The same bytes as the directory above it, such as `/docs/index.html` and `/docs/`."),
    )
    TOO_LONG = (
        "too-long",
        _Traits("2,048 characters or more, or an entry that is larger than a file may be."),
    )
    LIMIT = (
        "limit",
        _Traits(
            "Beyond `--max-pages` or `--max-depth`: not fetched yet. Or in a [trap](../guide/traps.md).",
            start_page_remedy="raise --max-pages or --max-depth, or run the same command again",
            hint="not fetched yet, beyond --max-pages or --max-depth",
            hint_position=5,
            fits_sitemap=True,
        ),
    )
    ORPHAN = (
        "orphan",
        _Traits(
            "Known from an earlier run. In the last two runs that saw the whole site nothing led to the URL "
            "(`orphan_runs`)."
        ),
    )
