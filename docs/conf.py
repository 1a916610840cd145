"""Sphinx's configuration. `sphinx-build -W -b html docs build/docs` builds the documents; nothing is downloaded."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
# The checkout is documented, not another version that may be installed.
sys.path[:0] = [str(HERE), str(HERE.parent)]

import generate  # noqa: E402 - needs the path above
from pygments.lexers.special import TextLexer  # noqa: E402
from sphinx.highlighting import lexers  # noqa: E402

from sitemap_crawler import __version__  # noqa: E402

project = "sitemap-crawler"
version = release = __version__
html_title = f"{project} {__version__}"
html_theme = "furo"
extensions = ["myst_parser", "sphinx_click"]
exclude_patterns = ["_generated"]  # parts that pages include
html_extra_path = ["reference/schemas"]
myst_heading_anchors = 3

lexers["crontab"] = TextLexer()  # Pygments has none

generate.write_parts(HERE / "_generated")
