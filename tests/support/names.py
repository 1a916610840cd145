"""Host names without a name server, for the program under test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.program import Program

HOOK = """
import json, pathlib, socket

NAMES = json.loads(pathlib.Path(__file__).with_name("names.json").read_text())
look_up_really = socket.getaddrinfo


def look_up(host, *args, **kwargs):
    name = host.decode() if isinstance(host, bytes) else host
    if name not in NAMES:
        return look_up_really(host, *args, **kwargs)
    if isinstance(NAMES[name], int):
        raise socket.gaierror(NAMES[name], "the test says so")
    return look_up_really(NAMES[name], *args, **kwargs)


socket.getaddrinfo = look_up
"""


def give_names(program: Program, names: Mapping[str, str | int]) -> None:
    """Let the program resolve these host names, each to an address or to the number of an error of getaddrinfo."""
    directory = program.directory / "names"
    directory.mkdir()
    (directory / "sitecustomize.py").write_text(HOOK)
    (directory / "names.json").write_text(json.dumps(dict(names)))
    program.variables["PYTHONPATH"] = f"{directory}:{ROOT}"
