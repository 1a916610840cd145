"""Rules for the language versions of a page."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.codes import LANGUAGES, REGIONS, SCRIPTS
from sitemap_crawler.validation.findings import Issue, issue
from sitemap_crawler.validation.rules.elements import Children, misplaced, named, url_problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sitemap_crawler.validation.reading.reader import Node

# Language, script and region of https://www.rfc-editor.org/rfc/rfc5646#section-2.1, the subtags that Google reads.
_TAG = re.compile(r"([a-z]{2,3})(?:-([a-z]{4}))?(?:-([a-z]{2}|[0-9]{3}))?", re.ASCII | re.IGNORECASE)


class Hreflang(NamedTuple):
    """Judgement of a hreflang. Both texts are empty for a good one."""

    problem: str = ""
    """Reason why it names no language."""
    undocumented: str = ""
    """Part that BCP 47 allows and search engines do not document."""


def alternates(children: Children, _loc: str, _now: datetime) -> Iterator[Issue]:
    """Check the language versions of a page."""
    yield from misplaced(children.get(protocol.XHTML, []), "link")
    seen: dict[str, str] = {}
    for link in named(children.get(protocol.XHTML, []), "link"):
        yield from _attributes(link)
        language, href = link.attributes.get("hreflang", ""), link.attributes.get("href", "")
        if language:
            yield from _language(language, link.line)
        if href and (problem := url_problem(href)):
            yield issue("alternate-href", f"the href {problem}", link.line)
        if language and seen.setdefault(language.lower(), href) != href:
            yield issue("alternate-conflict", f"hreflang {language} names two different pages", link.line)


def _attributes(link: Node) -> Iterator[Issue]:
    attributes = link.attributes
    # rel=alternate with media names the mobile version of a page and needs no language:
    # https://developers.google.com/search/docs/crawling-indexing/mobile/mobile-sites-mobile-first-indexing
    is_other = "alternate" not in attributes.get("rel", "alternate").split()
    required = ("rel", "href") if "media" in attributes or is_other else ("rel", "hreflang", "href")
    missing = [name for name in required if not attributes.get(name)]
    if missing:
        yield issue("alternate-incomplete", f"<xhtml:link> has no {' and no '.join(missing)}", link.line)
    if attributes.get("rel", "alternate") not in {"", "alternate"}:
        yield issue("alternate-rel", f'the rel is "{attributes["rel"]}"', link.line)


def _language(language: str, line: int) -> Iterator[Issue]:
    judgement = judge_hreflang(language)
    if judgement.problem:
        yield issue("alternate-hreflang", f'hreflang "{language}" {judgement.problem}', line)
    elif judgement.undocumented:
        yield issue("alternate-undocumented", f'hreflang "{language}" has {judgement.undocumented}', line)


@lru_cache(maxsize=1024)
def judge_hreflang(text: str) -> Hreflang:
    """Judge a hreflang by the lists of codes."""
    if text.lower() == "x-default":
        return Hreflang()
    match = _TAG.fullmatch(text)
    if match is None:
        return Hreflang(problem="is not a language with an optional script and region")
    language, script, region = match.groups("")
    if len(language) == 2 and language.lower() not in LANGUAGES:
        return Hreflang(problem=f"begins with {language}, which is no language of ISO 639-1")
    if script and script.title() not in SCRIPTS:
        return Hreflang(problem=f"has the script {script}, which is not in ISO 15924")
    if region.isalpha() and region.upper() not in REGIONS:
        return Hreflang(problem=f"has the region {region}, which is not in ISO 3166-1")
    if len(language) == 3:
        return Hreflang(undocumented=f"a language of three letters, {language}")
    if region.isdigit():
        return Hreflang(undocumented=f"a region of digits, {region}")
    return Hreflang()
