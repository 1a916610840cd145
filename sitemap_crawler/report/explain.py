"""Explanations why a URL is or is not in the sitemap, from the inventory, for any spelling of the URL."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import SequenceMatcher
from heapq import nlargest
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from sitemap_crawler.config.types import RenderMode
from sitemap_crawler.inventory.inspections import inspection_of
from sitemap_crawler.inventory.schema import TRAPPED, UrlState
from sitemap_crawler.inventory.shown_elsewhere import listed_url_that_shows
from sitemap_crawler.inventory.submissions import submissions_of
from sitemap_crawler.inventory.traps import compared_pages
from sitemap_crawler.items import NoteKind
from sitemap_crawler.policy.lastmod import w3c_datetime
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.rules import LINKED_FROM_UNREACHED, Rules, learnt_trap_refusal
from sitemap_crawler.report.renderings import missed_words, rendering_json
from sitemap_crawler.urls.normalise import MAX_STORED_URL, directory_of
from sitemap_crawler.urls.spelling import directories_above, spellings, variants

if TYPE_CHECKING:
    from sitemap_crawler.inventory.lookup import Inventory, LatestRun, UrlRecord
    from sitemap_crawler.inventory.submissions import Sent
    from sitemap_crawler.items import PageRendering
    from sitemap_crawler.urls.normalise import Resolver

KEYS = (
    "url", "decision", "reason", "evidence", "status", "referrer", "depth", "canonical", "lastmod", "lastmod_source",
    "first_seen", "last_fetched", "file", "redirects_to", "title", "nearest",
)  # fmt: skip
"""Keys of the JSON objects and columns of the CSV, in their order."""

MAX_CANDIDATES = 2_000
"""Maximum number of links of one page that are considered as the nearest URL."""
MAX_COMPARED = 64
"""Maximum number of candidates whose exact similarity is computed."""
MAX_COMPARED_LENGTH = 200
"""Maximum number of characters of a candidate that are compared."""
MIN_SIMILARITY = 0.6
"""Minimum similarity of the nearest URL, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer for one URL."""

    facts: dict[str, Any]
    """Facts about the URL by name: see KEYS."""
    start_url: str
    linked: str | None = None
    """Sentence on the page or sitemap that leads or led to the URL; None for the start page and for an unknown URL."""
    nearest: dict[str, Any] | None = None
    """The facts of the nearest known URL; None if the URL itself is known."""
    links: str | None = None
    """Sentence on the links of the page that were left out, if any were."""
    submissions: list[Sent] = field(default_factory=list)
    """The last times that search engines were told about the URL, the newest first."""
    google: dict[str, Any] | None = None
    """What Google says of the page; None if it was not inspected."""
    rendering: PageRendering | None = None
    """How the page was rendered, or why it was not; None if it was read without `--render`, or is no page."""
    missed: str | None = None
    """The request without whose answer the page stays empty, and why there is none."""
    renders: bool = False
    """Whether the latest run used a browser."""
    listed_url: str | None = None
    """The listed URL of the same path that shows the same, for a URL that is left out for its parameters."""

    def to_json(self) -> dict[str, Any]:
        """Return the facts, with the submissions, the inspection and the rendering of a known URL."""
        rows = [{**sent._asdict(), "at": w3c_datetime(sent.at)} for sent in self.submissions]
        rendering = rendering_json(self.rendering, self.missed)
        more = {"submissions": rows, "google": self.google, "rendering": rendering, "listed_url": self.listed_url}
        return {**self.facts, **more}


def explain(inventory: Inventory, text: str) -> Explanation:
    """Return the answer for the URL that the user spelt `text`. Raises SpellingError if `text` can't be a URL."""
    run = inventory.run
    rules, resolver = rules_of(run)
    urls = spellings(text, run.start_url, resolver)
    known = inventory.find(urls)
    record = next((known[url] for url in urls if url in known), None)
    if record is not None:
        kept = inventory.kept_links([record.url]).get(record.url)
        links = f"only the first {kept:,} were kept (SITEMAP_MAX_LINKS)" if kept else None
        facts = facts_of(record, inventory, rules)
        sent = submissions_of(inventory.connection, record.id)
        google = _inspected(inventory, record)
        rendering = inventory.rendering_of(record.id)
        was_left_out = record.state == UrlState.EXHAUSTED and record.status is not None
        is_repeated = record.reason == Reason.DUPLICATE_PARAMETERS or was_left_out
        return Explanation(
            facts,
            run.start_url,
            _linked(record, inventory),
            links=links,
            submissions=sent,
            google=google,
            rendering=rendering,
            missed=missed_words(inventory.notes_of(record.id).get(NoteKind.REFUSED_REQUEST)),
            renders=run.options.get("render", RenderMode.NEVER) != RenderMode.NEVER,
            listed_url=listed_url_that_shows(inventory.connection, record.id, record.url) if is_repeated else None,
        )
    reason, evidence = _why_unknown(urls[0], inventory, rules)
    nearest = _nearest(urls[0], inventory, rules, resolver)
    facts = dict.fromkeys(KEYS)
    facts |= {"url": urls[0], "decision": "unknown", "reason": reason, "evidence": evidence}
    facts["nearest"] = nearest.url if nearest else None
    return Explanation(facts, run.start_url, nearest=facts_of(nearest, inventory, rules) if nearest else None)


def _inspected(inventory: Inventory, record: UrlRecord) -> dict[str, Any] | None:
    """Return the newest answer of Google about a page, as `monitor --inspect` has got it."""
    found = inspection_of(inventory.connection, record.id)
    if found is None or found.verdict is None:
        return None
    return {
        "inspected": w3c_datetime(found.at),
        "verdict": found.verdict,
        "coverage_state": found.coverage_state,
        "robots": found.robots,
        "indexing": found.indexing,
        "fetch": found.fetch,
        "last_crawl": w3c_datetime(found.last_crawl),
        "google_canonical": found.google_canonical,
        "user_canonical": found.user_canonical,
    }


def rules_of(run: LatestRun) -> tuple[Rules, Resolver]:
    """Return the rules of the latest run and its resolver of URLs. Raises OptionError if its options are invalid."""
    from sitemap_crawler.config.options import Options

    remembered = {name: value for name, value in run.options.items() if name in Options.model_fields}
    options = Options.parse({"start_url": run.requested_url, **remembered})
    rules = Rules(options, sitemap_url=run.sitemap_url, start_url=run.start_url)
    return rules, rules.resolver()


def _is_unlinked(record: UrlRecord) -> bool:
    # Links are not followed out of the scope, so `unlinked` says nothing about such a URL.
    return (record.unlinked and record.reason != Reason.OUT_OF_SCOPE) or record.reason == Reason.ORPHAN


def _linked(record: UrlRecord, inventory: Inventory) -> str | None:
    if record.referrer is not None:
        # A run that did not see the whole site does not prove that a URL is unlinked.
        is_linked = record.reached or inventory.leads_to(record.referrer, record.id)
        if is_linked and not _is_unlinked(record):
            return record.referrer
        return f"no page now; was linked from {record.referrer}"
    if (record.named is None and record.in_list is None and not record.added) or record.depth == 0:
        return None
    if record.added:
        return "no followed link; it was added with update"
    verb = "named" if _is_unlinked(record) else "names"
    if record.in_list is None:
        return f"no followed link; a sitemap {verb} it"
    visits = f" ({record.visits:,} visits)" if record.visits and not record.in_list else ""
    return f"no followed link; {'a list of --urls' if record.in_list else 'an access log'} {verb} it{visits}"


def facts_of(record: UrlRecord, inventory: Inventory, rules: Rules) -> dict[str, Any]:
    """Return the facts of a known URL, by KEYS."""
    decision, reason, evidence = record.decision, record.reason, record.evidence
    if decision is None:
        decision = "unknown"
        reason, evidence = _undecided(record, inventory, rules)
    unlinked = _is_unlinked(record)
    return {
        "url": record.url,
        "decision": decision,
        "reason": reason,
        "evidence": evidence,
        "status": record.status,
        "referrer": None if unlinked else record.referrer,
        "depth": None if unlinked or record.depth >= LINKED_FROM_UNREACHED else record.depth,
        "canonical": record.canonical,
        "lastmod": w3c_datetime(record.lastmod, day=record.lastmod_day),
        "lastmod_source": record.lastmod_source,
        "first_seen": w3c_datetime(record.first_seen),
        "last_fetched": w3c_datetime(record.last_fetched),
        "file": inventory.file_of(record, rules.to_public(record.url)),
        "redirects_to": record.redirects_to,
        "title": record.title,
        "nearest": None,
    }


def _undecided(record: UrlRecord, inventory: Inventory, rules: Rules) -> tuple[str | None, str]:
    """Return reason and evidence of a URL whose crawl has not ended. The reason is None if it is still open."""
    if record.waits:
        return None, "queued, not fetched yet"
    if record.blocked_by is not None:
        return str(Reason.BLOCKED_BY_ROBOTS), f"{record.blocked_by}, not decided yet"
    if record.status is not None:
        return None, f"fetched with status {record.status}, not decided yet"
    if record.last_fetched is not None:
        return None, f"no answer ({record.error}), not decided yet"
    refusal = rules.fetch_refusal(record.url, record.depth)
    if refusal is not None:
        return str(refusal.reason), f"{refusal.evidence}, not decided yet"
    if record.state in TRAPPED:
        refusal = learnt_trap_refusal(record.state, record.url, compared_pages(inventory.connection))
        return str(refusal.reason), f"{refusal.evidence}, not decided yet"
    return None, "neither fetched nor decided yet"


def _why_unknown(url: str, inventory: Inventory, rules: Rules) -> tuple[str | None, str]:
    """Return reason and evidence why the inventory probably does not have the URL. The reason may be None."""
    if len(url) > MAX_STORED_URL:
        return str(Reason.TOO_LONG), f"longer than {MAX_STORED_URL:,} characters: counted, not stored"
    refusal = rules.fetch_refusal(url, 0)
    if refusal is not None:
        return str(refusal.reason), refusal.evidence
    page = inventory.nofollow_page(url)
    if page is not None:
        return None, f"only nofollow links, first on {page}"
    cause = _CAUSES_BY_ENDING.get(inventory.run.ended_by or "", "the crawl has not finished")
    for page, kept in inventory.kept_links(_parents(url, rules)).items():
        cause += f"; only the first {kept:,} links of {page} were kept (SITEMAP_MAX_LINKS)"
    return None, cause


_CAUSES_BY_ENDING = {
    "limit": "the crawl has not finished: it ended at a limit before it saw the whole site",
    "repeats": "no page that was fetched links to it; the crawl ended when its pages only repeated others",
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
    """Return the most similar link of the nearest known parent with a similar link, else the nearest known parent."""
    directories = _directories(url, rules)
    known = inventory.find(_parents(url, rules))
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


def _directories(url: str, rules: Rules) -> list[str]:
    """Return the directories above a URL within the scope, and that of the start page."""
    return [*takewhile(rules.scope.admits, directories_above(url)), directory_of(rules.start_url)]


def _parents(url: str, rules: Rules) -> list[str]:
    """Return the possible URLs of the pages above a URL, and the start page."""
    directories = _directories(url, rules)
    return [*directories, *(directory[:-1] for directory in directories), rules.start_url]


def _closest(url: str, directory: str, candidates: list[str]) -> str | None:
    """Return the candidate below the directory that is most similar to the URL, compared without the directory."""
    start = len(directory)
    matcher = SequenceMatcher(autojunk=False, b=url[start : start + MAX_COMPARED_LENGTH])

    def similarity(candidate: str, *, exact: bool) -> float:
        matcher.set_seq1(candidate[start : start + MAX_COMPARED_LENGTH])
        return matcher.ratio() if exact else matcher.quick_ratio()

    # quick_ratio() is an upper bound in linear time. ratio() alone could take hours for hostile pages.
    below = [candidate for candidate in candidates if candidate.startswith(directory)]
    likely = nlargest(MAX_COMPARED, below, key=lambda candidate: similarity(candidate, exact=False))
    rated = [(similarity(candidate, exact=True), candidate) for candidate in likely]
    best = max(rated, default=(0.0, ""))
    return best[1] if best[0] >= MIN_SIMILARITY else None
