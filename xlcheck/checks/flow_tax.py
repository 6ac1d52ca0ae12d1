"""Tax taken off EBIT the wrong way round."""

from __future__ import annotations

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles


def turned_tax(recalc: Recalc, roles: Roles, cell: CellRef, index: int, tax_rate: Located | None) -> Finding | None:
    """Find a NOPAT that is the tax itself, EBIT·t, or EBIT with the tax added, EBIT·(1 + t)."""
    ebit, rate, value = roles.series.get("ebit"), tax_rate.amount if tax_rate else None, recalc.number(cell)
    profit = ebit.values[index] if ebit is not None and index < len(ebit.values) else None
    if not profit or not rate or value is None or abs(rate - 0.5) < 1e-6:
        return None
    for share, words in ((rate, "is the tax on EBIT, not what the tax leaves"), (1 + rate, "adds the tax to EBIT")):
        if abs(value - profit * share) < 1e-6 * abs(profit):
            return Finding(message=f"{cell} {words}", cell=cell, found=value, expected=profit * (1 - rate))
    return None
