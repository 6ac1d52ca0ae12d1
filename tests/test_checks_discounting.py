"""Checks of discounting and of the terminal value on one small invented valuation, right variants and single slips."""

from decimal import Decimal

import pytest
from checking_helper import accused, audit, write

NOPAT = [90.0, 99.0, 108.0, 115.0, 120.0]
FLOW = [60.0, 66.0, 72.0, 78.0, 80.0]
RATE, GROWTH = 0.08, 0.02


def years(formula):
    """Fill a formula over the five forecast columns; {c} is the column, {p} the one before."""
    return [formula.format(c=column, p=before) for before, column in zip("BCDEF", "CDEFG", strict=True)]


BASE = {
    "D!A1": "Cost of equity", "D!B1": 0.1, "D!A2": "Cost of debt after tax", "D!B2": 0.05,
    "D!A3": "Weight of debt", "D!B3": 0.4, "D!A4": "WACC", "D!B4": "=(1-B3)*B1+B3*B2",
    "D!A5": "Growth", "D!B5": GROWTH, "D!A6": "Year", "D!C6": [2027, 2028, 2029, 2030, 2031],
    "D!A7": "NOPAT", "D!C7": NOPAT, "D!A8": "Net investment", "D!C8": [30.0, 33.0, 36.0, 37.0, 40.0],
    "D!A9": "Free cash flow", "D!C9": years("={c}7-{c}8"), "D!A10": "Period", "D!C10": [1, 2, 3, 4, 5],
    "D!A11": "Discount factor", "D!C11": years("=1/(1+$B$4)^{c}10"), "D!A12": "Present value",
    "D!C12": years("={c}9*{c}11"), "D!A13": "Sum of present values", "D!B13": "=SUM(C12:G12)",
    "D!A14": "Terminal value", "D!B14": "=G9*(1+B5)/(B4-B5)", "D!A15": "PV of terminal value", "D!B15": "=B14*G11",
    "D!A16": "Enterprise value", "D!B16": "=B13+B15",
}  # fmt: skip
ROLES = {
    "cost_of_equity": "D!B1", "wacc": "D!B4", "terminal_growth": "D!B5", "nopat": "D!C7:G7", "fcff": "D!C9:G9",
    "discount_period": "D!C10:G10", "discount_factor": "D!C11:G11", "pv_fcff": "D!C12:G12", "sum_pv_fcff": "D!B13",
    "terminal_value": "D!B14", "pv_terminal_value": "D!B15", "enterprise_value": "D!B16",
}  # fmt: skip


def run(tmp_path, check, changes=None, roles=None):
    return audit(write(tmp_path, BASE | (changes or {})), ROLES | (roles or {}), [check])[check]


CHECKS = [
    "terminal.gordon-identity", "terminal.discounted-once", "discount.factor-identity", "discount.pv-sum",
    "discount.timing", "wacc.is-the-rate-used", "fatal.terminal-not-discounted", "independent.value-per-share",
    "fatal.growth-not-below-wacc", "response.wacc-up-value-down",
]  # fmt: skip


@pytest.mark.parametrize("check", CHECKS)
def test_right_valuation_passes(check, tmp_path):
    assert run(tmp_path, check).status == "pass"


def test_perpetuity_on_the_last_discounted_flow_without_its_growth_is_found(tmp_path):
    found = run(tmp_path, "terminal.gordon-identity", {"D!B14": "=G9/(B4-B5)"})
    assert accused(found) == {"D!B14"}
    assert found.findings[0].found == pytest.approx(80 / 0.06)
    assert found.findings[0].expected == pytest.approx(80 * 1.02 / 0.06)


FADE = {"D!D1": "First growth", "D!E1": 0.06, "D!D2": "Half-life of the fade (years)", "D!E2": 4.0}


def test_growth_that_fades_is_an_h_model_in_identity_and_in_the_value_derived_afresh(tmp_path):
    # 80·(1.02 + 4·0.04)/(0.08 - 0.02) = 1573.33
    changes = FADE | {"D!B14": "=G9*((1+B5)+E2*(E1-B5))/(B4-B5)"}
    found = run(tmp_path, "terminal.gordon-identity", changes)
    assert found.status == "pass"
    assert "H-model" in found.convention
    afresh = run(tmp_path, "independent.value-per-share", changes)
    assert afresh.status == "pass"
    assert "over 8 years" in afresh.convention


def test_h_model_with_its_fade_counted_double_is_found(tmp_path):
    changes = FADE | {"D!B14": "=G9*((1+B5)+E2*(E1-B5)*2)/(B4-B5)", "D!E2": 25.0}
    assert run(tmp_path, "terminal.gordon-identity", changes).status != "pass"


def test_value_driver_is_accepted_with_its_return_on_new_capital(tmp_path):
    # 120·1.02·(1 - 0.02/0.12)/(0.08 - 0.02) = 1700
    changes = {"D!D3": "Return on new capital", "D!E3": 0.12, "D!B14": "=G7*(1+B5)*(1-B5/E3)/(B4-B5)"}
    found = run(tmp_path, "independent.value-per-share", changes)
    assert found.status == "pass"
    assert "value driver" in found.convention


def test_perpetuity_on_a_normalised_year_needs_no_growth(tmp_path):
    changes = {"D!H6": "Normalised", "D!H7": 122.0, "D!H8": 38.0, "D!H9": "=H7-H8", "D!B14": "=H9/(B4-B5)"}
    assert run(tmp_path, "terminal.gordon-identity", changes).status == "pass"


def test_last_column_that_its_heading_calls_a_terminal_year_needs_no_growth(tmp_path):
    changes = {"D!G6": "Terminal year", "D!B14": "=G9/(B4-B5)"}
    assert run(tmp_path, "terminal.gordon-identity", changes).status == "pass"


AT_EQUITY = {"D!C11": years("=1/(1+$B$1)^{c}10")}


@pytest.mark.parametrize("check", ["wacc.is-the-rate-used", "fatal.flow-rate-mismatch"])
def test_flows_to_the_firm_at_the_cost_of_equity_are_found_at_their_factors(check, tmp_path):
    found = run(tmp_path, check, AT_EQUITY)
    assert found.status == "fail"
    assert accused(found) == {f"D!{column}11" for column in "CDEFG"}
    assert (found.findings[0].found, found.findings[0].expected) == pytest.approx((0.1, RATE))


@pytest.mark.parametrize("check", ["wacc.is-the-rate-used", "fatal.flow-rate-mismatch", "discount.factor-identity"])
def test_flows_that_rest_on_no_operating_profit_are_no_flows_to_the_firm(check, tmp_path):
    changes = AT_EQUITY | {"D!A8": "Interest paid"}
    assert run(tmp_path, check, changes).status != "fail"


def test_unlevered_cost_of_equity_is_a_rate_for_flows_to_the_firm(tmp_path):
    changes = AT_EQUITY | {"D!A1": "Unlevered cost of equity"}
    assert run(tmp_path, "fatal.flow-rate-mismatch", changes).status != "fail"


XNPV = {
    "D!B6": 46234, "D!C6": [46416, 46781, 47147, 47512, 47877], "D!B9": 0, "D!B10": "=B6",
    "D!C10": ["=(B6+C6)/2", *(f"={c}6-182.5" for c in "DEFG")], "D!B13": "=XNPV(B4,B9:G9,B10:G10)",
    "D!B15": "=B14/(1+B4)^((G6-B6)/365)",
}  # fmt: skip
XNPV_ROLES = {"fcff": "D!B9:G9", "discount_period": "D!B10:G10"}


def xnpv(tmp_path, check, changes=None):
    cells = {where: content for where, content in (BASE | XNPV | (changes or {})).items() if where[:4] not in _NO_ROWS}
    roles = {role: where for role, where in ROLES.items() if role not in ("discount_factor", "pv_fcff")} | XNPV_ROLES
    return audit(write(tmp_path, cells), roles, [check])[check]


_NO_ROWS = ("D!C11", "D!C12")


@pytest.mark.parametrize("check", ["discount.factor-identity", "terminal.discounted-once", "discount.pv-sum"])
def test_xnpv_with_a_zero_at_the_valuation_date_and_mid_period_dates_passes(check, tmp_path):
    assert xnpv(tmp_path, check).status == "pass"


def test_entry_year_that_no_sum_takes_is_not_left_out(tmp_path):
    changes = {"D!B6": 2026, "D!B7": 85.0, "D!B8": 30.0, "D!B9": "=B7-B8", "D!B10": 0, "D!B11": "=1/(1+$B$4)^B10"}
    roles = {role: where.replace("D!C", "D!B") for role, where in ROLES.items() if where.endswith(("9", "10", "11"))}
    roles |= {"pv_fcff": "D!C12:G12"}
    for check in ("discount.pv-sum", "discount.timing"):
        assert run(tmp_path, check, changes, roles).status == "pass"


def test_first_year_that_the_sum_skips_is_found_at_the_sum_and_is_no_fault_of_timing(tmp_path):
    changes = {"D!B13": "=SUM(D12:G12)"}
    assert accused(run(tmp_path, "discount.pv-sum", changes)) == {"D!B13"}
    assert run(tmp_path, "discount.timing", changes).status == "pass"


def test_factor_that_reads_the_period_of_its_neighbour_is_named_itself(tmp_path):
    changes = {"D!E11": "=1/(1+$B$4)^D10"}
    assert accused(run(tmp_path, "discount.factor-identity", changes)) == {"D!E11"}


VARYING = {"D!A17": "Rate of the year", "D!C17": [0.09, 0.085, 0.08, 0.08, 0.08]}
RATES = {"discount_rate": "D!C17:G17"}


def test_cumulative_product_of_rates_that_vary_passes_also_beside_a_terminal_rate(tmp_path):
    changes = VARYING | {"D!C11": ["=1/(1+C17)", *(f"={p}11/(1+{c}17)" for p, c in ("CD", "DE", "EF", "FG"))]}
    assert run(tmp_path, "discount.factor-identity", changes, RATES).status == "pass"
    assert run(tmp_path, "terminal.discounted-once", changes, RATES).status == "pass"


def test_cumulative_product_with_the_rate_of_the_year_before_is_found(tmp_path):
    changes = VARYING | {"D!C11": ["=1/(1+C17)", *(f"={p}11/(1+{p}17)" for p, _ in ("CD", "DE", "EF", "FG"))]}
    found = run(tmp_path, "discount.factor-identity", changes, RATES)
    assert found.status == "fail"
    assert found.findings[0].expected == pytest.approx(1 / 1.09 / 1.085)


RONIC = {"D!A18": "Return on new capital", "D!B18": 0.12, "D!A19": "Terminal flow"}


def test_stated_return_that_nothing_reads_is_found_at_the_reinvestment(tmp_path):
    changes = RONIC | {"D!B19": "=G7*(1+B5)*(1-B5/B4)", "D!B14": "=B19/(B4-B5)"}
    found = run(tmp_path, "terminal.gordon-identity", changes, {"ronic": "D!B18"})
    assert accused(found) == {"D!B19"}


def test_stated_return_that_the_terminal_flow_reads_passes(tmp_path):
    changes = RONIC | {"D!B19": "=G7*(1+B5)*(1-B5/B18)", "D!B14": "=B19/(B4-B5)"}
    assert run(tmp_path, "terminal.gordon-identity", changes, {"ronic": "D!B18"}).status == "pass"


def test_return_linked_to_the_wacc_leaves_the_response_of_the_value_open(tmp_path):
    changes = RONIC | {"D!B18": "=B4", "D!B14": "=G7*(1+B5)*(1-B5/B18)/(B4-B5)"}
    found = run(tmp_path, "response.wacc-up-value-down", changes, {"ronic": "D!B18"})
    assert found.status == "not_applicable"


MULTIPLE = {
    "D!A10": "Period (mid-year)", "D!C10": [0.5, 1.5, 2.5, 3.5, 4.5], "D!A20": "EBITDA",
    "D!C20": [150.0, 160.0, 170.0, 180.0, 190.0],
    "D!A21": "Exit multiple EV/EBITDA", "D!B21": 8.0, "D!A22": "Terminal value by multiple", "D!B22": "=G20*B21",
    "D!A23": "Its present value", "D!B23": "=B22/(1+B4)^5", "D!B16": "=B13+(B15+B23)/2",
}  # fmt: skip
MULTIPLE_ROLES = {"exit_multiple": "D!B21", "ebitda": "D!C20:G20"}


@pytest.mark.parametrize(("formula", "cells"), [("=B22/(1+B4)^5", set()), ("=B22*G11", {"D!B23"})])
def test_terminal_value_of_a_second_method_is_judged_as_well(formula, cells, tmp_path):
    found = run(tmp_path, "terminal.discounted-once", MULTIPLE | {"D!B23": formula}, MULTIPLE_ROLES)
    assert accused(found) == cells


def test_multiple_on_a_cell_labelled_ebitda_that_links_to_ebit_is_found(tmp_path):
    changes = MULTIPLE | {"D!A24": "EBIT", "D!C24": [110.0, 118.0, 126.0, 134.0, 142.0], "D!A25": "Terminal EBITDA"}
    changes |= {"D!A21": "Exit multiple", "D!B25": "=G24", "D!B22": "=B25*B21"}
    roles = MULTIPLE_ROLES | {"ebit": "D!C24:G24"}
    found = run(tmp_path, "terminal.exit-multiple-identity", changes, roles)
    assert accused(found) == {"D!B22", "D!B25"}
    assert found.findings[0].expected == pytest.approx(8 * 190)


@pytest.mark.parametrize(("heading", "status"), [("2026A", "fail"), ("2026E", "pass")])
def test_actual_year_that_is_discounted_with_the_forecast_is_late_by_its_heading(heading, status, tmp_path):
    changes = {"D!C6": [heading, "2027E", "2028E", "2029E", "2030E"]}
    assert run(tmp_path, "discount.timing", changes, {"period": "D!C6:G6"}).status == status


STUB = {
    "D!A6": "Period end", "D!C6": [46387, 46752, 47118, 47483, 47848], "D!B26": 46112, "D!A26": "Valuation date",
    "D!A27": "Part of the year", "D!C27": ["=(C6-B26)/365", 1, 1, 1, 1], "D!A28": "Flow of the full year",
    "D!C28": years("={c}7-{c}8"), "D!C9": years("={c}28*{c}27"), "D!C10": years("=({c}6-$B$26)/365"),
}  # fmt: skip


@pytest.mark.parametrize(("part", "cells"), [("=(C6-B26)/365", set()), ("=(B26-46022)/365", {"D!C27"})])
def test_first_flow_is_prorated_by_the_part_of_the_year_that_remains(part, cells, tmp_path):
    changes = STUB | {"D!C27": [part, 1, 1, 1, 1]}
    found = run(tmp_path, "discount.stub-fraction", changes, {"valuation_date": "D!B26"})
    assert accused(found) == cells
    assert all(one.expected == pytest.approx(275 / 365) for one in found.findings)


SHIELD = {"D!A29": "Value of tax shields", "D!B29": 55.0, "D!B16": "=B13+B15+B29"}


def test_further_leg_of_the_enterprise_value_is_part_of_the_rebuilt_one(tmp_path):
    assert run(tmp_path, "independent.value-per-share", SHIELD).status == "pass"


HALF = {"D!C10": [0.5, 1.5, 2.5, 3.5, 4.5], "D!B14": "=G9*(1+B5)/(B4-B5)*(1+B4)^0.5", "D!B15": "=B14/(1+B4)^5"}


@pytest.mark.parametrize(
    "check", ["terminal.gordon-identity", "terminal.discounted-once", "independent.value-per-share"]
)
def test_perpetuity_on_mid_year_flows_may_be_carried_to_the_end_of_the_year(check, tmp_path):
    assert run(tmp_path, check, HALF).status == "pass"


def test_perpetuity_on_end_year_flows_may_not_be_carried_half_a_year(tmp_path):
    found = run(tmp_path, "terminal.gordon-identity", {"D!B14": "=G9*(1+B5)/(B4-B5)*(1+B4)^0.5"})
    assert found.status != "pass"


def test_perpetuity_of_a_form_of_its_own_is_taken_as_it_stands(tmp_path):
    # the last net investment is brought to twice the growth: 120 - 0.02·2·500 = 100 a year later 102
    changes = {"D!A30": "Capital", "D!B30": 500.0, "D!B14": "=(G7-2*B5*B30)*(1+B5)/(B4-B5)"}
    assert run(tmp_path, "independent.value-per-share", changes).status == "pass"


def test_present_value_of_a_fading_income_is_not_discounted_again(tmp_path):
    # income that keeps 60 % of itself each year: 80·0.6/(1.08 - 0.6) = 100
    changes = {"D!A5": "Persistence", "D!B5": 0.6, "D!B14": "=G9*B5/(1+B4-B5)"}
    roles = {role: cell for role, cell in ROLES.items() if role not in ("terminal_growth", "terminal_value")}
    found = audit(write(tmp_path, BASE | changes), roles, ["independent.value-per-share"])
    assert found["independent.value-per-share"].status == "pass"


HALF_YEARS = {
    "D!A6": "Half-year", "D!C6": ["H1 2027", "H2 2027", "H1 2028", "H2 2028", "H1 2029"],
    "D!A31": "Rate for a half-year", "D!B31": "=(1+B4)^0.5-1", "D!C11": years("=1/(1+$B$31)^{c}10"),
}  # fmt: skip


@pytest.mark.parametrize("rate", ["D!B4", "D!B31"])
def test_half_years_are_discounted_at_a_rate_made_for_them_from_the_yearly_one(rate, tmp_path):
    found = run(tmp_path, "discount.factor-identity", HALF_YEARS, {"period": "D!C6:G6", "wacc": rate})
    assert found.status == "pass"


def test_half_years_discounted_at_the_yearly_rate_are_found(tmp_path):
    wrong = HALF_YEARS | {"D!C11": years("=1/(1+$B$4)^{c}10")}
    assert run(tmp_path, "discount.factor-identity", wrong, {"period": "D!C6:G6"}).status == "fail"


def test_rate_for_a_half_year_is_held_against_the_range_by_its_year(tmp_path):
    roles = ROLES | {"period": "D!C6:G6", "wacc": "D!B31"}
    params = {"wacc.range": {"low": Decimal("0.06"), "high": Decimal("0.12")}}
    assert (
        audit(write(tmp_path, BASE | HALF_YEARS), roles, ["wacc.range"], params=params)["wacc.range"].status == "pass"
    )


PART = {
    "D!A32": "Date", "D!B32": [46112, 46387, 46752, 47118, 47483, 47848], "D!A33": "Part of the year to come",
    "D!C33": ["=(C32-B32)/365", 1, 1, 1, 1], "D!A34": "Flow counted", "D!B34": [0, *years("={c}9*{c}33")],
    "D!B13": "=XNPV(B4,B34:G34,B32:G32)", "D!B15": "=B14/(1+B4)^((G32-B32)/365)",
}  # fmt: skip
NO_ROWS = {role: cell for role, cell in ROLES.items() if role not in ("discount_factor", "pv_fcff", "discount_period")}


@pytest.mark.parametrize(("part", "status"), [("=(C32-B32)/365", "pass"), (0.4, "fail")])
def test_part_of_the_first_flow_that_counts_is_no_longer_wait(part, status, tmp_path):
    changes = PART | {"D!C33": [part, 1, 1, 1, 1]}
    found = audit(write(tmp_path, BASE | changes), NO_ROWS, ["discount.factor-identity"])
    assert found["discount.factor-identity"].status == status


FAILING = {"D!A35": "Chance of failure", "D!B35": 0.1, "D!B16": "=(B13+B15)*(1-B35)"}


@pytest.mark.parametrize(("present", "status"), [("=B14*G11", "pass"), ("=B14*G11/(1+B4)", "fail")])
def test_share_of_the_whole_value_is_no_longer_discounting(present, status, tmp_path):
    assert run(tmp_path, "terminal.discounted-once", FAILING | {"D!B15": present}).status == status


BLEND = MULTIPLE | {
    "D!A36": "Weight of the perpetuity", "D!B36": 0.6, "D!A14": "Perpetuity", "D!A37": "Terminal value",
    "D!B37": "=B36*B14+(1-B36)*B22", "D!B15": "=B37/(1+B4)^5", "D!B23": None, "D!B16": "=B13+B15",
}  # fmt: skip


@pytest.mark.parametrize(
    ("formula", "cells"),
    [("=B36*B14+(1-B36)*B22", set()), ("=AVERAGE(B14,B22)", set()), ("=B36*B14+B36*B22", {"D!B37"})],
)
def test_weights_of_two_methods_add_up_to_one(formula, cells, tmp_path):
    roles = MULTIPLE_ROLES | {"terminal_value": "D!B37"}
    assert accused(run(tmp_path, "terminal.gordon-identity", BLEND | {"D!B37": formula}, roles)) == cells


def test_terminal_value_at_the_rate_before_inflation_is_found(tmp_path):
    changes = {"D!A38": "Expected inflation", "D!B38": 0.02, "D!A39": "Real WACC", "D!B39": "=(1+B4)/(1+B38)-1"}
    changes |= {"D!C11": years("=1/(1+$B$39)^{c}10")}
    nominal = run(tmp_path, "terminal.gordon-identity", changes, {"wacc": "D!B39", "terminal_wacc": "D!B4"})
    assert accused(nominal) == {"D!B14"}
    real = run(tmp_path, "terminal.gordon-identity", changes | {"D!B14": "=G9*(1+B5)/(B39-B5)"}, {"wacc": "D!B39"})
    assert real.status == "pass"


ROUNDED = {"D!C12": years("=ROUND({c}9/(1+$B$4)^{c}10,0)")}
NO_FACTORS = {role: cell for role, cell in ROLES.items() if role != "discount_factor"}


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, "pass"),
        ({"D!E12": "=ROUND(E9/(1+$B$4)^2,0)"}, "fail"),
        ({"D!C12": years("={c}9/(1+$B$4)^({c}10+0.03*{c}10)")}, "fail"),
    ],
)
def test_present_values_in_whole_units_are_read_at_their_rounding(changes, status, tmp_path):
    found = audit(write(tmp_path, BASE | ROUNDED | changes), NO_FACTORS, ["discount.factor-identity"])
    assert found["discount.factor-identity"].status == status


def test_perpetuity_of_a_half_year_at_half_yearly_rates_is_right(tmp_path):
    changes = HALF_YEARS | {"D!B14": "=G9*(1+B5)/(B31-B5)"}
    right = run(tmp_path, "terminal.gordon-identity", changes, {"period": "D!C6:G6", "wacc": "D!B31"})
    assert right.status == "pass"
    wrong = run(tmp_path, "terminal.gordon-identity", HALF_YEARS, {"period": "D!C6:G6"})
    assert accused(wrong) == {"D!B14"}
