"""A renderer without a browser: the scripts of its pages are orders in JSON.

    <script>//fake {"append": "<a href=/b>b</a>"}</script>

appends markup to the body. Further orders: `fetch` (paths whose answers are appended), `title`, `add_head`, `moved_to`,
`moved_by` (a path whose answer is the address to move to, if it is not empty), `history`, `problem`, `refuse` (URLs),
`post` (URLs to which a POST is refused), `forbidden` (URLs that robots.txt forbids), `blank` (the body is emptied
first), `clock` (the value of FAKE_RENDERER_CLOCK is appended), and `routes` (further orders by path, those of "*" for
all other paths). Each rendering is written to the file that FAKE_RENDERER_LOG names. With FAKE_RENDERER_FAILS all
renderings fail, and with FAKE_RENDERER_KILLS the rendering with this number kills the process.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from scrapy import Request

from sitemap_crawler.crawl.keys import Meta
from sitemap_crawler.crawl.rendering.rendered import MISSED, Refusal, Rendered, ResourceKind, ScriptRequest
from sitemap_crawler.items import PLAIN_HEADERS, is_transient
from tests.support.webserver import page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy.crawler import Crawler

    from sitemap_crawler.crawl.rendering.rendered import PlainPage
    from tests.support.program import Program

SETTING = "PAGE_RENDERER=tests.support.fake_renderer.FakeRenderer"
_ORDERS = re.compile(r"//fake (\{.*?\})</script>", re.DOTALL)


class FakeRenderer:
    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._answers: dict[str, ScriptRequest] = {}
        self._bodies: dict[str, str] = {}
        self._count = 0

    async def render(self, url: str, plain: PlainPage) -> Rendered:
        with Path(os.environ["FAKE_RENDERER_LOG"]).open("a", encoding="utf-8") as log:
            log.write(url + "\n")
        self._count += 1
        if self._count == int(os.environ.get("FAKE_RENDERER_KILLS", 0)):
            os.kill(os.getpid(), signal.SIGKILL)
        html = plain.body.decode()
        found = _ORDERS.search(html)
        orders: dict[str, Any] = json.loads(found[1]) if found else {}
        routes = orders.get("routes", {})
        orders |= routes.get(urlsplit(url).path, routes.get("*", {}))
        await asyncio.sleep(orders.get("seconds", 0))
        if "raises" in orders:
            raise LookupError(orders["raises"])
        if os.environ.get("FAKE_RENDERER_FAILS"):
            return Rendered(problem="the browser is gone")
        if "problem" in orders:
            return Rendered(problem=orders["problem"], seconds=0.5)
        requests = [await self._request(urljoin(url, path)) for path in orders.get("fetch", ())]
        added = orders.get("append", "") + "".join(self._bodies[request.url] for request in requests)
        if orders.get("clock"):
            added += os.environ["FAKE_RENDERER_CLOCK"]
        if orders.get("blank"):
            html = "<html><head></head><body></body></html>"
        if "title" in orders:
            html = re.sub("<title>.*?</title>", "", html).replace("<head>", f"<head><title>{orders['title']}</title>")
        html = html.replace("<head>", f"<head>{orders.get('add_head', '')}").replace("</body>", f"{added}</body>")
        moved_to = orders.get("moved_to")
        if path := orders.get("moved_by"):
            requests.append(await self._request(urljoin(url, path)))
            moved_to = self._bodies[requests[-1].url] or None
        return Rendered(
            html=html,
            moved_to=moved_to,
            moved_by_history=bool(orders.get("history")),
            requests=tuple(requests),
            refused=(
                *(Refusal(refused, "a picture") for refused in orders.get("refuse", ())),
                *_refused(url, orders.get("post", ()), "POST requests are not sent"),
                *_refused(url, orders.get("forbidden", ()), "robots.txt forbids it"),
            ),
            seconds=0.5,
        )

    async def unchanged(self, requests: Sequence[ScriptRequest]) -> bool:
        return all([(await self._request(old.url, old)).body_hash == old.body_hash for old in requests])

    async def close(self) -> None:
        pass

    async def _request(self, url: str, old: ScriptRequest | None = None) -> ScriptRequest:
        """Ask once a run; with the answer of an earlier run, for a change of it."""
        if url not in self._answers or (old is None and url not in self._bodies):
            headers = {} if old is None or old.etag is None else {"If-None-Match": old.etag}
            request = Request(url, headers=headers, meta={Meta.VERBATIM_URL: True})
            response = await self._crawler.engine.download_async(request)  # type: ignore[union-attr]
            if response.status == 304 and old is not None:
                self._answers[url] = old
                return old
            etag = response.headers.get("ETag")
            self._bodies[url] = response.body.decode()
            digest = blake2b(response.body, digest_size=16, key=str(response.status).encode()).digest()
            answer = ScriptRequest(url, ResourceKind.DATA, etag and etag.decode(), None, digest, headers=PLAIN_HEADERS)
            if is_transient(response.status):
                answer = replace(answer, etag=None, body_hash=MISSED, problem=f"status {response.status}")
            self._answers[url] = answer
        return self._answers[url]


def _refused(page_url: str, urls: Iterable[str], reason: str) -> list[Refusal]:
    return [Refusal(urljoin(page_url, url), reason, ResourceKind.DATA) for url in urls]


def ordered(*links: str, title: str = "", text: str = "", head: str = "", app: str = "/app.js", **orders: Any) -> str:
    """Return a page whose script has these orders. Pages with the same `app` have the same scripts."""
    scripts = f'<script src="{app}"></script><script>//fake {json.dumps(orders)}</script>'
    return page(*links, title=title, head=head + scripts, body=text)


def shell(**orders: Any) -> str:
    """Return a page that is empty without its script."""
    scripts = f'<script src="/app.js"></script><script>//fake {json.dumps(orders)}</script>'
    return f"<!doctype html><html><head><title>App</title>{scripts}</head><body><div id=root></div></body></html>"


def rendered(program: Program) -> list[str]:
    """Return the paths of the renderings so far, in their order, and forget them."""
    log = program.directory / "renderings.log"
    urls = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return ["/" + url.split("/", 3)[3] for url in urls]
