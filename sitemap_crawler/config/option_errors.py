"""What is wrong with an option, in one line."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from sitemap_crawler.exceptions import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable


def check_names(
    names: Iterable[str], known: Iterable[str], *, kind: str, otherwise: str = "see --help for the names"
) -> None:
    """Raises OptionError at the first unknown name, with the nearest right one, or what helps `otherwise`."""
    known = list(known)
    for name in names:
        if name not in known:
            # Two letters in the wrong order are much of a short name.
            near = get_close_matches(name, known, n=1, cutoff=0.75 if len(name) > 4 else 0.6)
            hint = f"did you mean {near[0]}?" if near else otherwise
            raise OptionError(f"unknown {kind} {name}: {hint}")
