"""Net debt and net cash among other items of a bridge, balances counted twice, growth against a rate that is shared.

Value per share of the sound model: (500 of present values + 700 - 200 of net debt - 50 of minorities)/100.
"""

import pytest
from checking_helper import write

from xlcheck.pipeline import audit

YEARS = "BCD"
RATES = {
    "In!A1": "Discount rate (WACC)", "In!B1": 0.08,
    "In!A2": "Net debt", "In!B2": 200.0,
    "In!A3": "Shares", "In!B3": 100.0,
    "In!A4": "Minority interest", "In!B4": 50.0,
}  # fmt: skip


def sheet(name: str, growth: float = 0.02, net: str = "=-In!B2", flow: float = 100.0) -> dict:
    cells = {
        "A1": "Year", "B1": [2027, 2028, 2029],
        "A2": "Period", "B2": [1, 2, 3],
        "A3": "Free cash flow to the firm", "B3": [flow, flow * 1.05, flow * 1.1],
        "A4": "Discount factor", "B4": [f"=1/(1+In!$B$1)^{year}2" for year in YEARS],
        "A5": "Present value of FCFF", "B5": [f"={year}3*{year}4" for year in YEARS],
        "A6": "Terminal growth rate", "B6": growth,
        "A7": "Sum of present values", "B7": "=SUM(B5:D5)",
        "A8": "Terminal value", "B8": "=D3*(1+B6)/(In!B1-B6)",
        "A9": "Present value of terminal value", "B9": "=B8*D4",
        "A10": "Enterprise value", "B10": "=B7+B9",
        "A11": "Net debt", "B11": net,
        "A12": "Minority interest", "B12": "=-In!B4",
        "A13": "Equity value", "B13": "=B10+B11+B12",
        "A14": "Value per share", "B14": "=B13/In!B3",
    }  # fmt: skip
    return {f"{name}!{place}": content for place, content in cells.items()}


def found(tmp_path, cells, check):
    results = {one.check_id: one for one in audit(write(tmp_path, cells)).results}
    return [(str(finding.cell), finding.expected) for finding in results[check].findings]


def test_net_debt_that_a_line_forgets_to_negate_is_found_beside_other_items(tmp_path):
    assert found(tmp_path, RATES | sheet("DCF", net="=In!B2"), "bridge.signs") == [("DCF!B11", -200.0)]
    assert found(tmp_path, RATES | sheet("DCF"), "bridge.signs") == []


@pytest.mark.parametrize("label", ["Net cash", "Net cash / (net debt)"])
def test_net_cash_that_a_line_negates_is_found_by_the_label_at_its_source(tmp_path, label):
    cells = RATES | sheet("DCF") | {"In!A2": label, "DCF!A11": "Net cash"}
    assert found(tmp_path, cells, "bridge.signs") == [("DCF!B11", 200.0)]
    assert found(tmp_path, cells | {"DCF!B11": "=In!B2"}, "bridge.signs") == []


def test_cash_less_debt_under_the_name_of_net_debt_is_added(tmp_path):
    amounts = {"In!A6": "Cash", "In!B6": 300.0, "In!A7": "Debt", "In!B7": 100.0, "In!B2": "=B6-B7"}
    assert found(tmp_path, RATES | sheet("DCF", net="=In!B2") | amounts, "bridge.signs") == []


def test_balance_inside_one_line_and_in_a_line_of_its_own_is_counted_twice(tmp_path):
    balances = {"In!A6": "Cash", "In!B6": 60.0, "In!A7": "Listed shareholdings", "In!B7": 40.0}
    lines = {
        "DCF!A11": "Cash and securities", "DCF!B11": "=In!B6+In!B7",
        "DCF!A12": "Listed shareholdings", "DCF!B12": "=In!B7",
    }  # fmt: skip
    cells = RATES | sheet("DCF") | balances | lines
    assert ("DCF!B11", 60.0) in found(tmp_path, cells, "bridge.no-double-count")
    assert found(tmp_path, cells | {"DCF!B11": "=In!B6"}, "bridge.no-double-count") == []


def test_growth_of_another_case_is_held_against_the_rate_that_all_share(tmp_path):
    cases = sheet("Base") | sheet("Low", growth=0.01, flow=80.0)
    high = sheet("High", growth=0.085, flow=120.0)
    weighted = {"Sum!A1": "Base", "Sum!B1": "=Base!B14", "Sum!A2": "Low", "Sum!B2": "=Low!B14", "Sum!A3": "High",
                "Sum!B3": "=High!B14"}  # fmt: skip
    cells = RATES | cases | high | weighted
    assert [cell for cell, _ in found(tmp_path, cells, "fatal.growth-not-below-wacc")] == ["High!B6"]
    assert found(tmp_path, cells | {"High!B6": 0.03}, "fatal.growth-not-below-wacc") == []
