"""The values of `meta`, numbers and JSON objects, as this and earlier releases write them.

Only the search for damage imports this module. What reads the values trusts them, and fails if they are damaged.
"""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from sitemap_crawler.inventory.schema import MetaObject

MAX_COUNT = 1_000_000_000
"""Highest number of pages that a run may have counted."""

_Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Samples = (
    tuple[_Count, _Count, _Count, list[int]]
    | tuple[_Count, _Count, _Count, list[int], _Count]
    | tuple[_Count, _Count, _Count, list[int], _Count, _Count]
)


class _Value(BaseModel):
    """Fields that earlier releases did not write have defaults."""

    model_config = ConfigDict(strict=True, extra="ignore")


class _PatternPages(_Value):
    epoch: _Count
    seen: _Count
    total: _Count
    contents: list[str] | None
    older: list[str] = []


class _TokenPages(_Value):
    contents: dict[str, str]
    same: _Count
    other: _Count
    settled: bool


class _NestedPages(_Value):
    epoch: _Count
    seen: _Count
    total: _Count
    new: _Count
    contents: dict[str, list[str]]
    names: list[str]


class _Learnt(_Value):
    endless: list[str] = []
    sessions: list[str] = []
    rounds: list[str] = []
    repeating: list[str] = []
    speaking: list[str] = []
    compared: dict[str, tuple[_Count, _Count]] = {}
    idle: dict[str, tuple[list[str], _Count, _Count]] = {}


class _Counts(_Value):
    run: _Count
    pages: dict[str, _PatternPages] = {}
    tokens: dict[str, _TokenPages] = {}
    rounds: dict[str, _NestedPages] = {}
    groups: dict[str, _Samples] = {}
    postponed: list[str] = []
    reopened: list[str] = []
    pages_seen: _Count = 0
    pages_new: _Count = 0
    marks: list[_Count] = []
    rounds_of_samples: tuple[_Count, _Count, _Count] = (0, 0, 0)
    late_dry: _Count = 0


class _Before(_Value):
    run: _Count
    refused: list[str]
    left_out: list[str]
    samples: list[str] = []
    sampled: list[str] = []


class _WorkingTime(_Value):
    run: _Count
    seconds: _Seconds = 0.0
    since: _Seconds | None
    further_requests: _Count = 0
    overloads: _Count = 0
    pauses: _Count = 0


_OBJECTS: dict[str, TypeAdapter[object]] = {
    MetaObject.TRAPS: TypeAdapter(_Learnt),
    MetaObject.TRAP_COUNTS: TypeAdapter(_Counts),
    MetaObject.TRAPS_BEFORE: TypeAdapter(_Before),
    MetaObject.WORKING_TIME: TypeAdapter(_WorkingTime),
    MetaObject.SERVICE_PAUSES: TypeAdapter(dict[str, float]),
}


def is_sound(name: str, value: str) -> bool:
    """Return whether a release may have written this value under this name."""
    try:
        if name not in _OBJECTS:
            return math.isfinite(float(value))
        _OBJECTS[name].validate_json(value, strict=True)
    except ValueError:
        return False
    return True
