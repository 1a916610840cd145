"""A server for sites that need a browser: built files, an application's shell for every address, data that may change.

with RenderedSite(pages, fallback=conditional(shell, modified=BUILT)) as site:
    crawl(site.url("/"))
    assert site.counts()["/api/home.json"] == 1
    site.pages["/api/home.json"] = data({"text": "New"})
"""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from email.utils import formatdate, parsedate_to_datetime
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.paths import ROOT
from tests.support.webserver import Answer, WebServer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from tests.support.webserver import LoggedRequest, Page

BUILT = ROOT / "tests" / "sites" / "rendered" / "built"
HTML = "text/html; charset=utf-8"
TYPES = {
    ".html": HTML,
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".txt": "text/plain",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
WASTE = (".css", ".png", ".jpg", ".gif", ".svg", ".ico", ".webp", ".woff2", ".mp4")
"""Endings of files that say nothing about pages: style sheets, images, fonts, videos."""


class Asked(NamedTuple):
    """A kind of request."""

    method: str
    path: str
    """With the query."""

    @property
    def bare_path(self) -> str:
        return self.path.partition("?")[0]


class RenderedSite(WebServer):
    """Server of `pages` that answers every other path with `fallback`, as servers of single-page applications do."""

    def __init__(
        self,
        pages: Mapping[str, Page] | None = None,
        *,
        fallback: Page | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        super().__init__(pages, host=host, port=port)
        self.fallback = fallback

    def respond(self, request: LoggedRequest) -> Answer:
        path = request.path.partition("?")[0]
        known = request.path in self.pages or path in self.pages
        if known or self.fallback is None or "." in PurePosixPath(path).name:
            return super().respond(request)
        return self.fallback(request) if callable(self.fallback) else Answer(self.fallback)  # type: ignore[arg-type]

    def counts(self) -> Counter[Asked]:
        """Return the number of requests of each kind."""
        return Counter(Asked(request.method, request.path) for request in self.requests)


def conditional(
    body: str | bytes, content_type: str = HTML, *, modified: datetime | None = None, tagged: bool = True
) -> Callable[[LoggedRequest], Answer]:
    """Return a page with validators: an entity tag of its bytes, and the time of its last change.

    A request that names one of them and nothing newer is answered with 304.
    """
    payload = body.encode() if isinstance(body, str) else body
    headers = {"Cache-Control": "no-cache"}
    if tagged:
        headers["ETag"] = f'"{blake2b(payload, digest_size=8).hexdigest()}"'
    if modified is not None:
        headers["Last-Modified"] = formatdate(modified.timestamp(), usegmt=True)

    def answer(request: LoggedRequest) -> Answer:
        known = request.headers.get("if-none-match")
        since = request.headers.get("if-modified-since")
        if known is not None:
            unchanged = known == headers.get("ETag")
        else:
            unchanged = since is not None and modified is not None and parsedate_to_datetime(since) >= modified
        return Answer(status=304, headers=headers) if unchanged else Answer(payload, 200, headers, content_type)

    return answer


def data(value: Any, *, modified: datetime | None = None, tagged: bool = True) -> Callable[[LoggedRequest], Answer]:
    return conditional(json.dumps(value, sort_keys=True), "application/json", modified=modified, tagged=tagged)


def script(text: str) -> Callable[[LoggedRequest], Answer]:
    return conditional(text, "text/javascript")


def files_of(site: str) -> dict[str, bytes]:
    """Return the files of a built site by their paths on the server."""
    with tarfile.open(BUILT / f"{site}.tar.xz") as archive:
        members = ((member.name, archive.extractfile(member)) for member in archive)
        return {f"/{name}": file.read() for name, file in members if file is not None}


def served_files(site: str, *, prefix: str = "", modified: datetime | None = None) -> dict[str, Page]:
    """Return the pages of a built site. `index.html` is at the address of its directory."""
    pages: dict[str, Page] = {}
    for path, payload in files_of(site).items():
        if path == "/LICENSES.txt":
            continue
        name = path.removesuffix("index.html") if path.endswith("/index.html") else path
        content_type = TYPES.get(Path(path).suffix, "application/octet-stream")
        pages[f"{prefix}{name}"] = conditional(payload, content_type, modified=modified)
    return pages
