"""A normalised flow of the year after the forecast must not grow once more; one of the last year must."""

import pytest
from checking_helper import write

from xlcheck.pipeline import audit

YEARS = "BCD"
CELLS = {
    "D!A1": "Year", "D!B1": [2027, 2028, 2029], "D!E1": "Terminal",
    "D!A2": "Growth", "D!B2": [0.06, 0.05, 0.04], "D!E2": "=D!B12",
    "D!A3": "Revenue", "D!B3": ["=1000*(1+B2)", "=B3*(1+C2)", "=C3*(1+D2)", "=D3*(1+E2)"],
    "D!A4": "Free cash flow to the firm", "D!B4": [f"={year}3*0.1" for year in (*YEARS, "E")],
    "D!A5": "Period", "D!B5": [1, 2, 3],
    "D!A6": "Discount factor", "D!B6": [f"=1/(1+$B$11)^{year}5" for year in YEARS],
    "D!A7": "Present value of FCFF", "D!B7": [f"={year}4*{year}6" for year in YEARS],
    "D!A11": "WACC", "D!B11": 0.09,
    "D!A12": "Terminal growth rate", "D!B12": 0.02,
    "D!A13": "Sum of present values", "D!B13": "=SUM(B7:D7)",
    "D!A14": "Terminal value", "D!B14": "=E4/(B11-B12)",
    "D!A15": "Present value of terminal value", "D!B15": "=B14*D6",
    "D!A16": "Enterprise value", "D!B16": "=B13+B15",
    "D!A17": "Net debt", "D!B17": 100.0,
    "D!A18": "Equity value", "D!B18": "=B16-B17",
    "D!A19": "Shares outstanding", "D!B19": 10.0,
    "D!A20": "Value per share", "D!B20": "=B18/B19",
}  # fmt: skip


def gordon(tmp_path, changes):
    results = {one.check_id: one for one in audit(write(tmp_path, CELLS | changes)).results}
    return results["terminal.gordon-identity"]


def test_flow_of_the_terminal_column_is_the_next_one(tmp_path):
    assert gordon(tmp_path, {}).status == "pass"


def test_flow_of_the_terminal_column_that_grows_again_is_found(tmp_path):
    finding = gordon(tmp_path, {"D!B14": "=E4*(1+B12)/(B11-B12)"}).findings[0]
    assert str(finding.cell) == "D!B14"
    assert finding.expected == pytest.approx(1000 * 1.06 * 1.05 * 1.04 * 0.1 * 1.02 / 0.07)


def test_normalised_flow_of_the_last_year_grows_once(tmp_path):
    same_year = {"D!E2": None, "D!E3": "=D3", "D!E4": "=E3*0.1*(1-B12/0.2)", "D!B14": "=E4*(1+B12)/(B11-B12)"}
    assert gordon(tmp_path, same_year).status == "pass"


def test_growth_that_fades_to_the_terminal_rate_within_the_forecast_is_no_second_growth(tmp_path):
    fading = {"D!D2": "=B12", "D!E2": None, "D!E3": "=D3", "D!E4": "=E3*0.09", "D!B14": "=E4*(1+B12)/(B11-B12)"}
    assert gordon(tmp_path, fading).status == "pass"
