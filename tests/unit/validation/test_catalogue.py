"""The catalogue of rules: its texts, its agreement with the code, and a good and a bad document for each rule."""

from __future__ import annotations

import ast
import re
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pytest

from sitemap_crawler.validation.catalogue import FAMILIES, RULES
from sitemap_crawler.validation.targets import validate
from tests.support.paths import PACKAGE, ROOT
from tests.support.sitemap_documents import (
    BASE,
    CORE,
    GZ,
    LOC,
    NOW,
    PAGE,
    PUBLICATION,
    at,
    image,
    index,
    news,
    page,
    rules,
    urlset,
    video,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

NOT_YET_USED: set[str] = set()
"""Rules that are in the catalogue before the code that uses them. This set becomes empty."""

MAKERS = {"issue", "UnreadableError", "UrlProblem"}
"""Functions and classes whose first argument is the id of a rule."""


@cache
def _modules() -> list[ast.Module]:
    # The recommendations name a rule of findings that other modules make.
    others = {"catalogue.py", "recommendations.py"}
    paths = [path for path in sorted((PACKAGE / "validation").rglob("*.py")) if path.name not in others]
    paths += sorted((PACKAGE / "cli" / "validate").glob("*.py"))
    return [ast.parse(path.read_text(encoding="utf-8"), str(path)) for path in paths]


def _used() -> set[str]:
    """Return the ids that the code passes on as texts: to a function, or in a table of rules."""
    docstrings = {
        id(node.body[0].value)
        for module in _modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return {
        node.value
        for module in _modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    } & RULES.keys()


def test_the_code_uses_each_rule_of_the_catalogue() -> None:
    assert RULES.keys() - _used() == NOT_YET_USED


def test_each_rule_that_the_code_names_is_in_the_catalogue() -> None:
    named = {
        node.args[0].value
        for module in _modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in MAKERS
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    assert named
    assert named - RULES.keys() == set()


def test_the_severity_is_a_property_of_the_rule() -> None:
    """No other module makes an issue around the check of its id."""
    made = [
        node.lineno
        for module in _modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Issue"
    ]
    assert len(made) == 1, "only findings.issue makes an Issue"


def test_a_rule_has_complete_texts() -> None:
    for rule_id, rule in RULES.items():
        assert rule_id == rule.id
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.id)
        for text in (rule.problem, rule.remedy):
            assert re.fullmatch(r"[A-Z].*\.", text), text
            assert ". " not in text, f"one sentence: {text}"
            assert "  " not in text
        if rule.source == "this tool":
            assert not rule.link
        else:
            assert rule.link.startswith("https://")
    assert [*dict.fromkeys(rule.family for rule in RULES.values())] == [*FAMILIES]


# The table: a good and a bad document for each rule, written from the page that the rule names as its source. A good
# document stands as near to the limit as that page allows.

Document = str | bytes
Files = Document | dict[str, Document]
"""The content of sitemap.xml, or the contents of several files by name, of which the first one is validated."""


class Pair(NamedTuple):
    """Documents that obey and break one rule."""

    rule: str
    good: Files | Callable[[], Files]
    """Document without any finding."""
    bad: Files | Callable[[], Files]
    """Document whose only findings are of this rule."""


def sized(size: int) -> str:
    """Return a sitemap of that many bytes."""
    document = at(PAGE)
    return document.replace("</urlset>", " " * (size - len(document)) + "</urlset>")


def listing(count: int, more: Callable[[int], str] = lambda _: "") -> str:
    entries = (f"<url><loc>https://example.com/{number}</loc>{more(number)}</url>\n" for number in range(count))
    return urlset("".join(entries))


def dated(moments: Iterable[str]) -> str:
    """Return a sitemap with one entry for each lastmod."""
    lastmods = [f"<lastmod>{moment}</lastmod>" for moment in moments]
    return listing(len(lastmods), lastmods.__getitem__)


def dated_index(lastmod_of_sitemap: str, lastmod_of_page: str) -> dict[str, Document]:
    shard = f"<url><loc>{BASE}a</loc><lastmod>{lastmod_of_page}</lastmod></url>"
    stated = index(f"{BASE}1.xml").replace("</loc>", f"</loc><lastmod>{lastmod_of_sitemap}</lastmod>")
    return {"sitemap.xml": stated, "1.xml": urlset(shard)}


def articles(count: int) -> str:
    article = news().partition(LOC)[2].partition("</url>")[0]
    return urlset("".join(f"<url><loc>https://example.com/{i}</loc>{article}</url>" for i in range(count)))


def lastmod(moment: str) -> str:
    return page(f"<lastmod>{moment}</lastmod>")


def pictures(count: int) -> str:
    return page("".join(f"<image:image><image:loc>https://e.com/{i}</image:loc></image:image>" for i in range(count)))


def valued(name: str, value: str, attributes: str = "") -> str:
    """Return a video with one more value."""
    return video(f"<video:{name}{attributes}>{value}</video:{name}>")


def uploader(page_of_uploader: str) -> str:
    return valued("uploader", "Me", f' info="{page_of_uploader}"')


def alternate(hreflang: str, href: str = PAGE) -> str:
    return f'<xhtml:link rel="alternate" hreflang="{hreflang}" href="{href}"/>'


def item(content: str, version: str = "2.0") -> dict[str, Document]:
    feed = f'<rss version="{version}"><channel><title>T</title><item>{content}</item></channel></rss>'
    return {"sitemap.rss": feed}


def entry(content: str) -> dict[str, Document]:
    return {"sitemap.atom": f'<feed xmlns="http://www.w3.org/2005/Atom"><entry>{content}</entry></feed>'}


def set_of(listed: str, **changed: Document) -> dict[str, Document]:
    """Return an index in a directory with one sitemap, which lists one URL."""
    return {"sitemap.xml": index(f"{BASE}sitemap-1.xml"), "sitemap-1.xml": at(listed), **changed}


def ahead(**time: int) -> str:
    return (NOW + timedelta(**time)).strftime("%Y-%m-%dT%H:%M:%SZ")


GOOD = at(PAGE)
LINK = f"<link>{PAGE}</link>"
MORE_LANGUAGES = alternate("en") + alternate("de", "https://example.com/de")
PAIRS = [
    # file
    Pair("empty-file", GOOD, b""),
    Pair("not-a-sitemap", GOOD, "<!DOCTYPE html><html><head><title>Not found</title></head></html>"),
    Pair("wrong-namespace", GOOD, GOOD.replace(CORE, "http://www.google.com/schemas/sitemap/0.84")),
    Pair("not-utf-8", GOOD.replace("<url>", "<!-- Größe --><url>"),
         GOOD.replace("<url>", "<!-- Größe --><url>").encode("latin-1")),
    Pair("encoding-name", GOOD, GOOD.replace("UTF-8", "utf8")),
    Pair("byte-order-mark", GOOD.encode(), GOOD.encode("utf-8-sig")),
    Pair("doctype", GOOD, GOOD.replace("<urlset", "<!DOCTYPE urlset><urlset", 1)),
    Pair("not-well-formed", GOOD, GOOD.replace("</loc>", "</lco>")),
    Pair("unescaped-character", at("https://example.com/?a=1&amp;b=2"), at("https://example.com/?a=1&b=2")),
    Pair("unknown-entity", at("https://example.com/%C3%A9"), at("https://example.com/&eacute;")),
    Pair("control-character", GOOD.replace("<url>", "<!-- a --><url>"), GOOD.replace("<url>", "<!-- \x01 --><url>")),
    Pair("undeclared-prefix", page(f'<o:a xmlns:o="{BASE}"/>'), page("<o:a/>")),
    Pair("text-before-declaration", GOOD, "\n" + GOOD),
    Pair("cut-file", GOOD, GOOD[:-12]),
    Pair("oversized-tag", page(f'<other:thing a="{"a" * 100_000}"/>'), urlset(f'<url a="{"a" * 3_000_000}')),
    Pair("nested-too-deep", page("<other:a>" * 20 + "</other:a>" * 20), page("<other:a>" * 40 + "</other:a>" * 40)),
    Pair("oversized-entry", lambda: page("<other:a/>" * 10_000), lambda: page("<other:a/>" * 30_000)),
    Pair("stray-text", page("\n\t"), page("and")),
    Pair("unknown-element", page("<other:title>A</other:title>"), page("<title>A</title>")),
    Pair("repeated-element", page("<lastmod>2024</lastmod>"), page("<lastmod>2024</lastmod>" * 2)),
    Pair("empty-sitemap", GOOD, urlset("")),
    Pair("file-too-large", lambda: sized(52_428_800), lambda: sized(52_428_801)),
    Pair("too-many-entries", lambda: listing(50_000), lambda: listing(50_001)),
    Pair("unlisted-file", {".": b"", **set_of(f"{BASE}a")},
         {".": b"", **set_of(f"{BASE}a"), "sitemap-2.xml": at(f"{BASE}b")}),
    Pair("extension-namespace", image("<image:loc>https://e.com/1</image:loc>"),
         image("<image:loc>https://e.com/1</image:loc>").replace("sitemap-image/1.1", "sitemap-image/1.0")),
    Pair("unknown-extension-element", image("<image:loc>https://e.com/1</image:loc>"),
         image("<image:loc>https://e.com/1</image:loc><image:alt>A</image:alt>")),
    Pair("mobile-retired", GOOD, page('<m:mobile xmlns:m="http://www.google.com/schemas/sitemap-mobile/1.0"/>')),
    # url
    Pair("loc-missing", GOOD, urlset("<url><lastmod>2024-01-31</lastmod></url>")),
    Pair("loc-padding", GOOD, at(f"\n    {PAGE}\n  ")),
    Pair("loc-whitespace", at("https://example.com/a%20b"), at("https://example.com/a b")),
    Pair("loc-non-ascii", at("https://example.com/%C3%BC"), at("https://example.com/ü")),
    Pair("loc-unescaped", at("https://example.com/a%7Cb%25"), at("https://example.com/a|b")),
    Pair("loc-escaped-twice", at("https://example.com/?a=1&amp;b=2"), at("https://example.com/?a=1&amp;amp;b=2")),
    Pair("loc-not-absolute", GOOD, at("//example.com/a")),
    Pair("loc-scheme", at("http://example.com/a"), at("ftp://example.com/a")),
    Pair("loc-too-long", at("https://example.com/" + "a" * 2027), at("https://example.com/" + "a" * 2028)),
    Pair("loc-fragment", at("https://example.com/a%23b"), at("https://example.com/a#b")),
    Pair("loc-credentials", at("https://example.com/me@home"), at("https://me@example.com/")),
    Pair("loc-invalid", at("https://example.com:8443/"), at("https://example.com:65536/")),
    Pair("foreign-origin", listing(2), urlset(f"<url>{LOC}</url><url><loc>https://www.example.com/b</loc></url>")),
    Pair("loc-local", GOOD, GOOD.replace("https://example.com", "http://localhost:8000")),
    Pair("outside-directory", set_of(f"{BASE}a"), set_of("https://example.com/blog/a")),
    Pair("loc-session-id", at("https://example.com/?sessions=all"),
         at("https://example.com/a;jsessionid=0123456789ABCDEF?page=2")),
    Pair("loc-tracking", at("https://example.com/?source=a"), at("https://example.com/?id=1&amp;utm_source=newsletter")),
    # lastmod, hints
    Pair("lastmod-invalid", lastmod("2024-02-29T23:59:59.5+05:30"), lastmod("2024-02-29 23:59:59")),
    Pair("lastmod-future", lastmod(ahead(hours=23)), lastmod(ahead(hours=25))),
    Pair("lastmod-before-web", lastmod("1991-08-06"), lastmod("1970-01-01T00:00:00Z")),
    Pair("changefreq-invalid", page("<changefreq>never</changefreq>"), page("<changefreq>Never</changefreq>")),
    Pair("priority-invalid", page("<priority>1.0</priority>"), page("<priority>10</priority>")),
    # index
    Pair("missing-file", set_of(f"{BASE}a"),
         set_of(f"{BASE}a", **{"sitemap.xml": index(f"{BASE}sitemap-1.xml", f"{BASE}sitemap-2.xml")})),
    Pair("nested-index", set_of(f"{BASE}a"), {
        "sitemap.xml": index(f"{BASE}more.xml"), "more.xml": index(f"{BASE}sitemap-1.xml"),
        "sitemap-1.xml": at(f"{BASE}a")}),
    Pair("index-names-itself", set_of(f"{BASE}a"),
         set_of(f"{BASE}a", **{"sitemap.xml": index(f"{BASE}sitemap-1.xml", f"{BASE}sitemap.xml")})),
    Pair("index-child-foreign", set_of(f"{BASE}a"), {
        "sitemap.xml": index(f"{BASE}sitemap-1.xml", "https://cdn.example.net/docs/sitemap-2.xml"),
        "sitemap-1.xml": at(f"{BASE}a"), "sitemap-2.xml": at("https://cdn.example.net/docs/a")}),
    Pair("index-extension", set_of(f"{BASE}a"), set_of(f"{BASE}a", **{
        "sitemap.xml": index(f"{BASE}sitemap-1.xml").replace("</sitemap>", '<o:a xmlns:o="https://e.com/o"/></sitemap>')})),
    # gzip
    Pair("gzip-truncated", {"sitemap.xml.gz": GZ}, {"sitemap.xml.gz": GZ[:-9]}),
    Pair("gzip-corrupt", {"sitemap.xml.gz": GZ}, {"sitemap.xml.gz": GZ[:-8] + b"\0\0\0\0" + GZ[-4:]}),
    Pair("gzip-trailing-garbage", {"sitemap.xml.gz": GZ + GZ[:0]}, {"sitemap.xml.gz": GZ + b"\r\n"}),
    Pair("not-gzip", {"sitemap.xml.gz": GZ}, {"sitemap.xml.gz": GOOD}),
    Pair("gzip-name", {"sitemap.xml.gz": GZ}, {"sitemap.xml": GZ}),
    # text
    Pair("blank-line", {"sitemap.txt": f"{PAGE}\r\nhttps://example.com/b\r\n"},
         {"sitemap.txt": f"{PAGE}\n\nhttps://example.com/b\n"}),
    Pair("text-name", {"sitemap.txt": f"{PAGE}\n"}, {"sitemap.xml": f"{PAGE}\n"}),
    # feed
    Pair("feed-link-missing", item(LINK), item("<guid>1</guid>")),
    Pair("feed-date-invalid", item(f"{LINK}<pubDate>Sat, 07 Sep 2024 00:00:01 GMT</pubDate>"),
         item(f"{LINK}<pubDate>2024-09-07</pubDate>")),
    Pair("feed-date-invalid", entry(f"<link href='{PAGE}'/><updated>2024-09-07T00:00:01Z</updated>"),
         entry(f"<link href='{PAGE}'/><updated>Sat, 07 Sep 2024</updated>")),
    Pair("feed-version", item(LINK), item(LINK, "0.91")),
    # image
    Pair("too-many-images", lambda: pictures(1_000), lambda: pictures(1_001)),
    Pair("image-loc", image("<image:loc>https://cdn.example.net/i.png</image:loc>"),
         image("<image:loc>/i.png</image:loc>")),
    Pair("image-retired", image("<image:loc>https://e.com/1</image:loc>"),
         image("<image:loc>https://e.com/1</image:loc><image:license>https://e.com/cc</image:license>")),
    # video: the required values, then the values with bounds
    *(Pair("video-required", video(), video(**{name: None})) for name in ("thumbnail_loc", "title", "description")),
    Pair("video-required", video(content_loc=None, player_loc="https://e.com/p"), video(content_loc=None)),
    Pair("video-loc", video(player_loc="https://e.com/p"), video(player_loc="p.html")),
    Pair("video-loc-is-page", video(player_loc="https://e.com/p"), video(player_loc=PAGE)),
    Pair("video-title", video(title="t" * 100), video(title="t" * 101)),
    Pair("video-description", video(description="d" * 2048), video(description="d" * 2049)),
    Pair("video-repeated", video("<video:tag>a</video:tag><video:tag>b</video:tag>"),
         video("<video:title>B</video:title>")),
    Pair("video-duration", valued("duration", "28800"), valued("duration", "28801")),
    Pair("video-duration", valued("duration", "1"), valued("duration", "0")),
    Pair("video-rating", valued("rating", "5.0"), valued("rating", "5.1")),
    Pair("video-rating", valued("rating", "0"), valued("rating", "-0.1")),
    Pair("video-view-count", valued("view_count", "0"), valued("view_count", "1,000")),
    *(Pair("video-yes-no", valued(name, "no"), valued(name, "false"))
      for name in ("family_friendly", "requires_subscription", "live")),
    Pair("video-uploader", valued("uploader", "u" * 255), valued("uploader", "u" * 256)),
    Pair("video-uploader-info", uploader("https://www.example.com/me"), uploader("https://example.net/me")),
    Pair("video-restriction", valued("restriction", "IE GB US CA", ' relationship="allow"'),
         valued("restriction", "IE UK US CA", ' relationship="allow"')),
    Pair("video-restriction", valued("restriction", "IE", ' relationship="deny"'), valued("restriction", "IE")),
    Pair("video-platform", valued("platform", "web tv", ' relationship="deny"'),
         valued("platform", "desktop", ' relationship="deny"')),
    Pair("video-platform", valued("platform", "mobile", ' relationship="allow"'), valued("platform", "mobile")),
    Pair("video-tags", video("<video:tag>t</video:tag>" * 32), video("<video:tag>t</video:tag>" * 33)),
    Pair("video-date", valued("publication_date", "2007-11-05T19:20:30+08:00"), valued("publication_date", "2007-11")),
    Pair("video-date", valued("expiration_date", "2999-11-05"), valued("expiration_date", "05.11.2999")),
    Pair("video-expired", valued("expiration_date", ahead(hours=1)), valued("expiration_date", ahead(hours=-1))),
    *(Pair("video-retired", video(), valued(name, "x")) for name in ("category", "gallery_loc", "price", "tvshow")),
    *(Pair("video-retired", valued("player_loc", "https://e.com/p"), valued("player_loc", "https://e.com/p", attribute))
      for attribute in (' allow_embed="yes"', ' autoplay="ap=1"')),
    # news
    Pair("too-many-news", lambda: articles(1_000), lambda: articles(1_001)),
    Pair("news-required", news(), news(publication="")),
    Pair("news-required", news(), news(title="")),
    Pair("news-required", news(), news(date=None)),
    *(Pair("news-required", news(), news(publication=re.sub(f"<news:{name}>.*</news:{name}>", "", PUBLICATION)))
      for name in ("name", "language")),
    Pair("news-repeated", news(), news(extra="<news:title>B</news:title>")),
    Pair("news-language", news(publication=PUBLICATION.replace(">en<", ">zh-cn<")),
         news(publication=PUBLICATION.replace(">en<", ">en-us<"))),
    Pair("news-language", news(publication=PUBLICATION.replace(">en<", ">fil<")),
         news(publication=PUBLICATION.replace(">en<", ">xx<"))),
    Pair("news-date", news(date=f"{NOW:%Y-%m-%d}"), news(date=f"{NOW:%d.%m.%Y}")),
    Pair("news-future", news(date=ahead(hours=23)), news(date=ahead(hours=25))),
    Pair("news-old", news(date=ahead(hours=-47)), news(date=ahead(hours=-49))),
    *(Pair("news-retired", news(), news(extra=f"<news:{name}>x</news:{name}>"))
      for name in ("access", "genres", "keywords", "stock_tickers", "geo_locations")),
    # hreflang
    Pair("alternate-incomplete", page(MORE_LANGUAGES), page(MORE_LANGUAGES.replace('rel="alternate" ', "", 1))),
    Pair("alternate-rel", page(MORE_LANGUAGES), page(MORE_LANGUAGES.replace('"alternate"', '"canonical"', 1))),
    Pair("alternate-hreflang", page(alternate("en-GB")), page(alternate("en-UK"))),
    Pair("alternate-hreflang", page(alternate("zh-Hant")), page(alternate("zh-Trad"))),
    Pair("alternate-hreflang", page(alternate("ja")), page(alternate("jp"))),
    Pair("alternate-hreflang", page(alternate("x-default")), page(alternate("default"))),
    Pair("alternate-hreflang", page(alternate("pt-br")), page(alternate("pt_br"))),
    Pair("alternate-undocumented", page(alternate("es-MX")), page(alternate("es-419"))),
    Pair("alternate-href", page(MORE_LANGUAGES), page(alternate("de", "/a"))),
    Pair("alternate-self", page(MORE_LANGUAGES), page(alternate("de", "https://example.com/de"))),
    Pair("alternate-not-reciprocal",
         urlset(f"<url>{LOC}{MORE_LANGUAGES}</url><url><loc>https://example.com/de</loc>{MORE_LANGUAGES}</url>"),
         urlset(f"<url>{LOC}{MORE_LANGUAGES}</url><url><loc>https://example.com/de</loc></url>")),
    Pair("alternate-conflict", page(MORE_LANGUAGES), page(MORE_LANGUAGES + alternate("de", "https://example.com/at"))),
    # set
    Pair("duplicate-loc", listing(2), urlset(f"<url>{LOC}</url>" * 2)),
    Pair("duplicate-loc", set_of(f"{BASE}a"), {
        "sitemap.xml": index(f"{BASE}1.xml", f"{BASE}2.xml"), "1.xml": at(f"{BASE}a"), "2.xml": at(f"{BASE}a")}),
    Pair("slash-twin", urlset(f"<url>{LOC}</url><url><loc>{PAGE}b/</loc></url>"),
         urlset(f"<url>{LOC}</url><url><loc>{PAGE}/</loc></url>")),
    Pair("lastmod-all-equal", dated(f"2024-01-{day:02}" for day in range(1, 13)), dated(["2024-01-01"] * 12)),
    Pair("lastmod-all-equal", dated(["2024-01-01"] * 9), dated(["2024-01-01"] * 10)),
    Pair("lastmod-generated", dated(f"2024-01-{day:02}T10:00:00Z" for day in range(1, 13)),
         dated(f"2024-01-01T10:00:{second:02}Z" for second in range(12))),
    Pair("priority-all-equal", listing(12, lambda number: f"<priority>0.{number % 2}</priority>"),
         listing(12, lambda _: "<priority>0.5</priority>")),
    Pair("index-lastmod-old", dated_index("2024-01-02", "2024-01-02T23:00:00+01:00"),
         dated_index("2024-01-02", "2024-01-04T00:00:00Z")),
    Pair("index-lastmod-old", dated_index("2024-01-02T10:00:00Z", "2024-01-02T10:00:00Z"),
         dated_index("2024-01-02T10:00:00Z", "2024-01-02T10:00:01Z")),
]  # fmt: skip

ELSEWHERE = {
    "unreadable": "unit/validation/test_sets.py",
    "unreachable": "unit/validation/test_web.py",
    "download-failed": "unit/validation/test_web.py",
    "redirected": "unit/validation/test_web.py",
    "content-type": "unit/validation/test_web.py",
    "false-encoding": "unit/validation/test_web.py",
    "sitemap-disallowed": "unit/validation/test_web.py",
    "sitemap-unnamed": "unit/validation/test_web.py",
    "not-checked": "unit/validation/test_web.py",
    "index-child-outside": "unit/validation/test_web.py",
    "scheme-twin": "unit/validation/test_sets.py",
    "www-twin": "unit/validation/test_sets.py",
    **{rule.id: "crawl/test_validate_live.py" for rule in RULES.values() if rule.family in {"live", "against"}},
}
"""Rules whose pairs need a server, a damaged disk or a long time, and the module with their test."""


def test_each_rule_has_its_pair() -> None:
    assert RULES.keys() - NOT_YET_USED - {pair.rule for pair in PAIRS} == ELSEWHERE.keys()
    for rule, module in ELSEWHERE.items():
        assert f'"{rule}"' in (ROOT / "tests" / module).read_text(encoding="utf-8")


def found_in(files: Files | Callable[[], Files], directory: Path) -> set[tuple[str, str]]:
    """Write the files and return the findings of the first one."""
    made = files() if callable(files) else files
    contents = made if isinstance(made, dict) else {"sitemap.xml": made}
    for name, content in contents.items():
        if name != ".":
            (directory / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return rules(validate(str(directory / next(iter(contents)))))


@pytest.mark.parametrize("pair", PAIRS, ids=[f"{number}-{pair.rule}" for number, pair in enumerate(PAIRS)])
def test_a_good_document_obeys_and_a_bad_one_breaks_its_rule(pair: Pair, tmp_path: Path) -> None:
    (tmp_path / "good").mkdir()
    (tmp_path / "bad").mkdir()
    assert found_in(pair.good, tmp_path / "good") == set()
    assert found_in(pair.bad, tmp_path / "bad") == {(RULES[pair.rule].severity, pair.rule)}
