"""What one valuation of a workbook does with a shared cell and the other does otherwise; results cut off from both."""

from __future__ import annotations

import pytest
from two_methods import BACK, EQUITY, NET_DEBT, PER_SHARE, PERPETUITY, PRESENT, SHARES, VALUE, two_methods

from xlcheck.checking import CheckResult
from xlcheck.pipeline import audit

CHECKS = (
    "bridge.signs", "bridge.per-share", "bridge.enterprise-value", "bridge.equity-identity",
    "terminal.discounted-once", "recompute.outputs-are-live", "recompute.no-blank-outputs",
    "recompute.range-coverage", "recompute.no-hidden-drivers", "basis.period-alignment", "fatal.unit-mix",
)  # fmt: skip


def results(tmp_path, changes=None) -> dict[str, CheckResult]:
    return {one.check_id: one for one in audit(two_methods(tmp_path / "nets.xlsx", changes)).results}


def found(tmp_path, check, changes, cell):
    """Return the finding of a check at a cell."""
    result = results(tmp_path, changes)[check]
    here = [finding for finding in result.findings if str(finding.cell) == f"Valuation!{cell}"]
    assert here, (result.status, result.reason, result.findings)
    return here[0]


def test_two_methods_that_agree_are_not_accused(tmp_path):
    said = results(tmp_path)
    assert {check: said[check].findings for check in CHECKS if said[check].findings} == {}


def test_net_cash_that_one_method_deducts_is_found_by_the_other(tmp_path):
    finding = found(tmp_path, "bridge.signs", {"C20": "=C19+B5"}, "C20")
    assert finding.found == pytest.approx(VALUE + NET_DEBT)
    assert finding.expected == pytest.approx(EQUITY)


@pytest.mark.parametrize("lost", ["/1000", "*1000", "*AB70"])
def test_value_per_share_with_a_factor_of_its_own_is_found(lost, tmp_path):
    finding = found(tmp_path, "bridge.per-share", {"C21": f"=(C20/B6){lost}", "AB70": 0.93}, "C21")
    assert finding.expected == pytest.approx(PER_SHARE)


def test_enterprise_value_that_leaves_its_terminal_value_out_is_found(tmp_path):
    finding = found(tmp_path, "bridge.enterprise-value", {"C19": "=C16"}, "C19")
    assert finding.found == pytest.approx(PRESENT)
    assert finding.expected == pytest.approx(PRESENT + PERPETUITY * BACK)


def test_terminal_value_that_a_summary_brings_back_otherwise_is_found(tmp_path):
    # the second method repeats the perpetuity and discounts it twice
    changes = {"A24": "Valuation by perpetuity, summary", "C26": "=C17", "C27": "=C26*G12*G12"}
    said = results(tmp_path, changes)["terminal.discounted-once"]
    here = [finding for finding in said.findings if str(finding.cell) == "Valuation!C27"]
    assert here
    assert here[0].expected == pytest.approx(PERPETUITY * BACK)


@pytest.mark.parametrize(
    ("cell", "typed", "right"),
    [("C19", round(VALUE, 2), VALUE), ("C20", round(EQUITY, 2), EQUITY), ("C21", round(PER_SHARE, 4), PER_SHARE)],
)
def test_result_typed_beside_its_live_parts_is_found(cell, typed, right, tmp_path):
    finding = found(tmp_path, "recompute.outputs-are-live", {cell: typed}, cell)
    assert finding.found == typed
    if not isinstance(finding.expected, str):
        assert finding.expected == pytest.approx(right)


def test_typed_number_that_is_no_total_of_what_stands_above_is_left_alone(tmp_path):
    changes = {"A33": "Enterprise value of a peer", "C33": 2145.7, "A34": "Equity value of a peer", "C34": 1990.2}
    assert results(tmp_path, changes)["recompute.outputs-are-live"].status == "pass"


def test_emptied_value_per_share_is_found_beside_the_count_that_nothing_reads(tmp_path):
    finding = found(tmp_path, "recompute.no-blank-outputs", {"C21": None, "C30": "=C29/125"}, "C21")
    assert finding.found is None


def test_sum_that_stops_before_the_last_counted_year_is_found(tmp_path):
    finding = found(tmp_path, "recompute.range-coverage", {"C16": "=SUM(C13:F13)", "C25": "=SUM(C13:F13)"}, "C16")
    assert finding.expected == "a range that includes G13"


def test_last_present_value_at_the_factor_of_the_year_before_is_found(tmp_path):
    finding = found(tmp_path, "basis.period-alignment", {"G13": "=G10*F12"}, "G13")
    assert "beside its own" in finding.message


def test_driver_far_off_the_page_is_found_and_a_labelled_one_is_not(tmp_path):
    changes = {"C21": "=C20/B6*AB70", "AB70": 0.93}
    assert found(tmp_path, "recompute.no-hidden-drivers", changes, "AB70").found == 0.93
    labelled = changes | {"AA70": "Discount for lack of liquidity"}
    assert results(tmp_path, labelled)["recompute.no-hidden-drivers"].status == "pass"


def test_count_of_a_thousand_times_the_twin_is_found(tmp_path):
    changes = {"A7": "Shares outstanding (exit)", "B7": SHARES * 1000, "C30": "=C29/B7", "C26": "=C17"}
    said = results(tmp_path, changes)["bridge.per-share"]
    assert [str(finding.cell) for finding in said.findings] == ["Valuation!B7"]
    assert said.findings[0].expected == SHARES
