"""Pages that show something else at each request, or only changed with their template, keep their dates."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from sitemap_crawler.validation.entries import read_entries
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.program import Program, Result

PRODUCTS = [f"/product/{number}" for number in range(12)]
ABOUT = [f"/about/{number}" for number in range(3)]


class Shop:
    """Twelve products, three other pages, and a number of offers that grows with each request of a product."""

    def __init__(self, site: WebServer) -> None:
        self.texts = {path: f"All about {path}" for path in (*PRODUCTS, *ABOUT)}
        self.offers = count()
        self.is_random = True
        self.second_answer: Answer | None = None
        """What the server answers to the second request for a product in a run, if not as to the first one."""
        site.pages["/"] = page(*PRODUCTS, *ABOUT, title="Shop")
        site.pages |= dict.fromkeys(PRODUCTS, self._answer)
        site.pages |= {path: lambda request: Answer(page(body=self.texts[request.path])) for path in ABOUT}
        self._seen: set[str] = set()

    def _answer(self, request: LoggedRequest) -> Answer:
        if self.second_answer is not None and request.path in self._seen:
            return self.second_answer
        self._seen.add(request.path)
        # In letters: numbers that grow alike on all pages are a change of their template.
        name = "".join(chr(ord("a") + int(digit)) for digit in str(next(self.offers)))
        offer = f"<div class=x7>Today: {name}</div>" if self.is_random else ""
        return Answer(page(title=request.path, body=f"<p>{self.texts[request.path]}</p>{offer}"))

    def begin(self) -> None:
        """Begin a run: the first requests are answered in any case."""
        self._seen.clear()


def crawl(program: Program, site: WebServer, shop: Shop) -> Result:
    shop.begin()
    site.clear_log()
    result = program.crawl(site.url("/"), "--state", "state.db")
    assert result.code == 0, result.err
    return result


def dated(program: Program, site: WebServer) -> set[str]:
    entries = read_entries((program.output / "sitemap.xml").read_bytes())
    return {entry.loc.removeprefix(site.url("/")[:-1]) for entry in entries if entry.lastmod is not None}


def repeated(site: WebServer) -> list[str]:
    """Return the paths that were requested again in a run."""
    paths = site.paths()
    return sorted({path for path in paths if paths.count(path) > 1})


def test_what_a_page_shows_at_random_is_no_change(program: Program, site: WebServer) -> None:
    shop = Shop(site)
    first = crawl(program, site, shop)
    assert repeated(site) == []
    assert first.report["notices"] == []
    shop.texts[ABOUT[0]] += ", and more"
    second = crawl(program, site, shop)
    assert second.report["changes"] == {"added": 0, "changed": 1, "removed": 0}
    assert dated(program, site) == {ABOUT[0]}
    assert len(repeated(site)) == 5
    assert set(repeated(site)) < {*PRODUCTS, ABOUT[0]}
    [notice] = second.report["notices"]
    assert notice.startswith("12 pages show something else at each request")
    assert any(f"({site.url(path)})" in notice for path in PRODUCTS)
    assert second.report["requests"] == len(site.paths())
    third = crawl(program, site, shop)
    assert third.report["changes"] == {"added": 0, "changed": 0, "removed": 0}
    assert dated(program, site) == {ABOUT[0]}


def test_few_pages_of_a_kind_speak_for_themselves(program: Program, site: WebServer) -> None:
    """A box of random entries stands on twelve products and on two of three other pages. One has changed, too."""
    shop = Shop(site)
    site.pages |= dict.fromkeys(ABOUT[:2], shop._answer)
    crawl(program, site, shop)
    shop.texts[ABOUT[2]] += ", and more"
    assert crawl(program, site, shop).report["changes"] == {"added": 0, "changed": 1, "removed": 0}
    assert dated(program, site) == {ABOUT[2]}
    assert set(repeated(site)) > set(ABOUT)


def test_pages_with_names_are_of_one_kind(program: Program, site: WebServer) -> None:
    things = ["boat", "crane", "dock", "ferry", "gull", "harbour", "island", "jetty", "keel", "lock", "mast", "net"]
    names = [f"/product/{thing}" for thing in things]
    shown = count()

    def answer(request: LoggedRequest) -> Answer:
        offer = "".join(chr(ord("a") + int(digit)) for digit in str(next(shown)))
        return Answer(page(title=request.path, body=f"<p>All about {request.path}</p><div>Today: {offer}</div>"))

    site.pages |= {"/": page(*names, title="Shop"), **dict.fromkeys(names, answer)}
    assert program.crawl(site.url("/"), "--state", "state.db").code == 0
    site.clear_log()
    assert program.crawl(site.url("/"), "--state", "state.db").report["changes"]["changed"] == 0
    assert dated(program, site) == set()
    assert len(repeated(site)) == 4


def test_pages_that_have_changed_are_dated(program: Program, site: WebServer) -> None:
    shop = Shop(site)
    shop.is_random = False
    crawl(program, site, shop)
    shop.texts |= {path: f"Something else about {path}" for path in PRODUCTS}
    second = crawl(program, site, shop)
    assert second.report["changes"] == {"added": 0, "changed": 12, "removed": 0}
    assert dated(program, site) == set(PRODUCTS)
    assert len(repeated(site)) == 4
    assert second.report["notices"] == []


def test_few_changed_pages_are_not_asked_for_again(program: Program, site: WebServer) -> None:
    shop = Shop(site)
    shop.is_random = False
    crawl(program, site, shop)
    changed = set(PRODUCTS[:9])
    shop.texts |= {path: f"Something else about {path}" for path in changed}
    crawl(program, site, shop)
    assert dated(program, site) == changed
    assert repeated(site) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer", [Answer("overloaded", status=500), Answer(page(title="Maintenance", body="We are back soon."))]
)
def test_a_server_without_the_pages_at_the_second_look_proves_nothing(
    answer: Answer, program: Program, site: WebServer
) -> None:
    shop = Shop(site)
    crawl(program, site, shop)
    shop.second_answer = answer
    second = crawl(program, site, shop)
    assert len(repeated(site)) == 4
    assert second.report["changes"]["changed"] == 12


@pytest.mark.slow
def test_dates_from_before_come_back(program: Program, site: WebServer) -> None:
    """The products had a date when the pages began to show things at random."""
    shop = Shop(site)
    shop.is_random = False
    crawl(program, site, shop)
    shop.texts |= {path: f"Something else about {path}" for path in PRODUCTS}
    crawl(program, site, shop)
    dates = (program.output / "sitemap.xml").read_bytes()
    shop.is_random = True
    third = crawl(program, site, shop)
    assert third.report["changes"] == {"added": 0, "changed": 0, "removed": 0}
    assert (program.output / "sitemap.xml").read_bytes() == dates


def manual(release: str, edited: Sequence[str] = ()) -> dict[str, str]:
    """Return the pages of a manual that names its release in each title and heading, and links pages of the release."""
    return {
        path: page(
            f"/download/{release}",
            title=f"{path} - Manual {release}",
            body=f"<h1>Manual {release}</h1><p>How to mend {path}{' once more' if path in edited else ''}.</p>",
        )
        for path in PRODUCTS
    }


def test_a_number_that_changes_on_all_pages_is_no_change(program: Program, site: WebServer) -> None:
    site.pages["/"] = page(*PRODUCTS, title="Manual")
    site.pages |= manual("1.9")
    assert program.crawl(site.url("/"), "--state", "state.db").code == 0
    site.pages |= manual("1.10", edited=PRODUCTS[:2])
    second = program.crawl(site.url("/"), "--state", "state.db")
    assert dated(program, site) == set(PRODUCTS[:2])
    assert second.report["changes"]["changed"] == 2
    [notice] = second.report["notices"]
    assert notice.startswith("10 pages have changed only in a number or in links")
    # Nothing was asked for again.
    assert len(site.paths()) == len(set(site.paths())) + len({"/", "/robots.txt", *PRODUCTS, "/download/1.9"})


def test_pages_with_names_have_a_template_too(program: Program, site: WebServer) -> None:
    def library(release: str) -> dict[str, str]:
        names = [f"/library/{one}{two}/os{one}.html" for one in "abcd" for two in "xyz"]
        return {path: page(title=f"{path} - {release}", body=f"<p>All about {path}</p>") for path in names}

    # An older release is a negative step.
    for release in ("3.11.7", "3.11.8", "3.11.6"):
        site.pages |= {"/": page(*library(release), title="Library"), **library(release)}
        assert program.crawl(site.url("/"), "--state", "state.db").code == 0
    assert dated(program, site) == set()


def test_prices_change_by_amounts_of_their_own(program: Program, site: WebServer) -> None:
    def offers(percent: int) -> dict[str, str]:
        return {
            path: page(title=path, body=f"<p>All about {path}, for {100 * number * percent // 100} euros</p>")
            for number, path in enumerate(PRODUCTS, 1)
        }

    site.pages["/"] = page(*PRODUCTS, title="Shop")
    site.pages |= offers(100)
    assert program.crawl(site.url("/"), "--state", "state.db").code == 0
    site.pages |= offers(110)
    assert program.crawl(site.url("/"), "--state", "state.db").report["changes"]["changed"] == 12
    assert dated(program, site) == set(PRODUCTS)


def test_links_to_other_addresses_are_no_change_if_all_pages_have_them(program: Program, site: WebServer) -> None:
    def revisions(last: int) -> dict[str, str]:
        older = f'<a href="/revision/{last}?start={last}">Older</a>'
        return {path: page(title=path, body=f"<p>The revision {path}</p>{older}") for path in PRODUCTS}

    site.pages["/"] = page(*PRODUCTS, title="Revisions")
    site.pages |= revisions(60)
    assert program.crawl(site.url("/"), "--state", "state.db").code == 0
    site.pages |= revisions(61)
    assert program.crawl(site.url("/"), "--state", "state.db").report["changes"]["changed"] == 0
    assert dated(program, site) == set()
