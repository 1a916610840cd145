"""The policy of rendering: which pages of a crawl are rendered, by what the pages before them have shown."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemap_crawler.crawl.rendering import policy
from sitemap_crawler.crawl.rendering.policy import (
    CHECK_EVERY,
    MAX_IDLE,
    MAX_TEMPLATES,
    MAX_TEMPLATES_OF_SHAPE,
    SAMPLES,
    RenderingPolicy,
    TemplateCounts,
    Verdict,
    url_shape,
)
from sitemap_crawler.extract.scripts import ScriptFacts
from sitemap_crawler.items import RenderCause

RENDER, LEAVE, WAIT = Verdict.RENDER, Verdict.LEAVE, Verdict.WAIT
URL = "https://example.com/p/1"


def facts(scripts: str = "app", *, is_shell: bool = False) -> ScriptFacts:
    digest = blake2b(scripts.encode(), digest_size=8).digest() if scripts else b""
    return ScriptFacts(digest, is_shell, 500, "utf-8")


def run(judge: RenderingPolicy, useful: list[bool], *, url: str = URL, scripts: str = "app") -> list[RenderCause]:
    """Judge one page after the other; a rendered one gains what `useful` says. Return the causes."""
    causes = []
    for gains in useful:
        judgement = judge.judge(url, facts(scripts))
        if judgement.verdict is RENDER:
            judge.gained(judgement, useful=gains)
        causes.append(judgement.cause)
    return causes


def test_a_page_without_scripts_is_never_rendered() -> None:
    for always in (False, True):
        judgement = RenderingPolicy(always=always).judge(URL, facts(""), gained_before=True)
        assert (judgement.verdict, judgement.cause) == (LEAVE, RenderCause.NO_SCRIPTS)


def test_a_shell_is_always_rendered() -> None:
    judge = RenderingPolicy(always=False)
    run(judge, [False] * 100)
    judgement = judge.judge(URL, facts(is_shell=True))
    assert (judgement.verdict, judgement.cause) == (RENDER, RenderCause.SHELL)


def test_a_page_that_gained_before_is_always_rendered() -> None:
    judge = RenderingPolicy(always=False)
    run(judge, [False] * 100)
    judgement = judge.judge(URL, facts(), gained_before=True)
    assert (judgement.verdict, judgement.cause) == (RENDER, RenderCause.GAINED_BEFORE)


def test_with_always_all_pages_are_rendered() -> None:
    causes = run(RenderingPolicy(always=True), [False] * 100)
    assert set(causes) == {RenderCause.ALWAYS}


def test_other_pages_wait_for_the_samples() -> None:
    judge = RenderingPolicy(always=False)
    samples = [judge.judge(URL, facts()) for _ in range(SAMPLES)]
    assert {sample.verdict for sample in samples} == {RENDER}
    assert judge.judge(URL, facts()).verdict is WAIT
    assert judge.judge(URL, facts("other")).verdict is RENDER
    for sample in samples[:-1]:
        judge.gained(sample, useful=False)
        assert judge.judge(URL, facts()).verdict is WAIT
    judge.gained(samples[-1], useful=False)
    assert judge.judge(URL, facts()).verdict is LEAVE


@pytest.mark.parametrize("end", [RenderingPolicy.failed, RenderingPolicy.abandoned])
def test_a_sample_without_a_result_is_no_evidence(end: object) -> None:
    """Another page takes its place."""
    judge = RenderingPolicy(always=False)
    samples = [judge.judge(URL, facts()) for _ in range(SAMPLES)]
    end(judge, samples[0])  # type: ignore[operator]
    again = judge.judge(URL, facts())
    assert (again.verdict, again.cause) == (RENDER, RenderCause.SAMPLE)
    assert judge.judge(URL, facts()).verdict is WAIT


def test_idle_samples_leave_all_but_a_few() -> None:
    causes = Counter(run(RenderingPolicy(always=False), [False] * (SAMPLES + 4 * CHECK_EVERY)))
    assert causes == {
        RenderCause.SAMPLE: SAMPLES, RenderCause.CHECK: 4, RenderCause.IDLE_TEMPLATE: 4 * (CHECK_EVERY - 1),
    }  # fmt: skip


@pytest.mark.parametrize("useful_sample", range(SAMPLES))
def test_one_useful_sample_renders_all_until_many_in_a_row_gain_nothing(useful_sample: int) -> None:
    judge = RenderingPolicy(always=False)
    run(judge, [number == useful_sample for number in range(SAMPLES)])
    idle = SAMPLES - 1 - useful_sample
    causes = run(judge, [False] * 30)
    assert causes[: MAX_IDLE - idle] == [RenderCause.TEMPLATE] * (MAX_IDLE - idle)
    assert set(causes[MAX_IDLE - idle : CHECK_EVERY]) == {RenderCause.IDLE_TEMPLATE}


def test_pages_that_stay_as_they_are_count_for_the_checks() -> None:
    judge = RenderingPolicy(always=False)
    run(judge, [False] * SAMPLES)
    key = judge.judge(URL, facts()).template
    checks = [judge.checks(key) for _ in range(2 * CHECK_EVERY - 1)]
    assert [number for number, is_check in enumerate(checks, 2) if is_check] == [CHECK_EVERY, 2 * CHECK_EVERY]
    assert [judge.checks(other) for other in (None, 12345)] == [False, False]


def test_a_page_is_rendered_again_whatever_its_template_gains() -> None:
    judge = RenderingPolicy(always=False)
    run(judge, [False] * 100)
    for cause in (RenderCause.SAMPLE, RenderCause.CHECK):
        judgement = judge.judge(URL, facts(), again=cause)
        assert (judgement.verdict, judgement.cause) == (RENDER, cause)
        judge.gained(judgement, useful=False)
    assert judge.judge(URL, facts()).verdict is LEAVE


def test_a_useful_check_renders_all_again() -> None:
    judge = RenderingPolicy(always=False)
    run(judge, [False] * (SAMPLES + CHECK_EVERY - 1))
    assert run(judge, [True] * 5) == [RenderCause.CHECK, *[RenderCause.TEMPLATE] * 4]


def test_a_template_whose_renderings_only_fail_is_given_up() -> None:
    judge = RenderingPolicy(always=False)
    for _ in range(MAX_IDLE):
        judgement = judge.judge(URL, facts())
        assert judgement.verdict is RENDER
        judge.failed(judgement)
    assert judge.judge(URL, facts()).verdict is LEAVE
    assert judge.tries(judgement.template) is False
    assert run(judge, [False] * CHECK_EVERY).count(RenderCause.CHECK) == 1


def test_results_are_known_to_the_next_process() -> None:
    first = RenderingPolicy(always=False)
    run(first, [False] * 10)
    run(first, [True] * 10, scripts="other")
    second = RenderingPolicy(always=False, known=first.take_changed())
    assert first.take_changed() == second.take_changed() == []
    assert run(second, [False]) == [RenderCause.IDLE_TEMPLATE]
    assert run(second, [False], scripts="other") == [RenderCause.TEMPLATE]


def test_a_page_with_scripts_of_its_own_is_no_template_for_ever() -> None:
    judge = RenderingPolicy(always=False)
    causes = [run(judge, [False], scripts=f"page {number}")[0] for number in range(1_000)]
    assert causes.count(RenderCause.SAMPLE) == MAX_TEMPLATES_OF_SHAPE + SAMPLES


def test_endless_templates_take_bounded_memory_and_renderings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "MAX_TEMPLATES", 100)
    judge = RenderingPolicy(always=False)
    rendered = Counter(
        run(judge, [False], url=f"https://example.com/{'x' * number}/", scripts=str(number))[0]
        for number in range(2_000)
    )
    assert len(judge.take_changed()) == 101
    assert rendered[RenderCause.SAMPLE] == 100 + SAMPLES


def test_stored_templates_are_bounded_too() -> None:
    known = (TemplateCounts(number, 10**6 + number, 3, 0, 3, 0, 0) for number in range(1, 3 * MAX_TEMPLATES))
    judge = RenderingPolicy(always=False, known=known)
    run(judge, [False])
    assert [counts.key for counts in judge.take_changed()] == [policy.OVERFLOW]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["gained", "idle", "failed", "abandoned"])), max_size=300))
def test_every_page_gets_a_verdict_at_last(pages: list[tuple[int, str]]) -> None:
    """Whatever renderings bring: a waiting page always waits for one that is being rendered."""
    judge = RenderingPolicy(always=False)
    running = []
    for number, result in pages:
        judgement = judge.judge(URL, facts(str(number)))
        while judgement.verdict is WAIT:
            waiting = [(one, how) for one, how in running if one.template == judgement.template]
            assert waiting
            running.remove(waiting[0])
            _end(judge, *waiting[0])
            judgement = judge.judge(URL, facts(str(number)))
        if judgement.verdict is RENDER:
            running.append((judgement, result))
    for one, how in running:
        _end(judge, one, how)
    assert all(template.pending == 0 for template in judge._templates.values())


def _end(judge: RenderingPolicy, judgement: policy.Judgement, how: str) -> None:
    if how in ("gained", "idle"):
        judge.gained(judgement, useful=how == "gained")
    elif how == "failed":
        judge.failed(judgement)
    else:
        judge.abandoned(judgement)


@given(st.lists(st.booleans(), max_size=100))
def test_a_crawl_in_two_processes_judges_as_in_one(useful: list[bool]) -> None:
    whole = run(RenderingPolicy(always=False), useful)
    half = len(useful) // 2
    first = RenderingPolicy(always=False)
    causes = run(first, useful[:half])
    second = RenderingPolicy(always=False, known=first.take_changed())
    assert causes + run(second, useful[half:]) == whole


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.com/p/1", "https://a.com/p/some-name"),
        ("https://a.com/p/1", "https://b.com/p/2"),
        ("https://a.com/2024/05/x", "https://a.com/2025/11/y"),
        ("https://a.com/list?page=1", "https://a.com/list?page=2"),
        ("https://a.com/about", "https://a.com/team"),
    ],
)
def test_urls_of_one_kind_have_one_shape(one: str, other: str) -> None:
    assert url_shape(one) == url_shape(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.com/p/1", "https://a.com/blog/1"),
        ("https://a.com/p/1", "https://a.com/p/1/more"),
        ("https://a.com/p/1", "https://a.com/p/1.html"),
        ("https://a.com/p/", "https://a.com/p/1"),
        ("https://a.com/list?page=1", "https://a.com/list"),
    ],
)
def test_urls_of_other_kinds_have_other_shapes(one: str, other: str) -> None:
    assert url_shape(one) != url_shape(other)


@given(st.text(max_size=300))
def test_any_text_has_a_bounded_shape(text: str) -> None:
    url = f"https://example.com/{text.replace('[', '').replace(']', '')}"
    assert len(url_shape(url)) <= len(url) + 10
