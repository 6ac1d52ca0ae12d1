"""From the present values to the enterprise value: each flow and the terminal value once."""

from __future__ import annotations

from collections.abc import Iterator

from xlcheck.cells import CellRef, Tolerance
from xlcheck.checking import Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import claims, memory, segments, twins, valuation
from xlcheck.checks.amounts import money, sum_of
from xlcheck.checks.conversions import source_of
from xlcheck.checks.rounding import rounding_of
from xlcheck.checks.sheet import row_label
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles


@check(
    "bridge.enterprise-value",
    consequence_of=("fatal.terminal-not-discounted", "terminal.discounted-once", "discount.pv-sum"),
)
def enterprise_value(
    enterprise_value: Located,
    sum_pv_fcff: Located | None,
    pv_fcff: LocatedSeries | None,
    pv_terminal_value: Located | None,
    terminal_value: Located | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """Enterprise value is the sum of the present values of all flows and of the terminal value.

    What it holds:
        EV = Σ PV(flows) + PV(terminal value), each counted once, in every valuation of the workbook.
    Why it matters:
        A missing year or an undiscounted terminal value goes straight into the value per share.
    Accepted conventions:
        A cell for the sum or a SUM inside; an average of two methods; EV by NPV or XNPV; items of the balance sheet
        added in the same formula; no terminal value (finite life).
    Example:
        ``=B14+B15`` adds the terminal value of 2,518 instead of its present value of 1,637.
    How to fix:
        Add the sum of present values and the *present* value of the terminal value.
    Units and tolerance:
        Money of the sheet; 1e-6 of the largest term, plus the rounding of ROUND formulas.
    Source:
        CFA Level II, free cash flow valuation; Koller et al., Valuation, ch. 8.
    """
    stated, where = enterprise_value.value, enterprise_value.cell
    total = sum_of(sum_pv_fcff, pv_fcff)
    present = pv_terminal_value.value if pv_terminal_value is not None else None
    if stated is None or where is None:
        yield NotApplicable(reason="the enterprise value lives only inside another formula")
        return
    yield from segments.odd_steps(roles, recalc, graph)
    tolerance = Tolerance(absolute=rounding_of(recalc, where))
    if total is not None and present is not None:
        if tolerance.allows(stated, total + present, max(abs(total), abs(present))):
            yield from twins.left_out_terminal(roles, recalc, graph)
            yield from _all_years(where, stated, roles, recalc, graph)
            return
        for raw in _undiscounted(terminal_value, pv_terminal_value, recalc, graph):
            if tolerance.allows(stated, total + raw) and not valuation.close(raw, present, 1e-6):
                message = f"{where} adds the terminal value itself, not its present value"
                yield money(message, where, stated, total + present, tolerance)
                return
        if tolerance.allows(stated, total, max(abs(total), abs(present))):
            yield money(f"{where} leaves the terminal value out", where, stated, total + present, tolerance)
            return
    yield from twins.left_out_terminal(roles, recalc, graph)
    yield from _all_years(where, stated, roles, recalc, graph, sure=False)


def _undiscounted(terminal: Located | None, present: Located | None, recalc: Recalc, graph: Graph) -> Iterator[float]:
    """Yield what the enterprise value may hold in the place of the present value: what that is worked out from."""
    if terminal is not None and terminal.value is not None:
        yield terminal.value
    read = graph.precedents(graph.pure_link(present.cell)) if present is not None and present.cell is not None else ()
    yield from (value for cell in read if (value := recalc.number(cell)) is not None and abs(value) > 1)


def _all_years(
    where: CellRef, stated: float, roles: Roles, recalc: Recalc, graph: Graph, *, sure: bool = True
) -> Outcomes:
    """Judge by the live model: every flow and the terminal value move the enterprise value."""
    flows = valuation.flows_of(roles)
    weighed = valuation.weights(roles, recalc, graph)
    if flows is None or weighed is None or weighed.output not in (where, source_of(where, recalc.book)):
        yield from () if sure else (Unverifiable(reason=f"the parts of {where} are not all bound"),)
        return
    factors = valuation.factors_of(roles, recalc, graph)
    last, entry = len(flows.cells) - 1, valuation.entry_years(roles, recalc, graph)
    missing = 0.0
    for index, weight in enumerate(weighed.flows):
        if (
            index >= entry
            and weight is not None
            and abs(weight) < 1e-9
            and not (index == last and not weighed.last_is_clean)
        ):
            factor = factors[0][index] if factors is not None else None
            missing += (flows.values[index] or 0.0) * (factor or 0.0)
            message = f"{where} leaves out the present value of the flow {flows.cells[index]}"
            yield money(message, where, stated, stated + missing if missing else None)
    later = valuation.left_behind(roles, [cell for cell, _ in weighed.terminals], recalc, graph)
    for cell in later:
        message = f"{where} leaves out the present value of the flow {cell}"
        yield money(message, where, stated, None)
    if missing or later:
        return
    left_out = None if weighed.terminals else _without_terminal(where, weighed, roles, graph)
    if left_out is not None:
        total, present = _named_source(where, recalc, graph), roles.get("pv_terminal_value")
        message = f"{total} is the present value of the flows alone: the terminal value {left_out} is left out"
        added = present.value if present is not None and present.cell not in memory.above(graph, [where]) else None
        yield money(message, total, stated, None if added is None else stated + added)
        return
    dead = [cell for cell, weight in weighed.terminals if weight is not None and abs(weight) < 1e-9]
    if weighed.terminals and len(dead) == len(weighed.terminals):
        yield money(f"{where} does not move with the terminal value {dead[0]}", where, stated, None)
    elif not sure:
        yield Fits(convention="every flow and the terminal value move the enterprise value by their weight")


def _without_terminal(where: CellRef, weighed: valuation.Weights, roles: Roles, graph: Graph) -> CellRef | None:
    """Return a terminal value that does not feed a total in which the last flow counts as one year among others.

    A terminal value inside the total's own formula would show as a last flow of many times its discount factor.
    """
    bound = roles.get("terminal_value")
    counted = [weight for weight in weighed.flows if weight is not None and weight > 1e-9][-3:]
    if bound is None or bound.cell is None or (bound.value or 0.0) <= 0 or len(counted) < 3:
        return None
    before, last, final = counted
    built = len(graph.precedents(bound.cell)) > 1
    idle = bound.cell not in memory.above(graph, [where])
    return bound.cell if built and idle and valuation.close(final / last, last / before, 0.1) else None


def _named_source(where: CellRef, recalc: Recalc, graph: Graph) -> CellRef:
    """Return the farthest cell on a chain of plain links that is still called an enterprise value."""
    source, found = where, where
    while len(read := graph.precedents(source)) == 1 and source != graph.pure_link(source):
        source = read[0]
        if claims.label_scores(row_label(recalc, source)).get("enterprise_value", 0.0) >= claims.SURE_LABEL:
            found = source
    return found
