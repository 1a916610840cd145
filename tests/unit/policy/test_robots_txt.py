"""One robots.txt: RFC 9309 and Google's description of it, example by example, and files made to do harm.

https://www.rfc-editor.org/rfc/rfc9309 and https://developers.google.com/crawling/docs/robots-txt/robots-txt-spec
"""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego

from sitemap_crawler.policy import robots_txt
from sitemap_crawler.policy.robots_txt import MAX_BYTES, RobotsTxt, product_token
from tests.support.growth import assert_linear

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.growth import Amount

SITE = "https://example.com"


def rule_against(text: str | bytes, path: str, agent: str = "anybot") -> str | None:
    body = text if isinstance(text, bytes) else text.encode()
    return RobotsTxt.parse(body).rule_against(SITE + path, agent)


def allowed(text: str | bytes, path: str, agent: str = "anybot") -> bool:
    return rule_against(text, path, agent) is None


def disallows(pattern: str, path: str) -> bool:
    return not allowed(f"User-agent: *\nDisallow: {pattern}\n", path)


# --- RFC 9309, section 5

SIMPLE_EXAMPLE = """\
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot

EOF
"""


@pytest.mark.parametrize(
    ("agent", "path", "expected"),
    [
        ("otherbot", "/", True),
        ("otherbot", "/picture.gif", False),
        ("otherbot", "/picture.gif?size=1", True),
        ("otherbot", "/example/", False),
        ("otherbot", "/example/page.html", False),
        ("otherbot", "/example", True),
        ("otherbot", "/publications/", True),
        # 14 octets against 6.
        ("otherbot", "/publications/picture.gif", True),
        ("foobot", "/", False),
        ("foobot", "/publications/", False),
        ("foobot", "/example/page.html", True),
        ("foobot", "/example/allowed.gif", True),
        ("foobot", "/example/other.gif", False),
        ("barbot", "/example/page.html", False),
        ("barbot", "/example/", True),
        ("barbot", "/picture.gif", True),
        ("bazbot", "/example/page.html", False),
        ("bazbot", "/picture.gif", True),
        ("quxbot", "/example/page.html", True),
        ("quxbot", "/picture.gif", True),
    ],
)
def test_rfc_5_1_simple_example(agent: str, path: str, expected: bool) -> None:
    assert allowed(SIMPLE_EXAMPLE, path, agent) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/example/page/", True),
        ("/example/page/allowed.gif", True),
        ("/example/page/disallowed.gif", False),
        ("/example/", True),
    ],
)
def test_rfc_5_2_longest_match(path: str, expected: bool) -> None:
    text = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n"
    assert allowed(text, path, "foobot") is expected


# --- RFC 9309, section 2.2.1: whose group it is


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)", "examplebot"),
        ("ExampleBot", "examplebot"),
        ("ExampleBot/1.0", "examplebot"),
        ("ExampleBot/1.0 (for tests) Other/2", "examplebot"),
        ("sitemap-crawler/0.1.0 (XML sitemap generator)", "sitemap-crawler"),
        (
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Robot_2/2.1; +http://x/) Safari/537.36",
            "robot_2",
        ),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "mozilla"),
        ("", ""),
        ("*", ""),
        ("(nameless)", ""),
        ("compatible;", "compatible"),
    ],
)
def test_the_product_token(agent: str, token: str) -> None:
    assert product_token(agent) == token


@pytest.mark.parametrize(
    ("named", "agent", "meant"),
    [
        ("ExampleBot", "ExampleBot", True),
        ("examplebot", "ExampleBot", True),
        ("EXAMPLEBOT", "examplebot", True),
        ("ExampleBot", "Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)", True),
        # "both googlebot/1.2 and googlebot* are equivalent to googlebot"
        ("googlebot/1.2", "googlebot", True),
        ("googlebot*", "googlebot", True),
        ("googlebot images", "googlebot", True),
        ("foobot", "foo", False),
        ("foo", "foobot", False),
        ("bot", "foobot", False),
        ("foo", "foo-bot", False),
        ("foo-bot", "foo", False),
        # The words of a User-Agent's comment are no names.
        ("generator", "sitemap-crawler/0.1 (XML sitemap generator)", False),
        ("sitemap", "sitemap-crawler/0.1 (XML sitemap generator)", False),
        ("*", "foo", True),
        ("* everybody", "foo", True),
        ("*bot", "foobot", False),
        ("", "foobot", False),
    ],
)
def test_agents_of_a_group(named: str, agent: str, meant: bool) -> None:
    assert allowed(f"User-agent: {named}\nDisallow: /\n", "/page", agent) is not meant


@pytest.mark.parametrize("path", ["/foo", "/bar", "/baz"])
def test_groups_for_one_agent_are_one_group(path: str) -> None:
    text = """\
User-Agent: ExampleBot
Disallow: /foo
Disallow: /bar

User-Agent: OtherBot
Disallow: /qux

User-Agent: examplebot
Disallow: /baz
"""
    assert not allowed(text, path, "ExampleBot")
    assert allowed(text, "/qux", "ExampleBot")
    assert allowed(text, path, "OtherBot")


@pytest.mark.parametrize("path", ["/foo", "/bar"])
def test_agents_without_a_group_obey_the_group_for_all(path: str) -> None:
    text = "User-Agent: *\nDisallow: /foo\n\nUser-Agent: BazBot\nDisallow: /baz\n\nUser-agent: *\nDisallow: /bar\n"
    assert not allowed(text, path, "ExampleBot")
    assert allowed(text, path, "BazBot")
    assert allowed("User-agent: BazBot\nDisallow: /\n", path, "ExampleBot")


# --- RFC 9309, section 2.2.2: allow and disallow


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        # The table of the section: path, and what it has to match.
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz", True),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", True),
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar", True),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84", True),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz", True),
        ("/foo/bar/baz", "/foo/bar/%62%61%7A", True),
        # And what follows from it.
        ("/foo/bar/ツ", "/foo/bar/ツ", True),
        ("/%7ejoe/", "/~joe/index.html", True),
        ("/~joe/", "/%7Ejoe/index.html", True),
        ("/a%3cd.html", "/a%3Cd.html", True),
        ("/a b", "/a%20b", True),
        ("/a,b", "/a%2Cb", True),
        ("/a:b", "/a%3ab", True),
        ("/100%", "/100%25", True),
        ("/a%2525", "/a%2525", True),
        ("/a%2525", "/a%25", False),
        # In a path an escaped slash divides nothing.
        ("/a%2fb", "/a%2Fb", True),
        ("/a/b", "/a%2Fb", False),
        ("/a%2Fb", "/a/b", False),
        ("/a?b", "/a%3Fb", False),
        ("/a%3Fb", "/a%3Fb", True),
        ("/a%3Fb", "/a?b", False),
        ("/a?b=c%3Fd", "/a?b=c?d", True),
        ("/a?b=c?d", "/a?b=c%3Fd", True),
        ("/*%2F", "/a%2Fb", True),
        ("/*%2F", "/a/b", False),
        ("/*url=http%3A%2F%2F", "/go?url=http%3A%2F%2Fx", True),
        ("/*?url=http%3A%2F%2F", "/go?url=http://x", True),
        ("/*?*=http://", "/go?url=http%3A%2F%2Fx", True),
        ("/*=http://", "/go?url=http%3A%2F%2Fx", True),
        ("/*/feed", "/?u=/a/feed", True),
        # Octets of other characters are no text to find.
        ("/*3F", "/a?x", False),
        ("/*26", "/a?x=1&y=2", False),
        # Case matters.
        ("/Fish", "/fish", False),
        # A path begins with a slash, a pattern may begin with an asterisk.
        ("page", "/page", False),
        ("*page", "/a/page", True),
        ("https://example.com/page", "/page", False),
    ],
)
def test_paths_are_compared_octet_by_octet(pattern: str, path: str, expected: bool) -> None:
    assert disallows(pattern, path) is expected


@pytest.mark.parametrize(
    ("allow", "disallow", "path", "expected"),
    [
        # Google's table "Order of precedence for rules".
        ("/p", "/", "/page", True),
        ("/folder", "/folder", "/folder/page", True),
        ("/page", "/*.htm", "/page.htm", False),
        ("/page", "/*.ph", "/page.php5", True),
        ("/$", "/", "/", True),
        ("/$", "/", "/page.htm", False),
        # Octets count as they are compared; an equivalent pair is a tie.
        ("/%61", "/a", "/abc", True),
        ("/a%3Ab", "/a:b", "/a:b", True),
        ("/a?b", "/a*bc", "/a?bc", False),
        ("/a?bc", "/a*b", "/a?bc", True),
        ("/ü", "/*abc", "/%C3%BCabc", True),
        # No page has two names.
        ("/index.html", "/", "/", False),
        ("/index.html", "/", "/index.html", True),
        ("/abc$", "/abc", "/abc", True),
        ("/abc", "/abc$", "/abc", False),
        ("/abc$", "/abc", "/abcd", False),
    ],
)
@pytest.mark.parametrize("allow_first", [True, False])
def test_order_of_precedence(*, allow: str, disallow: str, path: str, expected: bool, allow_first: bool) -> None:
    lines = [f"Allow: {allow}", f"Disallow: {disallow}"]
    text = "\n".join(["User-agent: *", *(lines if allow_first else reversed(lines))])
    assert allowed(text, path) is expected


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
        ("User-agent: *\nDisallow: /robots.txt", "/robots.txt", True),
        ("User-agent: *\nDisallow: /", "/robots.txt.html", False),
        ("User-agent: *\nDisallow: /", "/a/robots.txt", False),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nDisallow: \nDisallow: /a", "/a", False),
        ("User-agent: *\nAllow:\nDisallow: /a", "/a", False),
        ("User-agent: *", "/a", True),
        ("", "/a", True),
        ("Disallow: /", "/a", True),
        ("Disallow: /a\nUser-agent: *\nDisallow: /b", "/a", True),
        ("Disallow: /a\nUser-agent: *\nDisallow: /b", "/b", False),
        ("User-agent:\nDisallow: /", "/a", True),
        # A line that names nobody ends the group before it nevertheless.
        ("User-agent: *\nDisallow: /b\nUser-agent:\nDisallow: /a", "/a", True),
    ],
)
def test_paths_that_are_always_allowed(text: str, path: str, expected: bool) -> None:
    assert allowed(text, path) is expected


# --- RFC 9309, section 2.2.3: special characters


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/ # comment in line", "/a", True),
        ("/a# comment", "/a", True),
        ("# only a comment", "/a", False),
        ("/this/path/exactly$", "/this/path/exactly", True),
        ("/this/path/exactly$", "/this/path/exactly/", False),
        ("/this/path/exactly$", "/this/path/exactly?a", False),
        ("/this/path/exactly$", "/this/path/exactly$more", False),
        ("/this/*/exactly", "/this/path/exactly", True),
        ("/this/*/exactly", "/this/path/or/that/exactly/so", True),
        ("/this/*/exactly", "/this/exactly", False),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", True),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-%2a.html", True),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-b.html", False),
        ("/path/file-with-a-*.html", "/path/file-with-a-*.html", True),
        ("/path/foo-%24", "/path/foo-$", True),
        ("/path/foo-%24", "/path/foo-%24bar", True),
        ("/path/foo-%24", "/path/foo-", False),
        ("/a$b", "/a$b", True),
        ("/a$b", "/a", False),
        ("/a$$", "/a$", True),
        ("/a$$", "/a", False),
        ("/**/b", "/a/b", True),
        ("/a*$", "/abc", True),
        ("/*aa$", "/aaa", True),
        ("/a*a$", "/a", False),
        ("$", "/", False),
        ("*", "/", True),
        ("*$", "/a", True),
        ("/%23", "/%23a", True),
    ],
)
def test_special_characters(pattern: str, path: str, expected: bool) -> None:
    assert disallows(pattern, path) is expected


# --- Google's table "URL matching based on path values"


@pytest.mark.parametrize(
    ("pattern", "matched", "unmatched"),
    [
        ("/", "/ /a /a/b?c", ""),
        ("/*", "/ /a /a/b?c", ""),
        ("/$", "/", "/a /?a"),
        (
            "/fish",
            "/fish /fish.html /fish/salmon.html /fishheads /fishheads/yummy.html /fish.php?id=anything",
            "/Fish.asp /catfish /?id=fish /desert/fish",
        ),
        (
            "/fish*",
            "/fish /fish.html /fish/salmon.html /fishheads /fishheads/yummy.html /fish.php?id=anything",
            "/Fish.asp /catfish /?id=fish /desert/fish",
        ),
        (
            "/fish/",
            "/fish/ /fish/?id=anything /fish/salmon.htm",
            "/fish /fish.html /animals/fish/ /Fish/Salmon.asp",
        ),
        ("/*.php", "/index.php /filename.php /folder/filename.php", "/ /windows.PHP"),
        ("/*.php", "/folder/filename.php?parameters /folder/any.php.file.html /filename.php/", ""),
        (
            "/*.php$",
            "/filename.php /folder/filename.php",
            "/filename.php?parameters /filename.php/ /filename.php5 /windows.PHP",
        ),
        ("/fish*.php", "/fish.php /fishheads/catfish.php?parameters", "/Fish.PHP"),
    ],
)
def test_google_path_values(pattern: str, matched: str, unmatched: str) -> None:
    assert [path for path in matched.split() if not disallows(pattern, path)] == []
    assert [path for path in unmatched.split() if disallows(pattern, path)] == []


# --- Google's examples of groups


@pytest.mark.parametrize(
    ("agent", "forbidden"),
    [("a", ["/c"]), ("b", ["/d"]), ("e", ["/g"]), ("f", ["/g"]), ("h", []), ("other", [])],
)
def test_google_groups_of_lines(agent: str, forbidden: list[str]) -> None:
    text = """\
user-agent: a
disallow: /c

user-agent: b
disallow: /d

user-agent: e
user-agent: f
disallow: /g

user-agent: h
"""
    assert [path for path in ("/c", "/d", "/g") if not allowed(text, path, agent)] == forbidden


@pytest.mark.parametrize(
    ("agent", "group"),
    [
        ("googlebot-news", "1"),
        ("googlebot", "3"),
        ("otherbot", "2"),
        ("otherbot-news", "2"),
        # Google's crawler of images answers to the name googlebot, too. RFC 9309 gives a robot one name.
        ("googlebot-images", "2"),
    ],
)
def test_google_precedence_of_user_agents(agent: str, group: str) -> None:
    text = """\
user-agent: googlebot-news
disallow: /1

user-agent: *
disallow: /2

user-agent: googlebot
disallow: /3
"""
    assert [number for number in "123" if not allowed(text, "/" + number, agent)] == [group]


@pytest.mark.parametrize(
    ("agent", "forbidden"),
    [("googlebot-news", ["/fish", "/shrimp"]), ("otherbot", ["/carrots"])],
)
def test_google_grouping_of_rules(agent: str, forbidden: list[str]) -> None:
    text = """\
user-agent: googlebot-news
disallow: /fish

user-agent: *
disallow: /carrots

user-agent: googlebot-news
disallow: /shrimp
"""
    assert [path for path in ("/fish", "/shrimp", "/carrots") if not allowed(text, path, agent)] == forbidden


@pytest.mark.parametrize(
    "between",
    ["sitemap: https://example.com/sitemap.xml", "", "# a", "noise: x", "noise", "crawl-delay: 5", "host: a", "\f"],
)
@pytest.mark.parametrize("agent", ["a", "b"])
def test_other_lines_do_not_divide_a_group(between: str, agent: str) -> None:
    text = f"user-agent: a\n{between}\n\nuser-agent: b\ndisallow: /\n"
    assert not allowed(text, "/page", agent)


# --- How a line may be written


@pytest.mark.parametrize(
    "text",
    [
        "User-agent: *\nDisallow: /a",
        "USER-AGENT:*\nDISALLOW:/a",
        "  User-agent :  *  \n\t Disallow\t:\t/a \t",
        "User-agent: *\rDisallow: /a\r",
        "User-agent: *\r\nDisallow: /a\r\n",
        "\ufeffUser-agent: *\nDisallow: /a",
        "User-agent: *\n\n\nDisallow: /a",
        "User-agent: * # all\nDisallow: /a # this",
        "User-agent *\nDisallow /a",
        "useragent: *\ndissallow: /a",
        "User-\0agent: *\nDis\0allow: /a",
        "<html><pre>\nUser-agent: *\nDisallow: /a\n</pre></html>",
        "User-agent: *\nDisallow: /\x85\nDisallow: /a",
        "\ufeffUser-agent: *\nDisallow: /a".encode("utf-16-le"),
        "\ufeffUser-agent: *\nDisallow: /a".encode("utf-16-be"),
        b"\xff\xfe\xfd\nUser-agent: *\nDisallow: /a"[3:],
        b"# caf\xe9\nUser-agent: *\nDisallow: /a",
    ],
)
def test_spellings_of_a_line(text: str | bytes) -> None:
    assert not allowed(text, "/a")
    assert allowed(text, "/b")


@pytest.mark.parametrize(
    "text",
    [
        "<html><body>User-agent: *<br>Disallow: /</body></html>",
        "User-agent: *\nDisallow this page",
        "User-agent: *\nNoindex: /",
        "User-agent: *\nDisallow\n/",
        "User-agent: *\nDisallow: /a\u2028/",
        "User-agent: *\nDisallow: /a\x85/\x0b/\x0c/\x1e/",
        b"\xff\xfe\x00\x01" * 50,
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
    ],
)
def test_lines_without_effect(text: str | bytes) -> None:
    assert allowed(text, "/page")


def test_octets_that_are_not_utf_8_match_themselves() -> None:
    text = "User-agent: *\nDisallow: /café\n".encode("latin-1")
    assert rule_against(text, "/caf%E9") == "Disallow: /caf\ufffd (line 2, User-agent: *)"
    assert allowed(text, "/caf%C3%A9")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_bytes_beyond_the_limit_are_not_read(end: str) -> None:
    start = f"User-agent: *{end}Disallow: /a{end}"
    within = start + "#" * (MAX_BYTES - len(start) - len(f"{end}Disallow: /b{end}")) + f"{end}Disallow: /b{end}"
    assert len(within) == MAX_BYTES
    text = within + "Disallow: /c"
    assert [path for path in ("/a", "/b", "/c") if not allowed(text, path)] == ["/a", "/b"]


def test_a_line_across_the_limit_is_not_read() -> None:
    start = "User-agent: *\nDisallow: /a\nDisallow: /"
    text = "#" * (MAX_BYTES - len(start) - 1) + "\n" + start
    assert not allowed(text, "/page")
    assert allowed(text + "b", "/page")
    assert not allowed(text + "b", "/a")


# --- What the rule is called


@pytest.mark.parametrize(
    ("text", "path", "agent", "words"),
    [
        (
            "# Rules\n\nUser-agent: *\n\n# no\n\nDisallow: /private/*\n",
            "/private/a",
            "anybot",
            "Disallow: /private/* (line 7, User-agent: *)",
        ),
        (
            "user-agent: *\ndisallow: /\n\nUSER-AGENT: Example-Bot/2\r\n  disallow:/a$ # why\r\n",
            "/a",
            "example-bot/1.0",
            "disallow:/a$ (line 5, User-agent: Example-Bot/2)",
        ),
        # The longest, and of equal ones the first.
        (
            "User-agent: *\nDisallow: /\nDisallow: /a\nDisallow: /%61\n",
            "/abc",
            "anybot",
            "Disallow: /a (line 3, User-agent: *)",
        ),
        # Of the groups for one agent the one that holds the rule.
        (
            "User-agent: BOT\nDisallow: /a\nUser-agent: bot\nDisallow: /b\n",
            "/b",
            "bot",
            "Disallow: /b (line 4, User-agent: bot)",
        ),
        ("User-agent: *\rDisallow: /\r", "/", "anybot", "Disallow: / (line 2, User-agent: *)"),
        ("User-agent: *\r\nDisallow:\t/ü\r\n", "/%C3%BC", "anybot", "Disallow: /ü (line 2, User-agent: *)"),
        ("User-agent: *\nDisallow: *\x1b[2J\n", "/%1B[2J", "anybot", r"Disallow: *\x1b[2J (line 2, User-agent: *)"),
        (
            "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c\n",
            "/a/b/c",
            "anybot",
            "Disallow: /a/b/c (line 4, User-agent: *)",
        ),
    ],
)
def test_the_rule_is_named(text: str, path: str, agent: str, words: str) -> None:
    assert rule_against(text, path, agent) == words


def test_a_long_rule_is_shortened() -> None:
    name = "b" * 10_000
    words = rule_against(f"User-agent: {name}\nDisallow: /{'a' * 10_000}\n", "/" + "a" * 10_000, name)
    assert words is not None
    assert words.startswith("Disallow: /aaaa")
    assert "… (line 2, User-agent: bbbb" in words
    assert words.endswith("…)")
    assert len(words) <= 300


# --- Sitemaps and delays


def test_sitemaps() -> None:
    text = """\
Sitemap: https://example.com/one.xml
User-agent: a
sitemap:https://example.com/two.xml # second
Disallow: /
Sitemap: https://example.com/one.xml
Sitemap:
SITEMAP: /relative?a=b:c
Sitemap https://example.com/three.xml
"""
    assert RobotsTxt.parse(text.encode()).sitemaps == (
        "https://example.com/one.xml",
        "https://example.com/two.xml",
        "/relative?a=b:c",
        "https://example.com/three.xml",
    )


def test_sitemaps_are_bounded() -> None:
    longest = "https://example.com/" + "a" * (8192 - 20)
    assert RobotsTxt.parse(f"Sitemap: {longest}\nSitemap: {longest}b\n".encode()).sitemaps == (longest,)
    many = "".join(f"Sitemap: /{number}\n" for number in range(5_000))
    assert RobotsTxt.parse(many.encode()).sitemaps == tuple(f"/{number}" for number in range(1_000))


@pytest.mark.parametrize(
    ("text", "delays"),
    [
        ("User-agent: *\nCrawl-delay: 5", {"a": 5, "b": 5}),
        ("User-agent: *\nCrawl-delay: 0.5", {"a": 0.5}),
        ("User-agent: *\nCrawl-delay: .5", {"a": 0.5}),
        ("User-agent: *\ncrawl-delay: 0", {"a": 0}),
        ("User-agent: *\nDisallow: /x\nCrawl-delay: 5", {"a": 5}),
        ("User-agent: a\nCrawl-delay: 5", {"a": 5, "b": None}),
        ("User-agent: a\nUser-agent: b\nCrawl-delay: 5", {"a": 5, "b": 5, "c": None}),
        ("User-agent: a\nDisallow: /\nUser-agent: *\nCrawl-delay: 5", {"a": None, "b": 5}),
        ("User-agent: a\nCrawl-delay: 5\n\nUser-agent: b\nCrawl-delay: 9\nDisallow: /", {"a": 5, "b": 9}),
        ("User-agent: a\nCrawl-delay: 5\n\nUser-agent: b\nDisallow: /", {"a": 5, "b": None}),
        ("User-agent: a\nCrawl-delay: 5\nUser-agent: b\nDisallow: /\nUser-agent: A\nCrawl-delay: 3", {"a": 5}),
        ("Crawl-delay: 5\nUser-agent: *\nDisallow: /", {"a": None}),
        *[
            (f"User-agent: *\nCrawl-delay: {value}", {"a": None})
            for value in ("", "-1", "nan", "inf", "1e9", "five", "5s", "1_0", "9" * 500, "٣", ".")
        ],
    ],
)
def test_crawl_delay(text: str, delays: dict[str, float | None]) -> None:
    robots = RobotsTxt.parse(text.encode())
    assert {agent: robots.crawl_delay(agent + "/1.0") for agent in delays} == delays


# --- Files made to do harm


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "path", "expected"),
    [
        (lambda n: b"User-agent: *\nDisallow: /" + b"*a" * n(4_000) + b"$", ("a", 8_000), False),
        (lambda n: b"User-agent: *\nDisallow: /" + b"*a" * n(4_000) + b"b$", ("a", 8_000), True),
        (lambda n: b"User-agent: *\nDisallow: " + b"*" * n(400_000), ("a", 8_000), False),
        (lambda n: b"User-agent: *\nDisallow: " + b"%" * n(400_000), ("a", 8_000), True),
        (lambda n: b"User-agent: *\nDisallow: /a\n" + b"x" * n(10_000_000), ("a", 1), False),
        (lambda n: b"User-agent: *\nDisallow: /a" + b"a" * n(1_000_000), ("a", 1), True),
        (lambda n: bytes(range(256)) * n(40_000), ("a", 1), True),
        (lambda n: b"\r" * n(1_000_000), ("a", 1), True),
        (lambda n: b"User-agent: " + b"compatible; " * n(40_000) + b"\nDisallow: /", ("a", 1), True),
        (lambda n: b"User-agent: compatible;" + b" " * n(400_000) + b"\nDisallow: /", ("a", 1), True),
        (lambda n: lines(b"User-agent: *\nDisallow: /a%d\n", n(40_000)), ("a3", 1), False),
        (lambda n: lines(b"User-agent: a%d\n", n(14_000)) + lines(b"Disallow: /%d\n", n(40_000)), ("1", 1), True),
        (lambda n: lines(b"User-agent: a%d\n", n(14_000)) + b"Crawl-delay: 1\n" * n(40_000), ("", 1), True),
    ],
    ids=[
        *("all-match", "none-match", "asterisks", "percents", "10-MB", "one-line", "binary", "empty-lines"),
        *("compatible", "spaces", "groups", "agents-and-rules", "agents-and-delays"),
    ],
)
def test_hostile_files_are_parsed_in_linear_time(
    body: Callable[[Amount], bytes], path: tuple[str, int], expected: bool
) -> None:
    def read(given: tuple[bytes, str]) -> None:
        robots = RobotsTxt.parse(given[0])
        assert (robots.rule_against(SITE + given[1], "anybot") is None) is expected
        assert robots.crawl_delay("a1") in (None, 1)

    # What grows with the square of the file would take hours.
    assert_linear(lambda n: (body(n), "/" + path[0] * n(path[1])), read)


def lines(line: bytes, count: int) -> bytes:
    return b"".join(line % number for number in range(count))


@settings(deadline=None)
@given(body=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_parsing_any_octets_does_not_fail(body: bytes) -> None:
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: " + body)
    words = robots.rule_against(SITE + "/a?b", "anybot")
    assert words is None or (words.isprintable() and len(words) <= 300)
    assert all(sitemap.encode() for sitemap in robots.sitemaps)


@settings(deadline=None)
@given(path=st.text(max_size=50))
def test_every_url_gets_a_result(path: str) -> None:
    assert not allowed("User-agent: *\nDisallow: /\nDisallow: /*?*%2F$", "/a" + path)


PATTERNS = st.text(alphabet="ab/*.", max_size=8).map(lambda text: "/" + text)
PATHS = st.text(alphabet="ab/.", max_size=12).map(lambda text: "/" + text.lstrip("/"))


@settings(max_examples=300, deadline=None)
@given(
    lines=st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), PATTERNS), max_size=6),
    path=PATHS,
)
def test_protego_agrees_where_both_follow_the_rfc(lines: list[tuple[str, str]], path: str) -> None:
    text = "\n".join(["User-agent: *", *(f"{field}: {pattern}" for field, pattern in lines)])
    assert allowed(text, path) is Protego.parse(text).can_fetch(SITE + path, "anybot")


# Rules with and without texts to look up, anchored ones, and paths with several forms.
ALL_PATTERNS = st.text(alphabet="ab*.$?", max_size=10).map(lambda text: "/" + text) | st.sampled_from(
    ["*", "*ab", "/*abababab*b", "/abababab*a", "/*?a=%2F*b", "/*?a=/"]
)
ALL_PATHS = st.text(alphabet="ab/.?", max_size=20).map(lambda text: "/" + text.lstrip("/")) | st.sampled_from(
    ["/abababababab", "/x?a=%2Fb", "/x?a=/b"]
)


@settings(max_examples=300, deadline=None)
@given(
    lines=st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), ALL_PATTERNS), max_size=12),
    paths=st.lists(ALL_PATHS, max_size=5),
)
def test_an_index_of_rules_names_the_same_rule(lines: list[tuple[str, str]], paths: list[str]) -> None:
    body = "\n".join(["User-agent: *", *(f"{field}: {pattern}" for field, pattern in lines)]).encode()
    expected = [RobotsTxt.parse(body).rule_against(SITE + path, "anybot") for path in paths]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(robots_txt, "MAX_UNINDEXED_RULES", 0)
        indexed = RobotsTxt.parse(body)
        assert [indexed.rule_against(SITE + path, "anybot") for path in paths] == expected
        patched.setattr(robots_txt, "MAX_COMPARED_PARTS", 4)
        bounded = [indexed.rule_against(SITE + path, "anybot", bounded=True) for path in paths]
        assert all(one in (None, exact) for one, exact in zip(bounded, expected, strict=True))
        assert [indexed.rule_against(SITE + path, "anybot") for path in paths] == expected


class PartCounter:
    """Counter of the parts of all the rules that are compared with a path."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rules = self.parts = 0
        self._matches = robots_txt._Rule.matches
        monkeypatch.setattr(robots_txt._Rule, "matches", lambda rule, path: self._count(rule, path))

    def _count(self, rule: robots_txt._Rule, path: str) -> bool:
        self.rules += 1
        self.parts += len(rule.parts)
        return self._matches(rule, path)


@pytest.mark.parametrize(
    "pattern",
    ["/*a%dx", "/*/p%d*/q?x=", "/docs/p%d", "/docs/%d*html$", "*a%d$", "/docs/*/%d.html", "/*" + "w" * 9 + "%d"],
)
def test_a_path_is_compared_with_few_of_many_rules(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = [pattern % number for number in range(10_000, 25_000)]
    robots = RobotsTxt.parse("\n".join(["User-agent: *", *map("Disallow: {}".format, rules)]).encode())
    counter = PartCounter(monkeypatch)
    paths = [f"/docs/{number}/page-{number % 7}.html?x={number}" for number in range(100)]
    assert [robots.rule_against(SITE + path, "anybot") for path in paths] == [None] * 100
    assert counter.rules < 200
    path = rules[77].replace("*", "/").removesuffix("$")
    path = path if path.startswith("/") else "/" + path
    assert robots.rule_against(SITE + path, "anybot") == f"Disallow: {rules[77]} (line 79, User-agent: *)"


LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_."
# Parts of the patterns of up to 500 KiB of rules.
LETTER_RULES = {
    "two letters": ["".join(letters) for letters in product(LETTERS, repeat=2)],
    "three letters": ["".join(letters) for letters in islice(product(LETTERS, repeat=3), 36_000)],
    "ten letters": ["".join(letters) for letters in islice(product("abc", repeat=9), 17_000)],
    "a thousand letters": [LETTERS * 25 + letter for letter in LETTERS],
}


@pytest.mark.parametrize("kind", LETTER_RULES)
def test_work_for_a_path_is_bounded(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    patterns = [f"/*{'*'.join(letters)}*Z" for letters in LETTER_RULES[kind]]
    robots = RobotsTxt.parse("\n".join(["User-agent: *", *map("Disallow: {}".format, patterns)]).encode())
    counter = PartCounter(monkeypatch)
    for path in ("/docs/page.html", "/" + LETTERS * 200, "/" + LETTERS[::-1] * 200):
        counter.rules = counter.parts = 0
        assert robots.rule_against(SITE + path, "anybot", bounded=True) is None
        assert counter.parts <= robots_txt.MAX_COMPARED_PARTS
        # What is fetched is decided by all rules, each compared once.
        assert robots.rule_against(SITE + path, "anybot") is None
        assert counter.rules <= 2 * len(patterns)
    assert robots.rule_against(SITE + "/" + LETTERS * 200 + "Z", "anybot") is not None


def test_the_longest_of_thousands_of_rules_decides() -> None:
    letters = [f"Disallow: /*{'*'.join(one)}" for one in LETTER_RULES["three letters"]]
    text = "\n".join(["User-agent: *", "Allow: /public/longest*abc", "Disallow: /private/longest*abc", *letters])
    robots = RobotsTxt.parse(text.encode())
    url = "/longest/" + LETTERS * 50
    for bounded in (False, True):
        assert robots.rule_against(f"{SITE}/public{url}", "anybot", bounded=bounded) is None
        rule = robots.rule_against(f"{SITE}/private{url}", "anybot", bounded=bounded)
        assert rule == "Disallow: /private/longest*abc (line 3, User-agent: *)"
