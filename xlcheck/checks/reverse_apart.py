"""What the reverse checks say of an answer worked beside the model, on a sheet or in a block of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from xlcheck import dcf
from xlcheck.checking import Finding, Fits, Outcome, Unverifiable
from xlcheck.checks import live, memory, solved_apart
from xlcheck.checks.sheet import row_label
from xlcheck.checks.solved_apart import LOOSE, Apart
from xlcheck.checks.trees import trees
from xlcheck.formula import Ref, terms
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles

_CURRENCY = re.compile(r"\b(?:USD|EUR|GBP|GBX|GBp|pence|JPY|CNY|RMB|HKD|CHF|CAD|AUD|INR|KRW|TWD|SEK|NOK|DKK|BRL)\b")


def anchor(one: Apart, roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Outcome]:
    """Hold what an answer is solved for against the model's price, or the price through the model's own bridge."""
    price, aim = roles.get("current_price"), recalc.number(one.target)
    if price is None or price.cell is None or price.value is None or aim is None:
        return
    typed = solved_apart.typed_price(one.target, recalc, graph)
    if typed is not None and typed != graph.pure_link(price.cell):
        at, stated = typed, price.value
        other = set(_CURRENCY.findall(row_label(recalc, typed))) - {price.currency}
        if (other and price.currency) or not 0.5 * stated < aim < 2 * stated or abs(aim - stated) <= LOOSE * stated:
            return
        message = f"the reverse DCF is solved for the price {aim:g} of {at}, the model's price is {stated:g}"
        yield Finding(message=message, cell=at, found=aim, expected=stated, unit="per share")
        return
    for cell, wanted in solved_apart.market_amounts(one, roles, recalc, graph):
        found = recalc.number(cell)
        if found is not None and not solved_apart.same(found, wanted):
            message = f"{cell}, which the reverse DCF is solved for, is {found:,.6g}; "
            message += f"the price through the model's own bridge gives {wanted:,.6g}"
            yield Finding(message=message, cell=cell, found=found, expected=wanted, unit="money")
            return


def solves(one: Apart, recalc: Recalc) -> Iterator[Outcome]:
    """Hold the value at an answer against what it is solved for."""
    aim, shown = recalc.number(one.target), recalc.number(one.tie)
    if aim is None or shown is None or not aim:
        yield Unverifiable(reason=f"at the implied value {one.answer} the value {one.tie} is no number")
        return
    gap, stated = one.gap(shown, aim), recalc.number(one.answer) or 0.0
    slope = abs(solved_apart.slope(one, recalc) or 0.0) * (abs(aim) if one.relative else 1.0)
    if abs(gap) <= max(LOOSE * abs(aim), slope * _unit(stated)):
        yield Fits(convention=f"the value at the implied value {one.answer} is {one.target}")
        return
    message = f"at the implied value {one.answer} the value is {aim + gap:,.6g}, what it is solved for {aim:,.6g}"
    yield Finding(message=message, cell=one.answer, found=aim + gap, expected=aim, unit="as in the sheet")


def implied(one: Apart, recalc: Recalc) -> Iterator[Outcome]:
    """Solve an answer afresh on the live block that it drives."""
    stated, aim = recalc.number(one.answer), recalc.number(one.target)
    if stated is None or aim is None:
        yield Unverifiable(reason=f"the implied value {one.answer} is no number")
        return

    def gap(at: float) -> float | None:
        shown = live.run(recalc, {one.answer: at}, [one.tie])[one.tie]
        return None if shown is None else one.gap(shown, aim)

    found, low, high = roots_near(gap, stated)
    loose = max(_unit(stated), 1e-3 * abs(stated))
    at_stated = gap(stated)
    if any(abs(root - stated) <= loose for root in found) or (
        at_stated is not None and abs(at_stated) <= LOOSE * abs(aim)  # read off a table between two of its rows
    ):
        yield Fits(convention=f"solved afresh, {one.answer} stands")
    elif found:
        best = min(found, key=lambda root: abs(root - stated))
        message = f"{one.target} follows at {', '.join(f'{root:.6g}' for root in found)}, stated is {stated:.6g}"
        yield Finding(message=message, cell=one.answer, found=stated, expected=best)
    elif at_stated is None:
        yield Unverifiable(reason=f"the block that {one.answer} drives gives no number")
    else:
        message = f"no value of {one.answer} between {low:.4g} and {high:.4g} gives {one.target}"
        yield Finding(message=message, cell=one.answer, found=stated, expected=None)


def roots_near(gap: Callable[[float], float | None], stated: float) -> tuple[list[float], float, float]:
    """Return every value near the stated one at which the price follows, else any in a wide range, and that range."""
    width = max(abs(stated), 0.02)
    narrow = (stated - width, stated + width)
    wide = (-0.5, 1.0) if abs(stated) < 1 else (stated / 20, stated * 20) if stated > 0 else (stated * 20, stated / 20)
    found = dcf.roots(gap, *narrow)
    return (found, *narrow) if found else (dcf.roots(gap, *wide, steps=60), *wide)


def on_the_model(one: Apart, roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Outcome]:
    """Run the model itself at an answer that is worked out as one of its typed inputs plus a difference."""
    value, price = roles.get("value_per_share"), roles.get("current_price")
    node, stated = trees(recalc).get(one.answer), recalc.number(one.answer)
    if value is None or value.cell is None or price is None or not price.value or node is None or stated is None:
        return
    above = memory.above(graph, [value.cell])
    added = [graph.pure_link(part.cell) for sign, part in terms(node) if sign > 0 and isinstance(part, Ref)]
    held = recalc.book.get(added[0]) if len(added) == 1 and len(terms(node)) == 2 else None
    if held is None or held.formula is not None or held.ref not in above:
        return
    base = recalc.number(held.ref) or 0.0
    at_answer, between = (
        live.run(recalc, {held.ref: at}, [value.cell])[value.cell] for at in (stated, (base + stated) / 2)
    )
    if at_answer is None or between is None or value.value is None:
        return
    straight = abs(2 * between - at_answer - value.value) <= 1e-6 * abs(value.value)
    if abs(at_answer - price.value) > (LOOSE if straight else 0.02) * abs(price.value):
        message = f"with {held.ref} at the implied value {one.answer} the model gives {at_answer:.6g}, not the price"
        yield Finding(message=message, cell=one.answer, found=at_answer, expected=price.value, unit="per share")


def rates(one: Apart, roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Outcome]:
    """Find formulas behind an answer that discount the flows at another rate than the model's."""
    wacc = roles.get("wacc")
    for cell, rate in solved_apart.rates_of(one, roles, recalc, graph)[:1]:
        message = (
            f"{cell} discounts at {rate} ({row_label(recalc, rate)[:40]}); the model's rate is {wacc and wacc.cell}"
        )
        expected = wacc.value if wacc is not None else None
        yield Finding(message=message, cell=cell, found=recalc.number(rate), expected=expected, unit="rate")


def _unit(stated: float) -> float:
    """Return one unit of the last decimal of a stated number."""
    return float(10.0 ** -len(f"{stated:.10g}".partition(".")[2]))
