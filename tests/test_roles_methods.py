"""Valuations by several methods, phases or currencies: which of the like cells is the headline's."""

import pytest
from layouts import Layout, workbook

from xlcheck.graph import build_graph
from xlcheck.recompute import recompute
from xlcheck.roles.locate import locate
from xlcheck.workbook import load

FLOWS = """
## DCF
B1 Kestrel Optics plc, EUR m
D3:H3 2026E | 2027E | 2028E | 2029E | 2030E
B4 Revenue
D4:H4 400 | 420 | 440 | 460 | 480
B5 EBITDA
D5:H5 =D4*0.2
B6 EBIT
D6:H6 =D5-0.04*D4
B7 Taxes on EBIT
D7:H7 =D6*$D$22
B8 Unlevered free cash flow
D8:H8 =D6-D7
B9 Year
D9:H9 1 | 2 | 3 | 4 | 5
B10 Discount factor
D10:H10 =1/(1+$D$21)^D9
B11 PV of free cash flow
D11:H11 =D8*D10
B21:D21 WACC |  | 8.5%
B22:D22 Tax rate |  | 25%
B23:D23 Terminal growth rate |  | 2%
B24:D24 Exit multiple (EV/EBITDA) |  | 9
"""
BLENDED = (
    FLOWS
    + """
B25:D25 Weight of the perpetuity |  | 0.6
B26:D26 Shares outstanding (m) |  | 50
J30 Perpetuity
K30 Multiple
L30 {heading}
I31 Sum of PV of free cash flow
J31:K31 =SUM($D$11:$H$11)
I32 Terminal value
J32 =H8*(1+D23)/(D21-D23)
K32 =H5*D24
I33 PV of terminal value
J33:K33 =J32*$H$10
I34 Enterprise value
J34:K34 =J31+J33
L34 =D25*J34+(1-D25)*K34
I35 Less: Gross debt
J35:L35 -120 | -120 | -120
I36 Equity value
J36:L36 =J34+J35
I37 Shares outstanding (m)
J37:L37 =$D$26
I38 Value per share (EUR)
J38:L38 =J36/J37
"""
)
DEPOSITARY = (
    FLOWS
    + """
B31 Sum of PV of free cash flow
D31 =SUM(D11:H11)
B32 Terminal value
D32 =H8*(1+D23)/(D21-D23)
B33 PV of terminal value
D33 =D32*H10
B34 Enterprise value
D34 =D31+D33
B35:D35 Less: Convertible notes and loans |  | 120
B36 Equity value
D36 =D34-D35
B37:D37 Ordinary shares, diluted (m) |  | 300
B38:D38 Ordinary shares per ADS |  | 6
B39:D39 EUR per USD |  | 0.9
B40 Equity value per ordinary share (EUR)
D40 =D36/D37
B41 Equity value per ADS (EUR)
D41 =D40*D38
B42 Equity value per ADS (USD)
D42 =D41/D39
B43:D43 ADS price (USD) |  | 11
B44 Upside
D44 =D42/D43-1
"""
)
PHASES = """
## Engine
A1 Kestrel Optics plc, USD m
B3:F3 Base | 1 | 2 | 3 | 4
A4 Revenues
B4:F4 100 | 110 | 120 | 126 | 130
A5 EBIT
C5:F5 =C4*0.2
A6 EBIT(1-t)
C6:F6 =C5*(1-0.25)
A7 Reinvestment
C7:F7 =(C4-B4)/2
A8 FCFF
C8:F8 =C6-C7
A9 Cost of capital
C9:D9 =$B$20
E9 =D9-(D9-$B$21)/2
F9 =B21
A10 Cumulated discount factor
C10 =1/(1+C9)
D10:F10 =C10/(1+D9)
A11 PV of FCFF
C11:F11 =C8*C10
A13 Terminal value
B13 =F8*(1+B22)/(F9-B22)
A14 PV of terminal value
B14 =B13*F10
A15 Sum of PV of FCFF
B15 =SUM(C11:F11)
A16 Enterprise value
B16 =B14+B15
A18:B18 Levered beta, high-growth phase | 1.3
A19:B19 Levered beta, stable phase | 1
A20 Cost of capital, high-growth phase
B20 =0.04+0.05*B18 as %
A21 Cost of capital, stable phase
B21 =0.04+0.05*B19 as %
A22:B22 Stable growth rate | 2%
"""


def located(text, tmp_path):
    path = tmp_path / "book.xlsx"
    workbook(Layout("book", text, {}, {})).save(path)
    book = load(path)
    return locate(book, recompute(book), build_graph(book))


def cell(roles, role):
    found = roles.get(role)
    return None if found is None else str(found.cell)


@pytest.mark.parametrize("heading", ["Blended", "Average", "综合"])
def test_blended_column_is_the_headline(heading, tmp_path):
    roles = located(BLENDED.format(heading=heading), tmp_path)
    assert [cell(roles, role) for role in ("value_per_share", "equity_value", "enterprise_value", "sum_pv_fcff")] == [
        "DCF!L38", "DCF!L36", "DCF!L34", "DCF!J31",
    ]  # fmt: skip
    assert {str(one.cell) for one in roles.ambiguous["terminal_value"]} == {"DCF!J32", "DCF!K32"}
    # by hand: 206.53 of present values + 0.66505 × (0.6 × 903.88 + 0.4 × 864.00)
    assert roles["enterprise_value"].value == pytest.approx(797.04, abs=0.05)


def test_first_column_stays_the_headline_beside_a_column_of_another_case(tmp_path):
    roles = located(BLENDED.format(heading="Downside").replace("L34 =D25*J34+(1-D25)*K34", "L34 =J34*0.8"), tmp_path)
    assert cell(roles, "value_per_share") == "DCF!J38"


def test_value_per_share_is_the_end_of_the_conversions_that_the_price_is_compared_with(tmp_path):
    roles = located(DEPOSITARY, tmp_path)
    assert [cell(roles, role) for role in ("value_per_share", "current_price", "upside", "shares", "debt")] == [
        "DCF!D42", "DCF!D43", "DCF!D44", "DCF!D37", "DCF!D35",
    ]  # fmt: skip


def test_first_year_has_the_wacc_and_the_terminal_value_a_rate_of_its_own(tmp_path):
    roles = located(PHASES, tmp_path)
    assert (cell(roles, "wacc"), cell(roles, "terminal_wacc")) == ("Engine!C9", "Engine!F9")
    assert (roles["wacc"].value, roles["terminal_wacc"].value) == pytest.approx((0.105, 0.09))
    assert cell(roles, "beta") == "Engine!B18"


def test_a_rate_that_is_the_same_in_both_phases_is_one(tmp_path):
    roles = located(PHASES.replace("stable phase | 1", "stable phase | 1.3"), tmp_path)
    assert cell(roles, "terminal_wacc") is None
    assert roles["wacc"].value == pytest.approx(0.105)


def test_cost_of_equity_in_the_terminal_value_is_no_second_phase(tmp_path):
    text = (
        FLOWS
        + """
B25:D25 Cost of equity |  | 10%
B31 Sum of PV of free cash flow
D31 =SUM(D11:H11)
B32 Terminal value
D32 =H8*(1+D23)/(D25-D23)
B33 PV of terminal value
D33 =D32*H10
B34 Enterprise value
D34 =D31+D33
"""
    )
    roles = located(text, tmp_path)
    assert (cell(roles, "wacc"), cell(roles, "terminal_wacc")) == ("DCF!D21", None)


GRID = (
    DEPOSITARY
    + """
B50 Sensitivity of the value per ADS (USD)
C52:E52 1.5% | 2% | 2.5%
B53:B55 8% | 8.5% | 9%
C53:E55 =((SUMPRODUCT($D$8:$H$8,1/(1+$B53)^$D$9:$H$9)+$H$8*(1+C$52)/($B53-C$52)/(1+$B53)^5)-$D$35)/$D$37*$D$38/$D$39
"""
)


def test_sensitivity_table_is_reported_with_its_axes_and_output(tmp_path):
    (grid,) = located(GRID, tmp_path).grids
    assert (str(grid.cells), grid.row_role, grid.column_role) == ("DCF!C53:E55", "terminal_growth", "wacc")
    assert [str(one) for one in grid.row_axis] == ["DCF!C52", "DCF!D52", "DCF!E52"]
    assert [str(one) for one in grid.column_axis] == ["DCF!B53", "DCF!B54", "DCF!B55"]
    assert (grid.output_role, grid.live) == ("value_per_share", True)


def test_a_table_of_numbers_that_vary_no_input_is_no_sensitivity_table(tmp_path):
    text = GRID.replace("1.5% | 2% | 2.5%", "2020 | 2021 | 2022").replace("8% | 8.5% | 9%", "1 | 2 | 3")
    assert located(text, tmp_path).grids == ()


NET = FLOWS.replace("B7 Taxes on EBIT", "B7 At the statutory rate of Elbonia").replace(
    "B8 Unlevered free cash flow\nD8:H8 =D6-D7", "B12 NOPAT\nD12:H12 =D6-D7\nB8 Unlevered free cash flow\nD8:H8 =D12"
)
SUMS = """
B31 Sum of PV of free cash flow
D31 =SUM(D11:H11)
B32 Terminal value
D32 =H8*(1+D23)/(D21-D23)
B33 PV of terminal value
D33 =D32*H10
B34 Enterprise value
D34 =D31+D33
"""


def test_row_between_ebit_and_nopat_is_the_taxes_whatever_its_label(tmp_path):
    roles = located(NET + SUMS, tmp_path)
    assert [str(one) for one in roles.series["taxes"].cells] == [f"DCF!{column}7" for column in "DEFGH"]
    assert roles.series["taxes"].sign == 1


def test_a_row_that_is_not_built_on_ebit_is_no_tax(tmp_path):
    roles = located(NET.replace("D7:H7 =D6*$D$22", "D7:H7 =D4*0.01") + SUMS, tmp_path)
    assert "taxes" not in roles.series


BALANCE = """
## Balance Sheet
A3:D3 Particulars | Mar-24 | Mar-25 | Mar-26
A4:D4 {own} | 40 | 40 | 40
A5:D5 Borrowings | 60 | 65 | 70
A6 Total Liabilities
B6:D6 =SUM(B4:B5)
A7:D7 Fixed Assets | 70 | 80 | 85
A8:D8 Inventories | 30 | 25 | 25
A9 Total Assets
B9:D9 =SUM(B7:B8)
"""


@pytest.mark.parametrize(("own", "found"), [("Equity Share Capital", True), ("Trade Payables", False)])
def test_total_liabilities_that_sum_equity_are_the_other_side_of_the_balance_sheet(own, found, tmp_path):
    roles = located(FLOWS + SUMS + BALANCE.format(own=own), tmp_path)
    line = roles.series.get("total_liabilities_and_equity")
    cells = None if line is None else [str(one) for one in line.cells]
    assert cells == (["Balance Sheet!B6", "Balance Sheet!C6", "Balance Sheet!D6"] if found else None)
