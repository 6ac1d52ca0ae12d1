"""The value per share that a repaired cell gives, worked out by hand."""

import dataclasses

import pytest
from checking_helper import bound, write

from xlcheck.cells import CellRef
from xlcheck.checking import CheckResult, Finding
from xlcheck.effects import MOST, with_effects
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


class EnginePanicError(BaseException):
    """As engines written in Rust raise it: no Exception."""


def repaired_by(tmp_path, what_if, count):
    recalc = dataclasses.replace(recompute(load(write(tmp_path, CELLS))), what_if_cells=what_if)
    roles = bound(recalc, {"value_per_share": "E!B5"}, {}, None)
    findings = (Finding(message="m", cell=CellRef.parse("E!B3"), found=1300.0, expected=700.0),) * count
    result = CheckResult(check_id="bridge.signs", severity="scored", status="fail", credit=None, findings=findings)
    return [finding.effect for finding in with_effects([result], recalc, roles)[0].findings]


def test_engine_that_panics_leaves_the_finding_without_effect(tmp_path):
    def panics(changes, outputs):
        raise EnginePanicError

    assert repaired_by(tmp_path, panics, 1) == [None]


def test_repairs_beyond_the_bound_are_not_worked_out(tmp_path):
    effects = repaired_by(tmp_path, lambda changes, outputs: dict.fromkeys(outputs, 14.0), MOST + 5)
    assert [effect.repaired for effect in effects[:MOST]] == [14.0] * MOST
    assert effects[MOST:] == [None] * 5
