"""Checks of families flow, basis and statements on small invented workbooks."""

import pytest
from checking_helper import accused, audit, write

ROLES = {"fcff": "M!C9:E9"}
FLOW = {
    "M!A1": ["Year", "2025A", "2026E", "2027E", "2028E"],
    "M!A2": ["Revenue", 100, 110, 121, 133.1],
    "M!A3": ["EBIT", 10, 12, 13, 15],
    "M!A4": ["Taxes on EBIT", None, "=C3*0.25", "=D3*0.25", "=E3*0.25"],
    "M!A5": ["Depreciation", 5, 5, 6, 6],
    "M!A6": ["Capital expenditure", 6, 7, 7, 8],
    "M!A7": ["Net working capital", 20, 22, 24, 26],
    "M!A8": ["Increase in net working capital", None, "=C7-B7", "=D7-C7", "=E7-D7"],
    "M!A9": ["Free cash flow", None, "=C3-C4+C5-C6-C8", "=D3-D4+D5-D6-D8", "=E3-E4+E5-E6-E8"],
}


def row(template):
    return [template.replace("C", column).replace("@", before) for column, before in zip("CDE", "BCD", strict=True)]


def one(folder, check, cells, roles=ROLES):
    return audit(write(folder, cells), roles, [check])[check]


@pytest.mark.parametrize(
    "check",
    ["fcff-identity", "tax-on-ebit", "nwc-is-a-change", "nwc-sign", "sign-convention", "no-financing-flows", "nopat"],
)
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"M!A9": ["Free cash flow", None, *row("=C3*(1-0.25)+C5-C6-C8")]},
        {"M!A6": ["Capital expenditure", -6, -7, -7, -8], "M!A9": ["Free cash flow", None, *row("=C3-C4+C5+C6-C8")]},
        {
            "M!A8": ["(Increase) / decrease in working capital", None, *row("=@7-C7")],
            "M!A9": ["Free cash flow", None, *row("=C3-C4+C5-C6+C8")],
        },
        {"M!A7": ["Net working capital", 26, 24, 22, 20]},
        {"M!A9": ["Free cash flow", None, *row("=(C3-C4)*(1-0.4)")]},
        {"M!A3": ["Cash flow from operations", 10, 12, 13, 15], "M!A9": ["Free cash flow", None, *row("=C3-C6")]},
    ],
)
def test_accepted_forms_of_the_flow_pass(tmp_path, check, change):
    assert one(tmp_path, f"flow.{check}", {**FLOW, **change}).status in ("pass", "not_applicable")


@pytest.mark.parametrize(
    ("check", "change", "cell"),
    [
        ("fcff-identity", {"M!A9": ["Free cash flow", None, *row("=C3-C4+C5+C6-C8")]}, "M!C9"),
        ("tax-on-ebit", {"M!A9": ["Free cash flow", None, *row("=C3+C5-C6-C8")]}, "M!C9"),
        ("nwc-is-a-change", {"M!A9": ["Free cash flow", None, *row("=C3-C4+C5-C6-C7")]}, "M!C7"),
        ("nwc-sign", {"M!A9": ["Free cash flow", None, *row("=C3-C4+C5-C6+C8")]}, "M!C8"),
        ("sign-convention", {"M!A6": ["Capital expenditure", 6, 7, 7, 7, -8]}, "M!F6"),
        (
            "no-financing-flows",
            {"M!A10": ["Interest expense", 1, 1, 1, 1], "M!A9": ["Free cash flow", None, *row("=C3-C4+C5-C6-C8-C10")]},
            "M!C9",
        ),
        (
            "row-is-what-it-says",
            {"M!A6": ["Capital expenditure", None, *row("=C12")], "M!A12": ["Net PP&E", 50, 52, 54, 57]},
            "M!C6",
        ),
        (
            "stock-compensation",
            {
                "M!A10": ["Stock-based compensation", 1, 1, 1, 1],
                "M!A9": ["Free cash flow", None, *row("=C3-C4+C5-C6-C8+C10")],
            },
            "M!C10",
        ),
    ],
)
def test_a_fault_of_the_flow_is_found_at_its_cell(tmp_path, check, change, cell):
    cells, roles = {**FLOW, **change}, ROLES
    if check == "sign-convention":
        cells["M!A1"] = [*FLOW["M!A1"], "2029E"]
        for number in (2, 3, 5, 7):
            cells[f"M!A{number}"] = [*FLOW[f"M!A{number}"], 30]
        cells |= {"M!F4": "=F3*0.25", "M!F8": "=F7-E7", "M!F9": "=F3-F4+F5-F6-F8"}
        roles = {"fcff": "M!C9:F9"}
    result = one(tmp_path, f"flow.{check}", cells, roles)
    assert result.status == "fail", result.reason
    assert cell in accused(result)


def test_a_typed_copy_of_a_line_with_one_other_year_is_named(tmp_path):
    years = ["Year", 2025, 2026, 2027, 2028, 2029]
    cells = {
        "M!A1": years,
        "M!A2": ["Revenue", 100, 110, 121, 133, 146],
        "M!A9": ["Free cash flow", None, 5, 6, 7, 8],
        "P!A1": years,
        "P!A2": ["Revenue", 100, 110, 121, 131, 146],
    }
    roles = {"fcff": "M!C9:F9"}
    assert accused(one(tmp_path, "flow.same-quantity-two-values", cells, roles)) == {"M!E2"}
    other = {**cells, "P!A2": ["Revenue", 100, 90, 80, 70, 60]}
    assert one(tmp_path, "flow.same-quantity-two-values", other, roles).status == "pass"


@pytest.mark.parametrize(("column", "status"), [("C", "pass"), ("B", "fail")])
def test_a_row_linked_one_period_off_is_found_and_an_opening_balance_is_not(tmp_path, column, status):
    cells = {**FLOW, "P!A1": FLOW["M!A1"], "P!A2": ["Capital expenditure", 6, 7, 7, 8]}
    steps = {"C": "CDE", "B": "BCD"}[column]
    cells["M!A6"] = ["Capital expenditure", 6, *(f"=P!{letter}2" for letter in steps)]
    result = one(tmp_path, "basis.period-alignment", cells)
    assert result.status == status
    assert accused(result) == ({"M!C6"} if status == "fail" else set())
    opening = {**cells, "M!A6": ["Opening capital expenditure", 6, *(f"=P!{letter}2" for letter in steps)]}
    assert one(tmp_path, "basis.period-alignment", opening).status in ("pass", "not_applicable")


@pytest.mark.parametrize(
    ("formula", "status"),
    [("=50/(1+B1)^2", "fail"), ("=50/(1+B1/100)^2", "pass"), ("=50/(1+B1%)^2", "pass"), ("=NPV(B1,50,50)", "fail")],
)
def test_percent_points_must_be_scaled_where_they_are_used(tmp_path, formula, status):
    cells = {"M!A1": ["WACC", 8.8], "M!A2": ["Present value", formula]}
    result = one(tmp_path, "basis.percent-scale", cells, {"wacc": "M!B1"})
    assert result.status == status
    assert accused(result) == ({"M!B1"} if status == "fail" else set())


@pytest.mark.parametrize(("title", "status"), [("Valuation, USD million", "pass"), ("Valuation", "unverifiable")])
def test_a_workbook_without_a_unit_stays_open(tmp_path, title, status):
    cells = {"M!A1": title, "M!A2": ["Enterprise value", "=5*7"]}
    assert one(tmp_path, "basis.units-declared", cells, {"enterprise_value": "M!B2"}).status == status


@pytest.mark.parametrize(("gap", "status"), [(0, "pass"), (4, "fail")])
def test_a_projected_balance_sheet_must_balance(tmp_path, gap, status):
    cells = {
        "M!A1": ["Year", 2026, 2027, 2028],
        "M!A2": ["Cash", 100, 110, 120],
        "M!A3": ["Total assets", "=B2*10", "=C2*10", "=D2*10"],
        "M!A4": ["Total liabilities and equity", "=B2*10", "=C2*10", f"=D2*10+{gap}"],
    }
    result = one(tmp_path, "statements.balance-sheet", cells, {})
    assert result.status == status
    assert accused(result) == ({"M!D3", "M!D4"} if gap else set())


def test_closing_cash_ties_to_the_balance_sheet(tmp_path):
    years = ["Year", 2026, 2027, 2028, 2029]
    cells = {
        "C!A1": years,
        "C!A2": ["Closing cash", 10, "=B2+5", "=C2+5", "=D2+5"],
        "B!A1": years,
        "B!A2": ["Cash and cash equivalents", "=C!B2", "=C!C2", "=C!D2", "=C!E2"],
        "B!A3": ["Total assets", "=B2*3", "=C2*3", "=D2*3", "=E2*3"],
    }
    assert one(tmp_path, "statements.cash-ties", cells, {}).status == "pass"
    broken = {**cells, "B!A2": ["Cash and cash equivalents", "=C!B2", "=C!C2", "=C!D2", "=C!E2+18"]}
    assert accused(one(tmp_path, "statements.cash-ties", broken, {})) == {"B!E2"}


def test_a_change_of_an_unknown_name_is_known_by_its_formula(tmp_path):
    cells = {**FLOW, "M!A8": ["Zusatzbedarf", None, *row("=C7-@7")]}
    assert one(tmp_path, "flow.nwc-is-a-change", cells).status in ("pass", "not_applicable")
    turned = {**cells, "M!A9": ["Free cash flow", None, *row("=C3-C4+C5-C6+C8")]}
    assert accused(one(tmp_path, "flow.nwc-sign", turned)) == {"M!C8"}


@pytest.mark.parametrize(("link", "status"), [("=-(P!C7-P!@7)", "pass"), ("=-P!C7", "fail")])
def test_a_level_behind_a_negated_link_is_no_change(tmp_path, link, status):
    cells = {**FLOW, "P!A1": FLOW["M!A1"], "P!A7": FLOW["M!A7"]}
    cells["M!A8"] = ["Change in net working capital", None, *row(link)]
    cells["M!A9"] = ["Free cash flow", None, *row("=C3-C4+C5-C6+C8")]
    result = one(tmp_path, "flow.nwc-is-a-change", cells)
    assert result.status == status
    assert accused(result) == ({"M!C8"} if status == "fail" else set())


@pytest.mark.parametrize(("formula", "status"), [("=-C3*0.25", "pass"), ("=-C2*2", "fail")])
def test_a_share_of_the_profit_is_a_tax_whatever_it_is_called(tmp_path, formula, status):
    cells = {**FLOW, "M!A4": ["Soli on EBIT", None, *row(formula)]}
    cells["M!A9"] = ["Free cash flow", None, *row("=C3+C4+C5-C6-C8")]
    assert one(tmp_path, "flow.tax-on-ebit", cells).status == status


def test_a_wrong_sign_is_named_at_the_line_where_the_flow_only_adds(tmp_path):
    cells = {
        **FLOW,
        "M!A4": ["Taxes on EBIT", None, *row("=-C3*0.25")],
        "M!A8": ["Less: increase in NWC", None, 0, 0, 0],
    }
    cells["M!A9"] = ["Free cash flow", None, *row("=SUM(C3:C6,C8)")]
    assert accused(one(tmp_path, "flow.fcff-identity", cells)) == {"M!C6", "M!D6", "M!E6", "M!C9"}


@pytest.mark.parametrize(
    ("more", "cells"),
    [
        ({"A!A10": ["Capital expenditure (% of sales)", 0.06]}, {"M!C6"}),
        ({"M!A10": ["Capital expenditure (plan)", 6, 7, 7, 8]}, {"M!C6"}),
        ({}, set()),
    ],
)
def test_investment_set_equal_to_depreciation_is_wrong_beside_an_idle_assumption(tmp_path, more, cells):
    changes = {"M!A6": ["Less: capital expenditure", None, *row("=-C5")]}
    changes["M!A9"] = ["Free cash flow", None, *row("=C3-C4+C5+C6-C8")]
    assert accused(one(tmp_path, "flow.row-is-what-it-says", {**FLOW, **changes, **more})) == cells


@pytest.mark.parametrize(("source", "cells"), [("C2", set()), ("C4", {"M!C3"})])
def test_operating_profit_linked_to_the_profit_after_interest_is_found(tmp_path, source, cells):
    changes = {
        "P!A1": FLOW["M!A1"],
        "P!A2": ["EBIT", 10, 12, 13, 15],
        "P!A3": ["Interest", -1, -1, -1, -1],
        "P!A4": ["Profit before tax", *(f"={column}2+{column}3" for column in "BCDE")],
        "M!A3": ["EBIT", None, *row(f"=P!{source}")],
    }
    assert accused(one(tmp_path, "flow.row-is-what-it-says", {**FLOW, **changes})) == cells


@pytest.mark.parametrize(("source", "cells"), [("C3", set()), ("C2", {"M!C6"})])
def test_a_line_that_reads_another_line_than_its_idle_namesake_is_found_in_any_language(tmp_path, source, cells):
    changes = {"P!A1": FLOW["M!A1"], "P!A2": ["Kulut", 4, 5, 5, 5], "P!A3": ["Hankinnat", 6, 7, 7, 8]}
    changes["M!A6"] = ["Hankinnat", None, *row(f"=P!{source}")]
    assert accused(one(tmp_path, "flow.row-is-what-it-says", {**FLOW, **changes})) == cells


@pytest.mark.parametrize(
    ("formula", "status"), [("=C3*$B$12", "fail"), ("=C3*$B$12/100", "pass"), ("=C3*$B$12%", "pass")]
)
def test_a_tax_rate_in_points_is_scaled_where_it_taxes_an_amount(tmp_path, formula, status):
    cells = {**FLOW, "M!A3": ["EBIT", 900, 950, 980, 990], "M!A4": ["Taxes on EBIT", None, *row(formula)]}
    cells |= {"M!A12": ["Tax rate (%)", 25], "M!A13": ["Cost of debt after tax", "=4*(1-B12/100)"]}
    result = one(tmp_path, "basis.percent-scale", cells, ROLES | {"tax_rate": "M!B12"})
    assert result.status == status
    assert accused(result) == ({"M!C4"} if status == "fail" else set())


def test_a_tax_rate_in_points_scaled_by_the_reader_of_the_product_is_right(tmp_path):
    cells = {**FLOW, "M!A3": ["EBIT", 900, 950, 980, 990], "M!A4": ["Taxes, times 100", None, *row("=C3*$B$12")]}
    cells |= {"M!A12": ["Tax rate (%)", 25], "M!A9": ["Free cash flow", None, *row("=C3-C4/100+C5-C6-C8")]}
    assert one(tmp_path, "basis.percent-scale", cells, ROLES | {"tax_rate": "M!B12"}).status == "pass"


@pytest.mark.parametrize(
    ("label", "status"),
    [
        ("Working capital released", "pass"),
        ("Working capital (customers prepay)", "pass"),
        ("Change in working capital", "fail"),
    ],
)
def test_growth_of_sales_may_set_working_capital_free_where_the_line_says_so(label, status, tmp_path):
    changes = {
        "M!A8": [label, None, *row("=(C2-@2)*0.15")],
        "M!A9": ["Free cash flow", None, *row("=C3-C4+C5-C6+C8")],
    }
    found = one(tmp_path, "flow.nwc-sign", FLOW | changes)
    assert (found.status == "fail") == (status == "fail")


def test_increase_of_the_balance_that_is_called_released_and_added_is_found(tmp_path):
    changes = {
        "M!A8": ["Working capital released", None, *row("=C7-@7")],
        "M!A9": ["Free cash flow", None, *row("=C3-C4+C5-C6+C8")],
    }
    assert one(tmp_path, "flow.nwc-sign", FLOW | changes).status == "fail"


def test_balance_of_stocks_and_receivables_less_payables_is_held_not_owed(tmp_path):
    changes = {
        "M!A7": ["Receivables and stocks less payables", 20, 22, 24, 26],
        "M!A8": ["Working capital", None, *row("=(@7-C7)/1000")],
        "M!A9": ["Free cash flow", None, *row("=C3-C4+C5-C6+C8")],
    }
    assert one(tmp_path, "flow.nwc-sign", FLOW | changes).status == "pass"
