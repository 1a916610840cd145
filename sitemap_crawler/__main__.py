"""The console script, and `python -m sitemap_crawler`."""

from __future__ import annotations

import atexit
import gc
import os
import sys


def main() -> None:
    codes: list[int] = []
    if not atexit._ncallbacks():
        # What is registered first is called last. Where somebody was before us, the process ends as any other does.
        atexit.register(lambda: _leave(codes))
    # Nothing of what is imported is ever garbage: looking for it takes a third of the start. A crawl turns it on again.
    gc.disable()
    # No plugin of pydantic is wanted, and to look for one means reading the metadata of all that is installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    _open_standard_streams()
    try:
        from sitemap_crawler.cli.main import run

        code = run()
    except KeyboardInterrupt:
        sys.stderr.write("sitemap-crawler: interrupted; run the same command to continue\n")
        code = 4
    _flush_standard_streams()
    # Nor does the end of the process have to look through all of it.
    gc.freeze()
    codes.append(code)
    sys.exit(code)


def _leave(codes: list[int]) -> None:
    """Without taking apart all that was imported, which takes a fiftieth of a short crawl."""
    if codes:
        # Others that are called at the end may have printed something.
        _flush_standard_streams()
        os._exit(codes[0])


def _open_standard_streams() -> None:
    """A process started without them, as `2>&-` does, has None in their place, which no library expects."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115 - it stays open as long as the process
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115


def _flush_standard_streams() -> None:
    """What they can't take any more is lost, quietly: at its exit Python would make a second error of it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
