"""The value over discount rate and terminal growth, by the live model, with the submission's own grid beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xlcheck.cells import CellRef, RangeRef
from xlcheck.checking import Workpaper
from xlcheck.checks.live import run
from xlcheck.checks.sensitivity import TOLERANCE, shown_value
from xlcheck.roles.grids import Axis, SensitivityGrid, display_unit, find_grids

RATES = ("wacc", "terminal_wacc", "cost_of_equity")
LARGEST = 81
"""Cells of an own grid that is shown at most."""
_RATE_STEPS = (-0.02, -0.01, 0.0, 0.01, 0.02)
_GROWTH_STEPS = (-0.01, -0.005, 0.0, 0.005, 0.01)


class HeatMap(NamedTuple):
    """One value per pair of discount rate (down) and terminal growth (across); rates are decimals."""

    output: str
    """Role that the values are of, or the address of the cell."""
    rates: tuple[float, ...]
    growths: tuple[float, ...]
    model: tuple[tuple[float | None, ...], ...]
    """By rate, then by growth; None where growth is not below the rate, or the model gives no number."""
    base: tuple[float | None, float | None]
    """The model's own rate and growth."""
    own: tuple[tuple[float | None, ...], ...] = ()
    """What the submission's grid shows in the same places; empty where it has none."""
    differs: frozenset[tuple[int, int]] = frozenset()
    """(rate, growth) positions at which the two are different numbers."""
    own_area: RangeRef | None = None


def heat_map(paper: Workpaper, role: str, output: CellRef) -> HeatMap | None:
    """Return the map over the axes of the submission's own grid of rate and growth, else around its base.

    None where the value moves with neither, or one of the two is bound to no cell.
    """
    own = next((grid for grid in find_grids(paper.recalc, paper.graph, paper.roles) if _usable(grid)), None)
    found = None if own is None else _beside(paper, role, output, own)
    return found or _around_the_base(paper, role, output)


def _usable(grid: SensitivityGrid) -> bool:
    roles = [axis.role for axis in (grid.top, grid.left) if axis is not None and axis.input is not None]
    rated = len(roles) == 2 and "terminal_growth" in roles and any(role in RATES for role in roles)
    return rated and grid.output is not None and grid.area.size <= LARGEST


def _beside(paper: Workpaper, role: str, output: CellRef, grid: SensitivityGrid) -> HeatMap | None:
    assert grid.top is not None
    assert grid.left is not None
    assert grid.output is not None
    across = grid.top.role == "terminal_growth"
    rate, growth = (grid.left, grid.top) if across else (grid.top, grid.left)
    shown = paper.graph.pure_link(grid.output)
    name = role if shown == paper.graph.pure_link(output) else str(shown)
    model = _values(paper, shown, _inputs(paper, rate), _inputs(paper, growth))
    if not _varied(model):
        return None
    first = grid.area.first_row, grid.area.first_column
    places = [
        [
            CellRef(grid.area.sheet, first[0] + (down if across else beside), first[1] + (beside if across else down))
            for beside in range(len(growth.values))
        ]
        for down in range(len(rate.values))
    ]
    own = tuple(tuple(shown_value(paper.recalc, grid, ref) for ref in row) for row in places)
    differs = frozenset(
        (down, beside)
        for down, row in enumerate(places)
        for beside, ref in enumerate(row)
        if _differs(own[down][beside], model[down][beside], display_unit(paper.recalc, ref))
    )
    rates, growths = (tuple(value for _, value in _inputs(paper, axis)[1]) for axis in (rate, growth))
    bases = _amount(paper, rate.role), _amount(paper, growth.role)
    return HeatMap(name, rates, growths, model, bases, own, differs, grid.area)


def _around_the_base(paper: Workpaper, role: str, output: CellRef) -> HeatMap | None:
    rate, growth = _axis(paper, "wacc", _RATE_STEPS), _axis(paper, "terminal_growth", _GROWTH_STEPS)
    if rate is None or growth is None or rate[0] == growth[0]:
        return None
    model = _values(paper, output, rate, growth)
    if not _varied(model):
        return None
    bases = _amount(paper, "wacc"), _amount(paper, "terminal_growth")
    return HeatMap(role, tuple(value for _, value in rate[1]), tuple(value for _, value in growth[1]), model, bases)


_Inputs = tuple[CellRef, Sequence[tuple[float, float]]]
"""The cell that is set, and for each step what is put into it and the rate that this is, as a decimal."""


def _inputs(paper: Workpaper, axis: Axis) -> _Inputs:
    assert axis.input is not None
    located = paper.roles.get(axis.role or "")
    factor = located.factor if located is not None else 1.0
    return axis.input, [(value * axis.scale, value * axis.scale * factor) for value in axis.values]


def _axis(paper: Workpaper, role: str, steps: Sequence[float]) -> _Inputs | None:
    located = paper.roles.get(role)
    if located is None or located.cell is None or located.amount is None:
        return None
    amounts = [located.amount + step for step in steps]
    return paper.graph.pure_link(located.cell), [(amount / located.factor, amount) for amount in amounts]


def _amount(paper: Workpaper, role: str | None) -> float | None:
    located = paper.roles.get(role or "")
    return located.amount if located is not None else None


def _values(paper: Workpaper, output: CellRef, rate: _Inputs, growth: _Inputs) -> tuple[tuple[float | None, ...], ...]:
    def value(put_rate: tuple[float, float], put_growth: tuple[float, float]) -> float | None:
        if put_growth[1] >= put_rate[1]:
            return None
        changes = {rate[0]: put_rate[0], growth[0]: put_growth[0]}
        return run(paper.recalc, changes, [output])[output]

    return tuple(tuple(value(down, beside) for beside in growth[1]) for down in rate[1])


def _varied(model: Sequence[Sequence[float | None]]) -> bool:
    """Say whether the value moves along both axes."""
    down = any(len({row[at] for row in model if row[at] is not None}) > 1 for at in range(len(model[0])))
    return down and any(len({value for value in row if value is not None}) > 1 for row in model)


def _differs(own: float | None, model: float | None, unit: float) -> bool:
    if own is None or model is None:
        return False
    return abs(own - model) > max(TOLERANCE * max(abs(own), abs(model)), unit)
