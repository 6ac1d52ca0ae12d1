"""The shadow book: each formula evaluated once, from given values of its precedents.

Every sheet stands there as constants under its own name, and each formula asked about on an added sheet at
its own address, reading the constants: no propagation, no loops, no iteration.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from xlcheck.cells import CellRef, Scalar
from xlcheck.engines import Clock, Engine, Unsolved
from xlcheck.engines.package import Content, Draft, Formula, write_package
from xlcheck.errors import EngineError
from xlcheck.graph import Graph
from xlcheck.normalise import cells_of, external_sheets, formula_of, workbook_names
from xlcheck.normalise.rewrite import Rewriter
from xlcheck.workbook import Book, Cell

Values = Mapping[CellRef, Scalar | Unsolved]

IN_PLACE = re.compile(r"\bINDIRECT\(", re.IGNORECASE)
"""Formulas that read by an address in text cannot be moved to another sheet."""

_SUBTOTAL = re.compile(r"\b(?:SUBTOTAL|AGGREGATE)\(", re.IGNORECASE)
_SPILL = re.compile(r"#|ANCHORARRAY", re.IGNORECASE)
_KEPT = "Kept_values_"
UNKNOWN = Formula("=UNKNOWN_VALUE()")
"""Stands where no value is known, so that what reads it is unsolved and not wrong."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """Asks engines what single formulas give."""

    book: Book
    graph: Graph
    rewriter: Rewriter
    clock: Clock

    def ask(self, engine: Engine, cells: Collection[Cell], values: Values) -> dict[CellRef, Scalar | Unsolved]:
        """Return what each formula, and each cell that it fills, gives; `values` are those of all other cells.

        A cell missing from `values` is blank; one that is Unsolved makes its readers unsolved.
        """
        here = {cell.ref for cell in cells if "(" in (cell.formula or "") and IN_PLACE.search(cell.formula or "")}
        moved, placed = [cell for cell in cells if cell.ref not in here], [cell for cell in cells if cell.ref in here]
        found = self._answers(engine, moved, values, moved=True) if moved else {}
        if placed:
            found.update(self._answers(engine, placed, values, moved=False))
        return found

    def _answers(
        self, engine: Engine, cells: Collection[Cell], values: Values, *, moved: bool
    ) -> dict[CellRef, Scalar | Unsolved]:
        titles = {
            sheet.name: f"Formulas_{index}_" if moved else sheet.name for index, sheet in enumerate(self.book.sheets)
        }
        places = {
            ref: CellRef(titles[ref.sheet], ref.row, ref.column)
            for cell in cells
            for ref in (cells_of(cell.array, self.book.sheet(cell.ref.sheet)) if cell.array else (cell.ref,))
        }
        draft = self._draft(cells, values, titles, moved=moved)
        for names, tables in ((draft.names, draft.tables), ((), ())):
            try:
                package = write_package(replace(draft, names=names, tables=tables), engine.name)
                session = engine.open(package, self.clock)
                answers = session.what_if({}, list(places.values()))
            except EngineError as error:
                unsolved = Unsolved(kind="engine_failure", detail=str(error))
            else:
                return {ref: answers[place] for ref, place in places.items()}
        return dict.fromkeys(places, unsolved)

    def _draft(self, cells: Collection[Cell], values: Values, titles: Mapping[str, str], *, moved: bool) -> Draft:
        sheets: dict[str, dict[tuple[int, int], Content]] = {sheet.name: {} for sheet in self.book.sheets}
        needed = self._needed(cells, values)
        for ref in needed:
            value = values.get(ref)
            sheets[ref.sheet][ref.row, ref.column] = UNKNOWN if isinstance(value, Unsolved) else value
        self._keep_subtotals(sheets, needed)
        for cell in cells:
            target = sheets.setdefault(titles[cell.ref.sheet], {})
            if not moved and cell.array:
                for ref in cells_of(cell.array, self.book.sheet(cell.ref.sheet)):
                    target.pop((ref.row, ref.column), None)
            target[cell.ref.row, cell.ref.column] = formula_of(self.rewriter, cell, pinned=moved)
        return Draft(
            sheets={**sheets, **external_sheets(self.rewriter)},
            names=workbook_names(self.rewriter),
            tables=self.book.tables,
            date1904=self.book.calc.date1904,
            hidden_rows={sheet.name: sheet.hidden_rows for sheet in self.book.sheets if sheet.hidden_rows},
        )

    def _needed(self, cells: Collection[Cell], values: Values) -> Collection[CellRef]:
        """Return the cells that must stand there as constants: of a few formulas, only those that they read."""
        unbounded = any(_SPILL.search(cell.formula or "") or cell.ref in self.graph.dynamic for cell in cells)
        if unbounded or len(cells) * 20 > len(values):
            return values
        return {ref for cell in cells for ref in self.graph.precedents(cell.ref) if ref in values}

    def _keep_subtotals(self, sheets: dict[str, dict[tuple[int, int], Content]], needed: Collection[CellRef]) -> None:
        """Let inner subtotals stand as subtotals of their value, for outer ones leave them out."""
        kept: dict[tuple[int, int], Content] = {}
        for cell in self.book.formula_cells():
            if "(" in (cell.formula or "") and _SUBTOTAL.search(cell.formula or "") and cell.ref in needed:
                own = sheets[cell.ref.sheet]
                value = own.get((cell.ref.row, cell.ref.column))
                if isinstance(value, int | float) and not isinstance(value, bool):
                    kept[len(kept) + 1, 1] = value
                    own[cell.ref.row, cell.ref.column] = Formula(f"=SUBTOTAL(9,{_KEPT}!A{len(kept)})")
        if kept:
            sheets[_KEPT] = kept


def stored_values(book: Book) -> Values:
    """Return the stored values of all cells; formula cells that carry none are unsolved."""
    return {
        cell.ref: NOT_STORED if cell.formula is not None and cell.stored is None else cell.stored
        for cell in book.cells()
    }


NOT_STORED = Unsolved(kind="engine_failure", detail="a cell that it reads carries no stored value")
