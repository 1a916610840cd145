"""What a page shows of its scripts: which ones it has, and how much it holds without them."""

from __future__ import annotations

import re
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sitemap_crawler.extract.content.fingerprint import read_main_content
from sitemap_crawler.extract.diagnostics import looks_like_script_shell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

    from sitemap_crawler.extract.document import Document

MAX_SCRIPTS = 200
"""Maximum number of scripts of one page that are considered."""
MAX_INLINE = 20_000
"""Maximum number of characters of an inline script that are considered."""
SET_BYTES = 8
"""Size of the hash of a script set."""

# https://html.spec.whatwg.org/multipage/scripting.html#attr-script-type: any other type is data, which does not run.
_SCRIPT_TYPE = re.compile(r"(?:(?:text|application)/(?:x-)?(?:javascript|ecmascript)|module)?\Z", re.IGNORECASE)
# A text or comment without its end takes the rest, so that each character is read once.
_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"\\\n]++|\\.)*+"?+|'(?:[^'\\\n]++|\\.)*+'?+|`(?:[^`\\]++|\\.)*+`?+)
    |(?P<comment>//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?+)
    |(?P<number>[0-9][\w.]*+)
    |(?P<name>[^\W\d][\w$]*+|\$[\w$]*+)
    |(?P<open>[\[{])|(?P<close>[\]}])
    |\s++|(?P<sign>.)""",
    re.DOTALL | re.VERBOSE,
)
_BEFORE_VALUE = frozenset("=(,:[?&|!+")
"""Signs after which a bracket begins a value, and neither a block nor an index."""


class ScriptFacts(NamedTuple):
    """The facts by which a page is rendered or not."""

    scripts: bytes
    """Hash of the set of scripts; empty for a page without scripts."""
    is_shell: bool
    """Whether the page has hardly any text or links without its scripts."""
    text_bytes: int
    """Number of bytes of the main text, without white space."""
    charset: str
    """The Python codec that decoded the page."""


def script_facts(document: Document) -> ScriptFacts:
    """Return the facts about the scripts of a page."""
    names = sorted(set(_script_names(document)))
    digest = blake2b("\n".join(names).encode(errors="replace"), digest_size=SET_BYTES).digest() if names else b""
    shell = bool(names) and looks_like_script_shell(document)
    return ScriptFacts(digest, shell, len(read_main_content(document).text), document.charset)


def code_skeleton(code: str) -> str:
    """Return inline code without its data: strings, numbers, comments, lists and objects.

    Pages of one template often differ in nothing else. The code is read up to MAX_INLINE characters.
    """
    kept: list[str] = []
    depth, last = 0, "="
    for token in _TOKEN.finditer(code, 0, MAX_INLINE):
        kind, value = token.lastgroup, token[0]
        if kind is None or kind == "comment":
            continue
        if depth:
            depth += (kind == "open") - (kind == "close")
            continue
        if kind == "open" and (last in _BEFORE_VALUE or last == "return"):
            depth = 1
            last = value
            continue
        if kind in ("text", "number"):
            last = ""
            continue
        if kind == "name" and kept and (kept[-1][-1:].isalnum()):
            kept.append(" ")
        kept.append(value)
        last = value
    return "".join(kept)


def _script_names(document: Document) -> Iterator[str]:
    """Yield the address of each script without its query, or the skeleton of its code."""
    for script in islice(filter(_runs, document.all("script")), MAX_SCRIPTS):
        source = script.get("src")
        if source:
            address = document.resolve(source) or source
            yield address.partition("#")[0].partition("?")[0]
        elif script.text and not script.text.isspace():
            yield code_skeleton(script.text)


def _runs(script: etree._Element) -> bool:
    return _SCRIPT_TYPE.match((script.get("type") or "").strip()) is not None
