"""Changes of a page that change its fingerprint and changes that do not, in the markup of many programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sitemap_crawler.extract.content.fingerprint import FINGERPRINT_BYTES, fingerprint
from tests.support.growth import assert_linear
from tests.support.reading_page import page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.growth import Amount

TEXT = "<p>The harbour opens at six. <a href='/tides'>Tides</a> <img src='quay.jpg' alt='The quay'></p>"


def of(markup: str) -> bytes:
    return fingerprint(page(markup))


def changed(before: str, after: str) -> bool:
    return of(before) != of(after)


PROSE = "The ferry leaves the northern quay twice a day, and more often in summer. " * 4
NOTE = "Your address will not be shown. Required fields are marked. Be kind to others, version @ of our rules says why."
# Each stands next to the same text, once with 1 and once with 2 in place of the @.
NOT_CONTENT = [
    "<script>nonce = '@'</script>",
    "<style>.a@ {}</style>",
    "<noscript><img src='/pixel@.gif'></noscript>",
    "<template><p>@</p></template>",
    "<!-- rendered @ -->",
    "<form><input type=hidden name=csrf value=@><input value=@></form>",
    "<form><label>How much is @ + 4?</label><input></form>",
    "<form><h3>Comment @</h3><textarea></textarea><input type=submit></form>",
    "<form><h4>Vote @</h4><input type=radio></form>",
    f"<form><p>{NOTE}</p><textarea></textarea></form>",
    f"<form><p>{PROSE}</p><label>How much is @ + 4?</label><input></form>",
    f"<form><p>{PROSE}</p><select><option>Room @</select><button>Book @</button></form>",
    "<form><h3>Sort by @</h3><select></select></form>",
    "<textarea>@</textarea>",
    "<nav>@</nav>",
    "<nav><a href='/@'>News</a></nav>",
    "<aside>@</aside>",
    "<dialog>@</dialog>",
    "<div role=navigation>@</div>",
    "<div role=complementary>@</div>",
    "<div role=search>@</div>",
    "<div id=sidebar>@</div>",
    "<div id=Sidebar>@</div>",
    "<div class=sidebar>@</div>",
    "<div class='left Sidebar'>@</div>",
    "<div class=widget-area>@</div>",
    "<ul class=breadcrumbs><li>@</ul>",
    "<ul class=menu><li><a href=/>Page @</a><li><a href=/a>About</a></ul>",
    "<div id=portal-mainnavigation><ul class='navbar-nav' id=portal-globalnav><li><a href='/@'>Page @</a></ul></div>",
    "<ul class='collapse main_menu'><li><a href='/@'>Page @</a></ul>",
    "<div class=dropdown-menu><a href='/@'>Page @</a></div>",
    "<ul id=topMenu><li><a href='/@'>Page @</a></ul>",
    "<div class=widget><ul><li><a href=/@>A new post @</a></ul></div>",
    "<div class='widget widget_recent_entries'><h2>Recent posts</h2><ul><li><a href=/@>Post</a></ul></div>",
    "<ul class=wp-block-latest-posts><li><a href='/post-@'>A new post @</a></ul>",
    "<section class=related-posts><h2>You may like</h2><p>Story @</p></section>",
    "<div class=navfooter><a href='/@'>Next</a></div>",
    "<div class=action-buttons><h3>Related tags</h3><span><a href='/tags/@'>+ Tag @</a></span></div>",
    "<div id=relatedTagsBox><a href='/tags/@'>Tag @</a></div>",
    "<div class=leftBoxContainer id=whatsnew><div class=sideBoxContent><a href='/p/@'>Product @</a></div></div>",
    "<div class=centerBoxWrapper id=alsoPurchased><h2>Also bought</h2><a href='/p/@'>Product @</a></div>",
    "<section class='up-sells upsells products'><h2>You may also like</h2><a href='/p/@'>Product @</a></section>",
    "<div id=bannerTwo class=banners><a href='/banner/@'><img src='/banner-@.jpg'></a></div>",
    "<div class=pagination><a href='/page/@'>@</a></div>",
    "<div id=comments><p>Comment @</p></div>",
    "<ol class=comment-list><li>Comment @</ol>",
    "<div class=wp-block-comments><div>Comment @</div></div>",
    "<article class=comment>Comment @</article>",
    "<div itemscope itemtype='https://schema.org/Comment'>Comment @</div>",
    "<div role=comment>Comment @</div>",
    "<div id=respond><h3>Leave a reply, person no. @</h3></div>",
    "<div class=cookie-notice>We set @ cookies</div>",
    "<div class=adsbygoogle>@</div>",
    "<div class=docInfo>guide/tides.txt · Last modified: 2026/10/0@ 14:55 by jo</div>",
    "<div class=post-views>@</div>",
    "<dl><dt>Details</dt><dd><meta itemprop=interactionCount content='UserPageVisits:@'> Zugriffe: @</dd></dl>",
    "<div class='stat-block online-list'><h3>Who is online</h3><p>Users: Ann @ and 3 guests</p></div>",
    "<div class='stat-block birthday-list'><h3>Birthdays</h3><p>Congratulations: Ann (3@)</p></div>",
    "<div id=whoisviewing>Ann @, and 0 guests are viewing this topic.</div>",
    "<div id=upper_section><time datetime=2026-11-29T12:05:2@Z>Nov 2@, 2026, 12:05 PM</time></div>",
    "<div id=info_center><h4>Users online</h4><p>Most Online Today: @ - Most Online Ever: @2</p></div>",
    "<ul class=user_info><li>Jr. Member @</li><li>Posts: 4@</li></ul>",
    "<div class=author_statistics>Posts: 4@<br>Threads: @<br>Reputation: <b>@</b></div>",
    "<div class='message-userExtras'><dl><dt>Messages</dt><dd>1,23@</dd></dl></div>",
    "<dl><dd><strong>Posts:</strong> <a href=/search?author=7>4@</a></dd></dl>",
    "<dl><dd>Beiträge: 4@</dd></dl>",
    "<p>@,234 views</p>",
    "<p>1,@34 views</p>",
    "<p>@ page views</p>",
    "<p>@ people are online</p>",
    "<p>@ likes</p>",
    "<p>@ readers like this</p>",
    "<p>Downloads: @</p>",
    "<p>@ Aufrufe</p>",
    "<p>Views: @</p>",
    "<p><b>Views</b><span>(@)</span></p>",
    "<p>Viewed @ times</p>",
    "<dl><dt>Visits</dt><dd>6@</dd></dl>",
    "<p>Visited @ times</p>",
    "<p>1@ visits</p>",
    "<p>Hits: 1,23@</p>",
    "<p>@ hits</p>",
    "<p>Zugriffe: @</p>",
    "<p>1@ Zugriffe</p>",
    "<p>Aufrufe: @</p>",
    "<p>Total redirects:&nbsp;@</p>",
    "<p>@ clicks</p>",
    "<p>@ comments</p>",
    "<p>Comments (@)</p>",
    "<p>Posted @ hours ago</p>",
    "<p>Posted 1@ min ago</p>",
    "<p>This page has been accessed 1,22@ times.</p>",
    "<p>Ann, “Tides”, accessed November 2@, 2026, https://example.com/7.</p>",
    "<p>Ann (2020). Tides. Retrieved on 2@ November 2026, from https://example.com/7</p><p>%s</p>"
    % ("Own text. " * 99),
    "<section id=box-similar-products>Chair @</section>",
    "<div class=related_products-block><h4>Related</h4>Chair @</div>",
    "<div class='block_frame block_frame_bestsellers'>Chair @</div>",
    "<p>asked Nov 2@, 2026 in Ferries by Ann</p>",
    "<p>answered 2@ November by Ann</p>",
    "<p>Posted on June @</p>",
    "<p>edited Nov 2@, 2026 by Ann</p>",
    "<p>closed 2@ November by Ann</p>",
    "<p>moved Nov 2@ to Ferries</p>",
    "<dl><dt>Member for</dt><dd>@ min 1@ sec</dd></dl>",
    "<table><tr><td>Member for:</td><td><span>@ months (since Mar 3, 202@)</span></td></tr></table>",
    "<p>Page generated in 0.@23 seconds</p>",
    "<p>Generated in 0.@23 seconds with 1@ queries.</p>",
    "<p>1@ queries in 0.@ seconds.</p>",
    "<p>Last updated on Nov 2@, 2026.</p>",
    "<p>Last modified: 2026-11-0@ 10:15 UTC</p>",
    "<dl><dt>Local Time:</dt><dd>11-2@-2026 at 0@:03 PM</dd></dl>",
    "<p>It is currently Sun Nov 2@, 2026 @:03 am</p>",
    "<p>All times are GMT. The time now is 1@:03 AM.</p>",
    "<p><strong>Current time:</strong> 11-2@-2026, 1@:03 AM</p>",
    "<p>The current time is 01:2@:34Z</p>",
    "<p>Server time: 01:2@:34</p>",
    "<p>Aktuelle Zeit: 2@. Dezember 2026, 10:2@</p>",
    "<p>Nous sommes le mar. 1@ déc. 2026 10:2@</p>",
    "<p>Oggi è 01/12/202@, 10:2@</p>",
    "<p>Текущее время: 1@ дек 2026, 10:2@</p>",
    "<p>Generated on 2026-12-0@ 01:2@:11</p>",
    "<p>This page was generated: Tue Dec 1@ 01:2@:34 2026</p>",
    "<p>Page rendered at 01:2@:11</p>",
    "<p>© 202@ Acme</p>",
    "<p>Copyright &copy; 1996-202@ Acme</p>",
    "<img src='/taskrunner.php?id=tides&amp;179527640@' width=2 height=1 alt=''>",
    "<img src='/pixel.gif?r=@' width=1>",
    "<img src='/style.png?v=@' alt='Style'>",
    "<img src='/captcha.php?imagehash=0123456789abcdef0123456789abcde@' alt='Image verification'>",
    "<img src='/fetch.php?w=200&amp;tok=a@&amp;media=p.png' alt='Photo'>",
    "<a href='/page;jsessionid=A@B'>Next</a>",
    "<a href='/page?PHPSESSID=abc@'>Next</a>",
    "<a href='/page?sid=0123456789abcdef0123456789abcde@&amp;t=7'>Next</a>",
    "<a href='/rate?thread=5&amp;my_post_key=0123456789abcdef0123456789abcde@'>Rate</a>",
    "<a href='/index?action=logout;d51a=0123456789abcdef0123456789abcde@#top'>Log out</a>",
    "<a href='/edit?_wpnonce=4a@'>Next</a>",
    "<a href='/page?ts=179527640@'>Next</a>",
    "<a href='/cdn-cgi/l/email-protection#a1b@'>[email&#160;protected]</a>",
    "<p class='a-@' id='p@' style='margin: @px' data-token='@'></p>",
    "<div class='discover random-books'><h2>Discover</h2><a href='/book/@'>Tides @</a></div>",
    "<div class=comments>@</div>",
    "<div id=comments><p>@</p>" + "<p class=c>Own text. </p>" * 99 + "</div>",
    "<div class=comments><form>@</form><p>" + "Own text. " * 99 + "</div>",
    "<div class=comments><span class=author>Ann</span><p>@ " + "Own text. " * 99 + "</div>",
    "<section class=related-products><meta itemprop=price content='@.99'></section>",
    "<meta itemprop=dateModified content='2024-05-0@'>",
    '<script type="application/ld+json">{"@type": "Article", "dateModified": "2024-05-0@"}</script>',
    '<script type="application/ld+json">{"aggregateRating": {"ratingCount": @}}</script>',
]


@pytest.mark.parametrize("markup", NOT_CONTENT)
@pytest.mark.parametrize("frame", ["<body>%s%s", "<body><main>%s%s</main>"])
def test_elements_that_are_not_content_do_not_count(frame: str, markup: str) -> None:
    pages = [frame % (TEXT, markup.replace("@", number)) for number in "12"]
    assert not changed(*pages)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<small>17 novembre, par Ann</small>", "<small>17 novembre 2026, par Ann</small>"),
        ("<p>1er août</p><p>3 apples</p>", "<p>1er août 2026</p><p>3 apples</p>"),
        ("<li>17. November 10:30 Uhr</li>", "<li>17. November 2026 10:30 Uhr</li>"),
        ("<li>17. März</li>", "<li>17. März 2026</li>"),
        ("<p>17 de noviembre</p>", "<p>17 de noviembre de 2026</p>"),
        ("<p>By Ann on Nov 17</p>", "<p>By Ann on Nov 17, 2026</p>"),
        ("<p>Ann, November 17th, 10 replies</p>", "<p>Ann, November 17th, 2026, 10 replies</p>"),
        ("<p>17 ноября</p>", "<p>17 ноября 2026</p>"),
    ],
)
def test_a_date_that_gets_its_year_does_not_count(before: str, after: str) -> None:
    assert not changed(TEXT + before, TEXT + after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<p>17 boats 2025</p>", "<p>17 boats 2026</p>"),
        ("<p>Harbour report 2025</p>", "<p>Harbour report 2026</p>"),
        ("<p>5 May 1970</p>", "<p>5 May 1971</p>"),
        ("<p>17 May 2026</p>", "<p>18 May 2026</p>"),
        ("<p>17 May 2026</p>", "<p>17 June 2026</p>"),
        ("<p>2026-05-17</p>", "<p>2027-05-17</p>"),
    ],
)
def test_other_years_and_days_count(before: str, after: str) -> None:
    assert changed(f"<main>{TEXT}{before}{TEXT}</main>", f"<main>{TEXT}{after}{TEXT}</main>")


# Elements that belong to the content inside <main> and its sections, but not outside of them.
LANDMARKS = [
    "<header>@</header>",
    "<footer>@ <a href='/imprint?@'>Imprint</a></footer>",
    "<div role=banner>@</div>",
    "<div role=contentinfo>@</div>",
    "<div id=footer>@</div>",
    "<div class=site-info>@</div>",
]


@pytest.mark.parametrize("markup", LANDMARKS)
def test_header_and_footer_of_the_page_do_not_count(markup: str) -> None:
    one, two = markup.replace("@", "1"), markup.replace("@", "2")
    assert not changed(TEXT + one, TEXT + two)
    assert changed(f"<main>{TEXT}{one}</main>", f"<main>{TEXT}{two}</main>")


# Elements that belong to the content everywhere.
CONTENT = [
    "<p>@</p>",
    "<h1>Page @</h1>",
    "<div>@</div>",
    "<table><tr><td>@</td></tr></table>",
    "<ul><li>@</ul>",
    "<pre>@</pre>",
    "<section>@</section>",
    "<article>@</article>",
    "<article><header>@</header></article>",
    "<article><aside>@</aside></article>",
    "<section><footer>@</footer></section>",
    "<aside role=note>@</aside>",
    "<aside class='footnote brackets'>@</aside>",
    "<div class=has-sidebar>@</div>",
    "<div class=comments><h3>Description</h3><p>@ " + "Own text. " * 30 + "</p></div>",
    "<div class='post category-random'>@</div>",
    "<div class=random-page><h1>@</h1></div>",
    "<div class='post category-related tag-comments'>@</div>",
    "<div id=sidebar-stories>@</div>",
    "<div class=menu><p>Fish and chips £@</p><p>Pie £9</p></div>",
    "<div class=menu-card><p>Fish and chips £@</p><p>Pie £9</p></div>",
    "<div class=no-navigation><p>Text @</p><a href=/>Home</a></div>",
    "<div class=menuetto><a href='/@'>Minuet @</a></div>",
    "<div class=widget><p>A page builder's text @</p></div>",
    "<form><h1>An ASP.NET page @</h1></form>",
    "<form><table><tr><td>@</table></form>",
    "<form><h4>Posts of a topic</h4><p>Post @</p><input type=checkbox><input type=hidden><input type=submit></form>",
    f"<form method=post><input type=hidden><div><p>{PROSE} Answer @</p></div><textarea></textarea></form>",
    "<a href='/@'>Next</a>",
    "<a href='/watch?v=@'>Film</a>",
    "<a href='/page?sid=@'>Next</a>",
    "<a href='/tree?id=0123456789abcdef0123456789abcdef0123456@'>Version</a>",
    "<a href='/page?id=0123456789abcdef0123456789abcd@'>Next</a>",
    "<img src='/photo.php?id=0123456789abcdef0123456789abcde@'>",
    "<img src='/photo-@.jpg'>",
    "<img src='/photo.php?id=@'>",
    "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw=' data-src='/photo-@.jpg'>",
    "<img src='/photo.jpg' alt='Photo @'>",
    "<iframe src='https://player.example/@'></iframe>",
    "<video src='film-@.mp4'></video>",
    "<meta itemprop=price content='1@.99'>",
    "<link itemprop=availability href='https://schema.org/InStock@'>",
    '<script type="application/ld+json">{"offers": {"price": 1@.5}}</script>',
    '<script type="application/ld+json">{"offers": {"price": "1@,50 \\"net\\""}}</script>',
    '<script type="application/ld+json">{"headline" : "News @"}</script>',
    "<p>Price: @9.99 EUR</p>",
    "<p>Version 15.@</p>",
    "<p>Chapter @ reviews the tides</p>",
    "<p>It takes @ hours</p>",
    "<p>Visiting hours: @ to 5</p>",
    "<p>Exhibits @ and 4</p>",
    "<p>Whitsun, June @</p>",
    "<p>Lighthouse @</p>",
    "<p>Since 199@</p>",
    "<p>The ferry leaves Nov 2@, 2026</p>",
    "<p>Posted @ notes</p>",
    "<p>We moved @ ferries to the northern quay</p>",
    "<p>Asked to come by @ May boats</p>",
    "<p>A prize for members: @ days of travel</p>",
    "<p>caf\u00e9 @</p>",
    "<p>\u00a0@</p>",
]


@pytest.mark.parametrize("markup", CONTENT)
@pytest.mark.parametrize("frame", ["<body>%s%s", "<body><nav>Menu</nav><main>%s%s</main>"])
def test_content_counts(frame: str, markup: str) -> None:
    pages = [frame % (TEXT, markup.replace("@", number)) for number in "12"]
    assert changed(*pages)


def test_the_size_is_fixed() -> None:
    assert len(of(TEXT)) == len(of("<p>")) == FINGERPRINT_BYTES


SAME = [
    (TEXT, TEXT.replace("><", ">\n\t<").replace(" ", " \n ")),
    ("<p>One two</p><p>three</p>", "<div><p>One&nbsp;two</p>\r\n\r\n<p class=x>three</p></div>"),
    ("<p>One <b>two</b></p>", "<p>One <strong>two</strong></p>"),
    ("<title>A  page</title><p>One", "<title>\n A page </title><p>One"),
    ("<p>One<svg><title>1</title></svg>", "<p>One<svg><title>1</title></svg></p>"),
]


@pytest.mark.parametrize(("before", "after"), SAME)
def test_white_space_and_markup_do_not_count(before: str, after: str) -> None:
    assert not changed(before, after)


DIFFERENT = [
    ("<title>One</title><p>Text", "<title>Two</title><p>Text"),
    ("<p>One two</p>", "<p>Two one</p>"),
    ("<a href=/a>A</a><a href=/b>B</a>", "<a href=/b>A</a><a href=/a>B</a>"),
    ("<p>One</p>", "<title>One</title>"),
    ("<p>One</p><p>1 comment, by Ann</p>", "<p>One</p><p>1 comment, by Bob</p>"),
]


@pytest.mark.parametrize(("before", "after"), DIFFERENT)
def test_words_links_and_title_count(before: str, after: str) -> None:
    assert changed(before, after)


# The main content inside unmarked surroundings.
MAIN = [
    "<main>%s</main>",
    "<div role=main>%s</div>",
    "<div id=mw-content-text>%s</div>",
    "<div id=content>%s</div>",
    "<div id=content class=menu-open>%s</div>",
    "<div id=main-content>%s</div>",
    "<article>%s</article>",
    "<article>%s<article class=teaser>Inner</article></article>",
    "<article>%s</article><div id=comments><article>First</article></div>",
    "<div class='single entry-content'>%s</div>",
    "<div class=has-sidebar><main class=sidebar>%s</main></div>",
    "<div id=main><div id=content>%s</div>Edited by Jo</div>",
]


@pytest.mark.parametrize("frame", MAIN)
def test_only_the_main_content_counts(frame: str) -> None:
    before, surrounded = ("<body><div>Slogan %d</div>" + frame % TEXT + "<div>Weather %d</div>" for _ in range(2))
    assert not changed(before % (1, 1), surrounded % (2, 3))
    assert changed(before % (1, 1), before.replace("six", "seven") % (1, 1))


WHOLE_BODY = [
    pytest.param("<main> </main><div>%s</div>", id="empty main"),
    pytest.param("<article>Teaser</article><div>%s</div>", id="the article is a teaser"),
    pytest.param("<div id=content></div><div>%s</div>", id="an empty shell"),
    pytest.param("<article>A</article><article>B</article><div>%s</div>", id="two articles"),
    pytest.param("<div class=sidebar>%s</div>", id="nothing else than a sidebar"),
    pytest.param("<nav>%s</nav>", id="nothing else than navigation"),
    pytest.param("<form>%s</form>", id="nothing else than a form"),
    pytest.param("<table><tr><td>Menu<td>%s</table>", id="a table"),
]


@pytest.mark.parametrize("frame", WHOLE_BODY)
def test_without_main_content_the_whole_body_counts(frame: str) -> None:
    assert changed(frame % TEXT, frame % TEXT.replace("six", "seven"))
    assert changed(frame % TEXT, frame % TEXT.replace("/tides", "/ebb"))


def test_the_text_around_an_excluded_element_is_neither_joined_nor_lost() -> None:
    article = (
        "<main>One<div>two<nav>menu<b>x</b></nav>three<ul><li>four</ul>five</div>six<aside>side</aside>seven</main>"
    )
    bare = "<main>One<div>twothree<ul><li>four</ul>five</div>sixseven</main>"
    assert of(article) == of(bare)
    for word in ("One", "two", "three", "four", "five", "six", "seven"):
        assert changed(article, article.replace(word, "eight"))


def test_the_tree_stays_unchanged() -> None:
    document = page(f"<body><nav>Menu</nav>{TEXT}<div id=comments>First</div>tail<script>1</script>")
    before = etree.tostring(document.root)
    fingerprint(document)
    assert etree.tostring(document.root) == before


POST = """<title>{title}</title><header>Journal</header><main><h1>{title}</h1><div class=entry-content>{text}</div>
<div class=wp-block-comments><h2>{comments} responses</h2><ol>{comment}</ol></div></main>
<footer><ul class=wp-block-latest-posts><li>{latest}</ul></footer>"""
LISTED = "<main><h1>Posts</h1><ul>{posts}</ul></main><footer><ul class=wp-block-latest-posts><li>{latest}</ul></footer>"


def test_an_edit_a_comment_and_a_new_post_change_only_pages_with_changed_main_content() -> None:
    post = {"title": "Tides", "text": "High at six.", "comments": "1", "comment": "<li>Nice", "latest": "Cranes"}
    assert changed(POST.format(**post), POST.format(**{**post, "text": "High at seven."}))
    assert not changed(POST.format(**post), POST.format(**{**post, "comments": "2", "comment": "<li>Nice<li>Thanks"}))
    assert not changed(POST.format(**post), POST.format(**{**post, "latest": "Winches"}))
    assert changed(
        LISTED.format(posts="<li>Cranes<li>Tides", latest="Cranes"),
        LISTED.format(posts="<li>Winches<li>Cranes<li>Tides", latest="Winches"),
    )


HOSTILE = [
    pytest.param(lambda n: "<div>" * n(2_000) + "<header></header>" * n(20_000), id="deep landmarks"),
    # Of 200 menus 500 links each are looked at. Up to these limits the time grows with both.
    pytest.param(lambda n: "<ul class=menu>" * n(1_500) + "<a href=/>x</a>" * 600, id="nested menus"),
    pytest.param(lambda n: "<ul class=menu>" * 250 + "<a href=/>x</a>" * n(50_000), id="links in nested menus"),
    pytest.param(lambda n: "<ul class=menu>" * n(900) + "<a href=/>" * n(900) + "x" * n(1_000_000), id="nested links"),
    pytest.param(lambda n: "<nav>" * n(1_500) + "<a href=/>x</a>" * n(50_000), id="nested navigation"),
    pytest.param(
        lambda n: "<nav>" + "<div>" * n(1_500) + "<nav></nav>" * n(50_000), id="navigation deep in navigation"
    ),
    pytest.param(
        lambda n: "<main>x</main>" + "<div>" * n(1_500) + "<nav></nav>" * n(50_000), id="navigation beside the content"
    ),
    pytest.param(lambda n: "<div>" * n(1_500) + "<meta itemprop=price content=1>" * n(50_000), id="deep prices"),
    pytest.param(lambda n: "<p>x<script></script>" * n(30_000), id="scripts between the paragraphs"),
    pytest.param(lambda n: "<article>" * n(1_500), id="nested articles"),
    pytest.param(lambda n: "<p>" + "comment" * n(60_000), id="comments and comments"),
    pytest.param(lambda n: "<p>" + "1.234" * n(60_000) + "views", id="a long number"),
    pytest.param(lambda n: "<p>last updated" + "1 " * n(60_000), id="a long date"),
    pytest.param(lambda n: "<p>" + "accessed 1 May 2020 " * n(30_000), id="many dates of access"),
    pytest.param(lambda n: "<div>Views</div>" * n(30_000), id="many headings of columns"),
    pytest.param(
        lambda n: "<div><p>Views</p><p>1</p><p>2</p></div>" * n(10_000), id="many rows with headings of columns"
    ),
    pytest.param(
        lambda n: '<script type="application/ld+json">' + '"price":"\\' * n(40_000) + "</script>", id="open strings"
    ),
    pytest.param(lambda n: "<a href='" + "?s=" * n(60_000) + "'>x</a>", id="a long query"),
]


@pytest.mark.slow
@pytest.mark.parametrize("markup", HOSTILE)
def test_hostile_pages_take_linear_time(markup: Callable[[Amount], str]) -> None:
    assert_linear(lambda n: page(markup(n)), fingerprint)
    assert len(fingerprint(page(markup(int)))) == FINGERPRINT_BYTES


@given(markup=st.text(alphabet=st.sampled_from(list("<>/ \"'=&;abdefilmnorstuvwxy012ago©")), max_size=400))
def test_no_markup_raises(markup: str) -> None:
    assert len(of(f"<body>{markup}")) == FINGERPRINT_BYTES


names = st.sampled_from(["div", "main", "article", "nav", "header", "aside", "form", "p", "ul", "script", "table"])
kinds = st.sampled_from(["", " class=comments", " id=content", " role=main", " class=menu", " class=sidebar"])
trees = st.recursive(
    st.sampled_from(["word", "12 views", "<a href=/x>link</a>", "<img src=i.png>"]),
    lambda parts: st.builds(
        lambda name, kind, inner, tail: f"<{name}{kind}>{''.join(inner)}</{name}>{tail}",
        names,
        kinds,
        st.lists(parts, max_size=4),
        st.sampled_from(["", "tail"]),
    ),
    max_leaves=15,
)


@given(tree=trees)
def test_the_same_page_has_the_same_fingerprint(tree: str) -> None:
    document = page(f"<body>{tree}")
    assert fingerprint(document) == fingerprint(document) == of(f"<body>\n{tree}\n")


def test_the_age_of_a_post_may_become_its_date_with_or_without_a_year() -> None:
    post = "<span>asked</span> <span>%s</span> <span>in</span> <a href=/ferries>Ferries</a>"
    shown = ("4 days</span><span> ago", "Nov 25", "Nov 25, 2026")
    assert len({of(TEXT + post % age) for age in shown}) == 1


def test_an_age_in_an_element_with_a_date_may_have_the_word_ago_behind_it() -> None:
    post = "asked <span><time datetime='2026-11-25T21:30:00+0000'>%s</time></span>%s in <a href=/ferries>Ferries</a>"
    assert not changed(TEXT + post % ("5 days", "<span> ago</span>"), TEXT + post % ("Nov 25", ""))


def test_an_age_with_a_word_for_its_number_counts_as_one_with_a_figure() -> None:
    closed = "<span title='2026-10-02 14:00:00 UTC'><b>Closed: Fixed</b> %s</span> by Ann"
    assert not changed(TEXT + closed % "a month ago", TEXT + closed % "2 months ago")
    assert changed(TEXT + closed % "a month ago", TEXT + closed % "a month")
