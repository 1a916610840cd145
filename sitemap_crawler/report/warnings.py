"""What is wrong with a site, in words: warnings made of the decided inventory, the most useful kinds first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.items import NoteKind
from sitemap_crawler.policy.rules import Reason
from sitemap_crawler.policy.warning_kinds import SiteWarning, WarningKind
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sitemap_crawler.inventory.diagnostics import Diagnostics, Redirect
    from sitemap_crawler.items import Note
    from sitemap_crawler.report.url_groups.counter import UrlGroups
    from sitemap_crawler.urls.scope import DomainScope, Scope

MAX_CHAIN = 100
"""Redirects that are followed to see whether they form a loop."""
MAX_ONWARD = 100_000
"""Redirects that lead to others, of which loops and chains are told."""
MAX_SHAPES = 10
_PERMANENT = frozenset((200, 301, 308))
"""Statuses of redirects that links should follow; that of 200 is a meta refresh."""
_BROKEN = frozenset((Reason.CLIENT_ERROR, Reason.SERVER_ERROR, Reason.UNREACHABLE))


def review(findings: Diagnostics, shapes: UrlGroups) -> Iterator[SiteWarning]:
    """All that the inventory shows; what `decide` has met on its way is not repeated. `shapes` is empty."""
    for url, listed, notes in findings.notes():
        yield from _noted(url, notes, listed=listed)
    for link in findings.broken_links():
        yield SiteWarning(WarningKind.BROKEN_LINK, link.page, f"links to {link.url} ({link.reason}: {link.evidence})")
    yield from _redirects(findings.redirects())
    yield from _copies(findings, shapes)
    for url, reason, evidence in findings.unlistable_in_sitemaps():
        message = f"a sitemap names it, and it can't be listed ({reason}: {evidence})"
        yield SiteWarning(WarningKind.SITEMAP_UNLISTABLE, url, message)
    for url in findings.known_from_sitemaps_only():
        yield SiteWarning(WarningKind.SITEMAP_ONLY, url, "only a sitemap names it, no followed link leads to it")


def _noted(url: str, notes: dict[NoteKind, Note], *, listed: bool) -> Iterator[SiteWarning]:
    for kind, note in notes.items():
        words = _NOTES.get(kind)
        if (
            words is None
            or (words.listed_only and not listed)
            or (kind == NoteKind.ERROR_PAGE and NoteKind.SOFT_404 in notes)
        ):
            continue
        yield from (SiteWarning(words.kind, url, message) for message in words.messages(note))


def _copies(findings: Diagnostics, shapes: UrlGroups) -> Iterator[SiteWarning]:
    """One warning for each shape of address: copies come by the thousand, from one mistake."""
    for url in findings.duplicates():
        shapes.add(url)
    for shape in shapes.top(MAX_SHAPES):
        twin = findings.duplicate_of(shape.example)
        others = f", and so have {shape.urls - 1} more pages of the shape {shape.pattern}" if shape.urls > 1 else ""
        message = f"has the same content as {twin}{others}: give the copies a canonical"
        yield SiteWarning(WarningKind.DUPLICATE_PAGES, shape.example, message)


def _redirects(redirects: Iterator[Redirect]) -> Iterator[SiteWarning]:
    onward: dict[str, str] = {}
    for redirect in redirects:
        target, reason = redirect.target, redirect.target_reason
        if redirect.next_target is not None and target is not None and len(onward) < MAX_ONWARD:
            onward[redirect.url] = target
        if target is None:
            yield SiteWarning(WarningKind.BROKEN_REDIRECT, redirect.url, "redirects without a usable address")
        elif reason in _BROKEN:
            yield SiteWarning(WarningKind.BROKEN_REDIRECT, redirect.url, f"redirects to {target} ({reason})")
        elif redirect.page is not None and redirect.status in _PERMANENT and reason == Reason.LISTED:
            message = f"links to {redirect.url}, which redirects to {target}: link to that"
            yield SiteWarning(WarningKind.LINK_TO_REDIRECT, redirect.page, message)
    for url, target in onward.items():
        if _returns(url, onward):
            yield SiteWarning(WarningKind.REDIRECT_LOOP, url, f"redirects to {target}, and so back to itself")
        else:
            yield SiteWarning(
                WarningKind.REDIRECT_CHAIN, url, f"redirects to {target}, which redirects again: name the last address"
            )


def _returns(url: str, onward: dict[str, str]) -> bool:
    """Whether following redirects from `url` leads back to it."""
    met: set[str] = set()
    place = onward.get(url)
    while place is not None and place != url and place not in met and len(met) < MAX_CHAIN:
        met.add(place)
        place = onward.get(place)
    return place == url


class _Words(NamedTuple):
    kind: WarningKind
    messages: Callable[[Note], list[str]]
    listed_only: bool = False
    """Whether it matters for pages in the sitemap only."""


def _texts(note: Note) -> list[str]:
    return note if isinstance(note, list) else [str(note)]


def _conflict(note: Note) -> list[str]:
    return [f"names several canonical URLs, so none counts: {', '.join(_texts(note))}"]


_NOTES = {
    NoteKind.CANONICALS: _Words(WarningKind.CONFLICTING_CANONICALS, _conflict),
    NoteKind.ERROR_PAGE: _Words(
        WarningKind.SOFT_404, lambda note: [f'answers 200 but says "{note}": answer 404 or 410'], True
    ),
    NoteKind.SOFT_404: _Words(WarningKind.SOFT_404, lambda note: [f"answers 200 with {note}: answer 404 or 410"], True),
    NoteKind.BLOCKED_FOR_SEARCH: _Words(
        WarningKind.BLOCKED_FOR_SEARCH, lambda note: [f"is listed, but robots.txt forbids it {note}"], True
    ),
    NoteKind.BLOCKED_RESOURCES: _Words(
        WarningKind.BLOCKED_RESOURCE,
        lambda note: [f"needs {text}: search engines can't render it" for text in _texts(note)],
        True,
    ),
    NoteKind.LONG_BODY: _Words(
        WarningKind.LONG_BODY, lambda note: [f"only its first {note:,} bytes were read (SITEMAP_MAX_BODY)"]
    ),
    NoteKind.DEEP_PAGE: _Words(
        WarningKind.DEEP_PAGE,
        lambda _: [
            "it is nested too deeply to be read to its end, or has a tag of too many attributes: links may be missing"
        ],
    ),
    NoteKind.INCOMPLETE_VIDEO: _Words(WarningKind.INCOMPLETE_VIDEO, _texts),
    NoteKind.INVALID_ALTERNATES: _Words(
        WarningKind.INVALID_ALTERNATE,
        lambda note: [f"names language versions by codes that hreflang does not know: {', '.join(_texts(note))}"],
        True,
    ),
    NoteKind.CONFLICTING_ALTERNATES: _Words(
        WarningKind.CONFLICTING_ALTERNATES,
        lambda note: [f"names several URLs as its version in {', '.join(_texts(note))}, so none counts"],
        True,
    ),
}


FEW_PAGES = 5


def few_pages_hints(
    listed: int,
    excluded: Mapping[str, int],
    notes: Mapping[NoteKind, Note],
    *,
    scope: Scope | DomainScope,
    published: Callable[[str], str],
    examples: Callable[[Reason], list[str]],
) -> list[str]:
    """What kept pages away, one line for each cause, when at most FEW_PAGES are listed.

    `notes` are those of the start page; `published` gives the public address of a URL, `examples` some of the URLs that
    were excluded for a reason.
    """
    if listed > FEW_PAGES:
        return []
    hints: list[str] = []
    if notes.get(NoteKind.SCRIPT_SHELL):
        hints.append(
            "the start page has scripts but hardly any text or links: its content is made by JavaScript "
            "in the browser, which this crawler does not run; serve rendered HTML to crawlers"
        )
    if count := notes.get(NoteKind.NOFOLLOW_LINKS):
        hints.append(f"links of the start page that are rel=nofollow, not followed: {count}")
    if notes.get(NoteKind.NOFOLLOW_PAGE):
        hints.append("the start page says nofollow, so none of its links was followed")
    hints += _elsewhere(scope, examples(Reason.OUT_OF_SCOPE), published)
    for reason, cause in _CAUSES.items():
        if excluded.get(reason):
            hints.append(f"URLs {cause}: {excluded[reason]}, for example {examples(reason)[0]}")
    return hints


_CAUSES = {
    Reason.BLOCKED_BY_ROBOTS: "disallowed by robots.txt",
    Reason.NOINDEX: "marked noindex",
    Reason.CANONICAL_ELSEWHERE: "pages whose canonical is another URL",
    Reason.EXCLUDED_BY_RULE: "excluded by --include or --exclude",
    Reason.LIMIT: "beyond --max-pages or --max-depth",
    Reason.SERVER_ERROR: "answered with server errors",
    Reason.UNREACHABLE: "unreachable",
}


def _elsewhere(scope: Scope | DomainScope, urls: list[str], published: Callable[[str], str]) -> list[str]:
    """Hints on links that lead out of the scope; `urls` are examples of them."""
    hints = []
    same_host = [url for url in urls if url.startswith(f"{scope.origin}/")]
    if same_host:
        hints.append(
            f"links lead out of the scope {scope.prefix}, for example to {same_host[0]}; to list them too, give "
            f"--sitemap-url {origin_of(published(scope.prefix))}/sitemap.xml"
        )
    others = sorted({origin_of(url) for url in urls} - {scope.origin})
    if others:
        shown = ", ".join(others[:3])
        hints.append(f"links lead to other hosts ({shown}); if the site lives there, start from that address")
    return hints
