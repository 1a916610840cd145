"""Recommendations: what the findings of a validation mean together, in the order of what they gain."""

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
    "file": Action("high", "{count} problems keep files from being read as they are meant: correct "
                   "the program that writes them before anything else"),
    "gzip": Action("high", "{count} compressed files are damaged or misnamed: upload them again"),
    "index": Action("high", "{count} sitemaps of an index are missing or misplaced: an index lists the "
                    "addresses of existing sitemaps of its own site"),
    "url": Action("high", "{count} URLs are not in the form that search engines accept: have the program that "
                  "writes the sitemap encode and complete them"),
    "lastmod": Action("medium", "{count} lastmod values are wrong: search engines ignore the dates of a "
                      "sitemap that is wrong too often; omit a date that is not known"),
    "hints": Action("low", "{count} values of changefreq or priority are wrong: Google ignores both elements, "
                    "so leave them out"),
    "text": Action("medium", "{count} lines of a text sitemap are not URLs: write one URL in each line"),
    "feed": Action("medium", "{count} entries of a feed are incomplete: give each a link and a date"),
    "image": Action("medium", "{count} images are described wrongly: each needs the address of its file"),
    "video": Action("medium", "{count} values of videos are missing or wrong: such videos are not shown in "
                    "search results"),
    "news": Action("medium", "{count} values of news articles are missing or wrong: such articles are not "
                   "taken into news"),
    "hreflang": Action("medium", "{count} language versions are named wrongly: search engines ignore them"),
    "set": Action("medium", "{count} URLs are listed twice or in two spellings: list each page once, at "
                  "its canonical URL"),
    "live": Action("high", "{count} URLs can't be indexed as they are: remove them from the sitemap or "
                   "repair the pages"),
    "against": Action("high", "{count} pages differ from the crawl: regenerate the sitemap from it"),
}  # fmt: skip
_REDIRECTS = Action("high", "{count} URLs redirect: list their targets")
_BLOCKED = Action("high", "{count} URLs must not be indexed, by noindex, canonical or robots.txt: "
                  "remove them, or change the pages")  # fmt: skip
_DATES = Action("high", "the dates are those of the generation, not of the pages ({count} findings): "
                "write the time at which each page changed, or none")  # fmt: skip
_RETIRED = Action("low", "{count} elements are no longer read: leave them out, the files become smaller")
_SIZES = Action("high", "{count} files are above the limits of the protocol: split them and list the parts in "
                "an index")  # fmt: skip
_RECIPROCAL = Action("medium", "{count} language versions do not name each other: every version lists "
                     "all versions, itself included")  # fmt: skip
_INCOMPLETE = Action("medium", "the listed URLs were not all requested ({count} findings): run the check again")
_BY_RULE: dict[str, Action] = {
    "live-incomplete": _INCOMPLETE,
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
