"""What one robots.txt says, https://www.rfc-editor.org/rfc/rfc9309, and in which of its lines it says so.

Protego is what the tests compare this with, where both mean the same. It differs from the RFC in which group is an
agent's, where a group ends, what `$` and percent-encoding mean, and which of two rules is longer; and it names no rule.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.urls.normalise import origin_of
from sitemap_crawler.utils.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_BYTES = 500 * 1024
"""https://www.rfc-editor.org/rfc/rfc9309#section-2.5"""
MAX_SITEMAPS = 1_000
MAX_SITEMAP_URL = 8_192
MAX_RULE_WORDS = 200
MAX_AGENT_WORDS = 50

# The misspellings are those that Google's parser and Protego take for the word.
_FIELDS = {
    **dict.fromkeys(("user-agent", "useragent", "user agent"), "user-agent"),
    **dict.fromkeys(("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"), "disallow"),
    **dict.fromkeys(("sitemap", "sitemaps", "site-map"), "sitemap"),
    **dict.fromkeys(("crawl-delay", "crawl delay"), "crawl-delay"),
    "allow": "allow",
}
# Not all that str.strip() takes away: the last octet of a path may be such a character.
_BLANKS = " \t\v\f"
_NEWLINE = re.compile(r"\r\n|\r|\n")
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}")
# RFC 9309 has letters, - and _ only; robots have digits and dots in their names, too.
_TOKEN = re.compile(r"[\w.-]*", re.ASCII)
# Robots that call themselves Mozilla say their own name here.
_COMPATIBLE = re.compile(r"\bcompatible;\s*([\w.-]+)", re.ASCII | re.IGNORECASE)

# https://www.rfc-editor.org/rfc/rfc3986#section-2.2 and 2.3. An octet of either kind is the same as its escape, except
# that an escaped slash or question mark divides nothing in a path. In a query it does: the example
# `/foo/bar?baz=https://foo.bar` of https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2.
_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:#[]@!$&'()*+,;="
_ESCAPES = {f"%{octet:02X}": f"%{octet:02X}" for octet in range(256)} | {f"%{ord(char):02X}": char for char in _PLAIN}
# A % that begins no escape is what our URLs have as %25.
_ESCAPES["%"] = "%25"
# Escapes, and what has to be escaped; line breaks stand for asterisks.
_UNSETTLED = re.compile(rf"%(?:[0-9A-Fa-f]{{2}})?|[^{re.escape(_PLAIN)}/?%\n]+")


def robots_evidence(origin: str, rule: str) -> str:
    """Why a URL is not fetched, for people: where the rule stands, and what it says."""
    return f"{origin}/robots.txt: {rule}"


class RobotsTxt:
    """The rules of one robots.txt; `agent` is a product token or a whole User-Agent, whose token is then found."""

    __slots__ = ("_delays", "_groups", "_read", "sitemaps")

    def __init__(self, lines: Iterable[str]) -> None:
        reader = _Reader(lines)
        self._read = reader.groups
        self._delays = reader.delays
        self._groups: dict[str, _Group] = {}
        self.sitemaps = tuple(reader.sitemaps)

    @classmethod
    def parse(cls, body: bytes) -> RobotsTxt:
        """Never fails: what can't be understood says nothing."""
        start = body[:MAX_BYTES]
        # Octets that are no UTF-8 stay themselves, so that a rule in another charset has the octets of its URLs.
        utf16 = start.startswith((b"\xff\xfe", b"\xfe\xff"))
        text = start.decode("utf-16", "replace") if utf16 else start.decode("utf-8", "surrogateescape")
        if len(body) > MAX_BYTES:
            text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
        return cls(_NEWLINE.split(text.lstrip("\ufeff").replace("\0", "")))

    def rule_against(self, url: str, agent: str) -> str | None:
        """None where the agent may fetch this normalised URL; else the rule that forbids it, as the file writes it:
        `Disallow: /private/* (line 7, User-agent: *)`, at most 300 printable characters."""
        paths = _settled_paths(url)
        if paths == ("/robots.txt",):
            return None
        group = self._groups.get(agent)
        if group is None:
            group = self._groups[agent] = _Group(self._rules_for(agent))
        rule = group.rule_against(paths)
        return None if rule is None else rule.words()

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds between two requests; None where the agent's group asks for none. Of several the longest."""
        delays = [delay for block in self._delays.get(self._group_name(agent), ()) for delay in block]
        return max(delays, default=None)

    def _group_name(self, agent: str) -> str:
        token = product_token(agent)
        return token if token in self._read else "*"

    def _rules_for(self, agent: str) -> Iterator[_Rule]:
        for written, block in self._read.get(self._group_name(agent), ()):
            for number, line in block:
                yield from _rules_of(number, line, written)


def product_token(agent: str) -> str:
    """The name, in lower case, that stands for `agent` in robots.txt; empty where there is none.

    https://www.rfc-editor.org/rfc/rfc9309#section-2.2.1
    """
    compatible = _COMPATIBLE.search(agent)
    if compatible is not None:
        return compatible[1].lower()
    token = _TOKEN.match(agent)
    return token[0].lower() if token is not None else ""


class _Reader:
    """Sorts lines by agent. Agents of one group share its list: a file can name ten thousand with as many rules."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.groups: dict[str, list[tuple[str, list[tuple[int, str]]]]] = {}
        """By product token: the agent as each of its groups writes it, and that group's numbered lines."""
        self.delays: dict[str, list[list[float]]] = {}
        self.sitemaps: dict[str, None] = {}
        self._start_rules()
        for number, line in enumerate(lines, 1):
            self._read(number, line.partition("#")[0].strip(_BLANKS))

    def _start_rules(self) -> None:
        self._rules: list[tuple[int, str]] = []
        self._rules_complete = False
        self._start_delays()

    def _start_delays(self) -> None:
        self._waits: list[float] = []
        self._waits_complete = False

    def _read(self, number: int, line: str) -> None:
        field, value = _directive(line)
        if field == "user-agent":
            self._name(value)
        elif field in ("allow", "disallow"):
            self._rules_complete = True
            if value:
                self._rules.append((number, line))
        elif field == "crawl-delay":
            # No rule of the RFC's: it must not part the names of a group, but counts for those above it only.
            self._waits_complete = True
            if _SECONDS.fullmatch(value):
                self._waits.append(float(value))
        elif field == "sitemap" and value and len(value) <= MAX_SITEMAP_URL and len(self.sitemaps) < MAX_SITEMAPS:
            self.sitemaps.setdefault(_readable(value))

    def _name(self, value: str) -> None:
        if self._rules_complete:
            self._start_rules()
        elif self._waits_complete:
            self._start_delays()
        token = "*" if value.split(maxsplit=1)[:1] == ["*"] else product_token(value)
        if not token:
            return
        groups, delays = self.groups.setdefault(token, []), self.delays.setdefault(token, [])
        if not groups or groups[-1][1] is not self._rules:
            groups.append((value, self._rules))
        if not delays or delays[-1] is not self._waits:
            delays.append(self._waits)


def _directive(line: str) -> tuple[str, str]:
    """The field by its right name, and the value; two empty strings for what says nothing here."""
    name, colon, value = line.partition(":")
    field = _FIELDS.get(name.strip().lower()) if colon else None
    if field is not None:
        return field, value.strip(_BLANKS)
    # As Google's parser does, for those who forget the colon.
    words = line.split(maxsplit=2)
    return (_FIELDS.get(words[0].lower(), ""), words[1]) if len(words) == 2 else ("", "")


class _Rule(NamedTuple):
    allow: bool
    octets: int
    """The length of its pattern; the longest rule that matches decides."""
    parts: tuple[str, ...]
    """The pattern, divided at its asterisks."""
    anchored: bool
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
        # The leftmost place for each part leaves most to the others: no other needs to be tried.
        for part in parts[1:-1]:
            position = path.find(part, position)
            if position < 0:
                return False
            position += len(part)
        if self.anchored:
            return len(path) - len(last) >= position and path.endswith(last)
        return path.find(last, position) >= 0

    def words(self) -> str:
        line = _shortened(" ".join(self.line[: 2 * MAX_RULE_WORDS].split()), MAX_RULE_WORDS)
        return f"{line} (line {self.number}, User-agent: {_shortened(self.agent, MAX_AGENT_WORDS)})"


class _Group:
    """One agent's rules, the one that decides first: https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2."""

    __slots__ = ("_other", "_prefixes", "_rules")

    def __init__(self, rules: Iterable[_Rule]) -> None:
        self._rules = sorted(rules, key=lambda rule: (-rule.octets, not rule.allow, rule.number))
        forbidding = [rule for rule in self._rules if not rule.allow]
        # Most URLs are allowed by no rule's matching, which is then seen at once.
        self._prefixes = tuple(rule.parts[0] for rule in forbidding if len(rule.parts) == 1 and not rule.anchored)
        self._other = [rule for rule in forbidding if len(rule.parts) > 1 or rule.anchored]

    def rule_against(self, paths: tuple[str, ...]) -> _Rule | None:
        """`paths`: all forms of one path."""
        for path in paths:
            if path.startswith(self._prefixes) or any(rule.matches(path) for rule in self._other):
                break
        else:
            return None
        rule = next(rule for rule in self._rules if any(map(rule.matches, paths)))
        return None if rule.allow else rule


def _rules_of(number: int, line: str, agent: str) -> Iterator[_Rule]:
    """The rule of a line, once for each form of its pattern."""
    field, pattern = _directive(line)
    anchored = pattern.endswith("$")
    # An asterisk becomes a line break, which no line has, before an escaped one becomes an asterisk.
    for form in _forms(_settled(pattern.removesuffix("$").replace("*", "\n"))):
        first, *others = form.split("\n")
        parts = (first, *filter(None, others[:-1]), *others[-1:])
        yield _Rule(field == "allow", len(form) + anchored, parts, anchored, number, line, agent)


def _settled_paths(url: str) -> tuple[str, ...]:
    """Path and query of a normalised URL in all forms in which they are compared."""
    path = url[len(origin_of(url)) :].partition("#")[0] or "/"
    if not path.isascii():
        path = path.encode("utf-8", "replace").decode()
    return _forms(_settled(path))


def _forms(text: str) -> tuple[str, ...]:
    """`text` as it is written, and with the divisions of its query decoded, if that is something else.

    Both, because in a pattern that reaches the query by an asterisk nothing tells where it begins.
    """
    if "%" not in text:
        return (text,)
    path, mark, query = text.partition("?")
    decoded = path + mark + query.replace("%2F", "/").replace("%3F", "?")
    return (text,) if decoded == text else (text, decoded)


def _settled(text: str) -> str:
    return _UNSETTLED.sub(_settle, text)


def _settle(found: re.Match[str]) -> str:
    octets = found[0]
    if octets[0] == "%":
        return _ESCAPES[octets.upper()]
    return "".join([f"%{octet:02X}" for octet in octets.encode("utf-8", "surrogateescape")])


def _readable(text: str) -> str:
    """`text` with replacement characters for octets that are no UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _shortened(text: str, length: int) -> str:
    text = printable(_readable(text[: length + 1]))
    return text if len(text) <= length else text[: length - 1] + "…"
