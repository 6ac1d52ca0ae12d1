"""Reverse DCF: what the price presupposes, solved on the live model."""

from __future__ import annotations

import re
from decimal import Decimal

from xlcheck.cells import CellRef, Tolerance
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Params, Unverifiable, check
from xlcheck.checks import live, memory, reverse_apart, solved_apart, valuation
from xlcheck.checks.sheet import row_label
from xlcheck.checks.solved_input import solved_input
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles


@check("reverse.price-anchor")
def price_anchor(current_price: Located, roles: Roles, recalc: Recalc, params: Params, graph: Graph) -> Outcomes:
    """The reverse DCF is anchored on the price that the task gives.

    What it holds:
        The current price equals ``price`` of the rubric; a reverse DCF worked beside the model is solved for that
        price, or for the equity or enterprise value that the model's own bridge gives at it.
    Why it matters:
        Another day's price answers another question, and a later one lets the future in.
    Accepted conventions:
        The price shown at fewer decimals; amounts of the whole business within two per cent.
    Example:
        42.10 asked for, 45.30 of a week later used; a market enterprise value that adds the cash.
    How to fix:
        Enter the closing price of the date that the task names.
    Units and tolerance:
        Currency per share; ``tolerance`` of the rubric's price, half a unit of the second decimal unless stated.
    Source:
        The rubric.
    """
    price, slack = params.get("price"), params.get("price_tolerance")
    beside = solved_apart.answers(roles, recalc, graph)
    for one in beside:
        yield from reverse_apart.anchor(one, roles, recalc, graph)
    if not isinstance(price, Decimal):
        if not beside:
            yield NotApplicable(reason="the rubric sets no price")
        return
    found, wanted = current_price.value, float(price)
    near = Tolerance(relative=1e-6, absolute=float(slack) if isinstance(slack, Decimal) else 0.005)
    if found is not None and not near.allows(found, wanted):
        typed = None if current_price.cell is None else graph.pure_link(current_price.cell)
        message = f"the price {typed} is {found:g}; the task asks for {wanted:g}"
        yield Finding(message=message, cell=typed, found=found, expected=wanted, unit="per share")


@check("reverse.fixed-terms")
def fixed_terms(
    wacc: Located,
    fcff: LocatedSeries | None,
    fcfe: LocatedSeries | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
    params: Params,
) -> Outcomes:
    """The terms that the task fixes are the ones the model uses.

    What it holds:
        The discount rate is ``rate`` and the forecast has ``years`` years, as far as the rubric sets them; a reverse
        DCF worked beside the model discounts at the model's WACC, not at a part of it.
    Why it matters:
        Implied growth can be compared across companies only at one rate and one horizon.
    Accepted conventions:
        Percent points and fractions.
    Example:
        9.1 % where 8.8 % is prescribed.
    How to fix:
        Set the rate and the horizon to the prescribed terms.
    Units and tolerance:
        A decimal rate, 1e-6; whole years.
    Source:
        The rubric.
    """
    rate, years = params.get("rate"), params.get("years")
    beside = solved_apart.answers(roles, recalc, graph)
    for one in beside:
        yield from reverse_apart.rates(one, roles, recalc, graph)
    if not isinstance(rate, Decimal) and not isinstance(years, Decimal):
        if not beside:
            yield NotApplicable(reason="the rubric fixes no terms")
        return
    if isinstance(rate, Decimal) and wacc.amount is not None and abs(wacc.amount - float(rate)) > 1e-6:
        message = f"the rate {wacc.cell} is {wacc.amount:.4%}; the task fixes {float(rate):.4%}"
        wanted = float(rate) / wacc.factor
        yield Finding(message=message, cell=wacc.cell, found=wacc.value, expected=wanted, unit="rate")
    flows = fcff or fcfe
    if isinstance(years, Decimal) and flows is not None and len(flows.cells) != int(years):
        message = f"the forecast has {len(flows.cells)} years; the task fixes {int(years)}"
        where, count = flows.cells[-1], float(len(flows.cells))
        yield Finding(message=message, cell=where, found=count, expected=float(years), unit="years")


FORWARD = "nothing says that this model was solved for the price: it may be a forward valuation"
_REVERSE = re.compile(
    r"reverse[\s-]*dcf|(market|price)[\s-]*implied|implied by the (market |share |current )*price|what the price|"
    r"implied expectations|expectations investing|goal[\s-]*seek|solved? (so that|for the price|to the price)|"
    r"反向|股价隐含|市场隐含|倒推|单变量求解",
    re.IGNORECASE,
)


def _solved_for(price: float, value: Located, where: CellRef, recalc: Recalc, params: Params) -> bool:
    """Say whether a model was solved for the price: the task sets one, the value is it, or the workbook says so.

    A forward valuation has implied figures too, and its value need not be the price.
    """
    if "price" in params or (value.value is not None and abs(value.value - price) <= 0.005 * price):
        return True
    return memory.remembered(recalc, "asks what the price implies", lambda: _speaks_of_it(where, recalc))


def _speaks_of_it(where: CellRef, recalc: Recalc) -> bool:
    texts = (cell.stored for cell in recalc.book.cells() if isinstance(cell.stored, str) and cell.formula is None)
    names = (sheet.name for sheet in recalc.book.sheets)
    return any(_REVERSE.search(text) for text in (row_label(recalc, where), *names, *texts))


@check("reverse.solves-to-price")
def solves_to_price(
    implied_value: Located,
    value_per_share: Located,
    current_price: Located,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
    params: Params,
) -> Outcomes:
    """At the stated implied value the model gives the price.

    What it holds:
        The value per share equals the price, within what the decimals of the implied value leave open.
    Why it matters:
        A goal seek that was not run again after a change answers a question nobody asked.
    Accepted conventions:
        An implied value typed at its printed decimals, or interpolated between the rows of a table.
    Example:
        Implied growth of 5.9 % and a value of 31.2 beside a price of 36.4.
    How to fix:
        Run the goal seek again after the last change.
    Units and tolerance:
        Currency per share; the change for one unit of the implied value's last decimal, at least half a per cent.
    Source:
        Rappaport and Mauboussin, Expectations Investing.
    """
    price, cell, where = current_price.value, value_per_share.cell, implied_value.cell
    if not price or where is None or cell is None:
        yield NotApplicable(reason="no implied value, value per share and price are bound to cells")
        return
    beside = solved_apart.answers(roles, recalc, graph)
    for one in beside:
        yield from reverse_apart.solves(one, recalc)
    if beside and where not in memory.above(graph, [cell]):
        return
    if not _solved_for(price, value_per_share, where, recalc, params):
        yield NotApplicable(reason=FORWARD)
        return
    solved = solved_input(where, cell, price, recalc, graph)
    if solved is None:
        yield NotApplicable(reason=f"{where} stands for no input of the value per share: nothing was solved for")
        return
    residual = solved.gap(cell, price, recalc)(solved.stated)
    slope = live.derivative(recalc, cell, solved.input)
    if residual is None:
        yield Unverifiable(reason=f"at the implied value {where} the value per share is no number")
    elif abs(residual) <= max(0.005 * price, abs(slope or 0.0) * solved.loose):
        yield Fits(convention=f"the value per share is the price; solved input {solved.input}, {solved.how}")
    else:
        value = price + residual
        message = f"at the implied value {where} the value per share is {value:.6g}, the price {price:.6g}"
        yield Finding(message=message, cell=where, found=value, expected=price, unit="per share")


@check("reverse.implied-value", consequence_of=("reverse.solves-to-price",))
def implied(
    implied_value: Located,
    value_per_share: Located,
    current_price: Located,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
    params: Params,
) -> Outcomes:
    """The implied value is the one at which the live model gives the price.

    What it holds:
        Solving the model afresh for the price finds the stated implied value; every other root nearby is told.
    Why it matters:
        The answer of a reverse DCF is this number.
    Accepted conventions:
        Rounding to the printed decimals; a goal seek, a closed form, an answer interpolated between the rows of a table
        (a tenth of its step); several roots are reported, each accepted.
    Example:
        Stated 5.9 %, solved 5.88 %.
    How to fix:
        Solve again for value per share = price.
    Units and tolerance:
        The unit of the implied value; one unit of its last decimal, a tenth of a table's step.
    Source:
        Rappaport and Mauboussin, Expectations Investing.
    """
    price, cell, where = current_price.value, value_per_share.cell, implied_value.cell
    beside = solved_apart.answers(roles, recalc, graph)
    for one in beside:
        yield from reverse_apart.implied(one, recalc)
        yield from reverse_apart.on_the_model(one, roles, recalc, graph)
    if beside and cell and where not in memory.above(graph, [cell]):
        return
    solved = solved_input(where, cell, price, recalc, graph) if where and cell and price else None
    if where is None or cell is None or not price or solved is None:
        yield NotApplicable(reason="no implied value, value per share and price are bound, or nothing was solved for")
        return
    if not _solved_for(price, value_per_share, where, recalc, params):
        yield NotApplicable(reason=FORWARD)
        return
    gap, stated = solved.gap(cell, price, recalc), solved.stated
    found, low, high = reverse_apart.roots_near(gap, stated)
    right = [root for root in found if abs(root - stated) <= solved.loose]
    if right:
        others = ", ".join(f"{root:.6g}" for root in found if root not in right)
        more = f"; {len(found)} roots, also {others}" if others else "; the only root"
        yield Fits(convention=f"solved {right[0]:.6g}, {solved.how}{more} between {low:.4g} and {high:.4g}")
    elif found:
        best = min(found, key=lambda root: abs(root - stated))
        message = f"the price follows at {', '.join(f'{root:.6g}' for root in found)}, stated is {stated:.6g}"
        yield Finding(message=message, cell=where, found=stated, expected=best, unit=implied_value.unit)
    elif gap(low) is None or gap(high) is None:
        yield Unverifiable(
            reason=f"the model gives no number for all of {low:.4g} to {high:.4g}, where {solved.input} was looked for"
        )
    else:
        message = f"no value of {solved.input} between {low:.4g} and {high:.4g} gives the price of {price:.6g}"
        yield Finding(message=message, cell=where, found=stated, expected=None, unit=implied_value.unit)


_NO_GROWTH = re.compile(
    r"(no|zero|without)[- ]growth (value|case)|value (without|before) growth|steady[- ]state value|(零|无)增长价值",
    re.I,
)


@check("reverse.no-growth-value")
def no_growth_value(
    wacc: Located, nopat: LocatedSeries | None, fcff: LocatedSeries | None, roles: Roles, recalc: Recalc
) -> Outcomes:
    """The value of the business as it stands is split out of the price.

    What it holds:
        A line labelled as value without growth equals NOPAT (or the flow) of a year over the rate.
    Why it matters:
        What the price pays beyond it is paid for growth alone.
    Accepted conventions:
        NOPAT or flow of the last actual or the first forecast year; before or after the bridge; per share.
    Example:
        NOPAT 143 at 9 % is worth 1,589 without growth.
    How to fix:
        Add a line NOPAT/WACC and show the rest as value of growth.
    Units and tolerance:
        Money of the sheet or currency per share; 1e-4.
    Source:
        Rappaport and Mauboussin, Expectations Investing; Miller and Modigliani 1961.
    """
    rows = memory.rows_named(recalc, _NO_GROWTH)
    near = [held.ref for held in recalc.book.formula_cells() if (held.ref.sheet, held.ref.row) in rows]
    cells = [cell for cell in near if _NO_GROWTH.search(row_label(recalc, cell))]
    numbers = {cell: value for cell in cells if (value := recalc.number(cell)) is not None}
    if not numbers:
        yield NotApplicable(reason="no line is labelled as value without growth")
        return
    if not wacc.amount or wacc.amount <= 0:
        yield Unverifiable(reason="the rate is not positive")
        return
    for cell, value in numbers.items():
        right = _whole(_as_it_stands(wacc.amount, (nopat, fcff), roles, recalc), roles)
        if any(valuation.close(value, wanted, 1e-4) for wanted in right):
            yield Fits(convention=f"{cell} is a perpetuity without growth")
            return
        untaxed = _whole(_as_it_stands(wacc.amount, (roles.series.get("ebit"),), roles, recalc), roles)
        if any(valuation.close(value, wanted, 1e-4) for wanted in untaxed):
            message = f"{cell} capitalises operating profit before tax: a value without growth stands on NOPAT"
            yield Finding(message=message, cell=cell, found=value, expected=None, unit="money")
            return
    yield Unverifiable(reason=f"{next(iter(numbers))} follows no known form of a value without growth")


def _as_it_stands(rate: float, lines: tuple[LocatedSeries | None, ...], roles: Roles, recalc: Recalc) -> list[float]:
    """Return the perpetuities without growth on lines of profit: of the last actual, the first and the last year.

    Where a line has no actuals, the first year's profit at the last actual revenue is its trailing figure.
    """
    bases: list[float] = []
    for line in lines:
        if line is not None:
            history = [recalc.number(cell) for cell in line.history[-1:]] or _trailing(line, roles, recalc)
            bases += [value / rate for value in (*line.values[:1], *line.values[-1:], *history) if value is not None]
    return bases


def _trailing(line: LocatedSeries, roles: Roles, recalc: Recalc) -> list[float]:
    revenue = roles.series.get("revenue")
    before = recalc.number(revenue.history[-1]) if revenue is not None and revenue.history else None
    first, profit = (revenue.values[0] if revenue is not None else None), line.values[0]
    return [profit * before / first] if before and first and profit is not None else []


def _whole(bases: list[float], roles: Roles) -> list[float]:
    """Return values of operations as they are, after the bridge, and per share."""
    equity, total, shares = (roles.get(role) for role in ("equity_value", "enterprise_value", "shares"))
    bridge = 0.0
    if equity is not None and total is not None and equity.value is not None and total.value is not None:
        bridge = equity.value - total.value
    whole = [*bases, *(base + bridge for base in bases)]
    count = shares.value if shares is not None and shares.value else None
    return [*whole, *(value / count for value in whole)] if count else whole
