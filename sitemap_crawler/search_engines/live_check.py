"""Checks of the own site before anything is sent: the public files have the published bytes, the key file is in place,
and robots.txt names the sitemap."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.policy.robots_txt import RobotsTxt
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from sitemap_crawler.search_engines.published_files import HostFiles, LiveFile
    from sitemap_crawler.search_engines.site_client import SiteAnswer, SiteClient

_CHECK_SERVER = "check that the server is up and that this machine can reach it"
_NOT_THERE = (404, 410)
_SHOWN_HASH = 12
"""Number of characters of a hash in a message."""


class Problem(NamedTuple):
    """Why nothing is sent, and what to do."""

    message: str
    advice: str


class RobotsRow(NamedTuple):
    """Whether robots.txt of a host names the sitemap, the line that does, and why robots.txt cannot be read."""

    host: str
    names_sitemap: bool
    line: str
    problem: str | None = None


def live_problem(client: SiteClient, files: HostFiles) -> Problem | None:
    """Return the first difference between the published files of a host and what its server sends; None without one."""
    for file in files.entries:
        answer = client.fetch(file.url, max_bytes=file.bytes)
        difference = answer.difference or _other_bytes(answer, file)
        if difference is not None:
            return _not_live(answer, difference)
    for file in files.shards:
        answer = client.is_there(file.url)
        if answer.difference is not None:
            return _not_live(answer, answer.difference)
    return None


def _not_live(answer: SiteAnswer, difference: str) -> Problem:
    advice = _CHECK_SERVER if answer.status is None else "copy the published files to the server, or clear its cache"
    return Problem(f"not live yet: {difference}", f"{advice}, and run the same command again; --force sends anyway")


def _other_bytes(answer: SiteAnswer, file: LiveFile) -> str | None:
    """Return how the bytes of an answer differ from those of the published file."""
    if answer.size > file.bytes:
        return f"{file.url} has more than the {file.bytes:,} bytes that were published"
    if answer.size != file.bytes:
        return f"{file.url} has {answer.size:,} bytes, {file.bytes:,} were published"
    if answer.sha256 != file.sha256:
        hashes = f"{answer.sha256[:_SHOWN_HASH]}… instead of {file.sha256[:_SHOWN_HASH]}…"
        return f"{file.url} has other bytes than the published file (SHA-256 {hashes})"
    return None


def key_url(files: HostFiles, key: str, location: str | None) -> str:
    """Return the URL of the key file of a host."""
    return location or f"{files.origin}/{key}.txt"


def key_problem(client: SiteClient, files: HostFiles, key: str, location: str | None) -> Problem | None:
    """Return why a search engine would not find the key at a host; None if it would."""
    url = key_url(files, key, location)
    answer = client.fetch_on_host(url)
    advice = (
        _CHECK_SERVER
        if answer.status is None
        else "put a file with nothing but the key there: --write-key DIR writes it"
    )
    difference = answer.difference
    if difference is None and answer.body.decode("utf-8-sig", "replace").strip() != key:
        difference = f"{url} does not hold the key"
    return None if difference is None else Problem(f"the key file is not in place: {difference}", advice)


def robots_row(client: SiteClient, files: HostFiles) -> RobotsRow:
    """Return whether robots.txt of a host names its sitemap. Without an answer that is not known."""
    answer = client.fetch_on_host(f"{files.origin}/robots.txt")
    named = RobotsTxt.parse(answer.body).sitemaps if answer.status == 200 else ()
    line = f"Sitemap: {printable(files.entry.url)}"
    # A file that is not there lacks the line, too.
    problem = None if answer.status in _NOT_THERE else answer.difference
    return RobotsRow(files.host, files.entry.url in {url.strip() for url in named}, line, problem)
