"""The console script, and `python -m sitemap_crawler`."""

from __future__ import annotations

import sys

from sitemap_crawler.utils.stopping import MESSAGE, exit_at_signals, ignore_signals


def main() -> None:
    """Run the command line and exit with its exit code."""
    exit_at_signals()
    # Imported here: a signal in the first moments shall find its handler.
    from sitemap_crawler.exceptions import FAILED, INTERRUPTED
    from sitemap_crawler.utils.runtime import (
        Phase,
        flush_standard_streams,
        open_standard_streams,
        set_garbage_collection,
    )
    from sitemap_crawler.utils.shortage import shortage_of

    set_garbage_collection(Phase.IMPORTS)
    open_standard_streams()
    try:
        from sitemap_crawler.cli.main import run

        code = run()
    except KeyboardInterrupt:
        sys.stderr.write(f"sitemap-crawler: {MESSAGE}\n")
        code = INTERRUPTED
    except Exception as error:
        shortage = shortage_of(error)
        if shortage is None:
            raise
        sys.stderr.write(f"sitemap-crawler: {shortage}\n")
        code = FAILED
    flush_standard_streams()
    set_garbage_collection(Phase.EXIT)
    ignore_signals()
    sys.exit(code)


if __name__ == "__main__":
    main()
