"""Set-up of a process, each in a process of its own: garbage collection, standard streams, end with the parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PHASES = """
import gc
from sitemap_crawler.utils.runtime import Phase, set_garbage_collection

for phase in Phase:
    set_garbage_collection(phase)
    print(phase.name, gc.isenabled(), gc.get_threshold(), gc.get_freeze_count() > 0)
"""
STREAMS = """
import os
from sitemap_crawler.utils.runtime import flush_standard_streams, open_standard_streams

open_standard_streams()
print("lost")
flush_standard_streams()
"""
PARENT = """
import os, signal, sys, time
from sitemap_crawler.utils.runtime import parent_death_signal

end_with_parent = parent_death_signal(signal.SIGKILL)
pid = os.fork()
if not pid:
    end_with_parent()
    os.write(1, b"ready")
    time.sleep(600)
print(pid, flush=True)
sys.stdin.read()
"""


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_garbage_collection_rests_during_imports_and_leaves_out_their_objects() -> None:
    default, work, exit_ = run(PHASES).splitlines()
    assert default.startswith("IMPORTS False ")
    assert default.endswith(" False")
    assert work == "WORK True (20000, 10, 10) True"
    assert exit_ == "EXIT True (20000, 10, 10) True"


@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", "> /dev/full"])
def test_output_that_cannot_be_written_is_dropped(closed: str) -> None:
    command = ["sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, STREAMS]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this signal")
def test_a_child_ends_with_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        started = b""
        while b"ready" not in started or b"\n" not in started:
            started += os.read(parent.stdout.fileno(), 100)
        child = int(started.replace(b"ready", b""))
        parent.send_signal(signal.SIGKILL)
        parent.wait(60)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not Path(f"/proc/{child}").exists() or "\nState:\tZ" in Path(f"/proc/{child}/status").read_text():
            return
        time.sleep(0.05)
    pytest.fail("the child lives on")
