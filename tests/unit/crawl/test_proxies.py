"""Proxies by the standard variables: how one is written, and which one a URL has."""

from __future__ import annotations

import pytest

from sitemap_crawler.crawl.download.proxies import Proxies, Proxy
from sitemap_crawler.exceptions import ProxyError


@pytest.mark.parametrize(
    ("text", "url", "authorization"),
    [
        ("proxy.corp:3128", "http://proxy.corp:3128", None),
        ("http://proxy.corp", "http://proxy.corp:80", None),
        ("HTTP://proxy.corp:8080/", "http://proxy.corp:8080", None),
        ("http://[::1]:3128", "http://[::1]:3128", None),
        ("a:b@proxy.corp:1", "http://proxy.corp:1", "Basic YTpi"),
        ("http://a%40b:c%2Fd@proxy.corp:1", "http://proxy.corp:1", "Basic YUBiOmMvZA=="),
    ],
)
def test_spellings_of_a_proxy(text: str, url: str, authorization: str | None) -> None:
    assert Proxy.parse(text) == Proxy(url, authorization)


@pytest.mark.parametrize("text", ["ftp://proxy:21", "http://", "http://a b:80", "http://proxy:99999", "http://[::1"])
def test_what_is_no_proxy(text: str) -> None:
    with pytest.raises(ProxyError):
        Proxy.parse(text)


@pytest.mark.parametrize(
    ("environment", "url", "proxy"),
    [
        ({"http_proxy": "one:1", "HTTP_PROXY": "two:2"}, "http://a.com/", "http://one:1"),
        ({"http_proxy": "", "HTTP_PROXY": "two:2"}, "http://a.com/", None),
        ({"HTTP_PROXY": "two:2", "REQUEST_METHOD": "GET"}, "http://a.com/", None),
        ({"http_proxy": "one:1"}, "https://a.com/", None),
        ({"https_proxy": "one:1"}, "https://a.com:8443/", "http://one:1"),
        ({"all_proxy": "one:1", "https_proxy": "two:2"}, "https://a.com/", "http://two:2"),
        ({"all_proxy": "one:1", "no_proxy": "a.com"}, "https://www.a.com/", None),
        ({"all_proxy": "one:1", "NO_PROXY": ".A.com"}, "https://a.com/", None),
        ({"all_proxy": "one:1", "no_proxy": "*.a.com"}, "https://b.a.com/", None),
        ({"all_proxy": "one:1", "no_proxy": "a.com"}, "https://ba.com/", "http://one:1"),
        ({"all_proxy": "one:1", "no_proxy": "a.com:8443"}, "https://a.com/", "http://one:1"),
        ({"all_proxy": "one:1", "no_proxy": "a.com:8443"}, "https://a.com:8443/", None),
        ({"all_proxy": "one:1", "no_proxy": "::1"}, "http://[::1]:80/", None),
        ({"all_proxy": "one:1", "no_proxy": "b.com,,"}, "http://a.com/", "http://one:1"),
    ],
)
def test_which_proxy(environment: dict[str, str], url: str, proxy: str | None) -> None:
    proxies = Proxies.from_environment(environment)
    chosen = proxies.proxy_for(url) if proxies else None
    assert (chosen.url if chosen else None) == proxy
