"""Paths of the checkout, and the modules of the package."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT.parent / "shared" / "schemas"
"""The published schemas, where they stand next to the checkout; tests skip without them."""
PACKAGE = ROOT / "sitemap_crawler"


def package_modules() -> list[str]:
    """Return the dotted names of all modules but `__main__`, sorted."""
    paths = (path.relative_to(ROOT) for path in PACKAGE.rglob("*.py") if path.name != "__main__.py")
    return sorted(".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths)
