"""The warnings that the decided inventory shows, and hints why a crawl listed few pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.items import NoteKind
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.warning_kinds import SiteWarning, WarningKind
from sitemap_crawler.report.renderings import missed_words
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sitemap_crawler.inventory.diagnostics import Diagnostics, Redirect
    from sitemap_crawler.items import Note
    from sitemap_crawler.report.url_groups.counter import UrlGroups
    from sitemap_crawler.urls.scope import DomainScope, Scope

MAX_CHAIN = 100
"""Maximum number of redirects that are followed to find a loop."""
MAX_ONWARD = 100_000
"""Maximum number of redirects that are examined for loops and chains."""
MAX_DUPLICATE_GROUPS = 10
"""Maximum number of warnings of duplicate pages, one for each group of URLs."""
_FOLLOW_THEM = "to follow them, add --follow-nofollow"
FEW_PAGES = 5
"""Maximum number of listed pages for which hints are given."""
_PERMANENT = frozenset((200, 301, 308))
"""Statuses of redirects that links should avoid. A redirect with status 200 is a meta refresh or made by a script."""
_BROKEN = frozenset(reason for reason in Reason if reason.traits.is_error)
"""Reasons of a target that make a redirect to it a broken one."""


def review(diagnostics: Diagnostics, groups: UrlGroups) -> Iterator[SiteWarning]:
    """Yield the warnings of the inventory, without those that the decisions have already given.

    `groups` is empty at first. It collects the duplicate pages.
    """
    for url, listed, notes in diagnostics.notes():
        yield from _note_warnings(url, notes, listed=listed)
    for link in diagnostics.broken_links():
        yield SiteWarning(WarningKind.BROKEN_LINK, link.page, f"links to {link.url} ({link.reason}: {link.evidence})")
    yield from _redirect_warnings(diagnostics.redirects())
    for shared in diagnostics.shared_canonicals():
        others = f"as {shared.pages - 1:,} other pages with titles of their own do"
        message = f"names {shared.canonical} as canonical, {others}: none of them is listed"
        yield SiteWarning(WarningKind.SHARED_CANONICAL, shared.page, message)
    yield from _duplicate_warnings(diagnostics, groups)
    for url, reason, evidence, namer in diagnostics.unlistable_in_sitemaps():
        namer = namer.removesuffix(" or list")
        message = f"{namer} names it, and it can't be listed ({reason}: {evidence})"
        yield SiteWarning(WarningKind.SITEMAP_UNLISTABLE, url, message)
    for url, namer in diagnostics.known_from_sitemaps_only():
        yield SiteWarning(WarningKind.SITEMAP_ONLY, url, f"only {namer} names it, no followed link leads to it")


def _note_warnings(url: str, notes: dict[NoteKind, Note], *, listed: bool) -> Iterator[SiteWarning]:
    for kind, note in notes.items():
        rule = _NOTE_RULES.get(kind)
        if rule is None or (rule.listed_only and not listed):
            continue
        # A soft 404 that was confirmed by a probe replaces the suspicion.
        if kind == NoteKind.ERROR_PAGE and NoteKind.SOFT_404 in notes:
            continue
        for message in rule.messages(note):
            yield SiteWarning(rule.kind, url, message)


def _duplicate_warnings(diagnostics: Diagnostics, groups: UrlGroups) -> Iterator[SiteWarning]:
    """Yield one warning for each group of URLs, because one mistake makes thousands of copies."""
    for url in diagnostics.duplicates():
        groups.add(url)
    for group in groups.top(MAX_DUPLICATE_GROUPS):
        message = f"has the same content as {diagnostics.duplicate_of(group.example)}"
        if others := group.urls - 1:
            message += f" (more copies matching {group.pattern}: {others:,})"
        yield SiteWarning(WarningKind.DUPLICATE_PAGES, group.example, f"{message}: give the copies a canonical")


def _redirect_warnings(redirects: Iterator[Redirect]) -> Iterator[SiteWarning]:
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
            message = f"links to {redirect.url}, which redirects to {target}: link to the target"
            yield SiteWarning(WarningKind.LINK_TO_REDIRECT, redirect.page, message)
    for url, target in onward.items():
        if _is_loop(url, onward):
            yield SiteWarning(WarningKind.REDIRECT_LOOP, url, f"redirects to {target}, and from there back to itself")
        else:
            message = f"redirects to {target}, which redirects again: redirect to the last address"
            yield SiteWarning(WarningKind.REDIRECT_CHAIN, url, message)


def _is_loop(url: str, onward: dict[str, str]) -> bool:
    """Return whether the redirects from `url` lead back to it."""
    visited: set[str] = set()
    target = onward.get(url)
    while target is not None and target != url and target not in visited and len(visited) < MAX_CHAIN:
        visited.add(target)
        target = onward.get(target)
    return target == url


class _NoteRule(NamedTuple):
    """The warnings that a note about a page gives."""

    kind: WarningKind
    messages: Callable[[Note], list[str]]
    listed_only: bool = False
    """Whether only notes about listed pages give a warning."""


def _values(note: Note) -> list[str]:
    return note if isinstance(note, list) else [str(note)]


_NOTE_RULES = {
    NoteKind.CANONICALS: _NoteRule(
        WarningKind.CONFLICTING_CANONICALS,
        lambda note: [f"names several canonical URLs, so none counts: {', '.join(_values(note))}"],
    ),
    NoteKind.ERROR_PAGE: _NoteRule(
        WarningKind.SOFT_404, lambda note: [f'answers 200 but says "{note}": answer 404 or 410'], listed_only=True
    ),
    NoteKind.SOFT_404: _NoteRule(
        WarningKind.SOFT_404, lambda note: [f"answers 200 with {note}: answer 404 or 410"], listed_only=True
    ),
    NoteKind.BLOCKED_FOR_SEARCH: _NoteRule(
        WarningKind.BLOCKED_FOR_SEARCH,
        lambda note: [f"is listed, but robots.txt disallows it for {note}"],
        listed_only=True,
    ),
    NoteKind.BLOCKED_RESOURCES: _NoteRule(
        WarningKind.BLOCKED_RESOURCE,
        lambda note: [f"needs {value}: search engines can't render it" for value in _values(note)],
        listed_only=True,
    ),
    NoteKind.ONLY_RENDERED: _NoteRule(
        WarningKind.ONLY_RENDERED,
        lambda note: [f"has {note} only after its scripts have run: other search engines may not see that"],
        listed_only=True,
    ),
    NoteKind.REFUSED_REQUEST: _NoteRule(
        WarningKind.REFUSED_REQUEST,
        lambda note: [f"stays nearly empty, as its scripts ask for {missed_words(note)}"],
        listed_only=True,
    ),
    NoteKind.LONG_BODY: _NoteRule(
        WarningKind.LONG_BODY, lambda note: [f"only its first {note:,} bytes were read (SITEMAP_MAX_BODY)"]
    ),
    NoteKind.MANY_LINKS: _NoteRule(
        WarningKind.MANY_LINKS,
        lambda note: [f"only its first {note:,} links were kept (SITEMAP_MAX_LINKS): pages may be missing"],
    ),
    NoteKind.DEEP_PAGE: _NoteRule(
        WarningKind.DEEP_PAGE,
        lambda _: [
            "was not read to its end, as it is nested too deeply, or it or a tag holds too much: links may be missing"
        ],
    ),
    NoteKind.INCOMPLETE_VIDEO: _NoteRule(WarningKind.INCOMPLETE_VIDEO, _values),
    NoteKind.INVALID_ALTERNATES: _NoteRule(
        WarningKind.INVALID_ALTERNATE,
        lambda note: [f"names language versions by codes that hreflang does not know: {', '.join(_values(note))}"],
        listed_only=True,
    ),
    NoteKind.CONFLICTING_ALTERNATES: _NoteRule(
        WarningKind.CONFLICTING_ALTERNATES,
        lambda note: [f"names several URLs as its version in {', '.join(_values(note))}, so none counts"],
        listed_only=True,
    ),
}


def few_pages_hints(
    listed: int,
    excluded: Mapping[str, int],
    notes: Mapping[NoteKind, Note],
    *,
    scope: Scope | DomainScope,
    to_public: Callable[[str], str],
    examples: Callable[[Reason], list[str]],
    renders: bool = False,
) -> list[str]:
    """Return one line for each cause that kept pages from being listed; [] if more than FEW_PAGES are listed.

    `excluded` counts URLs by reason. `notes` are those of the start page. `to_public` returns the public address of a
    URL, `examples` some URLs that were excluded for a reason. `renders`: a browser renders such pages.
    """
    if listed > FEW_PAGES:
        return []
    hints: list[str] = []
    if notes.get(NoteKind.SCRIPT_SHELL):
        remedy = ", which its rendering has not shown: ask explain why" if renders else "; crawl with --render auto"
        hints.append(
            "the start page has scripts but hardly any text or links: its content is made by JavaScript "
            f"in the browser{remedy}, or serve rendered HTML to crawlers"
        )
    if count := notes.get(NoteKind.NOFOLLOW_LINKS):
        hints.append(f"links of the start page that are rel=nofollow, not followed: {count}; {_FOLLOW_THEM}")
    if notes.get(NoteKind.NOFOLLOW_PAGE):
        hints.append(f"the start page says nofollow, so none of its links was followed; {_FOLLOW_THEM}")
    hints += _out_of_scope_hints(scope, examples(Reason.OUT_OF_SCOPE), to_public)
    for reason in sorted(Reason, key=lambda reason: reason.traits.hint_position):
        if reason.traits.hint is not None and excluded.get(reason):
            hints.append(f"URLs {reason.traits.hint}: {excluded[reason]}, for example {examples(reason)[0]}")
    return hints


def _out_of_scope_hints(scope: Scope | DomainScope, urls: list[str], to_public: Callable[[str], str]) -> list[str]:
    """Return hints on links that lead out of the scope. `urls` are examples of their targets."""
    hints = []
    same_host = [url for url in urls if url.startswith(f"{scope.origin}/")]
    if same_host:
        hints.append(
            f"links lead out of the scope {scope.prefix}, for example to {same_host[0]}; to list them too, give "
            f"--sitemap-url {origin_of(to_public(scope.prefix))}/sitemap.xml"
        )
    others = sorted({origin_of(url) for url in urls} - {scope.origin})
    if others:
        shown = ", ".join(others[:3])
        hints.append(f"links lead to other hosts ({shown}); if the site lives there, start from that address")
    return hints
