"""A site that answers as badly as it can, on one raw socket: each kind of bad answer has a path of its own.

/                       links to every kind, and to /good/0 .. /good/9
/good/N                 links to /deep/N; the good pages that the kinds lead to are /deep/KIND
/kind/NAME              one of KINDS
/robots.txt             10 MB, names the sitemaps in SITEMAPS
"""

from __future__ import annotations

import gzip
import json
import random
import socket
import struct
import threading
import time
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Self

import brotli

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

LISTED = "listed"
ESCAPES = "\x1b]0;owned\x07\x1b[31mRed\x1b[2J \u202egnp.exe"


def http(
    body: bytes | str = b"",
    *headers: str,
    status: str = "200 OK",
    kind: str | None = "text/html; charset=utf-8",
    length: str | None = "",
) -> bytes:
    """A whole answer; `length` is what it says of its length, None for nothing, "" for the truth."""
    body = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", "Connection: close", *headers]
    if kind is not None:
        lines.append(f"Content-Type: {kind}")
    if length is not None:
        lines.append(f"Content-Length: {length or len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def html(*hrefs: str, title: str = "A page", head: str = "", body: str = "") -> str:
    links = "".join(f'<p><a href="{href}">link</a></p>' for href in hrefs)
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body>{body}{links}</body></html>"


def packed(data: bytes, copies: int) -> bytes:
    """The gzip of so many copies, without having them at once."""
    packer = zlib.compressobj(9, wbits=31)
    return b"".join([*(packer.compress(data) for _ in range(copies)), packer.flush()])


def late(make: Callable[[], bytes]) -> Callable[[socket.socket], None]:
    """What is too large to have before it is asked for."""
    return lambda connection: connection.sendall(make())


def drip(connection: socket.socket) -> None:
    connection.sendall(http(length="100000"))
    for _ in range(200):
        connection.sendall(b"x")
        time.sleep(0.1)


def silent(connection: socket.socket) -> None:
    connection.recv(1)


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def reset_after_headers(connection: socket.socket) -> None:
    connection.sendall(http(length="1000"))
    time.sleep(0.1)
    reset(connection)


def endless(connection: socket.socket) -> None:
    connection.sendall(http(html("/deep/endless"), length=None))
    while True:
        connection.sendall(b"<p>And so on.</p>" * 4_000)


def continues(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 5_000 + http(html("/deep/continue")))


def _redirect(location: str, status: str = "302 Found") -> bytes:
    return http(b"", f"Location: {location}", status=status)


def _json_ld(text: str) -> str:
    return html(head=f'<script type="application/ld+json">{text}</script>')


MANY = ["y"] * 100_000
NOISE = random.Random(1).randbytes(50_000)
BOMB_PAGE = b"<p>0</p>" + bytes(1_000_000)
UNREACHABLE, NOT_A_PAGE, REDIRECT = "unreachable", "not-a-page", "redirect"
CLIENT_ERROR, SERVER_ERROR = "client-error", "server-error"

# What is done with an answer, by the rules: no HTTP answer at all is unreachable; of what came whole, the status
# counts, then the type that the header says. What is wrong in the markup is no reason against a page.
KINDS: dict[str, tuple[bytes | Callable[[socket.socket], None], str]] = {
    # The connection
    "silent": (silent, UNREACHABLE),
    "drip": (drip, UNREACHABLE),
    "closed": (b"", UNREACHABLE),
    "reset": (reset, UNREACHABLE),
    "reset-after-headers": (reset_after_headers, UNREACHABLE),
    "endless": (endless, LISTED),
    # The head
    "http-0.9": (b"<html><title>Old</title>" + b"old " * 100, UNREACHABLE),
    "no-status": (b"HTTP/1.1 abc OK\r\n\r\n", UNREACHABLE),
    "status-99": (http(html(), status="99 Odd"), UNREACHABLE),
    "status-1000": (http(html(), status="1000 Odd"), UNREACHABLE),
    "status-999": (http(html(), status="999 Denied"), SERVER_ERROR),
    "header-1-mb": (late(lambda: http(html(), "X-Long: " + "x" * 1_000_000)), UNREACHABLE),
    "headers-10000": (late(lambda: http(html(), *(f"X-{number}: {number}" for number in range(10_000)))), UNREACHABLE),
    "cookies-1000": (http(html(), *(f"Set-Cookie: c{number}=1" for number in range(1_000))), UNREACHABLE),
    "link-header-10000": (http(html(), "Link: " + ", ".join(["</x>; rel=next"] * 10_000)), UNREACHABLE),
    "link-header-1000": (http(html(), "Link: " + ", ".join(["</deep/link>; rel=next"] * 1_000)), LISTED),
    "no-colon": (http(html(), "this is no header"), UNREACHABLE),
    "nul-in-header": (http(html(), "X-Nul: a\x00b"), UNREACHABLE),
    "continue-flood": (continues, LISTED),
    # Lengths and chunks
    "empty": (http(), NOT_A_PAGE),
    "too-short": (http(html(), length="5000"), UNREACHABLE),
    "too-long": (http(html() + "x" * 5_000, length="130"), UNREACHABLE),
    "no-length": (http(html("/deep/no-length"), length=None), LISTED),
    "negative-length": (http(html(), length="-5"), UNREACHABLE),
    "no-number-length": (http(html(), length="many"), UNREACHABLE),
    "two-lengths": (http(html(), "Content-Length: 7"), UNREACHABLE),
    "chunk-garbage": (http(b"zzz\r\nabc\r\n", "Transfer-Encoding: chunked", length=None), UNREACHABLE),
    "chunk-huge": (http(b"FFFFFFFFFFFFFFFE\r\nabc", "Transfer-Encoding: chunked", length=None), UNREACHABLE),
    "chunk-cut": (http(b"400\r\nabc", "Transfer-Encoding: chunked", length=None), UNREACHABLE),
    # Statuses
    "upgrade": (http(html(), "Upgrade: websocket", status="101 Switching", length=None), NOT_A_PAGE),
    "no-content": (http(status="204 No Content", length=None), NOT_A_PAGE),
    "reset-content": (http(status="205 Reset Content"), NOT_A_PAGE),
    "partial": (http(html(), status="206 Partial Content"), NOT_A_PAGE),
    "choices": (http(html(), status="300 Multiple Choices"), REDIRECT),
    "not-modified": (http(status="304 Not Modified", length=None), UNREACHABLE),
    "unauthorized": (http(html(), 'WWW-Authenticate: Basic realm="x"', status="401 Unauthorized"), CLIENT_ERROR),
    "proxy-auth": (http(html(), "Proxy-Authenticate: Basic", status="407 Proxy"), CLIENT_ERROR),
    "teapot": (http(html("/deep/nothing"), status="418 Teapot"), CLIENT_ERROR),
    "too-many": (http(html(), status="429 Too Many"), SERVER_ERROR),
    "later-minus": (http(html(), "Retry-After: -1", status="503 Later"), SERVER_ERROR),
    "later-float": (http(html(), "Retry-After: 1e9", status="503 Later"), SERVER_ERROR),
    "later-words": (http(html(), "Retry-After: Nevermore, 99 Foo 9999", status="503 Later"), SERVER_ERROR),
    # Redirects
    "to-itself": (_redirect("/kind/to-itself"), REDIRECT),
    "loop-a": (_redirect("/kind/loop-b"), REDIRECT),
    "loop-b": (_redirect("/kind/loop-a", "308 Permanent"), REDIRECT),
    "to-file": (_redirect("file:///etc/passwd"), REDIRECT),
    "to-data": (_redirect("data:text/html,<h1>x"), REDIRECT),
    "to-script": (_redirect("javascript:alert(1)"), REDIRECT),
    "to-huge": (_redirect("/" + "x" * 60_000), REDIRECT),
    "to-nowhere": (http(status="301 Moved"), REDIRECT),
    "to-umlaut": (_redirect("/deep/ü"), REDIRECT),
    "refresh-a": (http(html(head='<meta http-equiv=refresh content="0; url=/kind/refresh-b">')), REDIRECT),
    "refresh-b": (http(html(), "Refresh: 0; url=/kind/refresh-a"), REDIRECT),
    # Encodings
    "gzip-bomb": (late(lambda: http(packed(BOMB_PAGE, 100), "Content-Encoding: gzip")), NOT_A_PAGE),
    "br-bomb": (late(lambda: http(brotli.compress(BOMB_PAGE * 40, quality=5), "Content-Encoding: br")), NOT_A_PAGE),
    "gzip-twice": (http(gzip.compress(gzip.compress(html().encode())), "Content-Encoding: gzip"), NOT_A_PAGE),
    "gzip-cut": (http(gzip.compress(html().encode() + NOISE)[:20_000], "Content-Encoding: gzip"), UNREACHABLE),
    "x-gzip": (http(gzip.compress(html("/deep/gzip").encode()), "Content-Encoding: x-gzip"), LISTED),
    "gzip-lie": (http(html(), "Content-Encoding: gzip"), UNREACHABLE),
    "br-lie": (http(html(), "Content-Encoding: br"), UNREACHABLE),
    "unknown-encoding": (http(html("/deep/encoding"), "Content-Encoding: rot13"), LISTED),
    # Types and charsets
    "binary": (http(NOISE), LISTED),
    "binary-without-type": (http(NOISE, kind=None), NOT_A_PAGE),
    "odd-type": (http(html(), kind="; ;html/\x01"), LISTED),
    "other-type": (http(html(), kind="application/x-msdownload"), NOT_A_PAGE),
    "utf-7": (http("+ADw-a href=/nowhere+AD4-" + html("/deep/utf-7"), kind="text/html; charset=utf-7"), LISTED),
    "utf-16": (http(html("/deep/utf-16").encode("utf-16-le"), kind="text/html; charset=utf-16"), LISTED),
    "charset-unknown": (http(html("/deep/charset"), kind="text/html; charset=klingon-8"), LISTED),
    "charset-codec": (http(html("/deep/codec"), kind="text/html; charset=zlib_codec"), LISTED),
    # Markup
    "nested": (http("<div>" * 200_000 + "x"), LISTED),
    "attributes": (late(lambda: http("<p " + " ".join(f"a{number}=1" for number in range(1_000_000)) + ">x")), LISTED),
    "one-tag": (late(lambda: http(b"<title>One</title><p title='" + b"x" * 20_000_000 + b"'>")), LISTED),
    "links-100000": (
        late(lambda: http(html("/deep/links", *(f"http://other.example/{n}" for n in range(100_000))))),
        LISTED,
    ),
    "long-links": (late(lambda: http(html("/x" * 50_000, "/deep/long-links", "/?" + "y" * 100_000))), LISTED),
    "odd-links": (
        http(html("/a&#0;b", "/a\x01b", "/a&#xD800;b", "/\u202eb", "http://[::1", "http://", "//", "/%", "/deep/odd")),
        LISTED,
    ),
    "base-script": (http(html("/deep/base", head='<base href="javascript:alert(1)">')), LISTED),
    "base-elsewhere": (http(html("x", "y", head='<base href="http://other.example/z/">')), LISTED),
    "entity-bomb": (
        http(
            "<!DOCTYPE html [<!ENTITY a 'aaaaaaaaaa'>"
            + "".join(f"<!ENTITY a{n} '{f'&a{n - 1 or str()};' * 10}'>" for n in range(1, 10))
            + "]><html xmlns='http://www.w3.org/1999/xhtml'><body>&a9; <a href='/deep/entities'>x</a></body></html>",
            kind="application/xhtml+xml",
        ),
        LISTED,
    ),
    "escapes": (http(html("/deep/escapes", title=ESCAPES)), LISTED),
    # Data in pages
    "json-deep": (late(lambda: http(_json_ld("[" * 100_000 + '{"@type": "VideoObject"}' + "]" * 100_000))), LISTED),
    "json-numbers": (
        http(_json_ld('{"@type": "VideoObject", "duration": 1e999, "name": NaN, "description": -Infinity}')), LISTED,
    ),
    "json-huge": (
        late(lambda: http(_json_ld(json.dumps({"@type": "NewsArticle", "headline": "x" * 3_000_000, "image": MANY})))),
        LISTED,
    ),
    "alternates": (
        http(html(head="".join(f'<link rel=alternate hreflang="{n}-x\x02" href="/l/{n}">' for n in range(200)))),
        LISTED,
    ),
    "media": (
        http(
            html(
                body='<img src="data:image/png;base64,AAAA"><img src="http://[bad"><img src="/i\x03.png">'
                + '<video src="javascript:1" poster="\x04"></video>' * 2_000
                + "".join(f'<img src="/{n}.png" alt="{ESCAPES}">' for n in range(5_000))
            )
        ),
        LISTED,
    ),
}  # fmt: skip

# Reached from a kind that can be read; `utf-16` without a mark is little endian by the Encoding Standard, and what a
# refusal or an error links to is not followed.
DEEP = (
    "gzip", "endless", "continue", "link", "no-length", "encoding", "utf-7", "utf-16", "charset", "codec", "links",
    "long-links", "odd", "base", "entities", "escapes",
)  # fmt: skip

_NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
SITEMAPS = ("/bomb.xml", "/bomb.xml.gz", "/index.xml", "/cut.xml", "/nothing.xml")


class HostileSite:
    """Serves the kinds while its `with` block runs; `paths` logs what was asked for."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.root = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.paths: list[str] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        # The client may well go away before all is sent.
        with connection, suppress(OSError):
            connection.settimeout(20)
            head = b""
            while b"\r\n\r\n" not in head:
                data = connection.recv(65_536)
                if not data:
                    return
                head += data
            path = head.split(b" ")[1].decode("latin-1")
            self.paths.append(path)
            answer = self._of(path)
            if callable(answer):
                answer(connection)
            else:
                connection.sendall(answer)

    def _of(self, path: str) -> bytes | Callable[[socket.socket], None]:
        _, first, *rest = path.split("/")
        name = "/".join(rest)
        if path == "/":
            kinds = (f"/kind/{kind}" for kind in KINDS)
            return http(html(*kinds, *(f"/good/{number}" for number in range(10))))
        if first == "good":
            return http(html("/", f"/deep/{name}", title=f"Good {name}"))
        if first == "deep":
            return http(html("/", title=f"Deep {name}"))
        if first == "kind" and name in KINDS:
            return KINDS[name][0]
        return self._file(path)

    def _file(self, path: str) -> bytes:
        locs = f"<url><loc>{self.root}/deep/named</loc></url>"
        files: dict[str, Callable[[], bytes]] = {
            "/robots.txt": lambda: http(
                "".join(f"Sitemap: {self.root}{name}\n" for name in SITEMAPS)
                + "User-agent: *\nDisallow: /private/\n"
                + "Disallow: /kind/no-end-of-rules\n" * 300_000,
                kind="text/plain",
            ),
            "/bomb.xml": lambda: http(
                "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;'>"
                f"<!ENTITY c SYSTEM 'file:///etc/passwd'>]><urlset {_NS}><url><loc>&b;&c;</loc></url></urlset>",
                kind="application/xml",
            ),
            "/bomb.xml.gz": lambda: http(
                packed(f"<urlset {_NS}>".encode() + b" " * 1_000_000, 100), kind="application/gzip"
            ),
            "/index.xml": lambda: http(
                f"<sitemapindex {_NS}><sitemap><loc>{self.root}/index.xml</loc></sitemap></sitemapindex>",
                kind="application/xml",
            ),
            "/cut.xml": lambda: http(f"<urlset {_NS}>{locs}<url><loc", kind="application/xml"),
        }
        make = files.get(path)
        return make() if make is not None else http("not found", status="404 Not Found")
