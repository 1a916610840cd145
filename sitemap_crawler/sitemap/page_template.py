"""The template of the page list: the program's own, or that of a site, in the sandbox of Jinja2.

The page list needs Jinja2 and this module only with `--format html`. A template is a file of the site's owner. The
sandbox keeps it from the program's objects, and titles of the site are values that are escaped, never a template.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from importlib.resources import files
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from jinja2 import StrictUndefined, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from sitemap_crawler.exceptions import PageTemplateError
from sitemap_crawler.sitemap.names import Names
from sitemap_crawler.sitemap.page_list import MAX_LINKS, ListedTitle, PageList, PageListSite
from sitemap_crawler.utils.directories import open_regular
from sitemap_crawler.utils.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from jinja2 import Template

MAX_TEMPLATE_BYTES = 1_000_000
"""Bytes of a template. It is written into each file of the page list."""
MAX_REASON = 300
"""Characters of an error of Jinja2 in a message."""
READY_HTML = ("listing", "navigation", "style")
"""Variables that are HTML made by the program. All other values are escaped."""
_JINJA_FILE = "<template>"
"""Name of the file in the frames of a template's traceback."""


class PageTemplate:
    """A template with the variables that every file has: see docs/guide/page-list.md."""

    def __init__(self, template: Template, name: str) -> None:
        """`name` is that of the file, for messages."""
        self._template = template
        self._name = name
        style = files("sitemap_crawler.sitemap").joinpath("page_list.css").read_text(encoding="utf-8")
        digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
        self._values = {"style": style, "policy": policy}

    def render(self, values: Mapping[str, Any]) -> bytes:
        """Return one file. Raises PageTemplateError."""
        values = {**self._values, **values}
        ready = {name: Markup(values[name]) for name in READY_HTML}  # noqa: S704 - escaped where it is made
        try:
            return self._template.render({**values, **ready}).encode()
        except MemoryError:
            raise
        except Exception as error:
            raise _template_error(self._name, error) from error

    def check(self) -> None:
        """Render a page list of three files. Raises PageTemplateError."""
        url = "https://www.example.com/"
        names = Names.for_sitemap(f"{url}sitemap.xml")
        pages = [ListedTitle(f"{url}{number}", None if number % 2 else "Title") for number in range(2 * MAX_LINKS + 1)]
        for count in (1, len(pages)):
            site = PageListSite("Title", url, url)
            for _ in PageList(self.render, site, names, pages=count).files(pages[:count]):
                pass


def load_template(path: Path | None) -> PageTemplate:
    """Return the template in the file; without a file the program's own. Raises PageTemplateError.

    A template that is no template, or uses an unknown variable, is an error now.
    """
    if path is None:
        text = files("sitemap_crawler.sitemap").joinpath("page_list.html").read_text(encoding="utf-8")
    else:
        text = _read(path)
    environment = ImmutableSandboxedEnvironment(
        autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True
    )
    name = str(path or "page_list.html")
    try:
        template = PageTemplate(environment.from_string(text), name)
    except MemoryError:
        raise
    except Exception as error:
        raise _template_error(name, error) from error
    if path is not None:
        template.check()
    return template


def _read(path: Path) -> str:
    try:
        with open_regular(path) as file:
            data = file.read(MAX_TEMPLATE_BYTES + 1)
        if len(data) > MAX_TEMPLATE_BYTES:
            raise PageTemplateError(f"html_template {path} has more than {MAX_TEMPLATE_BYTES:,} bytes: shorten it")
        return data.decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or error
        raise PageTemplateError(f"cannot read html_template {path}: {reason}; give a file that exists") from error
    except UnicodeDecodeError as error:
        raise PageTemplateError(f"html_template {path} is not UTF-8: save it as UTF-8") from error


def _template_error(name: str, error: Exception) -> PageTemplateError:
    """Return the error with the place in the template and the remedy, as one line."""
    line: int | None
    if isinstance(error, TemplateSyntaxError):
        line, reason = error.lineno, error.message or ""
    else:
        lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == _JINJA_FILE]
        line, reason = (lines or [None])[-1], str(error)
    place = f", line {line}" if line else ""
    reason = one_line(reason, MAX_REASON).rstrip(".") or type(error).__name__
    return PageTemplateError(f"html_template {name}{place}: {reason}: correct the template")
