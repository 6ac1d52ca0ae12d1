"""Every hostile file is refused or graded in one sentence, in time, and harms nobody but its worker."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from pathlib import Path

import pytest
from hostile.cases import CASES, Case
from hostile.run import outcome

SECONDS = 10
SMALL = [case for case in CASES if case.name in ("mmult", "billion-laughs", "recursion", "corner", "wildcards")]


@pytest.mark.slow
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


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def test_the_parent_stays_as_it_was(tmp_path):
    for case in SMALL:
        outcome(case, tmp_path)
    before, threads = _resident_mib(), threading.active_count()
    for _ in range(2):
        for case in SMALL:
            outcome(case, tmp_path)
    assert _resident_mib() - before < 10
    assert threading.active_count() == threads
    assert not multiprocessing.active_children()


def test_there_are_sixty_and_each_has_a_name():
    assert len({case.name for case in CASES}) == len(CASES) >= 60
