"""The model of all options: values of settings, errors for unusable values."""

from __future__ import annotations

import pytest

from sitemap_crawler.config.options import Options
from sitemap_crawler.exceptions import OptionError

START = "https://example.com/"


@pytest.mark.parametrize(
    ("settings", "name", "value"),
    [
        ({"SITEMAP_MAX_PAGES": "5"}, "max_pages", 5),
        ({"SITEMAP_MAX_PAGES": 5}, "max_pages", 5),
        ({"SITEMAP_GZIP": "true"}, "gzip", True),
        ({"SITEMAP_GZIP": "0"}, "gzip", False),
        ({"SITEMAP_EXCLUDE": "a,b"}, "exclude", ("a,b",)),
        ({"SITEMAP_EXCLUDE": '["a", "b"]'}, "exclude", ("a", "b")),
        ({"SITEMAP_EXCLUDE": "[ab]"}, "exclude", ("[ab]",)),
        ({"SITEMAP_EXCLUDE": ["a"]}, "exclude", ("a",)),
        ({"CONCURRENT_REQUESTS": "32"}, "concurrency", 32),
        ({"DOWNLOAD_DELAY": "0.5"}, "delay", 0.5),
        ({"SITEMAP_STATE": "sqlite:///x.sqlite"}, "state", "x.sqlite"),
        ({"SITEMAP_STATE": "sqlite:////var/x.sqlite"}, "state", "/var/x.sqlite"),
        ({"SITEMAP_START_URL": "HTTPS://EXAMPLE.com:443/a/../#b"}, "start_url", "https://example.com/"),
        ({"SITEMAP_START_URL": "https://bücher.example"}, "start_url", "https://xn--bcher-kva.example/"),
        ({"BOT_NAME": "x", "LOG_LEVEL": "INFO"}, "max_pages", None),
    ],
)
def test_settings_become_options(settings: dict[str, object], name: str, value: object) -> None:
    assert getattr(Options.from_settings({"SITEMAP_START_URL": START, **settings}), name) == value


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("SITEMAP_MAXPAGES", "SITEMAP_MAX_PAGES"),
        ("SITEMAP_IMAGE", "SITEMAP_IMAGES"),
        ("SITEMAP_XYZZY", "--help"),
    ],
)
def test_unknown_settings_are_refused_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(OptionError, match=hint):
        Options.from_settings({"SITEMAP_START_URL": START, name: "1"})


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(OptionError) as caught:
        Options.parse({"start_url": "x" * 10_000})
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"max_pages": True}, "bad value True for max_pages"),
        ({"content_types": ["pdf"]}, "content_types: write a list of types"),
        ({"content_types": []}, "content_types"),
        ({"content_types": "text/html,application/pdf"}, "content_types"),
        ({"state": " "}, "state"),
        ({"output": ""}, "bad value '' for output: it is empty: give a name, or leave the option out"),
    ],
)
def test_unusable_values(values: dict[str, object], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        Options.parse({"start_url": "https://example.com/", **values})
