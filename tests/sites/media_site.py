"""A site of images, videos, languages and news: each page is labelled by hand with what the rules make of it.

    /site/                     the start page; links to one hub per group
    /site/<group>/             the hub: links to every page of the group
    /foreign.xml               a sitemap of somebody else's, named in robots.txt, which states languages
    cdn.example, …             other hosts, which nobody may ask

Every page has the logo, a template image; the pages of the groups in BADGED, some two thirds, have the badge, which is
none. In texts `@HERE` stands for host and port of the server, `@AGO(5)` for the instant five hours before the site was
built, `@NAIVE(5)` for the same without a zone, `@TOKYO(5)` for the same in that city's time, `@DAY(5)` for its date.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from tests.support.webserver import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.webserver import Page

START = "/site/"
PUBLICATION = 'The "Daily" & Co'
OPTIONS = ("--images", "--videos", "--alternates", "--news-name", PUBLICATION)
LOGO = "http://@HERE/site/logo.png"
BADGE = "http://@HERE/site/badge.png"
BADGED = frozenset({"hubs", "img", "vid"})
MAX_IMAGES = 1_000
TITLE_LENGTH = 100  # the published schema
DESCRIPTION_LENGTH = 2_048

FOOTER = f'<footer><a href="{START}">Home</a><img src="{LOGO}" alt="Logo">@BADGE</footer>'
DESCRIBED = '<meta name="description" content="Words about it.">'
NOINDEX = '<meta name="robots" content="noindex">'

Fields = dict[str, str]
"""A video's or an article's values by the name of their element; a restriction as in "allow AT DE"."""


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning that must stand in the report: one of `kinds`, naming `names` (paths of the group or URLs)."""

    kinds: frozenset[str]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One page. URLs of what is expected are absolute, or paths of the server, once a group is known."""

    group: str
    label: str
    path: str
    answer: Answer
    listed: bool = True
    images: tuple[str, ...] = ()
    videos: tuple[Fields, ...] = ()
    missing: frozenset[str] = frozenset()
    """What the warnings about incomplete videos name: thumbnail, title, description, content."""
    alternates: Mapping[str, str] | None = None
    """Languages and URLs; None where the rules leave open which of two claims counts."""
    warned: tuple[Warned, ...] = ()
    may_warn: frozenset[str] = frozenset()
    """The kinds of warnings about languages that may name this page."""
    news: Fields | None = None

    @property
    def name(self) -> str:
        return f"{self.group}: {self.label}"

    @property
    def url(self) -> str:
        return place(self.group, self.path)


def place(group: str, url: str) -> str:
    return url if url.startswith(("/", "http")) else f"{START}{group}/{url}"


def markup(title: str, *, head: str = "", body: str = "", lang: str = ' lang="en"', badge: bool = False) -> str:
    name = html.escape(title)
    footer = FOOTER.replace("@BADGE", f'<img src="{BADGE}" alt="Badge">' if badge else "")
    return (
        f'<!DOCTYPE html>\n<html{lang}>\n<head><meta charset="utf-8"><title>{name}</title>{head}</head>\n'
        f"<body><main><h1>{name}</h1>\n<p>What stands on the page named {name}, and on no other.</p>\n{body}\n</main>"
        f"{footer}</body>\n</html>\n"
    )


def scripts(*texts: str) -> str:
    return "".join(f'<script type="application/ld+json">{text}</script>' for text in texts)


def ld(*values: object) -> str:
    return scripts(*(json.dumps(value) for value in values))


def meta(**properties: str) -> str:
    return "".join(
        f'<meta property="{name.replace("_", ":")}" content="{html.escape(value)}">'
        for name, value in properties.items()
    )


# --- images ---------------------------------------------------------------------------------------------------------


def image(label: str, path: str, *images: str, head: str = "", body: str = "") -> Case:
    """A page with exactly these images, and the badge."""
    answer = Answer(markup(f"Picture {path}", head=head, body=body, badge=True))
    return Case("img", label, path, answer, images=(*(place("img", url) for url in images), BADGE))


def article(**values: object) -> dict[str, object]:
    return {"@context": "https://schema.org", "@type": "Article", "headline": "Words", **values}


LONG = "http://cdn.example/"

IMAGES = [
    image("none", "nothing", body="<p>Words only</p>"),
    image("src", "src", "a.png", body='<img src="a.png" alt="A">'),
    image("src in upper case, unquoted", "upper", "a.png", body="<IMG SRC=a.png>"),
    image("src without an ending", "plain", "picture", body='<img src="picture">'),
    image("two, and both count", "two", "a.png", "b.png", body='<img src="a.png"><img src="b.png">'),
    image("data-src", "lazy-1", "a.png", body='<img data-src="a.png">'),
    image("data-lazy-src behind data:", "lazy-2", "a.png", body='<img src="data:image/gif,x" data-lazy-src="a.png">'),
    image("data-original behind an empty src", "lazy-3", "a.png", body='<img src="" data-original="a.png">'),
    image("data-src behind about:blank", "lazy-4", "a.png", body='<img src="about:blank" data-src="a.png">'),
    image("a real src wins over data-src", "lazy-5", "a.png", body='<img src="a.png" data-src="b.png">'),
    image(
        "data-src wins over srcset",
        "lazy-6",
        "a.png",
        body='<img src="data:image/gif,x" data-src="a.png" srcset="b.png 2x, c.png 3x">',
    ),
    image(
        "srcset by width",
        "set-w",
        "large.png",
        body='<img srcset="small.png 480w, large.png 1200w, middle.png 800w" sizes="50vw">',
    ),
    image("srcset by density", "set-x", "b.png", body='<img srcset="a.png, b.png 2.5x, c.png 1.5x">'),
    image("a real src wins over srcset", "set-src", "a.png", body='<img src="a.png" srcset="b.png 2x, c.png 3x">'),
    image("a comma in a srcset", "set-comma", "b,c.png", body='<img srcset="a.png 1x, b,c.png 2x">'),
    image(
        "data: in a srcset",
        "set-data",
        "a.png",
        body='<img srcset="data:image/png;base64,iVBORw0KGgo= 2x, a.png 1x">',
    ),
    image(
        "picture: the img counts",
        "picture",
        "a.jpg",
        body='<picture><source srcset="a.avif"><source srcset="b.webp 2x"><img src="a.jpg"></picture>',
    ),
    image(
        "picture: a source for an img that has nothing",
        "picture-2",
        "b.webp",
        body='<picture><source srcset="a.webp 1x, b.webp 2x"><img alt="B"></picture>',
    ),
    image(
        "picture: a source for an img with a placeholder",
        "picture-3",
        "b.webp",
        body='<picture><source srcset="b.webp"><img src="data:image/gif,x"></picture>',
    ),
    image("picture: no img at all", "picture-4", "b.webp", body='<picture><source srcset="b.webp"></picture>'),
    image(
        "picture: a lazy img counts",
        "picture-5",
        "a.jpg",
        body='<picture><source srcset="b.webp"><img data-src="a.jpg"></picture>',
    ),
    image("path of the site", "relative-1", "/site/x/a.png", body='<img src="/site/x/a.png">'),
    image("dot segments", "relative-2", "/site/b.png", body='<img src="./x/../../b.png">'),
    image("protocol-relative", "relative-3", "http://cdn.example/a.png", body='<img src="//cdn.example/a.png">'),
    image("a query alone", "relative-4", "/site/img/relative-4?size=9", body='<img src="?size=9">'),
    image(
        "base",
        "base",
        "/site/assets/a.png",
        head='<base href="/site/assets/">',
        body='<img src="a.png">',
    ),
    image(
        "base on another host, also for og:image and JSON-LD",
        "base-host",
        "http://cdn.example/x/a.png",
        "http://cdn.example/x/b.png",
        "http://cdn.example/x/c.png",
        head='<base href="//cdn.example/x/">' + meta(og_image="b.png") + ld(article(image="c.png")),
        body='<img src="a.png">',
    ),
    image("another host, https", "host", "https://cdn.example/a.png", body='<img src="https://cdn.example/a.png">'),
    image(
        "host in upper case, default port",
        "host-up",
        "http://cdn.example/A.png",
        body='<img src="HTTP://CDN.Example:80/A.png">',
    ),
    image(
        "IDN, spaces and letters beyond ASCII",
        "idn",
        "http://xn--bcher-kva.example/%C3%A4%20b.png?q=%C3%A9",
        body='<img src=" http://bücher.example/ä b.png?q=é ">',
    ),
    image("hex digits, unreserved escapes", "escapes", "~%C3%A9.png", body='<img src="%7e%c3%a9.png">'),
    image("white space inside", "tab", "ab.png", body='<img src="\n a\n\tb.png\r\n">'),
    image("control characters", "control", "a%01b%0Bc.png", body='<img src="a&#1;b\x0bc.png">'),
    image("quotes", "quotes", "it's%22x%22.png", body="""<img src="it's&quot;x&quot;.png">"""),
    image("]]> and <", "cdata", "a%5D%5D%3E%3Cb.png", body='<img src="a]]>&lt;b.png">'),
    image("& in a query", "query", "a.png?x=1&y=2&copy=3", body='<img src="a.png?x=1&amp;y=2&copy=3">'),
    image("fragment", "fragment", "a.svg", body='<img src="a.svg#icon"><img src="a.svg#other">'),
    image("SVG file", "svg", "chart.svg", body='<img src="chart.svg" alt="Chart">'),
    image(
        "no file: data:, javascript:, blob:, ftp:, file:",
        "schemes",
        body="""<img src="data:image/png;base64,iVBORw0KGgo="><img src="javascript:alert(1)"><img src=" JavaScript:x">
            <img src="blob:http://@HERE/1"><img src="ftp://cdn.example/a.png"><img src="file:///etc/passwd">
            <img src="http://"><img src="http://[::1/a.png"><img><img src><img src=" ">""",
    ),
    image(
        "an unfilled template",
        "unfilled",
        "b.png",
        body='<img src="{{ picture.url }}"><img src="/x/{{id}}.png"><img src="{{ src }}" data-src="b.png">',
    ),
    image("1x1 by attributes", "pixel", body='<img src="http://t.example/i?u=1" width="1" height="1">'),
    image("1x1 with units", "pixel-px", body='<img src="http://t.example/i?u=1" width="1px" height="1px">'),
    image("1x1 by style", "pixel-style", body='<img src="http://t.example/i" style="border:0;width:1px;height:1px">'),
    image(
        "1x1 by style in upper case",
        "pixel-style-2",
        body='<img src="http://t.example/i" style="HEIGHT : 1PX !important; WIDTH : 1PX">',
    ),
    image("a line is no pixel", "line", "line.png", body='<img src="line.png" width="1" height="100">'),
    image("10x10 is no pixel", "ten", "a.png", body='<img src="a.png" width="10" height="10">'),
    image(
        "thin by style alone", "thin", "a.png", body='<img src="a.png" style="width:100px;max-width:1px;height:11px">'
    ),
    image(
        "Facebook's beacon", "fb", body='<img src="https://www.facebook.com/tr?id=1&amp;ev=PageView&amp;noscript=1">'
    ),
    image(
        "Google Analytics' beacon",
        "ga",
        body='<img src="https://www.google-analytics.com/collect?v=1&amp;tid=UA-1&amp;cid=1&amp;t=pageview">',
    ),
    image("WordPress' beacon", "wp", body='<img src="https://pixel.wp.com/g.gif?v=ext&amp;blog=1" alt="">'),
    image("Bing's beacon", "bing", body='<img src="//bat.bing.com/action/0?ti=1&amp;Ver=2">'),
    image("LinkedIn's beacon", "in", body='<img src="https://px.ads.linkedin.com/collect/?pid=1&amp;fmt=gif">'),
    image("Matomo's beacon", "mtm", body='<img src="/stats/matomo.php?idsite=1&amp;rec=1" style="border:0" alt="">'),
    image("og:image", "og", "http://cdn.example/a.png", head=meta(og_image="http://cdn.example/a.png")),
    image(
        "several og:image, one relative, with their properties",
        "og-several",
        "/site/img/a.png",
        "http://cdn.example/b.png",
        head='<meta property="og:image" content="a.png"><meta property="og:image:width" content="1200">'
        '<meta property="og:image" content="//cdn.example/b.png"><meta property="og:image:alt" content="Both">'
        '<meta property="og:image" content=""><meta property="og:image">',
    ),
    image("image_src", "image-src", "a.png", head='<link rel="image_src" href="a.png">'),
    image("image_src among other words", "image-src-2", "a.png", head='<link rel="Preload IMAGE_SRC" href="a.png">'),
    image("JSON-LD: text", "ld-text", "a.png", head=ld(article(image="a.png"))),
    image(
        "JSON-LD: list",
        "ld-list",
        "a.png",
        "http://cdn.example/b.png",
        "c.png",
        head=ld(article(image=["a.png", "http://cdn.example/b.png", {"@type": "ImageObject", "url": "c.png"}])),
    ),
    image(
        "JSON-LD: ImageObject", "ld-object", "a.png", head=ld(article(image={"@type": "ImageObject", "url": "a.png"}))
    ),
    image(
        "JSON-LD: ImageObject with contentUrl",
        "ld-content",
        "a.png",
        head=ld(article(image={"@type": "ImageObject", "contentUrl": "a.png"})),
    ),
    image(
        "JSON-LD: @graph",
        "ld-graph",
        "a.png",
        "b.png",
        head=ld({"@context": "https://schema.org", "@graph": [article(image="a.png"), article(image=["b.png"])]}),
    ),
    image(
        "JSON-LD: a reference within @graph",
        "ld-reference",
        "a.png",
        head=ld(
            {
                "@context": "https://schema.org",
                "@graph": [
                    article(image={"@id": "http://@HERE/site/img/ld-reference#main"}),
                    {
                        "@type": "ImageObject",
                        "@id": "http://@HERE/site/img/ld-reference#main",
                        "url": "a.png",
                        "contentUrl": "a.png",
                    },
                ],
            }
        ),
    ),
    image("JSON-LD: in the body, as an array", "ld-body", "a.png", body=ld([article(), article(image="a.png")])),
    image(
        "JSON-LD: values that are no image",
        "ld-bad",
        "b.png",
        head=ld(
            article(image=None),
            article(image=7),
            article(image={"@type": "ImageObject"}),
            article(image=["", {}, [], True, "javascript:alert(1)", "data:image/png,x", "b.png"]),
            "text",
            3,
        ),
    ),
    image(
        "JSON-LD: a logo is no image",
        "ld-logo",
        head=ld(article(publisher={"@type": "Organization", "logo": {"@type": "ImageObject", "url": "l.png"}})),
    ),
    image(
        "JSON-LD: broken beside good",
        "ld-broken",
        "b.png",
        head=scripts('{"@type": "Article", "image": "a.png', "", "{]", '{"@type": "Article", "image": "b.png"}', "\0"),
    ),
    image(
        "JSON-LD: elements in each other without end, numbers without end",
        "ld-deep",
        "b.png",
        head=scripts("[" * 100_000, '{"a":' * 100_000, f'{{"@type": "Article", "n": {"9" * 6_000}}}')
        + ld(article(image="b.png")),
    ),
    image(
        "the same image from all sources",
        "same",
        "a.png",
        head=meta(og_image="a.png") + ld(article(image="/site/img/a.png")) + '<link rel="image_src" href="./a.png">',
        body='<img src="a.png"><img src="../img/a.png#x">'
        '<img src="http://@HERE/site/img/%61.png"><img data-src="a.png">',
    ),
    image(
        "fallback in noscript",
        "noscript",
        "a.png",
        "b.png",
        body='<img class="lazy" src="data:image/gif,x" data-src="a.png"><noscript><img src="a.png"></noscript>'
        '<div class="lazy"></div><noscript><img src="b.png"></noscript>',
    ),
    image(
        "what stands in no page",
        "inert",
        body='<template><img src="a.png"></template><!-- <img src="b.png"> --><script>"<img src=c.png>"</script>'
        '<textarea><img src="d.png"></textarea><iframe srcdoc="&lt;img src=e.png&gt;"></iframe>&lt;img src=f.png&gt;',
    ),
    image(
        "what is no <img>",
        "others",
        head='<link rel="icon" href="a.ico"><link rel="preload" as="image" href="b.png">'
        "<style>p{background:url(c.png)}</style>",
        body='<p style="background:url(d.png)">x</p><a rel="nofollow" href="e.png">x</a>'
        '<audio controls><source src="g.mp3"></audio><input type="text" value="h.png">',
    ),
    image(
        "10,000 images",
        "many",
        *(f"{n}.png" for n in range(10_000)),
        body="".join(f"<img src={n}.png>" for n in range(10_000)),
    ),
    image("10,000 times the same", "often", "a.png", body="<img src=a.png>" * 10_000),
    image("an attribute of 1 MB", "huge", "a.png", body=f'<img alt="{"x " * 500_000}" src="a.png" title="A">'),
    image(
        "a placeholder of 1 MB",
        "huge-data",
        "a.png",
        body=f'<img src="data:image/png;base64,{"A" * 1_000_000}" data-src="a.png">',
    ),
    image("a URL of 1 MB", "huge-url", "a.png", body=f'<img src="{LONG}{"l" * 1_000_000}"><img src="a.png">'),
    image("a URL of 3,000 characters", "long", "a.png", body=f'<img src="{LONG.ljust(3_000, "l")}"><img src="a.png">'),
    image("a URL of 3,000 characters after escaping", "long-2", body=f'<img src="{LONG}{"é" * 500}.png">'),
    image("a URL of 2,000 characters", "long-3", LONG.ljust(2_000, "l"), body=f'<img src="{LONG.ljust(2_000, "l")}">'),
]


# --- videos ---------------------------------------------------------------------------------------------------------

FILE = "https://cdn.example/film.mp4"
STILL = "https://cdn.example/film.jpg"
YOUTUBE = "https://www.youtube.com/embed/aqz-KE-bpKQ"
YOUTUBE_STILL = "https://i.ytimg.com/vi/aqz-KE-bpKQ/hqdefault.jpg"
VIMEO = "https://player.vimeo.com/video/76979871"
RUDE = """He said "5 < 6 & 7 > 6" 'twice' ]]> <![CDATA[ & done"""
PROSE = " ".join(f"word{number:03}" for number in range(625))[:4_999] + "."


def fields(given: Mapping[str, str | None]) -> Fields:
    return {name: value for name, value in given.items() if value is not None}


def film(**changes: str | None) -> Fields:
    """What is written for `video_object()`."""
    return fields(
        {"thumbnail_loc": STILL, "title": "A film", "description": "What it shows.", "content_loc": FILE, **changes}
    )


def talk(**changes: str | None) -> Fields:
    """What is written for PLAIN on a page that is DESCRIBED."""
    return fields(
        {
            "thumbnail_loc": "p.jpg",
            "title": "A talk",
            "description": "Words about it.",
            "content_loc": "v.mp4",
            **changes,
        }
    )


def embed(**changes: str | None) -> Fields:
    """What is written for TUBE on a page that is DESCRIBED."""
    return talk(thumbnail_loc=YOUTUBE_STILL, content_loc=None, player_loc=YOUTUBE, **changes)


def video_object(**changes: object) -> dict[str, object]:
    """A complete VideoObject; a value of None is left out, `at_type` is its @type."""
    values = {
        "@context": "https://schema.org",
        "@type": changes.pop("at_type", "VideoObject"),
        "name": "A film",
        "description": "What it shows.",
        "thumbnailUrl": STILL,
        "contentUrl": FILE,
        **changes,
    }
    return {name: value for name, value in values.items() if value is not None}


def video(
    label: str,
    path: str,
    *videos: Fields,
    head: str = "",
    body: str = "",
    title: str | None = None,
    missing: tuple[str, ...] = (),
    images: tuple[str, ...] = (),
) -> Case:
    """A page with exactly these videos, no image but `images` and the badge, and a warning about what is `missing`."""
    answer = Answer(markup(title or f"Film {path}", head=head, body=body, badge=True))
    located = tuple(
        {name: place("vid", value) if name.endswith("_loc") else value for name, value in one.items()} for one in videos
    )
    return Case("vid", label, path, answer, images=(*images, BADGE), videos=located, missing=frozenset(missing))


def stated(label: str, path: str, changes: Mapping[str, object], **written: str | None) -> Case:
    """A page with one complete VideoObject, which states more than it must."""
    return video(label, path, film(**written), head=ld(video_object(**changes)))


def lacking(label: str, path: str, missing: str, **changes: object) -> Case:
    """A page that has all values for a plain video, and a VideoObject that may not borrow them."""
    return video(label, path, head=DESCRIBED + ld(video_object(**changes)), missing=(missing,))


def duration(iso: object, path: str, seconds: str | None) -> Case:
    return stated(f"duration {str(iso)[:12]}", f"duration-{path}", {"duration": iso}, duration=seconds)


PLAIN = '<video src="v.mp4" poster="p.jpg" title="A talk"></video>'
TUBE = f'<iframe src="{YOUTUBE}" title="A talk"></iframe>'

VIDEOS = [
    video("plain", "plain", talk(), head=DESCRIBED, body=PLAIN),
    video(
        "plain: sources, of which the first counts",
        "sources",
        talk(content_loc="v.webm"),
        head=DESCRIBED,
        body='<video poster="p.jpg" title="A talk"><source src="v.webm"><source src="v.mp4">None</video>',
    ),
    video(
        "plain: poster and file relative, on another host",
        "relative",
        talk(thumbnail_loc="/site/t/p.jpg", content_loc="http://cdn.example/v.mp4"),
        head=DESCRIBED,
        body='<video src="//cdn.example/v.mp4#t=9" poster="../t/p.jpg#x" title="A talk"></video>',
    ),
    video(
        "plain: aria-label",
        "label",
        talk(),
        head=DESCRIBED,
        body='<video src="v.mp4" poster="p.jpg" aria-label=" A\n talk "></video>',
    ),
    video(
        "plain: caption",
        "caption",
        talk(),
        head=DESCRIBED,
        body='<figure><video src="v.mp4" poster="p.jpg"></video><figcaption>A <b>talk</b></figcaption></figure>',
    ),
    video(
        "plain: the page's own",
        "page",
        talk(title="Two & two"),
        head=DESCRIBED,
        body='<video src="v.mp4" poster="p.jpg"></video>',
        title="Two & two",
    ),
    video("plain: without description", "undescribed", body=PLAIN, missing=("description",)),
    video(
        "plain: without poster",
        "still-less",
        head=DESCRIBED,
        body='<video src="v.mp4" title="A talk"></video>',
        missing=("thumbnail",),
    ),
    video(
        "plain: a poster that is no URL",
        "still-data",
        head=DESCRIBED,
        body='<video src="v.mp4" poster="data:image/gif,x" title="A talk"></video>',
        missing=("thumbnail",),
    ),
    video(
        "plain: a file that is no URL",
        "blob",
        head=DESCRIBED,
        body='<video src="blob:http://@HERE/1" poster="p.jpg" title="A talk"></video>',
        missing=("content",),
    ),
    video("plain: nothing", "bare", body="<video></video>", missing=("thumbnail", "description", "content")),
    video(
        "plain: one of two is complete",
        "half",
        talk(),
        head=DESCRIBED,
        body=PLAIN + '<video src="w.mp4" title="A talk"></video>',
        missing=("thumbnail",),
    ),
    video("plain: twice", "twice", talk(), head=DESCRIBED, body=PLAIN + PLAIN),
    video("plain: in a template", "inert", head=DESCRIBED, body=f"<template>{PLAIN}</template><!-- {PLAIN} -->"),
    video(
        "plain: a rude title",
        "rude",
        talk(title=f"{RUDE} &amp; &lt;"),
        head=DESCRIBED,
        body=f'<video src="v.mp4" poster="p.jpg" title="{html.escape(RUDE)} &amp;amp; &amp;lt;"></video>',
    ),
    video(
        "plain: control characters",
        "control",
        talk(),
        head=DESCRIBED,
        body='<video src="v.mp4" poster="p.jpg" title="A&#1; &#11;&#27;talk\x0c"></video>',
    ),
    video(
        "plain: a title of 1 MB",
        "huge",
        talk(title="T" * 1_000_000),
        head=DESCRIBED,
        body=f'<video src="v.mp4" poster="p.jpg" title="{"T" * 1_000_000}"></video>',
    ),
    video(
        "plain: poster and image are the same",
        "both-uses",
        talk(),
        head=DESCRIBED,
        body=PLAIN + '<img src="p.jpg">',
        images=("/site/vid/p.jpg",),
    ),
    video("VideoObject", "object", film(), head=ld(video_object())),
    video(
        "VideoObject: http and a list of types", "types", film(), head=ld(video_object(at_type=["VideoObject", "Clip"]))
    ),
    video("VideoObject: its whole name", "iri", film(), head=ld(video_object(at_type="http://schema.org/VideoObject"))),
    video("VideoObject: in @graph", "graph", film(), head=ld({"@graph": [{"@type": "WebPage"}, video_object()]})),
    video("VideoObject: in an article", "nested", film(), head=ld(article(video=video_object()))),
    video(
        "VideoObject: deeper",
        "deeper",
        film(),
        head=ld({"@graph": [article(hasPart=[{"@type": "WebPageElement", "video": [video_object()]}])]}),
    ),
    video(
        "VideoObject: array",
        "array",
        film(),
        film(title="B", content_loc="https://cdn.example/b.mp4"),
        head=ld([video_object(), [video_object(name="B", contentUrl="https://cdn.example/b.mp4")]]),
    ),
    video(
        "VideoObject: array in an article",
        "array-2",
        film(),
        film(title="B", content_loc="https://cdn.example/b.mp4"),
        head=ld(article(video=[video_object(), video_object(name="B", contentUrl="https://cdn.example/b.mp4")])),
    ),
    video(
        "VideoObject: two scripts, one in the body",
        "scripts",
        film(),
        film(title="B", content_loc="https://cdn.example/b.mp4"),
        head=ld(video_object()),
        body=ld(video_object(name="B", contentUrl="https://cdn.example/b.mp4")),
    ),
    video("VideoObject: the same in two scripts", "same", film(), head=ld(video_object(), video_object())),
    video(
        "VideoObject: player",
        "player",
        film(content_loc=None, player_loc="https://cdn.example/play?v=1&w=2"),
        head=ld(video_object(contentUrl=None, embedUrl="https://cdn.example/play?v=1&w=2")),
    ),
    video(
        "VideoObject: file and player",
        "both",
        film(player_loc="https://cdn.example/play"),
        head=ld(video_object(embedUrl="https://cdn.example/play")),
    ),
    video(
        "VideoObject: relative",
        "object-relative",
        film(thumbnail_loc="t.jpg", content_loc="/v.mp4", player_loc="http://cdn.example/p"),
        head=ld(video_object(thumbnailUrl="t.jpg", contentUrl="/v.mp4", embedUrl="//cdn.example/p")),
    ),
    stated("VideoObject: list of thumbnails", "stills", {"thumbnailUrl": [STILL, "https://cdn.example/2.jpg"]}),
    stated("VideoObject: the first usable thumbnail", "stills-2", {"thumbnailUrl": ["data:image/gif,x", "", STILL]}),
    duration("PT1M30S", "1", "90"),
    duration("PT45S", "2", "45"),
    duration("PT1H2M3S", "3", "3723"),
    duration("P0DT0H5M0S", "4", "300"),
    duration("PT8H", "5", "28800"),
    duration("PT8H1S", "6", None),
    duration("P1DT1H", "7", None),
    duration("PT0S", "8", None),
    duration("-PT30S", "9", None),
    duration("P", "10", None),
    duration("soon", "11", None),
    duration("PT" + "9" * 400 + "H", "12", None),
    duration([{}], "13", None),
    stated("uploadDate: day", "upload", {"uploadDate": "2024-03-05"}, publication_date="2024-03-05"),
    stated(
        "uploadDate: time and zone",
        "upload-2",
        {"uploadDate": "2024-03-05T08:09:10+01:00"},
        publication_date="2024-03-05T08:09:10+01:00",
    ),
    stated("uploadDate: no date", "upload-3", {"uploadDate": "last <week>"}),
    stated("expires: in 30 days", "expires", {"expires": "@AGO(-720)"}, expiration_date="@AGO(-720)"),
    stated("expires: no date", "expires-2", {"expires": "never"}),
    stated("regionsAllowed: text", "regions", {"regionsAllowed": "DE,AT"}, restriction="allow AT DE"),
    stated("regionsAllowed: list", "regions-2", {"regionsAllowed": ["de", "AT"]}, restriction="allow AT DE"),
    stated("regionsAllowed: no country", "regions-3", {"regionsAllowed": "everywhere"}),
    stated("rating", "rating", {"aggregateRating": {"@type": "AggregateRating", "ratingValue": "4.5"}}, rating="4.5"),
    stated("rating: too high", "rating-2", {"aggregateRating": {"@type": "AggregateRating", "ratingValue": 7}}),
    stated("rating: negative", "rating-3", {"aggregateRating": {"@type": "AggregateRating", "ratingValue": "-1"}}),
    stated("rating: no number", "rating-4", {"aggregateRating": {"ratingValue": "NaN"}}),
    stated(
        "views",
        "views",
        {
            "interactionStatistic": {
                "@type": "InteractionCounter",
                "interactionType": {"@type": "WatchAction"},
                "userInteractionCount": 12345,
            }
        },
        view_count="12345",
    ),
    stated("not for families", "family", {"isFamilyFriendly": False}, family_friendly="no"),
    stated("100 keywords", "tags", {"keywords": [f"tag{number}" for number in range(100)]}),
    stated("description of 5,000 characters", "prose", {"description": PROSE}, description=PROSE),
    stated(
        "a rude title and description", "object-rude", {"name": RUDE, "description": RUDE}, title=RUDE, description=RUDE
    ),
    stated("control characters", "object-control", {"name": "A\x01 \x0b\x1bfilm\0"}),
    stated("half a character", "surrogate", {"name": "A \ud83dfilm", "description": "What it \udc00shows."}),
    stated("a title of 100 kB", "object-large", {"name": "T" * 100_000}, title="T" * 100_000),
    video(
        "an article's title of 1 MB beside a VideoObject",
        "object-huge",
        film(),
        head=ld(article(headline="T" * 1_000_000), video_object()),
    ),
    lacking("VideoObject: without thumbnail", "lack-1", "thumbnail", thumbnailUrl=None),
    lacking("VideoObject: without name", "lack-2", "title", name=None),
    lacking("VideoObject: without text", "lack-3", "description", description=None),
    lacking("VideoObject: blank text", "lack-4", "description", description=" \n "),
    lacking("VideoObject: without place", "lack-5", "content", contentUrl=None),
    lacking("VideoObject: the page is no player", "lack-6", "content", contentUrl=None, embedUrl="#film"),
    lacking("VideoObject: a script is no file", "lack-7", "content", contentUrl="javascript:play()"),
    lacking("VideoObject: a number is no thumbnail", "lack-8", "thumbnail", thumbnailUrl=[7, {}, None]),
    video("JSON-LD: broken", "broken", head=scripts('{"@type": "VideoObject", "name": "A', "<!--", "{'@type': 1}")),
    video(
        "JSON-LD: broken beside good",
        "broken-2",
        film(),
        head=scripts("{", "[" * 100_000, f'{{"@type": "VideoObject", "width": {"9" * 6_000}', "null")
        + ld(video_object()),
    ),
    video(
        "JSON-LD: of another type",
        "script-type",
        head=ld(video_object()).replace("application/ld+json", "application/json"),
    ),
    video(
        "microdata",
        "microdata",
        film(duration="90", publication_date="2024-03-05"),
        body=f"""<div itemscope itemtype="https://schema.org/VideoObject"><h2 itemprop="name">A film</h2>
            <p itemprop="description">What it <b>shows</b>.</p><link itemprop="thumbnailUrl" href="{STILL}">
            <meta itemprop="contentUrl" content="{FILE}"><meta itemprop="duration" content="PT1M30S">
            <meta itemprop="uploadDate" content="2024-03-05"></div>""",
    ),
    video(
        "microdata: in an article, http",
        "microdata-2",
        film(content_loc=None, player_loc="https://cdn.example/play"),
        body=f"""<article itemscope itemtype="http://schema.org/Article"><b itemprop="name">Not this</b>
            <div itemprop="video" itemscope itemtype="http://schema.org/VideoObject">
            <meta itemprop="name" content="A film"><meta itemprop="description" content="What it shows.">
            <meta itemprop="thumbnailUrl" content="{STILL}"><link itemprop="embedUrl" href="https://cdn.example/play">
            <span itemprop="actor" itemscope itemtype="http://schema.org/Person"><i itemprop="name">Nor this</i></span>
            </div></article>""",
    ),
    video(
        "microdata: without thumbnail",
        "microdata-3",
        body=f"""<div itemscope itemtype="https://schema.org/VideoObject"><meta itemprop="name" content="A film">
            <meta itemprop="description" content="What it shows.">
            <meta itemprop="contentUrl" content="{FILE}"></div>""",
        missing=("thumbnail",),
    ),
    video(
        "og:video: file",
        "og",
        film(),
        head=meta(
            og_title="A film",
            og_description="What it shows.",
            og_image=STILL,
            og_video=FILE,
            og_video_type="video/mp4",
        ),
        title="A film",
        images=(STILL,),
    ),
    video(
        "og:video: player",
        "og-player",
        film(content_loc=None, player_loc="https://cdn.example/play"),
        head=meta(
            og_title="A film",
            og_description="What it shows.",
            og_image=STILL,
            og_video="https://cdn.example/play",
            og_video_type="text/html",
        ),
        title="A film",
        images=(STILL,),
    ),
    video(
        "og:video: without image",
        "og-lack",
        head=meta(og_title="A film", og_description="What it shows.", og_video=FILE, og_video_type="video/mp4"),
        title="A film",
        missing=("thumbnail",),
    ),
    video("YouTube", "tube", embed(), head=DESCRIBED, body=TUBE),
    video(
        "YouTube without cookies",
        "tube-2",
        embed() | {"player_loc": "https://www.youtube-nocookie.com/embed/aqz-KE-bpKQ"},
        head=DESCRIBED,
        body='<iframe src="https://www.youtube-nocookie.com/embed/aqz-KE-bpKQ" title="A talk"></iframe>',
    ),
    video("YouTube without description", "tube-3", body=TUBE, missing=("description",)),
    video(
        "Vimeo", "vimeo", head=DESCRIBED, body=f'<iframe src="{VIMEO}" title="A talk"></iframe>', missing=("thumbnail",)
    ),
    video(
        "frames that are no player",
        "frames",
        head=DESCRIBED,
        body="""<iframe src="https://www.google.com/maps/embed?pb=1" title="A map"></iframe>
            <iframe src="https://player.vimeo.com.evil.example/video/1" title="A trap"></iframe>
            <iframe src="https://evil.example/?https://www.youtube.com/embed/aqz-KE-bpKQ" title="A trap"></iframe>""",
    ),
    video(
        "VideoObject and YouTube are one",
        "one",
        film(content_loc=None, player_loc=YOUTUBE),
        head=DESCRIBED + ld(video_object(contentUrl=None, embedUrl=YOUTUBE)),
        body=TUBE,
    ),
    video(
        "VideoObject and Vimeo are one",
        "one-2",
        film(player_loc=VIMEO),
        head=DESCRIBED + ld(video_object(embedUrl=VIMEO)),
        body=f'<iframe src="{VIMEO}" title="A talk"></iframe>',
    ),
    video(
        "VideoObject and plain are one",
        "one-3",
        film(content_loc="v.mp4"),
        head=DESCRIBED + ld(video_object(contentUrl="/site/vid/v.mp4")),
        body='<video src="v.mp4"></video>',
    ),
]


# --- languages ------------------------------------------------------------------------------------------------------

ONE_WAY = "one-way-alternate"
INVALID = "invalid-alternate"
UNLISTED = "unlisted-alternate"
CONFLICTING = "conflicting-alternates"
KINDS = frozenset({ONE_WAY, INVALID, UNLISTED, CONFLICTING})
FRENCH = "http://other.example/fr"

Claims = Mapping[str, str | tuple[str, ...]]
"""Languages, and the names of the pages in one cluster, or URLs as they stand in the markup."""


def hreflang(code: str, href: str) -> str:
    return f'<link rel="alternate" hreflang="{html.escape(code)}" href="{html.escape(href)}">'


def cluster(
    label: str,
    slug: str,
    claims: Mapping[str, Claims],
    written: Mapping[str, str] | None,
    *,
    kinds: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
    extra: Mapping[str, str] | None = None,
    answers: Mapping[str, Answer] | None = None,
    relative: bool = False,
    in_header: frozenset[str] = frozenset(),
) -> Iterator[Case]:
    """The pages `slug`-name with what each claims; all that `written` names list it whole, the others list nothing.

    Any of `kinds` must be reported, naming the pages (or codes) `names`. A page with `extra` markup or an answer of its
    own is not listed.
    """
    extra, answers = extra or {}, answers or {}
    pages = (*claims, *(name for name in answers if name not in claims))

    def target(name: str) -> str:
        bare = f"{slug}-{name}"
        return (bare if relative else place("alt", bare)) if name in pages else name

    for position, name in enumerate(pages):
        path = f"{slug}-{name}"
        wanted = [
            (code, target(one))
            for code, ones in claims.get(name, {}).items()
            for one in ((ones,) if isinstance(ones, str) else ones)
        ]
        head = "" if name in in_header else "".join(hreflang(*claim) for claim in wanted)
        header = ", ".join(f'<{href}>; rel="alternate"; hreflang="{code}"' for code, href in wanted)
        headers = (("Link", header),) if name in in_header else ()
        text = markup(f"Language {path}", head=head + extra.get(name, ""))
        members = {code: place("alt", f"{slug}-{one}") for code, one in (written or {}).items()}
        listed = name not in extra and name not in answers
        warned = Warned(
            frozenset(kinds), tuple(place("alt", f"{slug}-{one}") if one in pages else one for one in names)
        )
        yield Case(
            "alt",
            f"{label} ({name})",
            path,
            answers.get(name, Answer(text, headers=headers)),
            listed,
            alternates=None if written is None else members if name in written.values() else {},
            warned=(warned,) if kinds and position == 0 else (),
            may_warn=KINDS if kinds else frozenset(),
        )


BOTH = {"en": "en", "de": "de"}
THREE = {**BOTH, "fr": "fr"}

LANGUAGES = [
    *cluster("a pair", "pair", {"en": BOTH, "de": BOTH}, BOTH),
    *cluster(
        "three with x-default",
        "three",
        {name: {**THREE, "x-default": "en"} for name in ("en", "de", "fr")},
        {**THREE, "x-default": "en"},
    ),
    *cluster(
        "x-default is a page of its own",
        "choose",
        {name: {**BOTH, "x-default": "all"} for name in ("en", "de", "all")},
        {**BOTH, "x-default": "all"},
    ),
    *cluster("no self-reference", "selfless", {"en": {"de": "de"}, "de": {"en": "en"}}, BOTH),
    *cluster(
        "one of three without self-reference",
        "selfless-2",
        {"en": THREE, "de": {"en": "en", "fr": "fr"}, "fr": THREE},
        THREE,
    ),
    *cluster("one way", "way", {"en": BOTH, "de": {}}, {}, kinds=(ONE_WAY,), names=("en", "de")),
    *cluster(
        "one way, a self-reference", "way-2", {"en": BOTH, "de": {"de": "de"}}, {}, kinds=(ONE_WAY,), names=("de",)
    ),
    *cluster(
        "two agree, the third doesn't answer",
        "third",
        {"en": THREE, "de": THREE, "fr": {}},
        BOTH,
        kinds=(ONE_WAY,),
        names=("fr",),
    ),
    *cluster("only itself", "single", {"en": {"en": "en"}}, {}),
    *(
        cases
        for number, code in enumerate(("en-UK", "xx", "en_GB", "jp", "english"))
        for cases in cluster(
            f"no language: {code}",
            f"code-{number}",
            {"en": {**BOTH, code: "odd"}, "de": BOTH, "odd": {}},
            BOTH,
            kinds=(INVALID,),
            names=("en", code),
        )
    ),
    *cluster(
        "codes are written as the standard writes them",
        "case",
        {
            "gb": {"EN-gb": "gb", "zh-hans": "zh", "ZH-HANT-tw": "tw", "X-Default": "gb"},
            "zh": {"en-GB": "gb", "ZH-HANS": "zh", "zh-Hant-TW": "tw", "x-default": "gb"},
            "tw": {"en-gb": "gb", "zh-Hans": "zh", "zh-hant-tw": "tw", "x-default": "gb"},
        },
        {"en-GB": "gb", "zh-Hans": "zh", "zh-Hant-TW": "tw", "x-default": "gb"},
    ),
    *cluster(
        "one page for two codes",
        "codes",
        {name: {"en": "en", "en-US": "en", "de": "de"} for name in ("en", "de")},
        {"en": "en", "en-US": "en", "de": "de"},
    ),
    *cluster(
        "member: 404",
        "gone",
        {"en": THREE, "de": THREE},
        BOTH,
        kinds=(UNLISTED,),
        names=("fr",),
        answers={"fr": Answer("Not found", status=404)},
    ),
    *cluster(
        "member: noindex",
        "noindex",
        {"en": THREE, "de": THREE, "fr": THREE},
        BOTH,
        kinds=(UNLISTED,),
        names=("fr",),
        extra={"fr": NOINDEX},
    ),
    *cluster(
        "member: canonical elsewhere",
        "canonical",
        {"en": THREE, "de": THREE, "fr": THREE},
        BOTH,
        kinds=(UNLISTED,),
        names=("fr",),
        extra={"fr": f'<link rel="canonical" href="{START}alt/canonical-en">'},
    ),
    *cluster(
        "member: redirect",
        "moved",
        {"en": THREE, "de": THREE},
        BOTH,
        kinds=(UNLISTED,),
        names=("fr",),
        answers={"fr": Answer(status=301, headers={"Location": f"{START}alt/moved-de"})},
    ),
    *cluster(
        "a pair of which one is noindex",
        "alone",
        {"en": BOTH, "de": BOTH},
        {},
        kinds=(UNLISTED,),
        names=("de",),
        extra={"de": NOINDEX},
    ),
    *cluster(
        "member: another host, which can't be asked",
        "host",
        {name: {**BOTH, "fr": FRENCH} for name in ("en", "de")},
        BOTH,
        kinds=(UNLISTED, ONE_WAY),
        names=(FRENCH,),
    ),
    *cluster("Link: header", "header", {"en": BOTH, "de": BOTH}, BOTH, in_header=frozenset({"en", "de"})),
    *cluster("Link: header and tags", "header-2", {"en": BOTH, "de": BOTH}, BOTH, in_header=frozenset({"en"})),
    *cluster("relative", "relative", {"en": BOTH, "de": BOTH}, BOTH, relative=True),
    *cluster(
        "one code for two pages",
        "conflict",
        {name: {"en": "en", "de": ("de", "at")} for name in ("en", "de", "at")},
        None,
        kinds=(CONFLICTING,),
        names=("en", "de"),
    ),
    *cluster("one code twice for one page", "double", {"en": {"en": ("en", "en"), "de": "de"}, "de": BOTH}, BOTH),
    *cluster(
        "addresses spelled in several ways",
        "%C3%A9",
        {
            "en": {"en": f"{START}alt/%c3%a9-%65n#top", "de": f"http://@HERE{START}x/../alt/é-de"},
            "de": {"en": f"//@HERE{START}alt/é-en", "de": f"{START}alt/%C3%A9-de"},
        },
        BOTH,
    ),
    *cluster("from a sitemap", "foreign", {"en": {}, "de": {}}, BOTH),
    Case(
        "alt",
        "a feed, a style and what stands in a comment are no languages",
        "others",
        Answer(
            markup(
                "Language others",
                head='<link rel="alternate" type="application/rss+xml" href="feed"><link rel="alternate stylesheet" '
                f'href="red.css"><link rel="next" hreflang="de" href="pair-de"><!-- {hreflang("de", "pair-de")} -->',
            )
        ),
        alternates={},
    ),
]

FOREIGN = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
{
    "".join(
        f"<url><loc>http://@HERE{START}alt/foreign-{name}</loc>"
        f'<xhtml:link rel="alternate" hreflang="en" href="http://@HERE{START}alt/foreign-en"/>'
        f'<xhtml:link rel="alternate" hreflang="de" href="http://@HERE{START}alt/foreign-de"/></url>'
        for name in ("en", "de")
    )
}
</urlset>
"""


# --- news -----------------------------------------------------------------------------------------------------------


def news(
    label: str,
    path: str,
    written: Fields | None = None,
    *,
    title: str | None = None,
    head: str = "",
    lang: str = ' lang="en"',
    listed: bool = True,
) -> Case:
    answer = Answer(markup(title or f"Report {path}", head=head, lang=lang))
    return Case("news", label, path, answer, listed, news=written)


def report(published: str | None, **changes: object) -> str:
    values = {"headline": "It happened", "datePublished": published, **changes}
    kept = {name: value for name, value in values.items() if value is not None}
    return ld({"@context": "https://schema.org", "@type": "NewsArticle", **kept})


def published_time(date: str) -> str:
    return f'<meta property="article:published_time" content="{date}">'


def told(published: str, **changes: str) -> Fields:
    return {"language": "en", "publication_date": published, "title": "It happened", **changes}


NEWS = [
    news("an hour ago", "hour", told("@AGO(1)"), head=report("@AGO(1)")),
    news("an hour ago, in Tokyo", "tokyo", told("@TOKYO(1)"), head=report("@TOKYO(1)")),
    news("47 hours ago", "fresh", told("@AGO(47)"), head=report("@AGO(47)")),
    news("49 hours ago", "stale", head=report("@AGO(49)")),
    news("3 days ago", "old", head=report("@AGO(72)")),
    news("3 days ago, changed an hour ago", "changed", head=report("@AGO(72)", dateModified="@AGO(1)")),
    news("in 2 days", "future", head=report("@AGO(-48)")),
    news("no date", "undated", head=report(None)),
    news("a date that is none", "yesterday", head=report("<yesterday>")),
    news("no zone", "zoneless", told("@NAIVE(20)"), head=report("@NAIVE(20)")),
    news("a day without a time", "day", told("@DAY(5)"), head=report("@DAY(5)")),
    news(
        "published_time alone",
        "published",
        told("@AGO(2)", title="It happened here"),
        title="It happened here",
        head=meta(og_type="article", og_title="It happened here") + published_time("@AGO(2)"),
    ),
    news("published_time, 3 days ago", "published-2", head=meta(og_type="article") + published_time("@AGO(72)")),
    news(
        "without headline",
        "nameless",
        told("@AGO(3)", title="It happened there"),
        title="It happened there",
        head=meta(og_title="It happened there") + report("@AGO(3)", headline=None),
    ),
    news("html lang", "german", told("@AGO(1)", language="de"), head=report("@AGO(1)"), lang=' lang="de"'),
    news(
        "html lang with a region", "brazil", told("@AGO(1)", language="pt"), head=report("@AGO(1)"), lang=" lang=pt-BR"
    ),
    news(
        "Chinese has a region", "chinese", told("@AGO(1)", language="zh-cn"), head=report("@AGO(1)"), lang=" lang=zh-CN"
    ),
    news("inLanguage", "french", told("@AGO(1)", language="fr"), head=report("@AGO(1)", inLanguage="fr"), lang=""),
    news(
        "inLanguage and html lang",
        "french-2",
        told("@AGO(1)", language="fr"),
        head=report("@AGO(1)", inLanguage="fr-FR"),
    ),
    news("& and <", "marks", told("@AGO(1)", title=RUDE), head=report("@AGO(1)", headline=RUDE)),
    news("control characters", "control", told("@AGO(1)"), head=report("@AGO(1)", headline="It \x01\x0b happened\0")),
    news(
        "in @graph",
        "graph",
        told("@AGO(1)"),
        head=ld(
            {
                "@graph": [
                    {"@type": "WebPage", "name": "Page", "datePublished": "@AGO(72)"},
                    {"@type": ["NewsArticle"], "headline": "It happened", "datePublished": "@AGO(1)"},
                ]
            }
        ),
    ),
    news(
        "no article of news",
        "post",
        head=ld({"@type": "WebPage", "headline": "It happened", "datePublished": "@AGO(1)"}),
    ),
    news(
        "broken JSON-LD", "broken", head=scripts('{"@type": "NewsArticle", "datePublished": "@AGO(1)", "headline": "A')
    ),
    news("noindex", "noindex", head=NOINDEX + report("@AGO(1)"), listed=False),
]


# --- the site -------------------------------------------------------------------------------------------------------

GROUPS = {"img": IMAGES, "vid": VIDEOS, "alt": LANGUAGES, "news": NEWS}


def hub(group: str, paths: list[str]) -> Answer:
    links = "\n".join(f'<p><a href="{html.escape(path)}">one</a></p>' for path in paths)
    return Answer(markup(f"Hub {group}", body=links, badge=True))


def _cases() -> Iterator[Case]:
    yield Case("hubs", "start", START, hub("start", [f"{START}{group}/" for group in GROUPS]), images=(BADGE,))
    for group, cases in GROUPS.items():
        yield Case("hubs", group, f"{START}{group}/", hub(group, [case.url for case in cases]), images=(BADGE,))
        yield from cases


CASES = tuple(_cases())


@dataclass(frozen=True, slots=True)
class Site:
    """What the texts of the site need: the server's port, and when the site was built."""

    port: int
    built: datetime

    def fill(self, text: str) -> str:
        if "@" not in text:
            return text
        text = re.sub(r"@(AGO|NAIVE|TOKYO|DAY)\((-?\d+)\)", self._date, text)
        return text.replace("@HERE", f"127.0.0.1:{self.port}")

    def _date(self, match: re.Match[str]) -> str:
        instant = self.built.replace(microsecond=0) - timedelta(hours=int(match[2]))
        if match[1] == "TOKYO":
            return instant.astimezone(timezone(timedelta(hours=9))).isoformat()
        if match[1] == "DAY":
            return instant.date().isoformat()
        return instant.replace(tzinfo=None).isoformat() if match[1] == "NAIVE" else instant.isoformat()

    def url(self, url: str) -> str:
        url = self.fill(url)
        return f"http://127.0.0.1:{self.port}{url}" if url.startswith("/") else url

    def answer(self, answer: Answer) -> Answer:
        body = self.fill(answer.body) if isinstance(answer.body, str) else answer.body
        headers = tuple((name, self.fill(value)) for name, value in answer.header_pairs())
        return Answer(body, answer.status, headers, answer.content_type)

    def pages(self) -> dict[str, Page]:
        """The site's answers by path."""
        served: dict[str, Page] = {case.url: self.answer(case.answer) for case in CASES}
        served["/foreign.xml"] = self.answer(Answer(FOREIGN, content_type="application/xml"))
        robots = "User-agent: *\nDisallow:\nSitemap: http://@HERE/foreign.xml\n"
        served["/robots.txt"] = self.answer(Answer(robots, content_type="text/plain"))
        return served
