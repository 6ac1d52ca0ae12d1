"""What moves an output, and what does not: each numeric input moved by one per cent, all else equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xlcheck.cells import CellRef, as_number
from xlcheck.recompute import Recalc

STEP = 0.01
"""Relative move of an input; an input of zero is moved by this much absolutely."""


@dataclass(frozen=True, slots=True)
class Influence:
    """The effect of one input on one output."""

    input: CellRef
    output: CellRef
    value: float
    """The input as it stands, in the unit of its cell."""
    base: float
    """The output as it stands."""
    moved: float | None
    """The output with the input moved by `STEP`; None where it is then no number."""

    @property
    def elasticity(self) -> float | None:
        """Per cent of the output per one per cent of the input; None where either is zero or no number results."""
        if self.moved is None or self.base == 0.0 or self.value == 0.0:
            return None
        return (self.moved - self.base) / abs(self.base) / STEP

    @property
    def dead(self) -> bool:
        """True if the output did not move at all (relative 1e-12)."""
        return self.moved is not None and abs(self.moved - self.base) <= 1e-12 * max(1.0, abs(self.base))


def numeric_inputs(recalc: Recalc, outputs: Iterable[CellRef]) -> list[CellRef]:
    """Return the typed numbers that the outputs depend on through formulas, by sheet, row and column."""
    found = []
    for ref in recalc.graph.ancestors(outputs):
        cell = recalc.book.get(ref)
        if (
            cell is not None
            and cell.formula is None
            and ref not in recalc.values
            and as_number(cell.stored) is not None
        ):
            found.append(ref)
    return sorted(found)


def influence(recalc: Recalc, output: CellRef, inputs: Sequence[CellRef] | None = None) -> list[Influence]:
    """Return the effect of each input on the output, the strongest first; none if the output is no number.

    `inputs` default to every typed number that the output depends on. Values run through what-if, so loops
    settle and data tables fill anew.
    """
    base = recalc.number(output)
    if base is None:
        return []
    found = []
    for ref in numeric_inputs(recalc, [output]) if inputs is None else inputs:
        value = recalc.number(ref)
        if value is not None:
            answer = recalc.what_if_cells({ref: value * (1 + STEP) if value else STEP}, [output])
            found.append(Influence(ref, output, value, base, as_number(answer[output])))
    return sorted(
        found, key=lambda one: (-abs((one.moved or 0.0) - one.base) if one.moved is not None else 0.0, one.input)
    )


def moved_together(recalc: Recalc, output: CellRef, cells: Sequence[CellRef], by: float) -> float | None:
    """Return the output with all the given cells moved by that share of their value; None if it is no number."""
    values = ((ref, recalc.number(ref)) for ref in cells)
    changes = {ref: value * (1 + by) for ref, value in values if value is not None}
    return as_number(recalc.what_if_cells(changes, [output])[output])
