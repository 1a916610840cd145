"""The page of the report: Jinja2's templates, the words for values, and a policy that lets only our own script run."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from importlib.resources import files
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import BytecodeCache, Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from sitemap_crawler.inventory.inspections import OTHER_STATES
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.report.html.decision_groups import Group
from sitemap_crawler.report.html.drawing import bars, squares
from sitemap_crawler.report.html.site_facts import AGES, DAY, NO_ANSWER, NOT_ASKED, OLDER, UNDATED
from sitemap_crawler.report.html.texts import clean
from sitemap_crawler.utils.text import escape_controls

if TYPE_CHECKING:
    from types import CodeType

    from jinja2.bccache import Bucket

    from sitemap_crawler.report.html.facts import Facts

SCRIPTS = ("table.js", "tree.js", "page.js")
"""Parts of the script, in their order."""
MAX_SHOWN = 160
"""Characters of a URL that are shown. The link has all."""
_REASONS = {str(reason): reason.traits.title for reason in Reason}
_SOURCES = {
    "last-modified": "Last-Modified header",
    "observed-change": "a change that this program saw",
    "sitemap": "an existing sitemap",
    "feed": "a feed of the site",
    "wordpress": "the entries of WordPress",
    "supplied": "a list of yours",
}
"""Words for the sources of dates. The others are names of tags on pages."""


class Section(NamedTuple):
    """A section of the page. One without a template stands elsewhere in the page."""

    id: str
    title: str
    template: str | None
    badge: int | None = None
    alert: bool = False


class OtherPage(NamedTuple):
    """A link to another page of the same reports."""

    href: str
    """Relative address."""
    text: str


def render(
    facts: Facts,
    *,
    refresh_seconds: int | None = None,
    ascii_only: bool = False,
    other_page: OtherPage | None = None,
    mark: str | None = None,
) -> str:
    """Return the report. With `refresh_seconds` a browser loads it again after that time.

    With `ascii_only` other characters are references, so that any encoding of the output will do. `mark` is the value
    of the tag `generator`.
    """
    style, script = static("report.css"), "".join(map(static, SCRIPTS))
    page: str = (
        environment(facts.origin)
        .get_template("page.html")
        .render(
            facts=facts,
            groups=Group,
            OTHER_STATES=OTHER_STATES,
            sections=_sections(facts),
            refresh_seconds=refresh_seconds,
            other_page=other_page,
            mark=mark,
            policy=policy_for(style, script),
            style=Markup(style),  # noqa: S704 - a file of this package
            script=Markup(script),  # noqa: S704
            data=Markup(_json(_data(facts), ascii_only=ascii_only)),  # noqa: S704 - escaped for a script element
        )
    )
    return page.encode("ascii", "xmlcharrefreplace").decode() if ascii_only else page


def _sections(facts: Facts) -> list[Section]:
    """Return the sections that have something to say."""
    listed, in_scope = facts.scan.listed, facts.scan.in_scope
    tasks = facts.tasks.total
    changed = sum(facts.changes) if facts.change_lists and facts.history.published_before else 0
    answers = bool(facts.server.answers)
    engines = facts.engines is not None
    faults = facts.engines.faults if facts.engines is not None else 0
    several = len(facts.history.runs) > 1
    rendering = 0 if facts.rendering is None else facts.rendering["useful"] + facts.rendering["confirmed"]
    wanted = [
        (True, Section("summary", "Summary", None)),
        (True, Section("todo", "What to do", "tasks.html", tasks or None, alert=tasks > 0)),
        (in_scope, Section("reasons", "Listed or not, and why", "reasons.html", in_scope)),
        (changed, Section("changes", "What changed", "changes.html", changed)),
        (in_scope > 1, Section("tree", "Site tree", "tree.html")),
        (in_scope > 1, Section("clicks", "Clicks and links", "clicks.html")),
        (listed, Section("dates", "Dates", "dates.html")),
        (answers, Section("server", "Server", "server.html")),
        (facts.rendering, Section("rendering", "Pages that need JavaScript", "rendering.html", rendering or None)),
        (engines, Section("engines", "What search engines say", "engines.html", faults or None, alert=faults > 0)),
        (several, Section("runs", "Past runs", "runs.html", len(facts.history.runs))),
        (facts.table.rows, Section("urls", "All URLs", "urls.html", in_scope)),
        (True, Section("about", "About this report", "about.html")),
    ]
    return [section for needed, section in wanted if needed]


def policy_for(style: str, script: str | None) -> str:
    """Return a Content-Security-Policy that admits these texts and nothing else. They are ASCII."""
    texts = {"style-src": style} if script is None else {"script-src": script, "style-src": style}
    hashes = {name: b64encode(sha256(text.encode("ascii")).digest()).decode() for name, text in texts.items()}
    admitted = "".join(f"{name} 'sha256-{value}'; " for name, value in hashes.items())
    return f"default-src 'none'; {admitted}base-uri 'none'; form-action 'none'"


def _data(facts: Facts) -> dict[str, Any]:
    """Return what the script needs."""
    return {
        "origin": facts.origin,
        "total": facts.scan.in_scope,
        "several": facts.history.published_before,
        "published": facts.ending.has_published,
        "unit": facts.unit,
        "moment": facts.moment,
        "ages": [[label, days * DAY] for label, days in AGES],
        "older": OLDER,
        "undated": UNDATED,
        "command": facts.about.command,
        "state": facts.about.state,
        "groups": [[group.name_in_page, group.short, group.phrase] for group in Group],
        "reasonGroups": {row.reason: int(row.group) for row in facts.reasons},
        "reasonTotals": {row.reason: row.total for row in facts.reasons},
        "groupTotals": facts.scan.counts,
        "trees": {
            "directories": facts.scan.directories.to_json(),
            "clicks": facts.scan.clicks.to_json() if facts.scan.clicks else None,
        },
        **facts.table.to_json(),
    }


def _json(value: Any, *, ascii_only: bool) -> str:
    """Return JSON for a script element: no text in it can end the element, open a comment or end a line."""
    text = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def static(name: str) -> str:
    return (files(__package__) / "static" / name).read_text(encoding="utf-8")


def _template(name: str) -> str:
    return (files(__package__) / "templates" / name).read_text(encoding="utf-8")


class _CompiledTemplates(BytecodeCache):
    """The compiled templates of this process. To compile them takes longer than to fill them in for a small host."""

    def __init__(self) -> None:
        self._code: dict[str, CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get(bucket.key)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key] = bucket.code


_COMPILED = _CompiledTemplates()


def environment(origin: str) -> Environment:
    environment = Environment(
        loader=FunctionLoader(_template),
        bytecode_cache=_COMPILED,
        autoescape=True,
        undefined=StrictUndefined,
        # The gate for texts from the site: whatever a template prints has no control characters.
        finalize=lambda value: escape_controls(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters.update(
        bars=bars,
        change=_change,
        code=_code,
        day=_day,
        duration=_duration,
        moment=_moment,
        number=lambda value: f"{value:,}",
        path=partial(_path, origin),
        quoted=quote,
        reason=_REASONS.__getitem__,
        share=lambda value, largest: round(100 * value / largest, 2) if largest else 0,
        shown=lambda text, limit=MAX_SHOWN: clean(text, limit),
        signed=lambda value: f"+{value:,}" if value > 0 else f"{value:,}".replace("-", "\u2212"),
        size=file_size,
        source=lambda name: _SOURCES.get(name, name),
        squares=squares,
        status=_status,
        status_class=_status_class,
    )
    environment.tests["web"] = lambda url: url.startswith(("http://", "https://"))
    return environment


def _path(origin: str, url: str) -> str:
    """Return a URL as the page shows it: without the origin of the site."""
    return clean(url[len(origin) :] if url.startswith(f"{origin}/") else url, MAX_SHOWN)


def _code(text: str) -> Markup:
    """Return a text of this program with `code` in backticks as markup, and with the words of its links."""
    parts = [
        Markup("<code>{}</code>").format(part) if position % 2 else escape(_without_links(part))
        for position, part in enumerate(text.split("`"))
    ]
    return Markup("").join(parts)


def _without_links(text: str) -> str:
    """Return a text with the words of its links, which Markdown writes as `[words](address)`."""
    while "](" in text:
        before, _, rest = text.partition("](")
        head, _, words = before.rpartition("[")
        text = head + words + rest.partition(")")[2]
    return text


def _moment(seconds: float) -> Markup:
    moment = datetime.fromtimestamp(seconds, UTC)
    shown = f"{moment.day} {moment:%b %Y, %H:%M} UTC"
    return Markup('<time datetime="{}">{}</time>').format(f"{moment:%Y-%m-%dT%H:%M:%SZ}", shown)


def _day(seconds: float | None) -> str:
    return "\u2013" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"


def _change(before: float | None, after: float | None) -> str:
    """Return two dates, with their times if they are of the same day."""
    if before is None or after is None or _day(before) != _day(after):
        return f"{_day(before)} \u2192 {_day(after)}"
    times = [f"{datetime.fromtimestamp(seconds, UTC):%H:%M:%S}" for seconds in (before, after)]
    return f"{_day(before)}, {times[0]} \u2192 {times[1]}"


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def file_size(size: int) -> str:
    value, unit = float(size), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"


_STATUS_WORDS = {
    NO_ANSWER: "no answer", NOT_ASKED: "not asked: robots.txt",
    200: "200 OK", 301: "301 moved permanently", 302: "302 found elsewhere", 304: "304 not modified",
    307: "307 temporary redirect", 308: "308 permanent redirect", 401: "401 login wanted", 403: "403 forbidden",
    404: "404 not found", 410: "410 gone", 429: "429 too many requests", 500: "500 server error",
    502: "502 bad gateway", 503: "503 unavailable", 504: "504 gateway timeout",
}  # fmt: skip


def _status(answer: int) -> str:
    return _STATUS_WORDS.get(answer, str(answer))


def _status_class(answer: int) -> str:
    """Return the class of the bar of an answer."""
    known = {2: "f-listed", 3: "f-course", 4: "f-broken", 5: "f-broken"}
    return "f-broken" if answer == NO_ANSWER else known.get(answer // 100, "f-asked")
