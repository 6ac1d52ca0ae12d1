"""Discount factors under rates that differ from year to year."""

from __future__ import annotations

from collections.abc import Sequence

from xlcheck import dcf
from xlcheck.cells import CellRef
from xlcheck.checking import Finding, Fits, Outcomes, Unverifiable
from xlcheck.checks import valuation
from xlcheck.recompute import Recalc
from xlcheck.roles import LocatedSeries, Roles


def judge(rates: LocatedSeries | None, factors: LocatedSeries) -> Outcomes:
    """Judge a row of factors by the rates of its years, which differ: their cumulative product, or a slip of a year."""
    values = [None if rate is None else rate * rates.factor for rate in rates.values] if rates is not None else []
    held = [None if factor is None or factor <= 0 else min(factor, 1 / factor) for factor in factors.values]
    if len(values) != len(held) or None in values or None in held:
        yield Unverifiable(reason="the rates and the factors do not cover the same years")
        return
    known, shown = [rate for rate in values if rate is not None], [factor for factor in held if factor is not None]
    named = _cumulative(known, shown)
    if named is not None:
        yield Fits(convention=f"rates that vary, cumulative product, {named}")
        return
    late = [dcf.discount_factor(rate, 1.0) * factor for rate, factor in zip(known[:-1], shown[:-1], strict=True)]
    if len(set(known)) > 1 and all(
        valuation.close(have, want, 1e-6) for have, want in zip(shown[1:], late, strict=True)
    ):
        index = next(place for place in range(1, len(known)) if known[place] != known[place - 1])
        cell, expected = factors.cells[index], shown[index - 1] * dcf.discount_factor(known[index], 1.0)
        message = f"{cell} is discounted at the rate of the year before, as are all factors of its row"
        yield Finding(
            message=message,
            cell=valuation.as_range(factors.cells),
            found=shown[index],
            expected=expected,
            unit="factor",
        )
        return
    yield Unverifiable(reason="each year has its own rate and the factors are not their cumulative product")


def rates_of(factors: LocatedSeries, rates: LocatedSeries, recalc: Recalc) -> LocatedSeries | None:
    """Return the rates of the factors' own years: cut to them, or with a last year that no factor reads."""
    found, short = valuation.aligned(rates, factors), len(factors.cells) - len(rates.cells)
    across = [cell.column for cell in factors.cells]
    if found is not None or short != 1 or len({cell.row for cell in rates.cells}) != 1:
        return found
    last = CellRef(rates.cells[0].sheet, rates.cells[0].row, across[-1])
    value = recalc.number(last)
    if [cell.column for cell in rates.cells] != across[:-1] or value is None or not 0 < value * rates.factor < 1:
        return None
    return rates.model_copy(update={"cells": (*rates.cells, last), "values": (*rates.values, value)})


def _cumulative(rates: Sequence[float], factors: Sequence[float]) -> str | None:
    """Return the timing under which factors are the cumulative product of their rates."""
    for first, name in ((1.0, "end-year"), (0.5, "mid-year")):
        wanted = dcf.cumulative_factors(rates, first)
        if all(valuation.close(have, want, 1e-5) for have, want in zip(factors, wanted, strict=True)):
            return name
    return None


def varies_by_year(roles: Roles) -> bool:
    """Say whether the factor row is the cumulative product of a row of rates that differ from year to year."""
    factors = roles.series.get("discount_factor")
    rates = valuation.aligned(roles.series.get("discount_rate"), factors) if factors is not None else None
    if factors is None or rates is None or len(set(rates.values)) == 1:
        return False
    known = [rate * rates.factor for rate in rates.values if rate is not None]
    shown = [min(factor, 1 / factor) for factor in factors.values if factor]
    return len(known) == len(shown) == len(factors.values) and _cumulative(known, shown) is not None
