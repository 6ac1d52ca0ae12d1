"""Shares that the treasury stock method buys back, added to the share count in the place of the dilution."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.checks import claims, live, memory
from xlcheck.checks.sheet import column_label, row_label
from xlcheck.formula import Ref, factors, terms, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc


def added_buyback(
    shares: CellRef, price: CellRef, strike: re.Pattern[str], recalc: Recalc, graph: Graph
) -> Iterator[Finding]:
    """Find ``options × strike / price`` that raises the share count: that many shares are bought back, not issued."""
    for cell in sorted(memory.above(graph, [shares])):
        node = claims.formula_node(cell, recalc)
        parts = factors(node) if node is not None else ()
        over = [one.cell for one, exponent in parts if isinstance(one, Ref) and exponent > 0]
        under = [one.cell for one, exponent in parts if isinstance(one, Ref) and exponent < 0]
        if len(over) != 2 or len(under) != 1 or len(parts) != 3 or graph.pure_link(under[0]) != graph.pure_link(price):
            continue
        paid = [one for one in over if strike.search(row_label(recalc, one))]
        slope = live.derivative(recalc, shares, cell) if len(paid) == 1 else None
        number = recalc.number(next((one for one in over if one not in paid), cell))
        found, have = recalc.number(cell), recalc.number(under[0])
        if slope is None or slope < 0.5 or number is None or found is None or not have:
            continue
        wanted = number * max(0.0, 1 - (recalc.number(paid[0]) or 0.0) / have)
        message = f"{cell} adds the shares that the exercise money buys back; the dilution is the rest of the options"
        yield Finding(message=message, cell=cell, found=found, expected=wanted, unit="count")


def turned_round(
    shares: CellRef, price: CellRef, strike: re.Pattern[str], recalc: Recalc, graph: Graph
) -> Iterator[Finding]:
    """Find ``options × price / strike`` behind a share count: only options × strike / price are bought back."""
    own = graph.pure_link(price)
    for cell in sorted(memory.above(graph, [shares])):
        node = claims.formula_node(cell, recalc)
        sums = [part for part in walk(node) if len(terms(part)) > 1 or part is node] if node is not None else []
        for product in (term for one in sums for _, term in terms(one)):
            parts = [(part.cell, power) for part, power in factors(product) if isinstance(part, Ref)]
            over = [one for one, power in parts if power > 0 and graph.pure_link(one) != own]
            priced = any(power > 0 and graph.pure_link(one) == own for one, power in parts)
            paid = [one for one, power in parts if power < 0 and _is_strike(one, strike, recalc)]
            if priced and over and len(paid) == 1:
                number, have = recalc.number(over[0]) or 0.0, recalc.number(own) or 0.0
                wanted = number * max(0.0, 1 - (recalc.number(paid[0]) or 0.0) / have) if have else None
                message = f"{cell} divides the price by the strike {paid[0]}: options × strike / price are bought back"
                yield Finding(message=message, cell=cell, found=recalc.number(cell), expected=wanted, unit="count")
                break


def _is_strike(cell: CellRef, strike: re.Pattern[str], recalc: Recalc) -> bool:
    return any(strike.search(label(recalc, cell)) is not None for label in (row_label, column_label))


_OWN_SHARES = re.compile(
    r"^\W*(?:less|minus|add|plus)?\W*(?:treasury (?:shares|stock)|own shares|shares (?:held )?in treasury"
    r"|库存股|自己株式)(?!.*\b(?:method|tsm|dilut|option))",
    re.IGNORECASE,
)


def own_shares_added(shares: CellRef, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find shares that the company holds itself and that raise the share count."""
    for cell in sorted(memory.above(graph, [shares])):
        number, held = recalc.number(cell), recalc.book.get(cell)
        typed = held is not None and held.formula is None
        if not typed or number is None or number <= 0 or not _OWN_SHARES.search(row_label(recalc, cell)):
            continue
        slope, count = live.derivative(recalc, shares, cell), recalc.number(shares)
        if slope is not None and slope > 0.5 and count is not None:
            readers = [one for one in graph.dependents(cell) if one in {shares, *memory.above(graph, [shares])}]
            where = readers[0] if readers else shares
            shown = recalc.number(where) or 0.0
            message = f"{where} adds the treasury shares {cell}, which the company holds itself"
            yield Finding(message=message, cell=where, found=shown, expected=shown - 2 * slope * number, unit="count")
