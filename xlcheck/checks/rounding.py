"""How far ROUND formulas may take a number off."""

from __future__ import annotations

import re

from xlcheck.cells import CellRef
from xlcheck.recompute import Recalc

_ROUND = re.compile(r"ROUND(?:UP|DOWN)?\(.*,\s*(-?\d+)\s*\)", re.I)


def rounding_of(recalc: Recalc, *cells: CellRef | None) -> float:
    """Return the rounding that ROUND formulas in these cells allow: half a unit (a whole one for ROUNDUP/DOWN)."""
    found = 0.0
    for cell in cells:
        held = recalc.book.get(cell) if cell else None
        match = _ROUND.search(held.formula) if held and held.formula else None
        if match:
            found += 10.0 ** -int(match[1])
    return found
