from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.hints import looks_like_script_shell
from tests.support.reading_page import page

SENTENCE = "A paragraph that a visitor can read. "


@pytest.mark.parametrize(
    "markup",
    [
        "<head><title>App</title><script type=module src=/app.js></script></head><body><div id=root></div></body>",
        "<body><div id=app>Loading…</div><noscript>You need to enable JavaScript. " + SENTENCE * 20 + "</noscript>"
        "<script src=a.js></script><script>" + SENTENCE * 20 + "</script></body>",
        "<body><noscript><p>" + SENTENCE * 20 + "</p></noscript><div id=root></div><script src=a.js></script>",
        "<body><a href='#main'>Skip</a><a>x</a><a href=/privacy>Privacy</a><div id=root></div><script src=a></script>",
        "<body><style>" + SENTENCE * 20 + "</style><div id=root></div><script src=a></script>",
        "<head><script src=a></script></head>",
    ],
)
def test_shells(markup):
    assert looks_like_script_shell(page(markup))


@pytest.mark.parametrize(
    "markup",
    [
        "<body><div id=root></div>",
        "<body><p>" + SENTENCE * 20 + "</p><script src=a></script>",
        "<body>" + "<div><b>word</b> and more</div>" * 30 + "<script src=a></script>",
        "<body><script src=a></script>" + SENTENCE * 20,
        "<body>" + "".join(f"<a href=/{n}>{n}</a>" for n in range(4)) + "<script src=a></script>",
        "<head><script src=a></script></head><frameset><frame src=x></frameset>",
        "<body><iframe src=x></iframe><script src=a></script>",
    ],
)
def test_pages(markup):
    assert not looks_like_script_shell(page(markup))


@given(st.binary(max_size=200))
def test_never_raises(body):
    looks_like_script_shell(page(b"<script src=a></script>" + body))
