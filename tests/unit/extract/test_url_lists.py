"""Lists of URLs as text, CSV and JSON lines."""

from __future__ import annotations

import json
import tracemalloc
from itertools import repeat

import pytest

from sitemap_crawler.extract.lines import MAX_LINE
from sitemap_crawler.extract.url_lists import MAX_RECORD_LINES, ListEntry, UrlList, is_text, problem_of

FIELDS = "has several fields, and no heading names them"
A, B, C = (f"https://example.com/{name}" for name in "abc")


def read(text: str | bytes, columns: dict[str, str] | None = None) -> list[ListEntry]:
    """Return the entries without what is said of their place and of the values that are left out."""
    entries = [entry for batch in read_list(text, columns) for entry in batch]
    return [entry._replace(line=0, notes=()) for entry in entries]


def read_list(text: str | bytes, columns: dict[str, str] | None = None) -> UrlList:
    data = text.encode() if isinstance(text, str) else text
    return UrlList([data], columns=columns or {}, max_lines=10_000, max_bytes=10**8)


CASES = {
    "text": (f"{A}\r\n\n  {B}  \r{C},d", [ListEntry(A), ListEntry(B), ListEntry(f"{C},d")]),
    "text with records": (
        f"{A}\n{B},1\n{B};2024-05-01T10:00:00Z;x\n{B}\tb\n{B},\n{B}, x\n{B},2a\n",
        [
            ListEntry(A),
            *(ListEntry(f"{B}{rest}", fault=FIELDS) for rest in (",1", ";2024-05-01T10:00:00Z;x", "\tb", ",", ", x")),
            ListEntry(f"{B},2a"),
        ],
    ),
    "csv": (f"url,lastmod\n{A},2024-05-01\n{B},\n{C}", [ListEntry(A, "2024-05-01"), ListEntry(B), ListEntry(C)]),
    "csv with loc": (f"id;LOC;lastmod\n1;{A};2024-05-01\n", [ListEntry(A, "2024-05-01")]),
    "csv with tabs": (f"loc\tsection\n{A}\tdocs\n", [ListEntry(A, section="docs")]),
    "csv with quotes": (
        f'name,url\n"a ""b"", c",{A}\n"two\nlines",{B}\n',
        [ListEntry(A), ListEntry(B)],
    ),
    "csv with media": (
        f'url,images,videos\n{A},{B} {C},"[{{""title"": ""T""}}]"\n',
        [ListEntry(A, images=(B, C), videos=({"title": "T"},))],
    ),
    "json lines": (
        (
            f'{{"url": "{A}", "lastmod": "2024-05-01", "images": ["{B}", {{"loc": "{C}"}}], '
            f'"videos": {{"title": "T"}}}}\n'
            f'{{"loc": "{B}", "lastmod": 5, "images": 7, "videos": ["x"], "section": "docs"}}\n'
        ),
        [
            ListEntry(A, "2024-05-01", (B, C), ({"title": "T"},)),
            ListEntry(B, section="docs"),
        ],
    ),
    "json lines that are none": (
        f'{{"url": "{A}"}}\n[1]\nnonsense\n{{"url": 5}}\n',
        [
            ListEntry(A),
            *(ListEntry(line, fault="is no JSON object") for line in ("[1]", "nonsense")),
            ListEntry('{"url": 5}', fault="has no text under the key url or loc"),
        ],
    ),
    "nothing": ("\n \n", []),
}


@pytest.mark.parametrize("name", CASES)
def test_forms_show_in_the_first_line(name: str) -> None:
    text, expected = CASES[name]
    assert read(text) == expected


def test_columns_have_other_names_or_numbers() -> None:
    columns = {"url": "address", "lastmod": "updated_at"}
    assert read(f"updated_at,Address\n2024-05-01,{A}\n", columns) == [ListEntry(A, "2024-05-01")]
    assert read(f'{{"address": "{A}", "updated_at": "2024-05-01"}}', columns) == [ListEntry(A, "2024-05-01")]
    assert read(f"1,{A},2024-05-01\n", {"url": "2", "lastmod": "3"}) == [ListEntry(A, "2024-05-01")]
    # Other columns have names or numbers, whatever that of the URL has.
    assert read(f"url,b\n{A},docs\n", {"section": "2"}) == [ListEntry(A, section="docs")]
    # A text has no columns.
    assert read(f"{A}\n{B}\n", columns) == [ListEntry(A), ListEntry(B)]
    # A record may lack the column.
    record = ListEntry(f"{B}", fault="has nothing in the column of the URL")
    assert read(f"1,{A}\n{B}\n", {"url": "2"}) == [ListEntry(A), record]


@pytest.mark.parametrize(
    ("text", "columns", "problem"),
    [
        (f"{A},2026-01-01\n", {}, f"{FIELDS}: number them from 1, such as --urls-columns url=1,lastmod=2"),
        (f'\n{A};"docs"\n', {}, f"{FIELDS}: number them from 1, such as --urls-columns url=1,lastmod=2"),
        (f"{A}\tdocs\n", {}, f"{FIELDS}: number them from 1, such as --urls-columns url=1,lastmod=2"),
        (f"url\n{A}\n", {"url": "address"}, "has no column address, but url: correct --urls-columns"),
        (f"Url;lastmod\n{A};\n", {"url": "nope"}, "has no column nope, but Url, lastmod: correct --urls-columns"),
        (f"url,lastmod\n{A},\n", {"lastmod": "nope"}, "has no column nope, but url, lastmod: correct --urls-columns"),
        (f"url,lastmod\n{A},\n", {"lastmod": "3"}, "has 2 columns, and no column 3: correct --urls-columns"),
        (f"{A},x\n", {"url": "9"}, "has 2 columns, and no column 9: correct --urls-columns"),
        (
            f"{A},x\n",
            {"url": "1", "lastmod": "nope"},
            "has no column nope, but no heading, so columns have numbers from 1: correct --urls-columns",
        ),
    ],
)
def test_a_list_whose_columns_are_not_found_is_not_read(text: str, columns: dict[str, str], problem: str) -> None:
    found = read_list(text, columns)
    assert [entry for batch in found for entry in batch] == []
    assert found.lines.damage == problem
    assert problem_of([text.encode()], columns) == problem


def test_a_json_array_is_a_problem() -> None:
    found = read_list(f'[{{"url": "{A}"}}]')
    assert [entry for batch in found for entry in batch] == []
    assert found.lines.damage == "is a JSON array, not JSON lines: write one object a line"


def test_a_quote_that_is_never_closed_costs_one_line() -> None:
    lines = [f'"{A}', *(f"{B}{number}" for number in range(3 * MAX_RECORD_LINES))]
    found = read("url\n" + "\n".join(lines))
    assert found == [ListEntry(A), *(ListEntry(f"{B}{number}") for number in range(3 * MAX_RECORD_LINES))]


def test_nested_json_and_huge_numbers_are_lines_without_a_url() -> None:
    deep = '{"url": ' + "[" * 200_000
    number = '{"url": ' + "9" * 10_000 + "}"
    assert read(f'{{"url": "{A}"}}\n{deep}\n{number}\n') == [
        ListEntry(A),
        *(ListEntry(line, fault="is no JSON object") for line in (deep, number)),
    ]


@pytest.mark.parametrize(("text", "expected"), [(A, True), ("a\0b", False), ("a\ufffd", False), ("ü\t", True)])
def test_control_characters_and_damaged_utf_8_are_no_text(text: str, *, expected: bool) -> None:
    assert is_text(text) is expected


def test_only_so_many_images_and_videos_of_an_entry_are_kept() -> None:
    value = {"url": A, "images": list(repeat(B, 2_000)), "videos": list(repeat({"title": "T"}, 2_000))}
    [[entry], _] = read_list(json.dumps(value))
    assert (len(entry.images), len(entry.videos)) == (1_000, 100)
    assert entry.notes == (
        "has more than 1,000 images, the maximum of a page", "has more than 100 videos, the maximum of a page",
    )  # fmt: skip


IMAGE = "has an image that is neither a text nor an object with a URL"
NOTES: dict[str, tuple[str, ...]] = {
    '{"lastmod": 5, "images": 7, "videos": ["x"], "section": {}}': (
        "has a lastmod that is no text", "has a section that is no text", IMAGE, "has a video that is no object",
    ),
    '{"lastmod": null, "images": null, "videos": null, "section": null}': (),
    '{"lastmod": "", "images": "", "videos": "", "section": ""}': (),
    '{"images": [], "videos": []}': (),
    '{"images": ["/a", {"src": "/b"}], "videos": {"title": "T"}}': (IMAGE,),
}  # fmt: skip


@pytest.mark.parametrize("values", NOTES)
def test_values_that_are_left_out_are_noted(values: str) -> None:
    [[entry], _] = read_list(json.dumps({"url": A, **json.loads(values)}))
    assert entry.notes == NOTES[values]


@pytest.mark.parametrize("size", [1, 5, 10_000])
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"\n\n{A}\r\n\r{B}\n  \n{C}", [3, 5, 7]),
        (f'\nurl,name\n\n{A},x\n{B},"two\nlines"\n{C},x\n,\n', [4, 5, 7, 8]),
        (f'url,name\n{A},"never closed\n' + f"{B},\n" * 60, [2, *range(3, 63)]),
        (f'\n{{"url": "{A}"}}\nno object\n\n{{"url": "{B}"}}', [2, 3, 5]),
        (f"{A}\n{'x' * (MAX_LINE + 1)}\n{B}\n", [1, 3]),
    ],
    ids=["text", "csv", "csv with an open quote", "json lines", "a line that is too long"],
)
def test_an_entry_has_the_number_of_its_line(text: str, lines: list[int], size: int) -> None:
    data = text.encode()
    size = max(size, len(data) // 1_000)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    found = UrlList(pieces, columns={}, max_lines=10_000, max_bytes=10**8)
    assert [entry.line for batch in found for entry in batch] == lines


@pytest.mark.parametrize("quoted", [False, True])
def test_memory_does_not_grow_with_the_list(*, quoted: bool) -> None:
    def peak(lines: int) -> int:
        piece = "".join(f'"{A}{number}",x\n' if quoted else f"{A}{number}\n" for number in range(2_000)).encode()
        pieces = (b"url,b\n" if quoted else b"", *repeat(piece, lines // 2_000))
        tracemalloc.start()
        count = sum(map(len, UrlList(iter(pieces), columns={}, max_lines=10**9, max_bytes=10**9)))
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == lines
        return peak_bytes

    peak(2_000)
    assert peak(40_000) < 2 * peak(4_000)
