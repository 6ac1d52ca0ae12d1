"""A short budget of the fuzzer; the long run's figures stand in docs/security.md."""

from __future__ import annotations

import pytest
from fuzz.run import ALONE, outcomes

TRIALS = 120


@pytest.mark.parametrize("first", range(0, TRIALS, 20))
def test_changed_inputs_are_graded_or_refused(first):
    found = outcomes(first, first + 20, ALONE)
    assert set(found) <= {"graded", "refused"}, found
    assert sum(map(len, found.values())) == 20
