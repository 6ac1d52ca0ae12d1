"""The debt side of the WACC: weights, cost and tax shield."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck import dcf
from xlcheck.cells import CellRef
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import claims, live, memory
from xlcheck.checks.sheet import row_label
from xlcheck.checks.wacc import rate_finding
from xlcheck.formula import Binary, Number, Ref, terms
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles


@check("wacc.debt-weight")
def debt_weight(
    weight_debt: Located | None,
    weight_equity: Located | None,
    debt_to_equity: Located | None,
    wacc: Located | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The weight of debt is D/(D + E) of the amounts read, between 0 and 1.

    What it holds:
        Each weight lies in [0, 1]; the weight of debt is no D/E ratio; it equals D/(D + E) of the two amounts it reads,
        with nothing typed added to it.
    Why it matters:
        A D/E of 21 % is a debt weight of 17.5 %; net cash as negative debt lifts the WACC above the cost of equity.
    Accepted conventions:
        Target weights; net debt as D where it is positive; a third component; all-equity.
    Example:
        ``=B2/(B2+B3)`` on a net debt of -300 gives -30 % debt.
    How to fix:
        ``=D/(D+E)`` on gross debt, or D/E over one plus D/E.
    Units and tolerance:
        A share of one; 1e-6.
    Source:
        Koller et al., Valuation, ch. 15.
    """
    bad = [held for held in (weight_debt, weight_equity) if held is not None and not _is_share(held)]
    if bad and wacc is not None and wacc.cell is not None:
        behind = memory.above(graph, [graph.pure_link(wacc.cell)])
        bad = [held for held in bad if held.cell in behind]
    bad = bad or list(_unbound_weights(roles, recalc, graph))
    if bad:
        held = bad[0]
        message = f"the weight {held.cell} is {held.amount:.4g}: weights of capital lie between 0 and 1"
        yield rate_finding(message, held, 0.0 if (held.amount or 0) < 0 else None)
        return
    ratio = debt_to_equity
    if weight_debt is None or weight_debt.amount is None or weight_debt.cell is None:
        yield from _ratio_in_the_rate(ratio, wacc, roles, recalc, graph)
        return
    share = weight_debt.amount
    if ratio is not None and ratio.amount and _repeats(weight_debt, ratio, graph):
        expected = dcf.debt_share(ratio.amount)
        message = f"{weight_debt.cell} takes the D/E ratio {ratio.cell} of {ratio.amount:.4%} as the weight of debt"
        yield rate_finding(message, weight_debt, expected)
        return
    padded = _padding(weight_debt.cell, recalc)
    if padded is not None:
        message = f"{weight_debt.cell} adds {padded:+g} to the share that it divides out"
        yield rate_finding(message, weight_debt, share - padded)
        return
    if _divides_debt_by_equity(weight_debt.cell, recalc) and not _whole(weight_debt, weight_equity):
        yield rate_finding(f"{weight_debt.cell} is debt over equity, not over both", weight_debt, dcf.debt_share(share))
        return
    yield Fits(convention="D/(D + E)")


def _unbound_weights(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Located]:
    """Yield formulas outside [0, 1] whose label surely names a weight of capital and that a labelled WACC reads."""
    if "weight_debt" in roles.scalars or "weight_equity" in roles.scalars:
        return
    for held in recalc.book.formula_cells():
        value = recalc.number(held.ref)
        if value is None or -1e-9 <= value <= 1 + 1e-9 or abs(value) > 5:
            continue
        scores = claims.label_scores(row_label(recalc, held.ref))
        if max(scores.get("weight_debt", 0.0), scores.get("weight_equity", 0.0)) < 0.85:
            continue
        readers = graph.dependents(held.ref)
        if any(claims.label_scores(row_label(recalc, cell)).get("wacc", 0.0) >= 0.85 for cell in readers):
            yield Located(
                role="weight_debt", cell=held.ref, value=value, unit="rate", confidence=0.85, how="label+graph"
            )


def _repeats(weight: Located, ratio: Located, graph: Graph) -> bool:
    """Say whether a weight reads a ratio and has its value."""
    if weight.cell is None or ratio.cell is None or weight.cell == ratio.cell:
        return False
    same = weight.amount is not None and ratio.amount is not None and abs(weight.amount - ratio.amount) <= 1e-9
    return same and ratio.cell in memory.above(graph, [weight.cell])


def _padding(cell: CellRef, recalc: Recalc) -> float | None:
    """Return the typed number that a weight adds to a quotient of cells; one less a quotient is a weight as well."""
    node = claims.formula_node(cell, recalc)
    parts = terms(node) if node is not None else ()
    quotients = [sign for sign, part in parts if isinstance(part, Binary) and part.operator == "/"]
    numbers = [sign * part.value for sign, part in parts if isinstance(part, Number)]
    alone = len(quotients) == 1 and quotients[0] > 0 and len(numbers) == 1 and len(parts) == 2
    return numbers[0] if alone and numbers[0] else None


def _is_share(held: Located) -> bool:
    return held.amount is None or -1e-9 <= held.amount <= 1 + 1e-9


def _whole(debt: Located, equity: Located | None) -> bool:
    """Say whether the weights add up to one without being set so (1 - wD)."""
    if equity is None or equity.amount is None or debt.amount is None:
        return True
    return abs(debt.amount + equity.amount - 1) <= 1e-6


def _divides_debt_by_equity(cell: CellRef, recalc: Recalc) -> bool:
    """Say whether a cell divides one cell labelled debt by one labelled equity (no sum below the line)."""
    node = claims.formula_node(cell, recalc)
    if not isinstance(node, Binary) or node.operator != "/":
        return False
    if not isinstance(node.left, Ref) or not isinstance(node.right, Ref):
        return False
    above, below = (row_label(recalc, part.cell).casefold() for part in (node.left, node.right))
    equity = re.search(r"equity|market cap|股权|股本|市值|eigenkapital", below) is not None
    both = re.search(r"debt|total|capital\b|\+|ev\b|enterprise|invested", below) is not None
    return equity and not both and re.search(r"debt|borrow|loan|债|借款|fremdkapital", above) is not None


def _ratio_in_the_rate(
    ratio: Located | None, wacc: Located | None, roles: Roles, recalc: Recalc, graph: Graph
) -> Outcomes:
    """Judge a rate without weight cells that may weigh the cost of debt by the D/E ratio itself."""
    cost = roles.get("after_tax_cost_of_debt") or roles.get("pre_tax_cost_of_debt")
    if ratio is None or not ratio.amount or ratio.cell is None or wacc is None or wacc.cell is None:
        yield NotApplicable(reason="no weight of debt and no D/E ratio is bound")
        return
    source = graph.pure_link(wacc.cell)
    if cost is None or cost.cell is None or ratio.cell not in graph.precedents(source):
        yield NotApplicable(reason="the weights stand inside the formula of the rate")
        return
    slope = live.derivative(recalc, source, cost.cell)
    if slope is not None and abs(slope - ratio.amount) <= 1e-6 and slope < 1:
        expected = dcf.debt_share(ratio.amount)
        message = (
            f"{source} weighs debt by the D/E ratio {ratio.cell} ({ratio.amount:.4%}); D/(D + E) is {expected:.4%}"
        )
        yield Finding(message=message, cell=source, found=ratio.amount, expected=expected, unit="weight of debt")
        return
    yield Fits(convention="weights inside the formula of the rate")


_BOOK = re.compile(
    r"total liabilities|book (value of )?equity|shareholders.{0,3} equity|负债合计|负债总额|净资产|所有者权益", re.I
)


@check("wacc.weights-basis", severity="warn")
def weights_basis(weight_debt: Located, recalc: Recalc, graph: Graph) -> Outcomes:
    """The weights rest on market values of interest-bearing debt and equity.

    What it holds:
        No amount behind the weights is labelled book equity or total liabilities.
    Why it matters:
        Suppliers do not earn the cost of debt, and book equity says nothing about the return investors ask for.
    Accepted conventions:
        Target weights; book value of debt; unlisted companies.
    Example:
        Total liabilities of 4,104 as debt, where interest-bearing debt is 1,510.
    How to fix:
        Weigh interest-bearing debt against the market capitalisation, or use target weights.
    Units and tolerance:
        None: labels of the amounts are read.
    Source:
        Koller et al., Valuation, ch. 15.
    """
    if weight_debt.cell is None:
        yield NotApplicable(reason="the weight of debt lives inside another formula")
        return
    near = graph.precedents(graph.pure_link(weight_debt.cell))
    for cell in (*near, *(other for one in near for other in graph.precedents(one))):
        label = row_label(recalc, graph.pure_link(cell))
        if _BOOK.search(label):
            message = f"the weight of debt rests on {graph.pure_link(cell)}, labelled {label[:60]!r}"
            yield Finding(message=message, cell=weight_debt.cell, found=label[:60], expected="market values")
            return


@check("wacc.after-tax-debt")
def after_tax_debt(
    pre_tax_cost_of_debt: Located,
    after_tax_cost_of_debt: Located | None,
    tax_rate: Located | None,
    wacc: Located | None,
    weight_debt: Located | None,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The WACC takes debt after tax.

    What it holds:
        After-tax cost of debt = pre-tax cost × (1 - t), in its own cell or inside the WACC formula.
    Why it matters:
        Interest is deductible: without the shield the rate is too high by wD·kD·t.
    Accepted conventions:
        Another tax rate than the flows (see wacc.tax-consistent); a zero tax rate; APV and pre-tax WACC models.
    Example:
        ``=B12`` under "After-tax cost of debt", with a tax rate of 25 % in B9.
    How to fix:
        ``=pre-tax cost of debt*(1-tax rate)``.
    Units and tolerance:
        A decimal rate; 1e-6 of the rate.
    Source:
        Koller et al., Valuation, ch. 15.
    """
    before = pre_tax_cost_of_debt.amount
    tax = tax_rate.amount if tax_rate is not None else None
    if not before or not tax:
        yield NotApplicable(reason="no cost of debt or no tax rate to deduct is bound")
        return
    if after_tax_cost_of_debt is not None and after_tax_cost_of_debt.amount is not None:
        after = after_tax_cost_of_debt.amount
        if after_tax_cost_of_debt.cell == pre_tax_cost_of_debt.cell:
            yield NotApplicable(reason="one cell holds the cost of debt")
        elif abs(after - before) <= 1e-9:
            message = f"the after-tax cost of debt {after_tax_cost_of_debt.cell} equals the pre-tax one: no tax shield"
            yield rate_finding(message, after_tax_cost_of_debt, before * (1 - tax))
        elif after > before:
            message = f"the after-tax cost of debt {after_tax_cost_of_debt.cell} exceeds the pre-tax one"
            yield rate_finding(message, after_tax_cost_of_debt, before * (1 - tax))
        else:
            yield Fits(convention=f"tax shield of {1 - after / before:.2%}")
        return
    if wacc is None or wacc.cell is None or weight_debt is None or not weight_debt.amount:
        yield NotApplicable(reason="no weight of debt is bound")
        return
    source, cost = graph.pure_link(wacc.cell), pre_tax_cost_of_debt.cell
    slope = live.derivative(recalc, source, graph.pure_link(cost)) if cost is not None else None
    if slope is None or abs(slope) < 1e-12:
        yield Unverifiable(reason="the WACC does not move with the bound cost of debt")
    elif abs(slope - weight_debt.amount) <= 1e-6:
        message = f"the WACC {source} weighs the cost of debt {pre_tax_cost_of_debt.cell} before tax"
        expected = (wacc.amount or 0.0) - weight_debt.amount * before * tax
        yield rate_finding(message, wacc.model_copy(update={"cell": source}), expected)


@check("wacc.tax-consistent", severity="warn")
def tax_consistent(
    tax_rate: Located | None,
    pre_tax_cost_of_debt: Located,
    after_tax_cost_of_debt: Located,
    ebit: LocatedSeries,
    taxes: LocatedSeries,
) -> Outcomes:
    """The tax shield in the rate uses the tax rate of the flows.

    What it holds:
        1 - after-tax/pre-tax cost of debt equals the tax on EBIT of the last forecast year.
    Why it matters:
        Two tax rates for one company mean that one of them is out of date.
    Accepted conventions:
        A marginal rate in the WACC beside an effective rate in early years.
    Example:
        30 % in the WACC, 25 % in the forecast.
    How to fix:
        Link both to one tax cell.
    Units and tolerance:
        A decimal rate; half a percentage point.
    Source:
        Damodaran, Investment Valuation, ch. 10.
    """
    before, after = pre_tax_cost_of_debt.amount, after_tax_cost_of_debt.amount
    income = ebit.values[-1] if ebit.values else None
    paid = taxes.values[-1] if taxes.values else None
    if not before or after is None or not income or paid is None or len(ebit.values) != len(taxes.values):
        yield NotApplicable(reason="no tax on EBIT or no cost of debt to compare")
        return
    shield, rate = 1 - after / before, abs(paid) / abs(income)
    if abs(shield - rate) > 0.005:
        used = tax_rate is not None and tax_rate.amount is not None and abs(tax_rate.amount - shield) <= 0.005
        where = tax_rate.cell if tax_rate is not None and used else after_tax_cost_of_debt.cell
        message = f"the WACC shields debt at {shield:.2%}, the last forecast year is taxed at {rate:.2%}"
        yield Finding(message=message, cell=where, found=shield, expected=rate, unit="rate")


@check("wacc.cost-of-debt")
def cost_of_debt(
    pre_tax_cost_of_debt: Located,
    debt_to_equity: Located | None,
    weight_debt: Located | None,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The cost of debt is a rate of interest: positive, and no link to a leverage ratio.

    What it holds:
        The cell does not repeat the D/E ratio or a weight, and is above zero where debt has a weight.
    Why it matters:
        A link one row off turns 2.2 % leverage into a 2.2 % cost of debt.
    Accepted conventions:
        Interest over debt, a bond yield, a rating spread; zero where there is no debt.
    Example:
        ``=H10`` under "Pre-tax cost of debt", where H10 is "Debt / equity".
    How to fix:
        Link to the yield, or to interest expense over interest-bearing debt.
    Units and tolerance:
        A decimal rate per year.
    Source:
        Damodaran, Investment Valuation, ch. 8.
    """
    if pre_tax_cost_of_debt.cell is None or pre_tax_cost_of_debt.amount is None:
        yield NotApplicable(reason="the cost of debt lives inside another formula")
        return
    source = graph.pure_link(pre_tax_cost_of_debt.cell)
    label = row_label(recalc, source).casefold()
    for held in (debt_to_equity, weight_debt):
        if held is not None and held.cell is not None and graph.pure_link(held.cell) == source:
            message = (
                f"the cost of debt {pre_tax_cost_of_debt.cell} links to {held.role.replace('_', ' ')} ({held.cell})"
            )
            yield rate_finding(message, pre_tax_cost_of_debt, None)
            return
    if source != pre_tax_cost_of_debt.cell and re.search(r"debt\s*/\s*equity|d/e\b|debt.to.equity", label):
        message = f"the cost of debt {pre_tax_cost_of_debt.cell} links to {source}, labelled {label[:40]!r}"
        yield rate_finding(message, pre_tax_cost_of_debt, None)
        return
    share = weight_debt.amount if weight_debt is not None else None
    if pre_tax_cost_of_debt.amount <= 0 and share:
        message = (
            f"the cost of debt {pre_tax_cost_of_debt.cell} is {pre_tax_cost_of_debt.amount:.2%} beside a debt weight"
        )
        yield rate_finding(message, pre_tax_cost_of_debt, None)
