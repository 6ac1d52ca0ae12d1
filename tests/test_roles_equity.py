"""Valuations of the equity itself: dividends a share, excess returns of a bank; and labels that name little."""

import pytest
from layouts import Layout, workbook

import xlcheck.checks  # noqa: F401 - declares the checks
from xlcheck.checking import Request, Workpaper, run_checks
from xlcheck.graph import build_graph
from xlcheck.recompute import recompute
from xlcheck.roles.locate import locate
from xlcheck.workbook import load

DIVIDENDS = """
## DDM
A1 Alder Gas, dividend discount model, EUR per share
A3:B3 Cost of equity | 8%
A4:B4 Long-term growth | 3%
A6:E6 Year | 2026 | 2027 | 2028 | 2029
A7:E7 Dividend per share | 2 | 2.2 | 2.4 | 2.5
A8 Discount factor
B8:E8 =1/(1+$B$3)^(B6-2025)
A9 Present value
B9:E9 =B7*B8
A11 Sum of present values
B11 =SUM(B9:E9)
A12 Terminal value
B12 =E7*(1+B4)/(B3-B4)
A13 PV of terminal value
B13 =B12*E8
A14 Value per share
B14 =B11+B13
"""
EXCESS = """
## Bank
A1 Alder Bank, excess returns, EUR m
A2:B2 Cost of equity | 10%
A3:B3 Book value of equity | 1000
A4:E4 Year | 2026 | 2027 | 2028 | 2029
A5:E5 Excess return on equity | 40 | 35 | 30 | 20
A6 {label}
B6 =1+B2
C6:E6 =B6*(1+$B$2)
A7 Present value
B7:E7 =B5/B6
A8 Sum of present values
B8 =SUM(B7:E7)
A9 Value of equity
B9 =B3+B8
A10:B10 Number of shares (m) | 100
A11 {headline}
B11 =B9/B10
"""


def study(text, tmp_path):
    path = tmp_path / "book.xlsx"
    workbook(Layout("book", text, {}, {})).save(path)
    book = load(path)
    recalc = recompute(book)
    graph = build_graph(book)
    return Workpaper(book, recalc, graph, locate(book, recalc, graph))


def cells(paper, role):
    held = paper.roles.scalars.get(role)
    return None if held is None else str(held.cell)


def test_dividends_a_share_are_discounted_to_a_value_per_share_without_a_bridge(tmp_path):
    paper = study(DIVIDENDS, tmp_path)
    roles = ("value_per_share", "sum_pv_fcff", "terminal_value", "pv_terminal_value", "terminal_growth")
    assert [cells(paper, role) for role in roles] == ["DDM!B14", "DDM!B11", "DDM!B12", "DDM!B13", "DDM!B4"]
    assert cells(paper, "cost_of_equity") == "DDM!B3"
    assert cells(paper, "enterprise_value") is None
    assert [str(one) for one in paper.roles.series["fcfe"].cells] == ["DDM!B7", "DDM!C7", "DDM!D7", "DDM!E7"]


@pytest.mark.parametrize(
    ("changes", "status"),
    [(("B13 =B12*E8", "B13 =B12*E8"), "pass"), (("B13 =B12*E8", "B13 =B12*E8*E8"), "fail")],
)
def test_terminal_value_a_share_is_held_against_the_dividends(changes, status, tmp_path):
    paper = study(DIVIDENDS.replace(*changes), tmp_path)
    assert run_checks(paper, [Request("terminal.discounted-once", {})])[0].status == status


@pytest.mark.parametrize("label", ["Cumulated cost of equity", "Compounded"])
def test_divisor_that_grows_by_the_rate_from_year_to_year_discounts(label, tmp_path):
    paper = study(EXCESS.format(label=label, headline="Value per share"), tmp_path)
    assert cells(paper, "value_per_share") == "Bank!B11"
    assert cells(paper, "equity_value") == "Bank!B9"
    assert cells(paper, "cost_of_equity") == "Bank!B2"
    assert [str(one) for one in paper.roles.series["pv_fcff"].cells] == ["Bank!B7", "Bank!C7", "Bank!D7", "Bank!E7"]


def test_per_share_alone_in_its_row_is_a_label_and_no_unit(tmp_path):
    paper = study(EXCESS.format(label="Compounded", headline="Per share"), tmp_path)
    assert cells(paper, "value_per_share") == "Bank!B11"


CARRIED = """
## NPV
A1 Alder Tools, EUR m
A2:B2 WACC | 9%
A3:B3 Terminal growth | 2%
A5:E5 Year | 2026 | 2027 | 2028 | 2029
A6:E6 Free cash flow | 50 | 52 | 54 | 55
A8 {first}
B8 =NPV(B2,B6:E6)*(1+B2)^0.5
A9 Terminal value
B9 =E6*(1+B3)/(B2-B3)
A10 {second}
B10 =B9*(1+B2)^0.5/(1+B2)^4
A11 Enterprise value
B11 =B8+B10
A12:B12 Net debt | 120
A13 Equity value
B13 =B11-B12
A14:B14 Shares (m) | 20
A15 Value per share
B15 =B13/B14
"""


@pytest.mark.parametrize(
    "names", [("PV of flows, mid-year", "PV of terminal value"), ("Flows today", "The rest today")]
)
def test_present_values_carried_forward_half_a_year_are_present_values(names, tmp_path):
    paper = study(CARRIED.format(first=names[0], second=names[1]), tmp_path)
    assert cells(paper, "sum_pv_fcff") == "NPV!B8"
    assert cells(paper, "pv_terminal_value") == "NPV!B10"
    checks = ("terminal.discounted-once", "independent.value-per-share", "discount.factor-identity")
    assert [one.status for one in run_checks(paper, [Request(check, {}) for check in checks])] == ["pass"] * 3


LATEST_FIRST = """
## DCF
A1 Alder Tools, EUR m
A2:B2 WACC | 9%
A3:B3 Terminal growth | 2%
A5:E5 Year | 2029 | 2028 | 2027 | 2026
A6:E6 Free cash flow | 55 | 54 | 52 | 50
A7 Discount factor
B7:E7 =1/(1+$B$2)^(B5-2025)
A8 Present value
B8:E8 =B6*B7
A9 Sum of present values
B9 =SUM(B8:E8)
A10 Terminal value
B10 =B6*(1+B3)/(B2-B3)
A11 PV of terminal value
B11 =B10*B7
A12 Enterprise value
B12 =B9+B11
A13:B13 Net debt | 120
A14 Equity value
B14 =B12-B13
A15:B15 Shares (m) | 20
A16 Value per share
B16 =B14/B15
"""


def test_years_that_stand_latest_first_are_read_in_the_order_of_time(tmp_path):
    paper = study(LATEST_FIRST, tmp_path)
    assert [str(one) for one in paper.roles.series["fcff"].cells] == ["DCF!E6", "DCF!D6", "DCF!C6", "DCF!B6"]
    checks = ("discount.factor-identity", "terminal.gordon-identity", "terminal.discounted-once", "discount.pv-sum")
    assert [one.status for one in run_checks(paper, [Request(check, {}) for check in checks])] == ["pass"] * 4


POINTS = LATEST_FIRST.replace("| 9%", "| 9").replace("A3:B3 Terminal growth | 2%", "A3:B3 After the plan (%) | 2")
POINTS = POINTS.replace("(1+$B$2)", "(1+$B$2/100)")


@pytest.mark.parametrize(
    ("terminal", "status"), [("=B6*(1+B3/100)/((B2-B3)/100)", "pass"), ("=B6*(1+B3/100)/(B2-B3)", "fail")]
)
def test_perpetuity_at_rates_in_percent_points_is_read_and_judged(terminal, status, tmp_path):
    paper = study(POINTS.replace("=B6*(1+B3)/(B2-B3)", terminal), tmp_path)
    assert cells(paper, "terminal_growth") == "DCF!B3"
    assert run_checks(paper, [Request("terminal.gordon-identity", {})])[0].status == status


def test_years_above_the_lines_tell_that_the_latest_stands_first(tmp_path):
    text = LATEST_FIRST.replace("A5:E5 Year | 2029 | 2028 | 2027 | 2026", "B4:E4 2029E | 2028E | 2027E | 2026E")
    text = text.replace("A6:E6 Free", "A5:E5 Period | 4 | 3 | 2 | 1\nA6:E6 Free").replace("^(B5-2025)", "^B5")
    paper = study(text, tmp_path)
    assert str(paper.roles.series["fcff"].cells[0]) == "DCF!E6"


INDEXED = LATEST_FIRST.replace("A5:E5 Year | 2029 | 2028 | 2027 | 2026", "A5:E5 Year | 2026 | 2027 | 2028 | 2029")
INDEXED = INDEXED.replace(
    "A6:E6 Free cash flow | 55 | 54 | 52 | 50", "A6:E6 Free cash flow, constant prices | 50 | 52 | 54 | 55"
)
INDEXED = (
    INDEXED.replace("B8:E8 =B6*B7", "B8:E8 =B19*B7").replace("=B6*(1+B3)", "=E19*(1+B3)").replace("B10*B7", "B10*E7")
)
INDEXED += """
A18:E18 Price index | 1.02 | 1.04 | 1.061 | 1.082
A19 Free cash flow, nominal
B19:E19 =B6*B18
"""


def test_flows_times_a_price_index_are_the_flows(tmp_path):
    paper = study(INDEXED, tmp_path)
    assert [str(one) for one in paper.roles.series["fcff"].cells] == ["DCF!B19", "DCF!C19", "DCF!D19", "DCF!E19"]


PENCE = LATEST_FIRST.replace("Shares (m)", "{shares}").replace("EUR m", "GBP m")
PENCE = PENCE.replace("A16 Value per share\nB16 =B14/B15", "A16 Value per share (pence)\nB16 =B14/B15*100")


@pytest.mark.parametrize("shares", ["Shares (m)", "Shares in issue, m", "Number of shares (mn)"])
def test_count_of_shares_in_millions_by_its_own_label_is_none_of_ten_thousands(shares, tmp_path):
    paper = study(PENCE.format(shares=shares), tmp_path)
    assert paper.roles.scalars["shares"].factor == 1e6
    checks = ("fatal.unit-mix", "bridge.per-share")
    assert [one.status for one in run_checks(paper, [Request(check, {}) for check in checks])] == ["pass"] * 2
