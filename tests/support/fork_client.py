"""The command `sitemap-crawler` of a shell, run by a fork server, whose socket is the first argument."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys


def main(server: str, *arguments: str) -> int:
    job = {"arguments": arguments, "cwd": os.getcwd(), "environment": dict(os.environ)}  # noqa: PTH109 - a fast start
    text = json.dumps(job).encode() + b"\n"
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(server)
        sent = socket.send_fds(client, [text], [0, 1, 2])
        if sent < len(text):
            # Otherwise the run may have ended: even sending nothing would fail.
            client.sendall(text[sent:])
        pid = _answer(client)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: os.kill(pid, number))
        code = _answer(client)
    return code if code >= 0 else 128 - code  # as a shell has it


def _answer(client: socket.socket) -> int:
    number = client.recv(8)
    assert number, "the fork server has ended"
    return int.from_bytes(number, signed=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
