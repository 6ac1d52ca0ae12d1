"""Slips between EBIT and the flow: tax the wrong way round, depreciation not added back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.checks.flow_terms import Item
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles


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


_NET = re.compile(r"\bnet(?:to)?\b|净|淨|ネット|純", re.IGNORECASE)


def depreciation_missing(
    recalc: Recalc, kinds: set[str | None], items: Sequence[Item], depreciation: LocatedSeries | None
) -> bool:
    """Say whether a flow from NOPAT less gross capex leaves out a depreciation line that the workbook has."""
    taxed = "nopat" in kinds or kinds >= {"ebit", "taxes"}
    if not taxed or "capex" not in kinds or kinds & {"depreciation", "ebitda"} or depreciation is None:
        return False
    amount = recalc.number(depreciation.cells[0])
    net = any(item.kind == "capex" and _NET.search(item.label) for item in items)
    others = [item for item in items if item.kind is None]
    return bool(amount) and not net and not others
