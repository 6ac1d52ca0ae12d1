"""The valuation rebuilt outside the workbook: flows, rate, convention and bridge, in closed form."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from xlcheck import dcf
from xlcheck.cells import CellRef
from xlcheck.checks import claims, memory, perpetuity, valuation
from xlcheck.checks.conversions import bridge_step, unit_step
from xlcheck.checks.discount_varying import varies_by_year
from xlcheck.checks.terminal_discounting import accepted_exponents, holds_present, mid_year
from xlcheck.formula import Ref, terms
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles


@dataclass(frozen=True)
class Terminal:
    """One terminal value: its amount, the years it is brought back, and its share where methods are averaged."""

    cell: CellRef
    value: float
    years: float
    share: float
    words: str
    shown: float
    """What its cell shows."""
    measured: float | None
    """The years by which the live model brings it back."""


@dataclass(frozen=True)
class Parts:
    """Everything that the value is rebuilt from. Money is in the unit of the flows, rates are decimals."""

    rate: float
    flows: tuple[float, ...]
    fractions: tuple[float, ...]
    """Part of each flow that is counted: below one for a stub year."""
    years: tuple[float, ...]
    terminals: tuple[Terminal, ...]
    items: Mapping[str, float]
    """What each bridge item adds to the equity value, in its right direction."""
    legs: float
    """What the enterprise value adds that rests on none of the flows: the value of tax shields, of another business."""
    other: float
    """What further cells and typed amounts of the equity formula add."""
    per_share: float
    """Factor from equity value to value per share: scale and exchange rate over the share count."""
    timing: str
    step: float = 1.0
    """What one unit of the flows' money is in the unit of enterprise value and bridge."""

    def enterprise_value(self) -> float:
        """Return Σ flow·(1 + r)^-t plus the discounted terminal values."""
        rows = zip(self.flows, self.fractions, self.years, strict=True)
        total = sum(flow * part * dcf.discount_factor(self.rate, years) for flow, part, years in rows)
        total += self.legs
        total += sum(one.share * one.value * dcf.discount_factor(self.rate, one.years) for one in self.terminals)
        return total * self.step

    def equity_value(self) -> float:
        """Return the enterprise value plus bridge."""
        return self.enterprise_value() + sum(self.items.values()) + self.other

    def value_per_share(self) -> float:
        """Return the equity value per share, in the currency of the price."""
        return self.equity_value() * self.per_share

    @property
    def words(self) -> str:
        """The conventions in words."""
        return "; ".join([self.timing, *(one.words for one in self.terminals)])


def parts(roles: Roles, recalc: Recalc, graph: Graph) -> Parts | str:
    """Gather the parts of the bound valuation; a sentence instead where one of them is not known."""
    flows, rate = valuation.flows_of(roles), valuation.rate_of(roles)
    read, weighed = valuation.exponents(roles, recalc, graph), valuation.weights(roles, recalc, graph)
    if flows is None or rate is None or not rate.amount or None in flows.values:
        return "flows or rate are not bound"
    if read is None or weighed is None or not read.known:
        return "the discounting of the flows cannot be read"
    entry = valuation.entry_years(roles, recalc, graph)
    years = named_exponents(read.known[entry:])
    if years is None and varies_by_year(roles):
        years = "rates that vary by year", read.known[entry:]
    if years is None:
        return "the exponents follow no accepted timing"
    later = valuation.left_behind(roles, [cell for cell, _ in weighed.terminals], recalc, graph)
    values = (*(value or 0.0 for value in flows.values), *(recalc.number(cell) or 0.0 for cell in later))
    years = (years[0], (*read.known[:entry], *years[1], *(years[1][-1] + 1 + index for index in range(len(later)))))
    if not weighed.last_is_clean and (roles.get("terminal_growth") or roles.get("exit_multiple")):
        return "the terminal value stands in no cell of its own"
    terminals = []
    for cell, weight in weighed.terminals:
        found = _terminal(cell, weight, years[1], rate.amount, len(weighed.terminals), roles, recalc, graph)
        if isinstance(found, str):
            return found
        terminals.append(found)
    bridge = _bridge(roles, recalc, graph)
    if isinstance(bridge, str):
        return bridge
    items, other, per_share = bridge
    return Parts(
        rate=rate.amount,
        flows=values,
        fractions=_fractions(weighed, years[1], rate.amount, entry),
        years=years[1],
        terminals=tuple(terminals),
        items=items,
        legs=_legs(roles, recalc, graph),
        other=other,
        per_share=per_share,
        timing=years[0],
        step=unit_step(roles.get("enterprise_value"), recalc)
        * bridge_step(roles.get("enterprise_value"), roles.get("equity_value"), recalc),
    )


def _legs(roles: Roles, recalc: Recalc, graph: Graph) -> float:
    """Return the terms of the enterprise value's formula that rest on no flow and no terminal value, signed."""
    flows, total = valuation.flows_of(roles), roles.get("enterprise_value")
    node = claims.formula_node(total.cell, recalc) if total is not None and total.cell is not None else None
    if flows is None or node is None:
        return 0.0
    weighed = valuation.weights(roles, recalc, graph)
    own, found = {*flows.cells, *(cell for cell, _ in (weighed.terminals if weighed is not None else ()))}, 0.0
    for sign, part in terms(node):
        value = recalc.number(part.cell) if isinstance(part, Ref) else None
        if isinstance(part, Ref) and value is not None and not own & memory.above(graph, [part.cell]):
            held = next((role for role, one in roles.scalars.items() if one.cell == part.cell), None)
            if held not in ("terminal_value", "pv_terminal_value", "sum_pv_fcff"):
                found += sign * value
    return found


def named_exponents(known: tuple[float, ...]) -> tuple[str, tuple[float, ...]] | None:
    """Return the name of the timing and its exact exponents: day counts are kept as read."""
    timing = next(dcf.timings(known), None)
    if timing is not None:
        exact = timing.exponents(len(known))
        near = all(abs(one - other) < 1e-6 for one, other in zip(exact, known, strict=True))
        return timing.name, exact if near else known
    if dcf.evenly_spaced(known) and -0.012 <= known[0] <= 2:
        return f"first flow {known[0]:.4g} years out", known
    return None


def _fractions(weighed: valuation.Weights, years: tuple[float, ...], rate: float, entry: int) -> tuple[float, ...]:
    """Return the part of the first flow that is counted, none of an entry year's; later flows count whole."""
    if entry:
        return (0.0, *(1.0 for _ in years[1:]))
    weight = weighed.flows[0]
    part = weight / dcf.discount_factor(rate, years[0]) if weight is not None and weight > 0 else 1.0
    first = part if 0.02 < part < 0.999 else 1.0
    return (first, *(1.0 for _ in years[1:]))


def _terminal(
    cell: CellRef,
    weight: float | None,
    years: tuple[float, ...],
    rate: float,
    count: int,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> Terminal | str:
    stated = recalc.number(cell)
    if stated is None or weight is None:
        return f"the terminal value {cell} is no number"
    method = valuation.method_of(cell, roles, graph)
    accepted = accepted_exponents(list(years), mid_year(list(years), recalc.book), method)
    given = perpetuity.inputs(cell, roles, recalc, graph, again=weight * count < 0.98)
    value, words, present = _closed_form(cell, stated, method, given, roles, recalc, graph)
    exponent = dcf.exponent_of(weight * count, rate)
    undiscounted = exponent is not None and abs(exponent) <= 0.02
    if present or (undiscounted and holds_present(cell, roles, recalc, graph, accepted)):
        return Terminal(cell, stated, 0.0, 1.0, words, stated, 0.0)
    wanted = min(accepted, key=lambda want: abs(want - (exponent if exponent is not None else want)))
    if exponent is not None and 1e-6 < abs(exponent - wanted) <= 0.012:
        wanted = exponent  # days are counted
    return Terminal(cell, value, wanted, 1.0 / count, f"{words}, brought back {wanted:.4g} years", stated, exponent)


def _closed_form(
    cell: CellRef,
    stated: float,
    method: str,
    given: perpetuity.Inputs | None,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
) -> tuple[float, str, bool]:
    """Return the terminal value from its closed form, in words, and whether it already is a present value."""
    multiple, ebitda = roles.get("exit_multiple"), roles.series.get("ebitda")
    if method == "multiple" and multiple is not None and multiple.value is not None:
        for role in ("revenue", "nopat", "fcff", "fcfe"):
            line = roles.series.get(role)
            if line is not None and line.values[-1] and valuation.close(stated, multiple.value * line.values[-1]):
                return stated, f"exit multiple on {role}", False
        if ebitda is not None and ebitda.values and ebitda.values[-1] is not None:
            return multiple.value * ebitda.values[-1], "exit multiple on EBITDA", False
        return stated, "exit multiple as stated", False
    if method in ("both", "unknown") or given is None:
        return stated, "terminal value as stated", False
    for reading in perpetuity.readings(given, roles, recalc, graph):
        if valuation.close(given.value, reading.value, 1e-6):
            if reading.right:
                return reading.value, reading.words, "present value" in reading.words
            break
    else:
        if _reads_more(cell, roles, graph):
            return stated, "terminal value as stated", False
    if cell not in valuation.readers(graph, roles.get("terminal_growth")):
        return stated, "terminal value as stated", False
    return given.flows[-1] * (1 + given.growth) / (given.rate - given.growth), "Gordon growth on the last flow", False


def _reads_more(cell: CellRef, roles: Roles, graph: Graph) -> bool:
    """Say whether a perpetuity reads more than bound scalars and flows: of no known form, it may be one of its own."""
    known = {graph.pure_link(one.cell) for one in roles.scalars.values() if one.cell is not None}
    flows = valuation.flows_of(roles)
    known |= set(flows.cells) if flows is not None else set()
    return any(graph.pure_link(one) not in known for one in graph.precedents(cell))


def _bridge(roles: Roles, recalc: Recalc, graph: Graph) -> tuple[dict[str, float], float, float] | str:
    """Return what the items add, what else the equity formula adds, and the factor to the value per share."""
    equity, total, value = (roles.get(role) for role in ("equity_value", "enterprise_value", "value_per_share"))
    shares = roles.get("shares")
    if equity is None or equity.value is None:
        return ({}, 0.0, 1.0) if value is None else "the bridge stands inside the formula of the value per share"
    whole = total.value if total is not None else _of_flows_to_equity(roles)
    if whole is None:
        return "no enterprise value is bound beside the equity value"
    whole *= bridge_step(total, equity, recalc)
    acting = claims.items(roles, recalc, graph)
    items = {one.role: abs(one.amount) * (1 if one.amount > 0 else -1) for one in acting}
    other = equity.value - whole - sum(items.values())
    for one in acting:
        if one.wrong:
            items[one.role] = -items[one.role]
    if value is None or value.value is None or shares is None or not shares.value:
        return items, other, 1.0
    scale = _scale(value.value, equity.value, shares.value, value.cell, recalc, graph)
    return (
        (items, other, scale / shares.value) if scale is not None else "equity over shares is not the value per share"
    )


def _of_flows_to_equity(roles: Roles) -> float | None:
    """Return what the present values of flows to equity make, where no cell is an enterprise value."""
    parts = (roles.get("sum_pv_fcff"), roles.get("pv_terminal_value")) if "fcfe" in roles.series else ()
    values = [one.value for one in parts if one is not None and one.value is not None]
    return sum(values) if len(values) == 2 else None


def _scale(
    value: float, equity: float, shares: float, cell: CellRef | None, recalc: Recalc, graph: Graph
) -> float | None:
    """Return the factor between equity over shares and the value per share: a power of ten, or one with a rate."""
    ratio = value * shares / equity if equity else 0.0
    if ratio <= 0 or cell is None:
        return None
    power = 10.0 ** round(math.log10(ratio))
    if valuation.close(ratio, power, 1e-3):
        return power
    for source in graph.precedents(cell):
        rate = recalc.number(source)
        if rate and rate > 0:
            for factor in (rate, 1 / rate):
                rest = 10.0 ** round(math.log10(ratio / factor))
                if valuation.close(ratio, factor * rest, 1e-6):
                    return factor * rest
    return None


def slips(right: Parts) -> Iterator[tuple[str, Parts]]:
    """Yield single slips that would change the value, the likeliest first, each with the parts that it gives."""
    for one in right.terminals:
        rest = tuple(other for other in right.terminals if other is not one)
        for words, changed in (
            ("the terminal value is not discounted", replace(one, years=0.0)),
            ("the terminal value is discounted one year too many", replace(one, years=one.years + 1)),
            ("the terminal value is discounted one year too few", replace(one, years=one.years - 1)),
            ("the terminal value is discounted twice", replace(one, years=2 * one.years)),
            ("the terminal value is discounted half a year less", replace(one, years=one.years - 0.5)),
            ("the terminal value is left out", replace(one, value=0.0)),
        ):
            yield words, replace(right, terminals=(*rest, changed))
        if one.measured is not None:
            years = replace(one, years=one.measured)
            yield f"the terminal value is discounted {one.measured:.4g} years", replace(right, terminals=(*rest, years))
        shown = replace(one, value=one.shown)
        yield f"the terminal value is {one.shown:.6g} as {one.cell} shows it", replace(right, terminals=(*rest, shown))
    for index in range(len(right.flows)):
        kept = tuple(0.0 if place == index else part for place, part in enumerate(right.fractions))
        yield f"the flow of year {index + 1} is left out", replace(right, fractions=kept)
    yield "the flows are not discounted", replace(right, years=(0.0,) * len(right.years))
    for shift in (1.0, -1.0, 0.5, -0.5):
        moved = tuple(value + shift for value in right.years)
        yield f"the flows are discounted {shift:+g} years", replace(right, years=moved)
    for role, amount in right.items.items():
        name = role.replace("_", " ")
        yield f"{name} has the wrong sign", replace(right, items={**right.items, role: -amount})
        yield f"{name} is left out", replace(right, items={**right.items, role: 0.0})
    yield "the bridge is left out", replace(right, items={}, other=0.0)
    for power in (3, -3, 6, -6):
        yield f"a factor of 10^{power} slipped in", replace(right, per_share=right.per_share * 10.0**power)


def explain(right: Parts, stated: float, near: float) -> str | None:
    """Return the shortest explanation of a stated value per share: one slip, else two of different kinds."""
    single = list(slips(right))
    for words, changed in single:
        if valuation.close(changed.value_per_share(), stated, near):
            return words
    for (words, changed), (others, _) in combinations(single[:40], 2):
        again = next((parts for name, parts in slips(changed) if name == others), None)
        if again is not None and valuation.close(again.value_per_share(), stated, near):
            return f"{words} and {others}"
    return None
