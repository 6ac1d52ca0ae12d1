"""The cost of equity: CAPM and the beta that it reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck import dcf
from xlcheck.cells import CellRef, Tolerance
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Unverifiable, check
from xlcheck.checks import claims, memory
from xlcheck.checks.capm_forms import OVER_RF, capm_forms, capm_mistakes, is_a_premium
from xlcheck.checks.sheet import row_label
from xlcheck.checks.wacc import NEAR, rate_finding, typed_digits
from xlcheck.formula import Call, Number, Ref, factors, terms, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles


@check("wacc.capm", consequence_of=("wacc.relevered-beta",))
def capm(
    cost_of_equity: Located,
    risk_free_rate: Located,
    beta: Located,
    equity_risk_premium: Located | None,
    market_return: Located | None,
    country_risk_premium: Located | None,
    size_premium: Located | None,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The cost of equity is the risk-free rate plus beta times the equity risk premium.

    What it holds:
        kE = rf + β·ERP, plus further premia that its formula adds.
    Why it matters:
        Leaving the risk-free rate out, or multiplying beta by the market return, shifts the rate by several points.
    Accepted conventions:
        rf + β·(Rm - rf) with a market return; country, size and company premia; β on the country premium; build-ups.
    Example:
        ``=B9*B10`` gives 5.2 % where 4.0 % + 0.95 × 5.5 % is 9.2 %.
    How to fix:
        ``=risk-free rate+beta*equity risk premium``.
    Units and tolerance:
        A decimal rate; 1e-6 of the rate, or half a unit of the last typed decimal.
    Source:
        Sharpe 1964; Koller et al., Valuation, ch. 15.
    """
    ke, rf, slope = cost_of_equity.amount, risk_free_rate.amount, beta.amount
    premium = _premium(equity_risk_premium, market_return, rf)
    if ke is None or rf is None or slope is None or premium is None:
        yield NotApplicable(reason="no equity risk premium or market return is bound")
        return
    near = Tolerance(relative=NEAR, absolute=typed_digits(cost_of_equity, recalc) + 1e-9)
    extras = [held.amount for held in (country_risk_premium, size_premium) if held is not None and held.amount]
    plain = is_a_premium(equity_risk_premium, recalc)
    for name, expected in capm_forms(rf, slope, premium, extras):
        if near.allows(ke, expected) and not (plain and name == OVER_RF and rf):
            yield Fits(convention=name)
            return
    if any(
        near.allows(ke, expected) for expected in _with_other_terms(cost_of_equity, rf, slope, premium, recalc, graph)
    ):
        yield Fits(convention="rf + β·ERP and further premia")
        return
    slip = _capm_slip(cost_of_equity, beta, (equity_risk_premium, market_return), (rf, premium), extras, recalc, graph)
    named = (risk_free_rate, beta, equity_risk_premium, market_return, country_risk_premium, size_premium)
    slip = slip or _odd_form(cost_of_equity, named, dcf.capm(rf, slope, premium), recalc, graph)
    if slip is not None:
        yield slip
        return
    held_cell = recalc.book.get(graph.pure_link(cost_of_equity.cell)) if cost_of_equity.cell is not None else None
    typed = held_cell is None or held_cell.formula is None
    yield (
        NotApplicable(reason="the cost of equity is typed")
        if typed
        else Unverifiable(
            reason=f"the cost of equity {ke:.4%} follows no known form; rf + β·ERP is {rf + slope * premium:.4%}"
        )
    )


def _capm_slip(
    cost: Located,
    beta: Located,
    premia: tuple[Located | None, ...],
    rates: tuple[float, float],
    extras: list[float],
    recalc: Recalc,
    graph: Graph,
) -> Finding | None:
    """Return the known mistake that the cost of equity shows: the beta it reads, else a form with a part missing."""
    rf, premium = rates
    ke, slope = cost.amount or 0.0, beta.amount or 0.0
    stem = _stem_beta(cost, beta, premia, recalc, graph)
    if stem is not None:
        message = f"the cost of equity {cost.cell} reads {stem}, which the beta {beta.cell} is relevered from"
        return rate_finding(message, cost, rf + slope * premium)
    near = Tolerance(relative=NEAR, absolute=typed_digits(cost, recalc) + 1e-9)
    for rest in dict.fromkeys((0.0, sum(extras), *_rests(cost, rf, recalc, graph))):
        for words, wrong in capm_mistakes(rf, slope, premium):
            if near.allows(ke - rest, wrong):
                return rate_finding(f"the cost of equity {cost.cell} {words}", cost, rf + slope * premium + rest)
    return None


def _odd_form(
    cost: Located, named: tuple[Located | None, ...], expected: float, recalc: Recalc, graph: Graph
) -> Finding | None:
    """Accuse a formula that reads nothing but the parts of CAPM, two of them at least, and puts them together oddly."""
    node = claims.formula_node(graph.pure_link(cost.cell), recalc) if cost.cell is not None else None
    parts = {graph.pure_link(held.cell): held for held in named if held is not None and held.cell is not None}
    read = {graph.pure_link(one.cell) for one in walk(node) if isinstance(one, Ref)} if node is not None else set()
    if len(read) < 2 or not read <= set(parts) or any(isinstance(one, Call) for one in walk(node or Number(0.0))):
        return None
    beta = next((cell for cell, held in parts.items() if held.role == "beta"), None)
    typed = next((one.value for one in walk(node or Number(0.0)) if isinstance(one, Number) and one.value != 1), None)
    if beta not in read and typed is not None:
        message = f"the cost of equity {cost.cell} types {typed:g} where the beta stands in {beta}"
    else:
        message = f"the cost of equity {cost.cell} puts the parts of CAPM together in no accepted form"
    return rate_finding(message, cost, expected)


def _premium(premium: Located | None, market: Located | None, risk_free: float | None) -> float | None:
    if premium is not None and premium.amount is not None:
        return premium.amount
    if market is not None and market.amount is not None and risk_free is not None:
        return market.amount - risk_free
    return None


def _with_other_terms(
    cost: Located, rf: float, beta: float, premium: float, recalc: Recalc, graph: Graph
) -> Iterator[float]:
    """Yield CAPM plus each further term of the formula, and plus all of them."""
    base = dcf.capm(rf, beta, premium)
    yield from (base + value for value in _rests(cost, rf, recalc, graph))


def _rests(cost: Located, rf: float, recalc: Recalc, graph: Graph) -> list[float]:
    """Return what the formula adds beside the risk-free rate and products: all of it, then each cell alone."""
    node = claims.formula_node(graph.pure_link(cost.cell), recalc) if cost.cell is not None else None
    added = [
        value * cost.factor * sign
        for sign, part in (terms(node) if node is not None else ())
        if isinstance(part, Ref) and (value := recalc.number(part.cell)) is not None
    ]
    typed = [
        part.value * cost.factor * sign for sign, part in (terms(node) if node else ()) if isinstance(part, Number)
    ]
    added += typed
    others = [value for value in added if abs(value - rf) > 1e-12]
    return [sum(others), *others]


def _stem_beta(
    cost: Located, beta: Located, premia: tuple[Located | None, ...], recalc: Recalc, graph: Graph
) -> CellRef | None:
    """Return the cell that the premium is multiplied by where the bound beta is built from it and is not read."""
    if cost.cell is None or beta.cell is None:
        return None
    node = claims.formula_node(graph.pure_link(cost.cell), recalc)
    source = graph.pure_link(beta.cell)
    if node is None or source in memory.above(graph, [cost.cell]):
        return None
    known = {graph.pure_link(held.cell) for held in premia if held is not None and held.cell is not None}
    built = memory.above(graph, [source])
    for _, term in terms(node):
        parts = [part for part, _ in factors(term)]
        read = {graph.pure_link(part.cell) for one in parts for part in walk(one) if isinstance(part, Ref)}
        stems = [part.cell for part in parts if isinstance(part, Ref) and graph.pure_link(part.cell) in built]
        if len(parts) == 2 and read & known and len(stems) == 1 and graph.pure_link(stems[0]) not in known:
            value = recalc.number(stems[0])
            return stems[0] if value is not None and 0.05 < value < 5 else None
    return None


@check("wacc.relevered-beta")
def relevered_beta(
    beta: Located,
    unlevered_beta: Located | None,
    tax_rate: Located | None,
    debt_to_equity: Located | None,
    weight_debt: Located | None,
    cost_of_equity: Located | None,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    """The relevered beta follows from the unlevered one, and the cost of equity reads it.

    What it holds:
        βL = βU·(1 + (1 - t)·D/E) at the target or the market D/E.
    Why it matters:
        Without the 1 a beta of 0.58 becomes 0.003 and the cost of equity falls to the risk-free rate.
    Accepted conventions:
        Hamada; Harris-Pringle βU·(1 + D/E); with a debt beta; D/E from the weights; a beta that is observed, not built.
    Example:
        ``=J32*((1-J34)*J33)`` gives 0.003; ``=J32*(1+(1-J34)*J33)`` gives 0.575.
    How to fix:
        ``=unlevered beta*(1+(1-tax)*D/E)``.
    Units and tolerance:
        A number; 1e-6, or half a unit of the last typed decimal.
    Source:
        Hamada 1972; Harris and Pringle 1985; Koller et al., Valuation, ch. 15.
    """
    unlevered_beta = unlevered_beta or _unlabelled_stem(beta, recalc, graph)
    if unlevered_beta is None:
        yield NotApplicable(reason="no beta is built from an unlevered one")
        return
    levered, unlevered = beta.value, unlevered_beta.value
    source = graph.pure_link(beta.cell) if beta.cell is not None else None
    if levered is None or not unlevered or source is None:
        yield NotApplicable(reason="a beta is zero or empty")
        return
    built = memory.above(graph, [source])
    base = graph.pure_link(unlevered_beta.cell) if unlevered_beta.cell is not None else None
    if base not in built or base == source:
        yield from _unread(unlevered_beta, cost_of_equity, source, graph)
        return
    beta = beta.model_copy(update={"cell": source})
    unread = list(_unread(unlevered_beta, cost_of_equity, source, graph))
    if any(isinstance(one, Finding) for one in unread):
        yield from unread
        return
    near = Tolerance(relative=NEAR, absolute=typed_digits(beta, recalc) + 1e-9)
    tax = tax_rate.amount if tax_rate is not None and tax_rate.amount is not None else 0.0
    ratios = list(_ratios(debt_to_equity, weight_debt, beta, recalc, graph))
    slip = _levered_by_weight(beta, unlevered, tax, (weight_debt, debt_to_equity), near, graph)
    if slip is not None:
        yield slip
        return
    yield from _judge_relevering(beta, unlevered, tax, ratios, near, recalc, graph)


def _levered_by_weight(
    beta: Located,
    unlevered: float,
    tax: float,
    gearing: tuple[Located | None, Located | None],
    near: Tolerance,
    graph: Graph,
) -> Finding | None:
    """Return the finding of a beta that takes the weight of debt D/(D + E) for the ratio D/E.

    `gearing` is the bound weight of debt and the bound D/E ratio, which may be one cell: then it is no such weight.
    """
    weight, ratio = gearing
    share = weight.amount if weight is not None else None
    cells = {graph.pure_link(one.cell) for one in gearing if one is not None and one.cell is not None}
    if ratio is not None and ratio.cell is not None and len(cells) == 1:
        return None
    if weight is None or weight.cell is None or beta.cell is None or not share or not 0 < share < 1:
        return None
    if graph.pure_link(weight.cell) not in {graph.pure_link(one) for one in graph.precedents(beta.cell)}:
        return None
    for wanted, taken in (
        (dcf.hamada(unlevered, share / (1 - share), tax), dcf.hamada(unlevered, share, tax)),
        (dcf.harris_pringle(unlevered, share / (1 - share)), dcf.harris_pringle(unlevered, share)),
    ):
        if near.allows(beta.value or 0.0, taken) and not near.allows(taken, wanted):
            message = f"the relevered beta {beta.cell} takes the weight of debt {weight.cell} ({share:.2%}) for D/E"
            return Finding(message=message, cell=beta.cell, found=beta.value, expected=wanted, unit="number")
    return None


def _unlabelled_stem(beta: Located, recalc: Recalc, graph: Graph) -> Located | None:
    """Return the beta that the formula of the bound one multiplies, by the word beta in its label."""
    node = claims.formula_node(graph.pure_link(beta.cell), recalc) if beta.cell is not None else None
    parts = [part for part, power in (factors(node) if node is not None else ()) if power == 1]
    stems = [part.cell for part in parts if isinstance(part, Ref) and _BETA.search(row_label(recalc, part.cell))]
    value = recalc.number(stems[0]) if len(stems) == 1 and len(parts) > 1 else None
    if value is None or not 0.05 < value < 5:
        return None
    return Located(role="unlevered_beta", cell=stems[0], value=value, unit="number", confidence=0.9, how="graph")


_BETA = re.compile(r"β|\bbeta|bêta|贝塔|貝塔|ベータ", re.I)


def _judge_relevering(
    beta: Located,
    unlevered: float,
    tax: float,
    ratios: list[float],
    near: Tolerance,
    recalc: Recalc,
    graph: Graph,
) -> Outcomes:
    levered = beta.value or 0.0
    taxes = [tax, *_small_precedents(beta, recalc, graph)]
    for ratio in ratios:
        for rate in taxes:
            if near.allows(levered, dcf.hamada(unlevered, ratio, rate)):
                yield Fits(convention=f"Hamada at D/E {ratio:.4g}")
                return
        if near.allows(levered, dcf.harris_pringle(unlevered, ratio)):
            yield Fits(convention=f"Harris-Pringle at D/E {ratio:.4g}")
            return
    for ratio in ratios:
        wanted = dcf.hamada(unlevered, ratio, tax)
        for words, wrong in (
            ("lacks the 1 + in front of (1 - t)·D/E", unlevered * (1 - tax) * ratio),
            ("adds the tax instead of deducting it", unlevered * (1 + (1 + tax) * ratio)),
            ("divides instead of multiplying: it is unlevered once more", unlevered / (1 + (1 - tax) * ratio)),
        ):
            if near.allows(levered, wrong):
                message = f"the relevered beta {beta.cell} {words}"
                yield Finding(message=message, cell=beta.cell, found=levered, expected=wanted, unit="number")
                return
    yield Unverifiable(reason=f"the beta {levered:.4g} follows no known relevering of {unlevered:.4g}")


def _ratios(
    ratio: Located | None, weight: Located | None, beta: Located, recalc: Recalc, graph: Graph
) -> Iterator[float]:
    """Yield the D/E ratios that may have been used: the bound one, that of the weights, those the formula reads."""
    if ratio is not None and ratio.amount:
        yield ratio.amount
    if weight is not None and weight.amount and weight.amount < 1:
        yield weight.amount / (1 - weight.amount)
    yield from (value for value in _small_precedents(beta, recalc, graph) if value)


def _small_precedents(beta: Located, recalc: Recalc, graph: Graph) -> list[float]:
    if beta.cell is None:
        return []
    values = [recalc.number(cell) for cell in graph.precedents(graph.pure_link(beta.cell))]
    return [value for value in values if value is not None and 0 <= value < 5][:8]


def _unread(unlevered: Located, cost: Located | None, source: object, graph: Graph) -> Outcomes:
    """Judge a relevered beta that is no build: fine if observed, wrong if CAPM reads the unlevered one instead."""
    if cost is None or cost.cell is None or unlevered.cell is None:
        yield NotApplicable(reason="the beta is not built from an unlevered one")
        return
    above = memory.above(graph, [cost.cell])
    if unlevered.cell in above and source not in above:
        message = f"the cost of equity {cost.cell} reads the unlevered beta {unlevered.cell}"
        yield Finding(message=message, cell=cost.cell, found=cost.value, expected=None, unit="rate")
        return
    yield NotApplicable(reason="the beta is observed, not built from an unlevered one")


@check("wacc.debt-cheaper-than-equity", consequence_of=("wacc.relevered-beta", "wacc.capm", "wacc.cost-of-debt"))
def debt_cheaper_than_equity(
    cost_of_equity: Located,
    pre_tax_cost_of_debt: Located | None,
    after_tax_cost_of_debt: Located | None,
    roles: Roles,
    graph: Graph,
) -> Outcomes:
    """Debt costs less than equity.

    What it holds:
        Pre-tax cost of debt (else the after-tax one) below the cost of equity.
    Why it matters:
        Lenders are paid first: a dearer debt means that one of the two rates is misread.
    Accepted conventions:
        Equal rates for an all-equity build.
    Example:
        Interest of 746 over debt of 6,950 is 10.7 %, above a cost of equity of 7.8 %: leases earn interest too.
    How to fix:
        Take the yield of the company's bonds or its rating's spread, and check beta and premium.
    Units and tolerance:
        Decimal rates.
    Source:
        Koller et al., Valuation, ch. 15.
    """
    debt = pre_tax_cost_of_debt or after_tax_cost_of_debt
    weight = roles.get("weight_debt")
    if debt is None or debt.amount is None or cost_of_equity.amount is None:
        yield NotApplicable(reason="no cost of debt is bound")
    elif weight is not None and weight.amount == 0:
        yield NotApplicable(reason="the capital structure holds no debt")
    elif debt.amount > cost_of_equity.amount + 1e-9:
        source = graph.pure_link(debt.cell) if debt.cell is not None else None
        message = f"debt at {debt.amount:.2%} ({source}) is dearer than equity at {cost_of_equity.amount:.2%}"
        yield rate_finding(message, debt.model_copy(update={"cell": source}), None)
