"""The values of a rendering: the plain page that goes in, and what the browser has made of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_METHOD = 20
"""Maximum number of characters of a method that are told."""


def unsent(method: str) -> str:
    """Return the reason for which a request with another method than GET or HEAD is refused."""
    return f"{printable(method)[:MAX_METHOD]} requests are not sent"


_UNSENT_POST = unsent("POST")
MISSED = b""
"""Stands for the hash of an answer that there was not."""


class PlainPage(NamedTuple):
    """The answer of the server to the request for the page."""

    status: int
    headers: Mapping[str, Sequence[str]]
    """Values by lower-case name."""
    body: bytes
    """Decompressed."""


class ResourceKind(StrEnum):
    """What a page asks for. Everything else is refused."""

    SCRIPT = "script"
    DATA = "data"
    """Asked by a script with fetch() or XMLHttpRequest."""
    FRAME = "frame"
    """Document of a frame."""


_ORDER: dict[ResourceKind | None, int] = {ResourceKind.DATA: 0, ResourceKind.SCRIPT: 1, ResourceKind.FRAME: 2}


class Refusal(NamedTuple):
    """A request of a page that was not made, or had no answer."""

    url: str
    reason: str
    kind: ResourceKind | None = None
    """None for what is no content, such as a socket."""


@dataclass(frozen=True, slots=True)
class ScriptRequest:
    """A request that the page has made, with what tells whether the answer has changed."""

    url: str
    kind: ResourceKind
    etag: str | None
    last_modified: str | None
    """The header as received."""
    body_hash: bytes
    """Hash of status and body, 16 bytes. MISSED if the request was refused, or has failed."""
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    """Those that were sent for the page, in lower case and sorted."""
    problem: str | None = None
    """Why there is no answer for now, if another attempt may get one."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """The page as the browser shows it when its scripts have nothing left to do."""

    html: str = ""
    """The DOM with the content of open shadow roots in its place, at most `max_body` characters. Hostile text."""
    moved_to: str | None = None
    """Address to which a script went or which it gave to the page, as the browser spells it. The page itself stays."""
    moved_by_history: bool = False
    """Whether a script gave the page that address with the History API. Otherwise it went there."""
    requests: tuple[ScriptRequest, ...] = ()
    """In their order, the same one once."""
    refused: tuple[Refusal, ...] = ()
    """The first requests that were not made, each URL once."""
    seconds: float = 0.0
    """Wall-clock time, without the time for which requests waited for their turn."""
    problem: str | None = None
    """Why there is no DOM: the plain page counts."""

    def missed(self, origin: str) -> Refusal | None:
        """Return the refused request that most likely was for the content of a page of this origin, if any was."""

        def rank(refusal: Refusal) -> tuple[int, bool, bool]:
            return _ORDER[refusal.kind], origin_of(refusal.url) != origin, refusal.reason == _UNSENT_POST

        return min((refusal for refusal in self.refused if refusal.kind in _ORDER), key=rank, default=None)
