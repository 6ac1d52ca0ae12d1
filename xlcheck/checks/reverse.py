"""Reverse DCF: what the price presupposes, solved on the live model."""

from __future__ import annotations

import re
from decimal import Decimal

from xlcheck import dcf
from xlcheck.cells import Tolerance
from xlcheck.checking import Finding, Fits, NotApplicable, Outcomes, Params, Unverifiable, check
from xlcheck.checks import live, memory, valuation
from xlcheck.checks.sheet import row_label
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles


@check("reverse.price-anchor")
def price_anchor(current_price: Located, params: Params) -> Outcomes:
    """The reverse DCF is anchored on the price that the task gives.

    What it holds:
        The current price equals ``price`` of the rubric.
    Why it matters:
        Another day's price answers another question, and a later one lets the future in.
    Accepted conventions:
        The price shown at fewer decimals.
    Example:
        42.10 asked for, 45.30 of a week later used.
    How to fix:
        Enter the closing price of the date that the task names.
    Units and tolerance:
        Currency per share; ``tolerance`` of the rubric's price, half a unit of the second decimal unless stated.
    Source:
        The rubric.
    """
    price, slack = params.get("price"), params.get("price_tolerance")
    if not isinstance(price, Decimal):
        yield NotApplicable(reason="the rubric sets no price")
        return
    found, wanted = current_price.value, float(price)
    near = Tolerance(relative=1e-6, absolute=float(slack) if isinstance(slack, Decimal) else 0.005)
    if found is not None and not near.allows(found, wanted):
        message = f"the price {current_price.cell} is {found:g}; the task asks for {wanted:g}"
        yield Finding(message=message, cell=current_price.cell, found=found, expected=wanted, unit="per share")


@check("reverse.fixed-terms")
def fixed_terms(wacc: Located, fcff: LocatedSeries | None, fcfe: LocatedSeries | None, params: Params) -> Outcomes:
    """The terms that the task fixes are the ones the model uses.

    What it holds:
        The discount rate is ``rate`` and the forecast has ``years`` years, as far as the rubric sets them.
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
    if not isinstance(rate, Decimal) and not isinstance(years, Decimal):
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


@check("reverse.solves-to-price")
def solves_to_price(
    implied_value: Located, value_per_share: Located, current_price: Located, recalc: Recalc, graph: Graph
) -> Outcomes:
    """At the stated implied value the model gives the price.

    What it holds:
        The value per share equals the price, within what the decimals of the implied value leave open.
    Why it matters:
        A goal seek that was not run again after a change answers a question nobody asked.
    Accepted conventions:
        An implied value typed at its printed decimals.
    Example:
        Implied growth of 5.9 % and a value of 31.2 beside a price of 36.4.
    How to fix:
        Run the goal seek again after the last change.
    Units and tolerance:
        Currency per share; the change for one unit of the implied value's last decimal, at least half a per cent.
    Source:
        Rappaport and Mauboussin, Expectations Investing.
    """
    value, price = value_per_share.value, current_price.value
    if value is None or not price or implied_value.cell is None or value_per_share.cell is None:
        yield NotApplicable(reason="no implied value, value per share and price are bound to cells")
        return
    source = graph.pure_link(implied_value.cell)
    if source not in graph.ancestors([value_per_share.cell]):
        yield NotApplicable(reason=f"{source} is not among the inputs of the value per share: nothing was solved for")
        return
    slope = live.derivative(recalc, value_per_share.cell, source)
    shown = recalc.number(source)
    digits = len(f"{shown:.10g}".partition(".")[2]) if shown is not None else 0
    open_by = abs(slope or 0.0) * 10.0**-digits
    if abs(value - price) <= max(0.005 * price, open_by):
        yield Fits(convention="the value per share is the price")
        return
    message = f"at the implied value {implied_value.cell} the value per share is {value:.6g}, the price {price:.6g}"
    yield Finding(message=message, cell=implied_value.cell, found=value, expected=price, unit="per share")


@check("reverse.implied-value", consequence_of=("reverse.solves-to-price",))
def implied(
    implied_value: Located, value_per_share: Located, current_price: Located, recalc: Recalc, graph: Graph
) -> Outcomes:
    """The implied value is the one at which the live model gives the price.

    What it holds:
        Solving the model afresh for the price finds the stated implied value, and no other root in its neighbourhood.
    Why it matters:
        The answer of a reverse DCF is this number.
    Accepted conventions:
        Rounding to the printed decimals; several roots are reported, each accepted.
    Example:
        Stated 5.9 %, solved 5.88 %.
    How to fix:
        Solve again for value per share = price.
    Units and tolerance:
        The unit of the implied value; one unit of its last decimal.
    Source:
        Rappaport and Mauboussin, Expectations Investing.
    """
    price, cell, where = current_price.value, value_per_share.cell, implied_value.cell
    source = graph.pure_link(where) if where is not None else None
    stated = recalc.number(source) if source is not None else None
    if price is None or cell is None or source is None or stated is None or where is None:
        yield NotApplicable(reason="no implied value, value per share and price are bound to cells")
        return
    held = recalc.book.get(source)
    if held is None or held.formula is not None:
        yield Unverifiable(reason=f"{source} is a formula: the input that it stands for is not known")
        return

    def gap(value: float) -> float | None:
        moved = live.run(recalc, {source: value}, [cell])[cell]
        return None if moved is None else moved - price

    width = max(abs(stated), 0.02)
    found = dcf.roots(gap, stated - width, stated + width)
    digits = len(f"{stated:.10g}".partition(".")[2])
    near = max(10.0**-digits, 1e-6 * abs(stated))
    if not found:
        yield Unverifiable(
            reason=f"no value of {source} between {stated - width:.4g} and {stated + width:.4g} gives the price"
        )
    elif any(abs(root - stated) <= near for root in found):
        more = f" ({len(found)} roots)" if len(found) > 1 else ""
        yield Fits(convention=f"solved {min(found, key=lambda root: abs(root - stated)):.6g}{more}")
    else:
        best = min(found, key=lambda root: abs(root - stated))
        message = f"the price follows at {best:.6g}, stated is {stated:.6g}"
        yield Finding(message=message, cell=where, found=stated, expected=best, unit=implied_value.unit)


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
        if any(
            valuation.close(value, wanted, 1e-4) for wanted in _as_it_stands(wacc.amount, nopat, fcff, roles, recalc)
        ):
            yield Fits(convention=f"{cell} is a perpetuity without growth")
            return
    yield Unverifiable(reason=f"{next(iter(numbers))} follows no known form of a value without growth")


def _as_it_stands(
    rate: float, nopat: LocatedSeries | None, fcff: LocatedSeries | None, roles: Roles, recalc: Recalc
) -> list[float]:
    """Return the perpetuities without growth on each year's NOPAT or flow: whole, after the bridge, per share."""
    bases: list[float] = []
    for line in (nopat, fcff):
        if line is not None:
            history = [recalc.number(cell) for cell in line.history[-1:]]
            bases += [value / rate for value in (*line.values[:1], *line.values[-1:], *history) if value is not None]
    equity, total, shares = (roles.get(role) for role in ("equity_value", "enterprise_value", "shares"))
    bridge = 0.0
    if equity is not None and total is not None and equity.value is not None and total.value is not None:
        bridge = equity.value - total.value
    whole = [*bases, *(base + bridge for base in bases)]
    count = shares.value if shares is not None and shares.value else None
    return [*whole, *(value / count for value in whole)] if count else whole
