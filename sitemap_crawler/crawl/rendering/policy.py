"""Which pages a browser renders. Pure: facts about pages and results of renderings in, verdicts out.

Pages of one kind share a template: the shape of their URLs and their set of scripts. The first pages of a template are
rendered as samples, while its other pages wait. If a sample shows more than the plain page, all pages of the template
are rendered until many in a row gain nothing; from then on, as without such a sample, only a few are checked.
"""

from __future__ import annotations

import re
from enum import Enum
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from sitemap_crawler.items import RenderCause

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sitemap_crawler.extract.scripts import ScriptFacts

SAMPLES = 3
"""Number of pages of a template that are rendered before it is judged."""
MAX_IDLE = 8
"""Number of renderings in a row that gain nothing, or fail, after which the pages of a template are only checked."""
CHECK_EVERY = 25
"""One of so many pages is rendered of a template whose pages are only checked."""
MAX_TEMPLATES = 2_000
"""Maximum number of templates. The pages of all further ones share one, as if they were of one kind."""
MAX_TEMPLATES_OF_SHAPE = 20
"""Maximum number of templates for URLs of one shape. A page that has scripts of its own is a template by itself."""
MAX_PARAMETERS = 10
"""Maximum number of parameters of a query that count for the shape of a URL."""
OVERFLOW = 0
"""Key of the template that pages share from MAX_TEMPLATES on."""

_DIGITS = re.compile("[0-9]+")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}\Z")


class Verdict(Enum):
    """What becomes of a page."""

    RENDER = "render"
    LEAVE = "leave"
    WAIT = "wait"
    """The samples of its template are being rendered: judge the page again after the next result."""


class Judgement(NamedTuple):
    """The verdict on a page, and its cause."""

    verdict: Verdict
    cause: RenderCause
    template: int | None = None
    """Key of the template; None for a page without scripts."""


class TemplateCounts(NamedTuple):
    """The results of one template, as the inventory stores them."""

    key: int
    shape: int
    """Key of the shape of the URLs."""
    rendered: int
    """Number of renderings that did not fail."""
    useful: int
    """Number of renderings that showed more than the plain page."""
    idle: int
    """Number of renderings in a row, the last ones, that gained nothing."""
    failed: int
    """Number of renderings in a row, the last ones, that failed."""
    passed: int
    """Number of pages that were not rendered, or rendered only as a check."""


class _Template:
    """The state of one template. `pending` is the number of samples that are being rendered."""

    __slots__ = ("failed", "idle", "key", "passed", "pending", "rendered", "shape", "useful")

    def __init__(self, counts: TemplateCounts) -> None:
        self.key, self.shape, self.rendered, self.useful, self.idle, self.failed, self.passed = counts
        self.pending = 0

    def counts(self) -> TemplateCounts:
        return TemplateCounts(self.key, self.shape, self.rendered, self.useful, self.idle, self.failed, self.passed)


class RenderingPolicy:
    """Judge of the pages of a crawl, and memory of what renderings have shown."""

    def __init__(self, *, always: bool, known: Iterable[TemplateCounts] = ()) -> None:
        """With `always` every page with scripts is rendered. `known` are the stored results, the latest first."""
        self._always = always
        self._templates: dict[int, _Template] = {}
        self._of_shape: dict[int, int] = {}
        self._changed: set[int] = set()
        for counts in known:
            if len(self._templates) < MAX_TEMPLATES and counts.key not in self._templates:
                self._add(_Template(counts))
        self._changed.clear()

    def judge(
        self, url: str, facts: ScriptFacts, *, gained_before: bool = False, again: RenderCause | None = None
    ) -> Judgement:
        """Return the verdict on a page. Each RENDER must be followed by one call of `gained`, `failed` or `abandoned`.

        `gained_before`: the last rendering of the page showed more than the plain page. `again` is SAMPLE for a page
        that was a sample in an earlier run, and CHECK for one that is rendered even if its template gains nothing.
        """
        if not facts.scripts:
            return Judgement(Verdict.LEAVE, RenderCause.NO_SCRIPTS)
        template = self._template_of(url, facts)
        if self._always:
            return Judgement(Verdict.RENDER, RenderCause.ALWAYS, template.key)
        if gained_before:
            return Judgement(Verdict.RENDER, RenderCause.GAINED_BEFORE, template.key)
        if facts.is_shell:
            return Judgement(Verdict.RENDER, RenderCause.SHELL, template.key)
        if again is RenderCause.SAMPLE or (template.failed < MAX_IDLE and template.rendered < SAMPLES):
            if again is None and template.rendered + template.pending >= SAMPLES:
                return Judgement(Verdict.WAIT, RenderCause.SAMPLE, template.key)
            template.pending += 1
            return Judgement(Verdict.RENDER, RenderCause.SAMPLE, template.key)
        if template.failed < MAX_IDLE and template.useful and template.idle < MAX_IDLE:
            return Judgement(Verdict.RENDER, RenderCause.TEMPLATE, template.key)
        if again is not None or self._pass(template):
            return Judgement(Verdict.RENDER, RenderCause.CHECK, template.key)
        return Judgement(Verdict.LEAVE, RenderCause.IDLE_TEMPLATE, template.key)

    def gained(self, judgement: Judgement, *, useful: bool) -> None:
        """Count a rendering that did not fail."""
        template = self._finish(judgement)
        if template is not None:
            template.rendered += 1
            template.useful += useful
            template.idle = 0 if useful else template.idle + 1
            template.failed = 0
            self._changed.add(template.key)

    def failed(self, judgement: Judgement) -> None:
        """Count a rendering that failed. It is no evidence of what its template gains."""
        template = self._finish(judgement)
        if template is not None:
            template.failed += 1
            self._changed.add(template.key)

    def abandoned(self, judgement: Judgement) -> None:
        """Forget a rendering that was interrupted."""
        self._finish(judgement)

    def renders_all_of(self, key: int | None) -> bool:
        """Return whether all pages of a template are rendered, as far as is known."""
        template = self._templates.get(key) if key is not None else None
        return template is not None and bool(template.useful) and template.idle < MAX_IDLE > template.failed

    def checks(self, key: int | None) -> bool:
        """Count a page that stays as it is for what is known of its template. Return whether it is rendered instead."""
        template = self._templates.get(key) if key is not None else None
        return template is not None and self._pass(template)

    def tries(self, key: int | None) -> bool:
        """Return whether a page of a template is rendered again after a failure."""
        template = self._templates.get(key) if key is not None else None
        return template is None or template.failed < MAX_IDLE

    def idle_of(self, judgement: Judgement) -> int:
        """Return the number of renderings in a row that gained nothing, of the template of a page."""
        template = self._templates.get(judgement.template) if judgement.template is not None else None
        return 0 if template is None else template.idle

    def take_changed(self) -> list[TemplateCounts]:
        """Return the results that have changed since the last call."""
        changed = [self._templates[key].counts() for key in sorted(self._changed)]
        self._changed.clear()
        return changed

    def _pass(self, template: _Template) -> bool:
        template.passed += 1
        self._changed.add(template.key)
        return template.passed % CHECK_EVERY == 0

    def _finish(self, judgement: Judgement) -> _Template | None:
        template = self._templates.get(judgement.template) if judgement.template is not None else None
        if template is not None and judgement.cause is RenderCause.SAMPLE:
            template.pending -= 1
        return template

    def _template_of(self, url: str, facts: ScriptFacts) -> _Template:
        shape = _hash(url_shape(url).encode(errors="replace"))
        key = _hash(shape.to_bytes(8, "big") + facts.scripts)
        template = self._templates.get(key)
        if template is None and self._of_shape.get(shape, 0) >= MAX_TEMPLATES_OF_SHAPE:
            key = shape
            template = self._templates.get(key)
        if template is None and len(self._templates) >= MAX_TEMPLATES:
            key = shape = OVERFLOW
            template = self._templates.get(key)
        return template or self._add(_Template(TemplateCounts(key, shape, 0, 0, 0, 0, 0)))

    def _add(self, template: _Template) -> _Template:
        self._templates[template.key] = template
        if template.key != template.shape:
            self._of_shape[template.shape] = self._of_shape.get(template.shape, 0) + 1
        return template


def url_shape(url: str) -> str:
    """Return what URLs of one kind have in common: first directory, depth, ending, and names of parameters.

    Hosts do not count, because the addresses of the scripts tell them apart where they differ.
    """
    parts = urlsplit(url)
    directory, _, name = parts.path.rpartition("/")
    first, depth = directory.lstrip("/").partition("/")[0], directory.count("/")
    ending = _ENDING.search(name)
    kind = ending[0].lower() if ending else "name" if name else ""
    pairs = parts.query.split("&", MAX_PARAMETERS)[:MAX_PARAMETERS] if parts.query else []
    names = sorted({pair.partition("=")[0] for pair in pairs})
    return f"{_DIGITS.sub('0', first)}/{depth}/{kind}?{_DIGITS.sub('0', '&'.join(names))}"


def _hash(value: bytes) -> int:
    """Return a key other than OVERFLOW, as a number of 63 bits."""
    return int.from_bytes(blake2b(value, digest_size=8).digest(), "big") >> 1 or 1
