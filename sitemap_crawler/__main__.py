"""The console script, and `python -m sitemap_crawler`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    # Nothing of what is imported is ever garbage: looking for it takes a third of the start. A crawl turns it on again.
    gc.disable()
    from sitemap_crawler.cli import run

    code = run()
    # Nor does the end of the process have to look through all of it.
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
