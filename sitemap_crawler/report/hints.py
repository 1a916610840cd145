"""Why a crawl found few pages: the question that users of every crawler ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.policy.rules import Reason
from sitemap_crawler.urls.normalise import origin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sitemap_crawler.items import Note
    from sitemap_crawler.urls.scope import DomainScope, Scope

FEW_PAGES = 5


def few_pages_hints(
    listed: int,
    excluded: Mapping[str, int],
    notes: Mapping[str, Note],
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
    if notes.get("script-shell"):
        hints.append(
            "the start page has scripts but hardly any text or links: its content is made by JavaScript "
            "in the browser, which this crawler does not run; serve rendered HTML to crawlers"
        )
    if count := notes.get("nofollow-links"):
        hints.append(f"links of the start page that are rel=nofollow, not followed: {count}")
    if notes.get("nofollow-page"):
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
