"""Growth of processor time with the amount of input: the test of linear time that holds on a busy machine.

    assert_linear(lambda n: page("<ul>" * n(500) + "<a href=x>" * n(50_000)), find_links)

`n` makes each amount smaller: the work is measured with an eighth of an amount and with the whole amount. It takes
about eight times as long. It takes 64 times as long where each part looks at all others. All amounts that a fault could
multiply with each other must pass through `n`: a search through 500 ancestors for each link is quadratic only so.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time
from typing import TypeVar

Made = TypeVar("Made")
Amount = Callable[[int], int]

_STEP = 8
_MAX_GROWTH = 24.0
"""Three times linear growth, and three eighths of quadratic growth."""
_FLOOR_SECONDS = 0.05
"""Processor time that says nothing: of a few pauses for other processes."""
_SMALL_SAMPLES = 3
_LARGE_SAMPLES = 5
_PARTS = (512, 64, 8, 1)
"""Parts of the amounts, smallest first: quadratic time is found before it takes hours."""


def assert_linear(make: Callable[[Amount], Made], work: Callable[[Made], object]) -> None:
    """Fail if the processor time of `work` grows much faster than the amounts in its input.

    `make` makes an input anew for each measurement. Its own time does not count.
    """
    for part in _PARTS[1:]:
        small = min(_seconds(make, work, _STEP * part) for _ in range(_SMALL_SAMPLES))
        bound = _MAX_GROWTH * small + _FLOOR_SECONDS
        # A busy machine makes some measurements longer, and none shorter.
        large = []
        while len(large) < _LARGE_SAMPLES and min(large, default=bound) >= bound:
            large.append(_seconds(make, work, part))
        assert min(large) < bound, (
            f"1/{part} of the input takes {min(large):.3f} s, 1/{_STEP * part} takes {small:.4f} s: "
            f"{min(large) / small:.0f} times as long for {_STEP} times as much"
        )


def _seconds(make: Callable[[Amount], Made], work: Callable[[Made], object], part: int) -> float:
    given = make(lambda amount: max(1, amount // part))
    # A collection looks at the objects of all tests before, and is none of the work.
    gc.disable()
    try:
        start = process_time()
        work(given)
        return process_time() - start
    finally:
        gc.enable()
