"""The ledger: claims, marks, what is kept, and how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from sitemap_crawler.inventory import submissions as ledger_module
from sitemap_crawler.inventory.store import open_store
from sitemap_crawler.inventory.submissions import Ledger, Receiver, UrlChange, submissions_of
from sitemap_crawler.inventory.unlocked import UnlockedInventory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sitemap_crawler.config.state_location import StateLocation

NOW = 1_800_000_000.0
DAY = 86_400.0
HERE = Receiver("indexnow", "api.indexnow.org", "www.example.com")
OTHER_HOST = HERE._replace(host="blog.example.com")
OTHER_ENDPOINT = HERE._replace(endpoint="yandex.com")
FILE = "https://www.example.com/sitemap.xml"


@pytest.fixture
def path(state: StateLocation) -> StateLocation:
    open_store(state).close()
    return state


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with UnlockedInventory(path) as inventory:
        yield Ledger(inventory)


def added(*ids: int) -> list[UrlChange]:
    return [UrlChange(url_id, "added") for url_id in ids]


def send(ledger: Ledger, *ids: int, now: float = NOW, publication: int = 5, outcome: str = "accepted") -> list[int]:
    """Claim the URLs, complete what could be claimed, and return their ids."""
    claim = ledger.claim_urls(HERE, added(*ids), publication=publication, now=now)
    if claim.submission is not None and outcome != "sending":
        ledger.complete(claim.submission, outcome=outcome, http_status=200)
    return [change.url_id for change in claim.urls]


def test_an_accepted_url_is_claimed_again_for_a_later_publication_only(ledger: Ledger) -> None:
    assert send(ledger, 1, 2) == [1, 2]
    assert send(ledger, 1, 3, now=NOW + DAY) == [3]
    assert send(ledger, 1, now=NOW + DAY, publication=6) == [1]


@pytest.mark.parametrize(
    ("outcome", "again"), [("accepted", False), ("pending", False), ("failed", True), ("later", True)]
)
def test_outcomes_that_count_as_sent(ledger: Ledger, outcome: str, again: bool) -> None:
    send(ledger, 1, outcome=outcome)
    assert send(ledger, 1, now=NOW + 1) == ([1] if again else [])


def test_a_request_without_an_answer_holds_its_urls_for_ten_minutes(ledger: Ledger) -> None:
    send(ledger, 1, outcome="sending")
    assert ledger.claim_urls(HERE, added(1), publication=5, now=NOW + 599) == (None, [], 1)
    assert send(ledger, 1, now=NOW + 601) == [1]


def test_receivers_are_independent(ledger: Ledger) -> None:
    send(ledger, 1)
    for receiver in (OTHER_HOST, OTHER_ENDPOINT):
        assert ledger.claim_urls(receiver, added(1), publication=5, now=NOW).urls == added(1)
    ledger.set_mark(HERE, 4)
    assert [ledger.mark(receiver) for receiver in (HERE, OTHER_HOST, OTHER_ENDPOINT)] == [4, None, None]


def test_a_mark_never_goes_back(ledger: Ledger) -> None:
    for publication in (3, 7, 5):
        ledger.set_mark(HERE, publication)
    assert ledger.mark(HERE) == 7


def test_a_file_is_claimed_when_its_bytes_or_a_day_have_changed(ledger: Ledger) -> None:
    def claim(sha256: str, now: float, *, again: bool = False) -> tuple[bool, float | None]:
        found = ledger.claim_file(HERE, FILE, publication=1, sha256=sha256, now=now, again=again)
        if found.submission is not None:
            ledger.complete(found.submission, outcome="accepted")
        return found.submission is not None, found.accepted_at

    assert claim("a", NOW) == (True, None)
    assert claim("a", NOW + DAY - 1) == (False, NOW)
    assert claim("a", NOW + 5, again=True) == (True, None)
    assert claim("b", NOW + 6) == (True, None)
    assert claim("a", NOW + 7) == (True, None)
    assert claim("a", NOW + 8 + DAY) == (True, None)


def test_only_files_that_stand_are_taken_back(ledger: Ledger) -> None:
    def accept(target: str) -> None:
        found = ledger.claim_file(HERE, target, publication=1, sha256="a", now=NOW)
        assert found.submission is not None
        ledger.complete(found.submission, outcome="accepted")

    for target in ("b", "a"):
        accept(target)
    failed = ledger.claim_file(HERE, "c", publication=1, sha256="a", now=NOW)
    ledger.complete(failed.submission or 0, outcome="failed")
    assert ledger.standing_files("indexnow", HERE.endpoint) == [(HERE.host, "a"), (HERE.host, "b")]
    removal = ledger.claim_removal(HERE, "a", publication=1, now=NOW)
    assert removal.submission is not None
    assert ledger.claim_removal(HERE, "a", publication=1, now=NOW + 1) == (None, None, True)
    ledger.complete(removal.submission, outcome="accepted")
    assert ledger.standing_files("indexnow", HERE.endpoint) == [(HERE.host, "b")]


def test_old_rows_are_deleted(ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_module, "KEPT_SUBMISSIONS", 3)
    monkeypatch.setattr(ledger_module, "_DELETED_AT_ONCE", 2)
    send(ledger, 1, 2, 3, 4, 5, now=NOW - 40 * DAY)
    send(ledger, 6, 7, now=NOW - 20 * DAY)
    for number in range(4):
        claim = ledger.claim_file(HERE, f"{FILE}{number}", publication=1, sha256="a", now=NOW - 10 * DAY)
        ledger.complete(claim.submission or 0, outcome="accepted")
    ledger.prune(NOW)
    with UnlockedInventory(path) as inventory, inventory.snapshot() as connection:
        assert list(connection.scalars(text("SELECT url_id FROM submitted_urls ORDER BY url_id"))) == [6, 7]
        # The second one stays, because its URLs are younger than 30 days.
        assert list(connection.scalars(text("SELECT id FROM submissions ORDER BY id"))) == [2, 4, 5, 6]
    ledger.prune(NOW)


def test_the_last_submissions_of_a_url(ledger: Ledger) -> None:
    for number in range(7):
        send(ledger, 1, now=NOW + number * DAY, publication=5 + number)
    send(ledger, 2)
    with ledger.reading() as connection:
        found = submissions_of(connection, 1)
        assert submissions_of(connection, 3) == []
    assert [sent.at for sent in found] == [NOW + number * DAY for number in (6, 5, 4, 3, 2)]
    assert found[0] == (NOW + 6 * DAY, "indexnow", "added", "accepted", 200)
