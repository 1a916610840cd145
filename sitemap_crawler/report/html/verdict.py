"""The verdict of the report in words: how the latest run ended, what the sitemap has, and what is newly wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.inventory.runs import DECIDED, ENDED_AT_LIMIT, ENDED_BY_REPEATS
from sitemap_crawler.policy.reasons import Reason, Severity
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.report.html.decision_groups import Group
from sitemap_crawler.report.report import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sitemap_crawler.report.html.decision_groups import Counts
    from sitemap_crawler.report.html.history import Leaving

MIN_SHARED = 20
"""Number of leaving pages from which on their share of the sitemap is shown."""
MAX_ALARMS = 3
"""Maximum number of alarms about pages that leave the sitemap. The others are in the list of changes."""
MAX_NEW_KINDS = 3
"""Maximum number of alarms about new kinds of warnings. The others are in the list of what is to do."""
MIN_PERCENT_LEFT = 10
"""Percentage of the sitemap from which on pages that leave it for an ordinary reason are an alarm."""


class Ending(NamedTuple):
    """How the latest run ended."""

    outcome: Outcome | None
    """None while the run is open."""
    ended_by: str | None
    message: str
    """One line of the program: what happened and, after a failure, what to do. Empty if it is not known."""

    @property
    def has_published(self) -> bool:
        return self.outcome in (Outcome.PUBLISHED, Outcome.UNCHANGED)

    @property
    def has_judged(self) -> bool:
        """Whether the run has judged its pages: a run does so at its end."""
        if self.outcome == Outcome.REFUSED:
            return self.ended_by in DECIDED
        return self.has_published or self.outcome == Outcome.DRY_RUN


class Verdict(NamedTuple):
    """The first lines of the report."""

    sign: str
    """`good`, `caution`, `bad` or `busy`: colour and picture. The label says the same in words."""
    label: str
    heading: str
    sentences: list[str]


class Alarm(NamedTuple):
    """A line about something newly wrong."""

    sign: str
    """`bad` or `caution`."""
    strong: str
    text: str
    urls: list[str]
    more: int
    """Number of further URLs."""
    reason: str | None
    """Reason of all of them; None if the line is about warnings."""


def pages(count: int) -> str:
    return f"{count:,} page" + ("" if count == 1 else "s")


def verdict_of(ending: Ending, counts: Counts, *, live: int, run: int) -> Verdict:
    """Return the verdict. `counts` are those of the URLs in scope, `live` is the number of live pages."""
    listed = counts[Group.LISTED] + counts[Group.AT_RISK]
    live_now = _live_now(live)
    match ending.outcome:
        case Outcome.PUBLISHED | Outcome.UNCHANGED if not live and not listed:
            # A host of a domain whose other hosts have pages.
            heading = "There is no sitemap, as no page can be listed"
            return Verdict("caution", "Nothing to publish", heading, [_division(counts)])
        case Outcome.PUBLISHED | Outcome.UNCHANGED:
            sentences = [_division(counts)]
            label = "Published" if ending.outcome == Outcome.PUBLISHED else "Nothing has changed"
            if ending.ended_by == ENDED_AT_LIMIT:
                label += ", up to a limit"
                sentences.append("A limit ended the run before it saw the whole site.")
            elif ending.ended_by == ENDED_BY_REPEATS:
                sentences.append("The run ended when its pages only repeated others, and left the other URLs out.")
            if listed != live:
                sentences.append(f"By the decisions of this run it would have {pages(listed)}.")
            sign = "good" if live and ending.ended_by != ENDED_AT_LIMIT else "caution"
            return Verdict(sign, label, f"The sitemap is live with {pages(live)}", sentences)
        case Outcome.DRY_RUN:
            heading = f"The sitemap would have {pages(listed)}"
            return Verdict("good", "Dry run, nothing published", heading, [live_now, _division(counts)])
        case Outcome.REFUSED:
            heading = f"The live sitemap stays as it is, with {pages(live)}" if live else "Nothing was published"
            would = f"By the decisions of this run the sitemap would have {pages(listed)}."
            return Verdict("bad", "Refused", heading, [_sentence(ending.message), would, _division(counts)])
        case Outcome.FAILED | Outcome.USAGE_ERROR:
            return Verdict("bad", "Failed", f"Run {run} has failed", [_sentence(ending.message), live_now])
        case Outcome.INTERRUPTED | Outcome.HELPED:
            message = ending.message or "interrupted; run the same command to continue"
            return Verdict("busy", "Interrupted", f"Run {run} is not finished", [_sentence(message), live_now])
        case None:
            sentences = ["The numbers below are those of now.", live_now]
            return Verdict("busy", "Not finished", f"Run {run} is under way, or was interrupted", sentences)


def verdict_of_unstarted(message: str, moment: datetime, *, live: int, run: int) -> Verdict:
    """Return the verdict on a crawl that could not begin after the run `run`."""
    when = f"That was on {moment:%Y-%m-%d at %H:%M} UTC. All that follows is what run {run} found."
    return Verdict("bad", "Failed", "The latest crawl could not begin", [_sentence(message), _live_now(live), when])


def _live_now(live: int) -> str:
    return f"The live sitemap has {pages(live)}." if live else "There is no live sitemap yet."


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:].rstrip(".") + "." if message else ""


def _division(counts: Counts) -> str:
    """Return how the URLs in scope are divided."""
    total, listed = sum(counts), counts[Group.LISTED] + counts[Group.AT_RISK]
    if not total:
        return "No URL of its scope is known."
    if listed == total:
        return "The only URL in its scope is listed." if total == 1 else f"All {total:,} URLs in its scope are listed."
    broken, asked, course = counts[Group.BROKEN], counts[Group.ASKED], counts[Group.OF_COURSE]
    parts = []
    if broken:
        parts.append(f"{broken:,} {'is' if broken == 1 else 'are'} broken")
    if asked:
        parts.append(f"{asked:,} {'stays' if asked == 1 else 'stay'} out by a rule or a limit")
    if course:
        parts.append(f"{course:,} as a matter of course, such as redirects")
        if not asked:
            parts[-1] = parts[-1].replace(" as a", f" {'stays' if course == 1 else 'stay'} out as a", 1)
    if counts[Group.OPEN]:
        parts.append(f"{counts[Group.OPEN]:,} {'is' if counts[Group.OPEN] == 1 else 'are'} not decided yet")
    left = total - listed
    verb = "is" if left == 1 else "are"
    return f"Of the {total:,} URLs in its scope {left:,} {verb} not listed: {', '.join(parts)}."


_WHY_LEFT = {
    Reason.NOINDEX: ("bad", "now say noindex", "If nobody meant that, undo it before search engines drop them:"),
    Reason.BLOCKED_BY_ROBOTS: (
        "bad", "are now forbidden by robots.txt", "If nobody meant that, undo it before search engines drop them:",
    ),
    Reason.CLIENT_ERROR: ("bad", "now answer with an error", "If they have moved, redirect the old addresses:"),
    Reason.SERVER_ERROR: ("bad", "fail at the server", "The server failed for too many runs:"),
    Reason.UNREACHABLE: ("bad", "do not answer any more", "They failed for too many runs:"),
    Reason.CANONICAL_ELSEWHERE: ("caution", "now name another page as canonical", "Check whether that is meant:"),
    Reason.EXCLUDED_BY_RULE: ("caution", "are now excluded by your rules", "Check whether that is meant:"),
    Reason.NOT_A_PAGE: ("caution", "are no HTML pages any more", "Check whether that is meant:"),
    Reason.ORPHAN: ("caution", "are not linked from any page any more", "Link to them, or remove them:"),
    Reason.LIMIT: ("caution", "are now beyond a limit", "Check --max-pages, --max-depth and the traps:"),
    Reason.OUT_OF_SCOPE: ("caution", "are now outside the scope", "Check the start URL and --sitemap-url:"),
}  # fmt: skip
"""Sign, verb and advice by the reason for which pages leave the sitemap."""
_WHY_MANY_LEFT = {
    Reason.REDIRECT: ("caution", "now redirect", "Check that none leads to a login or to the home page instead:"),
    Reason.DUPLICATE_PARAMETERS: (
        "caution", "now show the same as other pages", "Check that none shows an error with status 200:",
    ),
}  # fmt: skip
"""The same for reasons that are a matter of course for a few pages, and an alarm for many."""


def alarms_of(leaving: Sequence[Leaving], *, published: bool, live: int, kept: int, keep_runs: int) -> list[Alarm]:
    """Return what is newly wrong: pages that leave the sitemap, the worst and largest groups first, and pages at risk.

    `live` is the number of pages of the live sitemap.
    """
    left = "left the sitemap in this run" if published else "would leave the live sitemap"
    alarms: list[Alarm] = []
    for group in leaving:
        share = round(100 * group.total / (live + group.total * published))
        is_large = group.total >= MIN_SHARED and share >= MIN_PERCENT_LEFT
        alarming = _WHY_LEFT | _WHY_MANY_LEFT if is_large else _WHY_LEFT
        known = alarming.get(group.reason)  # type: ignore[call-overload]
        if known is None:
            continue
        sign, verb, advice = known
        verb = f"it {_singular(verb)}" if group.total == 1 else f"they {verb}"
        of_all = f" ({share} %)" if group.total >= MIN_SHARED and share else ""
        strong = f"{pages(group.total)}{of_all} {left}: {verb}."
        alarms.append(Alarm(sign, strong, advice, group.urls, group.total - len(group.urls), str(group.reason)))
    alarms = sorted(alarms, key=lambda alarm: alarm.sign != "bad")[:MAX_ALARMS]
    if kept:
        stay, its, go = ("stays", "its", "It goes") if kept == 1 else ("stay", "their", "They go")
        strong = f"{pages(kept)} {stay} listed although {its} server fails."
        text = f"{go} after {keep_runs} finished runs without a good answer."
        alarms.append(Alarm("caution", strong, text, [], 0, str(Reason.KEPT_AFTER_ERROR)))
    return alarms


def alarms_of_new_kinds(counts: Mapping[str, int], before: Mapping[str, int]) -> list[Alarm]:
    """Return the severe kinds of warnings that this run has and the run before had not.

    Both mappings have the number of warnings by kind.
    """
    new = [kind for kind in WarningKind if counts.get(kind) and not before.get(kind)]
    severe = [kind for kind in new if kind.traits.severity == Severity.HIGH]
    return [
        Alarm(
            "caution",
            f"{kind.traits.title}: {counts[kind]:,}, none in the run before.",
            kind.traits.remedy,
            urls=[],
            more=0,
            reason=None,
        )
        for kind in severe[:MAX_NEW_KINDS]
    ]


def _singular(verb: str) -> str:
    """Return the verb for one page."""
    for plural, singular in (
        ("now say ", "now says "), ("are ", "is "), ("now answer", "now answers"), ("fail ", "fails "),
        ("do not", "does not"), ("now name", "now names"), ("HTML pages", "HTML page"), ("is no ", "is no "),
    ):  # fmt: skip
        verb = verb.replace(plural, singular, 1)
    return verb
