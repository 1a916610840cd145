"""The documents can't drift: README.md and the annotated site file are held against the model of the options.

`python tests/test_docs.py` prints the README's table of options.
"""

from __future__ import annotations

import re
import tomllib

import pytest
from pydantic_core import to_jsonable_python

from sitemap_crawler import __version__
from sitemap_crawler.cli.main import commands
from sitemap_crawler.config.options import Options
from sitemap_crawler.policy.rules import Reason
from sitemap_crawler.policy.warning_kinds import WarningKind
from tests.support.paths import ROOT

README = ROOT / "README.md"
SITE_FILE = ROOT / "settings" / "site.toml"


def default_of(name: str) -> str:
    field = Options.model_fields[name]
    if field.is_required():
        return "required"
    default = to_jsonable_python(field.default)
    if default in (None, []):
        return "none"
    if isinstance(default, bool):
        return "on" if default else "off"
    if isinstance(default, list):
        return ", ".join(default) if len(default) < 5 else "those in settings/site.toml"
    return str(default)


def options_table() -> str:
    lines = ["| option, key of the site file | setting | default | meaning |", "|---|---|---|---|"]
    for name, field in Options.model_fields.items():
        flag = Options.flag(name)
        option = f"`--{name.replace('_', '-')}`, `{name}`" if flag.cli else f"`{name}`"
        default = default_of(name).replace("*", "\\*")
        lines.append(f"| {option} | `{Options.setting(name)}` | {default} | {field.description} |")
    return "\n".join(lines)


def test_the_readme_has_the_table_of_options() -> None:
    assert options_table() in README.read_text(encoding="utf-8"), "put the output of python tests/test_docs.py there"


@pytest.mark.parametrize("word", [*Reason, *WarningKind])
def test_the_readme_explains_reasons_and_warnings(word: str) -> None:
    assert f"`{word}`" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", sorted(commands.commands))
def test_the_readme_shows_every_command(command: str) -> None:
    assert f"\nsitemap-crawler {command} " in README.read_text(encoding="utf-8")


def test_the_site_file_names_every_option_with_its_default() -> None:
    text = SITE_FILE.read_text(encoding="utf-8")
    values = tomllib.loads(re.sub(r"(?m)^# ?(?=[a-z_]+ = )", "", text))
    assert set(values) - {"settings"} == set(Options.model_fields)
    for name, field in Options.model_fields.items():
        if not field.is_required() and field.default is not None:
            assert values[name] == to_jsonable_python(field.default), name
    Options.parse({name: value for name, value in values.items() if name != "settings"})


def test_the_site_file_as_it_stands_is_usable() -> None:
    values = tomllib.loads(SITE_FILE.read_text(encoding="utf-8"))
    assert Options.parse(values).start_url == "https://www.example.com/"


def test_the_changelog_has_this_version() -> None:
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    print(options_table())  # noqa: T201 - it is what the script is for
