"""Compare `validate` with other validators on the documents of the tests. Each rule has a good document and a bad one.

    python benchmarks/validators.py --schemas DIR [--node DIR] [--python FILE] [--sites DIR]

The others are libxml2, sitemap.js and ultimate-sitemap-parser. libxml2 needs the schemas in DIR: sitemap.xsd,
siteindex.xsd and those of Google's extensions. sitemap.js is read from a node_modules directory, and another Python
imports ultimate-sitemap-parser. Each validator reads every file of a document. Rules that need a server have no
documents. The table goes to standard output.

With --sites they read the sitemaps that `generators.py --keep DIR` has made: how many of the files of each generator a
validator objects to.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from generators import GENERATORS
from lxml import etree

from sitemap_crawler.validation.catalogue import RULES
from sitemap_crawler.validation.targets import validate

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.unit.validation.test_catalogue import PAIRS  # noqa: E402 - the tests are no package that is installed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Objects = Callable[[Sequence[Path]], list[bool]]
    """Function that takes files and returns, for each, whether a validator objects to it."""

ROOTS = {"urlset": "sitemap", "sitemapindex": "siteindex"}
"""Name of the schema by the name of the root."""
SECONDS = 300
OURS = "sitemap-crawler"
IN_NODE = """
import { createReadStream, readFileSync } from "node:fs";
import { createGunzip } from "node:zlib";
import { XMLToSitemapItemStream, XMLToSitemapIndexStream, ErrorLevel } from "sitemap";
const objects = [];
for (const path of readFileSync(0, "utf8").split("\\n").filter(Boolean)) {
  const head = readFileSync(path);
  const Stream = head.includes("<sitemapindex") ? XMLToSitemapIndexStream : XMLToSitemapItemStream;
  const reader = new Stream({ level: ErrorLevel.THROW, logger: false });
  let source = createReadStream(path);
  if (head[0] === 0x1f && head[1] === 0x8b) source = source.pipe(createGunzip());
  source.on("error", (error) => reader.destroy(error));
  try {
    for await (const item of source.pipe(reader)) void item;
    objects.push(false);
  } catch { objects.push(true); }
}
console.log(JSON.stringify(objects));
process.exit(0);
"""
IN_PYTHON = """
import gzip, json, logging, sys
from usp.objects.sitemap import InvalidSitemap
from usp.tree import sitemap_from_str
logging.disable(logging.CRITICAL)
objects = []
for path in sys.stdin.read().splitlines():
    data = open(path, "rb").read()
    try:
        text = (gzip.decompress(data) if data[:2] == b"\\x1f\\x8b" else data).decode("utf-8-sig")
        objects.append(isinstance(sitemap_from_str(text), InvalidSitemap))
    except Exception:
        objects.append(True)
print(json.dumps(objects))
"""


def by_schema(directory: Path) -> Objects:
    """Return a validator that applies the schemas of a directory."""
    schemas = {root: _schema(directory, f"{name}.xsd") for root, name in ROOTS.items()}

    def objects(path: Path) -> bool:
        data = path.read_bytes()
        try:
            tree = etree.fromstring(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        except (etree.XMLSyntaxError, OSError, EOFError, ValueError):
            return True
        schema = schemas.get(etree.QName(tree).localname)
        return schema is None or not schema.validate(tree)

    return lambda paths: [objects(path) for path in paths]


def _schema(directory: Path, core: str) -> etree.XMLSchema:
    """Return a schema of the protocol together with those of the extensions."""
    others = [path for path in directory.glob("*.xsd") if path.stem not in ROOTS.values()]
    namespaces = {path: etree.parse(path).getroot().get("targetNamespace") for path in (directory / core, *others)}
    imports = "".join(
        f'<xsd:import namespace="{namespace}" schemaLocation="{path.as_uri()}"/>'
        for path, namespace in namespaces.items()
    )
    text = f'<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema">{imports}</xsd:schema>'
    return etree.XMLSchema(etree.fromstring(text, base_url=f"{directory.as_uri()}/"))


def by_process(*command: str, cwd: Path | None = None) -> Objects:
    """Return a validator that is a program: it reads paths and writes a list of truth values as JSON."""

    def objects(paths: Sequence[Path]) -> list[bool]:
        given = "\n".join(map(str, paths))
        done = subprocess.run(
            command, cwd=cwd, input=given, capture_output=True, text=True, timeout=SECONDS, check=True
        )
        found: list[bool] = json.loads(done.stdout)
        return found

    return objects


def ours(paths: Sequence[Path]) -> list[bool]:
    return [bool(validate(str(path)).findings) for path in paths]


def documents(directory: Path) -> Iterator[tuple[str, bool, Path]]:
    """Write all documents. Yield the rule of each, whether it is the bad one, and the file that is the sitemap."""
    for number, pair in enumerate(PAIRS):
        for is_bad, files in enumerate((pair.good, pair.bad)):
            made = files() if callable(files) else files
            contents = made if isinstance(made, dict) else {"sitemap.xml": made}
            folder = directory / f"{number}-{is_bad}"
            folder.mkdir()
            for name, content in contents.items():
                if name != ".":
                    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
            yield pair.rule, bool(is_bad), folder / next(iter(contents))


def compare_on_sites(others: Mapping[str, Objects], directory: Path) -> None:
    """Print of each generator in the directory how many of its files a validator objects to."""
    heads = ("generator", "files", OURS, *others)
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for generator in GENERATORS:
        target = directory / generator.name / "site" / generator.target
        if target.exists():
            report = validate(str(target))
            told_of = {finding.file for finding in report.findings}
            numbers = [len(report.files), sum(file.name in told_of for file in report.files)]
            paths = [Path(report.path_of(file.name)) for file in report.files]
            numbers += [sum(objects(paths)) for objects in others.values()]
            print(f"| {generator.name} | {' | '.join(map(str, numbers))} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=Path, help="directory with the schemas")
    parser.add_argument("--node", type=Path, help="directory with node_modules/sitemap")
    parser.add_argument("--python", help="Python with ultimate-sitemap-parser")
    parser.add_argument("--sites", type=Path, help="directory with the sites of benchmarks/generators.py")
    options = parser.parse_args()
    others: dict[str, Objects] = {}
    if options.schemas:
        others["libxml2 with the schemas"] = by_schema(options.schemas.resolve())
    if options.node:
        others["sitemap.js"] = by_process("node", "--input-type=module", "-e", IN_NODE, cwd=options.node)
    if options.python:
        others["ultimate-sitemap-parser"] = by_process(options.python, "-c", IN_PYTHON)
    if options.sites:
        compare_on_sites(others, options.sites.resolve())
        return
    with tempfile.TemporaryDirectory() as temporary:
        made = list(documents(Path(temporary)))
        paths = [path for _, _, path in made]
        errors = [RULES[rule].severity == "error" for rule, _, _ in made]
        print("| validator | bad ones found: errors | warnings | good ones refused | families of rules found |")
        print("|---|---|---|---|---|")
        for name, objects in {OURS: ours, **others}.items():
            # The others read no directories.
            readable = [path for path in paths if name == OURS or path.is_file()]
            told_of_path = dict(zip(readable, objects(readable), strict=True))
            found = [told_of_path.get(path, False) for path in paths]
            rows = list(zip(made, errors, found, strict=True))
            numbers = []
            for wanted in (True, False):
                of_kind = [told for (_, is_bad, _), is_error, told in rows if is_bad and is_error == wanted]
                numbers.append(f"{sum(of_kind)} of {len(of_kind)}")
            good = [told for (_, is_bad, _), _, told in rows if not is_bad]
            families = Counter(RULES[rule].family for (rule, is_bad, _), _, told in rows if is_bad and told)
            told_of = ", ".join(f"{family} {count}" for family, count in families.most_common())
            print(f"| {name} | {numbers[0]} | {numbers[1]} | {sum(good)} of {len(good)} | {told_of} |", flush=True)


if __name__ == "__main__":
    main()
