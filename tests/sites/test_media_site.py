"""A crawl of the media site: each page is written with exactly the images, videos, languages and news of its label."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock
from lxml import etree

from tests.sites.media_site import (
    BADGE,
    BADGED,
    CASES,
    DESCRIPTION_LENGTH,
    GROUPS,
    KINDS,
    LOGO,
    MAX_IMAGES,
    OPTIONS,
    PUBLICATION,
    START,
    TITLE_LENGTH,
    Case,
    Fields,
    Site,
)
from tests.support.paths import SCHEMAS
from tests.support.program import Program
from tests.support.webserver import WebServer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
IMAGE = "{http://www.google.com/schemas/sitemap-image/1.1}"
VIDEO = "{http://www.google.com/schemas/sitemap-video/1.1}"
NEWS = "{http://www.google.com/schemas/sitemap-news/0.9}"
XHTML = "{http://www.w3.org/1999/xhtml}"
XSD = "{http://www.w3.org/2001/XMLSchema}"

MAX_PROBES = 3  # addresses that cannot exist, asked for to recognise pages that only say they are missing
MAX_TAGS = 32
TEXT_LENGTHS = {"title": TITLE_LENGTH, "description": DESCRIPTION_LENGTH}
DATES = frozenset({"publication_date", "expiration_date"})
REQUIRED = ("thumbnail_loc", "title", "description")
# How a warning may name what a video lacks, in the page's words or in the sitemap's.
LACKS = {
    "thumbnail": r"thumbnail|poster",
    "title": r"title|\bname\b",
    "description": r"description",
    "content": r"content|player|embed|\bsource with|\bfile\b",
}

# Schemas for the extensions that have none beside the others. They check structure: as libxml2 reads xsd:anyURI, no
# path may hold brackets, which the URL standard leaves as they are.
IMAGE_XSD = """<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified"
    targetNamespace="http://www.google.com/schemas/sitemap-image/1.1"><xsd:element name="image"><xsd:complexType>
    <xsd:sequence><xsd:element name="loc" type="xsd:string"/></xsd:sequence></xsd:complexType></xsd:element>
</xsd:schema>"""
XHTML_XSD = """<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" targetNamespace="http://www.w3.org/1999/xhtml">
    <xsd:element name="link"><xsd:complexType><xsd:attribute name="rel" fixed="alternate" use="required"/>
    <xsd:attribute name="hreflang" type="xsd:string" use="required"/>
    <xsd:attribute name="href" type="xsd:string" use="required"/></xsd:complexType></xsd:element></xsd:schema>
"""


@dataclass(frozen=True, slots=True)
class Crawl:
    """What two crawls left behind, one with all media and one without; plain values, for parallel test processes."""

    port: int
    built: str
    code: int
    err: str
    report: dict[str, Any]
    files: dict[str, str]
    plain_code: int
    plain_files: dict[str, str]
    valid: int
    """The exit code of `validate`."""
    asked: list[str]
    """Paths, in order, of the first crawl."""

    @classmethod
    def run(cls, directory: Path) -> Crawl:
        with WebServer() as server:
            site = Site(server.port, datetime.now(UTC))
            server.pages.update(site.pages())
            program = Program(directory)
            done = program.crawl(server.url(START), "--state", "state.db", *OPTIONS)
            asked = server.paths()
            off = ("--no-images", "--no-videos", "--no-alternates", "--output", "plain", "--state", "plain.db")
            plain = program.run("crawl", server.url(START), *off)
            return cls(
                port=site.port,
                built=site.built.isoformat(),
                code=done.code,
                err=done.err,
                report=done.report if done.code == 0 else {},
                files=read_files(program.output),
                plain_code=plain.code,
                plain_files=read_files(directory / "plain"),
                valid=program.run("validate", str(program.output)).code,
                asked=asked,
            )

    def to_json(self) -> str:
        return json.dumps({name: getattr(self, name) for name in self.__slots__})

    @property
    def site(self) -> Site:
        return Site(self.port, datetime.fromisoformat(self.built))

    def warnings(self, kinds: Iterable[str]) -> list[dict[str, str]]:
        return [warning for warning in self.report["warnings"] if warning["kind"] in kinds]


def read_files(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(directory.glob("*.xml"))}


@pytest.fixture(scope="session")
def left(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return Crawl.run(tmp_path_factory.mktemp("media"))
    # The processes of one parallel test run share the parent of their directories.
    shared = tmp_path_factory.getbasetemp().parent / "media-site.json"
    with FileLock(f"{shared}.lock"):
        if not shared.exists():
            shared.write_text(Crawl.run(tmp_path_factory.mktemp("media")).to_json(), encoding="utf-8")
        return Crawl(**json.loads(shared.read_text(encoding="utf-8")))


@pytest.fixture
def crawl(left: Crawl) -> Crawl:
    """The crawl, when it has published."""
    assert left.code == 0, left.err
    return left


def parse(text: str) -> etree._Element:
    return etree.fromstring(text.encode())


def entries(files: dict[str, str], name: str = "sitemap-1.xml") -> dict[str, etree._Element]:
    """The elements of one file by their loc."""
    urls = list(parse(files[name]).iter(f"{SITEMAP}url"))
    found = {url.findtext(f"{SITEMAP}loc", ""): url for url in urls}
    assert len(found) == len(urls)
    return found


def entry_of(crawl: Crawl, case: Case) -> etree._Element:
    return entries(crawl.files)[crawl.site.url(case.url)]


def pages_with(crawl: Crawl, tag: str) -> set[str]:
    return {loc for loc, url in entries(crawl.files).items() if url.find(tag) is not None}


def plain(text: str) -> str:
    """Without what stands for a broken character, and with white space as HTML shows it."""
    return " ".join(text.replace("\ufffd", "").split())


def instant(value: str) -> str:
    """The same instant in one spelling; a day stays a day. Raises ValueError for a time without a zone."""
    if "T" not in value:
        return value
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError(f"{value} has no zone")
    return moment.astimezone(UTC).isoformat()


def cut(found: str, expected: str, limit: int) -> str:
    """`expected` when `found` is that, cut at a word or a letter to what is allowed; else `found`."""
    kept = found.rstrip("… ")
    is_cut = len(expected) > limit >= len(found) and len(kept) > limit * 0.9 and expected.startswith(kept)
    return expected if is_cut else found


def values_of(element: etree._Element) -> Fields:
    """The values of a video; tags apart, they are only counted."""
    values: Fields = {}
    for child in element:
        name, text = child.tag.removeprefix(VIDEO), child.text or ""
        if name == "tag":
            continue
        assert name not in values
        if name == "restriction":
            text = f"{child.get('relationship')} {' '.join(sorted(text.split()))}"
        values[name] = instant(text) if name in DATES else plain(text)
    return values


def wanted_video(site: Site, video: Fields) -> Fields:
    values = {
        name: site.url(value) if name.endswith("_loc") else plain(site.fill(value)) for name, value in video.items()
    }
    return {name: instant(value) if name in DATES else value for name, value in values.items()}


def by_place(video: Fields) -> tuple[str, str]:
    return video.get("content_loc", ""), video.get("player_loc", "")


def lacks(message: str) -> set[str]:
    """What a message says is missing; the URLs that it names don't count."""
    text = re.sub(r"https?:\S+", "", message)
    return {name for name, pattern in LACKS.items() if re.search(pattern, text, re.IGNORECASE)}


LISTED = [case for case in CASES if case.listed]
IN = {group: [case for case in LISTED if case.group == group] for group in (*GROUPS, "hubs")}


def named(case: Case) -> str:
    return case.name


class TestLabels:
    """The labels agree with each other and with the rules that bind every entry."""

    def test_numbers(self) -> None:
        assert len(CASES) >= 90
        assert len(IN["img"]) >= 35
        assert len(IN["vid"]) >= 25
        assert len(IN["alt"]) >= 15
        assert len(IN["news"]) >= 10
        assert [name for name, times in Counter(case.name for case in CASES).items() if times > 1] == []
        assert [url for url, times in Counter(case.url for case in CASES).items() if times > 1] == []

    def test_the_logo_is_a_template_image_and_the_badge_is_none(self) -> None:
        assert len(LISTED) >= 50
        badged = [case for case in LISTED if case.group in BADGED]
        assert 0.5 < len(badged) / len(LISTED) < 0.7
        bodies = [case.answer.body for case in LISTED]
        assert [body for body in bodies if LOGO not in body] == []
        assert [case.name for case in LISTED if (BADGE in case.answer.body) != (case.group in BADGED)] == []

    @pytest.mark.parametrize("case", CASES, ids=named)
    def test_expectations(self, case: Case) -> None:
        assert len(set(case.images)) == len(case.images)
        assert all(url.startswith(("/", "http")) for url in case.images)
        for video in case.videos:
            assert all(video[name] for name in REQUIRED)
            assert "content_loc" in video or "player_loc" in video
            assert case.url not in by_place(video)
        assert case.missing <= LACKS.keys()
        # Else the address of a page could pass for what its warning names.
        assert not case.missing or lacks(case.url) == set()
        known = {one.url for one in LISTED}
        assert (case.alternates or {}).keys() != {"x-default"}
        assert set((case.alternates or {}).values()) <= known
        assert not case.alternates or case.url in case.alternates.values()
        assert all(one.kinds <= KINDS and one.kinds <= case.may_warn for one in case.warned)
        assert case.listed or (case.images, case.videos, case.news, case.alternates or {}) == ((), (), None, {})


def test_the_crawl_publishes(crawl: Crawl) -> None:
    assert crawl.report["outcome"]
    assert list(crawl.files) == ["sitemap-1.xml", "sitemap-news.xml", "sitemap.xml"]


def test_the_entry_file_names_the_others(crawl: Crawl) -> None:
    root = parse(crawl.files["sitemap.xml"])
    assert root.tag == f"{SITEMAP}sitemapindex"
    locs = [loc.text or "" for loc in root.iter(f"{SITEMAP}loc")]
    assert sorted(locs) == [crawl.site.url(f"{START}sitemap-{name}.xml") for name in ("1", "news")]


def test_every_listed_page_is_written(crawl: Crawl) -> None:
    assert sorted(entries(crawl.files)) == sorted(crawl.site.url(case.url) for case in LISTED)


def test_every_page_is_fetched_once(crawl: Crawl) -> None:
    asked = Counter(crawl.asked)
    wanted = {case.url for case in CASES} | {"/robots.txt", "/foreign.xml"}
    assert sorted(wanted - asked.keys()) == []
    assert {path: times for path, times in asked.items() if times > 1} == {}


def test_nothing_else_is_asked_for(crawl: Crawl) -> None:
    probes = sorted(set(crawl.asked) - {case.url for case in CASES} - {"/robots.txt", "/foreign.xml"})
    assert len(probes) <= MAX_PROBES, probes


@pytest.mark.parametrize("case", [case for case in LISTED if case.images], ids=named)
def test_images(crawl: Crawl, case: Case) -> None:
    found = [loc.text or "" for loc in entry_of(crawl, case).iter(f"{IMAGE}loc")]
    wanted = {crawl.site.url(url) for url in case.images}
    assert len(found) == len(set(found)) <= MAX_IMAGES
    if len(wanted) > MAX_IMAGES:
        # The rules don't say which of them.
        assert len(found) == MAX_IMAGES
        assert sorted(set(found) - wanted) == []
    else:
        assert sorted(found) == sorted(wanted)


def test_no_other_page_has_images(crawl: Crawl) -> None:
    assert pages_with(crawl, f"{IMAGE}image") == {crawl.site.url(case.url) for case in LISTED if case.images}


def test_the_template_image_is_nowhere(crawl: Crawl) -> None:
    logo, badge = crawl.site.url(LOGO), crawl.site.url(BADGE)
    locs = Counter(loc.text for loc in parse(crawl.files["sitemap-1.xml"]).iter(f"{IMAGE}loc"))
    assert locs[logo] == 0
    assert locs[badge] >= sum(case.group in BADGED for case in LISTED) - 1  # the page of 10,000 may leave it out


@pytest.mark.parametrize("case", IN["vid"], ids=named)
def test_videos(crawl: Crawl, case: Case) -> None:
    elements = list(entry_of(crawl, case).iter(f"{VIDEO}video"))
    found = sorted((values_of(element) for element in elements), key=by_place)
    wanted = sorted((wanted_video(crawl.site, video) for video in case.videos), key=by_place)
    for written, expected in zip(found, wanted, strict=False):
        for name, limit in TEXT_LENGTHS.items():
            written[name] = cut(written[name], expected[name], limit)
    assert found == wanted
    assert all(len(element.findall(f"{VIDEO}tag")) <= MAX_TAGS for element in elements)


def test_no_other_page_has_videos(crawl: Crawl) -> None:
    assert pages_with(crawl, f"{VIDEO}video") == {crawl.site.url(case.url) for case in LISTED if case.videos}


@pytest.mark.parametrize("case", IN["vid"], ids=named)
def test_what_incomplete_videos_lack(crawl: Crawl, case: Case) -> None:
    url = crawl.site.url(case.url)
    messages = [found["message"] for found in crawl.warnings({"incomplete-video"}) if found["url"] == url]
    assert len(messages) == (1 if case.missing else 0), messages
    assert {name for message in messages for name in lacks(message)} == case.missing, messages


def test_no_other_video_is_warned_about(crawl: Crawl) -> None:
    expected = {crawl.site.url(case.url) for case in CASES if case.missing}
    assert {found["url"] for found in crawl.warnings({"incomplete-video"})} == expected


@pytest.mark.parametrize("case", IN["alt"], ids=named)
def test_alternates(crawl: Crawl, case: Case) -> None:
    links = list(entry_of(crawl, case).iter(f"{XHTML}link"))
    found = [(link.get("hreflang"), link.get("href")) for link in links]
    assert [link.get("rel") for link in links] == ["alternate"] * len(links)
    codes = [code for code, _ in found]
    assert len(codes) == len(set(codes))
    if case.alternates is not None:
        assert dict(found) == {code: crawl.site.url(url) for code, url in case.alternates.items()}


def test_no_other_page_has_alternates(crawl: Crawl) -> None:
    may_have = {crawl.site.url(case.url) for case in LISTED if case.group == "alt"}
    assert pages_with(crawl, f"{XHTML}link") <= may_have


@pytest.mark.parametrize("case", [case for case in CASES if case.warned], ids=named)
def test_warnings_about_languages(crawl: Crawl, case: Case) -> None:
    for wanted in case.warned:
        names = [crawl.site.url(name) for name in wanted.names]
        said = [f"{found['url']} {found['message']}" for found in crawl.warnings(wanted.kinds)]
        assert [text for text in said if all(name in text for name in names)], said


def test_no_other_page_is_warned_about(crawl: Crawl) -> None:
    expected = {crawl.site.url(case.url) for case in CASES if case.may_warn}
    assert [found for found in crawl.warnings(KINDS) if found["url"] not in expected] == []


def wanted_news(site: Site) -> dict[str, Fields]:
    return {
        site.url(case.url): {name: plain(site.fill(value)) for name, value in case.news.items()}
        for case in CASES
        if case.news
    }


def test_news_lists_the_articles_of_two_days(crawl: Crawl) -> None:
    assert sorted(entries(crawl.files, "sitemap-news.xml")) == sorted(wanted_news(crawl.site))


@pytest.mark.parametrize("case", [case for case in CASES if case.group == "news" and case.news], ids=named)
def test_news(crawl: Crawl, case: Case) -> None:
    url = crawl.site.url(case.url)
    wanted = wanted_news(crawl.site)[url]
    (element,) = entries(crawl.files, "sitemap-news.xml")[url].findall(f"{NEWS}news")
    texts = {child.tag.removeprefix(NEWS): child.text or "" for child in element.iter() if not len(child)}
    published, expected = texts.pop("publication_date"), wanted.pop("publication_date")
    assert {name: plain(text) for name, text in texts.items()} == {"name": PUBLICATION, **wanted}
    if "@NAIVE" in (case.news or {})["publication_date"]:
        # The day is stated; the time may only stand there with a zone.
        assert instant(published)
        assert published[:19] in (expected, expected[:10])
    else:
        assert instant(published) == instant(expected)


def test_without_media_nothing_of_it_is_written(crawl: Crawl) -> None:
    assert crawl.plain_code == 0
    assert list(crawl.plain_files) == ["sitemap.xml"]
    found = entries(crawl.plain_files, "sitemap.xml")
    assert sorted(found) == sorted(crawl.site.url(case.url) for case in LISTED)
    names = {child.tag for url in found.values() for child in url}
    assert names <= {f"{SITEMAP}loc", f"{SITEMAP}lastmod"}


def test_the_program_finds_its_files_valid(crawl: Crawl) -> None:
    assert crawl.valid == 0


def extended_schema(directory: Path) -> etree.XMLSchema:
    """The published schema of sitemaps, which is strict about extensions, with those that are in use."""
    (directory / "image.xsd").write_text(IMAGE_XSD, encoding="utf-8")
    (directory / "xhtml.xsd").write_text(XHTML_XSD, encoding="utf-8")
    places = {
        VIDEO: SCHEMAS / "sitemap-video.xsd",
        NEWS: SCHEMAS / "sitemap-news.xsd",
        IMAGE: directory / "image.xsd",
        XHTML: directory / "xhtml.xsd",
    }
    core = etree.parse(SCHEMAS / "sitemap.xsd").getroot()
    for namespace, place in places.items():
        core.insert(0, etree.Element(f"{XSD}import", namespace=namespace[1:-1], schemaLocation=place.as_uri()))
    return etree.XMLSchema(core)


@pytest.mark.skipif(not SCHEMAS.is_dir(), reason="the published schemas are not beside the checkout")
@pytest.mark.parametrize("name", ["sitemap.xml", "sitemap-1.xml", "sitemap-news.xml"])
def test_published_schemas_accept_the_files(crawl: Crawl, tmp_path: Path, name: str) -> None:
    is_index = name == "sitemap.xml"
    schema = etree.XMLSchema(file=SCHEMAS / "siteindex.xsd") if is_index else extended_schema(tmp_path)
    schema.assertValid(parse(crawl.files[name]))
