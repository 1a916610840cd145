"""Language versions: the claims of all listed pages and of foreign sitemaps in, the sets that are written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, case, delete, exists, insert, null, or_, select

from sitemap_crawler.extract.alternates import X_DEFAULT
from sitemap_crawler.inventory.schema import clusters, decisions, named_alternates, observations, urls
from sitemap_crawler.inventory.sql import chunks, url_key
from sitemap_crawler.policy.alternates import Clustering, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from sqlalchemy import Connection

    from sitemap_crawler.policy.alternates import Cluster
    from sitemap_crawler.policy.warning_kinds import SiteWarning

READ_ROWS = 2_000
WRITE_ROWS = 2_000

_LISTED = decisions.c.decision == "listed"

Versions = tuple[tuple[str, str], ...]
"""Code and URL of each, in the order of the codes, x-default last."""


def store_clusters(connection: Connection, *, warn: Callable[[SiteWarning], None]) -> None:
    """Put the sets that the claims of the pages that are listed now make in the place of those of an earlier run."""

    def fetch(ids: Collection[int]) -> Iterator[Page]:
        return _pages(connection, ids)

    with connection.begin():
        connection.execute(delete(clusters))
        rows: list[dict[str, Any]] = []
        for cluster in Clustering(fetch, warn=warn).clusters(_claiming(connection)):
            rows += _rows(cluster)
            if len(rows) >= WRITE_ROWS:
                connection.execute(insert(clusters), rows)
                rows = []
        if rows:
            connection.execute(insert(clusters), rows)


def store_claims(
    connection: Connection, run: int, sitemap: str, claims: Mapping[int, Sequence[tuple[str, int]]]
) -> None:
    """Remember what a foreign sitemap says of the language versions of the pages that it names, by their ids: code and
    id of each version, nothing where it names none.

    That replaces what was said of these pages in earlier runs, by whatever sitemap; of two sitemaps of one run the
    first one counts for a code.
    """
    ids = list(claims)
    with connection.begin():
        for chunk in chunks(ids):
            of_chunk = named_alternates.c.url_id.in_(chunk)
            query = select(named_alternates.c.url_id, named_alternates.c.sitemap, named_alternates.c.alternates)
            known = connection.execute(query.where(of_chunk, named_alternates.c.run == run)).all()
            said = {url_id: (key, dict(alternates)) for url_id, key, alternates in known}
            connection.execute(delete(named_alternates).where(of_chunk))
            rows = []
            for url_id in chunk:
                key, before = said.get(url_id, (url_key(sitemap), {}))
                if together := {**dict(claims[url_id]), **before}:
                    pairs = sorted(together.items())
                    rows.append({"url_id": url_id, "run": run, "sitemap": key, "alternates": pairs})
            if rows:
                connection.execute(insert(named_alternates), rows)


def delete_claims(connection: Connection, run: int, sitemap: str) -> None:
    """Forget what a sitemap said in earlier runs: it was read anew, or it is no more."""
    old = (named_alternates.c.sitemap == url_key(sitemap)) & (named_alternates.c.run < run)
    with connection.begin():
        connection.execute(delete(named_alternates).where(old))


def has_alternates(connection: Connection) -> bool:
    """Whether any page has other language versions."""
    return connection.execute(select(clusters.c.url_id).limit(1)).first() is not None


def alternates_of(connection: Connection, url_ids: Sequence[int]) -> dict[int, Versions]:
    """Return all language versions of each of these pages (some hundreds) that has others, itself among them."""
    query = select(clusters.c.url_id, clusters.c.cluster).where(clusters.c.url_id.in_(url_ids))
    of_page = {row.url_id: row.cluster for row in connection.execute(query)}
    if not of_page:
        return {}
    members = select(clusters.c.cluster, clusters.c.codes, urls.c.url).join(urls, urls.c.id == clusters.c.url_id)
    found: dict[int, list[tuple[str, str]]] = {}
    for cluster, codes, url in connection.execute(members.where(clusters.c.cluster.in_(set(of_page.values())))).all():
        found.setdefault(cluster, []).extend([(code, url) for code in codes.split()])
    versions = {cluster: tuple(sorted(pairs, key=_by_code)) for cluster, pairs in found.items()}
    return {url_id: versions[cluster] for url_id, cluster in of_page.items()}


def _by_code(version: tuple[str, str]) -> tuple[bool, str]:
    return version[0] == X_DEFAULT, version[0]


def _claiming(connection: Connection) -> Iterator[int]:
    """The ids of the listed pages that name any version, or for which a sitemap names any; others may be written
    between two of them."""
    is_named = exists().where(named_alternates.c.url_id == observations.c.url_id)
    query = (
        select(observations.c.url_id)
        .join(decisions, decisions.c.url_id == observations.c.url_id)
        .where(_LISTED, or_(observations.c.alternates.is_not(null()), is_named))
        .order_by(observations.c.url_id)
        .limit(READ_ROWS)
    )
    last = 0
    while ids := connection.scalars(query.where(observations.c.url_id > last)).all():
        yield from ids
        last = ids[-1]


def _pages(connection: Connection, ids: Collection[int]) -> Iterator[Page]:
    refusal = case((_LISTED, null()), (decisions.c.reason.is_(None), "not decided"), else_=decisions.c.reason)
    query = (
        select(urls.c.id, urls.c.url, refusal, observations.c.alternates, named_alternates.c.alternates)
        .outerjoin(decisions, decisions.c.url_id == urls.c.id)
        .outerjoin(observations, and_(observations.c.url_id == urls.c.id, _LISTED))
        .outerjoin(named_alternates, and_(named_alternates.c.url_id == urls.c.id, _LISTED))
        .where(urls.c.id.in_(ids))
    )
    for page_id, url, refused, own, of_sitemap in connection.execute(query).all():
        named: dict[int, tuple[str, ...]] = {}
        # What a page says of itself counts more than what a sitemap says of it.
        claims = {**dict(of_sitemap or ()), **dict(own or ())}
        for code, url_id in sorted(claims.items()):
            named[url_id] = (*named.get(url_id, ()), code)
        yield Page(page_id, url, refused, named)


def _rows(cluster: Cluster) -> list[dict[str, Any]]:
    number = min(cluster)
    return [{"url_id": url_id, "cluster": number, "codes": " ".join(codes)} for url_id, codes in cluster.items()]
