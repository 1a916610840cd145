"""Guards: problems for which a finished run is not published. Pure functions of the results of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitemap_crawler.policy.decide import failure
from sitemap_crawler.policy.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitemap_crawler.config.options import Options
    from sitemap_crawler.policy.decide import Decider, Facts

SHRINK_BASELINE = 20
"""Minimum number of published pages for which the shrink guard applies."""
MAX_REDIRECTS = 10
"""Maximum number of redirects of the start page that are followed."""

_REMEDIES_BY_STATUS = {
    401: "it asks for a login: give --auth USER:PASSWORD that it accepts, or --header 'Authorization: ...'",
    403: "access is forbidden: check the address, and which --auth, --header or --user-agent the server requires",
    407: "the proxy asks for a login: give it in the variable, as in http_proxy=http://USER:PASSWORD@HOST:PORT",
}
"""Remedies for status codes of client errors whose cause is not the address."""


def start_page_problem(start_url: str, *, find: Callable[[str], Facts | None], decider: Decider) -> str | None:
    """Return why the start page, or the page that it redirects to within the scope, is not usable; None if it is."""
    url = start_url
    for _ in range(MAX_REDIRECTS):
        facts = find(url)
        if facts is None:
            return f"the start page {url} was not fetched: run the same command again"
        refusal = failure(facts) if facts.failed else decider.refusal(facts)
        if refusal is not None and refusal.reason is Reason.OUT_OF_SCOPE and url != start_url:
            return f"the start page {start_url} redirects to {url}: start from that address"
        remedy = refusal.reason.traits.start_page_remedy if refusal is not None else None
        if refusal is None or remedy is None:
            return None
        target = facts.location or facts.refresh
        if refusal.reason is not Reason.REDIRECT or target is None or target == url:
            advice = _REMEDIES_BY_STATUS.get(facts.status or 0, remedy)
            return f"the start page {url} is not usable ({refusal.evidence}): {advice}"
        url = target
    redirect = Reason.REDIRECT.traits
    return f"the start page {start_url} is not usable (it redirects again and again): {redirect.start_page_remedy}"


def publish_problem(options: Options, *, listed: int, published: int) -> str | None:
    """Return why a sitemap of `listed` pages may not replace one of `published` pages; None if it may."""
    if listed == 0:
        return "no page can be listed, nothing is published: the summary and the report say why"
    lost = published - listed
    if options.allow_shrink or published < SHRINK_BASELINE or lost <= options.max_shrink * published:
        return None
    return (
        f"the sitemap would shrink from {published} to {listed} pages, more than {options.max_shrink:.0%}: "
        "if that is right, run again with --allow-shrink"
    )
