"""JSON files for other programs to read: at every instant whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def write_json(path: Path, value: Any) -> None:
    """Replace `path` whole. Raises OSError."""
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.sitemap-crawler-tmp")
    try:
        temporary.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
