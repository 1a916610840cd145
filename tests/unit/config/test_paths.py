"""The check of the files that options name."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitemap_crawler.config.paths import FILES, check_writable
from sitemap_crawler.exceptions import OptionError


@pytest.mark.parametrize("name", FILES)
def test_the_standard_output_is_no_file_of_an_option(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match=rf"^{name} -: the standard output has the summary; give the name of a file$"):
        check_writable(name, Path("-"))
    assert list(tmp_path.iterdir()) == []
