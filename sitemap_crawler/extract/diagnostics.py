"""Problems of a page that no status shows: an error page with status 200, and a start page without content.

Only a whole title or heading, without the name of the site, proves an error page: a page about errors has the same
words in its text.
"""

# ruff: noqa: RUF001 - letters and signs of other languages
from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING
from unicodedata import normalize

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sitemap_crawler.extract.document import Document

MAX_SHOWN = 100
"""Maximum number of characters of the text that `error_text` returns."""

_MAX_ERROR_LENGTH = 200  # characters; no error page has a longer title
_MAX_PIECES = 50  # pieces of text in a heading; a heading that is never closed holds the rest of the page

_MAX_SHELL_LINKS = 3
_MAX_SHELL_LENGTH = 200  # characters of text: more than "Loading…" and a cookie notice, less than a page
_INVISIBLE = frozenset({"noscript", "script", "style", "template"})


def error_text(document: Document) -> str | None:
    """Return the title or first heading if it reads like "Page not found", shortened to MAX_SHOWN; else `None`."""
    titles = document.all("title")
    if titles and (text := _shown_error(_text_of(titles[0]))):
        return text
    heading = next(iter(document.all("h1")), None)
    return None if heading is None else _shown_error(_text_of(heading))


def looks_like_script_shell(document: Document) -> bool:
    """Return whether the page is an empty frame that scripts fill in a browser, such as `<div id=root>`.

    A start page of this kind may have no links to follow.
    """
    if not document.all("script") or document.all("frame") or document.all("iframe"):
        return False
    links = sum(1 for element in document.all("a") if element.get("href", "#")[:1] != "#")
    return links <= _MAX_SHELL_LINKS and not _has_visible_text(document.root)


def _text_of(element: etree._Element) -> str:
    if not len(element):
        return " ".join((element.text or "")[: 5 * _MAX_ERROR_LENGTH].split())
    pieces = (str(piece)[: 5 * _MAX_ERROR_LENGTH] for piece in islice(element.itertext(), _MAX_PIECES))
    # Joined by a space, because <br> and block elements separate words.
    return " ".join(" ".join(pieces).split())


def _shown_error(text: str) -> str | None:
    if not text or len(text) > _MAX_ERROR_LENGTH or not _reads_like_error(text):
        return None
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def _reads_like_error(text: str) -> bool:
    text = normalize("NFKC", text).casefold().replace("’", "'")
    if _MARKERS.isdisjoint(_WORD.findall(text)) and (text.isascii() or max(text) < _FIRST_UNSPACED):
        return False
    if _is_error(text):
        return True
    parts = [part.strip() for part in _SEPARATOR.split(text)]
    return any(_is_error(part) or _is_error_next_to_name(part) for part in {parts[0], parts[-1]})


def _is_error_next_to_name(text: str) -> bool:
    """Return whether the text is an error next to a name or an address.

    Examples are `Acme: page not found` and `Page not found: /old`, but not `Page not found: a love story` or
    `Room: 404`.
    """
    before, colon, after = text.rpartition(": ")
    if not colon:
        return False
    names_address = " " not in after and ("/" in after or "." in after)
    return _is_error(after, bare=False) or (names_address and _is_error(before, bare=False))


def _is_error(text: str, *, bare: bool = True) -> bool:
    """Return whether the text is a phrase of an error page; with `bare`, also whether it is only the number 404."""
    phrase = _PUNCTUATION.sub(" ", text).strip()
    return _error_phrase().fullmatch(phrase) is not None or (bare and _NUMBER.fullmatch(phrase) is not None)


def _has_visible_text(root: etree._Element) -> bool:
    length = 0
    for text in _visible_texts(root):
        length += len(text.strip())
        if length > _MAX_SHELL_LENGTH:
            return True
    return False


def _visible_texts(root: etree._Element) -> Iterator[str]:
    body = root.find("body")
    if body is None:
        return
    walk = etree.iterwalk(body, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            if element.tag in _INVISIBLE:
                walk.skip_subtree()
            elif element.text:
                yield element.text
        elif element.tail and element is not body:
            yield element.tail


_SEPARATOR = re.compile(r"\s[-/~>]\s|[–—|·•«»‹›]|::")
_WORD = re.compile(r"\w+(?:'\w+)*")
_PUNCTUATION = re.compile(r"[^\w']+|(?<!\w)'|'(?!\w)")

# Each phrase below has one of these words, except in languages that write no spaces. Nearly all titles have none of the
# words and need no further check.
_MARKERS = frozenset((
    "404", "410", "not", "no", "cannot", "can't", "couldn't", "didn't", "doesn't", "isn't", "nicht", "non", "pas",
    "n'a", "n'est", "n'existe", "introuvable", "inexistant", "inexistante", "inexistente", "impossibile", "não", "nao",
    "niet", "nie", "не", "нет", "inte", "ikke", "ei", "nenalezena", "nebyla", "neexistuje", "nem", "nu",
    "bulunamadı", "δεν",
))  # fmt: skip
_FIRST_UNSPACED = "\u3040"  # the first letter of the scripts of Japan, China and Korea

# Patterns of lower-case words with one space between them.
_ENGLISH_NOUN = (
    r"(?:(?:web ?)?page|file(?: or directory)?|document|content|resource|url|address|article|post|product|item|category"
    r"|topic|thread|user|profile|site|entry|record|object|listing|job)"
    r"(?: (?:that )?(?:you(?:'re| are| were|'ve| have)? )?"
    r"(?:requested|looking for|look for|wanted|trying to (?:reach|access|view|visit|open|find)))?"
)
_ENGLISH = (
    r"not found|410 gone|404 (?:error )?page"
    rf"|(?:(?:the|this|that|your|our) )?(?:requested )?{_ENGLISH_NOUN} (?:(?:(?:was |is |were )?not found"
    r"|(?:can ?not|can't|could not|couldn't) be (?:found|located|displayed)"
    r"|(?:does not|doesn't|did not|didn't|no longer) exists?)"
    r"(?: on (?:this|the|our) (?:web ?)?(?:server|site)| any ?more| yet| here| or is private)?)"
    r"|(?:the|this|that) page (?:is not|isn't|is no longer) (?:available|here)(?: any ?more)?"
    rf"|we (?:can't|can ?not|could not|couldn't)(?: seem to)? find (?:the|that|this|your) {_ENGLISH_NOUN}"
    r"|no such (?:page|file(?: or directory)?|document|article|topic)"
)
_GERMAN = (
    r"nicht gefunden"
    r"|(?:(?:die|diese|das|dieses|der|dieser|ihre) )?(?:von ihnen )?"
    r"(?:(?:angeforderte|gewünschte|gesuchte|aufgerufene)[sr]? )?"
    r"(?:(?:web|internet)?seite|datei|url|adresse|dokument|inhalt|artikel|beitrag|produkt|eintrag)"
    r" (?:(?:wurde |konnte )?(?:leider )?nicht gefunden(?: werden)?"
    r"|existiert (?:leider )?nicht(?: mehr)?|(?:ist )?(?:leider )?nicht (?:mehr )?(?:vorhanden|verfügbar))"
    r"|diese seite gibt es (?:leider )?nicht(?: mehr)?"
)
_FRENCH = (
    r"non trouvée?"
    r"|(?:(?:la|le|cette|ce|votre) |l')?(?:page|fichier|document|article|contenu|produit|ressource|url|adresse)"
    r"(?: web)?(?: demandée?| recherchée?| que vous (?:cherchez|recherchez|demandez|avez demandée?))?"
    r" (?:(?:est |semble )?introuvable|inexistante?|(?:est )?(?:non|pas) trouvée?"
    r"|n'existe (?:pas|plus)|n'a (?:pas|pu) (?:été|pu être|être) trouvée?|n'est (?:pas|plus) disponible)"
)
_SPANISH = (
    r"no encontrad[ao]"
    r"|(?:(?:la|el|esta|este) )?(?:p[aá]gina|archivo|documento|contenido|art[ií]culo|producto|recurso|entrada|url)"
    r"(?: web)?(?: solicitad[ao]| que (?:buscas?|est[aá]s? buscando|has? solicitado))?"
    r" (?:no (?:ha sido |fue )?encontrad[ao]|no existe|inexistente|no (?:est[aá] )?disponible"
    r"|no se (?:encuentra|encontr[oó]|ha encontrado|pudo encontrar|puede encontrar|ha podido encontrar))"
    r"|no (?:se (?:ha encontrado|encontr[oó])|hemos encontrado|encontramos) (?:la|esta) p[aá]gina"
    r"(?: solicitada| que (?:buscas?|est[aá]s? buscando))?"
)
_ITALIAN = (
    r"non trovat[ao]"
    r"|(?:(?:la|il|questa|questo) )?(?:pagina|file|documento|contenuto|articolo|prodotto|risorsa|url)(?: web)?"
    r"(?: richiest[ao]| cercat[ao]| che (?:stai|stavi) cercando| che cerchi)?"
    r" (?:non (?:(?:è )?(?:stat[ao] )?(?:trovat[ao]|disponibile)|esiste(?: più)?)|inesistente)"
    r"|impossibile trovare la pagina(?: richiesta)?"
)
_PORTUGUESE = (
    r"n[aã]o encontrad[ao]"
    r"|(?:(?:a|o|esta|essa|este|esse) )?"
    r"(?:p[aá]gina|arquivo|ficheiro|documento|conte[uú]do|artigo|produto|recurso|url)"
    r"(?: solicitad[ao]| requisitad[ao]| que (?:voc[eê] )?(?:procura|est[aá] procurando))?"
    r" (?:n[aã]o (?:(?:foi |p[oô]de ser )?(?:encontrad[ao]|localizad[ao])|existe(?: mais)?|(?:est[aá] )?dispon[ií]vel)"
    r"|inexistente)"
)
_DUTCH = (
    r"niet gevonden"
    r"|(?:(?:de|deze|het|dit) )?(?:(?:opgevraagde|gevraagde|gezochte) )?"
    r"(?:(?:web)?pagina|bestand|document|artikel|product|inhoud|url)(?: die (?:je|u) zo(?:ek|ch)t)?"
    r" (?:(?:is |werd |kon |kan )?(?:helaas )?niet (?:worden )?gevonden(?: worden)?"
    r"|bestaat (?:helaas )?niet(?: meer)?|(?:is )?(?:helaas )?niet (?:meer )?beschikbaar)"
)
_POLISH = (
    r"nie znaleziono"
    r"|nie (?:znaleziono|odnaleziono) (?:(?:takiej|tej|podanej|żądanej|szukanej|takiego|żądanego) )?"
    r"(?:strony|pliku|dokumentu|artykułu|produktu|zasobu)"
    r"|(?:(?:ta|podana|żądana|szukana|ten|żądany) )?(?:strona|plik|dokument|artykuł|produkt|zasób)(?: której szukasz)?"
    r" (?:nie istnieje|nie znalezion[ay]|nie zosta(?:ła|ł) (?:odnalezion|znalezion)[ay])"
)
_RUSSIAN = (
    r"не найден[ао]?"
    r"|(?:(?:запрашиваем|запрошенн|данн|так)(?:ая|ый|ое) |эта )?"
    r"(?:страница|файл|документ|статья|товар|раздел|материал|ресурс|запись)"
    r" (?:не (?:найден[ао]?|обнаружен[ао]?|существует)|больше не существует)(?: на (?:сервере|сайте))?"
    r"|такой страницы (?:не существует|нет)"
)
_JAPANESE = (
    r"(?:(?:お探し|ご?指定|該当|要求)(?:の|する|された))?(?:url|ページ|ファイル|記事|コンテンツ)[がは]"
    r"(?:見つかりません(?:でした)?|見当たりません|存在しません|ありません)"
)
_CHINESE = (
    r"(?:[您你]所?(?:访问|查找|请求|要找|浏览|訪問|查詢|請求|瀏覽)的|[该該此])?"
    r"(?:页面|网页|頁面|網頁|文件|文章|内容|內容|网址|網址)"
    r"(?:不存在|未找到|没有找到|沒有找到|找不到|没找到|不见了|不見了|已被?(?:删除|刪除))了?"
    r"|(?:找不到|未找到|没有找到|沒有找到|无法找到|無法找到)[您你该該此]?(?:所?(?:请求|請求|访问|訪問|要找)的)?"
    r"(?:页面|网页|頁面|網頁|文件|内容|內容)"
)
_OTHERS = (
    r"sidan (?:hittades inte|kunde inte hittas|finns inte)"
    r"|siden (?:(?:blev |ble )?ikke (?:fundet|funnet)|(?:findes|finnes|eksisterer) ikke)"
    r"|sivua ei (?:löydy|löytynyt)"
    r"|(?:požadovaná )?stránka (?:nenalezena|nebyla nalezena|neexistuje)"
    r"|(?:az|a keresett) oldal nem található"
    r"|pagina nu (?:a fost găsită|există)"
    r"|sayfa bulunamadı"
    r"|сторінк[ау] не (?:знайдено|існує)"
    r"|η σελίδα δεν βρέθηκε"
    r"|페이지를 찾을 수 없습니다"
)
_LANGUAGES = (
    _ENGLISH, _GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH, _POLISH, _RUSSIAN, _JAPANESE, _CHINESE, _OTHERS
)  # fmt: skip

# Words that may accompany an error phrase and do not prove an error alone.
_SIGH = (
    r"o+ps|who+ps|ups|oups|hoppla|ой|упс|uh oh|oh no|hm+|sorry|(?:we're|we are) sorry(?: but)?|désolée?|lo sentimos"
    r"|tut uns leid|scusa|spiacenti|desculpe|przepraszamy|извините"
    r"|申し訳(?:ございません|ありません)|很?抱歉|对不起|對不起"
)
_ERROR = r"error|fehler|erreur|errore|erro|fout|błąd|ошибка|エラー|错误|錯誤"
_NUMBER = re.compile(rf"(?:(?:{_SIGH}) ?)*(?:(?:{_ERROR}) ?)?404(?: ?(?:{_ERROR}))?")


@cache
def _error_phrase() -> re.Pattern[str]:
    """Return the pattern of all error phrases.

    It is compiled for the first title with a marker, because that takes longer than reading ten short pages.
    """
    return re.compile(
        rf"(?:(?:{_SIGH}|{_ERROR}|http|status|code|404|410) ?)*"
        rf"(?:{'|'.join(_LANGUAGES)})"
        rf"(?: (?:{_ERROR}) 404| 404(?: (?:{_ERROR}))?)?"
    )
