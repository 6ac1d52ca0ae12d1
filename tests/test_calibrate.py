"""Known-quality answers: the bands, what moved a broken one, and the file that lists them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from xlcheck.calibrate import Case, calibrate
from xlcheck.checking import CheckResult
from xlcheck.errors import UsageError
from xlcheck.rubric import load_rubric
from xlcheck.scoring.card import ScoreCard
from xlcheck.scoring.model import empty_card, score, ungradable_card
from xlcheck.verdicts import load_verdicts

RUBRIC = """\
schema_version: 1
id: river-ferry-dcf
title: DCF of a river ferry operator
mode: financial_model
program:
  - {id: P01, check: bridge.signs, weight: 30}
judge:
  - {id: J01, dimension: thesis, weight: 52, pass_if: "fleet growth is argued"}
  - {id: J02, dimension: prose, weight: 18, pass_if: "clear"}
fatal:
  - {check: fatal.unit-mix}
"""
PLAN = """\
schema_version: 1
rubric: ./rubric.yaml
answers:
  - {name: reference, kind: reference, submission: reference, verdicts: full.json}
  - {name: empty, kind: empty, submission: empty}
  - {name: bare, kind: numbers-only, submission: bare, verdicts: none.json}
  - {name: units, kind: fatal, submission: units, verdicts: full.json}
  - {name: half, kind: other, submission: bare, verdicts: half.json, low: 40, high: 60}
"""


def _verdicts(first: str, second: str) -> str:
    return (
        '{"verdicts": [{"item": "J01", "verdict": "%s"}, {"item": "J02", "verdict": "%s"}]}' % (first, second)  # noqa: UP031
    )


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task's folder: rubric, plan, verdicts and four answers that are only folders."""
    (tmp_path / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    (tmp_path / "calibration.yaml").write_text(PLAN, encoding="utf-8")
    for name, said in {"full": ("pass", "pass"), "none": ("fail", "fail"), "half": ("fail", "pass")}.items():
        (tmp_path / f"{name}.json").write_text(_verdicts(*said), encoding="utf-8")
    for name in ("reference", "empty", "bare", "units"):
        (tmp_path / name).mkdir()
    return tmp_path


def fake_grade(case: Case) -> ScoreCard:
    """Score a folder by its name, as a pipeline would."""
    submission, verdicts = case.submission, case.verdicts
    rules = load_rubric(case.rubric)
    if submission.name == "empty":
        return empty_card(rules, "nothing in it")
    said = load_verdicts(verdicts, rules) if verdicts else ()
    fields = [("bridge.signs", "P01", "scored", "pass"), ("fatal.unit-mix", "fatal.unit-mix", "fatal", "pass")]
    if submission.name == "units":
        fields[1] = ("fatal.unit-mix", "fatal.unit-mix", "fatal", "fail")
    results = [
        CheckResult.model_validate(
            {"check_id": check, "item": item, "severity": severity, "status": status, "credit": int(status == "pass")}
        )
        for check, item, severity, status in fields
    ]
    return score(rules, results, said)


def test_all_bands_hold_for_a_sound_rubric(task: Path) -> None:
    found = calibrate(task, fake_grade)
    assert found.holds
    assert {row.name: (row.low, row.high) for row in found.rows} == {
        "reference": (100, 100),
        "empty": (0, 0),
        "bare": (30, 30),
        "units": (40, 40),
        "half": (48, 48),
    }


def test_a_weak_reference_names_the_item_that_cost_it(task: Path) -> None:
    (task / "full.json").write_text(_verdicts("pass", "fail"), encoding="utf-8")
    row = calibrate(task / "calibration.yaml", fake_grade).rows[0]
    assert not row.holds
    assert row.reason == "its low end 82 lies below 95"
    assert row.moved == ("J02 −18: clear",)


def test_open_items_of_the_reference_count_at_their_worst(task: Path) -> None:
    (task / "full.json").write_text('{"verdicts": [{"item": "J02", "verdict": "pass"}]}', encoding="utf-8")
    row = calibrate(task, fake_grade).rows[0]
    assert (row.low, row.high) == (48, 100)
    assert row.moved == ("J01 −52 open: no verdict",)


def test_numbers_without_argument_that_reach_50_name_the_judge_items_that_paid(task: Path) -> None:
    (task / "none.json").write_text(_verdicts("pass", "fail"), encoding="utf-8")
    row = calibrate(task, fake_grade).rows[2]
    assert row.reason == "its high end 82 does not lie below 50"
    assert row.moved == ("J01 +52: fleet growth is argued",)


def test_exactly_50_is_too_much_for_numbers_without_argument(task: Path) -> None:
    rubric = RUBRIC.replace("weight: 52", "weight: 50").replace("weight: 18", "weight: 20")
    (task / "rubric.yaml").write_text(rubric, encoding="utf-8")
    (task / "none.json").write_text(_verdicts("fail", "pass"), encoding="utf-8")
    row = calibrate(task, fake_grade).rows[2]
    assert (row.high, row.holds) == (50, False)


def test_a_fatal_answer_that_is_not_capped_is_named(task: Path) -> None:
    plan = PLAN.replace("kind: fatal, submission: units", "kind: fatal, submission: reference")
    (task / "calibration.yaml").write_text(plan, encoding="utf-8")
    row = calibrate(task, fake_grade).rows[3]
    assert row.reason == "its high end 100 lies above 40, for no fatal error was triggered"
    assert row.moved == ("fatal.unit-mix was not found: it holds",)


def test_an_empty_answer_that_scores_is_broken(task: Path) -> None:
    plan = PLAN.replace("kind: empty, submission: empty", "kind: empty, submission: bare, verdicts: none.json")
    (task / "calibration.yaml").write_text(plan, encoding="utf-8")
    row = calibrate(task, fake_grade).rows[1]
    assert not row.holds
    assert row.moved == ("P01 +30: bridge.signs",)


def test_a_reference_with_a_fatal_error_is_told_so(task: Path) -> None:
    plan = PLAN.replace("kind: reference, submission: reference", "kind: reference, submission: units")
    (task / "calibration.yaml").write_text(plan, encoding="utf-8")
    row = calibrate(task, fake_grade).rows[0]
    assert row.moved == ("fatal.unit-mix caps the total: fatal.unit-mix",)


def test_an_ungradable_answer_breaks_its_band(task: Path) -> None:
    def grade(case: Case) -> ScoreCard:
        return ungradable_card(load_rubric(case.rubric), "not a workbook")

    row = calibrate(task, grade).rows[0]
    assert row.reason == "it has no total: not a workbook"
    assert row.low is None


def test_stated_bands_narrow(task: Path) -> None:
    (task / "calibration.yaml").write_text(PLAN.replace("low: 40", "low: 55"), encoding="utf-8")
    row = calibrate(task, fake_grade).rows[4]
    assert row.band == "at least 55 and at most 60"
    assert not row.holds


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("kind: empty", "kind: blank", "write 'reference', 'empty'"),
        ("name: empty", "name: units", "'units' names two answers"),
        (", low: 40, high: 60", "", "states its band with low or high"),
        ("submission: units", "submission: nowhere", "there is no nowhere beside"),
        ("schema_version: 1", "schema_version: 3", "reads 1"),
        ("rubric: ./rubric.yaml", "rubric: ./rules.yaml", "no such rubric file"),
        ("verdicts: none.json", "verdicts: lost.json", "there is no lost.json beside"),
        ("verdicts: none.json", "verdict: none.json", "did you mean 'verdicts'?"),
        ("verdicts: none.json", "verdicts: none.json, followup: later", "there is no later beside"),
        ("verdicts: none.json", "followup_verdicts: none.json", "there is no 'followup' that they speak of"),
    ],
)
def test_a_faulty_calibration_file_is_refused(task: Path, old: str, new: str, words: str) -> None:
    (task / "calibration.yaml").write_text(PLAN.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        calibrate(task, fake_grade)
    assert words in str(caught.value)


def test_a_missing_calibration_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no calibration\.yaml"):
        calibrate(tmp_path, fake_grade)


def test_the_fingerprint_of_the_rubric_is_kept(task: Path) -> None:
    first = calibrate(task, fake_grade)
    (task / "rubric.yaml").write_text(RUBRIC.replace("clear", "very clear"), encoding="utf-8")
    second = calibrate(task, fake_grade)
    assert len(first.rubric_sha256) == 64
    assert first.rubric_sha256 != second.rubric_sha256
    assert Decimal(100) == first.rows[0].low
