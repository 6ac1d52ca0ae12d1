"""How the model responds when an input is moved, held against what the closed forms predict."""

from __future__ import annotations

import re

from xlcheck import dcf
from xlcheck.cells import CellRef
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import claims, live, memory, valuation
from xlcheck.checks.headline import output_cells
from xlcheck.checks.sheet import row_label
from xlcheck.formula import Ref, literals, terms, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles


@check("response.wacc-up-value-down", consequence_of=("wacc.is-the-rate-used", "fatal.growth-not-below-wacc"))
def wacc_up_value_down(wacc: Located, roles: Roles, recalc: Recalc, graph: Graph) -> Outcomes:
    """A higher rate lowers the value, by about what the flows predict.

    What it holds:
        Raising the rate by one per cent of itself, flows held, lowers the output by half to twice the predicted amount.
    Why it matters:
        A value that rises with the rate, or hardly moves, is not a discounted one.
    Accepted conventions:
        Negative early flows; only where the present value of flows and terminal value is positive.
    Example:
        Factors typed at 9.5 % leave the value where it is when the WACC moves.
    How to fix:
        Let every factor and the terminal value read the rate.
    Units and tolerance:
        Money of the sheet; a factor of two.
    Source:
        Damodaran, Investment Valuation; SR 11-7, sensitivity analysis.
    """
    flows = valuation.flows_of(roles)
    output = valuation.output_of(roles, graph, flows) if flows is not None else None
    weighed = valuation.weights(roles, recalc, graph)
    source = graph.pure_link(wacc.cell) if wacc.cell is not None else None
    if flows is None or output is None or weighed is None or source is None or not wacc.amount:
        yield NotApplicable(reason="no output that depends on flows and rate is bound")
        return
    predicted = _predicted(flows, weighed, wacc.amount, roles, recalc, graph)
    if predicted is None or predicted >= 0:
        yield NotApplicable(reason="the flows predict no fall of the value")
        return
    held = live.values_of(recalc, flows.cells)
    base, before = recalc.number(source), recalc.number(output)
    rates = {source: base, **_later_phase(roles, recalc, graph)}
    raised = {cell: value * 1.01 for cell, value in rates.items() if value is not None}
    moved = live.run(recalc, {**held, **raised}, [output])[output] if base is not None else None
    if moved is None or before is None:
        yield Unverifiable(reason=f"{output} could not be recomputed with another rate")
        return
    change = moved - before
    if abs(change) <= 1e-9 * abs(before) and base is not None and _copied(source, base, output, recalc, graph):
        yield Unverifiable(reason="the model reads a typed copy of the rate")
    elif change >= 0 or abs(change) < abs(predicted) / 2:
        message = (
            f"{output} changes by {change:.6g} when the rate rises by one per cent of itself; {predicted:.6g} follows"
        )
        yield Finding(message=message, cell=source, found=change, expected=predicted, unit="money")
    else:
        yield Fits(convention=f"change of {change:.4g}, predicted {predicted:.4g}")


def _later_phase(roles: Roles, recalc: Recalc, graph: Graph) -> dict[CellRef, float | None]:
    """Return the rate of the terminal value where it has one of its own: the years between drift towards it."""
    terminal = roles.get("terminal_wacc")
    if terminal is None or terminal.cell is None:
        return {}
    cell = graph.pure_link(terminal.cell)
    return {cell: recalc.number(cell)}


def _copied(source: CellRef, value: float, output: CellRef, recalc: Recalc, graph: Graph) -> bool:
    """Say whether a constant of (nearly) the same value feeds the output instead of the rate's cell."""
    cells = (cell for cell in memory.above(graph, [output]) if cell != source)
    found = (recalc.book.get(cell) for cell in cells)
    return any(
        held is not None
        and held.formula is None
        and (number := recalc.number(held.ref)) is not None
        and abs(number - value) <= 1e-4 * abs(value)
        for held in found
    )


def _predicted(
    flows: LocatedSeries, weighed: valuation.Weights, rate: float, roles: Roles, recalc: Recalc, graph: Graph
) -> float | None:
    """Return the change of the output for one per cent more rate, from exponents and the terminal value's method."""
    raised, change = rate * 1.01, 0.0
    for flow, weight in zip(flows.values, weighed.flows, strict=True):
        years = dcf.exponent_of(weight, rate) if weight is not None else None
        if flow is not None and weight is not None and years is not None:
            change += flow * (weight * ((1 + raised) / (1 + rate)) ** -years - weight)
    growth = roles.get("terminal_growth")
    for cell, weight in weighed.terminals:
        value = recalc.number(cell)
        years = dcf.exponent_of(weight * len(weighed.terminals), rate) if weight is not None else None
        if value is None or weight is None or years is None:
            return None
        if _otherwise_on_the_rate(cell, roles, graph):
            return None
        grown = growth.amount if growth is not None else None
        method = valuation.method_of(cell, roles, graph)
        gordon = method == "gordon" and grown is not None and rate > grown
        moved = value * (rate - grown) / (raised - grown) if gordon and grown is not None else value
        change += weight * (moved * ((1 + raised) / (1 + rate)) ** -years - value)
    return change / (valuation.money_per_output(roles, weighed.output) or 1.0)


def _otherwise_on_the_rate(terminal: CellRef, roles: Roles, graph: Graph) -> bool:
    """Say whether the terminal value moves with the rate through more than its denominator: RONIC set to the WACC."""
    wacc = roles.get("wacc")
    source = graph.pure_link(wacc.cell) if wacc is not None and wacc.cell is not None else None
    rates = {held.cell for role in ("wacc", "terminal_wacc", "cost_of_equity") if (held := roles.get(role)) is not None}
    rates |= {graph.pure_link(cell) for cell in rates if cell is not None}
    lines = {cell for line in roles.series.values() for cell in line.cells}
    ronic = roles.get("ronic")
    for cell in graph.precedents(terminal):
        linked = cell in rates or graph.pure_link(cell) in rates
        return_on_capital = ronic is not None and ronic.cell == cell
        if (return_on_capital or not (linked or cell in lines)) and source in memory.above(graph, [cell]):
            return True
    return False


@check("response.growth-up-value-up", consequence_of=("terminal.gordon-identity", "fatal.growth-not-below-wacc"))
def growth_up_value_up(
    terminal_growth: Located, terminal_value: Located | None, wacc: Located, roles: Roles, recalc: Recalc, graph: Graph
) -> Outcomes:
    """Higher terminal growth raises a Gordon terminal value on a fixed flow.

    What it holds:
        With the flows held, a tenth of a point more growth raises the terminal value by at least half of what
        F·(1+g)/(r-g) predicts.
    Why it matters:
        A growth cell that the terminal value does not read, or reads with the wrong sign, deceives every sensitivity.
    Accepted conventions:
        Value driver formulas, where growth adds nothing at RONIC = WACC, and normalised flows that reinvest for growth:
        the prediction does not hold there and the check does not apply.
    Example:
        A denominator of WACC + g lowers the value when growth rises.
    How to fix:
        ``=last flow*(1+g)/(WACC-g)``.
    Units and tolerance:
        Money of the sheet; a factor of two.
    Source:
        Gordon 1962; Koller et al., Valuation, ch. 14.
    """
    if terminal_value is None or terminal_value.cell is None:
        yield NotApplicable(reason="no single terminal value is bound")
        return
    flows, rate, cell = valuation.flows_of(roles), wacc.amount, terminal_value.cell
    growth, source = terminal_growth.amount, terminal_growth.cell
    flow = flows.values[-1] if flows is not None and flows.values else None
    if source is None or growth is None or not rate or flow is None or flows is None or rate <= growth:
        yield NotApplicable(reason="no Gordon terminal value on the last flow is bound")
        return
    plain = flow * (1 + growth) / (rate - growth)
    value = terminal_value.value or 0.0
    if not valuation.close(value, plain, 1e-6) and not valuation.close(value, flow / (rate - growth), 1e-6):
        yield NotApplicable(reason="the terminal value is no plain Gordon value on the last flow")
        return
    origin = graph.pure_link(source)
    base = recalc.number(origin)
    if base is None or flow <= 0:
        yield NotApplicable(reason="the last flow is not positive")
        return
    step = 0.001 / terminal_growth.factor
    moved = live.run(recalc, {**live.values_of(recalc, flows.cells), origin: base + step}, [cell])[cell]
    if moved is None:
        yield Unverifiable(reason=f"{cell} could not be recomputed with another growth")
        return
    predicted = flow * (1 + growth + 0.001) / (rate - growth - 0.001) - plain if rate > growth + 0.001 else None
    if predicted is not None and moved - value < predicted / 2:
        message = f"{cell} changes by {moved - value:.6g} for a tenth of a point of growth; {predicted:.6g} follows"
        yield Finding(message=message, cell=cell, found=moved - value, expected=predicted, unit="money")


@check("response.debt-up-equity-down", consequence_of=("bridge.signs", "bridge.equity-identity", "bridge.net-debt"))
def debt_up_equity_down(debt: Located, equity_value: Located, roles: Roles, recalc: Recalc, graph: Graph) -> Outcomes:
    """One more unit of debt lowers the equity value by one unit.

    What it holds:
        With enterprise value held, d equity / d debt is -1 in the unit of the bridge.
    Why it matters:
        Debt that does not reduce equity was forgotten; debt that raises it has the wrong sign.
    Accepted conventions:
        Debt entered negative; net debt in one cell; another unit on the source sheet.
    Example:
        ``=EV+cash+debt`` raises equity by every unit borrowed.
    How to fix:
        Deduct the debt in the equity formula.
    Units and tolerance:
        Money per money; 1e-4.
    Source:
        Koller et al., Valuation, ch. 16.
    """
    equity = equity_value.cell
    if equity is None or debt.cell is None or not debt.value:
        yield NotApplicable(reason="no debt amount is bound")
        return
    acting = claims.acting_cell(debt.cell, equity, claims.held_operations(roles, recalc), recalc, graph)
    if acting is None:
        node = claims.formula_node(equity, recalc)
        if any(literal.value == abs(debt.value) for literal in (literals(node) if node is not None else ())):
            message = f"{equity} deducts a typed {abs(debt.value):g} instead of the debt in {debt.cell}"
            yield Finding(message=message, cell=equity, found=0.0, expected=-1.0, unit="money per money")
        else:
            yield NotApplicable(reason="the bound debt feeds no equity value")
        return
    cell, slope = acting
    item = next((one for one in claims.items(roles, recalc, graph) if one.role == "debt"), None)
    if item is not None and item.wrong:
        message = f"{equity} rises by {abs(slope):.4g} for one more unit of debt ({cell})"
        yield Finding(message=message, cell=equity, found=abs(slope), expected=-1.0, unit="money per money")
        return
    yield Fits(convention=f"equity falls by {abs(slope):.4g} for one unit in {cell}")


@check("response.shares-double-value-halves", consequence_of=("bridge.per-share", "fatal.share-count"))
def shares_double_value_halves(
    shares: Located, value_per_share: Located, equity_value: Located | None, recalc: Recalc, graph: Graph
) -> Outcomes:
    """Twice the shares halve the value per share.

    What it holds:
        With the equity value held, doubling the count that equity is divided by halves the value per share.
    Why it matters:
        A share count that the result does not read makes every per-share figure a claim.
    Accepted conventions:
        Treasury stock and market weights: the equity value is held, so they do not feed back. Methods that each link
        the one count: doubled at its source, it halves all of them.
    Example:
        A value per share divided by a typed 613.3 beside a share count in its own cell.
    How to fix:
        ``=equity value/shares``.
    Units and tolerance:
        Currency per share; 1e-4, or the rounding of the cell.
    Source:
        FAST Standard 4.01 (inputs are used).
    """
    cell, value, count = value_per_share.cell, value_per_share.value, shares.value
    if cell is None or shares.cell is None or not value or not count:
        yield NotApplicable(reason="value per share or shares are not in cells of their own")
        return
    above = memory.above(graph, [cell])
    sources = [one for one in dict.fromkeys((shares.cell, graph.pure_link(shares.cell))) if one in above]
    if not sources:
        yield from _unread_count(shares, cell, value, recalc, graph)
        return
    if _blended_with_another(cell, sources, recalc, graph):
        yield NotApplicable(reason=f"{cell} is blended with a value that does not rest on these shares")
        return
    held = live.values_of(recalc, [equity_value.cell]) if equity_value is not None and equity_value.cell else {}
    results = [live.run(recalc, {**held, one: (recalc.number(one) or 0.0) * 2}, [cell])[cell] for one in sources]
    acting = sources[0]
    moved = min(results, key=lambda one: abs(one - value / 2) if one is not None else float("inf"))
    if moved is None:
        yield Unverifiable(reason=f"{cell} could not be recomputed with twice the shares")
    elif abs(moved - value / 2) > max(0.01 * abs(value), 1e-9) and not held:
        yield Unverifiable(reason="the equity value could not be held while the shares were doubled")
    elif abs(moved - value / 2) > max(0.01 * abs(value), 1e-9) and abs(value) > 10:
        message = f"{cell} is {moved:.6g} with twice the shares ({acting}); half of {value:.6g} follows"
        yield Finding(message=message, cell=cell, found=moved, expected=value / 2, unit="per share")


def _blended_with_another(cell: CellRef, counts: list[CellRef], recalc: Recalc, graph: Graph) -> bool:
    """Say whether one of the amounts that a sum adds up does not depend on the share count (a value of peers)."""
    node = claims.formula_node(cell, recalc)
    for sign, part in terms(node) if node is not None and len(terms(node)) > 1 else ():
        amounts = [one.cell for one in walk(part) if isinstance(one, Ref) and abs(recalc.number(one.cell) or 0.0) > 1]
        if sign > 0 and amounts and not any({one, *memory.above(graph, [one])} & set(counts) for one in amounts):
            return True
    return False


def _unread_count(shares: Located, cell: CellRef, value: float, recalc: Recalc, graph: Graph) -> Outcomes:
    """Judge a value per share that does not read the bound count: a typed copy of it stands in the formula or near."""
    node = claims.formula_node(cell, recalc)
    same = [one for one in (literals(node) if node is not None else ()) if shares.value and one.value == shares.value]
    if same:
        message = f"{cell} divides by a typed {shares.value:g} instead of the share count {shares.cell}"
        yield Finding(message=message, cell=cell, found=value, expected=value, unit="per share")
    else:
        yield NotApplicable(reason=f"{cell} does not read the bound share count")


@check("response.no-dead-assumptions")
def no_dead_assumptions(roles: Roles, recalc: Recalc, graph: Graph) -> Outcomes:
    """Every stated assumption moves a result.

    What it holds:
        No input is left unread while its very value is typed inside a formula that needs it.
    Why it matters:
        A reader who changes the assumption believes that he changes the value.
    Accepted conventions:
        Memo lines, sources, history, and assumptions of a second method.
    Example:
        Capex of 7.2 % of revenue stated in a cell, and ``=C5*0.072`` in the capex row.
    How to fix:
        Put the reference in the place of the typed number.
    Units and tolerance:
        The literal equals the unread input exactly.
    Source:
        FAST Standard 3.03-05 (no hard-coded numbers in formulas); 4.01.
    """
    outputs = list(output_cells(roles).values())
    if not outputs:
        yield NotApplicable(reason="no headline value is bound to a cell")
        return
    typed = _typed_in_formulas(outputs, recalc, graph)
    for held in recalc.book.cells():
        value = recalc.number(held.ref)
        if held.formula is not None or value is None or value not in typed or _trivial(value):
            continue
        if not graph.dependents(held.ref) and row_label(recalc, held.ref) and not _in_a_row(held.ref, recalc):
            message = (
                f"{held.ref} ({row_label(recalc, held.ref)[:40]}) moves nothing; {value:g} is typed in {typed[value]}"
            )
            yield Finding(message=message, cell=held.ref, found=value, expected=f"read by {typed[value]}")


def _typed_in_formulas(outputs: list[CellRef], recalc: Recalc, graph: Graph) -> dict[float, CellRef]:
    """Return the literals in the formulas behind the outputs, with the first cell each stands in."""
    found: dict[float, CellRef] = {}
    for cell in sorted(memory.above(graph, outputs)):
        held = recalc.book.get(cell)
        for text, percent in _DECIMAL.findall(held.formula or "") if held is not None else ():
            found.setdefault(float(text) / (100 if percent else 1), cell)
    return found


_DECIMAL = re.compile(r"(?<![\w.$!'])(\d+\.\d+|\d+(?=%))(%?)(?![\w.:!(])")
"""A number with decimals, or a percentage, as a formula writes it."""


def _trivial(value: float) -> bool:
    """Say whether a number is a counter, a power of ten, or a fraction that formulas use for other reasons."""
    digits = f"{abs(value):.10f}".replace(".", "").strip("0")
    return value == int(value) or len(digits) < 2 or digits in ("25", "75")


def _in_a_row(cell: CellRef, recalc: Recalc) -> bool:
    """Say whether numbers stand beside a cell: then it belongs to a series, not to the inputs."""
    sides = (cell.offset(0, -1), cell.offset(0, 1)) if cell.column > 1 else (cell.offset(0, 1),)
    return any(recalc.number(side) is not None for side in sides)
