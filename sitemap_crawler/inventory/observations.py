"""Storage of observations, one row for each URL.

A new answer replaces the row. A 304 only confirms the row, so its links stay. A transient error is noted next to it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import BigInteger, Text, bindparam, false, func, null, select, true, update

from sitemap_crawler.inventory.dialects import insert
from sitemap_crawler.inventory.page_texts import PageTextsWriter
from sitemap_crawler.inventory.schema import decisions, observations
from sitemap_crawler.inventory.sql import RowStatement, chunks, encode_links
from sitemap_crawler.items import NoteKind, RenderState, is_transient
from sitemap_crawler.policy.common_changes import step_between
from sitemap_crawler.policy.lastmod import OBSERVED_CHANGE, Dated, PreviousFetch, decide_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from sitemap_crawler.items import Observation

_NOT_FAILED = dict.fromkeys(("failed_status", "failed_error", "failed_since"), null())
"""Values of a row whose last request has not failed."""
DOUBTED = "its answer may be that of another URL: the server sent one that nobody had asked for"
_COLUMNS = (
    "url_id", "run", "fetched", "status", "error", "blocked_by", "content_type", "body_bytes", "elapsed", "body_hash",
    "location", "refresh", "canonical", "noindex", "nofollow", "unavailable_after", "directives", "lastmod",
    "lastmod_source", "lastmod_day", "fingerprint", "title", "etag", "modified_header", "header_mark", "readers",
    "alternates", "links", "extras", "notes", "rendered", "rendering",
)  # fmt: skip


def _upsert_statement() -> RowStatement:
    """Return the statement that inserts an observation, or replaces the earlier one of the same URL."""
    statement = insert(observations)
    values = {name: statement.excluded[name] for name in _COLUMNS}
    reset = {"not_modified": false(), **_NOT_FAILED}
    upsert = statement.on_conflict_do_update(index_elements=[observations.c.url_id], set_={**values, **reset})
    return RowStatement(upsert, _COLUMNS, joins=True)


def _update(values: dict[str, Any], *names: str) -> RowStatement:
    """Return the statement that updates the observations of the URLs `b_id`. `names` are the parameters of the values.

    They begin with `b_`, to differ from the names of columns.
    """
    statement = update(observations).where(observations.c.url_id == bindparam("b_id")).values(values)
    return RowStatement(statement, ("b_id", *names), joins=True)


_UPSERT = _upsert_statement()
_CONFIRM = _update(
    {
        "run": bindparam("b_run"),
        "fetched": bindparam("b_fetched"),
        "not_modified": true(),
        # https://www.rfc-editor.org/rfc/rfc9111#section-3.2: a 304 updates what is stored.
        "etag": func.coalesce(bindparam("b_etag", type_=Text), observations.c.etag),
        **_NOT_FAILED,
    },
    "b_run", "b_fetched", "b_etag",
)  # fmt: skip
_MARK_FAILED = _update(
    {
        "run": bindparam("b_run"),
        "not_modified": false(),
        "failed_status": bindparam("b_status"),
        "failed_error": bindparam("b_error"),
        "failed_since": func.coalesce(observations.c.failed_since, bindparam("b_since", type_=BigInteger)),
    },
    "b_run", "b_status", "b_error", "b_since",
)  # fmt: skip


def forget_answers(connection: Connection, ids: Iterable[int]) -> None:
    """Keep of some observations only what the next one needs, within the caller's transaction.

    The answers may be those of other URLs. The dates are those of the last decisions again, which these answers have
    not changed.
    """
    decided = {
        name: select(decisions.c[name]).where(decisions.c.url_id == observations.c.url_id).scalar_subquery()
        for name in ("lastmod", "lastmod_source", "lastmod_day")
    }
    values = {
        **dict.fromkeys(("status", "etag", "modified_header", "header_mark"), null()),
        "error": DOUBTED,
        "readers": "",
        **decided,
        "lastmod_day": func.coalesce(decided["lastmod_day"], false()),
    }
    for chunk in chunks(sorted(ids)):
        connection.execute(update(observations).where(observations.c.url_id.in_(chunk)).values(values))


class _StoredObservation(NamedTuple):
    """The stored observation of a URL."""

    before: PreviousFetch
    is_lasting: bool
    """Whether it is an answer or a rule of robots.txt. A transient error is replaced by the next observation."""
    is_scripted: bool
    """Whether it holds what scripts have made."""


class ObservationWriter:
    """Writer of the observations of one run. `readers` names the code and options that make them."""

    def __init__(
        self,
        connection: Connection,
        run: int,
        *,
        readers: str,
        compares: bool | None = None,
        failing_since: int | None = None,
        renders: bool = False,
    ) -> None:
        """`compares`: whether earlier observations are stored; by default from the second run on.

        `renders`: a browser renders some pages. What it shows is not compared with what the server sends.

        `failing_since` is the run since which a page counts as failing whose request fails now; by default this one.
        """
        self._connection = connection
        self._run = run
        self._readers = readers
        self._page_texts = PageTextsWriter(connection, run)
        # The first run finds no stored observations, so it need not look for them.
        self._compares = run > 1 if compares is None else compares
        self._failing_since = run if failing_since is None else failing_since
        self._renders = renders

    def write(self, observed: Sequence[tuple[Observation, Iterable[int]]], ids: Mapping[str, int]) -> None:
        """Store observations, each with the ids of its links. `ids` has all URLs that they name."""
        stored = self._stored([observation.url_id for observation, _ in observed]) if self._compares else {}
        rows: list[dict[str, Any]] = []
        read: list[Observation] = []
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
                read.append(observation)
        _UPSERT.execute(self._connection, rows)
        self._page_texts.write(read)
        self._confirm(confirmed)
        self._mark_failed(failed)

    def _confirm(self, rows: list[dict[str, Any]]) -> None:
        """Update stored observations that a 304 confirms."""
        _CONFIRM.execute(self._connection, [{**row, "b_run": self._run} for row in rows])

    def _mark_failed(self, rows: list[dict[str, Any]]) -> None:
        """Add a transient error to stored observations."""
        runs = {"b_run": self._run, "b_since": self._failing_since}
        _MARK_FAILED.execute(self._connection, [{**row, **runs} for row in rows])

    def _stored(self, url_ids: list[int]) -> dict[int, _StoredObservation]:
        seen = observations.c
        query = select(
            seen.url_id, seen.fetched, seen.status, seen.blocked_by, seen.fingerprint, seen.readers,
            seen.lastmod, seen.lastmod_source, seen.lastmod_day,
            # The column stands behind the long ones, so that SQLite would read all of them for it.
            seen.rendered if self._renders else null().label("rendered"),
        )  # fmt: skip
        known = {}
        for chunk in chunks(url_ids):
            for row in self._connection.execute(query.where(seen.url_id.in_(chunk))):
                dated = Dated(row.lastmod, row.lastmod_source, row.lastmod_day)
                comparable = row.readers == self._readers
                lasting = row.blocked_by is not None or (row.status is not None and not is_transient(row.status))
                before = PreviousFetch(row.fetched, row.fingerprint, comparable, dated)
                known[row.url_id] = _StoredObservation(before, lasting, row.rendered == RenderState.RENDERED)
        return known

    def _row(
        self, observation: Observation, links: Iterable[int], ids: Mapping[str, int], known: _StoredObservation | None
    ) -> dict[str, Any]:
        def id_of(url: str | None) -> int | None:
            return ids[url] if url is not None else None

        expiry = observation.unavailable_after
        before = known.before if known is not None else None
        if known is not None and before is not None:
            is_alike = known.is_scripted is _is_scripted(observation) and observation.comparable
            before = before._replace(comparable=before.comparable and is_alike)
        dated = decide_date(before, observation)
        notes = observation.notes
        if dated.source == OBSERVED_CHANGE and before is not None:
            step = step_between(before.fingerprint or b"", observation.fingerprint or b"")
            notes = notes if step is None else {**notes, NoteKind.NUMBERS_STEP: step}
        return {
            "url_id": observation.url_id,
            "run": self._run,
            "fetched": observation.fetched.timestamp(),
            "status": observation.status,
            "error": observation.error,
            "blocked_by": observation.blocked_by,
            "content_type": observation.content_type,
            "body_bytes": observation.body_bytes,
            "elapsed": observation.elapsed_ms,
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
            "notes": _json(notes),
            **_rendering(observation),
        }


def _json(value: Any) -> str | None:
    return json.dumps(value) if value else None


def _is_scripted(observation: Observation) -> bool:
    """Return whether the observation is of the rendered page."""
    rendering = observation.rendering
    return rendering is not None and rendering.state is RenderState.RENDERED


def _rendering(observation: Observation) -> dict[str, Any]:
    """Return the columns of the rendering."""
    rendering = observation.rendering
    if rendering is None:
        return {"rendered": None, "rendering": None}
    return {"rendered": int(rendering.state), "rendering": json.dumps(rendering.to_json())}


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
