"""After the fact: the forecast against what came true, from a file that only the grader has."""

from __future__ import annotations

from decimal import Decimal

from xlcheck.actuals import Actual
from xlcheck.cells import CellRef, Tolerance
from xlcheck.checking import Credit, Finding, Fits, NotApplicable, Outcomes, Params, Unverifiable, check
from xlcheck.checks.sheet import timeline_of
from xlcheck.recompute import Recalc
from xlcheck.roles import LocatedSeries, Roles

NEAR = Decimal("0.1")
"""A tenth of the actual figure, unless the rubric says otherwise."""


@check("actuals.within")
def within(recalc: Recalc, roles: Roles, actuals: tuple[Actual, ...], params: Params) -> Outcomes:
    """The forecast came near what was reported later.

    What it holds:
        Each forecast figure for which the grader has the later actual lies within ``tolerance`` of it.
    Why it matters:
        An argument can be judged at once, its assumptions only by what happens.
    Accepted conventions:
        Any unit and currency scale of the sheet; a line that lacks the year is left out; partial credit by the share of
        figures that came near.
    Example:
        Revenue 2026 forecast at 1,310, reported in March 2027 at 1,120.
    How to fix:
        Nothing: this is no fault of the workbook, but its record.
    Units and tolerance:
        The line's unit; ``tolerance`` of the actual figure, a tenth unless stated.
    Source:
        The grader's file of actuals, each published after the cutoff.
    """
    stated = params.get("tolerance", NEAR)
    near = Tolerance(relative=float(stated) if isinstance(stated, Decimal) else float(NEAR), absolute=0.0)
    if not actuals:
        yield NotApplicable(reason="the grader has no later actuals for this task")
        return
    compared, missed = 0, 0
    for actual in actuals:
        line = roles.series.get(actual.role)
        cell = None if line is None else _of_year(recalc, line, actual.year)
        value = None if cell is None else recalc.number(cell)
        if line is None or cell is None or value is None:
            continue
        compared += 1
        wanted = actual.value / line.factor
        if not abs(value - wanted) <= near.relative * abs(wanted):
            missed += 1
            message = (
                f"{actual.role} {actual.year} was forecast at {value:,.6g}; {wanted:,.6g} came true ({actual.source})"
            )
            yield Finding(message=message, cell=cell, found=value, expected=wanted, unit=line.unit, tolerance=near)
    if not compared:
        yield Unverifiable(reason=f"no forecast for {actuals[0].role} {actuals[0].year} could be located")
    elif missed:
        yield Credit(credit=Decimal(compared - missed) / compared)
    else:
        yield Fits(convention=f"{compared} of {len(actuals)} actuals compared")


def _of_year(recalc: Recalc, line: LocatedSeries, year: int) -> CellRef | None:
    return next((cell for cell in line.cells if timeline_of(recalc, cell.sheet).year(cell) == year), None)
