"""Fatal errors of the discounting and of the claim itself: each needs certainty, else it stays open."""

from __future__ import annotations

from xlcheck import dcf
from xlcheck.cells import CellError, CellRef, as_number
from xlcheck.checking import FATAL_CONFIDENCE, Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import live, memory, perpetuity, rates_read, segments, valuation
from xlcheck.checks.amounts import money
from xlcheck.checks.headline import output_cells
from xlcheck.checks.terminal_discounting import discounting_cell, discounts
from xlcheck.engines import Unsolved
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Block, Located, LocatedSeries, Roles


@check("fatal.growth-not-below-wacc", severity="fatal")
def growth_not_below_wacc(
    terminal_growth: Located | None,
    wacc: Located | None,
    terminal_wacc: Located | None,
    cost_of_equity: Located | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The terminal growth is below the rate inside the terminal value.

    What it holds:
        g < r, with r the terminal WACC, or the cost of equity for flows to equity, where a growing perpetuity feeds a
        headline value.
    Why it matters:
        At g ≥ r the perpetuity has no finite value: the formula turns negative or explodes.
    Accepted conventions:
        Negative growth; a terminal value by exit multiple only; sensitivity cells that show no price.
    Example:
        Growth of 9 % at a rate of 8.5 % gives a terminal value of -34,815.
    How to fix:
        Use a growth rate below the rate, at or under the long-run growth of the economy.
    Units and tolerance:
        Decimal rates; none.
    Source:
        Gordon 1962; Damodaran, Investment Valuation, ch. 12.
    """
    if terminal_growth is None:
        found = list(segments.growth_at_rate(roles, recalc, graph))
        yield from found or (NotApplicable(reason="no terminal growth is bound, or each stands below its rate"),)
        return
    rate = _capitalising(terminal_growth, roles, graph)
    if rate is None or rate.amount is None or terminal_growth.amount is None:
        yield NotApplicable(reason="no rate is bound beside the terminal growth")
        return
    if not perpetuity.growth_cells(roles, recalc, graph) and not _in_the_output(terminal_growth, roles, graph):
        yield NotApplicable(reason="no growing perpetuity reads the terminal growth")
        return
    if terminal_growth.amount >= rate.amount - 1e-12:
        where = graph.pure_link(terminal_growth.cell) if terminal_growth.cell is not None else None
        message = f"terminal growth of {terminal_growth.amount:.2%} is not below the rate of {rate.amount:.2%}"
        yield Finding(message=message, cell=where, found=terminal_growth.value, expected=None, unit="rate")
    for block in roles.alternates:
        growth, own = block.scalars.get("terminal_growth"), _rate_of(block, roles, graph)
        if not block.live or growth is None or own is None or not growth.amount or not own.amount:
            continue
        if growth.amount >= own.amount and min(growth.confidence, own.confidence) >= FATAL_CONFIDENCE:
            message = f"{block.name}: growth of {growth.amount:.2%} is not below the rate of {own.amount:.2%}"
            yield Finding(message=message, cell=growth.cell, found=growth.value, expected=None, unit="rate")


def _capitalising(growth: Located, roles: Roles, graph: Graph) -> Located | None:
    """Return the rate that stands beside the growth in a formula; else the one that the flows belong to."""
    rate = valuation.terminal_rate_of(roles)
    formulas = valuation.readers(graph, growth)
    for one in (rate, roles.get("cost_of_equity")):
        if one is not None and valuation.readers(graph, one) & formulas:
            return one
    return rate


def _rate_of(block: Block, roles: Roles, graph: Graph) -> Located | None:
    """Return a block's own rate, else the headline's where the block's terminal value reads it."""
    own, shared, terminal = block.scalars.get("wacc"), roles.get("wacc"), block.scalars.get("terminal_value")
    if own is not None or shared is None or shared.cell is None or terminal is None or terminal.cell is None:
        return own
    root = graph.pure_link(shared.cell)
    return shared if any(graph.pure_link(cell) == root for cell in graph.precedents(terminal.cell)) else None


def _in_the_output(growth: Located, roles: Roles, graph: Graph) -> bool:
    flows = valuation.flows_of(roles)
    output = valuation.output_of(roles, graph, flows) if flows is not None else None
    if flows is None or output is None:
        return False
    above = memory.above(graph, [output])
    below = memory.above(graph, flows.cells)
    return any(cell in above and cell not in below for cell in valuation.readers(graph, growth))


@check("fatal.not-recomputable", severity="fatal")
def not_recomputable(
    value_per_share: Located | None,
    equity_value: Located | None,
    enterprise_value: Located | None,
    roles: Roles,
    recalc: Recalc,
) -> Outcomes:
    """The headline values follow from formulas that can be recomputed.

    What it holds:
        At least one of value per share, equity value and enterprise value is a formula, and none of them recomputes to
        an error that the file itself stores too.
    Why it matters:
        A typed result is a claim without a model: nothing can be checked, and no assumption moves it.
    Accepted conventions:
        Functions that an engine does not know, volatile dates, loops: these leave the check open, never failed.
    Example:
        Enterprise value, equity value and value per share typed as 2,090, 1,907 and 39.73.
    How to fix:
        Hand in the live model: link each result to the cells it comes from.
    Units and tolerance:
        None.
    Source:
        FAST Standard; SR 11-7, model documentation and replication.
    """
    cells = output_cells(roles)
    if not cells:
        yield NotApplicable(reason="no headline value is bound to a cell")
        return
    typed = {role: cell for role, cell in cells.items() if _is_constant(cell, recalc)}
    if typed and len(typed) == len(cells):
        role, cell = next(iter(typed.items()))
        message = f"{role.replace('_', ' ')} {cell} is typed and no formula leads to any headline value"
        yield Finding(message=message, cell=cell, found=recalc.number(cell), expected="a formula")
        return
    for role, cell in cells.items():
        value, held = recalc.value(cell), recalc.book.get(cell)
        if isinstance(value, CellError) and held is not None and _broken(value, held.stored):
            message = f"{role.replace('_', ' ')} {cell} recomputes to {value.error}"
            yield Finding(message=message, cell=cell, found=value.error, expected="a number")
            return
        if isinstance(value, Unsolved) and (held is None or as_number(held.stored) is None):
            yield Unverifiable(reason=f"{cell} could not be recomputed: {value.detail}")
            return


def _is_constant(cell: CellRef, recalc: Recalc) -> bool:
    held = recalc.book.get(cell)
    return held is not None and held.formula is None and held.array is None and cell not in recalc.values


def _broken(value: CellError, stored: object) -> bool:
    """Say whether an error is certain: a broken reference, or one that the file stores as well."""
    return value.error in ("#REF!", "#NAME?") and (stored is None or isinstance(stored, CellError))


@check("fatal.share-count", severity="fatal")
def share_count(shares: Located, value_per_share: Located | None, graph: Graph) -> Outcomes:
    """A value per share rests on a positive number of shares.

    What it holds:
        The share count that equity is divided by is above zero.
    Why it matters:
        A negative or missing count makes the value per share meaningless, whatever its sign.
    Accepted conventions:
        Units, thousands, millions, 万股; basic or diluted counts.
    Example:
        A count of 0, hidden behind IFERROR.
    How to fix:
        Enter the diluted share count of the valuation date.
    Units and tolerance:
        A count; none.
    Source:
        CFA Level II, free cash flow valuation.
    """
    if shares.value is not None and shares.value <= 0:
        source = graph.pure_link(shares.cell) if shares.cell is not None else None
        message = f"the share count {source} is {shares.value:g}"
        yield Finding(message=message, cell=source, found=shares.value, expected="above 0", unit="count")
    elif value_per_share is None:
        yield NotApplicable(reason="no value per share is claimed")


@check("fatal.double-discounting", severity="fatal")
def double_discounting(
    terminal_growth: Located,
    wacc: Located | None,
    fcff: LocatedSeries | None,
    fcfe: LocatedSeries | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The terminal value is not built on a discounted flow and then discounted again.

    What it holds:
        A perpetuity that stands on a present value is not multiplied by a discount factor on its way to the output.
    Why it matters:
        Discounting twice understates the terminal value by its whole discount factor.
    Accepted conventions:
        A perpetuity on a present value that is added as it is: it already is a present value.
    Example:
        ``=M43*(1+M19)/(M20-M19)`` on the discounted flow in M43, then ``*M42``.
    How to fix:
        Build the terminal value on the undiscounted flow of the last year.
    Units and tolerance:
        Money of the sheet; 1e-6 of the value.
    Source:
        Damodaran, Investment Valuation, ch. 12.
    """
    if valuation.rate_of(roles) is None or (fcff or fcfe) is None:
        yield NotApplicable(reason="flows and the rate that they belong to are not bound")
        return
    weighed = valuation.weights(roles, recalc, graph)
    factors = valuation.factors_of(roles, recalc, graph)
    if weighed is None or factors is None or not weighed.terminals:
        yield NotApplicable(reason="no terminal value stands in a cell of its own")
        return
    last = factors[0][-1]
    for cell, weight in weighed.terminals:
        given = perpetuity.inputs(cell, roles, recalc, graph)
        if given is None or weight is None or last is None or not 0 < last < 0.98:
            continue
        spread = given.rate - given.growth
        full = (given.flows[-1] * (1 + given.growth) / spread, given.flows[-1] / spread)
        present = any(valuation.close(given.value, value * last) for value in full)
        if present and 0 < weight * len(weighed.terminals) < 0.98:
            message = f"the terminal value {cell} stands on the discounted flow and is discounted again"
            yield money(message, cell, given.value, full[0])
            return


@check("fatal.terminal-not-discounted", severity="fatal")
def terminal_not_discounted(
    terminal_value: Located | None,
    wacc: Located | None,
    fcff: LocatedSeries | None,
    fcfe: LocatedSeries | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The terminal value is discounted before it is added to the present values.

    What it holds:
        One unit of terminal value moves the output by less than one, where the flows beside it are discounted.
    Why it matters:
        Added as it stands, a ten-year terminal value counts more than twice.
    Accepted conventions:
        A terminal value cell that already is a present value; an average of methods.
    Example:
        ``=B14+B15`` where B15 is the terminal value and B16 its present value.
    How to fix:
        Add terminal value × discount factor of the last year.
    Units and tolerance:
        Money of the sheet; 1e-4 of the factor.
    Source:
        Damodaran, Investment Valuation, ch. 12.
    """
    weighed = valuation.weights(roles, recalc, graph)
    read, rate = valuation.exponents(roles, recalc, graph), valuation.rate_of(roles)
    if rate is None:
        yield NotApplicable(reason="no rate of the flows is bound")
        return
    if weighed is None or read is None or not read.known or not rate.amount:
        yield Unverifiable(reason="the discounting of the terminal value cannot be measured on the live model")
        return
    if read.known[-1] < 0.9:
        yield NotApplicable(reason="the flows reach no further than a year")
        return
    for cell, weight in weighed.terminals:
        if weight is None or not valuation.close(weight * len(weighed.terminals), 1.0, 1e-4):
            continue
        given = perpetuity.inputs(cell, roles, recalc, graph)
        full = None if given is None else given.flows[-1] * (1 + given.growth) / (given.rate - given.growth)
        bound = roles.get("pv_terminal_value")
        if bound is not None and bound.cell == cell and discounts(cell, roles, recalc, graph):
            yield Fits(convention="the terminal value cell is already a present value")
            return
        inside = discounts(cell, roles, recalc, graph)
        if inside and given is not None and full is not None and given.value < 0.98 * full:
            yield Unverifiable(reason=f"{cell} may already be a present value")
            return
        where = discounting_cell(cell, weighed.output, recalc, graph)
        value, stated = recalc.number(cell) or 0.0, recalc.number(where)
        expected = None if stated is None else stated - value * (1 - dcf.discount_factor(rate.amount, read.known[-1]))
        yield money(f"the terminal value {cell} is added without being discounted", where, stated or value, expected)
        return


@check("fatal.flow-rate-mismatch", severity="fatal")
def flow_rate_mismatch(
    wacc: Located,
    cost_of_equity: Located | None,
    interest: LocatedSeries | None,
    fcff: LocatedSeries | None,
    fcfe: LocatedSeries | None,
    discount_factor: LocatedSeries | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """Flows to the firm are discounted at the WACC, flows to equity at the cost of equity.

    What it holds:
        No flow that the live model proves to be after interest is discounted at the WACC, and none that rests on an
        operating profit after tax is discounted at the cost of equity beside a WACC.
    Why it matters:
        Interest is already in the WACC: an equity flow at the WACC counts the debt's cheapness twice.
    Accepted conventions:
        Labels prove nothing: a flow named FCF without interest is a flow to the firm; all-equity companies.
    Example:
        NOPAT + D&A - capex - interest·(1 - t) + net borrowing, discounted at 8.7 %.
    How to fix:
        Leave interest and borrowings out of the flow, or discount it at the cost of equity and skip the bridge.
    Units and tolerance:
        Money of flow per unit of interest; at least 0.4.
    Source:
        CFA Level II, free cash flow valuation; Koller et al., Valuation, ch. 10.
    """
    dearer = rates_read.at_cost_of_equity(roles, recalc, graph)
    if dearer is not None and cost_of_equity is not None:
        message = f"flows to the firm are discounted at the cost of equity {cost_of_equity.cell}, not at the WACC"
        found, wanted = cost_of_equity.value, wacc.value
        yield Finding(message=message, cell=valuation.as_range(dearer), found=found, expected=wanted, unit="rate")
        return
    flows = fcff or fcfe
    if flows is None or interest is None or wacc.cell is None:
        yield NotApplicable(reason="no interest line is bound that a flow could be after")
        return
    if len(interest.cells) != len(flows.cells) or not any(interest.values):
        yield NotApplicable(reason="the interest line does not cover the years of the flows")
        return
    ends = {0, len(flows.cells) - 1}
    after = [_after_interest(flows.cells[index], interest.cells[index], recalc) for index in ends]
    if not all(after):
        yield Fits(convention="flows before interest")
        return
    where = discount_factor.cells[0] if discount_factor is not None else flows.cells[0]
    yield from _judge_equity_flows(wacc, wacc.cell, flows, interest, where, roles, recalc, graph)


def _judge_equity_flows(
    wacc: Located,
    cell: CellRef,
    flows: LocatedSeries,
    interest: LocatedSeries,
    where: CellRef,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """Judge the rate of flows that are after interest: certain only where the value moves with a weighted rate."""
    cost_of_equity = roles.get("cost_of_equity")
    output = valuation.output_of(roles, graph, flows)
    held = live.values_of(recalc, flows.cells)
    source = graph.pure_link(cell)
    own = graph.pure_link(cost_of_equity.cell) if cost_of_equity is not None and cost_of_equity.cell else None
    if own is not None and own != source and rates_read.rate_behind(roles, recalc, graph) == own:
        yield Fits(convention=f"flows after interest at the cost of equity {own}")
        return
    slope = live.derivative(recalc, output, source, held) if output is not None else None
    weighted = own is not None and own in memory.above(graph, [source]) and own != source
    differs = (
        cost_of_equity is None
        or cost_of_equity.amount is None
        or abs(cost_of_equity.amount - (wacc.amount or 0)) > 1e-4
    )
    if not slope or not weighted or not differs:
        yield Unverifiable(reason="the flows are after interest; whether the rate is a weighted one is not certain")
        return
    message = f"{flows.cells[0]} is after interest ({interest.cells[0]}) but discounted at the WACC {wacc.cell}"
    expected = cost_of_equity.value if cost_of_equity is not None else None
    yield Finding(message=message, cell=where, found=wacc.value, expected=expected, unit="rate")


def _after_interest(flow: CellRef, paid: CellRef, recalc: Recalc) -> bool:
    """Say whether a flow bears its year's interest; interest that is added to a profit after it leaves none in."""
    slope, amount = live.derivative(recalc, flow, paid), recalc.number(paid) or 0.0
    return slope is not None and 0.4 <= abs(slope) <= 1.001 and slope * amount < 0
