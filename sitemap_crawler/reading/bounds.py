"""What must not reach the parser: a tag with so many attributes that libxml2 is busy with it for hours.

It appends each attribute at the end of a linked list, so the time grows with the square of their number: 64,000 take
5 s, a body of 15 MB made of them most of a day.
"""

from __future__ import annotations

import re

MAX_ATTRIBUTES = 5_000  # of one tag; the largest real ones have some dozens
_HARMLESS = 131_072  # bytes; no tag in such a short body takes longer than 1.5 s

# Consumes markup up to a tag with too many attributes. Every alternative is possessive and consumes each byte once.
_BOUNDED = re.compile(
    rb"""(?: [^<]++
    | <(?![a-zA-Z!])
    | <!--(?: [^-]++ | -(?!->) )*+
    | <!
    | <[sS][cC][rR][iI][pP][tT]\b(?: [^<]++ | <(?!/[sS][cC][rR][iI][pP][tT]) )*+
    | <[sS][tT][yY][lL][eE]\b(?: [^<]++ | <(?!/[sS][tT][yY][lL][eE]) )*+
    | <[a-zA-Z][^\s/>]*+
      (?: [\s/]*+ [^\s/>][^\s/>=]*+ (?: \s*+=\s*+ (?: "[^"]*+" | '[^']*+' | [^\s>"'][^\s>]*+ )?+ )?+ ){0,%d}+
      (?! [\s/]*+ [^\s/>] )
    )*+"""
    % MAX_ATTRIBUTES,
    re.VERBOSE,
)


def without_attribute_flood(body: bytes) -> bytes:
    """Return the body up to the first tag with more than MAX_ATTRIBUTES attributes: nearly always all of it."""
    if len(body) <= _HARMLESS:
        return body
    bounded = _BOUNDED.match(body)
    return body[: bounded.end()] if bounded else body
