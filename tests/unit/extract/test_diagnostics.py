"""Error pages with status 200, by titles and headings as sites and their software write them; script shells."""

# ruff: noqa: RUF001 - titles in other languages
from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.extract.diagnostics import error_text, looks_like_script_shell
from tests.support.reading_page import page

ERRORS = [
    "404",
    "404 Not Found",
    "404 - Not Found",
    "(404) Not found",
    "Not found",
    "NOT FOUND",
    "Not Found.",
    "Page not found",
    "Page Not Found!",
    "Page not found (404)",
    "404: Page not found",
    "404 | Page not found | Acme",
    "Error 404",
    "Error 404 - Acme Ltd",
    "404 Error",
    "HTTP 404 Not Found",
    "HTTP Status 404 – Not Found",  # Tomcat
    "HTTP Error 404 - File or directory not found",  # IIS
    "404 - File or directory not found.",  # IIS
    "Object not found!",  # XAMPP
    "404: This page could not be found.",  # Next.js
    "Page not found · GitHub",
    "File not found",
    "File Not Found – Acme",
    "This page doesn't exist",
    "This page doesn’t exist.",
    "This page does not exist",
    "Page no longer exists",
    "Hmm...this page doesn’t exist",
    "Oops! That page can't be found",
    "Oops! That page can’t be found.",  # WordPress
    "Oops! That page doesn’t exist or is private.",  # Discourse
    "Page not found – My Blog",
    "My Blog » Page not found",
    "My Blog — Page not found",
    "Acme: Page not found",
    "Page not found: /old/page.html",
    "Error: 404 Category not found",  # Joomla
    "This topic does not exist yet",  # DokuWiki
    "The page you requested was not found",
    "The page you're looking for could not be found",
    "The page you are looking for doesn't exist.",
    "Sorry, this page isn't available.",
    "Sorry, we couldn’t find that page",
    "We can't seem to find the page you're looking for.",
    "The requested URL was not found on this server.",
    "No such file or directory",
    "410 Gone",
    "404 Page | Acme",
    "  Page \n not\tfound ",
    "Page\u00a0not\u00a0found",
    "Seite nicht gefunden",
    "Fehler 404 – Seite nicht gefunden",
    "Die angeforderte Seite wurde nicht gefunden",
    "Die Seite konnte leider nicht gefunden werden.",
    "Diese Seite existiert nicht mehr",
    "Diese Seite gibt es leider nicht",
    "Datei nicht gefunden",
    "Page introuvable",
    "Erreur 404 : page non trouvée",
    "Oups ! Cette page est introuvable.",
    "La page demandée n’existe pas",
    "La page que vous recherchez n'a pas été trouvée",
    "Página no encontrada",
    "Pagina no encontrada - Acme",
    "La página solicitada no existe",
    "Error 404: no se ha encontrado la página",
    "La página que buscas no existe",
    "Pagina non trovata",
    "Errore 404 - Pagina non trovata",
    "La pagina richiesta non è stata trovata",
    "La pagina che stai cercando non esiste",
    "Página não encontrada",
    "Erro 404 | Página não encontrada",
    "A página que você procura não existe",
    "Pagina niet gevonden",
    "De opgevraagde pagina kon niet gevonden worden",
    "Deze pagina bestaat niet meer",
    "Nie znaleziono strony",
    "Strona nie została znaleziona",
    "Podana strona nie istnieje",
    "Страница не найдена",
    "Ошибка 404. Страница не найдена",
    "Запрашиваемая страница не найдена",
    "Такой страницы не существует",
    "ページが見つかりません",
    "お探しのページは見つかりませんでした",
    "404エラー",
    "申し訳ございません。お探しのページは見つかりません。",
    "４０４　ページが見つかりませんでした",
    "页面不存在",
    "页面未找到",
    "404错误｜找不到页面",
    "抱歉，您访问的页面不存在",
    "找不到網頁",
    "Sidan kunde inte hittas",
    "Siden blev ikke fundet",
    "Stránka nenalezena",
    "페이지를 찾을 수 없습니다",
]

PAGES = [
    "",
    "Home",
    "Acme | Home",
    "HTTP 404",  # an encyclopedia has an article on it
    "HTTP 404 - Wikipedia",
    "HTTP 404 explained: how to fix not found errors",
    "What does “page not found” mean?",
    "Page not found errors",
    "Page not found error",  # a thread in a forum
    "Page not found: a love story",
    "How to make a custom 404 page",
    "Custom 404 page",
    "Fix 404 Not Found in nginx",
    "404 Not Found explained",
    "The best 404 pages of 2024",
    "404 things to do",
    "404 Media",
    "Who killed the princess? - 404 Media",
    "Route 404",
    "Room: 404",
    "Room 404 | Grand Hotel",
    "Page 404",  # of a long list
    "Seite 404",
    "Archive | Page 404 | Acme",
    "Peugeot 404",
    "Peugeot 404 - Wikipedia",
    "No. 404 Squadron",
    "Area codes 404 and 770",
    "4040",
    "1404",
    "Lost and not found: a novel",
    "Lost and found",
    "Not found yet: the search for MH370",
    "If not found, return to sender",
    "Treasure not found",
    "The page turner",
    "File a claim",
    "Product not available in your country",
    "Nothing found",  # an empty search
    "Search results: nothing found for “tea”",
    "Gone",
    "Error",
    "Sorry",
    "Oops!",
    "Error 500",
    "500 Internal Server Error",
    "We can't find the words",
    "Introuvable, un film de 2011",
    "Fehler 404: was Sie tun können",
    "Nicht gefunden und doch da",
    "Seite 3 nicht gefunden, was nun?",
    "Straße nicht gefunden",
    "La página del libro",
    "Что делать, если страница не найдена",
    "404エラーとは",
    "如何解决页面不存在的问题",
    "page not found " * 20,
]


@pytest.mark.parametrize("text", ERRORS)
@pytest.mark.parametrize("tag", ["title", "h1"])
def test_texts_of_error_pages(text: str, tag: str) -> None:
    assert error_text(page(f"<{tag}>{html.escape(text)}</{tag}>")) == " ".join(text.split())


@pytest.mark.parametrize("text", PAGES)
@pytest.mark.parametrize("tag", ["title", "h1"])
def test_titles_that_resemble_those_of_error_pages(text: str, tag: str) -> None:
    assert error_text(page(f"<{tag}>{html.escape(text)}</{tag}>")) is None


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("<title>Acme</title><h1>404</h1>", "404"),
        ("<title>Not found</title><h1>404</h1>", "Not found"),
        ("<title></title><h1>Not found</h1>", "Not found"),
        ("<h1><a href=/>Page <b>not</b></a> found</h1>", "Page not found"),
        ("<h1>Oops<br>not found</h1>", "Oops not found"),
        ("<title>Acme</title><h1>Acme</h1><h1>Page not found</h1>", None),
        ("<title>Acme</title><h1></h1><h1>Page not found</h1>", None),
        ("<title>Acme</title><h2>Page not found</h2>", None),
        ("<title>Acme</title><p>Page not found</p>", None),
        ("<title>Acme</title><svg><title>404</title></svg>", None),
        ("<p>No title, no heading", None),
    ],
)
def test_the_title_and_the_first_heading_count(markup: str, words: str | None) -> None:
    assert error_text(page(markup)) == words


def test_a_long_text_is_shortened() -> None:
    name = "a" * 150
    words = error_text(page(f"<title>Page not found | {name}</title>"))
    assert words == "Page not found | " + "a" * 82 + "…"
    assert len(words) == 100


@pytest.mark.parametrize(
    "markup",
    [
        "<h1>Page not found" + "<b>more</b>" * 20_000,
        "<title>" + "error 404 " * 100_000,
        "<title>" + "oops" * 50 + "</title>",
        "<h1>" + "o" * 200 + "</h1>",
        "<h1>" + " - " * 60 + "</h1>",
        "<h1>" + ": " * 100 + "</h1>",
    ],
    ids=lambda markup: markup[:20],
)
def test_hostile_titles_are_no_errors(markup: str) -> None:
    assert error_text(page(markup)) is None


@given(st.text(max_size=250))
def test_never_raises(text: str) -> None:
    words = error_text(page(f"<title>{text}</title><h1>{text}</h1>"))
    assert words is None or len(words) <= 100


# script shells


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
def test_script_shells(markup):
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
def test_pages_that_are_no_script_shells(markup):
    assert not looks_like_script_shell(page(markup))


@given(st.binary(max_size=200))
def test_no_script_shell_raises(body):
    looks_like_script_shell(page(b"<script src=a></script>" + body))
