"""Made sites that link their pages under ever new parameters, each with the list of its content.

The texts of an object are words of its own, so that any two objects differ as those of real sites do.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.support.webserver import Answer, page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.support.webserver import LoggedRequest

_Row = TypeVar("_Row")
PER_PAGE = 20
COLOURS = ("red", "green", "blue", "black")
SIZES = ("small", "medium", "large")
SORTS = ("title", "newest", "price")


def words_of(name: str, number: int = 40) -> str:
    """Return a text of words that no other name has."""
    digest = blake2b(name.encode(), digest_size=32).hexdigest()
    return " ".join(f"{name}{digest[index : index + 5]}" for index in range(number % len(digest)))


@dataclass
class EndlessSite:
    """A site whose pages are functions of the address."""

    content: set[str]
    """The paths and queries of the objects of the site, and of the first pages of its lists."""
    answer: Callable[[str, list[tuple[str, str]], random.Random], str | None]
    """Returns the page of a path and its parameters; None if there is none. The generator decides on orders."""
    seed: int = 0
    confirms: bool = False
    """Whether pages have an ETag, and a request with it is answered with 304."""

    def get(self, target: str, default: object = None) -> object:
        """Answer a request, in the place of the dictionary of pages of a server."""
        return default if target == "/robots.txt" else self._answered

    def _answered(self, request: LoggedRequest) -> Answer:
        parts = urlsplit(request.path)
        body = self.answer(
            parts.path, parse_qsl(parts.query, keep_blank_values=True), random.Random(f"{self.seed} {request.path}")
        )
        if body is None:
            return Answer("not here", status=404)
        if not self.confirms:
            return Answer(body)
        etag = f'"{blake2b(body.encode(), digest_size=8).hexdigest()}"'
        if request.headers.get("if-none-match") == etag:
            return Answer(status=304, headers={"ETag": etag})
        return Answer(body, headers={"ETag": etag})


def _pages(rows: list[_Row], size: int) -> list[list[_Row]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _shuffled(links: Sequence[str], order: random.Random) -> list[str]:
    return order.sample(links, len(links))


def _with(path: str, parameters: list[tuple[str, str]]) -> str:
    return f"{path}?{urlencode(parameters)}" if parameters else path


def shop(products: int = 60) -> EndlessSite:
    """A shop: each list links to itself with one more facet, in another order, and to its next page."""
    names = [f"product{number}" for number in range(products)]
    colours = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(names)}
    sizes = {name: SIZES[number % len(SIZES)] for number, name in enumerate(names)}

    def answer(path: str, parameters: list[tuple[str, str]], order: random.Random) -> str | None:
        if path == "/":
            return page("/catalogue/", title="The shop")
        if path == "/catalogue/":
            return catalogue(parameters, order)
        name = path.removeprefix("/catalogue/").removesuffix("/")
        if name not in names:
            return None
        return page("/catalogue/", title=name, body=f"<main><p>{words_of(name)}</p></main>")

    def catalogue(parameters: list[tuple[str, str]], order: random.Random) -> str:
        facets = [value for name, value in parameters if name == "facet"]
        shown = [name for name in names if all(facet in (colours[name], sizes[name]) for facet in facets)]
        given = dict(parameters)
        if given.get("sort") == "newest":
            shown.reverse()
        elif "sort" in given:
            shown.sort(key=lambda name: words_of(name + given["sort"], 1))
        pages = _pages(shown, PER_PAGE) or [[]]
        number = int(given.get("page", 1))
        rows = "".join(
            f'<li><a href="/catalogue/{name}/">{name} {words_of(name, 3)}</a></li>' for name in pages[number - 1]
        )
        others = [pair for pair in parameters if pair[0] != "page"]
        links = [_with("/catalogue/", [*others, ("facet", value)]) for value in (*COLOURS, *SIZES)]
        links += [_with("/catalogue/", [*[p for p in others if p[0] != "sort"], ("sort", value)]) for value in SORTS]
        links += [_with("/catalogue/", [*others, ("page", str(n))]) for n in range(1, len(pages) + 1)]
        return page(*_shuffled(links, order), title="Catalogue", body=f"<main><ol>{rows}</ol></main>")

    objects = {f"/catalogue/{name}/" for name in names}
    return EndlessSite({"/", "/catalogue/", *objects}, answer)


def tracker(issues: int = 120) -> EndlessSite:
    """A tracker: issues with tabs, a list with sorting and page sizes, and a login that returns to each page."""

    def answer(path: str, parameters: list[tuple[str, str]], order: random.Random) -> str | None:
        back = _with("/login", [("back", _with(path, parameters))])
        if path == "/login":
            return page("/", title="Login", body="<main><p>Name and password, please.</p></main>")
        if path == "/":
            return page("/issues", back, title="The tracker")
        if path == "/issues":
            return issue_list(parameters, back, order)
        number = path.removeprefix("/issues/")
        if not number.isdecimal() or not 1 <= int(number) <= issues:
            return None
        links = [_with(path, [("tab", tab)]) for tab in ("history", "notes", "changes")]
        body = f"<main><h2>issue {number}</h2><p>{words_of('issue' + number)}</p></main>"
        return page(*_shuffled([*links, "/issues", back], order), title=f"Issue {number}", body=body)

    def issue_list(parameters: list[tuple[str, str]], back: str, order: random.Random) -> str:
        given = dict(parameters)
        numbers = list(range(1, issues + 1))
        if given.get("sort"):
            numbers.sort(key=lambda number: words_of(f"{number} {given['sort']}", 1))
        size = int(given.get("per_page", 25))
        pages = _pages(numbers, size)
        at = min(int(given.get("page", 1)), len(pages)) - 1
        rows = "".join(
            f'<tr><td><a href="/issues/{n}">issue {n} {words_of(f"issue{n}", 3)}</a></td></tr>' for n in pages[at]
        )
        links = [_with("/issues", [*_but(parameters, "page"), ("page", str(n + 1))]) for n in range(len(pages))]
        sorts = given.get("sort", "").split(",")
        for column in ("status", "author", "updated", "priority", "project"):
            keys = [column, *[key for key in sorts if key and key != column]][:3]
            links.append(_with("/issues", [*_but(parameters, "sort"), ("sort", ",".join(keys))]))
        links += [_with("/issues", [*_but(parameters, "per_page"), ("per_page", str(n))]) for n in (25, 50, 100)]
        body = f"<main><table>{rows}</table></main>"
        return page(*_shuffled([*links, back], order), title="Issues", body=body)

    objects = {f"/issues/{number}" for number in range(1, issues + 1)}
    return EndlessSite({"/", "/issues", *objects}, answer)


def _but(parameters: list[tuple[str, str]], name: str) -> list[tuple[str, str]]:
    return [pair for pair in parameters if pair[0] != name]


def forum(topics: int = 150) -> EndlessSite:
    """A forum of which nothing repeats: all its pages are told apart by their parameters."""
    boards = 5

    def answer(path: str, parameters: list[tuple[str, str]], order: random.Random) -> str | None:
        given = dict(parameters)
        if path == "/":
            return page(*[_with("/viewforum.php", [("f", str(n))]) for n in range(boards)], title="Forum")
        if path == "/viewforum.php":
            board = int(given["f"])
            links = [
                _with("/viewtopic.php", [("f", str(board)), ("t", str(t))])
                for t in range(topics)
                if t % boards == board
            ]
            return page(*_shuffled(links, order), title=f"Board {words_of(f'board{board}', 3)}")
        if path == "/viewtopic.php":
            topic, start = int(given["t"]), int(given.get("start", 0))
            name = f"topic{topic}post{start}"
            links = [_with(path, [*_but(parameters, "start"), ("start", str(start + 20))])] if start < 20 else []
            body = f"<main><p>{words_of(name)}</p></main>"
            return page("/", *links, title=f"Topic {words_of(f'topic{topic}', 3)}", body=body)
        return None

    content = {"/", *[f"/viewforum.php?f={n}" for n in range(boards)]}
    for topic in range(topics):
        address = f"/viewtopic.php?f={topic % boards}&t={topic}"
        content |= {address, f"{address}&start=20"}
    return EndlessSite(content, answer)


def board(topics: int = 400) -> EndlessSite:
    """A forum whose start page links its latest topics by their numbers; its lists name the forum of a topic, too."""
    forums, latest, size = 5, range(topics)[-150:], 20

    def answer(path: str, parameters: list[tuple[str, str]], order: random.Random) -> str | None:
        given = dict(parameters)
        if path == "/":
            links = [f"/viewforum?f={number}" for number in range(forums)]
            links += [f"/viewtopic?t={topic}" for topic in latest]
            return page(*_shuffled(links, order), title="Board")
        if path == "/viewforum":
            number, start = int(given["f"]), int(given.get("start", 0))
            rows = [topic for topic in reversed(range(topics)) if topic % forums == number]
            shown = rows[start : start + size]
            links = [f"/viewtopic?f={number}&t={topic}" for topic in shown]
            links += [f"/viewforum?f={number}&start={other}" for other in range(size, len(rows), size)]
            rows_shown = "".join(f"<p>Topic {words_of(f'topic{topic}', 3)}</p>" for topic in shown)
            return page(*_shuffled(links, order), title=f"Forum {number}", body=f"<main>{rows_shown}</main>")
        if path != "/viewtopic":
            return None
        topic = int(given["t"])
        links = [f"/viewforum?f={topic % forums}", f"/viewtopic?f={topic % forums}&t={topic}"]
        body = f"<main><p>{words_of(f'topic{topic}post')}</p></main>"
        return page(*_shuffled(links, order), title=f"Topic {words_of(f'topic{topic}', 3)}", body=body)

    return EndlessSite(
        {
            "/",
            *[f"/viewforum?f={number}" for number in range(forums)],
            *[f"/viewtopic?t={topic}" for topic in latest],
            *[f"/viewtopic?f={topic % forums}&t={topic}" for topic in range(latest.start)],
        },
        answer,
    )


def versions(seed: int, pages: int = 80, number: int = 6) -> tuple[EndlessSite, dict[str, str]]:
    """Documentation in several versions, and by path the edition that it shows: one page in seven changes a version.

    The pages without a version show the last one.
    """

    def edition(name: int, version: int) -> str:
        while version and (31 * name + 17 * version) % 100 < 85:
            version -= 1
        return f"edition {name} {version}"

    def answer(path: str, parameters: list[tuple[str, str]], order: random.Random) -> str | None:
        given = dict(parameters)
        if path == "/":
            return page(*_shuffled(["/doc?p=0", *[f"/doc?p=0&v={v}" for v in range(number)]], order), title="Docs")
        name, version = int(given["p"]), given.get("v")
        suffix = "" if version is None else f"&v={version}"
        links = [f"/doc?p={other}{suffix}" for other in (2 * name + 1, 2 * name + 2) if other < pages]
        links += [f"/doc?p={name}&v={other}" for other in range(number)]
        shown = edition(name, number - 1 if version is None else int(version))
        body = f"<main><p>{words_of(f'page{name}')}</p><p>{words_of(shown.replace(' ', ''), 60)}</p></main>"
        return page(*_shuffled(links, order), title=f"Page {words_of(f'page{name}', 2)} of {version}", body=body)

    editions = {f"/doc?p={name}": edition(name, number - 1) for name in range(pages)}
    editions |= {f"/doc?p={name}&v={v}": edition(name, v) for name in range(pages) for v in range(number)}
    return EndlessSite(set(editions), answer, seed=seed), editions


def gallery(seed: int, pictures: int = 40) -> EndlessSite:
    """Pictures that no link names by their canonical addresses, and endless lists that may not be indexed."""
    tags = ("sea", "city", "forest", "night", "portrait", "travel", "street", "macro")

    def answer(path: str, parameters: list[tuple[str, str]], order: random.Random) -> str | None:
        if path == "/":
            links = [f"/show?/{number}/from/{list_}" for number in range(3) for list_ in range(5)]
            return page(*_shuffled(links, order), title="Start")
        [(name, _)] = parameters
        if path == "/tags":
            last = name.rpartition("/")[2]
            further = [f"/tags?/{tag}/{last}{letter}" for tag in tags for letter in "ab"] if len(last) < 6 else []
            noindex = '<meta name="robots" content="noindex">'
            return page(*_shuffled(further, order), title="Tags", head=noindex, body=f"<p>{words_of('tags')}</p>")
        number = name.split("/")[1]
        links = [f"/show?/{(int(number) + step) % pictures}/from/{list_}" for step in (1, 2, 3) for list_ in range(2)]
        links += [f"/tags?/{tag}/t" for tag in tags]
        canonical = f'<link rel="canonical" href="/show?/{number}">'
        body = f"<p>{words_of(f'picture{number}')}</p>"
        return page(*_shuffled(links, order), title=f"Picture {number}", head=canonical, body=body)

    return EndlessSite({"/", *(f"/show?/{number}" for number in range(pictures))}, answer, seed=seed)


def one_path_shop(products: int = 60, categories: int = 90) -> EndlessSite:
    """A shop under one path, whose categories show products only. It names the canonical URL of each page."""
    script = "/index.php"
    shown = {c: [(7 * c + 13 * n) % products for n in range(5)] for c in range(categories)}

    def answer(path: str, parameters: list[tuple[str, str]], order: random.Random) -> str | None:
        given = dict(parameters)
        if path == "/":
            return page("/index.php?route=all", *_shuffled([category(c) for c in range(5)], order), title="Shop")
        if path != script:
            return None
        if given.get("route") == "all":
            links = [category(c) for c in range(categories)]
            return page(*_shuffled(links, order), title="Map", head=canonical(f"{script}?route=all"))
        if given.get("route") == "product":
            number = int(given["id"])
            body = f"<main><p>{words_of(f'product{number}')}</p></main>"
            return page("/", title=f"Product {number}", head=canonical(product(number)), body=body)
        number = int(given["category"])
        rows = "".join(f"<li>{words_of(f'product{n}', 3)}</li>" for n in shown[number])
        links = [f"{product(n)}&category={number}" for n in shown[number]]
        links += [f"{category(number)}&sort={sort}" for sort in SORTS]
        head = canonical(category(number))
        return page(*_shuffled(links, order), title=f"Category {number}", head=head, body=f"<main>{rows}</main>")

    def product(number: int) -> str:
        return f"{script}?route=product&id={number}"

    def category(number: int) -> str:
        return f"{script}?route=category&category={number}"

    def canonical(path: str) -> str:
        return f'<link rel="canonical" href="{path.replace("&", "&amp;")}">'

    objects = {product(n) for numbers in shown.values() for n in numbers}
    return EndlessSite({"/", "/index.php?route=all", *objects, *map(category, range(categories))}, answer)


def calendar(events: int = 80) -> EndlessSite:
    """A calendar without titles, whose weeks show its events as a whole, and lead to the weeks before and after."""
    per_week = 4
    weeks = -(-events // per_week)

    def answer(path: str, parameters: list[tuple[str, str]], order: random.Random) -> str | None:
        given = dict(parameters)
        if path == "/":
            return page("/week.php", title="Calendar")
        if path == "/week.php":
            week = int(given.get("week", weeks - 1))
            shown = range(week * per_week, min((week + 1) * per_week, events)) if 0 <= week < weeks else range(0)
            links = [f"/week.php?week={number}" for number in range(week - 3, week + 4)]
            links += [f"/entry.php?id={event}&week={week}" for event in shown]
            body = "".join(f"<p>{words_of(f'event{event}')}</p>" for event in shown)
            return page(*_shuffled(links, order), title="Calendar", body=f"<main>{body}</main>")
        if path != "/entry.php" or not 0 <= int(given["id"]) < events:
            return None
        body = f"<main><p>{words_of('event' + given['id'])}</p><p>Export this event</p></main>"
        links = ["/week.php", f"/entry.php?id={given['id']}", f"/entry.php?id={given['id']}&print=1"]
        return page(*_shuffled(links, order), title="Calendar", body=body)

    return EndlessSite({"/", "/week.php", *[f"/entry.php?id={event}" for event in range(events)]}, answer)


def blog(posts: int = 90) -> EndlessSite:
    """A blog under one path, whose lists by page, month and tag show its posts as a whole. The posts have titles."""
    size = 5

    def answer(path: str, parameters: list[tuple[str, str]], order: random.Random) -> str | None:
        given = dict(parameters)
        if path == "/":
            return page("/blog", title="Home")
        if path != "/blog":
            return None
        if "id" in given:
            post = int(given["id"])
            body = f"<main><p>{words_of(f'post{post}')}</p></main>"
            return page("/blog", title=f"Post {post}", body=body) if post < posts else None
        shown = list(range(posts))
        if "tag" in given:
            shown = [post for post in shown if post % 9 == int(given["tag"])]
        elif "month" in given:
            shown = [post for post in shown if post // 9 == int(given["month"])]
        pages = _pages(shown, size)
        rows = pages[int(given.get("page", 1)) - 1]
        others = [pair for pair in parameters if pair[0] != "page"]
        links = [_with("/blog", [*others, ("page", str(number + 1))]) for number in range(len(pages))]
        links += [_with("/blog", [("tag", str(number))]) for number in range(9)]
        links += [_with("/blog", [("month", str(number))]) for number in range(posts // 9)]
        links += [_with("/blog", [("id", str(post))]) for post in rows]
        body = "".join(f"<p>{words_of(f'post{post}')}</p>" for post in rows)
        return page(*_shuffled(links, order), title="Blog", body=f"<main>{body}</main>")

    return EndlessSite({"/", "/blog", *[f"/blog?id={post}" for post in range(posts)]}, answer)


def archived_forum(topics: int = 40) -> EndlessSite:
    """A forum whose archive shows all posts once more, under addresses that are requested first."""
    pages = 3

    def answer(path: str, parameters: list[tuple[str, str]], order: random.Random) -> str | None:
        given = dict(parameters)
        if path == "/":
            links = [f"/archive/{topic}-{number}.html" for topic in range(topics) for number in range(1, pages + 1)]
            return page(*links, *[f"/topic?t={topic}" for topic in range(topics)], title="Forum")
        if path == "/topic":
            topic, number = int(given["t"]), int(given.get("page", 1))
            links = [f"/topic?t={topic}&page={other}" for other in range(2, pages + 1)]
            links += [f"/topic?t={topic}&post={post}" for post in range(4)]
            shown = [int(given["post"])] if "post" in given else range(4)
        elif path.startswith("/archive/"):
            topic, number = map(int, path.removeprefix("/archive/").removesuffix(".html").split("-"))
            links, shown = [], range(4)
        else:
            return None
        posts = "".join(f"<p>{words_of(f'topic{topic}page{number}post{post}', 30)}</p>" for post in shown)
        return page(*_shuffled(links, order), title=f"Topic {topic}", body=f"<main>{posts}</main>")

    content = {"/", *[f"/topic?t={topic}" for topic in range(topics)]}
    content |= {f"/topic?t={topic}&page={number}" for topic in range(topics) for number in range(2, pages + 1)}
    content |= {f"/archive/{topic}-{number}.html" for topic in range(topics) for number in range(1, pages + 1)}
    return EndlessSite(content, answer)


def message_forum(topics: int = 80) -> EndlessSite:
    """A forum whose lists of the messages of members lead to each topic under one more address for each message."""
    members, size = 5, 20

    def answer(path: str, parameters: list[tuple[str, str]], order: random.Random) -> str | None:
        if path == "/":
            return page("/index.php?board=1.0", "/index.php?action=members", title="Forum")
        given = dict(part.partition("=")[::2] for part in parameters[0][1].split(";")) if parameters else {}
        name, value = parameters[0][0], parameters[0][1].partition(";")[0]
        if name == "board":
            start = int(value.partition(".")[2])
            shown = range(topics)[start : start + size]
            links = [f"/index.php?topic={topic}.0" for topic in shown]
            links += [f"/index.php?board=1.{other}" for other in range(0, topics, size)]
            rows = "".join(f"<p>Topic {words_of(f'topic{topic}', 3)}</p>" for topic in shown)
            return page(*_shuffled(links, order), title="Board", body=f"<main>{rows}</main>")
        if name == "topic":
            topic, _, message = value.partition(".")
            canonical = f"/index.php?topic={topic}.0"
            head = f'<link rel="canonical" href="{canonical}">'
            if message != "0":
                head += '<meta name="robots" content="noindex">'
            body = f"<main><p>{words_of(f'topic{topic}post')}</p></main>"
            return page("/", title=f"Topic {words_of(f'topic{topic}', 3)}", head=head, body=body)
        if value == "members":
            links = [f"/index.php?action=messages;member={member}" for member in range(members)]
            return page(*links, title="Members", body="<main><p>All members of this forum.</p></main>")
        member = int(given["member"])
        messages = [
            (topic, f"/index.php?topic={topic}.msg{10 * topic + number}")
            for topic in range(topics)
            for number in range(3)
            if (topic + number) % members == member
        ]
        posts = "".join(f"<p>{words_of(f'topic{topic}post')}</p>" for topic, _ in messages)
        links = _shuffled([link for _, link in messages], order)
        return page(*links, title=f"Messages of member {member}", body=f"<main>{posts}</main>")

    return EndlessSite(
        {
            "/",
            *(f"/index.php?board=1.{start}" for start in range(0, topics, size)),
            *(f"/index.php?topic={topic}.0" for topic in range(topics)),
        },
        answer,
    )


def repository(files: int = 24, revisions: int = 60) -> EndlessSite:
    """A browser of a repository: each version of each file, and the comparison of any two of each path."""
    paths = [f"/{'abcd'[number % 4]}/f{number}" for number in range(files)]
    places = ["/", *(f"/{name}/" for name in "abcd")]

    def edited(revision: int) -> str:
        return paths[revision % files]

    def text_at(path: str, revision: int) -> list[str]:
        edits = [number for number in range(1, revision + 1) if edited(number) == path]
        return [words_of(f"{path} {line}", 6) for line in range(10)] + [words_of(f"{path} r{n}", 6) for n in edits]

    def compared(path: str, before: int, after: int) -> tuple[list[str], str]:
        """Return links and the text of a comparison."""
        pairs = [(before - 1, after), (before + 1, after), (before, after - 1), (before, after + 1), (after, before)]
        links = [comparison(path, *pair) for pair in pairs if all(0 < number <= revisions for number in pair)]
        shown = [name for name in paths if name.startswith(path)]
        lines = [line for name in shown for line in sorted(set(text_at(name, after)) ^ set(text_at(name, before)))]
        named = f"<dd>{path} @ {before}</dd><dd>{path} @ {after}</dd>"
        return [*links, comparison(path, before, after) + "&spaces=0"], named + "".join(map("<p>{}</p>".format, lines))

    def comparison(path: str, before: int, after: int) -> str:
        return _with("/compare", [("repository", "r"), ("of[]", f"{path}@{before}"), ("of[]", f"{path}@{after}")])

    def of_path(view: str, path: str, *more: tuple[str, str]) -> str:
        return _with(view, [("repository", "r"), ("path", path), *more])

    def answer(view: str, parameters: list[tuple[str, str]], order: random.Random) -> str | None:
        given = dict(parameters)
        if view == "/":
            return page(of_path("/list", "/"), title="Repositories")
        if view == "/compare":
            (path, before), (_, after) = (value.split("@") for name, value in parameters if name == "of[]")
            links, text = compared(path, int(before), int(after))
            return page(*_shuffled(links, order), title=f"{path} {before} and {after}", body=f"<main>{text}</main>")
        if view == "/revision":
            number = int(given["revision"])
            path = edited(number)
            links = [_with("/revision", [("repository", "r"), ("revision", str(n))]) for n in (number - 1, number + 1)]
            links = [*links[number == 1 : 1 + (number < revisions)], of_path("/file", path, ("revision", str(number)))]
            links += [
                comparison(place, number - 1, number) for place in places if path.startswith(place) and number > 1
            ]
            body = f"<main><h1>Revision {number}</h1><p>{words_of(f'message {number}', 20)}</p><p>{path}</p></main>"
            return page(*_shuffled(links, order), title=f"Revision {number}", body=body)
        path, revision = given["path"], int(given.get("revision", revisions))
        if view == "/list":
            inside = [place for place in places if place != path and path == "/"] or [
                name for name in paths if name.startswith(path)
            ]
            links = [of_path("/list" if name.endswith("/") else "/file", name) for name in inside]
            links += [of_path("/log", name) for name in (path, *inside)]
            rows = "".join(f"<p>{name}</p>" for name in inside)
            return page(*_shuffled(links, order), title=f"Path {path}", body=f"<main><h1>{path}</h1>{rows}</main>")
        changes = [number for number in range(1, revisions + 1) if edited(number).startswith(path)]
        links = [of_path("/file", path, ("revision", str(number))) for number in changes if path in paths]
        links += [_with("/revision", [("repository", "r"), ("revision", str(number))]) for number in changes]
        links += [comparison(path, *pair) for pair in pairwise(changes)]
        if view == "/log":
            body = "".join(f"<p>{words_of(f'message {number}', 20)}</p>" for number in changes)
            return page(*_shuffled(links, order), title=f"Log of {path}", body=f"<main>{body}</main>")
        body = "".join(f"<p>{line}</p>" for line in text_at(path, revision))
        links = [of_path("/log", path), *links[:3]]
        return page(*_shuffled(links, order), title=f"File {path}", body=f"<main>{body}</main>")

    content = {of_path("/list", place) for place in places} | {of_path("/file", path) for path in paths}
    content |= {_with("/revision", [("repository", "r"), ("revision", str(n))]) for n in range(1, revisions + 1)}
    return EndlessSite({"/", *content}, answer)
