"""The shape of sensitivity grids: their axes, their direction, and what they claim."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from xlcheck.cells import CellRef, RangeRef
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, check
from xlcheck.checks.headline import output_cells
from xlcheck.checks.live import run
from xlcheck.checks.sensitivity import NO_GRID, shown_value
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.roles.grids import Axis, SensitivityGrid, find_grids

RATE_ROLES = ("wacc", "terminal_wacc", "cost_of_equity")


@check("sensitivity.even-steps")
def even_steps(recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """The axes of a grid run in order and in even steps.

    What it holds:
        The values of each axis rise (or fall) throughout, by one step, but for an inserted base.
    Why it matters:
        An axis out of order, or with a step left out, makes neighbours look closer than they are.
    Accepted conventions:
        The exact base inserted between round values, or in place of the nearest one; geometric steps; low, base, high.
    Example:
        9 %, 10 %, 11.68 %, 11 %, 12 %.
    How to fix:
        Build the axis from the base and a step.
    Units and tolerance:
        1e-6 of a step.
    Source:
        FAST Standard (consistent structure).
    """
    grids = find_grids(recalc, graph, roles)
    for grid in grids:
        for axis in (grid.top, grid.left):
            odd = _odd_value(recalc, axis) if axis is not None else None
            if axis is not None and odd is not None:
                yield Finding(
                    message=f"{odd} is out of step on its axis: {', '.join(f'{value:g}' for value in axis.values[:7])}",
                    cell=odd,
                    found=recalc.number(odd),
                    expected="even steps in order",
                )
    if not grids:
        yield NotApplicable(reason=NO_GRID)


def _odd_value(recalc: Recalc, axis: Axis) -> CellRef | None:
    """Return the axis cell that is out of order or out of step, or None."""
    values = axis.values
    rising = values[-1] > values[0]
    for index in range(1, len(values) - 1):
        before, here, after = values[index - 1 : index + 2]
        if not (before < here < after if rising else before > here > after):
            out = index if (before < after) == rising else index + 1
            return axis.cells[out]
    if len(values) < 4 or _is_even(values):
        return None
    base = axis.base(recalc)
    for index in range(len(values)):
        rest = [*values[:index], *values[index + 1 :]]
        if _is_even(rest) or (index == base and _is_replaced(values, index)):
            return None
    lone = [index for index in range(len(values)) if _is_replaced(values, index)]
    return axis.cells[lone[0]] if len(lone) == 1 else None


def _is_even(values: Sequence[float]) -> bool:
    """Say whether the values are an arithmetic or a geometric progression."""
    steps = [b - a for a, b in pairwise(values)]
    if max(steps) - min(steps) <= 1e-6 * max(map(abs, values)):
        return True
    if any(value <= 0 for value in values):
        return False
    ratios = [b / a for a, b in pairwise(values)]
    return max(ratios) - min(ratios) <= 1e-6


def _is_replaced(values: Sequence[float], index: int) -> bool:
    """Say whether the other values are even with a gap at one place."""
    if not 0 < index < len(values) - 1:
        return False
    middle = (values[index - 1] + values[index + 1]) / 2
    return _is_even([*values[:index], middle, *values[index + 1 :]])


@check("sensitivity.no-invalid-cells")
def no_invalid_cells(recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """A grid shows no price where growth reaches the discount rate.

    What it holds:
        Cells of a rate-and-growth grid with growth at or above the rate hold no number.
    Why it matters:
        The perpetuity has no value there: the formula returns a negative or exploding number that is no price.
    Accepted conventions:
        "n/a", an error or an empty cell; terminal values by multiple.
    Example:
        At 6 % and 8 % growth the grid shows -35,934.
    How to fix:
        Cut the axes, or return text where growth is not below the rate.
    Units and tolerance:
        None.
    Source:
        Damodaran, Investment Valuation, ch. 12 (stable growth below the rate).
    """
    grids = [grid for grid in find_grids(recalc, graph, roles) if _rate_axis(grid) and _growth_axis(grid)]
    for grid in grids:
        bad = [
            ref for ref in grid.area.cells() if _is_invalid(grid, ref) and shown_value(recalc, grid, ref) is not None
        ]
        for ref in bad[:12]:
            shown = shown_value(recalc, grid, ref)
            yield Finding(
                message=f"{ref} shows {shown:,.6g} where growth is not below the discount rate",
                cell=ref,
                found=shown,
                expected="no value",
            )
    if not grids:
        yield NotApplicable(reason="the workbook has no grid of discount rate and growth")


def _rate_axis(grid: SensitivityGrid) -> Axis | None:
    return next((axis for axis in (grid.top, grid.left) if axis and axis.role in RATE_ROLES), None)


def _growth_axis(grid: SensitivityGrid) -> Axis | None:
    return next((axis for axis in (grid.top, grid.left) if axis and axis.role == "terminal_growth"), None)


def _is_invalid(grid: SensitivityGrid, ref: CellRef) -> bool:
    rate, growth = _rate_axis(grid), _growth_axis(grid)
    held = {axis.role: value * axis.scale for axis, value in grid.axes_at(ref)}
    assert rate is not None
    assert growth is not None
    return held[growth.role] >= held[rate.role]


@check("sensitivity.monotonic", consequence_of=("sensitivity.grid-recomputed",))
def monotonic(recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """Along an axis the grid moves one way.

    What it holds:
        In each row and column, in the order of the axis, the values rise throughout or fall throughout.
    Why it matters:
        A value that jumps back is in the wrong place or from another run.
    Accepted conventions:
        Axes out of order are sorted first; cells where growth reaches the rate are left out; equal neighbours at the
        displayed decimals.
    Example:
        8,521.8 (the base) pasted into the 11 % row between 7,800 and 7,600.
    How to fix:
        Recalculate the cell.
    Units and tolerance:
        The unit of the grid.
    Source:
        Gordon growth model: value falls in the rate and rises in growth.
    """
    grids = find_grids(recalc, graph, roles)
    for grid in grids:
        yield from _jumps(recalc, grid)
    if not grids:
        yield NotApplicable(reason=NO_GRID)


def _jumps(recalc: Recalc, grid: SensitivityGrid) -> Iterator[Finding]:
    """Yield the cells that go against the direction which most of their neighbours follow."""
    against: dict[CellRef, int] = {}
    for axis, lines in ((grid.top, _rows(grid.area)), (grid.left, _columns(grid.area))):
        if axis is None:
            continue
        order = sorted(range(len(axis.values)), key=lambda index: axis.values[index])
        for line in lines:
            refs = [line[index] for index in order if not _excluded(grid, line[index])]
            for ref in _out_of_line(recalc, grid, refs):
                against[ref] = against.get(ref, 0) + 1
    for ref, count in against.items():
        if count == 2 or grid.top is None or grid.left is None:
            yield Finding(
                message=f"{ref} breaks the direction of its row and column",
                cell=ref,
                found=shown_value(recalc, grid, ref),
                expected="a value between its neighbours",
            )


def _rows(area: RangeRef) -> list[list[CellRef]]:
    cells = list(area.cells())
    return [[ref for ref in cells if ref.row == row] for row in sorted({ref.row for ref in cells})]


def _columns(area: RangeRef) -> list[list[CellRef]]:
    cells = list(area.cells())
    return [[ref for ref in cells if ref.column == column] for column in sorted({ref.column for ref in cells})]


def _excluded(grid: SensitivityGrid, ref: CellRef) -> bool:
    return bool(_rate_axis(grid) and _growth_axis(grid)) and _is_invalid(grid, ref)


def _out_of_line(recalc: Recalc, grid: SensitivityGrid, refs: Sequence[CellRef]) -> list[CellRef]:
    """Return the single cell whose removal leaves a line that moves one way, if the line does not."""
    values = [shown_value(recalc, grid, ref) for ref in refs]
    held = [(ref, value) for ref, value in zip(refs, values, strict=True) if value is not None]
    numbers = [value for _, value in held]
    if len(held) < 4 or _one_way(numbers):
        return []
    removable = [index for index in range(len(held)) if _one_way([*numbers[:index], *numbers[index + 1 :]])]
    return [held[index][0] for index in removable]


def _one_way(values: Sequence[float]) -> bool:
    steps = [b - a for a, b in pairwise(values)]
    return all(step >= 0 for step in steps) or all(step <= 0 for step in steps)


_CLAIM = re.compile(
    r"most sensitive (?:to|input|driver|assumption|variable)\W*(?:is|are|:|to)?\s*(?:the\s+)?([\w\s%-]{2,40})",
    re.IGNORECASE,
)
_CLAIMED = {
    "wacc": ("wacc", "discount rate", "cost of capital"),
    "terminal_growth": ("terminal growth", "perpetual growth", "perpetuity growth", "long-term growth"),
    "exit_multiple": ("exit multiple", "terminal multiple"),
    "tax_rate": ("tax rate",),
}


@check("sensitivity.most-sensitive-input")
def most_sensitive_input(recalc: Recalc, roles: Roles) -> Outcomes:
    """The input named as most sensitive is the one that moves the value most.

    What it holds:
        Where the workbook names its most sensitive input, moving that input by one percent of itself moves the headline
        more than any other input it could be compared with.
    Why it matters:
        The reader watches the input that the author names.
    Accepted conventions:
        No claim; inputs that are not located are not compared; ties within a tenth.
    Example:
        "Most sensitive to the tax rate" where one percent of WACC moves the value five times as far.
    How to fix:
        Correct the sentence.
    Units and tolerance:
        Percent of value per percent of input.
    Source:
        Saltelli et al., Global Sensitivity Analysis (elasticities).
    """
    output = next(iter(output_cells(roles).values()), None)
    claims = [(cell.ref, claim) for cell in recalc.book.cells() if (claim := _claim(cell.stored))]
    if output is None or not claims:
        yield NotApplicable(reason="the workbook names no most sensitive input")
        return
    moves = {role: move for role in _CLAIMED if (move := _elasticity(recalc, roles, output, role)) is not None}
    for ref, claim in claims:
        strongest = max(moves, key=lambda role: moves[role], default=None)
        if claim in moves and strongest is not None and moves[strongest] > 1.1 * moves[claim]:
            yield Finding(
                message=f"{ref} names {claim} as most sensitive; {strongest} moves the value further",
                cell=ref,
                found=moves[claim],
                expected=moves[strongest],
            )
        elif claim in moves:
            yield Fits(convention=f"{claim} moves the value most of the inputs compared")


def _claim(text: object) -> str | None:
    found = _CLAIM.search(text) if isinstance(text, str) else None
    words = found[1].casefold() if found else ""
    return next((role for role, names in _CLAIMED.items() if any(name in words for name in names)), None)


def _elasticity(recalc: Recalc, roles: Roles, output: CellRef, role: str) -> float | None:
    located = roles.scalars.get(role)
    base = recalc.number(output)
    if located is None or located.cell is None or not located.value or not base:
        return None
    moved = run(recalc, {located.cell: located.value * 1.01}, [output])[output]
    return None if moved is None else abs(moved / base - 1) / 0.01
