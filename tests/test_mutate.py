"""Planting faults: the edits themselves, and the kill matrix of a clean invented model."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest
from planted import clean_model

from xlcheck.cells import CellRef
from xlcheck.errors import UsageError
from xlcheck.mutate import matrix_text, mutate, write_mutants
from xlcheck.mutation.edits import edited, sign_flipped, with_reference, without_term, written
from xlcheck.mutation.matrix import KillMatrix
from xlcheck.mutation.subject import OPERATORS, fault
from xlcheck.recompute import recompute
from xlcheck.workbook import load

B9 = CellRef("DCF", 9, 2)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("=B7-B9+B10", "=B7+B9+B10"),
        ("=B7+B9", "=B7-B9"),
        ("=B9-B7", "=-B9-B7"),
        ("=B7 - $B$9", "=B7 + $B$9"),
        ("=B7+DCF!B9", "=B7-DCF!B9"),
        ("=SUM(B7:B9)", None),
        ("=B7*B9", None),
        ("=B7-Other!B9", None),
    ],
)
def test_sign_is_turned_round_only_in_a_plain_sum(formula: str, expected: str | None) -> None:
    assert sign_flipped(formula, B9, "DCF") == expected


@pytest.mark.parametrize(
    ("formula", "expected"),
    [("=B7-B9+B10", "=B7+B10"), ("=B7-B9*2", None), ("=B9+B7", None), ("=B7+B90", None)],
)
def test_a_term_is_dropped_with_its_sign(formula: str, expected: str | None) -> None:
    assert without_term(formula, B9, "DCF") == expected


def test_a_reference_is_written_as_its_formula_needs_it() -> None:
    assert with_reference("=B7/B9", B9, CellRef("Cash flow", 1, 27), "DCF") == "=B7/'Cash flow'!AA1"
    assert written(CellRef("RC1", 1, 1), "DCF") == "'RC1'!A1"
    assert written(CellRef("O'Hara", 1, 1), "DCF") == "'O''Hara'!A1"
    assert written(CellRef("资产", 1, 1), "DCF") == "资产!A1"


def test_an_edited_book_recomputes_from_its_new_content(tmp_path: Path) -> None:
    model = clean_model()
    book = load(model.save(tmp_path / "model.xlsx"))
    before = recompute(book).number(CellRef.parse(model.cell("equity_value")))
    cash = CellRef.parse(model.cell("cash"))
    stored = book.get(cash)
    assert stored is not None
    after = recompute(edited(book, {cash: float(stored.stored) + 5.0})).number(
        CellRef.parse(model.cell("equity_value"))
    )  # type: ignore[arg-type]
    assert before is not None
    assert after == pytest.approx(before + 5.0)


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> KillMatrix:
    return mutate(clean_model().save(tmp_path_factory.mktemp("mutants") / "model.xlsx"))


def test_there_are_at_least_forty_operators_and_the_clean_model_takes_most() -> None:
    assert len(OPERATORS) >= 40


def test_nineteen_of_twenty_faults_in_the_clean_model_are_noticed(matrix: KillMatrix) -> None:
    assert matrix.decided >= 40
    assert matrix.killed >= 0.95 * matrix.decided, matrix_text(matrix)


def test_a_killed_fault_is_noticed_by_a_check_made_for_it(matrix: KillMatrix) -> None:
    for mutant in matrix.mutants:
        assert set(mutant.killed_by) <= set(mutant.expected)
        assert (mutant.fate == "killed") == bool(mutant.killed_by)


def test_survivors_come_first_and_the_table_names_each_operator(matrix: KillMatrix) -> None:
    fates = [mutant.fate for mutant in matrix.mutants]
    assert fates == sorted(fates, key=["survived", "killed", "equivalent"].index)
    text = matrix_text(matrix)
    assert all(name in text for name in OPERATORS)


def test_faulty_workbooks_are_written_recalculated_and_never_over_something(tmp_path: Path) -> None:
    model = clean_model()
    path = model.save(tmp_path / "model.xlsx")
    cash, equity = CellRef.parse(model.cell("cash")), CellRef.parse(model.cell("equity_value"))
    value = recompute(load(path)).number(equity)
    before = path.read_bytes()
    write_mutants(path, tmp_path / "out", {"no-cash": fault("bridge.signs", cash, 0.0)})
    assert path.read_bytes() == before
    written_book = openpyxl.load_workbook(tmp_path / "out" / "no-cash.xlsx", data_only=True)
    stored = load(path).get(cash)
    assert stored is not None
    assert value is not None
    assert written_book[equity.sheet][equity.address].value == pytest.approx(value - float(stored.stored))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="holds something"):
        write_mutants(path, tmp_path / "out", {})
