"""The values of a rendering: the plain page that goes in, and what the browser has made of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_METHOD = 20
"""Maximum number of characters of a method that are told."""


def unsent(method: str) -> str:
    """Return the reason for which a request with another method than GET or HEAD is refused."""
    return f"{printable(method)[:MAX_METHOD]} requests are not sent"


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


@dataclass(frozen=True, slots=True)
class ScriptRequest:
    """A request that the page has made and that was answered, with what tells whether the answer has changed."""

    url: str
    kind: ResourceKind
    etag: str | None
    last_modified: str | None
    """The header as received."""
    body_hash: bytes
    """Hash of status and body, 16 bytes."""


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
    """In the order of the first request, each URL once."""
    refused: tuple[tuple[str, str], ...] = ()
    """URL and reason of requests that were not made, the first ones."""
    seconds: float = 0.0
    """Wall-clock time, without the time for which requests waited for their turn."""
    problem: str | None = None
    """Why there is no DOM: the plain page counts."""

    @property
    def unsent_post(self) -> str | None:
        """The first URL to which a POST was not sent; None if there is none."""
        return next((url for url, reason in self.refused if reason == unsent("POST")), None)
