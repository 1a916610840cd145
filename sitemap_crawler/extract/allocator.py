"""How the C library keeps memory for the parser: a page's tree is thousands of small pieces, freed together."""

from __future__ import annotations

import ctypes
import sys

KEPT = 16 * 1024 * 1024
"""Bytes of freed memory that the process keeps at most: the tree of a page of 1 MB."""

# https://man7.org/linux/man-pages/man3/mallopt.3.html
_M_MXFAST, _M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = 1, -1, -3


def tune_for_trees() -> None:
    """Have neighbours joined when they are freed, and the end of the heap kept; does nothing where that can't be said.

    By itself glibc only collects the pieces, to sort them all when something larger is asked for, and it gives the end
    of the heap back, so that the kernel fills it with zeros for the next tree: together up to a tenth of a page's time.
    """
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is not None:
        mallopt(_M_MXFAST, 0)
        mallopt(_M_TRIM_THRESHOLD, KEPT)
        # Any of these settings ends that glibc raises it by itself, when a large body was freed.
        mallopt(_M_MMAP_THRESHOLD, KEPT)
