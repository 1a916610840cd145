"""What a run tells of the site that is worth a person's time: each kind of warning, in the report and the summary."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.support.webserver import Answer, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program, Result

CANONICAL = '<link rel="canonical" href="{}">'


def moved(target: str) -> Answer:
    return Answer(status=301, headers={"Location": target})


def named(canonical: str, *hrefs: str, title: str = "Page") -> str:
    return page(*hrefs, head=CANONICAL.format(canonical), title=title)


def warnings(result: Result, site: WebServer) -> list[tuple[str, str, str]]:
    """Kind, path of the page, and the message without the site's address."""
    assert result.code == 0, result.err
    root = site.url("")
    return [
        (found["kind"], found["url"].removeprefix(root), found["message"].replace(root, ""))
        for found in result.report["warnings"]
    ]


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        ({"/": page("/gone")}, [("broken-link", "/", "links to /gone (client-error: status 404)")]),
        (
            {"/": page("/a"), "/a": moved("/b"), "/b": page(title="B")},
            [("link-to-redirect", "/", "links to /a, which redirects to /b: link to the target")],
        ),
        (
            {"/": page("/a"), "/a": moved("/gone")},
            [("broken-redirect", "/a", "redirects to /gone (client-error)")],
        ),
        (
            {"/": page("/a"), "/a": moved("/b"), "/b": moved("/c"), "/c": page(title="C")},
            [("redirect-chain", "/a", "redirects to /b, which redirects again: redirect to the last address")],
        ),
        (
            {"/": page("/a"), "/a": moved("/b"), "/b": moved("/a")},
            [
                ("redirect-loop", "/a", "redirects to /b, and from there back to itself"),
                ("redirect-loop", "/b", "redirects to /a, and from there back to itself"),
            ],
        ),
        (
            {"/": page("/a"), "/a": moved("/a")},
            [("redirect-loop", "/a", "redirects to /a, and from there back to itself")],
        ),
        (
            # Where a temporary redirect leads today is no address to link to.
            {"/": page("/a"), "/a": Answer(status=302, headers={"Location": "/b"}), "/b": page(title="B")},
            [],
        ),
        (
            {"/": page("/a"), "/a": Answer(status=301)},
            [("broken-redirect", "/a", "redirects without a usable address")],
        ),
        (
            {"/": page("/a"), "/a": named("/b"), "/b": Answer(status=410)},
            [
                (
                    "broken-canonical",
                    "/a",
                    "its canonical /b can't be listed (client-error: status 410), so the page itself is listed",
                )
            ],
        ),
        (
            {"/": page("/a"), "/a": named("/b"), "/b": named("/b", title="B")},
            [],
        ),
        (
            {"/": page("/a"), "/a": named("/b"), "/b": page(title="B")},
            [("one-way-canonical", "/a", "its canonical /b does not name itself as canonical")],
        ),
        (
            {"/": page("/a"), "/a": page(head=CANONICAL.format("/b") + CANONICAL.format("/c"))},
            [("conflicting-canonicals", "/a", "names several canonical URLs, so none counts: /b, /c")],
        ),
        (
            {
                "/": page("/a"),
                "/a": named("/private/b"),
                "/robots.txt": Answer("User-agent: *\nDisallow: /private/\n", content_type="text/plain"),
            },
            [
                (
                    "blocked-canonical",
                    "/a",
                    "its canonical /private/b is disallowed by robots.txt, so neither is listed",
                )
            ],
        ),
        (
            {"/": page("/a", "/b", "/c"), **dict.fromkeys(("/a", "/b", "/c"), page(title="Same"))},
            [
                (
                    "duplicate-pages",
                    "/b",
                    "has the same content as /a (more copies matching /*: 1): give the copies a canonical",
                )
            ],
        ),
        (
            {"/": page("/z", title="Home"), "/z": page("/a"), "/a": page("/a")},
            [("duplicate-pages", "/a", "has the same content as /z: give the copies a canonical")],
        ),
        (
            {
                "/": page("/a", head='<script src="/js/app.js"></script><link rel=stylesheet href="/css/a.css">'),
                "/a": page(title="A", head='<script src="/js/app.js"></script>'),
                "/robots.txt": Answer("User-agent: *\nDisallow: /js/\n", content_type="text/plain"),
            },
            [
                (
                    "blocked-resource",
                    "/",
                    (
                        "needs /js/app.js, which robots.txt forbids Googlebot: Disallow: /js/ (line 2, User-agent: *): "
                        "search engines can't render it"
                    ),
                )
            ],
        ),
        (
            {"/": page("/a"), "/a": page(title="Page not found")},
            [("soft-404", "/a", 'answers 200 but says "Page not found": answer 404 or 410')],
        ),
        (
            {"/": page("/a", "/b"), **dict.fromkeys(("/a", "/b"), page(title="Page not found"))},
            [
                ("soft-404", "/a", 'answers 200 but says "Page not found": answer 404 or 410'),
                ("soft-404", "/b", 'answers 200 but says "Page not found": answer 404 or 410'),
            ],
        ),
        (
            {"/": page("/a"), "/a": page(title="Page not found", head='<meta name="robots" content="noindex">')},
            [],
        ),
        (
            {
                "/": page("/a"),
                "/a": page(title="A"),
                "/robots.txt": Answer("User-agent: Googlebot\nDisallow: /a\n", content_type="text/plain"),
            },
            [
                (
                    "blocked-for-search",
                    "/a",
                    (
                        "is listed, but robots.txt disallows it for "
                        "Googlebot: Disallow: /a (line 2, User-agent: Googlebot)"
                    ),
                )
            ],
        ),
        (
            {"/": page("/a"), "/a": page(title="A"), "/robots.txt": Answer("Sitemap: /s.xml"), "/s.xml": "/unlinked"},
            [
                (
                    "sitemap-unlistable",
                    "/dead",
                    "a sitemap names it, and it can't be listed (client-error: status 404)",
                ),
                ("sitemap-only", "/unlinked", "only a sitemap or list names it, no followed link leads to it"),
            ],
        ),
    ],
)
def test_each_kind(
    program: Program, site: WebServer, pages: dict[str, str | Answer], expected: list[tuple[str, str, str]]
) -> None:
    if "/s.xml" in pages:
        text = "".join(f"{site.url(path)}\n" for path in ("/unlinked", "/a", "/dead"))
        pages = {**pages, "/s.xml": Answer(text, content_type="text/plain"), "/unlinked": page(title="Unlinked")}
    site.pages.update(pages)
    result = program.crawl(site.url("/"))
    assert warnings(result, site) == expected
    assert sum(result.report["warning_counts"].values()) == len(expected)
    numbers = Counter(kind for kind, _, _ in expected)
    for kind, number in numbers.items():
        [line] = re.findall(rf"^Warning, [^(]+ \({kind}\): (.*)$", result.out, re.MULTILINE)
        further = re.findall(r" \(and (.*) of this kind\)$", line)
        assert further == ([f"{number - 1} more warning{'s' if number > 2 else ''}"] if number > 1 else [])


def test_a_broken_redirect_or_canonical_is_no_broken_link(program: Program, site: WebServer) -> None:
    site.pages.update({"/": page("/a", "/b"), "/a": moved("/gone"), "/b": named("/lost", title="B")})
    kinds = [kind for kind, _, _ in warnings(program.crawl(site.url("/")), site)]
    assert "broken-link" not in kinds


@pytest.mark.parametrize(
    ("canonical", "number", "path", "expected"),
    [
        ("/", 5, "/news/{}", 5),
        ("/", 4, "/news/{}", 0),
        ("/shop", 50, "/shop/{}", 50),
        ("/shop", 49, "/shop/{}", 0),  # the colours of a product
        ("/shop", 60, "/shop?sort={}", 0),
        ("/shop?id=1", 60, "/shop?id=1&sort={}", 0),
    ],
)
def test_pages_that_share_a_canonical_by_mistake(
    program: Program, site: WebServer, canonical: str, number: int, path: str, expected: int
) -> None:
    paths = [path.format(n) for n in range(number)]
    site.pages.update({path: named(canonical, title=f"Page {n}") for n, path in enumerate(paths)})
    site.pages["/print/1"] = site.pages["/print/2"] = named(canonical)  # under the title of the canonical
    site.pages[canonical] = named(canonical)
    site.pages["/"] = page("/shop", canonical, *paths, "/print/1", "/print/2", head=CANONICAL.format("/"))
    found = warnings(program.crawl(site.url("/")), site)
    others = f"as {expected - 1} other pages with titles of their own do"
    shared = ("shared-canonical", paths[0], f"names {canonical} as canonical, {others}: none of them is listed")
    assert [warning for warning in found if warning[0] == "shared-canonical"] == ([shared] if expected else [])


def test_a_thousand_of_a_kind_are_reported_and_all_counted(program: Program, site: WebServer) -> None:
    site.pages["/"] = page(*(f"/gone/{number}" for number in range(1_100)))
    report = program.crawl(site.url("/"), "--concurrency", "32").report
    assert len(report["warnings"]) == 1_000
    assert report["warning_counts"] == {"broken-link": 1_100}


def test_urls_that_are_the_way_to_listed_pages_have_no_exclude(program: Program, site: WebServer) -> None:
    """A shop links its products with their categories only. These pages name the address of the product."""
    products = [f"/product?id={number}" for number in range(5)]
    ways = [f"/product?category=1&id={number}" for number in range(5)]
    sorted_lists = [f"/list?sort={number}" for number in range(5)]
    site.pages["/"] = page("/list", *ways, *sorted_lists)
    site.pages |= {path: page(title=path) for path in ("/list", *products)}
    site.pages |= {way: named(product, title=product) for way, product in zip(ways, products, strict=True)}
    site.pages |= {path: named("/list", title="List") for path in sorted_lists}
    result = program.crawl(site.url("/"))
    assert len(result.listed()) == 7
    shapes = {shape["pattern"]: shape for shape in result.report["shapes"]["canonical-elsewhere"]}
    assert shapes["/product?category=*&id=*"]["exclude"] is None
    assert "listed" not in shapes["/product?category=*&id=*"]
    assert re.search(shapes["/list?sort=*"]["exclude"], site.url("/list?sort=3"))
    assert shapes["/list?sort=*"]["listed"] == 0


def test_an_exclude_says_how_many_listed_pages_it_would_leave_out(program: Program, site: WebServer) -> None:
    """None would be an advice that leaves out more listed pages than others, or more than half of them."""
    topics = [f"/topic/{number}/" for number in range(5)]
    pages = [f"/{letter}/" for letter in "abcd"]
    site.pages |= {path: page(title=path) for path in (*topics, *pages)}
    for number, others in ((5, pages), (4, pages), (5, pages[1:])):
        moves = [f"/topic/new{number}" for number in range(number)]
        site.pages |= {"/": page(*moves, *topics, *others)} | {path: moved("/") for path in moves}
        state = f"{number}-{len(others)}.sqlite"
        [shape] = program.crawl(site.url("/"), "--state", state).report["shapes"]["redirect"]
        assert (shape["pattern"], shape["urls"]) == ("/topic/*", number)
        if (number, others) == (5, pages):
            assert shape["listed"] == len([path for path in topics if re.search(shape["exclude"], site.url(path))]) == 5
        else:
            assert shape["exclude"] is None
            assert "listed" not in shape


def test_the_summary_groups_urls_by_pattern(program: Program, site: WebServer) -> None:
    days = [f"/2024/{month:02}/{day:02}/" for month in (3, 4, 5) for day in range(1, 11)]
    tags = [f"/tag/{name}/" for name in ("alpha", "beta", "gamma", "delta")]
    replies = [f"/tag/alpha/?replytocom={number}" for number in range(5)]
    site.pages.update({"/": page(*days, *tags, *replies)})
    site.pages.update({path: page(title=path) for path in [*days, *tags]})
    site.pages.update({path: named("/tag/alpha/", title=path) for path in replies})
    result = program.crawl(site.url("/"))
    shapes = {
        reason: {shape["pattern"]: shape["urls"] for shape in found}
        for reason, found in result.report["shapes"].items()
    }
    assert shapes == {
        "listed": {"/2024/MM/DD/": 30, "/tag/*": 4, "/*": 1},
        "canonical-elsewhere": {"/tag/alpha/?replytocom=*": 5},
    }
    for reason, paths in {"listed": ["/", *days, *tags], "canonical-elsewhere": replies}.items():
        for shape in result.report["shapes"][reason]:
            if shape["pattern"] == "/*":
                assert shape["exclude"] is None
            else:
                matching = [path for path in paths if re.search(shape["exclude"], site.url(path))]
                assert len(matching) == shape["urls"]
    lines = [" ".join(line.strip("│ ").split()) for line in result.out.splitlines()]
    assert "/2024/MM/DD/ │ 30" in lines
