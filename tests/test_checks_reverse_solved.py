"""Reverse DCFs solved in four ways are found, bound and solved afresh; the root is worked out by bisection here."""

from __future__ import annotations

import openpyxl
import pytest
from checking_helper import audit as checked
from checking_helper import write
from reverse_models import closed_form, data_table, formula_grid, goal_seek, value_per_share

from xlcheck.checking import BROKEN, CheckResult
from xlcheck.pipeline import audit

PRICE = round(value_per_share(0.055), 2)


def growth_at(price: float) -> float:
    """Return the growth at which the closed form gives a price."""
    low, high = 0.0, 0.2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if value_per_share(middle) < price else (low, middle)
    return low


def results(path) -> dict[str, CheckResult]:
    return {one.check_id: one for one in audit(path).results if one.check_id.startswith("reverse.")}


@pytest.mark.parametrize(
    ("make", "how"),
    [
        (lambda path: goal_seek(path, 0.055, PRICE), "typed"),
        (lambda path: closed_form(path, PRICE), "by formula"),
        (lambda path: data_table(path, PRICE), "read off a table"),
        (lambda path: formula_grid(path, PRICE), "read off a table"),
    ],
    ids=["goal-seek", "closed-form", "data-table", "formula-grid"],
)
def test_right_answer_passes_however_it_was_solved(make, how, tmp_path):
    found = results(make(tmp_path / "reverse.xlsx"))
    assert found["reverse.solves-to-price"].status == "pass"
    assert found["reverse.implied-value"].status == "pass"
    assert how in found["reverse.implied-value"].convention
    assert "the only root" in found["reverse.implied-value"].convention


def test_goal_seek_of_an_older_price_is_found_with_the_right_growth(tmp_path):
    found = results(goal_seek(tmp_path / "reverse.xlsx", 0.041, PRICE))
    assert found["reverse.solves-to-price"].findings[0].found == pytest.approx(value_per_share(0.041))
    assert found["reverse.implied-value"].findings[0].expected == pytest.approx(growth_at(PRICE), abs=1e-8)


def test_closed_form_with_a_slip_is_found(tmp_path):
    found = results(closed_form(tmp_path / "reverse.xlsx", PRICE, slip=0.004))
    assert found["reverse.solves-to-price"].status == "fail"
    finding = found["reverse.implied-value"].findings[0]
    assert finding.found - finding.expected == pytest.approx(0.004, abs=1e-8)


def test_answer_misread_from_a_data_table_is_found(tmp_path):
    found = results(data_table(tmp_path / "reverse.xlsx", PRICE, misread=0.01))
    assert found["reverse.solves-to-price"].status == "fail"
    assert found["reverse.implied-value"].findings[0].expected == pytest.approx(growth_at(PRICE), abs=1e-8)


PARABOLA = {
    "R!A1": "Market-implied margin", "R!B1": 0.4, "R!A2": "Value per share", "R!B2": "=40*B1*(1-B1)",
    "R!A3": "Share price", "R!B3": 9.6,
}  # fmt: skip
ROLES = {"implied_value": "R!B1", "value_per_share": "R!B2", "current_price": "R!B3"}


def test_a_second_root_is_told_and_either_is_accepted(tmp_path):
    # 40·x·(1 - x) = 9.6 at 0.4 and 0.6
    found = checked(write(tmp_path, PARABOLA), ROLES, ["reverse.implied-value"])["reverse.implied-value"]
    assert found.status == "pass"
    assert "2 roots, also 0.6" in found.convention
    other = checked(write(tmp_path, PARABOLA | {"R!B1": 0.6}), ROLES, ["reverse.implied-value"])
    assert other["reverse.implied-value"].status == "pass"


def test_price_that_no_value_gives_is_a_finding(tmp_path):
    # 40·x·(1 - x) is at most 10
    found = checked(write(tmp_path, PARABOLA | {"R!B3": 12.0}), ROLES, ["reverse.implied-value"])
    result = found["reverse.implied-value"]
    assert result.status == "fail"
    assert "no value of R!B1" in result.findings[0].message


def test_text_number_that_a_data_table_reads_breaks_no_check(tmp_path):
    # the cells of a data table depend on its input without holding a formula
    path = data_table(tmp_path / "reverse.xlsx", PRICE)
    book = openpyxl.load_workbook(path)
    book["Expectations"]["B9"] = "0.05"
    book.save(path)
    said = {one.check_id: one for one in audit(path).results}["recompute.no-text-numbers"]
    assert not (said.reason or "").startswith(BROKEN)
