"""What the pages of a shape yield, and which groups are refused for it."""

from __future__ import annotations

from functools import partial
from itertools import count

import pytest

from sitemap_crawler.traps.groups import FEW_SAMPLES, MAX_PATIENCE, PLAIN_SAMPLES, SAMPLES, SURE_SAMPLES
from sitemap_crawler.traps.idle_parameters import MAX_PARAMETERS
from sitemap_crawler.traps.own_texts import MIN_PAGES
from sitemap_crawler.traps.progress import MIN_WINDOW
from sitemap_crawler.traps.shapes import shape_of
from sitemap_crawler.traps.turns import LATE_TURN
from sitemap_crawler.traps.yields import Yields
from tests.support.shown_pages import HOST, show, texts_of


def show_variants(yields: Yields, number: int, *, of: str, to: str) -> list[str]:
    """Show pages that repeat others, and name another URL as canonical. Return the groups that are refused then."""
    refused: list[str] = []
    for index in range(number):
        url = HOST + of.format(index)
        yields.admit(url)
        _, groups = yields.add(url, texts_of(1), None, (), is_listable=False, canonical=HOST + to.format(index))
        refused += groups
    return refused


def test_a_page_yields_by_its_texts() -> None:
    yields = Yields()
    assert show(yields, "/a", 1, 2, 3, 4) is None
    assert show(yields, "/b", 1, 2, 3, 5) == 25
    assert show(yields, "/c", 1, 2, 6, 7) is None
    assert show(yields, "/d", 7, 1, 6, 2) == 0


def test_a_page_with_a_new_title_needs_less() -> None:
    yields = Yields()
    show(yields, "/a", *range(10))
    [percent, _] = yields.add(f"{HOST}/b", texts_of(*range(9), 11), "Another title", (), is_listable=True)
    assert percent is None
    [percent, _] = yields.add(f"{HOST}/c?x=1", texts_of(*range(9)), "A third title", (), is_listable=True)
    assert percent == 0


def test_texts_of_the_template_do_not_count() -> None:
    yields = Yields()
    for page in range(20):
        show(yields, f"/page-{page}", *range(10), 100 + page)
    assert show(yields, "/another", *range(10), 200) is None


def test_a_shape_that_only_repeats_is_refused_after_its_samples() -> None:
    yields = Yields()
    show(yields, "/list", 1, 2, 3)
    for number in range(SAMPLES - 1):
        show(yields, f"/list?sort={number}", 3, 2, 1)
        assert not yields.refuses(f"{HOST}/list?sort=x")
    show(yields, "/list?sort=z", 3, 2, 1)
    assert yields.refuses(f"{HOST}/list?sort=x")
    assert not yields.refuses(f"{HOST}/list?page=2")
    assert not yields.refuses(f"{HOST}/list")
    assert not yields.refuses(f"{HOST}/other?sort=x")


@pytest.mark.parametrize(
    ("canonical", "others", "samples"),
    [("/list", 0, SURE_SAMPLES), ("/list", 1, SAMPLES), ("/never/met", 0, SAMPLES), (None, 0, SAMPLES)],
)
def test_copies_of_known_pages_have_few_samples_if_they_say_so(
    canonical: str | None, others: int, samples: int
) -> None:
    yields = Yields()
    show(yields, "/list", 1, 2, 3, links=[f"{HOST}/list"])
    for number in range(samples):
        assert not yields.refuses(f"{HOST}/list?sort=x")
        url = f"{HOST}/list?sort={number}"
        yields.admit(url)
        named = None if canonical is None or number < others else HOST + canonical
        yields.refuse(yields.add(url, texts_of(1, 2), None, (), is_listable=named is None, canonical=named)[1])
    assert yields.refuses(f"{HOST}/list?sort=x")


def test_lists_of_several_directories_are_judged_together() -> None:
    yields = Yields()
    show(yields, "/list", 1, 2, 3)
    for number in range(SAMPLES):
        show(yields, f"/{'abc'[number % 3]}/list?sort={number}", 1, 2)
    yields.admit(f"{HOST}/never/seen")
    assert yields.refuses(f"{HOST}/never/seen?sort=x")


def test_the_first_url_of_a_path_is_requested_whatever_its_parameters_are() -> None:
    yields = Yields()
    show(yields, "/list", 1, 2, 3)
    for number in range(SAMPLES):
        show(yields, f"/{'abc'[number % 3]}/list?sort={number}", 1, 2)
    first = f"{HOST}/never/seen?sort=x"
    assert not yields.refuses(first)
    yields.admit(first)
    assert not yields.refuses(first)
    assert yields.refuses(f"{HOST}/never/seen?sort=y")


def test_the_first_url_of_a_path_says_nothing_about_others() -> None:
    """The posts of a forum are links to their topics, some of which are met by such a link only."""
    yields = Yields()
    text = count(1_000)
    for number in range(SAMPLES):
        topic = (next(text), next(text))
        for post in "ab":
            assert not yields.refuses(f"{HOST}/topic/{number}?post={post}")
            url = f"{HOST}/topic/{number}?post={post}"
            yields.admit(url)
            yields.refuse(yields.add(url, texts_of(*topic), None, (), is_listable=True)[1])
    assert yields.refuses(f"{HOST}/topic/0?post=c")
    yields.admit(f"{HOST}/topic/99?post=a")
    assert not yields.refuses(f"{HOST}/topic/99?post=a")
    assert yields.refuses(f"{HOST}/topic/99?post=b")


def test_one_directory_does_not_speak_for_others() -> None:
    yields = Yields()
    show(yields, "/list", 1, 2, 3)
    for number in range(2 * SAMPLES):
        show(yields, f"/a/list?sort={number}", 1, 2)
    assert yields.refuses(f"{HOST}/a/list?sort=x")
    assert not yields.refuses(f"{HOST}/b/list?sort=x")


def test_a_shape_that_yields_speaks_for_itself() -> None:
    yields = Yields()
    show(yields, "/", 1, 2, 3)
    text = count(1_000)
    for number in range(2 * SAMPLES):
        show(yields, f"/topic?id={number}", next(text), next(text))
        for name in "abc":
            show(yields, f"/{name}/copy?id={number}", 1, 2)
    yields.admit(f"{HOST}/d/copy")
    assert yields.refuses(f"{HOST}/d/copy?id=1")
    assert not yields.refuses(f"{HOST}/topic?id=999")


def test_one_more_parameter_than_a_refused_shape_has_few_samples() -> None:
    yields = Yields()
    show(yields, "/list", 1, 2, 3)
    for number in range(SAMPLES):
        show(yields, f"/list?sort={number}", 1, 2)
    for number in range(FEW_SAMPLES):
        assert not yields.refuses(f"{HOST}/list?sort=1&order=9")
        show(yields, f"/list?sort={number}&order=1", 1, 2)
    assert yields.refuses(f"{HOST}/list?sort=1&order=9")


def test_a_refused_shape_that_yields_is_opened_again() -> None:
    yields = Yields()
    show(yields, "/list", 1, 2, 3)
    for number in range(SAMPLES):
        show(yields, f"/list?sort={number}", 1, 2)
    assert show(yields, "/list?sort=last", 8, 9) is None
    assert not yields.refuses(f"{HOST}/list?sort=x")
    assert yields.reopened == {f"{HOST}/list?sort"}
    # Those of its URLs that were refused before have to come back, although nothing is refused now.
    assert yields.leaves_out


def test_pages_without_parameters_are_never_refused() -> None:
    yields = Yields()
    show(yields, "/", 1, 2, 3)
    for number in range(1_000):
        show(yields, f"/day/{number}", 1, 2)
    assert not yields.refuses(f"{HOST}/day/x1")


def test_new_pages_that_only_a_list_with_parameters_leads_to_are_a_yield() -> None:
    yields = Yields()
    show(yields, "/list", 1, 2, 3, links=[f"{HOST}/a"])
    assert show(yields, "/list?page=2", 1, 2, links=[f"{HOST}/b", f"{HOST}/list?page=3"]) is None
    assert show(yields, "/list?page=3", 1, 2, links=[f"{HOST}/b", f"{HOST}/list?page=4"]) == 0


def test_a_list_that_leads_to_new_numbered_pages_is_a_yield_until_their_row_shows_nothing_new() -> None:
    yields = Yields()
    show(yields, "/list", 1, 2, 3)
    assert show(yields, "/list?page=2", 1, 2, links=[f"{HOST}/issues/17"]) is None
    for number in range(SAMPLES):
        show(yields, f"/issues/{number}", 1, 2)
        show(yields, f"/notes/{number}", 1_000 + number)
    assert show(yields, "/list?page=3", 1, 2, links=[f"{HOST}/issues/999"]) == 0
    assert show(yields, "/list?page=4", 1, 2, links=[f"{HOST}/notes/999"]) is None


def test_what_only_pages_show_that_may_not_be_listed_is_new_on_a_page_that_may_be() -> None:
    yields = Yields()
    assert show(yields, "/print", 1, 2, 3, is_listable=False) is None
    assert show(yields, "/print?again=1", 1, 2, 3, is_listable=False) == 0
    assert show(yields, "/article?id=1", 1, 2, 3) is None
    assert show(yields, "/article?id=2", 1, 2, 3) == 0


def test_pages_that_the_run_before_has_listed_yield_again() -> None:
    yields = Yields()
    pages = [f"/list?page={number}" for number in range(MAX_PATIENCE + 2)]
    yields.earlier_pages = {hash(HOST + path) for path in pages}
    show(yields, "/all", *range(100))
    assert [show(yields, path, number) for number, path in enumerate(pages)] == [None] * len(pages)
    assert yields.refused == set()


def test_a_page_that_the_run_before_has_listed_stays_and_opens_no_refused_shape() -> None:
    yields = Yields()
    yields.refuse([f"{HOST}/list?page"])
    yields.earlier_pages = {hash(f"{HOST}/list?page=1")}
    show(yields, "/all", 1, 2, 3)
    assert show(yields, "/list?page=1", 1, 2) is None
    assert show(yields, "/list?page=2", 1, 2) == 0
    assert [yields.refuses(f"{HOST}/list?page={number}") for number in (1, 3)] == [False, True]
    assert (yields.refused, yields.reopened) == ({f"{HOST}/list?page"}, set())


def test_a_page_that_the_run_before_has_listed_although_it_repeats_stays() -> None:
    yields = Yields()
    yields.refuse([f"{HOST}/list?page"])
    yields.earlier_repeats = {hash(f"{HOST}/list?page=1")}
    show(yields, "/all", 1, 2, 3)
    assert show(yields, "/list?page=1", 1, 2) == 0
    assert [yields.refuses(f"{HOST}/list?page={number}") for number in (1, 3)] == [False, True]
    assert (yields.refused, yields.reopened) == ({f"{HOST}/list?page"}, set())


def test_a_sample_whose_texts_are_known_opens_no_refused_shape() -> None:
    yields = Yields()
    paths = [f"/topic?post={number}" for number in range(MIN_PAGES + 2)]
    show(yields, "/all", *range(len(paths)))
    for number, path in enumerate(paths[:-2]):
        show(yields, path, number)
    yields.refuse([f"{HOST}/topic?post"])
    yields.left_out.samples.update(HOST + path for path in paths)
    assert show(yields, paths[-2], len(paths) - 2) == 0
    assert yields.refused
    assert show(yields, paths[-1], len(paths) - 1, 100) is None
    assert not yields.refused


def test_what_an_earlier_run_has_seen_does_not_open_a_refused_shape() -> None:
    yields = Yields()
    show(yields, "/list", 7)
    yields.refuse([f"{HOST}/list?sort"])
    yields.texts.add_earlier(texts_of(1, 2))
    yields.links.add_earlier([f"{HOST}/a"])
    assert show(yields, "/list?sort=a", 1, 2, links=[f"{HOST}/a"]) == 0
    assert show(yields, "/other?sort=a", 1, 2) == 0
    assert show(yields, "/list?sort=b", 8, 9) is None


def test_a_run_is_exhausted_when_its_last_pages_showed_nothing_new() -> None:
    yields = Yields()
    for page in range(100):
        show(yields, f"/page?id={page}", 10 * page, 10 * page + 1)
    assert not yields.progress.is_exhausted
    for page in range(MIN_WINDOW + 100):
        assert not yields.progress.is_exhausted or page >= MIN_WINDOW
        show(yields, f"/page?id={page}", 0, 1)
    assert yields.progress.is_exhausted


def test_counts_outlive_the_process() -> None:
    yields = Yields()
    show(yields, "/list", 1, 2, 3)
    for number in range(SAMPLES - 1):
        show(yields, f"/list?sort={number}", 1, 2)
    later = Yields()
    later.groups.restore(yields.groups.counts)
    later.texts.restore(texts_of(1, 2, 3), "Title", is_listable=True)
    later.admit(f"{HOST}/list")
    assert show(later, "/list?sort=z", 1, 2) == 0
    assert later.refuses(f"{HOST}/list?sort=x")


def test_the_first_url_with_a_canonical_url_of_its_own_is_never_refused() -> None:
    yields = Yields()
    yields.admit(f"{HOST}/shop?first")
    yields.add(f"{HOST}/shop?first", texts_of(1), None, (), is_listable=True)
    yields.refuse(show_variants(yields, SAMPLES, of="/shop?in=5&object={0}", to="/shop?object={0}"))
    assert yields.refusing_group(f"{HOST}/shop?in=5&object=99") is not None
    for _ in range(2):
        assert not yields.refuses(f"{HOST}/shop?in=5&object=99")
        assert yields.refuses(f"{HOST}/shop?in=6&object=99"), "another one stands for it"
    yields.admit(f"{HOST}/shop?object=100")
    assert yields.refuses(f"{HOST}/shop?in=5&object=100"), "the canonical URL itself is admitted"
    assert yields.add(
        f"{HOST}/shop?in=5&object=99", texts_of(7), "New", (), is_listable=False, canonical=f"{HOST}/shop?object=99"
    ) == (None, [])
    assert not yields.reopened, "it says nothing of the others"
    yields.refuse([shape_of(f"{HOST}/shop?object=1").groups[0]])
    assert yields.refuses(f"{HOST}/shop?in=5&object=101"), "an endless row whose canonical URLs repeat, too"


def test_an_event_that_a_list_has_shown_is_listed_unless_a_simpler_url_stands_for_it() -> None:
    yields = Yields()
    yields.admit(f"{HOST}/list")
    yields.add(f"{HOST}/list", texts_of(*range(40)), "List", [f"{HOST}/list"], is_listable=True)

    def show(path: str, *numbers: int, is_listable: bool = True) -> int | None:
        yields.admit(HOST + path)
        return yields.add(HOST + path, texts_of(*numbers), "Calendar", (), is_listable=is_listable)[0]

    first = [show(f"/event?id={number}&week=1", number) for number in range(MIN_PAGES)]
    assert first == [0] * (MIN_PAGES - 1) + [None]
    assert show("/event?id=30&week=1", 30, is_listable=False) == 0
    assert show("/event?id=31", 31) == 0
    assert show("/event?week=1&id=31", 31) == 0, "the one with less parameters stands for it"
    assert show("/event?id=32&week=1", 32) is None
    for number in range(MIN_PAGES):
        assert show(f"/list?only={number}", number) == 0, "the page without parameters would show it"


def test_simpler_urls_of_many_numbered_parameters_are_not_looked_up() -> None:
    """Forty would have a million million, which ends no crawl. Their shape has three names."""
    yields = Yields()
    yields.admit(f"{HOST}/list")
    yields.add(f"{HOST}/list", texts_of(*range(40)), "List", (), is_listable=True)
    for number in range(2 * MIN_PAGES):
        url = f"{HOST}/find?" + "&".join(f"f[{index}]={number}" for index in range(MAX_PARAMETERS + 4))
        yields.admit(url)
        assert yields.add(url, texts_of(number), "Found", (), is_listable=True)[0] == 0


def test_a_list_is_a_page_of_its_own_if_it_says_so_and_has_a_title() -> None:
    yields = Yields()
    products = [f"{HOST}/shop?product={number}" for number in range(3)]
    for number, url in enumerate(products):
        yields.add(url, texts_of(number), f"Product {number}", (), is_listable=True, canonical=url)
    url = f"{HOST}/shop?category=1"
    for title, canonical, percent in (("Shoes", None, 0), ("Product 1", url, 0), ("Boots", url, None)):
        assert yields.add(url, texts_of(0, 1, 2), title, (), is_listable=True, canonical=canonical)[0] == percent


def test_pages_without_texts_prove_no_end() -> None:
    """Scripts may make their content."""
    yields = Yields()
    for page in range(3 * MIN_WINDOW):
        show(yields, f"/app/{page}")
    assert not yields.progress.is_exhausted


def test_redirects_and_files_that_only_repeat_are_refused_and_lead_on() -> None:
    yields = Yields()
    yields.admit(f"{HOST}/go")
    for number in range(2 * SAMPLES):
        assert yields.count_other(f"{HOST}/go?id={number}", [f"{HOST}/article-{number}/"]) == []
    refused = [yields.count_other(f"{HOST}/go?to={number}", [f"{HOST}/article-1/"]) for number in range(SAMPLES)]
    assert refused[:-1] == [[]] * (SAMPLES - 1)
    assert refused[-1] == [f"{HOST}/go?to"]


def test_a_url_that_a_page_names_as_canonical_is_requested_like_others() -> None:
    yields = Yields()
    for path in ("/a?id=1", "/a?id=2&from=b", "/a?id=2"):
        yields.admit(HOST + path)
    yields.refuse([shape_of(HOST + "/a?id=2").groups[0]])
    for number in range(2 * PLAIN_SAMPLES):
        show(yields, f"/b/{number}", 1)
    for named, by in (("/a?id=2", "/a?id=2&from=b"), ("/b/900", "/a?id=4")):
        url = HOST + named
        assert yields.refuses(url) or yields.admit(url) >= LATE_TURN
        yields.named.add(url, url=HOST + by)
        assert not yields.refuses(url)
        assert yields.admit(url) == 0
        assert yields.named.new.pop() == url
        yields.named.add(url, url=HOST + by)
        assert yields.named.new == []
    assert yields.refuses(HOST + "/a?id=3")


@pytest.mark.parametrize("is_known", [True, False])
def test_a_view_that_is_met_before_its_known_canonical_url_does_not_keep_its_shape_alive(*, is_known: bool) -> None:
    """Each answer of a forum has an address of its own, which shows the page of the question."""
    yields = Yields()
    refused: list[str] = []
    for number in range(2 * SAMPLES):
        url, question = (f"{HOST}{path}={number}" for path in ("/a?show", "/a?question"))
        for admitted in (url, question) if is_known else (url,):
            yields.admit(admitted)
        texts = texts_of(1) if number % 4 else texts_of(*range(100 + 9 * number, 109 + 9 * number))
        refused += yields.add(url, texts, None, (), is_listable=False, canonical=question)[1]
    assert set(refused) == ({shape_of(HOST + "/a?show=1").groups[0]} if is_known else set())


@pytest.mark.parametrize("named", ["/a?id=2&from=c", "/a?id=2&from=b&more=1", "/a?id=2&from=b"])
def test_a_canonical_url_that_is_not_simpler_may_go_on_for_ever(named: str) -> None:
    yields = Yields()
    yields.named.add(HOST + named, url=HOST + "/a?id=2&from=b")
    assert HOST + named not in yields.named
    assert yields.named.new == []


def test_a_title_that_only_pages_have_that_may_not_be_listed_is_new_on_a_page_that_may_be() -> None:
    """The address of one message of a topic, which is noindex, has the title of the topic."""
    yields = Yields()
    yields.add(f"{HOST}/a", texts_of(*range(9)), "Front", (), is_listable=True)
    assert yields.add(f"{HOST}/t?topic=1.msg5", texts_of(*range(9)), "Topic", (), is_listable=False)[0] == 0
    assert yields.add(f"{HOST}/topic", texts_of(*range(9)), "Topic", (), is_listable=True)[0] is None
    assert yields.add(f"{HOST}/again", texts_of(*range(9)), "Topic", (), is_listable=True)[0] == 0


def test_a_new_title_of_a_page_that_may_not_be_listed_proves_nothing() -> None:
    """The weeks of a calendar have titles of their own, and next to nothing else."""
    yields = Yields()
    yields.add(f"{HOST}/", texts_of(*range(9)), "Front", (), is_listable=True)
    show_week = partial(yields.add, links=(), title="Week")
    assert show_week(f"{HOST}/calendar?week=1", texts_of(*range(9), 11), is_listable=False)[0] == 10
    assert show_week(f"{HOST}/calendar?week=2", texts_of(*range(9), 12), is_listable=True)[0] is None


def test_the_first_url_of_a_path_is_that_of_the_run_before() -> None:
    """The page without parameters was left out. The views of it do not take its place."""
    yields = Yields()
    yields.refuse([shape_of(f"{HOST}/log/1?view=1").groups[0]])
    assert not yields.refuses(f"{HOST}/log/1?view=1")
    yields.admitted.add_earlier(f"{HOST}/log/1")
    assert yields.refuses(f"{HOST}/log/1?view=1")
