"""Every formula of a workbook as a tree, parsed once for all checks."""

from __future__ import annotations

import weakref
from collections.abc import Mapping

from xlcheck.cells import CellRef
from xlcheck.formula import Node, parse
from xlcheck.recompute import Recalc

_TREES: dict[int, Mapping[CellRef, Node]] = {}


def trees(recalc: Recalc) -> Mapping[CellRef, Node]:
    """Return formula cell to its tree; remembered for as long as the recomputation lives."""
    found = _TREES.get(id(recalc))
    if found is None:
        book = recalc.book
        found = {
            cell.ref: parse(cell.formula, cell.ref.sheet, book, cell.ref)
            for cell in book.formula_cells()
            if cell.formula is not None
        }
        _TREES[id(recalc)] = found
        weakref.finalize(recalc, _TREES.pop, id(recalc), None)
    return found
