"""Lookups by a fixed key are read as the cell they return; all others stay lookups."""

import pytest
from openpyxl import Workbook

from xlcheck.cells import CellRef
from xlcheck.formula import Call, Ref, walk
from xlcheck.keyed import parse_keyed, single_precedents
from xlcheck.workbook import load


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    made = Workbook()
    sheet = made.active
    sheet.title = "A"
    for row, (key, value) in enumerate([("wacc", 0.09), ("growth", 0.02), ("Cash", 120), ("cash*", 1)], 1):
        sheet.cell(row, 1, key)
        sheet.cell(row, 2, value)
    sheet["D1"], sheet["D2"] = "growth", '="wa"&"cc"'
    sheet["E1"] = '=INDEX(B:B,MATCH("growth",A:A,0))*2'
    path = tmp_path_factory.mktemp("keyed") / "book.xlsx"
    made.save(path)
    return load(path)


def cells(book, formula):
    node = parse_keyed(formula, "A", book, CellRef("A", 9, 9))
    return [str(one.cell) for one in walk(node) if isinstance(one, Ref)], any(
        isinstance(one, Call) for one in walk(node)
    )


@pytest.mark.parametrize(
    "formula",
    [
        '=INDEX(A!$B:$B,MATCH("growth",A!$A:$A,0))',
        '=INDEX(A!$A$1:$B$4,MATCH("GROWTH",A!$A$1:$A$4,FALSE),2)',
        '=VLOOKUP("growth",A!$A:$B,2,FALSE)',
        '=XLOOKUP("growth",A!$A$1:$A$4,A!$B$1:$B$4)',
        "=VLOOKUP(D1,A!$A:$B,2,0)",
    ],
)
def test_exact_lookup_of_a_constant_is_its_cell(book, formula):
    assert cells(book, formula) == (["A!B2"], False)


@pytest.mark.parametrize(
    "formula",
    [
        '=INDEX(A!$B:$B,MATCH("growth",A!$A:$A))',
        '=VLOOKUP("growth",A!$A:$B,2)',
        '=VLOOKUP("cash*",A!$A:$B,2,FALSE)',
        '=VLOOKUP("absent",A!$A:$B,2,FALSE)',
        "=VLOOKUP(D2,A!$A:$B,2,FALSE)",
    ],
)
def test_lookup_that_may_return_another_cell_stays_one(book, formula):
    assert cells(book, formula)[1]


def test_precedents_are_the_cells_found(book):
    assert single_precedents(book, CellRef("A", 1, 5)) == (CellRef("A", 2, 2),)
    assert single_precedents(book, CellRef("A", 2, 4)) is None
