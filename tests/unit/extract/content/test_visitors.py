"""Visitors of the moment, as forums and content managers count them: the same content has the same fingerprint."""

from __future__ import annotations

import pytest

from sitemap_crawler.extract.content.fingerprint import fingerprint
from sitemap_crawler.extract.content.main_content import without_space
from sitemap_crawler.extract.content.visitors import without_visitors
from tests.support.growth import assert_linear
from tests.support.reading_page import page

# The same place of a page at two times.
VISITORS = [
    ("Users browsing this forum: 1 Guest(s)", "Users browsing this forum: 12 Guest(s)"),
    (
        "Users browsing this forum: No registered users and 1 guest",
        "Users browsing this forum: No registered users and 12 guests",
    ),
    (
        "In total there are 12 users online :: 2 registered, 0 hidden and 10 guests",
        "In total there are 1,204 users online :: 34 registered, 1 hidden and 1,169 guests",
    ),
    ("0 Members and 3 Guests are viewing this topic.", "1 Member and 1 Guest are viewing this topic."),
    (
        "There are currently 5 users browsing this thread. (0 members and 5 guests)",
        "There are currently 3 users browsing this thread. (2 members and 1 guests)",
    ),
    ("Total: 12 (members: 2, guests: 10)", "Total: 1,002 (members: 30, guests: 972)"),
    ("Members: 2, guests: 10, total: 12", "Members: 3, guests: 9, total: 12"),
    ("We have 12 guests and no members online", "We have one guest and 3 members online"),
    ("Aktuell sind 12 Gäste und keine Mitglieder online", "Aktuell sind ein Gast und 2 Mitglieder online"),
    ("Topic: The harbour (Read 9 times)", "Topic: The harbour (Read 1,210 times)"),
    ("Thema: Der Hafen (Gelesen 9 mal)", "Thema: Der Hafen (Gelesen 10 mal)"),
    ("0 Mitglieder und 3 Gäste", "1 Mitglied und 1 Gast"),
]
CONTENT = [
    ("A house by the sea for 4 guests", "A house by the sea for 6 guests"),
    ("We had one guest in 2019", "We had no guest in 2019"),
    ("The team has 12 members", "The team has 13 members"),
    ("Request 5 of 10", "Request 6 of 10"),
    ("(Read 5 chapters)", "(Read 6 chapters)"),
    ("Members and guests ask question 12", "Members and guests ask question 13"),
]


def of(statement: str) -> bytes:
    words = "<p>The tide rises and falls twice a day, and the harbour with it.</p>"
    return fingerprint(page(f"<!doctype html><body><main>{words}<p>{statement}</p>{words}</main>"))


@pytest.mark.parametrize(("before", "after"), VISITORS)
def test_visitors_do_not_count(before: str, after: str) -> None:
    assert of(before) == of(after)


@pytest.mark.parametrize("place", ["{statement}{long}", "{long}{statement}"])
def test_visitors_are_found_at_the_beginning_and_at_the_end_of_a_long_page(place: str) -> None:
    long = "".join(f"<p>The tide of day {number} rises and falls.</p>" for number in range(500))
    before, after = (of(place.format(long=long, statement=f"{count} Guests online<br>")) for count in (1, 23))
    assert before == after
    assert before != of(place.format(long=f"{long}<p>More.</p>", statement="1 Guests online<br>"))


TOPICS = """<table><thead><tr><td colspan=4>Harbour</td></tr></thead>
<tr><td colspan=2>Topic</td><td>Replies</td><td><b><a href="/forum?sort=views">Views</a></b></td></tr>
<tr><td><img src=new.png alt=New></td><td><a href=/1>Tides</a></td><td>{replies}</td><td>{views}</td></tr>
<tr><td></td><td><a href=/2>Quay</a></td><td>3</td><td>1,20{digit}</td></tr></table>"""


def test_the_views_in_a_table_do_not_count() -> None:
    before = of(TOPICS.format(replies=4, views=17, digit=1))
    assert before == of(TOPICS.format(replies=4, views=18, digit=2))
    assert before == of(TOPICS.format(replies=4, views="Views: 18", digit=1))
    assert before != of(TOPICS.format(replies=5, views=17, digit=1))
    assert before != of(TOPICS.format(replies=4, views="a lot of", digit=1))
    other = TOPICS.replace("Views", "Price")
    assert of(other.format(replies=4, views=17, digit=1)) != of(other.format(replies=4, views=18, digit=1))


ROWS = """<div class=forum><div class=header><div>Topic</div><div>Replies</div><div> Views </div></div>
<div class=row><div><a href=/1>Tides</a></div><div>{replies}</div><div>{views}</div></div><!-- Next -->
<div class=row><div><a href=/2>Quay</a></div><div>3</div><div>1,20{digit}</div></div>
<div class=note><div>Chapter</div><div>{note}</div></div></div>"""
WRAPPED = ROWS.replace("<div class=header>", "<div class=head><div>").replace("<div class=row>", "</div><div><div>", 1)


@pytest.mark.parametrize("forum", [ROWS, WRAPPED], ids=["plain", "wrapped"])
def test_the_views_in_rows_without_a_table_do_not_count(forum: str) -> None:
    rows = {"replies": 4, "views": 17, "digit": 1, "note": 1}
    before = of(forum.format(**rows))
    assert before == of(forum.format(**rows | {"views": 18, "digit": 2}))
    assert before == of(forum.format(**rows | {"views": "Views: 18"}))
    for other in ({"replies": 5}, {"views": "a lot of"}, {"note": 2}):
        assert before != of(forum.format(**rows | other))
    other_rows = forum.replace("Views", "Price")
    assert of(other_rows.format(**rows)) != of(other_rows.format(**rows | {"views": 18}))


@pytest.mark.parametrize(("before", "after"), CONTENT)
def test_content_counts(before: str, after: str) -> None:
    assert of(before) != of(after)


def test_all_but_the_visitors_stays() -> None:
    rest = "4 guests came to the harbour in 2026. The page has five pictures, and 12 people have written to us since."
    text = f"Topic 12: 3 Members and 2 Guests are viewing this topic. Posted in May 2026 by Ann. {rest}"
    assert without_visitors(without_space(text.encode())) == without_space(
        f"Topic 12: and are viewing this topic. Posted in May 2026 by Ann. {rest}".encode()
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["guest", "members 1 guest ", "1", "1,", "no", "1 registered ", "guests: 1", "Total: 1 members guest"]
)
def test_time_is_linear(text: str) -> None:
    assert_linear(lambda n: without_space(text.encode() * n(200_000)), without_visitors)
