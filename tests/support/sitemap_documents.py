"""Sitemaps as texts, in all formats and with all extensions, for the tests of validators and readers."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sitemap_crawler.validation.findings import ValidationReport

E, W = "error", "warning"  # severities of findings
CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
SPACES = (
    f'xmlns="{CORE}" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml" '
    'xmlns:other="https://example.com/my-extension"'
)
PAGE = "https://example.com/a"
BASE = "https://example.com/docs/"
LOC = f"<loc>{PAGE}</loc>"
NOW = datetime.now(UTC)


def urlset(body: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {SPACES}>\n{body}\n</urlset>\n'


def page(extra: str, loc: str = LOC) -> str:
    return urlset(f"<url>{loc}{extra}</url>")


def at(loc: str) -> str:
    return urlset(f"<url><loc>{loc}</loc></url>")


GZ = gzip.compress(at(PAGE).encode())


def index(*locs: str) -> str:
    listed = "".join(f"<sitemap><loc>{loc}</loc></sitemap>" for loc in locs)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="{CORE}">{listed}</sitemapindex>\n'


def image(content: str) -> str:
    return page(f"<image:image>{content}</image:image>")


VIDEO = {
    "thumbnail_loc": "https://cdn.example.net/t.jpg",
    "title": "A title",
    "description": "A description",
    "content_loc": "https://cdn.example.net/v.mp4",
}


def video(extra: str = "", **changed: str | None) -> str:
    """Return a valid video. A keyword replaces the text of an element, and None removes the element."""
    parts = {**VIDEO, **changed}
    inner = "".join(f"<video:{name}>{text}</video:{name}>" for name, text in parts.items() if text is not None)
    return page(f"<video:video>{inner}{extra}</video:video>")


PUBLICATION = "<news:publication><news:name>The Daily</news:name><news:language>en</news:language></news:publication>"


def news(
    *,
    publication: str = PUBLICATION,
    date: str | None = NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
    title: str = "<news:title>News</news:title>",
    extra: str = "",
) -> str:
    stated = "" if date is None else f"<news:publication_date>{date}</news:publication_date>"
    return page(f"<news:news>{publication}{stated}{title}{extra}</news:news>")


def link(attributes: str) -> str:
    return page(f"<xhtml:link {attributes}/>")


VALID = {
    "minimal": at("https://example.com/"),
    "no declaration": f'<urlset xmlns="{CORE}"><url>{LOC}</url></urlset>',
    "prefixed": f'<s:urlset xmlns:s="{CORE}"><s:url><s:loc>{PAGE}</s:loc></s:url></s:urlset>',
    "any order": urlset(f"<url><priority>0.5</priority><lastmod>2024-02-29</lastmod>{LOC}</url>"),
    "comments and instructions": "<?xml version='1.0'?><?xml-stylesheet href='s.xsl'?><!-- a -->"
    f"<urlset xmlns='{CORE}'><!-- b --><url><loc>https://example.com/<!-- c --></loc></url></urlset>",
    "escapes and CDATA": urlset(
        "<url><loc>https://example.com/?a=1&amp;b=2</loc></url><url><loc><![CDATA[https://example.com/?a&b]]></loc></url>"
    ),
    "port, IPv6, punycode": urlset("<url><loc>http://[2606:4700::1111]:8080/</loc></url>"),
    "year": page("<lastmod>2024</lastmod>"),
    "month": page("<lastmod>2024-12</lastmod>"),
    "minutes": page("<lastmod>2024-12-31T23:59+05:30</lastmod>"),
    "fraction": page("<lastmod>2024-12-31T23:59:59.123456789-12:00</lastmod>"),
    "lastmod padded": page("<lastmod>\n 2024-12-31 \n</lastmod>"),
    "tomorrow's date in the east": page(f"<lastmod>{(NOW + timedelta(hours=23)).isoformat()}</lastmod>"),
    "all hints": page("<changefreq>weekly</changefreq><priority>1.0</priority>"),
    "priority .5": page("<priority>.5</priority>"),
    "image elsewhere": image("<image:loc>https://cdn.example.net/i.png</image:loc>"),
    "1,000 images": page(
        "".join(f"<image:image><image:loc>https://e.com/{i}</image:loc></image:image>" for i in range(1000))
    ),
    "video": video(),
    "video with player": video(content_loc=None, player_loc="https://player.example.net/1#t=0"),
    "video with everything": video(
        "<video:duration>28800</video:duration><video:expiration_date>2999-01-01</video:expiration_date>"
        "<video:rating>5.0</video:rating><video:view_count>0</video:view_count>"
        "<video:publication_date>2020-01-01T00:00Z</video:publication_date>"
        "<video:family_friendly>yes</video:family_friendly>"
        '<video:restriction relationship="deny">DE FR</video:restriction>'
        '<video:platform relationship="allow">web tv</video:platform>'
        "<video:requires_subscription>no</video:requires_subscription><video:uploader>Me</video:uploader>"
        "<video:live>no</video:live><video:tag>a</video:tag><video:tag>b</video:tag>",
        description="d" * 2048,
    ),
    "news": news(),
    "news by day": news(date=NOW.strftime("%Y-%m-%d")),
    "alternates": page(
        f'<xhtml:link rel="alternate" hreflang="en" href="{PAGE}"/>'
        '<xhtml:link rel="alternate" hreflang="zh-Hant-TW" href="https://example.tw/a"/>'
        '<xhtml:link rel="alternate" hreflang="es-MX" href="https://example.com/es"/>'
        f'<xhtml:link rel="alternate" hreflang="x-default" href="{PAGE}"/>'
    ),
    "mobile page": link('rel="alternate" media="only screen and (max-width: 640px)" href="https://m.example.com/a"'),
    "foreign extension": page("<other:thing>1</other:thing>"),
    "rss": "<rss version='2.0'><channel><title>T</title><link>https://example.com/</link>"
    f"<item><link>{PAGE}</link><pubDate>Sat, 07 Sep 2024 00:00:01 GMT</pubDate></item></channel></rss>",
    "atom": "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='self' href='https://example.com/f'/>"
    f"<entry><link rel='edit' href='/x'/><link href='{PAGE}'/><updated>2024-09-07T00:00:00Z</updated></entry></feed>",
}


def rules(report: ValidationReport) -> set[tuple[str, str]]:
    return {(finding.severity, finding.rule) for finding in report.findings}
