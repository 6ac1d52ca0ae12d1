"""Recomputation on the shared workbooks: real ones, and small ones with values worked out by hand."""

import dataclasses
import json
import random
import runpy
from pathlib import Path

import pytest

from xlcheck.cells import CellRef, as_number
from xlcheck.engines import Unsolved
from xlcheck.errors import SubmissionError
from xlcheck.graph import build_graph
from xlcheck.recompute import recompute
from xlcheck.workbook import load

SHARED = Path(__file__).parents[2] / "shared"
CASES, CORPUS = SHARED / "cases", SHARED / "corpus"
needs_shared = pytest.mark.skipif(not CASES.is_dir(), reason="../shared is absent")


def cases():
    if not CASES.is_dir():
        return []
    lines = (CASES / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["recomputed"] and case["kind"] != "security"]


def models():
    """The workbooks that people use, without the test books of engines and the damaged ones."""
    files = sorted((CORPUS / "files").glob("*.xls[xm]")) if CORPUS.is_dir() else []
    return [path for path in files if not any(kind in path.name for kind in ("_eng_", "_poi_", "_odd_"))]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_case_gives_the_values_worked_out_for_it(case):
    book = load(CASES / case["file"])
    recalc = recompute(book)
    near = 1e-3 if book.calc.iterate else 2e-7
    for where, expected in case["recomputed"].items():
        value = recalc.value(CellRef.parse(where))
        if as_number(expected) is None:
            assert str(value) == str(expected), where
        else:
            assert value == pytest.approx(expected, rel=near, abs=near), where


@needs_shared
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_stored_values_do_not_reach_the_recalculation_of_cases(tmp_path):
    poison = runpy.run_path(str(CASES / "poison.py"))["main"]
    poison(CASES / "files", tmp_path)
    compared = 0
    for path in sorted((CASES / "files").glob("*.xlsx")):
        try:
            clean, poisoned = load(path), load(tmp_path / path.name)
        except SubmissionError:
            continue
        one, other = recompute(clean).values, recompute(poisoned).values
        for ref, value in one.items():
            compared += 1
            if isinstance(value, Unsolved):
                assert isinstance(other[ref], Unsolved), f"{path.name} {ref}"
            elif (number := as_number(value)) is not None:
                assert other[ref] == pytest.approx(number, rel=1e-9, abs=1e-9), f"{path.name} {ref}"
            else:
                assert other[ref] == value, f"{path.name} {ref}"
    assert compared > 1000


@pytest.mark.slow
@pytest.mark.parametrize("path", models(), ids=lambda path: path.name[:3])
def test_local_check_covers_a_real_workbook_and_accuses_nothing(path):
    verdicts = recompute(load(path)).verdicts
    stale = [ref for ref, verdict in verdicts.items() if verdict.status == "stale"]
    unsolved = [ref for ref, verdict in verdicts.items() if verdict.status == "unsolved"]
    assert stale == []
    assert len(unsolved) <= max(6, 0.02 * len(verdicts))


@needs_shared
@pytest.mark.slow
def test_seeded_forgeries_are_found_at_their_cell_and_nowhere_else():
    draw = random.Random(20260331)
    paths = [path for path in models() if path.stat().st_size < 60_000]
    found = tried = 0
    while tried < 30:
        book = load(draw.choice(paths))
        cells = [cell for cell in book.formula_cells() if as_number(cell.stored) is not None]
        if not cells:
            continue
        tried += 1
        forged = draw.choice(cells)
        value = forged.stored * 1.01 + 1.0
        copy = with_stored(book, forged.ref, value)
        recalc = dataclasses.replace(recompute(copy), graph=build_graph(copy))
        stale = {ref for ref, verdict in recalc.verdicts.items() if verdict.status == "stale"}
        assert stale <= {forged.ref}
        found += stale == {forged.ref}
    assert found >= 29


def with_stored(book, ref, value):
    """The book with one stored value replaced."""
    own = book.sheet(ref.sheet)
    cells = dict(own.cells)
    cells[ref.row, ref.column] = dataclasses.replace(cells[ref.row, ref.column], stored=value)
    changed = dataclasses.replace(own, cells=cells)
    return dataclasses.replace(book, sheets=tuple(changed if sheet is own else sheet for sheet in book.sheets))
