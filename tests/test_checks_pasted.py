"""An enterprise value pasted as a number under a live value per share."""

from __future__ import annotations

import pytest
from checking_helper import accused, audit, write

CELLS = {
    "D!A1": "Year", "D!B1": 2026, "D!C1": 2027, "D!D1": 2028,
    "D!A2": "Free cash flow", "D!B2": 100.0, "D!C2": 104.0, "D!D2": 108.0,
    "D!A3": "WACC", "D!B3": 0.09,
    "D!A4": "Terminal growth", "D!B4": 0.02,
    "D!A5": "Sum of PV", "D!B5": "=NPV(B3,B2:D2)",
    "D!A6": "PV of terminal value", "D!B6": "=D2*(1+B4)/(B3-B4)/(1+B3)^3",
    "D!A7": "Enterprise value", "D!B7": "=B5+B6",
    "D!A8": "Net debt", "D!B8": 200.0,
    "D!A9": "Equity value", "D!B9": "=B7-B8",
    "D!A10": "Shares", "D!B10": 10.0,
    "D!A11": "Value per share", "D!B11": "=B9/B10",
}  # fmt: skip
ROLES = {
    "wacc": "D!B3",
    "terminal_growth": "D!B4",
    "fcff": "D!B2:D2",
    "sum_pv_fcff": "D!B5",
    "pv_terminal_value": "D!B6",
    "equity_value": "D!B9",
    "value_per_share": "D!B11",
}
SUM_OF_PRESENT_VALUES = 262.67 + 1215.20
"""100/1.09 + 104/1.09² + 108/1.09³, and 108·1.02/0.07/1.09³, worked by hand to the cent."""


def run(tmp_path, value):
    return audit(write(tmp_path, CELLS | {"D!B7": value}), ROLES, ["recompute.outputs-are-live"])[
        "recompute.outputs-are-live"
    ]


def test_a_pasted_enterprise_value_is_named_though_no_role_is_bound_to_it(tmp_path):
    found = run(tmp_path, round(SUM_OF_PRESENT_VALUES, 1))
    assert found.status == "fail"
    assert accused(found) == {"D!B7"}
    assert found.findings[0].found == pytest.approx(SUM_OF_PRESENT_VALUES, abs=0.1)


def test_a_number_far_from_the_present_values_is_not_taken_for_one(tmp_path):
    assert run(tmp_path, 2.0 * SUM_OF_PRESENT_VALUES).status == "unverifiable"


def test_a_live_enterprise_value_passes(tmp_path):
    assert run(tmp_path, "=B5+B6").status == "pass"
