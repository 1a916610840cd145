"""Rules for the news article of a page."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from sitemap_crawler.validation import protocol
from sitemap_crawler.validation.codes import LANGUAGES
from sitemap_crawler.validation.findings import Issue, issue
from sitemap_crawler.validation.rules.elements import Children, misplaced, named, parts_of, unknown_part
from sitemap_crawler.validation.values import CLOCK_TOLERANCE, ONE_DAY, moved, w3c_datetime

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sitemap_crawler.validation.reading.reader import Node

_ARTICLE_CHILDREN = frozenset({*protocol.NEWS_REQUIRED, *protocol.NEWS_RETIRED})
_PUBLICATION_CHILDREN = frozenset(protocol.PUBLICATION_REQUIRED)
_LANGUAGE = re.compile(r"[a-z]{2,3}|zh-cn|zh-tw")


def news(children: Children, _loc: str, now: datetime) -> Iterator[Issue]:
    """Check the news article of a page."""
    yield from misplaced(children.get(protocol.NEWS, []), "news")
    articles = named(children.get(protocol.NEWS, []), "news")
    if len(articles) > 1:
        yield issue("news-repeated", f"the page has {len(articles)} <news:news>", articles[1].line)
    for article in articles[:1]:
        parts = parts_of(article)
        for name in protocol.NEWS_REQUIRED:
            if name not in parts or not (parts[name][0].value or parts[name][0].children):
                yield issue("news-required", f"the article has no <news:{name}>", article.line)
        for node in parts.get("publication", ())[:1]:
            yield from _publication(node)
        for node in parts.get("publication_date", ())[:1]:
            yield from _date(node, now)
        for name, nodes in parts.items():
            if name in protocol.NEWS_RETIRED:
                yield issue("news-retired", f"<news:{name}> is no longer read", nodes[0].line)
            elif name not in protocol.NEWS_REQUIRED:
                yield unknown_part(name, "an article", nodes[0].line, _ARTICLE_CHILDREN)
            elif len(nodes) > 1:
                yield issue("news-repeated", f"the article has {len(nodes)} <news:{name}>", nodes[1].line)


def _publication(node: Node) -> Iterator[Issue]:
    parts = parts_of(node)
    for name in protocol.PUBLICATION_REQUIRED:
        if name not in parts or not parts[name][0].value:
            yield issue("news-required", f"the publication has no <news:{name}>", node.line)
    for name, nodes in parts.items():
        if name not in protocol.PUBLICATION_REQUIRED:
            yield unknown_part(name, "a publication", nodes[0].line, _PUBLICATION_CHILDREN)
        elif len(nodes) > 1:
            yield issue("news-repeated", f"the publication has {len(nodes)} <news:{name}>", nodes[1].line)
    for language in parts.get("language", ())[:1]:
        if language.value and not _is_language(language.value):
            yield issue("news-language", f'the language is "{language.value}"', language.line)


def _is_language(code: str) -> bool:
    return bool(_LANGUAGE.fullmatch(code)) and (len(code) != 2 or code in LANGUAGES)


def _date(node: Node, now: datetime) -> Iterator[Issue]:
    if not node.value:
        return  # reported as news-required
    moment = w3c_datetime(node.value)
    if moment.time is None:
        yield issue("news-date", f'publication_date "{node.value}" {moment.problem}', node.line)
    elif moment.period > ONE_DAY:
        yield issue("news-date", f'publication_date "{node.value}" has no day', node.line)
    elif moment.time > now + CLOCK_TOLERANCE:
        yield issue("news-future", f"the article is dated {node.value}", node.line)
    # A date without a time means that whole day in any time zone, so it gets two more days.
    elif moved(moment.time, 2 * moment.period) < now - timedelta(days=protocol.NEWS_DAYS):
        yield issue("news-old", f"the article is of {node.value}", node.line)
