"""Whether sensitivity grids show what the model gives."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from xlcheck.cells import CellError, CellRef, RangeRef, is_number
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks.basis import grids_in_points
from xlcheck.checks.live import run
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.roles.grids import AXIS_ROLES, Axis, SensitivityGrid, centre_cell, display_unit, find_grids

NO_GRID = "the workbook has no sensitivity grid whose axes could be told"
MOST_CELLS = 81
TOLERANCE = 1e-6
"""Relative, for grids of formulas and of numbers at full precision."""


@check("sensitivity.grid-recomputed", consequence_of=("basis.percent-scale", "sensitivity.input-is-the-driver"))
def grid_recomputed(recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """Each cell of a sensitivity grid is what the model gives with those two inputs.

    What it holds:
        Setting the two inputs of a grid to the values of its axes, the live model returns the number that the grid
        shows, cell by cell, data tables included.
    Why it matters:
        A grid pasted from an older run, or one that moves half the model, gives false comfort about the range.
    Accepted conventions:
        Typed grids at their own decimals; grids of another output than value per share (enterprise value, upside); data
        tables that were never calculated; rounded bases.
    Example:
        At 17.7 % and 2 % the grid says 1,191 and the model gives 363.
    How to fix:
        Recalculate the table (F9), or build it as a data table on the live inputs.
    Units and tolerance:
        The unit of the grid; half a unit of a typed number's last digit, else 1e-6.
    Source:
        CFA Institute, Equity Asset Valuation (sensitivity analysis); Excel documentation of data tables.
    """
    grids = find_grids(recalc, graph, roles)
    for area in grids_in_points(recalc):
        message = f"{area} discounts at percent points as if they were fractions: no cell is what the model gives"
        yield Finding(message=message, cell=area, found=recalc.number(next(area.cells())), expected=None)
    compared = 0
    for grid in grids:
        wrong = _wrong_cells(recalc, grid)
        if wrong is None:
            continue
        compared += 1
        yield from _grid_findings(recalc, grid, wrong)
    if not grids:
        yield NotApplicable(reason=NO_GRID)
    elif not compared:
        yield Unverifiable(reason=f"what the grid {grids[0].area} shows could not be told from the model")


def model_value(recalc: Recalc, grid: SensitivityGrid, ref: CellRef) -> float | None:
    """Return what the live model gives for a cell of a grid, or None."""
    if grid.table is not None:
        return recalc.number(ref)
    if grid.output is None:
        return None
    changes: dict[CellRef, float] = {}
    for axis, value in grid.axes_at(ref):
        if axis.input is None:
            return None
        changes[axis.input] = value * axis.scale
    return run(recalc, changes, [grid.output])[grid.output]


def shown_value(recalc: Recalc, grid: SensitivityGrid, ref: CellRef) -> float | None:
    """Return what a grid shows: the stored value of a data table, else the recomputed or typed number."""
    if grid.table is not None:
        held = recalc.book.get(ref)
        return float(held.stored) if held is not None and is_number(held.stored) else None  # type: ignore[arg-type]
    return recalc.number(ref)


def _wrong_cells(recalc: Recalc, grid: SensitivityGrid) -> dict[CellRef, tuple[float, float]] | None:
    """Return the cells that differ, with what they show and what the model gives; None if nothing can be compared."""
    if grid.output is None or grid.area.size > MOST_CELLS or not _moves(recalc, grid):
        return None
    wrong, compared = {}, 0
    for ref in grid.area.cells():
        shown, given = shown_value(recalc, grid, ref), model_value(recalc, grid, ref)
        if shown is None or given is None:
            continue
        compared += 1
        if abs(shown - given) > max(TOLERANCE * max(abs(shown), abs(given)), display_unit(recalc, ref)):
            wrong[ref] = (shown, given)
    if grid.table is None and not grid.output_sure and len(wrong) == compared and not _same_size(wrong):
        return None
    return wrong if compared or grid.table is not None else None


def _moves(recalc: Recalc, grid: SensitivityGrid) -> bool:
    """Say whether the output moves when an axis input moves: else the grid is of another model."""
    area = grid.area
    rows, columns = (area.first_row, area.last_row), (area.first_column, area.last_column)
    values = [model_value(recalc, grid, CellRef(area.sheet, row, column)) for row in rows for column in columns]
    return None not in values and len(set(values)) > 1


def _same_size(wrong: dict[CellRef, tuple[float, float]]) -> bool:
    """Say whether shown and given numbers are at least of one order: the same output of another run."""
    ratios = sorted(abs(shown / given) for shown, given in wrong.values() if given)
    return bool(ratios) and 0.1 < ratios[len(ratios) // 2] < 10


def _grid_findings(
    recalc: Recalc, grid: SensitivityGrid, wrong: dict[CellRef, tuple[float, float]]
) -> Iterator[Finding]:
    if len(wrong) * 2 > grid.area.size:
        ref, (shown, given) = next(iter(wrong.items()))
        yield Finding(
            message=f"{len(wrong)} of {grid.area.size} cells differ from the model: {ref} shows {shown:,.6g}, "
            f"the model gives {given:,.6g}",
            cell=grid.area,
            found=shown,
            expected=given,
        )
        return
    for ref, (shown, given) in wrong.items():
        yield Finding(
            message=f"{ref} shows {shown:,.6g}; with its two inputs the model gives {given:,.6g}",
            cell=ref,
            found=shown,
            expected=given,
        )


@check("sensitivity.live", severity="warn")
def live(recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """Sensitivity grids follow the model.

    What it holds:
        The cells of a grid are formulas or a data table, not typed numbers.
    Why it matters:
        A typed grid is right until the first assumption changes.
    Accepted conventions:
        Typed grids in a memo, with their date; snapshots named so.
    Example:
        25 typed values that equal today's model to the cent.
    How to fix:
        Build the grid as a data table.
    Units and tolerance:
        None.
    Source:
        FAST Standard 4.01.
    """
    grids = find_grids(recalc, graph, roles)
    for grid in grids:
        if not grid.live:
            yield Finding(message=f"the grid {grid.area} is typed", cell=grid.area, found="typed", expected="live")
            corner = CellRef(grid.area.sheet, grid.area.first_row - 1, max(1, grid.area.first_column - 1))
            if isinstance(recalc.value(corner), CellError):
                yield Finding(
                    message=f"{corner}, the corner of a table that no longer calculates, is {recalc.value(corner)}",
                    cell=corner,
                    found=str(recalc.value(corner)),
                    expected="the output of the table",
                )
    if not grids:
        yield NotApplicable(reason=NO_GRID)


@check("sensitivity.input-is-the-driver")
def input_is_the_driver(recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """A data table moves the input that its axis names.

    What it holds:
        The input cell of a data table whose axis runs over discount rates (growth rates, multiples) drives the rate
        (growth, multiple) of the valuation, not one year's copy of it, a cell beside it or the other axis's input.
    Why it matters:
        Moving one year's rate shifts the price by cents: the table says the value hardly depends on the rate.
    Accepted conventions:
        Inputs upstream of the rate, deltas and override cells; tables over other assumptions.
    Example:
        The row input is ``E3``, the rate of 2028 only; the valuation reads five yearly rates.
    How to fix:
        Let all years read one rate, and give the table that cell.
    Units and tolerance:
        None: decided on the formula graph.
    Source:
        Excel documentation of data tables.
    """
    tables = [grid for grid in find_grids(recalc, graph, roles) if grid.table is not None]
    for grid in tables:
        for axis in (one for one in (grid.top, grid.left) if one is not None):
            twin, missed = _twin(recalc, graph, roles, grid, axis), _missed(recalc, graph, roles, grid, axis)
            if twin is not None or missed is not None:
                how = "which holds the value of" if twin is not None else "but its axis runs over the values of"
                message = f"the table {grid.area} moves {axis.input}, {how} {twin or missed} and does not drive it"
                yield Finding(message=message, cell=grid.area, found=str(axis.input), expected=str(twin or missed))
    if not tables:
        yield NotApplicable(reason="the workbook has no data table")


def _missed(recalc: Recalc, graph: Graph, roles: Roles, grid: SensitivityGrid, axis: Axis) -> CellRef | None:
    """Return the driver that an axis means, where its values go into another cell.

    Two of three must hold: the driver's own value stands on the axis, the table's other axis goes into the driver, and
    the value of the cell that is moved lies outside the axis.
    """
    own = recalc.number(axis.input) if axis.input is not None else None
    if axis.input is None or own is None or grid.output is None or _on_axis(own, axis):
        return None
    driven = graph.descendants([axis.input])
    across = {other.input for other in (grid.top, grid.left) if other is not None and other is not axis}
    for role in AXIS_ROLES:
        located = roles.scalars.get(role)
        cell = located.cell if located is not None else None
        if located is None or cell is None or not located.value or cell in driven or cell == axis.input:
            continue
        marks = [_on_axis(located.value, axis), cell in across, not min(axis.values) <= own <= max(axis.values)]
        around = min(axis.values) <= located.value <= max(axis.values)
        if sum(marks) >= 2 and around and cell in graph.ancestors([grid.output]):
            return cell
    return None


def _on_axis(value: float, axis: Axis) -> bool:
    return any(_same_number(one, value) for one in axis.values)


def _same_number(one: float, other: float | None) -> bool:
    """Say whether two numbers are one but for the last bits of arithmetic; zero is none."""
    return bool(other) and abs(one - (other or 0.0)) <= 1e-9 * abs(other or 0.0)


def _twin(recalc: Recalc, graph: Graph, roles: Roles, grid: SensitivityGrid, axis: Axis) -> CellRef | None:
    """Return the driver that a data table misses: it is behind the output and holds the value of the input."""
    if axis.role is not None or axis.looks_like is None or axis.input is None:
        return None
    driver = roles.scalars[axis.looks_like].cell
    if driver is None or grid.output is None or driver not in graph.ancestors([grid.output]):
        return None
    if graph.pure_link(axis.input) == graph.pure_link(driver):
        return None
    value, held = recalc.number(axis.input), recalc.number(driver)
    return driver if value is not None and value == held else None


@check("sensitivity.reprices-all", consequence_of=("sensitivity.grid-recomputed",))
def reprices_all(recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """A grid over the discount rate reprices the explicit flows as well as the terminal value.

    What it holds:
        No live grid equals the model with the present value of the explicit flows held at the base rate.
    Why it matters:
        Part of the value then ignores the rate, and the range comes out too narrow.
    Accepted conventions:
        Grids over growth and multiple, which leave the explicit flows alone.
    Example:
        Every cell is the base sum of present values plus a terminal value at the axis rate.
    How to fix:
        Discount the flows at the axis rate too, or use a data table.
    Units and tolerance:
        The unit of the grid; 1e-6.
    Source:
        Koller et al., Valuation, ch. 17 (scenarios and sensitivities).
    """
    held = _explicit_values(recalc, roles)
    grids = [grid for grid in find_grids(recalc, graph, roles) if grid.live and grid.table is None and held]
    seen = False
    for grid in grids:
        wrong = _wrong_cells(recalc, grid)
        seen = seen or wrong is not None
        if wrong and len(wrong) > 1 and _is_half_priced(recalc, grid, wrong, held):
            yield Finding(
                message=f"the grid {grid.area} keeps the present value of the explicit flows at the base rate",
                cell=grid.area,
                found=next(iter(wrong.values()))[0],
                expected=next(iter(wrong.values()))[1],
            )
    if not seen:
        yield NotApplicable(reason="the workbook has no grid of formulas over the discount rate")


def _explicit_values(recalc: Recalc, roles: Roles) -> dict[CellRef, float]:
    located = roles.scalars.get("sum_pv_fcff")
    cells = (
        [located.cell]
        if located and located.cell
        else list(roles.series["pv_fcff"].cells)
        if "pv_fcff" in roles.series
        else []
    )
    return {cell: value for cell in cells if (value := recalc.number(cell)) is not None}


def _is_half_priced(
    recalc: Recalc, grid: SensitivityGrid, wrong: dict[CellRef, tuple[float, float]], held: dict[CellRef, float]
) -> bool:
    if grid.output is None:
        return False
    for ref, (shown, _) in wrong.items():
        changes = dict(held)
        for axis, value in grid.axes_at(ref):
            if axis.input is not None:
                changes[axis.input] = value * axis.scale
        given = run(recalc, changes, [grid.output])[grid.output]
        if given is None or abs(given - shown) > 1e-5 * max(abs(given), abs(shown)):
            return False
    return True


def centre_of(grid: SensitivityGrid) -> CellRef:
    """Return the middle cell of a grid."""
    area: RangeRef = grid.area
    return CellRef(area.sheet, (area.first_row + area.last_row) // 2, (area.first_column + area.last_column) // 2)


@check("sensitivity.centre-is-base", consequence_of=("sensitivity.grid-recomputed",))
def centre_is_base(recalc: Recalc, graph: Graph, roles: Roles) -> Outcomes:
    """The grid is built around the model's own assumptions, and shows its value there.

    What it holds:
        Each axis of odd length has the base within half a step of its middle, or somewhere on it; and the cell at the
        base shows the headline value.
    Why it matters:
        A grid around another base is a grid of another valuation.
    Accepted conventions:
        A base rounded to the step of the axis; a base off the middle but on the axis; an even number of values around
        the base.
    Example:
        The axis is centred on 17.7 %, the model discounts at 15.98 %.
    How to fix:
        Link the middle of each axis to the assumption.
    Units and tolerance:
        Half a step of the axis; half a unit of a typed value's last digit, else 1e-6.
    Source:
        FAST Standard (one source for each number).
    """
    grids = [grid for grid in find_grids(recalc, graph, roles) if _has_bases(recalc, grid)]
    for grid in grids:
        axis = next((axis for axis in (grid.top, grid.left) if axis and _is_off_centre(recalc, axis)), None)
        cell = centre_cell(recalc, grid)
        if axis is not None:
            middle, base = sorted(axis.values)[len(axis.values) // 2], recalc.number(axis.input) if axis.input else None
            for where in (centre_of(grid), axis.cells[axis.values.index(middle)]):
                yield Finding(
                    message=f"the grid {grid.area} is centred on {middle:g}; the model's {axis.role} is {base:g}",
                    cell=where,
                    found=middle,
                    expected=base,
                )
        elif cell is not None and grid.output is not None:
            yield from _off_base(recalc, grid, cell)
    if not grids:
        yield NotApplicable(reason=NO_GRID)


def _has_bases(recalc: Recalc, grid: SensitivityGrid) -> bool:
    axes = [axis for axis in (grid.top, grid.left) if axis is not None]
    known = all(axis.role and axis.input and recalc.number(axis.input) is not None for axis in axes)
    return len(axes) == 2 and known


def _is_off_centre(recalc: Recalc, axis: Axis) -> bool:
    base = recalc.number(axis.input) if axis.input else None
    if base is None or axis.base(recalc) is not None or len(axis.values) % 2 == 0:
        return False
    held = base / axis.scale
    ordered = sorted(axis.values)
    steps = sorted(b - a for a, b in pairwise(ordered))
    return abs(ordered[len(ordered) // 2] - held) > 0.5001 * steps[len(steps) // 2]


def _off_base(recalc: Recalc, grid: SensitivityGrid, cell: CellRef) -> Iterator[Finding | Fits]:
    assert grid.output is not None
    shown, base = shown_value(recalc, grid, cell), recalc.number(grid.output)
    if shown is None or base is None:
        return
    if abs(shown - base) > max(TOLERANCE * max(abs(shown), abs(base)), display_unit(recalc, cell)):
        yield Finding(
            message=f"{cell} stands at the model's own inputs and shows {shown:,.6g}; the model gives {base:,.6g}",
            cell=cell,
            found=shown,
            expected=base,
        )
    elif cell != centre_of(grid):
        yield Fits(convention="the base stands on the axes, off the middle")
