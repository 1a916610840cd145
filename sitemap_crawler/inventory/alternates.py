"""Language versions: the claims of listed pages and foreign sitemaps, and the sets of versions that agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, case, delete, exists, insert, null, or_, select

from sitemap_crawler.extract.alternates import X_DEFAULT
from sitemap_crawler.inventory.schema import clusters, decisions, named_alternates, observations, urls
from sitemap_crawler.inventory.sql import BATCH_ROWS, chunks, url_key
from sitemap_crawler.policy.alternates import AlternateClaims, Clustering

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from sqlalchemy import Connection

    from sitemap_crawler.policy.alternates import Cluster
    from sitemap_crawler.policy.warning_kinds import SiteWarning


_LISTED = decisions.c.decision == "listed"

Versions = tuple[tuple[str, str], ...]
"""The code and the URL of each version, in the order of the codes. x-default is last."""


def store_clusters(connection: Connection, *, warn: Callable[[SiteWarning], None]) -> None:
    """Store the sets that follow from the claims of the listed pages, in place of those of an earlier run."""

    def fetch(ids: Collection[int]) -> Iterator[AlternateClaims]:
        return _pages(connection, ids)

    with connection.begin():
        connection.execute(delete(clusters))
        rows: list[dict[str, Any]] = []
        for cluster in Clustering(fetch, warn=warn).clusters(_claiming(connection)):
            rows += _rows(cluster)
            if len(rows) >= BATCH_ROWS:
                connection.execute(insert(clusters), rows)
                rows = []
        if rows:
            connection.execute(insert(clusters), rows)


def store_claims(
    connection: Connection, run: int, sitemap: str, claims: Mapping[int, Sequence[tuple[str, int]]]
) -> None:
    """Store the claims of a foreign sitemap about the language versions of the pages that it names.

    `claims` has the code and the id of each version by the id of the page. A page without versions has an empty list.
    The claims replace those of earlier runs from any sitemap. If two sitemaps of one run claim a code, the first one
    counts.
    """
    ids = list(claims)
    with connection.begin():
        for chunk in chunks(ids):
            of_chunk = named_alternates.c.url_id.in_(chunk)
            query = select(named_alternates.c.url_id, named_alternates.c.sitemap, named_alternates.c.alternates)
            known = connection.execute(query.where(of_chunk, named_alternates.c.run == run)).all()
            earlier = {url_id: (key, dict(alternates)) for url_id, key, alternates in known}
            connection.execute(delete(named_alternates).where(of_chunk))
            rows = []
            for url_id in chunk:
                key, before = earlier.get(url_id, (url_key(sitemap), {}))
                if merged := {**dict(claims[url_id]), **before}:
                    pairs = sorted(merged.items())
                    rows.append({"url_id": url_id, "run": run, "sitemap": key, "alternates": pairs})
            if rows:
                connection.execute(insert(named_alternates), rows)


def delete_claims(connection: Connection, run: int, sitemap: str) -> None:
    """Delete the claims of a sitemap from earlier runs, because it was read again or no longer exists."""
    old = (named_alternates.c.sitemap == url_key(sitemap)) & (named_alternates.c.run < run)
    with connection.begin():
        connection.execute(delete(named_alternates).where(old))


def has_alternates(connection: Connection) -> bool:
    """Return whether any page has other language versions."""
    return connection.execute(select(clusters.c.url_id).limit(1)).first() is not None


def alternates_of(connection: Connection, url_ids: Sequence[int]) -> dict[int, Versions]:
    """Return all language versions of each of some hundred pages that has others. The page itself is among them."""
    query = select(clusters.c.url_id, clusters.c.cluster).where(clusters.c.url_id.in_(url_ids))
    of_page = {row.url_id: row.cluster for row in connection.execute(query)}
    if not of_page:
        return {}
    members = select(clusters.c.cluster, clusters.c.codes, urls.c.url).join(urls, urls.c.id == clusters.c.url_id)
    by_cluster: dict[int, list[tuple[str, str]]] = {}
    for cluster, codes, url in connection.execute(members.where(clusters.c.cluster.in_(set(of_page.values())))).all():
        by_cluster.setdefault(cluster, []).extend([(code, url) for code in codes.split()])
    versions = {cluster: tuple(sorted(pairs, key=_by_code)) for cluster, pairs in by_cluster.items()}
    return {url_id: versions[cluster] for url_id, cluster in of_page.items()}


def _by_code(version: tuple[str, str]) -> tuple[bool, str]:
    return version[0] == X_DEFAULT, version[0]


def _claiming(connection: Connection) -> Iterator[int]:
    """Yield the ids of the listed pages with claims of their own or of a sitemap.

    The caller may write between two of them.
    """
    is_named = exists().where(named_alternates.c.url_id == observations.c.url_id)
    query = (
        select(observations.c.url_id)
        .join(decisions, decisions.c.url_id == observations.c.url_id)
        .where(_LISTED, or_(observations.c.alternates.is_not(null()), is_named))
        .order_by(observations.c.url_id)
        .limit(BATCH_ROWS)
    )
    last = 0
    while ids := connection.scalars(query.where(observations.c.url_id > last)).all():
        yield from ids
        last = ids[-1]


def _pages(connection: Connection, ids: Collection[int]) -> Iterator[AlternateClaims]:
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
        # The claims of the page itself win over those of a sitemap.
        claims = {**dict(of_sitemap or ()), **dict(own or ())}
        for code, url_id in sorted(claims.items()):
            named[url_id] = (*named.get(url_id, ()), code)
        yield AlternateClaims(page_id, url, refused, named)


def _rows(cluster: Cluster) -> list[dict[str, Any]]:
    number = min(cluster)
    return [{"url_id": url_id, "cluster": number, "codes": " ".join(codes)} for url_id, codes in cluster.items()]
