"""How many requests in flight each process of a run may have, so that all of them together keep the concurrency.

Each process holds a number of slots, which the database stores, and has at most as many requests in flight. It gives
slots back when it has more than its share and they are free; it takes slots that nobody holds. So no process needs to
know when another one learns of a third: a newcomer has no slot until the others have given some back, and the slots of
a process that has vanished are held until it is known to be dead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def share_of(process: int, *, live: Sequence[int], concurrency: int) -> int:
    """Return the share of a process in the concurrency, in whole slots. The oldest processes have the larger shares.

    `live` are the numbers of the living processes. With more processes than slots the youngest ones have none.
    """
    rank = sorted(live).index(process)
    return concurrency // len(live) + (rank < concurrency % len(live))


def slots_to_hold(process: int, *, live: Sequence[int], held: Mapping[int, int], in_use: int, concurrency: int) -> int:
    """Return the number of slots that a process holds from now on.

    `held` has the slots that each process holds, by its number, also those of processes that may be dead. `in_use` is
    the number of requests of this process that are in flight.
    """
    share = share_of(process, live=live, concurrency=concurrency)
    mine = held.get(process, 0)
    if mine > share:
        return max(share, min(mine, in_use))
    free = concurrency - sum(slots for other, slots in held.items() if other != process)
    return max(mine, min(share, free))
