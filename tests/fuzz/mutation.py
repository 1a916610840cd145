"""Mutation of inputs: bytes, spans and words of a corpus are changed, repeated, nested and exchanged."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from typing import TYPE_CHECKING

from tests.support.paths import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

MAX_INPUT_BYTES = 60_000
"""Maximum number of bytes to which an input grows."""
MAX_CHANGES = 6
"""Maximum number of changes between an input and the one it is made of."""
COUNTS = (0, 1, 2, 3, 5, 11, 33) * 4 + (101, 300, 1_001, 5_001)
"""Numbers of repetitions: mostly few, some next to usual limits or far above them."""

_WORD = re.compile(rb"[\w:.-]+")
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_VALUE = re.compile(rb'"(?:[^"\\\n]|\\.)*"|\[[^\[\]]*\]|\{[^{}]*\}|\b(?:true|false|null|\d+)\b')
_BRACKETED = re.compile(rb"<[^<>]*>|\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")

NUMBERS = (
    b"0", b"-0", b"-1", b"1", b"00", b"0001", b"1e400", b"1e308", b"-1e999", b"NaN", b"Infinity", b"0x7f", b"65535",
    b"65536", b"4294967295", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"1" * 400, b"9" * 5_000,
    b"\xd9\xa3", b"\xc2\xb2", b"1_0", b"+1", b"1.", b".5", b"253402300800", b"-62135596801",
)  # fmt: skip
CHARACTERS = (
    b"\0", b"\x01", b"\x08", b"\t", b"\n", b"\r", b"\r\n", b"\x0b", b"\x0c", b"\x1b[2J", b"\x1b]0;x\x07", b"\x1f", b" ",
    b"\x7f", b"\x80", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xf4\x90\x80\x80", b"\xc2\x85",
    b"\xc2\xa0", b"\xc2\xad", b"\xcc\x81", b"\xe2\x80\x8e", b"\xe2\x80\xa8", b"\xe2\x80\xae", b"\xe2\x81\xa6",
    b"\xef\xbb\xbf", b"\xef\xbf\xbd", b"\xef\xbf\xbe", b"\xef\xbf\xbf", b"\xf0\x9f\x98\x80", b"\xc4\xb0", b"\xc3\x9f",
    b"\xef\xbc\x8f", b"\xe3\x80\x82", b"\xff\xfe", b"\xfe\xff", b"&", b"<", b">", b'"', b"'", b"%", b"%2", b"%00",
    b"%2F", b"%25", b"%ED%A0%80", b"&#0;", b"&#xD800;", b"&#1114112;", b"&#x1b;", b"&amp;", b"&nbsp;", b"\\u0000",
    b"\\ud800", b"\\", b"#", b"?", b";", b":", b"/", b"//", b"@", b"=", b",", b"]]>", b"<!--", b"-->", b"<![CDATA[",
    b"<?", b"$", b"*", b".", b"..", b"/./", b"/../",
)  # fmt: skip
VALUES = (
    b"null", b"true", b"false", b'""', b'" "', b"[]", b"{}", b"[[]]", b"[null]", b'[{"@id":"#x"}]', b'{"@id":"#x"}',
    b'{"@value":"x"}', b'{"@value":{"@value":[1]}}', b'{"name":["x",{"name":1}]}', b'"\\u0000"', b'"\\ud800"',
    b'"\\u001b[2J"', b'"http://["', b'"//"', b'"javascript:1"', b'"http://example.com/\\ud83d"', b'"2024-02-30"',
    b'"0001-01-01T00:00:00+14:00"', b'"9999-12-31T23:59:59-14:00"', b'"P1D"', b'"PT999999H"', b'"1e5"', b"[" * 90,
    b"[" * 5_000, b'{"a":' * 5_000, b'["a",["b",["c",["d"]]]]', b"{\"@type\":[\"VideoObject\",1,null,{}]}",
)  # fmt: skip


@cache
def words_of(pattern: str) -> tuple[bytes, ...]:
    """Return the words in the constants of the modules that match: the words that readers know."""
    found: dict[bytes, None] = {}
    for path in sorted(PACKAGE.glob(pattern)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
                value = node.value.encode(errors="replace") if isinstance(node.value, str) else node.value
                if len(value) < 300:
                    found |= dict.fromkeys(word for word in value.split() if len(word) < 40)
    return tuple(found)


class Mutator:
    """Source of mutated inputs. The same random numbers, corpus and words give the same inputs."""

    def __init__(self, random: Random, corpus: Sequence[bytes], words: Sequence[bytes]) -> None:
        self._random = random
        self._corpus = corpus
        self._words = words or (b"x",)
        self._changes: tuple[Callable[[bytes], bytes], ...] = (
            self._flip, self._set_byte, self._insert_character, self._insert_character, self._insert_word,
            self._insert_bytes, self._delete, self._repeat, self._move, self._nest, self._splice, self._splice,
            self._replace_word, self._replace_word, self._replace_number, self._replace_value, self._replace_value,
            self._delete_bracketed, self._truncate, self._spell,
        )  # fmt: skip

    def mutated(self, data: bytes) -> bytes:
        for _ in range(min(MAX_CHANGES, 1 + int(self._random.expovariate(0.5)))):
            data = self._random.choice(self._changes)(data)[: max(MAX_INPUT_BYTES, len(data))]
        return data

    def _position(self, data: bytes) -> int:
        return self._random.randint(0, len(data))

    def _span(self, data: bytes) -> tuple[int, int]:
        start = self._position(data)
        return start, min(len(data), start + int(self._random.expovariate(1 / 20)) + 1)

    def _put(self, data: bytes, new: bytes) -> bytes:
        position = self._position(data)
        return data[:position] + new + data[position:]

    def _replace(self, data: bytes, pattern: re.Pattern[bytes], new: bytes) -> bytes:
        matches = list(pattern.finditer(data))
        if not matches:
            return self._put(data, new)
        match = self._random.choice(matches)
        return data[: match.start()] + new + data[match.end() :]

    def _flip(self, data: bytes) -> bytes:
        if not data:
            return data
        changed = bytearray(data)
        changed[self._random.randrange(len(data))] ^= 1 << self._random.randrange(8)
        return bytes(changed)

    def _set_byte(self, data: bytes) -> bytes:
        if not data:
            return data
        changed = bytearray(data)
        changed[self._random.randrange(len(data))] = self._random.randrange(256)
        return bytes(changed)

    def _insert_character(self, data: bytes) -> bytes:
        return self._put(data, self._random.choice(CHARACTERS))

    def _insert_word(self, data: bytes) -> bytes:
        return self._put(data, self._random.choice(self._words))

    def _insert_bytes(self, data: bytes) -> bytes:
        return self._put(data, self._random.randbytes(self._random.randint(1, 8)))

    def _delete(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + data[end:]

    def _repeat(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + data[start:end] * self._random.choice(COUNTS) + data[end:]

    def _move(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return self._put(data[:start] + data[end:], data[start:end])

    def _nest(self, data: bytes) -> bytes:
        """Repeat an opening and the text up to its end, so that elements and brackets nest."""
        matches = list(_BRACKETED.finditer(data))
        if not matches:
            return self._repeat(data)
        match = self._random.choice(matches)
        return data[: match.start()] + match[0] * self._random.choice(COUNTS) + data[match.end() :]

    def _splice(self, data: bytes) -> bytes:
        other = self._random.choice(self._corpus)
        start = self._position(other)
        length = self._random.choice((10, 50, 200, 2_000))
        return self._put(data, other[start : start + length])

    def _replace_word(self, data: bytes) -> bytes:
        return self._replace(data, _WORD, self._random.choice(self._words))

    def _replace_number(self, data: bytes) -> bytes:
        return self._replace(data, _NUMBER, self._random.choice(NUMBERS))

    def _replace_value(self, data: bytes) -> bytes:
        new = self._random.choice((*VALUES, *NUMBERS, json.dumps(self._text()).encode()))
        return self._replace(data, _VALUE, new)

    def _text(self) -> str:
        return b"".join(self._random.choices((*CHARACTERS, *self._words), k=5)).decode(errors="surrogateescape")

    def _delete_bracketed(self, data: bytes) -> bytes:
        return self._replace(data, _BRACKETED, b"")

    def _truncate(self, data: bytes) -> bytes:
        return data[: self._position(data)]

    def _spell(self, data: bytes) -> bytes:
        """Write a span in another spelling."""
        start, end = self._span(data)
        span = data[start:end]
        spellings = (
            span.swapcase(),
            span.decode("latin-1").encode("utf-16-le"),
            b"".join(b"%%%02x" % byte for byte in span),
            b"".join(b"&#%d;" % byte for byte in span),
            b"".join(b"\\u%04x" % byte for byte in span),
            span[::-1],
        )
        return data[:start] + self._random.choice(spellings) + data[end:]
