"""A loopback site behind TLS, with a certificate that no authority has signed."""

from __future__ import annotations

import ssl
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from socketserver import ThreadingTCPServer
from threading import Thread
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.webserver import page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from socketserver import BaseRequestHandler


def write_certificate(path: Path) -> None:
    """Write a self-signed certificate for 127.0.0.1 with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    certificate = builder.add_extension(names, critical=False).sign(key, hashes.SHA256())
    encoding, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(private + certificate.public_bytes(encoding))


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = page("/a").encode()
        self.send_response(200 if self.path in ("/", "/a") else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Print nothing."""


@contextmanager
def serving(handler: type[BaseRequestHandler], certificate: Path | None, *, port: int = 0) -> Iterator[int]:
    """Serve each connection by a handler of its own, behind TLS with a certificate; yield the port."""
    server_class = type("Server", (ThreadingTCPServer,), {"allow_reuse_address": True, "daemon_threads": True})
    with server_class(("127.0.0.1", port), handler) as server:
        server.handle_error = lambda *_: None  # handshakes and connections that the client ends
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@contextmanager
def serving_tls(certificate: Path) -> Iterator[str]:
    """Serve two pages with a new self-signed certificate, stored at this path; yield the URL of the site."""
    write_certificate(certificate)
    with serving(_Handler, certificate) as port:
        yield f"https://127.0.0.1:{port}/"
