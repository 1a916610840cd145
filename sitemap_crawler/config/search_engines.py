"""The options of the commands that talk to search engines: submit and monitor."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from sitemap_crawler.config.model import Flag, OptionModel
from sitemap_crawler.config.types import PublicUrl, PublicUrls, TextPath, list_of_text
from sitemap_crawler.utils.addresses import is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

ENVIRONMENT = {
    "google_credentials": "GOOGLE_APPLICATION_CREDENTIALS",
    "bing_key": "BING_WEBMASTER_API_KEY",
    "indexnow_key": "INDEXNOW_KEY",
}
"""Environment variables by the option that they stand for: the names that other programs use, too."""


_INDEXNOW_KEY = re.compile(r"[a-zA-Z0-9-]{8,128}")
"""https://www.indexnow.org/documentation"""
_DOMAIN_PROPERTY = re.compile(r"sc-domain:[a-z0-9.-]+", re.IGNORECASE)


def _service_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        raise ValueError("a key or token would travel in clear text: give an https URL")
    return value.rstrip("/")


def _property_name(value: str) -> str:
    if not _DOMAIN_PROPERTY.fullmatch(value) and not value.startswith(("http://", "https://")):
        raise ValueError("give a URL such as https://www.example.com/, or sc-domain:example.com")
    return value


def _indexnow_keys(value: tuple[str, ...]) -> tuple[str, ...]:
    for text in value:
        if not _INDEXNOW_KEY.fullmatch(text.rpartition("=")[2]):
            raise ValueError("a key has 8 to 128 characters of a-z, A-Z, 0-9 and -: give such a KEY, or HOST=KEY")
    return value


ServiceUrl = Annotated[PublicUrl, AfterValidator(_service_url)]
PropertyName = Annotated[str, AfterValidator(_property_name)]
IndexNowKeys = Annotated[tuple[str, ...], BeforeValidator(list_of_text), AfterValidator(_indexnow_keys)]


class SearchEngineOptions(OptionModel):
    """Options of `submit` and `monitor`."""

    google_property: Annotated[
        PropertyName | None,
        Flag(metavar="PROPERTY"),
        Field(
            description="property of Google Search Console, such as https://www.example.com/ or "
            "sc-domain:example.com; default: the most specific one of the account that has the sitemap"
        ),
    ] = None
    google_credentials: Annotated[
        TextPath | None,
        Flag(metavar="FILE"),
        Field(
            description="JSON file of a service account or of a user; default: GOOGLE_APPLICATION_CREDENTIALS, then "
            "the file that gcloud writes"
        ),
    ] = None
    google_quota_project: Annotated[
        str | None,
        Flag(metavar="PROJECT"),
        Field(
            max_length=200,
            description="Google Cloud project that user credentials count for; default: the one in the file",
        ),
    ] = None
    google_api_url: Annotated[
        ServiceUrl, Flag(metavar="URL"), Field(description="base URL of the Search Console API")
    ] = "https://searchconsole.googleapis.com"
    google_token_url: Annotated[
        ServiceUrl | None,
        Flag(metavar="URL"),
        Field(description="URL that gives access tokens; default: the one of the credentials"),
    ] = None
    bing_site: Annotated[
        PublicUrl | None,
        Flag(metavar="URL"),
        Field(description="site of Bing Webmaster Tools; default: the one of the account that has the sitemap"),
    ] = None
    bing_key: Annotated[
        SecretStr | None,
        Flag(cli=False, secret=True),
        Field(description="API key of Bing Webmaster Tools; also from BING_WEBMASTER_API_KEY"),
    ] = None
    bing_api_url: Annotated[
        ServiceUrl, Flag(metavar="URL"), Field(description="base URL of the Bing Webmaster API")
    ] = "https://ssl.bing.com/webmaster/api.svc/json"
    indexnow_key: Annotated[
        IndexNowKeys,
        Flag(metavar="KEY|HOST=KEY"),
        Field(description="key of IndexNow, for all hosts or for one (repeatable); also from INDEXNOW_KEY"),
    ] = ()
    indexnow_key_location: Annotated[
        PublicUrls,
        Flag(metavar="URL"),
        Field(
            description="URL of the key file of a host if it is not /KEY.txt (repeatable); only URLs in its directory "
            "are sent then"
        ),
    ] = ()
    indexnow_url: Annotated[
        ServiceUrl, Flag(metavar="URL"), Field(description="endpoint of IndexNow, which tells the other engines")
    ] = "https://api.indexnow.org/indexnow"
    request_timeout: Annotated[
        float,
        Flag(metavar="SECONDS"),
        Field(gt=0, le=600, description="maximum number of seconds that a request to a search engine may take"),
    ] = 30.0

    @model_validator(mode="after")
    def _check_key_locations(self) -> Self:
        hosts = [urlsplit(url).netloc for url in self.indexnow_key_location]
        repeated = next((host for host in hosts if hosts.count(host) > 1), None)
        if repeated is not None:
            raise ValueError(f"indexnow_key_location has two URLs of {repeated}: give one for each host")
        return self

    @classmethod
    def names(cls) -> frozenset[str]:
        """Return the names of the options."""
        return frozenset(SearchEngineOptions.model_fields)

    def key_of(self, host: str) -> str | None:
        """Return the IndexNow key of a host, or None."""
        keys = dict(map(_host_and_key, self.indexnow_key))
        return keys.get(host) or keys.get("")


def with_environment(values: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return option values with those that environment variables add. A given value wins."""
    added = {name: environment[variable] for name, variable in ENVIRONMENT.items() if environment.get(variable)}
    return {**added, **values}


def _host_and_key(text: str) -> tuple[str, str]:
    host, _, key = text.rpartition("=")
    return host, key
