"""Precedents, dependents and influence, on small sheets worked by hand and on large ones by time."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlcheck.cells import CellRef, RangeRef, Scalar
from xlcheck.graph import Graph, build_graph
from xlcheck.reading.intervals import Intervals
from xlcheck.workbook import Book, Cell, DataTable, DefinedName, Sheet


def book(cells: Mapping[str, str | float | Cell], names: tuple[DefinedName, ...] = ()) -> Book:
    """A book from addresses to formulas (``=…``) or constants."""
    sheets: dict[str, dict[tuple[int, int], Cell]] = {}
    for address, content in cells.items():
        ref = CellRef.parse(address)
        if isinstance(content, Cell):
            cell = content
        elif isinstance(content, str) and content.startswith("="):
            cell = Cell(ref, content, 0.0)
        else:
            stored: Scalar = content
            cell = Cell(ref, None, stored)
        sheets.setdefault(ref.sheet, {})[ref.row, ref.column] = cell
    return Book("m.xlsx", "", tuple(Sheet(name, "visible", content) for name, content in sheets.items()), names)


def texts(refs: tuple[CellRef, ...] | frozenset[CellRef]) -> list[str]:
    return [str(ref) for ref in refs]


@pytest.fixture
def model() -> Graph:
    return build_graph(
        book(
            {
                "I!B1": 0.09,
                "I!B2": 0.02,
                "I!B3": "label",
                "D!C1": 100.0,
                "D!D1": "=C1*(1+I!B2)",
                "D!E1": "=D1*(1+I!B2)",
                "D!C2": "=SUM(C1:E1)",
                "D!C3": "=NPV(rate,C1:E1)+C2",
                "D!C4": "=+D!C3",
                "D!C5": "=C4",
                "D!C6": "=OFFSET(C1,0,1)",
                "D!C7": "=SUM(A:E)",
            },
            (DefinedName("rate", None, "I!$B$1"),),
        )
    )


def test_precedents_are_the_non_blank_cells_in_the_order_of_the_formula(model: Graph) -> None:
    assert texts(model.precedents(CellRef.parse("D!C3"))) == ["I!B1", "D!C1", "D!D1", "D!E1", "D!C2"]
    assert model.precedents(CellRef.parse("D!C1")) == ()
    assert model.precedents(CellRef.parse("D!Z99")) == ()


def test_ranges_are_kept_as_ranges(model: Graph) -> None:
    assert model.reads[CellRef.parse("D!C2")] == (RangeRef.parse("D!C1:E1"),)
    assert CellRef.parse("D!C1") not in model.reads
    assert len(model.reads) == len(list(model.reads)) == 8


def test_dependents_read_the_cell_directly(model: Graph) -> None:
    assert texts(model.dependents(CellRef.parse("I!B1"))) == ["D!C3"]
    assert set(texts(model.dependents(CellRef.parse("D!D1")))) == {"D!E1", "D!C2", "D!C3", "D!C7"}
    assert model.dependents(CellRef.parse("I!B3")) == ()


def test_ancestors_and_descendants_go_all_the_way(model: Graph) -> None:
    assert set(texts(model.ancestors([CellRef.parse("D!C2")]))) == {"D!C2", "D!C1", "D!D1", "D!E1", "I!B2"}
    assert set(texts(model.descendants([CellRef.parse("I!B1")]))) == {"I!B1", "D!C3", "D!C4", "D!C5", "D!C7"}


def test_links_are_followed_to_their_end_and_loops_of_links_stop(model: Graph) -> None:
    assert str(model.pure_link(CellRef.parse("D!C5"))) == "D!C3"
    assert str(model.pure_link(CellRef.parse("I!B1"))) == "I!B1"
    loop = build_graph(book({"S!A1": "=A2", "S!A2": "=A3", "S!A3": "=A1"}))
    assert str(loop.pure_link(CellRef.parse("S!A1"))) in {"S!A2", "S!A3"}


def test_computed_references_are_marked(model: Graph) -> None:
    assert texts(model.dynamic) == ["D!C6"]


def test_a_loop_ends() -> None:
    graph = build_graph(book({"S!A1": "=A2+1", "S!A2": "=A1*2", "S!A3": "=A2"}))
    assert texts(tuple(sorted(graph.ancestors([CellRef.parse("S!A3")])))) == ["S!A1", "S!A2", "S!A3"]
    assert texts(tuple(sorted(graph.descendants([CellRef.parse("S!A1")])))) == ["S!A1", "S!A2", "S!A3"]


def test_data_table_cells_read_their_corner_axes_and_inputs() -> None:
    table = DataTable(RangeRef.parse("S!C3:D4"), CellRef.parse("S!A1"), CellRef.parse("S!A2"))
    graph = build_graph(
        book(
            {
                "S!A1": 1.0,
                "S!A2": 2.0,
                "S!B2": "=A1+A2",
                "S!C2": 1.0,
                "S!D2": 2.0,
                "S!B3": 1.0,
                "S!B4": 2.0,
                "S!C3": Cell(CellRef.parse("S!C3"), None, 2.0, data_table=table),
                "S!D4": 4.0,
            }
        )
    )
    assert texts(graph.precedents(CellRef.parse("S!D4"))) == ["S!B2", "S!D2", "S!A1", "S!B4", "S!A2"]
    assert "S!D4" in texts(graph.descendants([CellRef.parse("S!B2")]))


def test_one_way_tables_read_the_formula_beside_or_above_them() -> None:
    by_column = DataTable(RangeRef.parse("S!C3:D4"), None, CellRef.parse("S!A1"))
    by_row = DataTable(RangeRef.parse("S!C13:D14"), CellRef.parse("S!A1"), None)
    cells = {f"S!{letter}{number}": 1.0 for letter in "ABCD" for number in (1, 2, 3, 4, 12, 13, 14)}
    graph = build_graph(
        book(
            cells
            | {
                "S!C3": Cell(CellRef.parse("S!C3"), None, 2.0, data_table=by_column),
                "S!C13": Cell(CellRef.parse("S!C13"), None, 2.0, data_table=by_row),
            }
        )
    )
    assert texts(graph.precedents(CellRef.parse("S!D4"))) == ["S!D2", "S!B4", "S!A1"]
    assert texts(graph.precedents(CellRef.parse("S!D14"))) == ["S!B14", "S!D12", "S!A1"]


def test_cells_filled_by_an_array_formula_read_its_first_cell() -> None:
    first = Cell(CellRef.parse("S!B1"), "=A1:A3*2", 2.0, array=RangeRef.parse("S!B1:B3"))
    graph = build_graph(book({"S!A1": 1.0, "S!A2": 1.0, "S!A3": 1.0, "S!B1": first, "S!B2": 2.0, "S!B3": 2.0}))
    assert texts(graph.precedents(CellRef.parse("S!B3"))) == ["S!B1"]
    assert "S!B3" in texts(graph.descendants([CellRef.parse("S!A2")]))


def test_a_chain_of_100000_cells_is_walked_in_seconds() -> None:
    last = 100_000
    cells = {
        (row, 1): Cell(CellRef("S", row, 1), f"=A{row - 1}+1" if row > 1 else None, 1.0) for row in range(1, last + 1)
    }
    graph = build_graph(Book("m.xlsx", "", (Sheet("S", "visible", cells),)))
    start = time.process_time()
    assert len(graph.ancestors([CellRef("S", last, 1)])) == last
    assert len(graph.descendants([CellRef("S", 1, 1)])) == last
    assert time.process_time() - start < 20


def test_running_totals_over_20000_rows_are_walked_in_seconds() -> None:
    """Overlapping ranges, 2 × 10⁸ cells if each were listed."""
    last = 20_000
    cells = {(row, 1): Cell(CellRef("S", row, 1), None, 1.0) for row in range(1, last + 1)}
    cells |= {(row, 2): Cell(CellRef("S", row, 2), f"=SUM(A$1:A{row})", 1.0) for row in range(1, last + 1)}
    cells |= {(1, 3): Cell(CellRef("S", 1, 3), "=SUM(B:B)", 1.0)}
    graph = build_graph(Book("m.xlsx", "", (Sheet("S", "visible", cells),)))
    start = time.process_time()
    assert len(graph.ancestors([CellRef("S", 1, 3)])) == 2 * last + 1
    assert len(graph.descendants([CellRef("S", row, 1) for row in range(1, last + 1)])) == 2 * last + 1
    assert len(graph.dependents(CellRef("S", last, 1))) == 1
    assert time.process_time() - start < 20


INTERVALS = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 30)), max_size=25)


@given(INTERVALS, st.lists(st.integers(0, 65), max_size=6))
def test_intervals_are_found_as_by_looking_at_each(items: list[tuple[int, int]], points: list[int]) -> None:
    spans = [(start, start + length, index) for index, (start, length) in enumerate(items)]
    index = Intervals(spans)
    tree = index.fresh()
    seen: set[int] = set()
    for point in points:
        expected = {number for start, end, number in spans if start <= point <= end}
        assert set(index.stab(point)) == expected
        assert set(index.stab(point, tree)) == expected - seen
        seen |= expected


CELLS = st.tuples(st.integers(1, 6), st.integers(1, 6))


@given(st.dictionaries(CELLS, st.lists(st.tuples(CELLS, CELLS), max_size=3), min_size=1, max_size=20), CELLS)
def test_influence_agrees_with_a_plain_search(
    formulas: dict[tuple[int, int], list[tuple[tuple[int, int], tuple[int, int]]]], start: tuple[int, int]
) -> None:
    cells: dict[str, str | float | Cell] = {}
    reads: dict[CellRef, set[CellRef]] = {}
    for place, ranges in formulas.items():
        ref = CellRef("S", *place)
        rectangles = [
            RangeRef("S", min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])) for a, b in ranges
        ]
        cells[str(ref)] = "=" + ("+".join(rectangle.address for rectangle in rectangles) or "1")
        reads[ref] = {cell for rectangle in rectangles for cell in rectangle.cells()}
    graph = build_graph(book(cells))
    origin = CellRef("S", *start)
    assert graph.descendants([origin]) == closure(origin, lambda one: {r for r in reads if one in reads[r]})
    assert graph.ancestors([origin]) == closure(origin, lambda one: {c for c in reads.get(one, ()) if c in reads})


def closure(origin: CellRef, following: object) -> set[CellRef]:
    found, stack = {origin}, [origin]
    while stack:
        for ref in following(stack.pop()) - found:
            found.add(ref)
            stack.append(ref)
    return found


def test_ranges_wide_both_ways_are_found() -> None:
    graph = build_graph(
        book({"S!A1": 1.0, "S!ZZ900": 2.0, "S!A2000": "=SUM(B2:ZZ1000)", "S!A2001": "=SUM(A1:XFD1999)"})
    )
    assert set(texts(graph.dependents(CellRef.parse("S!ZZ900")))) == {"S!A2000", "S!A2001"}
    assert texts(graph.dependents(CellRef.parse("S!A1"))) == ["S!A2001"]
    assert len(graph.descendants([CellRef.parse("S!ZZ900")])) == 3
    assert len(graph.ancestors([CellRef.parse("S!A2001")])) == 3


def test_arrays_that_claim_the_whole_grid_cost_no_more_than_their_cells() -> None:
    grid = RangeRef("S", 1, 1, 1_048_576, 16_384)
    cells = {}
    for row in range(1, 201):
        for column in range(1, 51):
            ref = CellRef("S", row, column)
            cells[row, column] = Cell(ref, "=1" if column % 2 else None, 1.0, array=grid if column % 2 else None)
    start = time.process_time()
    graph = build_graph(Book("m.xlsx", "", (Sheet("S", "visible", cells),)))
    assert len(graph.reads) == 10_000
    assert time.process_time() - start < 5
