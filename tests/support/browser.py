"""A real browser for tests of pages: Chromium by Playwright, with all that a page asks for, logs and throws."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.tools import MUST_RUN, find_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

CHROMIUM = "chromium"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser. Skip the test where Playwright or Chromium is missing, unless all tools must be there."""
    program = find_tool(CHROMIUM)
    if not MUST_RUN:
        pytest.importorskip("playwright", reason="playwright is not installed")
        if program is None:
            pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(program), args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass(slots=True)
class Opened:
    """A page that is open in the browser, and what it has done."""

    page: Page
    messages: list[str] = field(default_factory=list)
    """Lines of the console, and errors of scripts."""
    requests: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        return " ".join(self.page.locator(selector).first.inner_text().split())

    def evaluate(self, expression: str) -> Any:
        return self.page.evaluate(expression)


@contextmanager
def opened(
    browser: Browser, path: Path, *, width: int = 1360, scheme: Any = "light", scripts: bool = True
) -> Iterator[Opened]:
    """Open a file in a window of this width and colour scheme."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts
    )
    found = Opened(context.new_page())
    found.page.on("console", lambda message: found.messages.append(message.text))
    found.page.on("pageerror", lambda error: found.messages.append(str(error)))
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.goto(path.as_uri())
    yield found
    context.close()
