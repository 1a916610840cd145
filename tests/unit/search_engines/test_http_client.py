"""The HTTP client for search engines, over sockets of loopback: answers, retries, limits, proxies and TLS."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.exceptions import (
    OptionError,
    ProxyError,
    ServiceLaterError,
    ServiceRefusedError,
    ServiceUnavailableError,
)
from sitemap_crawler.search_engines.http_client import Answer as Received
from sitemap_crawler.search_engines.http_client import ServiceClient
from tests.support.proxy_server import ProxyServer
from tests.support.search_engines import FakeClock, json_answer
from tests.support.secure_server import write_certificate
from tests.support.webserver import Answer, LoggedRequest, WebServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MEGABYTE = 1_000_000


@pytest.fixture
def server() -> Iterator[WebServer]:
    with WebServer({"/api": json_answer({"d": 1})}) as running:
        yield running


def client_of(server: WebServer, clock: FakeClock | None = None, **options: Any) -> ServiceClient:
    return ServiceClient(server.url(""), **{"timeout": 60, "clock": clock or FakeClock(), **options})


def in_turn(*answers: Answer) -> Callable[[LoggedRequest], Answer]:
    rest = list(answers)
    return lambda _: rest.pop(0)


def test_a_request_and_its_answer(server: WebServer) -> None:
    server.pages["/api"] = json_answer({"d": [1]}, 201, X_MSEdge_Ref="Ref A: 1", Retry_After="7")
    with client_of(server) as client:
        answer = client.request("PUT", "/api", params={"q": "a b&c"}, json={"ä": 1}, headers={"X-One": "1"})
    assert answer == Received(201, {"d": [1]}, '{"d": [1]}', 7.0, "Ref A: 1", "application/json")
    [request] = server.requests
    assert (request.method, request.path, json.loads(request.body)) == ("PUT", "/api?q=a+b%26c", {"ä": 1})
    assert request.headers["content-type"] == "application/json; charset=utf-8"
    assert request.headers["x-one"] == "1"
    assert request.headers["user-agent"].startswith("sitemap-crawler/")
    assert not {"authorization", "cookie"} & set(request.headers)


@pytest.mark.parametrize(
    ("body", "parsed"),
    [
        (b"", None),
        (b"<html>", None),
        (b'{"d": [', None),
        (b"[" * 200_000, None),
        (b'{"d": "\xff"}', {"d": "\ufffd"}),
        (b'\xef\xbb\xbf{"d": null}', {"d": None}),
        (b"9" * 5_000, None),
    ],
)
def test_bodies(server: WebServer, body: bytes, parsed: object) -> None:
    server.pages["/api"] = Answer(body)
    with client_of(server) as client:
        answer = client.request("GET", "/api")
    assert answer.body == parsed
    assert answer.is_empty is (body == b"")
    assert len(answer.text) <= 300


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_temporary_error_is_retried_with_longer_and_longer_pauses(server: WebServer, status: int) -> None:
    server.pages["/api"] = in_turn(Answer(status=status), Answer(status=status), json_answer({"d": 2}))
    clock = FakeClock()
    with client_of(server, clock) as client:
        assert client.request("PUT", "/api").body == {"d": 2}
    assert clock.pauses == [1, 2]

    server.pages["/api"] = Answer("busy", status=status)
    server.clear_log()
    with client_of(server, clock := FakeClock()) as client:
        answer = client.request("GET", "/api")
        error = client.error(answer)
    assert (answer.status, clock.pauses, len(server.requests)) == (status, [1, 2, 4], 4)
    assert isinstance(error, ServiceLaterError)
    assert (error.exit_code, error.http_status, error.advice) == (4, status, "run the same command later")


@pytest.mark.parametrize("status", [200, 204, 400, 401, 403, 404, 405, 422, 501])
def test_other_answers_are_not_retried(server: WebServer, status: int) -> None:
    server.pages["/api"] = Answer(status=status)
    with client_of(server, clock := FakeClock()) as client:
        assert client.request("GET", "/api").status == status
    assert (clock.pauses, len(server.requests)) == ([], 1)


@pytest.mark.parametrize("answer", [Answer(status=503), Answer(drop=True)])
def test_a_request_that_is_not_repeatable_is_sent_once(server: WebServer, answer: Answer) -> None:
    server.pages["/api"] = answer
    with client_of(server, clock := FakeClock()) as client:
        if answer.drop:
            with pytest.raises(ServiceUnavailableError):
                client.request("POST", "/api", repeatable=False)
        else:
            assert client.request("POST", "/api", repeatable=False).status == 503
    assert (clock.pauses, len(server.requests)) == ([], 1)


def test_the_pause_has_a_part_by_chance(server: WebServer) -> None:
    class Lucky(FakeClock):
        def jitter(self) -> float:
            return -1.0

    server.pages["/api"] = Answer(status=500)
    with client_of(server, clock := Lucky()) as client:
        client.request("GET", "/api")
    assert clock.pauses == pytest.approx([0.9, 1.8, 3.6])


@pytest.mark.parametrize(
    ("value", "seconds", "pauses"),
    [
        ("30", 30, [30, 30, 30]),
        ("60", 60, [60, 60, 60]),
        ("61", 61, []),
        ("999999999", 999_999_999, []),
        ("0", 0, [1, 2, 4]),
        ("soon", None, [1, 2, 4]),
        ("-5", None, [1, 2, 4]),
        ("٣", None, [1, 2, 4]),
        ("Wed, 99 Foo 2026 10:00:00 GMT", None, [1, 2, 4]),
    ],
)
def test_retry_after_in_seconds(server: WebServer, value: str, seconds: float | None, pauses: list[float]) -> None:
    server.pages["/api"] = Answer(status=429, headers={"Retry-After": value.encode().decode("latin-1")})
    with client_of(server, clock := FakeClock()) as client:
        error = client.error(client.request("GET", "/api"))
    assert (error.retry_after, clock.pauses) == (seconds, pauses)
    if seconds:
        assert f"in {seconds} s" in error.advice


@pytest.mark.parametrize(("after", "pauses"), [(20, [20.0]), (90, []), (-90, [1.0])])
def test_retry_after_as_a_date(server: WebServer, after: int, pauses: list[float]) -> None:
    clock = FakeClock()
    date = format_datetime(clock.now() + timedelta(seconds=after), usegmt=True)
    server.pages["/api"] = in_turn(Answer(status=503, headers={"Retry-After": date}), json_answer({}))
    with client_of(server, clock) as client:
        answer = client.request("GET", "/api")
    assert clock.pauses == pauses
    assert answer.retry_after == (after if after > 60 else None)


def test_a_dropped_connection_is_retried(server: WebServer) -> None:
    server.pages["/api"] = in_turn(Answer(drop=True), Answer(drop=True), json_answer({"d": 3}))
    with client_of(server, clock := FakeClock()) as client:
        assert client.request("PUT", "/api").body == {"d": 3}
    assert clock.pauses == [1, 2]


def test_a_service_that_gives_no_answer(server: WebServer) -> None:
    server.pages["/api"] = Answer(drop=True)
    with client_of(server, service="Bing") as client, pytest.raises(ServiceUnavailableError) as caught:
        client.request("GET", "/api")
    assert len(server.requests) == 4
    assert str(caught.value).startswith("the connection to Bing (127.0.0.1) failed (")
    assert (caught.value.exit_code, caught.value.http_status) == (4, None)


def test_a_port_without_a_service(server: WebServer) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    client = ServiceClient(url, timeout=60, service="Bing", clock=FakeClock())
    with client, pytest.raises(ServiceUnavailableError, match=r"^the connection to Bing .* \(Connection refused\): "):
        client.request("GET", "/api")


@pytest.mark.parametrize("begins", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
def test_a_service_that_does_not_go_on_ends_in_a_timeout(begins: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        kept: list[socket.socket] = []

        def accept() -> None:
            for _ in range(4):
                connection, _ = listener.accept()
                kept.append(connection)
                connection.sendall(begins)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        client = ServiceClient(url, timeout=0.2, service="Bing", clock=FakeClock())
        with client, pytest.raises(ServiceUnavailableError, match=r"^Bing \(127.0.0.1\) gave no answer within 0.2 s"):
            client.request("GET")
        thread.join()
        for connection in kept:
            connection.close()
    assert len(kept) == 4


def test_a_body_that_comes_byte_by_byte_ends_at_the_timeout() -> None:
    """Each byte comes in time, and the whole body would not."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")
                try:
                    while not ended.wait(0.02):
                        connection.sendall(b"x")
                except OSError:
                    pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            with ServiceClient(url, timeout=0.5, clock=FakeClock()) as client, pytest.raises(ServiceUnavailableError):
                client.request("POST", repeatable=False)
        finally:
            ended.set()
            thread.join()


def test_a_body_that_is_cut_off_is_no_answer(server: WebServer) -> None:
    cut = Answer('{"d": 1}', headers={"Content-Length": "500", "Connection": "close"})
    server.pages["/api"] = in_turn(cut, json_answer({"d": 4}))
    with client_of(server, clock := FakeClock()) as client:
        assert client.request("GET", "/api").body == {"d": 4}
    assert clock.pauses == [1]


@pytest.mark.parametrize("encoded", [False, True])
def test_a_body_of_ten_megabytes_is_not_read(server: WebServer, encoded: bool) -> None:
    body = b" " * (10 * MEGABYTE)
    headers = {"Content-Encoding": "gzip"} if encoded else {}
    server.pages["/api"] = Answer(gzip.compress(body) if encoded else body, headers=headers)
    with client_of(server) as client, pytest.raises(ServiceUnavailableError, match="is larger than 1 MB"):
        client.request("GET", "/api")
    assert len(server.requests) == 1
    assert server.requests[0].headers["accept-encoding"] == "identity"


def test_a_body_of_one_megabyte_is_read(server: WebServer) -> None:
    text = "x" * (MEGABYTE - 2)
    server.pages["/api"] = Answer(f'"{text}"')
    with client_of(server) as client:
        assert client.request("GET", "/api").body == text


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_answer(server: WebServer, status: int) -> None:
    with WebServer({"/": json_answer({})}) as other:
        target = other.url("/?apikey=abcdefgh")
        server.pages["/api"] = Answer(status=status, headers={"Location": target})
        with client_of(server, service="Bing") as client:
            answer = client.request("POST", "/api", json={}, headers={"Authorization": "Bearer secret"})
            error = client.error(answer)
        assert other.requests == []
    assert isinstance(error, ServiceRefusedError)
    assert error.message == f"Bing answered {status} (it redirects to http://127.0.0.1)"


@pytest.mark.parametrize("location", ["/login", "http://[", "//", ""])
def test_redirects_without_a_host(server: WebServer, location: str) -> None:
    server.pages["/api"] = Answer(status=302, headers={"Location": location})
    with client_of(server) as client:
        error = client.error(client.request("GET", "/api"))
    assert error.message == "the service answered 302 (it redirects to nowhere)"


def test_the_body_of_a_redirect_is_bounded(server: WebServer) -> None:
    server.pages["/api"] = Answer(b" " * (10 * MEGABYTE), status=302, headers={"Location": "/"})
    with client_of(server) as client, pytest.raises(ServiceUnavailableError, match="is larger than 1 MB"):
        client.request("GET", "/api")


def test_cookies_are_not_kept(server: WebServer) -> None:
    server.pages["/api"] = json_answer({}, Set_Cookie="session=1; Path=/")
    with client_of(server) as client:
        client.request("GET", "/api")
        client.request("GET", "/api")
    assert ["cookie" in request.headers for request in server.requests] == [False, False]


def test_a_netrc_file_is_not_used(server: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password hunter2\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    with client_of(server) as client:
        client.request("GET", "/api", headers={"Authorization": "Bearer mine"})
        client.request("GET", "/api")
    assert [request.headers.get("authorization") for request in server.requests] == ["Bearer mine", None]


def test_requests_are_a_second_apart(server: WebServer) -> None:
    with client_of(server, clock := FakeClock(), seconds_between=1.0) as client:
        client.request("GET", "/api")
        client.request("GET", "/api")
        clock.sleep(0.25)
        client.request("GET", "/api")
        clock.sleep(5)
        client.request("GET", "/api")
    assert clock.pauses == [1, 0.25, 0.75, 5]


def test_a_path_is_sent_as_it_is(server: WebServer) -> None:
    path = "/sites/sc-domain%3Aexample.com/sitemaps/https%3A%2F%2Fb%C3%BCcher.example%2Fa%253D%3Fx%3D1~"
    with client_of(server) as client:
        client.request("GET", path)
    assert server.paths() == [path]


def test_a_proxy_of_the_environment(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with ProxyServer("Basic YWdlbnQ6czNjcmV0") as proxy:
        monkeypatch.setenv("http_proxy", f"http://agent:s3cret@{proxy.address}")
        with client_of(server) as client:
            assert client.request("POST", "/api", json=[1]).body == {"d": 1}
        assert [(method, target) for method, target, _ in proxy.asked] == [("POST", server.url("/api"))]
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        with client_of(server) as client:
            client.request("GET", "/api")
        assert len(proxy.asked) == 1
    assert len(server.requests) == 2
    assert "proxy-authorization" not in server.requests[0].headers


def test_a_proxy_that_is_gone(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with ProxyServer() as proxy:
        address = proxy.address
    monkeypatch.setenv("http_proxy", f"http://agent:s3cret@{address}")
    with client_of(server) as client, pytest.raises(ServiceUnavailableError) as caught:
        client.request("GET", "/api")
    assert str(caught.value).startswith("the proxy to the service (127.0.0.1) failed (Connection refused): check")
    assert "s3cret" not in repr(caught.value)


def test_a_tunnel_that_the_proxy_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProxyServer("Basic YWdlbnQ6czNjcmV0") as proxy:
        monkeypatch.setenv("https_proxy", proxy.address)
        client = ServiceClient("https://service.example", timeout=60, service="Bing", clock=FakeClock())
        with (
            client,
            pytest.raises(ServiceUnavailableError, match=r"^the proxy to Bing .*Tunnel connection failed: 407 "),
        ):
            client.request("GET", "/api?apikey=abcdefgh")
    assert {target for _, target, _ in proxy.asked} == {"service.example:443"}


def test_a_name_that_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    client = ServiceClient("http://service.example", timeout=60, service="Bing", clock=FakeClock())
    message = r"^the connection to Bing \(service.example\) failed \(Name or service not known\): run"
    with client, pytest.raises(ServiceUnavailableError, match=message):
        client.request("GET", "/api?apikey=abcdefgh")


def test_requests_of_many_threads(server: WebServer) -> None:
    """Those that must not be repeated do not close the connections of the others."""
    server.pages["/api"] = lambda request: json_answer({"d": request.body.decode()})
    with client_of(server, clock := FakeClock()) as client, ThreadPoolExecutor(5) as threads:

        def send(number: int) -> object:
            return client.request("POST", "/api", json=number, repeatable=number % 2 == 0).body

        assert list(threads.map(send, range(100))) == [{"d": str(number)} for number in range(100)]
    assert clock.pauses == []


@pytest.mark.parametrize("value", ["socks5://127.0.0.1:1", "http://", "http://:0", "ftp://127.0.0.1:1"])
def test_an_unusable_proxy_is_an_error_of_the_user(
    server: WebServer, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("http_proxy", value)
    with pytest.raises(ProxyError, match="names no usable proxy") as caught:
        client_of(server)
    assert caught.value.exit_code == 2


def test_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = tmp_path / "server.pem"
    write_certificate(certificate)
    server = WebServer({"/api": json_answer({"d": 5})})
    server.secure(certificate)
    with server, ProxyServer() as proxy:
        with client_of(server, clock := FakeClock()) as client:
            with pytest.raises(ServiceUnavailableError, match=r"certificate of .* cannot be verified \(self.signed"):
                client.request("GET", "/api")
            assert clock.pauses == []
        with client_of(server, ca_file=certificate) as client:
            assert client.request("GET", "/api").body == {"d": 5}
        monkeypatch.setenv("https_proxy", f"http://{proxy.address}")
        with client_of(server, ca_file=certificate) as client:
            assert client.request("GET", "/api").body == {"d": 5}
        with client_of(server, clock := FakeClock()) as client, pytest.raises(ServiceUnavailableError):
            client.request("GET", "/api")
    assert [target for _, target, _ in proxy.asked] == [f"127.0.0.1:{server.port}"] * 2
    assert len(server.requests) == 2


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_an_unusable_ca_file(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(OptionError, match="ca_file"):
        ServiceClient("https://127.0.0.1", timeout=1, ca_file=path)
