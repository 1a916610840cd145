"""`write`: decide and publish again from the inventory, perhaps by other rules, without a crawl."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sitemap_crawler.conclude import conclude
from sitemap_crawler.inventory.runs import last_finished_run
from sitemap_crawler.inventory.store import InventoryError, open_store
from sitemap_crawler.options import Options
from sitemap_crawler.site import Site

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sitemap_crawler.report import Report


def write(path: Path, given: Mapping[str, Any]) -> Report:
    """What came of it. `given` wins over what the inventory at `path` remembers.

    Raises InventoryError when nothing can be decided from the inventory, OptionError for a bad value.
    """
    store = open_store(path)
    try:
        run = last_finished_run(store.connection)
        if run is None:
            raise InventoryError(f"no run of the inventory {path} has been finished: finish it with crawl first")
        options = Options.parse({**run.options, **given, "state": str(path)})
        if "sitemap_url" in given:
            run = replace(run, sitemap_url=options.entry_url)
        report = conclude(Site(options, store, run), None)
        report.deliver(options)
        return report
    finally:
        store.close()
