"""Host names without a name server, for the program under test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from tests.support.program import Program

HOOK = """
import json, pathlib, socket

NAMES = json.loads(pathlib.Path(__file__).with_name("names.json").read_text())
look_up_really = socket.getaddrinfo


def look_up(host, *args, **kwargs):
    name = host.decode() if isinstance(host, bytes) else host
    if name not in NAMES:
        return look_up_really(host, *args, **kwargs)
    address = NAMES[name]
    if isinstance(address, list):
        address = address.pop(0) if len(address) > 1 else address[0]
    if isinstance(address, int):
        raise socket.gaierror(address, "the test says so")
    return look_up_really(address, *args, **kwargs)


socket.getaddrinfo = look_up
HERE = json.loads(pathlib.Path(__file__).with_name("here.json").read_text())
PORTS = json.loads(pathlib.Path(__file__).with_name("ports.json").read_text())
LOG = pathlib.Path(__file__).with_name("connections.txt")
connect_really = socket.socket.connect


def connect(self, address):
    if isinstance(address, tuple):
        with LOG.open("a") as log:
            log.write(f"{address[0]} {address[1]}\\n")
        if address[0] in HERE:
            address = ("127.0.0.1", PORTS.get(str(address[1]), address[1]), *address[2:])
    return connect_really(self, address)


socket.socket.connect = connect
"""


def give_names(
    program: Program,
    names: Mapping[str, str | int | list[str]],
    *,
    here: Iterable[str] = (),
    ports: Mapping[int, int] | None = None,
) -> Path:
    """Let the program resolve these host names, each to an address or to the number of an error of getaddrinfo.

    A list has the addresses of successive look-ups; the last one stays.
    Connections to the IPv4 addresses `here` go to 127.0.0.1, to the port that `ports` has for theirs. Return the file
    with address and port of all connections.
    """
    directory = program.directory / "names"
    directory.mkdir()
    program.hook = directory / "sitecustomize.py"
    program.hook.write_text(HOOK)
    (directory / "names.json").write_text(json.dumps(dict(names)))
    (directory / "here.json").write_text(json.dumps(list(here)))
    (directory / "ports.json").write_text(json.dumps(dict(ports or {})))
    return directory / "connections.txt"
