"""The second and third task: references by plain arithmetic, answers in their bands, points lost at their cell."""

from __future__ import annotations

import importlib
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
from xlcheck.rubric import load_rubric, second_round
from xlcheck.scoring.card import Line, ScoreCard
from xlcheck.verdicts import load_verdicts
from xlcheck.workbook import load

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
REVERSE, CHINESE = FIXTURES / "bigtech-reverse-dcf", FIXTURES / "ashare-pump-dcf"
TASKS = (REVERSE, CHINESE)
ANSWERS = [path.parent for task in TASKS for path in sorted(task.glob("*/verdicts.json"))]
WITH_BOOK = [folder for folder in ANSWERS if (folder / "model.xlsx").exists()]


def named(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def price(margin: float, uplift: float, holdings_income: float = 0.0) -> float:
    """Value per share of the reverse task by plain arithmetic, from its inputs alone, USD."""
    growths = (0.115, 0.11, 0.105, 0.10, 0.095, 0.085, 0.075, 0.065, 0.055, 0.045)
    spends = (0.220, 0.205, 0.190, 0.175, 0.160, 0.148, 0.138, 0.130, 0.123, 0.118)
    revenue, fixed, working = 716400.0, 357000.0, -0.035 * 716400.0
    today, rate, growth, total, profit = (80200.0 - 1000.0) / 716400.0, 0.088, 0.03, 0.0, 0.0
    for year, (step, spend) in enumerate(zip(growths, spends, strict=True), 1):
        revenue *= 1 + step + uplift
        profit = revenue * (today + (margin - today) * year / 10) * (1 - 0.19)
        worn, tied = 0.195 * fixed, -0.035 * revenue
        total += (profit + worn - spend * revenue - (tied - working) + holdings_income) / (1 + rate) ** year
        fixed, working = fixed + spend * revenue - worn, tied
    total += profit * (1 + growth) * (1 - growth / 0.15) / (rate - growth) / (1 + rate) ** 10
    return (total + 86800 + 152300 + 16000 + 61400 - 92700 - 5900) / (10640 + 130)


def solved(uplift: float, wanted: float, income: float = 0.0) -> float:
    """The margin of 2036 that gives a price; the value is linear in it."""
    low, high = price(0.1, uplift, income), price(0.3, uplift, income)
    return 0.1 + 0.2 * (wanted - low) / (high - low)


def pump_value() -> float:
    """Value per share of the Chinese task by plain arithmetic, from its inputs alone, CNY."""
    revenue, fixed, working, total, profit = 226300.0, 95200.0, 47500.0, 0.0, 0.0
    tax, growth, ronic, shares, quoted = 0.15, 0.015, 0.12, 31500.0, 15.60
    claims, market = 18500.0 + 22300.0 + 1650.0, quoted * shares
    equity_cost = 0.018 + 0.98 * (1 + (1 - tax) * claims / market) * 0.065
    wacc = (market * equity_cost + claims * 0.034 * (1 - tax)) / (market + claims)
    paths = zip(
        (0.11, 0.10, 0.09, 0.08, 0.065, 0.05),
        (0.140, 0.142, 0.144, 0.145, 0.145, 0.145),
        (0.082, 0.078, 0.074, 0.070, 0.066, 0.062),
        (0.21, 0.21, 0.205, 0.205, 0.20, 0.20),
        strict=True,
    )
    for year, (step, margin, spend, tied) in enumerate(paths, 1):
        revenue *= 1 + step
        profit, worn = revenue * margin * (1 - tax), 0.11 * fixed
        total += (profit + worn - spend * revenue - (tied * revenue - working)) / (1 + wacc) ** year
        fixed, working = fixed + spend * revenue - worn, tied * revenue
    total += profit * (1 + growth) * (1 - growth / ronic) / (wacc - growth) / (1 + wacc) ** 6
    return (total + 41200 + 9800 - 40800 - 1650 - 6400) / shares


def number(folder: Path, cell: str) -> float | None:
    return recompute(load(folder / "model.xlsx")).number(CellRef.parse(cell))


def card(answer: str) -> ScoreCard:
    found = grade(REVERSE / answer, "bigtech-reverse-dcf", REVERSE / answer / "verdicts.json").score_card
    assert found is not None
    return found


def lost(found: ScoreCard) -> dict[str, Line]:
    return {line.item: line for line in found.lines if line.kind == "program" and line.lost}


def test_implied_margin_and_growth_of_the_reference_are_those_of_plain_arithmetic():
    margin, uplift = number(REVERSE / "reference", "Assumptions!C6"), number(REVERSE / "reference", "Assumptions!C7")
    assert margin == pytest.approx(solved(0.0, 235.50), abs=5e-7)
    assert uplift == 0.037764
    assert price(0.16, uplift) == pytest.approx(235.50, abs=0.005)
    assert number(REVERSE / "reference", "Valuation!C27") == pytest.approx(price(margin, 0.0), rel=1e-12)


def test_other_answers_of_the_reverse_task_solve_their_own_question():
    assert number(REVERSE / "wrong-anchor", "Assumptions!C6") == pytest.approx(solved(0.0, 260.0), abs=5e-7)
    twice, income = number(REVERSE / "investments-twice", "Assumptions!C6"), 0.04 * 229700
    assert twice == pytest.approx(solved(0.0, 235.50, income), abs=5e-7)


def test_value_of_the_chinese_reference_is_that_of_plain_arithmetic():
    assert number(CHINESE / "reference", "估值!C29") == pytest.approx(pump_value(), rel=1e-12)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_stored_values_of_libreoffice_are_those_recomputed(task):
    recalc = recompute(load(task / "reference" / "model.xlsx"))
    assert len(recalc.verdicts) > 200
    assert {verdict.status for verdict in recalc.verdicts.values()} == {"same"}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_audit_of_a_reference_accuses_nothing(task):
    report = audit(task / "reference" / "model.xlsx")
    assert [(one.check_id, one.findings[0].message) for one in report.results if one.status == "fail"] == []


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_answer_scores_in_its_band(task):
    found = calibrate(task)
    assert [(row.name, row.reason) for row in found.rows if not row.holds] == []
    assert {row.low for row in found.rows if row.kind == "reference"} == {100}


def test_reverse_rubric_gives_27_9_points_to_checks_and_leaves_a_leak_to_an_item():
    rubric = load_rubric("bigtech-reverse-dcf", CHECKS)
    assert sum(item.weight for item in rubric.program) == Decimal("27.9")
    assert sum(item.weight for item in rubric.judge) == Decimal("72.1")
    assert (rubric.on_leak, rubric.price.value) == ("item", Decimal("235.50"))


def test_program_27_1_and_judge_47_1_are_74_2():
    found = card("thin")
    assert (found.program, found.judged, found.low, found.high) == (
        Decimal("27.1"),
        Decimal("47.1"),
        Decimal("74.2"),
        Decimal("74.2"),
    )
    assert (found.status, found.headline) == ("final", 74)
    assert {item: line.cell for item, line in lost(found).items()} == {"P24": "Sensitivity!D7"}


@pytest.mark.parametrize(
    ("answer", "places"),
    [
        ("wrong-anchor", {"P04": "Assumptions!C21", "P27": "Register!E5"}),
        ("investments-twice", {"P22": "Forecast!F29"}),
        ("unsolved", {"P06": "Assumptions!C6"}),
    ],
)
def test_fault_loses_its_program_points_at_its_cell(answer, places):
    found = card(answer)
    assert {item: line.cell for item, line in lost(found).items()} == places
    assert found.status == "final"


def test_late_source_costs_its_item_and_does_not_void_the_run():
    found = card("wrong-anchor")
    assert found.low == 100 - Decimal("2") - Decimal("1.2") - 4


@pytest.mark.parametrize("folder", WITH_BOOK, ids=named)
def test_every_quote_of_a_verdict_stands_in_what_was_handed_in(folder):
    rubric = load_rubric(folder.parent.name)
    if folder.name.startswith("followup"):
        rubric = second_round(rubric)
    book = load(folder / "model.xlsx")
    handed_in = workbook_passages(book, recompute(book)) + memo_passages(map(read_memo, folder.glob("*.md")))
    checked = verify(load_verdicts(folder / "verdicts.json", rubric), handed_in)
    assert [quote.text for ruling in checked for quote in ruling.quotes if quote.found == "not_found"] == []


@pytest.mark.parametrize("folder", ANSWERS, ids=named)
def test_verdicts_decide_every_item(folder):
    rubric = load_rubric(folder.parent.name)
    if folder.name.startswith("followup"):
        rubric = second_round(rubric)
    judged = {rule.key for rule in rubric.fatal if rule.judge}
    wanted = {item.id for item in rubric.judge} | {one.id for one in rubric.deductions} | judged
    assert {ruling.item for ruling in load_verdicts(folder / "verdicts.json", rubric)} == wanted


def test_numbers_only_answers_are_the_reference_workbooks_without_a_memo():
    for task in TASKS:
        folder = task / "numbers-only"
        assert (folder / "model.xlsx").read_bytes() == (task / "reference" / "model.xlsx").read_bytes()
        assert sorted(path.name for path in folder.iterdir()) == ["model.xlsx", "verdicts.json"]


@pytest.mark.parametrize(("task", "script"), [(REVERSE, "bigtech_model"), (CHINESE, "ashare_model")])
def test_formulas_of_a_reference_are_those_that_its_script_writes(task, script, monkeypatch):
    monkeypatch.syspath_prepend(FIXTURES / "build")
    built = importlib.import_module(script).build().finish()
    committed = openpyxl.load_workbook(task / "reference" / "model.xlsx")
    assert built.sheetnames == committed.sheetnames
    cells = [
        cell for page in built for row in page.iter_rows() for cell in row if str(cell.value or "").startswith("=")
    ]
    assert len(cells) > 200
    for cell in cells:
        where = f"{cell.parent.title}!{cell.coordinate}"
        assert committed[cell.parent.title][cell.coordinate].value == cell.value, where
