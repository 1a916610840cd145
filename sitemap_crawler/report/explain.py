"""Why a URL is, or is not, in the sitemap: what may be meant by its spelling, and what the inventory knows of it."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from heapq import nlargest
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from sitemap_crawler.inventory.schema import TRAPPED, UrlState
from sitemap_crawler.policy.lastmod import w3c_datetime
from sitemap_crawler.policy.rules import BELOW_UNREACHED, Reason, Rules
from sitemap_crawler.traps.detector import trap_evidence
from sitemap_crawler.urls.normalise import MAX_STORED_URL, directory_of
from sitemap_crawler.urls.spelling import directories_above, spellings, variants

if TYPE_CHECKING:
    from sitemap_crawler.inventory.lookup import Inventory, LatestRun, UrlRecord
    from sitemap_crawler.urls.normalise import Resolver

KEYS = (
    "url", "decision", "reason", "evidence", "status", "referrer", "depth", "canonical", "lastmod", "lastmod_source",
    "first_seen", "last_fetched", "file", "redirects_to", "title", "nearest",
)  # fmt: skip
"""Of the JSON objects and the CSV columns, in their order."""

MAX_CANDIDATES = 2_000
"""Links among which the nearest URL is looked for;"""
MAX_COMPARED = 64
"""those of them that are compared thoroughly,"""
MAX_COMPARED_LENGTH = 200
"""and the characters of each."""
MIN_SIMILARITY = 0.6


@dataclass(frozen=True, slots=True)
class Explanation:
    facts: dict[str, Any]
    """By the names in KEYS."""
    start_url: str
    linked: str | None = None
    """What leads to it, or did, in words; None for the start page and where nothing is known of it."""
    nearest: dict[str, Any] | None = None
    """The facts of the nearest known URL, when the one asked for is unknown."""


def explain(inventory: Inventory, text: str) -> Explanation:
    """What is known of the URL that somebody spelt `text`. Raises SpellingError when that can't be one."""
    run = inventory.run
    rules, resolver = rules_of(run)
    asked = spellings(text, run.start_url, resolver)
    known = inventory.find(asked)
    found = next((known[url] for url in asked if url in known), None)
    if found is not None:
        return Explanation(facts_of(found, inventory, rules), run.start_url, _linked(found))
    reason, evidence = _unknown(asked[0], inventory, rules)
    near = _nearest(asked[0], inventory, rules, resolver)
    facts = dict.fromkeys(KEYS)
    facts |= {"url": asked[0], "decision": "unknown", "reason": reason, "evidence": evidence}
    facts["nearest"] = near.url if near else None
    return Explanation(facts, run.start_url, nearest=facts_of(near, inventory, rules) if near else None)


def rules_of(run: LatestRun) -> tuple[Rules, Resolver]:
    """The rules that the latest run obeys, and how it reads URLs. Raises OptionError for what it remembers."""
    from sitemap_crawler.config.options import Options

    remembered = {name: value for name, value in run.options.items() if name in Options.model_fields}
    options = Options.parse({"start_url": run.requested_url, **remembered})
    rules = Rules(options, sitemap_url=run.sitemap_url, start_url=run.start_url)
    return rules, rules.resolver()


def _is_unlinked(entry: UrlRecord) -> bool:
    # No walk comes to what is out of scope.
    return (entry.unlinked and entry.reason != Reason.OUT_OF_SCOPE) or entry.reason == Reason.ORPHAN


def _linked(entry: UrlRecord) -> str | None:
    if entry.referrer is not None:
        return f"no page now; was linked from {entry.referrer}" if _is_unlinked(entry) else entry.referrer
    if entry.named is None or entry.depth == 0:
        return None
    return f"no followed link; a sitemap {'named' if _is_unlinked(entry) else 'names'} it"


def facts_of(entry: UrlRecord, inventory: Inventory, rules: Rules) -> dict[str, Any]:
    """The answer for a known URL, by the names in KEYS."""
    decision, reason, evidence = entry.decision, entry.reason, entry.evidence
    if decision is None:
        decision = "unknown"
        reason, evidence = _undecided(entry, rules)
    unlinked = _is_unlinked(entry)
    return {
        "url": entry.url,
        "decision": decision,
        "reason": reason,
        "evidence": evidence,
        "status": entry.status,
        "referrer": None if unlinked else entry.referrer,
        "depth": None if unlinked or entry.depth >= BELOW_UNREACHED else entry.depth,
        "canonical": entry.canonical,
        "lastmod": w3c_datetime(entry.lastmod, day=entry.lastmod_day),
        "lastmod_source": entry.lastmod_source,
        "first_seen": w3c_datetime(entry.first_seen),
        "last_fetched": w3c_datetime(entry.last_fetched),
        "file": inventory.file_of(entry, rules.published(entry.url)),
        "redirects_to": entry.redirects_to,
        "title": entry.title,
        "nearest": None,
    }


def _undecided(entry: UrlRecord, rules: Rules) -> tuple[str | None, str]:
    """What a crawl that has not ended knows of a URL: the reason if it is settled already, and the evidence."""
    if entry.state in (UrlState.QUEUED, UrlState.LEASED):
        return None, "queued, not fetched yet"
    if entry.blocked_by is not None:
        return str(Reason.BLOCKED_BY_ROBOTS), f"{entry.blocked_by}, not decided yet"
    if entry.status is not None:
        return None, f"fetched with status {entry.status}, not decided yet"
    if entry.last_fetched is not None:
        return None, f"no answer ({entry.error}), not decided yet"
    refusal = rules.fetch_refusal(entry.url, entry.depth)
    if refusal is not None:
        return str(refusal.reason), f"{refusal.evidence}, not decided yet"
    if entry.state in TRAPPED:
        return str(Reason.LIMIT), f"{trap_evidence(entry.state, entry.url)}, not decided yet"
    return None, "neither fetched nor decided yet"


def _unknown(url: str, inventory: Inventory, rules: Rules) -> tuple[str | None, str]:
    """The likely cause why nothing is known of the URL."""
    if len(url) > MAX_STORED_URL:
        return str(Reason.TOO_LONG), f"longer than {MAX_STORED_URL:,} characters: counted, not stored"
    refusal = rules.fetch_refusal(url, 0)
    if refusal is not None:
        return str(refusal.reason), refusal.evidence
    page = inventory.nofollow_page(url)
    if page is not None:
        return None, f"only nofollow links, first on {page}"
    return None, _WHY_UNKNOWN.get(inventory.run.ended_by or "", "the crawl has not finished")


_WHY_UNKNOWN = {
    "limit": "the crawl has not finished: it ended at a limit before it saw the whole site",
    "refused": "the last crawl was refused at its start page, so it saw nothing of the site",
    "finished": "no page that was fetched links to it, and no sitemap names it",
}


def _nearest(url: str, inventory: Inventory, rules: Rules, resolver: Resolver) -> UrlRecord | None:
    if len(url) > MAX_STORED_URL:
        return None
    candidates = variants(url, resolver)
    known = inventory.find(candidates)
    for candidate in candidates:
        if candidate in known:
            return known[candidate]
    return _most_similar(url, inventory, rules) if rules.scope.admits(url) else None


def _most_similar(url: str, inventory: Inventory, rules: Rules) -> UrlRecord | None:
    """The closest of the links on the longest known parent that has a close one, else that parent."""
    directories = [*takewhile(rules.scope.admits, directories_above(url)), directory_of(rules.start_url)]
    known = inventory.find([*directories, *(directory[:-1] for directory in directories), rules.start_url])
    nearest_parent = None
    for directory in dict.fromkeys(directories):
        for page in (directory, directory[:-1], rules.start_url if rules.start_url.startswith(directory) else ""):
            if page not in known or page == url:
                continue
            nearest_parent = nearest_parent or known[page]
            closest = _closest(url, directory, inventory.links_of(page, MAX_CANDIDATES))
            if closest is not None:
                return inventory.find([closest]).get(closest)
    return nearest_parent


def _closest(url: str, directory: str, candidates: list[str]) -> str | None:
    """The candidate below the directory that is most like the URL, as far as it differs from all of those."""
    start = len(directory)
    matcher = SequenceMatcher(autojunk=False, b=url[start : start + MAX_COMPARED_LENGTH])

    def similarity(candidate: str, *, thorough: bool) -> float:
        matcher.set_seq1(candidate[start : start + MAX_COMPARED_LENGTH])
        return matcher.ratio() if thorough else matcher.quick_ratio()

    # The quick one is an upper bound, and linear: pages can be made that keep the thorough one busy for hours.
    below = [candidate for candidate in candidates if candidate.startswith(directory)]
    likely = nlargest(MAX_COMPARED, below, key=lambda candidate: similarity(candidate, thorough=False))
    rated = [(similarity(candidate, thorough=True), candidate) for candidate in likely]
    best = max(rated, default=(0.0, ""))
    return best[1] if best[0] >= MIN_SIMILARITY else None
