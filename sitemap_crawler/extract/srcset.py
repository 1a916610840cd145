"""The candidates of a `srcset`."""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

_MAX_CANDIDATES = 64  # a bound on hostile pages; real ones stay far below


class Candidate(NamedTuple):
    url: str
    width: int  # of a `w` descriptor, in pixels, else 0
    density: float  # of an `x` descriptor; 1 without any


# https://html.spec.whatwg.org/multipage/images.html#parsing-a-srcset-attribute
# Commas belong to a URL unless they end it; after it they end the candidate, unless they stand in parentheses.
_CANDIDATE = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)((?:(?<!,)(?:[^,(]++|\([^)]*+\)?+)++)?+)")
_DESCRIPTORS = re.compile(
    r"(?:[0-9]{1,9}h\s+)?([0-9]{1,9})w(?:\s+[0-9]{1,9}h)?|([0-9]{1,9}|[0-9]{0,9}\.[0-9]{1,9})x|", re.ASCII
)


def parse_srcset(value: str) -> list[Candidate]:
    """Return the valid candidates in their order; those after the first _MAX_CANDIDATES are not looked at."""
    candidates = []
    # Stripped, because trailing separators would make the search for one more URL quadratic.
    for match in islice(_CANDIDATE.finditer(value.strip("\t\n\f\r ,")), _MAX_CANDIDATES):
        url, rest = match.groups()
        descriptors = _DESCRIPTORS.fullmatch(rest.strip())
        if descriptors:
            width, density = descriptors.groups()
            candidates.append(Candidate(url.rstrip(","), int(width or 0), float(density or 1)))
    return candidates
