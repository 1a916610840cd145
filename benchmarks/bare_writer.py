"""The bare loop that the sitemap writer is compared with: `python benchmarks/bare_writer.py PUBLISHED OUTPUT`.

Reads published sitemaps into lists of plain values, then formats the same files from these lists and writes them, each
with fsync and rename. Prints the seconds of the second part and the number of URLs as JSON. Fails if a byte differs.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from xml.sax.saxutils import escape

from lxml import etree

QUOTES = {"'": "&apos;", '"': "&quot;"}
TAILS = {b"urlset": b"</urlset>\n", b"sitemapindex": b"</sitemapindex>\n"}
ListedPage = tuple[str, str | None, list[str]]
"""Location, date and images of an entry."""


def read(file: Path) -> tuple[bytes, str, list[ListedPage]]:
    """Return the bytes before the first entry, the element name of the entries, and the entries."""
    root = etree.parse(file).getroot()
    name = etree.QName(root[0]).localname
    data = file.read_bytes()
    entries = []
    for child in root:
        values: dict[str, list[str]] = {}
        for element in child.iter(etree.Element):
            values.setdefault(f"{element.prefix or ''}:{etree.QName(element).localname}", []).append(element.text or "")
        entries.append((values[":loc"][0], values.get(":lastmod", [None])[0], values.get("image:loc", [])))
    return data[: data.index(f"<{name}>".encode())], name, entries


def write(path: Path, head: bytes, name: str, entries: list[ListedPage], tail: bytes) -> None:
    parts = []
    for loc, lastmod, images in entries:
        date = f"<lastmod>{escape(lastmod, QUOTES)}</lastmod>" if lastmod is not None else ""
        image_elements = "".join(
            f"<image:image><image:loc>{escape(image, QUOTES)}</image:loc></image:image>" for image in images
        )
        parts.append(f"<{name}><loc>{escape(loc, QUOTES)}</loc>{date}{image_elements}</{name}>\n")
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as file:
        file.write(head)
        file.write("".join(parts).encode())
        file.write(tail)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def main(published: Path, output: Path) -> None:
    contents = {}
    for file in sorted(published.iterdir()):
        head, name, entries = read(file)
        contents[file.name] = (head, name, entries, TAILS[b"urlset" if name == "url" else b"sitemapindex"])
    output.mkdir()
    started = time.perf_counter()
    for file_name, content in contents.items():
        write(output / file_name, *content)
    seconds = time.perf_counter() - started
    for file_name in contents:
        if (output / file_name).read_bytes() != (published / file_name).read_bytes():
            sys.exit(f"{file_name} has other bytes")
    urls = sum(len(entries) for _, name, entries, _ in contents.values() if name == "url")
    print(json.dumps({"seconds": seconds, "listed": urls}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
