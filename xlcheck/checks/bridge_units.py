"""The terms of the bridge, each brought to the unit of the equity value by the factor that its own unit calls for."""

from __future__ import annotations

import math
from collections.abc import Iterator

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.checks import claims, live
from xlcheck.checks.amounts import money
from xlcheck.checks.scaled_links import declared_unit
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles


def odd_units(equity: Located, enterprise: Located, roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find a term that the equity value takes by another power of ten than the two declared units call for."""
    own = declared_unit(equity.cell, recalc) if equity.cell is not None else None
    if own is None or equity.cell is None or equity.value is None:
        return
    slopes: dict[CellRef, float] = {item.cell: item.slope for item in claims.items(roles, recalc, graph)}
    for held in (enterprise, roles.get("net_debt")):
        if held is not None and held.cell and (slope := live.derivative(recalc, equity.cell, held.cell)):
            slopes[held.cell] = slope
    for cell, slope in slopes.items():
        unit, value = declared_unit(cell, recalc), recalc.number(cell)
        power = math.log10(abs(slope)) if slope else 0.5
        if unit is None or unit[0] != own[0] or not value or abs(power - round(power)) > 1e-4:
            continue
        wanted = round(math.log10(unit[1] / own[1]))
        if round(power) != wanted:
            right = equity.value + math.copysign(10.0**wanted, slope) * value - slope * value
            message = f"{equity.cell} takes {cell} times 10^{round(power)}; their units call for 10^{wanted}"
            yield money(message, equity.cell, equity.value, right)
            return
