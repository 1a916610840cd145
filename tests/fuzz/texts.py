"""The targets of short texts: dates, URLs, hosts, headers, and what is printed."""

from __future__ import annotations

import contextlib
import socket
import unicodedata
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any

from sitemap_crawler.crawl.load_signals import MAX_RETRY_AFTER_SECONDS, retry_seconds
from sitemap_crawler.exceptions import AddressError, ScopeError, SpellingError
from sitemap_crawler.extract.dates import EARLIEST, last_modified, parse_date, parse_http_date
from sitemap_crawler.extract.page_dates import credible
from sitemap_crawler.extract.videos.values import duration_seconds, w3c_date
from sitemap_crawler.policy.lastmod import w3c_datetime
from sitemap_crawler.sitemap.escaping import escape, rfc3986, unescape, urls_in_xml, without_forbidden
from sitemap_crawler.urls.normalise import (
    Resolver,
    directory_of,
    host_of,
    last_segment,
    origin_of,
    split_credentials,
)
from sitemap_crawler.urls.scope import Scope, registrable_domain, scope_for
from sitemap_crawler.urls.spelling import absolute_spellings, directories_above, shown, spellings, variants
from sitemap_crawler.utils.addresses import Gate, is_loopback, is_public, literal_address
from sitemap_crawler.utils.text import MAX_TEXT, escape_controls, one_line, printable
from tests.fuzz.engine import PropertyError

NOW = datetime(2024, 6, 1, 12, 0, 0, tzinfo=UTC)
BASE = "https://example.com/docs/a/page.html?x=1"


def text_of(data: bytes) -> str:
    """Return the text, with surrogates for what is not UTF-8: file names and JSON bring them."""
    return data.decode("utf-8", "surrogateescape")


def check_dates(data: bytes) -> Any:
    first, _, second = text_of(data).partition("\n")
    found = []
    for parsed in (parse_date(first), parse_http_date(first), last_modified(first, second, fetched=NOW)):
        found.append(parsed)
        if parsed is None:
            continue
        if parsed.tzinfo is not UTC:
            raise PropertyError(f"{parsed} is not in UTC")
        if parsed >= EARLIEST:
            written = w3c_datetime(parsed.timestamp()) or ""
            if parse_date(written) != parsed.replace(microsecond=0):
                raise PropertyError(f"{parsed} is written as {written}")
            if parse_date(w3c_datetime(parsed.timestamp(), day=True)) != parsed.replace(
                hour=0, minute=0, second=0, microsecond=0
            ):
                raise PropertyError(f"the day of {parsed} is written in another way")
    date = credible(first, "test", NOW)
    seconds = retry_seconds(first, second or None, now=NOW)
    if seconds is not None and not 0 < seconds <= MAX_RETRY_AFTER_SECONDS:
        raise PropertyError(f"a wait of {seconds} seconds")
    return found, date, seconds, w3c_date(first), duration_seconds(first)


def check_urls(data: bytes) -> Any:
    """Resolve and normalise. The input has a link, its base and a charset, one a line."""
    text = text_of(data)
    href, base, charset = (*text.split("\n"), BASE, "utf-8")[:3] if "\n" in text else (text, BASE, "utf-8")
    resolver = Resolver()
    found = [resolver.normalise(href), resolver.normalise(base), resolver.resolve(href, base, charset)]
    if resolver.resolve(href, base, charset) != found[-1]:
        raise PropertyError("the cached URL is another one")
    direct = resolver._parse(href, found[1], charset) if found[1] else None
    if found[2] != direct and href:
        raise PropertyError(f"without a parser the link is {found[2]!r}, with it {direct!r}")
    for url in filter(None, found):
        _check_normal(url)
    return found


def _check_normal(url: str) -> None:
    resolver = Resolver()
    if resolver.normalise(url) != url:
        raise PropertyError(f"{url!r} is normalised to {resolver.normalise(url)!r}")
    if resolver.resolve(url, BASE) != url or resolver.resolve("", url) != url:
        raise PropertyError(f"{url!r} is resolved to {resolver.resolve(url, BASE)!r}")
    if not url.isascii() or any(character <= " " or character == "\x7f" for character in url):
        raise PropertyError(f"{url!r} has characters that no URL has")
    if "#" in url or not url.startswith(("http://", "https://")) or not url[len(origin_of(url)) :].startswith("/"):
        raise PropertyError(f"{url!r} has no path, or a fragment")
    host = host_of(url)
    if not host or "@" in origin_of(url) or host != host.lower() or host.endswith("."):
        raise PropertyError(f"the host of {url!r} is {host!r}")
    directory = directory_of(url)
    if not url.startswith(directory + last_segment(url)):
        raise PropertyError(f"{url!r} has the directory {directory!r} and the last segment {last_segment(url)!r}")
    list(directories_above(url))
    registrable_domain(host)
    Scope.for_start_page(url).admits(url)
    if rfc3986(url) != url:
        raise PropertyError(f"{url!r} is stored otherwise than it is written")
    if unescape(urls_in_xml([url])[0]) != url or urls_in_xml([url, BASE])[0] != urls_in_xml([url])[0]:
        raise PropertyError(f"{url!r} is written as {urls_in_xml([url, BASE])[0]!r}")
    _check_host(host)
    for variant in variants(url, resolver):
        if resolver.normalise(variant) != variant:
            raise PropertyError(f"the variant {variant!r} is not normal")


def _check_host(host: str) -> None:
    """Compare a host with what the system makes of it when it connects."""
    literal = literal_address(host)
    try:
        numeric = socket.getaddrinfo(host.strip("[]"), None, flags=socket.AI_NUMERICHOST)[0][4][0]
    except (OSError, UnicodeError):
        return
    if literal is None or ip_address(literal) != ip_address(str(numeric)):
        raise PropertyError(f"{host!r} is {numeric} for the system, and {literal} for the gate")


def check_addresses(data: bytes) -> Any:
    """Ask the gate. The input has a host or a URL in each line."""
    resolver = Resolver()
    found: list[Any] = []
    gates = [Gate("https://example.com", domain_of=registrable_domain), Gate("http://127.0.0.1:8080")]
    for line in text_of(data).split("\n")[:100]:
        literal = literal_address(line)
        found.append((literal, is_loopback(line)))
        if literal is not None:
            if literal_address(literal) != literal:
                raise PropertyError(f"{line!r} is the address {literal!r}, and that is {literal_address(literal)!r}")
            if is_public(literal) and is_loopback(literal):
                raise PropertyError(f"{literal} is this machine, and public")
        url = resolver.normalise(line)
        if url is None:
            continue
        for gate in gates:
            gate.name(origin_of(url))
            try:
                passage = gate.passage(origin_of(url))
                found.append(passage.origin)
                for address in filter(None, (literal_address(host_of(url)),)):
                    passage.check(address)
            except AddressError as error:
                found.append(str(error))
    return found


def check_spellings(data: bytes) -> Any:
    """Read what a person types for a URL."""
    text = text_of(data)
    found: list[Any] = [shown(text), split_credentials(text)]
    with contextlib.suppress(SpellingError):
        found.append(absolute_spellings(text))
    with contextlib.suppress(SpellingError):
        found.append(spellings(text, BASE, Resolver(())))
    with contextlib.suppress(ScopeError):
        found.append(scope_for(text).description)
    return found


def check_texts(data: bytes) -> Any:
    """Print a text of a site."""
    text = data.decode("utf-8", "surrogatepass") if _is_text(data) else text_of(data)
    shown_text, line, escaped = printable(text), one_line(text, 500), escape_controls(text)
    # One character may become ten.
    if not shown_text.isprintable() or len(shown_text) > 10 * (MAX_TEXT + 1):
        raise PropertyError(f"printable gives {shown_text!r}")
    if printable(shown_text[:MAX_TEXT]) != shown_text[:MAX_TEXT]:
        raise PropertyError("printable changes what is printable")
    if _controls(line) or len(line) > 500 or one_line(line, 500) != line:
        raise PropertyError(f"one_line gives {line!r}")
    if set(_controls(escaped)) - set("\t\n\r") or escape_controls(escaped) != escaped:
        raise PropertyError(f"escape_controls gives {escaped!r}")
    if unescape(escape(text)) != without_forbidden(text):
        raise PropertyError(f"{text!r} is escaped as {escape(text)!r}")
    return shown_text.encode(), line.encode(), escaped.encode(), escape(text).encode()


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _controls(text: str) -> list[str]:
    return [character for character in text if unicodedata.category(character) in ("Cc", "Cs")]
