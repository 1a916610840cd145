"""Pages that only show what a page above them shows, such as a form at each product, are no pages of a sitemap."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.endless_sites import words_of
from tests.support.webserver import page

if TYPE_CHECKING:
    from tests.support.program import Program
    from tests.support.webserver import WebServer

NUMBERS = range(1, 36)
RULES = words_of("rules of reviews")
REVIEW = f"<h2>Write a review</h2><p>{RULES}</p><form action='/send'><textarea name=text></textarea></form>"


def product(number: int, *links: str, form: str = "", more: str = "") -> str:
    text = f"<main><h1>Shoe {number}</h1><p>{words_of(f'shoe{number}')}</p>{more}{form}</main>"
    return page(*links, title=f"Shoe {number}", body=text)


def album(number: int, *links: str, picture: str = "") -> str:
    text = f"<main><h1>Album {number}</h1><p>{words_of(f'album{number}')}</p>{picture}</main>"
    return page(*links, title=f"Album {number}", body=text)


def serve(site: WebServer) -> set[str]:
    """Serve a shop whose products have forms, and whose albums have pictures. Return the pages that are content.

    The searches have parameters: without any, pages are not compared.
    """
    searches = {f"/find?q={number}": page("/", body=f"<p>{words_of(f'find{number}')}</p>") for number in NUMBERS}
    products = {f"/shoes/{number}/": product(number, f"/shoes/{number}/reviews/add/") for number in NUMBERS}
    forms = {f"/shoes/{number}/reviews/add/": product(number, form=REVIEW) for number in NUMBERS}
    albums = {f"/albums/{number}/": album(number, f"/albums/{number}/picture/1/") for number in NUMBERS}
    pictures = {
        f"/albums/{number}/picture/1/": album(number, picture=f'<img src="/{number}.jpg" alt="">') for number in NUMBERS
    }
    content = searches | products | albums | pictures
    site.pages = content | forms | {"/": page(*searches, *products, *albums)}
    return {"/", *content}


def crawl(program: Program, site: WebServer) -> set[str]:
    result = program.crawl(site.url("/"), "--concurrency", "8")
    assert result.code == 0, result.err
    return {url.removeprefix(site.url("/")[:-1]) for url in result.listed()}


def test_a_form_at_each_product_is_left_out_and_a_picture_of_each_album_is_not(
    program: Program, site: WebServer
) -> None:
    content = serve(site)
    assert crawl(program, site) == content
    explained = json.loads(program.run("explain", site.url("/shoes/7/reviews/add/"), "--json").out)
    assert explained["reason"] == "duplicate-parameters"
    assert explained["listed_url"] == site.url("/shoes/7/")


def test_later_runs_agree_and_list_a_form_that_has_content_of_its_own(program: Program, site: WebServer) -> None:
    content = serve(site)
    assert crawl(program, site) == content
    site.pages["/shoes/8/"] = product(8, "/shoes/8/reviews/add/", more=f"<p>{words_of('news')}</p>")
    site.pages["/shoes/9/reviews/add/"] = product(9, form=REVIEW, more=f"<p>{words_of('terms')}</p>")
    new = {"/shoes/99/": product(99, "/shoes/99/reviews/add/"), "/shoes/99/reviews/add/": product(99, form=REVIEW)}
    site.pages |= new | {"/shoes/1/": product(1, "/shoes/1/reviews/add/", "/shoes/99/")}
    assert crawl(program, site) == content | {"/shoes/9/reviews/add/", "/shoes/99/"}


def test_a_site_whose_pages_all_have_one_title_loses_none(program: Program, site: WebServer) -> None:
    content = serve(site)
    forms = {path for path in site.pages if path.endswith("/reviews/add/")}
    for path, text in site.pages.items():
        title = text[text.index("<title>") : text.index("</title>")]  # type: ignore[operator, index]
        site.pages[path] = text.replace(title, "<title>Shop")  # type: ignore[union-attr]
    assert crawl(program, site) == content | forms
