"""The services of search engines on loopback: Google Search Console with its login, Bing Webmaster Tools, IndexNow.

    with FakeGoogle({"sc-domain:example.com": "siteOwner"}) as google:
        options = SearchEngineOptions(**google.options(tmp_path))
        google.answer_next("submit", google_error(403, "forbidden", "User does not have sufficient permission"))

Each fake answers as recorded answers of the service do, and logs its requests as `WebServer` does. `answer_next`
puts an answer before that of the next request of an operation.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from sitemap_crawler.search_engines.http_client import Clock
from tests.support.webserver import Answer, LoggedRequest, WebServer

if TYPE_CHECKING:
    from pathlib import Path

EMAIL = "robot@project.iam.gserviceaccount.com"
CLIENT_SECRET = "GOCSPX-client-secret-of-the-test"
REFRESH_TOKEN = "1//refresh-token-of-the-test"
BING_KEY = "5ec7e7b1a96b4e0f9a1d2c3b4a596877"
INDEXNOW_KEY = "0123456789abcdef0123456789abcdef"
NEVER = "/Date(-11644473600000)/"
"""What Bing writes for a date that is unknown."""

Scripted = Answer | Callable[[LoggedRequest], Answer]


class FakeClock(Clock):
    """Clock that stands still but for pauses, which it notes and does not wait for."""

    def __init__(self, start: datetime = datetime(2026, 11, 23, 12, tzinfo=UTC)) -> None:
        self.start = start
        self.pauses: list[float] = []

    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return sum(self.pauses)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def jitter(self) -> float:
        return 0.0


def json_answer(value: object, status: int = 200, **headers: str) -> Answer:
    names = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(json.dumps(value), status, names, content_type="application/json; charset=UTF-8")


class FakeService(WebServer):
    """Server of one service. A subclass says which operation a request is, and answers it."""

    def __init__(self) -> None:
        super().__init__()
        self._scripted: dict[str, deque[Scripted]] = defaultdict(deque)

    def answer_next(self, operation: str, *answers: Scripted) -> None:
        """Give these answers to the next requests of an operation, then the usual ones."""
        self._scripted[operation].extend(answers)

    def forget(self) -> None:
        """Drop the answers that no request has got."""
        self._scripted.clear()

    def respond(self, request: LoggedRequest) -> Answer:
        operation = self.operation(request)
        with self._lock:
            scripted = self._scripted[operation].popleft() if self._scripted[operation] else None
        if scripted is None:
            return self.usual(operation, request)
        return scripted(request) if callable(scripted) else scripted

    def of(self, operation: str) -> list[LoggedRequest]:
        """Return the logged requests of an operation."""
        return [request for request in self.requests if self.operation(request) == operation]

    def operation(self, request: LoggedRequest) -> str:
        raise NotImplementedError

    def usual(self, operation: str, request: LoggedRequest) -> Answer:
        raise NotImplementedError


@cache
def service_account_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def write_service_account(path: Path, **fields: Any) -> Path:
    """Write the credentials file of a service account, with a key that is made here."""
    encoding, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    key = service_account_key().private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain).decode()
    info = {
        "type": "service_account",
        "project_id": "project",
        "private_key_id": "0123456789abcdef0123456789abcdef01234567",
        "private_key": key,
        "client_email": EMAIL,
        "client_id": "100000000000000000000",
        "token_uri": "https://oauth2.googleapis.com/token",
        "universe_domain": "googleapis.com",
    }
    return _write_private(path, info | fields)


def write_authorized_user(path: Path, **fields: Any) -> Path:
    """Write the credentials file of a user, as `gcloud auth application-default login` does."""
    info = {
        "account": "",
        "client_id": "764086051850-fake.apps.googleusercontent.com",
        "client_secret": CLIENT_SECRET,
        "quota_project_id": "quota-project",
        "refresh_token": REFRESH_TOKEN,
        "type": "authorized_user",
        "universe_domain": "googleapis.com",
    }
    return _write_private(path, info | fields)


def _write_private(path: Path, info: dict[str, Any]) -> Path:
    path.touch(mode=0o600)
    path.write_text(json.dumps({name: value for name, value in info.items() if value is not None}))
    return path


def google_error(status: int, reason: str, message: str = "", *, word: str = "", **headers: str) -> Answer:
    """Return an error as Google's APIs send it. `word` is the status of newer methods, such as PERMISSION_DENIED."""
    error: dict[str, Any] = {"code": status, "message": message}
    if reason:
        error["errors"] = [{"message": message, "domain": "global", "reason": reason}]
    if word:
        error["status"] = word
    return json_answer({"error": error}, status, **headers)


class FakeGoogle(FakeService):
    """Search Console and the login: operations token, sites, submit, remove, get, children, inspect.

    Only the newest token is valid. A property must be in `properties`, by its name, with a permission.
    """

    def __init__(self, properties: dict[str, str] | None = None) -> None:
        super().__init__()
        self.properties = dict(properties or {})
        self.sitemaps: dict[tuple[str, str], dict[str, Any]] = {}
        """Answers by property and URL, as the method get sends them."""
        self.index_children: dict[str, list[dict[str, Any]]] = {}
        """Answers by the URL of an index."""
        self.inspections: dict[str, dict[str, Any]] = {}
        """indexStatusResult by URL. Google does not know other pages."""
        self.tokens: list[str] = []
        self.token_prefix = "ya29.fake-token-"

    def options(self, folder: Path) -> dict[str, Any]:
        """Return the options that lead here, with the credentials of a service account in `folder`."""
        file = folder / "google.json"
        if not file.exists():
            write_service_account(file)
        return {"google_credentials": str(file), **self.urls()}

    def urls(self) -> dict[str, str]:
        return {"google_api_url": self.url(""), "google_token_url": self.url("/token")}

    def operation(self, request: LoggedRequest) -> str:
        path = request.path.partition("?")[0]
        if path == "/token":
            return "token"
        if path == "/v1/urlInspection/index:inspect":
            return "inspect"
        if "/sitemaps/" in path:
            return {"PUT": "submit", "DELETE": "remove", "GET": "get"}.get(request.method, "unknown")
        return "children" if path.endswith("/sitemaps") else "sites"

    def usual(self, operation: str, request: LoggedRequest) -> Answer:
        if operation == "token":
            self.tokens.append(f"{self.token_prefix}{len(self.tokens) + 1}")
            return json_answer({"access_token": self.tokens[-1], "expires_in": 3599, "token_type": "Bearer"})
        if not self.tokens or request.headers.get("authorization") != f"Bearer {self.tokens[-1]}":
            message = "Request had invalid authentication credentials."
            return google_error(401, "authError", message, word="UNAUTHENTICATED")
        if operation == "inspect":
            return self._inspect(json.loads(request.body))
        segments = request.path.partition("?")[0].split("/")
        if segments[1:3] != ["webmasters", "v3"] or operation == "unknown":
            return Answer("<html>Error 404 (Not Found)!!1</html>", status=404)
        names = [unquote(segment) for segment in segments[4::2]]
        if not names:
            rows = [{"siteUrl": name, "permissionLevel": level} for name, level in self.properties.items()]
            return json_answer({"siteEntry": rows} if rows else {})
        return self._of_property(operation, names, request)

    def _of_property(self, operation: str, names: list[str], request: LoggedRequest) -> Answer:
        if names[0] not in self.properties:
            return google_error(403, "forbidden", f"User does not have sufficient permission for site '{names[0]}'.")
        if operation == "children":
            index = parse_qs(urlsplit(request.path).query).get("sitemapIndex", [""])[0]
            rows = self.index_children.get(index, [])
            return json_answer({"sitemap": rows} if rows else {})
        key = names[0], names[1]
        if operation == "submit":
            submitted = {"path": names[1], "lastSubmitted": "2026-11-23T12:00:00.000Z", "isPending": True}
            self.sitemaps[key] = self.sitemaps.get(key, {}) | submitted
            return Answer(status=204)
        if key not in self.sitemaps:
            return google_error(404, "notFound", "Resource not found.")
        if operation == "remove":
            del self.sitemaps[key]
            return Answer(status=204)
        return json_answer(self.sitemaps[key])

    def _inspect(self, body: dict[str, Any]) -> Answer:
        if body["siteUrl"] not in self.properties:
            message = "You do not own this site, or the inspected URL is not part of this property."
            return google_error(403, "", message, word="PERMISSION_DENIED")
        unknown = {"verdict": "NEUTRAL", "coverageState": "URL is unknown to Google"}
        status = self.inspections.get(body["inspectionUrl"], unknown)
        return json_answer({"inspectionResult": {"indexStatusResult": status}})


def bing_error(code: int, message: str, status: int = 400) -> Answer:
    """Return an error as Bing sends it; `status` may be 200."""
    return json_answer({"ErrorCode": code, "Message": f"ERROR!!! {message}"}, status)


class FakeBing(FakeService):
    """Bing Webmaster Tools: an operation has the name of the API's method, such as SubmitFeed."""

    def __init__(self, sites: list[str] | None = None) -> None:
        super().__init__()
        self.sites = dict.fromkeys(sites or [], True)
        """Whether the site is verified, by URL."""
        self.feeds: dict[tuple[str, str], dict[str, Any]] = {}
        """Rows of GetFeeds by site and URL."""
        self.details: dict[str, list[dict[str, Any]]] = {}
        """Rows of GetFeedDetails by the URL of an index."""

    def options(self) -> dict[str, Any]:
        return {"bing_key": BING_KEY, "bing_api_url": self.url("/webmaster/api.svc/json")}

    def operation(self, request: LoggedRequest) -> str:
        return request.path.partition("?")[0].rpartition("/")[2]

    def usual(self, operation: str, request: LoggedRequest) -> Answer:
        query = {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}
        if query.get("apikey") != BING_KEY:
            return bing_error(3, "InvalidApiKey")
        if operation == "GetUserSites":
            return json_answer({"d": [_bing_site(*site) for site in self.sites.items()]})
        body = json.loads(request.body) if request.body else {}
        site = body.get("siteUrl", query.get("siteUrl"))
        if site not in self.sites:
            return bing_error(14, "NotAuthorized")
        if operation == "SubmitFeed":
            self.feeds.setdefault((site, body["feedUrl"]), bing_feed(body["feedUrl"], Status="Pending"))
            return json_answer({"d": None})
        if operation == "RemoveFeed":
            self.feeds.pop((site, body["feedUrl"]), None)
            return json_answer({"d": None})
        if operation == "GetFeeds":
            return json_answer({"d": [row for (owner, _), row in self.feeds.items() if owner == site]})
        if operation == "GetFeedDetails":
            return json_answer({"d": self.details.get(query["feedUrl"], [])})
        return Answer("Endpoint not found.", status=404)


def _bing_site(url: str, verified: bool) -> dict[str, Any]:
    return {
        "__type": "Site:#Microsoft.Bing.Webmaster.Api",
        "AuthenticationCode": "secret-authentication-code",
        "DnsVerificationCode": "secret-dns-code.verify.bing.com",
        "IsVerified": verified,
        "Url": url,
    }


def bing_feed(url: str, **fields: Any) -> dict[str, Any]:
    """Return a row of GetFeeds: a feed that was never read, unless `fields` say otherwise."""
    return {
        "__type": "Feed:#Microsoft.Bing.Webmaster.Api",
        "Compressed": False,
        "FileSize": 0,
        "LastCrawled": NEVER,
        "Status": "Success",
        "Submitted": "/Date(1763899200000-0800)/",
        "Type": "Sitemap",
        "Url": url,
        "UrlCount": 0,
    } | fields


class FakeIndexNow(FakeService):
    """IndexNow. The only operation is `send`; a host must be in `keys`, with its key."""

    def __init__(self, keys: dict[str, str] | None = None) -> None:
        super().__init__()
        self.keys = dict(keys or {})

    def options(self) -> dict[str, Any]:
        return {"indexnow_key": [f"{host}={key}" for host, key in self.keys.items()], **self.urls()}

    def urls(self) -> dict[str, str]:
        return {"indexnow_url": self.url("/indexnow")}

    def batches(self) -> list[dict[str, Any]]:
        """Return the bodies of all requests."""
        return [json.loads(request.body) for request in self.requests]

    def operation(self, request: LoggedRequest) -> str:
        return "send"

    def usual(self, operation: str, request: LoggedRequest) -> Answer:
        if request.method != "POST" or request.path != "/indexnow":
            return Answer("Not found", status=404)
        body = json.loads(request.body)
        host, urls = body.get("host"), body.get("urlList")
        if not isinstance(urls, list) or not urls or not body.get("key"):
            return indexnow_error(400, "InvalidRequestParameters")
        if self.keys.get(host) != body["key"]:
            return indexnow_error(403, "UserForbiddedToAccessSite", "User is unauthorized to access the site.")
        if len(urls) > 10_000 or any(urlsplit(url).netloc != host for url in urls):
            return indexnow_error(422, "InvalidUrls")
        return Answer(status=200)


def indexnow_error(status: int, code: str, message: str = "", **headers: str) -> Answer:
    """Return an error as the endpoint of Bing sends it."""
    return json_answer({"errorCode": code, "message": message, "details": None}, status, **headers)
