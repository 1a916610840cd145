from __future__ import annotations

import re
import string

import ada_url
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitemap_crawler.sitemap.escaping import rfc3986, unescape, urls_in_xml
from sitemap_crawler.urls import normalise as urls
from sitemap_crawler.urls.normalise import Resolver, directory_of, host_of, last_segment, origin_of, split_credentials

BASE = "https://example.com/docs/guide/page.html?lang=en"

RESOLVED = [
    # Relative paths
    ("next.html", "https://example.com/docs/guide/next.html"),
    ("sub/", "https://example.com/docs/guide/sub/"),
    ("sub/a.b/c.html", "https://example.com/docs/guide/sub/a.b/c.html"),
    ("./next.html", "https://example.com/docs/guide/next.html"),
    (".", "https://example.com/docs/guide/"),
    ("..", "https://example.com/docs/"),
    ("../", "https://example.com/docs/"),
    ("../index.html", "https://example.com/docs/index.html"),
    ("../../index.html", "https://example.com/index.html"),
    ("../../../../index.html", "https://example.com/index.html"),
    ("a/../b", "https://example.com/docs/guide/b"),
    ("a/./b", "https://example.com/docs/guide/a/b"),
    (".hidden", "https://example.com/docs/guide/.hidden"),
    ("...", "https://example.com/docs/guide/..."),
    ("a..b", "https://example.com/docs/guide/a..b"),
    ("a,b+c=(d)!.html", "https://example.com/docs/guide/a,b+c=(d)!.html"),
    ("/", "https://example.com/"),
    ("/top", "https://example.com/top"),
    ("/top/", "https://example.com/top/"),
    ("/../top", "https://example.com/top"),
    ("/a/b/../../..", "https://example.com/"),
    # Empty segments
    ("/a//libs/", "https://example.com/a//libs/"),
    ("a//b", "https://example.com/docs/guide/a//b"),
    ("/a//../b", "https://example.com/a/b"),
    ("https://example.com//libs/", "https://example.com//libs/"),
    ("https://example.com//evil.example/", "https://example.com//evil.example/"),
    # The page itself
    ("", BASE),
    ("   ", BASE),
    ("#", BASE),
    ("#top", BASE),
    (" #top ", BASE),
    ("https:", BASE),
    ("https:#top", BASE),
    # Fragments
    ("next.html#", "https://example.com/docs/guide/next.html"),
    ("next.html#a?b#c", "https://example.com/docs/guide/next.html"),
    ("?x=1#top", "https://example.com/docs/guide/page.html?x=1"),
    ("next.html #top", "https://example.com/docs/guide/next.html%20"),
    # Queries
    ("?lang=de", "https://example.com/docs/guide/page.html?lang=de"),
    ("https:?lang=de", "https://example.com/docs/guide/page.html?lang=de"),
    ("?", "https://example.com/docs/guide/page.html"),
    ("next.html?", "https://example.com/docs/guide/next.html"),
    ("next.html?#x", "https://example.com/docs/guide/next.html"),
    ("/s?b=2&a=1&b=1", "https://example.com/s?b=2&a=1&b=1"),
    ("/s?a=&b&&c==", "https://example.com/s?a=&b&&c=="),
    ("/s??a", "https://example.com/s??a"),
    ("/s?a/../b", "https://example.com/s?a/../b"),
    ("/s?u=http://other.example/?x", "https://example.com/s?u=http://other.example/?x"),
    ("/s?a\\b", "https://example.com/s?a%5Cb"),
    ("/s?a b+c", "https://example.com/s?a%20b+c"),
    ("/s?a\tb\r\nc", "https://example.com/s?abc"),
    ("/s?a=1 ", "https://example.com/s?a=1"),
    ('/s?"<>', "https://example.com/s?%22%3C%3E"),
    ("/s?a|b[1]{2}`^", "https://example.com/s?a%7Cb%5B1%5D%7B2%7D%60%5E"),
    ("/s?\x01\x7f", "https://example.com/s?%01%7F"),
    ("/s?t=12:30@x;y,z/$!*()", "https://example.com/s?t=12:30@x;y,z/$!*()"),
    # White space and backslashes
    ("  next.html\n", "https://example.com/docs/guide/next.html"),
    ("\x00\x1f next.html\x00", "https://example.com/docs/guide/next.html"),
    ("ne\tx\r\nt.html", "https://example.com/docs/guide/next.html"),
    ("my page.html", "https://example.com/docs/guide/my%20page.html"),
    ("\\top\\page.html", "https://example.com/top/page.html"),
    ("..\\index.html", "https://example.com/docs/index.html"),
    ("https:\\\\other.example\\a", "https://other.example/a"),
    ("\\\\other.example", "https://other.example/"),
    ("h\nttps://other.example/", "https://other.example/"),
    ("\u00a0next.html", "https://example.com/docs/guide/%C2%A0next.html"),
    # Hosts, schemes and ports
    ("//other.example/a", "https://other.example/a"),
    ("//other.example", "https://other.example/"),
    ("https:next.html", "https://example.com/docs/guide/next.html"),
    ("http://example.com/", "http://example.com/"),
    ("HTTP://EXAMPLE.COM/Path", "http://example.com/Path"),
    ("https://example.com", "https://example.com/"),
    ("https://example.com?a=1", "https://example.com/?a=1"),
    ("https://example.com#a", "https://example.com/"),
    ("https://example.com/top", "https://example.com/top"),
    ("https://example.com.evil.example/top", "https://example.com.evil.example/top"),
    ("https://example.com:443/", "https://example.com/"),
    ("http://example.com:80/", "http://example.com/"),
    ("https://example.com:80/", "https://example.com:80/"),
    ("http://example.com:443/", "http://example.com:443/"),
    ("https://example.com:8443/a", "https://example.com:8443/a"),
    ("https://example.com:/a", "https://example.com/a"),
    ("https://example.com:0443/a", "https://example.com/a"),
    ("https://b\u00fccher.de/", "https://xn--bcher-kva.de/"),
    ("https://B\u00dcCHER.de/B\u00fccher", "https://xn--bcher-kva.de/B%C3%BCcher"),
    ("https://xn--bcher-kva.de/", "https://xn--bcher-kva.de/"),
    ("https://ex%41mple.com/", "https://example.com/"),
    ("https://example\u3002com/", "https://example.com/"),
    ("http://localhost:8000/a", "http://localhost:8000/a"),
    ("http://127.0.0.1:8000/a", "http://127.0.0.1:8000/a"),
    ("http://127.1/", "http://127.0.0.1/"),
    ("http://[::1]:8000/a", "http://[::1]:8000/a"),
    ("http://[0:0::0:1]:80/a", "http://[::1]/a"),
    ("https:/top", "https://example.com/top"),
    # Users and passwords
    ("https://user:secret@example.com/a", "https://example.com/a"),
    ("https://user@example.com:8443/a", "https://example.com:8443/a"),
    ("https://us%40er:p@ss@example.com/a@b?c=@d", "https://example.com/a@b?c=@d"),
    ("//user@other.example/", "https://other.example/"),
    ("/@user/post", "https://example.com/@user/post"),
    # Escapes
    ("/%7euser/%41%2d%2E%5f", "https://example.com/~user/A-._"),
    ("/%c3%a6", "https://example.com/%C3%A6"),
    ("/\u00e6", "https://example.com/%C3%A6"),
    ("/a%2fb%3fc%23d%25e%3bf%26g%3dh", "https://example.com/a%2Fb%3Fc%23d%25e%3Bf%26g%3Dh"),
    ("/a%20b+c%2b", "https://example.com/a%20b+c%2B"),
    ("/a%2541", "https://example.com/a%2541"),
    ("/s?%61=%7e%2f%c3%a6", "https://example.com/s?a=~%2F%C3%A6"),
    ("/a/%2e%2E/b", "https://example.com/b"),
    ("/a/.%2e/b", "https://example.com/b"),
    ("/a/%2e/b", "https://example.com/a/b"),
    ("/a/%2e%2e", "https://example.com/"),
    ("/a/b%2e", "https://example.com/a/b."),
    ("/it's", "https://example.com/it's"),
    ("/it%27s", "https://example.com/it%27s"),
    ("/s?q='x'", "https://example.com/s?q='x'"),
    ("/s?q=%27x%27", "https://example.com/s?q=%27x%27"),
    ('/a"b<c>d`e{f}^', "https://example.com/a%22b%3Cc%3Ed%60e%7Bf%7D%5E"),
    ("/a|b[c]$&*:@", "https://example.com/a%7Cb%5Bc%5D$&*:@"),
    ("/a\x00b", "https://example.com/a%00b"),
    # A % that begins no escape
    ("/100%", "https://example.com/100%25"),
    ("/100%/a", "https://example.com/100%25/a"),
    ("/%zz", "https://example.com/%25zz"),
    ("/%4", "https://example.com/%254"),
    ("/%%41", "https://example.com/%25A"),
    ("/%%34%31", "https://example.com/%2541"),
    ("/s?q=100%&r=%c3%", "https://example.com/s?q=100%25&r=%C3%25"),
    ("/s?q=%\u00e6", "https://example.com/s?q=%25%C3%A6"),
    # Unpaired surrogates; a pair is a character
    ("/a\ud800b", "https://example.com/a%EF%BF%BDb"),
    ("/s?\udfff", "https://example.com/s?%EF%BF%BD"),
    ("/\ud83d\ude00", "https://example.com/%F0%9F%98%80"),
]

UNUSABLE = [
    "mailto:somebody@example.com",
    "tel:+4512345678",
    "javascript:void(0)",
    "JavaScript:alert('https://example.com/')",
    " java\nscript:alert(1)",
    "data:text/html,<p>",
    "ftp://example.com/",
    "file:///etc/passwd",
    "ws://example.com/",
    "about:blank",
    "c:\\docs\\page.html",
    "localhost:8000/a",
    "http://",
    "http:///",
    "https://",
    "http://?a",
    "//",
    "https://user@/a",
    "http://exa mple.com/",
    "http://example.com:port/",
    "http://example.com:65536/",
    "http://[::1/",
    "http://[1::2::3]/",
    "http://1.2.3.4.5/",
    "http://256.256.256.256/",
    "http://a\x00b/",
    "http://a%00b/",
    "http://a<b/",
    "http://%zz/",
    "http://\u00ad/",
]


@pytest.mark.parametrize(("href", "url"), RESOLVED)
def test_resolve(href: str, url: str) -> None:
    resolver = Resolver()
    assert resolver.resolve(href, BASE) == url
    assert resolver.resolve(href, BASE) == url, "the second answer may come from the cache"


@pytest.mark.parametrize("href", UNUSABLE)
def test_resolve_unusable(href: str) -> None:
    resolver = Resolver()
    assert resolver.resolve(href, BASE) is None
    assert resolver.resolve(href, BASE) is None, "the second answer may come from the cache"


@pytest.mark.parametrize(
    ("base", "href", "url"),
    [
        ("https://example.com", "a", "https://example.com/a"),
        ("https://example.com", "", "https://example.com/"),
        ("https://example.com/docs", "a", "https://example.com/a"),
        ("https://example.com/docs/", "a", "https://example.com/docs/a"),
        ("https://example.com/docs/", "../../a", "https://example.com/a"),
        ("https://example.com/a//b/", "../c", "https://example.com/a//c"),
        ("https://example.com/a//b/", "../../c", "https://example.com/a/c"),
        ("https://example.com//", "../a", "https://example.com/a"),
        ("https://example.com/?a/b/", "c", "https://example.com/c"),
        ("https://example.com/a?b='c'#d", "", "https://example.com/a?b='c'"),
        ("https://example.com/a?utm_source=x", "#d", "https://example.com/a"),
        ("HTTPS://Example.COM:443/%7ea/b/../c", "d", "https://example.com/~a/d"),
        ("https://user:secret@example.com/a/b", "c", "https://example.com/a/c"),
        ("https://user:secret@example.com/a/b", "", "https://example.com/a/b"),
        ("http://[::1]:8000/a/b", "c", "http://[::1]:8000/a/c"),
        ("http://[::1]:8000/a/b", "/c", "http://[::1]:8000/c"),
        ("http://127.0.0.1:8000/", "//localhost:80/", "http://localhost/"),
        ("http://example.com/a", "https:b", "https://b/"),
        ("http://example.com/a/b", "http:c", "http://example.com/a/c"),
        ("http://example.com/a/b", "httpd.html", "http://example.com/a/httpd.html"),
        ("", "a", None),
        ("", "https://example.com/", None),
        ("/docs/", "a", None),
        ("javascript:alert(1)", "", None),
        ("ftp://example.com/", "a", None),
    ],
)
def test_resolve_against(base: str, href: str, url: str | None) -> None:
    assert Resolver().resolve(href, base) == url


def test_results_are_cached_per_base() -> None:
    """A cached result of one page is not used for another."""
    resolver = Resolver()
    bases = ["https://example.com/a/1", "https://example.com/a/2", "https://example.com/b/1", "http://example.com/a/1"]
    hrefs = ["x", "/x", "//h/", "../x", "?x", "https:?x", "", "http://h/"]
    assert [[resolver.resolve(href, base) for href in hrefs] for _ in range(2) for base in bases] == 2 * [
        [
            "https://example.com/a/x",
            "https://example.com/x",
            "https://h/",
            "https://example.com/x",
            "https://example.com/a/1?x",
            "https://example.com/a/1?x",
            "https://example.com/a/1",
            "http://h/",
        ],
        [
            "https://example.com/a/x",
            "https://example.com/x",
            "https://h/",
            "https://example.com/x",
            "https://example.com/a/2?x",
            "https://example.com/a/2?x",
            "https://example.com/a/2",
            "http://h/",
        ],
        [
            "https://example.com/b/x",
            "https://example.com/x",
            "https://h/",
            "https://example.com/x",
            "https://example.com/b/1?x",
            "https://example.com/b/1?x",
            "https://example.com/b/1",
            "http://h/",
        ],
        [
            "http://example.com/a/x",
            "http://example.com/x",
            "http://h/",
            "http://example.com/x",
            "http://example.com/a/1?x",
            None,  # of another scheme than the base's it is absolute, and has no host
            "http://example.com/a/1",
            "http://h/",
        ],
    ]


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urls, "_MAX_CACHED", 10)
    resolver = Resolver()
    for number in range(25):
        assert resolver.resolve(f"page-{number}", BASE) == f"https://example.com/docs/guide/page-{number}"
        assert len(resolver._cache) <= 10
    kept = set(resolver._cache)
    resolver.resolve("x" * 10_000, BASE)
    resolver.resolve("../" * 10_000 + "x", BASE)
    resolver.resolve("x", f"https://example.com/{'d' * 10_000}/")
    resolver.resolve("mailto:" + "x" * 10_000, BASE)
    resolver.resolve("mailto:x", f"https://example.com/{'d' * 10_000}/")
    resolver.resolve("../x", f"https://example.com/{'d' * 10_000}/")
    assert set(resolver._cache) == kept


@pytest.mark.parametrize(
    ("charset", "href", "url"),
    [
        ("utf-8", "/s?q=\u00e6", "https://example.com/s?q=%C3%A6"),
        ("iso-8859-1", "/s?q=\u00e6", "https://example.com/s?q=%E6"),
        ("ISO-8859-1", "/\u00e6?\u00e6#\u00e6", "https://example.com/%C3%A6?%E6"),
        ("latin1", "?\u20ac", "https://example.com/docs/guide/page.html?%80"),  # to the standard, windows-1252
        ("us-ascii", "?\u00e6", "https://example.com/docs/guide/page.html?%E6"),
        ("windows-1251", "/s?q=\u0434\u0430", "https://example.com/s?q=%E4%E0"),
        ("koi8-r", "/s?q=\u0434\u0430", "https://example.com/s?q=%C4%C1"),
        ("shift_jis", "/s?q=\u3042", "https://example.com/s?q=%82%A0"),
        ("x-sjis", "/s?q=\u30a2\u30fc", "https://example.com/s?q=%83A%81%5B"),
        ("euc-jp", "/s?q=\u3042", "https://example.com/s?q=%A4%A2"),
        ("gb2312", "/s?q=\u4e2d", "https://example.com/s?q=%D6%D0"),
        ("big5", "/s?q=\u4e2d", "https://example.com/s?q=%A4%A4"),
        ("euc-kr", "/s?q=\ud55c", "https://example.com/s?q=%C7%D1"),
        ("windows-874", "/s?q=\u0e01", "https://example.com/s?q=%A1"),
        # What the charset lacks is a character reference, and what the page escaped stays as it is
        ("iso-8859-1", "/s?q=\u3042\u00e6&r=1", "https://example.com/s?q=%26%2312354%3B%E6&r=1"),
        ("iso-8859-1", "/s?q=%c3%a6", "https://example.com/s?q=%C3%A6"),
        ("iso-8859-1", "/s?q=\ud800", "https://example.com/s?q=%26%2365533%3B"),
        # The standard's output encoding of UTF-16 is UTF-8; so is ours of what is unknown or no charset
        ("utf-16le", "/s?q=\u00e6", "https://example.com/s?q=%C3%A6"),
        ("utf-7", "/s?q=\u00e6", "https://example.com/s?q=%C3%A6"),
        ("no-such-charset", "/s?q=\u00e6", "https://example.com/s?q=%C3%A6"),
        ("rot13", "/s?q=a\u00e6", "https://example.com/s?q=a%C3%A6"),
        ("unicode_escape", "/s?q=\u00e6", "https://example.com/s?q=%C3%A6"),
        ("../../x\x00\ud800", "/s?q=\u00e6", "https://example.com/s?q=%C3%A6"),
        ("", "/s?q=\u00e6", "https://example.com/s?q=%C3%A6"),
        ("x" * 100_000, "/s?q=\u00e6", "https://example.com/s?q=%C3%A6"),
    ],
)
def test_charset_of_the_query(charset: str, href: str, url: str) -> None:
    assert Resolver().resolve(href, BASE, charset) == url


def test_results_are_cached_per_charset() -> None:
    resolver = Resolver()
    assert resolver.resolve("/s?\u00e6", BASE, "iso-8859-1") == "https://example.com/s?%E6"
    assert resolver.resolve("/s?\u00e6", BASE, "utf-8") == "https://example.com/s?%C3%A6"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://h/?utm_source=a", "https://h/"),
        ("https://h/?utm_source=a&utm_medium=b&x=1", "https://h/?x=1"),
        ("https://h/?x=1&utm_source=a&y=2", "https://h/?x=1&y=2"),
        ("https://h/?x=1&gclid=a#top", "https://h/?x=1"),
        ("https://h/?fbclid", "https://h/"),
        ("https://h/?FBCLID=a&UTM_Source=b", "https://h/"),
        ("https://h/?utm%5fsource=a&%67clid=b", "https://h/"),
        ("https://h/?msclkid=a&dclid=b&gbraid=c&wbraid=d&yclid=e&igshid=f", "https://h/"),
        ("https://h/?mc_cid=a&mc_eid=b&_ga=c", "https://h/"),
        ("https://h/?PHPSESSID=a&p=1", "https://h/?p=1"),
        ("https://h/?jsessionid=a", "https://h/"),
        ("https://h/?&utm_source=a&", "https://h/"),
        ("https://h/?b=2&&a=1&gclid=a", "https://h/?b=2&&a=1"),
        ("https://h/a;jsessionid=1F2E?x=1", "https://h/a?x=1"),
        ("https://h/a;JSESSIONID=1F2E.node-1!2/b", "https://h/a/b"),
        ("https://h/a;v=1;jsessionid=2;w=3/b", "https://h/a;v=1;w=3/b"),
        ("https://h/a;jsessionid", "https://h/a"),
        ("https://h/a/..;jsessionid=1/b", "https://h/b"),
        ("https://h/a/%2e%2e;%6asessionid=1/b", "https://h/b"),
        ("https://h/;jsessionid=1", "https://h/"),
        # Similar names, values and places stay
        ("https://h/?utm=1", "https://h/?utm=1"),
        ("https://h/?my_utm_source=1", "https://h/?my_utm_source=1"),
        ("https://h/?gclid2=1&xgclid=2", "https://h/?gclid2=1&xgclid=2"),
        ("https://h/?q=gclid&r=utm_source", "https://h/?q=gclid&r=utm_source"),
        ("https://h/?sid=1&session_id=2&ref=3&source=4&s=5", "https://h/?sid=1&session_id=2&ref=3&source=4&s=5"),
        ("https://h/?u=/a;jsessionid=1", "https://h/?u=/a;jsessionid=1"),
        ("https://h/gclid=1/utm_source=a", "https://h/gclid=1/utm_source=a"),
        ("https://h/a;jsessionids=1", "https://h/a;jsessionids=1"),
        ("https://h/a%3Bjsessionid=1", "https://h/a%3Bjsessionid=1"),
    ],
)
def test_tracking_parameters(url: str, expected: str) -> None:
    assert Resolver().normalise(url) == expected


@pytest.mark.parametrize(
    ("names", "url", "expected"),
    [
        ((), "https://h/a;jsessionid=1?utm_source=a&", "https://h/a;jsessionid=1?utm_source=a&"),
        (("ref",), "https://h/a;ref=1?ref=a&utm_source=b", "https://h/a?utm_source=b"),
        (("a.b",), "https://h/?a.b=1&axb=2", "https://h/?axb=2"),
        (("x_*",), "https://h/?x_=1&x_y=2&x=3", "https://h/?x=3"),
        (("*",), "https://h/?x=1&y", "https://h/"),
    ],
)
def test_own_tracking_parameters(names: tuple[str, ...], url: str, expected: str) -> None:
    assert Resolver(names).normalise(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (" HTTP://B\u00fccher.DE:80/%7Ea/../\u00fc?q='#x ", "http://xn--bcher-kva.de/%C3%BC?q='"),
        ("https://user:secret@example.com", "https://example.com/"),
        ("https:example.com/a", "https://example.com/a"),
        ("https:///example.com/a", "https://example.com/a"),
        ("example.com/a", None),
        ("//example.com/a", None),
        ("/a", None),
        ("", None),
        ("mailto:a@example.com", None),
        ("ftp://example.com/", None),
        ("https://", None),
        ("\ud800", None),
        ("https://\ud800/", None),
    ],
)
def test_normalise(url: str, expected: str | None) -> None:
    assert Resolver().normalise(url) == expected


# The characters that any of the rules is about, so that they meet often.
_alphabet = "aAfF029%%%%.../;;?&&='#@:\\ \t\"<[^|~-_+\x00\x7f\u00e6\u3042\ud83d\ude00"
_texts = st.text(_alphabet, max_size=30) | st.text(st.characters(categories=None), max_size=20)
_pieces = st.lists(
    st.sampled_from([";jsessionid=1", "utm_a=1", "..", "%2e", "/", "&", "a", "%", "?", "//h"]), max_size=9
)
_hrefs = _texts | _pieces.map("".join) | _texts.map("/".__add__) | _pieces.map(lambda p: "/" + "".join(p))
_charsets = st.sampled_from(["utf-8", "iso-8859-1", "shift_jis", "gb18030", "iso-2022-jp", "big5", "nonsense"])


@given(_hrefs, _charsets)
@example("/..;jsessionid=1/b", "utf-8")
@example("/%%34%31", "utf-8")
@example("?\u30a2%\u30fc'\x1b", "iso-2022-jp")
def test_normalising_is_idempotent(href: str, charset: str) -> None:
    resolver = Resolver()
    url = resolver.resolve(href, "https://example.com/a/b/c?d", charset)
    if url is not None:
        assert url.isascii()
        assert resolver.normalise(url) == url
        assert resolver.resolve(url, BASE) == url
        assert resolver.resolve("", url) == url


@given(_hrefs)
def test_cached_results_are_the_same(href: str) -> None:
    resolver = Resolver()
    bases = ["https://example.com/a/b/c?d", "https://example.com/a/b/e", "http://example.com/a/b/c", "https://h/a/b/"]
    fresh = [Resolver().resolve(href, base) for base in bases]
    assert [resolver.resolve(href, base) for base in bases] == fresh
    assert [resolver.resolve(href, base) for base in bases] == fresh


_path = st.text(string.ascii_letters + string.digits + "._~-/+,=()!:", max_size=25)


@given(st.sampled_from(["", "/", "../", "../../../", "https://example.com/"]), _path)
@example("", "a/../b")
@example("/", "/a")
@example("https://example.com/", "/a")
@example("/", "/=.")
@example("../", "/a")
def test_plain_links_agree_with_the_parser(start: str, path: str) -> None:
    """These links need only the rules of the standard, so its parser must give the same result."""
    base = "https://example.com/a/b/c"
    try:
        expected = ada_url.join_url(base, start + path)
    except ValueError:
        expected = ""
    # Rules of ours, for what turns out to begin with `//`: to the DNS the final dots of a host mean nothing, and it
    # knows no host with other characters or empty labels.
    expected = re.sub(r"\A(https://[^/:]*[^/:.])\.+(?=[/:])", r"\1", expected)
    labels = expected.partition("//")[2].partition("/")[0].partition(":")[0].split(".")
    usable = expected.startswith("http") and all(re.fullmatch("[a-z0-9_-]+", label) for label in labels)
    assert Resolver().resolve(start + path, base) == (expected if usable else None)


@pytest.mark.parametrize(
    "host",
    [
        "'a'",
        "xn--'mnchen-o2a.example",
        "a;jsessionid=b:8080",
        "a,b",
        "(a)",
        "a~b",
        "{}",
        ".",
        "..",
        ".a",
        "a..b",
        "a..",
        "1.2..",
        "*.a",
    ],
)
def test_hosts_that_no_name_server_knows_are_unusable(host: str) -> None:
    assert Resolver().normalise(f"https://{host}/x") is None
    assert Resolver().resolve(f"//{host}/x", "https://example.com/") is None
    assert Resolver().resolve("x", f"https://{host}/") is None


@pytest.mark.parametrize("host", ["a_b", "-a-", "xn--mnchen-3ya.example", "127.0.0.1", "[::1]", "a:8080", "[::1]:8080"])
def test_other_hosts_are_usable(host: str) -> None:
    assert Resolver().normalise(f"https://{host}/x") == f"https://{host}/x"


@given(st.sampled_from(["", "/", "../", "/../"]), _path)
@example("", "a/../b")
@example("/", "/a")
@example("", "a:80/")
def test_the_second_base_is_normalised_too(start: str, path: str) -> None:
    base = f"https://example.com/{start}{path}"
    for alias in (None, lambda url: url.replace("https://example.com/", "https://www.example.com/x/")):
        resolver = Resolver(alias=alias)
        for page in ("https://example.com/a/b", base, base + "x"):
            assert resolver.resolve("", page) == Resolver(alias=alias).normalise(page)


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://example.com/", ("https://example.com/", None, None)),
        ("https://user:secret@example.com/a", ("https://example.com/a", "user", "secret")),
        ("https://user@example.com/a", ("https://example.com/a", "user", None)),
        ("https://user:@example.com/a", ("https://example.com/a", "user", "")),
        ("https://:secret@example.com/a", ("https://example.com/a", "", "secret")),
        ("https://us%40er:a%3Ab:c@example.com:8443?x='", ("https://example.com:8443?x='", "us@er", "a:b:c")),
        ("https://user:p@ss@example.com/", ("https://example.com/", "user", "p@ss")),
        ("https://user:%e6%zz@example.com/", ("https://example.com/", "user", "\ufffd%zz")),
        ("HTTP:user:secret@example.com", ("HTTP:example.com", "user", "secret")),
        (" ht\ntp:\\\\user:secret@example.com\\a ", ("http:\\\\example.com\\a", "user", "secret")),
        ("https://user:secret@[::1]:8000/", ("https://[::1]:8000/", "user", "secret")),
        ("https://example.com/@user:a@b", ("https://example.com/@user:a@b", None, None)),
        ("https://example.com?a@b", ("https://example.com?a@b", None, None)),
        ("https://example.com#a@b", ("https://example.com#a@b", None, None)),
        ("mailto:user@example.com", ("mailto:user@example.com", None, None)),
        ("", ("", None, None)),
    ],
)
def test_split_credentials(url: str, parts: tuple[str, str | None, str | None]) -> None:
    assert split_credentials(url) == parts


@pytest.mark.parametrize(
    ("url", "origin", "host", "directory", "segment"),
    [
        ("https://h/", "https://h", "h", "https://h/", ""),
        ("https://h/a", "https://h", "h", "https://h/", "a"),
        ("https://h/a/", "https://h", "h", "https://h/a/", ""),
        ("https://h/a/b.xml?c/d", "https://h", "h", "https://h/a/", "b.xml"),
        ("http://h:8080/a//b", "http://h:8080", "h", "http://h:8080/a//", "b"),
        ("https://h.example:8443/?a", "https://h.example:8443", "h.example", "https://h.example:8443/", ""),
        ("http://[::1]/a", "http://[::1]", "[::1]", "http://[::1]/", "a"),
        ("http://[::1]:8000/a", "http://[::1]:8000", "[::1]", "http://[::1]:8000/", "a"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000", "127.0.0.1", "http://127.0.0.1:8000/", ""),
    ],
)
def test_parts(url: str, origin: str, host: str, directory: str, segment: str) -> None:
    assert (origin_of(url), host_of(url), directory_of(url), last_segment(url)) == (origin, host, directory, segment)


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("/?a[]=1&b={2}|3", "https://example.com/?a%5B%5D=1&b=%7B2%7D%7C3"),
        ("/?a%5b%5D=1", "https://example.com/?a%5B%5D=1"),
        ("/p[1]/^`{|}", "https://example.com/p%5B1%5D/%5E%60%7B%7C%7D"),
        ("/p%5B1%5D", "https://example.com/p%5B1%5D"),
        ("http://[::1]/[a]?[b]", "http://[::1]/%5Ba%5D?%5Bb%5D"),
    ],
)
def test_urls_have_the_spelling_of_a_sitemap(href: str, url: str) -> None:
    assert Resolver().resolve(href, "https://example.com/") == url


@given(st.text(alphabet="[]\\^`{|}%25Da/?&=;.~'()*!$,+:@ <>\"é", max_size=40))
def test_a_stored_url_is_written_as_it_is(href: str) -> None:
    url = Resolver().resolve(href, "https://example.com/")
    if url is not None:
        assert rfc3986(url) == url
        assert Resolver().normalise(unescape(urls_in_xml([url])[0])) == url
