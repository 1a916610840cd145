"""The reasons of decisions, with all their properties. The rules that give a URL its reason stand elsewhere."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How much a reason or a warning matters to the owner of the site."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class ReasonGroup(StrEnum):
    """Group of reasons in summaries and reports. What needs a person comes first."""

    label: str

    def __new__(cls, value: str, label: str) -> ReasonGroup:
        member = str.__new__(cls, value)
        member._value_ = value
        member.label = label
        return member

    BROKEN = "broken", "Broken"
    AT_RISK = "at-risk", "In the sitemap, at risk"
    ASKED = "asked", "Left out by a rule or a limit"
    OF_COURSE = "of-course", "Left out as a matter of course"
    LISTED = "listed", "In the sitemap"


class _Traits(NamedTuple):
    """Properties of a reason, with the part of the program that uses each."""

    title: str
    """A few words for URLs with this reason, shown by summaries and reports."""
    group: ReasonGroup
    severity: Severity
    description: str
    """Meaning, shown by the documentation."""
    why: str
    """Why it matters, or why it does not, shown by the documentation and reports."""
    remedy: str
    """What to do, shown by the documentation and reports."""
    start_page_remedy: str | None = None
    """Remedy if the start page has the reason; None if the run may be published (`policy/guards.py`)."""
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
        _Traits(
            "In the sitemap",
            ReasonGroup.LISTED,
            Severity.LOW,
            "A page with status 200, in scope, indexable, canonical to itself or to nothing.",
            "Search engines may index the page, and the sitemap leads them to it.",
            "Nothing is to be done.",
        ),
    )
    KEPT_AFTER_ERROR = (
        "kept-after-error",
        _Traits(
            "Kept while its server fails",
            ReasonGroup.AT_RISK,
            Severity.HIGH,
            "Listed. The page was listed before and its server fails now. It stays for seven finished runs "
            "(`keep_errors`) with its date.",
            "The page cannot be fetched now. If that lasts, it leaves the sitemap, and search engines drop it.",
            "Look for these addresses in the log of the server, and make them answer with 200 again.",
            is_fixed_in_links=True,
        ),
    )
    OUT_OF_SCOPE = (
        "out-of-scope",
        _Traits(
            "Outside the scope",
            ReasonGroup.OF_COURSE,
            Severity.LOW,
            "Not at or below the sitemap's directory. Not fetched.",
            "A sitemap may list only URLs at or below its own directory. Links to other sites are normal.",
            "If own pages are missing, set `--sitemap-url` to a higher directory, or use `--subdomains`.",
            fits_sitemap=True,
        ),
    )
    EXCLUDED_BY_RULE = (
        "excluded-by-rule",
        _Traits(
            "Excluded by your patterns",
            ReasonGroup.ASKED,
            Severity.LOW,
            "An `--exclude` or `--exclude-listing` pattern matches, or no `--include` pattern does.",
            "You asked for it with `--include`, `--exclude` or `--exclude-listing`.",
            "If a page is missing, change the pattern that `explain` shows for it.",
            hint="excluded by --include or --exclude",
            hint_position=4,
            fits_sitemap=True,
        ),
    )
    BLOCKED_BY_ROBOTS = (
        "blocked-by-robots",
        _Traits(
            "Disallowed by robots.txt",
            ReasonGroup.ASKED,
            Severity.MEDIUM,
            "robots.txt disallows the URL. Not fetched.",
            "Search engines that obey robots.txt cannot read the page either.",
            "If the page is to be found, remove the rule that `explain` shows from robots.txt.",
            start_page_remedy="robots.txt forbids it: allow this user agent there, or crawl with -s ROBOTSTXT_OBEY=0",
            hint="disallowed by robots.txt",
            hint_position=1,
        ),
    )
    NOINDEX = (
        "noindex",
        _Traits(
            "Marked noindex",
            ReasonGroup.ASKED,
            Severity.MEDIUM,
            "A robots meta tag or `X-Robots-Tag` forbids indexing, for all robots or for Google's or Bing's.",
            "The page tells search engines not to show it. A template that says so by mistake hides whole sections.",
            "If the page is to be found, remove the directive from the page or its headers.",
            start_page_remedy="remove the directive, or start from a page that may be indexed",
            hint="marked noindex",
            hint_position=2,
            rarely_changes=True,
        ),
    )
    CANONICAL_ELSEWHERE = (
        "canonical-elsewhere",
        _Traits(
            "Copies of another page",
            ReasonGroup.ASKED,
            Severity.LOW,
            "`rel=canonical` names another URL, and that URL can be listed.",
            "The page names another URL as the one to show; that URL is judged in its place.",
            "Check that pages with content of their own name themselves as canonical.",
            hint="of pages whose canonical is another URL",
            hint_position=3,
        ),
    )
    REDIRECT = (
        "redirect",
        _Traits(
            "Redirects",
            ReasonGroup.OF_COURSE,
            Severity.LOW,
            "A 3xx answer, or a meta refresh or, with `--render`, a script that leads to another URL. The target is "
            "crawled.",
            "A sitemap lists the target of a redirect, not the old address.",
            "Change links on your pages to the target, which saves visitors a request.",
            start_page_remedy="give the address of a page that answers",
            is_fixed_in_links=True,
            rarely_changes=True,
        ),
    )
    CLIENT_ERROR = (
        "client-error",
        _Traits(
            "Not found or refused",
            ReasonGroup.BROKEN,
            Severity.HIGH,
            "404, 410 or another 4xx.",
            "Visitors and search engines that know such an address, or follow a link to it, meet a dead end.",
            "Correct or remove links to it, restore the page, or redirect its address to its successor.",
            start_page_remedy="check the address",
            is_error=True,
            is_fixed_in_links=True,
            rarely_changes=True,
        ),
    )
    SERVER_ERROR = (
        "server-error",
        _Traits(
            "Server errors",
            ReasonGroup.BROKEN,
            Severity.HIGH,
            "A 5xx or 429, after the retries.",
            "The server fails for these addresses. Search engines drop pages that fail for long.",
            "Find the error in the log of the server. If the crawl overloads it, crawl more slowly (`--delay`).",
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
            "No answer",
            ReasonGroup.BROKEN,
            Severity.HIGH,
            "No answer, after the retries; or none with a page: a 304, not modified, to a request without conditions.",
            "The server sends no page: the connection fails, breaks off or takes too long.",
            "Check the server, its name and its certificate, and crawl again.",
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
            "Not pages",
            ReasonGroup.OF_COURSE,
            Severity.LOW,
            "Another content type, an empty body, or a status like 204.",
            "Files such as PDFs, feeds and pictures, and empty answers, are no web pages.",
            "To list files of another type, add it to `content_types`.",
            start_page_remedy="give the address of an HTML page",
            rarely_changes=True,
        ),
    )
    DUPLICATE_INDEX_FILE = (
        "duplicate-index-file",
        _Traits(
            "Second addresses of a directory",
            ReasonGroup.OF_COURSE,
            Severity.LOW,
            "The same bytes as the directory above it, such as `/docs/index.html` and `/docs/`.",
            "The address shows the same page as the directory above it, which is judged in its place.",
            "Link to the directory: `/docs/` in place of `/docs/index.html`.",
        ),
    )
    TOO_LONG = (
        "too-long",
        _Traits(
            "Too long for a sitemap",
            ReasonGroup.OF_COURSE,
            Severity.LOW,
            "2,048 characters or more, or an entry that is larger than a file may be.",
            "A URL of a sitemap has at most 2,047 characters, and an entry must fit a file.",
            "Give the page a shorter address, or name fewer images and videos on it.",
        ),
    )
    DUPLICATE_PARAMETERS = (
        "duplicate-parameters",
        _Traits(
            "The same page under another address",
            ReasonGroup.OF_COURSE,
            Severity.LOW,
            "The URL shows what other URLs show: sorted or filtered lists, tabs, parameters without a meaning. This is "
            "seen on the page itself, or on samples of its kind; then it is not fetched.",
            "Search engines index one address of a content. The sitemap names the simplest one.",
            "If such pages are missing, except them with `no_traps`, or name them in a list (`--urls`).",
            fits_sitemap=True,
        ),
    )
    LIMIT = (
        "limit",
        _Traits(
            "Left out: a limit or a trap",
            ReasonGroup.ASKED,
            Severity.MEDIUM,
            "Beyond `--max-pages` or `--max-depth`: not fetched yet. Or in a [trap](../guide/traps.md), with those of "
            "its pages that were fetched and repeat others.",
            "The crawl stopped before these URLs, or addresses of their kind have no end.",
            "Raise the limit to crawl the rest. For a trap, see its warning.",
            start_page_remedy="raise --max-pages or --max-depth, or run the same command again",
            hint="not fetched yet, beyond --max-pages or --max-depth",
            hint_position=5,
            fits_sitemap=True,
        ),
    )
    ORPHAN = (
        "orphan",
        _Traits(
            "No longer linked",
            ReasonGroup.OF_COURSE,
            Severity.LOW,
            "Known from an earlier run. In the last two runs that saw the whole site nothing led to the URL "
            "(`orphan_runs`).",
            "No page, sitemap or list leads to the URL any more, so it is forgotten like a page that was removed.",
            "If the page is to stay, link to it.",
        ),
    )
