"""What differs between two versions of a workbook, wherever its rows, columns and sheets stand now."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import Workbook

from xlcheck.cells import CellRef
from xlcheck.diff import Alignment, align, changes
from xlcheck.graph import build_graph
from xlcheck.recompute import Recalc, recompute
from xlcheck.workbook import load

YEARS = ["", "2025", 2026, "=C1+1", "=D1+1"]
ROWS = [
    YEARS,
    ["Fares", 10, 11, 12, 13],
    ["Passengers", 5, 6, 7, 8],
    ["Receipts", "=B2*B3", "=C2*C3", "=D2*D3", "=E2*E3"],
    ["Fuel", 1, 1, 2, 2],
    ["Margin", "=B4-B5", "=C4-C5", "=D4-D5", "=E4-E5"],
]


def book(folder: Path, name: str, rows: list[list[object]], title: str = "Ferry") -> Recalc:
    workbook = Workbook()
    sheet = workbook.active
    sheet.title = title
    for row in rows:
        sheet.append(row)
    workbook.save(folder / f"{name}.xlsx")
    return recompute(load(folder / f"{name}.xlsx"))


def cell(text: str, sheet: str = "Ferry") -> CellRef:
    return CellRef.parse(f"{sheet}!{text}")


def differing(first: Recalc, second: Recalc) -> list[tuple[str, str, str]]:
    found = changes(build_graph(first.book), build_graph(second.book), align(first, second))
    return [(one.kind, str(one.before), str(one.after)) for one in found]


def moved_down(rows: list[list[object]]) -> list[list[object]]:
    """Insert a row of ferries' names below the years; every reference below moves with it."""
    shifted = {"2": "3", "3": "4", "4": "5", "5": "6"}
    lower = [
        [
            "".join(shifted.get(sign, sign) for sign in part) if isinstance(part, str) and part[:1] == "=" else part
            for part in row
        ]
        for row in rows[1:]
    ]
    return [rows[0], ["Ship", "a", "b", "c", "d"], *lower]


def test_nothing_differs_between_two_of_a_kind(tmp_path):
    assert differing(book(tmp_path, "a", ROWS), book(tmp_path, "b", ROWS)) == []


def test_inputs_pasted_formulas_and_other_formulas_are_told_apart(tmp_path):
    rows = [list(row) for row in ROWS]
    rows[1][2] = 11.5
    rows[3][3] = 84
    rows[5][4] = "=E4-E5*2"
    assert differing(book(tmp_path, "a", ROWS), book(tmp_path, "b", rows)) == [
        ("input", "Ferry!C2", "Ferry!C2"), ("overwritten", "Ferry!D4", "Ferry!D4"), ("formula", "Ferry!E6", "Ferry!E6"),
    ]  # fmt: skip


def test_absolute_marks_and_spaces_are_no_difference(tmp_path):
    rows = [list(row) for row in ROWS]
    rows[3][3] = "= $D$2 * D3"
    assert differing(book(tmp_path, "a", ROWS), book(tmp_path, "b", rows)) == []


def test_an_inserted_row_is_no_difference(tmp_path):
    first, second = book(tmp_path, "a", ROWS), book(tmp_path, "b", moved_down(ROWS))
    assert align(first, second).after(cell("D4")) == cell("D5")
    assert differing(first, second) == []


def test_a_change_below_an_inserted_row_is_found_where_it_stands_now(tmp_path):
    rows = [list(row) for row in ROWS]
    rows[4][1] = 3
    rows[5][2] = "=C4-C5-C5"
    first, second = book(tmp_path, "a", ROWS), book(tmp_path, "b", moved_down(rows))
    assert differing(first, second) == [("input", "Ferry!B5", "Ferry!B6"), ("formula", "Ferry!C6", "Ferry!C7")]


def test_a_row_moved_to_another_place_takes_the_rest_along(tmp_path):
    """One row added above and one dropped below: as many rows as before, none where it was."""
    first = book(tmp_path, "a", ROWS)
    rows = [["Second round", None, None, None, None], *[list(row) for row in ROWS[:3]]]
    second = book(tmp_path, "b", [*rows, ROWS[4], ROWS[1]])
    assert align(first, second).after(cell("B3")) == cell("B4")
    assert align(first, second).after(cell("B5")) == cell("B5")


def test_a_column_inserted_before_the_years_is_seen_by_the_years(tmp_path):
    """The years of the second version stand one column further right, as formulas that count on."""
    first = book(tmp_path, "a", ROWS)
    right = {"B": "C", "C": "D", "D": "E", "E": "F"}
    wide = [
        [row[0], None, *("".join(right.get(x, x) for x in part) if str(part)[:1] == "=" else part for part in row[1:])]
        for row in ROWS
    ]
    second = book(tmp_path, "b", wide)
    found = align(first, second)
    assert [found.after(cell(f"{letter}2")) for letter in "CDE"] == [cell(f"{letter}2") for letter in "DEF"]


def test_a_renamed_sheet_is_known_by_its_texts(tmp_path):
    rows = [list(row) for row in ROWS]
    rows[1][1] = 9
    first, second = book(tmp_path, "a", ROWS), book(tmp_path, "b", rows, "Ferry v2")
    assert align(first, second).after(cell("B2")) == cell("B2", "Ferry v2")
    assert differing(first, second) == [("input", "Ferry!B2", "Ferry v2!B2")]


@pytest.mark.parametrize("title", ["Ferry", "Other"])
def test_cells_of_a_sheet_that_is_gone_have_no_place(title, tmp_path):
    first, second = book(tmp_path, "a", ROWS), book(tmp_path, "b", [["nothing", 1]], title)
    found = align(first, second)
    assert found.after(cell("D6")) is None
    assert isinstance(found, Alignment)
