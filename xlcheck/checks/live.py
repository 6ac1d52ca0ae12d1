"""What the live model does when cells are moved: the layout-independent evidence of the checks.

Every run is remembered per recomputation, because several checks ask for the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xlcheck.cells import CellRef, Scalar, as_number
from xlcheck.checks.memory import remembered
from xlcheck.engines import Unsolved
from xlcheck.recompute import Recalc

STEP = 1e-4
"""Relative step of a partial derivative: small against the model, large against rounding."""


def run(
    recalc: Recalc, changes: Mapping[CellRef, Scalar], outputs: Sequence[CellRef]
) -> Mapping[CellRef, float | None]:
    """Return the outputs as numbers with cells replaced; None where one is no number or could not be recomputed."""
    key = ("run", frozenset(changes.items()), tuple(outputs))
    found = remembered(recalc, key, lambda: recalc.what_if_cells(changes, outputs))
    return {ref: _number(changes.get(ref, value)) for ref, value in found.items()}


def _number(value: Scalar | Unsolved) -> float | None:
    return None if isinstance(value, Unsolved) else as_number(value)


def step_of(value: float) -> float:
    """Return the step by which a value is moved: a ten-thousandth of it, or of one for zero."""
    return STEP * abs(value) if value else STEP


def derivatives(
    recalc: Recalc, outputs: Sequence[CellRef], cell: CellRef, held: Mapping[CellRef, Scalar] | None = None
) -> dict[CellRef, float | None]:
    """Return d output / d cell (central difference) with `held` cells kept at their value.

    A formula cell is moved like an input; cells that feed it stay as they are. None where an output is no number.
    """
    value = recalc.number(cell)
    if value is None:
        return dict.fromkeys(outputs)
    step = step_of(value)
    fixed = {ref: kept for ref, kept in (held or {}).items() if ref != cell}
    up = run(recalc, {**fixed, cell: value + step}, outputs)
    down = run(recalc, {**fixed, cell: value - step}, outputs)
    return {ref: _slope(up[ref], down[ref], step) for ref in outputs}


def derivative(
    recalc: Recalc, output: CellRef, cell: CellRef, held: Mapping[CellRef, Scalar] | None = None
) -> float | None:
    """Return d output / d cell, see `derivatives`; 1 where both are the same cell."""
    return 1.0 if output == cell else derivatives(recalc, [output], cell, held)[output]


def _slope(up: float | None, down: float | None, step: float) -> float | None:
    return None if up is None or down is None else (up - down) / (2 * step)


def values_of(recalc: Recalc, cells: Sequence[CellRef]) -> dict[CellRef, Scalar]:
    """Return cells with their numbers, to hold them fixed in a run (cells without a number are left out)."""
    numbers = {cell: recalc.number(cell) for cell in cells}
    return {cell: number for cell, number in numbers.items() if number is not None}
