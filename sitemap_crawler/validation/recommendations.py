"""Recommendations: actions that remove many findings of a validation, the most useful first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sitemap_crawler.validation.catalogue import RULES, Family

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping

    from sitemap_crawler.validation.findings import Finding

Priority = Literal["high", "medium", "low"]
MAX_EXAMPLES = 3
_ORDER: Mapping[Priority, int] = {"high": 0, "medium": 1, "low": 2}


class Action(NamedTuple):
    """Something to do that removes the findings of several rules."""

    priority: Priority
    message: str
    """With `{count}` for the number of findings."""


_BY_FAMILY: dict[Family, Action] = {
    "file": Action(
        "high",
        "files that can't be read as they are meant ({count}): correct the program that writes them "
        "before anything else",
    ),
    "gzip": Action(
        "high",
        "compressed files that are damaged or misnamed ({count}): write or upload them again",
    ),
    "index": Action(
        "high",
        "sitemaps of an index that are missing or misplaced ({count}): list the addresses of existing "
        "sitemaps of the same site",
    ),
    "url": Action(
        "high",
        "URLs that search engines do not accept as written ({count}): have the program that writes the "
        "sitemap encode and complete them",
    ),
    "lastmod": Action(
        "medium",
        "wrong values of lastmod ({count}): omit a date that is not known, because search engines ignore all "
        "dates of a sitemap that is wrong too often",
    ),
    "hints": Action(
        "low",
        "wrong values of changefreq or priority ({count}): leave both elements out, Google ignores them",
    ),
    "text": Action(
        "medium",
        "lines of a text sitemap that are no URL ({count}): write one URL in each line",
    ),
    "feed": Action(
        "medium",
        "incomplete entries of a feed ({count}): give each a link and a date",
    ),
    "image": Action(
        "medium",
        "images that are described wrongly ({count}): give each the address of its file",
    ),
    "video": Action(
        "medium",
        "videos with missing or wrong values ({count}): complete them, or search results will not show these videos",
    ),
    "news": Action(
        "medium",
        "articles with missing or wrong values ({count}): complete them, or news will not take these articles",
    ),
    "hreflang": Action(
        "medium",
        "language versions that are named wrongly ({count}): use a language code, and a region code if "
        "needed, and an absolute URL",
    ),
    "set": Action(
        "medium",
        "URLs that are listed twice or in two spellings ({count}): list each page once, at its canonical URL",
    ),
    "live": Action(
        "high",
        "URLs that can't be indexed as they are ({count}): remove them from the sitemap or repair the pages",
    ),
    "against": Action(
        "high",
        "differences from the crawl ({count}): write the sitemap from its inventory, or look up why with explain",
    ),
}
_REDIRECTS = Action(
    "high",
    "URLs that redirect ({count}): list their targets",
)
_BLOCKED = Action(
    "high",
    "URLs that must not be indexed, by noindex, canonical or robots.txt ({count}): remove them, or change the pages",
)
_MEDIA = Action(
    "medium",
    "images and videos that do not answer ({count}): correct their URLs, or leave them out",
)
_DATES = Action(
    "high",
    "dates that are not those of the pages ({count}): write the time at which each page changed, or none",
)
_RETIRED = Action(
    "low",
    "elements that are no longer read ({count}): leave them out, the files become smaller",
)
_SIZES = Action(
    "high",
    "files above the limits of the protocol ({count}): split them and list the parts in an index",
)
_RECIPROCAL = Action(
    "medium",
    "language versions that do not name each other ({count}): let every version list all versions, itself included",
)
_INCOMPLETE = Action(
    "medium",
    "URLs or sitemaps that were not checked ({count}): run the check again",
)
_UNREACHABLE = Action(
    "high",
    "sitemaps that the server does not send ({count}): correct their addresses in robots.txt and in the index, "
    "or let the server answer with status 200",
)
_MOVED = Action(
    "medium",
    "sitemaps that have moved ({count}): submit and list their new addresses",
)
_BY_RULE: dict[str, Action] = {
    "unreachable": _UNREACHABLE,
    "download-failed": _UNREACHABLE,
    "redirected": _MOVED,
    "not-checked": _INCOMPLETE,
    "live-incomplete": _INCOMPLETE,
    "media-broken": _MEDIA,
    "live-redirect": _REDIRECTS,
    "live-noindex": _BLOCKED,
    "live-canonical": _BLOCKED,
    "live-blocked": _BLOCKED,
    "live-lastmod": _DATES,
    "lastmod-all-equal": _DATES,
    "lastmod-generated": _DATES,
    "image-retired": _RETIRED,
    "video-retired": _RETIRED,
    "news-retired": _RETIRED,
    "mobile-retired": _RETIRED,
    "file-too-large": _SIZES,
    "too-many-entries": _SIZES,
    "alternate-self": _RECIPROCAL,
    "alternate-not-reciprocal": _RECIPROCAL,
}


def recommendations(counts: Counter[str], findings: Iterable[Finding]) -> tuple[dict[str, Any], ...]:
    """Return the actions for the rules that were broken, the most useful ones first."""
    rules: dict[Action, list[str]] = {}
    for rule in counts:
        rules.setdefault(action_for(rule), []).append(rule)
    totals = {action: sum(counts[rule] for rule in broken) for action, broken in rules.items()}
    examples: dict[Action, list[str]] = {action: [] for action in totals}
    for finding in findings:
        shown = examples[action_for(finding.rule)]
        text = finding.url or finding.file
        if len(shown) < MAX_EXAMPLES and text not in shown:
            shown.append(text)
    ordered = sorted(totals, key=lambda action: (_ORDER[action.priority], -totals[action], action.message))
    return tuple(
        {
            "rule": max(rules[action], key=lambda rule: (counts[rule], rule)),
            "rules": sorted(rules[action]),
            "priority": action.priority,
            "message": action.message.format(count=f"{totals[action]:,}"),
            "count": totals[action],
            "examples": examples[action],
        }
        for action in ordered
    )


def action_for(rule: str) -> Action:
    """Return the action that removes the findings of a rule."""
    return _BY_RULE.get(rule) or _BY_FAMILY[RULES[rule].family]
