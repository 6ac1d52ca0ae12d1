"""The first task: its reference valuation is right, its rubric as agreed, and its answers score in their bands."""

from __future__ import annotations

import datetime as dt
import importlib
import importlib.util
import json
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest

from xlcheck.calibrate import calibrate
from xlcheck.cells import CellRef
from xlcheck.checking import CHECKS
from xlcheck.memo import read_memo
from xlcheck.pipeline import audit, grade
from xlcheck.quotes import memo_passages, verify, workbook_passages
from xlcheck.recompute import recompute
from xlcheck.rubric import load_rubric
from xlcheck.verdicts import load_verdicts
from xlcheck.workbook import load

ROOT = Path(__file__).resolve().parents[1]
TASK = ROOT / "fixtures" / "sic-epitaxy-dcf"
ANSWERS = sorted(path.parent.name for path in TASK.glob("*/verdicts.json"))
WITH_BOOK = [name for name in ANSWERS if (TASK / name / "model.xlsx").exists()]


def value_per_share() -> float:
    """The base case by plain arithmetic, from its inputs alone."""
    six, eight, tolling = [150.0, 6200.0], [14.0, 14500.0], 74.0
    paths = zip(
        (0.08, 0.04, 0.0, -0.03, -0.04, -0.03, -0.02, 0.0),
        (-0.08, -0.05, -0.04, -0.03, -0.02, -0.02, -0.01, 0.0),
        (1.10, 0.75, 0.50, 0.35, 0.24, 0.16, 0.09, 0.045),
        (-0.14, -0.11, -0.09, -0.07, -0.05, -0.03, -0.02, -0.01),
        (0.15, 0.12, 0.10, 0.08, 0.06, 0.05, 0.03, 0.02),
        (0.340, 0.342, 0.345, 0.348, 0.350, 0.350, 0.350, 0.350),
        (0.240, 0.210, 0.190, 0.170, 0.155, 0.142, 0.132, 0.125),
        (0.300, 0.295, 0.290, 0.285, 0.280, 0.280, 0.280, 0.280),
        strict=True,
    )
    tax, growth, ronic, price = 0.15, 0.02, 0.13, 42.10
    shares = 86.0 + 2.4 * (1 - 26.50 / price)
    debt, market = 186.0 + 452.0 + 38.0, price * shares
    equity_cost = 0.024 + 1.22 * (1 + (1 - tax) * debt / market) * 0.062
    wacc = (market * equity_cost + debt * 0.041 * (1 - tax)) / (market + debt)
    fixed, working, total, profit = 1450.0, 369.0, 0.0, 0.0
    for year, (v6, p6, v8, p8, toll, margin, spend, tied) in enumerate(paths, 1):
        six, eight = [six[0] * (1 + v6), six[1] * (1 + p6)], [eight[0] * (1 + v8), eight[1] * (1 + p8)]
        tolling *= 1 + toll
        revenue = (six[0] * six[1] + eight[0] * eight[1]) / 1000 + tolling
        wear = 0.105 * fixed
        profit = (margin * revenue - wear) * (1 - tax)
        flow = profit + wear - spend * revenue - (tied * revenue - working)
        fixed, working = fixed + spend * revenue - wear, tied * revenue
        total += flow / (1 + wacc) ** year
    total += profit * (1 + growth) * (1 - growth / ronic) / (wacc - growth) / (1 + wacc) ** 8
    return (total + 524.0 - 638.0 - 38.0 - 67.0 + 51.0) / shares


def test_reference_value_per_share_is_that_of_plain_arithmetic():
    recalc = recompute(load(TASK / "reference" / "model.xlsx"))
    assert recalc.number(CellRef.parse("DCF!C32")) == pytest.approx(value_per_share(), rel=1e-12)
    assert value_per_share() == pytest.approx(39.3087, abs=5e-5)


def test_reference_stored_values_of_libreoffice_are_those_recomputed():
    recalc = recompute(load(TASK / "reference" / "model.xlsx"))
    assert len(recalc.verdicts) > 400
    assert {verdict.status for verdict in recalc.verdicts.values()} == {"same"}


def test_reference_workbook_is_what_its_script_builds(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "fixtures" / "build")
    model = importlib.import_module("sic_epitaxy_model")
    built = model.build({"base": 39.31, "upside": 55.54, "downside": 20.28})
    committed = openpyxl.load_workbook(TASK / "reference" / "model.xlsx")
    assert built.sheetnames == committed.sheetnames
    cells = [cell for page in built for row in page.iter_rows() for cell in row if cell.value not in (None, "")]
    assert len(cells) > 900
    for cell in cells:
        held = committed[cell.parent.title][cell.coordinate].value
        wanted = dt.datetime.combine(cell.value, dt.time()) if type(cell.value) is dt.date else cell.value
        assert held == wanted, f"{cell.parent.title}!{cell.coordinate}"


def test_reference_memo_states_the_values_of_its_workbook():
    recalc = recompute(load(TASK / "reference" / "model.xlsx"))
    memo = (TASK / "reference" / "memo.md").read_text(encoding="utf-8")
    for cell, form in {
        "DCF!C32": "CNY {:.2f} per share",
        "DCF!C19": "| {:,.0f} (",
        "WACC!C23": "WACC of {:.2%}",
    }.items():
        assert form.format(recalc.number(CellRef.parse(cell))) in memo


def test_numbers_only_is_the_reference_workbook_without_a_memo():
    folder = TASK / "numbers-only"
    assert (folder / "model.xlsx").read_bytes() == (TASK / "reference" / "model.xlsx").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["model.xlsx", "verdicts.json"]


def test_only_the_forged_cell_of_the_flawed_answer_is_stale():
    recalc = recompute(load(TASK / "flawed" / "model.xlsx"))
    stale = [str(ref) for ref, verdict in recalc.verdicts.items() if verdict.status == "stale"]
    assert stale == ["Forecast!I24"]


def test_rubric_gives_30_points_to_checks_and_70_to_a_judge():
    rubric = load_rubric("sic-epitaxy-dcf", CHECKS)
    assert len(rubric.program) >= 12
    assert sum(item.weight for item in rubric.program) == Decimal(30)
    assert len(rubric.judge) >= 12
    assert sum(item.weight for item in rubric.judge) == Decimal(70)
    for item in rubric.judge:
        assert item.fail_if, item.id
        assert item.stage, item.id
        assert item.quote == "required", item.id


def test_every_declared_check_stands_in_the_generic_rubric():
    rubric = load_rubric("generic-dcf", CHECKS)
    named = {item.check for item in rubric.program} | {rule.check for rule in rubric.fatal}
    assert named == set(CHECKS)


def test_generic_rubric_is_what_its_script_writes():
    script = ROOT / "fixtures" / "build" / "generic_dcf.py"
    spec = importlib.util.spec_from_file_location("generic_dcf", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "rubrics" / "generic-dcf.yaml").read_text(encoding="utf-8") == module.text()


@pytest.mark.parametrize("answer", WITH_BOOK)
def test_every_quote_of_a_verdict_stands_in_what_was_handed_in(answer):
    rubric = load_rubric("sic-epitaxy-dcf")
    rulings = load_verdicts(TASK / answer / "verdicts.json", rubric)
    book = load(TASK / answer / "model.xlsx")
    passages = workbook_passages(book, recompute(book)) + memo_passages(map(read_memo, (TASK / answer).glob("*.md")))
    lost = [quote.text for ruling in verify(rulings, passages) for quote in ruling.quotes if quote.found == "not_found"]
    assert lost == []


@pytest.mark.parametrize("answer", ANSWERS)
def test_verdicts_decide_every_item_but_those_left_open_on_purpose(answer):
    rubric = load_rubric("sic-epitaxy-dcf")
    decided = {entry["item"] for entry in json.loads((TASK / answer / "verdicts.json").read_text())["verdicts"]}
    wanted = {item.id for item in rubric.judge} | {item.id for item in rubric.deductions} | {"F01"}
    assert wanted - decided == ({"J14", "J20"} if answer == "flawed" else set())


def test_every_answer_scores_in_its_band():
    found = calibrate(TASK)
    assert [row.name for row in found.rows if not row.holds] == [], [row.reason for row in found.rows]


def test_empty_answer_scores_nothing():
    card = grade(TASK / "empty", "sic-epitaxy-dcf").score_card
    assert card is not None
    assert (card.low, card.high, card.status) == (0, 0, "final")


FATAL = {
    "growth-above-wacc": "fatal.growth-not-below-wacc",
    "typed-outputs": "fatal.not-recomputable",
    "no-shares": "fatal.share-count",
    "double-discounting": "fatal.double-discounting",
}


@pytest.mark.parametrize("answer", FATAL)
def test_fatal_answer_is_capped_by_its_own_fatal_error(answer):
    card = grade(TASK / answer, "sic-epitaxy-dcf", TASK / answer / "verdicts.json").score_card
    assert card is not None
    assert list(card.fatal) == [FATAL[answer]]
    assert card.high == 40


def test_audit_of_the_reference_accuses_nothing():
    report = audit(TASK / "reference" / "model.xlsx")
    assert [(result.check_id, result.findings[0].message) for result in report.results if result.status == "fail"] == []


def test_same_inputs_give_the_same_report():
    first, second = (grade(TASK / "reference", "sic-epitaxy-dcf", TASK / "reference" / "verdicts.json") for _ in "12")
    assert first.model_dump_json() == second.model_dump_json()
