from __future__ import annotations

import subprocess
import sys

import pytest

from sitemap_crawler.exceptions import ScopeError
from sitemap_crawler.urls.scope import (
    DomainScope,
    Scope,
    default_sitemap_url,
    redirect_of_start,
    registrable_domain,
    scope_for,
    variant_of,
)


@pytest.mark.parametrize(
    ("start_url", "prefix"),
    [
        ("https://example.com", "https://example.com/"),
        ("https://example.com/", "https://example.com/"),
        ("https://example.com/docs", "https://example.com/"),
        ("https://example.com/docs/", "https://example.com/docs/"),
        ("https://example.com/docs/index.html?lang=en#top", "https://example.com/docs/"),
        ("https://example.com/?path=/docs/", "https://example.com/"),
        ("https://example.com/docs/../blog/", "https://example.com/blog/"),
        ("https://example.com//libs/a", "https://example.com//libs/"),
        ("https://example.com/%7euser/", "https://example.com/~user/"),
        ("HTTPS://EXAMPLE.COM:443/Docs/", "https://example.com/Docs/"),
        ("http://example.com:8080/a", "http://example.com:8080/"),
        ("http://b\u00fccher.de/\u00e6/", "http://xn--bcher-kva.de/%C3%A6/"),
        ("http://localhost:8000", "http://localhost:8000/"),
        ("http://127.0.0.1:8000/a/b", "http://127.0.0.1:8000/a/"),
        ("http://[::1]:8000/a/", "http://[::1]:8000/a/"),
        ("https://user:secret@example.com/a/", "https://example.com/a/"),
    ],
)
def test_start_url(start_url: str, prefix: str) -> None:
    assert Scope.for_start_page(start_url) == Scope(prefix)
    assert scope_for(start_url) == Scope(prefix)
    assert default_sitemap_url(start_url) == f"{prefix}sitemap.xml"


@pytest.mark.parametrize(
    ("sitemap_url", "prefix", "origin"),
    [
        ("https://example.com/sitemap.xml", "https://example.com/", "https://example.com"),
        ("https://example.com/docs/map.xml", "https://example.com/docs/", "https://example.com"),
        ("https://example.com:8443/a/b/sitemap", "https://example.com:8443/a/b/", "https://example.com:8443"),
        ("http://[::1]:8000/sitemap.xml", "http://[::1]:8000/", "http://[::1]:8000"),
        ("http://B\u00dcCHER.de:80/x/../sitemap.xml#a", "http://xn--bcher-kva.de/", "http://xn--bcher-kva.de"),
    ],
)
def test_sitemap_url(sitemap_url: str, prefix: str, origin: str) -> None:
    scope = Scope.for_sitemap(sitemap_url)
    assert (scope.prefix, scope.origin) == (prefix, origin)


@pytest.mark.parametrize(
    ("prefix", "url", "admitted"),
    [
        ("https://example.com/", "https://example.com/", True),
        ("https://example.com/", "https://example.com/?a", True),
        ("https://example.com/", "https://example.com//libs/", True),
        ("https://example.com/", "https://example.com/docs/a?b#c", True),
        ("https://example.com/", "http://example.com/", False),
        ("https://example.com/", "https://www.example.com/", False),
        ("https://example.com/", "https://example.com:8443/", False),
        ("https://example.com/", "https://example.com.evil.example/", False),
        ("https://example.com/", "https://example.co/", False),
        ("https://example.com:8443/", "https://example.com/", False),
        ("https://example.com:844/", "https://example.com:8443/", False),
        ("https://example.com/docs/", "https://example.com/docs/", True),
        ("https://example.com/docs/", "https://example.com/docs/?a", True),
        ("https://example.com/docs/", "https://example.com/docs/a/b", True),
        ("https://example.com/docs/", "https://example.com/docs", False),
        ("https://example.com/docs/", "https://example.com/docs?a", False),
        ("https://example.com/docs/", "https://example.com/docs-old/", False),
        ("https://example.com/docs/", "https://example.com/Docs/", False),
        ("https://example.com/docs/", "https://example.com/", False),
        ("https://example.com/docs/", "https://example.com/a/docs/", False),
        ("http://[::1]:8000/", "http://[::1]:8000/a", True),
        ("http://127.0.0.1:8000/", "http://localhost:8000/", False),
    ],
)
def test_admits(prefix: str, url: str, admitted: bool) -> None:
    assert Scope(prefix).admits(url) is admitted


@pytest.mark.parametrize(
    ("start_url", "sitemap_url", "prefix"),
    [
        ("https://example.com/docs/guide/", "https://example.com/sitemap.xml", "https://example.com/"),
        ("https://example.com/docs", "https://example.com/sitemap.xml", "https://example.com/"),
        ("https://example.com/docs/a.html", "https://example.com/docs/map.xml", "https://example.com/docs/"),
        ("HTTPS://Example.com:443", "https://example.com/sitemap.xml", "https://example.com/"),
    ],
)
def test_scope_of_both(start_url: str, sitemap_url: str, prefix: str) -> None:
    assert scope_for(start_url, sitemap_url) == Scope(prefix)


NEED_SCHEME = "give one that begins with http:// or https:// and a host"


@pytest.mark.parametrize(
    ("start_url", "sitemap_url", "message"),
    [
        ("", None, f"start URL '' is not an http or https URL: {NEED_SCHEME}"),
        ("https://", None, f"start URL 'https://' is not an http or https URL: {NEED_SCHEME}"),
        ("ftp://example.com/", None, f"start URL 'ftp://example.com/' is not an http or https URL: {NEED_SCHEME}"),
        (
            "example.com/docs",
            None,
            "start URL 'example.com/docs' is not an http or https URL: did you mean https://example.com/docs?",
        ),
        (" localhost:8000\n", None, f"start URL 'localhost:8000' is not an http or https URL: {NEED_SCHEME}"),
        ("//example.com/", None, f"start URL '//example.com/' is not an http or https URL: {NEED_SCHEME}"),
        ("javascript:alert(1)", None, f"start URL 'javascript:alert(1)' is not an http or https URL: {NEED_SCHEME}"),
        ("http://a\nb c/", None, f"start URL 'http://ab c/' is not an http or https URL: {NEED_SCHEME}"),
        # Passwords are not repeated
        (
            "user:secret@example.com",
            None,
            "start URL 'example.com' is not an http or https URL: did you mean https://example.com/?",
        ),
        (
            "ftp://user:se@cret@example.com/a",
            None,
            f"start URL 'ftp://example.com/a' is not an http or https URL: {NEED_SCHEME}",
        ),
        (
            "https://user:sec/r#et@example.com/a",
            None,
            f"start URL 'https://example.com/a' is not an http or https URL: {NEED_SCHEME}",
        ),
        (
            "http:\n//user:secret@example.com/@a",
            "https://example.com/map.xml",
            (
                "start URL 'http://example.com/@a' is outside the sitemap's directory https://example.com/: "
                "start at a page below it, or give the sitemap URL http://example.com/map.xml"
            ),
        ),
        (
            "https://example.com/",
            "https://example.com/docs/",
            (
                "sitemap URL 'https://example.com/docs/' names no file: "
                "give its file name too, as in https://example.com/docs/sitemap.xml"
            ),
        ),
        (
            "https://example.com/",
            "https://example.com",
            (
                "sitemap URL 'https://example.com' names no file: "
                "give its file name too, as in https://example.com/sitemap.xml"
            ),
        ),
        (
            "https://example.com/",
            "https://example.com/sitemap.php?page=1",
            "sitemap URL 'https://example.com/sitemap.php?page=1' has a query: give one that ends in a file name",
        ),
        (
            "https://example.com/",
            "/sitemap.xml",
            f"sitemap URL '/sitemap.xml' is not an http or https URL: {NEED_SCHEME}",
        ),
        (
            "https://example.com/",
            "sitemap.xml",
            f"sitemap URL 'sitemap.xml' is not an http or https URL: {NEED_SCHEME}",
        ),
        (
            "https://example.com/",
            "https://example.com/docs/map.xml",
            (
                "start URL 'https://example.com/' is outside the sitemap's directory https://example.com/docs/: "
                "start at a page below it, or give the sitemap URL https://example.com/map.xml"
            ),
        ),
        (
            "https://example.com/old/a",
            "https://example.com/docs/map.xml",
            (
                "start URL 'https://example.com/old/a' is outside the sitemap's directory https://example.com/docs/: "
                "start at a page below it, or give the sitemap URL https://example.com/old/map.xml"
            ),
        ),
        (
            "https://user:secret@example.com/docs",
            "https://example.com/docs/map.xml",
            (
                "start URL 'https://example.com/docs' is outside the sitemap's directory https://example.com/docs/: "
                "start at https://example.com/docs/"
            ),
        ),
        (
            "http://example.com/",
            "https://example.com/sitemap.xml",
            (
                "start URL 'http://example.com/' is outside the sitemap's directory https://example.com/: "
                "start at a page below it, or give the sitemap URL http://example.com/sitemap.xml"
            ),
        ),
        ("", "https://example.com/sitemap.xml", f"start URL '' is not an http or https URL: {NEED_SCHEME}"),
    ],
)
def test_refusals(start_url: str, sitemap_url: str | None, message: str) -> None:
    with pytest.raises(ScopeError) as refusal:
        scope_for(start_url, sitemap_url)
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("www.example.com", "example.com"),
        ("a.b.example.com", "example.com"),
        ("www.example.co.uk", "example.co.uk"),
        ("xn--bcher-kva.de", "xn--bcher-kva.de"),
        ("foo.github.io", "foo.github.io"),
        ("www.foo.github.io", "foo.github.io"),
        ("bar.github.io", "bar.github.io"),
        ("github.io", None),
        ("co.uk", None),
        ("com", None),
        ("localhost", None),
        ("intranet", None),
        ("127.0.0.1", None),
        ("[::1]", None),
        ("", None),
    ],
)
def test_registrable_domain(host: str, domain: str | None) -> None:
    assert registrable_domain(host) == domain


VARIANTS = [
    ("http://example.com/", "https://example.com/", "https"),
    ("http://example.com/", "http://www.example.com/", "www"),
    ("http://www.example.com/", "http://example.com/", "apex"),
    ("http://example.com/", "https://www.example.com/", "https and www"),
    ("http://www.example.com/", "https://example.com/", "https and apex"),
    ("https://example.co.uk/", "https://www.example.co.uk/", "www"),
    ("https://docs.example.com/", "https://www.docs.example.com/", "www"),
    ("https://foo.github.io/", "https://www.foo.github.io/", "www"),
    ("http://xn--bcher-kva.de/", "https://www.xn--bcher-kva.de/", "https and www"),
    ("http://example.com/docs", "https://example.com/docs/", "https"),
    ("http://example.com/a?b", "https://example.com/a?b", "https"),
    ("http://example.com:8080/", "http://www.example.com:8080/", "www"),
    ("http://example.com:8080/", "https://example.com:8080/", "https"),
    ("http://localhost/", "https://localhost/", "https"),
    ("http://127.0.0.1/a", "https://127.0.0.1/a", "https"),
    ("http://[::1]/", "https://[::1]/", "https"),
]
NO_VARIANTS = [
    ("https://example.com/", "http://example.com/"),
    ("https://example.com/", "http://www.example.com/"),
    ("http://example.com/", "https://example.com/en/"),
    ("http://example.com/docs/", "https://example.com/docs"),
    ("http://example.com/", "https://example.com//"),
    ("http://example.com/?a", "https://example.com/"),
    ("http://example.com/", "https://docs.example.com/"),
    ("http://docs.example.com/", "https://example.com/"),
    ("http://example.com/", "https://example.org/"),
    ("http://example.com/", "https://www.example.org/"),
    ("http://foo.github.io/", "https://bar.github.io/"),
    ("http://github.io/", "http://www.github.io/"),
    ("https://www.com/", "https://com/"),
    ("http://example.com/", "https://example.com:8443/"),
    ("http://example.com:8080/", "https://example.com/"),
    ("http://example.com:8080/", "http://example.com/"),
    ("http://localhost/", "http://www.localhost/"),
    ("http://localhost/", "http://127.0.0.1/"),
    ("http://127.0.0.1/", "http://www.127.0.0.1/"),
    ("http://127.0.0.1:8000/", "https://127.0.0.1:8443/"),
    ("http://[::1]:8000/", "https://[::1]/"),
]


@pytest.mark.parametrize(("start_url", "target_url", "words"), VARIANTS)
def test_variant(start_url: str, target_url: str, words: str) -> None:
    assert variant_of(start_url, target_url) == words
    assert redirect_of_start(start_url, target_url, Scope.for_start_page(start_url)) == "variant"


@pytest.mark.parametrize(("start_url", "target_url"), NO_VARIANTS)
def test_no_variant(start_url: str, target_url: str) -> None:
    assert variant_of(start_url, target_url) is None
    assert redirect_of_start(start_url, target_url, Scope("https://elsewhere.example/")) == "elsewhere"


@pytest.mark.parametrize(
    ("start_url", "target_url", "prefix", "kind"),
    [
        ("https://example.com/", "https://example.com/en/", "https://example.com/", "inside"),
        ("https://example.com/", "https://example.com/", "https://example.com/", "inside"),
        ("https://example.com/docs/", "https://example.com/docs", "https://example.com/", "inside"),
        ("https://example.com/docs/a", "https://example.com/docs/b/", "https://example.com/docs/", "inside"),
        ("https://example.com/docs", "https://example.com/docs/", "https://example.com/", "directory"),
        ("https://example.com/a/docs?b", "https://example.com/a/docs/?b", "https://example.com/a/", "directory"),
        ("https://example.com/docs", "https://example.com/docs/?b", "https://example.com/", "inside"),
        ("https://example.com/docs", "https://example.com/docs//", "https://example.com/", "inside"),
        ("http://example.com/docs", "https://example.com/docs/", "http://example.com/", "variant"),
        ("https://example.com/docs/", "https://example.com/", "https://example.com/docs/", "elsewhere"),
        ("https://example.com/docs/", "https://example.com/docs-old/", "https://example.com/docs/", "elsewhere"),
        ("https://example.com/", "https://example.com:8443/", "https://example.com/", "elsewhere"),
        ("https://example.com/", "https://other.example/", "https://example.com/", "elsewhere"),
    ],
)
def test_redirect_of_start(start_url: str, target_url: str, prefix: str, kind: str) -> None:
    assert redirect_of_start(start_url, target_url, Scope(prefix)) == kind


def test_import_is_light() -> None:
    """The module imports neither the suffix list, with its HTTP client, nor Scrapy."""
    code = (
        "import sys, sitemap_crawler.urls.scope; print(sorted({'scrapy', 'tldextract', 'requests'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


@pytest.mark.parametrize(
    ("start", "url", "inside"),
    [
        ("https://www.example.com/", "https://example.com/x", True),
        ("https://www.example.com/", "https://a.b.example.com/", True),
        ("https://www.example.com/", "http://a.example.com/", False),
        ("https://www.example.com/", "https://a.example.com:8443/", False),
        ("https://www.example.com/", "https://example.com.evil.net/", False),
        ("https://www.example.com/", "https://notexample.com/", False),
        ("https://foo.github.io/", "https://bar.github.io/", False),
        ("https://foo.github.io/", "https://docs.foo.github.io/", True),
        ("https://www.example.co.uk/", "https://other.co.uk/", False),
        ("http://www.example.com:8080/", "http://example.com:8080/", True),
        # Names that cannot be names of directories.
        ("https://www.example.com/", "https://*.example.com/", False),
        ("https://www.example.com/", "https://a..b.example.com/", False),
        ("https://www.example.com/", "https://-a.example.com/", False),
        ("https://www.example.com/", f"https://{'a' * 64}.example.com/", False),
        ("https://www.example.com/", "https://my_host.example.com/", True),
        # Registered below one of its hosts.
        ("https://www.amazonaws.com/", "https://bucket.s3.amazonaws.com/", False),
    ],
)
def test_hosts_of_a_domain_scope(start: str, url: str, inside: bool) -> None:
    scope = DomainScope(start)
    assert scope.admits(url) is inside
    assert scope.admits(url) is inside


def test_http_urls_may_lead_into_an_https_scope() -> None:
    scope = DomainScope("https://www.example.com/")
    assert scope.may_lead_inside("http://blog.example.com/")
    assert not scope.may_lead_inside("http://blog.example.org/")
    assert not DomainScope("http://www.example.com/").may_lead_inside("https://blog.example.com/")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "github.io", "co.uk"])
def test_a_host_without_a_registrable_domain_has_no_domain_scope(host: str) -> None:
    with pytest.raises(ScopeError, match="leave --subdomains out"):
        DomainScope(f"http://{host}/")


@pytest.mark.parametrize(
    ("scope", "url", "own"),
    [
        (Scope("https://example.com/docs/"), "https://example.com/", True),
        (Scope("https://example.com/docs/"), "http://example.com:8080/x", True),
        (Scope("https://example.com/"), "https://www.example.com/", True),
        (Scope("https://www.example.com/"), "https://example.com/", True),
        (Scope("https://example.com/"), "https://blog.example.com/", False),
        (Scope("https://example.com/"), "https://notexample.com/", False),
        (Scope("https://example.com/"), "https://example.com.evil.org/", False),
        (Scope("http://[::1]:8000/"), "http://[::1]/", True),
        (DomainScope("https://www.example.com/"), "https://blog.example.com/", True),
        (DomainScope("https://www.example.com/"), "http://example.com:81/", True),
        (DomainScope("https://www.example.com/"), "https://notexample.com/", False),
        (DomainScope("https://www.example.com/"), "https://example.com.evil.org/", False),
    ],
)
def test_hosts_of_the_site_itself(scope: Scope | DomainScope, url: str, own: bool) -> None:
    assert scope.is_own_host(url) is own
