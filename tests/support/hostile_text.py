"""Texts on which a regular expression may take more than linear time, made of the parts of the expression itself."""

from __future__ import annotations

import re
from itertools import islice
from re import _constants as c  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_REPEATS = (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT)
_ASCII = "".join(map(chr, range(128)))
# Characters that are tried in each repeated class that has them.
_COMMON = " \ta0A-_.<>[](){}\"'&;:,=/%?\\é"
_ENDS = ("", "\0")
_MAX_CHARACTERS = 8
_MANY_OPTIONS = 40
_GENERIC = (
    " ", "\n", "\t\n\r ", "<", ">", "[", "(", "{", "[]", "()", "<a ", "</a ", "<!--", "-", "a", "0", "a0", "/a", "&",
    "&a", ",", ";", "a,", "a ", "\\", '"', "'",
)  # fmt: skip


class Text(NamedTuple):
    """A text of any length: a head, a part that repeats, an end."""

    head: str
    part: str
    end: str

    def of(self, length: int) -> str:
        return self.head + self.part * max(1, length // len(self.part)) + self.end


class Reader(NamedTuple):
    """A pattern and a method of it that the package calls."""

    pattern: re.Pattern[Any]
    method: str

    def read(self, text: str) -> None:
        value: Any = text.encode() if isinstance(self.pattern.pattern, bytes) else text
        match self.method:
            case "sub":
                self.pattern.sub(lambda match: match[0][:0], value)
            case "finditer" | "findall" | "split":
                for _ in self.pattern.finditer(value):
                    pass
            case method:
                getattr(self.pattern, method)(value)


def hostile_texts(pattern: re.Pattern[Any]) -> list[Text]:
    """Return the texts for this pattern: its prefixes and the bodies of its repetitions, repeated, with other ends."""
    source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = _parser.parse(source, pattern.flags & ~re.DEBUG)
    characters = "".join(dict.fromkeys("".join(_literals(tree)) + _COMMON))
    found: dict[Text, None] = {}
    for part in _GENERIC:
        found |= dict.fromkeys(Text("", part, end) for end in _ENDS)
    literals = [text for text in _runs(tree) if len(text) > 1]
    for prefix, bodies in islice(_walk("", list(tree), characters), 400):
        if prefix:
            found |= dict.fromkeys(Text("", prefix, end) for end in _ENDS)
        for body in bodies:
            found |= dict.fromkeys(Text(prefix, body, end) for end in _ENDS)
            found[Text("", prefix + body, "\0")] = None
    for text in literals:
        found |= dict.fromkeys(Text("", part, "") for part in (text, text[:-1], text + " ", text[0]) if part)
    return list(found)


def _walk(prefix: str, nodes: list[Any], characters: str) -> Iterator[tuple[str, list[str]]]:
    """Give each prefix of a matching text, and the bodies of the repetition that follows it."""
    for kind, value in nodes:
        match kind:
            case c.MAX_REPEAT | c.MIN_REPEAT | c.POSSESSIVE_REPEAT:
                low, high, body = value
                if high is c.MAXREPEAT or high > _MANY_OPTIONS:
                    yield prefix, _bodies(list(body), characters)
                yield from _walk(prefix, list(body), characters)
                prefix += _sample(list(body), characters) * max(low, 1 if high else 0)
            case c.SUBPATTERN:
                yield from _walk(prefix, list(value[3]), characters)
                prefix += _sample(list(value[3]), characters)
            case c.ATOMIC_GROUP:
                yield from _walk(prefix, list(value), characters)
                prefix += _sample(list(value), characters)
            case c.BRANCH:
                for branch in value[1]:
                    yield from _walk(prefix, list(branch), characters)
                prefix += _sample(list(value[1][0]), characters)
            case c.ASSERT | c.ASSERT_NOT:
                yield from _walk(prefix, list(value[1]), characters)
            case _:
                prefix += _sample([(kind, value)], characters)
                # The end of a run of literal characters is given by what follows it.
                if kind is c.LITERAL:
                    continue
        yield prefix, []
    yield prefix, []


def _bodies(nodes: list[Any], characters: str) -> list[str]:
    if len(nodes) == 1 and nodes[0][0] in (c.IN, c.ANY, c.NOT_LITERAL, c.LITERAL, c.CATEGORY):
        return list(islice((one for one in characters if _accepts(nodes[0], one)), _MAX_CHARACTERS))
    if len(nodes) == 1 and nodes[0][0] is c.SUBPATTERN:
        return _bodies(list(nodes[0][1][3]), characters)
    if len(nodes) == 1 and nodes[0][0] is c.BRANCH:
        branches = [body for branch in nodes[0][1][1] for body in _bodies(list(branch), characters)[:3]]
        return [*branches[:_MANY_OPTIONS], "".join(branches)] if branches else []
    sample = _sample(nodes, characters)
    samples = {sample, *(text for text, _ in islice(_walk("", nodes, characters), 20))}
    for position, (kind, value) in enumerate(nodes):
        if kind in _REPEATS:
            before, after = _sample(nodes[:position], characters), _sample(nodes[position + 1 :], characters)
            samples |= {before + one + after for one in _bodies(list(value[2]), characters)}
            samples |= {before + after}
    return sorted(filter(None, samples))


def _sample(nodes: list[Any], characters: str) -> str:
    """Return a text that the nodes match, without regard to look-around."""
    return "".join(text for text, _ in _last(nodes, characters))


def _last(nodes: list[Any], characters: str) -> Iterator[tuple[str, None]]:
    for kind, value in nodes:
        match kind:
            case c.LITERAL:
                yield chr(value), None
            case c.IN | c.ANY | c.NOT_LITERAL:
                accepted = (one for one in characters + _ASCII if _accepts((kind, value), one))
                yield next(accepted, ""), None
            case c.MAX_REPEAT | c.MIN_REPEAT | c.POSSESSIVE_REPEAT:
                yield _sample(list(value[2]), characters) * max(value[0], 1 if value[1] else 0), None
            case c.SUBPATTERN:
                yield _sample(list(value[3]), characters), None
            case c.ATOMIC_GROUP:
                yield _sample(list(value), characters), None
            case c.BRANCH:
                yield _sample(list(value[1][0]), characters), None


def _accepts(node: Any, character: str) -> bool:
    kind, value = node
    match kind:
        case c.LITERAL:
            return value == ord(character)
        case c.NOT_LITERAL:
            return value != ord(character)
        case c.ANY:
            return character != "\n"
        case c.IN:
            negated = value[0][0] is c.NEGATE
            return negated != any(_accepts(one, character) for one in value if one[0] is not c.NEGATE)
        case c.RANGE:
            return value[0] <= ord(character) <= value[1]
        case c.CATEGORY:
            return re.fullmatch(_CATEGORIES[value], character) is not None
    return False


_CATEGORIES = {
    c.CATEGORY_DIGIT: r"\d", c.CATEGORY_NOT_DIGIT: r"\D", c.CATEGORY_SPACE: r"\s", c.CATEGORY_NOT_SPACE: r"\S",
    c.CATEGORY_WORD: r"\w", c.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def _literals(nodes: Any) -> Iterator[str]:
    for kind, value in nodes:
        match kind:
            case c.LITERAL | c.NOT_LITERAL:
                yield chr(value)
            case c.RANGE:
                yield chr(value[0]) + chr(value[1])
            case c.IN:
                yield from _literals([one for one in value if one[0] is not c.NEGATE])
            case _:
                for inner in _inner(kind, value):
                    yield from _literals(inner)


def _runs(nodes: Any) -> Iterator[str]:
    """Give the longest runs of literal characters."""
    run = ""
    for kind, value in nodes:
        if kind is c.LITERAL:
            run += chr(value)
            continue
        yield run
        run = ""
        for inner in _inner(kind, value):
            yield from _runs(inner)
    yield run


def _inner(kind: Any, value: Any) -> list[Any]:
    match kind:
        case c.MAX_REPEAT | c.MIN_REPEAT | c.POSSESSIVE_REPEAT:
            return [value[2]]
        case c.SUBPATTERN:
            return [value[3]]
        case c.ATOMIC_GROUP:
            return [value]
        case c.BRANCH:
            return list(value[1])
        case c.ASSERT | c.ASSERT_NOT:
            return [value[1]]
    return []


# Lengths of a text, in characters. The steeper the growth, the shorter the text that shows it.
_LENGTHS = (24, 48, 256, 2048, 1 << 14)
# Seconds of CPU time. A shorter reading of the longest text cannot come from quadratic time, which takes some tenths of
# a second. A longer one proves nothing: its growth is measured.
_HARMLESS_SECONDS = 0.002
_MAX_GROWTH = 3.0
# Measurements, one after the other until one has harmless growth: the best of so many.
_SAMPLES = (1, 2, 3, 5)


def grows_faster(reader: Reader, text: Text) -> str:
    """Return how the time of reading grows if it more than triples with a text of twice the length; else ""."""
    for length in _LENGTHS:
        if _seconds(reader, text, length, 1) < _HARMLESS_SECONDS:
            continue
        for samples in _SAMPLES:
            short, long = _seconds(reader, text, length, samples), _seconds(reader, text, 2 * length, samples)
            if long <= _MAX_GROWTH * short:
                break
        else:
            shown = f"{text.head + text.part * 3!r}…{text.end!r}"
            return f"{reader.method} of {length} characters {shown}: {short:.4f} s, of twice as many {long:.4f} s"
    return ""


def _seconds(reader: Reader, text: Text, length: int, samples: int) -> float:
    value = text.of(length)
    return min(_timed(lambda: reader.read(value)) for _ in range(samples))


def _timed(work: Callable[[], None]) -> float:
    start = process_time()
    work()
    return process_time() - start
