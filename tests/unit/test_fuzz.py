"""The corpus of the fuzzer, and a few mutations of it that are the same in each run. tests/fuzz has the fuzzer."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.fuzz.engine import CORPUS, PropertyError, Target, check, smaller
from tests.fuzz.mutation import MAX_INPUT_BYTES, Mutator
from tests.fuzz.targets import TARGETS
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SEED = 20_261_123
INPUTS = 40
"""Number of mutations of each target."""
INPUTS_BY_TARGET = {"commands": 12, "inventory-file": 20}
"""The same, of targets that take longer."""
MANY, MANY_BY_TARGET = 120, {"commands": 8}
"""The same in the slow tests."""


@pytest.mark.parametrize("name", TARGETS)
def test_corpus(name: str) -> None:
    for data in TARGETS[name].corpus():
        check(TARGETS[name], data)


@pytest.mark.parametrize("name", TARGETS)
def test_mutations(name: str) -> None:
    check_mutations(name, INPUTS_BY_TARGET.get(name, INPUTS))


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_many_mutations(name: str) -> None:
    check_mutations(name, MANY_BY_TARGET.get(name, MANY))


def check_mutations(name: str, inputs: int) -> None:
    target = TARGETS[name]
    for number, data in enumerate(islice(target.inputs(SEED), inputs)):
        try:
            check(target, data)
        except Exception as error:
            error.add_note(f"the mutation number {number} of seed {SEED}: {smaller(target, data, error)!r}")
            raise


def test_each_directory_of_the_corpus_has_a_target() -> None:
    assert sorted(path.name for path in CORPUS.iterdir()) == sorted(TARGETS)
    assert all(target.files() for target in TARGETS.values())


def test_mutations_depend_on_the_seed_only() -> None:
    def mutated(seed: int) -> list[bytes]:
        mutator = Mutator(Random(seed), [b"<a href='x'>1</a>"], [b"img"])
        return [mutator.mutated(b'{"a": [1, true, "b"]}') for _ in range(500)]

    assert mutated(1) == mutated(1)
    assert mutated(1) != mutated(2)
    assert max(map(len, mutated(1))) <= MAX_INPUT_BYTES


@pytest.mark.parametrize(
    ("reader", "message"),
    [
        (lambda data: [number for number in range(len(data)) for _ in range(len(data))], "bytes of output"),
        (lambda data: [len(data[:1]) for _ in range(len(data) ** 2)][:1], "calls for"),
        (lambda data, seen=[]: seen.append(1) or len(seen), "another output"),
    ],
)
def test_the_check_finds_what_grows_and_what_changes(reader: object, message: str) -> None:
    target = Target("none", reader, max_calls=(0, 100), max_output=(0, 500))  # type: ignore[arg-type]
    with pytest.raises(PropertyError, match=message):
        check(target, bytes(600))


def test_a_failing_input_is_made_small() -> None:
    def reader(data: bytes) -> None:
        if b"x" in data and b"yz" in data:
            raise IndexError

    target = Target("none", reader)
    data = b"abc" * 50 + b"x" + b"def" * 50 + b"yz"
    with pytest.raises(IndexError) as caught:
        check(target, data)
    assert smaller(target, data, caught.value) == b"xyz"


def test_one_input_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "input"
    file.write_bytes(b"2024-01-01")
    command = [sys.executable, "-m", "tests.fuzz", "--target", "dates", "--file", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{file} is read without a failure\n"), done.stderr
