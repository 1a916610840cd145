"""Makes the pictures of the HTML report: `python docs/picture.py [DIRECTORY]`. It needs the extra `test` and Chromium.

A made shop is crawled twice on loopback. Between the crawls it gets faults, which the report then shows.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
SITE = "http://www.example.com"
SIZE = {"width": 1240, "height": 1010}
PAGES = {
    "shoes": 46, "boots": 31, "sandals": 24, "care": 9, "help": 14, "blog/2025": 38, "blog/2026": 27, "stores": 61,
}  # fmt: skip
"""Number of pages of each directory."""
NOINDEX = "<meta name='robots' content='noindex'>"

sys.path.insert(0, str(ROOT))

from tests.support.browser import chromium, opened  # noqa: E402
from tests.support.program import Program  # noqa: E402
from tests.support.webserver import Answer, Page, WebServer, page  # noqa: E402


def shop(*, faulty: bool) -> dict[str, Page]:
    """Return the answers to all addresses of the shop."""
    found: dict[str, Page] = {f"{SITE}/": page(*(f"/{name}/" for name in PAGES), title="Home - Example Shoes")}
    for name, number in PAGES.items():
        links = [f"/{name}/{item}" for item in range(1, number)]
        found[f"{SITE}/{name}/"] = page(*links, "/", title=f"{name.capitalize()} - Example Shoes")
        for link in links:
            found[SITE + link] = page("/", f"/{name}/", title=f"{link[1:]} - Example Shoes", head=dated(link))
    found[f"{SITE}/robots.txt"] = Answer("User-agent: *\nDisallow: /help/\n", content_type="text/plain")
    if faulty:
        add_faults(found)
    return found


def dated(link: str) -> str:
    day, month = 1 + len(link) % 9, 1 + sum(map(ord, link)) % 12
    return f'<meta property="article:modified_time" content="2025-{month:02}-{day:02}">'


def add_faults(found: dict[str, Page]) -> None:
    for item in range(3, 10):
        found[f"{SITE}/sandals/{item}"] = Answer("Not found", status=404)
    for item in (2, 5, 6):
        found[f"{SITE}/stores/{item}"] = Answer("Error", status=500)
    for item in range(1, 5):
        found[f"{SITE}/blog/2025/{item}"] = page("/", title="Old", head=NOINDEX)
    for item in (4, 8):
        found[f"{SITE}/boots/{item}"] = Answer(status=301, headers={"Location": f"{SITE}/boots/{item + 1}"})
    found[f"{SITE}/care/3"] = page("/", title="Page not found", body="<p>404: this page does not exist.</p>")
    found[f"{SITE}/shoes/99"] = page("/", title="shoes/99 - Example Shoes")
    found[f"{SITE}/shoes/"] = page(*(f"/shoes/{item}" for item in (*range(1, 46), 99)), title="Shoes - Example Shoes")


def main(images: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary, WebServer() as server:
        program = Program(Path(temporary))
        program.variables |= {"http_proxy": server.url(), "no_proxy": ""}
        for faulty in (False, True):
            server.pages = shop(faulty=faulty)
            done = program.run("crawl", f"{SITE}/", "-q", "--html-report", "report.html", "-s", "RETRY_TIMES=0")
            if done.code:
                raise SystemExit(done.err)
        with chromium() as browser, opened(browser, program.directory / "report.html", width=SIZE["width"]) as shown:
            shown.page.set_viewport_size(SIZE)  # type: ignore[arg-type]
            images.mkdir(exist_ok=True)
            shown.page.screenshot(path=images / "report.png")
            shown.page.locator("#tree-view").screenshot(path=images / "report-tree.png")
    for picture in sorted(images.glob("report*.png")):
        print(f"{picture}: {picture.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
