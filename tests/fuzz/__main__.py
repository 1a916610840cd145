"""Fuzz the targets for a time: `python -m tests.fuzz --seconds 120`. Exit code 1 if an input fails."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING

from tests.fuzz.engine import CORPUS, check, described, smaller
from tests.fuzz.targets import TARGETS

if TYPE_CHECKING:
    from tests.fuzz.engine import Target

MAX_INPUT_SECONDS = 60
"""Seconds of processor time that no input takes: far more than the slowest one, so that only a hang is found."""
MAX_FRAMES = 6
"""Number of frames of a traceback that are printed."""
MAX_FAILURES = 3
"""Number of failures of one target after which it is left alone."""


def main() -> int:
    options = _arguments()
    warnings.simplefilter("error")
    signal.signal(signal.SIGVTALRM, _report_hang)
    chosen = [TARGETS[name] for name in options.target or TARGETS]
    if options.file is not None:
        for target in chosen:
            check(target, options.file.read_bytes())
        print(f"{options.file} is read without a failure")  # noqa: T201
        return 0
    print(f"seed {options.seed}", flush=True)  # noqa: T201
    share = options.seconds / len(chosen)
    failures = sum(_fuzz(target, share, options.seed) for target in chosen)
    return 1 if failures else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=120, help="time for all targets together (default: 120)")
    parser.add_argument("--target", action="append", choices=TARGETS, help="only this target (repeatable)")
    seed = "number that decides on the inputs (default: another one each time)"
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1 << 32), help=seed)
    parser.add_argument("--file", type=Path, help="read this input only: give --target, too")
    return parser.parse_args()


def _fuzz(target: Target, seconds: float, seed: int) -> int:
    """Read the corpus, then mutated inputs until the time is over. Return the number of failures."""
    end = time.monotonic() + seconds
    failures = number = 0
    inputs = target.inputs(seed)
    corpus = target.corpus()
    while failures < MAX_FAILURES and (number < len(corpus) or time.monotonic() < end):
        data = corpus[number] if number < len(corpus) else next(inputs)
        number += 1
        signal.setitimer(signal.ITIMER_VIRTUAL, MAX_INPUT_SECONDS)
        try:
            check(target, data)
        except Exception as error:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            failures += 1
            _report(target, data, error)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    print(f"{target.name}: {number:,} inputs, {failures} failures", flush=True)  # noqa: T201
    return failures


def _report(target: Target, data: bytes, error: Exception) -> None:
    small = data if isinstance(error, TimeoutError) else smaller(target, data, error)
    with tempfile.NamedTemporaryFile(prefix=f"fuzz-{target.name}-", delete=False) as file:
        file.write(small)
    traceback.print_exception(error, limit=-MAX_FRAMES)
    lines = (
        f"{target.name} fails for {described(small)}",
        f"repeat it: python -m tests.fuzz --target {target.name} --file {file.name}",
        f"keep it, when it is fixed: cp {file.name} {CORPUS / target.name}/NAME",
    )
    sys.stderr.write("\n".join(lines) + "\n")


def _report_hang(*_: object) -> None:
    raise TimeoutError(f"an input takes more than {MAX_INPUT_SECONDS} seconds")


if __name__ == "__main__":
    sys.exit(main())
