"""Precedents, dependents and influence in the formula graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xlcheck.cells import CellRef, RangeRef
from xlcheck.workbook import Book


@dataclass(frozen=True)
class Graph:
    """The formula graph of a book. Ranges are kept as ranges; names and tables are resolved."""

    book: Book
    reads: Mapping[CellRef, tuple[RangeRef, ...]]
    """Formula cell to the rectangles it reads (a single cell is a 1 × 1 rectangle)."""

    def precedents(self, ref: CellRef) -> tuple[CellRef, ...]:
        """Return the non-blank cells that a formula reads directly, in the order of the formula."""
        raise NotImplementedError

    def dependents(self, ref: CellRef) -> tuple[CellRef, ...]:
        """Return the formula cells that read this cell directly."""
        raise NotImplementedError

    def ancestors(self, refs: Iterable[CellRef]) -> frozenset[CellRef]:
        """Return every cell that the given cells depend on, directly or not, themselves included."""
        raise NotImplementedError

    def descendants(self, refs: Iterable[CellRef]) -> frozenset[CellRef]:
        """Return every formula cell that depends on the given cells, themselves included."""
        raise NotImplementedError

    def pure_link(self, ref: CellRef) -> CellRef:
        """Follow a chain of plain references (``=Sheet1!B5``) to its end and return that cell."""
        raise NotImplementedError


def build_graph(book: Book) -> Graph:
    """Build the graph of a book."""
    raise NotImplementedError
