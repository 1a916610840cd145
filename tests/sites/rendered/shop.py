"""A shop, made with React and react-router: each address is answered with the same shell; all content comes as JSON.

/                  categories, and links to all that is special
/c/<name>          a category, with a second page; 12 products
/p/<number>        a product, with the date of its last change in JSON-LD
/blog, /blog/<n>   posts, in a chunk of their own, with article:modified_time
/api/              the data; /api/private/ is forbidden by robots.txt
"""

from __future__ import annotations

from datetime import UTC, datetime

from tests.sites.rendered.truth import BLOCKED, ELSEWHERE, FOREIGN, LISTED, NOINDEX, REDIRECT, Fate, Site
from tests.support.rendered_site import conditional, data, files_of, served_files
from tests.support.webserver import Answer, Page

BUILT = datetime(2026, 2, 1, 12, tzinfo=UTC)
"""The date of the shell and the bundle, which says nothing about any page."""
CATEGORIES = ("chairs", "lamps", "tables", "shelves", "carpets")
PER_PAGE = 6
POSTS = 25

VARIANT, ORIGINAL = 3, 2  # the first names the second as its canonical address
DISCONTINUED = (5, 6)  # noindex by script
ONLY_BY_REDIRECT, ONLY_BEHIND_NOINDEX, ONLY_BEHIND_ROBOTS, UNKNOWN = 901, 902, 903, 999
ERROR_PAGE = "/nothing/here"
"""An address without a route. The shop says that it is missing, with status 200."""


def modified(number: int) -> str:
    return f"2026-01-{number % 28 + 1:02}"


def posted(number: int) -> str:
    return f"2025-{number % 12 + 1:02}-11T08:30:00+00:00"


def product(number: int, *related: int) -> dict[str, object]:
    value: dict[str, object] = {
        "name": f"Product {number}",
        "text": f"Number {number} is made of wood that grew for {number + 40} years.",
        "price": f"{number}.95",
        "modified": modified(number),
        "related": list(related),
    }
    if number == VARIANT:
        value["canonical"] = f"/p/{ORIGINAL}"
    if number in DISCONTINUED:
        value["discontinued"] = True
    return value


def post(number: int) -> dict[str, object]:
    return {
        "title": f"Story {number}",
        "text": f"This is the story of the day when the shop had sold {number} lamps before noon.",
        "modified": posted(number),
        "product": number + 10 if number % 3 else None,
    }


def shop(*, categories: int = len(CATEGORIES), posts: int = POSTS) -> Site:
    names = CATEGORIES[:categories]
    fates = truth(names, posts)
    products = range(1, 2 * PER_PAGE * len(names) + 1)
    special = [
        "/old-shop",
        f"/goto/{ONLY_BY_REDIRECT}",
        "/recommended",
        f"/p/{UNKNOWN}",
        ERROR_PAGE,
    ]
    pages: dict[str, Page] = {
        **served_files("shop", modified=BUILT),
        "/robots.txt": Answer(
            "User-agent: *\nDisallow: /account\nDisallow: /api/private/\n", content_type="text/plain"
        ),
        "/api/home.json": data(
            {
                "text": "Chairs, lamps and tables.",
                "categories": [{"slug": name, "name": name.title()} for name in names],
                "links": special,
            },
            modified=BUILT,
        ),
        "/api/blog.json": data(
            {"posts": [{"slug": f"story-{number}", "title": f"Story {number}"} for number in range(1, posts + 1)]}
        ),
        "/api/private/recommended.json": data({"links": [f"/p/{ONLY_BEHIND_ROBOTS}"]}),
    }
    for place, name in enumerate(names):
        for number in (1, 2):
            first = 2 * PER_PAGE * place + PER_PAGE * (number - 1) + 1
            shown = range(first, first + PER_PAGE)
            pages[f"/api/c/{name}.json?page={number}"] = data(
                {
                    "name": name.title(),
                    "text": f"All our {name}.",
                    "pages": 2,
                    "products": [{"id": one, "name": f"Product {one}", "price": f"{one}.95"} for one in shown],
                }
            )
    for number in products:
        related = ONLY_BEHIND_NOINDEX if number == DISCONTINUED[0] else number % len(products) + 1
        pages[f"/api/p/{number}.json"] = data(product(number, related), tagged=number % 2 == 0)
    for number in (ONLY_BY_REDIRECT, ONLY_BEHIND_NOINDEX, ONLY_BEHIND_ROBOTS):
        pages[f"/api/p/{number}.json"] = data(product(number))
    for number in range(1, posts + 1):
        pages[f"/api/blog/story-{number}.json"] = data(post(number) | ({} if categories > 3 else {"product": 1}))
    return Site(
        "the React shop",
        pages,
        fates,
        fallback=conditional(files_of("shop")["/index.html"], modified=BUILT),
        never=("/account", "/api/private/", "/only-by-a-button"),
        error_pages=(ERROR_PAGE,),
    )


def truth(names: tuple[str, ...], posts: int) -> dict[str, Fate]:
    fates = {
        "/": LISTED,
        "/blog": LISTED,
        "/about": LISTED,
        "/delivery": LISTED,
        "/recommended": LISTED,
        ERROR_PAGE: LISTED,  # with a warning
        "/account": BLOCKED,
        "/old-shop": REDIRECT,
        f"/goto/{ONLY_BY_REDIRECT}": REDIRECT,
        f"/p/{UNKNOWN}": NOINDEX,
        "https://elsewhere.example/": FOREIGN,
        f"/p/{ONLY_BY_REDIRECT}": Fate(lastmod=modified(ONLY_BY_REDIRECT)),
        f"/p/{ONLY_BEHIND_NOINDEX}": Fate(lastmod=modified(ONLY_BEHIND_NOINDEX)),
    }
    for name in names:
        fates |= {f"/c/{name}": LISTED, f"/c/{name}?page=2": LISTED}
    for number in range(1, 2 * PER_PAGE * len(names) + 1):
        fates[f"/p/{number}"] = Fate(lastmod=modified(number))
    fates[f"/p/{VARIANT}"] = ELSEWHERE
    fates |= dict.fromkeys((f"/p/{number}" for number in DISCONTINUED), NOINDEX)
    fates |= {f"/blog/story-{number}": Fate(lastmod=posted(number)) for number in range(1, posts + 1)}
    return fates
