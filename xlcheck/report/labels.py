"""What a cell is called: the text beside it."""

from __future__ import annotations

from xlcheck.cells import CellRef
from xlcheck.checking import Workpaper
from xlcheck.roles.layout import is_unit


def label_of(paper: Workpaper, ref: CellRef) -> str:
    """Return the nearest text left of a cell that is no unit, else the nearest within ten rows above; else nothing."""
    left = (CellRef(ref.sheet, ref.row, column) for column in range(ref.column - 1, 0, -1))
    above = (CellRef(ref.sheet, row, ref.column) for row in range(ref.row - 1, max(0, ref.row - 11), -1))
    for place in (*left, *above):
        value = paper.recalc.value(place)
        if isinstance(value, str) and len(value.strip()) > 1 and not is_unit(value):
            return value.strip()
    return ""
