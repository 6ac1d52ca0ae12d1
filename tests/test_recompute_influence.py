"""Elasticities by moving inputs; expected values from the closed form of the small model."""

import pytest
from handmade import book, ref

from xlcheck.influence import influence, numeric_inputs
from xlcheck.recompute import recompute

GORDON = {"A1": 100, "A2": 0.1, "A3": 0.02, "A4": 5, "A5": "=A1*(1+A3)/(A2-A3)", "A6": 7, "A7": "=A5+0*A4"}


def effects(output="A7"):
    recalc = recompute(book(GORDON))
    return {one.input.address: one for one in influence(recalc, ref(output))}


def test_cash_flow_has_elasticity_one():
    assert effects()["A1"].elasticity == pytest.approx(1.0)


def test_rate_moves_value_down():
    # V(0.101) / V(0.1) = 0.08 / 0.081
    assert effects()["A2"].elasticity == pytest.approx((0.08 / 0.081 - 1) * 100)


def test_growth_moves_value_up():
    moved = 1.0202 / (0.1 - 0.0202) / (1.02 / 0.08)
    assert effects()["A3"].elasticity == pytest.approx((moved - 1) * 100)


def test_strongest_input_comes_first():
    recalc = recompute(book(GORDON))
    assert [one.input.address for one in influence(recalc, ref("A7"))] == ["A2", "A1", "A3", "A4"]


def test_input_multiplied_by_zero_is_dead():
    assert effects()["A4"].dead
    assert not effects()["A1"].dead


def test_inputs_are_the_typed_numbers_behind_the_output():
    recalc = recompute(book(GORDON))
    assert [one.address for one in numeric_inputs(recalc, [ref("A5")])] == ["A1", "A2", "A3"]


def test_output_that_is_no_number_has_no_influences():
    recalc = recompute(book({"A1": 0, "A2": "=1/A1"}))
    assert influence(recalc, ref("A2")) == []


def test_input_of_zero_has_no_elasticity_but_is_not_dead():
    recalc = recompute(book({"A1": 0, "A2": "=A1+5"}))
    (one,) = influence(recalc, ref("A2"))
    assert one.elasticity is None
    assert not one.dead
