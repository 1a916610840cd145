"""The check of names."""

from __future__ import annotations

import pytest

from sitemap_crawler.config.types import check_names
from sitemap_crawler.exceptions import OptionError


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    check_names(["delay"], ["delay", "output"], kind="option")
    with pytest.raises(OptionError, match=r"^unknown option dealy: did you mean delay\?$"):
        check_names(["dealy"], ["delay", "output"], kind="option")
