"""A bare crawler: an asyncio loop with aiohttp and lxml that finds all pages of a host and stores nothing.

It shows what a crawler in Python can reach in practice.

`python benchmarks/bare_crawler.py URL CONCURRENCY`
"""

from __future__ import annotations

import asyncio
import sys
from urllib.parse import urljoin

import aiohttp
from page_links import page_links
from yarl import URL


class Crawl:
    def __init__(self, start: str) -> None:
        self._start = start
        self._seen = {start}
        self._queue: asyncio.Queue[str] = asyncio.Queue()

    async def run(self, concurrency: int) -> None:
        self._queue.put_nowait(self._start)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency)) as session:
            workers = [asyncio.create_task(self._work(session)) for _ in range(concurrency)]
            await self._queue.join()
            for worker in workers:
                worker.cancel()

    async def _work(self, session: aiohttp.ClientSession) -> None:
        while True:
            url = await self._queue.get()
            async with session.get(URL(url, encoded=True), allow_redirects=False) as response:
                body = await response.read()
            if 300 <= response.status < 400:
                self._add([urljoin(url, response.headers["Location"])])
            elif response.status == 200 and response.content_type == "text/html":
                self._add(page_links(body, url))
            self._queue.task_done()

    def _add(self, urls: list[str]) -> None:
        for url in urls:
            if url.startswith(self._start) and url not in self._seen:
                self._seen.add(url)
                self._queue.put_nowait(url)


if __name__ == "__main__":
    asyncio.run(Crawl(sys.argv[1]).run(int(sys.argv[2])))
