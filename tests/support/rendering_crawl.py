"""The parts of a crawl that the renderer needs: its engine is a dictionary of answers."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy.http import Response

from sitemap_crawler.config.options import Options
from sitemap_crawler.crawl.keys import Meta
from sitemap_crawler.policy.rules import Rules
from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.urls.scope import registrable_domain
from sitemap_crawler.utils.addresses import Gate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request

SITE = "http://www.example.com"


@dataclass
class Reply:
    body: bytes | str = b""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    """Seconds until the request is sent: until it has its turn."""
    delay: float = 0.0
    """Seconds until its answer."""
    error: Exception | None = None


class FakeEngine:
    """Answers requests as the engine of a crawl does, and notes them."""

    def __init__(self, replies: Mapping[str, Reply | str]) -> None:
        self.replies = dict(replies)
        self.default = Reply("missing", status=404)
        self.requests: list[Request] = []
        self.closed_for: str | None = None
        self._slot = SimpleNamespace(closing=None, nextcall=None)

    async def download_async(self, request: Request) -> Response:
        self.requests.append(request)
        reply = self.answer(request)
        if isinstance(reply, str):
            kind = "text/javascript" if request.url.endswith(".js") else "application/json"
            reply = Reply(reply, "text/html" if request.url.endswith(".html") else kind)
        await asyncio.sleep(reply.wait)
        request.meta[Meta.SENT_AT] = time.monotonic()
        await asyncio.sleep(reply.delay)
        if reply.error is not None:
            raise reply.error
        body = reply.body.encode() if isinstance(reply.body, str) else reply.body
        headers = {"Content-Type": reply.content_type, **reply.headers}
        return Response(request.url, status=reply.status, headers=headers, body=body)

    def answer(self, request: Request) -> Reply | str:
        """Return the reply to a request. Tests may put another function in the place of this one."""
        return self.replies.get(request.url, self.default)

    async def close_spider_async(self, *, reason: str) -> None:
        self.closed_for = reason
        self._slot.closing = object()

    def urls(self) -> list[str]:
        return [request.url for request in self.requests]


def rendering_crawler(replies: Mapping[str, Reply | str] | None = None, **options: Any) -> Any:
    """Return a crawler with these answers and options."""
    start_url = options.pop("start_url", f"{SITE}/")
    parsed = Options.parse({"start_url": start_url, "render": "always", **options})
    stats: Counter[str] = Counter()
    lacks: list[str] = []
    job = SimpleNamespace(
        options=parsed,
        start_url=start_url,
        rules=Rules(parsed, sitemap_url=parsed.entry_url, start_url=start_url),
        gate=Gate(origin_of(start_url), domain_of=registrable_domain),
        lacks=lacks,
        lack_tool=lacks.append,
        ending=SimpleNamespace(shortage=None),
        lack=lambda shortage, place: lacks.append(f"{shortage} ({place})"),
    )
    return SimpleNamespace(
        spider=SimpleNamespace(job=job),
        engine=FakeEngine(replies or {}),
        settings={"USER_AGENT": "tester/1.0"},
        counts=stats,
        stats=SimpleNamespace(inc_value=lambda name, count=1: stats.update({name: count})),
    )
