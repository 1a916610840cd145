"""Fuzzing: everything that reads bytes of a site or a file gets mutated forms of the files in `corpus/`.

`python -m tests.fuzz --seconds 120` fuzzes all targets for two minutes. `tests/unit/test_fuzz.py` runs the corpus and
a few mutations of it with a fixed seed. An input that once failed is kept in `corpus/TARGET/`, so that it never fails
again.
"""
