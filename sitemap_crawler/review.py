"""What is wrong with a site, in words: warnings made of the decided inventory, the most useful kinds first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.decide import Warned
from sitemap_crawler.rules import Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sitemap_crawler.inventory.findings import Findings, Redirect
    from sitemap_crawler.items import Note

KINDS = (
    "start-adopted",
    "seed-sitemap",
    "soft-404",
    "broken-link",
    "broken-redirect",
    "redirect-loop",
    "broken-canonical",
    "conflicting-canonicals",
    "blocked-canonical",
    "canonical-chain",
    "redirect-chain",
    "duplicate-pages",
    "blocked-resource",
    "link-to-redirect",
    "one-way-canonical",
    "sitemap-only",
    "long-body",
    "deep-page",
    "incomplete-video",
    "entry-too-large",
)
"""In the order in which a person wants to know."""
MAX_CHAIN = 100
"""Redirects that are followed to see whether they form a loop."""
_BROKEN = frozenset((Reason.CLIENT_ERROR, Reason.SERVER_ERROR, Reason.UNREACHABLE))


def review(findings: Findings) -> Iterator[Warned]:
    """All that the inventory shows; what `decide` has met on its way is not repeated."""
    for url, notes in findings.notes():
        for kind, note in notes.items():
            if kind == "error-page" and "soft-404" in notes:
                continue
            if words := _NOTES.get(kind):
                yield from (Warned(words.kind, url, message) for message in words.messages(note))
    for link in findings.broken_links():
        yield Warned("broken-link", link.page, f"links to {link.url} ({link.reason}: {link.evidence})")
    yield from _redirects(findings.redirects())
    for count, copies in findings.identical_pages():
        others = ", ".join(copies[1:])
        more = f" and {count - len(copies)} more" if count > len(copies) else ""
        yield Warned(
            "duplicate-pages", copies[0], f"has the same bytes as {others}{more}: give all but one a canonical"
        )
    for url in findings.known_from_sitemaps_only():
        yield Warned("sitemap-only", url, "only a sitemap names it, no page links to it")


def _redirects(redirects: Iterator[Redirect]) -> Iterator[Warned]:
    onward: dict[str, str] = {}
    for redirect in redirects:
        if redirect.next_target is not None:
            onward[redirect.url] = redirect.target
        if redirect.target_reason in _BROKEN:
            yield Warned("broken-redirect", redirect.url, f"redirects to {redirect.target} ({redirect.target_reason})")
        if redirect.page is not None:
            message = f"links to {redirect.url}, which redirects to {redirect.target}: link to that"
            yield Warned("link-to-redirect", redirect.page, message)
    for url, target in onward.items():
        if _returns(url, onward):
            yield Warned("redirect-loop", url, f"redirects to {target}, and so back to itself")
        else:
            yield Warned("redirect-chain", url, f"redirects to {target}, which redirects again: name the last address")


def _returns(url: str, onward: dict[str, str]) -> bool:
    """Whether following redirects from `url` leads back to it."""
    met: set[str] = set()
    place = onward.get(url)
    while place is not None and place != url and place not in met and len(met) < MAX_CHAIN:
        met.add(place)
        place = onward.get(place)
    return place == url


class _Words(NamedTuple):
    kind: str
    messages: Callable[[Note], list[str]]


def _texts(note: Note) -> list[str]:
    return note if isinstance(note, list) else [str(note)]


_NOTES = {
    "canonicals": _Words(
        "conflicting-canonicals",
        lambda note: [f"names several canonical URLs, so none counts: {', '.join(_texts(note))}"],
    ),
    "error-page": _Words("soft-404", lambda note: [f'answers 200 but says "{note}": answer 404 or 410']),
    "soft-404": _Words("soft-404", lambda note: [f"answers 200 with {note}: answer 404 or 410"]),
    "long-body": _Words("long-body", lambda note: [f"only its first {note:,} bytes were read (SITEMAP_MAX_BODY)"]),
    "deep-page": _Words("deep-page", lambda _: ["it is nested too deeply to be read to its end: links may be missing"]),
    "incomplete-video": _Words("incomplete-video", _texts),
    "blocked-resources": _Words(
        "blocked-resource", lambda note: [f"needs {text}: search engines can't render it" for text in _texts(note)]
    ),
}
