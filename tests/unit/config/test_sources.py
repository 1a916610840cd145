"""Site files, and the settings module that Scrapy's environment variables and scrapy.cfg choose."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scrapy.settings import Settings

from sitemap_crawler.config.options import Options
from sitemap_crawler.config.sources import read_site_file, settings_module
from sitemap_crawler.config.types import check_names
from sitemap_crawler.exceptions import OptionError
from tests.support.paths import ROOT

OURS = "[settings]\ndefault = sitemap_crawler.settings\nnightly = profile_nightly\n"
FOREIGN = "[settings]\ndefault = their_settings\nnightly = their_settings\n"
BASE = "from sitemap_crawler.settings import *\n"


def test_paths_of_a_site_file_are_relative_to_it(tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text('output = "out"\nstate = "/var/x.sqlite"\n[settings]\nRETRY_TIMES = 5\n')
    values, settings = read_site_file(path)
    assert values == {"output": str(tmp_path / "out"), "state": "/var/x.sqlite"}
    assert settings == {"RETRY_TIMES": 5}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Directory of a project; the working directory is below, and no variable is set."""
    for name in ("SCRAPY_PROJECT", "SCRAPY_SETTINGS_MODULE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    below = tmp_path / "project" / "below"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    yield tmp_path / "project"
    for name in ("profile_nightly", "profile_own", "profile_broken", "profile_other", "their_settings"):
        sys.modules.pop(name, None)


def test_without_variables_and_files_the_settings_are_our_own(project: Path) -> None:
    assert settings_module().__name__ == "sitemap_crawler.settings"


@pytest.mark.parametrize("variable", ["", "default"])
def test_the_file_of_another_project_is_ignored(project: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    (project / "scrapy.cfg").write_text(FOREIGN)
    (project / "their_settings.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.setenv("SCRAPY_PROJECT", variable)
    assert settings_module().__name__ == "sitemap_crawler.settings"
    assert str(project) not in sys.path


@pytest.mark.parametrize("text", ["", "[settings", "[deploy]\nproject = x\n", "\xff\xfe"])
def test_a_file_without_settings_is_ignored(project: Path, text: str) -> None:
    (project / "scrapy.cfg").write_bytes(text.encode("latin-1"))
    assert settings_module().__name__ == "sitemap_crawler.settings"


def test_the_named_project_of_our_file_is_used(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "scrapy.cfg").write_text(OURS)
    (project / "profile_nightly.py").write_text(BASE + "LOG_LEVEL = 'ERROR'\n")
    monkeypatch.setenv("SCRAPY_PROJECT", "Nightly")
    assert settings_module().LOG_LEVEL == "ERROR"


def test_the_default_project_of_our_file_is_used(project: Path) -> None:
    (project / "scrapy.cfg").write_text(OURS.replace("default", "plain").replace("nightly", "default", 1))
    (project / "profile_nightly.py").write_text(BASE)
    assert settings_module().__name__ == "profile_nightly"


def test_the_settings_module_wins_over_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "scrapy.cfg").write_text(OURS)
    (project / "profile_own.py").write_text(BASE + "RETRY_TIMES = 7\n")
    monkeypatch.setenv("SCRAPY_PROJECT", "nightly")
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "profile_own")
    assert settings_module().RETRY_TIMES == 7


@pytest.mark.parametrize(
    ("file", "variables", "words"),
    [
        (None, {"SCRAPY_PROJECT": "nightly"}, "SCRAPY_PROJECT=nightly: there is no scrapy.cfg"),
        (FOREIGN, {"SCRAPY_PROJECT": "nightly"}, "belongs to another project"),
        (OURS, {"SCRAPY_PROJECT": "nightyl"}, "give one of default, nightly"),
        (OURS, {"SCRAPY_PROJECT": "nightly"}, "No module named 'profile_nightly'"),
        (None, {"SCRAPY_SETTINGS_MODULE": "absent.settings"}, "SCRAPY_SETTINGS_MODULE=absent.settings: cannot import"),
        (OURS, {"SCRAPY_SETTINGS_MODULE": "profile_broken"}, "SyntaxError"),
        (OURS, {"SCRAPY_SETTINGS_MODULE": "profile_other"}, "not settings of sitemap-crawler"),
        (None, {"SCRAPY_SETTINGS_MODULE": ".relative"}, "SCRAPY_SETTINGS_MODULE=.relative"),
    ],
)
def test_unusable_settings_modules_and_projects(
    project: Path, monkeypatch: pytest.MonkeyPatch, file: str | None, variables: dict[str, str], words: str
) -> None:
    if file is not None:
        (project / "scrapy.cfg").write_text(file)
    (project / "profile_broken.py").write_text(BASE + "x = = 1\n")
    (project / "profile_other.py").write_text("BOT_NAME = 'other'\nSCHEDULER = 'scrapy.core.scheduler.Scheduler'\n")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(OptionError) as caught:
        settings_module()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["development", "cron", "scrapyd"])
def test_the_profiles_have_only_known_settings(name: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "settings")
    monkeypatch.setenv("SCRAPY_PROJECT", name)
    known = Settings()
    known.setmodule("sitemap_crawler.settings")
    module = settings_module()
    assert Path(str(module.__file__)) == ROOT / "settings" / f"{name}.py"
    theirs = {key for key in dir(module) if key.isupper()}
    check_names(theirs, [*known, *(Options.setting(option) for option in Options.model_fields)], kind="setting")
    settings = Settings({"SITEMAP_START_URL": "https://www.example.com/"})
    settings.setmodule(module)
    options = Options.from_settings(settings)
    assert options.progress is False
    expected = {
        "development": ("DEBUG", True, False),
        "cron": ("WARNING", False, True),
        "scrapyd": ("INFO", False, False),
    }
    assert (settings["LOG_LEVEL"], options.dry_run, options.quiet) == expected[name]
