"""What planted faults cost by a rubric, items that tell nothing apart, and the correlation of items with the rest."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from planted import clean_model

from xlcheck.calibrate import hold_all
from xlcheck.cli import main
from xlcheck.discrimination import Discrimination, discriminate, item_total, read_cards
from xlcheck.discrimination_page import discrimination_text, page
from xlcheck.errors import UsageError
from xlcheck.pipeline import grade
from xlcheck.rubric import load_rubric, parse_rubric
from xlcheck.scoring.card import ScoreCard
from xlcheck.scoring.model import score
from xlcheck.verdicts import Verdict

RUBRIC = """\
schema_version: 1
id: narrow
title: "<b>Narrow</b> rubric"
mode: financial_model
program:
  - {id: P01, check: bridge.signs, weight: 60}
  - {id: P02, check: recompute.no-external-links, weight: 36}
  - {id: P03, check: terminal.growth-range, weight: 4, params: {low: 0.9, high: 1}}
"""
PLAN = """\
schema_version: 1
rubric: ./narrow.yaml
answers:
  - {name: reference, kind: reference, submission: model.xlsx}
"""
JUDGED = """\
schema_version: 1
id: judged
title: Judged
mode: research_judgement
judge:
  - {id: J1, dimension: a, weight: 40, pass_if: one}
  - {id: J2, dimension: a, weight: 30, pass_if: two}
  - {id: J3, dimension: a, weight: 30, pass_if: three}
"""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task whose rubric looks at signs in the bridge alone."""
    folder = tmp_path_factory.mktemp("task")
    (folder / "narrow.yaml").write_text(RUBRIC, encoding="utf-8")
    (folder / "calibration.yaml").write_text(PLAN, encoding="utf-8")
    clean_model().save(folder / "model.xlsx")
    return folder


@pytest.fixture(scope="module")
def found(task: Path) -> Discrimination:
    """The reference's mutants by the narrow rubric."""
    return discriminate(hold_all(task))


def card(*passed: bool) -> ScoreCard:
    """Return the card of an answer that passes these of the three judged items."""
    said = [
        Verdict.model_validate({"item": f"J{at}", "verdict": "pass" if one else "fail"})
        for at, one in enumerate(passed, 1)
    ]
    return score(parse_rubric(JUDGED), (), said)


def test_fault_costs_the_points_of_the_item_that_sees_it(found: Discrimination) -> None:
    fault = next(one for one in found.faults if one.operator == "debt-added")
    assert (fault.cost, fault.drop, fault.items) == ("costs", Decimal(60), ("P01",))
    assert fault.asked == ("bridge.signs",)


def test_fault_that_no_item_looks_for_costs_nothing_and_is_named_with_its_checks(found: Discrimination) -> None:
    fault = next(one for one in found.faults if one.operator == "capex-added")
    assert (fault.cost, fault.drop, fault.items, fault.asked) == ("free", Decimal(0), (), ())
    assert "nothing in the rubric runs flow.sign-convention" in discrimination_text(found)


def test_kill_rate_counts_the_harmful_faults_only(found: Discrimination) -> None:
    harmful = [one for one in found.faults if one.cost != "harmless"]
    assert found.decided == len(harmful) > 20
    assert found.kill_rate == Decimal(100 * sum(one.drop > 0 for one in harmful)) / len(harmful)
    assert 0 < found.kill_rate < 50


def test_item_that_nothing_ever_passes_is_idle(found: Discrimination) -> None:
    idle = {item.item: item.idle for item in found.items}
    assert idle["P01"] is None
    assert idle["P03"] == "never passes"


def test_correlation_is_that_of_the_item_with_the_points_of_all_others() -> None:
    """J1 = 1 1 0 0 and the rest 60 30 30 0: 30 / (1 · √1800) = 0.7071; J3 = 1 0 1 0 and the rest 70 70 0 0: 0."""
    cards = [card(True, True, True), card(True, True, False), card(False, False, True), card(False, False, False)]
    assert item_total("J1", cards) == pytest.approx(0.70710678)
    assert item_total("J3", cards) == pytest.approx(0.0)


def test_correlation_needs_four_answers_and_an_item_that_varies() -> None:
    cards = [card(True, True, True), card(True, False, False), card(True, True, False), card(True, False, True)]
    assert item_total("J1", cards) is None
    assert item_total("J2", cards[:3]) is None
    assert item_total("J2", cards) == pytest.approx(0.0)


def test_page_is_self_contained_has_both_pictures_and_escapes_what_rubrics_say(
    task: Path, found: Discrimination
) -> None:
    from xlcheck.calibrate import calibration_of

    html = page(calibration_of(hold_all(task)), found)
    assert html.count("<svg") == 2
    assert not re.search(r"<script|https?://(?!www\.w3\.org/2000/svg)", html)
    assert "debt-added" in html
    assert "<b>Narrow" not in html


Printed, Patch = pytest.CaptureFixture[str], pytest.MonkeyPatch


@pytest.mark.parametrize(("least", "code"), [("99", 1), ("1", 0)])
def test_command_fails_below_the_kill_rate_asked_for(
    task: Path,
    found: Discrimination,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Printed,
    tmp_path: Path,
    least: str,
    code: int,
) -> None:
    monkeypatch.setattr("xlcheck.discrimination.discriminate", lambda *_: found)
    assert main(["calibrate", str(task), "--min-kill", least, "--json", "--out", str(tmp_path)]) == code
    told = json.loads(capsys.readouterr().out)
    assert {"rows", "discrimination"} <= set(told)
    assert (tmp_path / "calibration.html").is_file()


def test_calibration_without_a_reference_has_nothing_to_plant_in(task: Path, tmp_path: Path) -> None:
    for name in ("narrow.yaml", "model.xlsx"):
        (tmp_path / name).write_bytes((task / name).read_bytes())
    plan = PLAN.replace("kind: reference", "kind: other, low: 0")
    (tmp_path / "calibration.yaml").write_text(plan, encoding="utf-8")
    with pytest.raises(UsageError, match="no good workbook to plant faults in"):
        discriminate(hold_all(tmp_path))


def test_folder_without_reports_or_with_those_of_another_rubric_is_refused(task: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no report\.json in it"):
        discriminate(hold_all(task), tmp_path)
    other = tmp_path / "other.yaml"
    other.write_text(RUBRIC.replace("id: narrow", "id: other"), encoding="utf-8")
    report = grade(task / "model.xlsx", other)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "report.json").write_text(report.to_json(), encoding="utf-8")
    with pytest.raises(UsageError, match="by the rubric 'other', not by 'narrow'"):
        discriminate(hold_all(task), tmp_path)


def test_reports_of_a_folder_are_read_at_any_depth(task: Path, tmp_path: Path) -> None:
    report = grade(task / "model.xlsx", task / "narrow.yaml")
    for place in ("a", "b/c"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "report.json").write_text(report.to_json(), encoding="utf-8")
    cards = list(read_cards(tmp_path, load_rubric(task / "narrow.yaml")))
    assert [one.low for one in cards] == [Decimal(96), Decimal(96)]
