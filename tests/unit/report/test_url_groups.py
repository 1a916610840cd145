from __future__ import annotations

import random
import sys
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.report.url_groups.counter import UrlGroups
from sitemap_crawler.report.url_groups.exclusion import exclude_pattern
from sitemap_crawler.report.url_groups.groups import UrlGroup, shorten

SITE = "https://example.com"


def groups_of(urls: list[str], prefix: str = f"{SITE}/", limit: int = 10) -> list[UrlGroup]:
    groups = UrlGroups(prefix)
    for url in urls:
        groups.add(url)
    return groups.top(limit)


def counts(paths: list[str], prefix: str = f"{SITE}/", limit: int = 10) -> list[tuple[str, int]]:
    """Patterns with their numbers of URLs; paths are of the site, what begins with http is a URL."""
    urls = [path if path.startswith("http") else SITE + path for path in paths]
    return [(group.pattern, group.urls) for group in groups_of(urls, prefix, limit)]


def numbered(path: str, count: int, first: int = 1) -> list[str]:
    return [path.format(number) for number in range(first, first + count)]


def test_no_urls_have_no_groups() -> None:
    assert groups_of([]) == []


def test_the_examples_are_the_shortest_urls_in_any_order() -> None:
    shortest = tuple(f"{SITE}/tag/{name}" for name in ("ape/", "bee/", "dog/fox"))
    for order in permutations(("zebra/page/2/", "bee/", "ape/", "hippopotamus", "dog/fox")):
        [group] = groups_of([f"{SITE}/tag/{name}" for name in order])
        assert group == UrlGroup("/tag/*", 5, shortest)
        assert group.example == shortest[0]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["/"], [("/*", 1)]),
        (["/", "/about", "/contact/", "/imprint.html"], [("/*", 4)]),
        # Two are no group, three are.
        (["/", "/about", "/blog/a", "/blog/b"], [("/*", 4)]),
        (["/", "/about", "/team", "/blog/a", "/blog/b", "/blog/c"], [("/*", 3), ("/blog/*", 3)]),
        # What is too little for a group keeps the name of what it shares.
        ([*numbered("/tag/{}", 40), "/help/faq/a", "/help/faq/b"], [("/tag/*", 40), ("/help/faq/*", 2)]),
        # A slash at the end, and pages below the pages.
        (["/tag/foo", "/tag/bar/", "/tag/foo/page/2/", "/tag/foo/page/3/", "/tag/baz"], [("/tag/*", 5)]),
        # Many small directories.
        (
            [f"/users/u{n}/{what}" for n in range(60) for what in ("photos/1", "photos/2", "likes")],
            [("/users/*/photos/*", 120), ("/users/*/*", 60)],
        ),
        # Under a fiftieth of all: 3 of 151; not 3 of 150.
        ([*numbered("/a/{}", 148), *numbered("/b/c/{}", 3)], [("/a/*", 148), ("/b/c/*", 3)]),
        ([*numbered("/a/{}", 147), *numbered("/b/c/{}", 3), "/"], [("/a/*", 147), ("/*", 4)]),
        ([*numbered("/a/{}", 147), *numbered("/b/c/{}", 3)], [("/a/*", 147), ("/b/c/*", 3)]),
        # Names that are equal but for their end are different directories.
        ([*numbered("/doc/{}", 3), *numbered("/docs/{}", 4)], [("/docs/*", 4), ("/doc/*", 3)]),
        (["/a//b", "/a//c", "/a//d"], [("/a//*", 3)]),
    ],
)
def test_directories(paths: list[str], expected: list[tuple[str, int]]) -> None:
    assert counts(paths) == expected


def test_directories_of_one_kind_are_one_group() -> None:
    forums = [f"/forum/{name}/topic/{topic}/" for name in "abcdefgh" for topic in range(4)]
    others = [f"/forum/{name}/" for name in "abcdefgh"] + [f"/about/{name}" for name in "xyz"]
    assert counts(forums + others) == [("/forum/*/topic/*", 32), ("/forum/*", 8), ("/about/*", 3)]
    assert counts(forums[4:]) == [(f"/forum/{name}/topic/*", 4) for name in "bcdefgh"]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        # The days of one month.
        (numbered("/2024/05/{:02}/", 31), [("/2024/05/*", 31)]),
        ([*numbered("/2024/05/{:02}/", 20), *numbered("/2024/05/post-{}", 9)], [("/2024/05/*", 29)]),
        # ... and of several months, of one year and of several.
        (
            [*numbered("/2024/05/{:02}/", 20), *numbered("/2024/06/{:02}/", 10)],
            [("/2024/MM/DD/", 30)],
        ),
        (
            [*numbered("/2023/05/{:02}", 20), *numbered("/2024/05/{:02}", 10)],
            [("/YYYY/05/DD/", 30)],
        ),
        (
            [*numbered("/2023/04/{:02}/", 20), *numbered("/2024/05/{:02}/", 10)],
            [("/YYYY/MM/DD/", 30)],
        ),
        # The days of one month next to posts of several.
        (
            [*numbered("/2024/05/{:02}/", 20), *numbered("/2023/05/post-{}", 4), *numbered("/2024/05/post-{}", 5)],
            [("/2024/05/DD/", 20), ("/YYYY/05/*", 9)],
        ),
        # Months and years.
        (numbered("/blog/2024/{:02}/", 12), [("/blog/2024/MM/", 12)]),
        (numbered("/blog/{}/", 6, first=2019), [("/blog/YYYY/", 6)]),
        (
            [
                *numbered("/news/2023/{:02}", 12),
                *numbered("/news/2024/{:02}", 12),
                "/news/2022",
                "/news/2023",
                "/news/2024",
            ],
            [("/news/YYYY/MM/", 24), ("/news/YYYY/", 3)],
        ),
        # Posts.
        (
            [*numbered("/2023/11/30/p{}/", 5), *numbered("/2024/01/02/p{}/", 4)],
            [("/YYYY/MM/DD/*", 9)],
        ),
        (
            [*numbered("/blog/2024/05/{}.html", 5, first=100), *numbered("/blog/2024/06/p{}", 5)],
            [("/blog/2024/MM/*", 10)],
        ),
        ([*numbered("/press/2023/p{}", 5), *numbered("/press/2024/p{}", 5)], [("/press/YYYY/*", 10)]),
        (numbered("/a/b/2024/05/17/p{}", 5), [("/a/b/2024/05/17/*", 5)]),
        (
            [*numbered("/2023/05/page/{}/", 5, first=2), *numbered("/2024/06/page/{}/", 5, first=2)],
            [("/YYYY/MM/page/*", 10)],
        ),
        # Archives are groups of their own, however small their share is, from three on.
        (
            [
                *(f"/2023/{month:02}/{day:02}/p{n}" for month in (5, 6) for day in (1, 2) for n in range(100)),
                *(
                    "/2023/05/01/",
                    "/2023/05/02/",
                    "/2023/06/01/",
                    "/2023/05/",
                    "/2023/06/",
                    "/2021/",
                    "/2022/",
                    "/2023/",
                ),
            ],
            # The two months go to what lies above them, and there they are all.
            [("/2023/MM/DD/*", 400), ("/2023/MM/DD/", 3), ("/YYYY/", 3), ("/2023/*", 2)],
        ),
        (
            [*numbered("/a/{}", 400), *numbered("/2024/05/{:02}/", 5), "/"],
            [("/a/*", 400), ("/2024/05/*", 5), ("/*", 1)],
        ),
        (
            [*numbered("/a/{}", 400), *numbered("/2024/05/{:02}/", 2), "/2024/05/post", "/"],
            [("/a/*", 400), ("/*", 4)],
        ),
        # A month follows its year.
        (
            [*numbered("/2024/x/05/{}", 3), *numbered("/2024/x/06/{}", 3)],
            [("/2024/x/05/*", 3), ("/2024/x/06/*", 3)],
        ),
        # Neither months, days nor years.
        (
            [f"/{path}/p{n}" for path in ("2024/13", "2024/00", "2024/5", "1899/05", "2100/05") for n in range(3)],
            [("/1899/05/*", 3), ("/2024/00/*", 3), ("/2024/13/*", 3), ("/2024/5/*", 3), ("/2100/05/*", 3)],
        ),
        (
            [f"/2024/05/{day}/p{n}" for day in ("00", "32") for n in range(3)],
            [("/2024/05/00/*", 3), ("/2024/05/32/*", 3)],
        ),
        # Numbers of threads and products, though some of them look like years.
        (numbered("/thread/{}", 2100), [("/thread/*", 2100)]),
        ([f"/product/{n}/{page}" for n in range(1500, 2100) for page in ("", "reviews")], [("/product/*", 1200)]),
        # A page called 404 makes no numbers of the years next to it.
        (
            [*numbered("/2024/05/p{}/", 9), *numbered("/2024/06/p{}/", 9), "/404/", "/500/"],
            [("/2024/MM/*", 18), ("/*", 2)],
        ),
    ],
)
def test_dates(paths: list[str], expected: list[tuple[str, int]]) -> None:
    assert counts(paths) == expected


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (numbered("/page/{}/", 9, first=2), [("/page/*", 9)]),
        (
            [*numbered("/news/page/{}", 9, first=2), *numbered("/news/n{}", 40)],
            [("/news/*", 40), ("/news/page/*", 9)],
        ),
        (numbered("/items/{}", 9), [("/items/*", 9)]),
    ],
)
def test_paging(paths: list[str], expected: list[tuple[str, int]]) -> None:
    assert counts(paths) == expected


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        # One path, and several.
        (numbered("/doku.php?id=p{}", 30), [("/doku.php?id=*", 30)]),
        (numbered("/?p={}", 30), [("/?p=*", 30)]),
        (numbered("/post-{0}/?replytocom={0}", 30), [("/*/?replytocom=*", 30)]),
        # The order of names counts.
        (
            [*numbered("/s?a={0}&b={0}", 5), *numbered("/s?b={0}&a={0}", 4)],
            [("/s?a=*&b=*", 5), ("/s?b=*&a=*", 4)],
        ),
        # Parameters without a value.
        (numbered("/{}?print", 5), [("/*?print", 5)]),
        (numbered("/{0}?id={0}&print", 5), [("/*?id=*&print", 5)]),
        (numbered("/{}?", 5), [("/*?", 5)]),
        # Few values in at least 20 URLs.
        (numbered("/w?title={}&action=edit", 20), [("/w?title=*&action=edit", 20)]),
        (numbered("/w?title={}&action=edit", 19), [("/w?title=*&action=*", 19)]),
        (
            [f"/w?title={n}&action={action}" for action in ("edit", "history") for n in range(10)],
            [("/w?title=*&action=edit", 10), ("/w?title=*&action=history", 10)],
        ),
        ([f"/p{n}?lang={n % 8}" for n in range(40)], [(f"/*?lang={n}", 5) for n in range(8)]),
        ([f"/p{n}?lang={n % 9}" for n in range(45)], [("/*?lang=*", 45)]),
        ([f"/p{n}?u={'x' * 41}" for n in range(20)], [("/*?u=*", 20)]),
        ([f"/p{n}?sort=" for n in range(20)], [("/*?sort=", 20)]),
        # Values too rare to be shown one by one.
        (
            [*numbered("/w?title={}&do=edit", 98), "/w?title=x&do=a", "/w?title=x&do=b", "/w?title=x&do=c"],
            [("/w?title=*&do=edit", 98), ("/w?title=*&do=*", 3)],
        ),
        # Rare names go together when they are enough.
        (
            [*numbered("/x/{}", 90), "/x/1?a=1", "/x/1?b=1", "/x/1?c=1"],
            [("/x/*", 90), ("/x/1?*", 3)],
        ),
        (
            [*numbered("/x/{}", 90), "/x/1?a=1", "/x/2?b=1", "/x/3?c=1"],
            [("/x/*", 90), ("/x/…?*", 3)],
        ),
        (
            [*numbered("/x/{}", 90), *(f"/x?id=1&{name}=1" for name in "abc")],
            [("/x/*", 90), ("/x?id=*&*", 3)],
        ),
        ([*numbered("/x/{}", 90), "/x?a=1"], [("/x/*", 90), ("/x?a=*", 1)]),
        (
            [*numbered("/a/{}?q=1", 5), *numbered("/a/{}", 5)],
            [("/a/*", 5), ("/a/*?q=*", 5)],
        ),
        # At most eight parameters.
        (
            numbered("/s?" + "&".join(f"{name}={{0}}" for name in "abcdefgh"), 3),
            [("/s?a=*&b=*&c=*&d=*&e=*&f=*&g=*&h=*", 3)],
        ),
        (
            numbered("/s?" + "&".join(f"{name}={{0}}" for name in "abcdefghij"), 3),
            [("/s?a=*&b=*&c=*&d=*&e=*&f=*&g=*&h=*&…", 3)],
        ),
    ],
)
def test_queries(paths: list[str], expected: list[tuple[str, int]]) -> None:
    assert counts(paths) == expected


def test_numbers_of_parameters_without_values() -> None:
    pages = [*numbered("/spip.php?article{}", 20), *numbered("/spip.php?mot{}", 5), "/spip.php?page=plan"]
    assert counts(pages) == [("/spip.php?article*", 20), ("/spip.php?mot*", 5), ("/spip.php?page=*", 1)]
    assert [exclude_pattern(group, f"{SITE}/") for group in groups_of([SITE + page for page in pages])][:2] == [
        r"^https://example\.com/spip\.php\?article[^&]*$",
        r"^https://example\.com/spip\.php\?mot[^&]*$",
    ]


def test_wordpress() -> None:
    # 19 months have 8 days with a post on each; one day fewer makes 151.
    days = [f"/{2023 + n // 12}/{n % 12 + 1:02}/{day:02}/" for n in range(19) for day in range(3, 27, 3)][:151]
    posts = [f"{day}post-{n}/" for n, day in enumerate(days)]
    months = sorted({day[:9] for day in days})
    paths = [
        *("/", "/about/", "/imprint/"),
        *posts,
        *days,
        *months,
        *("/2023/", "/2024/"),
        *numbered("/tag/t{}/", 60),
        *numbered("/tag/t{}/page/2/", 6),
        *numbered("/category/c{}/", 20),
        *numbered("/page/{}/", 30, first=2),
        *numbered("/2023/01/03/post-0/?replytocom={}", 40),
        *numbered("/2023/01/06/post-1/?replytocom={}", 24, first=41),
    ]
    assert len(paths) == 506
    assert counts(paths) == [
        ("/YYYY/MM/DD/", 151),
        ("/YYYY/MM/DD/*", 151),
        ("/tag/*", 66),
        ("/2023/01/03/post-0/?replytocom=*", 40),
        ("/page/*", 30),
        ("/2023/01/06/post-1/?replytocom=*", 24),
        ("/category/*", 20),
        ("/YYYY/MM/", 19),
        # The three single pages and two years: a fiftieth of 506 would be eleven.
        ("/*", 5),
    ]


def test_dokuwiki() -> None:
    pages = [f"/doku.php?id=ns{n % 4}:page{n}" for n in range(60)]
    paths = [
        "/",
        "/doku.php",
        *pages,
        *(f"{page}&do={action}" for page in pages for action in ("edit", "revisions", "backlink")),
        *(f"{page}&do=login" for page in pages[:2]),
        *(f"{page}&rev={1700000000 + n}&do=diff" for n, page in enumerate(pages[:30])),
        *(f"{page}&idx=ns{n}" for n, page in enumerate(pages[:9])),
        *numbered("/lib/exe/fetch.php?media=m{}.png", 25),
        *numbered("/lib/exe/detail.php?id=page{0}&media=m{0}.png", 12),
        *("/feed.php?mode=list&ns=a", "/feed.php?mode=list&ns=b", "/feed.php"),
    ]
    assert counts(paths, limit=20) == [
        ("/doku.php?id=*", 60),
        ("/doku.php?id=*&do=backlink", 60),
        ("/doku.php?id=*&do=edit", 60),
        ("/doku.php?id=*&do=revisions", 60),
        ("/doku.php?id=*&rev=*&do=diff", 30),
        ("/lib/exe/fetch.php?media=*", 25),
        ("/lib/exe/detail.php?id=*&media=*", 12),
        ("/doku.php?id=*&idx=*", 9),
        # Two logins, two feeds, three pages without a query: none is a fiftieth of 323.
        ("/*", 7),
    ]


def test_documentation() -> None:
    paths = [
        "/docs/",
        "/docs/index.html",
        "/docs/search.html",
        *(f"/docs/api/module{n}/class{m}.html" for n in range(60) for m in range(2)),
        *numbered("/docs/guide/chapter{}.html", 30),
        *numbered("/docs/guide/howto/{}.html", 40),
        *numbered("/docs/guide/images/{}.html", 2),
        *("/docs/legal/a", "/docs/legal/b"),
        "/blog/",
    ]
    assert counts(paths, prefix=f"{SITE}/docs/") == [
        ("/docs/api/*", 120),
        ("/docs/guide/howto/*", 40),
        ("/docs/guide/*", 32),
        ("/docs/*", 5),
        ("/*", 1),
    ]


def test_shop() -> None:
    shelves = [f"/{sex}/{kind}/" for sex in ("women", "men") for kind in ("shoes", "coats", "hats")]
    paths = [
        "/",
        *shelves,
        *(f"/product/{name}-{n}" for name in ("boot", "parka") for n in range(200)),
        *(f"{shelf}?color={color}" for shelf in shelves for color in ("red", "blue", "green")),
        *(f"{shelf}?color=red&size={size}" for shelf in shelves for size in range(30, 46)),
        *(f"{shelf}?sort={order}" for shelf in shelves for order in ("price", "-price", "new", "name")),
        *(f"/search?q={n}" for n in range(12)),
    ]
    # 557 in all: a fiftieth is twelve. Nine URLs of one sex are too few.
    assert counts(paths) == [
        ("/product/*", 400),
        ("/men/*/?color=red&size=*", 48),
        ("/women/*/?color=red&size=*", 48),
        ("/*/*/?color=*", 18),
        # Four orders of three each are too little, together they are enough.
        ("/men/*/?sort=*", 12),
        ("/search?q=*", 12),
        ("/women/*/?sort=*", 12),
        ("/*", 7),
    ]


def test_other_hosts() -> None:
    paths = [
        *numbered("/p/{}", 50),
        *numbered("https://other.example/{0}/x?y={0}", 10),
        *numbered("http://example.com/{}", 9),
        *numbered("https://example.com:8443/{}", 8),
        *numbered("https://example.com.evil.example/{}", 7),
        *("https://a.example/", "https://b.example/2024/", "https://c.example/?q=1"),
    ]
    assert counts(paths) == [
        ("/p/*", 50),
        ("https://other.example/*", 10),
        ("http://example.com/*", 9),
        ("https://example.com:8443/*", 8),
        ("https://example.com.evil.example/*", 7),
        ("https://*", 3),
    ]


def test_another_host_alone() -> None:
    assert counts([*numbered("/p/{}", 50), "https://a.example/x"]) == [("/p/*", 50), ("https://a.example/*", 1)]


DIRECTORIES = [f"/{name}/{n}" for count, name in enumerate("abcdefghijkl", 3) for n in range(count)]


@pytest.mark.parametrize(
    ("paths", "limit", "expected"),
    [
        (DIRECTORIES, 4, [("/l/*", 14), ("/k/*", 13), ("/j/*", 12), ("/*", 63)]),
        (DIRECTORIES, 1, [("/*", 102)]),
        ([f"/docs{path}" for path in DIRECTORIES], 3, [("/docs/l/*", 14), ("/docs/k/*", 13), ("/docs/*", 75)]),
        # As many as asked for: nothing is joined.
        ([*numbered("/a/{}", 5), *numbered("/b/{}", 4)], 2, [("/a/*", 5), ("/b/*", 4)]),
        # The pages at the top and the rest have one name: they are one group.
        (
            [*numbered("/p{}", 30), *numbered("/a/{}", 20), *numbered("/b/{}", 10), *numbered("/c/{}", 9)],
            3,
            [("/a/*", 20), ("/b/*", 10), ("/*", 39)],
        ),
        # Paths, queries and hosts have nothing in common.
        (
            [*numbered("/a/{}", 20), *numbered("/b/{0}?q={0}", 10), *numbered("https://a.example/{}", 5)],
            2,
            [("/a/*", 20), ("*", 15)],
        ),
        (
            [*numbered("/a/{}", 20), *numbered("/i.php?x={}", 10), *numbered("/i.php?x={0}&y={0}", 10)],
            2,
            [("/a/*", 20), ("/i.php?*", 20)],
        ),
    ],
)
def test_limit(paths: list[str], limit: int, expected: list[tuple[str, int]]) -> None:
    assert counts(paths, limit=limit) == expected


def test_asking_changes_nothing() -> None:
    groups = UrlGroups(f"{SITE}/")
    for path in [*numbered("/2024/{:02}/", 12), *numbered("/2023/{:02}/", 12), *numbered("/p?a={}", 30)]:
        groups.add(SITE + path)
    before = groups.top()
    groups.top(1)
    assert groups.top() == before
    groups.add(f"{SITE}/2022/01/")
    group = groups.top()[1]
    assert (group.pattern, group.urls, group.example) == ("/YYYY/MM/", 25, f"{SITE}/2022/01/")


SEGMENTS = st.sampled_from(["", "a", "b", "page", "2", "404", "2023", "2024", "05", "06", "17", "31", "99"])
PATHS = st.lists(SEGMENTS, max_size=5).map("/".join)
PARAMETERS = st.sampled_from(["a=1", "a=2", "a=3", "b=1", "b", "", "a=", "c=x"])
QUERIES = st.lists(PARAMETERS, max_size=3).map(lambda parameters: "?" + "&".join(parameters) if parameters else "")
HOSTS = st.sampled_from([SITE, SITE, SITE, "http://example.com", "https://other.example"])
URLS = st.builds("{}/{}{}".format, HOSTS, PATHS, QUERIES)


@given(urls=st.lists(URLS, max_size=150), seed=st.randoms(use_true_random=False), limit=st.integers(1, 12))
def test_the_order_of_urls_does_not_matter(urls: list[str], seed: random.Random, limit: int) -> None:
    groups = groups_of(urls, limit=limit)
    shuffled = list(urls)
    seed.shuffle(shuffled)
    assert groups_of(shuffled, limit=limit) == groups
    assert sum(group.urls for group in groups) == len(urls)
    assert len(groups) <= limit
    assert len({group.pattern for group in groups}) == len(groups)
    assert {group.example for group in groups} <= set(urls)
    sizes = [group.urls for group in groups[:-1]]
    assert sizes == sorted(sizes, reverse=True)


@given(st.lists(st.text(max_size=40).map(lambda text: f"{SITE}/{text}") | st.text(max_size=20), max_size=30))
def test_any_url_has_a_group(urls: list[str]) -> None:
    groups = groups_of(urls)
    assert sum(group.urls for group in groups) == len(urls)
    assert len({group.pattern for group in groups}) == len(groups)


@pytest.mark.parametrize(
    "url",
    [
        f"{SITE}/" + "a" * 8000,
        f"{SITE}/" + "a" * 8000 + "/b",
        f"{SITE}/" + "a/" * 4000,
        f"{SITE}/" + "abcdefgh/" * 30,
        f"{SITE}/" + "a" * 8000 + "?b=1",
        f"{SITE}/?" + "a" * 8000 + "=1",
        f"{SITE}/?a=" + "1" * 8000,
        f"{SITE}/?" + "a=1&" * 2000,
        f"{SITE}/?" + "&" * 8000,
        f"{SITE}/2024/05/" + "1" * 8000,
        "https://" + "a" * 8000 + "/",
    ],
    ids=lambda url: url[:30],
)
def test_long_urls_have_short_patterns(url: str) -> None:
    (group,) = groups_of([url] * 25)
    assert group.urls == 25
    assert len(group.pattern) <= 200
    assert len(group.example) < 2200


def test_a_long_pattern_is_cut() -> None:
    urls = [f"{SITE}/{'a' * 150}.php?{'b' * 100}={n}" for n in range(3)]
    (group,) = groups_of(urls)
    assert group.pattern == f"/{'a' * 99}…{'b' * 97}=*"


def test_patterns_that_are_cut_stay_different() -> None:
    head, tail = "a" * 150, "b" * 150
    paths = [f"/{head}?{name}={n}&{tail}=" for name in ("issues", "issue", "pulls") for n in range(3)]
    patterns = [group.pattern for group in groups_of([SITE + path for path in paths])]
    assert [len(pattern) for pattern in patterns] == [200] * 3
    assert [name for name in ("issue=", "issues=", "pulls=") if sum(name in pattern for pattern in patterns) == 1] == [
        "issue=",
        "issues=",
        "pulls=",
    ]


@pytest.mark.parametrize("width", [8, 20, 40, 200])
def test_shortened_patterns(width: int) -> None:
    patterns = [f"/projects/*/{'x' * 60}/{name}?sort=*" for name in ("issues", "pulls")] + ["/a", "/projects/*"]
    short = shorten(patterns, width)
    assert all(len(text) <= width for text in short)
    assert len(set(short)) == len(patterns)
    assert short[2] == "/a"


def test_queries_keep_their_paths() -> None:
    paths = [
        *numbered("/issues?sort={}", 30),
        *numbered("/projects/p{0}/issues?sort={0}", 40),
        *numbered("/projects/p{0}/pulls?sort={0}", 20),
        *numbered("/projects/p{0}/wiki/{0}?sort={0}", 10),
        *numbered("/projects/p{0}/commits?sort={0}", 6),
        *numbered("/projects/p{0}/branches?sort={0}", 5),
    ]
    expected = [
        ("/projects/*/issues?sort=*", 40),
        ("/projects/*/*?sort=*", 31),
        ("/issues?sort=*", 30),
        ("/projects/*/wiki/*?sort=*", 10),
    ]
    assert counts(paths) == expected
    random.Random(1).shuffle(paths)
    assert counts(paths) == expected


def test_a_path_that_goes_on() -> None:
    names = "/".join("abcdefghij")
    assert counts(numbered(f"/{names}/x?n={{}}", 5)) == [("/a/b/c/d/e/f/g/h/…?n=*", 5)]


def size_of(value: object) -> int:
    """Bytes of all that hangs on a value."""
    seen: set[int] = set()
    total = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        total += sys.getsizeof(item)
        if isinstance(item, dict):
            waiting += [*item, *item.values()]
        elif isinstance(item, list | tuple | set):
            waiting += item
        else:
            waiting += [getattr(item, name) for name in getattr(type(item), "__slots__", ())]
    return total


URLS_OF_A_LARGE_SITE = 200_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("{site}/users/{0:x}/photos/{1:x}", ["/users/*"]),
        (
            "{site}/find?color={3}&size={4}&brand={5}&sort={6}&page={7}",
            ["/find?color=*&size=*&brand=*&sort=*&page=*"],
        ),
        ("https://{0:x}.example/{1:x}", ["https://*"]),
    ],
)
def test_large_sites_take_little_memory(url: str, expected: list[str]) -> None:
    chance = random.Random(1)
    urls = []
    for _ in range(URLS_OF_A_LARGE_SITE):
        bits = chance.getrandbits(96)
        facets = [bits >> shift & 7 for shift in range(0, 15, 3)]
        urls.append(url.format(bits & 0xFFFFFFFF, bits >> 32 & 0xFFFFFFFF, bits >> 64, *facets, site=SITE))
    groups = UrlGroups(f"{SITE}/")
    for item in urls:
        groups.add(item)
    top = groups.top()
    assert [group.pattern for group in top] == expected
    assert sum(group.urls for group in top) == URLS_OF_A_LARGE_SITE
    assert size_of(groups) < 20_000_000


@pytest.mark.parametrize(
    "url",
    ["{0}/{1}", "{0}/{1}/{1}", "{1}?{0}=1", "?{0}{1}", "?{0}={1}", "?{0}" + "&{1}" * 9],
)
def test_long_urls_take_little_memory(url: str) -> None:
    groups = UrlGroups(f"{SITE}/")
    for number in range(5_000):
        groups.add(f"{SITE}/{url.format(number, 'x' * 8_000)}")
    # Mostly the examples, of at most 2,100 characters each and 2 bytes a character.
    assert size_of(groups) < 30_000_000


def test_what_is_large_survives_a_flood_of_rare_names() -> None:
    chance = random.Random(2)
    urls = [f"{SITE}/blog/post-{n}" for n in range(3_000)]
    urls += [f"{SITE}/wiki?title={n}&action=edit" for n in range(3_000)]
    urls += [f"{SITE}/trap/{chance.getrandbits(40):x}/x" for _ in range(20_000)]
    urls += [f"{SITE}/trap?{chance.getrandbits(40):x}=1" for _ in range(20_000)]
    chance.shuffle(urls)
    assert [(group.pattern, group.urls) for group in groups_of(urls)] == [
        ("/trap/*", 20_000),
        ("/trap?*", 20_000),
        ("/blog/*", 3_000),
        ("/wiki?title=*&action=edit", 3_000),
    ]
