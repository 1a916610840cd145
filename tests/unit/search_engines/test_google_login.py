"""The login to Google: credentials files, requests for tokens, and what goes wrong with both."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15

from sitemap_crawler.config.search_engines import SearchEngineOptions
from sitemap_crawler.exceptions import (
    CredentialsError,
    ServiceError,
    ServiceLaterError,
    ServiceRefusedError,
    ServiceUnavailableError,
)
from sitemap_crawler.search_engines.google import SearchConsole
from sitemap_crawler.search_engines.google_login import GoogleLogin, gcloud_file
from tests.support.paths import ROOT
from tests.support.proxy_server import ProxyServer
from tests.support.search_engines import (
    CLIENT_SECRET,
    EMAIL,
    REFRESH_TOKEN,
    FakeClock,
    FakeGoogle,
    json_answer,
    service_account_key,
    write_authorized_user,
    write_service_account,
)
from tests.support.secure_server import write_certificate
from tests.support.webserver import Answer, LoggedRequest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCOPE = "https://www.googleapis.com/auth/webmasters"


@pytest.fixture
def google() -> Iterator[FakeGoogle]:
    with FakeGoogle() as service:
        yield service


def login_of(google: FakeGoogle, file: Path, clock: FakeClock | None = None, **options: Any) -> GoogleLogin:
    return GoogleLogin(
        file, **{"timeout": 60, "token_url": google.url("/token"), "clock": clock or FakeClock(), **options}
    )


def decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def test_the_token_of_a_service_account(google: FakeGoogle, tmp_path: Path) -> None:
    login = login_of(google, write_service_account(tmp_path / "key.json"))
    assert (login.name, login.is_service_account, login.quota_project, login.warning) == (EMAIL, True, None, None)
    assert [login.token(), login.token()] == ["ya29.fake-token-1"] * 2
    [request] = google.requests
    form = parse_qs(request.body.decode())
    assert (request.method, form["grant_type"]) == ("POST", ["urn:ietf:params:oauth:grant-type:jwt-bearer"])
    signed, _, signature = form["assertion"][0].rpartition(".")
    service_account_key().public_key().verify(decoded(signature), signed.encode(), PKCS1v15(), hashes.SHA256())
    claims = json.loads(decoded(signed.split(".")[1]))
    assert (claims["iss"], claims["scope"], claims["aud"]) == (EMAIL, SCOPE, "https://oauth2.googleapis.com/token")
    assert claims["exp"] - claims["iat"] == 3600


def test_the_token_of_a_user(google: FakeGoogle, tmp_path: Path) -> None:
    file = write_authorized_user(tmp_path / "user.json", account="me@example.com")
    login = login_of(google, file)
    assert (login.name, login.is_service_account) == ("me@example.com", False)
    assert login.quota_project == "quota-project"
    assert login.token() == "ya29.fake-token-1"
    [request] = google.requests
    form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
    assert form == {
        "grant_type": "refresh_token",
        "client_id": "764086051850-fake.apps.googleusercontent.com",
        "client_secret": CLIENT_SECRET,
        "refresh_token": REFRESH_TOKEN,
    }


def test_the_token_url_of_the_file_is_that_of_a_service_account(google: FakeGoogle, tmp_path: Path) -> None:
    file = write_service_account(tmp_path / "key.json", token_uri=google.url("/token"))
    assert login_of(google, file, token_url=None).token() == "ya29.fake-token-1"


def test_a_refused_token_is_replaced_once_for_all_threads(google: FakeGoogle, tmp_path: Path) -> None:
    login = login_of(google, write_service_account(tmp_path / "key.json"))
    first = login.token()
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(login.token(instead_of=first))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["ya29.fake-token-2"] * 5
    assert login.token() == "ya29.fake-token-2"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_login_is_retried_by_our_client_alone(google: FakeGoogle, tmp_path: Path, status: int) -> None:
    busy = json_answer({"error": "internal_failure"}, status)
    google.answer_next("token", busy, busy)
    login = login_of(google, write_service_account(tmp_path / "key.json"), clock := FakeClock())
    assert login.token() == "ya29.fake-token-1"
    assert clock.pauses == [1, 2]
    google.answer_next("token", *[busy] * 4)
    google.clear_log()
    with pytest.raises(ServiceLaterError, match=f"Google's login answered {status} internal_failure"):
        login.token(instead_of="ya29.fake-token-1")
    assert len(google.requests) == 4


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("service", f"check this machine's clock, and that the key of {EMAIL} in "),
        ("user", "log in again: gcloud auth application-default login --scopes=https://www.googleapis.com/auth/"),
    ],
)
@pytest.mark.parametrize(
    "answer",
    [
        json_answer({"error": "invalid_grant", "error_description": "Invalid JWT Signature."}, 400),
        json_answer({"error": "invalid_client", "error_description": "The OAuth client was deleted."}, 401),
        # google-auth would repeat the request, and sleep.
        json_answer({"error": "server_error"}, 400),
        json_answer({"error": ["odd"]}, 403),
        json_answer([], 400),
        Answer("<html>", status=404),
    ],
)
def test_a_login_that_is_refused(google: FakeGoogle, tmp_path: Path, kind: str, advice: str, answer: Answer) -> None:
    write = write_service_account if kind == "service" else write_authorized_user
    google.answer_next("token", answer)
    with pytest.raises(ServiceRefusedError) as caught:
        login_of(google, write(tmp_path / "file.json")).token()
    assert (caught.value.exit_code, caught.value.http_status) == (1, answer.status)
    assert caught.value.advice.startswith(advice)
    assert len(google.requests) == 1


@pytest.mark.parametrize("write", [write_service_account, write_authorized_user])
@pytest.mark.parametrize(
    "answer",
    [
        json_answer({}),
        json_answer([1]),
        json_answer({"access_token": None}),
        json_answer({"access_token": 5, "expires_in": 5}),
        json_answer({"access_token": "a\r\nX-Evil: 1", "expires_in": 5}),
        json_answer({"access_token": "", "expires_in": 5}),
        json_answer({"access_token": "ya29.x", "expires_in": "soon"}),
        json_answer({"access_token": "ya29.x", "expires_in": 10**30}),
        json_answer({"access_token": "ya29.x", "expires_in": []}),
        Answer("<html>Log in to the hotel"),
        Answer(""),
        Answer(drop=True),
    ],
)
def test_a_login_that_gives_no_token(google: FakeGoogle, tmp_path: Path, write: Any, answer: Answer) -> None:
    google.answer_next("token", *[answer] * 4)
    login = login_of(google, write(tmp_path / "file.json"))
    with pytest.raises(ServiceUnavailableError) as caught:
        login.token()
    assert caught.value.exit_code == 4
    assert "Google's login" in str(caught.value)


def test_the_login_has_the_limits_of_our_client(google: FakeGoogle, tmp_path: Path) -> None:
    file = write_authorized_user(tmp_path / "user.json")
    google.answer_next("token", Answer(b" " * 10_000_000, content_type="application/json"))
    with pytest.raises(ServiceUnavailableError, match="the answer of Google's login is larger than 1 MB"):
        login_of(google, file).token()

    ended = threading.Event()

    def hang(_: LoggedRequest) -> Answer:
        ended.wait(60)
        return Answer(drop=True)

    google.answer_next("token", *[hang] * 4)
    try:
        with pytest.raises(ServiceUnavailableError, match=r"Google's login \(127.0.0.1\) gave no answer within 0.1 s"):
            login_of(google, file, timeout=0.1).token()
    finally:
        ended.set()


def test_the_login_has_the_authorities_and_the_proxy_of_our_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = tmp_path / "server.pem"
    write_certificate(certificate)
    google = FakeGoogle({"sc-domain:example.com": "siteOwner"})
    google.secure(certificate)
    with google, ProxyServer() as proxy:
        monkeypatch.setenv("https_proxy", proxy.address)
        options = SearchEngineOptions(**google.options(tmp_path))
        with (
            SearchConsole(options, clock=FakeClock()) as console,
            pytest.raises(ServiceUnavailableError, match=r"certificate of Google's login .* cannot be verified"),
        ):
            console.sites()
        assert google.requests == []
        with SearchConsole(options, certificate, clock=FakeClock()) as console:
            assert [each.name for each in console.sites()] == ["sc-domain:example.com"]
        # One tunnel for the login without the authority, then one each for the login and the API.
        assert [(method, target) for method, target, _ in proxy.asked] == [("CONNECT", f"127.0.0.1:{google.port}")] * 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no JSON file of credentials"),
        (b"\xff", "is no JSON file of credentials"),
        (b"[" * 50_000, "is no JSON file of credentials"),
        (b"[]", "is no JSON file of credentials"),
        (b" " * 200_000, "is no JSON file of credentials"),
        (b"{}", "has not the type service_account or authorized_user"),
        (b'{"type": "external_account"}', "has not the type service_account or authorized_user"),
        (b'{"type": ["service_account"]}', "has not the type service_account or authorized_user"),
        (b'{"type": "service_account"}', "lacks client_email, private_key"),
        (b'{"type": "authorized_user", "client_id": "x", "refresh_token": 5}', "lacks client_secret, refresh_token"),
        (
            b'{"type": "service_account", "client_email": "a@b", "private_key": "-----BEGIN PRIVATE KEY-----\\nabc"}',
            "is unusable",
        ),
    ],
)
def test_unusable_files(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "file.json"
    file.write_bytes(content)
    with pytest.raises(CredentialsError, match=message) as caught:
        GoogleLogin(file, timeout=1)
    assert caught.value.exit_code == 2
    assert str(file) in str(caught.value)
    assert "google_credentials or GOOGLE_APPLICATION_CREDENTIALS" in caught.value.advice
    assert "log in with gcloud" in caught.value.advice


@pytest.mark.parametrize("url", ["http://oauth2.example.com/token", "ftp://127.0.0.1/", "", 5, "https://", "https://["])
def test_a_token_url_in_clear_text_is_not_used(tmp_path: Path, url: object) -> None:
    file = write_service_account(tmp_path / "key.json", token_uri=url)
    with pytest.raises(CredentialsError, match=r"the token_uri in .* is no https URL"):
        GoogleLogin(file, timeout=1)


@pytest.mark.parametrize("project", ["a b", "x\r\nEvil: 1", "ä"])
def test_a_project_that_is_no_name(tmp_path: Path, project: str) -> None:
    file = write_authorized_user(tmp_path / "user.json")
    with pytest.raises(CredentialsError, match=r"google_quota_project is no name of a project"):
        GoogleLogin(file, timeout=1, quota_project=project)


def test_files_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CredentialsError, match=r"cannot read google_credentials .*none.json \(No such file"):
        GoogleLogin(tmp_path / "none.json", timeout=1)
    with pytest.raises(CredentialsError, match=r"cannot read google_credentials .* \(Is a directory\)"):
        GoogleLogin(tmp_path, timeout=1)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    with pytest.raises(
        CredentialsError, match=r"there are no credentials for Google: give google_credentials or"
    ) as caught:
        GoogleLogin(None, timeout=1)
    assert caught.value.exit_code == 2


def test_the_file_of_gcloud(google: FakeGoogle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLOUDSDK_CONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert gcloud_file() == tmp_path / ".config/gcloud/application_default_credentials.json"
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    write_authorized_user(tmp_path / "application_default_credentials.json")
    login = GoogleLogin(None, timeout=60, token_url=google.url("/token"), clock=FakeClock())
    assert login.token() == "ya29.fake-token-1"


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
@pytest.mark.parametrize(("mode", "warns"), [(0o600, False), (0o400, False), (0o640, True), (0o604, True)])
def test_a_file_that_others_can_read(tmp_path: Path, mode: int, warns: bool) -> None:
    file = write_authorized_user(tmp_path / "user.json")
    file.chmod(mode)
    warning = GoogleLogin(file, timeout=1).warning
    assert warning == (f"other users can read the credentials in {file}: run chmod 600 on it" if warns else None)


WITHOUT_GOOGLE_AUTH = """
import sys
from pathlib import Path

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name == "google" or name.startswith("google."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
from sitemap_crawler.config.search_engines import SearchEngineOptions
from sitemap_crawler.exceptions import CredentialsError
from sitemap_crawler.search_engines.google import SearchConsole
try:
    SearchConsole(SearchEngineOptions(google_credentials=sys.argv[1]))
except CredentialsError as error:
    print(error)
    sys.exit(error.exit_code)
"""


def test_without_google_auth(tmp_path: Path) -> None:
    file = write_authorized_user(tmp_path / "user.json")
    command = [sys.executable, "-c", WITHOUT_GOOGLE_AUTH, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    line = "Google's credentials need the library google-auth: in the checkout run pip install '.[google]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, line, "")


def test_the_error_of_a_login_has_no_traceback_with_its_answer(google: FakeGoogle, tmp_path: Path) -> None:
    google.answer_next("token", json_answer({"id_token": "secret-of-the-answer"}))
    with pytest.raises(ServiceError) as caught:
        login_of(google, write_service_account(tmp_path / "key.json")).token()
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
