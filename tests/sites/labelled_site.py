"""A hard site: every URL that it can lead a crawler to, labelled by hand with the decision that the rules demand.

    /site/                     the start page and the scope; links to one hub per group
    /site/<group>/             the hub: one link per case, written as `Case.hrefs` says
    /robots.txt                rules for two groups, and a sitemap index of pages that nothing links to
    THERE                      a second server, which nobody may ask

In texts `@HERE` and `@THERE` stand for host and port of the two servers, `@PORT` for the port of the first, `@FILL2047`
for as many letters as make a URL of /site/long/, with one letter before them, 2,047 characters long.
"""

from __future__ import annotations

import gzip
import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.webserver import Answer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.webserver import Page

START = "/site/"
MAX_DEPTH = 6
OPTIONS = (
    *("--max-depth", str(MAX_DEPTH)),
    *("--exclude", "/ex/never", "--exclude", "replytocom="),
    *("--exclude-listing", "/ex/tag/"),
    *("-s", "RETRY_TIMES=0"),
)

NO_ROW = "no row"
NEVER_FETCHED = frozenset({"blocked-by-robots", "out-of-scope", "excluded-by-rule", "limit", NO_ROW})
MAY_BE_ASKED_AGAIN = frozenset({"server-error", "unreachable"})

HTML = "text/html; charset=utf-8"
NOINDEX = '<meta name="robots" content="noindex">'


@dataclass(frozen=True, slots=True)
class Case:
    group: str
    label: str
    url: str  # a path of the site, or an absolute URL
    reason: str
    hrefs: tuple[str, ...]  # as markup, on the group's hub
    answer: Answer
    evidence: str
    fetched: bool | None  # None: the rules leave it open
    warns: tuple[str, ...] | None  # what a warning for this URL must name, paths below the group's directory

    @property
    def name(self) -> str:
        return f"{self.group}: {self.label}"

    @property
    def decision(self) -> str:
        return "listed" if self.reason == "listed" else "excluded"


@dataclass(frozen=True, slots=True)
class Label:
    """A case before its group is known; a `path` without a leading slash is below the group's directory."""

    text: str
    path: str
    reason: str
    answer: Answer
    hrefs: tuple[str, ...] | None
    evidence: str
    fetched: bool | None
    warns: tuple[str, ...] | None

    def within(self, group: str) -> Case:
        directory = f"{START}{group}/"
        url = self.path if self.path.startswith(("/", "http")) else directory + self.path
        hrefs = (html.escape(url),) if self.hrefs is None else self.hrefs
        warns = self.warns and tuple(path if path.startswith("/") else directory + path for path in self.warns)
        return Case(group, self.text, url, self.reason, hrefs, self.answer, self.evidence, self.fetched, warns)


def case(
    text: str,
    path: str,
    reason: str = "listed",
    *,
    head: str = "",
    body: str = "",
    links: tuple[str, ...] = (),
    raw: str | bytes | None = None,
    status: int = 200,
    headers: tuple[tuple[str, str], ...] = (),
    content_type: str | None = HTML,
    drop: bool = False,
    hrefs: tuple[str, ...] | None = None,
    evidence: str = "",
    fetched: bool | None = None,
    warns: tuple[str, ...] | None = None,
) -> Label:
    """Unless something else is said, the server answers an HTML page of its own, and the hub links to it."""
    payload = page(*links, title=f"Page {path}", head=head, body=body) if raw is None else raw
    answer = Answer(payload, status=status, headers=headers, content_type=content_type, drop=drop)
    if fetched is None and reason != "too-long":
        fetched = reason not in NEVER_FETCHED
    return Label(text, path, reason, answer, hrefs, evidence, fetched, warns)


def found(
    text: str,
    path: str,
    reason: str = "listed",
    *,
    head: str = "",
    status: int = 200,
    warns: tuple[str, ...] | None = None,
) -> Label:
    """What the hub does not link to: another case leads there."""
    return case(text, path, reason, head=head, status=status, hrefs=(), warns=warns)


def robots(content: str, name: str = "robots") -> str:
    return f'<meta name="{name}" content="{content}">'


def canonical(href: str) -> str:
    return f'<link rel="canonical" href="{href}">'


def refresh(content: str) -> str:
    return f'<meta http-equiv="refresh" content="{content}">'


def robots_tag(*values: str) -> tuple[tuple[str, str], ...]:
    return tuple(("X-Robots-Tag", value) for value in values)


def link(value: str) -> tuple[tuple[str, str], ...]:
    return (("Link", value),)


def moved(text: str, path: str, location: str | None, *, status: int = 301, evidence: str = "") -> Label:
    headers = () if location is None else (("Location", location),)
    return case(text, path, "redirect", status=status, headers=headers, evidence=evidence)


META = [
    case("noindex", "plain", "noindex", head=NOINDEX, evidence="noindex"),
    case("upper case", "upper", "noindex", head='<META NAME="ROBOTS" CONTENT="NOINDEX">'),
    case("mixed case", "mixed", "noindex", head=robots("NoIndex", "Robots")),
    case("unquoted attributes", "unquoted", "noindex", head="<meta name=robots content=noindex>"),
    case("content before name", "swapped", "noindex", head='<meta content="noindex" name="robots">'),
    case("a character reference in the value", "reference", "noindex", head=robots("no&#105;ndex")),
    case("googlebot", "googlebot", "noindex", head=robots("noindex", "googlebot")),
    case("bingbot", "bingbot", "noindex", head=robots("noindex", "BingBot")),
    case("a bot that is not ours to obey", "otherbot", head=robots("noindex", "otherbot")),
    case("googlebot-news is another bot", "googlebot-news", head=robots("noindex", "googlebot-news")),
    case("two tags, the second restricts", "two-tags", "noindex", head=robots("index") + NOINDEX),
    case("two tags, the first restricts", "two-tags-2", "noindex", head=NOINDEX + robots("index, follow")),
    case("robots all, googlebot noindex", "all-but", "noindex", head=robots("all") + robots("noindex", "googlebot")),
    case("index and noindex in one tag", "both", "noindex", head=robots("index, noindex")),
    case("spaces around", "spaces", "noindex", head=robots("  noindex  ,  follow ")),
    case("spaces in the name", "name-spaces", "noindex", head=robots("noindex", " robots ")),
    case("newline and tab", "newline", "noindex", head=robots("follow,\n\tnoindex")),
    case("no space after the comma", "tight", "noindex", head=robots("follow,noindex")),
    case("no comma", "no-comma", "noindex", head=robots("noindex nofollow")),
    case("none", "none", "noindex", head=robots("none"), evidence="none", links=("/site/meta/behind-none",)),
    found("none is also nofollow", "behind-none", NO_ROW),
    case("all", "all", head=robots("all")),
    case("empty content", "empty", head=robots("")),
    case("no content", "contentless", head='<meta name="robots">'),
    case("property is not name", "property", head='<meta property="robots" content="noindex">'),
    case("in the body", "in-body", "noindex", body=NOINDEX),
    case("far down a long page", "far", "noindex", body="<p>Words, words, words.</p>" * 20_000 + NOINDEX),
    # HTML, "the after after body insertion mode": what follows </html> still belongs to the body.
    case("behind the end tag of the page", "behind-end", "noindex", raw=page(title="End") + NOINDEX),
    case("in a comment", "comment", head=f"<!-- {NOINDEX} -->"),
    case("in a string of a script", "script", head=f"<script>var tag = '{NOINDEX}';</script>"),
    case("in noscript: it counts wherever it stands", "noscript", "noindex", head=f"<noscript>{NOINDEX}</noscript>"),
    case("in the text of a form field", "textarea", body=f"<textarea>{NOINDEX}</textarea>"),
    case("as visible text", "visible", body=html.escape(NOINDEX)),
    case("a word that only contains it", "noindexed", head=robots("noindexed, xnoindex, nofollowing")),
    case("no directive at all", "snippet", head=robots("max-snippet:0, max-video-preview:0")),
    case("none as a value", "preview", head=robots("max-image-preview:none")),
    case("the other no-words", "noarchive", head=robots("noarchive, nosnippet, noimageindex, notranslate, nocache")),
    case("unavailable since, RFC 822", "gone-822", "noindex", head=robots("unavailable_after: 25 Jun 10 15:00:00 PST")),
    case(
        "unavailable since, RFC 822 with day and zone",
        "gone-822-day",
        "noindex",
        head=robots("unavailable_after: Fri, 25 Jun 2010 15:00:00 +0200"),
        evidence="unavailable_after",
    ),
    case(
        "unavailable since, RFC 850",
        "gone-850",
        "noindex",
        head=robots("unavailable_after: Friday, 25-Jun-10 15:00:00 GMT"),
    ),
    case(
        "unavailable since, RFC 850 with a long year",
        "gone-850-long",
        "noindex",
        head=robots("unavailable_after: 25-Aug-2007 15:00:00 EST", "googlebot"),
    ),
    case("unavailable since, ISO date", "gone-iso", "noindex", head=robots("unavailable_after: 2010-06-25")),
    case(
        "unavailable since, ISO time; its links are followed",
        "gone-iso-time",
        "noindex",
        head=robots("noarchive, UNAVAILABLE_AFTER:2010-06-25T15:00:00+02:00, nosnippet"),
        links=("/site/meta/behind-gone",),
    ),
    found("behind unavailable", "behind-gone"),
    case("unavailable later, RFC 822", "later-822", head=robots("unavailable_after: 25 Jun 2999 15:00:00 GMT")),
    case("unavailable later, RFC 850", "later-850", head=robots("unavailable_after: 25-Jun-2999 15:00:00 GMT")),
    case("unavailable later, ISO date", "later-iso", head=robots("unavailable_after: 2999-06-25")),
    case("unavailable later, ISO time", "later-iso-time", head=robots("unavailable_after: 2999-06-25T15:00:00Z")),
    case("unavailable for another bot", "gone-other", head=robots("unavailable_after: 2010-06-25", "otherbot")),
    case("no date at all", "bad-date", head=robots("unavailable_after: soon, perhaps")),
    case("noindex, follow", "follow", "noindex", head=robots("noindex,follow"), links=("/site/meta/behind-follow",)),
    found("behind noindex, follow", "behind-follow"),
    case("noindex alone follows", "alone", "noindex", head=NOINDEX, links=("/site/meta/behind-alone",)),
    found("behind noindex alone", "behind-alone"),
    case("both", "nothing", "noindex", head=robots("noindex, nofollow"), links=("/site/meta/behind-nothing",)),
    found("behind noindex, nofollow", "behind-nothing", NO_ROW),
    case("nofollow is listed", "nofollow", head=robots("nofollow"), links=("/site/meta/behind-nofollow",)),
    found("behind nofollow", "behind-nofollow", NO_ROW),
    case(
        "nofollow for googlebot",
        "nofollow-google",
        head=robots("nofollow", "googlebot"),
        links=("/site/meta/behind-google",),
    ),
    found("behind nofollow for googlebot", "behind-google", NO_ROW),
    case(
        "nofollow in the body, for bingbot",
        "nofollow-bing",
        body=robots("NOFOLLOW", "bingbot"),
        links=("/site/meta/behind-bing",),
    ),
    found("behind nofollow for bingbot", "behind-bing", NO_ROW),
    case(
        "nofollow for another bot",
        "nofollow-other",
        head=robots("nofollow", "otherbot"),
        links=("/site/meta/behind-other",),
    ),
    found("behind nofollow for another bot", "behind-other"),
]

HEADER = [
    case("noindex", "plain", "noindex", headers=robots_tag("noindex"), evidence="noindex"),
    case("upper case", "upper", "noindex", headers=(("X-ROBOTS-TAG", "NOINDEX"),)),
    case("lower case name", "lower", "noindex", headers=(("x-robots-tag", "noindex"),)),
    case("several headers, the last restricts", "several", "noindex", headers=robots_tag("noarchive", "noindex")),
    case("several headers, the first restricts", "several-2", "noindex", headers=robots_tag("noindex", "noarchive")),
    case("a list", "list", "noindex", headers=robots_tag("noarchive , noindex,nosnippet")),
    case("none", "none", "noindex", headers=robots_tag("none"), links=("/site/xrt/behind-none",)),
    found("behind none", "behind-none", NO_ROW),
    case("all", "all", headers=robots_tag("all")),
    case("empty", "empty", headers=robots_tag("")),
    case("googlebot", "googlebot", "noindex", headers=robots_tag("googlebot: noindex")),
    case("bingbot, no space, mixed case", "bingbot", "noindex", headers=robots_tag("BingBot:NoIndex")),
    case("another bot", "otherbot", headers=robots_tag("otherbot: noindex")),
    case("another bot, two directives", "otherbot-2", headers=robots_tag("otherbot: noarchive, noindex")),
    case(
        "googlebot noindex, another nofollow",
        "mixed",
        "noindex",
        headers=robots_tag("googlebot: noindex, otherbot: nofollow"),
        links=("/site/xrt/behind-mixed",),
    ),
    found("behind another bot's nofollow", "behind-mixed"),
    case(
        "another noindex, googlebot nofollow",
        "mixed-2",
        headers=robots_tag("otherbot: noindex, googlebot: nofollow"),
        links=("/site/xrt/behind-mixed-2",),
    ),
    found("behind googlebot's nofollow", "behind-mixed-2", NO_ROW),
    case(
        "a bot's header does not scope the next header",
        "apart",
        "noindex",
        headers=robots_tag("otherbot: nofollow", "noindex"),
    ),
    case("nofollow", "nofollow", headers=robots_tag("nofollow"), links=("/site/xrt/behind-nofollow",)),
    found("behind nofollow", "behind-nofollow", NO_ROW),
    case(
        "unavailable since, with the date's comma",
        "gone",
        "noindex",
        headers=robots_tag("unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT"),
        evidence="unavailable_after",
    ),
    case(
        "unavailable since, in a list",
        "gone-list",
        "noindex",
        headers=robots_tag("noarchive, unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, nosnippet"),
    ),
    case(
        "unavailable since, for googlebot",
        "gone-google",
        "noindex",
        headers=robots_tag("googlebot: unavailable_after: 25 Jun 2010 15:00:00 PST"),
    ),
    case(
        "unavailable since, for another bot",
        "gone-other",
        headers=robots_tag("otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST"),
    ),
    case("unavailable later", "later", headers=robots_tag("unavailable_after: Tue, 25 Jun 2999 15:00:00 GMT")),
    case("unavailable later, ISO", "later-iso", headers=robots_tag("unavailable_after: 2999-06-25T15:00:00+00:00")),
    case(
        "a date, then noindex",
        "date-then",
        "noindex",
        headers=robots_tag("unavailable_after: Tue, 25 Jun 2999 15:00:00 GMT, noindex"),
    ),
    case("none as a value", "preview", headers=robots_tag("max-image-preview: none")),
    case("max-snippet", "snippet", headers=robots_tag("max-snippet: 0, max-video-preview:-1")),
    case("header all, tag noindex", "tag-wins", "noindex", headers=robots_tag("all"), head=NOINDEX),
    case("header noindex, tag index", "header-wins", "noindex", headers=robots_tag("noindex"), head=robots("index")),
]

REL = [
    case("nofollow", "nofollow", NO_ROW, hrefs=()),
    case("a list with nofollow", "list", NO_ROW, hrefs=()),
    case("upper case", "upper", NO_ROW, hrefs=()),
    case("separated by a comma", "comma", NO_ROW, hrefs=()),
    case("nofollow on an area", "area", NO_ROW, hrefs=()),
    case("nofollow to another host", "http://elsewhere.example/nofollow", NO_ROW, hrefs=()),
    case("ugc is followed", "ugc", hrefs=()),
    case("sponsored is followed", "sponsored", hrefs=()),
    case("a word that contains nofollow", "nofollowed", hrefs=()),
    case("no word at all", "empty", hrefs=()),
    case("nofollow first, then follow", "first", hrefs=()),
    case("follow first, then nofollow", "last", hrefs=()),
    case("nofollow here, followed elsewhere", "elsewhere", hrefs=()),
    case(
        "the links",
        "links",
        body="""
            <a rel="nofollow" href="nofollow">1</a> <a rel="external nofollow" href="list">2</a>
            <a rel="NOFOLLOW" href="upper">3</a> <a rel="noopener,nofollow" href="comma">4</a>
            <map name="m"><area rel="nofollow" href="area"></map>
            <a rel="nofollow" href="http://elsewhere.example/nofollow">5</a>
            <a rel="ugc" href="ugc">6</a> <a rel="sponsored noopener" href="sponsored">7</a>
            <a rel="nofollowed" href="nofollowed">8</a> <a rel="" href="empty">9</a>
            <a rel="nofollow" href="first">10</a> <a href="first">11</a>
            <a href="last">12</a> <a rel="nofollow" href="last">13</a>
            <a rel="nofollow" href="elsewhere">14</a>""",
    ),
    case("the links, later", "links-later", body='<a href="elsewhere">15</a>'),
]

CANONICAL = [
    case("itself, absolute", "self-absolute", head=canonical("http://@HERE/site/can/self-absolute")),
    case("itself, path", "self-path", head=canonical("/site/can/self-path")),
    case("itself, relative", "self-relative", head=canonical("self-relative")),
    case("itself, by base", "self-base", head='<base href="/site/">' + canonical("can/self-base")),
    case("itself, without scheme", "self-scheme", head=canonical("//@HERE/site/can/self-scheme")),
    case("itself, fragment", "self-fragment", head=canonical("self-fragment#top")),
    case("itself, tracking", "self-tracking", head=canonical("self-tracking?utm_source=feed&amp;gclid=1")),
    case("itself, white space", "self-space", head=canonical("\n /site/can/self-space ")),
    case("itself, hex digits in lower case", "self-%E6%97%A5", head=canonical("/site/can/self-%e6%97%a5")),
    case("itself, without escapes", "self-%E6%9C%AC", head=canonical("/site/can/self-本")),
    case("itself, needless escapes", "self-escapes", head=canonical("/site/can/%73elf%2descapes")),
    case("itself, dot segments", "self-dots", head=canonical("/site/x/../can/./self-dots")),
    case("itself by header", "self-header", headers=link("</site/can/self-header>; rel=canonical")),
    case("absolute", "absolute", "canonical-elsewhere", head=canonical("http://@HERE/site/can/t1"), evidence="can/t1"),
    found("known by a canonical only", "t1"),
    case("relative", "relative", "canonical-elsewhere", head=canonical("t2"), evidence="/site/can/t2"),
    found("another known by a canonical only", "t2"),
    case("base", "base", "canonical-elsewhere", head='<base href="/site/can/sub/">' + canonical("t3")),
    found("resolved against base", "sub/t3"),
    case("without scheme", "no-scheme", "canonical-elsewhere", head=canonical("//@HERE/site/can/t1")),
    case("with fragment", "fragment", "canonical-elsewhere", head=canonical("/site/can/t1#part")),
    case("with tracking", "tracking", "canonical-elsewhere", head=canonical("/site/can/t1?utm_campaign=x")),
    case("upper case", "upper", "canonical-elsewhere", head='<LINK REL="CANONICAL" HREF="t1">'),
    case("query variant", "list?sort=up", "canonical-elsewhere", head=canonical("/site/can/list")),
    found("without the query", "list", head=canonical("/site/can/list")),
    case("chain, first", "chain-a", "canonical-elsewhere", head=canonical("chain-b")),
    case("chain, second", "chain-b", "canonical-elsewhere", head=canonical("chain-c"), hrefs=()),
    found("chain, end", "chain-c"),
    case("chain to noindex, first", "dead-a", "canonical-elsewhere", head=canonical("dead-b")),
    case(
        "chain to noindex, second: its target is not listable",
        "dead-b",
        head=canonical("dead-c"),
        warns=("dead-c",),
        hrefs=(),
    ),
    found("chain to noindex, end", "dead-c", "noindex", head=NOINDEX),
    case("loop of two, first", "loop-a", head=canonical("loop-b"), warns=("loop-b",)),
    case("loop of two, second", "loop-b", head=canonical("loop-a"), warns=("loop-a",)),
    case("into a loop: its target is listed", "to-loop", "canonical-elsewhere", head=canonical("loop-a")),
    case("loop of three, first", "ring-a", head=canonical("ring-b"), warns=("ring-b",)),
    case("loop of three, second", "ring-b", head=canonical("ring-c"), warns=("ring-c",), hrefs=()),
    case("loop of three, third", "ring-c", head=canonical("ring-a"), warns=("ring-a",), hrefs=()),
    case("to a client error", "to-absent", head=canonical("absent"), warns=("absent",)),
    found("a client error", "absent", "client-error", status=404),
    case("to a server error", "to-broken", head=canonical("broken"), warns=("broken",)),
    found("a server error", "broken", "server-error", status=500),
    case("to a redirect", "to-moved", head=canonical("moved"), warns=("moved",)),
    case("a redirect", "moved", "redirect", status=301, headers=(("Location", "t1"),), hrefs=()),
    case("to a meta refresh", "to-refreshed", head=canonical("refreshed"), warns=("refreshed",)),
    found("a meta refresh", "refreshed", "redirect", head=refresh("0;url=t1")),
    case("to noindex", "to-noindex", head=canonical("hidden"), warns=("hidden",)),
    found("noindex", "hidden", "noindex", head=NOINDEX),
    case("to a PDF", "to-pdf", head=canonical("paper.pdf"), warns=("paper.pdf",)),
    case("a PDF", "paper.pdf", "not-a-page", raw=b"%PDF-1.7\n", content_type="application/pdf", hrefs=()),
    case("to a path in other case", "to-case", head=canonical("T1"), warns=("T1",)),
    found("a path in other case", "T1", "client-error", status=404),
    case(
        "to a blocked URL",
        "to-blocked",
        "canonical-elsewhere",
        head=canonical("/site/rb/private/canonical"),
        warns=("/site/rb/private/canonical",),
    ),
    found("a blocked URL", "/site/rb/private/canonical", "blocked-by-robots"),
    case("out of scope", "to-outside", "canonical-elsewhere", head=canonical("/outside/canonical")),
    found("outside", "/outside/canonical", "out-of-scope"),
    case("other port", "to-port", "canonical-elsewhere", head=canonical("http://@THERE/site/can/to-port")),
    found("on the other port", "http://@THERE/site/can/to-port", "out-of-scope"),
    case("other scheme", "to-https", "canonical-elsewhere", head=canonical("https://@HERE/site/can/to-https")),
    found("on the other scheme", "https://@HERE/site/can/to-https", "out-of-scope"),
    case("other host", "to-host", "canonical-elsewhere", head=canonical("https://Elsewhere.example/canonical")),
    found("on the other host", "https://elsewhere.example/canonical", "out-of-scope"),
    case("excluded, never fetched", "to-never", "canonical-elsewhere", head=canonical("/site/ex/never/canonical")),
    found("an excluded URL", "/site/ex/never/canonical", "excluded-by-rule"),
    case("excluded from the list only", "to-tag", "canonical-elsewhere", head=canonical("/site/ex/tag/canonical")),
    case("an unlisted URL", "/site/ex/tag/canonical", "excluded-by-rule", hrefs=(), fetched=True),
    case("in the body", "in-body", body=canonical("t1")),
    case("in a head that a div has ended", "ended-head", head="<div>banner</div>" + canonical("t1")),
    case("in a head that text has ended", "ended-by-text", head="Welcome " + canonical("t1")),
    case("in a comment", "comment", head=f"<!-- {canonical('t1')} -->"),
    case("in a script", "script", head=f"<script>document.write('{canonical('t1')}')</script>"),
    case("on an anchor", "anchor", body='<a rel="canonical" href="t1">t1</a>'),
    case("two equal", "equal", "canonical-elsewhere", head=canonical("t1") * 2),
    case(
        "two spellings of one", "spellings", "canonical-elsewhere", head=canonical("t1") + canonical("/site/can/%741#x")
    ),
    case("two that conflict", "conflict", head=canonical("t1") + canonical("t2"), warns=("t1", "t2")),
    case("itself and another", "conflict-self", head=canonical("conflict-self") + canonical("t1"), warns=("t1",)),
    case("empty href", "empty", head=canonical("")),
    case("no href", "no-href", head='<link rel="canonical">'),
    case("no URL", "invalid", head=canonical("http://[::bad/")),
    case("another kind of URL", "javascript", head=canonical("javascript:void(0)")),
    case(
        "header, absolute", "header", "canonical-elsewhere", headers=link('<http://@HERE/site/can/t1>; rel="canonical"')
    ),
    case("header, relative", "header-relative", "canonical-elsewhere", headers=link("<t4>; rel=canonical")),
    found("known by a header only", "t4"),
    # RFC 8288, section 3.2: a base in the content is not applied.
    case(
        "header, not resolved against base",
        "header-base",
        "canonical-elsewhere",
        headers=link("<t5>; rel=canonical"),
        head='<base href="/site/can/wrong/">',
    ),
    found("beside the page", "t5"),
    found("below the page's base", "wrong/t5", NO_ROW),
    case("header, upper case", "header-upper", "canonical-elsewhere", headers=link('<t1>; REL="CANONICAL"')),
    case(
        "header, title with commas and semicolons",
        "header-title",
        "canonical-elsewhere",
        headers=link('<t1>; title="one, two; rel=next <three>"; rel="canonical"'),
    ),
    case(
        "header, several links",
        "header-several",
        "canonical-elsewhere",
        headers=link('</style.css>; rel=preload; as=style, <t1>; rel="canonical", <t2>; rel="license"'),
    ),
    case(
        "several headers",
        "headers",
        "canonical-elsewhere",
        headers=(*link("</style.css>; rel=preload"), *link("<t1>; rel=canonical")),
    ),
    case("header, other relation", "header-other", headers=link('<t1>; rel="license"')),
    case("header, broken", "header-broken", headers=link('<t1; rel="canonical')),
    case(
        "header and tag agree",
        "agree",
        "canonical-elsewhere",
        headers=link("<t1>; rel=canonical"),
        head=canonical("/site/can/t1"),
    ),
    case(
        "header and tag conflict",
        "disagree",
        headers=link("<t1>; rel=canonical"),
        head=canonical("t2"),
        warns=("t1", "t2"),
    ),
]

REDIRECT = [
    *(
        moved(str(status), f"s{status}", f"/site/re/from-{status}", status=status, evidence=f"/site/re/from-{status}")
        for status in (300, 301, 302, 303, 307, 308)
    ),
    *(found(f"from a {status}", f"from-{status}") for status in (300, 301, 302, 303, 307, 308)),
    case("304 that nobody asked for", "s304", "unreachable", status=304, evidence="304"),
    moved("absolute", "absolute", "http://@HERE/site/re/t-absolute"),
    found("from absolute", "t-absolute"),
    moved("relative", "relative", "t-relative"),
    found("from relative", "t-relative"),
    moved("dot segments", "dots", "../re/./t-dots"),
    found("from dot segments", "t-dots"),
    moved("without scheme", "no-scheme", "//@HERE/site/re/t-no-scheme"),
    found("from without scheme", "t-no-scheme"),
    moved("query only", "query", "?page=2"),
    found("from query only", "query?page=2"),
    moved("with a space", "space", "t space"),
    found("from a space", "t%20space"),
    moved("with fragment", "fragment", "t-fragment#part"),
    found("from fragment", "t-fragment"),
    moved("with tracking", "tracking", "t-tracking?utm_source=x&id=1"),
    found("from tracking", "t-tracking?id=1"),
    moved("without location", "nowhere", None, evidence="Location"),
    moved("garbage as location", "garbage", "http://[::bad/", evidence="Location"),
    moved("a script as location", "javascript", "javascript:alert(1)", evidence="Location"),
    moved("to itself", "self", "/site/re/self"),
    moved("to itself with fragment", "self-fragment", "self-fragment#top"),
    moved("loop of two, first", "loop-a", "loop-b"),
    case("loop of two, second", "loop-b", "redirect", status=302, headers=(("Location", "loop-a"),), hrefs=()),
    moved("chain, first", "chain-a", "chain-b"),
    case("chain, second", "chain-b", "redirect", status=302, headers=(("Location", "chain-c"),), hrefs=()),
    case("chain, third", "chain-c", "redirect", status=308, headers=(("Location", "chain-d"),), hrefs=()),
    found("chain, end", "chain-d"),
    moved("out of scope", "outside", "/outside/redirect"),
    found("outside", "/outside/redirect", "out-of-scope"),
    moved("other port", "port", "http://@THERE/site/re/port"),
    found("on the other port", "http://@THERE/site/re/port", "out-of-scope"),
    moved("to a client error", "to-absent", "absent"),
    found("a client error", "absent", "client-error", status=404),
    moved("to a blocked URL", "to-blocked", "/site/rb/private/redirect"),
    found("a blocked URL", "/site/rb/private/redirect", "blocked-by-robots"),
    case("Refresh header", "header", "redirect", headers=(("Refresh", "0;url=t-header"),)),
    found("from a Refresh header", "t-header"),
    case("Refresh header to itself", "header-self", headers=(("Refresh", "30; url=/site/re/header-self"),)),
    case("Refresh header without a URL", "header-plain", headers=(("Refresh", "30"),)),
    case("meta refresh", "meta", "redirect", head=refresh("0;url=t-meta"), evidence="/site/re/t-meta"),
    found("from a meta refresh", "t-meta"),
    case("meta refresh after 5 s", "meta-5", "redirect", head=refresh("5; url=/site/re/t-meta-5")),
    found("from a meta refresh after 5 s", "t-meta-5"),
    case("meta refresh, quotes", "meta-quotes", "redirect", head=refresh("0; url='t-meta-quotes'")),
    found("from a meta refresh with quotes", "t-meta-quotes"),
    case("meta refresh, double quotes", "meta-double", "redirect", head=refresh("0;URL=&quot;t-meta-double&quot;")),
    found("from a meta refresh with double quotes", "t-meta-double"),
    case(
        "meta refresh, upper case and spaces",
        "meta-upper",
        "redirect",
        head='<META HTTP-EQUIV="REFRESH" CONTENT=" 0 ; URL = t-meta-upper ">',
    ),
    found("from a meta refresh in upper case", "t-meta-upper"),
    case("meta refresh, comma", "meta-comma", "redirect", head=refresh("0, url=t-meta-comma")),
    found("from a meta refresh with comma", "t-meta-comma"),
    case("meta refresh, no url=", "meta-bare", "redirect", head=refresh("0; t-meta-bare")),
    found("from a meta refresh without url=", "t-meta-bare"),
    case("meta refresh by base", "meta-base", "redirect", head='<base href="/site/re/sub/">' + refresh("0;url=t")),
    found("from a meta refresh by base", "sub/t"),
    case("meta refresh out of scope", "meta-outside", "redirect", head=refresh("0;url=/outside/refresh")),
    found("outside by meta refresh", "/outside/refresh", "out-of-scope"),
    case("meta refresh loop, first", "meta-loop-a", "redirect", head=refresh("0;url=meta-loop-b")),
    found("meta refresh loop, second", "meta-loop-b", "redirect", head=refresh("0;url=meta-loop-a")),
    case("meta refresh to itself", "meta-self", head=refresh("60;url=/site/re/meta-self")),
    case("meta refresh to itself with fragment", "meta-fragment", head=refresh("60;url=meta-fragment#news")),
    case("meta refresh without a URL", "meta-plain", head=refresh("300")),
    case("meta refresh without anything", "meta-empty", head=refresh("")),
    case("meta refresh without a time", "meta-timeless", head=refresh("soon;url=/site/re/t-none")),
    case("meta refresh to no URL", "meta-invalid", head=refresh("0;url=http://[::bad/")),
    case("meta refresh to a script", "meta-javascript", head=refresh("0;url=javascript:alert(1)")),
    case("in noscript", "noscript", head=f"<noscript>{refresh('0;url=/site/re/t-none')}</noscript>"),
    case("in a comment", "comment", head=f"<!-- {refresh('0;url=/site/re/t-none')} -->"),
    case("in a script", "script", head=f"<script>var a = '{refresh('0;url=/site/re/t-none')}'</script>"),
    found("where none of these leads", "t-none", NO_ROW),
]

CLIENT_ERRORS = (400, 401, 402, 403, 404, 405, 406, 408, 410, 413, 418, 422, 451, 499)

ERROR = [
    *(case(str(code), f"s{code}", "client-error", status=code, evidence=str(code)) for code in CLIENT_ERRORS),
    case("500", "s500", "server-error", status=500, evidence="500"),
    case("501", "s501", "server-error", status=501),
    case("505", "s505", "server-error", status=505),
    case("520", "s520", "server-error", status=520),
    case("a client error in a strange type", "s404.pdf", "client-error", status=404, content_type="application/pdf"),
    case("a client error without a body", "s404-empty", "client-error", status=404, raw=""),
    case("a client error with a location", "s404-to", "client-error", status=404, headers=(("Location", "/site/"),)),
    case("a server error with a location", "s500-to", "server-error", status=500, headers=(("Location", "/site/"),)),
]

# What makes a crawler slow down stands far from others of its kind, for the test's own speed.
PRESSURE = {
    "meta": case("429", "s429", "server-error", status=429, evidence="429"),
    "can": case("502", "s502", "server-error", status=502),
    "re": case("503", "s503", "server-error", status=503, evidence="503"),
    "rb": case("504", "s504", "server-error", status=504),
    "src": case("the server hangs up", "dropped", "unreachable", drop=True),
}

XHTML = (
    '<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head>'
    '<body><p><a href="/site/type/behind-xhtml">more</a></p></body></html>'
)
PLAIN_HTML = page(title="Typed")

TYPE = [
    case("204", "s204", "not-a-page", status=204),
    case("206", "s206", "not-a-page", status=206),
    case("empty body", "empty", "not-a-page", raw=""),
    case("PNG", "picture.png", "not-a-page", raw=b"\x89PNG\r\n\x1a\n", content_type="image/png", evidence="image/png"),
    case("PDF", "paper.pdf", "not-a-page", raw=b"%PDF-1.7\n", content_type="application/pdf"),
    case("JSON", "data.json", "not-a-page", raw="{}", content_type="application/json"),
    case("CSS", "style.css", "not-a-page", raw="p {}", content_type="text/css"),
    case("XML", "feed.xml", "not-a-page", raw="<rss/>", content_type="application/xml"),
    case("HTML as text/plain", "plain.html", "not-a-page", raw=PLAIN_HTML, content_type="text/plain"),
    case("HTML as a download", "stream", "not-a-page", raw=PLAIN_HTML, content_type="application/octet-stream"),
    case("a name does not make a page", "fake.html", "not-a-page", raw=b"GIF89a", content_type="image/gif"),
    case("a name does not unmake a page", "real.png"),
    case("no type, HTML", "untyped", raw=PLAIN_HTML, content_type=None),
    case("no type, HTML after a comment", "untyped-comment", raw=f"<!-- x -->\n{PLAIN_HTML}", content_type=None),
    case("no type, a picture", "untyped-png", "not-a-page", raw=b"\x89PNG\r\n\x1a\n\0\0", content_type=None),
    case("no type, PDF", "untyped-pdf", "not-a-page", raw=b"%PDF-1.7\n", content_type=None),
    case("no type, text", "untyped-text", "not-a-page", raw="a = 1\n", content_type=None),
    case("XHTML", "xhtml", raw=XHTML, content_type="application/xhtml+xml"),
    found("behind XHTML", "behind-xhtml"),
    case("upper case", "upper", content_type="text/HTML; Charset=UTF-8"),
    case("no space", "tight", content_type="text/html;charset=utf-8"),
    case("no charset", "no-charset", content_type="text/html"),
    case("an unknown charset", "charset", content_type="text/html; charset=klingon"),
    case(
        "gzip",
        "gzip",
        raw=gzip.compress(page("/site/type/behind-gzip").encode(), mtime=0),
        headers=(("Content-Encoding", "gzip"),),
    ),
    found("behind gzip", "behind-gzip"),
    case("as a download", "attachment", headers=(("Content-Disposition", 'attachment; filename="a.html"'),)),
    case(
        "a page that says it is none",
        "soft",
        raw=page(title="404 Not Found", body="<p>This page does not exist.</p>"),
        warns=(),
    ),
]

ROBOTS_TXT = """\
User-agent: *
Disallow: /site/rb/everyone

User-agent: sitemap-crawler
Disallow: /site/rb/private
Allow: /site/rb/private/open
Disallow: /site/rb/*.cgi
Disallow: /site/rb/exact$
Disallow: /site/rb/caf%C3%A9
Disallow: /site/rb/%7Etilde
Disallow: /site/rb/*?sort=
Disallow: /site/rb/tie
Allow: /site/rb/tie
Disallow: /site/rb/commented # for a reason
Disallow: /site/ex/never/blocked
Disallow: /site/long/z

User-Agent: Sitemap-Crawler
disallow:/site/rb/again

User-agent: otherbot
Disallow: /

Sitemap: http://@HERE/map-index.xml
"""

ROBOTS = [
    case("a rule", "private", "blocked-by-robots", evidence="/site/rb/private"),
    case("below it", "private/page", "blocked-by-robots", evidence="/site/rb/private"),
    case("a rule is a prefix", "privately", "blocked-by-robots"),
    case("with a query", "private?x=1", "blocked-by-robots"),
    case("the longest match allows", "private/open/page"),
    case("the case of a path counts", "PRIVATE"),
    case("a star", "run.cgi", "blocked-by-robots", evidence="*.cgi"),
    case("a star takes slashes", "a/b/run.cgi", "blocked-by-robots"),
    case("a star, and more behind", "run.cgi?x=1", "blocked-by-robots"),
    case("an end", "exact", "blocked-by-robots"),
    case("not at the end", "exact/more"),
    case("not at the end, query", "exact?x=1"),
    case("escapes", "caf%C3%A9", "blocked-by-robots", hrefs=("café", "caf%c3%a9")),
    case("a needless escape in the rule", "~tilde", "blocked-by-robots", hrefs=("~tilde", "%7etilde")),
    case("a query", "list?sort=up", "blocked-by-robots"),
    case("another query", "list?page=1"),
    case("another place in the query", "list?page=1&sort=up"),
    case("a tie allows", "tie"),
    case("a comment behind the rule", "commented", "blocked-by-robots"),
    case("a second group of ours", "again", "blocked-by-robots"),
    case("the group of everyone else", "everyone"),
    case("a blocked page vouches for nothing", "private/hub", "blocked-by-robots", links=("/site/rb/behind",)),
    found("behind a blocked page", "behind", NO_ROW),
]

SCOPE = [
    case("the directory without its slash", "/site", "out-of-scope"),
    case("a longer name", "/site-old/", "out-of-scope"),
    case("the parent", "/", "out-of-scope"),
    case("a sibling", "/sites/page", "out-of-scope"),
    case("the case of the path", "/Site/page", "out-of-scope"),
    case("by dot segments", "/outside/dots", "out-of-scope", hrefs=("../../outside/dots",)),
    case("by escaped dot segments", "/outside/escaped", "out-of-scope", hrefs=("%2e%2e/.%2E/outside/escaped",)),
    case("more dots than directories", "/outside/many", "out-of-scope", hrefs=("../../../../../outside/many",)),
    case("an escaped slash does not leave", "..%2F..%2Foutside", hrefs=("..%2f..%2foutside",)),
    case("other port", "http://@THERE/site/", "out-of-scope"),
    case("other scheme", "https://@HERE/site/", "out-of-scope"),
    case("other host", "http://elsewhere.example/site/", "out-of-scope"),
    case(
        "other host without scheme",
        "http://elsewhere.example/short",
        "out-of-scope",
        hrefs=("//elsewhere.example/short",),
    ),
    case("same host, port 80", "http://127.0.0.1/site/", "out-of-scope", hrefs=("http://127.0.0.1:80/site/",)),
    case("another spelling of the address", "spelling", hrefs=("http://0x7f.1:@PORT/site/sc/spelling",)),
    case("in and out", "in", hrefs=("../../outside/../site/sc/in",)),
    case("deeper", "a/b/c/d/e/"),
]

RULES = [
    case("never fetched", "never", "excluded-by-rule", links=("/site/ex/behind-never",), evidence="/ex/never"),
    found("behind what is never fetched", "behind-never", NO_ROW),
    case("searched in the whole URL", "post?replytocom=4", "excluded-by-rule", evidence="replytocom="),
    case("the same page without it", "post"),
    case("the case of a pattern counts", "Never"),
    case("blocked by robots.txt comes first", "never/blocked", "blocked-by-robots"),
    case(
        "not listed, but fetched",
        "tag/a",
        "excluded-by-rule",
        links=("/site/ex/behind-tag",),
        evidence="/ex/tag/",
        fetched=True,
    ),
    found("behind what is not listed", "behind-tag"),
    case("not listed, in both rules", "tag/b?replytocom=5", "excluded-by-rule"),
    case("not listed, client error first", "tag/absent", "client-error", status=404),
    case("not listed, redirect first", "tag/moved", "redirect", status=301, headers=(("Location", "/site/ex/post"),)),
    case("not listed, content type first", "tag/p.png", "not-a-page", raw=b"\x89PNG", content_type="image/png"),
    case("not listed, noindex later", "tag/noindex", "excluded-by-rule", head=NOINDEX, fetched=True),
    case("not listed, canonical later", "tag/canon", "excluded-by-rule", head=canonical("/site/ex/post"), fetched=True),
]

SAME, PHP, HIDDEN, MOVED, CLAIM, BACK, TWIN = (
    page(title=title) for title in ("Same", "PHP", "Hidden", "Moved", "Claim", "Back", "Twin")
)
TO_DIRECTORY = page(title="Directory", head=canonical("/site/dup/claim/"))
TO_FILE = page(title="File", head=canonical("/site/dup/back/index.html"))

DUPLICATE = [
    case("directory", "same/", raw=SAME),
    case("its index.html", "same/index.html", "duplicate-index-file", raw=SAME, evidence="/site/dup/same/"),
    case("a file of its bytes by another name", "same/about.html", raw=SAME),
    case("directory, other bytes", "differs/"),
    case("index.html, other bytes", "differs/index.html"),
    case("directory, PHP", "php/", raw=PHP),
    case("its index.php", "php/index.php", "duplicate-index-file", raw=PHP),
    case("index.html without its directory", "only/index.html"),
    found("a directory that nobody names", "only/", NO_ROW),
    case("noindex directory", "hidden/", "noindex", raw=HIDDEN, headers=robots_tag("noindex")),
    case("its index.html, not hidden", "hidden/index.html", raw=HIDDEN),
    case(
        "directory that redirects", "moved/", "redirect", raw=MOVED, status=301, headers=(("Location", "index.html"),)
    ),
    case("where it redirects", "moved/index.html", raw=MOVED, hrefs=()),
    case("directory, claimed", "claim/", raw=TO_DIRECTORY),
    case("index.html with a canonical", "claim/index.html", "canonical-elsewhere", raw=TO_DIRECTORY),
    case("directory with a canonical", "back/", "canonical-elsewhere", raw=TO_FILE),
    case("the index.html that it names", "back/index.html", raw=TO_FILE),
    case("twin", "twin-a", raw=TWIN),
    case("another twin", "twin-b", raw=TWIN),
    case("index.html of another directory", "twins/index.html", raw=TWIN),
    case("index.html with the bytes of the directory two levels up", "same/deep/index.html", raw=SAME),
]

AMPERSANDS = "&b" * 200  # in XML five times as long

LONG = [
    case("2,047", "a@FILL2047"),
    case("2,048", "b@FILL2048", "too-long", evidence="2048"),
    case("2,047, before XML's escapes", f"c?b{AMPERSANDS}@FILL1645", hrefs=(f"c?b{AMPERSANDS}@FILL1645",)),
    case("4,000", "d@FILL4000", "too-long"),
    case("short until escaped", "e" + "%C3%A9" * 400, "too-long", hrefs=("e" + "é" * 400,)),
    case("noindex later", "f@FILL2100", "too-long", head=NOINDEX),
    case("blocked first", "z@FILL2100", "blocked-by-robots"),
    case("longer than 8 kB", "g@FILL9000", NO_ROW, hrefs=("g@FILL9000",)),
    case("long, then a fragment", "h", hrefs=("h#@FILL2100",)),
]

URLS = [
    case("fragments", "fragment", hrefs=("fragment#a", "fragment#b", "fragment#", "fragment")),
    case("tracking", "track?id=3", hrefs=("track?utm_source=a&amp;id=3", "track?id=3&amp;utm_medium=b")),
    case("tracking only", "click", hrefs=("click?gclid=1&amp;fbclid=2&amp;msclkid=3", "click?utm_id=1")),
    case("session in the query", "sess?a=1", hrefs=("sess?PHPSESSID=0123456789abcdef0123456789abcdef&amp;a=1",)),
    case("session in the path", "java?a=1", hrefs=("java;jsessionid=0123456789ABCDEF0123456789ABCDEF?a=1",)),
    case("default port", "http://elsewhere.example/port", "out-of-scope", hrefs=("http://elsewhere.example:80/port",)),
    case("default port, https", "https://elsewhere.example/", "out-of-scope", hrefs=("https://elsewhere.example:443",)),
    case("host in upper case", "http://elsewhere.example/Up", "out-of-scope", hrefs=("HTTP://ELSEWHERE.Example/Up",)),
    case(
        "IDN",
        "http://xn--bcher-kva.example/",
        "out-of-scope",
        hrefs=("http://bücher.example", "http://BÜCHER.example/"),
    ),
    case("dot segments", "dots", hrefs=("./x/../dots", "/site/./url/y/z/../../dots")),
    case("escaped dot segments", "escaped-dots", hrefs=("x/%2e%2e/escaped-dots", "%2E/escaped-dots")),
    case("unreserved escapes", "~user/a-b.c_d", hrefs=("%7euser/%61%2Db%2ec%5Fd",)),
    case("hex digits", "%C3%A9t%C3%A9", hrefs=("%c3%a9t%C3%a9", "été")),
    case("reserved escapes stay", "a%2Fb%3Fc", hrefs=("a%2fb%3fc",)),
    case("and differ from the characters", "a/b?c"),
    case("apostrophe", "it's", hrefs=("it's",)),
    case("escaped apostrophe", "it%27s", hrefs=("it%27s",)),
    case("non-ASCII path", "%E6%97%A5%E6%9C%AC", hrefs=("日本", "%e6%97%a5%e6%9c%ac")),
    case("non-ASCII query", "query?q=%C3%A9", hrefs=("query?q=é",)),
    case("escapes in a query", "query?q=A%2F", hrefs=("query?q=%41%2f",)),
    case("plus", "query?q=a+b"),
    case("and %20", "query?q=a%20b", hrefs=("query?q=a%20b", "query?q=a b")),
    case("order of parameters", "query?b=1&a=2"),
    case("another order", "query?a=2&b=1"),
    case("repeated parameters", "query?a=1&a=1"),
    case("a parameter without value", "query?a="),
    case("a parameter without =", "query?a"),
    case("double slashes", "/site/url//double//slash", hrefs=("/site/url//double//slash",)),
    case("single slash", "double/slash"),
    case("with slash", "slashed/"),
    case("without slash", "slashed"),
    case("case", "Case"),
    case("other case", "case"),
    case("empty query", "empty", hrefs=("empty?", "empty")),
    case("&sect= is no character", "entity?a=1&sect=2&copy=3", hrefs=("entity?a=1&sect=2&copy=3",)),
    case("&amp; is one", "entity?a=1&b=2", hrefs=("entity?a=1&amp;b=2", "entity?a=1&#38;b=2")),
    case("white space around", "around", hrefs=("\n   around \t ",)),
    case("newlines inside", "inside", hrefs=("in\nsi\tde",)),
    case("a space inside", "in%20side", hrefs=("in side",)),
    case("markup characters", "%3Cb%3E%22", hrefs=("&lt;b&gt;&quot;",)),
    case("backslashes", "back/slash", hrefs=("back\\slash",)),
    case("backslashes for a path", "back/path", hrefs=("\\site\\url\\back\\path",)),
    case(
        "backslashes for a host",
        "http://elsewhere.example/back",
        "out-of-scope",
        hrefs=("\\\\elsewhere.example\\back",),
    ),
    case("query only", "/site/url/?page=2", hrefs=("?page=2",)),
    case("a scheme without a host", "schemed", hrefs=("http:schemed",)),
    case("character references", "refs", hrefs=("&#114;e&#x66;s",)),
    case(
        "what is no page",
        "nothing",
        body="".join(
            f'<a href="{href}">x</a>'
            for href in (
                *("", "#", "#top", "javascript:void(0)", " JavaScript:alert(1)", "mailto:a@example.com", "tel:+1"),
                *(
                    "data:text/html,hi",
                    "about:blank",
                    "blob:http://@HERE/1",
                    "ftp://@HERE/site/f",
                    "file:///etc/passwd",
                ),
                *("http://", "https://", "http://[::1/", "http://a b/", "http://@HERE:99999999/", "x-app://open/page"),
                *("view-source:http://@HERE/site/", "java\nscript:alert(1)", "http://exa&lt;mple/"),
            )
        ),
    ),
    case(
        "a page in Latin-1",
        "latin",
        raw='<html><head><title>L</title></head><body><a href="l\xe4nder?q=\xe9">x</a></body></html>'.encode("latin-1"),
        content_type="text/html; charset=iso-8859-1",
    ),
    found("path in UTF-8, query in Latin-1", "l%C3%A4nder?q=%E9"),
    case(
        "base", "base", head='<base href="/site/url/based/"><base href="/site/url/second/">', body='<a href="x">x</a>'
    ),
    found("the first base counts", "based/x"),
    found("the second does not", "second/x", NO_ROW),
    case("relative base", "base-relative", head='<base href="below/">', body='<a href="y?z">y</a>'),
    found("resolved twice", "below/y?z"),
    case("base on another host", "base-host", head='<base href="//elsewhere.example/b/">', body='<a href="c">c</a>'),
    found("there", "http://elsewhere.example/b/c", "out-of-scope"),
]

SOURCE = [
    case(
        "a page with all that links",
        "links",
        head="""
            <link rel="next" href="next"><link rel="PREV" href="prev">
            <link rel="alternate" hreflang="de" href="german">
            <link rel="alternate" hreflang="x-default" href="default">""",
        body="""
            <a href="anchor">a</a> <A HREF="upper">b</A> <a href=unquoted>c</a> <a class="x" href='single'>d</a>
            <map name="m"><area href="area" alt="x"></map>
            <iframe src="iframe"></iframe>""",
        headers=(
            *link('<header-next>; rel="next", <header-prev>; rel=prev'),
            *link('<header-german>; rel="alternate"; hreflang="de"'),
        ),
    ),
    *(
        found(f"by {path}", path)
        for path in ("next", "prev", "german", "default", "anchor", "upper", "unquoted", "single", "area", "iframe")
    ),
    *(found(f"by {path}", path) for path in ("header-next", "header-prev", "header-german")),
    case(
        "frames",
        "frames",
        raw='<html><head><title>F</title></head><frameset cols="1,2"><frame src="frame"></frameset></html>',
    ),
    found("by frame", "frame"),
    case(
        "a page of broken markup",
        "broken",
        raw='<title>B</title><a\nhref\n=\n"lines">x</a><a href="first" href="second">x</a><p><b><a href=unclosed>x'
        "<table><a href=misplaced>x</a></table><p>\0<a href=nul>x</a></b></i></body></html><a href=after>x</a>",
    ),
    *(found(f"in broken markup: {path}", path) for path in ("lines", "first", "unclosed", "misplaced", "nul", "after")),
    found("an attribute given twice", "second", NO_ROW),
    case("a page of many elements in each other", "nested", body="<div>" * 2_000 + '<a href="innermost">x</a>'),
    found("at the bottom", "innermost"),
    case("a page in UTF-16", "utf-16", raw=page("wide").encode("utf-16"), content_type="text/html"),
    found("by a page in UTF-16", "wide"),
    case(
        "frames to nowhere", "nowhere", body='<iframe src="about:blank"></iframe><iframe srcdoc="x"></iframe><iframe>'
    ),
    case(
        "a page with all that does not link",
        "others",
        head="""
            <link rel="stylesheet" href="not-style"><link rel="icon" href="not-icon">
            <link rel="preload" href="not-preload">
            <link rel="alternate" type="application/rss+xml" href="not-feed"><link rel="shortlink" href="not-short">
            <link rel="search" href="not-search"><script src="not-script"></script>
            <meta property="og:url" content="http://@HERE/site/src/not-og">
            <script type="application/ld+json">{"@id": "http://@HERE/site/src/not-ld"}</script>""",
        body="""
            <img src="not-img" srcset="not-srcset 2x" alt="x">
            <form action="not-form"><button formaction="not-button">b</button></form>
            http://@HERE/site/src/not-text <!-- <a href="not-comment">x</a> --> <a data-href="not-data">x</a>
            <script>document.write('<a href="not-written">x</a>')</script>
            <textarea><a href="not-field">x</a></textarea>
            <blockquote cite="not-cite">x</blockquote> <video src="not-video" poster="not-poster"></video>
            <object data="not-object"></object> <embed src="not-embed"> <p onclick="location='not-click'">x</p>
            &lt;a href="not-escaped"&gt;x&lt;/a&gt; <a name="not-name">x</a> <span href="not-span">x</span>""",
        headers=link("<not-header>; rel=preload; as=style"),
    ),
    *(
        found(path.replace("-", " by "), path, NO_ROW)
        for path in (
            *("not-style", "not-icon", "not-preload", "not-feed", "not-short", "not-search", "not-script", "not-og"),
            *("not-ld", "not-img", "not-srcset", "not-form", "not-button", "not-text", "not-comment", "not-data"),
            *(
                "not-written",
                "not-field",
                "not-cite",
                "not-video",
                "not-poster",
                "not-object",
                "not-embed",
                "not-click",
            ),
            *("not-escaped", "not-name", "not-span", "not-header"),
        )
    ),
]

ORDER = [
    case("client error, noindex", "absent", "client-error", status=404, headers=robots_tag("noindex")),
    case("server error, noindex", "broken", "server-error", status=500, headers=robots_tag("noindex")),
    case(
        "redirect, noindex, canonical",
        "moved",
        "redirect",
        status=301,
        headers=(("Location", "/site/"), *robots_tag("noindex"), *link("</site/can/t1>; rel=canonical")),
    ),
    case("meta refresh, noindex", "refresh", "redirect", head=refresh("0;url=/site/") + NOINDEX),
    case("meta refresh, canonical", "refresh-2", "redirect", head=refresh("0;url=/site/") + canonical("/site/can/t1")),
    case(
        "PDF, noindex",
        "a.pdf",
        "not-a-page",
        raw=b"%PDF-1.7\n",
        content_type="application/pdf",
        headers=robots_tag("none"),
    ),
    case(
        "PNG, canonical",
        "a.png",
        "not-a-page",
        raw=b"\x89PNG",
        content_type="image/png",
        headers=link("</site/can/t1>; rel=canonical"),
    ),
    case("noindex, canonical", "noindex", "noindex", head=NOINDEX + canonical("/site/can/t1")),
    case("a location means nothing on a page", "located", headers=(("Location", "/outside/never"),)),
    found("where it points", "/outside/never", NO_ROW),
]

MAP = [
    found("only in a sitemap", "alone", warns=()),
    found("only in a sitemap, with a query", "query?a=1&b=2", warns=()),
    found("only in a sitemap, with tracking", "tracking", warns=()),
    found("only in a compressed sitemap", "packed", warns=()),
    found("only in a text sitemap", "text", warns=()),
    found("noindex", "noindex", "noindex", head=NOINDEX),
    found("client error", "absent", "client-error", status=404),
    found("blocked", "/site/rb/private/map", "blocked-by-robots"),
    found("out of scope", "/outside/map", "out-of-scope"),
    case("in a sitemap and linked", "linked"),
]

DEEP = [
    *(
        case(f"{depth} clicks", f"{depth}", links=(f"/site/deep/{depth + 1}",), hrefs=None if depth == 2 else ())
        for depth in range(2, MAX_DEPTH + 1)
    ),
    case("a click too many", "7", "limit", links=("/site/deep/8",), hrefs=()),
    found("behind it", "8", NO_ROW),
]

GROUPS = {
    "meta": META,
    "xrt": HEADER,
    "rel": REL,
    "can": CANONICAL,
    "er": ERROR,
    "re": REDIRECT,
    "type": TYPE,
    "rb": ROBOTS,
    "sc": SCOPE,
    "ex": RULES,
    "dup": DUPLICATE,
    "long": LONG,
    "url": URLS,
    "src": SOURCE,
    "ord": ORDER,
    "map": MAP,
    "deep": DEEP,
}

SITEMAPS: dict[str, Answer] = {
    "/map-index.xml": Answer(
        '<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        "<sitemap><loc>http://@HERE/map-1.xml</loc></sitemap><sitemap><loc>http://@HERE/map-2.xml.gz</loc></sitemap>"
        "<sitemap><loc>http://@HERE/map-3.txt</loc></sitemap></sitemapindex>",
        content_type="application/xml",
    ),
    "/map-1.xml": Answer(
        '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        "<url><loc>http://@HERE/site/map/alone</loc></url><url><loc> http://@HERE/site/map/noindex </loc></url>"
        "<url><loc>http://@HERE/site/map/query?a=1&amp;b=2</loc></url><url><loc>http://@HERE/site/map/absent</loc></url>"
        "<url><loc>http://@HERE/site/map/tracking?utm_source=map</loc></url>"
        "<url><loc>http://@HERE/site/rb/private/map</loc></url><url><loc>http://@HERE/outside/map</loc></url>"
        "<url><loc>http://@HERE/site/map/linked</loc></url></urlset>",
        content_type="text/xml",
    ),
    "/map-2.xml.gz": Answer(
        '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        "<url><loc>http://@HERE/site/map/packed</loc></url></urlset>",
        content_type="application/gzip",
    ),
    "/map-3.txt": Answer("http://@HERE/site/map/text\n", content_type="text/plain"),
}


def _cases() -> Iterator[Case]:
    yield case("the start page", START, hrefs=()).within("hubs")
    for group, labels in GROUPS.items():
        yield case("hub", f"{START}{group}/", hrefs=()).within(group)
        yield from (label.within(group) for label in labels)
        if group in PRESSURE:
            yield PRESSURE[group].within(group)


CASES = tuple(_cases())


@dataclass(frozen=True, slots=True)
class Ports:
    """The two servers' ports, which the texts of the site need."""

    here: int
    there: int

    def fill(self, text: str) -> str:
        known = len(f"http://127.0.0.1:{self.here}/site/long/x")
        text = re.sub(r"@FILL(\d+)", lambda match: "l" * (int(match[1]) - known), text)
        text = text.replace("@HERE", f"127.0.0.1:{self.here}").replace("@THERE", f"127.0.0.1:{self.there}")
        return text.replace("@PORT", str(self.here))

    def url(self, url: str) -> str:
        url = self.fill(url)
        return f"http://127.0.0.1:{self.here}{url}" if url.startswith("/") else url

    def answer(self, answer: Answer) -> Answer:
        body = self.fill(answer.body) if isinstance(answer.body, str) else answer.body
        headers = tuple((name, self.fill(value)) for name, value in answer.header_pairs())
        return Answer(body, answer.status, headers, answer.content_type, answer.drop)


def pages(ports: Ports) -> dict[str, Page]:
    """The site's answers, by path and query."""
    served: dict[str, Page] = {ports.fill(one.url): ports.answer(one.answer) for one in CASES if one.url[0] == "/"}
    served[START] = page(*(f"{START}{group}/" for group in GROUPS), title="Start")
    for group in GROUPS:
        hrefs = [href for one in CASES if one.group == group for href in one.hrefs]
        links = "\n".join(f'<p><a href="{ports.fill(href)}">link</a></p>' for href in hrefs)
        served[f"{START}{group}/"] = page(title=f"Hub {group}", body=links)
    served["/robots.txt"] = Answer(ports.fill(ROBOTS_TXT), content_type="text/plain")
    for path, answer in SITEMAPS.items():
        filled = ports.answer(answer)
        packed = path.endswith(".gz")
        served[path] = Answer(
            gzip.compress(filled.payload()) if packed else filled.body, content_type=filled.content_type
        )
    return served
