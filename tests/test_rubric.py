"""Rubric files: what is accepted, and the one sentence that each fault gets."""

from __future__ import annotations

import contextlib
import re
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlcheck.cells import CellRef, RangeRef
from xlcheck.errors import RubricError
from xlcheck.resources import bundled, bundled_names
from xlcheck.rubric import Rubric, fingerprint, load_rubric, parse_rubric, requests, rubric_schema, second_round

CHECKS = {"bridge.equity-identity", "wacc.range", "terminal.gordon-identity", "fatal.growth-not-below-wacc"}
GOOD = """\
schema_version: 1
id: river-ferry-dcf
title: DCF of a river ferry operator
mode: financial_model
basis: {currency: EUR, unit: 1000}
cutoff: 2026-03-31
on_leak: invalid
price: {value: 42.10, as_of: 2026-03-31}
binding: {wacc: "'Rates x'!$B$2", fcff: "DCF!C5:G5"}
program:
  - {id: P01, check: bridge.equity-identity, weight: 20.9, group: bridge, stage: derivation, when_absent: skip}
  - {id: P02, check: wacc.range, weight: 7, group: bridge, params: {low: 0.085, high: 0.115, at: market, on: true}}
judge:
  - {id: J01, dimension: assumptions, stage: assumption, weight: 72.1, pass_if: "argued", quote: required}
deductions:
  - {id: D01, points: 5, when: "a source is invented"}
fatal:
  - {check: fatal.growth-not-below-wacc}
  - {id: F02, judge: "nominal flows discounted at a real rate"}
"""


def test_an_endless_key_is_shortened_in_the_sentence(tmp_path):
    text = bundled("rubrics", "generic-dcf.yaml").read_text("utf-8")
    (tmp_path / "endless.yaml").write_text(f"{text}\nid{'A' * 900}: x\n", "utf-8")
    with pytest.raises(RubricError, match=r"idAAA.*…A") as told:
        load_rubric(tmp_path / "endless.yaml")
    assert "A" * 300 not in str(told.value)


def test_a_good_rubric_is_read_with_exact_weights_and_typed_parameters() -> None:
    rubric = parse_rubric(GOOD, known_checks=CHECKS)
    assert [item.weight for item in rubric.items] == [Decimal("20.9"), Decimal(7), Decimal("72.1")]
    assert rubric.program[1].params == {"low": Decimal("0.085"), "high": Decimal("0.115"), "at": "market", "on": True}
    assert rubric.binding == {"wacc": CellRef("Rates x", 2, 2), "fcff": RangeRef("DCF", 5, 3, 5, 7)}
    assert [rule.key for rule in rubric.fatal] == ["fatal.growth-not-below-wacc", "F02"]
    assert rubric.cap_on_fatal == 40


def test_weights_that_binary_floats_cannot_add_sum_to_100() -> None:
    """As floats, 0.1 ten times and 99 is not 100."""
    judge = "\n".join(f'  - {{id: J{i}, dimension: d, weight: 0.1, pass_if: "x"}}' for i in range(10))
    text = "schema_version: 1\nid: t\ntitle: T\nmode: research_judgement\njudge:\n" + judge
    rubric = parse_rubric(text + '\n  - {id: K, dimension: d, weight: 99, pass_if: "x"}\n')
    assert len(rubric.judge) == 11


def test_a_rubric_survives_a_round_trip_through_json() -> None:
    rubric = parse_rubric(GOOD)
    assert Rubric.model_validate_json(rubric.model_dump_json()) == rubric


def test_a_rubric_of_checks_only_has_share_one() -> None:
    text = GOOD[: GOOD.index("judge:")].replace("20.9", "93")
    assert parse_rubric(text).program_share == (1, 1)


def test_requests_name_the_item_and_make_fatal_rules_fatal() -> None:
    asked = {request.item: request for request in requests(parse_rubric(GOOD))}
    assert set(asked) == {"P01", "P02", "fatal.growth-not-below-wacc"}
    assert asked["P01"].severity is None
    assert asked["fatal.growth-not-below-wacc"].severity == "fatal"
    assert asked["P02"].params["low"] == Decimal("0.085")
    assert asked["P02"].params["price"] == Decimal("42.10")


def test_the_fingerprint_ignores_comments_and_follows_content() -> None:
    first = fingerprint(parse_rubric(GOOD))
    assert fingerprint(parse_rubric("# a remark\n" + GOOD.replace("\n", "\r\n"))) == first
    assert fingerprint(parse_rubric(GOOD.replace("points: 5", "points: 6"))) != first


BAD = {
    "a weight is changed": ("weight: 20.9", "weight: 20.8", 10, "program", "sum to 99.9"),
    "a key is misspelt": ("weight: 20.9", "wieght: 20.9", 11, "program[0].wieght", "did you mean 'weight'?"),
    "a key is missing": ("weight: 20.9, ", "", 11, "program[0].weight", "is missing"),
    "a weight is no number": ("weight: 20.9", "weight: heavy", 11, "program[0].weight", "'heavy'; write a decimal"),
    "a weight is not finite": ("weight: 20.9", "weight: .nan", 11, "program[0].weight", "'.nan'"),
    "a weight is negative": ("weight: 20.9", "weight: -20.9", 11, "program[0].weight", "greater than 0"),
    "a weight has seven decimals": ("weight: 20.9", "weight: 20.9000001", 11, "program[0].weight", "6 decimal places"),
    "an id is used twice": ("id: D01", "id: J01", 16, "deductions[0].id", "already used by judge[0]"),
    "a check is misspelt": ("check: wacc.range", "check: wacc.rnage", 12, "program[1].check", "mean 'wacc.range'?"),
    "a fatal check is unknown": ("{check: fatal.g", "{check: fatal.z", 18, "fatal[0].check", "is no check"),
    "a fatal rule has neither": ("{id: F02, judge", "{id: F02, quote: optional, x", 19, "fatal[1]", "unknown key"),
    "a fatal rule has both": ("{id: F02, ", "{id: F02, check: wacc.range, ", 19, "fatal[1]", "either 'check'"),
    "a judged fatal has no id": ("{id: F02, judge", "{judge", 19, "fatal[1]", "'id' is missing"),
    "the mode is unknown": ("mode: financial_model", "mode: model", 4, "mode", "write 'financial_model'"),
    "the schema is newer": ("schema_version: 1", "schema_version: 2", 1, "schema_version", "reads 1"),
    "a date is in another order": ("cutoff: 2026-03-31", "cutoff: 31.03.2026", 6, "cutoff", "write a date such as"),
    "a skipped item has no group": ("group: bridge, stage", "stage", 11, "program[0].when_absent", "has no group"),
    "a skipped item is alone": ("group: bridge, stage", "group: b, stage", 11, "program[0].when_absent", "is alone"),
    "when_absent is unknown": ("when_absent: skip", "when_absent: drop", 11, "program[0].when_absent", "or 'skip'"),
    "a role is misspelt": ("{wacc:", "{wac:", 9, "binding.wac", "did you mean 'wacc'?"),
    "a bound cell is none": ("$B$2", "$B", 9, "binding.wacc", "no cell address"),
    "the share is outside the band": ("basis:", "program_share: [0.5, 0.6]\nbasis:", 5, "program_share", "weigh 27.9"),
    "the band is upside down": ("basis:", "program_share: [0.6, 0.2]\nbasis:", 5, "program_share", "is no band"),
    "the cap is above 100": ("basis:", "cap_on_fatal: 140\nbasis:", 5, "cap_on_fatal", "'140'"),
    "a key stands twice": ("title:", "id: other\ntitle:", 3, "id", "stands there twice"),
    "the currency is no code": ("currency: EUR", "currency: euro", 5, "basis.currency", "'euro'"),
    "a leak deducts nothing": ("on_leak: invalid", "on_leak: deduct", 7, "on_leak", "leak: true"),
    "a list stands for a text": ("title: DCF of a river ferry operator", "title: [a, b]", 3, "title", "write a text"),
    "a text stands for a list": (
        "deductions:\n  - {id: D01, points: 5", "deductions: none\nx:\n  - {id: D01", 15, "deductions", "write a list"
    ),
    "the forecast does not belong": (
        "basis:", "forecast: {baseline_wis: 2, reference_wis: 1, quantiles: [0.5]}\nbasis:", 5, "forecast", "belongs to"
    ),
    "a bound is a percentage": ("low: 0.085", "low: 8.5%", 12, "program[1].params.low", "rates as decimals"),
    "the bounds are upside down": ("low: 0.085", "low: 0.85", 12, "program[1].params.low", "lies above high 0.115"),
    "a judge item has no condition": ('pass_if: "argued"', 'pass_if: ""', 14, "judge[0].pass_if", "at least 1"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_rubric_gets_one_sentence_with_file_line_and_key(fault: str) -> None:
    old, new, line, key, words = BAD[fault]
    assert old in GOOD
    with pytest.raises(RubricError) as caught:
        parse_rubric(GOOD.replace(old, new, 1), "r.yaml", CHECKS)
    message = str(caught.value)
    assert message.startswith(f"r.yaml:{line}: ")
    assert key in message
    assert words in message
    assert "\n" not in message
    assert "pydantic" not in message


def test_the_bad_rubrics_get_different_sentences() -> None:
    messages = set()
    for old, new, *_ in BAD.values():
        with pytest.raises(RubricError) as caught:
            parse_rubric(GOOD.replace(old, new, 1), "r.yaml", CHECKS)
        messages.add(str(caught.value))
    assert len(messages) == len(BAD) >= 30


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a mapping with the keys schema_version, id"),
        ("- a\n- b\n", "a mapping with the keys"),
        ("id: [1, 2\n", "not YAML"),
        ("id: &x a\ntitle: *x\n", "alias"),
        ("? [a]\n: b\n", "a key must be a word"),
        ("schema_version: 1\nid: t\ntitle: T\nmode: financial_model\n", "has no items"),
    ],
)
def test_text_that_is_no_rubric_is_refused(text: str, words: str) -> None:
    with pytest.raises(RubricError, match=re.escape(words)):
        parse_rubric(text)


@pytest.mark.parametrize(
    ("forecast", "words"),
    [
        ("{baseline_wis: 1, reference_wis: 1, quantiles: [0.1, 0.5, 0.9]}", "must lie below the baseline"),
        ("{baseline_wis: 2, reference_wis: 1, quantiles: [0.1, 0.5, 0.8]}", "symmetrically"),
        ("{baseline_wis: 2, reference_wis: 1, quantiles: [0.9, 0.5, 0.1]}", "must rise"),
        ("{baseline_wis: 2, reference_wis: 1, quantiles: [0.1, 0.9]}", "median"),
    ],
)
def test_a_forecast_rubric_needs_a_sound_task(forecast: str, words: str) -> None:
    text = f"schema_version: 1\nid: t\ntitle: T\nmode: quantile_forecast\nforecast: {forecast}\n"
    with pytest.raises(RubricError, match=words):
        parse_rubric(text)


def test_research_judgement_refuses_checks() -> None:
    with pytest.raises(RubricError, match="judge items only"):
        parse_rubric(GOOD.replace("financial_model", "research_judgement"))


def test_an_unknown_bundled_id_is_named_with_the_known_ones() -> None:
    with pytest.raises(RubricError, match="no bundled rubric 'no-such-task'"):
        load_rubric("no-such-task")


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RubricError, match="there is no such rubric file"):
        load_rubric(tmp_path / "absent.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"id: \xff\xfe")
    with pytest.raises(RubricError, match="no UTF-8 text"):
        load_rubric(tmp_path / "binary.yaml")


def test_a_rubric_file_is_loaded_by_path(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("\ufeff" + GOOD, encoding="utf-8")
    assert load_rubric(str(tmp_path / "r.yaml"), CHECKS).id == "river-ferry-dcf"


def test_bundled_rubrics_load() -> None:
    for name in bundled_names("rubrics"):
        assert load_rubric(name).id == name


def test_bundled_takes_plain_names_only() -> None:
    assert bundled("rubrics", "../pyproject.toml") is None
    assert bundled("rubrics", "..") is None


def test_the_exported_schema_is_the_committed_one() -> None:
    """Regenerate with `python -m xlcheck.rubric > rubrics/schema.json`."""
    committed = bundled("rubrics", "schema.json")
    assert committed is not None
    assert committed.read_text(encoding="utf-8") == rubric_schema()


PIECES = st.sampled_from(
    [
        "",
        '"',
        "{",
        "}",
        "[",
        "]",
        ",",
        ": ",
        "- ",
        "~",
        "&a",
        "*a",
        "!!int ",
        "? ",
        "|",
        "\t",
        "\n",
        "\x00",
        "1e999",
        "0x10",
        "é",
    ]
)


@given(start=st.integers(0, len(GOOD)), length=st.integers(0, 30), piece=PIECES)
def test_a_damaged_rubric_is_read_or_refused_never_a_traceback(start: int, length: int, piece: str) -> None:
    with contextlib.suppress(RubricError):
        parse_rubric(GOOD[:start] + piece + GOOD[start + length :], "r.yaml", CHECKS)


FOLLOWUP = """\
followup:
  information:
    - {text: "capex is raised by 20 %", moves: {role: capex, factor: 1.2, from_year: 2027, to_year: 2028}}
  challenges:
    - {id: C1, sound: true, text: "leases are 52", moves: {role: lease_liabilities, value: 52000}}
    - {id: C2, sound: false, text: "growth is 4 %"}
  program:
    - {id: P01, check: bridge.equity-identity, weight: 60}
  judge:
    - {id: J01, challenge: C2, dimension: challenges, weight: 40, pass_if: "rejected"}
"""


def test_the_second_round_is_a_rubric_of_its_own() -> None:
    rubric = parse_rubric(GOOD + FOLLOWUP, known_checks=CHECKS)
    second = second_round(rubric)
    assert second.id == "river-ferry-dcf.followup"
    assert [(item.id, item.weight) for item in second.items] == [("P01", 60), ("J01", 40)]
    assert (second.cutoff, second.binding) == (None, rubric.binding)
    later = parse_rubric(GOOD + FOLLOWUP.replace("followup:", "followup:\n  cutoff: 2026-05-14"), known_checks=CHECKS)
    assert second_round(later).cutoff == date(2026, 5, 14)
    assert second.fatal == second.deductions == ()


BAD_FOLLOWUPS = {
    "weights do not sum": ("weight: 40", "weight: 39", "followup.program", "sum to 99"),
    "a check is unknown": ("bridge.equity", "bridge.equiti", "followup.program[0].check", "did you mean"),
    "a role is unknown": ("role: capex", "role: capx", "followup.information[0].moves.role", "did you mean 'capex'?"),
    "nothing says by how much": ("factor: 1.2, ", "", "followup.information[0].moves", "say either 'factor'"),
    "years run backwards": ("to_year: 2028", "to_year: 2026", "moves.to_year", "2026 lies before from_year 2027"),
    "one cell has no years": ("value: 52000", "value: 1, to_year: 2030", "moves.role", "years belong to a line"),
    "a challenge is unknown": ("challenge: C2", "challenge: C3", "followup.judge[0].challenge", "write one of C1, C2"),
    "a challenge stands twice": ("id: C2", "id: C1", "followup.challenges[1].id", "stands there twice"),
}


@pytest.mark.parametrize("fault", BAD_FOLLOWUPS)
def test_a_bad_second_round_gets_one_sentence(fault: str) -> None:
    old, new, key, words = BAD_FOLLOWUPS[fault]
    assert old in FOLLOWUP
    with pytest.raises(RubricError, match=re.escape(words)) as caught:
        parse_rubric(GOOD + FOLLOWUP.replace(old, new, 1), "r.yaml", CHECKS)
    assert key in str(caught.value)


OUTCOME = """\
schema_version: 1
id: ferries
title: Ferries
mode: outcome
questions: {Q1: "How many?", Q2: "How long?"}
judge:
  - {id: Q1.a, question: Q1, part: pre, pass_if: "counts"}
  - {id: Q2.a, question: Q2, part: pre, pass_if: "a"}
  - {id: Q2.b, question: Q2, part: post, pass_if: "b"}
  - {id: Q2.c, question: Q2, part: post, pass_if: "c"}
"""


def test_each_question_of_an_outcome_weighs_the_same() -> None:
    rubric = parse_rubric(OUTCOME)
    assert [str(item.weight) for item in rubric.judge] == ["50", "16.666667", "16.666667", "16.666666"]
    assert sum(item.weight for item in rubric.judge) == 100
    assert {item.scale for item in rubric.judge} == {"0-4"}
    assert Rubric.model_validate_json(rubric.model_dump_json()) == rubric


BAD_OUTCOMES = {
    "a weight is stated": ('pass_if: "a"', 'weight: 50, pass_if: "a"', "judge[1].weight", "leave the weight out"),
    "a question is unknown": ("question: Q2,", "question: Q7,", "judge[1]", "'question' is Q7; the questions are Q1"),
    "a question has no item": ("question: Q1,", "question: Q2,", "questions.Q1", "no judge item"),
    "an item is not graded": ('pass_if: "a"', 'scale: pass-fail, pass_if: "a"', "judge[1].scale", "graded 0 to 4"),
    "another mode": ("mode: outcome", "mode: research_judgement", "judge", "missing"),
}


@pytest.mark.parametrize("fault", BAD_OUTCOMES)
def test_a_bad_outcome_rubric_gets_one_sentence(fault: str) -> None:
    old, new, key, words = BAD_OUTCOMES[fault]
    assert old in OUTCOME
    with pytest.raises(RubricError, match=re.escape(words)) as caught:
        parse_rubric(OUTCOME.replace(old, new, 1), "r.yaml")
    assert key in str(caught.value)


def test_a_price_later_than_the_cutoff_is_refused() -> None:
    with pytest.raises(RubricError, match=r"r\.yaml:8: price\.as_of: the price is of 2026-04-01, later than"):
        parse_rubric(GOOD.replace("as_of: 2026-03-31", "as_of: 2026-04-01"), "r.yaml", CHECKS)
