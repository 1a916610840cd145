"""The documents can't drift: README.md, docs/ and the annotated site file are held against the code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from pydantic_core import to_jsonable_python

from sitemap_crawler import __version__
from sitemap_crawler.cli.main import commands
from sitemap_crawler.config.options import Options
from sitemap_crawler.policy.reasons import Reason, ReasonGroup, Severity
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.validation.catalogue import FAMILIES, RULES
from tests.support.documents import documents, name_of
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

DOCS = ROOT / "docs"
SITE_FILE = ROOT / "settings" / "site.toml"
SCHEMAS = ("report", "sites-report", "status", "update", "submit", "monitor")
PARTS = ("options", "settings", "search-engines", "reasons", "warnings", "rules", *SCHEMAS)


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    sys.path.insert(0, str(DOCS))
    try:
        import generate
    finally:
        sys.path.remove(str(DOCS))
    return generate


def rows(table: str) -> list[list[str]]:
    """The cells of a table without its head."""
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()[2:]]


def test_every_option_is_in_the_reference(generate: ModuleType) -> None:
    tables = [generate.options_table(command_line=on) for on in (True, False)]
    found = [row for table in (*tables, generate.engine_options_table()) for row in rows(table)]
    keys = [re.findall(r"`([a-z_]+)`", option)[-1] for option, *_ in found]
    assert sorted(keys) == sorted(Options.model_fields)
    for option, setting, default, meaning in found:
        assert re.fullmatch(r"`[A-Z_]+`", setting), option
        assert default, option
        assert len(meaning) > 15, option


def test_options_that_have_a_flag_are_in_the_table_of_the_command_line(generate: ModuleType) -> None:
    text = generate.options_table(command_line=True)
    shown = set(re.findall(r"`(--[a-z-]+)`", text))
    taken = {opt for parameter in commands.commands["crawl"].params for opt in parameter.opts if opt.startswith("--")}
    assert shown == taken - {"--config", "--parallel", "--verbose", "--json"}
    page = (DOCS / "reference" / "options.md").read_text(encoding="utf-8")
    assert all(option in page for option in ("--config", "--parallel", "`-v`", "--json"))


def test_every_reason_and_warning_has_a_meaning(generate: ModuleType) -> None:
    reasons, warnings = rows(generate.reasons_table()), rows(generate.warnings_table())
    assert [name for name, *_ in reasons] == [f"`{reason}`" for reason in Reason]
    assert [name for name, *_ in warnings] == [f"`{kind}`" for kind in WarningKind]
    assert {group for _, group, *_ in reasons} == {group.label for group in ReasonGroup}
    assert {severity for _, severity, *_ in warnings} == set(Severity)
    for row in (*reasons, *warnings):
        for text in row[2:]:
            assert re.fullmatch(r"(robots\.txt |[A-Z0-9`]).{10,}[.]", text), text


def test_titles_of_reasons_and_warnings_are_short_and_differ() -> None:
    for titles in ([reason.traits.title for reason in Reason], [kind.traits.title for kind in WarningKind]):
        assert len(set(titles)) == len(titles)
        for title in titles:
            assert re.fullmatch(r"[A-Z][^`]{5,44}[^.]", title), title


def test_every_rule_of_validate_is_in_the_reference(generate: ModuleType) -> None:
    tables = generate.rules_tables()
    assert re.findall(r"^\| `([a-z0-9-]+)` \|", tables, re.MULTILINE) == list(RULES)
    assert re.findall(r"^## (.+)$", tables, re.MULTILINE) == list(FAMILIES.values())
    assert {line.count(" | ") for line in tables.splitlines() if line.startswith("|")} == {3}


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas_and_say_what_each_key_means(generate: ModuleType, name: str) -> None:
    schema: dict[str, Any] = generate.schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["required"] == [key for key in schema["properties"] if key in schema["required"]]
    for key, kind, meaning in rows(generate.keys_table(name)):
        assert kind, key
        assert meaning.endswith("."), key


def test_every_part_is_included_by_a_page(generate: ModuleType) -> None:
    assert set(generate.parts()) == {f"{name}.md" for name in PARTS}
    pages = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md"))
    assert sorted(re.findall(r"\{include\} \.\./_generated/(.*)\.md", pages)) == sorted(PARTS)


@pytest.mark.parametrize("command", sorted(name for name, known in commands.commands.items() if not known.hidden))
def test_every_command_has_a_description_and_an_example(command: str) -> None:
    help_text = commands.commands[command].help or ""
    assert re.match(r"[A-Z].{20,}", help_text)
    assert f"\nsitemap-crawler {command} " in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_links_lead_to_files(document: Path) -> None:
    text = re.sub(r"^(```+).*?^\1$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("http://", "https://", "#")):
            assert (document.parent / target.partition("#")[0]).exists(), target


def test_the_readme_links_to_every_page_of_the_guide_and_the_reference() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = [name_of(path) for path in documents() if path.parent.name in ("guide", "reference", "deploy")]
    assert len(pages) > 15
    assert [page for page in pages if f"]({page})" not in readme] == []


@pytest.mark.parametrize("document", documents(), ids=name_of)
def test_pages_stay_short(document: Path) -> None:
    assert len(document.read_text(encoding="utf-8").splitlines()) <= 150 + 250 * (document.stem == "decisions")


def test_the_picture_of_the_rooms_is_what_the_command_prints() -> None:
    done = subprocess.run([sys.executable, str(DOCS / "rooms.py")], capture_output=True, text=True, check=True)
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert f"```text\n{done.stdout}```\n" in page, "run python docs/rooms.py --write"


@pytest.mark.parametrize("document", [*(DOCS / "development").glob("*.md"), ROOT / "README.md"], ids=name_of)
def test_files_and_functions_that_a_page_names_exist(document: Path) -> None:
    """`tests/…` and `crawl/engine.py` are paths from the checkout or the package; `engine.py:name` is in that file."""
    text = document.read_text(encoding="utf-8")
    for path, name in re.findall(r"`([a-z_][a-z_0-9./]*(?:\.py|/))(?::([A-Za-z_.]+))?", text):
        [file, *_] = [base / path for base in (ROOT, ROOT / "sitemap_crawler") if (base / path).exists()] or [None]
        assert file is not None, path
        for part in filter(None, name.split(".")):
            assert re.search(rf"\b(def|class) {part}\b|^{part}\b", file.read_text(encoding="utf-8"), re.MULTILINE), name


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
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.count(f"## {__version__}") == 1


def test_the_schemas_are_in_the_pages() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md"))
    for name in SCHEMAS:
        assert f"schemas/{name}.schema.json" in pages
        json.loads((DOCS / "reference" / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
