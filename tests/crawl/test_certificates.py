"""Certificates: private authorities, client certificates, and messages for certificates that cannot be verified."""

from __future__ import annotations

import contextlib
import socket
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.names import give_names
from tests.support.webserver import LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.program import Program

pytestmark = pytest.mark.slow

PEM = serialization.Encoding.PEM
NO_VERIFICATION = "DOWNLOAD_VERIFY_CERTIFICATES=0"


@dataclass(frozen=True, slots=True)
class Identity:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> bytes:
        return self.certificate.public_bytes(PEM)

    def key_pem(self, passphrase: bytes | None = None) -> bytes:
        encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if passphrase is not None:
            encryption = serialization.BestAvailableEncryption(passphrase)
        return self.key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, encryption)


def identity(name: str, *, issuer: Identity | None = None, host: str = "127.0.0.1", until_days: int = 1) -> Identity:
    """Make an authority, or with `issuer` a certificate that it issues for an address."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    signer, signed_by = (key, subject) if issuer is None else (issuer.key, issuer.certificate.subject)
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(signed_by, subject, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=9)).not_valid_after(now + timedelta(days=until_days))
    builder = builder.add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    of_issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    builder = builder.add_extension(of_issuer, critical=False)
    if issuer is not None:
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))])
        builder = builder.add_extension(names, critical=False)
    return Identity(builder.sign(signer, hashes.SHA256()), key)


AUTHORITY = identity("Authority of the tests")
CLIENTS = identity("Authority for clients")


@contextlib.contextmanager
def tls_site(
    directory: Path, server: Identity, *, clients: ssl.VerifyMode = ssl.CERT_NONE, version: str = "TLSv1_3"
) -> Iterator[WebServer]:
    """A site behind TLS that accepts client certificates of CLIENTS."""
    directory.mkdir(exist_ok=True)
    (directory / "server.pem").write_bytes(server.certificate_pem + server.key_pem())
    (directory / "clients.pem").write_bytes(CLIENTS.certificate_pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "server.pem")
    context.load_verify_locations(directory / "clients.pem")
    context.verify_mode = clients
    context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    with WebServer({"/": page("/a"), "/a": page()}) as site:
        site._server.socket = context.wrap_socket(site._server.socket, server_side=True)
        yield site


def url_of(site: WebServer, path: str = "/") -> str:
    return site.url(path).replace("http:", "https:")


@pytest.fixture
def authority(tmp_path: Path) -> str:
    (tmp_path / "authority.pem").write_bytes(AUTHORITY.certificate_pem)
    return "authority.pem"


@pytest.fixture
def client(tmp_path: Path) -> Identity:
    found = identity("crawler", issuer=CLIENTS)
    (tmp_path / "client.pem").write_bytes(found.certificate_pem)
    (tmp_path / "client.key").write_bytes(found.key_pem())
    (tmp_path / "both.pem").write_bytes(found.certificate_pem + found.key_pem())
    (tmp_path / "locked.key").write_bytes(found.key_pem(b"sesame"))
    (tmp_path / "other.key").write_bytes(CLIENTS.key_pem())
    (tmp_path / "text.pem").write_text("no certificate")
    return found


def test_an_authority_of_ones_own(program: Program, tmp_path: Path, authority: str) -> None:
    with tls_site(tmp_path / "server", identity("server", issuer=AUTHORITY)) as site:
        assert program.crawl(url_of(site), "-s", "RETRY_TIMES=0").code == 3
        result = program.crawl(url_of(site), "--ca-file", authority)
        assert result.listed() == [url_of(site), url_of(site, "/a")]


def test_an_authority_of_the_system(program: Program, tmp_path: Path, authority: str) -> None:
    program.variables = {"SSL_CERT_FILE": str(tmp_path / authority)}
    with tls_site(tmp_path / "server", identity("server", issuer=AUTHORITY)) as site:
        assert program.crawl(url_of(site)).listed() == [url_of(site), url_of(site, "/a")]


@pytest.mark.parametrize("robots", ["ROBOTSTXT_OBEY=1", "ROBOTSTXT_OBEY=0"])
@pytest.mark.parametrize(
    ("server", "trusted", "words"),
    [
        (identity("server", issuer=AUTHORITY, until_days=-2), True, "it has expired"),
        (identity("server", issuer=AUTHORITY, host="127.0.0.9"), True, "it is for another host"),
        (identity("server", issuer=AUTHORITY), False, "its authority is not known here"),
        (identity("server"), False, "it is a self-signed certificate"),
    ],
)
def test_a_certificate_that_cannot_be_verified(
    program: Program, tmp_path: Path, authority: str, server: Identity, trusted: bool, words: str, robots: str
) -> None:
    options = ["--ca-file", authority] if trusted else []
    with tls_site(tmp_path / "server", server) as site:
        result = program.crawl(url_of(site), *options, "-s", "RETRY_TIMES=0", "-s", robots)
        assert result.code == 3
        for word in (words, "--ca-file FILE", f"-s {NO_VERIFICATION}"):
            assert word in result.last_line
        assert program.crawl(url_of(site), *options, "-s", NO_VERIFICATION).code == 0


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
def test_a_site_that_wants_a_client_certificate(
    program: Program, tmp_path: Path, authority: str, client: Identity, version: str
) -> None:
    server = identity("server", issuer=AUTHORITY)
    with tls_site(tmp_path / "server", server, clients=ssl.CERT_REQUIRED, version=version) as site:
        trust = ["--ca-file", authority]
        with_key = ["--client-certificate", "client.pem", "--client-key", "client.key"]
        for options in (with_key, ["--client-certificate", "both.pem"]):
            result = program.crawl(url_of(site), *trust, *options, "--fresh")
            assert result.listed() == [url_of(site), url_of(site, "/a")]
        config = f'start_url = "{url_of(site)}"\nca_file = "authority.pem"\nclient_certificate = "both.pem"\n'
        (tmp_path / "site.toml").write_text(config)
        assert program.run("crawl", "--config", "site.toml").code == 0
        (tmp_path / "stranger.pem").write_bytes(AUTHORITY.certificate_pem + AUTHORITY.key_pem())
        for options in ([], ["--client-certificate", "stranger.pem"]):
            result = program.crawl(url_of(site), *trust, *options, "-s", "RETRY_TIMES=0")
            assert result.code == 3
            # With TLS 1.3 the client is refused after its request, and the reset may arrive before the reason.
            reset = version == "TLSv1_3" and "the connection broke: connection reset by peer" in result.last_line
            assert "--client-certificate" in result.last_line or reset, result.last_line


def test_no_other_host_sees_the_client_certificate(
    program: Program, tmp_path: Path, authority: str, client: Identity
) -> None:
    server = identity("server", issuer=AUTHORITY)
    presented: dict[str, bool] = {}
    with (
        tls_site(tmp_path / "server", server, clients=ssl.CERT_OPTIONAL) as site,
        tls_site(tmp_path / "other", server, clients=ssl.CERT_OPTIONAL) as other,
    ):
        for asked in (site, other):
            watch(asked, presented)
        options = ["--ca-file", authority, "--client-certificate", "both.pem"]
        result = program.crawl(url_of(site), *options, "--seed-sitemap", url_of(other, "/sitemap.xml"))
        assert result.code == 0
        assert presented == {url_of(site): True, url_of(other): False}
        assert "/sitemap.xml" in other.paths()


def watch(site: WebServer, presented: dict[str, bool]) -> None:
    """Note for each site whether its clients show a certificate."""
    accept = site._server.get_request

    def get_request() -> tuple[socket.socket, object]:
        connection, address = accept()
        assert isinstance(connection, ssl.SSLSocket)
        presented[url_of(site)] = bool(connection.getpeercert())
        return connection, address

    site._server.get_request = get_request  # type: ignore[method-assign, assignment]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--ca-file", "absent.pem"], ["ca_file", "absent.pem", "No such file"]),
        (["--ca-file", "text.pem"], ["ca_file", "text.pem", "PEM"]),
        (["--ca-file", "."], ["ca_file", "directory"]),
        (["--client-certificate", "absent.pem"], ["client_certificate", "absent.pem", "No such file"]),
        (["--client-certificate", "text.pem"], ["client_certificate", "text.pem", "PEM"]),
        (["--client-certificate", "client.pem"], ["client.pem", "client_key"]),
        (["--client-certificate", "client.pem", "--client-key", "absent.key"], ["client_key", "absent.key", "No such"]),
        (["--client-certificate", "client.pem", "--client-key", "text.pem"], ["client_key", "text.pem"]),
        (["--client-certificate", "client.pem", "--client-key", "other.key"], ["other.key", "not that of"]),
        (["--client-certificate", "client.pem", "--client-key", "locked.key"], ["locked.key", "passphrase"]),
        (["--client-key", "client.key"], ["client_key", "client_certificate"]),
    ],
)
def test_files_that_cannot_be_used(program: Program, client: Identity, options: list[str], words: list[str]) -> None:
    result = program.run("crawl", "https://127.0.0.1/", *options)
    assert result.code == 2
    assert all(word in result.last_line for word in words), result.last_line


def test_https_where_http_is_spoken(program: Program, site: WebServer) -> None:
    result = program.crawl(url_of(site), "-s", "RETRY_TIMES=0")
    assert result.code == 3
    assert "does not speak TLS at this port; is it http" in result.last_line


@pytest.mark.parametrize("robots", ["ROBOTSTXT_OBEY=1", "ROBOTSTXT_OBEY=0"])
@pytest.mark.parametrize(
    ("number", "words"),
    [
        (socket.EAI_NONAME, "there is no such host; check the spelling"),
        (socket.EAI_AGAIN, "the name server does not answer; check the network, or try again later"),
        (socket.EAI_FAIL, "the name server fails; try again later"),
        (-5, "the name has no address; check its DNS records"),
    ],
)
def test_names_that_cannot_be_resolved(program: Program, number: int, words: str, robots: str) -> None:
    give_names(program, {"xn--bcher-kva.example": number})
    result = program.crawl("http://bücher.example/", "-s", robots, "-s", "RETRY_TIMES=0")
    assert result.code == 3
    assert f"the name of xn--bcher-kva.example can't be resolved: {words}" in result.last_line


def test_an_international_name(program: Program) -> None:
    give_names(program, {"xn--bcher-kva.example": "127.0.0.1", "nowhere.example": socket.EAI_NONAME})

    def home(request: LoggedRequest) -> str:
        return page(f"http://BÜCHER.example:{request.headers['host'].partition(':')[2]}/ä")

    with WebServer({"/": home, "/%C3%A4": page()}) as site:
        start = f"http://xn--bcher-kva.example:{site.port}/"
        seed = "http://nowhere.example/sitemap.xml"
        result = program.crawl(f"http://bücher.example:{site.port}", "--seed-sitemap", seed, "-s", "RETRY_TIMES=0")
        assert result.listed() == [start, f"{start}%C3%A4"]
        assert {request.headers["host"] for request in site.requests} == {f"xn--bcher-kva.example:{site.port}"}
        warned = {warning["url"]: warning["message"] for warning in result.report["warnings"]}
        assert "the name of nowhere.example can't be resolved: there is no such host" in warned[seed]
