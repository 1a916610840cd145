"""The texts of the main content, by which pages are compared."""

from __future__ import annotations

from array import array

import pytest

from sitemap_crawler.extract.content.blocks import MAX_BLOCKS, MAX_WEIGHT, MEDIA_WEIGHT, block_hash, text_blocks
from sitemap_crawler.extract.document import parse_document
from sitemap_crawler.urls.normalise import Resolver


def blocks_of(body: str) -> dict[int, int]:
    return blocks_of_page(f"<!DOCTYPE html><html lang=en><head><title>T</title></head><body>{body}</body></html>")


def blocks_of_page(text: str, *, url: str = "https://a.example/") -> dict[int, int]:
    html = text.encode()
    document = parse_document(html, url=url, content_type="text/html", resolver=Resolver(()), max_references=10_000)
    assert document is not None
    numbers = array("I", text_blocks(document))
    return dict(zip(numbers[::2], numbers[1::2], strict=True))


def expected(*texts: str) -> dict[int, int]:
    return {block_hash(text.split()): len("".join(text.split())) for text in texts}


def test_each_text_between_tags_is_a_block() -> None:
    assert blocks_of("<h1>A  title</h1><p>Some <b>bold words</b> here\n</p>tail") == expected(
        "A title", "Some", "bold words", "here", "tail"
    )


def test_menus_scripts_and_comments_do_not_count() -> None:
    body = "<nav>menu of all</nav><main><p>content</p><script>code</script><!-- remark -->more</main><p>outside</p>"
    assert blocks_of(body) == expected("content", "more")


def test_a_title_that_a_document_type_moves_into_the_body_does_not_count() -> None:
    """Such pages are those of gitweb, whose views of a file differ by it."""
    doctype = '<?xml version="1.0"?><!DOCTYPE html [\n<!ENTITY nbsp "&#xA0;">\n]>\n'
    page = "<html><head><title>A title of its own</title></head><body><p>content</p></body></html>"
    assert blocks_of_page(doctype + page) == expected("content")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Mon, Jan 12", ""),
        ("Montag, 4. Juni 2026", ""),
        ("4 de junio de 2026", ""),
        ("Thursday 4th of June", ""),
        ("2026年4月6日 月曜日", ""),
        ("понедельник, 4 июня 2026", ""),
        ("2026-04-07", ""),
        ("Week 49, 2026", ""),
        ("Events on April 6,\n  2026", "Events on"),
        ("Events in W 3, 2026 (12.01. - 18.01.)", "Events in"),
    ],
)
def test_the_date_in_a_short_text_does_not_count(text: str, rest: str) -> None:
    """The text weighs as much as before: a page without texts would be empty."""
    weight = len("".join(text.split()))
    assert blocks_of(f"<p>{text}</p>") == {block_hash(rest.split()): weight}


@pytest.mark.parametrize(
    "text",
    [
        "Apollo 11 (1969)",
        "Item 7 of 12",
        "Version 3.11",
        "Room 12 Sat 3",
        "Annual report 2025",
        "10:00 - 12:00",
        "Friday, Saturday",
        "Prices of April 6, 2026, for all who have booked a room in the old town until then",
    ],
)
def test_texts_that_are_no_dates_count_as_a_whole(text: str) -> None:
    assert blocks_of(f"<p>{text}</p>") == expected(text)


def test_dates_of_a_page_weigh_together() -> None:
    assert blocks_of("<th>Mon, Jan 12</th><th>Tue, Jan 13</th>") == {block_hash([]): 18}


def test_short_texts_do_not_count() -> None:
    assert blocks_of("<td>12</td><td>a b</td><p>word</p>") == expected("word")


@pytest.mark.parametrize("separator", ["&", ";"])
def test_words_of_a_query_with_many_parameters_do_not_count(separator: str) -> None:
    """The comparison of two versions says which ones it compares, even if it shows nothing else."""
    compared = separator.join(("project=apple", "a=%2Fsrc%2Fpie.c@58", "b=%2Fsrc%2Ftart+Ä.c@60"))
    page = "<h1>Apple</h1><p>/src/pie.c @ 58</p><p>from /src/tart Ä.c @ 60</p><pre>+58 apples\n</pre>"
    assert blocks_of_page(page, url=f"https://a.example/?{compared}") == expected(
        "from /src/tart Ä.c @ 60", "58 apples"
    )
    fewer = compared.rpartition(separator)[0]
    assert len(blocks_of_page(page, url=f"https://a.example/?{fewer}")) == 4


def test_the_order_of_texts_does_not_matter() -> None:
    rows = ["<li>first row</li>", "<li>second row</li>", "<li>third row</li>"]
    assert blocks_of("".join(rows)) == blocks_of("".join(reversed(rows)))


def test_a_picture_counts_by_its_address() -> None:
    assert blocks_of('<img src="/a.png"><img src="data:x,y">') == {block_hash(["/a.png"]): MEDIA_WEIGHT}


def test_weights_and_numbers_are_bounded() -> None:
    long = blocks_of(f"<p>{'word ' * 10_000}</p>")
    assert list(long.values()) == [MAX_WEIGHT]
    many = "".join(f"<p>text number {number}</p>" for number in range(2 * MAX_BLOCKS))
    assert len(blocks_of(many)) == MAX_BLOCKS


def test_preformatted_text_counts_line_by_line() -> None:
    program = "first line\n  <b>second\n line</b> of it\nlast line"
    assert blocks_of(f"<pre>{program}</pre>after\nit") == expected(
        "first line", "second", "line", "of it", "last line", "after it"
    )
    assert blocks_of(f"<p>{program}</p>") == expected("first line", "second line", "of it last line")


def test_a_comparison_of_versions_shows_the_lines_of_both() -> None:
    versions = blocks_of("<pre>name = 'old'</pre><pre>name = 'new'</pre><pre>same = True</pre>")
    comparison = "<div>-name = 'old'</div><div>+   name = 'new'</div><div> same = True</div>"
    assert set(blocks_of(comparison)) == set(versions)
    assert blocks_of("<div>+name = 'new'</div>") == expected("name = 'new'")


def test_a_hash_is_no_text_of_the_page() -> None:
    """A browser of code names a version by its hash. A shorter number, or a longer word, is a text."""
    git, md5 = "58cc8b3f0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f", "0123456789abcdef0123456789ABCDEF"
    body = f"<p>blob: {git} (<a>plain</a>)</p><td>{md5}</td><td>{md5[1:]}</td><td>{md5}-z</td>"
    assert blocks_of(body) == expected("blob: (", "plain", md5[1:], f"{md5}-z")


@pytest.mark.parametrize("versions", ["3a1cad5..261bd19", f"{'58cc8b3f' * 5}..{'0c1d2e3f' * 5}"])
def test_the_line_of_a_comparison_that_names_two_versions_by_hashes_is_always_the_same(versions: str) -> None:
    assert blocks_of(f"<pre>index {versions} 100644\nbefore..after cafe..face 1..2 for {versions}x</pre>") == expected(
        "index 100644", f"before..after cafe..face 1..2 for {versions}x"
    )


def test_a_drawing_is_no_text_of_the_page() -> None:
    """A page asks whether a person reads it by a code that is drawn in characters, and another one each time."""
    drawing = r"""
 ______  ____   _  _     ___
|____  ||  _ \ | || |   / _ \
"""
    assert blocks_of(f"<p>Please enter the code:</p><pre>{drawing}</pre><p>-----</p><p>«word»</p>") == expected(
        "Please enter the code:", "«word»"
    )
