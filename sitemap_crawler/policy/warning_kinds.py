"""The warnings of a report: their kinds, in the order in which a report shows them, and one warning as a value."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class WarningKind(StrEnum):
    """Kind of a warning. The most useful kinds come first. The documentation shows `description`."""

    description: str

    def __new__(cls, value: str, description: str) -> WarningKind:
        member = str.__new__(cls, value)
        member._value_ = value
        member.description = description
        return member

    START_ADOPTED = "start-adopted", "The start page has moved; the crawl continued from its new address."
    OPTIONS_CHANGED = (
        "options-changed",
        (
            "An interrupted run was resumed with other options, or `write` meets a site file with other options than "
            "those of the last crawl."
        ),
    )
    LOST = "lost", "A page was requested, but a component added with `-s` kept it from being stored."
    TOO_MANY_HOSTS = "too-many-hosts", "`--subdomains` met more than 1,000 hosts; the others are not crawled."
    SEED_SITEMAP = "seed-sitemap", "A sitemap that robots.txt or an option names cannot be read."
    URL_LIST = (
        "url-list",
        "A list of `--urls` or an access log cannot be read, or has entries that are unusable or out of the scope.",
    )
    TRAP = (
        "trap",
        "URLs without an end were not fetched. The warning shows their pattern, their number and an example.",
    )
    SOFT_404 = (
        "soft-404",
        "A page with status 200 says that it does not exist, or looks like the page of an address that cannot exist.",
    )
    BLOCKED_FOR_SEARCH = "blocked-for-search", "robots.txt allows a listed page to this crawler but not to Google."
    BROKEN_LINK = "broken-link", "A link leads to a URL that answers with an error or does not answer."
    BROKEN_REDIRECT = "broken-redirect", "A redirect leads to a URL that answers with an error or does not answer."
    REDIRECT_LOOP = "redirect-loop", "A redirect leads back to itself."
    BROKEN_CANONICAL = "broken-canonical", "The canonical cannot be listed, so the page itself is listed."
    CONFLICTING_CANONICALS = "conflicting-canonicals", "A page names several canonicals, so none counts."
    BLOCKED_CANONICAL = "blocked-canonical", "robots.txt disallows the canonical, so neither page is listed."
    CANONICAL_CHAIN = "canonical-chain", "The canonical names another canonical."
    REDIRECT_CHAIN = "redirect-chain", "A redirect leads to another redirect."
    DUPLICATE_PAGES = (
        "duplicate-pages",
        "Listed pages have the same content. Each warning shows one group of URLs with the same pattern.",
    )
    BLOCKED_RESOURCE = "blocked-resource", "robots.txt disallows a script or a style sheet that listed pages need."
    LINK_TO_REDIRECT = "link-to-redirect", "A link leads to a permanent redirect instead of its target."
    ONE_WAY_CANONICAL = "one-way-canonical", "The canonical does not name itself as canonical."
    SITEMAP_UNLISTABLE = (
        "sitemap-unlistable",
        "An existing sitemap or a list of `--urls` names a URL that cannot be listed.",
    )
    SITEMAP_ONLY = (
        "sitemap-only",
        "An existing sitemap, a list or an access log names a listed page that no followed link leads to.",
    )
    VISITED_NOT_LISTED = (
        "visited-not-listed",
        "Visitors ask for a URL, by an access log, and it is not listed. The most visited come first.",
    )
    CONFLICTING_ALTERNATES = "conflicting-alternates", "Several URLs claim the same language version of a page."
    INVALID_ALTERNATE = "invalid-alternate", "A page names a language version by an unknown code, such as `en-UK`."
    ONE_WAY_ALTERNATE = "one-way-alternate", "A language version does not name the page that names it."
    UNLISTED_ALTERNATE = "unlisted-alternate", "A page names a language version that is not listed."
    LONG_BODY = "long-body", "A page is larger than `SITEMAP_MAX_BODY`; only its beginning was read."
    MANY_LINKS = (
        "many-links",
        "A page has more links than `SITEMAP_MAX_LINKS`; only the first ones were followed and count.",
    )
    DEEP_PAGE = (
        "deep-page",
        "A page is nested too deeply, or has too many tags or a tag with too many attributes, to be read completely.",
    )
    INCOMPLETE_VIDEO = "incomplete-video", "A video lacks a value that a sitemap requires."
    INCOMPLETE_NEWS = "incomplete-news", "A news article lacks a value that a sitemap requires."
    NO_FEED = "no-feed", "A feed was requested, but no page has a date."
    ENTRY_TOO_LARGE = "entry-too-large", "An entry, or its images, videos or news, does not fit a file."


class SiteWarning(NamedTuple):
    """A problem of the site: its kind, the URL that it is about and a message of one line."""

    kind: WarningKind
    url: str
    message: str
