"""One site of many small parts, each made in another way that needs a browser for something else.

/modules/   Preact and htm by an import map, as ES modules, without a bundle
/late/      an application that starts late, after timers and a chunk that is loaded on demand
/htmx/      parts of pages that HTMX loads
/turbo/     frames that Turbo loads
/some/      pages of one template, of which only every third has links by script
/stated/    complete pages whose date, canonical address or noindex comes by script
/media/     complete pages whose images and videos come by script
/far/       data from another origin, if there is one that may be asked
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sites.rendered.truth import ELSEWHERE, LISTED, NOINDEX, Fate, Site
from tests.support.rendered_site import conditional, data, script, served_files
from tests.support.webserver import Answer, Page, page

if TYPE_CHECKING:
    from collections.abc import Iterable

Part = tuple[dict[str, Page], dict[str, Fate]]


def mixed() -> Site:
    parts = {
        "/modules/": modules(),
        "/late/": late(),
        "/htmx/": htmx(),
        "/turbo/": turbo(),
        "/some/": some(),
        "/stated/": stated(),
        "/media/": media(),
    }
    pages: dict[str, Page] = {"/": page(*parts, title="Parts")}
    pages |= {f"/libraries{name}": answer for name, answer in served_files("libraries").items()}
    truth = {"/": LISTED}
    for more, fates in parts.values():
        pages |= more
        truth |= fates
    return Site(
        "the mixed site",
        pages,
        truth,
        images={f"/media/{number}": (f"/pictures/{number}.jpg",) for number in range(1, MEDIA + 1)},
    )


def _sentence(subject: str) -> str:
    return f"This text about {subject} is on the page from the start, for every reader and without any script. " * 3


# --- applications ---------------------------------------------------------------------------------------------

MODULES = 6
MODULES_SHELL = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Modules</title>
<script type="importmap">{"imports": {"preact": "/libraries/preact.mjs", "htm": "/libraries/htm.mjs"}}</script>
<script type="module" src="/modules/app.mjs"></script></head><body></body></html>
"""
MODULES_APP = """
import { h, render } from "preact";
import htm from "htm";
import { address } from "./address.mjs";

const html = htm.bind(h);
const view = await (await fetch(address(location.pathname))).json();
document.title = view.title;
render(html`<main><h1>${view.title}</h1><p>${view.text}</p>
${view.links.map((href) => html`<p><a href=${href}>${href}</a></p>`)}</main>`, document.body);
"""
MODULES_ADDRESS = """
export const address = (path) => `/modules/data${path.slice("/modules".length)}.json`.replace("/.json", "/index.json");
"""


def modules() -> Part:
    shell = conditional(MODULES_SHELL)
    names = [f"/modules/{number}" for number in range(1, MODULES + 1)]
    pages: dict[str, Page] = {
        "/modules/": shell,
        "/modules/app.mjs": script(MODULES_APP),
        "/modules/address.mjs": script(MODULES_ADDRESS),
        "/modules/data/index.json": data({"title": "Modules", "text": "Without a bundle.", "links": names[:1]}),
    }
    for number, name in enumerate(names, 1):
        value = {"title": f"Module {number}", "text": f"Number {number}.", "links": names[number : number + 1]}
        pages |= {name: shell, f"/modules/data/{number}.json": data(value)}
    return pages, dict.fromkeys(("/modules/", *names), LISTED)


LATE = 5
LATE_SHELL = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Late</title></head>
<body><app-root></app-root><script src="/late/main.js" defer></script></body></html>
"""
LATE_MAIN = """
setTimeout(async () => {
    const { start } = await import("/late/chunk.js");
    requestIdleCallback(() => start(document.querySelector("app-root")));
}, 1500);
"""
LATE_CHUNK = """
export async function start(root) {
    const name = location.pathname.slice("/late/".length) || "index";
    const view = await (await fetch(`/late/data/${name}.json`)).json();
    await new Promise((done) => requestAnimationFrame(done));
    document.title = view.title;
    root.attachShadow({ mode: "open" }).innerHTML = `<h1>${view.title}</h1>` +
        view.links.map((href) => `<p><a href="${href}">${href}</a></p>`).join("");
}
"""


def late() -> Part:
    shell = conditional(LATE_SHELL)
    names = [f"/late/{number}" for number in range(1, LATE + 1)]
    pages: dict[str, Page] = {
        "/late/": shell,
        "/late/main.js": script(LATE_MAIN),
        "/late/chunk.js": script(LATE_CHUNK),
        "/late/data/index.json": data({"title": "Late", "links": names[:-1]}),
    }
    for number, name in enumerate(names, 1):
        value = {"title": f"Late page {number}", "links": names[-1:] if number == 2 else []}
        pages |= {name: shell, f"/late/data/{number}.json": data(value)}
    return pages, dict.fromkeys(("/late/", *names), LISTED)


# --- pages with parts that are loaded -------------------------------------------------------------------------

FRAGMENTS = 4


def _fragment(links: Iterable[str]) -> str:
    return "".join(f'<p><a href="{href}">{href}</a></p>' for href in links)


def _fragments(directory: str, head: str, inner: str, outer: str) -> Part:
    """Pages that load a part; the part of each links to a page that nothing else links to."""
    names = [f"{directory}{number}" for number in range(1, FRAGMENTS + 1)]
    pages: dict[str, Page] = {}
    for number, name in enumerate((directory, *names)):
        body = f"<p>{_sentence(name)}</p>{inner.format(number)}"
        pages[name] = conditional(page(title=f"Page {name}", head=head, body=body))
        links = [*names, f"{directory}of-{number}"] if number == 0 else [f"{directory}of-{number}"]
        pages[f"{directory}part-{number}"] = conditional(outer.format(number, _fragment(links)))
        pages[f"{directory}of-{number}"] = page(title=f"Behind {name}")
    behind = [f"{directory}of-{number}" for number in range(FRAGMENTS + 1)]
    return pages, dict.fromkeys((directory, *names, *behind), LISTED)


def htmx() -> Part:
    head = '<script src="/libraries/htmx.min.js"></script>'
    return _fragments("/htmx/", head, '<div hx-get="/htmx/part-{0}" hx-trigger="load"></div>', "<div>{1}</div>")


def turbo() -> Part:
    head = '<script type="module" src="/libraries/turbo.min.js"></script>'
    inner = '<turbo-frame id="part-{0}" src="/turbo/part-{0}"></turbo-frame>'
    return _fragments("/turbo/", head, inner, '<turbo-frame id="part-{0}">{1}</turbo-frame>')


SOME = 18
SOME_SCRIPT = """
const more = document.querySelector("[data-more]");
if (more) {
    const answer = await fetch(more.dataset.more);
    for (const href of await answer.json()) {
        more.insertAdjacentHTML("beforeend", `<p><a href="${href}">${href}</a></p>`);
    }
}
"""


def some() -> Part:
    names = [f"/some/{number}" for number in range(1, SOME + 1)]
    pages: dict[str, Page] = {"/some/": page(*names, title="Some"), "/some.js": script(SOME_SCRIPT)}
    fates = dict.fromkeys(("/some/", *names), LISTED)
    for number, name in enumerate(names, 1):
        behind = f"/some/of-{number}"
        # The samples may be any three of the first eight pages, by the order of their answers: one of them is needy.
        needy = number % 3 != 0
        more = f' data-more="/some/more-{number}.json"' if needy else ""
        body = f'<p>{_sentence(name)}</p><div{more}></div><script type="module" src="/some.js"></script>'
        pages[name] = conditional(page(*names[:3], title=f"Page {name}", body=body))
        if needy:
            pages |= {f"/some/more-{number}.json": data([behind]), behind: page(title=f"Behind {name}")}
            fates[behind] = LISTED
    return pages, fates


# --- complete pages about which scripts say something ---------------------------------------------------------

STATED = 4
STATED_SCRIPT = """
const head = document.head;
const { date, canonical, robots } = document.querySelector("main").dataset;
if (date) {
    const about = document.createElement("script");
    about.type = "application/ld+json";
    about.textContent = JSON.stringify({
        "@context": "https://schema.org", "@type": "Article", headline: document.title, dateModified: date });
    head.append(about);
}
if (canonical) head.insertAdjacentHTML("beforeend", `<link rel="canonical" href="${canonical}">`);
if (robots) head.insertAdjacentHTML("beforeend", `<meta name="robots" content="${robots}">`);
"""


def stated() -> Part:
    fates = {"/stated/": LISTED}
    attributes = {}
    for number in range(1, STATED + 1):
        attributes[f"/stated/dated/{number}"] = f'data-date="2025-11-{number:02}T09:00:00Z"'
        fates[f"/stated/dated/{number}"] = Fate(lastmod=f"2025-11-{number:02}T09:00:00+00:00")
        attributes[f"/stated/copies/{number}"] = 'data-canonical="/stated/"'
        fates[f"/stated/copies/{number}"] = ELSEWHERE
        attributes[f"/stated/hidden/{number}"] = 'data-robots="noindex"'
        fates[f"/stated/hidden/{number}"] = NOINDEX
    pages: dict[str, Page] = {"/stated/": page(*attributes, title="Stated"), "/stated.js": script(STATED_SCRIPT)}
    for name, attribute in attributes.items():
        body = f'<main {attribute}><p>{_sentence(name)}</p></main><script src="/stated.js"></script>'
        pages[name] = conditional(page("/stated/", title=f"Page {name}", body=body))
    return pages, fates


MEDIA = 4
MEDIA_SCRIPT = """
const number = location.pathname.split("/").pop();
document.querySelector("main").insertAdjacentHTML("beforeend", `
    <img src="/pictures/${number}.jpg" alt="Picture ${number}" width="800" height="600">
    <video src="/films/${number}.mp4" poster="/pictures/poster-${number}.jpg"></video>`);
"""


def media() -> Part:
    names = [f"/media/{number}" for number in range(1, MEDIA + 1)]
    pages: dict[str, Page] = {"/media/": page(*names, title="Media"), "/media.js": script(MEDIA_SCRIPT)}
    for name in names:
        body = f'<main><p>{_sentence(name)}</p></main><script src="/media.js"></script>'
        pages[name] = conditional(page("/media/", title=f"Page {name}", body=body))
    return pages, dict.fromkeys(("/media/", *names), LISTED)


# --- data of another origin -----------------------------------------------------------------------------------


def far(origin: str, *, answered: bool) -> Site:
    """A catalogue whose data are at another origin. If that may not be asked, only the start page remains."""
    code = f"""
    fetch("{origin}/items.json").then((answer) => answer.json()).then((items) => {{
        for (const href of items) document.body.insertAdjacentHTML("beforeend", `<a href="${{href}}">${{href}}</a>`);
    }});
    fetch("{origin}/private/items.json").then((answer) => answer.json()).then((items) => {{
        for (const href of items) document.body.insertAdjacentHTML("beforeend", `<a href="${{href}}">${{href}}</a>`);
    }});
    """
    names = ["/far/1", "/far/2"]
    pages: dict[str, Page] = {"/": page(title="Far", body=f"<script>{code}</script>")}
    pages |= {name: page(title=f"Page {name}") for name in (*names, "/far/private")}
    return Site(
        "data of another origin",
        pages,
        dict.fromkeys(("/", *names) if answered else ("/",), LISTED),
        never=("/far/private",),
    )


def far_pages() -> dict[str, Page]:
    """Return what the other origin answers."""

    def shared(value: object) -> Answer:
        headers = {"Access-Control-Allow-Origin": "*"}
        return Answer(f"{value!r}".replace("'", '"'), headers=headers, content_type="application/json")

    return {
        "/robots.txt": Answer("User-agent: *\nDisallow: /private/\n", content_type="text/plain"),
        "/items.json": shared(["/far/1", "/far/2"]),
        "/private/items.json": shared(["/far/private"]),
    }
