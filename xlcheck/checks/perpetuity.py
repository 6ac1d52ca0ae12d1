"""Reading a perpetuity: which next flow, rate and growth make the terminal value that stands in a cell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from xlcheck import dcf
from xlcheck.cells import CellRef
from xlcheck.checks import claims, memory, valuation
from xlcheck.checks.sheet import column_label, row_label, timeline_of
from xlcheck.formula import Binary, Number, Ref, factors, terms, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles

MOST_FADING = 30
"""Years over which a growth rate may fade to the long one."""

MOST_CELLS = 60
"""Cells behind a normalised flow that are looked at."""


@dataclass(frozen=True)
class Reading:
    """One way to come by the terminal value."""

    value: float
    words: str
    right: bool
    """False for a known mistake."""


@dataclass(frozen=True)
class Inputs:
    """What a perpetuity is built from, in the sheet's money and in decimal rates."""

    cell: CellRef
    value: float
    rate: float
    growth: float
    flows: tuple[float, ...]
    factors: tuple[float | None, ...]
    equity_rate: float | None
    """Cost of equity where it is not the rate itself."""
    main: bool
    """True where the cell feeds the output of the bound flows: a second method on other flows is not judged by them."""
    again: bool
    """True where the cell is discounted on its way to the output, so that it must hold no present value."""
    explicit: bool
    """True where the last flow is discounted as a year of its own: it cannot be the flow after that year too."""


def growth_cells(roles: Roles, recalc: Recalc, graph: Graph) -> list[CellRef]:
    """Return the formulas that divide by rate less growth: they read the growth and a rate, outside the flow rows."""
    flows = valuation.flows_of(roles)
    growth = valuation.readers(graph, roles.get("terminal_growth"))
    rates = frozenset[CellRef]().union(
        *(valuation.readers(graph, roles.get(role)) for role in ("wacc", "terminal_wacc", "cost_of_equity"))
    )
    below = memory.above(graph, flows.cells) if flows else frozenset()
    held = roles.get("terminal_value")
    taken = {
        located.cell for role, located in roles.scalars.items() if role not in ("terminal_value", "pv_terminal_value")
    }
    series = {cell for line in roles.series.values() for cell in line.cells}
    grid = {cell for line in roles.grids for cell in line.cells.cells()} | valuation.perpetual_factors(roles, graph)
    found = {cell for cell in growth & rates if cell not in below and cell not in taken and cell not in series}
    found = {cell for cell in found if cell not in grid and recalc.number(cell) is not None}
    if not found and held is not None and held.cell is not None and held.value is not None:
        above = memory.above(graph, [held.cell])
        if any(reader in above for reader in growth):
            found.add(held.cell)
    return sorted(found)


def inputs(cell: CellRef, roles: Roles, recalc: Recalc, graph: Graph, *, again: bool = False) -> Inputs | None:
    """Gather what the perpetuity in a cell is built from; None where rate, growth or flows are not known."""
    flows, rate, growth = valuation.flows_of(roles), valuation.terminal_rate_of(roles), roles.get("terminal_growth")
    value = recalc.number(cell)
    if flows is None or rate is None or growth is None or value is None:
        return None
    if rate.amount is None or growth.amount is None or None in flows.values or rate.amount == growth.amount:
        return None
    read = valuation.factors_of(roles, recalc, graph)
    ke = roles.get("cost_of_equity")
    other = ke.amount if ke is not None and ke.amount is not None and ke.cell != rate.cell else None
    later = valuation.left_behind(roles, [cell], recalc, graph)
    known = (*_numbers(flows.values), *_numbers(tuple(map(recalc.number, later))))
    factors = (*(read[0] if read is not None else (None,) * len(flows.cells)), *(None for _ in later))
    output = valuation.output_of(roles, graph, flows)
    main = output is not None and cell in memory.above(graph, [output])
    explicit = not later and _explicit(flows.cells[-1], roles, recalc, graph)
    return Inputs(cell, value, rate.amount, growth.amount, known, factors, other, main, again, explicit)


def added_to(cell: CellRef, growth: Located, recalc: Recalc, graph: Graph) -> float | None:
    """Return the rate to which a formula adds the growth where it divides, or None."""
    node = claims.formula_node(cell, recalc)
    root = graph.pure_link(growth.cell) if growth.cell is not None else None
    for part in walk(node) if node is not None else ():
        under = terms(part.right) if isinstance(part, Binary) and part.operator == "/" else ()
        pair = [one.cell for sign, one in under if sign > 0 and isinstance(one, Ref)]
        others = [one for one in pair if graph.pure_link(one) != root]
        if len(under) == len(pair) == 2 and len(others) == 1:
            value = recalc.number(others[0])
            return value if value is not None and 0 < value < 1 else None
    return None


def _explicit(last: CellRef, roles: Roles, recalc: Recalc, graph: Graph) -> bool:
    """Say whether the last flow counts in the output by itself and no heading calls its period a terminal one."""
    weighed = valuation.weights(roles, recalc, graph)
    weight = weighed.flows[-1] if weighed is not None and weighed.last_is_clean else None
    heading = column_label(recalc, last) if not timeline_of(recalc, last.sheet).runs_down(last) else ""
    labels = f"{heading} {row_label(recalc, last)}"
    return weight is not None and weight > 1e-6 and _TERMINAL.search(labels) is None


_TERMINAL = re.compile(r"termin|perpet|normali[sz]|steady|stable|residual|continuing|\btv\b|永续|终值|稳定|ewig", re.I)


def _numbers(values: tuple[float | None, ...]) -> tuple[float, ...]:
    return tuple(value for value in values if value is not None)


def readings(given: Inputs, roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Reading]:
    """Yield the accepted readings, then the known mistakes."""
    yield from _accepted(given, roles, recalc, graph)
    yield from _mistakes(given, roles)
    if given.equity_rate is not None and given.equity_rate > given.growth and given.main:
        name = "it is capitalised at the cost of equity, the flows are discounted at the WACC"
        for reading in _accepted(replace(given, rate=given.equity_rate), roles, recalc, graph):
            yield Reading(reading.value, name, right=False)


def _accepted(given: Inputs, roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Reading]:
    spread, last, growth = given.rate - given.growth, given.flows[-1], given.growth
    yield Reading(last * (1 + growth) / spread, "Gordon growth on the last flow, F·(1 + g)/(r - g)", right=True)
    yield from _on_nopat(given, roles, recalc, graph)
    yield from _fading(given, recalc, graph)
    half = (1 + given.rate) ** 0.5 if _mid_year(roles, recalc, graph) else None
    if half is not None:
        words = "Gordon growth on the last flow, carried from mid-year to its end, F·(1 + g)/(r - g)·(1 + r)^½"
        yield Reading(last * (1 + growth) / spread * half, words, right=True)
    factor = given.factors[-1]
    if factor and not given.again:
        for back in (1.0, (1 + given.rate) ** -0.5):
            present = last * (1 + growth) / spread * factor * back
            yield Reading(present, "Gordon growth, stated as a present value", right=True)
    for cell in _normalised(given, roles, graph):
        base = recalc.number(cell)
        if base is not None:
            yield Reading(base / spread, f"Gordon growth on the normalised flow {cell}", right=True)
            if half is not None:
                words = f"Gordon growth on the normalised flow {cell}, carried to the end of the year"
                yield Reading(base / spread * half, words, right=True)
            if not valuation.close(base, last * (1 + growth)):
                again = grown(cell, roles, recalc, graph)
                words = f"{cell}, which has grown by the terminal growth, grows again"
                words = words if again else f"Gordon growth on {cell}·(1 + g)"
                yield Reading(base * (1 + growth) / spread, words, right=not again)
    if not given.explicit:
        yield Reading(last / spread, "perpetuity on the last flow taken as the next one, F/(r - g)", right=True)


def _mid_year(roles: Roles, recalc: Recalc, graph: Graph) -> bool:
    read = valuation.exponents(roles, recalc, graph)
    return read is not None and any(timing.mid for timing in dcf.timings(read.known))


def _on_nopat(given: Inputs, roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Reading]:
    nopat = roles.series.get("nopat")
    if nopat is None or not nopat.values or nopat.values[-1] is None:
        return
    following = nopat.values[-1] * (1 + given.growth)
    yield Reading(following / given.rate, "convergence formula NOPAT/WACC (no value in growth)", right=True)
    for cell in graph.precedents(given.cell) if given.growth < given.rate else ():
        ronic = recalc.number(cell)
        if ronic is not None and 0.01 < ronic < 2:
            value = dcf.value_driver(following, given.rate, given.growth, ronic)
            yield Reading(value, f"value driver NOPAT·(1 - g/RONIC)/(WACC - g), RONIC {cell}", right=True)
            plain = dcf.gordon(following * (1 - ronic), given.rate, given.growth)
            yield Reading(plain, f"NOPAT·(1 - reinvestment rate {cell})/(WACC - g)", right=True)


def _fading(given: Inputs, recalc: Recalc, graph: Graph) -> Iterator[Reading]:
    """Yield the H-model on the last flow: growth fades in a line from a first rate to the long one, over 2·H years."""
    node = claims.formula_node(given.cell, recalc)
    typed = [part.value for part in walk(node) if isinstance(part, Number)] if node is not None else []
    cells = {cell: number for cell in graph.precedents(given.cell) if (number := recalc.number(cell)) is not None}
    spans = [span for span in (*cells.values(), *typed) if 1 <= span <= MOST_FADING]
    for cell, first in cells.items() if given.growth < given.rate else ():
        if not -0.5 < first < 1 or first in (given.growth, given.rate):
            continue
        for half in sorted({half for span in spans for half in (span, span / 2)}):
            value = dcf.h_model(given.flows[-1], given.rate, given.growth, first, half)
            words = f"H-model, growth fading from {first:.4g} ({cell}) over {2 * half:g} years"
            yield Reading(value, words, right=True)


def _normalised(given: Inputs, roles: Roles, graph: Graph) -> Iterator[CellRef]:
    """Yield what the perpetuity reads directly and may be a flow: no bound rate, factor, other year or other line."""
    named = {located.cell for located in roles.scalars.values()}
    lines = {cell for role, line in roles.series.items() for cell in line.cells if role not in ("fcff", "fcfe")}
    flows = valuation.flows_of(roles)
    years = set(flows.cells if given.explicit else flows.cells[:-1]) if flows else set()
    years |= {graph.pure_link(cell) for cell in years}
    for cell in graph.precedents(given.cell):
        if cell not in named and cell not in lines and not {cell, graph.pure_link(cell)} & years:
            yield cell


def grown(cell: CellRef, roles: Roles, recalc: Recalc, graph: Graph) -> bool:
    """Say whether a normalised flow is that of the year after the forecast: it is built on ``1 + g`` already.

    Only its own formula and cells beside the forecast years count, the terminal column among them.
    """
    flows, growth = valuation.flows_of(roles), roles.get("terminal_growth")
    if flows is None or growth is None or growth.cell is None:
        return False
    root, across = graph.pure_link(growth.cell), flows.cells[0].row == flows.cells[-1].row
    years = {one.column if across else one.row for one in flows.cells}
    home, seen, left = flows.cells[0].sheet, set[CellRef](), [cell]
    while left and len(seen) < MOST_CELLS:
        one = left.pop()
        if one in seen or (one.sheet == home and (one.column if across else one.row) in years):
            continue
        seen.add(one)
        node = claims.formula_node(one, recalc)
        for part in walk(node) if node is not None else ():
            sides = (part.left, part.right) if isinstance(part, Binary) and part.operator == "+" else ()
            if Number(1.0) in sides and any(isinstance(x, Ref) and graph.pure_link(x.cell) == root for x in sides):
                return True
        left += graph.precedents(one)
    return False


def _mistakes(given: Inputs, roles: Roles) -> Iterator[Reading]:
    spread, last, growth, rate = given.rate - given.growth, given.flows[-1], given.growth, given.rate
    grown = last * (1 + growth)
    factor = given.factors[-1]
    if factor:
        yield Reading(grown * factor / spread, "it is built on the discounted flow of the last year", right=False)
        yield Reading(last * factor / spread, "it is built on the discounted flow of the last year", right=False)
    if given.equity_rate is not None and given.equity_rate > growth and given.main:
        name = "it is capitalised at the cost of equity, the flows are discounted at the WACC"
        yield Reading(grown / (given.equity_rate - growth), name, right=False)
        yield Reading(last / (given.equity_rate - growth), name, right=False)
    if given.explicit:
        words = "the last flow, which is discounted itself, is not grown by 1 + g: F_n/(r - g)"
        yield Reading(last / spread, words, right=False)
    yield Reading(grown / (100 * spread), "its denominator is in percent points", right=False)
    yield Reading(grown / rate - growth, "brackets are missing: F·(1 + g)/r - g", right=False)
    yield Reading(last * (1 + growth / spread), "brackets are missing around 1 + g", right=False)
    if rate + growth:
        yield Reading(grown / (rate + growth), "the denominator adds growth instead of subtracting it", right=False)
    yield Reading(grown / rate, "the denominator leaves the growth out", right=False)
    yield from _without_its_growth(given, roles)
    if growth:
        yield Reading(last / (1 + growth) / spread, "the flow is divided by 1 + g instead of multiplied", right=False)
        yield Reading(grown * (1 + growth) / spread, "the flow is grown twice", right=False)
    for back, flow in enumerate(reversed(given.flows[:-1]), start=1):
        yield Reading(flow * (1 + growth) / spread, f"it stands on the flow {back} years before the last", right=False)
    for role in ("nopat", "ebit", "ebitda", "revenue"):
        line = roles.series.get(role)
        if line is not None and line.values and line.values[-1] is not None:
            name = f"it capitalises {role.upper() if role != 'revenue' else role}, not the free cash flow"
            yield Reading(line.values[-1] * (1 + growth) / spread, name, right=False)


def _without_its_growth(given: Inputs, roles: Roles) -> Iterator[Reading]:
    """Yield the value driver formula over the rate alone, or over the rate plus growth."""
    nopat, ronic = roles.series.get("nopat"), roles.get("ronic")
    last = nopat.values[-1] if nopat is not None and nopat.values else None
    if last is None or ronic is None or not ronic.amount or not given.growth or ronic.amount == given.rate:
        return
    kept = last * (1 + given.growth) * (1 - given.growth / ronic.amount)
    yield Reading(kept / given.rate, "the denominator leaves the growth out", right=False)
    if given.rate + given.growth:
        words = "the denominator adds growth instead of subtracting it"
        yield Reading(kept / (given.rate + given.growth), words, right=False)


def unread_return(terminal: CellRef, roles: Roles, recalc: Recalc, graph: Graph) -> tuple[CellRef, CellRef] | None:
    """Return a stated return on new capital that nothing reads, and the formula that reinvests growth / rate instead.

    Reinvesting at the rate itself is the convergence formula: right by itself, not beside a return that differs.
    """
    ronic, growth, rate = roles.get("ronic"), roles.get("terminal_growth"), valuation.terminal_rate_of(roles)
    if ronic is None or ronic.cell is None or not ronic.amount or rate is None or rate.cell is None or growth is None:
        return None
    if valuation.readers(graph, ronic) or abs(ronic.amount - (rate.amount or 0.0)) < 1e-4 or growth.cell is None:
        return None
    over, under = graph.pure_link(growth.cell), graph.pure_link(rate.cell)
    flows = valuation.flows_of(roles)
    before = memory.above(graph, flows.cells) if flows is not None else frozenset()
    for cell in sorted(memory.above(graph, [terminal]) - before):
        node = claims.formula_node(cell, recalc)
        for part in walk(node) if node is not None else ():
            if isinstance(part, Binary) and part.operator == "/" and isinstance(part.right, Ref):
                tops = [graph.pure_link(one.cell) for one, _ in factors(part.left) if isinstance(one, Ref)]
                if over in tops and graph.pure_link(part.right.cell) == under:
                    return graph.pure_link(ronic.cell), cell
    return None
