"""The stub period between the valuation date and the end of the first forecast year."""

from __future__ import annotations

from datetime import date, timedelta

from xlcheck.cells import CellRef, Tolerance
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import valuation
from xlcheck.checks.bridge_sources import year_in
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles

_NEAR = 0.012
"""Years: four days."""


@check("discount.stub-fraction")
def stub_fraction(
    valuation_date: Located,
    fcff: LocatedSeries | None,
    fcfe: LocatedSeries | None,
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
    flows = fcff or fcfe
    found = _measured(roles, recalc, graph)
    if flows is None or found is None or valuation_date.value is None:
        yield NotApplicable(reason="no stub period: the first flow counts whole at a whole or a half year")
        return
    start = date(1904, 1, 1) if recalc.book.calc.date1904 else date(1899, 12, 30)
    valued = start + timedelta(days=int(valuation_date.value))
    end = _first_end(flows, period, start, recalc)
    if end is None or not 0 <= (end - valued).days <= 366:
        yield Unverifiable(reason="the end of the first forecast period is not known beside the valuation date")
        return
    remaining = (end - valued).days / 365
    for name, length in found:
        if abs(length - remaining) <= _NEAR:
            yield Fits(convention=f"stub of {length:.4g} years ({name})")
            return
    name, length = found[0]
    if abs(length - (1 - remaining)) <= _NEAR and abs(remaining - 0.5) > 2 * _NEAR:
        where = _cell_of(length, flows.cells[0], roles, recalc, graph)
        message = f"the stub counts {length:.4g} years, the part elapsed by {valued}; {remaining:.4g} years remain"
        near = Tolerance(relative=0, absolute=_NEAR)
        yield Finding(message=message, cell=where, found=length, expected=remaining, unit="years", tolerance=near)
        return
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
    if abs(first - 0.5) > _NEAR and abs(first - 1) > _NEAR and 0 < first < 1:
        mid = later is not None and abs(later - (2 * first + 0.5)) <= _NEAR
        found.append(("exponent of the first flow", 2 * first if mid else first))
    return found or None


def _first_end(flows: LocatedSeries, period: LocatedSeries | None, start: date, recalc: Recalc) -> date | None:
    """Return the end of the first period: its date, else the end of the calendar year that heads it."""
    if period is None or not period.cells:
        return None
    shown = period.values[0]
    if shown is not None and 20_000 < shown < 80_000:
        return start + timedelta(days=int(shown))
    year = year_in(period.cells[0], recalc)
    return date(year, 12, 31) if year is not None else None


def _cell_of(length: float, flow: CellRef, roles: Roles, recalc: Recalc, graph: Graph) -> CellRef:
    """Return the cell that holds the stub length: a precedent of the first present value or exponent, nearest first."""
    starts = [
        line.cells[0] for role in ("pv_fcff", "discount_period", "discount_factor") if (line := roles.series.get(role))
    ]
    fresh, seen = starts, set(starts)
    for _ in range(4):
        following: list[CellRef] = []
        for cell in fresh:
            for before in graph.precedents(cell):
                value = recalc.number(before)
                if value is not None and abs(value - length) < 1e-9:
                    return before
                if before not in seen and before != flow:
                    seen.add(before)
                    following.append(before)
        fresh = following
    return starts[0] if starts else flow
