"""All targets by name, and those of whole files: robots.txt, sitemaps, compressed bodies, site files, inventories."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import zlib
from collections import Counter
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any
from unittest import mock

import brotli
from pydantic import SecretStr

from sitemap_crawler.config.options import Options
from sitemap_crawler.config.sources import read_site_file
from sitemap_crawler.crawl.download.content_coding import BodyDecoder
from sitemap_crawler.exceptions import CodingError, InputError, InventoryError
from sitemap_crawler.extract import sitemaps
from sitemap_crawler.extract.access_logs import AccessLog, Visit
from sitemap_crawler.extract.alternates import MAX_ALTERNATES, check_alternates
from sitemap_crawler.extract.sitemap_xml import MAX_LOC_LENGTH, SitemapEntry
from sitemap_crawler.extract.url_lists import UrlList, is_text
from sitemap_crawler.extract.videos.supplied import supplied_video
from sitemap_crawler.inventory.damage import find_damage
from sitemap_crawler.policy import robots_txt
from sitemap_crawler.policy.robots_txt import RobotsTxt, product_token
from sitemap_crawler.sitemap.entry import Entry
from sitemap_crawler.sitemap.serialiser import Serialiser
from sitemap_crawler.sitemap.shard import EMPTY_SIZE, Shard
from sitemap_crawler.urls.normalise import Resolver
from sitemap_crawler.validation.files import check_source
from sitemap_crawler.validation.results import FileTask
from tests.fuzz.engine import CORPUS, PropertyError, Target
from tests.fuzz.inventories import check_commands
from tests.fuzz.pages import check_page
from tests.fuzz.texts import BASE, check_addresses, check_dates, check_spellings, check_texts, check_urls, text_of
from tests.support.codings import deflated, zstd

MAX_RULE_LENGTH = 300
"""Characters of the text of a rule, as `RobotsTxt.rule_against` promises."""
MAX_PIECES = 500
"""Number of pieces in which a sitemap is read."""
_PATHS = ("/", "/robots.txt", "/private/a.html", "/a/b/c?d=e&f", "/%7Ea/%2F?x=%2F", "/index.php?id=1", "/a$", "/*")
_AGENTS = ("sitemap-crawler", "Googlebot", "*", "Mozilla/5.0 (compatible; bingbot/2.0)", "")


def check_robots(data: bytes) -> Any:
    """Read a robots.txt. The index of many rules answers as the comparison with each rule does."""
    robots = RobotsTxt.parse(data)
    with mock.patch.object(robots_txt, "MAX_UNINDEXED_RULES", -1):
        indexed = RobotsTxt.parse(data)
        urls = [f"https://example.com{path}" for path in _PATHS]
        resolve = Resolver().resolve
        written = [line.partition(":")[2].strip() for line in text_of(data).splitlines()[:20]]
        urls += [url for path in written if (url := resolve(path.replace("*", "x").rstrip("$"), BASE))]
        with_index = [indexed.rule_against(url, agent) for agent in _AGENTS for url in urls]
    answers = [robots.rule_against(url, agent) for agent in _AGENTS for url in urls]
    if answers != with_index:
        raise PropertyError(f"the index finds other rules: {answers} {with_index}")
    for answer in filter(None, answers):
        if len(answer) > MAX_RULE_LENGTH or not answer.isprintable():
            raise PropertyError(f"the rule is {answer!r}")
    delays = [robots.crawl_delay(agent) for agent in _AGENTS]
    if any(delay is not None and not 0 <= delay < 1e9 for delay in delays):
        raise PropertyError(f"the delays are {delays}")
    if len(robots.sitemaps) > robots_txt.MAX_SITEMAPS or max(map(len, robots.sitemaps), default=0) > 8_192:
        raise PropertyError("too many sitemaps, or too long ones")
    product_token(text_of(data))
    return answers, delays, [url.encode() for url in robots.sitemaps]


def check_sitemap(data: bytes) -> Any:
    """Read a sitemap. The result does not depend on the size of the pieces."""
    whole = _read(data)
    # The first piece decides on the charset.
    with mock.patch.object(sitemaps, "_charset", return_value="utf-8"):
        expected = _read(data)
        length = sum(map(len, sitemaps._Source(data).texts()))
        # Markup without an end is read again with each piece that follows.
        shortest = length // MAX_PIECES
        for size in sorted({max(shortest, size) for size in (7, 64)}):
            with mock.patch.object(sitemaps, "PIECE_BYTES", size):
                pieces = _read(data)
            if pieces != expected:
                raise PropertyError(f"in pieces of {size} bytes the sitemap is {pieces}, and as a whole {expected}")
    if whole is None:
        return None
    entries: list[SitemapEntry] = whole[0]
    for entry in entries:
        if len(entry.loc) > MAX_LOC_LENGTH or len(entry.alternates) > MAX_ALTERNATES:
            raise PropertyError(f"{entry} is too long")
        if entry.alternates:
            check_alternates(entry.alternates)
    return whole


def _read(data: bytes) -> Any:
    file = sitemaps.read_sitemap(data)
    if file is None:
        return None
    entries = list(chain.from_iterable(file))
    return entries, file.is_index, file.is_feed, file.damage, file.too_long


def check_validator(data: bytes) -> Any:
    """Validate a file. Every finding is one printable line."""
    task = FileTask(Path("sitemap.xml"), "sitemap.xml", "", datetime(2024, 6, 1, tzinfo=UTC))
    result = check_source(task, io.BytesIO(data))
    findings = result.findings.result()
    for finding in findings:
        if not finding.message.isprintable() or not (finding.url or "").isprintable():
            raise PropertyError(f"{finding} cannot be printed")
    return findings, [result.entries]


def check_writer(data: bytes) -> Any:
    """Write a sitemap of URLs, one a line, each with the lines after it as images, and read it by both readers."""
    lines = text_of(data).split("\n")
    urls = list(dict.fromkeys(url for line in lines if (url := Resolver().resolve(line, BASE))))
    entries = [Entry(url, "2024-05-01", images=tuple(urls[number + 1 : number + 3])) for number, url in enumerate(urls)]
    file = io.BytesIO()
    file.close = lambda: None  # type: ignore[method-assign]
    shard = Shard(file, max_urls=50_000, max_bytes=1_000_000, gzip=len(lines) % 2 == 0)
    serialiser = Serialiser(1_000_000 - EMPTY_SIZE)
    written: list[str] = []
    for batch in serialiser.batches(entries):
        for loc, body in zip(batch.locs, batch.data, strict=True):
            if shard.fits(len(body)):
                shard.add(body)
                written.append(loc)
    shard.finalise()
    content = file.getvalue()
    found = _read(content)
    # The writer and the reader leave stored URLs as they are.
    if [entry.loc for entry in found[0]] != written or found[3] is not None:
        raise PropertyError(f"{written} are read as {found}")
    if not written:
        return None
    errors = [finding for finding in check_validator(content)[0] if finding.severity == "error"]
    if [one for one in errors if one.rule not in ("foreign-origin", "outside-directory")]:
        raise PropertyError(f"the sitemap is not valid: {errors}")
    return found


def check_lists(data: bytes) -> Any:
    """Read a list of URLs. The result does not depend on the size of the pieces, and each line is at most an entry."""
    results = [_read_list(data, size) for size in (len(data) or 1, 7, 64)]
    if any(result != results[0] for result in results):
        raise PropertyError(f"in pieces the list is another one: {results}")
    entries, number, *_ = results[0]
    if len(entries) > number:
        raise PropertyError(f"{len(entries)} entries of {number} lines")
    normalise = Resolver().normalise
    for entry in entries:
        if is_text(entry.url):
            normalise(entry.url)
        for video in entry.videos:
            supplied_video(video, normalise)
    return [entry.url for entry in entries], results[0][1:]


def check_logs(data: bytes) -> Any:
    """Read an access log. The result does not depend on the size of the pieces."""
    results = []
    for size in (len(data) or 1, 7, 64):
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        log = AccessLog(pieces, max_lines=10_000, max_bytes=1_000_000)
        visits: Counter[Visit] = sum(log, Counter())
        results.append(
            (sorted(visits.items(), key=str), log.lines.number, log.unreadable, log.first_unreadable, log.lines.damage)
        )
        if visits.total() + log.unreadable > log.lines.number:
            raise PropertyError(f"{visits.total()} visits and {log.unreadable} unreadable lines of {log.lines.number}")
    if any(result != results[0] for result in results):
        raise PropertyError(f"in pieces the log is another one: {results}")
    return [target for (_, target), _ in results[0][0]], results[0][1:]


def _read_list(data: bytes, size: int) -> Any:
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    columns = {"url": "1", "lastmod": "2"} if data.startswith(b"1") else {}
    found = UrlList(pieces, columns=columns, max_lines=10_000, max_bytes=1_000_000)
    entries = list(chain.from_iterable(found))
    # Of a list that is refused only the piece is read that shows why.
    number = 0 if found.lines.damage and not entries else found.lines.number
    return entries, number, found.lines.too_long, found.lines.damage


_CODINGS = ("gzip", "deflate", "br", "zstd", "gzip, br", "br, gzip", "x-gzip,identity", "identity")
MAX_DECODED = 100_000


def check_coding(data: bytes) -> Any:
    """Decode a body. Its first byte names the coding. The result does not depend on the size of the pieces."""
    coding, body = _CODINGS[data[0] % len(_CODINGS)] if data else "", data[1:]
    results = [_decode(coding, body, size) for size in (len(body) or 1, 1_000, 3)]
    for decoded, _ in results:
        if len(decoded) > MAX_DECODED:
            raise PropertyError(f"{len(decoded):,} decoded bytes")
    # The library for zstd notices some damage only if it gets all bytes at once. The one for brotli decodes ahead of
    # what it returns, so that it may notice damage beyond the limit.
    has_ended = all(len(decoded) < MAX_DECODED for decoded, _ in results)
    if "zstd" not in coding and has_ended and len({problem for _, problem in results}) > 1:
        raise PropertyError(f"in pieces the body is {[problem for _, problem in results]}")
    if results[0][1] is None and len({decoded for decoded, _ in results}) > 1:
        raise PropertyError("in pieces the body is another one")
    return results[0]


def _decode(coding: str, body: bytes, size: int) -> tuple[bytes, str | None]:
    decoder = BodyDecoder(coding)
    decoded = b""
    try:
        for start in range(0, len(body), size):
            decoded += decoder.decode(body[start : start + size], MAX_DECODED - len(decoded))
            if len(decoded) >= MAX_DECODED:
                return decoded, None
        decoder.finish()
    except CodingError as error:
        return decoded, type(error).__name__
    return decoded, None


def coded_bodies() -> list[bytes]:
    text = b"<html><body>" + b"A page. " * 200 + b"</body></html>"
    bomb = bytes(3_000_000)
    made = [
        gzip.compress(text, mtime=0), zlib.compress(text), brotli.compress(text), zstd.compress(text),
        gzip.compress(brotli.compress(text), mtime=0), brotli.compress(gzip.compress(text, mtime=0)),
        gzip.compress(text, mtime=0) + gzip.compress(text, mtime=0), text,
    ]  # fmt: skip
    order = (0, 1, 2, 3, 5, 4, 6, 7)
    bodies = [bytes((number,)) + made[position] for number, position in enumerate(order)]
    bodies += [b"\x01" + deflated(text), b"\0" + gzip.compress(bomb, mtime=0), b"\x02" + brotli.compress(bomb)]
    bodies += [b"\x03" + zstd.compress(bomb), b"\0" + gzip.compress(b"", mtime=0), b"\x02" + brotli.compress(b"")]
    return [*bodies, b"\x03" + zstd.compress(b"")]


def compressed_sitemaps() -> list[bytes]:
    (path,) = (path for path in SITEMAP.files() if path.name == "urlset.xml")
    text = path.read_bytes()
    return [gzip.compress(text, mtime=0), gzip.compress(text, mtime=0) * 2, text.decode().encode("utf-16")]


def compressed_lists() -> list[bytes]:
    text = (CORPUS / "lists" / "shop.csv").read_bytes()
    return [gzip.compress(text, mtime=0), gzip.compress(text, mtime=0)[:-9], text.decode().encode("utf-16")]


def check_site_file(data: bytes) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "site.toml")
        path.write_bytes(data)
        try:
            values, settings = read_site_file(path)
            options = Options.parse({"start_url": "https://example.com/", **values})
        except InputError as error:
            message = str(error).replace(directory, "")
            message.encode("utf-8", "backslashreplace")
            return type(error).__name__, message
    return _plain(options.model_dump(), directory), _plain(settings, directory)


def _plain(value: Any, directory: str) -> Any:
    def replaced(other: Any) -> str:
        secret = isinstance(other, SecretStr)
        return other.get_secret_value() if secret else str(other).replace(directory, "")

    return json.dumps(value, default=replaced, sort_keys=True).replace(directory, "")


def check_inventory_file(data: bytes) -> Any:
    """Look for damage in a file that begins as an inventory does."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "inventory.sqlite")
        path.write_bytes(data)
        try:
            return [place.replace(directory, "") for place in find_damage(path)]
        except InventoryError as error:
            return str(error).replace(directory, "")


def inventories() -> list[bytes]:
    from sitemap_crawler.inventory.schema import SCHEMA_VERSION
    from tests.support.stored_inventory import stored_inventory

    found = []
    for version in range(4, SCHEMA_VERSION + 1):
        with tempfile.TemporaryDirectory() as directory:
            found.append(stored_inventory(Path(directory, "inventory.sqlite"), version).read_bytes())
    return found


SITEMAP = Target("sitemap", check_sitemap, "extract/sitemap_xml.py", compressed_sitemaps, (100_000, 1_000))
TARGETS = {
    target.name: target
    for target in (
        Target("page", check_page, "extract/**/*.py", max_calls=(200_000, 2_000), max_output=(100_000, 200)),
        Target("robots", check_robots, "policy/robots_txt.py", max_calls=(200_000, 1_000)),
        SITEMAP,
        Target("lists", check_lists, "extract/url_lists.py", compressed_lists, (100_000, 1_000)),
        Target("logs", check_logs, "extract/access_logs.py"),
        Target("validator", check_validator, "validation/**/*.py"),
        Target("writer", check_writer),
        Target("dates", check_dates, "extract/dates.py"),
        # Each of some two hundred spellings of a URL is normalised, escape by escape.
        Target("urls", check_urls, "urls/normalise.py", max_calls=(100_000, 2_500)),
        Target("addresses", check_addresses),
        Target("spellings", check_spellings, "urls/spelling.py"),
        Target("texts", check_texts),
        Target("coding", check_coding, made=coded_bodies, max_output=(200_000, 100)),
        Target("site-file", check_site_file, "config/*.py"),
        Target("inventory-file", check_inventory_file, made=inventories, max_calls=(1_000_000, 500)),
        Target("commands", check_commands, max_calls=(10_000_000, 0)),
    )
}
