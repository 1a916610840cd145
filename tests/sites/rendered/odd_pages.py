"""Odd pages: each does what makes browsers wait, leave, ask or fail. Every page has a sound link in its own way.

/odd/<name>   the pages; the start page links to all of them
/t/<name>     what scripts of the page show; plain pages without scripts
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.sites.rendered.truth import ELSEWHERE, LISTED, NOINDEX, REDIRECT, Fate, Site
from tests.support.rendered_site import conditional, data, script
from tests.support.webserver import Answer, Page, page

if TYPE_CHECKING:
    from tests.support.webserver import LoggedRequest

SHOW = """<script>
function show(...names) {
    for (const name of names) {
        const link = document.createElement("a");
        link.href = link.textContent = "/t/" + name;
        (document.body || document.documentElement).append(link);
    }
}
</script>"""


@dataclass(frozen=True, slots=True)
class Odd:
    """A page: its script, the pages that a browser sees links to, and its own fate."""

    name: str
    code: str
    shows: tuple[str, ...] | None = None
    """Names of shown pages; None stands for the page's own name."""
    fate: Fate = LISTED
    head: str = ""
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    kind: str = "script"

    @property
    def targets(self) -> tuple[str, ...]:
        return (self.name,) if self.shows is None else self.shows

    def markup(self) -> str:
        text = f"<main><p>The page of {self.name} has this text of its own, and no other has it.</p>{self.body}</main>"
        code = "" if not self.code else f"<script>{self.code}</script>"
        if self.kind == "module":
            code = f'<script type="module">{self.code}</script>'
        return page(title=f"Odd: {self.name}", head=self.head, body=f"{text}{SHOW}{code}")

    def page(self) -> Page:
        return Answer(self.markup(), headers=self.headers) if self.headers else conditional(self.markup())


PAGES = (
    # Time.
    Odd("interval", "setInterval(() => {}, 10); setTimeout(() => show('interval'), 300);"),
    Odd("timeouts", "(function again() { setTimeout(again, 0); })(); setTimeout(() => show('timeouts'), 1000);"),
    Odd("frames", "let n = 0; (function draw() { if (++n === 5) show('frames'); requestAnimationFrame(draw); })();"),
    Odd("late", "setTimeout(() => show('late'), 3000);"),
    Odd("idle", "requestIdleCallback(() => show('idle'));"),
    Odd("microtasks", "let n = 0; (async () => { while (++n < 1e4) await 0; show('microtasks'); })();"),
    Odd(
        "polling",
        "(async () => { for (let n = 0; ; n++) { await fetch('/poll.json?n=' + n); if (n === 2) show('polling');"
        " await new Promise((done) => setTimeout(done, 200)); } })();",
    ),
    Odd(
        "same-polling",
        "let n = 0; setInterval(async () => { await (await fetch('/same.json')).json();"
        " if (++n === 2) show('same-polling'); }, 100);",
    ),
    Odd("slow", "fetch('/slow.json').then((answer) => answer.json()).then((value) => show(value.name));"),
    Odd("busy", "while (true) {}", ("plain-of-busy",), body='<a href="/t/plain-of-busy">Plain</a>'),
    # Windows.
    Odd("dialogs", "alert('a'); confirm('b'); prompt('c'); show('dialogs');"),
    Odd("printing", "print(); show('printing');"),
    Odd("closing", "window.close(); show('closing');"),
    Odd("popups", "open('/popup'); open('/popup', '_blank', 'noopener'); show('popups');"),
    Odd(
        "clicks",
        "const link = document.createElement('a'); link.href = '/popup'; link.target = '_blank'; link.click();"
        " show('clicks');",
    ),
    Odd(
        "download",
        "const link = document.createElement('a'); link.download = 'a.bin'; link.href = '/file.bin'; link.click();"
        " link.href = URL.createObjectURL(new Blob(['x'])); link.click(); show('download');",
    ),
    Odd("leaving", "addEventListener('beforeunload', (event) => event.preventDefault()); show('leaving');"),
    Odd(
        "permissions",
        "Notification.requestPermission().catch(() => {});"
        " navigator.geolocation.getCurrentPosition(() => {}, () => {}); show('permissions');",
    ),
    # Moves.
    Odd("moves", "setTimeout(() => { location.href = '/t/moved'; }, 100);", ("moved",), REDIRECT),
    Odd("replaces", "location.replace('/t/replaced');", ("replaced",), REDIRECT),
    Odd(
        "refreshes",
        "document.head.insertAdjacentHTML('beforeend', '<meta http-equiv=refresh content=\"0;url=/t/refreshed\">');",
        ("refreshed",),
        REDIRECT,
    ),
    Odd("state", "history.replaceState({}, '', '/t/state');", ("state",), REDIRECT),
    Odd("reloads", "show('reloads'); location.reload();"),
    Odd(
        "states",
        "let n = 0; setInterval(() => history.replaceState({}, '', '?n=' + ++n), 20); show('states');",
        head='<link rel="canonical" href="/odd/states">',
    ),
    Odd("fragments", "let n = 0; setInterval(() => { location.hash = '#' + ++n; }, 20); show('fragments');"),
    # Content that comes on sight.
    Odd(
        "endless",
        """
        let last = 0;
        const watch = new IntersectionObserver(async (seen) => {
            if (!seen.some((one) => one.isIntersecting) || last === 3) return;
            watch.disconnect();
            const names = await (await fetch(`/more-${++last}.json`)).json();
            for (const name of names) {
                document.getElementById("end").insertAdjacentHTML(
                    "beforebegin", `<p style="height: 200px"><a href="/t/${name}">${name}</a></p>`);
            }
            watch.observe(document.getElementById("end"));
        });
        watch.observe(document.getElementById("end"));
        """,
        tuple(f"more-{number}" for number in range(1, 10)),
        body='<p id="end">More</p>',
    ),
    Odd(
        "sections",
        """
        const watch = new IntersectionObserver((seen) => {
            for (const one of seen) {
                if (!one.isIntersecting) continue;
                watch.unobserve(one.target);
                one.target.innerHTML = `<a href="/t/${one.target.id}">${one.target.id}</a>`;
            }
        });
        document.querySelectorAll("section").forEach((one) => watch.observe(one));
        """,
        tuple(f"section-{number}" for number in range(1, 9)),
        body="".join(f'<section id="section-{number}" style="height: 700px"></section>' for number in range(1, 9)),
    ),
    # Content in odd places.
    Odd(
        "shadow",
        "document.getElementById('host').attachShadow({mode: 'open'}).innerHTML = '<a href=\"/t/shadow\">S</a>';",
        body='<div id="host"></div>',
    ),
    Odd(
        "element",
        "customElements.define('x-link', class extends HTMLElement {"
        " connectedCallback() { this.innerHTML = '<a href=\"/t/element\">E</a>'; } });",
        body="<x-link></x-link>",
    ),
    Odd(
        "shadow-elements",
        "customElements.define('x-inner', class extends HTMLElement { connectedCallback() {"
        " this.attachShadow({mode: 'open'}).innerHTML = '<slot></slot><a href=\"/t/inner\">I</a>'; } });"
        " customElements.define('x-outer', class extends HTMLElement { connectedCallback() {"
        " this.attachShadow({mode: 'open'}).innerHTML = '<x-inner><a href=\"/t/slotted\">S</a></x-inner>'; } });",
        ("inner", "slotted"),
        body="<x-outer></x-outer>",
    ),
    Odd(
        "template",
        "document.body.append(document.getElementById('t').content.cloneNode(true));",
        body='<template id="t"><p><a href="/t/template">T</a></p></template>',
    ),
    Odd(
        "frame",
        "const frame = document.createElement('iframe'); frame.src = '/t/frame'; document.body.append(frame);",
    ),
    Odd("writing", "document.write('<p><a href=\"/t/writing\">W</a></p>');"),
    Odd(
        "base",
        "document.head.insertAdjacentHTML('beforeend', '<base href=\"/t/\">');"
        " document.body.insertAdjacentHTML('beforeend', '<a href=\"base\">B</a>');",
    ),
    Odd(
        "many",
        "for (let n = 0; n < 20000; n++) document.body.insertAdjacentHTML('beforeend', '<p>Line</p>'); show('many');",
    ),
    Odd("click-only", "document.body.insertAdjacentHTML('beforeend', '<a onclick=\"x()\">C</a>'); show('click-only');"),
    # Directives.
    Odd(
        "hidden",
        "document.head.insertAdjacentHTML('beforeend', '<meta name=robots content=noindex>'); show('hidden');",
        fate=NOINDEX,
    ),
    Odd(
        "unhidden",  # Google renders no page that says noindex, so a script cannot take it back.
        "document.querySelector('meta[name=robots]').remove(); show('unhidden');",
        (),
        NOINDEX,
        head='<meta name="robots" content="noindex">',
    ),
    Odd(
        "canonical",
        "document.head.insertAdjacentHTML('beforeend', '<link rel=canonical href=/t/canonical>');",
        fate=ELSEWHERE,
    ),
    # Failures.
    Odd("throws", "setTimeout(() => show('throws'), 0); Promise.reject(new Error('b')); throw new Error('a');"),
    Odd("no-file", "import('/missing.js').catch(() => show('no-file'));"),
    Odd("no-json", "fetch('/missing.json').then((answer) => show(answer.ok ? 'wrong' : 'no-json'));"),
    Odd("no-answer", "fetch('/dropped.json').catch(() => show('no-answer'));"),
    Odd("post", "fetch('/post.json', {method: 'POST', body: '{}'}).then(() => show('posted'), () => show('post'));"),
    Odd(
        "beacons",
        "navigator.sendBeacon('/beacon', 'x'); new Image().src = '/pixel.png';"
        " fetch('/beacon', {method: 'POST', keepalive: true}).catch(() => {}); show('beacons');",
    ),
    Odd(
        "forbidden",
        "fetch('/private/a.json').then((a) => a.json()).then(() => show('wrong'), () => show('forbidden'));",
    ),
    Odd(
        "sockets",
        "try { new WebSocket(location.origin.replace('http', 'ws') + '/socket'); } catch (error) {}"
        " try { new EventSource('/events'); } catch (error) {} show('sockets');",
    ),
    Odd(
        "service-worker",
        "Promise.resolve(navigator.serviceWorker?.register('/worker.js')).catch(() => {}); show('service-worker');",
    ),
    Odd("memory", "window.kept = Array.from({length: 40}, () => new Float64Array(1e6).fill(1)); show('memory');"),
    # Requests.
    Odd(
        "sync",
        "const request = new XMLHttpRequest(); request.open('GET', '/sync.json', false); request.send();"
        " show(JSON.parse(request.responseText).name);",
    ),
    Odd("module", "const { name } = await (await fetch('/module.json')).json(); show(name);", kind="module"),
    Odd("moved-data", "fetch('/old.json').then((answer) => answer.json()).then((value) => show(value.name));"),
    Odd(
        "keeping",
        "show(localStorage.getItem('seen') || document.cookie.includes('seen') ? 'wrong' : 'keeping');"
        " localStorage.setItem('seen', '1'); document.cookie = 'seen=1; path=/';",
    ),
    Odd(
        "keeping-too",
        "show(localStorage.getItem('seen') || document.cookie.includes('seen') ? 'wrong' : 'keeping-too');"
        " localStorage.setItem('seen', '1'); document.cookie = 'seen=1; path=/';",
    ),
    Odd(
        "latin",
        "show('caf' + document.getElementById('letter').textContent);",
        ("caf%C3%A9",),
        body='<i id="letter">é</i>',
    ),
    # A browser obeys the policy of the page, and runs nothing of it.
    Odd("policy", "show('wrong');", (), headers=(("Content-Security-Policy", "script-src 'none'"),)),
)

SLOW_SECONDS = 1.0


def odd_pages() -> Site:
    pages: dict[str, Page] = {f"/odd/{one.name}": one.page() for one in PAGES}
    targets = [name for one in PAGES for name in one.targets]
    pages |= {f"/t/{name}": page(title=f"Target {name}") for name in targets}
    latin = next(one for one in PAGES if one.name == "latin")
    encoded = latin.markup().replace("utf-8", "iso-8859-1").encode("latin-1")
    pages |= {
        "/": page(*(f"/odd/{one.name}" for one in PAGES), title="Odd pages"),
        "/robots.txt": Answer("User-agent: *\nDisallow: /private/\n", content_type="text/plain"),
        "/odd/latin": Answer(encoded, content_type="text/html; charset=iso-8859-1"),
        "/poll.json": data({}),
        "/same.json": data({}),
        "/slow.json": _slow,
        "/sync.json": data({"name": "sync"}),
        "/module.json": data({"name": "module"}),
        "/new.json": data({"name": "moved-data"}),
        "/old.json": Answer(status=302, headers={"Location": "/new.json"}),
        "/dropped.json": Answer(drop=True),
        "/private/a.json": data({}),
        "/worker.js": script("0;"),
        "/post.json": data({}),
        **{f"/more-{part}.json": data([f"more-{3 * part - 2 + n}" for n in range(3)]) for part in (1, 2, 3)},
    }
    return Site(
        "the odd pages",
        pages,
        {
            "/": LISTED,
            **{f"/odd/{one.name}": one.fate for one in PAGES},
            **{f"/t/{name}": LISTED for name in targets},
        },
        never=("/private/", "/popup", "/file.bin", "/worker.js", "/post.json", "/beacon", "/socket", "/events"),
        unrenderable=1,  # the busy loop
        repeated=("/t/frame", "/dropped.json"),
    )


def _slow(_: LoggedRequest) -> Answer:
    time.sleep(SLOW_SECONDS)
    return Answer('{"name": "slow"}', content_type="application/json")
