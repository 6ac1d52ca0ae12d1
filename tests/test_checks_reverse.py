"""Reverse DCF checks on a perpetuity whose implied growth is known in closed form."""

from decimal import Decimal

import pytest
from checking_helper import accused, audit, write

# value per share = 10*(1+g)/(0.1-g)/5; at a price of 42 the growth is (42*5*0.1 - 10)/(10 + 42*5) = 5 %
CELLS = {
    "R!A1": "WACC", "R!B1": 0.1, "R!A2": "Market-implied growth", "R!B2": 0.05, "R!A3": "NOPAT", "R!B3": [10.0, 10.0],
    "R!A4": "Shares", "R!B4": 5.0, "R!A5": "Value per share", "R!B5": "=C3*(1+B2)/(B1-B2)/B4",
    "R!A6": "Share price", "R!B6": 42.0, "R!A7": "Value without growth", "R!B7": "=C3/B1",
}  # fmt: skip
ROLES = {
    "wacc": "R!B1", "implied_value": "R!B2", "nopat": "R!B3:C3", "fcff": "R!B3:C3", "shares": "R!B4",
    "value_per_share": "R!B5", "current_price": "R!B6",
}  # fmt: skip


def run(tmp_path, check, changes=None, **params):
    return audit(write(tmp_path, CELLS | (changes or {})), ROLES, [check], params={check: params})[check]


def test_right_answer_passes_and_is_solved_afresh(tmp_path):
    assert run(tmp_path, "reverse.solves-to-price").status == "pass"
    assert run(tmp_path, "reverse.implied-value").convention.startswith("solved 0.05")
    assert run(tmp_path, "reverse.no-growth-value").status == "pass"


def test_goal_seek_that_was_not_run_again_is_found_with_the_root(tmp_path):
    assert run(tmp_path, "reverse.solves-to-price", {"R!B2": 0.031}).status == "fail"
    found = run(tmp_path, "reverse.implied-value", {"R!B2": 0.031})
    assert found.findings[0].expected == pytest.approx(0.05, abs=1e-6)


def test_fixed_terms_and_price_anchor_come_from_the_rubric(tmp_path):
    assert run(tmp_path, "reverse.fixed-terms").status == "not_applicable"
    assert run(tmp_path, "reverse.fixed-terms", rate=Decimal("0.1"), years=Decimal(2)).status == "pass"
    found = run(tmp_path, "reverse.fixed-terms", rate=Decimal("0.088"), years=Decimal(10))
    assert accused(found) == {"R!B1", "R!C3"}
    assert run(tmp_path, "reverse.price-anchor", price=Decimal("42.00")).status == "pass"
    assert run(tmp_path, "reverse.price-anchor", price=Decimal("45.30")).findings[0].expected == pytest.approx(45.3)


def test_line_that_is_no_perpetuity_without_growth_stays_open(tmp_path):
    assert run(tmp_path, "reverse.no-growth-value", {"R!B7": "=C3/B1*1.7"}).status == "unverifiable"


def test_figure_that_the_value_does_not_hang_on_was_not_solved_for(tmp_path):
    found = run(tmp_path, "reverse.solves-to-price", {"R!B2": "=B5/100", "R!B5": "=C3*1.05/(B1-0.05)/B4", "R!B6": 30.0})
    assert found.status == "not_applicable"


def test_implied_figure_of_a_forward_valuation_is_not_held_against_the_price(tmp_path):
    """A typed growth called implied, a value of 21.7 and a price of 42: no claim that the two are one."""
    forward = {"R!A2": "Implied growth", "R!B2": 0.031}
    for check in ("reverse.solves-to-price", "reverse.implied-value"):
        assert audit(write(tmp_path, CELLS | forward), ROLES, [check])[check].status == "not_applicable"
        reverse = forward | {"R!A9": "Reverse DCF: growth is solved so that the value is the price"}
        assert audit(write(tmp_path, CELLS | reverse), ROLES, [check])[check].status == "fail"
