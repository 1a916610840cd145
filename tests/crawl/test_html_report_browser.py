"""The HTML report in a real browser: one test for each promise about what a reader can see and do."""

from __future__ import annotations

import re
import sys
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.inventory.lookup import open_inventory
from sitemap_crawler.report.html.site_index import SiteLine, render_index
from sitemap_crawler.report.html.writer import make_page
from tests.support.browser import chromium, opened
from tests.support.paths import ROOT
from tests.support.report_inventory import ATTACKS, SITE, make_report_inventory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.support.program import Program

pytestmark = pytest.mark.slow

WIDTHS = (1360, 390, 320)
SCHEMES = ("light", "dark")
MAX_ELEMENTS = 5_000
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
SECTIONS = [
    "summary",
    "todo",
    "reasons",
    "changes",
    "tree",
    "clicks",
    "dates",
    "server",
    "rendering",
    "engines",
    "runs",
    "urls",
    "about",
]


CLICK_ALL_NUMBERS = """
[...document.querySelectorAll(":is(.alarms, .tiles, .card) a[href='#urls']")].flatMap((link) => {
  const digits = link.textContent.trim().match(/^[0-9]+/);
  if (!digits) return [];
  link.click();
  return [[digits[0], document.getElementById("found").textContent, Object.keys(link.dataset), link.outerHTML]];
})
"""
"""Returns of each link with a number: the number, what the table then shows, the filters, and the link itself."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("report"), hostile=False)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("attacked"), hostile=True)


def write(directory: Path, **options: Any) -> Path:
    inventory = make_report_inventory(directory / "a.sqlite", **options)
    file = directory / "report.html"
    file.write_bytes(make_page(inventory).data)
    return file


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["report", "attacked"])
def test_nothing_is_loaded_logged_or_thrown(
    browser: Browser, request: pytest.FixtureRequest, kind: str, width: int, scheme: str
) -> None:
    path: Path = request.getfixturevalue(kind)
    with opened(browser, path, width=width, scheme=scheme) as page:
        assert page.requests == [path.as_uri()]
        assert page.messages == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.querySelectorAll('*').length") <= MAX_ELEMENTS
        sections = page.evaluate("[...document.querySelectorAll('main > section')].map(section => section.id)")
        assert sections == SECTIONS


@pytest.mark.parametrize(("width", "scheme"), [*zip(WIDTHS, cycle(SCHEMES), strict=False)])
def test_axe_finds_no_violation(browser: Browser, report: Path, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with opened(browser, report, width=width, scheme=scheme) as page:
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        page.page.locator("#nodes > li").first.click()
        page.page.locator("#rows .opener").first.click()
        found = Axe().run(page.page, options={"runOnly": {"type": "tag", "values": AXE_TAGS}})
        violations = [
            (one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found.response["violations"]
        ]
        assert violations == []


def test_the_policy_admits_only_our_two_texts(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert len(policy) == 1
    assert "unsafe" not in policy[0]
    assert policy[0].startswith("default-src &#39;none&#39;; ")
    assert re.findall(r"<script[^>]*>", text) == ['<script type="application/json" id="data">', "<script>"]
    assert not re.search(r"<[^>]* (?:style|on\w+)=", text.partition('<script type="application/json"')[0])
    assert '<meta name="robots" content="noindex, nofollow">' in text
    assert '<meta name="referrer" content="no-referrer">' in text


@pytest.mark.parametrize("width", [1360, 390])
def test_an_attack_does_nothing_and_is_shown(browser: Browser, attacked: Path, width: int) -> None:
    with opened(browser, attacked, width=width) as page:
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        for line in page.page.locator("#nodes > li").all():
            line.hover()
        for opener in page.page.locator("#rows .opener").all()[:20]:
            opener.click()
        for place in page.page.locator("#rows .url").all()[:20]:
            place.hover()
        assert page.evaluate("window.attacked") is None
        assert page.messages == []
        addresses = page.evaluate("[...document.links].map(link => link.href)")
        assert addresses
        assert all(address.startswith(("https://", f"{attacked.as_uri()}#")) for address in addresses)
        assert page.evaluate("document.scripts.length") == 2
        assert page.evaluate("document.querySelectorAll('main img, main [onload], main [onerror]').length") == 0
        shown = page.evaluate("document.querySelector('main').textContent")
        for attack in ATTACKS[:10]:
            assert attack in shown
        assert not re.search("[\u202e\u2028\x1b\x07]", shown)
        assert r"\u202eto left" in shown


def test_links_to_the_site_tell_it_nothing(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        relations = page.evaluate(
            "[...new Set([...document.querySelectorAll('a[href^=http]')].map(link => link.rel))]"
        )  # fmt: skip
        assert relations == ["noreferrer noopener nofollow"]


def test_without_scripts_all_facts_are_there(browser: Browser, report: Path) -> None:
    with opened(browser, report, scripts=False) as page:
        for selector in ("h1", ".tiles", ".alarms", "#todo details", "#reasons li", "#changes li", "#nodes li"):
            assert page.page.locator(selector).first.is_visible(), selector
        assert page.page.locator("#rows tbody tr").count() == 50
        # No control is visible that would do nothing.
        controls = page.page.locator("button, input, select")
        assert [one.get_attribute("class") for one in controls.all() if one.is_visible()] == []


def test_without_styles_all_facts_are_there(browser: Browser, report: Path, tmp_path: Path) -> None:
    # As Jenkins serves reports: neither scripts nor inline styles.
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    served = tmp_path / "jenkins.html"
    served.write_text(report.read_text(encoding="utf-8").replace("<meta charset", f"{policy}<meta charset", 1))
    with opened(browser, served) as page:
        assert page.page.locator("#rows tbody tr").count() == 50
        widest = page.evaluate("Math.max(...[...document.querySelectorAll('svg')].map(one => one.clientWidth))")
        assert widest <= 50 * 14
        controls = page.page.locator("button, input, select")
        assert [one.get_attribute("class") for one in controls.all() if one.is_visible()] == []


def test_the_keyboard_reaches_everything(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        press = page.page.keyboard.press
        press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
        press("Enter")
        assert page.evaluate("document.activeElement.id") == "report"
        stops = page.evaluate("document.querySelectorAll('#nodes [tabindex=\"0\"]').length")
        assert stops == 1


def test_the_tree_can_be_walked_with_keys(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        press = page.page.keyboard.press
        names = page.evaluate("[...document.querySelectorAll('#nodes .name')].map(one => one.textContent)")
        assert names == ["docs/", "blog/", "pages right here"]
        page.page.locator("#nodes > li").nth(0).focus()
        assert page.text("#chosen p").startswith("docs/: ")
        press("ArrowDown")
        assert page.text("#chosen p").startswith("blog/: 40 URLs, ")
        assert page.evaluate("document.querySelector('#chosen p').getAttribute('aria-live')") == "polite"
        press("Home")
        press("Enter")
        assert page.text(".crumbs").startswith("/ \u203a docs/")
        press("Enter")
        assert page.text(".crumbs").startswith("/ \u203a docs/ \u203a deep/")
        press("Escape")
        press("Escape")
        assert page.text(".crumbs").startswith("/ ")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("docs/: ")
        press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Show in the table"
        press("Enter")
        assert page.text("#found") == f"{count(report, 'docs/')} of 128 URLs."


def count(report: Path, prefix: str) -> int:
    """Return the number of URLs in a directory, by the inventory."""
    with open_inventory(report.with_name("a.sqlite")) as inventory:
        ids = inventory.select().ids
        found = inventory.urls_of(ids).values()
    return sum(url.startswith(SITE + prefix) for url in found)


def test_a_site_without_directories_is_drawn_by_clicks(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        page.page.get_by_role("button", name="By clicks").click()
        assert "by the clicks that lead to them first" in page.text(".crumbs")
        assert page.text(".crumbs").startswith("/ 128 URLs")
        total = "[...document.querySelectorAll('#nodes .total')].reduce((sum, one) => sum + Number(one.textContent), 0)"
        assert page.evaluate(total) == 128


def test_the_table_can_be_searched_filtered_and_sorted(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        shown = "[...document.querySelectorAll('#rows tbody tr')].length"
        assert page.text("#found") == "128 of 128 URLs."
        page.page.locator("#q").fill("page-100")
        assert page.text("#found") == "1 of 128 URLs."
        assert page.text("#rows tbody .url") == "/docs/page-100.html?view=full"
        page.page.locator("#q").fill("")
        page.page.locator("#reason").select_option("noindex")
        noindex = page.evaluate(shown)
        assert page.text("#found") == f"{noindex} of 128 URLs."
        assert page.text("#reasons a[data-reason=noindex]") == str(noindex)
        page.page.locator('.chips [data-group="*"]').click()
        head = page.page.locator("#rows thead th").nth(4)
        head.locator("button").focus()
        page.page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "descending"
        links = page.evaluate(
            "[...document.querySelectorAll('#rows [data-label=\"Links in\"]')].map(one => +one.textContent)"
        )
        assert links == sorted(links, reverse=True)
        page.page.get_by_role("button", name="Next").focus()
        page.page.keyboard.press("Enter")
        assert page.text("#pager span") == "51 to 100 of 128"


def test_a_row_opens(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        opener = page.page.locator("#rows .opener").first
        opener.focus()
        page.page.keyboard.press("Enter")
        assert opener.get_attribute("aria-expanded") == "true"
        assert "sitemap-crawler explain 'https://www.example.com/" in page.text("tr.detail")
        page.page.keyboard.press("Enter")
        assert page.page.locator("tr.detail").count() == 0


def test_every_number_leads_to_as_many_rows(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        shown: set[str] = set()
        for number, found, keys, markup in page.evaluate(CLICK_ALL_NUMBERS):
            assert found == f"{number} of 128 URLs.", markup
            shown |= set(keys)
        assert shown == {
            "reason",
            "only",
            "group",
            "listed",
            "clicks",
            "links",
            "age",
            "source",
            "answer",
            "engine",
            "rendering",
        }
        alarm = page.page.locator(".alarms li").first
        number = int(re.sub(r"\D.*", "", alarm.inner_text().strip()))
        alarm.get_by_text("Show them").click()
        assert page.text("#found") == f"{number} of 128 URLs."
        assert page.text("#filters").startswith("Only URLs that left the sitemap in this run")
        page.page.get_by_role("button", name="Show all").click()
        assert page.text("#found") == "128 of 128 URLs."


def test_the_pages_that_a_run_changed_are_shown_with_what_google_says(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        for kind in ("removed", "changed"):
            line = page.page.locator("#changes details", has_text=kind.capitalize())
            line.evaluate("line => line.open = true")
            number = line.locator(".total").inner_text()
            line.get_by_text("Show them in the table").click()
            assert page.text("#found") == f"{number} of 128 URLs."
            assert page.text("#filters").startswith(f"Only URLs that this run {kind} in the sitemap")
        page.page.locator("#engines .total a").first.click()
        page.page.locator("#rows .opener").first.click()
        state = page.text("#engines .rows .name")
        assert f"Google says {state}" in page.text("tr.detail")


def test_every_count_agrees(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        chips = page.evaluate("[...document.querySelectorAll('.chips .badge')].map(one => +one.textContent)")
        groups = page.evaluate("[...document.querySelectorAll('#reasons h3 .total')].map(one => +one.textContent)")
        reasons = page.evaluate("[...document.querySelectorAll('#reasons li .total')].map(one => +one.textContent)")
        assert chips[0] == sum(chips[1:]) == sum(groups) == sum(reasons) == 128
        assert chips[1:] == groups
        assert page.text(".crumbs").startswith("/ 128 URLs")


def test_colours_can_be_chosen_and_stay(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        ground = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ground)
        page.page.get_by_role("button", name="dark", exact=True).click()
        dark = page.evaluate(ground)
        assert dark != light
        page.page.reload()
        assert page.evaluate(ground) == dark


def test_it_prints_short_and_whole(browser: Browser, tmp_path: Path) -> None:
    path = write(tmp_path, pages=500)
    with opened(browser, path) as page:
        printed = page.page.pdf(format="A4")
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= 15
        page.page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.page.locator("details:not([open])").count() == 0
        visible = [one.is_visible() for one in page.page.locator("#rows tbody tr").all()]
        assert visible == [True] * 25 + [False] * 25
        for selector in (".side", "#controls", ".toggle", "#pager"):
            assert not page.page.locator(selector).is_visible(), selector
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.page.locator("details:not([open])").count() > 0


def test_a_report_of_500_pages_is_small(tmp_path: Path) -> None:
    assert write(tmp_path, pages=500).stat().st_size <= 250_000


def test_a_report_of_many_pages_is_bounded_and_says_what_it_leaves_out(browser: Browser, tmp_path: Path) -> None:
    file = write(tmp_path, pages=20_000)
    total = 20_000 + 1 + 7
    assert file.stat().st_size <= 2_000_000
    with opened(browser, file) as page:
        assert page.evaluate("document.getElementsByTagName('*').length") <= MAX_ELEMENTS
        rows = page.evaluate("JSON.parse(document.getElementById('data').textContent).rows.length")
        assert rows == 10_000
        left_out = f"10,000 of these {total:,} URLs are in this report. All of them: sitemap-crawler pages "
        assert page.text("#found").startswith(left_out)
        page.page.locator("#q").fill("no such address")
        assert page.text("#found") == "0 of the 10,000 URLs that this report holds."


@pytest.mark.parametrize("width", WIDTHS)
def test_the_index_of_several_sites_is_as_good(browser: Browser, tmp_path: Path, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    overview = make_page(make_report_inventory(tmp_path / "a.sqlite", hostile=True)).overview
    lines = [SiteLine(ATTACKS[0], None, None, ATTACKS[1]), SiteLine("a", "a.html", overview, "")]
    path = tmp_path / "index.html"
    path.write_text(render_index(lines), encoding="utf-8")
    with opened(browser, path, width=width) as page:
        assert (page.requests, page.messages) == ([path.as_uri()], [])
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert ATTACKS[0] in page.evaluate("document.body.textContent")
        assert page.evaluate("document.scripts.length") == 0
        found = Axe().run(page.page, options={"runOnly": {"type": "tag", "values": AXE_TAGS}})
        assert [one["id"] for one in found.response["violations"]] == []


def test_the_pictures_of_the_documents_can_be_made(browser: Browser, program: Program) -> None:
    images = program.directory / "images"
    done = program.execute(sys.executable, str(ROOT / "docs" / "picture.py"), str(images))
    assert done.code == 0, done.err
    assert sorted(path.name for path in images.iterdir()) == ["report-tree.png", "report.png"]
    assert all(path.stat().st_size < 300_000 for path in (ROOT / "docs" / "images").glob("*.png"))
