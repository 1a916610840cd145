"""What counts as a trap, and what does not: addresses, combinations of parameters, pages that are all alike."""

from __future__ import annotations

import random
from itertools import combinations, product
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.traps.detector import Trap, TrapDetector
from sitemap_crawler.traps.facets import FacetBudget, distinct, facets_of
from sitemap_crawler.traps.learner import FIRST_EPOCH
from sitemap_crawler.traps.nesting import repeated_names
from sitemap_crawler.traps.patterns import endless_pattern, is_token, sessions_of
from sitemap_crawler.traps.url_checks import MAX_TALLIED_TRAPS, TRAP, TrapTally, month_of, url_trap

HOST = "https://www.example.com"
NOW = month_of(2024, 6)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/a/a/a/a/", "/a/"),
        ("/docs/en/en/en/en", "/en/"),
        ("/x/a/b/a/b/a/b/y", "/a/b/"),
        ("/a/b/c/d/a/b/c/d/a/b/c/d", "/a/b/c/d/"),
        ("/a/////b", "repeats"),
        ("/0/0/0/0/0/0/0/0/1", "/0/"),
        ("/" + "/".join(f"s{number}" for number in range(41)), "40 segments"),
        ("/list?" + "&".join(["tag=x"] * 9), "tag"),
        ("/list?" + "&".join(f"p{number}=1" for number in range(41)), "40 parameters"),
        ("/events/2026/07/", "calendar"),
        ("/events/2026/7", "calendar"),
        ("/events/2026/07?view=list", "calendar"),
        ("/events/2031/07/14/", "calendar"),
        ("/events/2026-07", "calendar"),
        ("/events/2026-07-01.html", "calendar"),
        ("/cal?date=2031-07-14", "calendar"),
        ("/cal?startDate=20310714&x=1", "calendar"),
        ("/cal?month=203107", "calendar"),
        ("/cal?year=2031&month=7", "calendar"),
        ("/cal?month=07&view=m&cal_year=2031", "calendar"),
        ("/cal/0007/01/", "calendar"),
    ],
)
def test_addresses_that_are_traps(path: str, words: str) -> None:
    found = url_trap(HOST + path, month=NOW)
    assert found is not None
    assert found.startswith(TRAP)
    assert words in found


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/a/a/a/",
        "/a/a/b/a/a/",
        "/x/a/b/a/b/y",
        "/tiles/5/5/5/5/",
        "/" + "/".join(f"s{number}" for number in range(40)),
        "/list?" + "&".join(["tag=x"] * 8),
        "/index.php?title=Foo&action=history",
        "/viewtopic.php?f=1&t=123&start=15",
        "/events/2026/06/",
        "/events/2024-06-30",
        "/1848/03/15/the-revolution",
        "/2099/",
        "/tag/2099",
        "/blog/road-to-2099-12",
        "/models/rx-2050-10",
        "/2050/99/",
        "/parts/20310714",
        "/cal?year=2031",
        "/film?y=2049&m=blade-runner",
        "/cal?date=20319914",
        "/item/6f1ed002-ab5c-4bb1-9e42-0f6c6d8d9a11",
    ],
)
def test_addresses_that_are_none(path: str) -> None:
    assert url_trap(HOST + path, month=NOW) is None


@given(st.text(alphabet="/a0?&=-%y2", max_size=60))
def test_any_address_can_be_looked_at(text: str) -> None:
    url = f"{HOST}/{text}"
    found = url_trap(url, month=NOW)
    assert found is None or found.startswith(TRAP)
    endless_pattern(url)
    sessions_of(url)
    facets_of(url)
    TrapDetector(1, applies=lambda _: True).refusal(url)


def admitted(urls: list[str], budget: int) -> int:
    facets = FacetBudget(budget)
    return sum(facets.admits(url) for url in urls)


def shuffled(urls: list[str]) -> list[str]:
    random.Random(7).shuffle(urls)
    return urls


def test_sets_of_parameters_are_limited() -> None:
    names = [f"facet{number}" for number in range(12)]
    sets = [chosen for size in range(1, 13) for chosen in combinations(names, size)]
    urls = [f"{HOST}/shop/shoes?{'&'.join(f'{name}=1' for name in chosen)}" for chosen in sets]
    assert len(urls) == 4_095
    # 12 with one parameter, and 64 of the sets of two and more.
    assert admitted(urls, 5_000) == 12 + 64


def test_values_that_multiply_are_limited() -> None:
    choices = {"color": 20, "size": 10, "brand": 100, "sort": 4}
    urls = shuffled(
        [
            f"{HOST}/shop/{category}?" + "&".join(f"{name}={n}" for name, n in zip(choices, values, strict=True))
            for category in ("shoes", "hats")
            for values in product(*(range(count) for count in choices.values()))
        ]
    )
    assert len(urls) == 160_000
    assert 5_000 <= admitted(urls, 5_000) < 7_000


@pytest.mark.parametrize(
    "urls",
    [
        pytest.param([f"{HOST}/w/index.php?title=Page_{n}" for n in range(100_000)], id="mediawiki"),
        pytest.param(
            [
                f"{HOST}/w/index.php?title=Page_{n}&action={action}&section={n % 9}"
                for n in range(25_000)
                for action in ("edit", "history", "info", "raw")
            ],
            id="mediawiki-actions",
        ),
        pytest.param(
            shuffled(
                [
                    f"{HOST}/forum/viewtopic.php?f={topic % 30}&t={topic}&start={15 * part}"
                    for topic in range(1_000)
                    for part in range(100)
                ]
            ),
            id="phpbb-long-topics",
        ),
        pytest.param(
            [f"{HOST}/viewtopic.php?f={topic % 30}&t={topic}&start=15" for topic in range(100_000)], id="phpbb"
        ),
        pytest.param(
            [f"{HOST}/index.php?route=product/product&path={n % 20}_{n % 300}&product_id={n}" for n in range(60_000)],
            id="opencart",
        ),
        pytest.param([f"{HOST}/page/{n}" for n in range(60_000)], id="docs"),
        pytest.param([f"{HOST}/list?sort=name&page={n}" for n in range(60_000)], id="two-parameters"),
    ],
)
def test_what_identifies_pages_is_not_limited(urls: list[str]) -> None:
    assert admitted(urls, 100) == len(urls)


def test_many_sets_of_many_parameters_are_an_application() -> None:
    """Fifty modules with two parameters of their own: a hundred sets, a hundred names."""
    urls = [f"{HOST}/index.php?module=m{n % 50}&{kind}{n % 50}={n}" for n in range(5_000) for kind in ("id", "list")]
    assert admitted(urls, 5_000) == len(urls)


def test_counts_are_bounded() -> None:
    facets = FacetBudget(10)
    assert all(facets.admits(f"{HOST}/{number}/x?a=1&b=2&c=3") for number in range(30_000))
    assert len(facets._places._young) + len(facets._places._old) <= 20_000


def test_the_count_of_values_is_an_estimate() -> None:
    assert distinct(0) == 0
    assert distinct(0b1) == pytest.approx(1, abs=0.1)
    assert distinct(2**512 - 1) == float("inf")


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/cal/2024/05/", "/cal/{date}/"),
        ("/cal/2024/05/17", "/cal/{date}"),
        ("/cal/2024-05-17", "/cal/{date}"),
        ("/cal?year=2024&month=5", "/cal?year={date}&month={date}"),
        ("/list?offset=20&sort=name", "/list?offset={number}&sort=name"),
        ("/viewtopic.php?f=1&t=123&start=15", "/viewtopic.php?f=1&t=123&start={number}"),
        ("/2024/05/post-17", "/{date}/post-17"),
        ("/page/123", None),
        ("/item/6f1ed002-ab5c-4bb1-9e42-0f6c6d8d9a11", None),
        ("/index.php?title=1984", None),
        ("/?p=123", None),
        ("/list?page=3", None),
        ("/comic/3000", None),
    ],
)
def test_what_can_go_on(path: str, pattern: str | None) -> None:
    assert endless_pattern(HOST + path) == (pattern and HOST + pattern)


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("0a1b2c3d4e5f60718293a4b5c6d7e8f9", True),
        ("6f1ed002-ab5c-4bb1-9e42-0f6c6d8d9a11", True),
        ("Zk3fQ9xW1pL0", True),
        ("internationalisation", False),
        ("123456789012345", False),
        ("chapter12", False),
        ("iphone-15-pro-max-256", False),
        ("product123456789", False),
    ],
)
def test_random_tokens(text: str, token: bool) -> None:
    assert is_token(text) is token
    expected = [("?sid={token}", text, f"{HOST}/a?sid={{token}}")] if token and len(text) >= 12 else []
    assert [tuple(one) for one in sessions_of(f"{HOST}/a?sid={text}")] == expected


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/a/b/a", ["a"]),
        ("/a/a/", ["a"]),
        ("/a/b/a/b/c.html?x=/y/y", ["a", "b"]),
        ("/a/b/c/", []),
        ("/2020/01/01/x", []),
        ("/", []),
    ],
)
def test_names_that_a_path_has_twice(path: str, names: list[str]) -> None:
    assert repeated_names(HOST + path) == [f"{HOST}/{name}" for name in names]


def test_paths_that_go_round_are_learnt_by_their_names() -> None:
    paths = ["/".join(names) for size in (3, 4) for names in product(["news", "team", "jobs"], repeat=size)]
    pages = [(f"{HOST}/{path}/", path.rpartition("/")[2].encode(), []) for path in paths]
    traps = everything()
    assert feed(traps, pages) is not None
    traps.apply_learnt()
    for path, trap in {
        "/jobs/news/": None,
        "/jobs/": None,
        "/jobs/x/y/": None,
        "/x/x/x/": None,
        "/jobs/x/jobs/": Trap.NESTING,
        "/news/jobs/team": Trap.NESTING,
    }.items():
        assert traps.refusal(HOST + path) is trap, path
    assert traps.refusal("https://other.example.com/news/jobs/team") is None
    later = everything()
    later.add_known(traps.known)
    assert later.refusal(f"{HOST}/news/jobs/team") is Trap.NESTING


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_paths_that_have_a_name_twice_and_differ_are_none(share: float) -> None:
    pages = [(f"{HOST}/docs/{n}/docs/", b"%d" % (n if n * share % 1 < share else 0), []) for n in range(5_000)]
    traps = everything()
    assert feed(traps, pages) is None


def test_where_a_token_stands() -> None:
    token = "0a1b2c3d4e5f6071"
    places = {
        f"/a/1?x=1&sid={token}": "?sid={token}",
        f"/a/1;sid={token}": ";sid={token}",
        f"/s/{token}/page": f"{HOST}/s/{{token}}",
    }
    assert {path: sessions_of(HOST + path)[0].place for path in places} == places


def feed(traps: TrapDetector, pages: list[tuple[str, bytes, list[str]]]) -> int | None:
    """The number of pages after which a trap was learnt."""
    for number, (url, content, links) in enumerate(pages, 1):
        suspect = traps.suspect(url)
        if suspect is not None:
            traps.learn(suspect, content if suspect.needs_content else None, links)
        if traps.learnt:
            return number
    return None


def everything() -> TrapDetector:
    return TrapDetector(5_000, applies=lambda _: True)


def test_pages_that_are_all_alike_are_a_trap() -> None:
    traps = everything()
    pages = [(f"{HOST}/list?offset={10 * number}", b"nothing", []) for number in range(500)]
    assert feed(traps, pages) == FIRST_EPOCH
    assert traps.refusal(f"{HOST}/list?offset=9") is None
    traps.apply_learnt()
    assert traps.refusal(f"{HOST}/list?offset=9") is Trap.ENDLESS
    assert traps.refusal(f"{HOST}/list?page=9") is None
    later = everything()
    later.add_known(traps.known)
    assert later.refusal(f"{HOST}/list?offset=8") is Trap.ENDLESS


def test_good_pages_first_delay_the_verdict_in_proportion() -> None:
    good = [(f"{HOST}/list?offset={number}", b"%d" % number, []) for number in range(300)]
    empty = [(f"{HOST}/list?offset={number}", b"nothing", []) for number in range(300, 3_000)]
    found = feed(everything(), good + empty)
    assert found is not None
    assert 400 <= found <= 900


@pytest.mark.parametrize("share", [0.06, 0.5, 1.0])
def test_pages_that_differ_are_none(share: float) -> None:
    pages = [
        (f"{HOST}/list?offset={number}", b"%d" % (number if number * share % 1 < share else 0), [])
        for number in range(3_000)
    ]
    assert feed(everything(), pages) is None


def test_few_contents_are_asked_for_where_pages_differ() -> None:
    traps = everything()
    asked = 0
    for number in range(10_000):
        suspect = traps.suspect(f"{HOST}/list?offset={number}")
        assert suspect is not None
        asked += suspect.needs_content
        traps.learn(suspect, b"%d" % number if suspect.needs_content else None)
    assert asked <= 0.06 * 10_000


def token_of(number: int) -> str:
    return random.Random(number).randbytes(16).hex() + "a1b2"


def test_session_ids_are_learnt_and_each_page_is_fetched_once_more() -> None:
    pages = []
    for number in range(1_000):
        fresh = token_of(number + 10_000)
        links = [f"{HOST}/page/{n}?sid={fresh}" for n in range(20)]
        pages.append((f"{HOST}/page/{number % 20}?sid={token_of(number)}", b"%d" % (number % 20), links))
    traps = everything()
    assert feed(traps, pages) == 20 + 30
    traps.apply_learnt()
    traps.admit_session(pages[3][0])
    assert traps.refusal(f"{HOST}/page/3?sid={token_of(77)}") is Trap.SESSION
    assert traps.refusal(f"{HOST}/page/21?sid={token_of(78)}") is None
    assert traps.refusal(f"{HOST}/page/21?sid={token_of(79)}") is Trap.SESSION
    assert traps.refusal(f"{HOST}/page/21") is None


@pytest.mark.parametrize("alike", [True, False])
def test_items_are_no_sessions(alike: bool) -> None:
    """Items that link to their own pages and to others, whether or not all of them say the same."""
    ids = [str(UUID(int=random.Random(number).getrandbits(128), version=4)) for number in range(1_000)]
    pages = []
    for number, item in enumerate(ids):
        links = [f"{HOST}/item/{item}/reviews", f"{HOST}/item/{item}", f"{HOST}/item/{ids[number - 1]}"]
        pages.append((f"{HOST}/item/{item}", b"item" if alike else item.encode(), links))
    traps = everything()
    assert feed(traps, pages) is None
    suspect = traps.suspect(f"{HOST}/item/{ids[0]}")
    assert suspect is not None
    assert not suspect.needs_content


def test_what_is_excepted_is_never_refused() -> None:
    traps = TrapDetector(0, applies=lambda url: "/keep/" not in url)
    traps.add_known({"endless": [f"{HOST}/keep/?offset={{number}}", f"{HOST}/list?offset={{number}}"]})
    assert traps.refusal(f"{HOST}/keep/?offset=1") is None
    assert traps.refusal(f"{HOST}/list?offset=1") is Trap.ENDLESS


def test_the_tally_is_bounded_and_names_examples() -> None:
    tally = TrapTally()
    for number in range(3 * MAX_TALLIED_TRAPS):
        tally.add(f"{HOST}/{number}", f"{TRAP}a path {number}")
    tally.add(f"{HOST}/deep", "5 clicks from the start page, limit 4")
    found = list(tally.warnings())
    assert len(found) == MAX_TALLIED_TRAPS + 1
    example, words = found[0]
    assert example == f"{HOST}/{MAX_TALLIED_TRAPS}"
    assert "2,000 URLs like this were not fetched" in words
    assert "SITEMAP_NO_TRAPS" in words
