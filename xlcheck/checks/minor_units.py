"""Values per share that their label states in a hundredth of the currency: pence, cents."""

from __future__ import annotations

import math
import re

from xlcheck.checking import Finding
from xlcheck.checks.sheet import row_label, text_at
from xlcheck.checks.valuation import close
from xlcheck.recompute import Recalc
from xlcheck.roles import Located

_MINOR = re.compile(r"\bpence\b|\bGBX\b|(?-i:\bGBp\b)|\bp/share\b|\(p\)|\bZAc\b|\bagorot\b|\bcents?\b(?! ?%)", re.I)


def lacks_hundred(
    value: Located, price: Located | None, equity: Located, shares: Located, recalc: Recalc
) -> Finding | None:
    """Find a value per share in pence by its label that is equity over shares in whole pounds."""
    if value.value is None or equity.amount is None or not shares.amount or not equity.amount:
        return None
    if not _named(value, recalc) or _named(equity, recalc):
        return None
    whole = equity.amount / shares.amount
    beside = price.value / value.value if price is not None and price.value and value.value else 100.0
    if not close(value.value, whole) or beside <= 0 or abs(math.log10(beside) - 2) > 0.7:
        return None
    message = f"{value.cell} is labelled in hundredths of the currency but is equity over shares in whole units"
    return Finding(message=message, cell=value.cell, found=value.value, expected=100 * whole, unit="per share")


def accepted_powers(value: Located, recalc: Recalc) -> tuple[int, ...]:
    """Return by which powers of ten a value per share may differ from equity over shares: 2 for pence as well."""
    return (0, 2) if _named(value, recalc) else (0,)


def _named(located: Located, recalc: Recalc) -> bool:
    if located.cell is None:
        return False
    return bool(_MINOR.search(f"{row_label(recalc, located.cell)} {text_at(recalc, located.cell.offset(0, 1))}"))
