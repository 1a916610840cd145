"""Foreign sitemaps, intact, damaged and hostile: the readable part counts, and hostile files cost no time or memory."""

from __future__ import annotations

import gzip
import tracemalloc
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.sitemaps import PIECE_BYTES, read_sitemap

MIB = 1_048_576
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
A, B = "http://example.com/a", "http://example.com/b"
ENTRY_A, ENTRY_B = f"<url><loc>{A}</loc></url>", f"<url><loc>{B}</loc></url>"
BOTH = ENTRY_A + ENTRY_B
COMMENT = f"<!--{' ' * 10_000}-->"
URLSET = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NAMESPACE}>{BOTH}</urlset>'


def read(body: str | bytes) -> tuple[bool, list[str], str | None] | None:
    """Return whether the file is an index, its URLs, and its damage."""
    file = read_sitemap(body.encode() if isinstance(body, str) else body)
    return None if file is None else (file.is_index, [named.loc for named in chain.from_iterable(file)], file.damage)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(URLSET, id="as the protocol has it"),
        pytest.param(f"<urlset>{BOTH}</urlset>", id="no namespace, no declaration"),
        pytest.param(f'<urlset xmlns="https://example.com/other">{BOTH}</urlset>', id="another namespace"),
        pytest.param(
            f'<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url><s:loc>{A}</s:loc></s:url>'
            f"<s:url><s:loc>{B}</s:loc></s:url></s:urlset>",
            id="prefixes",
        ),
        pytest.param(f"<urlset>{BOTH}</urlset>".replace(">", " \n>"), id="space in tags"),
        pytest.param(f"<urlset>{BOTH}</urlset>".replace("http", "\n\t http"), id="space around URLs"),
        pytest.param("\n \r\n\t" + URLSET, id="white space before"),
        pytest.param("\ufeff" + URLSET, id="byte order mark"),
        pytest.param(" \ufeff" + URLSET, id="byte order mark after white space"),
        pytest.param(URLSET + "\n<!-- end --> text", id="something after"),
        pytest.param(
            f'<?xml-stylesheet href="?>a.xsl"?><!-- <urlset> --><urlset>{BOTH}</urlset>', id="before the root"
        ),
        pytest.param(f"<urlset><!-- <url><loc>http://x/</loc></url> -->{BOTH}</urlset>", id="comment"),
        pytest.param(f"<urlset><?php echo '<url><loc>http://x/</loc></url>' ?>{BOTH}</urlset>", id="instruction"),
        pytest.param(f"<urlset><url><loc><![CDATA[{A}]]></loc></url>{ENTRY_B}</urlset>", id="CDATA"),
        pytest.param(f"<urlset><url><lastmod>2024</lastmod><loc>{A}</loc></url>{ENTRY_B}</urlset>", id="order"),
        pytest.param(f'<!DOCTYPE urlset SYSTEM "http://127.0.0.1:9/x.dtd"><urlset>{BOTH}</urlset>', id="DOCTYPE"),
        pytest.param(f'<!DOCTYPE urlset [<!ENTITY e "x">\n]><urlset>{BOTH}</urlset>', id="DOCTYPE with entity"),
        pytest.param(f"<urlset><url><loc>{A}</url>{ENTRY_B}</urlset>", id="end tag forgotten"),
        pytest.param(f"<urlset><url><loc>{A}</loc>{ENTRY_B}</urlset>", id="end of entry forgotten"),
        pytest.param(f"<urlset><url x=1><loc>{A}</loc></b></url>{ENTRY_B}</urlset>", id="not well-formed"),
        pytest.param(f"<urlset><url/><url><loc/></url><url><loc> </loc></url>{BOTH}</urlset>", id="empty ones"),
        pytest.param(f"<urlset><url><loc>http://x/<b>c</b></loc></url>{BOTH}</urlset>", id="markup in a URL"),
        pytest.param(f"<urlset><url><loc>http://x/{'a' * 9_000}</loc></url>{BOTH}</urlset>", id="a URL too long"),
        pytest.param(
            f"<urlset><url><loc>{A}</loc><image:image><image:loc>http://x/i.png</image:loc></image:image>"
            f'<xhtml:link rel="alternate" href="http://x/"/></url>{ENTRY_B}</urlset>',
            id="images and alternates are no pages, nor need their prefixes be declared",
        ),
        pytest.param(
            f'<rss version="2.0"><channel><link>http://x/</link><item><link>{A}</link></item>'
            f"<item><title>T</title><link><![CDATA[{B}]]></link><description><link>http://x/</link></description></item>"
            "</channel></rss>",
            id="RSS",
        ),
        pytest.param(
            '<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://x/"/>'
            f'<entry><link href="{A}"/><link rel="enclosure" href="http://x/a.mp3"/></entry>'
            f"<entry><link title='T' rel = 'alternate' href = '{B}' ></link></entry></feed>",
            id="Atom",
        ),
        pytest.param(f"{A}\n{B}\n", id="text"),
        pytest.param(f"\ufeff\r\n{A}\r\n\r\n  {B}  ", id="text with BOM, CRLF and space"),
        pytest.param(f"{A}\nhttp://x/{'a' * 9_000}\n{B}", id="text with a line too long"),
    ],
)
@pytest.mark.parametrize("form", ["plain", "gzip", "members", "utf-16"])
def test_urls_are_read(body: str, form: str) -> None:
    data = body.encode()
    forms = {
        "plain": data,
        "gzip": gzip.compress(data),
        "members": gzip.compress(data[:40]) + gzip.compress(data[40:]) + b"\0" * 512,
        "utf-16": body.lstrip().encode("utf-16"),
    }
    assert read(forms[form]) == (False, [A, B], None)


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("http://x/?a=1&amp;b=2", "http://x/?a=1&b=2"),
        ("http://x/?a=1&b=2", "http://x/?a=1&b=2"),
        ("http://x/?a=1&copy=2&lt", "http://x/?a=1&copy=2&lt"),
        ("http://x/&lt;&gt;&quot;&apos;", "http://x/<>\"'"),
        ("http://x/&#38;&#x2f;&#xE9;", "http://x/&/é"),
        ("http://x/&#xD800;&#x110000;", "http://x/\ufffd\ufffd"),
        ("http://x/&amp;amp;", "http://x/&amp;"),
        ("http://x/&eacute;", "http://x/&eacute;"),
        ("<![CDATA[http://x/?a=1&b=2&amp;c]]>", "http://x/?a=1&b=2&amp;c"),
        ("http://x/?a=1&amp;<![CDATA[b&c]]>", "http://x/?a=1&b&c"),
        ("http://x/a b", "http://x/a b"),
        ("http://x/a < b", "http://x/a < b"),
        ("/relative", "/relative"),
    ],
)
def test_urls_are_as_written(written: str, url: str) -> None:
    assert read(f"<urlset><url><loc>{written}</loc></url>{ENTRY_A}</urlset>") == (False, [url, A], None)


def test_every_entry_is_found_wherever_pieces_end() -> None:
    # Any part of the file may stand at the border of two pieces.
    entry = "<url><loc><![CDATA[http://x/]]>?a&amp;b=é</loc><!-- c --></url>"
    for spaces in range(PIECE_BYTES - len("<urlset>") - len(entry) - 2, PIECE_BYTES):
        found = read(f"<urlset>{' ' * spaces}{entry * 2}</urlset>")
        assert found == (False, ["http://x/?a&b=é"] * 2, None)


@pytest.mark.parametrize(
    ("body", "index"),
    [
        (f"<sitemapindex><sitemap><loc>{A}</loc></sitemap></sitemapindex>", True),
        (f"<s:sitemapindex xmlns:s='x'><s:sitemap>\n<s:loc>{A}</s:loc></s:sitemap></s:sitemapindex>", True),
        (f"<urlset>{ENTRY_A}<sitemap><loc>{B}</loc></sitemap></urlset>", False),
        (f"<sitemapindex>{ENTRY_B}<sitemap><loc>{A}</loc></sitemap></sitemapindex>", True),
    ],
)
def test_the_root_decides_whether_a_file_is_an_index(body: str, index: bool) -> None:
    assert read(body) == (index, [A], None)


@pytest.mark.parametrize(
    ("body", "urls"),
    [("<urlset/>", []), (f"<urlset {NAMESPACE}></urlset>", []), ("<urlset><!-- none --></urlset>", [])],
)
def test_an_empty_sitemap_is_a_sitemap(body: str, urls: list[str]) -> None:
    assert read(body) == (False, urls, None)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("", id="nothing"),
        pytest.param(" \n", id="white space"),
        pytest.param(f"<!DOCTYPE html><html><body><a href='{A}'>A</a></body></html>", id="HTML"),
        pytest.param(f"<html xmlns='http://www.w3.org/1999/xhtml'><urlset>{BOTH}</urlset></html>", id="XHTML"),
        pytest.param("<!-- nothing else -->", id="comment"),
        pytest.param("<!-- never ends <urlset>", id="open comment"),
        pytest.param("<", id="one character"),
        pytest.param("Not found", id="words"),
        pytest.param(f"See {A}", id="words with a URL"),
        pytest.param('{"urls": []}', id="JSON"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + bytes(range(256)), id="image"),
        pytest.param(b"\x1f\x8b\x08", id="only the beginning of a gzip file"),
        pytest.param(b"\x1f\x8bgarbage", id="no gzip file"),
        pytest.param(gzip.compress(gzip.compress(URLSET.encode())), id="gzip in gzip"),
    ],
)
def test_other_files_are_no_sitemaps(body: str | bytes) -> None:
    assert read(body) is None


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "windows-1252", "utf-16", "utf-16-le", "utf-16-be", "Shift_JIS"])
def test_charsets(encoding: str) -> None:
    word = "東京" if encoding == "Shift_JIS" else "é"
    body = f'<?xml version="1.0" encoding="{encoding}"?><urlset><url><loc>http://x/{word}</loc></url></urlset>'
    assert read(body.encode(encoding)) == (False, [f"http://x/{word}"], None)


def test_bytes_in_another_charset_than_declared() -> None:
    body = b"<urlset><url><loc>http://x/\xe9</loc></url></urlset>"
    assert read(body) == (False, ["http://x/é"], None)
    # The format at the beginning applies to the whole file.
    late = f"<urlset><url><loc>http://x/é</loc></url>{' ' * PIECE_BYTES}".encode() + body[8:]
    assert read(late) == (False, ["http://x/é", "http://x/\ufffd"], None)


@pytest.mark.parametrize(
    ("body", "damage"),
    [
        pytest.param(f"<urlset>{BOTH}<url><loc>http://x/", "is XML that ends too early", id="cut off"),
        pytest.param(f"<urlset>{BOTH}<!-- <url><loc>http://x/</loc>", "is XML that ends too early", id="in a comment"),
        pytest.param(
            f"<urlset>{BOTH}<a {'b' * 2 * MIB}>",
            "has a tag, comment or text of more than 1,048,576 characters",
            id="an endless tag",
        ),
        pytest.param(gzip.compress(URLSET.encode())[:-12], "is a gzip file that ends too early", id="cut gzip"),
        pytest.param(gzip.compress(URLSET.encode()) + b"garbage", "is a damaged gzip file", id="garbage after gzip"),
        pytest.param(
            gzip.compress(f"<urlset>{BOTH}".encode()) + gzip.compress(COMMENT.encode()) * 6_000,
            "has more than 52,428,800 bytes",
            id="too large",
        ),
    ],
)
def test_entries_before_the_damage_are_kept(body: str | bytes, damage: str) -> None:
    assert read(body) == (False, [A, B], damage)


@pytest.mark.parametrize(
    "body",
    [
        f"<urlset>{''.join(f'<url><loc>{{{n}}}</loc></url>' for n in (0, 1, 1, 2))}</urlset>",
        f"<feed>{''.join(f'<entry><link href={{{n}!r}}/></entry>' for n in (0, 1, 1, 2))}</feed>",
        "{0}\n{1}\n {1} \n{2}",
        "{0}\n{2}\n{1}\n{1}",
    ],
)
def test_entries_that_are_too_long_are_counted(body: str) -> None:
    longest = f"http://x/{'a' * 8_183}"
    file = read_sitemap(body.format(A, longest + "a", longest).encode())
    assert file is not None
    assert [named.loc for named in chain.from_iterable(file)] == [A, longest]
    assert file.too_long == 2


@pytest.mark.parametrize("before", ["", "  ", " " * 20_000])
@pytest.mark.parametrize(
    ("characters", "after", "is_too_long"),
    [
        (8_192, "", False),
        (8_192, " " * 20_000, False),
        (8_193, "", True),
        (8_193, " " * 20_000, True),
        (8_100, f"{' ' * 20_000}b", True),
        (8_192, " b", True),
        (100, f"{' ' * 20_000}b", True),
    ],
)
def test_blanks_of_a_line_that_is_read_in_pieces_do_not_count(
    before: str, characters: int, after: str, is_too_long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"http://x/{'a' * (characters - 9)}"
    body = f"{A}\n{before}{url}{after}\n{B}".encode()
    for size in (7, 10_000):
        monkeypatch.setattr("sitemap_crawler.extract.sitemaps.PIECE_BYTES", size)
        file = read_sitemap(body)
        assert file is not None
        assert [named.loc for named in chain.from_iterable(file)] == ([A, B] if is_too_long else [A, url, B])
        assert file.too_long == int(is_too_long)


def test_more_entries_than_a_sitemap_may_have() -> None:
    found = read("<urlset>" + ENTRY_A * 60_000 + "</urlset>")
    assert found is not None
    assert len(found[1]) == 60_000


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("doctype", "reference"),
    [
        (f'[<!ENTITY l0 "lol">{LAUGHS}]', "&l9;"),
        ('[<!ENTITY l9 SYSTEM "file:///etc/passwd">]', "&l9;"),
        ('[<!ENTITY % l9 SYSTEM "http://127.0.0.1:9/"> %l9; ]', "&l9;"),
        ('[<!ENTITY amp "http://x/">]', "&l9;&amp;"),
    ],
)
def test_entities_are_never_expanded(doctype: str, reference: str) -> None:
    written = "http://x/" + reference
    body = f"<?xml version='1.0'?><!DOCTYPE urlset {doctype}><urlset><url><loc>{written}</loc></url>{ENTRY_A}</urlset>"
    assert read(body) == (False, [written.replace("&amp;", "&"), A], None)


@pytest.mark.parametrize(
    ("start", "unit", "urls"),
    [
        ("", "\0", None),
        ("", " ", None),
        ("<urlset", "x", None),
        ("<urlset ", "a='b' ", None),
        ("<urlset>", f"<a b='{'c' * 1_000}'>", []),
        ("<!DOCTYPE urlset [", f"<!ENTITY a '{'c' * 1_000}'>", None),
        ("<urlset>" + ENTRY_A, "<!--", [A]),
        ("<urlset>" + ENTRY_A, "<", [A]),
        ("<urlset><url><loc>http://x/", f"<![CDATA[{'y' * 1_000}]]>", []),
        ("<feed><entry>", "<link href='", []),
        (f"<urlset><url><loc>{A}</loc>", f"<link rel='alternate' hreflang='{'e' * 999}' href='/{'x' * 8_000}'/>", [A]),
        (f"<urlset><url><loc>{A}</loc>", "<link hreflang ", [A]),
        (A + "\n", " " * 99 + "\n", [A]),
        ("http://", "h", []),
    ],
)
def test_decompression_bombs_take_little_memory(start: str, unit: str, urls: list[str] | None) -> None:
    # A gigabyte, in members of one megabyte.
    body = gzip.compress(start.encode()) + gzip.compress((unit * (MIB // len(unit))).encode()) * 1_000
    assert len(body) < 20 * MIB
    tracemalloc.start()
    try:
        found = read(body)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (None if found is None else found[1]) == urls
    assert peak < 20 * MIB


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    for start in (b"", b"<urlset><url><loc>", b"http://", b"\x1f\x8b\x08\0\0\0\0\0\0\x03"):
        read(start + data)


@given(st.text(alphabet="<>/!?[]-&;:\"'= \naloc", max_size=60), st.integers(0, 60))
def test_a_broken_entry_leaves_the_entries_before_it(garbage: str, cut: int) -> None:
    body = f"<urlset>{ENTRY_A}{garbage}{ENTRY_B[:cut]}"
    found = read(body)
    assert found is not None
    assert found[1][:1] == [A]


def link(code: str, url: str, *, rel: str = "alternate") -> str:
    return f'<xhtml:link rel="{rel}" hreflang="{code}" href="{url}"/>'


def versions(body: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return each URL with its language versions."""
    file = read_sitemap(body.encode())
    assert file is not None
    return [(named.loc, list(named.alternates)) for named in chain.from_iterable(file)]


LINK_A, LINK_B = link("en", A), link("de", B)
PAIR = [("en", A), ("de", B)]


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        pytest.param(LINK_A + LINK_B, PAIR, id="as it should be"),
        pytest.param("", [], id="none"),
        pytest.param(f"<xhtml:link hreflang='en' href='{A}' rel='alternate' />{LINK_B}", PAIR, id="order and quotes"),
        pytest.param(LINK_A.replace("xhtml:", "") + LINK_B.replace("xhtml", "x"), PAIR, id="other prefixes"),
        pytest.param(LINK_A.replace(" ", "\n\t") + LINK_B.replace("=", " = "), PAIR, id="white space"),
        pytest.param(LINK_A.replace("/>", "></xhtml:link>") + LINK_B, PAIR, id="end tags"),
        pytest.param(link("en", A, rel="Alternate nofollow") + LINK_B, PAIR, id="more words"),
        pytest.param(link(" en ", f" {A}\n") + LINK_B, PAIR, id="space in values"),
        pytest.param(f"<!-- {link('fr', 'http://x/')} -->{LINK_A}{LINK_B}", PAIR, id="comment"),
        pytest.param(f"<![CDATA[{link('fr', 'http://x/')}]]>{LINK_A}{LINK_B}", PAIR, id="CDATA"),
        pytest.param(LINK_A + LINK_A + LINK_B, [PAIR[0], *PAIR], id="twice"),
        pytest.param(link("en", "http://x/?a=1&amp;b=2&c"), [("en", "http://x/?a=1&b=2&c")], id="references"),
        pytest.param(link("&#101;n", "&lt;&quot;"), [("en", '<"')], id="more references"),
        pytest.param(link("en_GB", "/relative"), [("en_GB", "/relative")], id="as written, whatever that is"),
        pytest.param(link("en", A).replace("alternate", "canonical"), [], id="another relation"),
        pytest.param(link("en", A).replace('rel="alternate" ', ""), [], id="no relation"),
        pytest.param(link("en", A).replace('hreflang="en" ', ""), [], id="no language"),
        pytest.param(link("", A) + link("en", "") + link(" ", A), [], id="empty values"),
        pytest.param('<xhtml:link rel="alternate" hreflang="en"/>', [], id="no URL"),
        pytest.param(f"<xhtml:link rel=alternate hreflang=en href={A} />", [], id="no quotes"),
        pytest.param(
            link("en", A).replace("rel=", 'media="only screen and (max-width: 640px)" rel='), [], id="for telephones"
        ),
        pytest.param(f"<image:image>{LINK_A}</image:image>{LINK_B}", [PAIR[1]], id="in another element"),
        pytest.param(link("en", f"http://x/{'a' * 9_000}") + LINK_B, [PAIR[1]], id="a URL too long"),
        pytest.param(link("e" * 10_000, A), [("e" * 41, A)], id="a code too long"),
        pytest.param(
            "".join(link("en", f"{A}{number}") for number in range(600)),
            [("en", f"{A}{number}") for number in range(500)],
            id="too many",
        ),
    ],
)
@pytest.mark.parametrize("form", ["<loc>{loc}</loc>{links}", "{links}<lastmod>2024</lastmod><loc>{loc}</loc>"])
def test_language_versions(links: str, expected: list[tuple[str, str]], form: str) -> None:
    body = f"<urlset><url>{form.format(loc=A, links=links)}</url>{ENTRY_B}</urlset>"
    assert versions(body) == [(A, expected), (B, [])]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            f"<urlset>{LINK_A}<url><loc>{A}</loc></url>{LINK_B}<url><loc>{B}</loc>{LINK_A}</url></urlset>",
            [(A, []), (B, [PAIR[0]])],
            id="between entries",
        ),
        pytest.param(
            f"<urlset><url>{LINK_A}</url><url>{LINK_B}<loc/></url>{ENTRY_A}</urlset>", [(A, [])], id="without a URL"
        ),
        pytest.param(
            f"<urlset><url>{LINK_A}<loc>http://x/{'a' * 9_000}</loc></url>{ENTRY_A}</urlset>",
            [(A, [])],
            id="of a URL too long",
        ),
        pytest.param(
            f"<urlset><url>{LINK_A}<loc>{A}</loc><url>{LINK_B}<loc>{B}</loc></url></urlset>",
            [(A, [PAIR[0]]), (B, [PAIR[1]])],
            id="end of entry forgotten",
        ),
        pytest.param(
            f"<urlset><url><loc>{A}</loc>{LINK_A}<loc>{B}</loc>{LINK_B}</url></urlset>",
            [(A, [PAIR[0]]), (B, [PAIR[1]])],
            id="two URLs of one entry",
        ),
        pytest.param(f"<urlset><url><loc>{A}</loc>{LINK_A}{LINK_B}", [(A, PAIR)], id="cut off"),
        pytest.param(f"<urlset><url><loc>{A}</loc>{LINK_A}<xhtml:link rel='alt", [(A, [PAIR[0]])], id="cut in a link"),
        pytest.param(f"<urlset><url>{LINK_A}<loc>http://x", [], id="cut in a URL"),
        pytest.param(
            f"<sitemapindex><sitemap><loc>{A}</loc>{LINK_A}</sitemap></sitemapindex>", [(A, [])], id="of an index"
        ),
        pytest.param(
            f'<feed><entry><link href="{A}" hreflang="en"/>{LINK_B}</entry></feed>', [(A, []), (B, [])], id="of a feed"
        ),
        pytest.param(f"{A}\n{B}", [(A, []), (B, [])], id="text"),
    ],
)
def test_language_versions_belong_to_one_entry(body: str, expected: list[tuple[str, list[tuple[str, str]]]]) -> None:
    assert versions(body) == expected


def test_every_language_version_is_found_wherever_pieces_end() -> None:
    entry = f"<url><loc>{A}</loc>{link('x-default', 'http://x/?a&amp;b=é')}</url>"
    for spaces in range(PIECE_BYTES - len("<urlset>") - len(entry) - 2, PIECE_BYTES, 3):
        assert versions(f"<urlset>{' ' * spaces}{entry * 2}</urlset>") == [(A, [("x-default", "http://x/?a&b=é")])] * 2


@given(st.text(alphabet="<>/!?[]-&;:\"'= \nalocurhefng", max_size=60))
def test_garbage_leaves_the_language_versions_before_it(garbage: str) -> None:
    found = versions(f"<urlset><url><loc>{A}</loc>{LINK_A}</url>{garbage}{ENTRY_B}")
    assert found[:1] == [(A, [PAIR[0]])]


def dates(body: str) -> list[tuple[str, str | None]]:
    file = read_sitemap(body.encode())
    assert file is not None
    return [(entry.loc, entry.lastmod) for entry in chain.from_iterable(file)]


MAY = "2024-05-01T10:15:00+02:00"
DATED = [
    (f"<urlset><url><loc>{A}</loc><lastmod>{MAY}</lastmod></url><url><loc>{B}</loc></url></urlset>", [MAY, None]),
    (f"<urlset><url><lastmod>\n{MAY} </lastmod><loc>{A}</loc></url><url><loc>{B}</loc></url></urlset>", [MAY, None]),
    (f"<s:urlset><s:url><s:loc>{A}</s:loc><s:lastmod><![CDATA[{MAY}]]></s:lastmod></s:url><url><loc>{B}", [MAY]),
    # Dates outside of entries, of other elements, and of entries without a URL
    (f"<urlset><lastmod>{MAY}</lastmod><url><loc>{A}</loc></url><url><loc>{B}</loc></url></urlset>", [None, None]),
    (f"<urlset><url><lastmod>{MAY}</lastmod></url><url><loc>{A}</loc></url></urlset>", [None]),
    (f"<urlset><url><loc>{A}</loc><news><lastmod>{MAY}</lastmod></news></url></urlset>", [None]),
    (f"<urlset><url><loc>{A}</loc><lastmod/></url></urlset>", [None]),
    (f"<urlset><url><loc>{A}</loc><lastmod>{MAY}</lastmod><lastmod>{MAY[:10]}</lastmod></url></urlset>", [MAY[:10]]),
    # Not closed: the next entry has no date of this one.
    (f"<urlset><url><loc>{A}</loc><lastmod>{MAY}</lastmod><url><loc>{B}</loc></url></urlset>", [MAY, None]),
    (f"<urlset><url><loc>{A}</loc><lastmod>{MAY}</lastmod><loc>{B}</loc></url></urlset>", [MAY, None]),
    # The date of a sitemap is that of no page.
    (f"<sitemapindex><sitemap><loc>{A}</loc><lastmod>{MAY}</lastmod></sitemap></sitemapindex>", [None]),
    # Feeds: only `updated` is a date of modification.
    (
        f"<feed><updated>{MAY}</updated><entry><link href='{A}'/><published>{MAY}</published></entry></feed>",
        [None],
    ),
    (f"<feed><entry><published>x</published><updated>{MAY}</updated><link href='{A}'/></entry></feed>", [MAY]),
    (f"<feed><entry><link href='{A}'/><updated>{MAY}</updated></entry><entry><link href='{B}'/></entry>", [MAY, None]),
    (f"<feed><entry><link href='{A}'/><source><updated>{MAY}</updated></source></entry></feed>", [None]),
    (f"<rss><channel><item><link>{A}</link><pubDate>{MAY}</pubDate></item></channel></rss>", [None]),
    (f"{A}\n{B}", [None, None]),
]


@pytest.mark.parametrize(("body", "expected"), DATED)
def test_dates_of_entries(body: str, expected: list[str | None]) -> None:
    assert dates(body) == list(zip([A, B], expected, strict=False))


def test_every_date_is_found_wherever_pieces_end() -> None:
    entry = f"<url><loc>{A}</loc><lastmod>{MAY}</lastmod></url>"
    for spaces in range(PIECE_BYTES - len("<urlset>") - len(entry) - 2, PIECE_BYTES, 3):
        assert dates(f"<urlset>{' ' * spaces}{entry * 2}</urlset>") == [(A, MAY)] * 2


def test_long_dates_are_cut() -> None:
    [(_, date)] = dates(f"<urlset><url><loc>{A}</loc><lastmod>{'1' * 50_000}</lastmod></url></urlset>")
    assert date is not None
    assert len(date) <= 100
