"""Discounting: the factors, when flows arrive, the stub period, and the sum of present values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from xlcheck import dcf
from xlcheck.cells import CellRef, RangeRef, Tolerance
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import cadence, discount_varying, rates_read, valuation
from xlcheck.checks.rounding import rounding_of
from xlcheck.checks.sheet import text_at
from xlcheck.checks.valuation import as_range
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles
from xlcheck.workbook import Book

_YEARS = Tolerance(relative=0, absolute=0.012)
"""Exponents: four days, for leap years and 365.25."""
_MID_YEAR = re.compile(
    r"mid[- ]?(year|period)|half[- ]year convention|年中|期中|jahresmitte|mittjahr|mi-ann[ée]e", re.I
)


def mid_year_stated(book: Book) -> bool:
    """Say whether a text of the workbook names mid-year discounting (believed only beside exponents at the half)."""
    texts = (cell.stored for cell in book.cells() if cell.formula is None and isinstance(cell.stored, str))
    return any(_MID_YEAR.search(text) for text in texts)


@check("discount.factor-identity")
def factor_identity(
    wacc: Located | None,
    cost_of_equity: Located | None,
    discount_factor: LocatedSeries | None,
    discount_rate: LocatedSeries | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """Each flow is discounted by (1 + rate)^-t with t one year later from flow to flow.

    What it holds:
        The factor of every flow, read from the factor row, from PV over flow, or from the live model (NPV, XNPV, one
        long formula), is that of the bound rate at exponents which follow an accepted timing.
    Why it matters:
        One factor off by a year misprices that flow by the whole rate; a stale base year shifts every one of them.
    Accepted conventions:
        End-year, mid-year and both after a stub; a row that holds the divisor (1 + r)^t; no factor row at all; rates
        that vary, as a cumulative product. A rate of its own in each year, to the power t, is open, not wrong.
    Example:
        ``=1/(1+$D$2)^4`` in the third of five years after 1 and 2 is found at 4 years, expected 3.
    How to fix:
        Let every factor read the same rate and a period that counts years from the valuation date.
    Units and tolerance:
        Years; 0.012 (four days).
    Source:
        Damodaran, Investment Valuation, ch. 12; CFA Level II, free cash flow valuation.
    """
    if valuation.flows_of(roles) is None:
        yield NotApplicable(reason="no row of cash flows is bound")
        return
    if discount_rate is not None and discount_factor is not None:
        rates = discount_varying.rates_of(discount_factor, discount_rate, recalc)
        if rates is None or len(set(rates.values)) > 1 or None in rates.values:
            yield from discount_varying.judge(rates, discount_factor)
            return
        factors = [None if one is None or one <= 0 else min(one, 1 / one) for one in discount_factor.values]
        years = [
            None if one is None else dcf.exponent_of(one, (rates.values[0] or 0.0) * rates.factor) for one in factors
        ]
        yield from _judge(valuation.Exponents(tuple(years), discount_factor.cells, "factor row"), recalc, graph)
        return
    if wacc is None and cost_of_equity is None:
        yield NotApplicable(reason="no discount rate is bound")
        return
    read = valuation.exponents(roles, recalc, graph)
    step = cadence.step_of(valuation.rate_of(roles), roles, recalc, graph)
    weighed = valuation.weights(roles, recalc, graph)
    grown = [weight for weight in weighed.flows[:-1] if weight is not None and weight > 1.0001] if weighed else []
    if read is not None and len(read.known) > 2 and weighed is not None and len(grown) >= len(weighed.flows) - 2:
        message = f"the flows are multiplied by {_listed(grown)}: they are compounded instead of discounted"
        yield _finding(message, as_range(read.cells), _listed(grown), "1/(1 + r)^t")
    elif read is None or not read.known:
        yield Unverifiable(reason="the discount factors could not be read from rows or from the live model")
    elif _timing(read, step) is None and (other := _at_another(roles, recalc, graph)) is not None:
        yield other
    elif _timing(read, step) is None and not _own_rate(roles, graph, read):
        yield Unverifiable(reason=f"the factors of {as_range(read.cells)} do not all read the bound discount rate")
    else:
        yield from _judge(read, recalc, graph, step)


def _timing(read: valuation.Exponents, step: float) -> dcf.Timing | None:
    return next(dcf.timings([value / step for value in read.known], _YEARS.absolute / step), None)


def _judge_short(read: valuation.Exponents, step: float) -> Outcomes:
    """Judge the exponents of quarters, half-years or months: one period of that length from flow to flow."""
    if _timing(read, step) is not None:
        yield Fits(convention=f"periods of {step:.4g} years ({read.source})")
        return
    message = f"the flows of {step:.4g} years each are discounted {_listed(read.known)} years"
    yield _finding(message, as_range(read.cells), _listed(read.known), f"{step:.4g}, {2 * step:.4g}, …")


def _judge(read: valuation.Exponents, recalc: Recalc, graph: Graph, step: float = 1.0) -> Outcomes:
    if step < 1:
        yield from _judge_short(read, step)
        return
    found = read.known
    if len(found) > 2 and abs(found[0]) < 0.001 and abs(found[1] - 1) < 0.012:
        read = valuation.Exponents(read.values[1:], read.cells[1:], read.source)  # the valuation date itself
        found = read.known
    timing = next(dcf.timings(found), None)
    if timing is not None:
        yield Fits(convention=f"{timing.name} ({read.source})")
        return
    if dcf.evenly_spaced(found) and -0.012 <= found[0] <= 2:
        yield Fits(convention=f"first flow {found[0]:.4g} years out, then yearly ({read.source})")
        return
    if dcf.evenly_spaced(found):
        message = f"the first flow is discounted {found[0]:.4g} years: the count of years starts at the wrong year"
        yield _finding(message, as_range(read.cells), found[0], 1.0)
        return
    broken = _broken(found)
    if len(broken) > 2 or len(found) < 3:
        message = f"the flows are discounted {_listed(found)} years: no accepted timing gives such a row"
        yield _finding(message, as_range(read.cells), _listed(found), "1, 2, 3, … or 0.5, 1.5, 2.5, …")
        return
    for index, expected in broken:
        where = _period_cell(read.cells[index], found[index], recalc, graph)
        message = f"{read.cells[index]} discounts {found[index]:.4g} years where its neighbours call for {expected:.4g}"
        yield _finding(message, where, found[index], expected)


def _period_cell(factor: CellRef, exponent: float, recalc: Recalc, graph: Graph) -> CellRef:
    """Return the period that a factor reads, if the wrong exponent stands there; else the factor itself."""
    for cell in graph.precedents(factor):
        value = recalc.number(cell)
        if value is not None and abs(value - exponent) < 1e-6 and factor.column == cell.column:
            return cell
    return factor


def _finding(message: str, cell: CellRef | RangeRef, found: float | str, expected: float | str) -> Finding:
    return Finding(message=message, cell=cell, found=found, expected=expected, unit="years", tolerance=_YEARS)


def _listed(found: Sequence[float]) -> str:
    shown = ", ".join(f"{value:.3g}" for value in found[:6])
    return shown + (", …" if len(found) > 6 else "")


def _broken(found: Sequence[float]) -> list[tuple[int, float]]:
    """Return the flows that leave the line which most of them follow, with the exponent they should have."""
    starts = sorted(value - index for index, value in enumerate(found))
    start = starts[len(starts) // 2]
    off = [index for index, value in enumerate(found) if abs(value - index - start) > 0.012]
    if off == [0] and 0 < found[0] <= 0.5:  # a mid-year stub before a line that starts too early or late
        return [(1, found[0] * 2 + 0.5)]
    return [(index, start + index) for index in off]


def _at_another(roles: Roles, recalc: Recalc, graph: Graph) -> Fits | Unverifiable | None:
    """Judge factors that follow a timing at the rate they read, where that is not the bound one."""
    factors = valuation.factors_of(roles, recalc, graph)
    found = rates_read.timing_at_another(factors[0], roles, recalc, graph) if factors is not None else None
    own = valuation.rate_of(roles)
    if found is None or (own is not None and own.cell is not None and graph.pure_link(own.cell) == found[1]):
        return None
    timing, cell = found
    equity = roles.get("cost_of_equity")
    source = graph.pure_link(equity.cell) if equity is not None and equity.cell is not None else None
    if cell == source or rates_read.is_weighted(cell, [equity], recalc, graph):
        return Fits(convention=f"{timing} at the rate in {cell}")
    return Unverifiable(reason=f"the factors follow {timing} at the rate in {cell}, which is not the bound one")


def _own_rate(roles: Roles, graph: Graph, read: valuation.Exponents) -> bool:
    """Say whether the factors depend on the bound rate at all (a cell may hold a typed rate: that one is judged)."""
    rate = valuation.rate_of(roles)
    if rate is None or rate.cell is None:
        return False
    below = graph.descendants([graph.pure_link(rate.cell), rate.cell])
    if read.source == "the live model":
        return True
    return sum(cell in below for cell in read.cells) * 2 >= len(read.cells)


@check("discount.pv-sum", consequence_of=("discount.factor-identity",))
def pv_sum(
    sum_pv_fcff: Located | None,
    pv_fcff: LocatedSeries | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """Every forecast flow is in the sum of present values once, discounted.

    What it holds:
        Each flow moves the output by its discount factor: none is left out, counted twice or added undiscounted; the
        stated sum equals the present values.
    Why it matters:
        A range that stops one column short drops a whole year of value and looks like a right formula.
    Accepted conventions:
        A sum cell, a SUM inside the enterprise value, NPV, XNPV or SUMPRODUCT; a terminal value added to the last flow;
        a first flow prorated for a stub.
    Example:
        ``=SUM(C7:G7)`` over present values in D7:H7 leaves the last year out.
    How to fix:
        Extend the range over all forecast years and no other cell.
    Units and tolerance:
        Money of the sheet; 1e-6 of the largest term, plus the rounding of ROUND formulas.
    Source:
        CFA Level II, free cash flow valuation; FAST Standard 3.03.
    """
    flows = valuation.flows_of(roles)
    if flows is None:
        yield NotApplicable(reason="no row of cash flows is bound")
        return
    weighed = valuation.weights(roles, recalc, graph)
    if weighed is None:
        yield Unverifiable(reason="no output of the live model reads the cash flows")
        return
    where = sum_pv_fcff.cell if sum_pv_fcff is not None and sum_pv_fcff.cell is not None else weighed.output
    entry = valuation.entry_years(roles, recalc, graph)
    findings = list(_left_out(flows, weighed, where, valuation.factors_of(roles, recalc, graph), entry))
    for cell in valuation.left_behind(roles, [one for one, _ in weighed.terminals], recalc, graph):
        message = f"the flow {cell} of the last year is in no sum of present values"
        findings.append(Finding(message=message, cell=where, found=0.0, expected=None, unit="weight of the flow"))
    rows = (valuation.aligned(one, flows) for one in (pv_fcff, roles.series.get("discount_factor")))
    findings += list(_odd_products(flows, *rows))
    yield from findings
    if not findings:
        yield from _stated_sum(sum_pv_fcff, pv_fcff, recalc)


def _left_out(
    flows: LocatedSeries,
    weighed: valuation.Weights,
    where: CellRef,
    factors: tuple[tuple[float | None, ...], tuple[CellRef, ...], str] | None,
    entry: int,
) -> Outcomes:
    last = len(flows.cells) - 1
    known = factors[0] if factors is not None and factors[2] != "the live model" else None
    for index, weight in enumerate(weighed.flows):
        if weight is None or index < entry or (index == last and not weighed.last_is_clean):
            continue
        flow, factor = flows.values[index], known[index] if known else None
        if abs(weight) < 1e-9:
            message = f"the flow {flows.cells[index]} is in no sum of present values"
            yield Finding(message=message, cell=where, found=0.0, expected=factor, unit="weight of the flow")
        elif factor is not None and index > 0 and factor < 0.98 and valuation.close(weight, 1.0, 1e-4):
            message = f"the flow {flows.cells[index]} ({flow:.6g}) is added without being discounted"
            yield Finding(message=message, cell=where, found=weight, expected=factor, unit="weight of the flow")
            return
        elif factor is not None and valuation.close(weight, 2 * factor, 1e-4):
            message = f"the flow {flows.cells[index]} is counted twice"
            yield Finding(message=message, cell=where, found=weight, expected=factor, unit="weight of the flow")


def _odd_products(flows: LocatedSeries, present: LocatedSeries | None, factors: LocatedSeries | None) -> Outcomes:
    """Find a present value that is not its flow times its factor, where those of the other years are."""
    if present is None or factors is None or not len(flows.cells) == len(present.cells) == len(factors.cells) > 3:
        return
    rows = list(zip(present.cells, present.values, flows.values, factors.values, strict=True))[1:]
    for power in (1, -1):
        wanted = [flow * factor**power if flow and factor else None for _, _, flow, factor in rows]
        odd = [
            (cell, value, want)
            for (cell, value, _, _), want in zip(rows, wanted, strict=True)
            if value is None or want is None or not valuation.close(value, want, 1e-5)
        ]
        if len(odd) == 1 and odd[0][1] is not None and odd[0][2] is not None:
            cell, value, want = odd[0]
            message = f"the present value {cell} is not its year's flow times its year's discount factor"
            yield Finding(message=message, cell=cell, found=value, expected=want, unit="money")


def _stated_sum(total: Located | None, present: LocatedSeries | None, recalc: Recalc) -> Outcomes:
    if total is None or total.value is None or present is None or None in present.values:
        return
    values = [value for value in present.values if value is not None]
    expected, scale = sum(values), max(abs(value) for value in values)
    rounding = Tolerance(relative=1e-6, absolute=rounding_of(recalc, total.cell))
    if rounding.allows(total.value, expected, scale) or total.value > expected + scale:
        return  # the larger sum holds the terminal value, which the weights have shown to be right
    message = f"the sum of present values is stated as {total.value:.6g} but its terms add up to {expected:.6g}"
    yield Finding(
        message=message, cell=total.cell, found=total.value, expected=expected, unit="money", tolerance=rounding
    )


@check("discount.timing", consequence_of=("discount.factor-identity",))
def timing(
    fcff: LocatedSeries,
    wacc: Located,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The first flow is discounted for the time until it arrives: not for a period too many, and not compounded.

    What it holds:
        Exponents start within (0, 1] years, the first flow is neither undiscounted nor before the valuation date, and
        NPV is not discounted once more or once less.
    Why it matters:
        NPV over flows that start today discounts each one period too many; a negative exponent compounds a past flow.
    Accepted conventions:
        End-year, mid-year and stub discounting; NPV with the first flow one period out; XNPV on dates.
    Example:
        ``=XNPV(r, flows, dates)`` whose first date is that of the first flow values it at par.
    How to fix:
        Count years from the valuation date, and put the valuation date with a zero flow first in an XNPV.
    Units and tolerance:
        Years; 0.012.
    Source:
        Excel documentation of NPV and XNPV; Koller et al., Valuation, ch. 6.
    """
    weighed = valuation.weights(roles, recalc, graph)
    if weighed is None or not wacc.amount:
        yield Unverifiable(reason="the live model shows no discount factors")
        return
    read = [None if weight is None else dcf.exponent_of(weight, wacc.amount) for weight in weighed.flows]
    usable = read if weighed.last_is_clean else read[:-1]
    missing = next((index for index, value in enumerate(usable) if value is not None), 0)  # pv-sum names these
    missing -= valuation.entry_years(roles, recalc, graph)
    known = [value for value in usable if value is not None]
    known = [value - missing for value in known] if known and known[0] > missing else known
    if len(known) < 2:
        yield Unverifiable(reason="fewer than two discount exponents could be read from the live model")
        return
    past = _past_year(fcff.cells[0], roles.series.get("period"), recalc)
    if past is not None and known[0] > 0.4 and (weighed.flows[0] or 0.0) > 0.01:
        message = f"{fcff.cells[0]} is a year that is over ({past}), and it is discounted with the forecast"
        yield _finding(message, _sum_cell(roles, weighed), known[0], "first forecast year")
        return
    row = roles.series.get("discount_factor")
    own = row.values[0] if row is not None else None
    same = own is not None and weighed.flows[0] is not None and valuation.close(own, weighed.flows[0], 1e-4)
    where = row.cells[0] if row is not None and same else _sum_cell(roles, weighed)
    if known[0] < -0.012 and known[1] < 1:
        message = f"the first flow is compounded by {-known[0]:.4g} years: it lies before the valuation date"
        yield _finding(message, fcff.cells[0], known[0], "above 0")
    elif abs(known[0]) <= 0.004 and abs(known[1] - 1) <= 0.02 and (fcff.values[0] or 0) > 0:
        yield _finding("the first forecast flow is not discounted at all", where, known[0], 1.0)
    elif 1.4 < known[0] <= 2.012 and all(abs(later - earlier - 1) <= 0.02 for earlier, later in pairwise(known)):
        yield _finding(f"the first flow is discounted {known[0]:.4g} years", where, known[0], known[0] - 1)
    else:
        named = next(dcf.timings(known), None)
        yield Fits(convention=named.name if named else f"first flow {known[0]:.4g} years out")


def _past_year(flow: CellRef, period: LocatedSeries | None, recalc: Recalc) -> str | None:
    """Return the heading that calls the period of a flow an actual one: in the row of the periods or next to it."""
    if period is None or period.cells[0].sheet != flow.sheet or period.cells[0].column != flow.column:
        return None
    rows = (period.cells[0].row + step for step in (0, 1, -1) if 0 < period.cells[0].row + step < flow.row)
    texts = (text_at(recalc, CellRef(flow.sheet, row, flow.column)) for row in rows)
    return next((text for text in texts if len(text) < 24 and _ACTUAL.search(text)), None)


_ACTUAL = re.compile(r"(19|20)\d\d ?A\b|\bFY ?\d\d ?A\b|\bactuals?\b|\bhistor|实际|実績|réel", re.I)


def _sum_cell(roles: Roles, weighed: valuation.Weights) -> CellRef:
    total = roles.get("sum_pv_fcff")
    return total.cell if total is not None and total.cell is not None else weighed.output
