"""What a search engine says of a sitemap, as a value, and the newest of these answers in the inventory."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from sqlalchemy import func, select

from sitemap_crawler.inventory.schema import engine_sitemaps

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import ColumnElement, Connection, Select


class Content(NamedTuple):
    """Number of URLs of one kind, such as web pages or images, that an engine has found in a sitemap."""

    type: str
    submitted: int | None


class SitemapAnswer(NamedTuple):
    """What an engine says of one sitemap. None is unknown; times are in UTC."""

    known: bool = True
    """Whether the engine has this sitemap among those that were submitted."""
    submitted: int | None = None
    """Number of pages that the engine has found in the sitemap."""
    last_submitted: datetime | None = None
    last_downloaded: datetime | None = None
    pending: bool | None = None
    is_index: bool | None = None
    type: str | None = None
    status: str | None = None
    errors: int | None = None
    warnings: int | None = None
    contents: tuple[Content, ...] = ()

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """Return the answer that `to_json` has made these fields of. Raises TypeError, ValueError or KeyError."""
        answer = cls(
            **{
                **{name: fields[name] for name in cls._fields},
                "last_submitted": _moment(fields["last_submitted"]),
                "last_downloaded": _moment(fields["last_downloaded"]),
                "contents": tuple(Content(row["type"], row["submitted"]) for row in fields["contents"]),
            }
        )
        numbers = (answer.submitted, answer.errors, answer.warnings, *(row.submitted for row in answer.contents))
        texts = (answer.type, answer.status, *(row.type for row in answer.contents))
        if not (_are(int, numbers) and _are(str, texts)):
            raise TypeError
        return answer

    def to_json(self) -> dict[str, Any]:
        """Return the answer as the report has it."""
        return {
            **self._asdict(),
            "last_submitted": rfc3339(self.last_submitted),
            "last_downloaded": rfc3339(self.last_downloaded),
            "contents": [row._asdict() for row in self.contents],
        }


class KeptAnswer(NamedTuple):
    """An answer about a sitemap, and when it was given."""

    service: str
    property: str
    url: str
    parent: str | None
    """URL of the index that names the sitemap; None for an entry file."""
    since: datetime
    """When the engine gave this answer for the first time."""
    asked: datetime
    """When it gave this answer for the last time."""
    answer: SitemapAnswer

    def has_read(self, modified: datetime) -> bool | None:
        """Return whether the engine has read a file since this time; None if it was last asked before that."""
        if self.asked < modified:
            return None
        read = self.answer.last_downloaded
        return self.answer.known and read is not None and read >= modified


def latest_answers(connection: Connection) -> Iterator[KeptAnswer]:
    """Yield the newest answer about each sitemap, by service and URL.

    The answer about a sitemap that its index no longer names is left out.
    """
    newest = newest_ids(engine_sitemaps.c.service, engine_sitemaps.c.url)
    query = select(engine_sitemaps).where(engine_sitemaps.c.id.in_(newest))
    rows = connection.execute(query.order_by(engine_sitemaps.c.service, engine_sitemaps.c.url)).all()
    asked = {(row.service, row.url): row.asked for row in rows}
    for row in rows:
        parent, answer = stored_answer(row.answer)
        if parent is None or asked.get((row.service, parent)) == row.asked:
            yield KeptAnswer(
                row.service,
                row.property,
                row.url,
                parent,
                datetime.fromtimestamp(row.since, UTC),
                datetime.fromtimestamp(row.asked, UTC),
                answer,
            )


def newest_ids(*partition: ColumnElement[Any]) -> Select[Any]:
    """Return a query of the ids of the rows that were confirmed last, one for each value of the columns."""
    order = engine_sitemaps.c.asked.desc(), engine_sitemaps.c.id.desc()
    number = func.row_number().over(partition_by=partition, order_by=order).label("number")
    numbered = select(engine_sitemaps.c.id, number).subquery()
    return select(numbered.c.id).where(numbered.c.number == 1)


def stored_answer(fields: dict[str, Any]) -> tuple[str | None, SitemapAnswer]:
    """Return the index that names a sitemap, if any, and the answer of a row. Raises an exception for a damaged one."""
    parent = fields["parent"]
    if not (parent is None or isinstance(parent, str)):
        raise TypeError
    return parent, SitemapAnswer.from_json(fields)


def rfc3339(moment: datetime | None) -> str | None:
    """Return a time in UTC as the JSON of reports has it."""
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="seconds")


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)


def _are(kind: type, values: tuple[Any, ...]) -> bool:
    return all(value is None or (isinstance(value, kind) and not isinstance(value, bool)) for value in values)
