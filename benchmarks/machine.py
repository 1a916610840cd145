"""This machine, and what a process costs on it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parent
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes; getrusage(2) of macOS and of the others


def measured_process(command: list[str], directory: Path) -> tuple[float, int]:
    """Run in `directory`, where no scrapy.cfg can change the stock spider's settings; return seconds and peak bytes."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SCRAPY_", "SITEMAP_"))}
    environment["PYTHONPATH"] = str(HERE.parent)
    log = directory / "log.txt"
    with log.open("wb") as output:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=directory, env=environment, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        tail = log.read_text(encoding="utf-8", errors="replace")[-2_000:]
        raise SystemExit(f"{' '.join(command)}\nended with exit code {process.returncode}:\n{tail}")
    return seconds, usage.ru_maxrss * MAXRSS_UNIT


def describe_machine() -> str:
    cpu = next((line.partition(":")[2].strip() for line in _cpu_lines() if line.startswith("model name")), "")
    versions = ", ".join(f"{name} {_version(name)}" for name in ("scrapy", "lxml", "aiohttp", "twisted"))
    return (
        f"Python {platform.python_version()}, {versions}\n"
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores {cpu}".rstrip()
    )


def _cpu_lines() -> list[str]:
    info = Path("/proc/cpuinfo")
    return info.read_text(encoding="utf-8").splitlines() if info.exists() else []


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
