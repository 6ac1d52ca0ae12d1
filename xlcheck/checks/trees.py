"""The formulas of a workbook as trees, each parsed once, when first asked for."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator, Mapping

from xlcheck.cells import CellRef
from xlcheck.formula import Node
from xlcheck.keyed import parse_keyed
from xlcheck.recompute import Recalc
from xlcheck.workbook import Book


class Trees(Mapping[CellRef, Node]):
    """Formula cell to its tree, in the order of the file."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._texts = {cell.ref: cell.formula for cell in book.formula_cells() if cell.formula is not None}
        self._nodes: dict[CellRef, Node] = {}

    def __getitem__(self, ref: CellRef) -> Node:
        node = self._nodes.get(ref)
        if node is None:
            node = self._nodes[ref] = parse_keyed(self._texts[ref], ref.sheet, self._book, ref)
        return node

    def __iter__(self) -> Iterator[CellRef]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, ref: object) -> bool:
        return ref in self._texts

    def matching(self, pattern: re.Pattern[str]) -> Iterator[tuple[CellRef, Node]]:
        """Yield the cells whose formula text holds a pattern, with their trees; the others are not parsed."""
        return ((ref, self[ref]) for ref, text in self._texts.items() if pattern.search(text))


_TREES: dict[int, Trees] = {}


def trees(recalc: Recalc) -> Trees:
    """Return the trees of a recomputed workbook; remembered for as long as the recomputation lives."""
    found = _TREES.get(id(recalc))
    if found is None:
        found = _TREES[id(recalc)] = Trees(recalc.book)
        weakref.finalize(recalc, _TREES.pop, id(recalc), None)
    return found
