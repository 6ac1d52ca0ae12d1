"""Rates that vary by year: factors that are each the one before over the year's own rate, opened by a typed 1."""

import pytest
from checking_helper import write

from xlcheck.pipeline import audit

YEARS = "CDEF"
RATES = [0.14, 0.13, 0.12, 0.11]
CELLS = {
    "M!A1": "Year", "M!B1": [2026, 2027, 2028, 2029, 2030],
    "M!A2": "Free cash flow to the firm", "M!C2": [100.0, 106.0, 111.0, 115.0],
    "M!A3": "WACC of the year", "M!C3": RATES,
    "M!A4": "Cumulative discount factor", "M!B4": [1.0, "=B4/(1+C3)", "=C4/(1+D3)", "=D4/(1+E3)", "=E4/(1+F3)"],
    "M!A5": "Present value", "M!C5": [f"={year}2*{year}4" for year in YEARS],
    "M!A7": "Terminal WACC", "M!B7": 0.10,
    "M!A8": "Terminal growth rate", "M!B8": 0.03,
    "M!A9": "Sum of present values", "M!B9": "=SUM(C5:F5)",
    "M!A10": "Terminal value", "M!B10": "=F2*(1+B8)/(B7-B8)",
    "M!A11": "Present value of terminal value", "M!B11": "=B10*F4",
    "M!A12": "Enterprise value", "M!B12": "=B9+B11",
    "M!A13": "Debt", "M!B13": 300.0,
    "M!A14": "Equity value", "M!B14": "=B12-B13",
    "M!A15": "Shares outstanding", "M!B15": 10.0,
    "M!A16": "Value per share", "M!B16": "=B14/B15",
}  # fmt: skip


def test_rate_and_factor_rows_are_bound_and_found_right(tmp_path):
    report = audit(write(tmp_path, CELLS))
    assert [str(cell) for cell in report.series["discount_rate"].cells] == [f"M!{year}3" for year in YEARS]
    assert [str(cell) for cell in report.series["discount_factor"].cells] == [f"M!{year}4" for year in YEARS]
    by_id = {one.check_id: one for one in report.results}
    checks = ("discount.factor-identity", "discount.pv-sum", "terminal.gordon-identity", "terminal.discounted-once")
    for check in checks:
        assert by_id[check].status == "pass", by_id[check]
    factors = [1 / 1.14, 1 / (1.14 * 1.13), 1 / (1.14 * 1.13 * 1.12), 1 / (1.14 * 1.13 * 1.12 * 1.11)]
    present = sum(flow * factor for flow, factor in zip([100, 106, 111, 115], factors, strict=True))
    worth = (present + 115 * 1.03 / 0.07 * factors[-1] - 300) / 10
    assert report.roles["value_per_share"].value == pytest.approx(worth)


def test_typed_one_of_another_line_opens_no_factors(tmp_path):
    report = audit(write(tmp_path, CELLS | {"M!A4": "Index of prices"}))
    assert "discount_factor" not in report.series


def test_growth_added_to_a_rate_of_its_own_is_found(tmp_path):
    report = audit(write(tmp_path, CELLS | {"M!B10": "=F2*(1+B8)/(B7+B8)"}))
    finding = next(one for one in report.results if one.check_id == "terminal.gordon-identity").findings[0]
    assert str(finding.cell) == "M!B10"
    assert finding.expected == pytest.approx(115 * 1.03 / 0.07)
