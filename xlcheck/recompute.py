"""Whole recalculation, what-if, and the verdict on every stored value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Literal, Protocol

from xlcheck.cells import DEFAULT_TOLERANCE, CellRef, Scalar, as_number
from xlcheck.engines import Clock, Unsolved, engine
from xlcheck.live import LiveModel
from xlcheck.workbook import Book

Verdict = Literal["same", "stale", "unsolved", "no_stored_value"]


@dataclass(frozen=True, slots=True)
class CellVerdict:
    """What the recomputation says of one formula cell (or data-table cell)."""

    status: Verdict
    stored: Scalar
    recomputed: Scalar
    """From the whole recalculation; None with `unsolved` set where that leg could not speak."""
    unsolved: Unsolved | None = None
    expected: Scalar = None
    """For `stale`: the value that follows from the cell's own formula and its precedents."""
    opinions: Mapping[str, Scalar | Unsolved] | None = None
    """For cells in dispute: engine name to what it said."""


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
    """Engine name to version, those that were asked."""

    @cached_property
    def verdicts(self) -> Mapping[CellRef, CellVerdict]:
        """Return the verdict on every formula cell and data-table cell (worked out when first asked for)."""
        return {ref: _verdict(self.book, ref, value) for ref, value in self.values.items()}

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
        """Run the model with cells replaced; keys are addresses such as ``Assumptions!B1``."""
        found = self.what_if_cells(
            {CellRef.parse(key): value for key, value in changes.items()},
            [CellRef.parse(out) for out in outputs],
        )
        return {str(ref): value for ref, value in found.items()}


def recompute(book: Book, valuation_date: float | None = None) -> Recalc:
    """Recompute a workbook; `valuation_date` (Excel serial) pins TODAY() and NOW(), else the last-saved time."""
    primary = engine("cellrune")
    model = LiveModel(book, primary, clock_of(book, valuation_date))
    return Recalc(
        book=book,
        values=model.values(),
        what_if_cells=model.what_if,
        engines={primary.name: primary.version},
    )


def clock_of(book: Book, valuation_date: float | None) -> Clock:
    """Return the clock of a recalculation: the valuation date, else the last-saved time, else none."""
    if valuation_date is not None:
        return Clock(today=float(int(valuation_date)), now=valuation_date)
    if book.last_saved is None:
        return Clock()
    saved = (book.last_saved.replace(tzinfo=None) - _EPOCH).total_seconds() / 86_400
    serial = saved - (_DAYS_1904 if book.calc.date1904 else 0)
    return Clock(today=float(int(serial)), now=serial)


_EPOCH = datetime(1899, 12, 30)
_DAYS_1904 = 1462


def _verdict(book: Book, ref: CellRef, value: Scalar | Unsolved) -> CellVerdict:
    cell = book.get(ref)
    stored = cell.stored if cell else None
    if stored is None:
        return CellVerdict("no_stored_value", None, None if isinstance(value, Unsolved) else value)
    if isinstance(value, Unsolved):
        return CellVerdict("unsolved", stored, None, value)
    number, expected = as_number(stored), as_number(value)
    same = stored == value if number is None or expected is None else DEFAULT_TOLERANCE.allows(number, expected)
    return CellVerdict("same" if same else "stale", stored, value, expected=None if same else value)
