"""The lines of a sheet: neighbouring numbers along a row (or down a column), and the cells that break their pattern."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from xlcheck.cells import CellRef, RangeRef, is_number
from xlcheck.checks.memory import remembered
from xlcheck.checks.shapes import Form, Shape, forms, shape_of
from xlcheck.checks.trees import trees
from xlcheck.formula import Node
from xlcheck.recompute import Recalc
from xlcheck.workbook import Cell, Sheet

LEAST = 3
"""So many cells of one form make a pattern; two alike prove nothing."""
WIDEST_BREAK = 2
"""A longer stretch of another form is a stage of its own."""
PATTERN_SHARE = 0.6
"""Share of the cells between its ends that a pattern must hold."""


@dataclass(frozen=True, slots=True)
class Line:
    """Neighbouring cells with numbers or formulas, in order."""

    across: bool
    cells: tuple[CellRef, ...]
    nodes: tuple[Node | None, ...]
    """The formula of each cell, None for a constant."""
    shapes: tuple[Shape | None, ...]
    forms: tuple[Form | None, ...]


@dataclass(frozen=True, slots=True)
class Break:
    """A stretch of cells inside a pattern that follows the same formula on both sides but not here."""

    line: Line
    start: int
    stop: int
    """Index behind the last cell."""
    pattern: Form

    @property
    def cells(self) -> tuple[CellRef, ...]:
        """The cells that break the pattern."""
        return self.line.cells[self.start : self.stop]

    @property
    def typed(self) -> bool:
        """Whether constants stand there rather than other formulas."""
        return all(form is None for form in self.line.forms[self.start : self.stop])

    @property
    def model(self) -> CellRef:
        """The nearest cell that follows the pattern."""
        follow = [index for index, form in enumerate(self.line.forms) if form == self.pattern]
        return self.line.cells[min(follow, key=lambda index: min(abs(index - self.start), abs(index - self.stop + 1)))]


def result_cells(sheet: Sheet) -> frozenset[CellRef]:
    """Return the cells that array formulas, spills and data tables fill: results, though stored as constants."""
    filled: list[RangeRef] = []
    for cell in sheet.cells.values():
        if cell.array is not None:
            filled.append(cell.array)
        if cell.data_table is not None:
            filled.append(cell.data_table.range)
    return frozenset(ref for area in filled for ref in area.cells())


_LINES: dict[int, dict[tuple[str, bool], tuple[Line, ...]]] = {}


def lines_of(recalc: Recalc, sheet: Sheet, *, across: bool) -> tuple[Line, ...]:
    """Return the lines of a sheet that hold at least `LEAST` formulas; remembered while the recomputation lives."""
    known = _LINES.get(id(recalc))
    if known is None:
        known = _LINES[id(recalc)] = {}
        weakref.finalize(recalc, _LINES.pop, id(recalc), None)
    key = (sheet.name, across)
    if key not in known:
        known[key] = tuple(_lines(recalc, sheet, across=across))
    return known[key]


def _lines(recalc: Recalc, sheet: Sheet, *, across: bool) -> Iterator[Line]:
    filled = result_cells(sheet)
    run: list[Cell] = []
    keys = sorted(sheet.cells, key=lambda key: key if across else (key[1], key[0]))
    for row, column in keys:
        cell = sheet.cells[row, column]
        usable = cell.ref not in filled and (cell.formula is not None or is_number(cell.stored))
        if run and not (usable and _follows(run[-1].ref, cell.ref, across=across)):
            yield from _line(recalc, run, across=across)
            run = []
        if usable:
            run.append(cell)
    yield from _line(recalc, run, across=across)


def _follows(before: CellRef, after: CellRef, *, across: bool) -> bool:
    return after == (before.offset(0, 1) if across else before.offset(1, 0))


def _line(recalc: Recalc, run: list[Cell], *, across: bool) -> Iterator[Line]:
    if sum(cell.formula is not None for cell in run) < LEAST:
        return
    parsed = trees(recalc)
    nodes = tuple(None if cell.formula is None else parsed[cell.ref] for cell in run)
    known = remembered(recalc, "shapes", dict[CellRef, Shape])  # the lines across and those down have the same cells
    shapes = [None if node is None else _shape(cell.ref, node, known) for cell, node in zip(run, nodes, strict=True)]
    yield Line(across, tuple(cell.ref for cell in run), nodes, tuple(shapes), tuple(forms(shapes)))


def _shape(ref: CellRef, node: Node, known: dict[CellRef, Shape]) -> Shape:
    shape = known.get(ref)
    if shape is None:
        shape = known[ref] = shape_of(node)
    return shape


def breaks(line: Line) -> Iterator[Break]:
    """Yield the stretches that differ from the pattern which holds before and after them."""
    counts = Counter(form for form in line.forms if form is not None)
    if not counts:
        return
    pattern, count = counts.most_common(1)[0]
    places = [index for index, form in enumerate(line.forms) if form == pattern]
    if count < LEAST or count < PATTERN_SHARE * (places[-1] - places[0] + 1):
        return
    for before, after in pairwise(places):
        if 1 < after - before <= WIDEST_BREAK + 1:
            yield Break(line, before + 1, after, pattern)


def lone_breaks(recalc: Recalc, sheet: Sheet, *, across: bool) -> list[Break]:
    """Return the breaks of a sheet that are no columns of their own (totals, stubs) and no regular rhythm."""
    lines = list(lines_of(recalc, sheet, across=across))
    found = [found for line in lines if len(found := list(breaks(line))) == 1]
    single = [one for group in found for one in group]
    held = Counter(_position(ref, across=across) for one in single for ref in one.cells)
    cover = Counter(_position(ref, across=across) for line in lines for ref in line.cells)
    return [one for one in single if not _is_column(one, held, cover, across=across)]


def _position(ref: CellRef, *, across: bool) -> int:
    return ref.column if across else ref.row


def _is_column(one: Break, held: Counter[int], cover: Counter[int], *, across: bool) -> bool:
    positions = {_position(ref, across=across) for ref in one.cells}
    return any(held[place] >= LEAST and held[place] * 2 >= cover[place] for place in positions)
