"""The forms of a validation report, read back by the libraries that read them elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from junitparser import Error, Failure, JUnitXml
from sarif_pydantic import Sarif

from sitemap_crawler.validation.catalogue import RULES
from sitemap_crawler.validation.findings import Collector, FileReport, ValidationReport, issue
from sitemap_crawler.validation.output.build_systems import github_lines, junit_lines, sarif_lines
from sitemap_crawler.validation.output.text import text_lines
from sitemap_crawler.validation.recommendations import recommendations
from tests.support.sitemap_documents import image
from tests.support.stored_inventory import run_here

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = 'https://example.com/<a>&"b"%0A::error::x,y:z'


def report(*found: tuple[str, str, int | None, str | None, str]) -> ValidationReport:
    """Return a report of findings: rule, file, line, URL, message. The set has one clean file more."""
    collector = Collector()
    for rule, file, line, url, message in found:
        collector.add(file, issue(rule, message, line, None if line is None else 7), url)
    files = tuple(FileReport(name, "urlset", 5, 1_000) for name in dict.fromkeys([*(f[1] for f in found), "clean.xml"]))
    kept = collector.result()
    advice = recommendations(collector.counts, collector.urls, kept)
    return ValidationReport(("sitemaps",), files, kept, collector.counts, {"total_urls": 5 * len(files)}, advice)


MIXED = report(
    ("image-retired", "b.xml", 9, "https://example.com/b", "<image:title> is no longer read"),
    *(("duplicate-loc", "a.xml", line, f"https://example.com/{line}", "listed twice") for line in range(1, 6)),
    ("loc-fragment", "a, b.xml", 3, HOSTILE, "the URL has the fragment #x"),
    ("live-incomplete", "a.xml", None, None, "12 URLs were not requested"),
)


def test_text_has_the_rules_worst_first_with_three_examples_and_a_verdict_at_the_end() -> None:
    lines = list(text_lines(MIXED))
    heads = [line for line in lines if line.startswith(("error:", "warning:"))]
    assert heads == [
        f"error: {RULES['duplicate-loc'].problem} [duplicate-loc] (5)",
        f"error: {RULES['loc-fragment'].problem} [loc-fragment] (1)",
        f"warning: {RULES['image-retired'].problem} [image-retired] (1)",
        f"warning: {RULES['live-incomplete'].problem} [live-incomplete] (1)",
    ]
    start = lines.index(heads[0])
    assert lines[start + 1 : start + 6] == [
        "  a.xml:1:7: https://example.com/1: listed twice",
        "  a.xml:2:7: https://example.com/2: listed twice",
        "  a.xml:3:7: https://example.com/3: listed twice",
        "  … and 2 more",
        f"  recommendation (high): {RULES['duplicate-loc'].remedy} (5 URLs)",
    ]
    assert sum(RULES["duplicate-loc"].remedy in line for line in lines) == 1
    assert lines[-1] == "not valid: 6 errors, 2 warnings, 20 URLs in 4 files"


def test_text_of_valid_files() -> None:
    assert list(text_lines(report())) == ["clean.xml: urlset, 5 URLs, 1,000 bytes", "valid: 5 URLs in 1 file"]


def test_text_counts_one_as_one_and_the_sitemaps_of_an_index_as_sitemaps() -> None:
    plain = report()
    files = (FileReport("map.xml", "sitemapindex", 1, 10), FileReport("map-1.xml", "urlset", 1, 20))
    assert list(text_lines(ValidationReport(plain.targets, files, (), plain.counts, {"checked_urls": 1}))) == [
        "map.xml: sitemapindex, 1 sitemap, 10 bytes",
        "map-1.xml: urlset, 1 URL, 20 bytes",
        "checked: 1 URL",
        "valid: 1 URL in 2 files",
    ]


def test_text_says_what_the_live_site_answered_and_the_bounds_of_a_sample() -> None:
    shares = {"checked": 200, "of": 10_000, "wrong": 5, "share_low": 0.0107, "share_high": 0.0567}
    shares |= {"broken_urls": 3, "redirect_urls": 2, "noindex_urls": 0}
    statistics = {"checked_urls": 200, "broken_urls": None, "sample": shares}
    plain = report()
    lines = text_lines(ValidationReport(plain.targets, plain.files, (), plain.counts, statistics))
    assert list(lines)[1:] == [
        "checked: 200 URLs, of them 3 broken, 2 redirecting",
        "sample: 5 of 200 URLs are wrong, so of all 10,000 between 1.1% and 5.7%",
        "valid: 5 URLs in 1 file",
    ]


@pytest.mark.parametrize("most", [0, 2, 4])
def test_text_shows_at_most_so_many_findings_and_counts_all(most: int) -> None:
    lines = list(text_lines(MIXED, max_findings=most))
    assert sum(line.startswith("  ") and ": " in line and "xml" in line for line in lines) == most
    assert sum(line.startswith(("error:", "warning:")) for line in lines) == 4
    assert lines[-1] == "not valid: 6 errors, 2 warnings, 20 URLs in 4 files"


def test_json_has_the_fixed_keys_and_says_what_it_leaves_out() -> None:
    parsed = json.loads(json.dumps(MIXED.to_json(max_findings=3)))
    keys = {"valid", "errors", "warnings", "statistics", "recommendations", "findings", "findings_left_out", "counts"}
    assert keys <= parsed.keys()
    assert parsed["findings"] == parsed["errors"]
    assert [finding["rule"] for finding in parsed["errors"]] == ["duplicate-loc"] * 3
    assert (parsed["warnings"], parsed["findings_left_out"]) == ([], 5)
    assert parsed["counts"] == {"duplicate-loc": 5, "loc-fragment": 1, "image-retired": 1, "live-incomplete": 1}


def test_junit_is_read_by_its_readers() -> None:
    document = JUnitXml.fromstring("\n".join(junit_lines(MIXED)).encode())
    (suite,) = document
    cases = {(case.classname, case.name): case for case in suite}
    assert set(cases) == {
        ("a.xml", "duplicate-loc"), ("a, b.xml", "loc-fragment"), ("b.xml", "image-retired"),
        ("a.xml", "live-incomplete"), ("clean.xml", "valid"),
    }  # fmt: skip
    failed = {key for key, case in cases.items() if any(isinstance(result, Failure) for result in case.result)}
    assert failed == {("a.xml", "duplicate-loc"), ("a, b.xml", "loc-fragment")}
    assert (suite.tests, suite.failures, suite.errors) == (5, 2, 1)
    assert [type(result) for result in cases["a.xml", "live-incomplete"].result] == [Error]
    (failure,) = cases["a, b.xml", "loc-fragment"].result
    assert f"line 3: {HOSTILE}: the URL has the fragment #x" in failure.text


def test_junit_fails_where_the_command_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "map.xml").write_text(image("<image:loc>https://e.com/1</image:loc><image:title>T</image:title>"))
    for fail_on, code, failures in (("error", 0, 0), ("warning", 1, 1)):
        assert run_here("validate", str(tmp_path), "--format", "junit", "--fail-on", fail_on) == code
        (suite,) = JUnitXml.fromstring(capsys.readouterr().out.encode())
        assert (suite.tests, suite.failures, suite.errors) == (1, failures, 0)


def test_sarif_is_read_by_its_readers() -> None:
    (document,) = sarif_lines(MIXED, max_findings=6)
    parsed = Sarif.model_validate_json(document)
    (run,) = parsed.runs
    assert [result.rule_id for result in run.results] == ["duplicate-loc"] * 5 + ["loc-fragment"]
    for result in run.results:
        assert run.tool.driver.rules[result.rule_index].id == result.rule_id
        assert result.level == RULES[result.rule_id].severity
    (location,) = run.results[-1].locations
    assert location.physical_location.artifact_location.uri == "a%2C%20b.xml"
    assert (location.physical_location.region.start_line, location.physical_location.region.start_column) == (3, 7)
    assert run.results[-1].message.text == f"{HOSTILE}: the URL has the fragment #x"
    written = json.loads(document)["runs"][0]
    assert written["properties"] == {"findingsLeftOut": 2}
    note = {"level": "error", "message": {"text": "12 URLs were not requested"}}
    assert written["invocations"] == [{"executionSuccessful": False, "toolExecutionNotifications": [note]}]


def test_a_check_that_could_not_be_made_makes_nothing_valid() -> None:
    unchecked = ("live-incomplete", "a.xml", None, None, "12 URLs were not requested")
    lost, wrong = report(unchecked), report(unchecked, ("loc-fragment", "a.xml", 3, None, "x"))
    for found, expected in ((lost, "incomplete"), (wrong, "invalid"), (report(), "valid")):
        values = found.to_json()
        assert (values["verdict"], values["valid"]) == (expected, expected == "valid")
        assert values["complete"] is (found not in (lost, wrong))
    assert [*text_lines(lost)][-1].startswith("incomplete: 1 warning")
    assert [*github_lines(lost)][-1].startswith("::notice title=sitemap-crawler::incomplete: ")


@pytest.mark.parametrize("most", [0, 1, None])
def test_junit_calls_no_file_valid_whose_findings_are_left_out(most: int | None) -> None:
    (suite,) = JUnitXml.fromstring("\n".join(junit_lines(MIXED, max_findings=most)).encode())
    assert (suite.tests, suite.failures) == (5, 2)
    assert [case.classname for case in suite if case.name == "valid"] == ["clean.xml"]


def test_forms_for_build_systems_name_files_from_the_working_directory() -> None:
    found = report(("loc-fragment", "a.xml", 3, None, "x"), ("unreachable", "https://e.org/b.xml", None, None, "x"))
    placed = replace(found, directory="public/maps")
    assert [line.split(",")[0] for line in list(github_lines(placed))[:2]] == [
        "::error file=public/maps/a.xml",
        "::error file=https%3A//e.org/b.xml",
    ]
    (run,) = Sarif.model_validate_json(next(sarif_lines(placed))).runs
    paths = [result.locations[0].physical_location.artifact_location.uri for result in run.results]
    assert paths == ["public/maps/a.xml", "https://e.org/b.xml"]
    (suite,) = JUnitXml.fromstring("\n".join(junit_lines(placed)).encode())
    assert {case.classname for case in suite} == {"public/maps/a.xml", "https://e.org/b.xml", "public/maps/clean.xml"}


def test_github_commands_hold_no_character_of_a_site_that_ends_or_begins_one() -> None:
    hostile = report(("loc-fragment", "a,b:c%.xml", 3, HOSTILE, "one\r\n::warning::two"))
    finding, notice = github_lines(hostile)
    properties, _, message = finding.removeprefix("::error ").partition("::")
    assert properties == "file=a%2Cb%3Ac%25.xml,line=3,col=7,title=loc-fragment"
    assert "\r" not in message
    assert "%0A::error::x,y:z" not in message.replace("%250A", "")
    assert notice.startswith("::notice title=sitemap-crawler::not valid: 1 error")
    assert all("\n" not in line for line in (finding, notice))


def test_the_recommendation_of_each_rule_is_its_own_remedy_with_the_number_of_urls() -> None:
    assert len({rule.remedy for rule in RULES.values()}) == len(RULES)
    for rule, texts in RULES.items():
        (advice,) = report((rule, "a.xml", 1, "https://example.com/", "x")).recommendations
        assert (advice["rule"], advice["rules"]) == (rule, [rule])
        assert advice["message"] == f"{texts.remedy} [{rule}] (1 URL)"


def test_recommendations_put_errors_first_and_count_each_url_once() -> None:
    assert [(entry["rule"], entry["priority"], entry["count"], entry["urls"]) for entry in MIXED.recommendations] == [
        ("duplicate-loc", "high", 5, 5),
        ("loc-fragment", "high", 1, 1),
        ("live-incomplete", "medium", 1, 0),
        ("image-retired", "low", 1, 1),
    ]
    assert MIXED.recommendations[0]["examples"] == [f"https://example.com/{number}" for number in (1, 2, 3)]
    images = report(*(("image-loc", "a.xml", line, f"https://example.com/{line // 3}", "x") for line in range(6)))
    assert [(entry["count"], entry["urls"]) for entry in images.recommendations] == [(6, 2)]
    whole = report(("byte-order-mark", "a.xml", None, None, "x"), ("byte-order-mark", "b.xml", None, None, "x"))
    assert [entry["message"] for entry in whole.recommendations] == [
        f"{RULES['byte-order-mark'].remedy} [byte-order-mark] (2 findings)"
    ]


def test_no_form_writes_what_a_file_holds_unescaped() -> None:
    wild = report(("loc-fragment", "a.xml", 3, "https://example.com/\x1b[31m\x07", "bell \x07 and \x1b]0;x\x07"))
    forms = (text_lines, github_lines, junit_lines, sarif_lines)
    for written in [json.dumps(wild.to_json()), *("\n".join(lines(wild)) for lines in forms)]:
        assert "\x1b" not in written
        assert "\x07" not in written
