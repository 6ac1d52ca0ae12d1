"""Whole recalculation, what-if, and the verdict on every stored value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from xlcheck.cells import CellRef, Scalar
from xlcheck.engines import Unsolved
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
    """Every formula cell and data-table cell."""
    verdicts: Mapping[CellRef, CellVerdict]
    """Every formula cell and data-table cell."""
    what_if_cells: WhatIf
    engines: Mapping[str, str]
    """Engine name to version, those that were asked."""

    def value(self, ref: CellRef) -> Scalar | Unsolved:
        """Return the recomputed value of a formula cell, or the constant that stands there (None if blank)."""
        if ref in self.values:
            return self.values[ref]
        cell = self.book.get(ref)
        return cell.stored if cell else None

    def number(self, ref: CellRef) -> float | None:
        """Return the value as a float, or None if it is no finite number or could not be recomputed."""
        value = self.value(ref)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def what_if(self, changes: Mapping[str, Scalar], outputs: Sequence[str]) -> dict[str, Scalar | Unsolved]:
        """Run the model with cells replaced; keys are addresses such as ``Assumptions!B1``."""
        found = self.what_if_cells(
            {CellRef.parse(key): value for key, value in changes.items()},
            [CellRef.parse(out) for out in outputs],
        )
        return {str(ref): value for ref, value in found.items()}


def recompute(book: Book, valuation_date: float | None = None) -> Recalc:
    """Recompute a workbook; `valuation_date` (Excel serial) pins TODAY() and NOW(), else the last-saved time."""
    raise NotImplementedError
