"""The value per share that a repaired cell gives, worked out by hand."""

import pytest
from checking_helper import bound, write

from xlcheck.cells import CellRef
from xlcheck.checking import CheckResult, Finding
from xlcheck.effects import with_effects
from xlcheck.recompute import recompute
from xlcheck.workbook import load

CELLS = {"E!B1": 1000.0, "E!B2": 300.0, "E!B3": "=B1+B2", "E!B4": 50.0, "E!B5": "=B3/B4", "E!B9": 7.0}


def effect_of(tmp_path, cell, found, expected):
    recalc = recompute(load(write(tmp_path, CELLS)))
    roles = bound(recalc, {"value_per_share": "E!B5"}, {}, None)
    finding = Finding(message="m", cell=CellRef.parse(cell), found=found, expected=expected)
    result = CheckResult(check_id="bridge.signs", severity="scored", status="fail", credit=None, findings=(finding,))
    return with_effects([result], recalc, roles)[0].findings[0].effect


def test_repaired_equity_gives_its_value_per_share(tmp_path):
    effect = effect_of(tmp_path, "E!B3", 1300.0, 700.0)
    assert (effect.role, effect.stated, effect.repaired) == ("value_per_share", 26.0, pytest.approx(14.0))


def test_repaired_output_is_its_own_effect(tmp_path):
    assert effect_of(tmp_path, "E!B5", 26.0, 14.0).repaired == 14.0


def test_cell_that_feeds_nothing_moves_nothing(tmp_path):
    assert effect_of(tmp_path, "E!B9", 7.0, 8.0).repaired == 26.0


@pytest.mark.parametrize(("found", "expected"), [(0.0, 1.0), (1300.0, None), (1300.0, "a formula")])
def test_finding_that_is_no_repair_of_its_cell_has_no_effect(found, expected, tmp_path):
    assert effect_of(tmp_path, "E!B3", found, expected) is None
