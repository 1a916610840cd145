"""Storage of observations, one row for each URL.

A new answer replaces the row. A 304 only confirms the row, so its links stay. A transient error is noted next to it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, false, func, null, select, update
from sqlalchemy.dialects.sqlite import insert

from sitemap_crawler.inventory.schema import observations
from sitemap_crawler.inventory.sql import RowStatement, chunks, encode_links
from sitemap_crawler.items import is_transient
from sitemap_crawler.policy.lastmod import Dated, PreviousFetch, decide_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection, Update

    from sitemap_crawler.items import Observation

_NOT_FAILED = {"failed_status": None, "failed_error": None, "failed_since": None}
"""Values of a row whose last request has not failed."""
_COLUMNS = (
    "url_id", "run", "fetched", "status", "error", "blocked_by", "content_type", "body_bytes", "body_hash", "location",
    "refresh", "canonical", "noindex", "nofollow", "unavailable_after", "directives", "lastmod", "lastmod_source",
    "lastmod_day", "fingerprint", "title", "etag", "modified_header", "header_mark", "readers", "alternates", "links",
    "extras", "notes",
)  # fmt: skip


def _upsert_statement() -> RowStatement:
    """Return the statement that inserts an observation, or replaces the earlier one of the same URL."""
    statement = insert(observations)
    values = {name: statement.excluded[name] for name in _COLUMNS}
    reset = {"not_modified": false(), **dict.fromkeys(_NOT_FAILED, null())}
    upsert = statement.on_conflict_do_update(index_elements=[observations.c.url_id], set_={**values, **reset})
    return RowStatement(upsert, _COLUMNS)


_UPSERT = _upsert_statement()


class _StoredObservation(NamedTuple):
    """The stored observation of a URL."""

    before: PreviousFetch
    is_lasting: bool
    """Whether it is an answer or a rule of robots.txt. A transient error is replaced by the next observation."""


class ObservationWriter:
    """Writer of the observations of one run. `readers` names the code and options that make them."""

    def __init__(self, connection: Connection, run: int, *, readers: str) -> None:
        self._connection = connection
        self._run = run
        self._readers = readers
        # The first run finds no stored observations, so it need not look for them.
        self._compares = run > 1

    def write(self, observed: Sequence[tuple[Observation, Iterable[int]]], ids: Mapping[str, int]) -> None:
        """Store observations, each with the ids of its links. `ids` has all URLs that they name."""
        stored = self._stored([observation.url_id for observation, _ in observed]) if self._compares else {}
        rows: list[dict[str, Any]] = []
        confirmed: list[dict[str, Any]] = []
        failed: list[dict[str, Any]] = []
        for observation, links in observed:
            known = stored.get(observation.url_id)
            if known is not None and observation.not_modified:
                times = {"b_fetched": observation.fetched.timestamp(), "b_etag": observation.etag}
                confirmed.append({"b_id": observation.url_id, **times})
            elif known is not None and known.is_lasting and (observation.is_transient or observation.status == 304):
                # A 304 that confirms nothing answers a request without conditions: it says no more than an error.
                failed.append(
                    {"b_id": observation.url_id, "b_status": observation.status, "b_error": observation.error}
                )
            else:
                rows.append(self._row(observation, links, ids, known))
        _UPSERT.execute(self._connection, rows)
        self._confirm(confirmed)
        self._mark_failed(failed)

    def _confirm(self, rows: list[dict[str, Any]]) -> None:
        """Update stored observations that a 304 confirms."""
        if rows:
            values: dict[str, Any] = {
                "run": self._run,
                "fetched": bindparam("b_fetched"),
                "not_modified": True,
                # https://www.rfc-editor.org/rfc/rfc9111#section-3.2: a 304 updates what is stored.
                "etag": func.coalesce(bindparam("b_etag"), observations.c.etag),
                **_NOT_FAILED,
            }
            self._connection.execute(_update(values), rows)

    def _mark_failed(self, rows: list[dict[str, Any]]) -> None:
        """Add a transient error to stored observations."""
        if rows:
            values = {
                "run": self._run,
                "not_modified": False,
                "failed_status": bindparam("b_status"),
                "failed_error": bindparam("b_error"),
                "failed_since": func.coalesce(observations.c.failed_since, self._run),
            }
            self._connection.execute(_update(values), rows)

    def _stored(self, url_ids: list[int]) -> dict[int, _StoredObservation]:
        seen = observations.c
        query = select(
            seen.url_id, seen.fetched, seen.status, seen.blocked_by, seen.fingerprint, seen.readers,
            seen.lastmod, seen.lastmod_source, seen.lastmod_day,
        )  # fmt: skip
        known = {}
        for chunk in chunks(url_ids):
            for row in self._connection.execute(query.where(seen.url_id.in_(chunk))):
                dated = Dated(row.lastmod, row.lastmod_source, row.lastmod_day)
                comparable = row.readers == self._readers
                lasting = row.blocked_by is not None or (row.status is not None and not is_transient(row.status))
                known[row.url_id] = _StoredObservation(
                    PreviousFetch(row.fetched, row.fingerprint, comparable, dated), lasting
                )
        return known

    def _row(
        self, observation: Observation, links: Iterable[int], ids: Mapping[str, int], known: _StoredObservation | None
    ) -> dict[str, Any]:
        def id_of(url: str | None) -> int | None:
            return ids[url] if url is not None else None

        expiry = observation.unavailable_after
        dated = decide_date(known.before if known is not None else None, observation)
        return {
            "url_id": observation.url_id,
            "run": self._run,
            "fetched": observation.fetched.timestamp(),
            "status": observation.status,
            "error": observation.error,
            "blocked_by": observation.blocked_by,
            "content_type": observation.content_type,
            "body_bytes": observation.body_bytes,
            "body_hash": observation.body_hash,
            "location": id_of(observation.location),
            "refresh": id_of(observation.refresh),
            "canonical": id_of(observation.canonical),
            "noindex": observation.noindex,
            "nofollow": observation.nofollow,
            "unavailable_after": expiry.timestamp() if expiry else None,
            "directives": observation.directives,
            "lastmod": dated.lastmod,
            "lastmod_source": dated.source,
            "lastmod_day": dated.day,
            "fingerprint": observation.fingerprint,
            "title": observation.title,
            "etag": observation.etag,
            "modified_header": observation.modified_header,
            "header_mark": observation.header_mark,
            "readers": self._readers,
            "alternates": _json([[code, ids[url]] for code, url in observation.alternates]),
            "links": encode_links(links) or None,
            "extras": _json(_extras(observation)),
            "notes": _json(observation.notes),
        }


def _update(values: dict[str, Any]) -> Update:
    """Return the statement that updates one row. Its parameters begin with `b_` to differ from the columns' names."""
    return update(observations).where(observations.c.url_id == bindparam("b_id")).values(values)


def _json(value: Any) -> str | None:
    return json.dumps(value) if value else None


def _extras(observation: Observation) -> dict[str, Any]:
    extras: dict[str, Any] = {}
    if observation.images:
        extras["images"] = observation.images
    if observation.image_texts:
        extras["image_texts"] = observation.image_texts
    if observation.videos:
        extras["videos"] = [video.fields() for video in observation.videos]
    if observation.article is not None:
        extras["article"] = asdict(observation.article)
    return extras
