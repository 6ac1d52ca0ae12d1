"""Roles of a reverse DCF: the input solved for, and a goal seek's difference that is no valuation."""

import pytest
from checking_helper import write

from xlcheck.pipeline import study

YEARS = "BCDEF"
CELLS = {
    "M!A1": "Share price", "M!B1": 40.0,
    "M!A2": "Discount rate", "M!B2": 0.09,
    "M!A3": "Terminal growth rate", "M!B3": 0.02,
    "M!A4": "Shares outstanding", "M!B4": 10.0,
    "M!A5": "Implied EBIT margin", "M!B5": 0.2,
    "M!A7": "Year", "M!B7": [2027, 2028, 2029, 2030, 2031],
    "M!A8": "Revenue", "M!B8": [200.0, 210.0, 220.0, 230.0, 240.0],
    "M!A9": "EBIT", "M!B9": [f"={year}8*$B$5" for year in YEARS],
    "M!A10": "Free cash flow to the firm", "M!B10": [f"={year}9*0.75" for year in YEARS],
    "M!A11": "Discount factor", "M!B11": [f"=1/(1+$B$2)^({year}7-2026)" for year in YEARS],
    "M!A12": "Present value of FCFF", "M!B12": [f"={year}10*{year}11" for year in YEARS],
    "M!A14": "Sum of present values", "M!B14": "=SUM(B12:F12)",
    "M!A15": "Terminal value", "M!B15": "=F10*(1+B3)/(B2-B3)",
    "M!A16": "Present value of terminal value", "M!B16": "=B15*F11",
    "M!A17": "Enterprise value", "M!B17": "=B14+B16",
    "M!A18": "Net debt", "M!B18": 20.0,
    "M!A19": "Equity value", "M!B19": "=B17-B18",
    "M!A20": "Value per share", "M!B20": "=B19/B4",
    "M!A21": "Value per share less price", "M!B21": "=B20-B1",
    "Checks!A1": "The value per share is the price", "Checks!B1": "=ROUND(M!B21,2)",
}  # fmt: skip


@pytest.mark.parametrize("label", ["Value per share less price", "Gap to the price", "Difference (goal seek to zero)"])
def test_difference_that_a_goal_seek_closes_is_no_valuation(tmp_path, label):
    roles = study(write(tmp_path, CELLS | {"M!A21": label})).roles
    assert str(roles.scalars["value_per_share"].cell) == "M!B20"
    assert str(roles.scalars["equity_value"].cell) == "M!B19"


def test_input_solved_for_is_bound_by_its_label(tmp_path):
    assert str(study(write(tmp_path, CELLS)).roles.scalars["implied_value"].cell) == "M!B5"


def test_implied_figure_that_the_value_does_not_hang_on_is_not_what_was_solved_for(tmp_path):
    typed = [f"={year}8*0.2" for year in YEARS]
    changes = {"M!B5": None, "M!B9": typed, "M!A23": "Implied growth", "M!B23": "=B15/B17"}
    assert "implied_value" not in study(write(tmp_path, CELLS | changes)).roles.scalars
