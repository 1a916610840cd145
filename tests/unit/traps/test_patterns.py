"""Dates, offsets and random tokens in URLs."""

from __future__ import annotations

import pytest

from sitemap_crawler.traps.patterns import endless_pattern, is_token, sessions_of

HOST = "https://www.example.com"


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/cal/2024/05/", "/cal/{date}/"),
        ("/cal/2024/05/17", "/cal/{date}"),
        ("/cal/2024-05-17", "/cal/{date}"),
        ("/cal?year=2024&month=5", "/cal?year={date}&month={date}"),
        ("/list?offset=20&sort=name", "/list?offset={number}&sort=name"),
        ("/list?view=a;offset=20;sort=name", "/list?view=a;offset={number};sort=name"),
        ("/index.php?action=calendar;year=2024;month=5", "/index.php?action=calendar;year={date};month={date}"),
        ("/cal?x;date=20240517;y", "/cal?x;date={date};y"),
        ("/viewtopic.php?f=1&t=123&start=15", "/viewtopic.php?f=1&t=123&start={number}"),
        ("/2024/05/post-17", "/{date}/post-17"),
        ("/?style=week&date=2024-W07", "/?style=week&date={date}"),
        ("/cal/2024-W7/", "/cal/{date}/"),
        ("/lamps/2024W7/", None),
        ("/cal/2024-W7x", None),
        ("/log?from=2022-01-17T15%3A17%3A42Z", "/log?from={date}"),
        ("/log?from=2022-01-17T15:17:42Z&to=2022-01-18T00%3a00%3a00.123%2B01%3A00", "/log?from={date}&to={date}"),
        ("/log?from=2022-01-17T15:17&x=1", "/log?from={date}&x=1"),
        ("/log?from=2022-01-17T15%3A17%3A42+01:00", "/log?from={date}"),
        ("/log?from=2022-01-17+15%3A17%3A42", "/log?from={date}"),
        ("/log?from=2022-01-17%2015:17:42-0500", "/log?from={date}"),
        ("/log?from=20220117T151742Z", "/log?from={date}"),
        ("/log/2022-01-17T15:17:42Z/", "/log/{date}/"),
        ("/log?from=2022-01-17T15%3A17%3A42Zulu", None),
        ("/log?from=2022-01-17Topic", None),
        ("/log?from=x2022-01-17T15:17", None),
        ("/log?serial=20220117T", None),
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


def test_where_a_token_stands() -> None:
    token = "0a1b2c3d4e5f6071"
    places = {
        f"/a/1?x=1&sid={token}": "?sid={token}",
        f"/a/1;sid={token}": ";sid={token}",
        f"/s/{token}/page": f"{HOST}/s/{{token}}",
    }
    assert {path: sessions_of(HOST + path)[0].place for path in places} == places
