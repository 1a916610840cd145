"""The picture of which package imports which, for ARCHITECTURE.md.

`python docs/rooms.py` prints it, `python docs/rooms.py --write` puts it into that page. Imports for type hints count.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import grimp

HERE = Path(__file__).parent
PACKAGE = "sitemap_crawler"
PAGE = HERE.parent / "ARCHITECTURE.md"
BEGIN, END = "<!-- rooms: made by docs/rooms.py -->\n", "<!-- end of rooms -->\n"


def picture() -> str:
    """Return one line for each room, the highest first: its name and the rooms that it imports."""
    arrows = imports_by_room()
    order = [*sorted(set(arrows) - set(layers())), *(room for room in layers() if room in arrows)]
    width = max(map(len, order))
    lines = [f"{room:<{width}}  ->  {' '.join(other for other in order if other in arrows[room])}" for room in order]
    lines = [line.removesuffix("  ->  ") for line in lines]
    total = sum(map(len, arrows.values()))
    return "\n".join([*lines, "", f"{len(order)} rooms, {total} arrows"])


def imports_by_room() -> dict[str, set[str]]:
    sys.path.insert(0, str(HERE.parent))
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    arrows: dict[str, set[str]] = {room_of(module): set() for module in graph.modules if module != PACKAGE}
    for module in graph.modules - {PACKAGE}:
        for imported in graph.find_modules_directly_imported_by(module) - {PACKAGE}:
            if room_of(imported) != room_of(module):
                arrows[room_of(module)].add(room_of(imported))
    return arrows


def room_of(module: str) -> str:
    return module.split(".")[1]


def layers() -> list[str]:
    """Return the rooms in the order of the contract in pyproject.toml, the highest first."""
    settings = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    [contract] = [contract for contract in contracts if contract["type"] == "layers"]
    return [room_of(module.strip()) for layer in contract["layers"] for module in layer.split("|")]


def section() -> str:
    return f"{BEGIN}```text\n{picture()}\n```\n{END}"


def write() -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(before + section() + after, encoding="utf-8")


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        write()
    else:
        print(picture())
