"""Numbers inside formulas."""

from xlcheck.checks.literals import buried_literals
from xlcheck.formula import parse


def test_a_number_beyond_what_a_cell_holds_is_a_literal_like_any_other():
    node = parse("=A1+1E308*10", "S")
    assert node is not None
    assert len(list(buried_literals(node))) == 1
