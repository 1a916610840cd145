"""A terminal in which the commands of the documents run as they stand there."""

from __future__ import annotations

import re
import shlex
import sys
from typing import TYPE_CHECKING

from tests.support.example_site import serve_example_site
from tests.support.paths import ROOT
from tests.support.program import forks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.documents import Example
    from tests.support.program import Program, Result
    from tests.support.webserver import WebServer

PROGRAM = "sitemap-crawler"


class Terminal:
    """A shell in the directory of the program, with the program on its path, site files, and the example site."""

    def __init__(self, program: Program, site: WebServer) -> None:
        serve_example_site(program, site)
        self.program = program
        self.root = program.directory
        self._install()
        self._write_site_files()

    def _install(self) -> None:
        (self.root / "bin").mkdir()
        scrapy = shlex.join([sys.executable, "-P", "-m", "scrapy"])
        for name, command in ((PROGRAM, forks().shell_command()), ("scrapy", scrapy)):
            script = self.root / "bin" / name
            script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            script.chmod(0o755)

    def _write_site_files(self) -> None:
        annotated = (ROOT / "settings" / "site.toml").read_text(encoding="utf-8")
        (self.root / "site.toml").write_text(self.local(annotated), encoding="utf-8")
        sites = self.root / "etc/sitemap-crawler/sites"
        for directory in (sites, self.root / "var/www/html", self.root / "var/lib/sitemap-crawler"):
            directory.mkdir(parents=True)
        for path in (sites / "www.toml", sites / "blog.toml", self.root / "a.toml", self.root / "b.toml"):
            host = "www" if path.stem in ("www", "a") else "blog"
            lines = f'start_url = "http://{host}.example.com/"\noutput = "{host}"\nstate = "{host}.sqlite"\n'
            path.write_text(lines, encoding="utf-8")

    def run(self, command: str) -> Result:
        variables = {"PATH": f"{self.root / 'bin'}:/usr/bin:/bin"}
        if command.startswith("scrapy "):
            # The documents run it in the checkout; here all files stay in the directory of the test.
            variables["SCRAPY_SETTINGS_MODULE"] = "sitemap_crawler.settings"
        return self.program.execute("/bin/sh", "-c", self.local(command), **variables)

    def printed(self, command: str) -> str:
        """Return standard output with the addresses that the documents have."""
        return self.run(command).out.replace("http://", "https://")

    def local(self, text: str) -> str:
        """Return what is run here in place of `text`."""
        text = re.sub(r"(?<![\w:/.-])/(?=etc/|var/|srv/)", f"{self.root}/", text)
        text = re.sub(r"--random-delay \d+", "--random-delay 0", text)
        return text.replace("/opt/sitemap-crawler/bin/", "").replace("https:", "http:")


def first_crawl_is_silent(shown: Sequence[Example]) -> bool:
    """Whether the examples of a document begin after a crawl that the document does not show."""
    return not shown[0].command.startswith(f"{PROGRAM} crawl")
