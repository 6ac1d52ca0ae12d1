"""Powers of ten in a value per share, held against prices, market values and what share counts can be."""

from __future__ import annotations

import math
from collections.abc import Iterator

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.checks import claims
from xlcheck.checks.sheet import row_label
from xlcheck.formula import Number, Unary, factors
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located

MOST_SHARES = 1.5e12
"""No company has so many shares: the largest counts lie just above a trillion."""
NEAR = 0.7
"""Decades by which value and price may differ beside a lost factor."""
_SMALL_CURRENCIES = frozenset({"KRW", "IDR", "VND", "JPY", "HUF", "CLP", "COP", "IRR", "UGX", "TZS"})
"""Units of which hundreds or thousands make one of another currency: a price in one tells nothing of a factor."""
MANY = 300.0
"""How many times the counts of the other years a share count must be to stand in another unit."""


def off_the_price(value: Located, price: float | None, power: int, recalc: Recalc) -> Finding | None:
    """Find a value per share whose own power of ten puts it just as far from the market price."""
    if value.cell is None or not value.value or not price or value.value / price <= 0:
        return None
    apart = math.log10(value.value / price)
    for own in (power, *_literal_powers(value.cell, recalc)):
        if abs(own) >= 3 and abs(apart - own) < NEAR:
            message = f"{value.cell} carries a factor of 10^{own} that puts it as far from the price of {price:.6g}"
            right = value.value / 10.0**own
            return Finding(message=message, cell=value.cell, found=value.value, expected=right, unit="per share")
    return None


def market_price(value: Located, price: Located | None, market: Located | None, shares: Located | None) -> float | None:
    """Return the price: the bound one, else market value over shares, where both declare their unit.

    None where it stands in a currency that is worth a thousandth of the other one.
    """
    if price is not None and price.cell != value.cell:
        far = {price.currency, value.currency}
        return None if len(far - {None}) == 2 and far & _SMALL_CURRENCIES else price.value
    if market is None or shares is None or 1.0 in (market.factor, shares.factor) or not market.amount:
        return None
    return market.amount / shares.amount if shares.amount else None


def _literal_powers(cell: CellRef, recalc: Recalc) -> Iterator[int]:
    """Yield the powers of ten that the factors of a formula multiply it by."""
    node = claims.formula_node(cell, recalc)
    for part, exponent in factors(node) if node is not None else ():
        number = part.operand if isinstance(part, Unary) else part
        if isinstance(number, Number) and number.value > 0:
            size = math.log10(number.value)
            if abs(size - round(size)) < 1e-9:
                yield exponent * round(size)


def impossible_count(value: Located, equity: Located, shares: Located, power: int, recalc: Recalc) -> Finding | None:
    """Find a value per share that only more shares than any company has, or a fraction of a unit of money, explain."""
    if not value.value or not equity.amount or not shares.value or value.cell is None:
        return None
    plain = equity.value / shares.value if equity.value is not None else None
    if equity.factor != 1 and abs(equity.amount / value.value) > MOST_SHARES and power <= 0:
        own = next((one for one in _literal_powers(value.cell, recalc) if one <= -3), None)
        where, found = (value.cell, value.value) if own is not None else (shares.cell, shares.value)
        right = value.value * 10.0**-own if own is not None else None
        count = abs(equity.amount / value.value)
        message = f"{value.cell} implies {count:.4g} shares, more than any company has: a factor of a thousand is off"
        return Finding(message=message, cell=where, found=found, expected=right, unit="per share")
    if power <= -3 and shares.factor == 1 and shares.value >= 1e7 and shares.value % 1000 == 0:
        message = f"{value.cell} divides by 10^{-power} although {shares.cell} counts single shares"
        return Finding(message=message, cell=value.cell, found=value.value, expected=plain, unit="per share")
    return None


def odd_year(shares: Located, recalc: Recalc, graph: Graph) -> Finding | None:
    """Find a typed share count that is about a thousand times the counts of the years beside it in its row."""
    source = graph.pure_link(shares.cell) if shares.cell is not None else None
    count = recalc.number(source) if source is not None else None
    held = recalc.book.get(source) if source is not None else None
    if source is None or not count or held is None or held.formula is not None or not row_label(recalc, source):
        return None
    others = [*_beside(source, -1, recalc), *_beside(source, 1, recalc)]
    if len(others) < 2 or max(others) > 3 * min(others):
        return None
    ratio = count / others[0]
    if not (ratio > MANY or ratio < 1 / MANY):
        return None
    power = round(math.log10(ratio))
    message = f"{source} is 10^{power} times the share counts of the other years in its row"
    return Finding(message=message, cell=source, found=count, expected=count / 10.0**power, unit="count")


def _beside(cell: CellRef, step: int, recalc: Recalc) -> Iterator[float]:
    """Yield the positive numbers next to a cell in its row, up to the first cell that is none."""
    column = cell.column + step
    while column > 0 and (number := recalc.number(CellRef(cell.sheet, cell.row, column))):
        if number <= 0:
            return
        yield number
        column += step
