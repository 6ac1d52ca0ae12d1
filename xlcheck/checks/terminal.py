"""The terminal value: its formula, its discounting, and the growth that it assumes."""

from __future__ import annotations

import re

from xlcheck.cells import CellRef, Tolerance
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import cadence, claims, live, memory, parity, perpetuity, valuation
from xlcheck.checks.amounts import money
from xlcheck.checks.headline import output_cells
from xlcheck.checks.rounding import rounding_of
from xlcheck.checks.sheet import row_label
from xlcheck.formula import Binary, Number, Ref, terms, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles


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
        yield from _without_growth(roles.get("terminal_value"), recalc)
        return
    cells = perpetuity.growth_cells(roles, recalc, graph)
    if not cells:
        yield NotApplicable(reason="no formula capitalises a flow with the terminal growth")
        return
    yield from (*_no_average(terminal_value, cells, roles, recalc, graph), *parity.mixed(roles, recalc, graph))
    again = _discounted_again(roles, recalc, graph)
    step = cadence.step_of(valuation.terminal_rate_of(roles), roles, recalc, graph)
    for cell in cells:
        given = perpetuity.inputs(cell, roles, recalc, graph, again=cell in again)
        main = (terminal_value is not None and terminal_value.cell == cell) or len(cells) == 1
        dead = perpetuity.unread_return(cell, roles, recalc, graph) if main else None
        if dead is not None:
            message = f"{dead[1]} reinvests growth over the discount rate; nothing reads the return stated in {dead[0]}"
            yield money(message, dead[1], recalc.number(dead[1]), None)
        elif given is not None:
            yield from _short_flow(given, step) or _judge_perpetuity(given, roles, recalc, graph, main=main)
        elif main:
            yield Unverifiable(reason=f"{cell}: flows, rate and growth are not all known")


def _no_average(
    terminal: Located | None, grown: list[CellRef], roles: Roles, recalc: Recalc, graph: Graph
) -> list[Finding]:
    """Find a terminal value whose weights of a perpetuity and of a multiple do not add up to one."""
    multiple = roles.get("exit_multiple")
    if terminal is None or terminal.cell is None or multiple is None or not multiple.value:
        return []
    read = graph.precedents(terminal.cell)
    applied = [cell for cell in multiple_cells(multiple, roles, recalc, graph) if cell in read]
    methods = [*(cell for cell in grown if cell in read and cell not in applied), *applied]
    if len(methods) != 2 or len(applied) != 1:
        return []
    known = [live.derivative(recalc, terminal.cell, cell) for cell in methods]
    weights = [weight for weight in known if weight is not None and 0 <= weight < 1.001]
    if len(weights) < 2 or not 0.01 < abs(sum(weights) - 1) < 1:
        return []
    message = f"{terminal.cell} weighs its two methods with {sum(weights):.4g} in all, not 1"
    return [money(message, terminal.cell, terminal.value, (terminal.value or 0.0) / sum(weights))]


def _short_flow(given: perpetuity.Inputs, step: float) -> list[Finding | Fits]:
    """Accuse a perpetuity at yearly rates on the flow of one quarter, half-year or month; a year's flows are right."""
    periods, spread = round(1 / step), given.rate - given.growth
    if periods == 1 or len(given.flows) < periods or not spread:
        return []
    if valuation.close(given.value, sum(given.flows[-periods:]) * (1 + given.growth) / spread):
        return [Fits(convention=f"Gordon growth on the last {periods} flows, a year")]
    if not valuation.close(given.value, given.flows[-1] * (1 + given.growth) / spread):
        return []
    message = f"{given.cell} capitalises the flow of one period of {step:.4g} years at yearly rates"
    return [money(message, given.cell, given.value, sum(given.flows[-periods:]) * (1 + given.growth) / spread)]


def _discounted_again(roles: Roles, recalc: Recalc, graph: Graph) -> frozenset[CellRef]:
    """Return the terminal value cells that are discounted on their way to the output."""
    weighed = valuation.weights(roles, recalc, graph)
    cells = weighed.terminals if weighed is not None else ()
    return frozenset(cell for cell, weight in cells if weight is not None and weight * len(cells) < 0.98)


def _without_growth(terminal_value: Located | None, recalc: Recalc) -> Outcomes:
    """Judge a terminal value without a bound growth: its formula may read an empty cell in the place of one."""
    where = terminal_value.cell if terminal_value is not None else None
    node = claims.formula_node(where, recalc) if where is not None else None
    for part in walk(node) if node is not None else ():
        if isinstance(part, Ref) and recalc.book.get(part.cell) is None:
            message = f"the terminal value {where} reads the empty cell {part.cell}"
            found = recalc.number(where) if where is not None else None
            yield Finding(message=message, cell=where, found=found, expected=None, unit="money")
            return
    yield NotApplicable(reason="no terminal growth is bound")


def _judge_perpetuity(given: perpetuity.Inputs, roles: Roles, recalc: Recalc, graph: Graph, *, main: bool) -> Outcomes:
    tolerance = Tolerance(relative=1e-6, absolute=rounding_of(recalc, given.cell))
    expected = given.flows[-1] * (1 + given.growth) / (given.rate - given.growth)
    fitting = None
    for reading in perpetuity.readings(given, roles, recalc, graph):
        if tolerance.allows(given.value, reading.value):
            fitting = reading
            break
    if fitting is None:
        growth = roles.get("terminal_growth")
        rate = None if growth is None else perpetuity.added_to(given.cell, growth, recalc, graph)
        if rate is not None:
            message = f"the terminal value {given.cell} divides by rate plus growth, {rate:.4g} + {given.growth:.4g}"
            wanted = given.value * (rate + given.growth) / (rate - given.growth) if rate > given.growth else None
            yield money(message, given.cell, given.value, wanted, tolerance)
        elif main:
            yield Unverifiable(reason=f"{given.cell} ({given.value:.6g}) follows no known form of a perpetuity")
        return
    if not fitting.right:
        message = f"the terminal value {given.cell} is {given.value:.6g} because {fitting.words}"
        yield money(message, given.cell, given.value, expected, tolerance)
        return
    if given.value < 0 and given.rate > given.growth and main:
        message = f"the terminal value {given.cell} capitalises a negative cash flow for ever: it has no meaning"
        yield money(message, given.cell, given.value, None, tolerance)
        return
    yield Fits(convention=fitting.words)


_MEASURES = ("ebitda", "ebit", "revenue", "sales", "earnings", "net income", "fcf", "noi", "息税折旧", "收入")


def _measure_label(cell: CellRef, measure: float, recalc: Recalc, graph: Graph) -> str | None:
    """Return the label of the cell that the multiple is applied to."""
    for source in graph.precedents(cell):
        value = recalc.number(source)
        if value is not None and valuation.close(value, measure, 1e-6):
            return row_label(recalc, source).casefold()
    return None


def _calls_ebitda(cell: CellRef, shown: float, recalc: Recalc) -> bool:
    """Say whether a cell that shows the measure is labelled EBITDA."""
    value = recalc.number(cell)
    return value is not None and valuation.close(value, shown) and "ebitda" in row_label(recalc, cell).casefold()


def _same_measure(words: str, label: str) -> bool:
    """Say whether a multiple and the measure it is applied to name the same thing, or the multiple names none."""
    named = next((word for word in _MEASURES if word in words), None)
    measured = next((word for word in _MEASURES if word in label), None)
    return measured is not None and named in (None, measured)


def _worn_twice(cell: CellRef, measure: float, recalc: Recalc, graph: Graph) -> list[Finding] | None:
    """Find an EBITDA that is EBIT minus depreciation: by the signs and labels of its formula's terms."""
    for source in graph.precedents(cell):
        base = recalc.number(source)
        node = claims.formula_node(source, recalc)
        if base is None or node is None or not valuation.close(base, measure, 1e-6):
            continue
        income, worn = None, None
        for sign, part in terms(node):
            amount = recalc.number(part.cell) if isinstance(part, Ref) else None
            label = row_label(recalc, part.cell) if isinstance(part, Ref) else ""
            if amount is not None and _EBIT.search(label):
                income = sign * amount
            elif amount is not None and _WORN.search(label):
                worn = sign * amount
        if (
            income is not None
            and worn is not None
            and income > 0 > worn
            and "ebitda" in row_label(recalc, source).casefold()
        ):
            message = f"{source} is EBIT minus depreciation, not plus: it is no EBITDA"
            own = money(message, source, base, income - worn)
            value = recalc.number(cell) or 0.0
            effect = money(f"{cell} applies the multiple to it", cell, value, value / base * (income - worn))
            return [own, effect]
    return None


_EBIT = re.compile(r"\bebit\b|operating (profit|income)|营业利润|息税前", re.I)
_WORN = re.compile(r"depreciation|amortis|amortiz|\bd&a\b|折旧|摊销", re.I)


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
    cells = multiple_cells(exit_multiple, roles, recalc, graph)
    if not cells:
        yield NotApplicable(reason="no formula multiplies a measure by the exit multiple")
        return
    measures = _measures(ebitda, ebit, depreciation, roles)
    named = (exit_multiple.cell, graph.pure_link(exit_multiple.cell)) if exit_multiple.cell else ()
    words = " ".join(row_label(recalc, cell) for cell in named).casefold()
    main = memory.above(graph, list(output_cells(roles).values()))
    judged = False
    for cell in cells:
        found = list(_judge_multiple(cell, exit_multiple.value, measures, words, recalc, graph))
        if cell in main or not isinstance(found[0], Unverifiable):
            judged = True
            yield from found
    if not judged:
        yield NotApplicable(reason="no headline value rests on the exit multiple")


def multiple_cells(located: Located, roles: Roles, recalc: Recalc, graph: Graph) -> list[CellRef]:
    """Return the formulas that apply the multiple: they rise in proportion to it and are worth more than it."""
    multiple = located.value or 0.0
    taken = {held.cell for role, held in roles.scalars.items() if role not in ("terminal_value", "pv_terminal_value")}
    taken |= {cell for grid in roles.grids for cell in grid.cells.cells()}
    found = []
    for cell in valuation.readers(graph, located):
        value = recalc.number(cell)
        formula = recalc.book.get(cell)
        if value is None or cell in taken or formula is None or formula.formula is None:
            continue
        held = recalc.book.get(located.cell) if located.cell else None
        if held is not None and isinstance(held.stored, str):
            found.append(cell)
            continue
        source = graph.pure_link(located.cell) if located.cell else None
        shown = recalc.number(source) if source is not None else None
        if source is None or shown is None or abs(value) < abs(shown) / 2:
            continue
        doubled = live.run(recalc, {source: 2 * shown}, [cell])[cell]
        if doubled is not None and valuation.close(doubled, 2 * value, 1e-4):
            found.append(cell)
    return sorted(found) or _with_literal(multiple, roles, recalc, graph)


def _with_literal(multiple: float, roles: Roles, recalc: Recalc, graph: Graph) -> list[CellRef]:
    """Return the formulas behind the headline that multiply one cell by the multiple, typed once more."""
    found = []
    for cell in memory.above(graph, list(output_cells(roles).values())):
        node = claims.formula_node(cell, recalc)
        if isinstance(node, Binary) and node.operator == "*":
            sides = (node.left, node.right)
            typed = any(isinstance(side, Number) and side.value == multiple for side in sides)
            if typed and any(isinstance(side, Ref) for side in sides):
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
    if name is None or name == "EBITDA":
        worn = _worn_twice(cell, value / multiple, recalc, graph)
        if worn is not None:
            yield from worn
            return
    if name is None:
        label = _measure_label(cell, value / multiple, recalc, graph)
        if label is not None and _same_measure(words, label):
            yield Fits(convention=f"multiple of {label[:40]!r}")
        elif label is not None and "ebitda" in words and "ebitda" not in label and _EBIT.search(label):
            message = f"{cell} applies an EV/EBITDA multiple of {multiple:g} to EBIT ({value / multiple:.6g})"
            yield money(message, cell, value, None, tolerance)
        else:
            yield Unverifiable(reason=f"{cell} applies the multiple to {value / multiple:.6g}, which is not bound")
        return
    called = next((one for one in graph.precedents(cell) if _calls_ebitda(one, measures[name], recalc)), None)
    wrong = name == "EBIT less depreciation" or (name == "EBIT" and ("ebitda" in words or called is not None))
    if wrong and "EBITDA" in measures and not tolerance.allows(measures["EBITDA"], measures[name]):
        expected = measures["EBITDA"] * multiple
        message = f"{cell} applies the multiple {multiple:g} to {name} ({measures[name]:.6g}) instead of EBITDA"
        yield money(message, cell, value, expected, tolerance)
        if called is not None and name == "EBIT":
            yield money(f"{called} is labelled EBITDA and shows EBIT", called, measures[name], measures["EBITDA"])
        for source in graph.precedents(cell):
            base = recalc.number(source)
            if base is not None and tolerance.allows(base, measures[name]) and name == "EBIT less depreciation":
                message = f"{source} is EBIT minus depreciation, not plus: it is no EBITDA"
                yield money(message, source, base, measures["EBITDA"], tolerance)
        return
    yield Fits(convention=f"multiple of {name}")
