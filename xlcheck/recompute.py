"""Whole recalculation, what-if, and the verdict on every stored value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from importlib import metadata
from typing import Protocol

from xlcheck.cells import CellRef, Scalar, as_number
from xlcheck.engines import ENGINES, Clock, Session, Unsolved, engine
from xlcheck.errors import UsageError
from xlcheck.graph import Graph, build_graph
from xlcheck.live.loops import Loop
from xlcheck.live.model import LiveModel
from xlcheck.localcheck.agreement import agree
from xlcheck.localcheck.check import SAME, Local, claims_nothing, local_check
from xlcheck.localcheck.legs import CellVerdict, Verdict, confirmed_table, weigh
from xlcheck.localcheck.shadow import NOT_STORED, Shadow, stored_values
from xlcheck.normalise import cells_of
from xlcheck.normalise.rewrite import Rewriter
from xlcheck.workbook import Book

__all__ = ["CellVerdict", "Loop", "Recalc", "Verdict", "WhatIf", "recompute"]


class WhatIf(Protocol):
    """Runs the live model with some cells replaced (inputs or formulas), others recomputed."""

    def __call__(
        self, changes: Mapping[CellRef, Scalar], outputs: Sequence[CellRef]
    ) -> Mapping[CellRef, Scalar | Unsolved]:
        """Return the outputs; the workbook stays as it was."""
        ...


@dataclass(frozen=True)
class Recalc:
    """The recomputed workbook: values that follow from its own assumptions, never from stored results."""

    book: Book
    values: Mapping[CellRef, Scalar | Unsolved]
    """Every formula cell, and every cell that an array formula or a data table fills."""
    what_if_cells: WhatIf
    engines: Mapping[str, str]
    """Engine name to version, those that may be asked."""
    graph: Graph
    """The formula graph that the recomputation used."""
    loops: tuple[Loop, ...] = ()
    """The live circular references, each with its cells and how it ends."""
    clock: Clock = field(default_factory=Clock)
    """What TODAY() and NOW() returned."""
    rewriter: Rewriter | None = None
    """How formulas were written for the engines."""
    other_what_if: WhatIf | None = None
    """The same asked of the second engine: a data table is called stale only if both say so."""

    @cached_property
    def verdicts(self) -> Mapping[CellRef, CellVerdict]:
        """Return the verdict on every formula cell and filled cell (the local check runs when first asked for)."""
        if claims_nothing(self.book):
            return weigh(self.book, self.graph, self.values, {}, self.loops)
        slack = self.book.calc.iterate_delta if self.book.calc.iterate else 0.0
        looped = frozenset(ref for loop in self.loops for ref in loop.cells)
        local = local_check(self._shadow, [_Lazy(name) for name in ENGINES], looped, slack)
        local.update(self._tables_from_stored())
        found = weigh(self.book, self.graph, self.values, local, self.loops)
        for table in (cell.data_table for cell in self.book.cells()):
            if table is not None and self.other_what_if is not None:
                found.update(confirmed_table(table, found, self.other_what_if))
        return found

    @property
    def _shadow(self) -> Shadow:
        return Shadow(self.book, self.graph, self.rewriter or Rewriter(self.book), self.clock)

    def opinions(self, ref: CellRef) -> Mapping[str, Scalar | Unsolved]:
        """Return what every engine says of a formula cell, or of one that an array fills; nothing for other cells.

        The formula is evaluated from the stored values of what it reads, in a book without them from the recomputed.
        """
        arrays = (
            one for one in self.book.formula_cells() if one.array is not None and ref in cells_of(one.array, None)
        )
        own = self.book.get(ref)
        cell = own if own is not None and own.formula is not None else next(arrays, None)
        if cell is None:
            return {}
        values = stored_values(self.book)
        if NOT_STORED in values.values() or claims_nothing(self.book):
            values = {**values, **self.values}
        return {name: self._shadow.ask(_Lazy(name), [cell], values)[ref] for name in ENGINES}

    def _tables_from_stored(self) -> Mapping[CellRef, Local]:
        """Judge data-table cells that depend on unsolved cells, with the stored values of these put in."""
        tables = [cell.data_table for cell in self.book.cells() if cell.data_table is not None]
        filled = (ref for table in tables for ref in cells_of(table.range, self.book.sheet(table.range.sheet)))
        open_cells = [ref for ref in filled if _unsolved(self.values.get(ref))]
        if not open_cells:
            return {}
        roots: dict[CellRef, Scalar] = {}
        for ref, value in self.values.items():
            cell = self.book.get(ref)
            if isinstance(value, Unsolved) and not value.detail.startswith("it depends on") and cell is not None:
                roots[ref] = cell.stored
        answers = self.what_if_cells({ref: stored for ref, stored in roots.items() if stored is not None}, open_cells)
        return {ref: SAME for ref, value in answers.items() if _follows(self.book, ref, value)}

    def value(self, ref: CellRef) -> Scalar | Unsolved:
        """Return the recomputed value of a formula cell, or the constant that stands there (None if blank)."""
        if ref in self.values:
            return self.values[ref]
        cell = self.book.get(ref)
        return cell.stored if cell else None

    def number(self, ref: CellRef) -> float | None:
        """Return the value as a float, or None if it is no finite number or could not be recomputed."""
        value = self.value(ref)
        return as_number(value)

    def what_if(self, changes: Mapping[str, Scalar], outputs: Sequence[str]) -> dict[str, Scalar | Unsolved]:
        """Run the model with cells replaced; keys are addresses such as ``Assumptions!B1``.

        Raises UsageError for an address that is malformed or names no sheet of the workbook.
        """
        wanted = {self._cell(out): out for out in outputs}
        found = self.what_if_cells({self._cell(key): value for key, value in changes.items()}, list(wanted))
        return {wanted[ref]: value for ref, value in found.items()}

    def _cell(self, text: str) -> CellRef:
        try:
            ref = CellRef.parse(text)
        except ValueError as error:
            raise UsageError(f"{self.book.file_name}: {error}") from error
        sheet = self.book.sheet(ref.sheet)
        if sheet is None:
            names = ", ".join(one.name for one in self.book.sheets)
            raise UsageError(f"{self.book.file_name} has no sheet {ref.sheet!r}; its sheets are {names}")
        return ref._replace(sheet=sheet.name)


def recompute(book: Book, valuation_date: float | None = None) -> Recalc:
    """Recompute a workbook; `valuation_date` pins TODAY() and NOW(), else the last-saved time does.

    `valuation_date` is a serial number of the 1900 date system, also for a workbook that counts from 1904.

    Where the primary engine cannot load even the normalised copy, every formula is unsolved.
    """
    clock = clock_of(book, valuation_date)
    graph = build_graph(book)
    model = LiveModel(book, graph, [_Lazy(name) for name in ENGINES], clock)
    return Recalc(
        book=book,
        values=model.values,
        what_if_cells=model.what_if,
        other_what_if=model.other_what_if,
        engines={name: _version(name) for name in ENGINES},
        graph=graph,
        loops=model.loops,
        clock=clock,
        rewriter=model.rewriter,
    )


@cache
def _version(package: str) -> str:
    return metadata.version(package)


@dataclass(frozen=True, slots=True)
class _Lazy:
    """An engine that is imported when it is first asked."""

    name: str

    @property
    def version(self) -> str:
        """Return the version of the engine's package."""
        return _version(self.name)

    def open(self, package: bytes, clock: Clock) -> Session:
        """Import the engine and let it load the package."""
        return engine(self.name).open(package, clock)


def clock_of(book: Book, valuation_date: float | None) -> Clock:
    """Return the clock of a recalculation: the valuation date, else the last-saved time, else none."""
    serial = valuation_date
    if serial is None:
        if book.last_saved is None:
            return Clock()
        serial = (book.last_saved.replace(tzinfo=None) - _EPOCH).total_seconds() / 86_400
    if book.calc.date1904:
        serial -= _DAYS_1904
    return Clock(today=float(int(serial)), now=serial)


_EPOCH = datetime(1899, 12, 30)
_DAYS_1904 = 1462


def _unsolved(value: Scalar | Unsolved) -> bool:
    return isinstance(value, Unsolved)


def _follows(book: Book, ref: CellRef, value: Scalar | Unsolved) -> bool:
    cell = book.get(ref)
    return cell is not None and not isinstance(value, Unsolved) and agree(cell.stored, value, 1e-8)
