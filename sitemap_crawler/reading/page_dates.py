from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class PageDate:
    moment: datetime
    has_time: bool
    source: str


def modified_date(document: Any, *, now: datetime) -> PageDate | None:
    return None
