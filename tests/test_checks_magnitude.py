"""Powers of ten in a value per share, rates in percent points, and build errors of the rate, on small sheets."""

from __future__ import annotations

import pytest
from checking_helper import accused, audit, write

SHARE = {
    "S!A1": "Equity value", "S!B1": 50_000.0, "S!A2": "Number of shares", "S!B2": 400.0, "S!A3": "Value per share",
    "S!B3": "=B1/B2", "S!A4": "Share price", "S!B4": 110.0,
}  # fmt: skip
SHARE_ROLES = {"equity_value": "S!B1", "shares": "S!B2", "value_per_share": "S!B3", "current_price": "S!B4"}


MILLIONS, BILLIONS = ({"equity_value": unit, "shares": unit} for unit in (1e6, 1e9))


def per_share(tmp_path, changes=None, roles=None, factors=None):
    cells = SHARE | (changes or {})
    bound = SHARE_ROLES | (roles or {})
    return audit(write(tmp_path, cells), bound, ["bridge.per-share"], factors=factors or {})["bridge.per-share"]


def test_factor_that_puts_the_value_as_far_from_the_price_is_found(tmp_path):
    found = per_share(tmp_path, {"S!B3": "=B1/B2/1000"})
    assert accused(found) == {"S!B3"}
    assert found.findings[0].expected == pytest.approx(125.0)


def test_factor_is_found_where_the_equity_lives_inside_the_formula(tmp_path):
    cells = SHARE | {"S!B3": "=(B1-0)/B2/1000"}
    roles = {role: cell for role, cell in SHARE_ROLES.items() if role != "equity_value"}
    found = audit(write(tmp_path, cells), roles, ["bridge.per-share"])["bridge.per-share"]
    assert accused(found) == {"S!B3"}


@pytest.mark.parametrize("price", [0.11, 20.0, 900.0])
def test_thousand_in_the_formula_is_left_alone_where_price_and_value_are_not_a_thousand_apart(price, tmp_path):
    # 50,000 thousand over 400 million shares is 0.125
    assert per_share(tmp_path, {"S!B3": "=B1/B2/1000", "S!B4": price}).status == "pass"


def test_division_by_a_thousand_of_single_shares_is_found(tmp_path):
    found = per_share(tmp_path, {"S!B1": 9e10, "S!B2": 400_000_000.0, "S!B3": "=B1/B2/1000", "S!B4": None})
    assert accused(found) == {"S!B3"}
    assert found.findings[0].expected == pytest.approx(225.0)


def test_more_shares_than_any_company_has_are_found_at_the_count(tmp_path):
    # 9,000 million at 0.00225 would be 4 trillion shares
    found = per_share(tmp_path, {"S!B2": 4e6, "S!B1": 9e3, "S!B4": None}, factors=MILLIONS)
    assert accused(found) == {"S!B2"}


def test_company_of_a_trillion_shares_is_left_alone(tmp_path):
    # 71 trillion over 1.19 trillion shares
    found = per_share(tmp_path, {"S!B2": 1190.0, "S!B1": 71_000.0, "S!B4": None}, factors=BILLIONS)
    assert found.status == "pass"


def test_share_count_a_thousand_times_those_of_the_years_beside_it_is_found(tmp_path):
    years = {"S!A2": "Diluted shares", "S!B2": [402.0, 401.0, 400_000.0], "S!B3": "=B1/D2", "S!B4": None}
    found = per_share(tmp_path, years, {"shares": "S!D2"})
    assert accused(found) == {"S!D2"}
    assert found.findings[0].expected == pytest.approx(400.0)


TAXED = {
    "T!A1": "EBIT", "T!B1": [100.0, 110.0, 120.0], "T!A2": "Taxes", "T!B2": ["=B1*$B$3", "=C1*$B$3", "=D1*$B$3"],
    "T!A3": "Tax", "T!B3": 25.0,
}  # fmt: skip


def test_tax_rate_in_points_that_takes_a_multiple_of_the_profit_is_found(tmp_path):
    roles = {"ebit": "T!B1:D1", "taxes": "T!B2:D2", "wacc": "T!B5"}
    cells = TAXED | {"T!A5": "WACC", "T!B5": 0.09}
    found = audit(write(tmp_path, cells), roles, ["basis.percent-scale"])["basis.percent-scale"]
    assert accused(found) == {"T!B3"}
    assert found.findings[0].expected == pytest.approx(0.25)
    right = audit(write(tmp_path, cells | {"T!B3": 0.25}), roles, ["basis.percent-scale"])["basis.percent-scale"]
    assert right.status == "pass"


RATE = {
    "W!A1": "Cost of equity", "W!B1": 0.11, "W!A2": "Pre-tax cost of debt", "W!B2": 0.06, "W!A3": "Tax rate",
    "W!B3": 0.25, "W!A4": "Debt", "W!B4": 300.0, "W!A5": "Market value of equity", "W!B5": 900.0,
    "W!A6": "Weight of debt", "W!B6": "=B4/(B4+B5)", "W!A7": "Weight of equity", "W!B7": "=1-B6", "W!A8": "WACC",
    "W!B8": "=B7*B1+B6*B2*(1-B3)",
}  # fmt: skip
RATE_ROLES = {
    "cost_of_equity": "W!B1", "pre_tax_cost_of_debt": "W!B2", "tax_rate": "W!B3", "weight_debt": "W!B6",
    "weight_equity": "W!B7", "wacc": "W!B8",
}  # fmt: skip
WACC = 0.75 * 0.11 + 0.25 * 0.06 * 0.75


def rate(tmp_path, check, changes=None, without=(), **roles):
    bound = {role: cell for role, cell in (RATE_ROLES | roles).items() if role not in without}
    return audit(write(tmp_path, RATE | (changes or {})), bound, [check])[check]


def test_weight_that_adds_a_typed_number_to_its_quotient_is_found(tmp_path):
    found = rate(tmp_path, "wacc.debt-weight", {"W!B6": "=B4/(B4+B5)+0.1"})
    assert accused(found) == {"W!B6"}
    assert found.findings[0].expected == pytest.approx(0.25)
    assert rate(tmp_path, "wacc.debt-weight").status == "pass"


def test_debt_weighed_before_tax_inside_one_formula_is_found(tmp_path):
    inline = {"W!B8": "=B5/(B4+B5)*B1+B4/(B4+B5)*B2*(1)"}
    found = rate(tmp_path, "wacc.identity", inline, without=("weight_debt", "weight_equity"))
    assert accused(found) == {"W!B8"}
    assert found.findings[0].expected == pytest.approx(WACC)


def test_typed_rate_beside_a_build_that_moves_no_result_is_found(tmp_path):
    used = {
        "W!A9": "Discount rate used", "W!B9": 0.0743, "X!A1": "Enterprise value", "X!B1": "=100/W!B9",
    }  # fmt: skip
    found = rate(tmp_path, "wacc.identity", used, wacc="W!B9", enterprise_value="X!B1")
    assert accused(found) == {"W!B9"}
    assert found.findings[0].expected == pytest.approx(WACC)
    linked = rate(tmp_path, "wacc.identity", used | {"W!B9": "=B8"}, wacc="W!B9", enterprise_value="X!B1")
    assert linked.status == "pass"


BRIDGE = {
    "D!A1": "Enterprise value", "D!B1": 1000.0, "D!A2": "Cash", "D!B2": "=E2", "D!D2": "Cash and equivalents",
    "D!E2": 80.0, "D!A3": "Debt", "D!B3": "=E3", "D!D3": "Borrowings", "D!E3": 250.0, "D!A4": "Equity value",
    "D!B4": "=B1+B2-B3",
}  # fmt: skip
BRIDGE_ROLES = {"enterprise_value": "D!B1", "cash": "D!B2", "debt": "D!B3", "equity_value": "D!B4"}


def test_cash_that_repeats_the_debt_of_the_bridge_is_found(tmp_path):
    found = audit(write(tmp_path, BRIDGE | {"D!B2": "=B3"}), BRIDGE_ROLES, ["bridge.source-matches-label"])
    assert accused(found["bridge.source-matches-label"]) == {"D!B2"}
    right = audit(write(tmp_path, BRIDGE), BRIDGE_ROLES, ["bridge.source-matches-label"])
    assert right["bridge.source-matches-label"].status == "pass"


EXIT = {
    "E!A1": "Revenue", "E!B1": [500.0, 550.0, 600.0], "E!A2": "EBITDA", "E!B2": [90.0, 100.0, 110.0],
    "E!A3": "Exit multiple", "E!B3": 8.0, "E!A4": "EBITDA of the last year", "E!B4": "=D2", "E!A5": "Terminal value",
    "E!B5": "=B4*B3", "E!A6": "Enterprise value", "E!B6": "=B5*0.7",
}  # fmt: skip
EXIT_ROLES = {
    "revenue": "E!B1:D1", "ebitda": "E!B2:D2", "exit_multiple": "E!B3", "terminal_value": "E!B5",
    "enterprise_value": "E!B6",
}  # fmt: skip


def test_multiple_of_ebitda_on_revenue_is_found_by_the_line_that_nothing_reads(tmp_path):
    found = audit(write(tmp_path, EXIT | {"E!B5": "=D1*B3"}), EXIT_ROLES, ["terminal.multiple-basis"])
    assert accused(found["terminal.multiple-basis"]) == {"E!B5"}
    assert found["terminal.multiple-basis"].findings[0].expected == pytest.approx(880.0)
    of_revenue = {"E!B5": "=D1*B3", "E!A4": None, "E!B4": None, "E!A3": "EV/Sales multiple"}
    other = audit(write(tmp_path, EXIT | of_revenue), EXIT_ROLES, ["terminal.multiple-basis"])
    assert other["terminal.multiple-basis"].status != "fail"
