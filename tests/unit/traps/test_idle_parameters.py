"""The parameters that add nothing."""

from __future__ import annotations

import json

import pytest

from sitemap_crawler.traps.idle_parameters import MAX_PARAMETERS, MIN_PAGES, IdleParameters
from sitemap_crawler.urls.parameters import number_of

HOST = "https://www.example.com"


def show_variants(
    idle: IdleParameters, number: int, *, of: str = "/p?b={0}&view=7&a={0}", to: str = "/p?a={0}&b={0}"
) -> None:
    for index in range(number):
        idle.count(HOST + of.format(index), HOST + to.format(index))


def test_a_url_is_the_same_without_the_parameters_that_add_nothing_on_the_pages_of_its_shape() -> None:
    idle = IdleParameters()
    show_variants(idle, MIN_PAGES - 1)
    assert idle.simpler_of(f"{HOST}/p?a=99&b=1&view=2") is None
    show_variants(idle, 1)
    assert idle.simpler_of(f"{HOST}/p?a=99&view=2&b=1") == f"{HOST}/p?a=99&b=1"
    assert idle.simpler_of(f"{HOST}/p?a=99&view=2") is None, "another shape"
    show_variants(idle, 1, to="/p?a=0&b=0&view=8")
    assert idle.simpler_of(f"{HOST}/p?a=99&b=1&view=2") is None, "one of six does not"


@pytest.mark.parametrize(
    ("of", "to"),
    [
        ("/p?a={0}&view=7", "/p?a=0"),
        ("/p?a={0}&view=7", "/q?a={0}"),
        ("/p?a={0}&view=7", "/p?a={0}&view=7"),
        ("/p?a={0}&a=7", "/p?a={0}"),
    ],
)
def test_no_parameters_add_nothing_where_more_than_they_differ(of: str, to: str) -> None:
    idle = IdleParameters()
    show_variants(idle, 2 * MIN_PAGES, of=of, to=to)
    assert idle.simpler_of(HOST + of.format(99)) is None


def test_all_parameters_may_add_nothing() -> None:
    idle = IdleParameters()
    show_variants(idle, MIN_PAGES, of="/p/{0}?view=7", to="/p/{0}")
    assert idle.simpler_of(f"{HOST}/p/99?view=2") == f"{HOST}/p/99"


def test_later_runs_know_what_is_proved() -> None:
    idle = IdleParameters()
    show_variants(idle, MIN_PAGES)
    show_variants(idle, MIN_PAGES - 1, of="/q?a={0}&view=7", to="/q?a={0}")
    known = json.loads(json.dumps(idle.known))
    later = IdleParameters()
    show_variants(later, MIN_PAGES - 1, to="/p?a={0}&view=7")
    later.add_known(known)
    assert later.simpler_of(f"{HOST}/p?a=99&view=2&b=1") == f"{HOST}/p?a=99&b=1"
    assert later.simpler_of(f"{HOST}/q?a=99&view=2") is None
    later.count(f"{HOST}/p?a=1&b=1&view=7", None)
    assert later.simpler_of(f"{HOST}/p?a=99&view=2&b=1") is None, "one of six was new without its parameters"


def test_urls_without_one_parameter_are_siblings() -> None:
    idle = IdleParameters()
    first, second = f"{HOST}/p?id=1&in=a", f"{HOST}/p?in=b&id=1"
    for url in (first, second, f"{HOST}/p?id=2&in=a"):
        idle.admit(url)
    assert list(idle.siblings(first)) == []
    assert list(idle.siblings(second)) == [(f"{HOST}/p?id=1", number_of(first))]
    assert idle.sibling(second, f"{HOST}/p?id=1") == number_of(first)
    assert idle.sibling(f"{HOST}/p?id=3&in=b", f"{HOST}/p?id=3") is None
    assert list(idle.siblings(f"{HOST}/p?in=a")) == []


def test_urls_with_many_parameters_have_no_siblings() -> None:
    idle = IdleParameters()
    urls = [f"{HOST}/p?{'&'.join(f'a{number}=1' for number in range(MAX_PARAMETERS))}&b={end}" for end in "xy"]
    for url in urls:
        idle.admit(url)
    assert list(idle.siblings(urls[1])) == []


def test_parameters_may_be_separated_by_semicolons() -> None:
    idle = IdleParameters()
    show_variants(idle, MIN_PAGES, of="/p?a={0};view=7;b=1", to="/p?a={0};b=1")
    simpler = idle.simpler_of(f"{HOST}/p?a=99;view=2;b=1")
    assert simpler is not None
    assert number_of(simpler) == number_of(f"{HOST}/p?b=1;a=99") != number_of(f"{HOST}/p?b=1;a=98")
