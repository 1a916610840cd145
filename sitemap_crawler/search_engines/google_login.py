"""The login to Google: access tokens for a service account or a user, by the library google-auth.

The library is imported where it is used: it belongs to an extra, and its import takes a quarter of a second.
"""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from sitemap_crawler.exceptions import CredentialsError, ServiceRefusedError, ServiceUnavailableError
from sitemap_crawler.search_engines.http_client import Clock, ServiceClient
from sitemap_crawler.utils.addresses import is_loopback
from sitemap_crawler.utils.nesting import read_json
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sitemap_crawler.search_engines.http_client import Answer

SCOPE = "https://www.googleapis.com/auth/webmasters"
LOGIN_COMMAND = f"gcloud auth application-default login --scopes={SCOPE},https://www.googleapis.com/auth/cloud-platform"
_TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
_MAX_FILE_BYTES = 100_000
_SERVICE_ACCOUNT, _USER = "service_account", "authorized_user"
_FIELDS = {
    _SERVICE_ACCOUNT: ("client_email", "private_key"),
    _USER: ("client_id", "client_secret", "refresh_token"),
}
"""Fields that a credentials file must have, by its type."""
_HEADER_VALUE = re.compile(r"[\x21-\x7e]{1,4096}")
_SECRET_FIELDS = ("private_key", "private_key_id", "client_secret", "refresh_token")
_REMEDY = (
    "name the JSON key of a service account in google_credentials or GOOGLE_APPLICATION_CREDENTIALS, "
    "or log in with gcloud"
)


class _Response(NamedTuple):
    """An answer in the form that google-auth expects."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class GoogleLogin:
    """Access tokens for one credentials file. Threads can share it."""

    def __init__(
        self,
        file: Path | None,
        *,
        timeout: float,
        token_url: str | None = None,
        quota_project: str | None = None,
        ca_file: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Read the credentials, from the file that gcloud writes if no other is given.

        `token_url` and `quota_project` replace those of the file. Raises CredentialsError.
        """
        self.file = file or gcloud_file()
        info, self.warning = _read(self.file, is_given=file is not None)
        """The advice to protect the file if other users of this machine can read it."""
        url = token_url or (info["token_uri"] if info["type"] == _SERVICE_ACCOUNT else _TOKEN_URL)
        self.is_service_account = info["type"] == _SERVICE_ACCOUNT
        account = info.get("client_email" if self.is_service_account else "account")
        self.name = printable(account) if account and isinstance(account, str) else f"the user of {self.file}"
        """E-mail address of the account. The file need not name that of a user."""
        self.quota_project = _quota_project(quota_project or info.get("quota_project_id"))
        self.secrets = tuple(str(info[name]) for name in _SECRET_FIELDS if info.get(name))
        self._client = ServiceClient(
            url, timeout=timeout, ca_file=ca_file, secrets=self.secrets, service="Google's login", clock=clock
        )
        self._credentials = _credentials(info, url, self.file)
        self._lock = Lock()

    def token(self, *, instead_of: str | None = None) -> str:
        """Return an access token, another one than a token that was refused. Raises ServiceError."""
        with self._lock:
            if not self._credentials.valid or self._credentials.token == instead_of:
                self._refresh()
            return str(self._credentials.token)

    def close(self) -> None:
        self._client.close()

    def _refresh(self) -> None:
        from google.auth.exceptions import GoogleAuthError

        try:
            self._credentials.refresh(self._send)
            token = self._credentials.token
        except (GoogleAuthError, ValueError, TypeError, AttributeError, OverflowError):
            # Its text can hold the answer. The exception below is raised outside, so that no traceback shows the text.
            token = None
        if not isinstance(token, str) or not _HEADER_VALUE.fullmatch(token):
            self._credentials.token = None
            message = f"Google's login ({self._client.host}) gave no access token"
            raise ServiceUnavailableError(message, advice="check google_token_url and the proxy")
        self._client.hide(token)

    def _send(
        self, url: str, method: str = "GET", body: bytes | None = None, headers: Any = None, **_: object
    ) -> _Response:
        """Send a request of google-auth. The client repeats it, and never to another URL than that of tokens."""
        answer = self._client.request(method, data=body, headers=headers)
        if answer.status != 200:
            raise self._error(answer)
        if not isinstance(answer.body, dict):
            raise self._client.unusable(answer)
        return _Response(answer.status, {}, json.dumps(answer.body).encode())

    def _error(self, answer: Answer) -> Exception:
        details = answer.body if isinstance(answer.body, dict) else {}
        reason = details.get("error")
        reason = reason if isinstance(reason, str) else None
        message = details.get("error_description")
        message = message if isinstance(message, str) else ""
        if 400 <= answer.status < 500 and answer.status not in (408, 429):
            return self._client.error_of(ServiceRefusedError, answer, message, reason=reason, advice=self._advice())
        return self._client.error(answer, message, reason=reason)

    def _advice(self) -> str:
        if self.is_service_account:
            return f"check this machine's clock, and that the key of {self.name} in {self.file} was not deleted"
        return f"log in again: {LOGIN_COMMAND}"


def gcloud_file() -> Path:
    """Return the file that `gcloud auth application-default login` writes."""
    name = "application_default_credentials.json"
    if folder := os.environ.get("CLOUDSDK_CONFIG"):
        return Path(folder) / name
    if os.name == "nt":
        return Path(os.environ.get("APPDATA", "")) / "gcloud" / name
    return Path("~/.config/gcloud").expanduser() / name


def _read(file: Path, *, is_given: bool) -> tuple[dict[str, Any], str | None]:
    """Return the contents of a credentials file, and a warning if others can read it. No message has a secret."""
    try:
        with file.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            data = opened.read(_MAX_FILE_BYTES + 1)
    except OSError as error:
        if not is_given and isinstance(error, FileNotFoundError):
            advice = f"give google_credentials or GOOGLE_APPLICATION_CREDENTIALS, or run {LOGIN_COMMAND}"
            raise CredentialsError("there are no credentials for Google", advice=advice) from None
        message = f"cannot read google_credentials {file} ({error.strerror})"
        raise CredentialsError(message, advice=_REMEDY) from None
    info = None
    if len(data) <= _MAX_FILE_BYTES:
        try:
            info = read_json(data)
        except ValueError:
            info = None
    if not isinstance(info, dict):
        raise CredentialsError(f"google_credentials {file} is no JSON file of credentials", advice=_REMEDY)
    exposed = os.name == "posix" and mode & (stat.S_IRGRP | stat.S_IROTH)
    warning = f"other users can read the credentials in {file}: run chmod 600 on it" if exposed else None
    return _checked(info, file), warning


def _checked(info: dict[str, Any], file: Path) -> dict[str, Any]:
    kind = info.get("type")
    if kind not in (_SERVICE_ACCOUNT, _USER):
        expected = f"{_SERVICE_ACCOUNT} or {_USER}"
        raise CredentialsError(f"google_credentials {file} has not the type {expected}", advice=_REMEDY)
    missing = [name for name in _FIELDS[kind] if not (isinstance(info.get(name), str) and info[name])]
    if missing:
        raise CredentialsError(f"google_credentials {file} lacks {', '.join(missing)}", advice=_REMEDY)
    url = info.setdefault("token_uri", _TOKEN_URL)
    if not isinstance(url, str) or not _is_safe(url):
        raise CredentialsError(f"the token_uri in {file} is no https URL", advice=_REMEDY)
    return info


def _quota_project(value: object) -> str | None:
    """Return the project as the value of a header. Raises CredentialsError."""
    if not value:
        return None
    if isinstance(value, str) and _HEADER_VALUE.fullmatch(value):
        return value
    raise CredentialsError("google_quota_project is no name of a project", advice="give its ID, such as my-project-123")


def _is_safe(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host = parts.hostname or ""
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)))


def _credentials(info: dict[str, Any], token_url: str, file: Path) -> Any:
    try:
        from google.oauth2 import credentials, service_account
    except ImportError:
        service_account = None  # type: ignore[assignment]
    if service_account is None:
        raise CredentialsError(
            "Google's credentials need the library google-auth", advice="in the checkout run pip install '.[google]'"
        )
    try:
        if info["type"] == _USER:
            made = credentials.Credentials.from_authorized_user_info(info)  # type: ignore[no-untyped-call]
        else:
            made = service_account.Credentials.from_service_account_info(info, scopes=[SCOPE])  # type: ignore[no-untyped-call]
        return made.with_token_uri(token_url)
    except (ValueError, TypeError, AttributeError):
        pass
    raise CredentialsError(f"the key in {file} is unusable", advice=_REMEDY)
