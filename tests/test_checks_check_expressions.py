"""A model's own check of which one side is worked out in the check cell itself."""

import pytest
from checking_helper import audit, write

CELLS = {
    "R!A1": "Worth of one point of margin", "R!B1": 5000.0,
    "R!A2": "Everything else", "R!B2": 100.0,
    "R!A3": "Margin", "R!B3": 0.12,
    "R!A4": "Value per share", "R!B4": 70.0,
    "R!A5": "Check: value at the margin less value per share", "R!B5": "=(B2+B1*B3)/10-B4",
}  # fmt: skip


@pytest.mark.parametrize(("stated", "gap"), [(70.0, None), (70.01, None), (66.0, 4.0)])
def test_difference_of_an_expression_is_one_beyond_a_thousandth(tmp_path, stated, gap):
    found = audit(write(tmp_path, CELLS | {"R!B4": stated}), {}, ["recompute.check-cells"])["recompute.check-cells"]
    assert [finding.found for finding in found.findings] == ([] if gap is None else [pytest.approx(gap)])
