"""What the terminal value assumes for ever: growth, steady state, and the measure that a multiple stands on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from xlcheck.cells import CellRef
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Params, check
from xlcheck.checks import claims, memory, parity, perpetuity, valuation
from xlcheck.checks.amounts import money
from xlcheck.checks.metric import ebitda_values, last, net_investment
from xlcheck.checks.sheet import row_label, text_at
from xlcheck.checks.terminal import multiple_cells
from xlcheck.formula import Binary, Range, Ref, terms, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles


@check("terminal.growth-range", consequence_of=("fatal.growth-not-below-wacc",))
def growth_range(terminal_growth: Located, roles: Roles, params: Params, recalc: Recalc, graph: Graph) -> Outcomes:
    """The terminal growth lies within the range that the rubric sets.

    What it holds:
        low ≤ terminal growth ≤ high, and the rate exceeds it by at least ``spread`` where the rubric sets one.
    Why it matters:
        No business outgrows its economy for ever; half a point of growth moves the value by a tenth.
    Accepted conventions:
        Negative growth, where the range admits it; growth in a currency of high inflation that the rate was carried to
        by a stated inflation, if it lies within the range before that.
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
    low, high, spread = (params.get(name) for name in ("low", "high", "spread"))
    if not isinstance(low, Decimal) or not isinstance(high, Decimal):
        yield NotApplicable(reason="the rubric sets no range for the terminal growth")
        return
    if growth is None:
        return
    before = _before_inflation(growth, roles, recalc, graph)
    if growth > float(high) >= before:
        yield Fits(convention=f"growth of {before:.2%} in the currency before inflation")
        return
    if not float(low) <= growth <= float(high):
        message = f"the terminal growth of {growth:.2%} lies outside {float(low):.2%} to {float(high):.2%}"
        bound = float(low) if growth < float(low) else float(high)
        unit = bound / terminal_growth.factor
        yield Finding(
            message=message, cell=terminal_growth.cell, found=terminal_growth.value, expected=unit, unit="rate"
        )
        return
    rate = valuation.terminal_rate_of(roles)
    if isinstance(spread, Decimal) and rate is not None and rate.amount is not None:
        gap = rate.amount - growth
        if 0 < gap < float(spread):
            message = (
                f"the rate exceeds the terminal growth by {gap:.3%} only: the terminal value is {1 / gap:.0f} flows"
            )
            unit = (rate.amount - float(spread)) / terminal_growth.factor
            yield Finding(
                message=message, cell=terminal_growth.cell, found=terminal_growth.value, expected=unit, unit="rate"
            )


def _before_inflation(growth: float, roles: Roles, recalc: Recalc, graph: Graph) -> float:
    """Return the growth in the currency that the discount rate was carried from by inflation, else as it is."""
    rate = valuation.terminal_rate_of(roles)
    base = parity.before_inflation(rate, recalc, graph) if rate is not None else None
    if rate is None or rate.amount is None or base is None:
        return growth
    return (1 + growth) * (1 + base) / (1 + rate.amount) - 1


@check("terminal.growth-below-risk-free", severity="warn")
def growth_below_risk_free(terminal_growth: Located, risk_free_rate: Located) -> Outcomes:
    """The terminal growth does not exceed the risk-free rate.

    What it holds:
        g ≤ rf in the same currency.
    Why it matters:
        The risk-free rate stands for the nominal growth of the economy; above it for ever a company becomes it.
    Accepted conventions:
        Economies with rates held down by policy, where the gap is argued.
    Example:
        Growth of 5 % beside a government bond at 1.5 %.
    How to fix:
        Lower the growth to the risk-free rate or below.
    Units and tolerance:
        Decimal rates; none.
    Source:
        Damodaran, Investment Valuation, ch. 12.
    """
    growth, rate = terminal_growth.amount, risk_free_rate.amount
    if growth is not None and rate is not None and growth > rate + 1e-9:
        message = f"terminal growth of {growth:.2%} exceeds the risk-free rate of {rate:.2%}"
        expected = rate / terminal_growth.factor
        yield Finding(
            message=message, cell=terminal_growth.cell, found=terminal_growth.value, expected=expected, unit="rate"
        )


_EBITDA = re.compile(r"EBITDA|EBITA|税息折旧|息税折旧", re.IGNORECASE)


@check("terminal.multiple-basis", consequence_of=("terminal.exit-multiple-identity",))
def multiple_basis(
    exit_multiple: Located,
    ebitda: LocatedSeries | None,
    ebit: LocatedSeries | None,
    depreciation: LocatedSeries | None,
    enterprise_value: Located | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The exit multiple comes from outside the model and stands on a positive EBITDA of the terminal year.

    What it holds:
        The multiple is positive, not derived from the measure it is applied to, and applied to the last year of the
        measure that its label names.
    Why it matters:
        Today's EV over the EBITDA of year five, times that EBITDA, is today's EV again: nothing was valued.
    Accepted conventions:
        Peer multiples computed in the workbook; the EBITDA of the year after; a multiple typed as text.
    Example:
        ``=WACC!X30/N14`` as exit multiple, applied to N14.
    How to fix:
        Use the multiple of peers on the same measure.
    Units and tolerance:
        A multiple; 1e-6.
    Source:
        Koller et al., Valuation, ch. 18.
    """
    if exit_multiple.value is None or exit_multiple.cell is None:
        yield NotApplicable(reason="no exit multiple is bound to a cell")
        return
    if exit_multiple.value <= 0:
        message = f"the exit multiple {exit_multiple.cell} is {exit_multiple.value:g}"
        yield Finding(
            message=message, cell=exit_multiple.cell, found=exit_multiple.value, expected="above 0", unit="multiple"
        )
        return
    applied = multiple_cells(exit_multiple, roles, recalc, graph)
    source = graph.pure_link(exit_multiple.cell)
    behind = memory.above(graph, [source]) - {source}
    for cell in applied:
        for measure in graph.precedents(cell):
            base = graph.pure_link(measure)
            if base in behind and base != source:
                message = f"the exit multiple {source} is derived from {base}, the measure it is applied to"
                yield Finding(message=message, cell=source, found=exit_multiple.value, expected=None, unit="multiple")
                return
    values = ebitda_values(ebitda, ebit, depreciation)
    of_revenue = _on_revenue(applied, exit_multiple, roles, recalc, graph)
    if of_revenue is not None:
        expected = values[-1] * exit_multiple.value if values and values[-1] is not None else None
        message = f"{of_revenue} applies a multiple of EBITDA ({source}) to revenue"
        yield money(message, of_revenue, recalc.number(of_revenue), expected)
        return
    yield from _wrong_year(
        applied, exit_multiple.value, _measured(applied, exit_multiple.value, values, roles, recalc), recalc
    )


def _on_revenue(
    applied: list[CellRef], multiple: Located, roles: Roles, recalc: Recalc, graph: Graph
) -> CellRef | None:
    """Return the cell that multiplies revenue by a multiple of EBITDA.

    It is one by its label, or by a line of EBITDA right above the product that nothing reads.
    """
    revenue = roles.series.get("revenue")
    if revenue is None or not revenue.values[-1] or multiple.cell is None or not multiple.value:
        return None
    for cell in applied:
        above = [cell.offset(-step, 0) for step in (1, 2, 3) if cell.row > step]
        alone = [ref for ref in above if recalc.number(ref) and recalc.number(ref.offset(0, 1)) is None]
        idle = [ref for ref in alone if not graph.dependents(ref)]
        named = any(_EBITDA.search(row_label(recalc, ref)) for ref in (graph.pure_link(multiple.cell), *idle))
        if named and valuation.close(recalc.number(cell) or 0.0, revenue.values[-1] * multiple.value):
            return cell
    return None


def _measured(
    cells: list[CellRef], multiple: float, ebitda: tuple[float | None, ...], roles: Roles, recalc: Recalc
) -> tuple[float | None, ...]:
    """Return the years of the measure that the multiple is applied to: EBITDA, or another line that one year meets."""
    shown = [value for cell in cells if (value := recalc.number(cell)) is not None]
    lines = [line.values for role in ("revenue", "nopat", "fcff") if (line := roles.series.get(role)) is not None]
    for values in (ebitda, *lines):
        if any(valuation.close(value, one * multiple) for value in shown for one in values if one is not None):
            return values
    return ebitda


def _wrong_year(cells: list[CellRef], multiple: float, values: tuple[float | None, ...], recalc: Recalc) -> Outcomes:
    final = values[-1] if values else None
    for cell in cells:
        value = recalc.number(cell)
        if value is None or final is None or valuation.close(value, final * multiple):
            continue
        years = [
            index for index, one in enumerate(values[:-1]) if one is not None and valuation.close(value, one * multiple)
        ]
        if years:
            message = f"{cell} applies the multiple to the measure of forecast year {years[0] + 1} of {len(values)}"
            yield money(message, cell, value, final * multiple)
            return
    if final is not None and final <= 0 and cells:
        yield money(f"{cells[0]} applies the multiple to a negative EBITDA", cells[0], recalc.number(cells[0]), None)
        return
    yield Fits(convention="EBITDA of the last forecast year" if cells else "not applied")


@check("terminal.steady-state", severity="warn")
def steady_state(
    terminal_growth: Located | None,
    capex: LocatedSeries | None,
    depreciation: LocatedSeries | None,
    revenue: LocatedSeries | None,
    nopat: LocatedSeries | None,
    change_in_nwc: LocatedSeries | None,
    params: Params,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The flow that is capitalised for ever is one that can last for ever.

    What it holds:
        In the last year, where it is capitalised itself, capital expenditure covers depreciation by the share that the
        rubric sets (``capex_to_depreciation``), growth is near the terminal growth (``growth_gap``), and the
        reinvestment is near g/RONIC where a return on new capital is bound.
    Why it matters:
        A company that grows for ever while its plant shrinks is worth whatever the formula says.
    Accepted conventions:
        A normalised terminal year, value driver formulas (reinvestment is in the formula), shrinking perpetuities.
    Example:
        Capex of 15 beside D&A of 60 at 2.5 % growth: terminal value 3,627; with reinvestment 2,372.
    How to fix:
        Add a normalised year with capex, working capital and growth at their long-run levels.
    Units and tolerance:
        Ratios; the bounds are the rubric's.
    Source:
        Koller et al., Valuation, ch. 14.
    """
    cover, gap = params.get("capex_to_depreciation"), params.get("growth_gap")
    if not isinstance(cover, Decimal) and not isinstance(gap, Decimal):
        yield NotApplicable(reason="the rubric sets no bounds for the steady state")
        return
    if terminal_growth is None or capex is None or depreciation is None:
        yield from _unbound(cover, recalc) if not roles.scalars else ()
        yield NotApplicable(reason="terminal growth, capex and depreciation are not all bound")
        return
    growth = terminal_growth.amount
    if growth is None or growth <= 0 or not _on_the_last_flow(roles, recalc, graph):
        yield NotApplicable(reason="the terminal value does not capitalise the last forecast year with growth")
        return
    spent, worn = last(capex), last(depreciation)
    if isinstance(cover, Decimal) and spent is not None and worn and abs(spent) < float(cover) * abs(worn):
        ratio = abs(spent) / abs(worn)
        message = f"capex of the last year is {ratio:.2f} of depreciation while the perpetuity grows by {growth:.2%}"
        yield money(message, capex.cells[-1], spent, abs(worn) * (1 if spent > 0 else -1))
    late = _last_growth(revenue)
    if isinstance(gap, Decimal) and late is not None and revenue is not None and abs(late - growth) > float(gap):
        message = f"revenue grows by {late:.2%} in the last year and by {growth:.2%} for ever after"
        yield Finding(message=message, cell=revenue.cells[-1], found=late, expected=growth, unit="rate")
    yield from _reinvestment(growth, nopat, net_investment(capex, depreciation, change_in_nwc), roles, gap)


def _unbound(cover: object, recalc: Recalc) -> Iterator[Finding]:
    """Judge a lone perpetuity without a valuation around it: a flow over WACC - g whose terms are labelled."""
    for held in recalc.book.formula_cells():
        node = claims.formula_node(held.ref, recalc)
        if not isinstance(node, Binary) or node.operator != "/" or not isinstance(cover, Decimal):
            continue
        below = node.right
        if not isinstance(below, Binary) or below.operator != "-":
            continue
        if not isinstance(below.left, Ref) or not isinstance(below.right, Ref):
            continue
        if claims.label_scores(row_label(recalc, below.left.cell)).get("wacc", 0.0) < 0.8:
            continue
        named = claims.label_scores(_label(below.right.cell, recalc))
        growth = recalc.number(below.right.cell)
        flows = [part.cell for part in walk(node.left) if isinstance(part, Ref) and part.cell != below.right.cell]
        if named.get("terminal_growth", 0.0) < 0.5 or not growth or growth <= 0 or len(flows) != 1:
            continue
        yield from _lone_flow(flows[0], growth, float(cover), recalc)


def _label(cell: CellRef, recalc: Recalc) -> str:
    """Return the label of a cell; a single letter left of it counts here."""
    return row_label(recalc, cell) or (text_at(recalc, cell.offset(0, -1)) if cell.column > 1 else "")


def _lone_flow(flow: CellRef, growth: float, cover: float, recalc: Recalc) -> Iterator[Finding]:
    parts: dict[str, tuple[CellRef, float]] = {}
    node = claims.formula_node(flow, recalc)
    for _, term in terms(node) if node is not None else ():
        cells = [term.cell] if isinstance(term, Ref) else list(term.range.cells()) if isinstance(term, Range) else []
        for cell in cells:
            scores, value = claims.label_scores(row_label(recalc, cell)), recalc.number(cell)
            for role in ("capex", "depreciation"):
                if scores.get(role, 0.0) >= 0.8 and value:
                    parts[role] = (cell, value)
    if len(parts) == 2 and abs(parts["capex"][1]) < cover * abs(parts["depreciation"][1]):
        (cell, spent), (_, worn) = parts["capex"], parts["depreciation"]
        message = f"capex is {abs(spent) / abs(worn):.2f} of depreciation while the perpetuity grows by {growth:.2%}"
        yield money(message, cell, spent, abs(worn) * (1 if spent > 0 else -1))


def _on_the_last_flow(roles: Roles, recalc: Recalc, graph: Graph) -> bool:
    """Say whether a growing perpetuity stands on the flow of the last forecast year itself."""
    for cell in perpetuity.growth_cells(roles, recalc, graph):
        given = perpetuity.inputs(cell, roles, recalc, graph)
        if given is None:
            continue
        plain = given.flows[-1] / (given.rate - given.growth)
        if valuation.close(given.value, plain * (1 + given.growth)) or valuation.close(given.value, plain):
            return True
    return False


def _last_growth(revenue: LocatedSeries | None) -> float | None:
    if revenue is None or len(revenue.values) < 2:
        return None
    before, final = revenue.values[-2], revenue.values[-1]
    return final / before - 1 if before and final is not None else None


def _reinvestment(
    growth: float, nopat: LocatedSeries | None, spent: tuple[float, ...], roles: Roles, gap: object
) -> Iterator[Finding]:
    ronic, base = roles.get("ronic"), last(nopat)
    if ronic is None or not ronic.amount or not base or not spent or nopat is None or not isinstance(gap, Decimal):
        return
    rate, wanted = spent[-1] / base, growth / ronic.amount
    if abs(rate - wanted) > 10 * float(gap):
        message = (
            f"the last year reinvests {rate:.1%} of NOPAT; {growth:.2%} growth at {ronic.amount:.1%} needs {wanted:.1%}"
        )
        yield Finding(message=message, cell=nopat.cells[-1], found=rate, expected=wanted, unit="rate")
