"""Bridge checks on small invented sheets: sources, dates, dilution, double counts, units, per share."""

import pytest
from checking_helper import accused, audit, write
from openpyxl import load_workbook

BRIDGE = {
    "B!A1": "Enterprise value", "B!B1": 1000.0,
    "B!A2": "Cash", "B!B2": "=Data!C3",
    "B!A3": "Debt", "B!B3": "=Data!C4",
    "B!A4": "Minority interest", "B!B4": "=Data!C5",
    "B!A5": "Equity value", "B!B5": "=B1+B2-B3-B4",
    "B!A6": "Shares", "B!B6": 50.0,
    "B!A7": "Value per share", "B!B7": "=B5/B6",
    "Data!A2": "Balance sheet", "Data!B2": "31.12.2024", "Data!C2": "31.12.2025",
    "Data!A3": "Cash and equivalents", "Data!B3": 80.0, "Data!C3": 120.0,
    "Data!A4": "Borrowings", "Data!B4": 330.0, "Data!C4": 300.0,
    "Data!A5": "Non-controlling interests", "Data!B5": 18.0, "Data!C5": 20.0,
    "Data!A6": "Investments in associates", "Data!B6": 35.0, "Data!C6": 40.0,
    "Data!A7": "Total liabilities", "Data!B7": 700.0, "Data!C7": 720.0,
}  # fmt: skip
ROLES = {
    "enterprise_value": "B!B1",
    "cash": "B!B2",
    "debt": "B!B3",
    "minority_interest": "B!B4",
    "equity_value": "B!B5",
    "shares": "B!B6",
    "value_per_share": "B!B7",
}


def run(tmp_path, check, changes=None, roles=None, **more):
    path = write(tmp_path, BRIDGE | (changes or {}))
    return audit(path, ROLES | (roles or {}), [check], **more)[check]


@pytest.mark.parametrize(
    "check",
    [
        "bridge.signs",
        "bridge.equity-identity",
        "bridge.source-matches-label",
        "bridge.balance-date",
        "bridge.completeness",
        "bridge.no-double-count",
        "bridge.per-share",
        "bridge.diluted-shares",
    ],
)
def test_right_bridge_passes(check, tmp_path):
    assert run(tmp_path, check).status == "pass"


def test_cash_deducted_is_a_wrong_sign_with_the_right_equity(tmp_path):
    found = run(tmp_path, "bridge.signs", {"B!B5": "=B1-B2-B3-B4"})
    assert found.status == "fail"
    assert accused(found) == {"B!B5"}
    assert found.findings[0].expected == pytest.approx(1000 + 120 - 300 - 20)


def test_negative_debt_subtracted_again_is_found_in_the_formula(tmp_path):
    found = run(tmp_path, "bridge.signs", {"B!B3": "=-Data!C4"})
    assert found.status == "fail"
    assert found.findings[0].expected == pytest.approx(800.0)


def test_item_turned_inside_a_sum_is_found_at_the_item(tmp_path):
    turned = {"B!B2": "=-Data!C3", "B!B3": "=-Data!C4", "B!B4": "=-Data!C5", "B!B5": "=SUM(B1:B4)"}
    found = run(tmp_path, "bridge.signs", turned)
    assert accused(found) == {"B!B2"}
    assert found.findings[0].expected == 120.0


def test_claims_entered_negative_and_added_are_accepted(tmp_path):
    negative = {"B!B3": "=-Data!C4", "B!B4": "=-Data!C5", "B!B5": "=SUM(B1:B4)"}
    assert run(tmp_path, "bridge.signs", negative).status == "pass"


def test_negative_minority_interest_deducted_is_accepted(tmp_path):
    assert run(tmp_path, "bridge.signs", {"B!B4": -9.0}).status == "pass"


def test_unbound_preferred_equity_that_raises_the_value_is_found(tmp_path):
    changes = {"B!A4": "Less: preferred stock", "B!B4": 20.0, "B!B5": "=B1+B2-B3+B4"}
    path = write(tmp_path, BRIDGE | changes)
    roles = {role: cell for role, cell in ROLES.items() if role != "minority_interest"}
    assert audit(path, roles, ["bridge.signs"])["bridge.signs"].status == "fail"


def test_enterprise_value_over_shares_is_found_where_debt_is_known(tmp_path):
    cells = {
        "S!A1": "PV of flows", "S!B1": 400.0, "S!A2": "PV of terminal value", "S!B2": 600.0,
        "S!A3": "Value per share", "S!B3": "=(B1+B2)/B4", "S!A4": "Shares", "S!B4": 50.0,
        "S!A5": "Gross debt", "S!B5": 300.0,
    }  # fmt: skip
    roles = {
        "sum_pv_fcff": "S!B1",
        "pv_terminal_value": "S!B2",
        "value_per_share": "S!B3",
        "shares": "S!B4",
        "debt": "S!B5",
    }
    found = audit(write(tmp_path, cells), roles, ["bridge.equity-identity"])["bridge.equity-identity"]
    assert found.status == "fail"
    assert found.findings[0].expected == pytest.approx((1000 - 300) / 50)


def test_line_linked_to_another_balance_names_the_right_amount(tmp_path):
    found = run(tmp_path, "bridge.source-matches-label", {"B!B4": "=Data!C6"})
    assert accused(found) == {"B!B4"}
    assert found.findings[0].found == 40.0
    assert found.findings[0].expected == 20.0


def test_debt_linked_to_total_liabilities_is_found(tmp_path):
    found = run(tmp_path, "bridge.source-matches-label", {"B!B3": "=Data!C7"})
    assert accused(found) == {"B!B3"}
    assert found.findings[0].expected == 300.0


def test_one_balance_of_the_year_before_is_found_with_its_value(tmp_path):
    found = run(tmp_path, "bridge.balance-date", {"B!B2": "=Data!B3"})
    assert accused(found) == {"B!B2"}
    assert (found.findings[0].found, found.findings[0].expected) == (80.0, 120.0)


def test_all_balances_of_one_older_date_are_not_accused(tmp_path):
    older = {"B!B2": "=Data!B3", "B!B3": "=Data!B4", "B!B4": "=Data!B5"}
    assert run(tmp_path, "bridge.balance-date", older).status == "pass"


def test_cash_left_out_while_debt_is_deducted_is_incomplete(tmp_path):
    found = run(tmp_path, "bridge.completeness", {"B!B5": "=B1-B3-B4"})
    assert found.findings[0].expected == pytest.approx(1000 - 300 - 20 + 120)


def test_rubric_can_ask_for_a_line_that_is_not_there(tmp_path):
    params = {"bridge.completeness": {"items": "pension_deficit"}}
    assert run(tmp_path, "bridge.completeness", params=params).status == "fail"


def test_debt_counted_twice_is_found(tmp_path):
    found = run(tmp_path, "bridge.no-double-count", {"B!B5": "=B1+B2-2*B3-B4"})
    assert found.status == "fail"
    assert found.findings[0].expected == pytest.approx(800.0)


LEASE = {
    "L!A1": "EBITDA", "L!B1": 300.0, "L!A2": "Cash lease payments", "L!B2": -40.0, "L!A3": "Free cash flow",
    "L!B3": "=B1+B2", "L!A4": "Enterprise value", "L!B4": "=B3/0.06", "L!A5": "Lease liabilities", "L!B5": -220.0,
    "L!A6": "Equity value", "L!B6": "=B4+B5",
}  # fmt: skip
LEASE_ROLES = {"enterprise_value": "L!B4", "lease_liabilities": "L!B5", "equity_value": "L!B6", "fcff": "L!B3"}


def test_rent_in_the_flow_beside_lease_debt_is_a_double_count(tmp_path):
    found = audit(write(tmp_path, LEASE), LEASE_ROLES, ["bridge.no-double-count"])["bridge.no-double-count"]
    assert accused(found) == {"L!B5"}


def test_lease_debt_without_rent_in_the_flow_is_accepted(tmp_path):
    path = write(tmp_path, LEASE | {"L!B2": 0.0})
    assert audit(path, LEASE_ROLES, ["bridge.no-double-count"])["bridge.no-double-count"].status == "pass"


HOLDINGS = {
    "H!A1": "NOPAT", "H!B1": 90.0, "H!A2": "Income and gains on investments", "H!B2": 12.0,
    "H!A3": "Free cash flow", "H!B3": "=B1+B2", "H!A4": "Enterprise value", "H!B4": "=B3/0.06",
    "H!A5": "Investments", "H!B5": 220.0, "H!A6": "Equity value", "H!B6": "=B4+B5",
}  # fmt: skip
HOLDINGS_ROLES = {"enterprise_value": "H!B4", "investments": "H!B5", "equity_value": "H!B6", "fcff": "H!B3"}


def test_income_of_investments_in_the_flow_beside_the_investments_is_a_double_count(tmp_path):
    found = audit(write(tmp_path, HOLDINGS), HOLDINGS_ROLES, ["bridge.no-double-count"])["bridge.no-double-count"]
    assert accused(found) == {"H!B2"}


@pytest.mark.parametrize(
    "changes",
    [
        {"H!A2": "Less: income on investments within NOPAT", "H!B3": "=B1-B2"},
        {"H!B6": "=B4"},
        {"H!A5": "Investments in associates", "H!A2": "Return on new investments"},
        {"H!A2": "Proceeds of customers"},
    ],
    ids=["taken out of the flow", "not in the bridge", "a rate", "another line"],
)
def test_income_that_is_not_counted_twice_is_accepted(tmp_path, changes):
    path = write(tmp_path, HOLDINGS | changes)
    assert audit(path, HOLDINGS_ROLES, ["bridge.no-double-count"])["bridge.no-double-count"].status != "fail"


OPTIONS = {
    "O!A1": "Basic shares", "O!B1": 60.0, "O!A2": "Options", "O!B2": 3.0, "O!A3": "Strike", "O!B3": 30.0,
    "O!A4": "Share price", "O!B4": 40.0, "O!A5": "52-week high", "O!B5": 55.0,
    "O!A6": "Diluted shares", "O!B6": "=B1+B2*MAX(0,1-B3/B4)",
}  # fmt: skip
OPTION_ROLES = {"shares": "O!B6", "current_price": "O!B4", "basic_shares": "O!B1"}


def test_treasury_stock_method_at_the_market_price_is_accepted(tmp_path):
    found = audit(write(tmp_path, OPTIONS), OPTION_ROLES, ["bridge.diluted-shares"])["bridge.diluted-shares"]
    assert found.status == "pass"


def test_buy_back_at_another_price_gives_the_count_at_the_market_price(tmp_path):
    path = write(tmp_path, OPTIONS | {"O!B6": "=B1+B2*MAX(0,1-B3/B5)", "O!B7": "=B2*MAX(0,1-B3/B5)"})
    found = audit(path, OPTION_ROLES, ["bridge.diluted-shares"])["bridge.diluted-shares"]
    assert accused(found) == {"O!B6"}


def test_convertible_as_debt_and_as_shares_is_found_with_the_converted_equity(tmp_path):
    cells = {
        "C!A1": "Enterprise value", "C!B1": 1500.0, "C!A2": "Convertible bond", "C!B2": 100.0,
        "C!A3": "Conversion price", "C!B3": 12.5, "C!A4": "Basic shares", "C!B4": 70.0,
        "C!A5": "Equity value", "C!B5": "=B1-B2", "C!A6": "Diluted shares", "C!B6": "=B4+B2/B3",
    }  # fmt: skip
    roles = {"enterprise_value": "C!B1", "equity_value": "C!B5", "shares": "C!B6", "basic_shares": "C!B4"}
    found = audit(write(tmp_path, cells), roles, ["bridge.diluted-shares"])["bridge.diluted-shares"]
    assert accused(found) == {"C!B5"}
    assert found.findings[0].expected == pytest.approx(1500.0)


@pytest.mark.parametrize(
    ("shares", "label", "formula", "status"),
    [
        (50_000.0, "Shares (thousand)", "=B5/B6", "fail"),
        (50_000.0, "Shares (thousand)", "=B5/B6*1000", "pass"),
        (50_000_000.0, "Shares", "=B5*1000000/B6", "pass"),
        (50_000_000.0, "Shares", "=B5/B6", "fail"),
    ],
)
def test_units_of_equity_and_shares_decide_the_value_per_share(shares, label, formula, status, tmp_path):
    changes = {"B!A6": label, "B!B6": shares, "B!B7": formula}
    found = run(tmp_path, "bridge.per-share", changes, factors={"money": 1e6})
    assert found.status == status
    if status == "fail":
        assert found.findings[0].expected == pytest.approx(16.0)


def test_value_of_a_share_against_the_price_of_an_ads_is_found(tmp_path):
    changes = {
        "B!A8": "Price per ADS", "B!B8": 48.0, "B!A9": "Ordinary shares per ADS", "B!B9": 4.0,
        "B!A10": "Upside", "B!B10": "=B7/B8-1",
    }  # fmt: skip
    found = run(tmp_path, "bridge.per-share", changes, {"current_price": "B!B8", "upside": "B!B10"})
    assert found.findings[0].expected == pytest.approx(16.0 * 4 / 48 - 1)


@pytest.mark.parametrize(
    ("label", "formula", "status"),
    [
        ("Upside", "=B7/B8-1", "pass"),
        ("Discount to value", "=B8/B7-1", "pass"),
        ("Price / value", "=B8/B7", "pass"),
        ("Upside", "=B8/B7-1", "fail"),
        ("Deviation", "=B8/B7-1", "fail"),
        ("Premium of the price", "=B8/B7-1", "pass"),
        ("Upside (%)", "=(B7/B8-1)*100", "pass"),
        ("Upside (%)", "=(B8/B7-1)*100", "fail"),
        ("Upside", "=B7/B8-1.2", "fail"),
        ("Upside", -0.2, "pass"),
        ("Upside", -0.204, "pass"),
        ("Upside", 0.12, "fail"),
    ],
)
def test_upside_is_judged_by_its_label(label, formula, status, tmp_path):
    changes = {"B!A8": "Price", "B!B8": 20.0, "B!A9": label, "B!B9": formula}
    found = run(tmp_path, "bridge.upside", changes, {"current_price": "B!B8", "upside": "B!B9"})
    assert found.status == status
    if status == "fail":
        assert found.findings[0].expected == pytest.approx((16 / 20 - 1) * (100 if "100" in str(formula) else 1))


def test_percent_points_shown_with_a_percent_sign_are_a_hundredfold(tmp_path):
    path = write(tmp_path, BRIDGE | {"B!A8": "Price", "B!B8": 20.0, "B!A9": "Upside", "B!B9": "=(B7/B8-1)*100"})
    book = load_workbook(path)
    book["B"]["B9"].number_format = "0.0%"
    book.save(path)
    roles = ROLES | {"current_price": "B!B8", "upside": "B!B9"}
    assert audit(path, roles, ["bridge.upside"])["bridge.upside"].status == "fail"


def test_net_debt_that_leaves_cash_out_is_found(tmp_path):
    cells = {"N!A1": "Cash", "N!B1": 120.0, "N!A2": "Debt", "N!B2": 300.0, "N!A3": "Net debt", "N!B3": "=B2"}
    roles = {"cash": "N!B1", "debt": "N!B2", "net_debt": "N!B3"}
    found = audit(write(tmp_path, cells), roles, ["bridge.net-debt"])["bridge.net-debt"]
    assert found.findings[0].expected == 180.0


def test_net_debt_of_debt_less_cash_and_net_cash_pass(tmp_path):
    for formula in ("=B2-B1", "=B1-B2"):
        cells = {"N!A1": "Cash", "N!B1": 120.0, "N!A2": "Debt", "N!B2": 300.0, "N!A3": "Net debt", "N!B3": formula}
        roles = {"cash": "N!B1", "debt": "N!B2", "net_debt": "N!B3"}
        assert audit(write(tmp_path, cells), roles, ["bridge.net-debt"])["bridge.net-debt"].status == "pass"


@pytest.mark.parametrize(("column", "cells"), [("C", set()), ("B", {"B!B4"})])
def test_a_balance_of_another_month_end_is_found_beside_a_net_debt_of_several_balances(column, cells, tmp_path):
    changes = {"Data!B2": "Mar-25", "Data!C2": "Mar-26", "B!A2": "Net debt", "B!B2": "=Data!C4-Data!C3"}
    changes |= {"B!A3": "Associates", "B!B3": "=Data!C6", "B!B4": f"=Data!{column}5", "B!B5": "=B1-B2+B3-B4"}
    roles = {key: value for key, value in ROLES.items() if key not in ("cash", "debt")}
    path = write(tmp_path, BRIDGE | changes)
    found = audit(path, roles | {"net_debt": "B!B2", "investments": "B!B3"}, ["bridge.balance-date"])
    result = found["bridge.balance-date"]
    assert result.status == ("fail" if cells else "pass")
    assert accused(result) == cells


@pytest.mark.parametrize(("row", "cells"), [(9, set()), (8, {"B!B4"})])
def test_a_line_that_reads_another_balance_than_its_idle_namesake_is_found_in_any_language(row, cells, tmp_path):
    changes = {"B!A4": "Vähemmistöosuus", "B!B4": f"=Data!C{row}", "Data!A8": "Osakkuusyhtiöt", "Data!C8": 14.0}
    changes |= {"Data!A9": "Vähemmistöosuus", "Data!C9": 17.0}
    result = run(tmp_path, "bridge.source-matches-label", changes, {"minority_interest": "B!B4"})
    assert accused(result) == cells
    if cells:
        assert result.findings[0].expected == 17.0


@pytest.mark.parametrize(
    ("label", "strike", "cells"),
    [("Shares in issue", 8.0, {"B!B6"}), ("Shares in issue", 25.0, set()), ("Diluted shares", 8.0, set())],
)
def test_options_in_the_money_that_nothing_reads_are_missing_from_a_basic_count(label, strike, cells, tmp_path):
    changes = {"B!A8": "Price", "B!B8": 20.0, "B!B6": "=In!B1", "In!A1": label, "In!B1": 50.0}
    changes |= {"In!A2": "Options outstanding", "In!B2": 5.0, "In!A3": "Average strike price", "In!B3": strike}
    result = run(tmp_path, "bridge.diluted-shares", changes, {"current_price": "B!B8"})
    assert accused(result) == cells
    if cells:
        assert result.findings[0].expected == pytest.approx(50 + 5 * (1 - 8 / 20))


@pytest.mark.parametrize(("columns", "cells"), [("C1:C4", set()), ("B1:B4", {"B!C5"})])
def test_an_equity_value_that_adds_up_the_column_beside_its_own_is_found(columns, cells, tmp_path):
    changes = {f"B!{column}{row}": value for column in "BC" for row, value in ((2, 120.0), (3, -300.0), (4, -20.0))}
    changes |= {"B!C1": 1100.0, "B!B5": "=SUM(B1:B4)", "B!C5": f"=SUM({columns})"}
    roles = {"equity_value": "B!C5", "enterprise_value": "B!C1", "cash": "B!C2", "debt": "B!C3"}
    result = run(tmp_path, "bridge.equity-identity", changes, roles | {"minority_interest": "B!C4"})
    assert accused(result) == cells


@pytest.mark.parametrize(("formula", "cells"), [("=B1+B2", set()), ("=B1+B2-B3", {"B!B5"})])
def test_debt_is_not_deducted_from_a_value_of_flows_to_equity(formula, cells, tmp_path):
    changes = {"B!A1": "Present value of FCFE", "B!B1": "=SUM(F!B5:D5)", "B!B5": formula}
    changes |= {"F!A1": ["Year", 2026, 2027, 2028], "F!A2": ["Net income", 300.0, 310.0, 320.0]}
    changes |= {"F!A3": ["Net borrowing", 10.0, 10.0, 10.0]}
    changes |= {"F!A5": ["FCFE", "=B2+B3", "=C2+C3", "=D2+D3"]}
    path = write(tmp_path, BRIDGE | changes)
    roles = {"fcfe": "F!B5:D5", "cash": "B!B2", "debt": "B!B3", "equity_value": "B!B5"}
    assert accused(audit(path, roles, ["bridge.equity-identity"])["bridge.equity-identity"]) == cells


@pytest.mark.parametrize(("formula", "status"), [("=B5/B6*B8/B9", "pass"), ("=B5/B6*B8/B9*1.7", "unverifiable")])
def test_shares_per_deposit_and_an_exchange_rate_explain_a_value_per_ads_together(formula, status, tmp_path):
    changes = {"B!A8": "Ordinary shares per ADS", "B!B8": 4.0, "B!A9": "RMB per USD", "B!B9": 7.1, "B!B7": formula}
    assert run(tmp_path, "bridge.per-share", changes).status == status


@pytest.mark.parametrize(("factor", "status"), [("=1", "pass"), ("=1/(1+B9)", "fail")])
def test_only_an_entry_year_at_the_valuation_date_may_be_left_out_of_the_enterprise_value(factor, status, tmp_path):
    cells = {"V!A1": ["Year", 2025, 2026, 2027, 2028], "V!A2": ["Free cash flow", 50.0, 52.0, 54.0, 56.0]}
    cells |= {"V!A3": ["Factor", factor, *(f"=1/(1+$B$9)^{year}" for year in (1, 2, 3))]}
    cells |= {"V!A4": ["Present value", *(f"={column}2*{column}3" for column in "BCDE")]}
    cells |= {"V!A5": ["Terminal value", "=E2*1.02/(B9-0.02)"], "V!A6": ["PV of terminal value", "=B5*E3"]}
    cells |= {"V!A7": ["Enterprise value", "=SUM(C4:E4)+B6"], "V!A9": ["WACC", 0.09]}
    roles = {"fcff": "V!B2:E2", "discount_factor": "V!B3:E3", "pv_fcff": "V!B4:E4", "terminal_value": "V!B5"}
    roles |= {"pv_terminal_value": "V!B6", "enterprise_value": "V!B7", "wacc": "V!B9"}
    result = audit(write(tmp_path, cells), roles, ["bridge.enterprise-value"])["bridge.enterprise-value"]
    assert result.status == status, result.reason


NET_ONLY = {
    "N!A1": "Enterprise value", "N!B1": 1000.0,
    "N!A2": "Net debt", "N!B2": 250.0,
    "N!A3": "Equity value", "N!B3": "=B1-B2",
}  # fmt: skip
NET_ROLES = {"enterprise_value": "N!B1", "net_debt": "N!B2", "equity_value": "N!B3"}


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, "pass"),
        ({"N!B3": "=B1+B2"}, "fail"),
        ({"N!B2": -250.0, "N!B3": "=B1+B2"}, "pass"),
        ({"N!A2": "Net cash", "N!B3": "=B1+B2"}, "pass"),
        ({"N!A2": "净现金", "N!B3": "=B1+B2"}, "pass"),
        ({"N!A2": "净债务", "N!B3": "=B1+B2"}, "fail"),
        ({"N!A2": "Net debt / (net cash)", "N!B3": "=B1+B2"}, "pass"),
        ({"N!A2": "Net funds/(debt)", "N!B3": "=B1+B2"}, "pass"),
        ({"N!A2": "Net (debt), position", "N!B3": "=B1+B2"}, "pass"),
        ({"N!A2": "Net debt (EUR m)", "N!B3": "=B1+B2"}, "fail"),
    ],
)
def test_a_positive_amount_called_net_debt_is_deducted(changes, status, tmp_path):
    found = audit(write(tmp_path, NET_ONLY | changes), NET_ROLES, ["bridge.signs"])["bridge.signs"]
    assert found.status == status
    if status == "fail":
        assert accused(found) == {"N!B3"}
        assert found.findings[0].expected == pytest.approx(750.0)


LEASES = {
    "B!A4": "Lease liabilities", "B!B4": 60.0, "B!B5": "=B1+B2-B3", "D!A1": "EBITDA", "D!C1": [100.0, 110.0, 120.0],
    "D!A2": "Staff costs", "D!C2": [-20.0, -21.0, -22.0], "D!A3": "Free cash flow",
    "D!C3": ["=C1+C2", "=D1+D2", "=E1+E2"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, "fail"),
        ({"D!A2": "Rent of shops"}, "pass"),
        ({"B!A4": "Lease liabilities (not deducted)"}, "pass"),
        ({"B!A4": "Memo: lease liabilities"}, "pass"),
    ],
)
def test_lease_liabilities_stay_out_of_a_bridge_whose_flows_bear_the_rent(changes, status, tmp_path):
    roles = {role: cell for role, cell in ROLES.items() if role != "minority_interest"}
    roles |= {"lease_liabilities": "B!B4", "fcff": "D!C3:E3"}
    found = audit(write(tmp_path, BRIDGE | LEASES | changes), roles, ["bridge.equity-identity"])
    assert found["bridge.equity-identity"].status == status
