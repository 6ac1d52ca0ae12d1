"""The closed forms against published results and numbers worked by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlcheck import dcf


def test_timings_name_the_plainest_convention_first():
    assert next(dcf.timings((1, 2, 3))).name == "end-year discounting"
    assert next(dcf.timings((0.5, 1.5, 2.5))).name == "mid-year discounting"


def test_half_a_year_is_mid_year_or_a_half_year_stub():
    assert {timing.mid for timing in dcf.timings((0.5, 1.5, 2.5))} == {True, False}


def test_mid_year_after_a_stub_of_nine_months():
    timing = next(dcf.timings((0.375, 1.25, 2.25)))
    assert (timing.mid, timing.stub) == (True, pytest.approx(0.75))
    assert timing.horizon(3) == pytest.approx(2.75)


def test_no_timing_fits_years_that_jump():
    assert list(dcf.timings((1, 2, 4))) == []


@given(st.floats(0.01, 1.0), st.integers(1, 12), st.booleans())
def test_exponents_of_a_timing_are_recognised(stub, periods, mid):
    timing = dcf.mid_year(stub) if mid else dcf.end_year(stub)
    assert any(found.mid == mid for found in dcf.timings(timing.exponents(periods))) or periods == 1


@given(st.floats(0.01, 0.4), st.floats(0.1, 40))
def test_exponent_of_inverts_the_discount_factor(rate, years):
    assert dcf.exponent_of(dcf.discount_factor(rate, years), rate) == pytest.approx(years, rel=1e-6)


def test_gordon_growth_of_a_published_case():
    # F 146 growing at 3 % for ever at 10 %: 146 * 1.03 / 0.07
    assert dcf.gordon(146 * 1.03, 0.10, 0.03) == pytest.approx(2148.2857, abs=1e-3)


def test_perpetuity_without_a_finite_value_is_refused():
    with pytest.raises(ValueError, match="not below the rate"):
        dcf.gordon(100, 0.08, 0.08)


def test_value_driver_adds_nothing_when_the_return_is_the_rate():
    assert dcf.value_driver(100, 0.09, 0.03, 0.09) == pytest.approx(dcf.gordon(100, 0.09, 0.0))


def test_h_model_without_extra_growth_is_gordon():
    assert dcf.h_model(100, 0.1, 0.03, 0.03, 5) == pytest.approx(dcf.gordon(103, 0.1, 0.03))


def test_implied_growth_inverts_gordon():
    assert dcf.implied_growth(dcf.gordon(103, 0.1, 0.03), 100, 0.1) == pytest.approx(0.03)


def test_relevering_forms():
    assert dcf.hamada(0.95, 0.2, 0.27) == pytest.approx(1.0887)
    assert dcf.harris_pringle(0.95, 0.2) == pytest.approx(1.14)
    assert dcf.harris_pringle(0.95, 0.2, 0.1) == pytest.approx(1.12)


def test_cost_of_equity_and_weighted_cost():
    assert dcf.capm(0.026, 1.0887, 0.055) == pytest.approx(0.0858785)
    assert dcf.weighted_cost([1 / 1.2, 0.2 / 1.2], [0.0858785, 0.03212]) == pytest.approx(0.07691875)
    assert dcf.debt_share(0.25) == pytest.approx(0.2)


def test_treasury_stock_method_dilutes_in_the_money_only():
    assert dcf.treasury_stock(62.35, 2.4, 31, 38.4) == pytest.approx(62.8125)
    assert dcf.treasury_stock(62.35, 2.4, 40, 38.4) == pytest.approx(62.35)


def test_cumulative_factors_multiply_the_years():
    assert dcf.cumulative_factors([0.1, 0.2]) == pytest.approx((1 / 1.1, 1 / 1.32))


def test_roots_are_all_found_and_poles_are_not():
    assert dcf.roots(lambda x: x * x - 2, -3, 3) == pytest.approx([-(2**0.5), 2**0.5])
    assert dcf.roots(lambda x: 1 / (x - 0.513), 0, 1) == []
    assert dcf.roots(lambda x: None, 0, 1) == []
    # at 0.6, a point of the scan, rounding leaves 1e-15: a root all the same
    assert dcf.roots(lambda x: 40 * x * (1 - x) - 9.6, 0, 0.8) == pytest.approx([0.4, 0.6])


def test_weights_of_a_stub_are_freed_of_the_part_that_counts():
    # 0.75 of the first flow, discounted 0.75 years; the second lies 1.75 years out
    first = 0.75 - math.log(0.75) / math.log(1.1)
    assert dcf.whole_first((first, 1.75, 2.75), 0.1) == (pytest.approx(0.75), 1.75, 2.75)
    middle = 0.375 - math.log(0.75) / math.log(1.1)
    assert dcf.whole_first((middle, 1.25, 2.25), 0.1) == (pytest.approx(0.375), 1.25, 2.25)
    assert dcf.whole_first((1.0, 2.0, 3.0), 0.1) == (1.0, 2.0, 3.0)
    assert dcf.whole_first((3.0, 1.75, 2.75), 0.1) == (3.0, 1.75, 2.75)


def test_exponent_of_a_rounded_present_value_is_the_year_it_stands_for():
    # 100/1.1^2 = 82.64, shown as 83: 1.9548 years
    shown = -math.log(83 / 100) / math.log(1.1)
    assert dcf.unrounded(shown, 0.1, 83, 1.0) == 2.0
    assert dcf.unrounded(shown, 0.1, 83, 0.01) == shown
    assert dcf.unrounded(None, 0.1, 83, 1.0) is None
