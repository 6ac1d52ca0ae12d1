"""Every hostile file is refused or graded in one sentence, in time, and harms nobody but its worker."""

from __future__ import annotations

import json
import resource
import time

import pytest
from hostile.cases import CASES, Case
from hostile.run import ALLOWANCE, outcome

SECONDS = 10


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_hostile_file_is_answered_in_one_sentence(case: Case, tmp_path):
    begun = time.monotonic()
    found = outcome(case, tmp_path)
    assert found.seconds <= SECONDS + 2
    assert time.monotonic() - begun < 3 * SECONDS
    assert found.sentence
    assert "\n" not in found.sentence
    assert "Traceback" not in found.sentence
    if case.refusal is not None:
        assert found.kind == "refused"
        assert case.refusal in found.sentence
    else:
        assert found.kind in ("graded", "ended")
