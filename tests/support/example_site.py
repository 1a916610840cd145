"""The site of the examples in README.md and docs/: several hosts of example.com, served by a proxy on loopback.

    http://www.example.com/
      /docs/  /docs/install  /docs/page            documentation
      /blog/  /blog/2025/launch  /blog/2026/news   articles, each with a date; /blog/?replytocom=1 names a canonical
      /p/shoe  /p/boot                             products, with an image
      /about  /team                                language versions: English and German
      /tag/shoes                                   noindex
      /private/                                    blocked by robots.txt
      /old-docs                                    redirects to /docs/
      /docs/removed                                404, linked from /docs/
      /old-sitemap.xml                             names /archive, to which nothing links
    http://blog.example.com/                       two pages, linked from www.example.com
    http://preview.example.com/, http://localhost:8000/, http://intranet.corp/
                                                   two pages each

The program reaches the hosts through `http_proxy`, so that the commands of the documents run with the addresses that
stand there; only https is made http.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.webserver import Answer, page

if TYPE_CHECKING:
    from tests.support.program import Program
    from tests.support.webserver import Page, WebServer

WWW = "http://www.example.com"
ROBOTS = "User-agent: *\nDisallow: /private/\n"
SMALL_SITES = ("http://blog.example.com", "http://preview.example.com", "http://localhost:8000", "http://intranet.corp")
VERSIONS = (
    '<link rel="alternate" hreflang="en" href="/about"><link rel="alternate" hreflang="de" href="/team">'
)  # fmt: skip
BLOG = f'<link rel="canonical" href="{WWW}/blog/">'


def text(content: str) -> Answer:
    return Answer(content, content_type="text/plain")


def dated(date: str) -> str:
    return f'<meta property="article:modified_time" content="{date}">'


def pages() -> dict[str, Page]:
    """The answer to each absolute URL."""
    www: dict[str, Page] = {
        "/": page(
            "/docs/", "/blog/", "/p/shoe", "/p/boot", "/about", "/tag/shoes", "/private/", "http://blog.example.com/",
            title="Example",
        ),
        "/docs/": page("/docs/install", "/docs/page", "/docs/removed", "/old-docs", title="Documentation"),
        "/docs/install": page("/docs/", title="Install", head=dated("2026-03-04T10:20:30Z")),
        "/docs/page": page("/docs/", title="A page"),
        "/old-docs": Answer("", status=301, headers={"Location": f"{WWW}/docs/"}),
        "/blog/": page("/blog/2025/launch", "/blog/2026/news", "/blog/?replytocom=1", title="Blog", head=BLOG),
        "/blog/?replytocom=1": page(title="Blog", head=BLOG),
        "/blog/2025/launch": page("/blog/", title="Launch", head=dated("2025-06-01")),
        "/blog/2026/news": page("/blog/", title="News", head=dated("2026-02-03")),
        "/p/shoe": page("/", title="Shoe", body='<img src="/images/shoe.jpg">'),
        "/p/boot": page("/", title="Boot", body='<img src="/images/boot.jpg">'),
        "/about": page("/team", title="About", head=VERSIONS),
        "/team": page("/about", title="Team", head=VERSIONS),
        "/tag/shoes": page("/p/shoe", title="Tag", head='<meta name="robots" content="noindex">'),
        "/archive": page("/", title="Archive"),
        "/robots.txt": text(ROBOTS),
        "/old-sitemap.xml": text(f"{WWW}/\n{WWW}/archive\n"),
    }  # fmt: skip
    found = {f"{WWW}{path}": answer for path, answer in www.items()}
    for origin in SMALL_SITES:
        found |= {f"{origin}/": page("/second", title="First"), f"{origin}/second": page("/", title="Second")}
    return found


def serve_example_site(program: Program, site: WebServer) -> None:
    """Make `site` the proxy of the program, with all hosts of the examples behind it."""
    site.pages = pages()
    program.variables |= {"http_proxy": site.url(), "no_proxy": ""}
