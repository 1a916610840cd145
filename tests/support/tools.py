"""Programs of other projects that some tests run."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
MUST_RUN = "NO_SKIPPED_TOOLS" in os.environ
"""Whether a test must fail, and not be skipped, where its program is missing: `.ci/run` has installed all."""


def find_tool(name: str) -> Path | None:
    """Return the path of a program, also of one that only root has in its PATH."""
    found = shutil.which(name, path=_PATH)
    return Path(found) if found else None


def needs(name: str) -> pytest.MarkDecorator:
    """Return a mark that skips a test where a program is missing."""
    return pytest.mark.skipif(find_tool(name) is None and not MUST_RUN, reason=f"{name} is not installed")
