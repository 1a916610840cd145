"""Builds the sites that need a browser from their sources: `python tests/sites/rendered/sources/build.py`.

Needs Node and npm, and the registry of npm. The built sites are stored, each as one archive with the licences of the
code in it, so that tests need neither. The archives have no times and no owners: equal files make equal archives.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
BUILT = SOURCES.parent / "built"

VITE = {
    "shop": ("react", "react-dom", "scheduler", "react-router", "cookie", "set-cookie-parser"),
    "hash": ("vue", "@vue/runtime-core", "@vue/devtools-api", "vue-router"),
    "panels": ("svelte", "esm-env", "clsx"),
}
"""Packages whose code is in a bundle of Vite, by site."""
NEXT = ("next", "react", "react-dom")
LIBRARIES = {
    "preact.mjs": "preact/dist/preact.mjs",
    "htm.mjs": "htm/dist/htm.mjs",
    "htmx.min.js": "htmx.org/dist/htmx.min.js",
    "turbo.min.js": None,  # minified here
}
"""Files that pages include as they are."""
LIBRARY_PACKAGES = ("preact", "htm", "htmx.org", "@hotwired/turbo")


MIT = """\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without
limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the
Software, and to permit persons to whom the Software is furnished to do so, subject to the following
conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions
of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED
TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL
THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF
CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER
DEALINGS IN THE SOFTWARE."""


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="rendered-sites-") as temporary:
        work = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        shutil.copytree(SOURCES, work, dirs_exist_ok=True)
        run(work, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
        packages = work / "node_modules"
        for site, bundled in VITE.items():
            run(work / site, "npx", "vite", "build", "--logLevel", "warn")
            pack(site, work / site / "dist", licences(packages, bundled))
        run(work / "export", "npx", "next", "build")
        pack("export", work / "export" / "out", licences(packages, NEXT))
        pack("libraries", libraries(work), licences(packages, LIBRARY_PACKAGES))


def run(directory: Path, *command: str) -> None:
    variables = {**os.environ, "NEXT_TELEMETRY_DISABLED": "1"}
    subprocess.run(command, cwd=directory, env=variables, check=True)


def libraries(work: Path) -> Path:
    directory = work / "libraries"
    directory.mkdir(exist_ok=True)
    for name, path in LIBRARIES.items():
        if path is not None:
            shutil.copy(work / "node_modules" / path, directory / name)
    turbo = work / "node_modules" / "@hotwired" / "turbo" / "dist" / "turbo.es2017-esm.js"
    command = ("npx", "vite", "build", "--config", "turbo.config.js", "--logLevel", "warn")
    library = f"{{ entry: {str(turbo)!r}, formats: ['es'], fileName: () => 'turbo.min.js' }}"
    build = f"{{ lib: {library}, minify: true, outDir: {str(work / 'turbo')!r} }}"
    (work / "turbo.config.js").write_text(f"export default {{ build: {build} }};\n")
    run(work, *command)
    shutil.copy(work / "turbo" / "turbo.min.js", directory)
    return directory


def licences(packages: Path, names: tuple[str, ...]) -> str:
    parts = []
    for name in names:
        directory = packages / name
        if not directory.is_dir():
            continue
        files = sorted(path for path in directory.iterdir() if path.name.lower().startswith(("license", "licence")))
        if not files:
            parts.append(f"{name}\n{'=' * len(name)}\n\n{stated_licence(directory)}\n")
        parts += [f"{name}\n{'=' * len(name)}\n\n{file.read_text(encoding='utf-8').strip()}\n" for file in files]
    return "\n\n".join(parts)


def stated_licence(directory: Path) -> str:
    """Return the licence of a package that only names it."""
    package = json.loads((directory / "package.json").read_text(encoding="utf-8"))
    if package["license"] != "MIT":
        raise SystemExit(f"{directory.name} has no licence file")
    return f"The MIT License\n\nCopyright (c) {package['author']}\n\n{MIT}"


def pack(site: str, directory: Path, licence: str) -> None:
    """Store the files of a built site, and the licences of what is in them."""
    BUILT.mkdir(exist_ok=True)
    files = {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }
    files = {name: data for name, data in files.items() if not name.endswith((".map", ".ico", ".svg"))}
    files["LICENSES.txt"] = licence.encode()
    target = BUILT / f"{site}.tar.xz"
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size = len(files[name])
            archive.addfile(member, io.BytesIO(files[name]))
    sys.stdout.write(f"{target.name}: {len(files)} files, {target.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
