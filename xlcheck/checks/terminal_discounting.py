"""The terminal value on its way into the enterprise value: discounted once, for the right number of years."""

from __future__ import annotations

from collections.abc import Iterator

from xlcheck import dcf
from xlcheck.cells import CellRef
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import claims, live, memory, perpetuity, twins, valuation
from xlcheck.checks.amounts import money
from xlcheck.checks.discount import mid_year_stated
from xlcheck.checks.headline import output_cells
from xlcheck.checks.terminal import multiple_cells
from xlcheck.formula import Binary, Call, Ref, factors, terms, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles
from xlcheck.workbook import Book


@check("terminal.discounted-once", consequence_of=("fatal.terminal-not-discounted", "fatal.double-discounting"))
def discounted_once(
    terminal_value: Located | None,
    pv_terminal_value: Located | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
    book: Book,
) -> Outcomes:
    """The terminal value is discounted once, for the years until the end of the forecast.

    What it holds:
        One unit of terminal value moves the output by a factor at the exponent of the last flow, or at the end of the
        forecast: never by 1, by a factor squared, or by one period too many. A terminal value that two valuations of
        the workbook share has one present value.
    Why it matters:
        An undiscounted terminal value overstates a ten-year model by half; one period too many costs a year of return.
    Accepted conventions:
        End-year: n. Mid-year: Gordon n - ½ or n, exit multiple n. With a stub of length s: n - 1 + s, Gordon under
        mid-year half a year less. A cell that is already a present value; an average of methods; a terminal value
        inside NPV with the last flow.
    Example:
        ``=C42/(1+C16)^14`` although the last of ten flows is ten years out.
    How to fix:
        Multiply by the discount factor at the end of the last forecast year.
    Units and tolerance:
        Years; 0.02.
    Source:
        Damodaran, Investment Valuation, ch. 12; Koller et al., Valuation, ch. 14 on mid-year discounting.
    """
    yield from twins.other_present_value(roles, recalc, graph)
    read = valuation.exponents(roles, recalc, graph)
    weighed = valuation.weights(roles, recalc, graph)
    rate = valuation.rate_of(roles)
    if terminal_value is None and pv_terminal_value is None and (weighed is None or not weighed.terminals):
        yield NotApplicable(reason="no terminal value stands in a cell of its own")
        return
    if weighed is None or rate is None or not rate.amount or read is None:
        yield Unverifiable(reason="the discounting of the terminal value cannot be measured on the live model")
        return
    years = list(read.known)
    if not years:
        yield Unverifiable(reason="the discount exponents of the flows are not known")
        return
    mid = mid_year(years, book)
    terminals = [cell for cell, _ in weighed.terminals]
    later = valuation.left_behind(roles, terminals, recalc, graph)
    years += [years[-1] + 1 + index for index in range(len(later))]
    for cell, weight in weighed.terminals:
        yield from _judge_discounting(cell, weight, years, mid, rate.amount, weighed, roles, recalc, graph)
    for cell, present, weight in _second_methods(set(terminals), roles, recalc, graph):
        exponent = dcf.exponent_of(weight, rate.amount)
        accepted = accepted_exponents(years, mid, valuation.method_of(cell, roles, graph))
        if exponent is not None and all(0.4 <= abs(exponent - want) <= 1.6 for want in accepted):
            yield from _misdiscounted(cell, exponent, accepted, rate.amount, present, recalc, graph)


def _second_methods(
    judged: set[CellRef], roles: Roles, recalc: Recalc, graph: Graph
) -> Iterator[tuple[CellRef, CellRef, float]]:
    """Yield terminal values of further methods behind the headline, the cell that discounts each, and its factor."""
    multiple = roles.get("exit_multiple")
    cells = multiple_cells(multiple, roles, recalc, graph) if multiple is not None and multiple.value else []
    above = memory.above(graph, list(output_cells(roles).values())) | _beside_the_headline(roles, graph)
    for cell in (*cells, *perpetuity.growth_cells(roles, recalc, graph)):
        if cell in judged or cell not in above:
            continue
        for present in graph.dependents(cell):
            slope = live.derivative(recalc, present, cell) if present in above else None
            value, shown = recalc.number(cell), recalc.number(present)
            if slope is None or not value or shown is None or not 0.05 < slope < 0.98:
                continue
            if valuation.close(shown, slope * value, 1e-4):
                yield cell, present, slope


def _beside_the_headline(roles: Roles, graph: Graph) -> frozenset[CellRef]:
    """Return what the other live valuations of the headline's flows, at the headline's rate, are made of."""
    flows, rate = valuation.flows_of(roles), valuation.terminal_rate_of(roles)
    source = graph.pure_link(rate.cell) if rate is not None and rate.cell is not None else None
    found: set[CellRef] = set()
    for block in roles.alternates if flows is not None else ():
        own, total = block.scalars.get("wacc"), block.scalars.get("enterprise_value")
        same = own is None or (own.cell is not None and graph.pure_link(own.cell) == source)
        inside = memory.above(graph, [total.cell]) if total is not None and total.cell is not None else frozenset()
        if block.live and same and flows is not None and source in inside and inside >= set(flows.cells):
            found |= inside
    return frozenset(found)


def mid_year(years: list[float], book: Book) -> bool | None:
    """Say whether flows arrive mid-year: None where the exponents leave it open and no text says so."""
    kinds = {timing.mid for timing in dcf.timings(years)}
    if kinds == {True, False}:
        return True if mid_year_stated(book) else None
    return kinds == {True}


def accepted_exponents(years: list[float], mid: bool | None, method: str) -> list[float]:
    """Return the exponents at which a terminal value may be brought back: last flow, or end of its period."""
    last = years[-1]
    if mid is None:
        return [last, last + 0.5]
    if not mid:
        return [last]
    return [last + 0.5] if method == "multiple" else [last, last + 0.5]


def _judge_discounting(
    cell: CellRef,
    weight: float | None,
    years: list[float],
    mid: bool | None,
    rate: float,
    weighed: valuation.Weights,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    if weight is None:
        yield Unverifiable(reason=f"the weight of the terminal value {cell} could not be measured")
        return
    if abs(weight) < 1e-9:
        return
    weight /= _share(weighed, roles, recalc, graph)
    method = valuation.method_of(cell, roles, graph)
    accepted = accepted_exponents(years, mid, method)
    share = len(weighed.terminals)
    for part in (1, share, 2):
        exponent = dcf.exponent_of(weight * part, rate)
        if exponent is not None and any(abs(exponent - want) <= 0.02 for want in accepted):
            if exponent > 0.5 and _holds_factor(cell, roles, recalc, graph):
                value = recalc.number(cell)
                message = (
                    f"the terminal value {cell} is discounted in its own formula and again on its way to the output"
                )
                yield money(message, cell, value, None if value is None else value / weight / part)
                return
            yield Fits(convention=f"{method} terminal value brought back {exponent:.4g} years")
            return
    read = valuation.factors_of(roles, recalc, graph)
    last = read[0][-1] if read is not None and not (mid and method == "multiple") else None
    if last is not None and last < 0.98 and valuation.close(weight * share, last):
        yield Fits(convention=f"{method} terminal value brought back like the last flow")
        return
    exponent = dcf.exponent_of(weight * share, rate)
    if exponent is None:
        yield Unverifiable(reason=f"the terminal value {cell} has the weight {weight:.4g}, which is no discount factor")
    elif abs(exponent) <= 0.02 and (inside := _years_off(cell, roles, recalc, graph, accepted)) is not None:
        yield from _misdiscounted(cell, inside, accepted, rate, cell, recalc, graph)
    elif abs(exponent) <= 0.02 and holds_present(cell, roles, recalc, graph, accepted):
        yield Fits(convention="the terminal value cell is already a present value")
    else:
        yield from _misdiscounted(cell, exponent, accepted, rate, weighed.output, recalc, graph)


def _share(weighed: valuation.Weights, roles: Roles, recalc: Recalc, graph: Graph) -> float:
    """Return the one share of every discounted flow that reaches the output (a stake, a chance of survival), else 1."""
    read = valuation.factors_of(roles, recalc, graph)
    rows = zip(weighed.flows[:-1], read[0] if read is not None else (), strict=False)
    shares = [weight / factor for weight, factor in rows if weight is not None and factor]
    same = len(shares) > 2 and all(valuation.close(one, shares[0], 1e-5) for one in shares)
    return shares[0] if same and 0.2 < shares[0] < 0.999 else 1.0


_DISCOUNTING = ("PV", "NPV", "XNPV", "POWER", "EXP", "RATE")


def discounts(cell: CellRef, roles: Roles, recalc: Recalc, graph: Graph) -> bool:
    """Say whether a cell, or one that it reads, raises to a power, calls PV or reads a discount factor."""
    if valuation.perpetual_factors(roles, graph) & set(graph.precedents(cell)):
        return True
    row = roles.series.get("discount_factor")
    factors = set(row.cells) if row is not None else set()
    flows = valuation.flows_of(roles)
    years = set(flows.cells) if flows is not None else set()
    for one in (cell, *(near for near in graph.precedents(cell) if near not in years)):
        if one in factors:
            return True
        node = claims.formula_node(one, recalc)
        for part in walk(node) if node is not None else ():
            if isinstance(part, Binary) and part.operator == "^":
                return True
            if isinstance(part, Call) and part.function in _DISCOUNTING:
                return True
    return False


def _holds_factor(cell: CellRef, roles: Roles, recalc: Recalc, graph: Graph) -> bool:
    """Say whether a perpetuity's own formula multiplies by a discount factor or divides by ``(1 + r)^t``."""
    row, rate = roles.series.get("discount_factor"), valuation.rate_of(roles)
    held = {graph.pure_link(one) for one in row.cells} if row is not None else set()
    root = graph.pure_link(rate.cell) if rate is not None and rate.cell is not None else None
    node = claims.formula_node(cell, recalc)
    for part, exponent in factors(node) if node is not None and len(terms(node)) == 1 else ():
        if exponent > 0 and isinstance(part, Ref) and graph.pure_link(part.cell) in held:
            return True
        power = part if isinstance(part, Binary) and part.operator == "^" and exponent < 0 else None
        base = terms(power.left) if power is not None else ()
        if any(isinstance(one, Ref) and graph.pure_link(one.cell) == root for _, one in base):
            return True
    return False


def _years_off(cell: CellRef, roles: Roles, recalc: Recalc, graph: Graph, accepted: list[float]) -> float | None:
    """Return the years that a perpetuity is discounted inside its own formula, where they are whole years off."""
    given = perpetuity.inputs(cell, roles, recalc, graph) if discounts(cell, roles, recalc, graph) else None
    full = given.flows[-1] * (1 + given.growth) / (given.rate - given.growth) if given is not None else 0.0
    exponent = dcf.exponent_of(given.value / full, given.rate) if given is not None and full else None
    if exponent is None or exponent < 0.5 or exponent > 2 * accepted[-1] + 0.5:
        return None
    apart = [abs(exponent - want) for want in accepted]
    return exponent if min(apart) > 0.4 and min(abs(one - round(one)) for one in apart) <= 0.02 else None


def holds_present(cell: CellRef, roles: Roles, recalc: Recalc, graph: Graph, accepted: list[float]) -> bool:
    """Say whether the cell holds a perpetuity that is discounted inside its own formula."""
    bound = roles.get("pv_terminal_value")
    if not discounts(cell, roles, recalc, graph):
        return False
    given = perpetuity.inputs(cell, roles, recalc, graph)
    if given is None:
        return bound is not None and bound.cell == cell
    full = given.flows[-1] * (1 + given.growth) / (given.rate - given.growth)
    exponent = dcf.exponent_of(given.value / full, given.rate) if full and given.value / full > 0 else None
    fits = exponent is not None and any(abs(exponent - want) <= 0.02 for want in accepted)
    return fits or (bound is not None and bound.cell == cell and not valuation.close(given.value, full, 1e-4))


def _misdiscounted(
    cell: CellRef,
    exponent: float,
    accepted: list[float],
    rate: float,
    output: CellRef,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """Accuse the cell that discounts the terminal value, and a factor of its own that it does so with."""
    wanted = min(accepted, key=lambda want: abs(want - exponent))
    if 0.02 < abs(exponent - wanted) < 0.4:
        yield Unverifiable(reason=f"{cell} is brought back {exponent:.4g} years, the last flow {wanted:.4g}")
        return
    where = discounting_cell(cell, output, recalc, graph)
    value, stated = recalc.number(cell) or 0.0, recalc.number(where)
    if abs(exponent) <= 0.02:
        how = "is not discounted at all"
    elif abs(exponent - 2 * wanted) <= 0.02:
        how = f"is discounted twice ({exponent:.4g} years)"
    else:
        how = f"is discounted {exponent:.4g} years"
    message = f"the terminal value {cell} {how}; the end of the forecast is {wanted:.4g} years out"
    have, want = dcf.discount_factor(rate, exponent), dcf.discount_factor(rate, wanted)
    expected = None if stated is None else stated + value * (want - have)
    yield money(message, where, stated if stated is not None else value, expected)
    for factor in graph.precedents(where):
        number = recalc.number(factor)
        if number is not None and valuation.close(number, have) and graph.dependents(factor) == (where,):
            message = f"the factor {factor} of the terminal value stands for {exponent:.4g} years, not {wanted:.4g}"
            yield Finding(message=message, cell=factor, found=number, expected=want, unit="factor")


def discounting_cell(cell: CellRef, output: CellRef, recalc: Recalc, graph: Graph) -> CellRef:
    """Return the cell that discounts (or should discount) the terminal value on its way to the output."""
    path = valuation.path_cells(graph, cell, output)
    for found in path:
        slope = live.derivative(recalc, found, cell)
        if slope is not None and not valuation.close(slope, 1.0, 1e-4):
            return found
    return path[0] if path else cell
