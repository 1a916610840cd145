"""The gate for text on a terminal: the standard streams of the program, and that nothing goes around them."""

from __future__ import annotations

import ast
import io

import pytest

from sitemap_crawler.utils.runtime import PrintableStream, plain
from sitemap_crawler.utils.text import escape_controls
from tests.support.paths import ROOT

PACKAGE = ROOT / "sitemap_crawler"
OUTPUT_FREE = {"utils/runtime.py"}
"""Modules that may use the streams themselves."""
HARMLESS_WRITES = {
    # Numbers, to the pipe that the crawl reads.
    "crawl/rendering/guard.py: os.write(OUTPUT, f'{told}\\n'.encode())",
    # The log file, whose lines are escaped before.
    "crawl/log.py: os.write(self.descriptor, data)",
    # A constant, in a signal handler that may interrupt a write to the stream.
    "utils/stopping.py: os.write(2, f'sitemap-crawler: {MESSAGE}\\n'.encode())",
}
UNGATED = {("rich.console", "Console"), ("rich.text", "Text"), ("click", "echo"), ("click", "secho")}


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        (
            "plain\ttext\nand\r\nlines \u00e9\u4e2d\U0001f600\u00a0",
            "plain\ttext\nand\r\nlines \u00e9\u4e2d\U0001f600\u00a0",
        ),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\rb", r"a\rb"),
        ("\x9b31m", r"\x9b31m"),
        ("\x00\x08\x0b\x0c\x7f\x85", r"\x00\x08\x0b\x0c\x7f\x85"),
        ("\u202egnp\u2066\u200f", r"\u202egnp\u2066\u200f"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_could_control_a_terminal_is_escaped(text: str, escaped: str) -> None:
    assert escape_controls(text) == escaped
    # rich drops carriage returns itself.
    assert plain(text).plain == escaped.replace("\r", "")


@pytest.mark.parametrize(
    ("encoding", "written"),
    [
        ("utf-8", "\u00e9\u4e2d\\x1b\n".encode()),
        ("latin-1", b"\xe9\\u4e2d\\x1b\n"),
        ("ascii", b"\\xe9\\u4e2d\\x1b\n"),
    ],
)
def test_a_stream_of_any_encoding(encoding: str, written: bytes) -> None:
    raw = io.BytesIO()
    stream = PrintableStream(io.TextIOWrapper(raw, encoding=encoding, newline="\n"))
    stream.writelines(["\u00e9\u4e2d", "\x1b\n"])
    stream.flush()
    assert raw.getvalue() == written


def test_nothing_goes_around_the_streams() -> None:
    """No module prints with click, rich or a file of its own; rich gets text from `plain` or text of numbers."""
    around: list[str] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name in OUTPUT_FREE:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                names = {(node.module, alias.name) for alias in node.names}
                around += [f"{name}: {found}" for found in names & UNGATED]
            elif isinstance(node, ast.Attribute):
                if node.attr in {"__stdout__", "__stderr__", "unescaped", "secho", "echo"} or (
                    node.attr == "buffer" and ast.unparse(node) in {"sys.stdout.buffer", "sys.stderr.buffer"}
                ):
                    around.append(f"{name}: {ast.unparse(node)}")
            elif isinstance(node, ast.Call):
                around += [f"{name}: {ast.unparse(node)}" for _ in range(not _is_gated(node))]
    assert set(around) == HARMLESS_WRITES


def _is_gated(call: ast.Call) -> bool:
    function = ast.unparse(call.func)
    if function in {"print", "os.write"}:
        return False
    if function.endswith((".add_row", "output.print", "console.print", "_live.update")):
        return all(_is_harmless(argument) for argument in call.args)
    return True


def _is_harmless(value: ast.expr) -> bool:
    """Return whether rich may get a value: a constant, a number in the format of a number, `plain`, or a table."""
    if isinstance(value, ast.JoinedStr):
        return all(isinstance(part, ast.Constant) or _has_number_format(part) for part in value.values)
    if isinstance(value, ast.Call):
        return ast.unparse(value.func) in {"plain", "_numbers"}
    if isinstance(value, ast.Starred):
        return _is_harmless(value.value)
    return isinstance(value, ast.Constant) or ast.unparse(value) == "table"


def _has_number_format(part: ast.expr) -> bool:
    return (
        isinstance(part, ast.FormattedValue) and part.format_spec is not None and "," in ast.unparse(part.format_spec)
    )
