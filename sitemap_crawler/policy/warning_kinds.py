"""The warnings of a report: their kinds, in the order in which a report shows them, and one warning as a value."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from sitemap_crawler.policy.reasons import Severity


class _Traits(NamedTuple):
    """Properties of a kind of warnings. The documentation and reports show them."""

    title: str
    """A few words for all warnings of the kind."""
    severity: Severity
    description: str
    """Meaning."""
    why: str
    """Why it matters."""
    remedy: str
    """What to do."""


class WarningKind(StrEnum):
    """Kind of a warning. The most useful kinds come first."""

    traits: _Traits

    def __new__(cls, value: str, traits: _Traits) -> WarningKind:
        member = str.__new__(cls, value)
        member._value_ = value
        member.traits = traits
        return member

    START_ADOPTED = (
        "start-adopted",
        _Traits(
            "The start page has moved",
            Severity.LOW,
            "The start page has moved; the crawl continued from its new address.",
            "Each run begins with a redirect, and the scope follows from the new address.",
            "Give `crawl` the new address from now on.",
        ),
    )
    OPTIONS_CHANGED = (
        "options-changed",
        _Traits(
            "Options differ from those of the crawl",
            Severity.MEDIUM,
            "An interrupted run was resumed with other options, or `write` meets a site file with other options than "
            "those of the last crawl.",
            "The sitemap may list other pages than the present options ask for.",
            "Crawl again with the options that you want.",
        ),
    )
    CLOCK = (
        "clock",
        _Traits(
            "The clock has gone back",
            Severity.MEDIUM,
            "An earlier run is of a time that has not come yet.",
            "Dates of changes that this run or that one has seen may be wrong.",
            "Set the clock of this machine, and keep it with a time service.",
        ),
    )
    ADDRESS = (
        "address",
        _Traits(
            "The site is no longer on the internet",
            Severity.HIGH,
            "The name of the site led to a public address in the run before, and leads to a private one now.",
            "If somebody else answers for the name, the sitemap lists pages of another site.",
            "Check the DNS records of the name, and the hosts file of this machine. The next run takes the new address "
            "for right.",
        ),
    )
    LOST = (
        "lost",
        _Traits(
            "Pages that an added component dropped",
            Severity.HIGH,
            "A page was requested, but a component added with `-s` kept it from being stored.",
            "The pages were requested, but may be missing in the sitemap.",
            "Check the components that `-s` adds to the crawl.",
        ),
    )
    TOO_MANY_HOSTS = (
        "too-many-hosts",
        _Traits(
            "Too many hosts",
            Severity.MEDIUM,
            "`--subdomains` met more than 1,000 hosts; the others are not crawled.",
            "The pages of the other hosts are in no sitemap. A wildcard domain can have hosts without end.",
            "Crawl the hosts that matter with commands of their own.",
        ),
    )
    SEED_SITEMAP = (
        "seed-sitemap",
        _Traits(
            "Sitemaps that cannot be read",
            Severity.MEDIUM,
            "A sitemap that robots.txt or an option names cannot be read.",
            "Search engines cannot read them either, and pages that only they name may be missing.",
            "Repair the sitemap, or remove it from robots.txt or the option.",
        ),
    )
    URL_LIST = (
        "url-list",
        _Traits(
            "Lists or logs with unusable entries",
            Severity.MEDIUM,
            "A list of `--urls` or an access log cannot be read, or has entries that are unusable or out of the scope.",
            "Pages that only the list or log names may be missing.",
            "Correct the entries that the message names.",
        ),
    )
    TRAP = (
        "trap",
        _Traits(
            "Addresses without an end",
            Severity.MEDIUM,
            "URLs without an end were not fetched. The warning shows their pattern, their number and an example.",
            "Crawlers of search engines follow them, too, and spend time that your pages need.",
            "Remove the links that make them, or disallow their pattern in robots.txt. For real pages, set `no_traps`.",
        ),
    )
    OUT_OF_TURN = (
        "out-of-turn",
        _Traits(
            "Answers that nobody asked for",
            Severity.HIGH,
            "A server sent one answer too many on a connection. All later answers on it would belong to other pages.",
            "Browsers and search engines may take the content of one page for that of another.",
            "Repair or update the server, or the proxy or load balancer before it.",
        ),
    )
    SOFT_404 = (
        "soft-404",
        _Traits(
            "Error pages that answer 200",
            Severity.HIGH,
            "A page with status 200 says that it does not exist, or looks like that of an address that cannot exist.",
            "The sitemap lists the error page, and search engines may show it.",
            "Have the server answer 404 or 410.",
        ),
    )
    BLOCKED_FOR_SEARCH = (
        "blocked-for-search",
        _Traits(
            "Listed pages that Google may not read",
            Severity.HIGH,
            "robots.txt allows a listed page to this crawler but not to Google.",
            "The sitemap leads Google to a page that robots.txt forbids to it.",
            "Remove the rule from robots.txt, or leave the page out (`--exclude`).",
        ),
    )
    BROKEN_LINK = (
        "broken-link",
        _Traits(
            "Broken links",
            Severity.HIGH,
            "A link leads to a URL that answers with an error or does not answer.",
            "Visitors who follow the link meet an error.",
            "Correct or remove the link, or restore its target.",
        ),
    )
    BROKEN_REDIRECT = (
        "broken-redirect",
        _Traits(
            "Redirects to an error",
            Severity.HIGH,
            "A redirect leads to a URL that answers with an error or does not answer.",
            "Visitors and search engines that know the old address meet an error.",
            "Redirect to a page that exists, or answer 410.",
        ),
    )
    REDIRECT_LOOP = (
        "redirect-loop",
        _Traits(
            "Redirects in a circle",
            Severity.HIGH,
            "A redirect leads back to itself.",
            "Browsers give up, so nobody can open the page.",
            "Correct the rules by which the server redirects.",
        ),
    )
    BROKEN_CANONICAL = (
        "broken-canonical",
        _Traits(
            "Canonicals that cannot be listed",
            Severity.HIGH,
            "The canonical cannot be listed, so the page itself is listed.",
            "The page asks search engines to show an address in its place that they cannot show.",
            "Name the page itself as canonical, or a page that answers 200 and may be indexed.",
        ),
    )
    SHARED_CANONICAL = (
        "shared-canonical",
        _Traits(
            "Different pages that name one canonical",
            Severity.HIGH,
            "At least 50 pages of other paths, with titles of their own, name one URL as canonical, or five name the "
            "start page. None of them is listed.",
            "Search engines leave out pages that name another one as canonical.",
            "Have each page name itself as canonical, or none.",
        ),
    )
    CONFLICTING_CANONICALS = (
        "conflicting-canonicals",
        _Traits(
            "Several canonicals on one page",
            Severity.MEDIUM,
            "A page names several canonicals, so none counts.",
            "Search engines ignore them all and choose an address by themselves.",
            "Keep one `rel=canonical` on each page, in its markup or its headers.",
        ),
    )
    BLOCKED_CANONICAL = (
        "blocked-canonical",
        _Traits(
            "Canonicals that robots.txt disallows",
            Severity.HIGH,
            "robots.txt disallows the canonical, so neither page is listed.",
            "The content is missing in the sitemap: the page leaves it to an address that nobody may read.",
            "Allow the canonical in robots.txt, or name another one.",
        ),
    )
    CANONICAL_CHAIN = (
        "canonical-chain",
        _Traits(
            "Canonicals of canonicals",
            Severity.MEDIUM,
            "The canonical names another canonical.",
            "Search engines may follow no chain, and choose an address by themselves.",
            "Name the last address of the chain.",
        ),
    )
    REDIRECT_CHAIN = (
        "redirect-chain",
        _Traits(
            "Chains of redirects",
            Severity.MEDIUM,
            "A redirect leads to another redirect.",
            "Each step costs visitors time, and crawlers follow only a few.",
            "Redirect to the last address.",
        ),
    )
    DUPLICATE_PAGES = (
        "duplicate-pages",
        _Traits(
            "Pages with the same content",
            Severity.MEDIUM,
            "Listed pages have the same content. Each warning shows one group of URLs with the same pattern.",
            "Search engines read all of them, and show one that they choose.",
            "Give the copies a canonical, or redirect them.",
        ),
    )
    BLOCKED_RESOURCE = (
        "blocked-resource",
        _Traits(
            "Scripts or styles that Google may not read",
            Severity.MEDIUM,
            "robots.txt disallows a script or a style sheet that listed pages need.",
            "Search engines see the page without them, and may miss content.",
            "Allow the files in robots.txt.",
        ),
    )
    LINK_TO_REDIRECT = (
        "link-to-redirect",
        _Traits(
            "Links to redirects",
            Severity.LOW,
            "A link leads to a permanent redirect instead of its target.",
            "Each click costs visitors a further request.",
            "Link to the target.",
        ),
    )
    ONE_WAY_CANONICAL = (
        "one-way-canonical",
        _Traits(
            "Canonicals that do not confirm themselves",
            Severity.LOW,
            "The canonical does not name itself as canonical.",
            "Search engines may take the canonical for a mistake.",
            "Have the canonical page name itself as canonical.",
        ),
    )
    SITEMAP_UNLISTABLE = (
        "sitemap-unlistable",
        _Traits(
            "Sitemaps that name URLs that cannot be listed",
            Severity.MEDIUM,
            "An existing sitemap or a list of `--urls` names a URL that cannot be listed.",
            "Search engines report such entries as errors, and trust the sitemap less.",
            "Remove the entries, or replace the sitemap by that of this program.",
        ),
    )
    SITEMAP_ONLY = (
        "sitemap-only",
        _Traits(
            "Pages that no link leads to",
            Severity.LOW,
            "An existing sitemap, a list or an access log names a listed page that no followed link leads to.",
            "Visitors cannot find the page, and search engines take it for unimportant.",
            "Link to the page, or remove it.",
        ),
    )
    VISITED_NOT_LISTED = (
        "visited-not-listed",
        _Traits(
            "Visited URLs that are not listed",
            Severity.MEDIUM,
            "Visitors ask for a URL, by an access log, and it is not listed. The most visited come first.",
            "People ask for these addresses, and the sitemap does not have them.",
            "Restore or redirect addresses that fail; `explain` says why another one is left out.",
        ),
    )
    CONFLICTING_ALTERNATES = (
        "conflicting-alternates",
        _Traits(
            "Several pages for one language",
            Severity.MEDIUM,
            "Several URLs claim the same language version of a page.",
            "Search engines ignore the language versions concerned.",
            "Name one URL for each language.",
        ),
    )
    INVALID_ALTERNATE = (
        "invalid-alternate",
        _Traits(
            "Unknown codes of languages",
            Severity.MEDIUM,
            "A page names a language version by an unknown code, such as `en-UK`.",
            "Search engines ignore a version with an unknown code.",
            "Use a language of ISO 639-1 and, if need be, a country of ISO 3166-1, as in `en-GB`.",
        ),
    )
    ONE_WAY_ALTERNATE = (
        "one-way-alternate",
        _Traits(
            "Language versions that do not name each other",
            Severity.MEDIUM,
            "A language version does not name the page that names it.",
            "Search engines ignore a version unless both pages name each other.",
            "Have each version name all others.",
        ),
    )
    UNLISTED_ALTERNATE = (
        "unlisted-alternate",
        _Traits(
            "Language versions that are not listed",
            Severity.MEDIUM,
            "A page names a language version that is not listed.",
            "The version fails, redirects or may not be indexed, so search engines cannot show it.",
            "Name a page that answers 200 and may be indexed.",
        ),
    )
    ONLY_RENDERED = (
        "only-rendered",
        _Traits(
            "Pages that need JavaScript",
            Severity.LOW,
            "A listed page has links or its text only after its scripts have run in a browser (`--render`).",
            "Google renders pages, later than it reads them. Other search engines may see neither the text nor the "
            "links.",
            "Have the server send the content: render it there, or when the site is built.",
        ),
    )
    REFUSED_REQUEST = (
        "refused-request",
        _Traits(
            "Pages whose content is not fetched",
            Severity.MEDIUM,
            "A listed page stays nearly empty although its scripts have run (`--render`): what they ask for is not "
            "fetched, or gives no answer.",
            "The page is decided without its content and its links, so pages may be missing.",
            "Allow the address in robots.txt or by the option that the message names. Have the scripts ask by GET, as "
            "GraphQL servers allow for queries.",
        ),
    )
    LONG_BODY = (
        "long-body",
        _Traits(
            "Pages larger than the limit",
            Severity.LOW,
            "A page is larger than `SITEMAP_MAX_BODY`; only its beginning was read.",
            "Links behind the limit were not followed, so pages may be missing.",
            "Make the page smaller, or raise `SITEMAP_MAX_BODY`.",
        ),
    )
    MANY_LINKS = (
        "many-links",
        _Traits(
            "Pages with too many links",
            Severity.LOW,
            "A page has more links than `SITEMAP_MAX_LINKS`; only the first ones were followed and count.",
            "Further links were not followed, so pages may be missing.",
            "Divide the page, or raise `SITEMAP_MAX_LINKS`.",
        ),
    )
    DEEP_PAGE = (
        "deep-page",
        _Traits(
            "Pages too complex to be read completely",
            Severity.MEDIUM,
            "A page is nested too deeply, or has too many tags or attributes of one tag, to be read completely.",
            "Links may have been missed, so pages may be missing.",
            "Simplify the markup of the page.",
        ),
    )
    INCOMPLETE_VIDEO = (
        "incomplete-video",
        _Traits(
            "Videos that lack a value",
            Severity.LOW,
            "A video lacks a value that a sitemap requires.",
            "The sitemap leaves the video out.",
            "Add the value that the message names to the structured data of the page.",
        ),
    )
    INCOMPLETE_NEWS = (
        "incomplete-news",
        _Traits(
            "News articles that lack a value",
            Severity.LOW,
            "A news article lacks a value that a sitemap requires.",
            "The news sitemap leaves the article out.",
            "Add the value that the message names, or set `--news-language`.",
        ),
    )
    NO_FEED = (
        "no-feed",
        _Traits(
            "A feed without pages",
            Severity.LOW,
            "A feed was requested, but no page has a date.",
            "A feed has the pages that changed last, so it needs dates.",
            "Have the pages state their dates, or drop the format.",
        ),
    )
    ENTRY_TOO_LARGE = (
        "entry-too-large",
        _Traits(
            "Entries too large for a file",
            Severity.MEDIUM,
            "An entry, or its images, videos or news, does not fit a file.",
            "The page, or its images, videos or news, are missing in the sitemap.",
            "Raise `--max-bytes`, or name fewer images and videos on the page.",
        ),
    )


KINDS = {str(kind): kind for kind in WarningKind}
"""The kinds by name."""


class SiteWarning(NamedTuple):
    """A problem of the site: its kind, the URL that it is about and a message of one line."""

    kind: WarningKind
    url: str
    message: str
