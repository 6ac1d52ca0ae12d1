"""Discounting and terminal value on one invented timeline: timing, stub, sums, perpetuities, multiples."""

from datetime import datetime

import pytest
from checking_helper import accused, audit, write

FLOWS = [100.0, 110.0, 120.0, 126.0, 130.0]
PLAIN = {
    "D!A1": "WACC", "D!B1": 0.1, "D!A2": "Terminal growth", "D!B2": 0.02,
    "D!A4": "Year", "D!B4": [2026, 2027, 2028, 2029, 2030],
    "D!A5": "Free cash flow", "D!B5": FLOWS,
    "D!A6": "Years", "D!B6": [1, 2, 3, 4, 5],
    "D!A7": "Discount factor", "D!B7": [f"=1/(1+$B$1)^{c}6" for c in "BCDEF"],
    "D!A8": "PV", "D!B8": [f"={c}5*{c}7" for c in "BCDEF"],
    "D!A10": "Sum of PV", "D!B10": "=SUM(B8:F8)",
    "D!A11": "Terminal value", "D!B11": "=F5*(1+B2)/(B1-B2)",
    "D!A12": "PV of terminal value", "D!B12": "=B11*F7",
    "D!A13": "Enterprise value", "D!B13": "=B10+B12",
    "D!A14": "Cost of equity", "D!B14": 0.13,
    "D!A15": "Exit multiple EV/EBITDA", "D!B15": 8.0,
    "D!A16": "EBITDA", "D!B16": [180.0, 190.0, 205.0, 215.0, 222.0],
    "D!A17": "EBIT", "D!B17": [140.0, 150.0, 160.0, 168.0, 174.0],
    "D!A18": "D&A", "D!B18": [40.0, 40.0, 45.0, 47.0, 48.0],
}  # fmt: skip
ROLES = {
    "wacc": "D!B1", "terminal_growth": "D!B2", "period": "D!B4:F4", "fcff": "D!B5:F5", "discount_factor": "D!B7:F7",
    "pv_fcff": "D!B8:F8", "sum_pv_fcff": "D!B10", "terminal_value": "D!B11", "pv_terminal_value": "D!B12",
    "enterprise_value": "D!B13", "cost_of_equity": "D!B14",
}  # fmt: skip
MULTIPLE = ROLES | {"exit_multiple": "D!B15", "ebitda": "D!B16:F16", "ebit": "D!B17:F17", "depreciation": "D!B18:F18"}
TV = 130 * 1.02 / 0.08


def run(tmp_path, check, changes=None, roles=ROLES, **more):
    return audit(write(tmp_path, PLAIN | (changes or {})), roles, [check], **more)[check]


@pytest.mark.parametrize(
    "check",
    [
        "discount.factor-identity", "discount.pv-sum", "discount.timing", "terminal.gordon-identity",
        "terminal.discounted-once", "bridge.enterprise-value", "wacc.is-the-rate-used", "independent.value-per-share",
        "response.wacc-up-value-down", "response.growth-up-value-up", "fatal.growth-not-below-wacc",
        "fatal.double-discounting", "fatal.terminal-not-discounted", "fatal.not-recomputable",
    ],
)  # fmt: skip
def test_plain_valuation_passes(check, tmp_path):
    assert run(tmp_path, check).status == "pass"


@pytest.mark.parametrize(
    ("years", "name"),
    [
        ([0.5, 1.5, 2.5, 3.5, 4.5], "mid-year discounting"),
        ([0.3, 1.3, 2.3, 3.3, 4.3], "end-year discounting after a stub of 0.3 years"),
        ([0.2, 0.9, 1.9, 2.9, 3.9], "mid-year discounting after a stub of 0.4 years"),
    ],
)
def test_accepted_timings_are_named(years, name, tmp_path):
    found = run(tmp_path, "discount.factor-identity", {"D!B6": years})
    assert found.status == "pass"
    assert found.convention.startswith(name)


def test_stale_base_year_is_found_over_the_whole_row(tmp_path):
    found = run(tmp_path, "discount.factor-identity", {"D!B6": [16, 17, 18, 19, 20]})
    assert accused(found) == {f"D!{c}7" for c in "BCDEF"}


def test_one_wrong_period_is_found_at_the_period(tmp_path):
    found = run(tmp_path, "discount.factor-identity", {"D!B6": [1, 2, 4, 4, 5]})
    assert accused(found) == {"D!D6"}
    assert found.findings[0].expected == pytest.approx(3.0)


def test_factors_without_a_row_are_read_from_npv(tmp_path):
    roles = {role: cell for role, cell in ROLES.items() if role not in ("discount_factor", "pv_fcff")}
    found = run(tmp_path, "discount.factor-identity", {"D!B10": "=NPV(B1,B5:F5)"}, roles)
    assert found.convention == "end-year discounting (the live model)"


def test_year_left_out_of_the_sum_is_found_with_its_cell(tmp_path):
    found = run(tmp_path, "discount.pv-sum", {"D!B10": "=SUM(B8:E8)"})
    assert accused(found) == {"D!B10"}
    assert "D!F5" in found.findings[0].message


def test_year_left_out_of_a_row_that_was_bound_too_short_is_found(tmp_path):
    short = ROLES | {"fcff": "D!B5:E5", "discount_factor": "D!B7:E7", "pv_fcff": "D!B8:E8"}
    changes = {"D!B10": "=SUM(B8:E8)"}
    assert accused(run(tmp_path, "discount.pv-sum", changes, short)) == {"D!B10"}
    assert run(tmp_path, "terminal.discounted-once", changes, short).status == "pass"


def test_first_flow_at_par_is_a_timing_fault(tmp_path):
    assert run(tmp_path, "discount.timing", {"D!B6": [0, 1, 2, 3, 4]}).status == "fail"


STUB = {
    "D!A19": "Valuation date", "D!B19": datetime(2026, 3, 31), "D!A20": "Fraction", "D!B20": "=275/365",
    "D!B6": ["=B20/2", "=$B$20+0.5", "=$B$20+1.5", "=$B$20+2.5", "=$B$20+3.5"],
    "D!B8": ["=B5*B20*B7", *(f"={c}5*{c}7" for c in "CDEF")],
}  # fmt: skip


def test_remaining_part_of_the_year_is_accepted(tmp_path):
    roles = ROLES | {"valuation_date": "D!B19"}
    assert run(tmp_path, "discount.stub-fraction", STUB, roles).status == "pass"
    assert run(tmp_path, "independent.value-per-share", STUB, roles).status == "pass"


def test_elapsed_part_of_the_year_is_found_at_its_cell(tmp_path):
    roles = ROLES | {"valuation_date": "D!B19"}
    found = run(tmp_path, "discount.stub-fraction", STUB | {"D!B20": "=90/365"}, roles)
    assert accused(found) == {"D!B20"}
    assert found.findings[0].expected == pytest.approx(275 / 365)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("=F5*(1+B2)/(B14-B2)", "cost of equity"),
        ("=F5*(1+B2)/(B1+B2)", "adds growth"),
        ("=F5*(1+B2)/B1-B2", "brackets"),
        ("=E5*(1+B2)/(B1-B2)", "before the last"),
        ("=F8*(1+B2)/(B1-B2)", "discounted flow"),
        ("=F5*(1+B2)*(1+B2)/(B1-B2)", "grown twice"),
        ("=F5/(B1-B2)", "grow"),
    ],
)
def test_wrong_perpetuity_is_explained_with_the_right_value(formula, words, tmp_path):
    found = run(tmp_path, "terminal.gordon-identity", {"D!B11": formula})
    assert accused(found) == {"D!B11"}
    assert words in found.findings[0].message
    assert found.findings[0].expected == pytest.approx(TV)


@pytest.mark.parametrize("formula", ["=G5/(B1-B2)", "=G5*(1+B2)/(B1-B2)"])
def test_normalised_flows_are_accepted(formula, tmp_path):
    assert run(tmp_path, "terminal.gordon-identity", {"D!B11": formula, "D!G5": 118.0}).status == "pass"


def test_perpetuity_that_is_not_understood_stays_open(tmp_path):
    assert run(tmp_path, "terminal.gordon-identity", {"D!B11": "=F5*7.3+B2/B1"}).status == "unverifiable"


def test_negative_flow_capitalised_for_ever_is_found(tmp_path):
    assert run(tmp_path, "terminal.gordon-identity", {"D!F5": -130.0}).status == "fail"


@pytest.mark.parametrize(
    ("formula", "status"),
    [
        ("=B11*F7", "pass"),
        ("=B11/(1+B1)^5", "pass"),
        ("=B11/(1+B1)^6", "fail"),
        ("=B11/(1+B1)^9", "fail"),
        ("=B11*F7*F7", "fail"),
        ("=B11", "fail"),
    ],
)
def test_discounting_of_the_terminal_value(formula, status, tmp_path):
    found = run(tmp_path, "terminal.discounted-once", {"D!B12": formula})
    assert found.status == status
    if status == "fail":
        assert accused(found) == {"D!B12"}
        assert found.findings[0].expected == pytest.approx(TV / 1.1**5)


MID = {"D!A3": "Mid-year convention", "D!B6": [0.5, 1.5, 2.5, 3.5, 4.5]}


@pytest.mark.parametrize("exponent", ["4.5", "5"])
def test_gordon_value_under_mid_year_may_come_back_either_way(exponent, tmp_path):
    found = run(tmp_path, "terminal.discounted-once", MID | {"D!B12": f"=B11/(1+B1)^{exponent}"})
    assert found.status == "pass"
    assert exponent in found.convention


@pytest.mark.parametrize(("exponent", "status"), [("5", "pass"), ("4.5", "fail")])
def test_exit_value_under_mid_year_comes_back_to_the_end_of_the_year(exponent, status, tmp_path):
    changes = MID | {"D!B11": "=F16*B15", "D!B12": f"=B11/(1+B1)^{exponent}"}
    assert run(tmp_path, "terminal.discounted-once", changes, MULTIPLE).status == status


@pytest.mark.parametrize(
    ("formula", "check", "status"),
    [
        ("=F16*B15", "terminal.exit-multiple-identity", "pass"),
        ("=F17*B15", "terminal.exit-multiple-identity", "fail"),
        ("=(F17-F18)*B15", "terminal.exit-multiple-identity", "fail"),
        ("=D16*B15", "terminal.multiple-basis", "fail"),
    ],
)
def test_multiple_stands_on_the_ebitda_of_the_last_year(formula, check, status, tmp_path):
    found = run(tmp_path, check, {"D!B11": formula}, MULTIPLE)
    assert found.status == status
    if status == "fail":
        assert found.findings[-1].expected == pytest.approx(222 * 8)


def test_multiple_derived_from_its_own_measure_is_found(tmp_path):
    changes = {"D!B15": "=1500/F16", "D!B11": "=F16*B15"}
    assert accused(run(tmp_path, "terminal.multiple-basis", changes, MULTIPLE)) == {"D!B15"}


def test_double_discounting_is_fatal_only_when_discounted_again(tmp_path):
    built = {"D!B11": "=F8*(1+B2)/(B1-B2)"}
    assert run(tmp_path, "fatal.double-discounting", built).status == "fail"
    assert run(tmp_path, "fatal.double-discounting", built | {"D!B12": "=B11"}).status == "pass"


def test_undiscounted_terminal_value_is_fatal(tmp_path):
    found = run(tmp_path, "fatal.terminal-not-discounted", {"D!B13": "=B10+B11"})
    assert accused(found) == {"D!B13"}
    right = sum(flow / 1.1**year for year, flow in enumerate(FLOWS, 1)) + TV / 1.1**5
    assert found.findings[0].expected == pytest.approx(right)


@pytest.mark.parametrize(("growth", "status"), [(0.1, "fail"), (0.12, "fail"), (0.0999, "pass"), (-0.03, "pass")])
def test_growth_at_or_above_the_rate_is_fatal(growth, status, tmp_path):
    assert run(tmp_path, "fatal.growth-not-below-wacc", {"D!B2": growth}).status == status


def test_independent_value_explains_the_gap_in_one_sentence(tmp_path):
    changes = {
        "D!A21": "Shares",
        "D!B21": 10.0,
        "D!A22": "Value per share",
        "D!B22": "=B23/B21",
        "D!A23": "Equity value",
    }
    changes |= {"D!B23": "=B13", "D!B12": "=B11"}
    roles = ROLES | {"shares": "D!B21", "value_per_share": "D!B22", "equity_value": "D!B23"}
    found = run(tmp_path, "independent.value-per-share", changes, roles)
    assert "the terminal value is not discounted" in found.findings[0].message
    right = sum(flow / 1.1**year for year, flow in enumerate(FLOWS, 1)) + TV / 1.1**5
    assert found.findings[0].expected == pytest.approx(right / 10)


def test_average_of_two_methods_is_re_derived(tmp_path):
    changes = {
        "D!A21": "Exit value", "D!B21": "=F16*B15", "D!A22": "PV of exit value", "D!B22": "=B21*F7",
        "D!A23": "EV Gordon", "D!B23": "=B10+B12", "D!A24": "EV multiple", "D!B24": "=B10+B22",
        "D!B13": "=AVERAGE(B23,B24)",
    }  # fmt: skip
    roles = {role: cell for role, cell in MULTIPLE.items() if role not in ("terminal_value", "pv_terminal_value")}
    found = run(tmp_path, "independent.value-per-share", changes, roles)
    assert found.status == "pass", found.reason
    assert "exit multiple" in found.convention


def test_stated_implied_growth_is_worked_out_once_more(tmp_path):
    tv = 222 * 8
    right = (tv * 0.1 - 130) / (tv + 130)
    base = {"D!B11": "=F16*B15", "D!A21": "Implied perpetual growth"}
    good = run(tmp_path, "metric.implied-values", base | {"D!B21": "=(B11*B1-F5)/(B11+F5)"}, MULTIPLE)
    assert good.status == "pass"
    bad = run(tmp_path, "metric.implied-values", base | {"D!B21": "=(B1-F5/B11)/(1-F5/B11)"}, MULTIPLE)
    assert bad.findings[0].expected == pytest.approx(right)


def test_rate_that_nothing_reads_is_found(tmp_path):
    changes = {"D!B7": [f"=1/(1+0.085)^{c}6" for c in "BCDEF"], "D!B11": "=F5*(1+B2)/(0.085-B2)"}
    assert run(tmp_path, "wacc.is-the-rate-used", changes).status == "fail"


def test_typed_copy_of_the_rate_is_accepted(tmp_path):
    changes = {"D!B9": 0.1, "D!B7": [f"=1/(1+$B$9)^{c}6" for c in "BCDEF"], "D!B11": "=F5*(1+B2)/(B9-B2)"}
    assert run(tmp_path, "wacc.is-the-rate-used", changes).status == "pass"
