"""The parts of the reference that are made from the code whenever the documents are built: tables of options, reasons,
warnings, rules of `validate` and of the keys of JSON files.

`python docs/generate.py` prints them all.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from sitemap_crawler.config.options import Options
from sitemap_crawler.config.search_engines import SearchEngineOptions
from sitemap_crawler.policy.reasons import Reason
from sitemap_crawler.policy.warning_kinds import WarningKind
from sitemap_crawler.validation.catalogue import FAMILIES, RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SCHEMAS = Path(__file__).parent / "reference" / "schemas"


def options_table(*, command_line: bool) -> str:
    """Return the options that the command line has, or those that only site files and settings have."""
    names = [name for name in Options.crawl_options() if name != "start_url"]
    rows = [_option(name) for name in names if Options.flag(name).cli is command_line]
    if command_line:
        start = Options.model_fields["start_url"]
        rows = [("`START_URL`, `start_url`", "`SITEMAP_START_URL`", "required", start.description or ""), *rows]
    return _table(("option, key of the site file" if command_line else "key of the site file", "setting", "default",
                   "meaning"), rows)  # fmt: skip


def engine_options_table() -> str:
    """Return the options of the commands that talk to search engines."""
    rows = [_option(name) for name in SearchEngineOptions.model_fields]
    return _table(("option, key of the site file", "setting", "default", "meaning"), rows)


def _option(name: str) -> tuple[str, ...]:
    flag = Options.flag(name)
    long = f"--{name.replace('_', '-')}"
    short = f"`{flag.short}`, " if flag.short else ""
    option = f"{short}`{long}`, `{name}`" if flag.cli else f"`{name}`"
    return option, f"`{Options.setting(name)}`", default_of(name), Options.model_fields[name].description or ""


def default_of(name: str) -> str:
    default = to_jsonable_python(Options.model_fields[name].default)
    if default in (None, []):
        return "none"
    if isinstance(default, bool):
        return "on" if default else "off"
    if isinstance(default, list):
        return ", ".join(default) if len(default) < 5 else "see the site file below"
    return str(default)


def reasons_table() -> str:
    """Return the reasons: what each means, and what to do about it."""
    rows = [
        (f"`{reason}`", traits.group.label, traits.description, f"{traits.why} {traits.remedy}")
        for reason in Reason
        for traits in (reason.traits,)
    ]
    return _table(("reason", "group", "meaning", "why it matters, what to do"), rows, escape=False)


def warnings_table() -> str:
    """Return the kinds of warnings: what each means, how much it matters and why, and what to do about it."""
    rows = [
        (f"`{kind}`", traits.severity, traits.description, traits.why, traits.remedy)
        for kind in WarningKind
        for traits in (kind.traits,)
    ]
    return _table(("kind", "severity", "meaning", "why it matters", "what to do"), rows, escape=False)


def rules_tables() -> str:
    """Return the rules of `validate`, a table for each family."""
    parts = []
    for family, title in FAMILIES.items():
        rows = [
            (f"`{rule.id}`", rule.severity, f"{rule.problem} {rule.remedy}",
             f"[{rule.source}]({rule.link})" if rule.link else rule.source)
            for rule in RULES.values() if rule.family == family
        ]  # fmt: skip
        parts.append(
            f"## {title}\n\n{_table(('rule', 'severity', 'meaning', 'source'), map(_literal, rows), escape=False)}"
        )
    return "\n".join(parts)


def _literal(row: tuple[str, ...]) -> tuple[str, ...]:
    """Return a row whose elements of XML are shown, not read as HTML."""
    return tuple(re.sub(r"<[^>]+>", r"`\g<0>`", text) for text in row)


def schema(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return loaded


def keys_table(name: str) -> str:
    """Return the keys of a JSON file with their types and meanings, from its schema."""
    return _table(("key", "type", "meaning"), _keys(schema(name)), escape=False)


def _keys(described: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, ...]]:
    for key, value in described.get("properties", {}).items():
        yield f"`{prefix}{key}`", _type(value), value.get("description", "")
        yield from _keys(value, f"{prefix}{key}.")
        yield from _keys(value.get("items", {}), f"{prefix}{key}[].")
        if isinstance(value.get("additionalProperties"), dict):
            yield from _keys(value["additionalProperties"].get("items", {}), f"{prefix}{key}.*[].")


def _type(value: dict[str, Any]) -> str:
    if "enum" in value:
        return ", ".join("null" if word is None else f"`{word}`" for word in value["enum"])
    types = value["type"] if isinstance(value["type"], list) else [value["type"]]
    return " or ".join(types)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]], *, escape: bool = True) -> str:
    head = tuple(head)
    lines = [head, ("---",) * len(head), *(map(_escaped, row) if escape else row for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def parts() -> dict[str, str]:
    """Return each part under the name of its file."""
    return {
        "options.md": options_table(command_line=True),
        "search-engines.md": engine_options_table(),
        "settings.md": options_table(command_line=False),
        "reasons.md": reasons_table(),
        "warnings.md": warnings_table(),
        "rules.md": rules_tables(),
        "report.md": keys_table("report"),
        "sites-report.md": keys_table("sites-report"),
        "status.md": keys_table("status"),
        "update.md": keys_table("update"),
        "submit.md": keys_table("submit"),
        "monitor.md": keys_table("monitor"),
    }


def write_parts(directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    for name, text in parts().items():
        path = directory / name
        # Sphinx reads pages again when the time of what they include has changed.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name, text in parts().items():
        print(f"{name}\n\n{text}")
