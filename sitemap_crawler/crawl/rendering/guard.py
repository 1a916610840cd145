"""The guard of a browser: a small process that starts it, ends it with the crawl, and deletes its profile.

It runs as a program of its own, with the standard library only, and does not import the package. Its standard input is
a pipe of the crawl. However the crawl ends, the pipe closes, and the guard kills every process of the browser. Should
the guard itself be killed, the kernel kills the browser (Linux). On its standard output it tells what it has started.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

IS_LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
"""Options of prctl(2), https://man7.org/linux/man-pages/man2/prctl.2.html"""
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
"""Flags of unshare(2), https://man7.org/linux/man-pages/man2/unshare.2.html"""
INPUT, OUTPUT = 0, 1
BROWSER_READS, BROWSER_WRITES = 3, 4
"""Descriptors that Chromium uses with --remote-debugging-pipe."""
IGNORED_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C and the signals of a service manager reach all processes. Only the crawl acts on them."""
MAX_DESCRIPTOR = 1 << 16
PROFILE_PREFIX = "sitemap-crawler-browser-"


def main() -> None:
    """Start the browser that the first argument describes, and wait for its end or for that of the crawl."""
    plan: dict[str, Any] = json.loads(sys.argv[1])
    for number in IGNORED_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    wakes, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    if IS_LINUX:
        _libc().prctl(PR_SET_CHILD_SUBREAPER, 1)
    profile = tempfile.mkdtemp(prefix=PROFILE_PREFIX)
    browser = 0
    try:
        isolation = _possible_isolation() if plan["isolate"] else None
        browser = _start(plan, profile, isolation)
        os.close(plan["reads"])
        os.close(plan["writes"])
        told = json.dumps({"pid": browser, "isolated": isolation is not None, "profile": profile})
        os.write(OUTPUT, f"{told}\n".encode())
        _wait(wakes, browser)
    except BrokenPipeError:
        # The crawl has ended already.
        pass
    finally:
        _end(browser)
        shutil.rmtree(profile, ignore_errors=True)


def _wait(wakes: int, browser: int) -> None:
    """Return when the crawl has closed its pipe, or when the browser has ended."""
    while True:
        ready, _, _ = select.select([INPUT, wakes], [], [])
        if INPUT in ready and not os.read(INPUT, 64):
            return
        if wakes in ready:
            os.read(wakes, 64)
            if browser in _reaped():
                return


def _reaped() -> set[int]:
    """Take the exit status of every child that has ended, and return their ids."""
    pids: set[int] = set()
    try:
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            pids.add(pid)
    except ChildProcessError:
        # There is none.
        pass
    return pids


def _start(plan: dict[str, Any], profile: str, isolation: int | None) -> int:
    """Fork and run the browser. Return its process id, which is that of its process group, too."""
    guard = os.getpid()
    libc = _libc() if IS_LINUX else None
    command = [*plan["command"], f"--user-data-dir={profile}"]
    environment = {"PATH": plan["path"], "HOME": profile, "LANG": "C.UTF-8"}
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.set_wakeup_fd(-1)
        for number in (*IGNORED_SIGNALS, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.setpgid(0, 0)
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
            if os.getppid() != guard:
                os._exit(1)
        if isolation is not None:
            _isolate(isolation)
        _use_descriptors(plan["reads"], plan["writes"])
        os.chdir("/")
        os.execve(command[0], command, environment)  # noqa: S606 - the program that the user has installed or named
    finally:
        os._exit(127)


def _use_descriptors(reads: int, writes: int) -> None:
    """Give the browser its two descriptors and standard error, and close all others."""
    import fcntl

    # First out of the way: one may have the number of the other.
    reads, writes = (fcntl.fcntl(number, fcntl.F_DUPFD, 64) for number in (reads, writes))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, INPUT)
    os.dup2(null, OUTPUT)
    os.dup2(reads, BROWSER_READS)
    os.dup2(writes, BROWSER_WRITES)
    os.closerange(BROWSER_WRITES + 1, min(os.sysconf("SC_OPEN_MAX"), MAX_DESCRIPTOR))


def _possible_isolation() -> int | None:
    """Return the flags that give a process a network of its own, without any interface; None where none do."""
    if not IS_LINUX:
        return None
    for flags in (CLONE_NEWNET, CLONE_NEWUSER | CLONE_NEWNET):
        if flags == CLONE_NEWNET and os.geteuid() != 0:
            continue
        # In a child, because a process that has got a user namespace and no ids in it could do nothing more.
        pid = os.fork()
        if not pid:
            status = 1
            try:
                _isolate(flags)
                status = 0
            finally:
                os._exit(status)
        if os.waitpid(pid, 0)[1] == 0:
            return flags
    return None


def _isolate(flags: int) -> None:
    """Move this process into a network namespace, and into a user namespace in which it keeps its ids."""
    user, group = os.geteuid(), os.getegid()
    if _libc().unshare(flags):
        raise OSError("unshare")
    if flags & CLONE_NEWUSER:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def _end(browser: int) -> None:
    """Kill all processes of the browser and wait for their exit."""
    if browser:
        _kill(-browser)
    while True:
        # Processes that have left the group are children of this process when their parents have ended.
        for pid in _children():
            _kill(pid)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list[int]:
    try:
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _libc() -> Any:
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


if __name__ == "__main__":
    main()
