"""JSON-LD and microdata: the objects, their order, and the limits for hostile pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.structured_data import (
    json_ld_objects,
    json_ld_roots,
    microdata_items,
    objects_in,
    type_names,
)
from tests.support.growth import assert_linear
from tests.support.reading_page import page

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitemap_crawler.extract.document import Document
    from tests.support.growth import Amount


def ld(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{text}</script>'


def names(markup: str) -> list[object]:
    """Return the names of the objects, in their order."""
    return [value.get("name") for value in json_ld_objects(page(markup))]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"name": "a"}, ["a"], id="an object"),
        pytest.param([{"name": "a"}, {"name": "b"}], ["a", "b"], id="a list"),
        pytest.param({"name": "a", "@graph": [{"name": "b"}, {"name": "c"}]}, ["a", "b", "c"], id="a graph"),
        pytest.param(
            {"name": "a", "first": {"name": "b", "deeper": [{"name": "c"}]}, "second": {"name": "d"}},
            ["a", "b", "c", "d"],
            id="outer before inner, in document order",
        ),
        pytest.param([[[{"name": "a"}]], {"name": "b"}], ["a", "b"], id="lists in lists"),
        pytest.param('[1, null, true, 1.5, "x", NaN]', [], id="no objects"),
        pytest.param("7", [], id="a number"),
    ],
)
def test_every_object_is_found(value: object, expected: list[str]) -> None:
    assert names(ld(value)) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"name": "a",}', id="trailing comma"),
        pytest.param('<!-- {"name": "a"} -->', id="comment"),
        pytest.param('//<![CDATA[\n{"name": "a"}\n//]]>', id="CDATA"),
        pytest.param('{"name": "a", "text": "two\nlines\tand \x01"}', id="control characters in a text"),
        pytest.param('\ufeff{"name": "a"};', id="byte order mark, semicolon"),
    ],
)
def test_common_mistakes_are_read(text: str) -> None:
    assert names(ld(text)) == ["a"]


@pytest.mark.parametrize(
    "broken",
    ["", " ", "{", '{"name": "b"', "{'name': 'b'}", '{"name": b}', "<b>", "[" * 100_000, '{"a":' * 9_999, "9" * 9_999],
)
def test_a_broken_script_does_not_hide_the_others(broken: str) -> None:
    assert names(ld({"name": "a"}) + ld(broken) + ld({"name": "c"})) == ["a", "c"]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("application/ld+json", ["a"]),
        ("Application/LD+JSON", ["a"]),
        (" application/ld+json; charset=utf-8", ["a"]),
        ("application/json", []),
        ("text/javascript", []),
        ("", []),
    ],
)
def test_only_scripts_of_this_type_are_read(kind: str, expected: list[str]) -> None:
    assert names(f'<script type="{kind}">{{"name": "a"}}</script>') == expected


def test_a_page_is_parsed_once() -> None:
    document = page(ld({"name": "a"}))
    found = json_ld_objects(document)
    assert json_ld_objects(document) is found
    assert json_ld_roots(document)[0] is found[0]


def test_a_page_without_scripts_is_searched_once() -> None:
    document = page("<p>text")
    assert json_ld_objects(document) == ()
    document.elements["script"] = page(ld({"name": "a"})).elements["script"]
    assert json_ld_objects(document) == ()


def test_roots_are_the_values_of_the_scripts() -> None:
    document = page(ld([{"name": "a"}]) + ld("{") + ld("7") + ld({"name": "b"}))
    assert json_ld_roots(document) == ([{"name": "a"}], 7, {"name": "b"})


def test_objects_below_given_properties_are_left_out() -> None:
    value = {"name": "a", "Author": {"name": "b", "about": {"name": "c"}}, "about": {"author": [{"name": "d"}]}}
    found = objects_in([value, {"name": "e"}], without=frozenset({"author"}))
    assert [part.get("name") for part in found] == ["a", None, "e"]


def test_bounds() -> None:
    assert len(names(ld({"name": "a"}) * 210)) == 200
    assert names(ld({"name": "a", "text": "x" * 2_999_900})) == ["a"]
    assert names(ld({"name": "a", "text": "x" * 3_000_000}) + ld({"name": "b"})) == ["b"]
    # Four million characters of all scripts together.
    assert names(ld({"name": "a", "text": "x" * 1_800_000}) * 3 + ld({"name": "b"})) == ["a", "a", "b"]
    assert len(names(ld([{}] * 30_000))) == 19_999  # and the list
    assert len(names(ld([{}] * 15_000) * 2)) == 20_000
    assert len(names(ld('{"a":' * 200 + "1" + "}" * 200))) == 100


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Article", {"article"}),
        ("schema:VideoObject", {"videoobject"}),
        ("https://schema.org/VideoObject", {"videoobject"}),
        ("http://schema.org#Recipe", {"recipe"}),
        (["Article", "https://schema.org/Recipe", 7, None, {"@id": "x"}], {"article", "recipe"}),
        (["A"] * 20 + ["B"], {"a"}),
        (None, set()),
        (7, set()),
        ({"Article": 1}, set()),
        ([], set()),
    ],
)
def test_type_names(value: object, expected: set[str]) -> None:
    assert type_names(value) == expected


# microdata

VIDEOS = frozenset({"videoobject"})


def items(markup: str, wanted: frozenset[str] = VIDEOS) -> list[dict[str, object]]:
    return list(microdata_items(page(markup), wanted))


def video(inner: str, tag: str = "div") -> str:
    return f'<{tag} itemscope itemtype="https://schema.org/VideoObject">{inner}</{tag}>'


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        # https://html.spec.whatwg.org/multipage/microdata.html#values
        ('<meta itemprop="p" content=" v ">', "v"),
        ('<meta itemprop="p">', ""),
        ('<link itemprop="p" href="/v.jpg">', "/v.jpg"),
        ('<a itemprop="p" href="../v">text</a>', "../v"),
        ('<a itemprop="p">text</a>', ""),
        ('<img itemprop="p" src="v.jpg" alt="a">', "v.jpg"),
        ('<video itemprop="p" src="v.mp4"></video>', "v.mp4"),
        ('<video><source itemprop="p" src="v.mp4"></video>', "v.mp4"),
        ('<audio itemprop="p" src="v.mp3"></audio>', "v.mp3"),
        ('<iframe itemprop="p" src="https://example.net/v"></iframe>', "https://example.net/v"),
        ('<embed itemprop="p" src="v.swf">', "v.swf"),
        ('<object itemprop="p" data="v.swf"></object>', "v.swf"),
        ('<data itemprop="p" value="7">seven</data>', "7"),
        ('<meter itemprop="p" value="0.5">half</meter>', "0.5"),
        ('<time itemprop="p" datetime="PT1M">a minute</time>', "PT1M"),
        ('<time itemprop="p"> 2024-05-01 </time>', "2024-05-01"),
        ('<p itemprop="p"> one <b>two <i></i>three</b> four</p> five', "one two three four"),
        ('<p itemprop="p"></p>', ""),
        ('<p itemprop="p" content="stated">shown</p>', "stated"),
        ('<p itemprop="p">a</p><b><meta itemprop="p" content="b"></b><i itemprop="p">c</i>', ["a", "b", "c"]),
        ("<p ItemProp=P>x</p><P ITEMPROP=p>y</P>", "y"),  # names of attributes in any case, names of properties as is
    ],
)
def test_values(markup: str, expected: object) -> None:
    assert items(video(markup))[0]["p"] == expected


def test_items() -> None:
    markup = (
        video('<h1 itemprop="name">One</h1><p itemprop="description about">Text</p>', "section")
        + '<div itemscope itemtype="https://schema.org/Person"><b itemprop="name">Jo</b></div>'
        + '<div itemscope itemtype="http://schema.org/Article http://schema.org/VideoObject"></div>'
    )
    assert items(markup) == [
        {"@type": "https://schema.org/VideoObject", "name": "One", "description": "Text", "about": "Text"},
        {"@type": ["http://schema.org/Article", "http://schema.org/VideoObject"]},
    ]


def test_nested_items() -> None:
    inner = '<div itemprop="author" itemscope itemtype="https://schema.org/Person"><b itemprop="name">Jo</b></div>'
    unrelated = '<div itemscope><b itemprop="name">Not the video</b></div>'
    untyped = '<div itemprop="stats" itemscope><b itemprop="count">7</b></div>'
    assert items(video(inner + unrelated + untyped + '<b itemprop="name">Two</b>')) == [
        {
            "@type": "https://schema.org/VideoObject",
            "author": {"@type": "https://schema.org/Person", "name": "Jo"},
            "stats": {"count": "7"},
            "name": "Two",
        }
    ]


def test_an_item_in_another_is_found() -> None:
    article = f'<div itemscope itemtype="https://schema.org/Article">{video("<b itemprop=name>V</b>")}</div>'
    assert items(article) == [{"@type": "https://schema.org/VideoObject", "name": "V"}]


@pytest.mark.parametrize(
    "markup",
    [
        "<p>about schema.org/VideoObject",
        '<div itemtype="https://schema.org/VideoObject"><b itemprop="name">no item</b></div>',
        '<div itemscope><b itemprop="name">no type</b></div>',
        '<div itemscope itemtype="https://schema.org/Movie"><b itemprop="name">another type</b></div>',
        '<script>"<div itemscope itemtype=https://schema.org/VideoObject>"</script>',
    ],
)
def test_no_items(markup: str) -> None:
    assert items(markup) == []


def test_a_property_cannot_replace_the_type() -> None:
    assert items(video('<b itemprop="@type">Person</b>')) == [{"@type": "https://schema.org/VideoObject"}]


def test_bounds_of_microdata() -> None:
    assert len(items(video("") * 300)) == 200
    # 50,000 steps. Each property takes three: the element, and the tags around its text.
    assert len(items(video('<b itemprop="p">x</b>' * 30_000))[0]["p"]) == 16_667
    assert items(video(f'<b itemprop="p">{"x" * 1_000_000}</b>'))[0]["p"] == "x" * 10_000
    depth = 0
    nested: object = items(video('<div itemscope itemprop="p">' * 50))[0]
    while isinstance(nested, dict):
        depth, nested = depth + 1, nested.get("p")
    assert depth == 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "markup",
    [
        pytest.param(
            lambda n: '<div itemscope itemtype="//schema.org/VideoObject" itemprop=p>' * n(2_000), id="items in items"
        ),
        pytest.param(
            lambda n: 10 * video("<b itemprop=p>" * n(1_900) + "<i></i>" * n(1_000) + "</b>" * n(1_900)),
            id="texts in texts",
        ),
        pytest.param(lambda n: video("") * n(100_000), id="many items"),
        pytest.param(lambda n: video(f'<b itemprop="{"p " * n(500_000)}">x</b>'), id="many names"),
        pytest.param(lambda n: ld("[" + "{}," * n(600_000) + "{}]"), id="many objects"),
        pytest.param(lambda n: ld('"' + "\\ud800" * n(150_000)), id="half characters"),
        pytest.param(lambda n: ld("{" + ", " * n(450_000)), id="commas"),
        pytest.param(lambda n: ld("/* " * n(330_000)), id="comments"),
        pytest.param(lambda n: "<script type=application/ld+json>{}</script>" * n(50_000), id="many scripts"),
    ],
)
def test_hostile_pages_take_linear_time(markup: Callable[[Amount], str]) -> None:
    def read(document: Document) -> None:
        json_ld_objects(document)
        list(microdata_items(document, VIDEOS))

    assert_linear(lambda n: page(markup(n)), read)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(), parts, max_size=4),
    max_leaves=20,
)


def count(value: object) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(count, value.values()))
    return sum(map(count, value)) if isinstance(value, list) else 0


@given(value=values)
def test_the_number_of_objects_is_that_in_the_json(value: object) -> None:
    assert len(names(ld(json.dumps(value).replace("<", "\\u003c")))) == count(value)


@given(text=st.text())
def test_no_text_raises(text: str) -> None:
    assert isinstance(names(ld(text)), list)
    assert isinstance(items(video(f'<b itemprop="{text}">{text}</b>')), list)
