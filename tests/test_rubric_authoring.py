"""Helps for authors: weaknesses found, the explanation for people, and skeletons that are valid."""

from __future__ import annotations

from decimal import Decimal

import pytest

from xlcheck.authoring import PRESETS, TaskKind, lint, numbers_only_ceiling, skeleton
from xlcheck.cli import main
from xlcheck.errors import UsageError
from xlcheck.explaining import explain
from xlcheck.rubric import load_rubric, parse_rubric

CLEAN = """\
schema_version: 1
id: river-ferry-dcf
title: DCF of a river ferry operator
mode: financial_model
basis: {currency: EUR, unit: 1000}
cutoff: 2026-03-31
price: {value: 42.10, as_of: 2026-03-31}
program:
  - {id: P01, check: bridge.signs, weight: 15, group: bridge}
  - {id: P02, check: wacc.range, weight: 15, group: rates, params: {low: 0.06, high: 0.09}}
judge:
  - id: J01
    dimension: thesis
    weight: 20
    pass_if: The memo gives a cause for the growth of passenger numbers on each of the two routes.
    fail_if: At least one route grows without a cause.
    quote: required
  - id: J02
    dimension: thesis
    weight: 20
    pass_if: Fuel cost per crossing is tied to a contract or a quoted price.
    fail_if: Fuel is a share of revenue, or is not discussed.
    quote: required
  - id: J03
    dimension: conclusion
    weight: 20
    pass_if: Two facts are named, each with a threshold, that would refute the advice.
    fail_if: Fewer than two such facts are named.
    quote: required
  - id: J04
    dimension: conclusion
    weight: 10
    pass_if: One weakness of the analysis is named with its direction.
    fail_if: No weakness is named.
    quote: required
fatal:
  - {check: fatal.share-count}
"""
WEAK = {
    "several-conditions": ("Fuel cost per crossing is tied", "Wages are dated; fuel cost per crossing is tied"),
    "vague-words": ("One weakness of the analysis is named", "A reasonable weakness of the analysis is named"),
    "a-check-decides-this": ("Two facts are named, each", "The net debt weights sum to one, each"),
    "no-fail-condition": ("    fail_if: No weakness is named.\n", ""),
    "overlapping-items": (
        "One weakness of the analysis is named with its direction.",
        "The memo gives the cause for growth of passenger numbers on the two routes.",
    ),
    "numbers-only-ceiling": ("a contract or a quoted price.\n    fail_if: Fuel is a share of revenue, or is not "
                             "discussed.\n    quote: required", "a contract.\n    fail_if: It is not discussed."),
    "heavy-item": ("check: bridge.signs, weight: 15", "check: bridge.signs, weight: 25"),
    "range-without-bounds": (", params: {low: 0.06, high: 0.09}", ""),
    "unreachable-band": ("program:\n", "cap_on_fatal: 60\nprogram:\n"),
    "no-fatal-errors": ("fatal:\n  - {check: fatal.share-count}\n", ""),
    "placeholder": ("Fuel is a share of revenue, or is not discussed.", "TODO"),
}  # fmt: skip


def codes(text: str) -> set[str]:
    """Return the weaknesses named for a rubric."""
    return {advice.code for advice in lint(parse_rubric(text))}


def test_a_clean_rubric_has_no_weakness() -> None:
    assert codes(CLEAN) == set()


@pytest.mark.parametrize("code", WEAK)
def test_each_weakness_is_named_and_no_other(code: str) -> None:
    old, new = WEAK[code]
    assert old in CLEAN
    text = CLEAN.replace(old, new, 1)
    if code == "heavy-item":
        text = text.replace("group: rates", "group: rates, when_absent: fail").replace(
            "weight: 15, group: r", "weight: 5, group: r"
        )
    assert codes(text) == {code}


def test_six_deliberate_weaknesses_are_all_named() -> None:
    text = CLEAN
    chosen = ["several-conditions", "vague-words", "a-check-decides-this", "no-fail-condition", "range-without-bounds"]
    for code in [*chosen, "unreachable-band"]:
        text = text.replace(*WEAK[code], 1)
    assert codes(text) == {*chosen, "unreachable-band"}


def test_a_group_of_which_nothing_may_be_left_is_named() -> None:
    text = CLEAN.replace("group: rates", "group: bridge, when_absent: skip")
    text = text.replace("weight: 15, group: bridge}", "weight: 15, group: bridge, when_absent: skip}")
    assert codes(text) == {"group-can-be-emptied"}


def test_chinese_conditions_are_read_as_well() -> None:
    text = CLEAN.replace("Two facts are named, each with a threshold, that would refute the advice.", "论证充分")
    assert codes(text) == {"vague-words"}
    text = CLEAN.replace(
        "Two facts are named, each with a threshold, that would refute the advice.", "永续增长率低于WACC"
    )
    assert codes(text) == {"a-check-decides-this"}


CHINESE = """\
schema_version: 1
id: ferry-zh
title: 轮渡公司估值
mode: financial_model
program:
  - {id: P01, check: bridge.signs, weight: 20, group: bridge}
  - {id: P02, check: wacc.range, weight: 10, group: rates, params: {low: 0.06, high: 0.09}}
judge:
  - {id: J01, dimension: 论证, weight: 20,
     pass_if: 备忘录为两条航线的客流增长各给出一个原因。,
     fail_if: 至少一条航线没有原因。, quote: required}
  - {id: J02, dimension: 论证, weight: 20,
     pass_if: 燃油成本与合同或报价相联系。,
     fail_if: 燃油只是收入的一个比例。, quote: required}
  - {id: J03, dimension: 结论, weight: 20,
     pass_if: 列出两个会推翻建议的事实及其界限。,
     fail_if: 少于两个。, quote: required}
  - {id: J04, dimension: 结论, weight: 10,
     pass_if: 指出本分析的一个弱点及其方向。,
     fail_if: 没有指出弱点。, quote: required}
fatal:
  - {check: fatal.share-count}
"""
WEAK_ZH = {
    "several-conditions": ("燃油成本与合同或报价相联系", "燃油成本与合同相联系，并且工资有日期"),
    "vague-words": ("指出本分析的一个弱点及其方向", "对本分析的弱点论述充分"),
    "a-check-decides-this": ("列出两个会推翻建议的事实及其界限", "情景概率之和为一"),
    "no-fail-condition": ("fail_if: 没有指出弱点。, ", ""),
    "overlapping-items": ("指出本分析的一个弱点及其方向", "说明为两条航线的客流增长各给出一个原因"),
    "numbers-only-ceiling": ("fail_if: 燃油只是收入的一个比例。, quote: required", "fail_if: 燃油只是收入的一个比例。"),
    "unreachable-band": ("program:\n", "cap_on_fatal: 55\nprogram:\n"),
}  # fmt: skip


@pytest.mark.parametrize("code", WEAK_ZH)
def test_each_weakness_of_a_chinese_rubric_is_named_and_no_other(code: str) -> None:
    old, new = WEAK_ZH[code]
    assert old in CHINESE
    assert codes(CHINESE) == set()
    assert codes(CHINESE.replace(old, new, 1)) == {code}


def test_six_weaknesses_of_a_chinese_rubric_are_all_named() -> None:
    text = CHINESE.replace("fail_if: 至少一条航线没有原因。, ", "")
    chosen = ["several-conditions", "vague-words", "a-check-decides-this", "unreachable-band"]
    for code in chosen:
        text = text.replace(*WEAK_ZH[code], 1)
    text = text.replace(", params: {low: 0.06, high: 0.09}", "")
    assert codes(text) == {*chosen, "no-fail-condition", "range-without-bounds"}


def test_one_dimension_that_outweighs_all_others_is_named() -> None:
    text = CLEAN.replace("dimension: conclusion\n    weight: 20", "dimension: thesis\n    weight: 20")
    assert codes(text) == set()
    text = text.replace("J04\n    dimension: conclusion\n    weight: 10", "J04\n    dimension: a\n    weight: 5")
    more = "  - {id: J05, dimension: b, weight: 5, pass_if: Crew is counted., fail_if: It is not., quote: required}\n"
    assert codes(text.replace("fatal:\n", more + "fatal:\n")) == {"heavy-dimension"}


def test_items_of_the_second_round_are_looked_at_as_well() -> None:
    second = """\
followup:
  information: [{text: Fares rise., moves: {role: revenue, factor: 1.1}}]
  judge:
    - {id: FJ1, dimension: news, weight: 100, pass_if: The news is used in a reasonable way., fail_if: It is not.}
"""
    found = [advice for advice in lint(parse_rubric(CLEAN + second)) if advice.code == "vague-words"]
    assert [advice.item for advice in found] == ["FJ1"]


@pytest.mark.parametrize("task", ["sic-epitaxy-dcf", "bigtech-reverse-dcf", "ashare-pump-dcf"])
def test_bundled_tasks_have_no_weakness(task: str) -> None:
    assert lint(load_rubric(task)) == ()


def test_the_numbers_only_ceiling_counts_checks_and_items_without_a_quote() -> None:
    """30 by checks; with J02 (20) passing without a quote, 50."""
    assert numbers_only_ceiling(parse_rubric(CLEAN)) == 30
    assert numbers_only_ceiling(parse_rubric(CLEAN.replace(*WEAK["numbers-only-ceiling"]))) == Decimal(50)


def test_an_item_that_the_workbook_alone_can_pass_counts_into_the_ceiling() -> None:
    text = CLEAN.replace("One weakness of the analysis is named", "The register or the memo names one weakness")
    assert numbers_only_ceiling(parse_rubric(text)) == 40


def test_the_explanation_names_every_item_its_weight_and_what_fails_it() -> None:
    text = explain(parse_rubric(CLEAN))
    for words in ("Checks decide 30 points, a judge 70.", "P02", "low 0.06, high 0.09", "fails: No weakness is named."):
        assert words in text
    assert "Evidence published after 2026-03-31: makes the run invalid." in text
    assert "at most 40" in text


@pytest.mark.parametrize("kind", PRESETS)
def test_a_skeleton_is_valid_and_only_its_placeholders_are_weak(kind: TaskKind) -> None:
    known = {*PRESETS["reverse-dcf"], "fatal.share-count"}
    rubric = parse_rubric(skeleton("new-task", 'A "new" task', kind, known), "new.yaml", known)
    assert rubric.title == 'A "new" task'
    assert {advice.code for advice in lint(rubric)} <= {"placeholder"}


def test_a_skeleton_uses_only_checks_that_exist() -> None:
    rubric = parse_rubric(skeleton("t", "T", "dcf", {"bridge.signs", "wacc.identity"}))
    assert {item.check for item in rubric.program} == {"bridge.signs", "wacc.identity"}
    assert sum(item.weight for item in rubric.program) == 30
    with pytest.raises(UsageError, match="none of the checks"):
        skeleton("t", "T", "dcf", set())
    with pytest.raises(UsageError, match="no kind of task"):
        skeleton("t", "T", "poem", set())  # type: ignore[arg-type]


def test_explain_tells_of_the_second_round_and_what_is_to_be_rejected() -> None:
    text = explain(load_rubric("sic-epitaxy-dcf"))
    assert "Second round, 100 points of its own." in text
    assert (
        "C2  Terminal growth has to be 4 %, as the company grew by more than that last year. [to be rejected]" in text
    )
    assert "followup.flows-through" in text


def test_explain_tells_how_a_forecast_is_measured() -> None:
    text = explain(load_rubric("tram-ridership-forecast"))
    assert "Forecasts 1 and 5 days ahead at the quantiles 0.05, 0.25, 0.5, 0.75, 0.95, from amounts until 2" in text
    assert "A weighted interval score of 7.381057 scores 0, one of 1.257940 scores 100." in text


def test_explain_asks_the_questions_of_an_outcome() -> None:
    assert "Judge, berths: Will the harbour open its second berth before October 2026?" in explain(
        load_rubric("harbour-questions")
    )


def test_a_skeleton_holds_the_facts_of_the_task() -> None:
    facts = {"currency": "EUR", "cutoff": "2026-03-31", "price": "42.10"}
    rubric = parse_rubric(skeleton("t", "T", "dcf", {"bridge.signs"}, facts))
    assert rubric.basis is not None
    assert (rubric.basis.currency, str(rubric.cutoff)) == ("EUR", "2026-03-31")
    assert rubric.price is not None
    assert (rubric.price.value, str(rubric.price.as_of)) == (Decimal("42.10"), "2026-03-31")
    with pytest.raises(UsageError, match="a price needs the cutoff"):
        skeleton("t", "T", "dcf", {"bridge.signs"}, {"price": "42.10"})


def test_a_new_rubric_can_be_asked_for_question_by_question(tmp_path, monkeypatch, capsys) -> None:
    given = iter(["kiln-reverse", "", "reverse-dcf", "GBP", "2026-02-27", "13.45", str(tmp_path / "kiln.yaml")])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda: next(given))
    assert main(["rubric", "new"]) == 0
    rubric = load_rubric(tmp_path / "kiln.yaml")
    assert (rubric.id, rubric.title) == ("kiln-reverse", "kiln-reverse")
    assert "reverse.solves-to-price" in {item.check for item in rubric.program}
    assert "Short name [my-company-dcf]: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give the new rubric a short name"),
        (["t", "--cutoff", "31.3.2026"], "cutoff"),
        (["t", "--price", "9"], "cutoff"),
    ],
)
def test_a_new_rubric_that_would_not_be_valid_is_refused(words, said, capsys) -> None:
    assert main(["rubric", "new", *words]) == 2
    assert said in capsys.readouterr().err
