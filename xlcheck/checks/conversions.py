"""Amounts that a formula only takes to another unit or currency: ``=EV*10000``, ``=equity/fx``."""

from __future__ import annotations

import math
from collections.abc import Set

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.formula import Number, Ref, factors, terms
from xlcheck.keyed import parse_keyed
from xlcheck.recompute import Recalc
from xlcheck.roles import Located
from xlcheck.roles.shape import in_own_unit, is_power_of_ten, unwrapped
from xlcheck.workbook import Book


def source_of(cell: CellRef, book: Book, rates: Set[CellRef] = frozenset()) -> CellRef:
    """Return the amount that a formula multiplies by powers of ten and exchange rates alone, else the cell itself."""
    held = book.get(cell)
    if held is None or held.formula is None:
        return cell
    tree = unwrapped(parse_keyed(held.formula, cell.sheet, book, cell))
    if isinstance(tree, Ref) or len(terms(tree)) != 1:
        return cell
    amounts: list[CellRef] = []
    for part, exponent in factors(tree):
        if isinstance(part, Number) and is_power_of_ten(part.value):
            continue
        if not isinstance(part, Ref):
            return cell
        if part.cell not in rates:
            amounts += [part.cell] if exponent == 1 else [part.cell, part.cell]
    return amounts[0] if len(amounts) == 1 else cell


def unit_step(enterprise: Located | None, recalc: Recalc) -> float:
    """Return what one unit of the flows' money is in the unit of the enterprise value: 10,000 for ``=C5*10000``."""
    if enterprise is None or enterprise.cell is None:
        return 1.0
    source = source_of(enterprise.cell, recalc.book)
    before, after = recalc.number(source), recalc.number(enterprise.cell)
    return after / before if source != enterprise.cell and before and after else 1.0


def bridge_step(enterprise: Located | None, equity: Located | None, recalc: Recalc) -> float:
    """Return by which power of ten the equity's formula multiplies the enterprise value: 1,000 for ``C5*1000-C6``."""
    held = recalc.book.get(equity.cell) if equity is not None and equity.cell is not None else None
    if held is None or held.formula is None or enterprise is None or enterprise.cell is None:
        return 1.0
    for sign, part in terms(parse_keyed(held.formula, held.ref.sheet, recalc.book, held.ref)):
        own = in_own_unit(part)
        if sign > 0 and own is not part and isinstance(own, Ref) and own.cell == enterprise.cell:
            step = 1.0
            for one, exponent in factors(part):
                step *= one.value**exponent if isinstance(one, Number) else 1.0
            return step
    return 1.0


def in_flows(enterprise: Located, recalc: Recalc) -> float | None:
    """Return the enterprise value in the unit of the flows' money."""
    return None if enterprise.value is None else enterprise.value / unit_step(enterprise, recalc)


def off_before(
    value: Located, equity: Located, shares: Located, rate: CellRef, declared: int | None, recalc: Recalc
) -> Finding | None:
    """Find a value per share that, before its conversion at a rate, has another power of ten than its units declare.

    A hundred may be pence.
    """
    source = source_of(value.cell, recalc.book, {rate}) if value.cell is not None else None
    before = recalc.number(source) if source is not None and source != value.cell else None
    if not before or declared is None or not equity.value or not shares.value or before * equity.value <= 0:
        return None
    whole = equity.value / shares.value
    power = math.log10(before / whole)
    off = round(power) - declared
    if abs(power - round(power)) > 1e-6 or off in (0, 2):
        return None
    message = f"{source} is off by 10^{abs(off)}: equity and shares stand in other units"
    return Finding(message=message, cell=source, found=before, expected=whole * 10.0**declared, unit="per share")
