"""The stage of the page pipelines that renders pages: the plain page first, then, if it is worth it, the rendered one.

Status, headers, redirects and validators are those of the plain page. The same readers read both.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.misc import load_object

from sitemap_crawler.config.types import RenderMode
from sitemap_crawler.crawl.download.conditional import header_mark
from sitemap_crawler.crawl.engine import EngineControl
from sitemap_crawler.crawl.job import job_of
from sitemap_crawler.crawl.keys import Meta, Stat
from sitemap_crawler.crawl.pipelines.transfer import UnreadPage, apply_values
from sitemap_crawler.crawl.rendering.gains import Gain, Gains, gains_of
from sitemap_crawler.crawl.rendering.policy import Verdict
from sitemap_crawler.crawl.rendering.record import RenderingRecord
from sitemap_crawler.crawl.rendering.rendered import PlainPage, Rendered, ResourceKind, ScriptRequest
from sitemap_crawler.items import NoteKind, Page, PageRendering, QueuedUrl, RenderCause, RenderState, StoredRequest
from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.utils.shortage import shortage_of
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeVar

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from sitemap_crawler.crawl.pipelines.transfer import ExtractedValues
    from sitemap_crawler.crawl.rendering.policy import Judgement
    from sitemap_crawler.crawl.rendering.renderer import Renderer
    from sitemap_crawler.extract.document import Document
    from sitemap_crawler.items import Observation

    _T = TypeVar("_T")

logger = logging.getLogger(__name__)

CLOSING_CHECK_SECONDS = 0.2
"""Time between two checks whether the crawl is interrupted while a page is rendered or waits."""
MAX_PROBLEM = 200
"""Maximum number of characters that are kept of the reason why a rendering failed, or a request was refused."""
MAX_REQUESTS_LENGTH = 20_000
"""Maximum number of characters of URLs and headers that are kept of the requests of a page.

A page with more is rendered in each run.
"""
MAX_LOST = 2
"""Number of times `revisit_excluded`, in runs, for which a known rendering stays while requests of the page fail."""
HASH_BYTES = 16
_NEEDS_SCRIPTS = (RenderCause.SHELL, RenderCause.TEMPLATE, RenderCause.GAINED_BEFORE)
"""Causes for which scripts make the content."""
_CONTENT = (ResourceKind.DATA, ResourceKind.FRAME)
_DECIDING_HEADERS = ("content-type", "refresh")
"""Headers that belong to the plain page, with those of `header_mark`."""


class ReadPage(NamedTuple):
    """What the readers have made of a page."""

    values: ExtractedValues
    document: Document | None = None
    """The parsed page, if the crawling process has read it."""

    def apply_to(self, page: Page) -> None:
        apply_values(page, self.values)
        page.document = self.document


class RenderingStage:
    """The renderer of a crawl with the policy by which it is used, and the record of both in the inventory."""

    def __init__(self, crawler: Crawler, read: Callable[[UnreadPage], Awaitable[ReadPage]]) -> None:
        """`read` calls the readers of pages."""
        self._crawler, self._read = crawler, read
        self._engine = EngineControl(crawler)
        self._job = job = job_of(crawler)
        self._always = job.options.render is RenderMode.ALWAYS
        self._renderer: Renderer = load_object(crawler.settings["PAGE_RENDERER"])(crawler)
        self._record = RenderingRecord(job, always=self._always)
        self._policy = self._record.policy
        self._asked_again: dict[int, RenderCause | None] = {}
        """Ids of pages that were requested again to render them, each with the cause that counts for it in any case."""
        job.read_probe = self.read_probe
        self._news = asyncio.Event()
        """Set at the next result of a rendering, for the pages that wait for it."""

    async def close(self) -> None:
        try:
            await self._renderer.close()
        finally:
            self._record.store()

    def takes(self, page: Page) -> bool:
        """Return whether the stage reads the page: it has a body, or a 304 confirms a rendering."""
        return page.body is not None or (page.observation.not_modified and page.queued.rendered is not None)

    async def process(self, page: Page) -> bool:
        """Read a page, rendered if that is worth it. Return whether it is to be stored.

        It is not if the crawl is interrupted, and if the page is requested again.
        """
        if page.body is None:
            return await self._confirm(page)
        before, body, run = page.queued.rendered, page.body, self._job.run.id
        plain_hash = _plain_hash(page, body)
        is_same = before is not None and before.plain_hash == plain_hash
        is_second = page.queued.id in self._asked_again
        again = self._asked_again.pop(page.queued.id) if is_second else self._sample(before)
        may_stand = is_same and not is_second and not self._is_due(page)
        if before is not None and may_stand and before.follows_scripts:
            stands = await self._unless_closing(self._stands(before))
            if stands is None:
                return False
            if stands:
                self._keep(page)
                return True
            again = again or RenderCause.CHECK
        notes = dict(page.observation.notes)
        plain = PlainPage(page.observation.status or 0, page.headers, body)
        unread = UnreadPage.from_page(page)._replace(notes=dict(notes))
        content = await self._unless_closing(self._read(unread))
        if content is None:
            return False
        content.apply_to(page)
        judgement = await self._judge(page, again)
        if judgement is None or judgement.verdict is Verdict.WAIT:
            return judgement is None
        if judgement.verdict is Verdict.LEAVE:
            samples = self._policy.idle_of(judgement)
            page.observation.rendering = PageRendering(
                RenderState.LEFT, judgement.cause, run, judgement.template, samples=samples, plain_hash=plain_hash
            )
            self._record.store_if_due()
            return True
        rendering = PageRendering(RenderState.NO_GAIN, judgement.cause, run, judgement.template, plain_hash=plain_hash)
        has_result = False
        try:
            rendered = await self._unless_closing(self._render(page.queued.url, plain))
            if rendered is None:
                return False
            problem = rendered.problem or self._lost(page, rendered)
            if problem is None:
                read = await self._unless_closing(self._read_rendered(page, unread, notes, rendered))
                if read is None:
                    return False
                gains = self._take(page, rendering, rendered, read)
                self._policy.gained(judgement, useful=bool(gains.kinds))
            else:
                self._policy.failed(judgement)
                self._take_failure(page, rendering, problem, keeps=is_same)
            has_result = True
        except IgnoreRequest:
            # The crawl ends.
            return False
        finally:
            if not has_result:
                self._policy.abandoned(judgement)
            self._tell()
        self._record.store()
        return True

    async def read_probe(self, response: Response) -> Observation | None:
        """Return the observation of a page that is not of the crawl; None if it has to be rendered and cannot be.

        A page without scripts, or one that shows no more with them, is observed as the server sends it.
        """
        spider: Any = self._crawler.spider
        request = Request(response.url, meta={Meta.QUEUED: QueuedUrl(0, response.url, 0)})
        page = next(spider.parse(response.replace(request=request)))
        if page.body is None:
            return None
        plain = PlainPage(response.status, page.headers, page.body)
        unread = UnreadPage.from_page(page)
        (await self._read(unread)).apply_to(page)
        observation: Observation = page.observation
        if page.scripts is None or not page.scripts.scripts:
            return observation
        try:
            rendered = await self._render(response.url, plain)
        except IgnoreRequest:
            return None
        if rendered.problem is not None:
            return None
        read = await self._read_rendered(page, unread, {}, rendered)
        gains = gains_of(page, read, follows=self._follows)
        return read.observation if gains.kinds or self._always else observation

    async def _confirm(self, page: Page) -> bool:
        """Keep the last rendering of a page that a 304 confirms, or request the page again to render it."""
        before, is_due = page.queued.rendered, self._is_due(page)
        if before is None:
            return True
        again = self._sample(before)
        if before.follows_scripts and not is_due:
            stands = await self._unless_closing(self._stands(before))
            if stands is None:
                return False
            again = again or RenderCause.CHECK
        elif before.is_renewed:
            stands = False
        elif before.state is RenderState.FAILED:
            stands = not self._policy.tries(before.template)
        elif self._policy.renders_all_of(before.template):
            stands = False
        else:
            stands, again = not self._policy.checks(before.template), RenderCause.CHECK
        if stands:
            self._keep(page)
            self._record.store_if_due()
        else:
            self._request_again(page, again)
        return stands

    def _sample(self, before: PageRendering | None) -> RenderCause | None:
        """Return SAMPLE for a sample that has shown nothing: it goes on to stand for the pages of its template."""
        is_sample = before is not None and before.state is RenderState.NO_GAIN and before.cause is RenderCause.SAMPLE
        return RenderCause.SAMPLE if is_sample and not self._job.options.full else None

    def _keep(self, page: Page) -> None:
        """Let the stored observation stand."""
        page.body, page.observation.not_modified = None, True
        if page.queued.rendered is not None and page.queued.rendered.is_scripted:
            self._record.counts["confirmed"] += 1
        self._record.store_if_due()

    def _request_again(self, page: Page, again: RenderCause | None) -> None:
        """Request a page without conditions: a 304 has no body to render."""
        queued = replace(page.queued, etag=None, modified_header=None)
        self._asked_again[queued.id] = again
        # The 304 has no observation of its own.
        self._crawler.stats.inc_value(Stat.RENDER_REQUESTS)
        spider: Any = self._crawler.spider
        meta = {Meta.VERBATIM_URL: True, Meta.QUEUED: queued}
        request = Request(queued.url, callback=spider.parse, errback=spider.failed, meta=meta, dont_filter=True)
        self._crawler.engine.crawl(request)

    def _is_due(self, page: Page) -> bool:
        """Return whether the page is rendered in this run although nothing of it has changed."""
        before, options, run = page.queued.rendered, self._job.options, self._job.run.id
        if before is None or options.full:
            return True
        # Pages that were rendered in one run take their turns in several later ones.
        every, age = options.revisit_excluded, run - before.run
        return age >= every or (2 * age > every and (page.queued.id + run) % every == 0)

    async def _stands(self, before: PageRendering) -> bool:
        """Return whether nothing has changed of what the scripts of a page ask for."""
        if before.plain_hash is None:
            return False
        requests = [
            ScriptRequest(url, ResourceKind(kind), etag, modified, bytes.fromhex(body_hash), method, headers)
            for url, kind, etag, modified, body_hash, method, headers in before.requests
        ]
        return not requests or await self._renderer.unchanged(requests)

    async def _judge(self, page: Page, again: RenderCause | None) -> Judgement | None:
        """Return the verdict on a plain page; None if it is stored as it is, WAIT if the crawl is interrupted."""
        facts, observation = page.scripts, page.observation
        is_candidate = page.is_document and observation.status == 200 and observation.refresh is None
        if facts is None or not is_candidate:
            return None
        cause = RenderCause.NO_SCRIPTS if not facts.scripts else None
        if cause is None and observation.noindex:
            cause = RenderCause.NOINDEX
        elif cause is None and NoteKind.LONG_BODY in observation.notes:
            cause = RenderCause.INCOMPLETE
        if cause is not None:
            observation.rendering = PageRendering(RenderState.LEFT, cause)
            return None
        gained_before = page.queued.rendered is not None and page.queued.rendered.is_scripted
        while True:
            judgement = self._policy.judge(page.queued.url, facts, gained_before=gained_before, again=again)
            if judgement.verdict is not Verdict.WAIT:
                return judgement
            if await self._unless_closing(self._news.wait()) is None:
                return judgement

    async def _render(self, url: str, plain: PlainPage) -> Rendered:
        try:
            rendered = await self._renderer.render(url, plain)
        except IgnoreRequest:
            raise
        except Exception as error:
            if shortage_of(error) is not None:
                raise
            logger.exception("cannot render %s", url)
            rendered = Rendered(problem=f"{type(error).__name__}: {error}")
        self._record.add(rendered)
        return rendered

    async def _read_rendered(self, page: Page, unread: UnreadPage, notes: dict[Any, Any], rendered: Rendered) -> Page:
        """Return the rendered page as the readers see it. `page` is the plain one, `notes` are those before it."""
        facts = page.scripts
        # References in another charset than UTF-8 are resolved by that charset.
        charset = "utf-8" if facts is None else facts.charset
        headers = {**unread.headers, "content-type": [f"text/html; charset={charset}"]}
        body = rendered.html.encode(charset, "xmlcharrefreplace")
        content = await self._read(unread._replace(headers=headers, body=body, notes=dict(notes)))
        read = Page(page.queued, replace(page.observation, notes={}), {}, page.is_start, suspect=page.suspect)
        content.apply_to(read)
        stated = read.observation.page_date
        if stated is not None and stated != page.observation.page_date and stated.moment >= page.observation.fetched:
            # A script has stated its own clock.
            read.observation.page_date = None
        # A reader notes these once for all pages, so those of the plain page count, too.
        read.resources = (*page.resources, *read.resources)
        if api := page.observation.notes.get(NoteKind.WORDPRESS_API):
            read.observation.notes.setdefault(NoteKind.WORDPRESS_API, api)
        return read

    def _take(self, page: Page, rendering: PageRendering, rendered: Rendered, read: Page) -> Gains:
        """Store on the page what its rendering has shown, and return its gains."""
        observation = page.observation
        requests = _stored_requests(rendered)
        if requests is None:
            rendering = replace(rendering, plain_hash=None)
        target = self._target(page, rendered, read)
        if target is not None:
            gains = Gains((Gain.ADDRESS,))
            observation.location, observation.made_by_scripts = target, True
            rendering = replace(rendering, state=RenderState.MOVED, gains=gains.kinds, requests=requests or ())
            observation.rendering = rendering
            self._record.counts["useful"] += 1
            return gains
        gains = gains_of(page, read, follows=self._follows)
        if gains.kinds or self._always:
            for name in ("is_document", "links", "nofollow_links", "resources", "likeness", "is_blank", "document"):
                setattr(page, name, getattr(read, name))
            page.observation = observation = read.observation
            observation.made_by_scripts = bool(gains.kinds) or _depends_on_scripts(page, rendering, rendered)
            rendering = replace(
                rendering, state=RenderState.RENDERED, gains=gains.kinds, links=gains.links, requests=requests or ()
            )
            before = page.queued.rendered
            observation.comparable = before is None or _may_differ(before, rendering)
        else:
            observation.made_by_scripts = _depends_on_scripts(page, rendering, rendered)
            rendering = replace(rendering, requests=requests or ())
        missed = _missed(rendered, page.queued.url) if read.scripts is not None and read.scripts.is_shell else None
        if missed is not None:
            observation.notes[NoteKind.REFUSED_REQUEST] = missed
        elif words := _only_rendered(gains):
            observation.notes[NoteKind.ONLY_RENDERED] = words
        self._record.counts["useful"] += bool(gains.kinds)
        observation.rendering = rendering
        return gains

    def _lost(self, page: Page, rendered: Rendered) -> str | None:
        """Return why the page lacks for now what its last rendering had; None if it lacks nothing, or for long."""
        before = page.queued.rendered
        if before is None or self._job.run.id - before.run > MAX_LOST * self._job.options.revisit_excluded:
            return None
        answered = {request.name for request in before.requests if request.body_hash}
        for request in rendered.requests:
            is_foreign = self._job.gate.is_resource_host(origin_of(request.url))
            if request.problem is not None and not is_foreign and _stored_request(request).name in answered:
                return f"{request.url} has no answer: {request.problem}"
        return None

    def _target(self, page: Page, rendered: Rendered, read: Page) -> str | None:
        """Return the URL to which a script has moved the page; None if the page is at its own URL."""
        if rendered.moved_to is None:
            return None
        spider: Any = self._crawler.spider
        target: str | None = spider.resolver.resolve(rendered.moved_to, page.queued.url)
        if target == page.queued.url:
            return None
        # A script may spell the address in another way. Then the canonical says which one counts.
        if rendered.moved_by_history and read.observation.canonical == page.queued.url:
            return None
        return target

    def _take_failure(self, page: Page, rendering: PageRendering, problem: str, *, keeps: bool) -> None:
        """Note a failed rendering: the plain page counts, unless it is the same as that of the last rendering."""
        self._record.counts["failed"] += 1
        logger.info("cannot render %s: %s", page.queued.url, one_line(problem, MAX_PROBLEM))
        before = page.queued.rendered
        if before is not None and before.is_known and keeps:
            self._keep(page)
            return
        page.observation.made_by_scripts = rendering.cause in _NEEDS_SCRIPTS
        problem = one_line(problem, MAX_PROBLEM)
        page.observation.rendering = replace(rendering, state=RenderState.FAILED, problem=problem)

    def _follows(self, url: str) -> bool:
        return self._job.rules.scope.admits(url)

    def _tell(self) -> None:
        """Wake the pages that wait for a result."""
        self._news.set()
        self._news = asyncio.Event()

    async def _unless_closing(self, work: Awaitable[_T]) -> _T | None:
        """Return the result of `work`; None if the crawl is interrupted before that."""
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=CLOSING_CHECK_SECONDS))[0]:
                if self._engine.is_closing:
                    return None
            return task.result()
        finally:
            task.cancel()


def _plain_hash(page: Page, body: bytes) -> str:
    """Return the hash of what the server sends: the body, and the headers that decide what it means."""
    digest = blake2b(body, digest_size=HASH_BYTES)
    for name in _DECIDING_HEADERS:
        for value in page.headers.get(name, ()):
            digest.update(f"\n{name}: {value}".encode())
    digest.update(header_mark(page.headers) or b"")
    return digest.hexdigest()


def _depends_on_scripts(page: Page, rendering: PageRendering, rendered: Rendered) -> bool:
    """Return whether scripts decide on a page to which they add nothing now: they did, or may when data change."""
    before, facts = page.queued.rendered, page.scripts
    if before is not None and before.gains:
        return True
    needs_them = rendering.cause in _NEEDS_SCRIPTS or (facts is not None and facts.is_shell)
    return needs_them and any(request.kind in _CONTENT for request in rendered.requests)


def _missed(rendered: Rendered, url: str) -> list[str] | None:
    """Return the URL that a page that stays empty has asked for in vain, and why; None if there is none."""
    missed = rendered.missed(origin_of(url))
    return None if missed is None else [missed.url, one_line(missed.reason, MAX_PROBLEM)]


def _only_rendered(gains: Gains) -> str | None:
    """Return in words what a page has only after its scripts have run, if other search engines may miss it."""
    words = []
    if gains.links:
        words.append("1 link" if gains.links == 1 else f"{gains.links:,} links")
    if Gain.TEXT in gains.kinds:
        words.append("its text")
    return " and ".join(words) or None


def _stored_requests(rendered: Rendered) -> tuple[StoredRequest, ...] | None:
    """Return the requests of the scripts as they are stored; None if they are too long for that."""
    lengths = (len(request.url) + sum(map(len, chain(*request.headers))) for request in rendered.requests)
    if sum(lengths) > MAX_REQUESTS_LENGTH:
        return None
    return tuple(map(_stored_request, rendered.requests))


def _stored_request(request: ScriptRequest) -> StoredRequest:
    return StoredRequest(
        request.url,
        str(request.kind),
        request.etag,
        request.last_modified,
        request.body_hash.hex(),
        request.method,
        request.headers,
    )


def _may_differ(before: PageRendering, after: PageRendering) -> bool:
    """Return whether another content of a rendered page is a change.

    It is none if scripts lacked other answers, nor if they got the same page and the same answers: then they show the
    time, or something at random.
    """
    had, has = ({request.name: request.body_hash for request in rendering.requests} for rendering in (before, after))
    if before.plain_hash is not None and before.plain_hash == after.plain_hash and had == has:
        return False
    return {name for name in had if not had[name]} == {name for name in has if not has[name]}
