"""The watch of one of several processes over its run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import create_autospec

import pytest

from sitemap_crawler.crawl.run_watch import RunWatch
from sitemap_crawler.inventory.shared_queue import SharedQueue

if TYPE_CHECKING:
    from collections.abc import Callable

    from sitemap_crawler.crawl.engine import EngineControl
    from sitemap_crawler.crawl.job import Job


@pytest.mark.parametrize(("is_silent", "asked"), [(True, 1), (False, 0)])
def test_a_silent_process_asks_the_server_which_ends_the_crawl_without_it(*, is_silent: bool, asked: int) -> None:
    """A process that has stored all it has read, and has leased URLs, would wait for ever."""
    queue: Any = create_autospec(SharedQueue, instance=True)
    queue.look.side_effect = ConnectionError
    membership = SimpleNamespace(is_dead=False, is_silent=is_silent, is_main=False, beat=None)
    failures: list[Exception] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except ConnectionError as error:
            failures.append(error)

    watch = RunWatch(
        cast("Job", SimpleNamespace(membership=membership, queue=queue, done=0)),
        cast("EngineControl", None),
        guarded=guarded,
        wake_at=lambda _moment: None,
    )
    assert watch.may_send() is not is_silent
    assert len(failures) == asked
