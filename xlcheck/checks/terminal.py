"""The terminal value: its formula, its discounting, and the growth that it assumes."""

from __future__ import annotations

from decimal import Decimal

from xlcheck import dcf
from xlcheck.cells import CellRef, Tolerance
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Params, Unverifiable, check
from xlcheck.checks import live, perpetuity, valuation
from xlcheck.checks.discount import mid_year_stated, rounding_of
from xlcheck.checks.sheet import row_label
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles
from xlcheck.workbook import Book


@check("terminal.gordon-identity", consequence_of=("fatal.double-discounting", "fatal.growth-not-below-wacc"))
def gordon_identity(
    terminal_growth: Located | None,
    terminal_value: Located | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """A growing perpetuity is the next flow over the rate less the growth.

    What it holds:
        Every cell that capitalises a flow with the terminal growth equals an accepted form of F/(r - g), with the rate
        that the flows are discounted at, on the flow of the last year or a normalised one, and that flow is positive.
    Why it matters:
        Most of the value stands in this cell; a wrong rate, bracket or year moves the result by tens of per cent.
    Accepted conventions:
        F·(1 + g)/(r - g); a normalised next flow F/(r - g) without another 1 + g; value driver
        NOPAT·(1 - g/RONIC)/(r - g); NOPAT/r; the same stated directly as a present value; negative growth.
    Example:
        ``=G10*(1+B5)/(B20-B5)`` with B20 the cost of equity, where the flows are discounted at the WACC in B4.
    How to fix:
        ``=last flow*(1+g)/(WACC-g)`` with brackets around both sums.
    Units and tolerance:
        Money of the sheet; 1e-6 of the value, plus the rounding of a ROUND formula.
    Source:
        Gordon 1962; Koller et al., Valuation, ch. 14; Damodaran, Investment Valuation, ch. 12.
    """
    if terminal_growth is None:
        yield from _without_growth(terminal_value, recalc)
        return
    cells = perpetuity.growth_cells(roles, recalc, graph)
    if not cells:
        yield NotApplicable(reason="no formula capitalises a flow with the terminal growth")
        return
    for cell in cells:
        given = perpetuity.inputs(cell, roles, recalc, graph)
        if given is None:
            yield Unverifiable(reason=f"{cell}: flows, rate and growth are not all known")
            continue
        main = (terminal_value is not None and terminal_value.cell == cell) or len(cells) == 1
        yield from _judge_perpetuity(given, roles, recalc, graph, main=main)


def _without_growth(terminal_value: Located | None, recalc: Recalc) -> Outcomes:
    held = recalc.book.get(terminal_value.cell) if terminal_value is not None and terminal_value.cell else None
    if terminal_value is None or held is None:
        yield NotApplicable(reason="no terminal growth is bound")
    else:
        yield NotApplicable(reason="no terminal growth is bound; the terminal value does not read one")


def _judge_perpetuity(given: perpetuity.Inputs, roles: Roles, recalc: Recalc, graph: Graph, *, main: bool) -> Outcomes:
    tolerance = Tolerance(relative=1e-6, absolute=rounding_of(recalc, given.cell))
    expected = given.flows[-1] * (1 + given.growth) / (given.rate - given.growth)
    fitting = None
    for reading in perpetuity.readings(given, roles, recalc, graph):
        if tolerance.allows(given.value, reading.value):
            fitting = reading
            break
    if fitting is None:
        if main:
            yield Unverifiable(reason=f"{given.cell} ({given.value:.6g}) follows no known form of a perpetuity")
        return
    if not fitting.right:
        message = f"the terminal value {given.cell} is {given.value:.6g} because {fitting.words}"
        yield _money(message, given.cell, given.value, expected, tolerance)
        return
    if given.value < 0 and given.rate > given.growth and main:
        message = f"the terminal value {given.cell} capitalises a negative cash flow for ever: it has no meaning"
        yield _money(message, given.cell, given.value, None, tolerance)
        return
    yield Fits(convention=fitting.words)


def _money(
    message: str, cell: CellRef, found: float, expected: float | None, tolerance: Tolerance | None = None
) -> Finding:
    return Finding(message=message, cell=cell, found=found, expected=expected, unit="money", tolerance=tolerance)


@check("terminal.exit-multiple-identity")
def exit_multiple_identity(
    exit_multiple: Located,
    ebitda: LocatedSeries | None,
    ebit: LocatedSeries | None,
    depreciation: LocatedSeries | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """A terminal value by multiple is that multiple times the measure it is a multiple of.

    What it holds:
        The cell that applies the exit multiple equals multiple × EBITDA (or EBIT, revenue, earnings where it is a
        multiple of those), and EBITDA is EBIT plus depreciation.
    Why it matters:
        An EV/EBITDA multiple on EBIT, or on an EBITDA with depreciation subtracted, understates the value by a third.
    Accepted conventions:
        EBITDA of the last year or of the year after (EBITDA·(1 + g)); a normalised EBITDA; multiples written as text.
    Example:
        12.1 × EBIT of 12,984 under the label "EV/EBITDA" gives 157,105; on EBITDA of 14,520 it is 175,691.
    How to fix:
        Multiply by the EBITDA of the last forecast year.
    Units and tolerance:
        Money of the sheet; 1e-6 of the value, plus the rounding of a ROUND formula.
    Source:
        CFA Level II, market-based valuation; Koller et al., Valuation, ch. 18.
    """
    if exit_multiple.value is None or exit_multiple.value == 0:
        yield Unverifiable(reason=f"the exit multiple {exit_multiple.cell} is zero or no number")
        return
    cells = _multiple_cells(exit_multiple, roles, recalc, graph)
    if not cells:
        yield NotApplicable(reason="no formula multiplies a measure by the exit multiple")
        return
    measures = _measures(ebitda, ebit, depreciation, roles)
    words = row_label(recalc, exit_multiple.cell).casefold() if exit_multiple.cell else ""
    for cell in cells:
        yield from _judge_multiple(cell, exit_multiple.value, measures, words, recalc, graph)


def _multiple_cells(located: Located, roles: Roles, recalc: Recalc, graph: Graph) -> list[CellRef]:
    """Return the formulas that apply the multiple: they rise in proportion to it and are worth more than it."""
    multiple = located.value or 0.0
    taken = {held.cell for role, held in roles.scalars.items() if role not in ("terminal_value", "pv_terminal_value")}
    taken |= {cell for grid in roles.grids for cell in grid.cells.cells()}
    found = []
    for cell in valuation.readers(graph, located):
        value = recalc.number(cell)
        if value is None or cell in taken:
            continue
        held = recalc.book.get(located.cell) if located.cell else None
        if held is not None and isinstance(held.stored, str):
            found.append(cell)
            continue
        source = graph.pure_link(located.cell) if located.cell else None
        slope = live.derivative(recalc, cell, source) if source else None
        if slope is not None and valuation.close(slope * multiple, value, 1e-4) and abs(slope) > 0.5:
            found.append(cell)
    return sorted(found)


def _measures(
    ebitda: LocatedSeries | None, ebit: LocatedSeries | None, depreciation: LocatedSeries | None, roles: Roles
) -> dict[str, float]:
    """Return what a multiple can stand on in the last year, by name."""
    found: dict[str, float] = {}
    last = {line.role: line.values[-1] for line in (ebitda, ebit, depreciation) if line is not None and line.values}
    income, charge = last.get("ebit"), last.get("depreciation")
    if income is not None and charge is not None:
        found["EBITDA"] = income + abs(charge)
        found["EBIT less depreciation"] = income - abs(charge)
    stated = last.get("ebitda")
    if stated is not None and not (income is not None and stated < income):
        found["EBITDA"] = stated
    if income is not None:
        found["EBIT"] = income
    for role in ("revenue", "nopat", "fcff"):
        line = roles.series.get(role)
        if line is not None and line.values and line.values[-1] is not None:
            found[role] = line.values[-1]
    growth = roles.get("terminal_growth")
    if growth is not None and growth.amount is not None and "EBITDA" in found:
        found["EBITDA of the year after"] = found["EBITDA"] * (1 + growth.amount)
    return found


def _judge_multiple(
    cell: CellRef, multiple: float, measures: dict[str, float], words: str, recalc: Recalc, graph: Graph
) -> Outcomes:
    value = recalc.number(cell) or 0.0
    tolerance = Tolerance(relative=1e-6, absolute=rounding_of(recalc, cell))
    name = next((key for key, base in measures.items() if tolerance.allows(value, base * multiple)), None)
    if name is None:
        yield Unverifiable(reason=f"{cell} applies the multiple to {value / multiple:.6g}, a measure that is not bound")
        return
    wrong = name == "EBIT less depreciation" or (name == "EBIT" and "ebitda" in words)
    if wrong and "EBITDA" in measures and not tolerance.allows(measures["EBITDA"], measures[name]):
        expected = measures["EBITDA"] * multiple
        message = f"{cell} applies the multiple {multiple:g} to {name} ({measures[name]:.6g}) instead of EBITDA"
        yield _money(message, cell, value, expected, tolerance)
        for source in graph.precedents(cell):
            base = recalc.number(source)
            if base is not None and tolerance.allows(base, measures[name]) and name == "EBIT less depreciation":
                message = f"{source} is EBIT minus depreciation, not plus: it is no EBITDA"
                yield _money(message, source, base, measures["EBITDA"], tolerance)
        return
    yield Fits(convention=f"multiple of {name}")


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
        forecast: never by 1, by a factor squared, or by one period too many.
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
    read = valuation.exponents(roles, recalc, graph)
    weighed = valuation.weights(roles, recalc, graph)
    rate = valuation.rate_of(roles)
    if terminal_value is None and pv_terminal_value is None and (weighed is None or not weighed.terminals):
        yield NotApplicable(reason="no terminal value stands in a cell of its own")
        return
    if weighed is None or rate is None or not rate.amount or read is None:
        yield Unverifiable(reason="the discounting of the terminal value cannot be measured on the live model")
        return
    years = [value for value in read.values if value is not None]
    if not years:
        yield Unverifiable(reason="the discount exponents of the flows are not known")
        return
    mid = _mid_year(years, book)
    for cell, weight in weighed.terminals:
        yield from _judge_discounting(cell, weight, years, mid, rate.amount, weighed, roles, recalc, graph)


def _mid_year(years: list[float], book: Book) -> bool | None:
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
    method = valuation.method_of(cell, roles, graph)
    accepted = accepted_exponents(years, mid, method)
    share = len(weighed.terminals)
    for part in (1, share, 2):
        exponent = dcf.exponent_of(weight * part, rate)
        if exponent is not None and any(abs(exponent - want) <= 0.02 for want in accepted):
            yield Fits(convention=f"{method} terminal value brought back {exponent:.4g} years")
            return
    exponent = dcf.exponent_of(weight * share, rate)
    if exponent is None:
        yield Unverifiable(reason=f"the terminal value {cell} has the weight {weight:.4g}, which is no discount factor")
    elif abs(exponent) <= 0.02 and _is_present(cell, roles, recalc, graph, accepted):
        yield Fits(convention="the terminal value cell is already a present value")
    else:
        yield from _misdiscounted(cell, exponent, accepted, rate, weighed.output, recalc, graph)


def _is_present(cell: CellRef, roles: Roles, recalc: Recalc, graph: Graph, accepted: list[float]) -> bool:
    """Say whether the cell holds a perpetuity that is discounted inside its own formula."""
    bound = roles.get("pv_terminal_value")
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
    yield _money(message, where, stated if stated is not None else value, expected)


def discounting_cell(cell: CellRef, output: CellRef, recalc: Recalc, graph: Graph) -> CellRef:
    """Return the cell that discounts (or should discount) the terminal value on its way to the output."""
    path = valuation.path_cells(graph, cell, output)
    for found in path:
        slope = live.derivative(recalc, found, cell)
        if slope is not None and not valuation.close(slope, 1.0, 1e-4):
            return found
    return path[0] if path else cell


@check("terminal.growth-range", consequence_of=("fatal.growth-not-below-wacc",))
def growth_range(terminal_growth: Located, params: Params) -> Outcomes:
    """The terminal growth lies within the range that the rubric sets.

    What it holds:
        low ≤ terminal growth ≤ high.
    Why it matters:
        No business outgrows its economy for ever; half a point of growth moves the value by a tenth.
    Accepted conventions:
        Negative growth, where the range admits it.
    Example:
        8.8 % perpetual growth beside a note that the economy grows by 3.2 %.
    How to fix:
        Use a growth rate at or below the long-run nominal growth of the economy.
    Units and tolerance:
        A decimal rate per year; the bounds belong to the range.
    Source:
        Damodaran, Investment Valuation, ch. 12; the range is the rubric's.
    """
    growth = terminal_growth.amount
    low, high = params.get("low"), params.get("high")
    if not isinstance(low, Decimal) or not isinstance(high, Decimal):
        yield NotApplicable(reason="the rubric sets no range for the terminal growth")
    elif growth is not None and not float(low) <= growth <= float(high):
        message = f"the terminal growth of {growth:.2%} lies outside {float(low):.2%} to {float(high):.2%}"
        bound = float(low) if growth < float(low) else float(high)
        unit = bound / terminal_growth.factor
        yield Finding(
            message=message, cell=terminal_growth.cell, found=terminal_growth.value, expected=unit, unit="rate"
        )
