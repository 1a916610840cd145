"""Sites made with frameworks: Vue with addresses behind the hash, Svelte below a directory, an export of Next.js."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.sites.rendered.truth import FOREIGN, LISTED, NOINDEX, Fate, Site
from tests.support.rendered_site import conditional, data, files_of, served_files
from tests.support.webserver import Answer, Page, page

BUILT = datetime(2026, 2, 1, 12, tzinfo=UTC)
TOPICS = ("alloys", "bearings", "castings", "drives", "engines", "filters", "gears")
"""As in the source of the export."""
PARTS = 10
PANELS = 9


def hash_mode() -> Site:
    """Views that differ in the fragment are one page. Links from the first view lead to two others."""
    return Site(
        "the hash-mode site",
        {
            **served_files("hash", modified=BUILT),
            "/rooms.json": data([{"name": "The blue room", "href": "/rooms/blue.html"}, {"name": "Top", "href": "#/"}]),
            "/about.html": page("/", title="About"),
            "/rooms/blue.html": page("/", title="The blue room"),
            "/behind-a-hash.html": page(title="Tickets"),
        },
        {"/": LISTED, "/about.html": LISTED, "/rooms/blue.html": LISTED},
        never=("/behind-a-hash.html",),
    )


def panels() -> Site:
    """An application below a directory, which is the scope; the server has another site above it."""
    names = [f"panel-{number}" for number in range(1, PANELS + 1)]
    pages: dict[str, Page] = {
        **served_files("panels", prefix="/app", modified=BUILT),
        "/outside": page(title="Outside"),
        "/app/data/index.json": data(
            {"title": "Panels", "text": "All panels of the plant.", "links": [*names[:3], "gone"]}
        ),
    }
    for number, name in enumerate(names, 1):
        links = names[number : number + 2]
        text = f"Panel {number} shows the pressure of pump {number}."
        value = {"title": f"Panel {number}", "text": text, "links": links, "modified": f"2026-03-{number:02}"}
        pages[f"/app/data/{name}.json"] = data(value)
    return Site(
        "the Svelte panels",
        pages,
        {
            "/app/": LISTED,
            **{f"/app/{name}": Fate(lastmod=f"2026-03-{number:02}") for number, name in enumerate(names, 1)},
            "/app/gone": NOINDEX,
            "/outside": FOREIGN,
        },
        start="/app/",
        fallback=conditional(files_of("panels")["/index.html"], modified=BUILT),
        never=("/outside",),
    )


def static_export() -> Site:
    """A complete export: every page has its text and links without a browser. Scripts bring a button to life."""
    fates = {"/": LISTED, "/authors/": LISTED}
    for topic in TOPICS:
        fates[f"/guides/{topic}/"] = LISTED
        fates |= {f"/guides/{topic}/{part}/": LISTED for part in range(1, PARTS + 1)}
    pages = served_files("export")
    missing = pages["/404.html"]

    def not_found(_: object) -> Answer:
        return Answer(files_of("export")["/404.html"], status=404)

    assert missing
    return Site("the Next.js export", pages, fates, fallback=not_found, rendered_at_most=0.15)


def script_menu() -> Site:
    """Pages from a server whose menu, and with it every link, is made by a script."""
    sections = ("news", "people", "projects", "places")
    pages: dict[str, Page] = {"/menu.js": conditional(MENU, "text/javascript")}
    fates = {"/": LISTED, "/start.html": LISTED}
    for name in ("/", "/start.html"):
        pages[name] = _menu_page(name)
    pages["/menus/index.json"] = data(["/start.html", *(f"/{section}/index.html" for section in sections)])
    for place, section in enumerate(sections):
        names = [f"/{section}/{section}-{number}.html" for number in range(1, 12)]
        pages[f"/menus/{section}.json"] = data(names)
        for number, name in enumerate((f"/{section}/index.html", *names)):
            pages[name] = _menu_page(name, section, date=f"2025-{place + 1:02}-{number + 1:02}")
            fates[name] = Fate(lastmod=f"2025-{place + 1:02}-{number + 1:02}")
    return Site("the script-menu site", pages, fates)


def _menu_page(name: str, section: str = "index", date: str | None = None) -> Page:
    text = f"What the page {name} says is here without any script, and it says a good deal about its subject. " * 4
    meta = f'<meta property="article:modified_time" content="{date}">' if date else ""
    body = f'<nav id="menu" data-section="{section}"></nav><main><p>{text}</p></main><script src="/menu.js"></script>'
    return conditional(page(title=f"Page {name}", head=meta, body=body))


MENU = """
const menu = document.getElementById("menu");
for (const name of new Set(["index", menu.dataset.section])) {
    fetch(`/menus/${name}.json`)
        .then((answer) => answer.json())
        .then((links) => {
            for (const href of links) {
                const link = document.createElement("a");
                link.href = href;
                link.textContent = href;
                menu.append(link);
            }
        });
}
"""
