"""What the commands exit with; README.md has the table."""

from __future__ import annotations

DONE, FAILED, USAGE, REFUSED, INTERRUPTED = range(5)
