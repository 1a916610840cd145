"""Places of the checkout."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT.parent / "shared" / "schemas"
"""The published schemas, where they stand next to the checkout; tests skip without them."""
