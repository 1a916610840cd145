"""Pages in a real Chromium, of both builds: what is read of them, and how odd ones end."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest

from sitemap_crawler.crawl.keys import Stat
from sitemap_crawler.crawl.rendering.network import MAX_REQUESTS
from sitemap_crawler.crawl.rendering.rendered import ResourceKind
from sitemap_crawler.items import PLAIN_HEADERS
from tests.support.chromium import (
    HEADLESS_SHELL,
    both_builds,
    browser_of,
    needs,
    plain,
    processes,
    rendering,
    resident_bytes,
)
from tests.support.rendering_crawl import SITE, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sitemap_crawler.crawl.rendering.rendered import Rendered

pytestmark = pytest.mark.slow

DATA = Reply('{"text": "from the server"}', "application/json", headers={"ETag": '"1"'})


def render_all(
    build: str, pages: Mapping[str, str], replies: Mapping[str, Reply | str] | None = None, **options: Any
) -> tuple[dict[str, Rendered], Any]:
    """Render pages one after the other, in one tab. Return the renderings by name, and the crawler."""

    async def run() -> tuple[dict[str, Rendered], Any]:
        async with rendering(build, replies, render_pages=1, **options) as (renderer, crawler):
            rendered = {name: await renderer.render(f"{SITE}/{name}", plain(html)) for name, html in pages.items()}
            return rendered, crawler

    return asyncio.run(run())


COMPONENT = """
customElements.define('x-card', class extends HTMLElement { connectedCallback() {
  const root = this.attachShadow({mode: this.getAttribute('mode') || 'open'});
  root.innerHTML = '<a href="/shadow?a=1&b=2" title="&quot;">1 < 2 & 3</a><slot></slot>'
    + '<slot name=s><i>default</i></slot><style>a > b {}</style>'
}})"""
COMPONENTS = (
    '<!DOCTYPE html><html lang=en><head><title>t</title></head><body><x-card id=a><a href="/light">light</a></x-card>'
    '<x-card mode=closed><b>b</b></x-card><img src=a.png alt=""><br><noscript><p>no</p></noscript>'
    f"<script>{COMPONENT}</script>"
)


def script(text: str) -> str:
    return f"<!DOCTYPE html><title>t</title><body><main id=m></main><script>{text}</script>"


def text_of(rendered: Rendered) -> str:
    """The text that scripts have put into the page."""
    assert rendered.problem is None
    found = re.search(r"<main id=\"m\">(.*?)</main>", rendered.html, re.DOTALL)
    assert found, rendered.html
    return found[1]


SHOWN = {
    "at-once": ("m.append('x')", "x"),
    "timer": ("setTimeout(() => m.append('x'), 700)", "x"),
    "long-timer": ("setTimeout(() => m.append('x'), 4800)", "x"),
    "chain": ("let n = 0; (function next() { m.append(n); if (++n < 9) setTimeout(next, 400) })()", "012345678"),
    "frame": ("requestAnimationFrame(() => m.append('x'))", "x"),
    "in-view": ("new IntersectionObserver(seen => { m.append('x') }).observe(m)", "x"),
    "fetch": ("fetch('/data').then(r => r.json()).then(d => m.append(d.text))", "from the server"),
    "late-fetch": (
        "setTimeout(() => fetch('/data').then(r => r.json()).then(d => m.append(d.text)), 4000)",
        "from the server",
    ),
    "xhr": (
        "const r = new XMLHttpRequest(); r.open('GET', '/data'); r.onload = () => m.append(r.status); r.send()",
        "200",
    ),
    "header": (
        "fetch('/data', {headers: {'X-Key': 'k'}}).then(r => r.json()).then(d => m.append(d.text))",
        "from the server",
    ),
    "other-host": (
        "fetch('https://api.example.net/data', {headers: {'X-Key': 'k'}}).then(r => r.text()).then(t => m.append(t))",
        "foreign",
    ),
    "closed-host": ("fetch('https://closed.example.net/').catch(() => m.append('unreadable'))", "unreadable"),
    "redirect": ("fetch('/moved').then(r => r.json()).then(d => m.append(d.text))", "from the server"),
    "worker": (
        (
            f"const w = new Worker(URL.createObjectURL(new Blob([`fetch('{SITE}/data').then(r => r.json())"
            ".then(d => postMessage(d.text))`]))); w.onmessage = e => m.append(e.data)"
        ),
        "from the server",
    ),
    "module": ("import('/module.js').then(it => m.append(it.value))", "imported"),
    "style": (
        (
            "const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = '/a.css';"
            "l.onload = () => m.append('loaded'); l.onerror = () => m.append('failed'); document.head.append(l)"
        ),
        "loaded",
    ),
    "image": (
        (
            "const i = new Image(); i.onload = () => m.append('loaded'); i.onerror = () => m.append('failed');"
            "i.src = '/a.png'"
        ),
        "loaded",
    ),
    "dialogs": ("alert(1); m.append(confirm(2), prompt(3)); print(); open('/x'); close()", "falsenull"),
    "workers": ("m.append('serviceWorker' in navigator, 'SharedWorker' in window)", "falsefalse"),
    "sockets": (
        (
            "new WebSocket('wss://x.example/').onclose = () => m.append('closed');"
            "new EventSource('/events').onerror = () => m.append('failed')"
        ),
        "closedfailed",
    ),
    "location": ("navigator.geolocation.getCurrentPosition(() => m.append('?'), e => m.append(e.code))", "1"),
    "post": ("fetch('/data', {method: 'POST'}).catch(() => m.append('refused'))", "refused"),
    "download": (
        "const a = document.createElement('a'); a.download = 'x'; a.href = 'data:,x'; a.click(); m.append('x')",
        "x",
    ),
    "robot": (
        "m.append(navigator.userAgent.includes('Headless'), navigator.userAgent.endsWith('tester/1.0'))",
        "falsetrue",
    ),
}
ANSWERS: dict[str, Reply | str] = {
    f"{SITE}/data": DATA,
    f"{SITE}/moved": Reply(status=302, headers={"Location": "/data"}),
    f"{SITE}/module.js": Reply("export const value = 'imported'", "text/javascript"),
    "https://api.example.net/data": Reply("foreign", headers={"Access-Control-Allow-Origin": SITE}),
    "https://closed.example.net/": Reply("secret"),
}


@both_builds
def test_a_page_is_complete_and_each_resource_is_fetched_once(build: str) -> None:
    rendered, crawler = render_all(build, {name: script(text) for name, (text, _) in SHOWN.items()}, ANSWERS)
    assert {name: text_of(page) for name, page in rendered.items()} == {name: text for name, (_, text) in SHOWN.items()}
    assert {name: page.moved_to for name, page in rendered.items() if page.moved_to} == {}
    # With and without the header they are two resources.
    asked = [(request.url, request.headers.get("X-Key")) for request in crawler.engine.requests]
    assert sorted(asked, key=str) == sorted(
        [
            (f"{SITE}/data", None), (f"{SITE}/data", b"k"), (f"{SITE}/moved", None), (f"{SITE}/module.js", None),
            ("https://api.example.net/data", b"k"), ("https://closed.example.net/", None),
        ], key=str,
    )  # fmt: skip
    assert {request.method for request in crawler.engine.requests} == {"GET"}
    assert [(one.url, one.etag, one.headers) for one in rendered["fetch"].requests] == [
        (f"{SITE}/data", '"1"', PLAIN_HEADERS)
    ]
    assert [one.url for one in rendered["redirect"].requests] == [f"{SITE}/moved", f"{SITE}/data"]
    assert rendered["post"].refused == ((f"{SITE}/data", "POST requests are not sent", ResourceKind.DATA),)
    assert crawler.counts[Stat.RENDER_BROWSERS] == 1
    assert crawler.counts[Stat.RENDER_REQUESTS] == len(asked)


MOVES = {
    "navigates": ("location.href = '/there?x=1#y'", f"{SITE}/there?x=1", False),
    "replaces": ("location.replace('//other.example/')", "http://other.example/", False),
    "later": ("setTimeout(() => location.assign('/there'), 4500)", f"{SITE}/there", False),
    "submits": (
        "const f = document.createElement('form'); f.action = '/s'; m.append(f); f.submit()",
        f"{SITE}/s?",
        False,
    ),
    "clicks": (
        "const a = document.createElement('a'); a.href = '/there'; m.append(a); a.click()",
        f"{SITE}/there",
        False,
    ),
    "writes": ("history.replaceState(null, '', '/written?q')", f"{SITE}/written?q", True),
    "pushes": ("history.pushState(null, '', '/pushed')", f"{SITE}/pushed", True),
    "fragment": ("location.hash = '#/page'", None, False),
    "same": ("history.replaceState(null, '', location.pathname)", None, False),
    "reloads": ("location.reload()", None, False),
    "back": ("history.back()", None, False),
    "mail": ("location.href = 'mailto:a@b.example'", None, False),
}


@both_builds
def test_where_a_script_leads_is_told_and_not_followed(build: str) -> None:
    rendered, crawler = render_all(build, {name: script(text) for name, (text, *_) in MOVES.items()})
    found = {name: (page.problem, page.moved_to, page.moved_by_history) for name, page in rendered.items()}
    assert found == {name: (None, target, by_history) for name, (_, target, by_history) in MOVES.items()}
    assert crawler.engine.requests == []


ODD = {
    "interval": "setInterval(() => m.append('x'), 1)",
    "immediate": "(function again() { m.textContent += 'x'; setTimeout(again) })()",
    "messages": "const c = new MessageChannel(); (c.port1.onmessage = () => c.port2.postMessage(0))()",
    "frames": "(function again() { requestAnimationFrame(again) })()",
    "polling": "setInterval(() => fetch('/data?' + Math.random()), 20)",
    "history": "setInterval(() => history.replaceState(null, '', '/odd/' + Math.random()), 20)",
    "reloads": "setInterval(() => location.reload(), 20)",
    "dialogs": "setInterval(() => alert(1), 20)",
    "windows": "setInterval(() => open('/x'), 20)",
    "list": "setInterval(() => { m.append('x'); document.body.append(document.createElement('p')) }, 20)",
    "memory": "const all = []; for (let i = 0; i < 300; i++) all.push(new Uint8Array(1 << 20).fill(1)); m.append('x')",
    "throws": "throw new Error('x')",
}


@needs(HEADLESS_SHELL)
def test_odd_pages_end_by_themselves() -> None:
    pages = {name: script(text) for name, text in ODD.items()}
    rendered, crawler = render_all(HEADLESS_SHELL, {**pages, "after": script("m.append('x')")})
    assert {name: page.problem for name, page in rendered.items()} == dict.fromkeys(rendered)
    assert text_of(rendered["after"]) == text_of(rendered["memory"]) == "x"
    assert len(rendered["polling"].requests) == MAX_REQUESTS
    assert all("/data" in request.url for request in crawler.engine.requests)
    assert crawler.counts[Stat.RENDER_BROWSERS] == 1


@needs(HEADLESS_SHELL)
def test_an_endless_loop_costs_only_itself() -> None:
    async def run() -> None:
        async with rendering(HEADLESS_SHELL, render_pages=2, render_timeout=3.0) as (renderer, crawler):
            loops = [renderer.render(f"{SITE}/loop", plain(script("for (;;);"))) for _ in range(2)]
            loop, other = await asyncio.gather(*loops)
            assert loop.problem == other.problem == "it takes longer than 3 s to render"
            assert loop.html == ""
            assert 3 < loop.seconds < 30
            renderer._options = renderer._options.model_copy(update={"render_timeout": 60.0})
            assert text_of(await renderer.render(f"{SITE}/x", plain(script("m.append('x')")))) == "x"
            assert crawler.counts[Stat.RENDER_BROWSERS] == 1

    asyncio.run(run())


@needs(HEADLESS_SHELL)
@pytest.mark.parametrize("target", ["about:blank", "blob"])
def test_a_page_that_puts_another_document_in_its_place_has_no_dom(target: str) -> None:
    address = "URL.createObjectURL(new Blob(['<p>x'], {type: 'text/html'}))" if target == "blob" else f"'{target}'"
    rendered, _ = render_all(
        HEADLESS_SHELL, {"page": script(f"location.href = {address}"), "after": script("m.append('x')")}
    )
    assert rendered["page"].problem == "a script has replaced the page by another document"
    assert rendered["page"].html == ""
    assert text_of(rendered["after"]) == "x"


@needs(HEADLESS_SHELL)
def test_open_shadow_roots_stand_in_the_place_of_their_hosts() -> None:
    rendered, _ = render_all(HEADLESS_SHELL, {"page": COMPONENTS})
    seen = rendered["page"].html
    assert seen.startswith('<!DOCTYPE html>\n<html lang="en"><head><title>t</title></head><body><x-card id="a">')
    assert '<a href="/shadow?a=1&amp;b=2" title="&quot;">1 &lt; 2 &amp; 3</a><a href="/light">light</a>' in seen
    assert "<i>default</i><style>a > b {}</style></x-card>" in seen
    assert '<x-card mode="closed"><b>b</b></x-card><img src="a.png" alt=""><br><noscript><p>no</p></noscript>' in seen


@both_builds
def test_nothing_of_a_page_is_left_for_the_next(build: str) -> None:
    found = (
        "m.append([localStorage.x, sessionStorage.x, document.cookie, window.name, history.length].join());"
        "localStorage.x = sessionStorage.x = window.name = 1; document.cookie = 'x=1';"
        "addEventListener('pagehide', () => { sessionStorage.x = localStorage.x = 2 })"
    )
    rendered, _ = render_all(build, {name: script(found) for name in ("one", "two", "three")})
    assert [text_of(page) for page in rendered.values()] == [",,,,1"] * 3


@needs(HEADLESS_SHELL)
def test_the_headers_of_the_page_count() -> None:
    async def run() -> None:
        page = "<main id=m></main><script>m.append(document.cookie)</script>"
        async with rendering(HEADLESS_SHELL) as (renderer, _):
            seen = await renderer.render(f"{SITE}/a", plain(page, set_cookie="a=b", content_disposition="attachment"))
            assert text_of(seen) == "a=b"
            policy = {"content_security_policy": "script-src 'none'"}
            assert text_of(await renderer.render(f"{SITE}/b", plain(page, **policy))) == ""
            latin = plain("<main id=m>\u00e9</main>".encode("latin-1"))._replace(
                headers={"content-type": ["text/html; charset=iso-8859-1"]}
            )
            assert text_of(await renderer.render(f"{SITE}/c", latin)) == "\u00e9"

    asyncio.run(run())


@needs(HEADLESS_SHELL)
def test_a_dom_is_cut_at_the_limit_of_a_body() -> None:
    rendered, _ = render_all(HEADLESS_SHELL, {"page": script("m.textContent = 'x'.repeat(1e6)")}, max_body=5_000)
    assert len(rendered["page"].html) == 5_000


@needs(HEADLESS_SHELL)
def test_the_time_for_which_requests_wait_for_their_turn_does_not_count() -> None:
    slow = Reply("{}", wait=4.0)
    rendered, _ = render_all(
        HEADLESS_SHELL,
        {"page": script("fetch('/slow').then(() => m.append('x'))")},
        {f"{SITE}/slow": slow},
        render_timeout=3.5,
    )
    assert text_of(rendered["page"]) == "x"
    assert rendered["page"].seconds < 3.5


@needs(HEADLESS_SHELL)
def test_a_browser_is_replaced_after_a_number_of_pages() -> None:
    pages = {str(number): script("m.append('x')") for number in range(7)}
    rendered, crawler = render_all(HEADLESS_SHELL, pages, render_recycle=3)
    assert [text_of(page) for page in rendered.values()] == ["x"] * 7
    assert crawler.counts[Stat.RENDER_BROWSERS] == 3


@needs(HEADLESS_SHELL)
def test_memory_does_not_grow_from_page_to_page() -> None:
    page = script("const all = []; for (let i = 0; i < 2e4; i++) { all.push({i}); if (i % 20 == 0) m.append(i + ' ') }")

    async def run() -> None:
        async with rendering(HEADLESS_SHELL, render_pages=1) as (renderer, _):
            sizes: list[int] = []
            for number in range(30):
                assert (await renderer.render(f"{SITE}/{number}", plain(page))).problem is None
                sizes.append(resident_bytes(processes(browser_of(renderer).pid)))
            # The browser frees memory, and ends processes, when it likes: what it keeps is the least of many sizes.
            assert min(sizes[20:]) < 1.5 * min(sizes[:10])

    asyncio.run(run())
