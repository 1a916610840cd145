"""What forums and content managers say on a page about its visitors: numbers that change with each request."""

from __future__ import annotations

import re
from itertools import islice

_END_BYTES = 1_500  # at the beginning and at the end of the text: to read all of it costs more
_BEFORE_BYTES, _AFTER_BYTES = 100, 40  # around the word for guests
_MAX_STATEMENTS = 20  # of either end; real ones have one or two

_MARKS = (b"guest", b"Guest", b"G\xc3\xa4ste", b"Gast")
_GUESTS = re.compile(rb"[Gg]uest|G(?:\xc3\xa4ste|ast)")
# A page about other guests, such as those of a hotel, has none of these words beside them.
_CONTEXT = (b"nline", b"iewing", b"rowsing", b"ember", b"egistered", b"itglied")
_NUMBER = rb"[0-9]++(?:[.,'][0-9]{3})*+"
_VISITORS = re.compile(
    rb"(?i:(?:(?<![0-9])(?<![0-9][.,'])%s|one|no|eine?|keine?)(?:(?:registered|hidden|anonymous)(?:users?|members?)?"
    rb"|(?:guest|member|user|visitor|robot|bot|spider)(?:\(s\)|s)?"
    rb"|g\xc3\xa4ste|gast|mitglied(?:er)?|besucher|benutzer)"
    rb"|(?:guests|members|robots|total|users):%s)" % (_NUMBER, _NUMBER)
)


def without_visitors(text: bytes) -> bytes:
    """Return a text without white space and without the numbers of visitors, such as "2 members and 1 guest".

    They are known in English and in German, near the beginning and the end, and if guests are among them.
    """
    if len(text) <= 2 * _END_BYTES:
        return _without_statements(text)
    beginning, end = text[:_END_BYTES], text[-_END_BYTES:]
    stable = _without_statements(beginning), _without_statements(end)
    if stable == (beginning, end):
        return text
    return b"".join((stable[0], text[_END_BYTES:-_END_BYTES], stable[1]))


def _without_statements(text: bytes) -> bytes:
    if not any(mark in text for mark in _MARKS):
        return text
    parts: list[bytes] = []
    end = 0
    for guests in islice(_GUESTS.finditer(text), _MAX_STATEMENTS):
        start = max(end, guests.start() - _BEFORE_BYTES)
        statement = text[start : max(start, guests.end() + _AFTER_BYTES)]
        if any(word in statement for word in _CONTEXT):
            parts += (text[end:start], _VISITORS.sub(b"", statement))
            end = start + len(statement)
    parts.append(text[end:])
    return b"".join(parts)
