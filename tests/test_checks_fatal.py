"""Fatal unit and currency errors, and what must never be one."""

import pytest
from checking_helper import accused, audit, write

FX = {
    "X!A1": "Value per share (CNY)", "X!B1": "=B10/B11", "X!A2": "HKD per CNY", "X!B2": 1.09,
    "X!A3": "Share price (HKD)", "X!B3": 24.0, "X!A4": "Upside", "X!B4": "=B1*B2/B3-1",
    "X!A10": "Equity value", "X!B10": 1900.0, "X!A11": "Shares", "X!B11": 80.0,
}  # fmt: skip
FX_ROLES = {
    "value_per_share": "X!B1",
    "current_price": "X!B3",
    "upside": "X!B4",
    "equity_value": "X!B10",
    "shares": "X!B11",
}
VALUE = 1900 / 80


def currency(tmp_path, changes=None, roles=FX_ROLES):
    return audit(write(tmp_path, FX | (changes or {})), roles, ["fatal.currency-mix"])["fatal.currency-mix"]


def test_price_in_another_currency_with_its_rate_is_no_error(tmp_path):
    assert currency(tmp_path).status == "pass"


@pytest.mark.parametrize(
    ("formula", "expected"),
    [("=B1/B2/B3-1", VALUE * 1.09 / 24 - 1), ("=B1*B2*B2/B3-1", VALUE * 1.09 / 24 - 1)],
)
def test_rate_upside_down_or_applied_twice_is_fatal(formula, expected, tmp_path):
    found = currency(tmp_path, {"X!B4": formula})
    assert accused(found) == {"X!B4"}
    assert found.findings[0].expected == pytest.approx(expected)


def test_rate_quoted_the_other_way_is_divided_by(tmp_path):
    quoted = {"X!A2": "CNY per HKD", "X!B2": 0.92, "X!B4": "=B1/B2/B3-1"}
    assert currency(tmp_path, quoted).status == "pass"


def test_rate_without_a_stated_direction_is_not_judged(tmp_path):
    assert currency(tmp_path, {"X!A2": "FX rate", "X!B4": "=B1/B2/B3-1"}).status != "fail"


def test_unconverted_comparison_of_two_declared_currencies_is_fatal(tmp_path):
    assert accused(currency(tmp_path, {"X!A2": "", "X!B2": None, "X!B4": "=B1/B3-1"})) == {"X!B4"}


def test_one_currency_needs_no_conversion(tmp_path):
    one = {"X!A2": "", "X!B2": None, "X!A3": "Share price (CNY)", "X!B4": "=B1/B3-1"}
    assert currency(tmp_path, one).status == "not_applicable"


UNITS = {f"Data!{c}{row}": 1000.0 * row + ord(c) for c in "BCD" for row in range(1, 6)}
LINKS = {f"M!{c}{row}": f"=Data!{c}{row}/100" for c in "BCD" for row in range(1, 6)}


def test_one_link_with_another_power_of_ten_is_fatal_with_the_right_value(tmp_path):
    path = write(tmp_path, UNITS | LINKS | {"M!D4": "=Data!D4/10000"})
    found = audit(path, {}, ["fatal.unit-mix"])["fatal.unit-mix"]
    assert accused(found) == {"M!D4"}
    assert found.findings[0].expected == pytest.approx((4000 + ord("D")) / 100)


def test_one_factor_throughout_and_a_row_of_its_own_scale_are_accepted(tmp_path):
    own = {f"M!{c}5": f"=Data!{c}5/10000" for c in "BCD"}
    path = write(tmp_path, UNITS | LINKS)
    assert audit(path, {}, ["fatal.unit-mix"])["fatal.unit-mix"].status == "pass"
    path = write(tmp_path, UNITS | LINKS | own)
    assert audit(path, {}, ["fatal.unit-mix"])["fatal.unit-mix"].status == "pass"


@pytest.mark.parametrize(("shares", "status"), [(0.0, "fail"), (-5.0, "fail"), (80.0, "pass")])
def test_share_count_must_be_positive(shares, status, tmp_path):
    path = write(tmp_path, FX | {"X!B11": shares, "X!B1": 23.0})
    assert audit(path, FX_ROLES, ["fatal.share-count"])["fatal.share-count"].status == status


def test_typed_headline_is_fatal_and_a_formula_is_not(tmp_path):
    roles = {"value_per_share": "X!B1", "equity_value": "X!B10"}
    path = write(tmp_path, FX)
    assert audit(path, roles, ["fatal.not-recomputable"])["fatal.not-recomputable"].status == "pass"
    path = write(tmp_path, FX | {"X!B1": 23.75})
    assert audit(path, roles, ["fatal.not-recomputable"])["fatal.not-recomputable"].status == "fail"


def test_broken_reference_in_the_headline_is_fatal(tmp_path):
    path = write(tmp_path, FX | {"X!B1": "=#REF!/B11"})
    found = audit(path, {"value_per_share": "X!B1"}, ["fatal.not-recomputable"])["fatal.not-recomputable"]
    assert found.findings[0].found == "#REF!"


def test_flow_after_interest_at_the_wacc_is_fatal_and_before_interest_is_not(tmp_path):
    cells = {
        "F!B1": "=0.8*B2+0.2*B3", "F!B2": 0.12, "F!B3": 0.04, "F!B4": [100.0, 110.0, 120.0], "F!B5": [10.0, 10.0, 10.0],
        "F!B6": [f"={c}4-{c}5*0.75" for c in "BCD"], "F!B7": [f"=1/(1+$B$1)^{n}" for n in (1, 2, 3)],
        "F!B8": [f"={c}6*{c}7" for c in "BCD"], "F!B9": "=SUM(B8:D8)",
    }  # fmt: skip
    roles = {
        "wacc": "F!B1", "cost_of_equity": "F!B2", "interest": "F!B5:D5", "fcff": "F!B6:D6",
        "discount_factor": "F!B7:D7", "pv_fcff": "F!B8:D8", "enterprise_value": "F!B9",
    }  # fmt: skip
    check = "fatal.flow-rate-mismatch"
    assert accused(audit(write(tmp_path, cells), roles, [check])[check]) == {"F!B7"}
    before = cells | {"F!B6": [f"={c}4" for c in "BCD"]}
    assert audit(write(tmp_path, before), roles, [check])[check].status == "pass"


PENCE = {
    "V!A1": "Equity value", "V!B1": 459.2, "V!A2": "Shares", "V!B2": 152.0,
    "V!A3": "Value per share (pence)", "V!B3": "=B1/B2*100", "V!A4": "Share price (pence)", "V!B4": 214.0,
}  # fmt: skip
PENCE_ROLES = {"equity_value": "V!B1", "shares": "V!B2", "value_per_share": "V!B3", "current_price": "V!B4"}


@pytest.mark.parametrize(("formula", "cells"), [("=B1/B2*100", set()), ("=B1/B2", {"V!B3"})])
def test_value_labelled_in_pence_is_a_hundred_times_pounds(formula, cells, tmp_path):
    factors = {"money": 1e6, "count": 1e6}
    path = write(tmp_path, PENCE | {"V!B3": formula})
    found = audit(path, PENCE_ROLES, ["fatal.unit-mix"], factors=factors)["fatal.unit-mix"]
    assert accused(found) == cells
    assert all(one.expected == pytest.approx(100 * 459.2 / 152) for one in found.findings)


@pytest.mark.parametrize(("growth", "status"), [(0.1, "fail"), (0.03, "pass")])
def test_growth_is_compared_with_the_rate_beside_it_where_no_flow_and_no_wacc_is_bound(growth, status, tmp_path):
    cells = {"V!A1": "Cost of equity", "V!B1": 0.096, "V!A2": "Growth", "V!B2": growth, "V!A3": "Dividend", "V!B3": 5.0}
    cells |= {"V!A4": "Terminal value", "V!B4": "=B3/(B1-B2)"}
    roles = {"cost_of_equity": "V!B1", "terminal_growth": "V!B2", "terminal_value": "V!B4"}
    check = "fatal.growth-not-below-wacc"
    assert audit(write(tmp_path, cells), roles, [check])[check].status == status


COUNT = {
    "Z!A1": "股权价值", "Z!B1": 480000.0, "Z!A2": "总股本", "Z!B2": 31500.0, "Z!A3": "每股价值", "Z!B3": "=B1/B2",
    "Z!A4": "当前股价", "Z!B4": 15.6, "Z!A5": "营业收入", "Z!B5": [251000.0, 276000.0, 300000.0],
}  # fmt: skip
COUNT_ROLES = {
    "equity_value": "Z!B1", "shares": "Z!B2", "value_per_share": "Z!B3", "current_price": "Z!B4", "revenue": "Z!B5:D5",
}  # fmt: skip
TEN_THOUSANDS = {"equity_value": 1e4, "shares": 1e4, "revenue": 1e4}


def test_share_count_in_hundred_millions_under_a_label_of_ten_thousands_is_fatal(tmp_path):
    """480,000 万元 over 3.15 亿股 read as 万股 is 152,381 a share beside a price of 15.6."""
    path = write(tmp_path, COUNT | {"Z!B2": 3.15})
    found = audit(path, COUNT_ROLES, ["fatal.unit-mix"], factors=TEN_THOUSANDS)["fatal.unit-mix"]
    assert accused(found) == {"Z!B2"}
    assert found.findings[0].expected == pytest.approx(31500)


def test_share_count_in_its_own_unit_is_accepted(tmp_path):
    path = write(tmp_path, COUNT)
    assert audit(path, COUNT_ROLES, ["fatal.unit-mix"], factors=TEN_THOUSANDS)["fatal.unit-mix"].status == "pass"


def test_ten_thousandfold_of_the_price_is_left_alone_where_no_such_unit_is_declared(tmp_path):
    path = write(tmp_path, COUNT | {"Z!B2": 3.15})
    assert audit(path, COUNT_ROLES, ["fatal.unit-mix"])["fatal.unit-mix"].status == "pass"


INDIAN = {
    "X!A1": "Market cap (Rs. crore)", "X!B1": 4200.0, "X!A2": "Current price (Rs.)", "X!B2": 420.0,
    "X!A3": "Shares (crore)", "X!B3": 10.0, "X!A4": "Equity value (Rs. crore)", "X!B4": 3900.0,
    "X!A5": "Value per share (Rs.)", "X!B5": "=B4/B3",
}  # fmt: skip
INDIAN_ROLES = {
    "market_cap": "X!B1",
    "current_price": "X!B2",
    "shares": "X!B3",
    "equity_value": "X!B4",
    "value_per_share": "X!B5",
}


@pytest.mark.parametrize(("count", "cells"), [(10.0, set()), (1000.0, {"X!B3"})])
def test_shares_in_lakh_under_a_heading_of_crore_are_fatal_beside_a_market_value(count, cells, tmp_path):
    scales = {"market_cap": 1e7, "equity_value": 1e7, "shares": 1e7}
    path = write(tmp_path, INDIAN | {"X!B3": count})
    found = audit(path, INDIAN_ROLES, ["fatal.unit-mix"], factors=scales)["fatal.unit-mix"]
    assert accused(found) == cells


FROM_NET_INCOME = {
    "M!A1": "Net income", "M!B1": [900.0, 950.0, 1000.0], "M!A2": "Interest expense", "M!B2": [100.0, 90.0, 80.0],
    "M!A3": "FCFF", "M!B3": ["=B1+B2*0.75", "=C1+C2*0.75", "=D1+D2*0.75"],
    "M!A4": "Cost of equity", "M!B4": 0.12, "M!A5": "WACC", "M!B5": "=0.8*B4+0.2*0.06",
    "M!A6": "PV", "M!B6": ["=B3/(1+$B$5)", "=C3/(1+$B$5)^2", "=D3/(1+$B$5)^3"],
    "M!A7": "Value of the firm", "M!B7": "=SUM(B6:D6)",
}  # fmt: skip
FROM_NET_INCOME_ROLES = {
    "interest": "M!B2:D2",
    "fcff": "M!B3:D3",
    "cost_of_equity": "M!B4",
    "wacc": "M!B5",
    "pv_fcff": "M!B6:D6",
    "enterprise_value": "M!B7",
}


@pytest.mark.parametrize(("sign", "status"), [("+", "pass"), ("-", "fail")])
def test_interest_added_back_to_net_income_leaves_a_flow_to_the_firm(sign, status, tmp_path):
    flows = [f"={column}1{sign}{column}2*0.75" for column in "BCD"]
    path = write(tmp_path, FROM_NET_INCOME | {"M!B3": flows})
    check = "fatal.flow-rate-mismatch"
    assert audit(path, FROM_NET_INCOME_ROLES, [check])[check].status == status
