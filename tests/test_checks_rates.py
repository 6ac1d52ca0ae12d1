"""Checks of the discount rate on small invented builds, right ones and wrong ones."""

from decimal import Decimal

import pytest
from checking_helper import accused, audit, write

BUILD = {
    "W!A1": "Risk-free rate", "W!B1": 0.03,
    "W!A2": "Beta", "W!B2": 1.1,
    "W!A3": "Equity risk premium", "W!B3": 0.05,
    "W!A4": "Cost of equity", "W!B4": "=B1+B2*B3",
    "W!A5": "Pre-tax cost of debt", "W!B5": 0.045,
    "W!A6": "Tax rate", "W!B6": 0.25,
    "W!A7": "After-tax cost of debt", "W!B7": "=B5*(1-B6)",
    "W!A8": "Debt", "W!B8": 300.0, "W!A9": "Market capitalisation", "W!B9": 900.0,
    "W!A10": "Weight of debt", "W!B10": "=B8/(B8+B9)",
    "W!A11": "Weight of equity", "W!B11": "=1-B10",
    "W!A12": "WACC", "W!B12": "=B11*B4+B10*B7",
    "W!A13": "Debt / equity", "W!B13": "=B8/B9",
}  # fmt: skip
ROLES = {
    "risk_free_rate": "W!B1", "beta": "W!B2", "equity_risk_premium": "W!B3", "cost_of_equity": "W!B4",
    "pre_tax_cost_of_debt": "W!B5", "tax_rate": "W!B6", "after_tax_cost_of_debt": "W!B7", "weight_debt": "W!B10",
    "weight_equity": "W!B11", "wacc": "W!B12", "debt_to_equity": "W!B13",
}  # fmt: skip
RIGHT = 0.75 * 0.085 + 0.25 * 0.03375


def run(tmp_path, check, changes=None, roles=ROLES, **more):
    return audit(write(tmp_path, BUILD | (changes or {})), roles, [check], **more)[check]


@pytest.mark.parametrize(
    "check",
    [
        "wacc.identity",
        "wacc.capm",
        "wacc.weights-sum-to-one",
        "wacc.debt-weight",
        "wacc.after-tax-debt",
        "wacc.cost-of-debt",
        "wacc.debt-cheaper-than-equity",
    ],
)
def test_right_build_passes(check, tmp_path):
    assert run(tmp_path, check).status == "pass"


@pytest.mark.parametrize(
    ("cell", "formula", "check", "expected"),
    [
        ("W!B12", "=B11*B4+B10*B5", "wacc.identity", RIGHT),
        ("W!B4", "=B2*B3", "wacc.capm", 0.085),
        ("W!B4", "=B1+B2*(B3+B1)", "wacc.capm", 0.085),
        ("W!B10", 0.3, "wacc.weights-sum-to-one", None),
        ("W!B10", "=B13", "wacc.debt-weight", 0.25),
        ("W!B7", "=B5", "wacc.after-tax-debt", 0.03375),
        ("W!B5", "=B13", "wacc.cost-of-debt", None),
        ("W!B5", 0.12, "wacc.debt-cheaper-than-equity", None),
    ],
)
def test_slip_in_the_build_is_found_at_its_cell(cell, formula, check, expected, tmp_path):
    more = {"W!B11": 0.75} if check == "wacc.weights-sum-to-one" else {}
    found = run(tmp_path, check, {cell: formula} | more)
    assert found.status == "fail"
    assert cell in accused(found)
    if expected is not None:
        assert found.findings[0].expected == pytest.approx(expected)


def test_weight_outside_zero_and_one_is_found(tmp_path):
    assert accused(run(tmp_path, "wacc.debt-weight", {"W!B8": -300.0})) == {"W!B10"}


def test_rate_typed_at_the_decimals_of_its_build_passes(tmp_path):
    assert run(tmp_path, "wacc.identity", {"W!B12": 0.0722}).status == "pass"


@pytest.mark.parametrize(
    ("formula", "status"), [("=ROUND(B11*B4+B10*B7,4)", "pass"), ("=ROUND(B11*B4+B10*B5,4)", "fail")]
)
def test_rate_rounded_by_its_formula_is_compared_at_that_rounding(formula, status, tmp_path):
    assert run(tmp_path, "wacc.identity", {"W!B12": formula}).status == status


def test_rate_in_percent_points_passes(tmp_path):
    points = {"W!B12": "=100*(B11*B4+B10*B7)"}
    assert run(tmp_path, "wacc.identity", points, factors={"wacc": 0.01}).status == "pass"


def test_third_component_passes(tmp_path):
    third = {"W!B11": 0.65, "W!A14": "Weight of preferred", "W!B14": 0.1, "W!B12": "=B11*B4+B10*B7+B14*0.06"}
    assert run(tmp_path, "wacc.identity", third).status == "pass"
    assert run(tmp_path, "wacc.weights-sum-to-one", third).status == "pass"


@pytest.mark.parametrize("formula", ["=B1+B2*B3+B14", "=B1+B2*(B15-B1)"])
def test_further_premium_and_market_return_are_accepted(formula, tmp_path):
    extra = {"W!A14": "Size premium", "W!B14": 0.01, "W!A15": "Market return", "W!B15": 0.08, "W!B4": formula}
    assert run(tmp_path, "wacc.capm", extra).status == "pass"


def test_build_that_reads_an_empty_cell_is_found(tmp_path):
    found = run(tmp_path, "wacc.identity", {"W!B12": "=B11*B4+B10*B5*(1-C6)"})
    assert accused(found) == {"W!B12"}


def test_sum_of_the_weights_under_the_label_wacc_is_found(tmp_path):
    weights = {"W!B11": "=B9/(B8+B9)", "W!A20": "WACC", "W!B20": "=B10+B11"}
    assert "W!B20" in accused(run(tmp_path, "wacc.identity", weights))


@pytest.mark.parametrize(
    ("formula", "status"),
    [
        ("=B14*(1+(1-B6)*B13)", "pass"),
        ("=B14*(1+B13)", "pass"),
        ("=B14*((1-B6)*B13)", "fail"),
    ],
)
def test_relevered_beta(formula, status, tmp_path):
    changes = {"W!A14": "Unlevered beta", "W!B14": 0.9, "W!B2": formula}
    found = run(tmp_path, "wacc.relevered-beta", changes, ROLES | {"unlevered_beta": "W!B14"})
    assert found.status == status
    if status == "fail":
        assert found.findings[0].expected == pytest.approx(0.9 * (1 + 0.75 / 3))


def test_range_comes_from_the_rubric_only(tmp_path):
    assert run(tmp_path, "wacc.range").status == "not_applicable"
    narrow = {"wacc.range": {"low": Decimal("0.08"), "high": Decimal("0.11")}}
    assert run(tmp_path, "wacc.range", params=narrow).findings[0].expected == pytest.approx(0.08)


def test_book_equity_behind_the_weights_is_a_warning(tmp_path):
    found = run(tmp_path, "wacc.weights-basis", {"W!A9": "Shareholders' equity (book)"})
    assert (found.status, found.severity) == ("fail", "warn")


UNLABELLED = {key: cell for key, cell in ROLES.items() if key not in ("weight_debt", "weight_equity", "debt_to_equity")}


@pytest.mark.parametrize("formula", ["=B11*B4+B10*B5", "=(1-B10)*B4+B10*B5"])
def test_missing_tax_shield_is_read_from_the_formula_where_no_weight_is_bound(formula, tmp_path):
    found = run(tmp_path, "wacc.identity", {"W!B12": formula}, UNLABELLED)
    assert accused(found) == {"W!B12"}
    assert found.findings[0].expected == pytest.approx(RIGHT)


@pytest.mark.parametrize("formula", ["=B11*B4+B10*B7", "=B11*B4+B10*B5*(1-B6)", "=(1-B10)*B4+B10*B7"])
def test_tax_shield_that_stands_in_the_formula_or_in_a_cell_of_its_own_is_seen(formula, tmp_path):
    assert run(tmp_path, "wacc.identity", {"W!B12": formula}, UNLABELLED).status != "fail"


PREMIUM = {"W!A14": "Size premium", "W!B14": 0.012}


@pytest.mark.parametrize(
    ("formula", "expected"), [("=B2*B3+B14", 0.097), ("=B1+B3+B14", 0.097), ("=B1-B2*B3+B14", 0.097)]
)
def test_slip_in_capm_is_found_beside_a_further_premium(formula, expected, tmp_path):
    roles = ROLES | {"size_premium": "W!B14"}
    found = run(tmp_path, "wacc.capm", PREMIUM | {"W!B4": formula}, roles)
    assert accused(found) == {"W!B4"}
    assert found.findings[0].expected == pytest.approx(expected)


def test_capm_with_a_further_premium_passes(tmp_path):
    roles = ROLES | {"size_premium": "W!B14"}
    assert run(tmp_path, "wacc.capm", PREMIUM | {"W!B4": "=B1+B2*B3+B14"}, roles).status == "pass"


STEM = {"W!A15": "Unlevered beta", "W!B15": 0.88, "W!B2": "=B15*(1+(1-B6)*B13)"}


def test_capm_on_the_beta_that_the_bound_one_is_relevered_from_is_found_without_its_role(tmp_path):
    found = run(tmp_path, "wacc.capm", STEM | {"W!B4": "=B1+B15*B3"})
    assert accused(found) == {"W!B4"}
    assert found.findings[0].expected == pytest.approx(0.03 + 0.88 * 1.25 * 0.05)
    assert run(tmp_path, "wacc.capm", STEM).status == "pass"


def test_relevering_is_judged_by_the_word_beta_where_the_unlevered_one_is_not_bound(tmp_path):
    assert run(tmp_path, "wacc.relevered-beta", STEM).status == "pass"
    found = run(tmp_path, "wacc.relevered-beta", STEM | {"W!B2": "=B15*((1-B6)*B13)"})
    assert accused(found) == {"W!B2"}
    assert found.findings[0].expected == pytest.approx(1.1)


CARRIED = {
    "W!A14": "Inflation at home", "W!B14": 0.02, "W!A15": "Inflation abroad", "W!B15": 0.09,
    "W!A16": "WACC in the currency abroad", "W!B16": "=(1+B12)*(1+B15)/(1+B14)-1",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, "pass"),
        ({"W!B16": "=(1+B12)/(1+B14)-1", "W!A16": "Real WACC"}, "pass"),
        ({"W!B12": "=B11*B4+B10*B5"}, "fail"),
        ({"W!B16": "=B12+B15*2"}, "fail"),
    ],
)
def test_rate_carried_over_by_inflation_is_judged_before_it_is(changes, status, tmp_path):
    assert run(tmp_path, "wacc.identity", CARRIED | changes, ROLES | {"wacc": "W!B16"}).status == status


CROSSED = CARRIED | {"W!B14": 0.02, "W!B15": 0.25, "W!A17": "Terminal growth", "W!B17": 0.24}
RANGES = {
    "wacc.range": {"low": Decimal("0.04"), "high": Decimal("0.20")},
    "terminal.growth-range": {"low": Decimal("-0.03"), "high": Decimal("0.06")},
}


def test_nominal_rate_made_from_a_low_real_one_is_held_against_the_range_itself(tmp_path):
    changes = {"W!A14": "Inflation", "W!B14": 0.02, "W!B12": "=(1+B15)*(1+B14)-1", "W!A15": "Real rate", "W!B15": 0.035}
    found = audit(write(tmp_path, BUILD | changes), ROLES, ["wacc.range"], params=RANGES)
    assert found["wacc.range"].status == "pass"


@pytest.mark.parametrize(
    ("changes", "status"),
    [({}, "pass"), ({"W!B17": 0.32}, "fail"), ({"W!B16": 0.313864, "W!A15": "Something else"}, "fail")],
)
def test_rates_of_a_currency_of_high_inflation_are_held_against_the_range_before_it(changes, status, tmp_path):
    roles = ROLES | {"wacc": "W!B16", "terminal_growth": "W!B17"}
    found = audit(write(tmp_path, BUILD | CROSSED | changes), roles, list(RANGES), params=RANGES)
    assert found["terminal.growth-range"].status == status
    assert found["wacc.range"].status == ("pass" if changes.get("W!B16") is None else "fail")
