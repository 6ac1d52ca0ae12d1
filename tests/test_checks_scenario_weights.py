"""A value called probability-weighted that ignores the probabilities beside it."""

import pytest
from checking_helper import audit, write

CELLS = {
    "S!A1": "Scenario", "S!B1": ["Probability", "Value per share"],
    "S!A2": "Bear", "S!B2": [0.2, 10.0],
    "S!A3": "Base", "S!B3": [0.5, 16.0],
    "S!A4": "Bull", "S!B4": [0.3, 30.0],
    "S!A5": "Probability-weighted value", "S!C5": "=SUMPRODUCT(B2:B4,C2:C4)",
    "S!A6": "Mean of the cases", "S!C6": "=AVERAGE(C2:C4)",
}  # fmt: skip


def result(tmp_path, changes):
    return audit(write(tmp_path, CELLS | changes), {}, ["scenario.weighted-value"])["scenario.weighted-value"]


def test_sum_product_is_right_and_a_plain_mean_is_not_called_weighted(tmp_path):
    assert result(tmp_path, {}).status == "pass"


@pytest.mark.parametrize("formula", ["=AVERAGE(C2:C4)", "=(C2+C3+C4)/3"])
def test_plain_mean_under_the_name_of_weighted_is_found(tmp_path, formula):
    finding = result(tmp_path, {"S!C5": formula}).findings[0]
    assert (str(finding.cell), finding.expected) == ("S!C5", pytest.approx(19.0))


def test_mean_of_equal_weights_is_weighted(tmp_path):
    equal = {f"S!B{row}": 1 / 3 for row in (2, 3, 4)}
    cells = equal | {"S!C2": 10.0, "S!C3": 16.0, "S!C4": 30.0, "S!C5": "=AVERAGE(C2:C4)"}
    assert result(tmp_path, cells).findings == ()


FOURTH = {"S!B2": 0.2, "S!B3": 0.4, "S!B4": 0.25, "S!A5": "Break-up", "S!B5": [0.15, 40.0],
          "S!A6": "Probability-weighted value", "S!C6": "=SUMPRODUCT(B2:B5,C2:C5)"}  # fmt: skip


@pytest.mark.parametrize(("last", "total"), [(0.15, None), (0.25, 1.1)])
def test_case_of_no_usual_name_counts_until_probabilities_are_whole(tmp_path, last, total):
    cells = CELLS | FOURTH | {"S!B5": [last, 40.0], "S!C2": 10.0, "S!C3": 16.0, "S!C4": 30.0}
    checks = ["scenario.weighted-value", "scenario.probabilities-sum-to-one"]
    found = audit(write(tmp_path, cells), {}, checks)
    assert found["scenario.weighted-value"].findings == ()
    sums = [finding.found for finding in found["scenario.probabilities-sum-to-one"].findings]
    assert sums == ([] if total is None else [pytest.approx(total)])


def test_recession_is_a_low_case_and_any_name_may_follow(tmp_path):
    names = {"S!A2": "Recession", "S!A3": "Base", "S!A4": "Efficiency"}
    wrong = result(tmp_path, names | {"S!C5": "=AVERAGE(C2:C4)"})
    assert wrong.findings[0].expected == pytest.approx(19.0)
