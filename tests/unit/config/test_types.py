"""The check of names."""

from __future__ import annotations

import pytest

from sitemap_crawler.config.options import Options
from sitemap_crawler.config.types import check_names
from sitemap_crawler.exceptions import OptionError


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    check_names(["delay"], ["delay", "output"], kind="option")
    with pytest.raises(OptionError, match=r"^unknown option dealy: did you mean delay\?$"):
        check_names(["dealy"], ["delay", "output"], kind="option")


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("SITEMAP_DELAY", "DOWNLOAD_DELAY"),
        ("SITEMAP_LOG_FILE", "LOG_FILE"),
        ("SITEMAP_CONCURRENCY", "CONCURRENT_REQUESTS"),
        ("SITEMAP_USER_AGENT", "USER_AGENT"),
    ],
)
def test_an_option_with_a_setting_of_scrapy_is_hinted_by_that_setting(name: str, setting: str) -> None:
    with pytest.raises(OptionError, match=f"^unknown setting {name}: did you mean {setting}\\?$"):
        Options.from_settings({"SITEMAP_START_URL": "https://a.example/", name: "1"})
