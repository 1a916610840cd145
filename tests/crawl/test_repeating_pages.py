"""Sites that link their pages under ever new parameters end by themselves, with all their content."""

from __future__ import annotations

import json
import re
import shlex
import signal
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.support.endless_sites import (
    EndlessSite,
    archived_forum,
    blog,
    board,
    calendar,
    forum,
    gallery,
    message_forum,
    one_path_shop,
    repository,
    shop,
    tracker,
    versions,
    words_of,
)
from tests.support.program import TIMEOUT, Program, Result
from tests.support.webserver import Answer, page

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.support.forks import Fork
    from tests.support.webserver import WebServer

ONE = ("--concurrency", "1", "--workers", "0", "--no-adaptive")
KILLED = -signal.SIGKILL
MAX_SAMPLES = 700
"""Number of requests beyond those of the content that a made site of a few kinds of parameters may take."""


def serve(site: WebServer, made: EndlessSite) -> None:
    site.pages = made  # type: ignore[assignment]


def listed_paths(result: Result, site: WebServer) -> set[str]:
    return {url.removeprefix(site.url("/")[:-1]) for url in result.listed()}


def crawl(program: Program, site: WebServer, made: EndlessSite, *options: str) -> set[str]:
    """Crawl a made site with default options. Return the listed paths."""
    serve(site, made)
    before = len(site.requests)
    result = program.crawl(site.url("/"), *options)
    assert result.code == 0, result.err
    assert len(site.requests) - before <= len(made.content) + MAX_SAMPLES
    return listed_paths(result, site)


def shape_of(path: str) -> tuple[str, ...]:
    """Return the path without segments that have a digit, and the names of the parameters."""
    place, _, query = path.partition("?")
    return (re.sub(r"[^/]*[0-9][^/]*", "#", place), *sorted(part.partition("=")[0] for part in query.split("&")))


def pages(program: Program, *options: str) -> list[str]:
    return program.run("pages", "--format", "jsonl", *options).out.splitlines()


def test_a_shop_with_facets_ends_and_lists_its_products_once(program: Program, site: WebServer) -> None:
    made = shop()
    listed = crawl(program, site, made)
    assert made.content <= listed
    assert len(made.content) >= 0.9 * len(listed)
    left_out = [json.loads(line) for line in pages(program, "--reason", "duplicate-parameters")]
    assert left_out
    red = next(row for row in left_out if "facet=red" in row["url"])
    assert "lead to pages that repeat others" in red["evidence"] or "shows what a URL" in red["evidence"]
    learnt = [
        (names, int(compared))
        for row in left_out
        for names, compared in re.findall(
            r"trap: the URLs of .* with (.*) (?:only|mostly) lead to pages that repeat others: ([0-9]+) pages were "
            r"compared, (?:none|[0-9]+) showed anything new$",
            row["evidence"],
        )
    ]
    assert learnt
    requested = [shape_of(request.path)[1:] for request in site.requests]
    for names, compared in learnt:
        assert 3 <= compared <= sum(set(other) == set(names.split(" and ")) for other in requested)
    # A page that was requested may show less than half of what any listed page shows.
    red = next(row for row in left_out if "facet=red" in row["url"] and row["status"] is None)
    explained = json.loads(program.run("explain", red["url"], "--json").out)
    path = red["url"].partition("?")[0]
    assert explained["listed_url"] == path
    assert f"listed URL    {path}\n" in program.run("explain", red["url"]).out


def test_a_tracker_with_tabs_and_sorted_lists_ends(program: Program, site: WebServer) -> None:
    made = tracker()
    listed = crawl(program, site, made)
    assert made.content <= listed
    lists = {path for path in listed if path.startswith("/issues?page=")}
    assert len(made.content | lists) >= 0.9 * len(listed)


def test_a_repository_is_listed_by_its_files_and_revisions(program: Program, site: WebServer) -> None:
    made = repository()
    listed = crawl(program, site, made)
    assert made.content <= listed
    # Each line that only an older version has is shown by one.
    assert sum(path.startswith("/compare?") for path in listed) <= 120


def test_a_forum_whose_parameters_tell_its_pages_apart_loses_none(program: Program, site: WebServer) -> None:
    made = forum()
    assert crawl(program, site, made) == made.content


def test_a_shop_that_names_canonical_urls_has_the_pages_of_its_categories(program: Program, site: WebServer) -> None:
    made = one_path_shop()
    assert crawl(program, site, made) == made.content
    assert crawl(program, site, made) == made.content


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "seed"),
    [
        *product([shop, tracker], range(4)),
        *product([archived_forum, blog, board, calendar, message_forum, one_path_shop, repository], range(2)),
    ],
)
def test_the_order_of_links_loses_no_content(program: Program, site: WebServer, make: object, seed: int) -> None:
    made: EndlessSite = make()  # type: ignore[operator]
    made.seed = seed
    assert made.content <= crawl(program, site, made)


@pytest.mark.slow
@pytest.mark.parametrize("make", [archived_forum, blog, board, message_forum, one_path_shop])
def test_later_runs_find_what_is_new(program: Program, site: WebServer, make: Callable[[int], EndlessSite]) -> None:
    listed = []
    for number in (50, 50, 80):
        made = make(number)
        listed.append(crawl(program, site, made))
        assert made.content <= listed[-1]
    assert listed[0] == listed[1]


def test_new_further_pages_of_topics_are_found_though_those_of_lists_only_repeat_others(
    program: Program, site: WebServer
) -> None:
    """An earlier run has refused the shape. The addresses of posts name the pages as canonical, as in NodeBB."""
    topics = {f"/topic/{number}/name": words_of(f"topic{number}") for number in range(1, 41)}
    long = {path: [f"{path}/{post}" for post in range(21, 26)] for path in list(topics)[:10]}
    lists = [f"/{name}?page={number}" for name in ("recent", "popular", "users", "tags") for number in range(1, 21)]

    def made(path: str, text: str, *links: str, canonical: str) -> str:
        head = f'<link rel="canonical" href="{canonical}">'
        return page("/", *links, title=path.partition("?")[0], head=head, body=f"<main><p>{text}</p></main>")

    everything = " ".join(f"<p>{text}</p>" for text in topics.values())
    site.pages = {"/": page(*topics, *lists, title="Forum", body=everything)}
    site.pages |= {path: made(path, everything, canonical=path) for path in lists}
    site.pages |= {path: made(path, text, canonical=path) for path, text in topics.items()}
    assert program.crawl(site.url("/"), *ONE).code == 0
    for path, posts in long.items():
        second = f"{path}?page=2"
        site.pages[path] = made(path, topics[path], *posts, canonical=path)
        for address in (second, *posts):
            site.pages[address] = made(path, words_of(second), second, canonical=second)
    # The samples of the shape that a later run takes are some of these.
    more = [f"/recent?page={number}" for number in range(21, 421)]
    last = list(topics)[-1]
    site.pages |= {path: made(path, everything, canonical=path) for path in more}
    site.pages[last] = made(last, topics[last], *more, canonical=last)
    result = program.crawl(site.url("/"), *ONE)
    assert result.code == 0, result.err
    listed = listed_paths(result, site)
    assert {*topics, *(f"{path}?page=2" for path in long)} <= listed
    assert not listed & {address for posts in long.values() for address in posts}


def test_a_product_that_one_category_links_is_found_though_the_category_repeats_others(
    program: Program, site: WebServer
) -> None:
    """All links to a product name a category, and no page has a canonical URL."""
    new = [f"/product?category=new&id={number}" for number in range(120)]
    sale = [f"/product?category=sale&id={number}" for number in range(130)]
    site.pages = {
        "/": page(*new, *sale, title="Shop"),
        **{
            path: page("/", title=f"Product {number}", body=f"<main><p>{words_of(f'product{number}')}</p></main>")
            for paths in (new, sale)
            for number, path in enumerate(paths)
        },
    }
    result = program.crawl(site.url("/"), *ONE)
    assert result.code == 0, result.err
    assert listed_paths(result, site) == {"/", *new, *sale[120:]}
    requested = {request.path for request in site.requests}
    assert len(requested & set(sale[:120])) < 120


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_each_version_of_a_page_that_differs_is_listed_once(program: Program, site: WebServer, seed: int) -> None:
    """Most versions show what the one before shows. The pages of one version may be requested one after another."""
    made, edition_of = versions(seed)
    serve(site, made)
    result = program.crawl(site.url("/"))
    assert result.code == 0, result.err
    listed = Counter(edition_of[path] for path in listed_paths(result, site) - {"/"})
    assert set(listed) == set(edition_of.values())
    assert max(listed.values()) == 1


def test_content_that_few_urls_of_a_refused_kind_show_is_found(program: Program, site: WebServer) -> None:
    """The pages of the kind repeat each other for long; of those that follow one in twenty shows something new."""
    numbers = range(600)
    shown = {number: number if number < 20 or (number > 120 and number % 20 == 7) else 0 for number in numbers}
    site.pages = {
        "/": page(*[f"/item?id={number}" for number in numbers], title="Items"),
        **{
            f"/item?id={number}": page(title=f"Item {words_of(str(text), 2)}", body=f"<p>{words_of(f'item{text}')}</p>")
            for number, text in shown.items()
        },
    }
    result = program.crawl(site.url("/"), *ONE)
    assert result.code == 0, result.err
    listed = {int(path.partition("=")[2]) for path in listed_paths(result, site) - {"/"}}
    assert {shown[number] for number in listed} == set(shown.values())


def test_a_kill_after_a_refused_kind_has_shown_something_new_loses_no_content(
    program: Program, site: WebServer
) -> None:
    """The new pages link to another kind, which is refused, too. Then the crawl is killed."""
    numbers = range(600)
    shown = {number: number if number < 20 or (number > 120 and number % 20 == 7) else 0 for number in numbers}
    orders = [f"/list?sort={number}" for number in range(100)]
    last = "/last?x=1&y=1"
    running: list[Fork] = []

    def kill(_: object) -> Answer:
        while running:
            running.pop().kill()
        return Answer(page(title="Last", body=f"<p>{words_of('last')}</p>"))

    site.pages = {
        "/": page(*[f"/item?id={number}" for number in numbers], title="Items"),
        **{
            f"/item?id={number}": page(
                *(["/orders"] if number > 120 and text else []),
                title=f"Item {words_of(str(text), 2)}",
                body=f"<p>{words_of(f'item{text}')}</p>",
            )
            for number, text in shown.items()
        },
        "/orders": page(*orders, last, title="Orders"),
        **{order: page(title="List", body=f"<p>{words_of('list')}</p>") for order in orders},
        last: kill,
    }
    running.append(program.start("crawl", site.url("/"), *ONE))
    assert running[0].wait(TIMEOUT) == KILLED
    result = program.crawl(site.url("/"), *ONE)
    assert (result.code, result.report["run"]) == (0, 1), result.err
    listed = {int(path.partition("=")[2]) for path in listed_paths(result, site) if path.startswith("/item")}
    assert {shown[number] for number in listed} == set(shown.values())


@pytest.mark.parametrize("group", [3, 6])
def test_products_that_differ_by_their_titles_and_headings_only_are_listed(
    program: Program, site: WebServer, group: int
) -> None:
    numbers = range(90)
    products = [f"/product?id={number}" for number in numbers]

    def product_page(number: int) -> str:
        name, text = f"Screw {number}", words_of(f"group{number // group}")
        return page("/", title=name, body=f"<main><h1>{name}</h1><p>{text}</p><p>{text} again</p></main>")

    site.pages = {
        "/": page(*products, title="Screws"),
        **{path: product_page(number) for number, path in zip(numbers, products, strict=True)},
    }
    result = program.crawl(site.url("/"))
    assert result.code == 0, result.err
    assert listed_paths(result, site) == {"/", *products}


@pytest.mark.slow
def test_later_runs_find_the_events_of_weeks_that_were_empty(program: Program, site: WebServer) -> None:
    """No run lists empty weeks, and each revisits some of them, first those with few clicks."""
    for number in (50, 50, 80, 80, 80, 80):
        made = calendar(number)
        listed = crawl(program, site, made)
    assert made.content <= listed


def test_each_page_of_a_shop_is_requested_once(program: Program, site: WebServer) -> None:
    serve(site, shop())
    assert program.crawl(site.url("/")).code == 0
    repeated = {path: count for path, count in Counter(request.path for request in site.requests).items() if count > 1}
    assert not repeated


def test_a_second_run_samples_what_was_refused_and_changes_nothing(program: Program, site: WebServer) -> None:
    made = shop()
    first = crawl(program, site, made)
    requested = {request.path for request in site.requests}
    before = len(site.requests)
    second = program.crawl(site.url("/"))
    assert listed_paths(second, site) == first
    assert second.report["changes"] == {"added": 0, "changed": 0, "removed": 0}
    samples = {request.path for request in site.requests[before:]} - requested
    assert samples
    assert set(Counter(map(shape_of, samples)).values()) == {1}


def test_pages_that_a_second_run_confirms_are_listed_as_in_the_first(program: Program, site: WebServer) -> None:
    made = shop()
    made.confirms = True
    first = crawl(program, site, made)
    second = program.crawl(site.url("/"))
    assert second.report["not_modified"] > len(made.content) / 2
    assert listed_paths(second, site) == first
    assert second.report["changes"] == {"added": 0, "changed": 0, "removed": 0}


def test_a_page_is_listed_though_pages_that_may_not_be_listed_show_its_texts(program: Program, site: WebServer) -> None:
    def article(number: int, head: str = "") -> str:
        text = f"<main><p>{words_of(f'article{number}')}</p></main>"
        return page("/", title=f"Article {number}", head=head, body=text)

    numbers = range(40)
    noindex = '<meta name="robots" content="noindex">'
    plain = [f"/article/{number}" for number in numbers]
    site.pages = {
        "/": page(*plain, *(f"{path}?view=full&comments=on" for path in plain)),
        **{path: article(number, noindex) for number, path in zip(numbers, plain, strict=True)},
        **{f"{path}?view=full&comments=on": article(number) for number, path in zip(numbers, plain, strict=True)},
    }
    result = program.crawl(site.url("/"))
    assert result.code == 0, result.err
    assert listed_paths(result, site) == {"/", *(f"{path}?view=full&comments=on" for path in plain)}


def test_a_list_of_known_texts_is_requested_for_the_pages_that_only_it_leads_to(
    program: Program, site: WebServer
) -> None:
    """Every page of the list shows the same texts, and each leads to one issue more."""
    issues = range(1, 101)
    site.pages = {
        "/": page("/list"),
        "/list": page("/list?page=1", body="<main><p>The issues of the project</p></main>"),
        **{
            f"/list?page={number}": page(
                body=f"""<main><p>The issues of the project</p>
                <a href="/issues/{number}">#</a> <a href="/list?page={number + 1}">&gt;</a></main>"""
            )
            for number in issues
        },
        **{
            f"/issues/{number}": page(title=f"Issue {number}", body=f"<main><p>{words_of(f'issue{number}')}</p></main>")
            for number in issues
        },
    }
    result = program.crawl(site.url("/"))
    assert {f"/issues/{number}" for number in issues} <= listed_paths(result, site)


def test_a_second_run_lists_the_pages_of_a_blog_that_show_whole_posts(program: Program, site: WebServer) -> None:
    """The second run requests the posts first, so that the pages show nothing new."""

    def post(number: int) -> str:
        return f"<p>{words_of(f'post{number}')}</p>"

    last = 40
    blog = {f"/blog?page={number}": range(3 * number, 3 * number + 3) for number in range(1, last + 1)}
    posts = [number for numbers in blog.values() for number in numbers]
    site.pages = {
        "/": page("/blog?page=1", title="Start"),
        **{
            path: page(
                *(f"/post/{number}" for number in numbers),
                *(() if path.endswith(f"={last}") else (f"/blog?page={numbers.start // 3 + 1}",)),
                title="Blog",
                body=f"<main>{''.join(map(post, numbers))}</main>",
            )
            for path, numbers in blog.items()
        },
        **{
            f"/post/{number}": page(
                f"/post/{min(number + 1, posts[-1])}", title=f"Post {number}", body=f"<main>{post(number)}</main>"
            )
            for number in posts
        },
    }
    assert listed_paths(program.crawl(site.url("/")), site) == set(site.pages)
    for _ in range(2):
        again = program.crawl(site.url("/"))
        assert again.report["changes"] == {"added": 0, "changed": 0, "removed": 0}
        assert listed_paths(again, site) == set(site.pages)


def test_later_runs_list_the_pages_of_a_refused_kind_that_the_first_has_listed(
    program: Program, site: WebServer
) -> None:
    """The first lists lead to the items, and 90 further ones repeat them."""
    texts = [f"<p>{words_of(f'item{number}')}</p>" for number in range(5)]
    lists = {f"/timeline?from={number}": number % 5 for number in range(95)}
    items = [f"/item/{'abcde'[number]}" for number in range(5)]
    site.pages = {
        "/": page(*lists, title="Start"),
        **{
            path: page(items[number], title="Time", body=f"<main>{texts[number]}</main>")
            for path, number in lists.items()
        },
        **{
            path: page(*items, title=path, body=f"<main>{text}</main>") for path, text in zip(items, texts, strict=True)
        },
    }
    first = listed_paths(program.crawl(site.url("/"), *ONE), site)
    assert first > {"/", *items}
    assert len(first) < 20
    for _ in range(2):
        again = program.crawl(site.url("/"), *ONE)
        assert again.report["changes"] == {"added": 0, "changed": 0, "removed": 0}
        assert listed_paths(again, site) == first
    left_out = [json.loads(line) for line in pages(program, "--reason", "duplicate-parameters")]
    assert len(left_out) == len(lists) + len(items) + 1 - len(first)


def test_a_later_run_lists_new_pages_of_a_kind_that_shows_content_below_a_directory_that_repeats(
    program: Program, site: WebServer
) -> None:
    """The views of the files of a commit show the same for each commit, and their directory is refused."""
    files = "abcd"

    def repository(commits: int) -> dict[str, bytes]:
        numbers = range(commits)
        views = [f"/commit/{name}?id={number}" for name in files for number in numbers]
        own = {f"/commit/?id={number}": words_of(f"commit{number}") for number in numbers}
        texts = own | {view: words_of(view[8]) for view in views}
        return {
            "/": page(*own, *views, title="Start"),
            **{path: page("/", title="Commit", body=f"<main><p>{text}</p></main>") for path, text in texts.items()},
        }

    def listed_commits(commits: int) -> set[str]:
        site.pages = repository(commits)
        paths = listed_paths(program.crawl(site.url("/")), site)
        assert len([path for path in paths if not path.startswith("/commit/?")]) <= 1 + len(files)
        return {path for path in paths if path.startswith("/commit/?")}

    for commits in (60, 61, 70):
        assert listed_commits(commits) == {f"/commit/?id={number}" for number in range(commits)}


def test_a_whole_run_after_a_limited_one_lists_what_a_first_run_does(site: WebServer, tmp_path: Path) -> None:
    """A run that --max-pages ends has compared too few pages of some kinds to leave them out."""
    serve(site, shop())
    listed = {}
    for name, limits in {"whole": [()], "limited": [("--max-pages", "80"), ()]}.items():
        (tmp_path / name).mkdir()
        program = Program(tmp_path / name)
        for limit in limits:
            listed[name] = listed_paths(program.crawl(site.url("/"), *ONE, *limit), site)
    assert listed["limited"] == listed["whole"]


@pytest.mark.parametrize(
    "options",
    [("-s", r"SITEMAP_NO_TRAPS=[?]sort=\w+$"), ("--include", r"[?&]sort=", "--include", "^[^?]*$")],
    ids=["no-traps", "include"],
)
def test_an_option_lists_the_sorted_lists_too(program: Program, site: WebServer, options: Sequence[str]) -> None:
    made = shop()
    serve(site, made)
    result = program.crawl(site.url("/"), *options)
    assert result.code == 0, result.err
    listed = listed_paths(result, site)
    assert {"/catalogue/?sort=title", "/catalogue/?sort=price"} <= listed
    # The option asks for no URL with another parameter beside this one.
    assert not [path for path in listed if "sort=" in path and "&" in path]


@pytest.mark.slow
@pytest.mark.parametrize("commits", [5, 8, 12])
def test_a_killed_crawl_goes_on_as_if_nothing_had_happened(site: WebServer, tmp_path: Path, commits: int) -> None:
    """With one request at a time, so that the order of the answers is the same."""
    serve(site, shop())
    programs = {}
    for name in ("calm", "killed"):
        (tmp_path / name).mkdir()
        programs[name] = Program(tmp_path / name)
    calm, killed = programs["calm"], programs["killed"]
    assert calm.crawl(site.url("/"), *ONE).code == 0
    assert killed.run_killed(commits, "crawl", site.url("/"), *ONE).code == KILLED
    result = killed.crawl(site.url("/"), *ONE)
    assert result.code == 0, result.err
    assert (killed.output / "sitemap.xml").read_bytes() == (calm.output / "sitemap.xml").read_bytes()


@pytest.mark.slow
def test_a_site_of_plain_urls_without_end_is_ended_and_later_runs_leave_the_rest_out(
    program: Program, site: WebServer
) -> None:
    """Each view of a version leads to views of other versions; the articles are behind the views."""

    def answer(path: str, parameters: list[tuple[str, str]], order: random.Random) -> str | None:
        articles = [f"/article/{number}" for number in range(30)]
        if path == "/":
            return page("/view/1/a", *(f"/?page={number}" for number in range(30)), title="Start")
        if path.startswith("/view/"):
            number = int(path.split("/")[2])
            views = [f"/view/{2 * number + step}/{name}" for step in (0, 1) for name in "abc"]
            links = "".join(f'<p><a href="{view}">another version</a></p>' for view in views)
            text = "The same text in each view, which is long enough to count as the content of a page."
            return page(*articles, title="View", body=f"<main><p>{text}</p>{links}</main>")
        return page(title=path, body=f"<main><p>{words_of(path)}</p></main>") if path in articles else None

    made = EndlessSite({"/", *(f"/article/{number}" for number in range(30))}, answer)
    serve(site, made)
    result = program.crawl(site.url("/"))
    assert result.code == 0, result.err
    listed = listed_paths(result, site)
    assert made.content <= listed
    assert [path for path in listed if path.startswith("/view/")] == ["/view/1/a"]
    repeating = [json.loads(line) for line in pages(program, "--reason", "limit")]
    assert {row["evidence"] for row in repeating} == {"trap: the last pages had shown nothing new"}
    left_out = [row for row in repeating if row["last_fetched"] is None]
    assert len(repeating) > result.report["left_out"] == len(left_out) > 0
    [shape] = result.report["waiting_shapes"]
    assert all(re.search(shape["exclude"], row["url"]) for row in left_out)
    assert not any(re.search(shape["exclude"], site.url(path)) for path in made.content)
    assert result.report["notices"] == [
        (
            f"the last pages of the crawl showed next to nothing new, so it ended: {len(left_out):,} URLs were not "
            f"requested, and {len(repeating) - len(left_out):,} that were requested are left out, too; to list them "
            "all, give SITEMAP_NO_TRAPS a pattern for them; to leave them out from the beginning, crawl with --exclude"
        ),
        f"{shape['urls']:,} like {shape['pattern']}; 1 listed page matches, too: --exclude "
        + shlex.quote(shape["exclude"]),
    ]
    assert shape["listed"] == 1
    assert "trap" not in result.report["warning_counts"]
    [run] = json.loads(program.run("runs", "--json").out)
    assert (run["outcome"], run["ended_by"]) == ("published", "repeats")
    explained = program.run("explain", site.url("/never-met"))
    assert "the crawl ended when its pages only repeated others" in explained.out
    first = len(site.requests)
    assert first < 2_500
    second = program.crawl(site.url("/"))
    assert listed_paths(second, site) == listed
    # The start page with its lists, the articles, and a few views of each of three shapes.
    assert len(site.requests) - first < 100


@pytest.mark.parametrize("seed", range(2))
def test_what_pages_name_as_canonical_is_requested_before_the_run_ends(
    program: Program, site: WebServer, seed: int
) -> None:
    """No link names the canonical addresses, and the run ends as its last pages show nothing new."""
    program.patch("from sitemap_crawler.traps import progress\nprogress.MIN_WINDOW = 100\n")
    made = gallery(seed)
    for _ in range(2):
        assert crawl(program, site, made) == made.content
