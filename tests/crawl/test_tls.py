"""A site with TLS: certificates are verified, unless a setting switches that off; a cut line ends no page."""

from __future__ import annotations

import os
import socket
import ssl
import struct
from contextlib import suppress
from socketserver import StreamRequestHandler
from typing import TYPE_CHECKING

import pytest

from tests.support.secure_server import serving, write_certificate
from tests.support.webserver import page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Program


@pytest.mark.parametrize("robots", ["ROBOTSTXT_OBEY=1", "ROBOTSTXT_OBEY=0"])
def test_a_certificate_that_nobody_vouches_for(program: Program, secure_site: str, robots: str) -> None:
    result = program.crawl(secure_site, "-s", robots, "-s", "RETRY_TIMES=0")
    assert result.code == 3
    assert "self-signed certificate" in result.last_line
    assert "DOWNLOAD_VERIFY_CERTIFICATES=0" in result.last_line


def test_verification_can_be_switched_off(program: Program, secure_site: str) -> None:
    result = program.crawl(secure_site, "-s", "DOWNLOAD_VERIFY_CERTIFICATES=0")
    assert result.listed() == [secure_site, f"{secure_site}a"]


class Cutter(StreamRequestHandler):
    """Server whose pages have no length: the end of the connection is theirs. It cuts that of `/half` short."""

    def handle(self) -> None:
        path = self.rfile.readline().split()[1]
        while self.rfile.readline().strip():
            pass
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page("/half", "/whole").encode())
        if path != b"/half":
            self.end()
        elif not isinstance(self.connection, ssl.SSLSocket):
            # The socket is closed with a reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(self.connection.detach())

    def end(self) -> None:
        if isinstance(self.connection, ssl.SSLSocket):
            with suppress(OSError):  # the client answers with the end of the connection
                self.connection.unwrap()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_body_without_length_is_whole_if_the_server_says_so(program: Program, tmp_path: Path, scheme: str) -> None:
    certificate = tmp_path / "certificate.pem"
    write_certificate(certificate)
    with serving(Cutter, certificate if scheme == "https" else None) as port:
        start = f"{scheme}://127.0.0.1:{port}/"
        result = program.crawl(start, "--ca-file", str(certificate), "-s", "ROBOTSTXT_OBEY=0", "-s", "RETRY_TIMES=0")
    assert (result.code, result.listed()) == (0, [start, f"{start}whole"]), result.err
    assert result.report["excluded"] == {"unreachable": 1}
