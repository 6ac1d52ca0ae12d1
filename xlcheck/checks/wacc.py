"""The discount rate: its build from costs and weights, its range, and whether the model uses it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from xlcheck import dcf
from xlcheck.cells import CellRef, Tolerance
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Params, Unverifiable, check
from xlcheck.checks import cadence, claims, live, memory, rates_read, valuation
from xlcheck.checks.headline import output_cells
from xlcheck.checks.parity import before_inflation
from xlcheck.checks.rounding import rounding_of
from xlcheck.checks.sheet import first_text, row_label
from xlcheck.checks.wacc_parts import unshielded_debt
from xlcheck.formula import Binary, Node, Ref, factors, literals, terms
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles

_WACC = re.compile(r"^\W*(wacc|weighted[- ]average cost of capital|加权平均资本成本|加權平均資本成本)\W*$", re.I)
NEAR = 1e-6


def typed_digits(located: Located, recalc: Recalc) -> float:
    """Return half a unit of the last decimal of a typed rate (at most half a point), 0 for a formula."""
    held = recalc.book.get(located.cell) if located.cell is not None else None
    if held is None or held.formula is not None or located.value is None:
        return 0.0
    text = f"{located.value:.10g}"
    digits = len(text.partition(".")[2]) if "." in text else 0
    return min(float(0.5 * 10.0**-digits * located.factor), 0.005) * 1.0001


def rate_finding(message: str, located: Located, expected: float | None, found: float | None = None) -> Finding:
    """Return a finding on a rate in the sheet's own unit (percent points stay percent points)."""
    shown = located.value if found is None else found / located.factor
    wanted = None if expected is None else expected / located.factor
    return Finding(message=message, cell=located.cell, found=shown, expected=wanted, unit="rate")


def after_tax(pre_tax: Located | None, stated: Located | None, tax: Located | None) -> float | None:
    """Return the after-tax cost of debt: the stated one, else pre-tax × (1 - t)."""
    if stated is not None and stated.amount is not None:
        return stated.amount
    if pre_tax is None or pre_tax.amount is None:
        return None
    return pre_tax.amount * (1 - (tax.amount or 0.0)) if tax is not None else None


@check("wacc.identity", consequence_of=("wacc.weights-sum-to-one", "wacc.debt-weight"))
def identity(
    wacc: Located,
    cost_of_equity: Located | None,
    pre_tax_cost_of_debt: Located | None,
    after_tax_cost_of_debt: Located | None,
    tax_rate: Located | None,
    weight_equity: Located | None,
    weight_debt: Located | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The WACC is the weighted sum of the cost of equity and the after-tax cost of debt.

    What it holds:
        WACC = wE·kE + wD·kD·(1 - t), and no part of its formula reads an empty cell.
    Why it matters:
        Every factor and the terminal value hang on this one number.
    Accepted conventions:
        A third component (preferred equity, leases); a typed rate equal to the build at its own decimals; percent
        points or fractions; a rate that is typed or looked up without a build; models on the cost of equity.
    Example:
        ``=B28+B29`` adds the two weights and shows 100 %.
    How to fix:
        ``=weight of equity*cost of equity+weight of debt*after-tax cost of debt``.
    Units and tolerance:
        A decimal rate; 1e-6 of the rate, or half a unit of the last typed decimal.
    Source:
        Koller et al., Valuation, ch. 15; CFA Level II, cost of capital.
    """
    empty = list(_reads_empty(wacc, roles, recalc, graph))
    weights = list(_sum_of_weights(wacc, recalc))
    yield from empty
    yield from weights
    if empty or weights:
        return
    debt = after_tax(pre_tax_cost_of_debt, after_tax_cost_of_debt, tax_rate)
    equity = cost_of_equity.amount if cost_of_equity is not None else None
    share_e, share_d = (held.amount if held is not None else None for held in (weight_equity, weight_debt))
    share_e = 1 - share_d if share_e is None and share_d is not None else share_e
    share_d = 1 - share_e if share_d is None and share_e is not None else share_d
    if wacc.amount is None or equity is None or debt is None or share_e is None or share_d is None:
        bare = unshielded_debt(roles, recalc, graph)
        if bare is not None:
            message = f"the WACC {bare[0]} weighs the debt at its pre-tax cost: the tax shield is missing"
            yield rate_finding(message, wacc.model_copy(update={"cell": bare[0]}), bare[1])
            return
        yield NotApplicable(reason="the rate is typed, looked up, or its parts are not all bound")
        return
    expected = dcf.weighted_cost((share_e, share_d), (equity, debt))
    rounded = rounding_of(recalc, wacc.cell and graph.pure_link(wacc.cell)) * wacc.factor
    near = Tolerance(relative=NEAR, absolute=max(typed_digits(wacc, recalc), rounded) + 1e-9)
    if near.allows(wacc.amount, expected):
        yield Fits(convention="wE·kE + wD·kD·(1 - t)")
        return
    yield from _third_or_wrong(wacc, expected, share_e, share_d, equity, debt, roles, recalc, graph)


def _third_or_wrong(
    wacc: Located,
    expected: float,
    share_e: float,
    share_d: float,
    equity: float,
    debt: float,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    found = wacc.amount or 0.0
    rest = 1 - share_e - share_d
    if rest > 1e-6 and 0 <= (found - expected) / rest <= max(equity, debt) * 1.5:
        yield Fits(convention="wE·kE + wD·kD·(1 - t) and a third component")
        return
    other = before_inflation(wacc, recalc, graph)
    if other is not None:
        weighed = other - expected if rest <= 1e-6 else (other - expected) / rest
        if abs(other - expected) < 1e-6 or (rest > 1e-6 and 0 <= weighed <= max(equity, debt) * 1.5):
            yield Fits(convention="wE·kE + wD·kD·(1 - t), carried over by inflation")
            return
    pre_tax, cell = roles.get("pre_tax_cost_of_debt"), wacc.cell
    source = graph.pure_link(cell) if cell is not None else None
    held = recalc.book.get(source) if source is not None else None
    if source is None or held is None or held.formula is None:
        parts = [roles.get(role) for role in ("cost_of_equity", "weight_debt", "weight_equity")]
        beside = (
            all(one is not None and one.cell is not None and one.cell.sheet == source.sheet for one in parts)
            if source
            else False
        )
        named = claims.label_scores(row_label(recalc, source)).get("wacc", 0.0) >= 0.8 if source is not None else False
        idle = _idle_build(expected, roles, recalc, graph)
        if idle is not None and source is not None:
            message = (
                f"the rate {source} is typed as {found:.4%}; the WACC built in {idle} ({expected:.4%}) moves no result"
            )
            yield rate_finding(message, wacc.model_copy(update={"cell": source}), expected)
        elif source is not None and beside and held is not None and named:
            message = f"the WACC {source} is typed as {found:.4%}; the build beside it gives {expected:.4%}"
            yield rate_finding(message, wacc.model_copy(update={"cell": source}), expected)
        else:
            yield Unverifiable(reason=f"the WACC {wacc.cell} is typed and differs from its build ({expected:.4%})")
        return
    above = memory.above(graph, [source])
    reads = [located for located in (roles.get("cost_of_equity"), pre_tax) if located is not None]
    if not any(located.cell in above for located in reads):
        yield Unverifiable(reason=f"the WACC {wacc.cell} does not read the bound costs of capital")
        return
    message = f"the WACC {source} is {found:.4%}; its weights and costs give {expected:.4%}"
    yield rate_finding(message, wacc.model_copy(update={"cell": source}), expected)


def _idle_build(expected: float, roles: Roles, recalc: Recalc, graph: Graph) -> CellRef | None:
    """Return the formula that is labelled as the WACC, gives what weights and costs give, and moves no result."""
    equity = roles.get("cost_of_equity")
    for cell in valuation.readers(graph, equity):
        value, scores = recalc.number(cell), claims.label_scores(row_label(recalc, cell))
        if (
            value is not None
            and valuation.close(value, expected, 1e-6)
            and scores.get("wacc", 0.0) >= claims.SURE_LABEL
        ):
            return cell if cell not in memory.above(graph, list(output_cells(roles).values())) else None
    return None


def _reads_empty(wacc: Located, roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find a build that reads an empty cell: a tax shield or a cost that drifted off its input."""
    if wacc.cell is None:
        return
    source = graph.pure_link(wacc.cell)
    row = roles.series.get("discount_rate")
    rates = [cell for cell in graph.precedents(source) if _is_rate(cell, recalc)]
    for cell in dict.fromkeys((source, *rates, *(row.cells if row is not None else ()))):
        node = claims.formula_node(cell, recalc)
        if node is None:
            continue
        blank = next(_empty_factors(node, recalc), None)
        if blank is not None:
            message = f"{cell} reads the empty cell {blank}: part of the cost of capital is lost"
            yield Finding(message=message, cell=cell, found=recalc.number(cell), expected=None, unit="rate")


def _empty_factors(node: Node, recalc: Recalc) -> Iterator[CellRef]:
    """Yield empty cells that stand in ``1 - x`` or are multiplied with something that is not zero."""
    for _, term in terms(node):
        parts = [part for part, _ in factors(term)]
        for part in parts:
            if isinstance(part, Binary) and part.operator == "-" and isinstance(part.right, Ref):
                if recalc.book.get(part.right.cell) is None and any(isinstance(other, Ref) for other in parts):
                    yield part.right.cell
            elif isinstance(part, Ref) and recalc.book.get(part.cell) is None and len(parts) > 1:
                others = [recalc.number(other.cell) for other in parts if isinstance(other, Ref) and other != part]
                if others and all(others):
                    yield part.cell


def _is_rate(cell: CellRef, recalc: Recalc) -> bool:
    value = recalc.number(cell)
    return value is not None and 0 < value < 1 and "wacc" in row_label(recalc, cell).casefold()


def _sum_of_weights(wacc: Located, recalc: Recalc) -> Iterator[Finding]:
    """Find a cell labelled WACC that adds shares of capital instead of costs, used or not."""
    for held in recalc.book.formula_cells():
        text = held.formula or ""
        if "+" not in text or "*" in text or not _WACC.match(first_text(row_label(recalc, held.ref))):
            continue
        node = claims.formula_node(held.ref, recalc)
        parts = terms(node) if node is not None else ()
        if len(parts) < 2 or not all(sign > 0 and isinstance(part, Ref) for sign, part in parts):
            continue
        shares = [part.cell for _, part in parts if isinstance(part, Ref)]
        divides = all("/" in _formula_text(cell, recalc) for cell in shares)
        values = [recalc.number(cell) for cell in shares]
        whole = None in values or abs(sum(value for value in values if value is not None) - 1) < 1e-9
        if divides and whole:
            message = f"{held.ref} adds the weights {shares[0].address} and {shares[1].address}, not weight × cost"
            expected = wacc.value if wacc.cell != held.ref else None
            yield Finding(message=message, cell=held.ref, found=1.0, expected=expected, unit="rate")


def _formula_text(cell: CellRef, recalc: Recalc) -> str:
    held = recalc.book.get(cell)
    return held.formula or "" if held is not None else ""


@check("wacc.weights-sum-to-one")
def weights_sum_to_one(
    weight_equity: Located, weight_debt: Located, wacc: Located | None, recalc: Recalc, graph: Graph
) -> Outcomes:
    """The weights of equity and debt add up to one.

    What it holds:
        wE + wD = 1, or with a third component that the rate weighs as well.
    Why it matters:
        Weights of 110 % overstate the rate by a tenth.
    Accepted conventions:
        Preferred equity or leases as a third component; weights typed at their decimals; percent points.
    Example:
        85.5 % equity and 25 % debt.
    How to fix:
        ``weight of equity = 1 - weight of debt``.
    Units and tolerance:
        A share of one; 1e-6, or half a unit of the last typed decimal of each.
    Source:
        CFA Level II, cost of capital.
    """
    equity, debt = weight_equity.amount, weight_debt.amount
    if equity is None or debt is None:
        yield Unverifiable(reason="a weight is no number")
        return
    allowed = 1e-6 + typed_digits(weight_equity, recalc) + typed_digits(weight_debt, recalc)
    if abs(equity + debt - 1) <= allowed:
        yield Fits(convention="two components")
        return
    rest = 1 - equity - debt
    if rest > 0 and wacc is not None and wacc.cell is not None:
        for cell in memory.above(graph, [wacc.cell]):
            value = recalc.number(cell)
            if value is not None and abs(value - rest) <= max(allowed, 1e-4) and cell != weight_debt.cell:
                yield Fits(convention=f"three components, the third weight in {cell}")
                return
    behind = memory.above(graph, [graph.pure_link(wacc.cell)]) if wacc is not None and wacc.cell is not None else None
    if behind is not None and not all(held.cell in behind for held in (weight_equity, weight_debt)):
        yield Unverifiable(reason="the WACC does not read both weights")
        return
    message = f"the weights {weight_equity.cell} and {weight_debt.cell} add up to {equity + debt:.4%}"
    yield rate_finding(message, weight_debt, 1 - equity)


@check("wacc.range")
def in_range(wacc: Located, params: Params, roles: Roles, recalc: Recalc, graph: Graph) -> Outcomes:
    """The WACC lies within the range that the rubric sets.

    What it holds:
        low ≤ WACC ≤ high.
    Why it matters:
        A rate far from its peers' decides the value before any forecast is read.
    Accepted conventions:
        Percent points and fractions; a rate for a quarter or half-year is judged by the yearly one it is made from, one
        carried to another currency by inflation by the one before.
    Example:
        3.1 % for a cyclical manufacturer.
    How to fix:
        Check risk-free rate, beta, premium and weights against their sources.
    Units and tolerance:
        A decimal rate; the bounds belong to the range.
    Source:
        The rubric.
    """
    low, high = params.get("low"), params.get("high")
    if not isinstance(low, Decimal) or not isinstance(high, Decimal):
        yield NotApplicable(reason="the rubric sets no range for the WACC")
        return
    yearly = cadence.yearly_rate(wacc, cadence.length(roles, recalc), recalc, graph)
    rate, before = yearly or wacc.amount, before_inflation(wacc, recalc, graph)
    if rate is not None and not any(float(low) <= one <= float(high) for one in (rate, before) if one is not None):
        message = f"the WACC of {rate:.2%} lies outside {float(low):.2%} to {float(high):.2%}"
        yield rate_finding(message, wacc, float(low) if rate < float(low) else float(high))


@check("wacc.is-the-rate-used")
def is_the_rate_used(
    wacc: Located, discount_factor: LocatedSeries | None, roles: Roles, recalc: Recalc, graph: Graph
) -> Outcomes:
    """The discount factors and the value move with the bound rate.

    What it holds:
        In the live model the output moves when the rate's cell is moved, by at least half of what the flows predict.
    Why it matters:
        A rate that the factors do not read makes the build, the sensitivity and the range checks worthless.
    Accepted conventions:
        A typed copy of the rate; a terminal rate of its own; rates by year.
    Example:
        ``=1/(1+0.095)^C3`` in every year beside a WACC of 9.1 % in B4.
    How to fix:
        Let every discount factor and the terminal value read the WACC cell.
    Units and tolerance:
        Money of the sheet per unit of rate; half of the predicted change.
    Source:
        FAST Standard 4.01 (inputs are used); SR 11-7 on outcomes analysis.
    """
    flows = valuation.flows_of(roles)
    output = valuation.output_of(roles, graph, flows) if flows is not None else None
    if flows is None or output is None or wacc.cell is None or wacc.amount is None:
        yield NotApplicable(reason="no output that depends on the cash flows is bound")
        return
    typed = list(_typed_factors(wacc, discount_factor, recalc, graph))
    if typed:
        yield from typed
        return
    dearer = rates_read.at_cost_of_equity(roles, recalc, graph)
    if dearer is not None:
        equity = roles["cost_of_equity"]
        message = f"the flows are discounted at the cost of equity {equity.cell}, not at the WACC {wacc.cell}"
        found, wanted = equity.amount, wacc.amount
        yield Finding(message=message, cell=valuation.as_range(dearer), found=found, expected=wanted, unit="rate")
        return
    base, tried = recalc.number(output), False
    for cell in dict.fromkeys((graph.pure_link(wacc.cell), wacc.cell)):
        value = recalc.number(cell)
        moved = live.run(recalc, {cell: value * 1.05}, [output])[output] if value else None
        tried = tried or moved is not None
        if moved is not None and base is not None and abs(moved - base) > 1e-7 * abs(base):
            yield Fits(convention=f"{output} moves with {cell}")
            return
    if base is None or not tried:
        yield Unverifiable(reason=f"{output} could not be recomputed with another rate")
        return
    copy = _typed_copy(wacc, output, recalc, graph)
    if copy is not None:
        yield Fits(convention=f"the model reads a typed copy of the rate in {copy}")
        return
    message = f"{output} does not move when the WACC {wacc.cell} ({wacc.amount:.2%}) is moved"
    yield rate_finding(message, wacc, None)


def _typed_factors(wacc: Located, row: LocatedSeries | None, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find discount factors that hold another rate than the WACC as a typed number."""
    if row is None or wacc.cell is None or wacc.amount is None:
        return
    source = graph.pure_link(wacc.cell)
    for cell in row.cells:
        if memory.above(graph, [cell]) & {source, wacc.cell}:
            continue
        node = claims.formula_node(cell, recalc)
        typed = [one.value for one in (literals(node) if node is not None else ()) if 0 < one.value % 1 < 0.6]
        rates = [value % 1 for value in typed if value < 2 and abs(value % 1 - 0.5) > 1e-9]
        if len(rates) == 1 and abs(rates[0] - wacc.amount) > 1e-4:
            message = f"{cell} discounts at a typed {rates[0]:.2%}, not at the WACC {wacc.cell} of {wacc.amount:.2%}"
            yield Finding(message=message, cell=cell, found=rates[0], expected=wacc.amount, unit="rate")
            return


def _typed_copy(wacc: Located, output: CellRef, recalc: Recalc, graph: Graph) -> CellRef | None:
    """Return a constant that feeds the output and equals the rate at its own decimals."""
    for cell in memory.above(graph, [output]):
        held = recalc.book.get(cell)
        value = recalc.number(cell)
        if held is None or held.formula is not None or value is None or wacc.amount is None:
            continue
        if abs(value) > 0 and abs(value - wacc.amount) <= 0.0001 * abs(wacc.amount):
            return cell
    return None
