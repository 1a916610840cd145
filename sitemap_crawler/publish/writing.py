"""`write`: decide and publish again from the inventory, perhaps by other rules, without a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError

from sitemap_crawler.config.options import Options
from sitemap_crawler.config.paths import check_places
from sitemap_crawler.inventory.runs import decisions_kept, last_finished_run
from sitemap_crawler.inventory.store import InventoryError, inventory_words, open_store
from sitemap_crawler.publish.conclude import conclude
from sitemap_crawler.publish.context import RunContext

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sitemap_crawler.report.report import Report


def write(path: Path, given: Mapping[str, Any], *, config: Path | None) -> Report:
    """What came of it. `given` wins over what the inventory at `path` remembers; `config` is the site file, if any.

    Only what replaces the published files themselves changes what the inventory says was decided and published.
    Raises InventoryError when nothing can be decided from the inventory or it can't be written, OptionError for a bad
    value.
    """
    store = open_store(path)
    try:
        run = last_finished_run(store.connection)
        if run is None:
            raise InventoryError(f"no run of the inventory {path} has been finished: finish it with crawl first")
        remembered = {name: value for name, value in run.options.items() if name in Options.model_fields}
        # Where the start page has moved, everything is seen from its new address.
        remembered["start_url"] = run.start_url
        options = Options.parse({**remembered, **given, "state": str(path)})
        check_places(options, state=path, config=config)
        site = RunContext(options, store, run, replaces=_replaces(options, remembered))
        if "sitemap_url" in given:
            site.relocate(start_url=site.start_url, sitemap_url=options.entry_url)
        with decisions_kept(store.connection) as kept:
            report = conclude(site, None)
            kept.renewed = site.replaces and report.has_published
        report.deliver(options)
        return report
    except SQLAlchemyError as error:
        raise InventoryError(inventory_words(store.path, error)) from error
    finally:
        store.close()


def _replaces(options: Options, remembered: Mapping[str, Any]) -> bool:
    """Whether the files are those that the crawl writes."""
    before = Options.parse({**remembered})
    return (options.output.absolute(), options.entry_url) == (before.output.absolute(), before.entry_url)
