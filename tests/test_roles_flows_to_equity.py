"""Flows to equity at the cost of equity: the equity value adds the present values itself, there is no bridge."""

import pytest
from checking_helper import write

from xlcheck.pipeline import audit

YEARS = "BCD"
CELLS = {
    "F!A1": "Year", "F!B1": [2027, 2028, 2029],
    "F!A2": "Net income", "F!B2": [80.0, 88.0, 95.0],
    "F!A3": "Equity needed for growth", "F!B3": [30.0, 28.0, 25.0],
    "F!A4": "FCFE", "F!B4": [f"={year}2-{year}3" for year in YEARS],
    "F!A5": "Period", "F!B5": [1, 2, 3],
    "F!A6": "Discount factor", "F!B6": [f"=1/(1+V!$B$1)^{year}5" for year in YEARS],
    "F!A7": "PV of FCFE", "F!B7": [f"={year}4*{year}6" for year in YEARS],
    "V!A1": "Cost of equity", "V!B1": 0.12,
    "V!A2": "Long-term growth", "V!B2": 0.04,
    "V!A3": "PV of FCFE, three years", "V!B3": "=SUM(F!B7:D7)",
    "V!A4": "Terminal value", "V!B4": "=F!D4*(1+B2)/(B1-B2)",
    "V!A5": "PV of terminal value", "V!B5": "=B4*F!D6",
    "V!A6": "Equity value", "V!B6": "=B3+B5",
    "V!A7": "Shares outstanding", "V!B7": 20.0,
    "V!A8": "Value per share", "V!B8": "=B6/B7",
}  # fmt: skip

NORMALISED = {"V!A9": "Flow of the first year after the forecast", "V!B9": "=F!D2*(1+B2)-20"}


def test_flows_present_values_and_terminal_value_are_bound(tmp_path):
    report = audit(write(tmp_path, CELLS))
    assert [str(cell) for cell in report.series["fcfe"].cells] == ["F!B4", "F!C4", "F!D4"]
    bound = {role: str(report.roles[role].cell) for role in ("sum_pv_fcff", "terminal_value", "pv_terminal_value")}
    assert bound == {"sum_pv_fcff": "V!B3", "terminal_value": "V!B4", "pv_terminal_value": "V!B5"}
    assert str(report.roles["equity_value"].cell) == "V!B6"
    assert "enterprise_value" not in report.roles


@pytest.mark.parametrize(
    ("change", "check", "cell"),
    [
        ({"V!B5": "=B4"}, "terminal.discounted-once", "V!B5"),
        (NORMALISED | {"V!B4": "=B9/(B1-B2)*F!D6"}, "terminal.discounted-once", "V!B4"),
        (NORMALISED | {"V!B4": "=B9/(B1-B2)/(1+B1)^3"}, "terminal.discounted-once", "V!B4"),
        ({"V!B4": "=F!D4*(1+B2)/(B1-B2)*F!D6"}, "terminal.gordon-identity", "V!B4"),
        ({"V!B4": "=F!D4*(1+B2)/(B1+B2)"}, "terminal.gordon-identity", "V!B4"),
        ({"V!B3": "=SUM(F!B7:C7)"}, "discount.pv-sum", "V!B3"),
    ],
)
def test_slips_in_a_valuation_of_flows_to_equity_are_found(change, check, cell, tmp_path):
    result = next(one for one in audit(write(tmp_path, CELLS | change)).results if one.check_id == check)
    assert cell in {str(finding.cell) for finding in result.findings}


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"V!B4": "=F!D7*(1+B2)/(B1-B2)"}, "fatal.double-discounting"),
        ({"V!B5": "=B4"}, "fatal.terminal-not-discounted"),
    ],
)
def test_fatal_errors_of_discounting_are_found_without_a_wacc(change, check, tmp_path):
    before, after = (
        next(one.status for one in audit(write(tmp_path, CELLS | changed)).results if one.check_id == check)
        for changed in ({}, change)
    )
    assert (before, after) == ("pass", "fail")
