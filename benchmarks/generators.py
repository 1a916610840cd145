"""Sitemaps of other generators, made by the generators themselves, and what `validate` finds in them.

    python benchmarks/generators.py [NAME ...]

Each generator is installed from PyPI or npm into a directory of its own, or taken from the system (Hugo, Jekyll), and
builds a site of a few pages with its usual settings. The table goes to standard output: generator, version, files and
URLs, findings by rule. docs/reference/generators.md judges each finding.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

SITE = "https://docs.example.org"
BUILD_SECONDS = 900
"""Time that a generator may take for its installation, and again for its build."""


class Generator(NamedTuple):
    """How a generator is installed and makes its sitemap."""

    name: str
    package: str
    """Package whose version is shown."""
    build: str
    """Shell command in the directory of the site. It finds the installed programs on its path."""
    target: str
    """Path of the sitemap or its directory that `validate` reads, relative to the directory of the site."""
    python: tuple[str, ...] = ()
    """Packages from PyPI."""
    node: tuple[str, ...] = ()
    """Packages from npm."""
    command: str = ""
    """Program that the system has."""
    sources: Mapping[str, str] = {}
    """Files of the site."""


_POST = "---\ntitle: {title}\ndate: 2024-03-{day} 10:00:00\n---\nA page about {title}.\n"
_PAGES = {"one": 10, "two words": 11, "drei-Ä": 12, **{f"page-{day}": day for day in range(13, 23)}}
_VITE_CONFIG = (
    f'export default {{ title: "Site", sitemap: {{ hostname: "{SITE}" }}, lastUpdated: true, ignoreDeadLinks: true }}\n'
)
_ASTRO_CONFIG = (
    'import { defineConfig } from "astro/config";\nimport sitemap from "@astrojs/sitemap";\n'
    f'export default defineConfig({{ site: "{SITE}", integrations: [sitemap()] }});\n'
)
_ELEVENTY_CONFIG = (
    'const sitemap = require("@quasibit/eleventy-plugin-sitemap");\n'
    f'module.exports = (config) => config.addPlugin(sitemap, {{ sitemap: {{ hostname: "{SITE}" }} }});\n'
)
_ELEVENTY_SITEMAP = (
    "---\npermalink: /sitemap.xml\nlayout: null\neleventyExcludeFromCollections: true\n---\n"
    "{% sitemap collections.all %}\n"
)
_DJANGO = f"""
import django
from django.conf import settings
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], INSTALLED_APPS=["django.contrib.sitemaps"],
    TEMPLATES=[{{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}}], USE_TZ=True,
    LANGUAGES=[("en", "English"), ("de", "German")], USE_I18N=True, SECURE_SSL_REDIRECT=False)
django.setup()
from datetime import UTC, datetime
from pathlib import Path
from django.conf.urls.i18n import i18n_patterns
from django.contrib.sitemaps import Sitemap
from django.contrib.sitemaps.views import index, sitemap
from django.http import HttpResponse
from django.test import Client
from django.urls import path, reverse

def show(request, name): return HttpResponse(name)

class Pages(Sitemap):
    changefreq, priority, protocol, i18n, alternates, x_default = "weekly", 0.5, "https", True, True, True
    def items(self): return {list(_PAGES)!r}
    def lastmod(self, item): return datetime(2024, 3, 1, 10, tzinfo=UTC)
    def location(self, item): return reverse("page", args=[item])

maps = {{"sitemaps": {{"pages": Pages}}}}
urlpatterns = [path("sitemap.xml", index, maps), path("sitemap-<section>.xml", sitemap, maps,
    name="django.contrib.sitemaps.views.sitemap"), *i18n_patterns(path("p/<name>/", show, name="page"))]
for name in ("sitemap.xml", "sitemap-pages.xml"):
    answer = Client(headers={{"host": "docs.example.org"}}).get("/" + name, secure=True)
    Path("out").mkdir(exist_ok=True)
    Path("out", name).write_bytes(answer.content)
"""
_NEXT_SITEMAP = f'module.exports = {{ siteUrl: "{SITE}" }};\n'


def _posts(directory: str, suffix: str = ".md", text: str = _POST) -> dict[str, str]:
    return {f"{directory}{name}{suffix}": text.format(title=name, day=day) for name, day in _PAGES.items()}


GENERATORS = (
    Generator(
        "MkDocs", "mkdocs", "mkdocs build -q", "site", python=("mkdocs",),
        sources={"mkdocs.yml": f"site_name: Site\nsite_url: {SITE}/\n", "docs/index.md": "# Site\n", **_posts("docs/")},
    ),
    Generator(
        "sphinx-sitemap", "sphinx-sitemap", "sphinx-build -q . out", "out/sitemap.xml", python=("sphinx-sitemap",),
        sources={
            "conf.py": f'language = "en"\nextensions = ["sphinx_sitemap"]\nhtml_baseurl = "{SITE}/"\n',
            "index.rst": "Site\n====\n\n.. toctree::\n   :glob:\n\n   *\n",
            **_posts("", ".rst", "{title}\n=========\n\nText.\n"),
        },
    ),
    Generator(
        "Pelican", "pelican-sitemap", "pelican -q content -s pelicanconf.py", "output/sitemap.xml",
        python=("pelican[markdown]", "pelican-sitemap"),
        sources={
            "pelicanconf.py": f'SITEURL = "{SITE}"\nSITENAME = "Site"\nTIMEZONE = "UTC"\nPLUGINS = ["sitemap"]\n'
            'SITEMAP = {"format": "xml"}\n',
            **_posts("content/", text="Title: {title}\nDate: 2024-03-{day} 10:00\n\nText.\n"),
        },
    ),
    Generator(
        "Nikola", "nikola",
        f"nikola init -q -d site && cd site && sed -i 's|^SITE_URL = .*|SITE_URL = \"{SITE}/\"|' conf.py && "
        "cp ../*.md posts/ && nikola build -q",
        "site/output/sitemapindex.xml", python=("Nikola[extras]",),
        sources=_posts("", text="---\ntitle: {title}\nslug: page-{day}\ndate: 2024-03-{day} 10:00 UTC\n---\nText\n"),
    ),
    Generator("Django", "django", "python make.py", "out", python=("django",), sources={"make.py": _DJANGO}),
    Generator(
        "Hugo", "hugo", "hugo --quiet", "public/sitemap.xml", command="hugo",
        sources={
            "config.toml": f'baseURL = "{SITE}/"\ntitle = "Site"\n',
            **_posts("content/posts/"),
            **dict.fromkeys(("layouts/_default/single.html", "layouts/_default/list.html"), "{{ .Title }}"),
        },
    ),
    Generator(
        "Jekyll", "ruby-jekyll-sitemap", "jekyll build -q", "_site/sitemap.xml", command="jekyll",
        sources={
            "_config.yml": f"url: {SITE}\nplugins: [jekyll-sitemap]\n", "index.md": "---\n---\nSite\n",
            **{f"_posts/2024-03-{day}-{name}.md": _POST.format(title=name, day=day) for name, day in _PAGES.items()},
        },
    ),
    Generator(
        "Hexo", "hexo-generator-sitemap",
        f"hexo init site --no-install && cd site && ln -s ../../node_modules . && cp ../*.md source/_posts/ && "
        f"sed -i 's|^url: .*|url: {SITE}|' _config.yml && npm pkg set 'dependencies.hexo-generator-sitemap=*' && "
        "hexo generate --silent",
        "site/public/sitemap.xml",
        node=("hexo-cli", "hexo", "hexo-generator-sitemap", "hexo-generator-archive", "hexo-generator-category",
              "hexo-generator-index", "hexo-generator-tag", "hexo-renderer-ejs", "hexo-renderer-marked",
              "hexo-renderer-stylus", "hexo-theme-landscape"),
        sources=_posts(""),
    ),
    Generator(
        "Eleventy", "@quasibit/eleventy-plugin-sitemap", "eleventy --quiet", "_site/sitemap.xml",
        node=("@11ty/eleventy@2", "@quasibit/eleventy-plugin-sitemap"),
        sources={
            ".eleventy.js": _ELEVENTY_CONFIG, "sitemap.njk": _ELEVENTY_SITEMAP, "index.md": "# Site\n",
            **_posts("posts/"),
        },
    ),
    Generator(
        "VitePress", "vitepress", "vitepress build .", ".vitepress/dist/sitemap.xml", node=("vitepress",),
        sources={".vitepress/config.mjs": _VITE_CONFIG, "index.md": "# Site\n", **_posts("")},
    ),
    Generator(
        "Astro", "@astrojs/sitemap", "astro build", "dist/sitemap-index.xml", node=("astro@5", "@astrojs/sitemap@3"),
        sources={
            "astro.config.mjs": _ASTRO_CONFIG, "src/pages/index.astro": "<h1>Site</h1>\n",
            **_posts("src/pages/", ".astro", "<h1>{title}</h1>\n"),
        },
    ),
    Generator(
        "next-sitemap", "next-sitemap", "next build && next-sitemap", "public/sitemap.xml",
        node=("next", "react", "react-dom", "next-sitemap"),
        sources={
            "next-sitemap.config.js": _NEXT_SITEMAP,
            "pages/index.js": "export default () => <h1>Site</h1>;\n",
            **{f"pages/{name}.js": f"export default () => <h1>{name}</h1>;\n" for name in _PAGES if name.isascii()},
        },
    ),
    Generator(
        "sitemap.js", "sitemap", "sitemap < urls.txt > sitemap.xml", "sitemap.xml", node=("sitemap",),
        sources={"urls.txt": "".join(f"{SITE}/{name}\n" for name in _PAGES)},
    ),
)  # fmt: skip


def make(generator: Generator, directory: Path) -> str:
    """Install a generator into a directory and let it make its site there. Return its version.

    Raises CalledProcessError or TimeoutExpired if it fails.
    """
    site = directory / "site"
    for name, text in generator.sources.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    paths = [str(directory / "node_modules" / ".bin"), str(directory / "venv" / "bin"), os.environ["PATH"]]
    environment = os.environ | {"PATH": os.pathsep.join(paths), "CI": "true"}

    def run(*command: str, cwd: Path = directory) -> str:
        done = subprocess.run(
            command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=BUILD_SECONDS, check=True,
        )  # fmt: skip
        return done.stdout

    if generator.python:
        venv.create(directory / "venv", with_pip=True)
        run("pip", "install", "-q", *generator.python)
        version = run("python", "-c", f"from importlib.metadata import version; print(version({generator.package!r}))")
    elif generator.node:
        run("npm", "install", "--no-audit", "--no-fund", "--silent", *generator.node)
        manifest = directory / "node_modules" / generator.package / "package.json"
        version = json.loads(manifest.read_text(encoding="utf-8"))["version"]
    else:
        version = run("sh", "-c", f"dpkg-query -W -f '${{Version}}' {generator.package}")
    run("sh", "-c", generator.build, cwd=site)
    return version.strip()


def findings_of(target: Path) -> dict[str, Any]:
    """Return what `validate` says of a target, as JSON. Raises CalledProcessError if it cannot read it."""
    command = [sys.executable, "-m", "sitemap_crawler", "validate", str(target), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="generators to run; all by default")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the sites in this directory")
    options = parser.parse_args()
    print("| generator | version | URLs | verdict | findings |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        for generator in GENERATORS:
            if options.names and generator.name not in options.names:
                continue
            directory = (options.keep or Path(temporary)) / generator.name
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
            if generator.command and not shutil.which(generator.command):
                print(f"| {generator.name} | not installed |", flush=True)
                continue
            try:
                version = make(generator, directory)
                report = findings_of(directory / "site" / generator.target)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                print(f"{generator.name}: {error}\n{error.stderr}", file=sys.stderr)
                print(f"| {generator.name} | failed |", flush=True)
                continue
            counts = Counter(row["rule"] for row in report["findings"])
            found = ", ".join(f"`{rule}` {count}" for rule, count in sorted(counts.items())) or "none"
            urls = report["statistics"]["total_urls"]
            print(f"| {generator.name} | {version} | {urls} | {report['verdict']} | {found} |", flush=True)


if __name__ == "__main__":
    main()
