"""Forecast lines that read the driver of another year, while the driver of their own last year is read by nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from xlcheck.cells import CellRef
from xlcheck.checks.lines import Line
from xlcheck.checks.sheet import timeline_of
from xlcheck.formula import Ref, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc

LEAST = 3
LARGEST = 1.5
"""Drivers are rates and shares."""


def misread_drivers(recalc: Recalc, graph: Graph, lines: Iterable[Line]) -> Iterator[tuple[list[CellRef], CellRef]]:
    """Yield, per line, the cells that read the driver of the year before (or after), and the driver left unread."""
    for line in lines:
        shifts = [found for place in range(len(line.cells)) for found in _reads(recalc, line, place)]
        for home in dict.fromkeys((target.sheet, target.row) for _, target, _ in shifts):
            own = [one for one in shifts if (one[1].sheet, one[1].row) == home]
            years, count = Counter(years for _, _, years in own).most_common(1)[0]
            wrong = [cell for cell, _, one in own if one == years]
            last_cell, last_target, _ = own[-1]
            unread = last_target.offset(0, -years) if last_target.column - years > 0 else None
            if abs(years) != 1 or count < LEAST or count * 4 < 3 * len(own) or unread is None or last_cell not in wrong:
                continue
            if _is_driver(recalc, unread) and not graph.dependents(unread) and _year(recalc, unread) is not None:
                yield wrong, unread


def _reads(recalc: Recalc, line: Line, place: int) -> Iterator[tuple[CellRef, CellRef, int]]:
    """Yield (cell, driver, years apart) for each dated driver in another row that a formula reads."""
    cell, node = line.cells[place], line.nodes[place]
    own = _year(recalc, cell)
    for part in walk(node) if node is not None and own is not None else ():
        if isinstance(part, Ref) and not part.absolute_column and (part.cell.sheet, part.cell.row) != cell[:2]:
            year = _year(recalc, part.cell)
            if year is not None and own is not None and _is_driver(recalc, part.cell):
                yield cell, part.cell, year - own


def _is_driver(recalc: Recalc, cell: CellRef) -> bool:
    held, value = recalc.book.get(cell), recalc.number(cell)
    return held is not None and held.formula is None and value is not None and 0 < abs(value) <= LARGEST


def _year(recalc: Recalc, cell: CellRef) -> int | None:
    return None if recalc.book.sheet(cell.sheet) is None else timeline_of(recalc, cell.sheet).year(cell)
