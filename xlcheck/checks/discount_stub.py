"""The stub period between the valuation date and the end of the first forecast year."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise

from xlcheck.cells import CellRef, Tolerance
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import claims, valuation
from xlcheck.checks.bridge_sources import year_in
from xlcheck.formula import Ref, factors
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles

_NEAR = 0.012
"""Years: four days."""


@check("discount.stub-fraction")
def stub_fraction(
    valuation_date: Located,
    period: LocatedSeries | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The stub counts the part of the first year that remains after the valuation date.

    What it holds:
        Where the first flow is prorated or its exponent tells a stub, its length is the time from the valuation date to
        the end of the first period, not the time already elapsed.
    Why it matters:
        The elapsed part counts cash that is already in the balance sheet and shifts every later discount period.
    Accepted conventions:
        No stub; a whole first flow under stub exponents; 360, 365 and 365.25 days; fiscal years that end in any month
        where the periods are dates.
    Example:
        Valuation on 31 March: 275 of 365 days remain; 90/365 is the elapsed part.
    How to fix:
        ``=(end of first period-valuation date)/365``.
    Units and tolerance:
        Years; 0.012.
    Source:
        Koller et al., Valuation, ch. 6.
    """
    flows = valuation.flows_of(roles)
    found = _measured(roles, recalc, graph)
    if flows is None or found is None or valuation_date.value is None:
        yield NotApplicable(reason="no stub period: the first flow counts whole at a whole or a half year")
        return
    start = date(1904, 1, 1) if recalc.book.calc.date1904 else date(1899, 12, 30)
    valued = start + timedelta(days=int(valuation_date.value))
    dated = _dated_end(flows, int(valuation_date.value), recalc)
    end = start + timedelta(days=dated) if dated is not None else _first_end(flows, period, start, recalc)
    if end is None or not 0 <= (end - valued).days <= 366:
        yield Unverifiable(reason="the end of the first forecast period is not known beside the valuation date")
        return
    remaining = (end - valued).days / 365
    elapsed = [(name, length) for name, length in found if abs(length - (1 - remaining)) <= _NEAR]
    if elapsed and abs(remaining - 0.5) > 2 * _NEAR:
        length = elapsed[0][1]
        where = _cell_of(length, flows.cells[0], roles, recalc, graph)
        message = f"the stub counts {length:.4g} years, the part elapsed by {valued}; {remaining:.4g} years remain"
        near = Tolerance(relative=0, absolute=_NEAR)
        yield Finding(message=message, cell=where, found=length, expected=remaining, unit="years", tolerance=near)
        return
    for name, length in found:
        if abs(length - remaining) <= _NEAR:
            yield Fits(convention=f"stub of {length:.4g} years ({name})")
            return
    length = found[0][1]
    yield Unverifiable(
        reason=f"the stub of {length:.4g} years is neither the remaining {remaining:.4g} nor the elapsed part"
    )


def _measured(roles: Roles, recalc: Recalc, graph: Graph) -> list[tuple[str, float]] | None:
    """Return the stub length as the counted part of the first flow, and as its exponents tell it."""
    read, weighed = valuation.exponents(roles, recalc, graph), valuation.weights(roles, recalc, graph)
    rate = valuation.rate_of(roles)
    if read is None or not read.known or rate is None or not rate.amount:
        return None
    first, later = read.known[0], read.known[1] if len(read.known) > 1 else None
    found = []
    weight = weighed.flows[0] if weighed is not None else None
    if weight is not None:
        part = weight * (1 + rate.amount) ** first
        if 0.01 < part < 0.99:
            found.append(("part of the first flow that is counted", part))
    part = _prorated(roles, recalc)
    if part is not None:
        found.append(("part of the first year in the flow itself", part))
    if abs(first - 0.5) > _NEAR and abs(first - 1) > _NEAR and 0 < first < 1:
        mid = later is not None and abs(later - (2 * first + 0.5)) <= _NEAR
        found.append(("exponent of the first flow", 2 * first if mid else first))
    return found or None


def _prorated(roles: Roles, recalc: Recalc) -> float | None:
    """Return the part of a year that the first flow is multiplied by where its formula takes a whole one next year."""
    flows = valuation.flows_of(roles)
    if flows is None or len(flows.cells) < 2:
        return None
    found: list[list[float | None]] = []
    for cell in flows.cells[:2]:
        node = claims.formula_node(cell, recalc)
        parts = [part for part, power in (factors(node) if node is not None else ()) if power == 1]
        found.append([recalc.number(part.cell) if isinstance(part, Ref) else None for part in parts])
    first, second = found
    pairs = zip(first, second, strict=True) if len(first) == len(second) == 2 else ()
    return next((part for part, whole in pairs if whole == 1 and part is not None and 0.01 < part < 0.99), None)


def _dated_end(flows: LocatedSeries, valued: int, recalc: Recalc) -> int | None:
    """Return the latest date in the column of the first flow, as a serial number, that dates its period's end.

    A row of dates shows by the next two columns, each a year on; it lies within a year of the valuation date.
    """
    first, sheet = flows.cells[0], recalc.book.sheet(flows.cells[0].sheet)
    if sheet is None or len(flows.cells) < 3 or flows.cells[1].row != first.row:
        return None
    found: list[int] = []
    for row in {place for place, column in sheet.cells if column == first.column}:
        held = [recalc.number(CellRef(first.sheet, row, cell.column)) for cell in flows.cells[:3]]
        if None in held:
            continue
        days = [value or 0.0 for value in held]
        years = [later - earlier for earlier, later in pairwise(days)]
        whole = all(day == int(day) for day in days)
        if whole and 0 < days[0] - valued <= 366 and all(364 <= gap <= 367 for gap in years):
            found.append(int(days[0]))
    return max(found, default=None)


def _first_end(flows: LocatedSeries, period: LocatedSeries | None, start: date, recalc: Recalc) -> date | None:
    """Return the end of the first period: its date, else the end of the calendar year that heads it."""
    period = valuation.aligned(period, flows)
    if period is None or not period.cells:
        return None
    shown = period.values[0]
    if shown is not None and 20_000 < shown < 80_000:
        return start + timedelta(days=int(shown))
    year = year_in(period.cells[0], recalc)
    return date(year, 12, 31) if year is not None else None


def _cell_of(length: float, flow: CellRef, roles: Roles, recalc: Recalc, graph: Graph) -> CellRef:
    """Return the cell that holds the stub length: a precedent of the first present value or exponent, nearest first.

    The flow's own formula comes last.
    """
    starts = [
        line.cells[0] for role in ("pv_fcff", "discount_period", "discount_factor") if (line := roles.series.get(role))
    ]
    found = _holding(length, starts, {flow}, recalc, graph) or _holding(length, [flow], set(), recalc, graph)
    return found or (starts[0] if starts else flow)


def _holding(
    length: float, starts: list[CellRef], passed: set[CellRef], recalc: Recalc, graph: Graph
) -> CellRef | None:
    fresh, seen = starts, {*starts, *passed}
    for _ in range(4):
        following: list[CellRef] = []
        for cell in fresh:
            for before in graph.precedents(cell):
                value = recalc.number(before)
                if value is not None and abs(value - length) < 1e-9:
                    return graph.pure_link(before)
                if before not in seen:
                    seen.add(before)
                    following.append(before)
        fresh = following
    return None
