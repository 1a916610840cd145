"""Sockets of the download handler: EADDRNOTAVAIL stands for ports, which this machine lacks, and for nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

CONNECT = """
import errno, socket, sys
from pathlib import Path
from sitemap_crawler.crawl.download.handler import _Socket

Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("40000 40001")
Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").write_text("1")
server = socket.create_server(("127.0.0.1", 8000))
held = []
four = (socket.AF_INET, ("127.0.0.1", 8000))
for family, address in (four, four, four, (socket.AF_INET6, ("::1", 8000)), (socket.AF_INET6, ("2001:db8::1", 8000))):
    connection = _Socket(family, socket.SOCK_STREAM)
    held.append(connection)
    try:
        connection.connect(address)
        print("connected")
    except OSError as error:
        print(errno.errorcode[error.errno])
"""


def test_ports_and_addresses_that_are_lacking_differ() -> None:
    """In a network of its own, with two ports and without IPv6."""
    command = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    try:
        subprocess.run([*command, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this machine gives no network namespace")
    done = subprocess.run([*command, sys.executable, "-c", CONNECT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["connected", "connected", "EADDRNOTAVAIL", "ENETUNREACH", "ENETUNREACH"]
