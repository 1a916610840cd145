"""A network namespace for the program: it reaches the database over one link, and the site over another."""

from __future__ import annotations

import os
import socket
import subprocess
import uuid
from typing import TYPE_CHECKING, Any, Self

import pytest

from tests.support.program import Program
from tests.support.tools import find_tool

if TYPE_CHECKING:
    from types import TracebackType

DATABASE, SITE = "d", "s"
NAMESPACES = 128
"""Number of namespaces that have addresses at the same time."""


class NetworkNamespace:
    """A namespace with two links. Skips the test where that is not possible."""

    def __enter__(self) -> Self:
        if os.getuid() != 0 or find_tool("ip") is None:
            pytest.skip("only root makes network namespaces, with the program ip")
        # Names of links have at most 15 characters.
        self.name = f"t{uuid.uuid4().hex[:8]}"
        made = subprocess.run(["ip", "netns", "add", self.name], check=False, capture_output=True, text=True)
        if made.returncode:
            pytest.skip(f"no network namespace can be made: {made.stderr.strip()}")
        # Addresses for tests of networks, https://www.rfc-editor.org/rfc/rfc2544#appendix-C.2.2
        number, self._reserved = _reserve_number()
        number *= 2
        self._prefixes = {link: f"198.18.{number + index}" for index, link in enumerate((DATABASE, SITE))}
        _ip("-n", self.name, "link", "set", "lo", "up")
        for link, prefix in self._prefixes.items():
            ours, theirs = f"{self.name}{link}", f"{self.name}{link}p"
            _ip("link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", self.name)
            _ip("address", "add", f"{prefix}.1/30", "dev", ours)
            _ip("-n", self.name, "address", "add", f"{prefix}.2/30", "dev", theirs)
            _ip("link", "set", ours, "up")
            _ip("-n", self.name, "link", "set", theirs, "up")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # The links go with it.
        _ip("netns", "delete", self.name)
        self._reserved.close()

    def address(self, link: str) -> str:
        """Return the address at our end of a link."""
        return f"{self._prefixes[link]}.1"

    def set_link(self, link: str, *, is_up: bool) -> None:
        _ip("link", "set", f"{self.name}{link}", "up" if is_up else "down")


class NamespacedProgram(Program):
    """The program, whose processes are started in a namespace by `start`."""

    def __init__(self, program: Program, namespace: NetworkNamespace) -> None:
        super().__init__(program.directory)
        self._namespace = namespace

    def start(self, *arguments: str, **streams: Any) -> Any:
        # The fork server is in another namespace.
        command = [str(find_tool("ip")), "netns", "exec", self._namespace.name, *self.command(*arguments)]
        return subprocess.Popen(command, cwd=self.directory, env=self.environment(), text=True, **streams)


def _reserve_number() -> tuple[int, socket.socket]:
    """Return a number that no other namespace of this machine has while the socket is open."""
    for number in range(NAMESPACES):
        reserved = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            # An abstract address, which is free again when the socket is closed.
            reserved.bind(f"\0network-namespace-{number}")
        except OSError:
            reserved.close()
        else:
            return number, reserved
    raise AssertionError(f"{NAMESPACES} network namespaces are in use")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
