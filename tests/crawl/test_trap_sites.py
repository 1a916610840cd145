"""Sites without end are crawled to an end, with all their good pages; sites that only look like it lose nothing."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

from tests.support.endless_sites import words_of
from tests.support.webserver import Answer, LoggedRequest, WebServer, page

if TYPE_CHECKING:
    from tests.support.program import Program, Result

GOOD = ["/", *(f"/good/{number}" for number in range(30))]
FAST = ("--concurrency", "16")


class CatchAll(dict[str, object]):
    """Answers every address that has no entry by a function."""

    def __init__(self, pages: dict[str, object], answer: object) -> None:
        super().__init__(pages)
        self.other = answer

    def get(self, path: str, default: object = None) -> object:
        if path in self:
            return self[path]
        return default if path == "/robots.txt" else self.other


def serve(site: WebServer, entrance: str, answer: object) -> None:
    """Thirty good pages that know each other, and one link that leads into the trap."""
    pages: dict[str, object] = {path: page("/", f"/good/{n}", title=path) for n, path in enumerate(GOOD[1:])}
    pages["/"] = page(*GOOD[1:], entrance)
    site.pages = CatchAll(pages, answer)  # type: ignore[assignment]


def caught(result: Result, site: WebServer, *, requests: int) -> dict[str, str]:
    """The one warning of a crawl that ended by itself and has all the good pages."""
    assert result.code == 0, result.err
    assert {site.url(path) for path in GOOD} <= set(result.listed())
    assert len(site.requests) <= requests
    report = result.report
    assert report["excluded"]["limit"] > 0
    [warning] = [warning for warning in report["warnings"] if warning["kind"] == "trap"]
    assert "SITEMAP_NO_TRAPS" in warning["message"]
    return dict(warning)


def test_a_calendar_of_the_future(program: Program, site: WebServer) -> None:
    def month(request: LoggedRequest) -> Answer:
        _, _, year, number, *_ = request.path.split("/")
        at = 12 * int(year) + int(number) - 1
        links = [f"/events/{then // 12}/{then % 12 + 1:02}/" for then in (at + 1,)]
        return Answer(page(*links, title=f"Concert {at} in {year}/{number}"))

    now = datetime.now(UTC)
    serve(site, f"/events/{now.year}/{now.month:02}/", month)
    warning = caught(program.crawl(site.url("/"), *FAST), site, requests=31 + 25 + 5)
    assert "calendar" in warning["message"]
    assert f"/events/{now.year + 2}/" in warning["url"] or f"/events/{now.year + 3}/" in warning["url"]
    explained = program.run("explain", warning["url"])
    assert "limit" in explained.out
    assert "calendar" in explained.out


def test_a_calendar_of_empty_days(program: Program, site: WebServer) -> None:
    """It goes back: the day before, and the day before that; nothing but the date is on a page."""

    def day(request: LoggedRequest) -> Answer:
        then = datetime.fromisoformat(parse_qs(urlsplit(request.path).query)["date"][0])
        before = [datetime.fromordinal(then.toordinal() - days) for days in (1, 7, 30)]
        return Answer(page(*(f"/cal?date={one:%Y-%m-%d}" for one in before), title=f"Nothing on {then:%A, %d %B %Y}"))

    serve(site, "/cal?date=2024-05-17", day)
    result = program.crawl(site.url("/"), *FAST)
    assert result.code == 0, result.err
    assert sorted(result.listed()) == sorted(site.url(path) for path in (*GOOD, "/cal?date=2024-05-17"))
    assert len(site.requests) <= 31 + 100
    explained = program.run("explain", site.url("/cal?date=2024-05-10"))
    assert "lead to pages that repeat others" in explained.out


@pytest.mark.parametrize("robots", ["index", "noindex"])
def test_a_calendar_by_day_and_by_week_in_german(program: Program, site: WebServer, robots: str) -> None:
    """Its days and weeks are empty but for their dates, for two years."""
    names = ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"]
    months = ["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober"]
    months += ["November", "Dezember"]

    def view(request: LoggedRequest) -> Answer:
        given = parse_qs(urlsplit(request.path).query)
        [form], then = given["view"], datetime.fromisoformat(given["date"][0])
        beside = [datetime.fromordinal(then.toordinal() + days) for days in (-7, -1, 1, 7)]
        days = [f"{one:%Y-%m-%d}" for one in beside if 2025 < one.year < 2028]
        links = [f"/cal?view={kind}&date={day}" for day in days for kind in ("day", "week")]
        shown = beside if form == "week" else [then]
        heads = [f"{names[one.weekday()]}, {one.day}. {months[one.month - 1]} {one.year}" for one in shown]
        cells = "".join(f"<th>{names[one.weekday()][:2]}., {one:%d.%m.}</th>" for one in beside)
        body = f"<main><h1>Alle Termine am {heads[0]}</h1><table><tr>{cells}</tr></table><p>Keine Termine.</p></main>"
        head = f'<meta name="robots" content="{robots}">'
        return Answer(page(*links, title=f"Termine {heads[-1]}", head=head, body=body))

    serve(site, "/cal?view=day&date=2026-12-01", view)
    result = program.crawl(site.url("/"), *FAST)
    assert result.code == 0, result.err
    assert {site.url(path) for path in GOOD} <= set(result.listed())
    assert len([request for request in site.requests if request.path.startswith("/cal?")]) <= 180


def test_runs_agree_on_the_pages_of_an_endless_calendar(program: Program, site: WebServer) -> None:
    """It goes back for ever. One month in five has an event, in the first 20 months."""
    events = [f"/cal?month={2024 - back // 12}-{12 - back % 12:02}" for back in range(0, 20, 5)]

    def month(request: LoggedRequest) -> Answer:
        year, number = map(int, parse_qs(urlsplit(request.path).query)["month"][0].split("-"))
        at = 12 * year + number - 1
        links = [f"/cal?month={then // 12}-{then % 12 + 1:02}" for then in (at - 1, at - 2, at - 12)]
        event = f"<p>{words_of(request.path)}</p>" if request.path in events else ""
        days = " ".join(f"{day} free" for day in range(1, 31))
        name = f"{datetime(year, number, 1):%B} {year}"
        return Answer(page(*links, title=name, body=f"<main><h1>{name}</h1><p>{days}</p>{event}</main>"))

    serve(site, "/cal?month=2024-12", month)
    first = program.crawl(site.url("/"), *FAST)
    assert first.code == 0, first.err
    assert {site.url(path) for path in GOOD} <= set(first.listed())
    assert len(site.requests) <= 31 + 160
    listed = {path for url in first.listed() if (path := url.removeprefix(site.url("/")[:-1])) not in GOOD}
    assert set(events) <= listed
    assert len(listed) <= len(events) + 5
    for _ in range(2):
        again = program.crawl(site.url("/"), *FAST)
        assert again.code == 0, again.err
        assert again.report["changes"] == {"added": 0, "changed": 0, "removed": 0}
        assert sorted(again.listed()) == sorted(first.listed())


def test_days_without_posts_are_left_out_of_an_archive_that_is_without_end(program: Program, site: WebServer) -> None:
    """It goes back for ever, by plain addresses. Of the first 400 days each fourth has a post."""
    newest = datetime(2024, 5, 17).toordinal()

    def address(day: int) -> str:
        return f"/archive/{datetime.fromordinal(day):%Y/%m/%d}"

    def archive(request: LoggedRequest) -> Answer:
        then = datetime.strptime(request.path, "/archive/%Y/%m/%d")
        day = then.toordinal()
        has_post = day > newest - 400 and day % 4 == 0
        post = words_of(request.path) if has_post else "Nobody has written anything for the readers of this day."
        links = (address(day - days) for days in (1, 7, 30))
        return Answer(page(*links, title=f"{then:%d %B %Y}", body=f"<main><h1>{then:%A}</h1><p>{post}</p></main>"))

    serve(site, address(newest), archive)
    with_posts = {address(day) for day in range(newest - 399, newest + 1) if day % 4 == 0}
    for _ in range(2):
        result = program.crawl(site.url("/"), *FAST)
        assert result.code == 0, result.err
        listed = {url.removeprefix(site.url("/")[:-1]) for url in result.listed()} - set(GOOD)
        assert with_posts <= listed
        assert len(listed - with_posts) <= 10
    assert result.report["changes"] == {"added": 0, "changed": 0, "removed": 0}


def test_days_that_scripts_fill_are_not_compared(program: Program, site: WebServer) -> None:
    """Each day has the same document. A browser may show another page for each, so those that were fetched stay."""
    newest = datetime(2024, 5, 17).toordinal()

    def shell(request: LoggedRequest) -> Answer:
        day = datetime.strptime(request.path, "/day/%Y/%m/%d").toordinal() - 1
        before = f"/day/{datetime.fromordinal(day):%Y/%m/%d}"
        return Answer(page(before, title="Diary", body="<main id='app'></main>"))

    serve(site, f"/day/{datetime.fromordinal(newest):%Y/%m/%d}", shell)
    result = program.crawl(site.url("/"), *FAST)
    fetched = {request.path for request in site.requests if request.path.startswith("/day/")}
    assert {url for url in result.listed() if "/day/" in url} == set(map(site.url, fetched))


@pytest.mark.parametrize("budget", [40, 100])
def test_urls_that_repeat_others_leave_room_for_pages(program: Program, site: WebServer, budget: int) -> None:
    """The links that mark an hour of a day are more than the budget, and come before the one to the next day.

    With the small one all that are admitted are requested before it is known that they repeat others.
    """
    days = 20
    marks = [f"&hour={hour}&width={width}&form={form}" for hour in range(12) for width in range(3) for form in "abc"]

    def plan(request: LoggedRequest) -> Answer:
        day = int(parse_qs(urlsplit(request.path).query)["day"][0])
        this = f"/plan?room=1&view=day&day={day}"
        following = [f"/plan?room=1&view=day&day={day + 1}"] if day < days else []
        text = f"<main><p>{words_of(f'day {day}')}</p></main>"
        return Answer(page(*(this + mark for mark in marks), *following, f"/entry?id={day}", body=text))

    def entry(request: LoggedRequest) -> Answer:
        return Answer(page("/", body=f"<main><p>{words_of(request.path)}</p></main>"))

    serve(site, "/plan?room=1&view=day&day=1", lambda request: (entry if "/entry" in request.path else plan)(request))
    result = program.crawl(site.url("/"), *FAST, "-s", f"SITEMAP_TRAP_BUDGET={budget}")
    assert result.code == 0, result.err
    plans = {f"/plan?room=1&view=day&day={day}" for day in range(1, days + 1)}
    entries = {f"/entry?id={day}" for day in range(1, days + 1)}
    assert sorted(result.listed()) == sorted(map(site.url, {*GOOD, *plans, *entries}))
    assert len(site.requests) < 1_000


def test_a_path_that_grows(program: Program, site: WebServer) -> None:
    serve(site, "/loop/", page("shop/cart/", title="The same again"))
    warning = caught(program.crawl(site.url("/"), *FAST), site, requests=31 + 6)
    assert "/shop/cart/" in warning["message"]
    assert warning["url"] == site.url("/loop/shop/cart/shop/cart/shop/cart/")


# How many it takes to learn the names depends on the order in which pages come, and what is under way then comes, too.
@pytest.mark.parametrize(("items", "requests"), [(2, 150), (6, 400)])
def test_relative_links_of_a_menu(program: Program, site: WebServer, items: int, requests: int) -> None:
    """The server answers by the end of the path: /menu/about/news/about/ is /menu/about/, with the same links."""
    names = ["about", "contact", "news", "team", "shop", "jobs"][:items]

    def menu(request: LoggedRequest) -> Answer:
        last = request.path.rstrip("/").rpartition("/")[2]
        return Answer(page(*(f"{name}/" for name in names), title=f"This is {last}"))

    serve(site, "/menu/", menu)
    result = program.crawl(site.url("/"), *FAST)
    assert result.code == 0, result.err
    assert len(site.requests) <= 31 + requests
    assert any("ever longer paths" in warning["message"] for warning in result.report["warnings"])
    listed = result.listed()
    assert {site.url(path) for path in GOOD} <= set(listed)
    assert {site.url(f"/menu/{name}/") for name in names} <= set(listed)
    again = program.crawl(site.url("/"), *FAST)
    assert (again.code, again.listed()) == (0, listed)


def test_pages_whose_paths_have_a_name_twice_are_kept(program: Program, site: WebServer) -> None:
    paths = [f"/en/products/en/{n}/docs/{n % 7}/docs/" for n in range(200)] + [
        f"/2020/{n:02}/{n:02}/" for n in range(1, 13)
    ]
    site.pages = {path: page("/", title=f"About {path}") for path in paths}
    site.pages["/"] = page(*paths)
    result = program.crawl(site.url("/"), *FAST)
    assert sorted(result.listed()) == sorted(site.url(path) for path in site.pages)
    assert "trap" not in result.report["warning_counts"]


def test_facets(program: Program, site: WebServer) -> None:
    def products(request: LoggedRequest) -> Answer:
        chosen = [part for part in urlsplit(request.path).query.split("&") if part]
        more = [f"facet{number}=1" for number in range(12) if f"facet{number}=1" not in chosen]
        links = [f"/shop?{'&'.join([*chosen, one])}" for one in more]
        return Answer(page(*links, title=f"Products {' '.join(chosen)}"))

    serve(site, "/shop", products)
    result = program.crawl(site.url("/"), *FAST)
    warning = caught(result, site, requests=31 + 1 + 12 + 64 + 5)
    assert "combinations of parameters at /*" in warning["message"]
    fetched, listed = set(site.paths()), result.listed()
    site.clear_log()
    again = program.crawl(site.url("/"), *FAST)
    assert (again.code, again.listed(), set(site.paths())) == (0, listed, fetched)
    assert again.report["outcome"] == "unchanged"
    excepted = program.crawl(site.url("/"), *FAST, "-s", "SITEMAP_MAX_SHRINK=1", "--max-pages", "300", "-s", EXCEPTED)
    assert (excepted.code, excepted.report["warning_counts"].get("trap")) == (0, None)
    assert len(excepted.listed()) > len(listed)


EXCEPTED = 'SITEMAP_NO_TRAPS=["/shop"]'


def session_links(site: WebServer, spell: str) -> None:
    """Ten pages, each link of which has the session of the answer."""
    numbers = count()

    def shop(request: LoggedRequest) -> Answer:
        fresh = random.Random(next(numbers)).randbytes(16).hex() + "a1b2"
        number = next((n for n in range(10) if f"/page/{n}" in request.path), 0)
        return Answer(page(*(spell.format(fresh, n) for n in range(10)), title=f"Page {number}"))

    serve(site, spell.format("0a1b2c3d4e5f6071", 0), shop)


@pytest.mark.parametrize(
    ("spell", "shown"), [("/page/{1}?sid={0}", "?sid={token}"), ("/s/{0}/page/{1}", "/s/{token}")], ids=["name", "path"]
)
def test_session_ids(program: Program, site: WebServer, spell: str, shown: str) -> None:
    session_links(site, spell)
    result = program.crawl(site.url("/"), *FAST)
    # Thirty have to be met again, and what is found or under way meanwhile is asked for, too.
    warning = caught(result, site, requests=31 + 10 + 30 + 130)
    assert shown in warning["message"]
    listed = result.listed()
    assert {urlsplit(url).path.rpartition("/")[2] for url in listed} >= {str(number) for number in range(10)}
    assert program.crawl(site.url("/"), *FAST).listed() == listed


def test_session_ids_of_every_answer_leave_the_sitemap_as_it_is(program: Program, site: WebServer) -> None:
    """Pages that know only their next ones: each link of each run has a token that was never seen before."""
    numbers = count()

    def shop(request: LoggedRequest) -> Answer:
        fresh = random.Random(next(numbers)).randbytes(16).hex() + "a1b2"
        number = int(urlsplit(request.path).path.removeprefix("/page/"))
        return Answer(page(*(f"/page/{(number + n) % 60}?sid={fresh}" for n in range(1, 6)), title=f"Page {number}"))

    serve(site, "/page/0?sid=0a1b2c3d4e5f6071", shop)
    first = program.crawl(site.url("/"), *FAST)
    listed, excluded = first.listed(), first.report["excluded"]
    numbered = [urlsplit(url).path.removeprefix("/page/") for url in listed if "/page/" in url]
    assert sorted(numbered, key=int) == [str(number) for number in range(60)]
    urls = first.report["inventory"]["urls"]
    for _ in range(3):
        again = program.crawl(site.url("/"), *FAST)
        assert (again.code, again.listed()) == (0, listed)
        assert again.report["excluded"] == excluded
        assert again.report["inventory"]["urls"] == urls


@pytest.mark.parametrize("sessions", [True, False], ids=["sessions", "versions"])
def test_session_ids_that_last_for_a_run(program: Program, site: WebServer, sessions: bool) -> None:
    """The first page gives the visitor an id that all links keep; what has other content is another version."""
    runs = count()

    def start(request: LoggedRequest) -> Answer:
        fresh = random.Random(next(runs)).randbytes(16).hex() + "a1b2"
        return Answer(page(*(f"/page/{number}?token={fresh}" for number in range(40))))

    def shop(request: LoggedRequest) -> Answer:
        path, _, query = request.path.partition("?")
        number = int(path.removeprefix("/page/"))
        said = "" if sessions else f"<p>{'New in this version. ' * int(query[-5], 16)}</p>"
        links = [f"/page/{(number + step) % 40}?{query}" for step in range(1, 4)]
        return Answer(page(*links, title=f"Page {number}", body=said))

    site.pages = CatchAll({"/": start}, shop)  # type: ignore[assignment]
    listed = program.crawl(site.url("/"), *FAST).listed()
    assert len(listed) == 41
    results = [program.crawl(site.url("/"), *FAST) for _ in range(2)]
    assert [result.code for result in results] == [0, 0]
    assert [result.listed() == listed for result in results] == [sessions, sessions]
    if sessions:
        assert results[0].report["inventory"]["urls"] == results[1].report["inventory"]["urls"]


def test_a_next_page_for_ever(program: Program, site: WebServer) -> None:
    """Seventy pages of results, and then nothing again and again."""

    def results(request: LoggedRequest) -> Answer:
        offset = int(parse_qs(urlsplit(request.path).query)["offset"][0])
        found = f"Result {offset}" if offset < 700 else "Nothing found"
        items = [f"/good/{offset // 10 % 30}"] if offset < 700 else []
        return Answer(page(f"/list?offset={offset + 10}", *items, title=f"Results from {offset}", body=found))

    serve(site, "/list?offset=0", results)
    warning = caught(program.crawl(site.url("/"), *FAST), site, requests=31 + 400)
    assert "/list?offset={number}" in warning["message"]
    assert urlsplit(warning["url"]).query.startswith("offset=")


def test_a_webcomic_of_pictures_whose_names_are_dates_loses_nothing(program: Program, site: WebServer) -> None:
    days = [datetime.fromordinal(datetime(2019, 1, 1).toordinal() + n) for n in range(150)]
    pages: dict[str, object] = {"/": page(f"{days[-1]:/comic/%Y/%m/%d/}")}
    for n, day in enumerate(days):
        strip = f'<img src="/img/{day:%Y-%m-%d}.png" alt="strip">'
        pages[f"{day:/comic/%Y/%m/%d/}"] = page(
            *(f"{near:/comic/%Y/%m/%d/}" for near in days[max(n - 1, 0) : n + 2]), title=f"Strip of {day}", body=strip
        )
    site.pages = pages  # type: ignore[assignment]
    result = program.crawl(site.url("/"), *FAST)
    assert sorted(result.listed()) == sorted(site.url(path) for path in pages)
    assert "trap" not in result.report["warning_counts"]


def test_a_trap_is_left_by_a_run_that_goes_on(program: Program, site: WebServer) -> None:
    """Interrupted by the budget of pages, and by the end of the next process."""

    def results(request: LoggedRequest) -> Answer:
        offset = int(parse_qs(urlsplit(request.path).query)["offset"][0])
        return Answer(page(f"/list?offset={offset + 10}", title="Nothing found"))

    serve(site, "/list?offset=0", results)
    limited = program.crawl(site.url("/"), *FAST, "--max-pages", "80")
    assert limited.code == 0, limited.err
    assert len(site.requests) <= 80 + 2
    assert {site.url(path) for path in GOOD} <= set(limited.listed())
    shallow = program.crawl(site.url("/"), *FAST, "--max-depth", "5")
    assert (shallow.code, shallow.report["excluded"]["limit"]) == (0, 1)
    assert {site.url(path) for path in GOOD} <= set(shallow.listed())


def test_all_traps_are_lifted_by_a_budget_of_none(program: Program, site: WebServer) -> None:
    serve(site, "/loop/", page("shop/cart/", title="The same again"))
    result = program.crawl(site.url("/"), *FAST, "-s", "SITEMAP_TRAP_BUDGET=0", "--max-depth", "20")
    assert result.code == 0, result.err
    assert "trap" not in result.report["warning_counts"]
    assert site.url("/loop/" + "shop/cart/" * 19) in result.listed()


def test_a_sitemap_may_name_what_looks_like_a_trap(program: Program, site: WebServer) -> None:
    named = ["/a/a/a/a/", "/x?year=2090&month=1"]
    locs = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in named).replace("&", "&amp;")
    xml = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{locs}</urlset>'
    site.pages = {
        "/": page("/a/a/a/a/", "/x?year=2090&month=1", "/b/b/b/b/"),
        "/named.xml": Answer(xml, content_type="application/xml"),
        **dict.fromkeys(["/a/a/a/a/", "/x", "/b/b/b/b/"], page()),
    }
    result = program.crawl(site.url("/"), "--seed-sitemap", site.url("/named.xml"))
    assert sorted(result.listed()) == sorted(site.url(path) for path in ["/", *named])
    assert result.report["warning_counts"]["trap"] == 1


def legitimate() -> dict[str, list[str]]:
    topics = [f"/viewtopic.php?f={n % 3}&t={n}" for n in range(60)]
    items = [str(UUID(int=random.Random(n).getrandbits(128), version=4)) for n in range(150)]
    actions = ["", "&action=history", "&action=edit&section=1"]
    return {
        "comic": [f"/comic/{n}" for n in range(300)],
        "items": [f"/item/{item}" for item in items],
        "docs": [f"/docs/page/{n}" for n in range(300)],
        "wiki": [f"/w/index.php?title=Page_{n}{action}" for n in range(100) for action in actions],
        "forum": [f"{topic}{start}" for topic in topics for start in ("", "&start=15", "&start=30", "&start=45")],
        "archive": [f"/{year}/{month:02}/" for year in range(2005, 2025) for month in range(1, 13)],
    }


def test_what_only_looks_like_a_trap_loses_nothing(program: Program, site: WebServer) -> None:
    """Each page but the archive's says nearly the same; the webcomic is linked by previous and next only."""
    parts = legitimate()
    comic = parts.pop("comic")
    pages: dict[str, object] = {"/": page("/comic/0", *(f"/{name}" for name in parts))}
    for name, paths in parts.items():
        pages[f"/{name}"] = page(*paths)
        for n, path in enumerate(paths):
            body = f"<p>In this month {' '.join(['we went'] * (n % 7))} to {chr(97 + n % 26)}</p>" * (name == "archive")
            pages[path] = page("/", paths[n - 1], title=f"{name} {path}" if name != "items" else "An item", body=body)
    for n, path in enumerate(comic):
        pages[path] = page(*(comic[max(n - 1, 0) : n + 2]), title=f"Comic {n}")
    site.pages = pages  # type: ignore[assignment]
    result = program.crawl(site.url("/"), *FAST, "-s", "SITEMAP_TRAP_BUDGET=50")
    assert result.code == 0, result.err
    assert sorted(result.listed()) == sorted(site.url(path) for path in pages)
    assert "trap" not in result.report["warning_counts"]
