"""What moves the headline value most: the assumptions as lines, each moved up and down as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from xlcheck.cells import CellRef, RangeRef
from xlcheck.checking import Workpaper
from xlcheck.influence import moved_together
from xlcheck.quotes import is_date_format
from xlcheck.report.labels import label_of

LINES = 40
"""Lines of typed numbers that are tried: those nearest to the output."""
_WORK = 250_000
"""Lines times formulas: a very large workbook has fewer lines tried, so that the page is written in seconds."""
SHOWN = 10
SWING = 0.1
"""Relative move of a line for the two ends of its bar."""
_DRIVERS = ("wacc", "terminal_growth", "exit_multiple", "tax_rate", "shares")
"""Roles that are tried though a formula computes them."""

_Line = tuple[CellRef, ...]
"""Cells of one row."""


class Mover(NamedTuple):
    """One line of assumptions and what it does to the output."""

    label: str
    """The text left of it; empty where there is none."""
    cells: RangeRef
    """From its first cell to its last."""
    role: str | None
    low: float
    """The output with the line a tenth lower, in its own unit."""
    high: float
    """The output with the line a tenth higher."""

    def elasticity(self, base: float) -> float:
        """Return per cent of the output for one per cent of the line, over the whole swing."""
        return (self.high - self.low) / abs(base) / (2 * SWING)


def movers(paper: Workpaper, output: CellRef) -> tuple[Mover, ...]:
    """Return the lines with the largest swing, the strongest first; none where the output is zero."""
    base = paper.recalc.number(output)
    if not base:
        return ()
    raised = ((line, moved_together(paper.recalc, output, line, SWING)) for line in _lines(paper, output))
    moving = [(abs(high - base), line, high) for line, high in raised if high is not None and high != base]
    moving.sort(key=lambda one: -one[0])
    found = [_mover(paper, output, line, high) for _, line, high in moving[:SHOWN]]
    shown = sorted((one for one in found if one is not None), key=lambda one: -abs(one.high - one.low))
    return tuple(shown)


def _mover(paper: Workpaper, output: CellRef, line: _Line, high: float) -> Mover | None:
    low = moved_together(paper.recalc, output, line, -SWING)
    if low is None:
        return None
    first, last = line[0], line[-1]
    area = RangeRef(first.sheet, first.row, first.column, last.row, last.column)
    roles = {located.cell: role for role, located in paper.roles.scalars.items() if located.cell is not None}
    return Mover(label_of(paper, first), area, roles.get(first) if len(line) == 1 else None, low, high)


def _lines(paper: Workpaper, output: CellRef) -> Iterator[_Line]:
    """Yield the driving roles, then lines of typed numbers by their distance from the output."""
    above = paper.graph.ancestors([output])
    tried: set[CellRef] = {output}
    for role in _DRIVERS:
        located = paper.roles.get(role)
        cell = paper.graph.pure_link(located.cell) if located is not None and located.cell is not None else None
        if cell is not None and cell in above and cell not in tried:
            tried.add(cell)
            yield (cell,)
    most = min(LINES, _WORK // max(1, len(paper.recalc.values)))
    yield from islice((line for line in _typed_lines(paper, output) if not tried.issuperset(line)), most)


def _typed_lines(paper: Workpaper, output: CellRef) -> Iterator[_Line]:
    """Yield the typed numbers that the output rests on, those of one row together, the nearest rows first."""
    rows: dict[tuple[str, int], list[CellRef]] = {}
    for ref in _nearest_first(paper, output):
        if _is_typed_amount(paper, ref):
            rows.setdefault((ref.sheet, ref.row), []).append(ref)
    yield from (tuple(sorted(cells)) for cells in rows.values())


def _nearest_first(paper: Workpaper, output: CellRef) -> Iterator[CellRef]:
    """Yield every cell behind the output, level by level."""
    seen, level = {output}, [output]
    while level:
        yield from level
        following = []
        for ref in level:
            for above in paper.graph.precedents(ref):
                if above not in seen:
                    seen.add(above)
                    following.append(above)
        level = sorted(following)


def _is_typed_amount(paper: Workpaper, ref: CellRef) -> bool:
    """Say whether a cell holds a typed number that can be moved by a tenth: no year, no date, no zero."""
    cell, value = paper.book.get(ref), paper.recalc.number(ref)
    if cell is None or cell.formula is not None or ref in paper.recalc.values or not value:
        return False
    year = value == int(value) and 1900 <= value <= 2100
    return not year and not is_date_format(cell.number_format)
