"""The record of a calibration beside its rubric, and what `grade` says of a rubric that has changed since."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from planted import clean_model

from xlcheck.calibrate import Case, calibrate
from xlcheck.cli import main
from xlcheck.errors import UsageError
from xlcheck.provenance import Record, record_path, save, warning
from xlcheck.rubric import fingerprint, load_rubric
from xlcheck.scoring.card import ScoreCard
from xlcheck.scoring.model import empty_card

RUBRIC = """\
schema_version: 1
id: ferry
title: Ferry
mode: financial_model
program:
  - {id: P01, check: bridge.signs, weight: 100}
"""
PLAN = """\
schema_version: 1
rubric: ./ferry.yaml
answers:
  - {name: empty, kind: empty, submission: empty}
"""


def nothing(case: Case) -> ScoreCard:
    return empty_card(load_rubric(case.rubric), "nothing in it")


@pytest.fixture
def rubric(tmp_path: Path) -> Path:
    """A rubric file with a calibration of one empty answer beside it."""
    (tmp_path / "ferry.yaml").write_text(RUBRIC, encoding="utf-8")
    (tmp_path / "calibration.yaml").write_text(PLAN, encoding="utf-8")
    (tmp_path / "empty").mkdir()
    return tmp_path / "ferry.yaml"


def test_record_holds_the_fingerprint_and_what_the_answers_scored(rubric: Path) -> None:
    path = save(rubric, calibrate(rubric.parent, nothing))
    assert path == rubric.parent / "ferry.calibration.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    assert told["rubric_sha256"] == fingerprint(load_rubric(rubric))
    assert [(row["name"], row["low"], row["holds"]) for row in told["answers"]] == [("empty", "0", True)]
    assert told["holds"] is True


def test_unchanged_rubric_and_one_never_calibrated_are_not_warned_of(rubric: Path) -> None:
    assert warning(rubric, load_rubric(rubric)) is None
    save(rubric, calibrate(rubric.parent, nothing))
    rubric.write_text("# a comment, and a default spelled out\n" + RUBRIC + "cap_on_fatal: 40\n", encoding="utf-8")
    assert warning(rubric, load_rubric(rubric)) is None


@pytest.mark.parametrize("change", [("title: Ferry", "title: Ferry line"), ("signs", "equity-identity")])
def test_changed_rubric_is_warned_of(rubric: Path, change: tuple[str, str]) -> None:
    save(rubric, calibrate(rubric.parent, nothing))
    rubric.write_text(RUBRIC.replace(*change), encoding="utf-8")
    said = warning(rubric, load_rubric(rubric))
    assert said is not None
    assert "has changed since it was last calibrated" in said


def test_calibration_that_did_not_hold_is_warned_of(rubric: Path) -> None:
    (rubric.parent / "calibration.yaml").write_text(PLAN.replace("kind: empty", "kind: reference"), encoding="utf-8")
    save(rubric, calibrate(rubric.parent, nothing))
    assert warning(rubric, load_rubric(rubric)) == "when ferry was last calibrated, empty did not hold its band"


def test_file_of_somebody_else_is_never_overwritten(rubric: Path) -> None:
    mine = record_path(rubric)
    mine.write_text('{"my": "notes"}', encoding="utf-8")
    with pytest.raises(UsageError, match="was not written by xlcheck calibrate"):
        save(rubric, calibrate(rubric.parent, nothing))
    assert mine.read_text(encoding="utf-8") == '{"my": "notes"}'
    assert "is no calibration record" in str(warning(rubric, load_rubric(rubric)))


def test_record_of_an_older_calibration_is_replaced(rubric: Path) -> None:
    save(rubric, calibrate(rubric.parent, nothing))
    rubric.write_text(RUBRIC.replace("title: Ferry", "title: Ferry line"), encoding="utf-8")
    save(rubric, calibrate(rubric.parent, nothing))
    assert warning(rubric, load_rubric(rubric)) is None


def test_grade_warns_on_standard_error(rubric: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clean_model().save(tmp_path / "model.xlsx")
    save(rubric, calibrate(rubric.parent, nothing))
    asked = ["grade", str(tmp_path / "model.xlsx"), "--rubric", str(rubric), "--out", str(tmp_path / "out"), "--json"]
    main(asked)
    assert "warning" not in capsys.readouterr().err
    rubric.write_text(RUBRIC.replace("title: Ferry", "title: Ferry line"), encoding="utf-8")
    main(asked)
    printed = capsys.readouterr()
    assert "xlcheck: warning: the rubric ferry has changed since it was last calibrated" in printed.err
    json.loads(printed.out)


@pytest.mark.parametrize("task", ["sic-epitaxy-dcf", "bigtech-reverse-dcf", "ashare-pump-dcf"])
def test_bundled_task_stands_as_it_was_last_calibrated_and_every_planted_fault_cost_points(task: str) -> None:
    """Refresh with ``xlcheck calibrate TASK --mutants --save``."""
    assert warning(task, load_rubric(task)) is None
    record = Record.model_validate_json(record_path(task).read_bytes())
    assert record.holds
    assert record.faults_planted is not None
    assert record.faults_planted > 40
    assert record.faults_noticed == record.faults_planted
