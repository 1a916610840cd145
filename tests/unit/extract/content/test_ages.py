"""Ages in texts, as programs write them: the same content at another time has the same fingerprint."""

from __future__ import annotations

from datetime import timedelta

import pytest
from babel.dates import format_timedelta

from sitemap_crawler.extract.content.ages import is_age, without_ages
from sitemap_crawler.extract.content.fingerprint import fingerprint
from sitemap_crawler.extract.content.main_content import without_space
from tests.support.growth import assert_linear
from tests.support.reading_page import page

# The language of the page, and what stands in one place of it at two times.
AGES = [
    ("en", "29 minutes ago", "3 days ago"),
    ("en", "an hour ago", "4 days, 3 hours ago"),
    ("en", "about 1 hour ago", "about 1 month ago"),
    ("en", "less than a minute ago", "half a minute ago"),
    ("en", "over 2 years ago", "almost 3 years ago"),
    ("en", "1 year, 11 months ago", "2 years ago"),
    ("en", "5 mins. ago", "2 hr. ago"),
    ("en-GB", "A day ago", "5 Days ago"),
    ("en", "1/2 an hour ago", "1 1/2 hours ago"),
    ("de", "vor 3 Tagen", "vor etwa einem Monat"),
    ("de", "vor einer Stunde", "vor 1 Tag, 3 Stunden"),
    ("de", "vor 59 Minuten", "vor mehr als 2 Jahren"),
    ("de", "Vor 2 Wochen", "Vor 1 Sekunde"),
    ("de", "3 days ago", "4 days ago"),
    ("fr", "il y a 3 jours", "il y a environ un mois"),
    ("fr", "il y a moins d'une minute", "il y a 5 minutes"),
    ("es", "hace 3 días", "hace alrededor de 1 mes"),
    ("it", "3 giorni fa", "circa un mese fa"),
    ("pt-BR", "há 3 dias", "há cerca de 1 mês"),
    ("nl", "3 dagen geleden", "ongeveer een maand geleden"),
    ("pl", "3 dni temu", "około 1 miesiąc temu"),
    ("ru", "3 дня назад", "около 1 месяца назад"),
    ("sv", "för 3 dagar sedan", "för ungefär en månad sedan"),
    ("ja", "3 日前", "1 か月前"),
    ("zh", "3天前", "1个月前"),
    ("ko", "3일 전", "1개월 전"),
    ("tr", "3 gün önce", "1 ay önce"),
    ("ar", "قبل 3 أيام", "قبل 11 يومًا"),
    ("he", "לפני 3 ימים", "לפני 11 ימים"),
    ("cs", "před 3 dny", "před 2 měsíci"),
    ("fi", "3 päivää sitten", "1 kuukausi sitten"),
    ("uk", "3 дні тому", "5 днів тому"),
    (None, "29 minutes ago", "3 days ago"),
    # Times left.
    ("en", "in 5 months", "in about a week"),
    ("en", "Due in 3 days", "Due in 21 hours"),
    ("en", "2 days, 4 hours left", "3 min. left"),
    ("en", "3 days late", "about 1 month late"),
    ("de", "in 3 Tagen", "In etwa einem Monat"),
    ("de", "3 Tage überfällig", "1 Monat überfällig"),
    ("fr", "dans 3 jours", "dans environ un mois"),
    ("fr", "3 jours restants", "1 heure restants"),
    ("es", "dentro de 3 días", "dentro de 1 mes"),
    ("it", "tra 3 giorni", "tra circa un mese"),
    ("pt-BR", "em 3 dias", "em 1 mês"),
    ("nl", "over 3 dagen", "over een maand"),
    ("pl", "za 3 dni", "za 1 miesiąc"),
    ("ru", "через 3 дня", "через 1 месяц"),
    ("sv", "om 3 dagar", "om en månad"),
    ("ja", "3 日後", "1 か月後"),
    ("zh", "3天后", "1个月后"),
    ("tr", "3 gün sonra", "1 ay sonra"),
    ("hu", "3 nap múlva", "1 hónap múlva"),
]


def read(language: str | None, body: str) -> bytes:
    attribute = "" if language is None else f' lang="{language}"'
    return fingerprint(page(f"<html{attribute}><body><p>The harbour opens at six.</p>{body}"))


@pytest.mark.parametrize(("language", "before", "after"), AGES)
@pytest.mark.parametrize(
    "frame",
    [
        "<p>Added by Maria Adams %s.</p>",
        "<p>Added by <a href='/maria'>Maria</a> <a title='2026-11-24 10:00'>%s</a></p>",
        "<p>%s</p><p>%s, in section 7</p>",
    ],
)
def test_the_clock_does_not_change_a_page(frame: str, language: str | None, before: str, after: str) -> None:
    assert read(language, frame.replace("%s", before)) == read(language, frame.replace("%s", after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("3 days ago in Rome", "3 days ago in Paris"),
        ("It takes 3 days", "It takes 4 days"),
        ("Built in 3 pieces", "Built in 4 pieces"),
        ("Room 3 left", "Room 4 left"),
        ("Chapter 3", "Chapter 4"),
        ("a long time ago", "a short time ago"),
        ("<td>3 apples</td>", "<td>4 apples</td>"),
        ("<p>vor 3 Leuten</p>", "<p>vor 4 Leuten</p>"),
        ("<p>Opened yesterday.</p>", "<p>Opened today.</p>"),
        ("<table><tr><td>hier</table>", "<table><tr><td>hiers</table>"),
        ("<table><tr><td>1/2 a loaf</table>", "<table><tr><td>1/4 a loaf</table>"),
    ],
)
def test_other_words_and_numbers_are_content(before: str, after: str) -> None:
    assert read("de", f"<p>{before}</p>") != read("de", f"<p>{after}</p>")


TABLE = """<table><tr><th>Age<th>Commit message<th>Lines
<tr><td>%s<td><a href='/commit/?id=1'>Fix the quay</a><td>3
<tr><td><span class='age-days' title='2026-11-20 10:00:00 +0000'>%s</span><td><a href='/commit/?id=2'>Add tides</a><td>4
</table>"""


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("en", ("29 min.", "3 days"), ("3 days", "6 days")),
        ("en", ("2 weeks", "13 months"), ("2 years", "14 months")),
        ("de", ("3 Tage", "1 Stunde"), ("6 Tage", "3 Tage")),
        (None, ("3 days ago", "a day ago"), ("6 days ago", "4 days ago")),
        ("en", ("9.8 minutes", "1/4 hour ago"), ("10.3 minutes", "1/2 an hour ago")),
        ("en", ("1 1/2 hours ago", "just now"), ("1 3/4 hours ago", "6 minutes ago")),
        ("en", ("1 day", "today"), ("yesterday", "Yesterday")),
        ("de", ("gestern", "gerade eben"), ("vor 2 Tagen", "vor 5 Minuten")),
        ("en", ("Yesterday", "this year"), ("last week", "last year")),
        ("fr", ("aujourd'hui", "hier"), ("avant-hier", "la semaine dernière")),
        ("ja", ("今日", "昨日"), ("昨日", "先週")),
        ("hu", ("ma", "tegnap"), ("tegnap", "előző hét")),
        ("en", ("in 2 days", "tomorrow"), ("tomorrow", "today")),
        ("de", ("nächste Woche", "in 1 Tag"), ("diese Woche", "heute")),
    ],
)
def test_cells_that_hold_an_age_only(language: str | None, before: tuple[str, ...], after: tuple[str, ...]) -> None:
    assert read(language, TABLE % before) == read(language, TABLE % after)
    assert read(language, TABLE % before) != read(language, TABLE.replace("Fix", "Mend") % before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("15m", "30 Nov"),
        ("30 Nov", "Nov '26"),
        ("Today, 7:26", "30 November 2026"),
        ("<b>8</b> h", "<b>1</b> d"),
        ("just now", "an hour ago"),
        ("Yesterday", "Monday, 30 November 2026 at 07:26"),
    ],
)
@pytest.mark.parametrize(
    "element",
    [
        "<li title='Nov. 30, 2026, 7:26 a.m.'>%s</li>",
        "<li title='Nov. 30, 2026, 10 p.m.'>%s</li>",
        "<li title='Nov. 30, 2026, noon'>%s</li>",
        "<a title='See timeline at 11/30/26 23:27:00'>%s</a>",
        "<span class=relative-date title='30. November 2026 um 07:26'>%s</span>",
        "<a href=/post/5 title='30/11/2026'> %s </a>",
        "<relative-time datetime='2026-11-30T07:26:00Z'>%s</relative-time>",
        "<time datetime=2026-11-30>%s</time>",
    ],
)
def test_short_dates_with_the_whole_date_in_an_attribute(element: str, before: str, after: str) -> None:
    assert read("en", element.replace("%s", before)) == read("en", element.replace("%s", after))
    # An event that is put off is another content.
    later = element.replace("30/11", "31/12").replace("2026", "2027").replace("30/26", "30/27")
    assert read("en", element.replace("%s", before)) != read("en", later.replace("%s", before))
    menu = "<nav>%s</nav>"
    assert read("en", menu.replace("%s", element)) == read("en", menu.replace("%s", later))


def test_the_name_of_a_post_whose_link_states_its_date_is_content() -> None:
    link = "<a href=/post title='2026-11-30 10:00'>%s</a>"
    assert read("en", link.replace("%s", "Boats")) != read("en", link.replace("%s", "Cranes"))


@pytest.mark.parametrize(
    "element",
    [
        "<abbr title='Hypertext Markup Language'>%s</abbr>",
        "<li title='Room 2026'>%s</li>",
        "<li title='12:30'>%s</li>",
        "<li title='Release 10/30/26'>%s</li>",
        "<li title='Room 2026, 3 ambulances'>%s</li>",
        "<div title='2026-11-30'><p>Twelve boats left the northern quay at dawn</p><p>%s</p></div>",
        "<div title='2026-11-30'>" + "<b>a</b>" * 20 + "%s</div>",
        "<li title='2026-11-30'><img src=%s></li>",
    ],
)
def test_other_titles_hide_nothing(element: str) -> None:
    assert read("en", element.replace("%s", "15m")) != read("en", element.replace("%s", "16m"))


@pytest.mark.parametrize(
    "labelled",
    [
        "<span>%d</span> <div>Age (days ago)</div> <span>%d</span> <div>Last active (days ago)</div>",
        "<dt>Age (days ago)<dd>%d<dt>Last active (days ago)<dd>%d",
    ],
)
def test_numbers_with_a_label_of_days_ago(labelled: str) -> None:
    assert read("en", labelled % (1003, 97)) == read("en", labelled % (1006, 100))


def test_ages_that_stand_alone() -> None:
    assert [text for text in ("3 days", "10 min.", "5 wks", "about 2 hours", "3 days ago", "Just now", "3", "days",
                              "3 days later", "day 3", "hier", "") if is_age(text, "en")] == [
        "3 days", "10 min.", "5 wks", "about 2 hours", "3 days ago", "Just now",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "language", ["de", "en", "es", "fi", "fr", "it", "ja", "nl", "pl", "pt", "ru", "sv", "tr", "uk", "zh"]
)
@pytest.mark.parametrize("seconds", [59, 180, 7_200, 75_600, 259_200, 1_814_400, 12_960_000, 63_072_000, 3_153_600_000])
@pytest.mark.parametrize("direction", [-1, 1])
def test_ages_as_babel_writes_them(language: str, seconds: int, direction: int) -> None:
    time = timedelta(seconds=direction * seconds)
    age = format_timedelta(time, threshold=1, add_direction=True, locale=language)
    text = without_space(f"Maria, {age}, 7".encode())
    assert without_ages(text, language) == b"Maria,,7"


def test_the_rest_of_a_text_stays() -> None:
    text = b"Chicago,3daysago:dragons.Jo5hoursagoandagain2weeks,1dayago."
    assert without_ages(text, "en") == b"Chicago,:dragons.Joandagain."


@pytest.mark.parametrize(
    "language", ["", "x", "qqq", "en-x-" + "a" * 100_000, "../../etc/passwd", "\0", "de_DE", "root"]
)
def test_languages_that_nobody_speaks(language: str) -> None:
    assert without_ages(b"3daysago", language) == b""


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["ago", "dayago", "adayago", "1dayago", "vor", "vor1Tag", "1day,", "(daysago)", "前", "in", "in1day", "dayleft"],
)
@pytest.mark.parametrize("language", ["en", "de", None])
def test_time_is_linear(unit: str, language: str | None) -> None:
    assert_linear(lambda n: unit.encode() * n(200_000), lambda text: without_ages(text, language))
