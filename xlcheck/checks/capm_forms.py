"""The ways to put a cost of equity together from the risk-free rate, beta and premium: right and wrong ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck import dcf
from xlcheck.checks.sheet import row_label
from xlcheck.recompute import Recalc
from xlcheck.roles import Located

OVER_RF = "rf + β·(Rm - rf)"
LEAST_RETURN = 0.075
"""Below this a market return is hardly one: it is the premium that its label says."""
_PREMIUM = re.compile(r"premium|\berp\b|\bmrp\b|溢[价價酬]|プレミアム|prämie", re.IGNORECASE)
_RETURN = re.compile(r"return|\brm\b|回报|回報|收益率|报酬率|報酬率|利回り|リターン|rendite", re.IGNORECASE)


def is_a_premium(premium: Located | None, recalc: Recalc) -> bool:
    """Say whether a premium is one by its label and its size: no market return that is only called so."""
    if premium is None or premium.cell is None or not premium.amount or premium.amount >= LEAST_RETURN:
        return False
    label = row_label(recalc, premium.cell)
    return _PREMIUM.search(label) is not None and _RETURN.search(label) is None


def capm_forms(rf: float, beta: float, premium: float, extras: list[float]) -> Iterator[tuple[str, float]]:
    """Yield each accepted form in words and the rate that it gives."""
    whole = sum(extras)
    yield "rf + β·ERP", dcf.capm(rf, beta, premium)
    yield OVER_RF, dcf.capm(rf, beta, premium - rf)
    yield "rf + β·ERP + premia", dcf.capm(rf, beta, premium, whole)
    for extra in extras:
        yield "rf + β·ERP + a premium", dcf.capm(rf, beta, premium, extra)
        yield "rf + β·(ERP + country premium)", dcf.capm(rf, beta, premium + extra)
    if len(extras) == 2:
        for one, other in (extras, extras[::-1]):
            yield "rf + β·(ERP + country premium) + size premium", dcf.capm(rf, beta, premium + one, other)


def capm_mistakes(rf: float, beta: float, premium: float) -> Iterator[tuple[str, float]]:
    """Yield each known mistake in words and the rate that it gives."""
    yield "leaves the risk-free rate out", beta * premium
    yield "deducts the risk-free rate from a premium, which is over it already", rf + beta * (premium - rf)
    yield "leaves beta out", rf + premium
    yield "multiplies beta by the market return without deducting the risk-free rate", rf + beta * (premium + rf)
    yield "multiplies the risk-free rate by beta as well", (rf + premium) * beta
    yield "subtracts the premium", rf - beta * premium
    yield "adds beta instead of multiplying by it", rf + beta + premium
