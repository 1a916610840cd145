"""The property or site of an account that a sitemap belongs to."""

from __future__ import annotations

import pytest

from sitemap_crawler.exceptions import ServiceRefusedError
from sitemap_crawler.search_engines.bing import BingSite
from sitemap_crawler.search_engines.google import Property
from sitemap_crawler.search_engines.properties import bing_site, covers, google_property

URL = "https://www.example.com/docs/sitemap.xml"


@pytest.mark.parametrize(
    ("name", "url", "expected"),
    [
        ("https://www.example.com/", URL, True),
        ("https://www.example.com/docs/", URL, True),
        ("HTTPS://WWW.Example.com/", URL, True),
        ("https://www.example.com/shop/", URL, False),
        ("http://www.example.com/", URL, False),
        ("https://example.com/", URL, False),
        ("https://www.example.com/doc", "https://www.example.com/docs/", True),
        ("https://www.example.com.evil.example/", URL, False),
        ("sc-domain:example.com", URL, True),
        ("sc-domain:Example.com", URL, True),
        ("SC-DOMAIN:www.example.com", URL, True),
        ("sc-domain:example.com", "http://example.com:8080/", True),
        ("sc-domain:ample.com", URL, False),
        ("sc-domain:blog.example.com", URL, False),
        ("sc-domain:", URL, False),
        ("sc-domain:bücher.example", "https://www.xn--bcher-kva.example/", True),
        ("https://bücher.example/", "https://xn--bcher-kva.example/a", True),
        ("", URL, False),
        ("nonsense", URL, False),
    ],
)
def test_which_urls_a_property_covers(name: str, url: str, expected: bool) -> None:
    assert covers(name, url) is expected


def chosen(*names: str, submitting: bool = True, given: str | None = None, checking: bool = False) -> str:
    """The property that is chosen of these, each a name and, after a blank, a permission."""
    properties = [Property(name.partition(" ")[0], name.partition(" ")[2] or "owner") for name in names]
    return google_property(
        given, lambda: properties, URL, account="robot@example.com", submitting=submitting, checking=checking
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["sc-domain:example.com", "https://www.example.com/"], "https://www.example.com/"),
        (["https://www.example.com/docs/", "https://www.example.com/"], "https://www.example.com/docs/"),
        (["sc-domain:example.com", "sc-domain:www.example.com"], "sc-domain:www.example.com"),
        (["sc-domain:example.com", "https://www.example.com/ restricted"], "sc-domain:example.com"),
        (["sc-domain:example.com full", "https://other.example/"], "sc-domain:example.com"),
    ],
)
def test_the_most_specific_property_is_chosen(names: list[str], expected: str) -> None:
    assert chosen(*names) == chosen(*reversed(names)) == expected


def test_a_restricted_user_may_read_and_an_unverified_one_may_not() -> None:
    names = "sc-domain:example.com", "https://www.example.com/ restricted", "https://www.example.com/docs/ unverified"
    assert chosen(*names, submitting=False) == "https://www.example.com/"


def test_a_given_property_is_used_for_the_urls_that_it_covers() -> None:
    names = "https://www.example.com/docs/", "sc-domain:example.com"
    assert chosen(*names, given="sc-domain:example.com") == "sc-domain:example.com"
    assert chosen(*names, given="https://shop.example.com/") == "https://www.example.com/docs/"
    sites = [BingSite("https://www.example.com/docs/", True)]
    assert bing_site("https://www.example.com/", lambda: sites, URL) == "https://www.example.com/"
    assert bing_site("https://shop.example.com/", lambda: sites, URL) == "https://www.example.com/docs/"


def test_a_check_asks_the_account_for_a_given_property() -> None:
    names = "https://www.example.com/docs/", "sc-domain:example.com restricted"
    docs = "https://www.example.com/docs/"
    assert chosen(*names, given=docs, checking=True) == docs
    with pytest.raises(ServiceRefusedError) as raised:
        chosen(*names, given="sc-domain:example.com", checking=True)
    assert str(raised.value) == (
        f"the account robot@example.com has no usable property sc-domain:example.com; it has {docs} (owner), "
        "sc-domain:example.com (restricted): make robot@example.com an owner or full user of the property, or correct "
        "google_property"
    )
    sites = [BingSite(docs, True), BingSite("https://www.example.com/", False)]
    assert bing_site(docs, lambda: sites, URL, checking=True) == docs
    with pytest.raises(ServiceRefusedError, match=r"has no verified site https://www\.example\.com/ in Bing"):
        bing_site("https://www.example.com/", lambda: sites, URL, checking=True)


def test_the_properties_that_there_are_stand_in_the_message() -> None:
    names = [f"https://{number}.example/" for number in range(7)]
    with pytest.raises(ServiceRefusedError) as raised:
        chosen("https://www.example.com/ restricted", *names)
    assert str(raised.value) == (
        "the account robot@example.com has no property of Search Console for "
        f"{URL}; it has https://www.example.com/ (restricted), {', '.join(f'{name} (owner)' for name in names[:4])} "
        "and 3 others: make robot@example.com an owner or full user of the property, or give google_property"
    )
    with pytest.raises(ServiceRefusedError, match=r"it has none: make robot@example\.com a user of the property"):
        chosen(submitting=False)


def test_the_site_of_bing() -> None:
    sites = [
        BingSite("https://www.example.com/", True),
        BingSite("https://www.example.com/docs/", False),
        BingSite("http://www.example.com/", True),
    ]
    assert bing_site(None, lambda: sites, URL) == "https://www.example.com/"
    with pytest.raises(ServiceRefusedError, match=r"it has https://www.example.com/docs/ \(not verified\): add the"):
        bing_site(None, lambda: sites[1:2], URL)
