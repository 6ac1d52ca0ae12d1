"""The live model: the normalised copy in the primary engine, with what the engine cannot do held outside.

Held cells are constants for the engine, kept true from outside: one torn cell per loop, the cells of data
tables, and cells that another engine had to calculate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xlcheck.cells import CellRef, Scalar
from xlcheck.engines import Clock, Engine, Session, Unsolved
from xlcheck.normalise import normalise
from xlcheck.package import write_package
from xlcheck.rewrite import Rewriter
from xlcheck.workbook import Book

Values = Mapping[CellRef, Scalar | Unsolved]


class LiveModel:
    """A book loaded for whole recalculation and what-if."""

    def __init__(self, book: Book, engine: Engine, clock: Clock) -> None:
        self.book = book
        self._draft = normalise(book, Rewriter(book))
        self._session: Session = engine.open(write_package(self._draft), clock)

    def values(self) -> Values:
        """Return the value of every formula cell and of every cell that an array or data table fills."""
        raw = self._session.recalculate()
        wanted = {cell.ref for cell in self.book.formula_cells()}
        own = {sheet.name: sheet.cells for sheet in self.book.sheets}
        found: dict[CellRef, Scalar | Unsolved] = {}
        for ref, value in raw.items():
            cells = own.get(ref.sheet)
            if cells is not None and (ref in wanted or (ref.row, ref.column) not in cells):
                found[ref] = value
        for ref in wanted:
            found.setdefault(ref, None)
        return found

    def what_if(self, changes: Mapping[CellRef, Scalar], outputs: Sequence[CellRef]) -> Values:
        """Return the outputs with those cells replaced by constants."""
        return self._session.what_if(changes, outputs)
