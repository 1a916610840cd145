"""Images, videos and sections that lists of the owner supply for listed pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.webserver import WebServer, page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.program import Program, Result

VIDEO = {
    "title": "A film",
    "description": "A film of a shop.",
    "duration": "PT1M5S",
    "tags": ["one", "two"],
    "live": "no",
}


@pytest.fixture
def site() -> Iterator[WebServer]:
    with WebServer() as server:
        server.pages.update(
            {"/": page("/a", "/b"), "/a": page(body='<img src="/own.png">'), "/b": page(), "/c": page()}
        )
        yield server


def crawl(program: Program, site: WebServer, rows: list[dict[str, Any]], *options: str) -> Result:
    path = program.directory / "list.jsonl"
    path.write_text("".join(json.dumps({**row, "url": site.url(row["url"])}) + "\n" for row in rows), encoding="utf-8")
    result = program.crawl(site.url("/"), "--state", "state.sqlite", "--urls", str(path), *options)
    assert result.code == 0, result.err
    return result


def entry_of(program: Program, url: str, name: str = "sitemap.xml") -> str:
    text = (program.output / name).read_text(encoding="utf-8")
    return next(part for part in text.split("<url>") if f"<loc>{url}</loc>" in part)


def files(program: Program, site: WebServer) -> dict[str, list[str]]:
    """Return the paths of the pages in each shard."""
    found = {}
    for path in sorted(program.output.glob("sitemap-*.xml")):
        text = path.read_text(encoding="utf-8")
        found[path.name] = [part.partition("<")[0] for part in text.split(f"<loc>{site.url('')}")[1:]]
    return found


def test_images_and_videos_are_added_to_those_of_the_page(program: Program, site: WebServer) -> None:
    video = {**VIDEO, "thumbnail_loc": site.url("/t.png"), "content_loc": site.url("/v.mp4")}
    rows = [
        {
            "url": "/a",
            "images": [site.url("/list.png"), site.url("/own.png"), "no url"],
            "videos": [video, {"title": "x"}],
        },
        {"url": "/gone", "images": [site.url("/gone.png")]},
    ]
    result = crawl(program, site, rows)
    entry = entry_of(program, site.url("/a"))
    assert entry.count("<image:loc>") == 2
    for image in ("/own.png", "/list.png"):
        assert f"<image:loc>{site.url(image)}</image:loc>" in entry
    assert f"<video:content_loc>{site.url('/v.mp4')}</video:content_loc>" in entry
    assert "<video:duration>65</video:duration>" in entry
    assert "<video:live>no</video:live>" in entry
    messages = [found["message"] for found in result.report["warnings"] if found["kind"] == "url-list"]
    named = f"1 entry, for example '{site.url('/a')}' in line 1: names"
    assert messages == [
        f"{named} an image without an absolute http or https URL",
        f"{named} a video without thumbnail, title, description, and file or player",
    ]
    # `write` has them, too, and the switches hold for them.
    assert program.run("write", "--state", "state.sqlite", "--allow-shrink").code == 0
    assert entry_of(program, site.url("/a")) == entry
    assert program.run("write", "--state", "state.sqlite", "--no-images", "--no-videos").code == 0
    assert "<image:" not in entry_of(program, site.url("/a"))
    assert "<video:" not in entry_of(program, site.url("/a"))


def test_values_that_the_list_names_no_longer_are_gone(program: Program, site: WebServer) -> None:
    crawl(program, site, [{"url": "/a", "images": [site.url("/list.png")]}])
    assert "/list.png" in entry_of(program, site.url("/a"))
    crawl(program, site, [{"url": "/a"}])
    assert "/list.png" not in entry_of(program, site.url("/a"))


def test_the_section_of_a_list_wins_over_the_rules(program: Program, site: WebServer) -> None:
    rows = [{"url": "/a", "section": "docs"}, {"url": "/c", "section": "shop"}, {"url": "/b", "section": "No Name"}]
    result = crawl(program, site, rows, "--section", "rules=/[ab]$")
    assert files(program, site) == {
        "sitemap-1.xml": ["/"],
        "sitemap-docs-1.xml": ["/a"],
        "sitemap-rules-1.xml": ["/b"],
        "sitemap-shop-1.xml": ["/c"],
    }
    [message] = [found["message"] for found in result.report["warnings"] if found["kind"] == "url-list"]
    assert message.startswith(f"1 entry, for example '{site.url('/b')}' in line 3: names a section by other characters")
    for path, name in (("/a", "docs"), ("/b", "rules"), ("/c", "shop")):
        facts = json.loads(program.run("explain", "--state", "state.sqlite", "--json", site.url(path)).out)
        assert facts["file"] == f"sitemap-{name}-1.xml"


def test_a_page_that_moves_to_another_section_gets_files_with_other_numbers(program: Program, site: WebServer) -> None:
    """As after a change of the rules: no live file is replaced, so that no page is missing for an instant."""
    crawl(program, site, [{"url": "/a", "section": "docs"}, {"url": "/b", "section": "shop"}])
    before = files(program, site)
    assert before == {"sitemap-1.xml": ["/"], "sitemap-docs-1.xml": ["/a"], "sitemap-shop-1.xml": ["/b"]}
    # A new page in a section moves nothing.
    crawl(
        program,
        site,
        [{"url": "/a", "section": "docs"}, {"url": "/b", "section": "shop"}, {"url": "/c", "section": "shop"}],
    )
    assert files(program, site) == {**before, "sitemap-shop-1.xml": ["/b", "/c"]}
    crawl(
        program,
        site,
        [{"url": "/a", "section": "shop"}, {"url": "/b", "section": "shop"}, {"url": "/c", "section": "shop"}],
    )
    moved = files(program, site)
    assert sorted(map(sorted, moved.values())) == [["/"], ["/a", "/b", "/c"]]
    assert not set(moved) & set(before)
    # Then the files stay as they are.
    crawl(
        program,
        site,
        [{"url": "/a", "section": "shop"}, {"url": "/b", "section": "shop"}, {"url": "/c", "section": "shop"}],
    )
    assert files(program, site) == moved
    # Without the list the sections are gone.
    result = program.crawl(site.url("/"), "--state", "state.sqlite")
    assert result.code == 0
    assert files(program, site) == {}
    assert len(result.listed()) == 4
