"""Amounts of money that several families of checks name or add up."""

from __future__ import annotations

from xlcheck.cells import CellRef, Tolerance
from xlcheck.checking import Finding
from xlcheck.roles import Located, LocatedSeries


def money(
    message: str, cell: CellRef | None, found: float | None, expected: float | None, tolerance: Tolerance | None = None
) -> Finding:
    """Return a finding in money of the sheet."""
    return Finding(message=message, cell=cell, found=found, expected=expected, unit="money", tolerance=tolerance)


def sum_of(total: Located | None, present: LocatedSeries | None) -> float | None:
    """Return the sum of the present values of the flows: its own cell, else the row added up."""
    if total is not None and total.value is not None:
        return total.value
    if present is None or None in present.values:
        return None
    return sum(value for value in present.values if value is not None)
