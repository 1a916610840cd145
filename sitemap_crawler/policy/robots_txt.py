"""Parser of robots.txt, https://www.rfc-editor.org/rfc/rfc9309, that also names the line of a rule.

Protego is not used, because it does not name the rule and differs from the RFC in these points: the group of an agent,
the end of a group, the meaning of `$` and of percent-encoding, and the longer one of two rules. The tests compare both
where they agree.
"""

from __future__ import annotations

import re
from collections import Counter
from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_BYTES = 500 * 1024
"""Maximum number of bytes that are parsed, https://www.rfc-editor.org/rfc/rfc9309#section-2.5."""
MAX_SITEMAPS = 1_000
"""Maximum number of sitemap URLs that are read."""
MAX_SITEMAP_URL = 8_192
"""Maximum number of characters of a sitemap URL."""
MAX_SHOWN_RULE = 200
"""Maximum number of characters of a rule in a message."""
MAX_SHOWN_AGENT = 50
"""Maximum number of characters of a User-agent in a message."""

MAX_UNINDEXED_RULES = 100
"""Maximum number of rules of a group that are compared with each path, which is faster than an index of so few."""
MAX_COMPARED_PARTS = 1_000
"""Maximum number of parts, between asterisks, of all the rules that a bounded search compares with one path.

Only rules of single letters between asterisks, by the thousands, exceed it: they share all texts that an index could
use. 26,000 of them take 17 ms for a path, 1,000 parts 0.2 ms.
"""
# Lengths of the texts by which rules are found, in characters.
_KEY_LENGTHS = (1, 2, 4, 8)
# Maximum number of texts that are considered for one rule.
_MAX_KEYS = 32

# Field names by spelling, with the misspellings that Google's parser and Protego accept.
_FIELDS = {
    **dict.fromkeys(("user-agent", "useragent", "user agent"), "user-agent"),
    **dict.fromkeys(("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"), "disallow"),
    **dict.fromkeys(("sitemap", "sitemaps", "site-map"), "sitemap"),
    **dict.fromkeys(("crawl-delay", "crawl delay"), "crawl-delay"),
    "allow": "allow",
}
# Fewer characters than str.strip() removes, because some of those may be the last octet of a path.
_BLANKS = " \t\v\f"
_NEWLINE = re.compile(r"\r\n|\r|\n")
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}")
# RFC 9309 allows letters, - and _ only, but names of robots also have digits and dots.
_TOKEN = re.compile(r"[\w.-]*", re.ASCII)
# The name of a robot whose User-Agent begins with Mozilla.
_COMPATIBLE = re.compile(r"\bcompatible;\s*([\w.-]+)", re.ASCII | re.IGNORECASE)

# Characters of https://www.rfc-editor.org/rfc/rfc3986#section-2.2 and 2.3 that are equal to their escapes. Slash and
# question mark are missing, because their escapes do not divide a path. In a query they are equal to their escapes,
# too: see the example `/foo/bar?baz=https://foo.bar` of https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2.
_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:#[]@!$&'()*+,;="
_ESCAPES = {f"%{octet:02X}": f"%{octet:02X}" for octet in range(256)} | {f"%{ord(char):02X}": char for char in _PLAIN}
# Normalised URLs have %25 for a % that does not begin an escape.
_ESCAPES["%"] = "%25"
# Escapes, and characters that must be escaped. Line breaks stand for asterisks.
_NOT_NORMAL = re.compile(rf"%(?:[0-9A-Fa-f]{{2}})?|[^{re.escape(_PLAIN)}/?%\n]+")


def robots_evidence(origin: str, rule: str) -> str:
    """Return the location and the text of a rule as evidence for people."""
    return f"{origin}/robots.txt: {rule}"


class RobotsTxt:
    """Rules of one robots.txt. The `agent` of its methods is a product token or a complete User-Agent header."""

    __slots__ = ("_delays", "_groups", "_lines", "sitemaps")

    def __init__(self, lines: Iterable[str]) -> None:
        reader = _Reader(lines)
        self._lines = reader.groups
        self._delays = reader.delays
        self._groups: dict[str, _Group] = {}
        self.sitemaps = tuple(reader.sitemaps)

    @classmethod
    def parse(cls, body: bytes) -> RobotsTxt:
        """Parse a file. Invalid lines are ignored, so that parsing never fails."""
        start = body[:MAX_BYTES]
        # Octets that are not UTF-8 are kept, so that a rule in another charset has the same octets as its URLs.
        utf16 = start.startswith((b"\xff\xfe", b"\xfe\xff"))
        text = start.decode("utf-16", "replace") if utf16 else start.decode("utf-8", "surrogateescape")
        if len(body) > MAX_BYTES:
            text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
        return cls(_NEWLINE.split(text.lstrip("\ufeff").replace("\0", "")))

    def rule_against(self, url: str, agent: str, *, bounded: bool = False) -> str | None:
        """Return the rule that forbids this normalised URL; None if the agent may fetch it.

        With `bounded` the time does not depend on the number of rules: None also stands for a URL that
        MAX_COMPARED_PARTS leaves undecided. That suits what is said of links, and not what is fetched.

        The rule is written as in the file: `Disallow: /private/* (line 7, User-agent: *)`. It has at most 300
        characters, all of them printable.
        """
        paths = _normal_paths(url)
        # robots.txt itself is always allowed, https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2.
        if paths == ("/robots.txt",):
            return None
        group = self._groups.get(agent)
        if group is None:
            group = self._groups[agent] = _Group(self._rules_for(agent))
        rule = group.rule_against(paths, max_parts=MAX_COMPARED_PARTS if bounded else None)
        return None if rule is None else rule.description()

    def crawl_delay(self, agent: str) -> float | None:
        """Return the longest Crawl-delay of the group of the agent in seconds; None if the group has none."""
        delays = [delay for block in self._delays.get(self._group_name(agent), ()) for delay in block]
        return max(delays, default=None)

    def _group_name(self, agent: str) -> str:
        token = product_token(agent)
        return token if token in self._lines else "*"

    def _rules_for(self, agent: str) -> Iterator[_Rule]:
        for agent_line, block in self._lines.get(self._group_name(agent), ()):
            for number, line in block:
                yield from _rules_of(number, line, agent_line)


def product_token(agent: str) -> str:
    """Return the lower-case name by which robots.txt addresses `agent`; an empty string if there is none.

    https://www.rfc-editor.org/rfc/rfc9309#section-2.2.1
    """
    compatible = _COMPATIBLE.search(agent)
    if compatible is not None:
        return compatible[1].lower()
    token = _TOKEN.match(agent)
    return token[0].lower() if token is not None else ""


class _Reader:
    """Collector of lines by agent.

    The agents of a group share one list, because a file can name ten thousand agents with as many rules.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self.groups: dict[str, list[tuple[str, list[tuple[int, str]]]]] = {}
        """Groups by product token. A group is its spelling of the agent and its numbered lines."""
        self.delays: dict[str, list[list[float]]] = {}
        self.sitemaps: dict[str, None] = {}
        self._start_rules()
        for number, line in enumerate(lines, 1):
            self._add_line(number, line.partition("#")[0].strip(_BLANKS))

    def _start_rules(self) -> None:
        self._rules: list[tuple[int, str]] = []
        self._rules_complete = False
        self._start_delays()

    def _start_delays(self) -> None:
        self._current_delays: list[float] = []
        self._delays_complete = False

    def _add_line(self, number: int, line: str) -> None:
        field, value = _directive(line)
        if field == "user-agent":
            self._add_agent(value)
        elif field in ("allow", "disallow"):
            self._rules_complete = True
            if value:
                self._rules.append((number, line))
        elif field == "crawl-delay":
            # Not in the RFC: it must not end the list of agents of a group, but applies only to the agents above it.
            self._delays_complete = True
            if _SECONDS.fullmatch(value):
                self._current_delays.append(float(value))
        elif field == "sitemap" and value and len(value) <= MAX_SITEMAP_URL and len(self.sitemaps) < MAX_SITEMAPS:
            self.sitemaps.setdefault(_readable(value))

    def _add_agent(self, value: str) -> None:
        if self._rules_complete:
            self._start_rules()
        elif self._delays_complete:
            self._start_delays()
        token = "*" if value.split(maxsplit=1)[:1] == ["*"] else product_token(value)
        if not token:
            return
        groups, delays = self.groups.setdefault(token, []), self.delays.setdefault(token, [])
        if not groups or groups[-1][1] is not self._rules:
            groups.append((value, self._rules))
        if not delays or delays[-1] is not self._current_delays:
            delays.append(self._current_delays)


def _directive(line: str) -> tuple[str, str]:
    """Return the canonical name of the field and the value of a line; two empty strings for an invalid line."""
    name, colon, value = line.partition(":")
    field = _FIELDS.get(name.strip().lower()) if colon else None
    if field is not None:
        return field, value.strip(_BLANKS)
    # Like Google's parser, accept lines without the colon.
    parts = line.split(maxsplit=2)
    return (_FIELDS.get(parts[0].lower(), ""), parts[1]) if len(parts) == 2 else ("", "")


class _Rule(NamedTuple):
    """A rule with one form of its pattern."""

    allow: bool
    octets: int
    """Length of the pattern. The longest matching rule decides."""
    parts: tuple[str, ...]
    """The pattern, split at its asterisks."""
    anchored: bool
    """Whether the pattern ends in $ and must match up to the end of the path."""
    number: int
    line: str
    agent: str

    def matches(self, path: str) -> bool:
        parts = self.parts
        if not path.startswith(parts[0]):
            return False
        position, last = len(parts[0]), parts[-1]
        if len(parts) == 1:
            return not self.anchored or len(path) == position
        # The leftmost match of each part leaves the longest rest for the others, so no backtracking is needed.
        for part in parts[1:-1]:
            position = path.find(part, position)
            if position < 0:
                return False
            position += len(part)
        if self.anchored:
            return len(path) - len(last) >= position and path.endswith(last)
        return path.find(last, position) >= 0

    def description(self) -> str:
        """Return the line, its number and its User-agent for people."""
        line = _shortened(" ".join(self.line[: 2 * MAX_SHOWN_RULE].split()), MAX_SHOWN_RULE)
        return f"{line} (line {self.number}, User-agent: {_shortened(self.agent, MAX_SHOWN_AGENT)})"


class _RuleIndex:
    """Rules by a text that each path they match contains, so that a path is compared with few of thousands of rules.

    Of the texts that a rule could have, it takes the one that the fewest other rules could have.
    """

    __slots__ = ("_anywhere", "_starts")

    def __init__(self, rules: list[_Rule]) -> None:
        texts = [_texts(rule) for rule in rules]
        frequency = Counter((rule.parts[0], True) for rule in rules)
        frequency.update((text, False) for possible in texts for text in possible)
        self._starts: dict[int, dict[str, list[int]]] = {}
        """Positions of the rules that stand for paths with this start, by the length of the text."""
        self._anywhere: dict[int, dict[str, list[int]]] = {}
        """Positions of all other rules, by the length of the text."""
        for position, (rule, possible) in enumerate(zip(rules, texts, strict=True)):
            keys = [(rule.parts[0], True), *((text, False) for text in possible)]
            text, is_start = min(keys, key=frequency.__getitem__)
            by_length = self._starts if is_start else self._anywhere
            by_length.setdefault(len(text), {}).setdefault(text, []).append(position)

    def candidates(self, paths: tuple[str, ...]) -> Iterator[int]:
        """Yield the positions of all rules that may match one of the paths, in their order.

        Only the positions that are asked for take time.
        """
        found: dict[int, list[int]] = {}
        for path in paths:
            for length, starts in self._starts.items():
                if positions := starts.get(path[:length]):
                    found[id(positions)] = positions
            for length, keys in self._anywhere.items():
                texts = {path[start : start + length] for start in range(len(path) - length + 1)}
                for text in keys.keys() & texts:
                    found[id(keys[text])] = keys[text]
        return merge(*found.values())


def _texts(rule: _Rule) -> list[str]:
    """Return texts that each path contains which the rule matches, its start not counted.

    They have one of _KEY_LENGTHS, so that a path has few texts to look up.
    """
    longest = max(map(len, rule.parts[1:]), default=0)
    if longest == 0:
        return []
    length = max(length for length in _KEY_LENGTHS if length <= longest)
    texts = [part[start : start + length] for part in rule.parts[1:] for start in range(len(part) - length + 1)]
    # Long patterns differ at one of their ends.
    return texts if len(texts) <= _MAX_KEYS else texts[: _MAX_KEYS // 2] + texts[-_MAX_KEYS // 2 :]


class _Group:
    """Rules of one agent in order of precedence, https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2."""

    __slots__ = ("_index", "_other", "_prefixes", "_rules")

    def __init__(self, rules: Iterable[_Rule]) -> None:
        unique: dict[tuple[tuple[str, ...], bool], _Rule] = {}
        for rule in sorted(rules, key=lambda rule: (-rule.octets, not rule.allow, rule.number)):
            unique.setdefault((rule.parts, rule.anchored), rule)
        self._rules = list(unique.values())
        parts = sum(len(rule.parts) for rule in self._rules)
        is_small = len(self._rules) <= MAX_UNINDEXED_RULES and parts <= MAX_COMPARED_PARTS
        self._index = None if is_small else _RuleIndex(self._rules)
        forbidding = [rule for rule in self._rules if not rule.allow]
        # Most URLs match no Disallow rule. One check of all plain prefixes shows that fast.
        self._prefixes = tuple(rule.parts[0] for rule in forbidding if len(rule.parts) == 1 and not rule.anchored)
        self._other = [rule for rule in forbidding if len(rule.parts) > 1 or rule.anchored]

    def rule_against(self, paths: tuple[str, ...], *, max_parts: int | None) -> _Rule | None:
        """Return the rule that forbids a path, given in all its forms; None if it is allowed, or undecided."""
        if self._index is not None:
            compared_parts = 0
            for position in self._index.candidates(paths):
                rule = self._rules[position]
                compared_parts += len(rule.parts)
                if max_parts is not None and compared_parts > max_parts:
                    return None
                if any(map(rule.matches, paths)):
                    return None if rule.allow else rule
            return None
        for path in paths:
            if path.startswith(self._prefixes) or any(rule.matches(path) for rule in self._other):
                break
        else:
            return None
        rule = next(rule for rule in self._rules if any(map(rule.matches, paths)))
        return None if rule.allow else rule


def _rules_of(number: int, line: str, agent: str) -> Iterator[_Rule]:
    """Yield the rule of a line once for each form of its pattern."""
    field, pattern = _directive(line)
    anchored = pattern.endswith("$")
    # Asterisks become line breaks, which no line contains, before escaped asterisks are decoded.
    for form in _forms(_normal(pattern.removesuffix("$").replace("*", "\n"))):
        first, *others = form.split("\n")
        parts = (first, *filter(None, others[:-1]), *others[-1:])
        yield _Rule(field == "allow", len(form) + anchored, parts, anchored, number, line, agent)


def _normal_paths(url: str) -> tuple[str, ...]:
    """Return path and query of a normalised URL in all forms that are compared with patterns."""
    path = url[len(origin_of(url)) :].partition("#")[0] or "/"
    if not path.isascii():
        path = path.encode("utf-8", "replace").decode()
    return _forms(_normal(path))


def _forms(text: str) -> tuple[str, ...]:
    """Return `text`, and `text` with / and ? decoded in its query if that differs.

    Both forms are compared, because the beginning of the query is unknown in a pattern that reaches it by an asterisk.
    """
    if "%" not in text:
        return (text,)
    path, mark, query = text.partition("?")
    decoded = path + mark + query.replace("%2F", "/").replace("%3F", "?")
    return (text,) if decoded == text else (text, decoded)


def _normal(text: str) -> str:
    """Return `text` with each octet in its one normal spelling."""
    return _NOT_NORMAL.sub(_normal_octets, text)


def _normal_octets(match: re.Match[str]) -> str:
    octets = match[0]
    if octets[0] == "%":
        return _ESCAPES[octets.upper()]
    return "".join([f"%{octet:02X}" for octet in octets.encode("utf-8", "surrogateescape")])


def _readable(text: str) -> str:
    """Return `text` with replacement characters for octets that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _shortened(text: str, length: int) -> str:
    text = printable(_readable(text[: length + 1]))
    return text if len(text) <= length else text[: length - 1] + "…"
