"""What the engine refuses of a hostile model is left unsolved; the rest of the workbook is graded."""

from __future__ import annotations

import pytest
from handmade import area, ref
from hostile.cases import CASES

from xlcheck.engines import Clock, Unsolved
from xlcheck.engines import cellrune as primary
from xlcheck.engines.package import Draft, Formula, write_package
from xlcheck.intake import check_package
from xlcheck.reading.book import read_book
from xlcheck.recompute import recompute
from xlcheck.workbook import Book, Table


def book_of(name: str) -> Book:
    (case,) = (case for case in CASES if case.name == name)
    return read_book(check_package(case.build(), f"{name}.xlsx"))


@pytest.mark.parametrize("name", ["table-header", "table-at-the-edge"])
def test_a_change_that_the_engine_refuses_is_no_end_of_the_run(name):
    recalc = recompute(book_of(name))
    assert any(isinstance(value, Unsolved) for value in recalc.values.values())


def test_a_refused_change_leaves_the_outputs_unsolved_and_the_session_as_it_was():
    cells = {(1, 1): "a", (2, 1): 2.0, (3, 1): Formula("=A2*2")}
    table = Table("T", area("A1:A2"), ("a",), 1, 0)
    session = primary.CellruneSession(write_package(Draft({"M": cells}, tables=(table,))), Clock())
    refused = session.what_if({ref("A1"): 1.0}, [ref("A3")])[ref("A3")]
    assert isinstance(refused, Unsolved)
    assert "header" in (refused.detail or "")
    assert session.what_if({ref("A2"): 5.0}, [ref("A3")]) == {ref("A3"): 10.0}
