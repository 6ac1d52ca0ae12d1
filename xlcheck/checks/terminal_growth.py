"""What the terminal value assumes for ever: growth, steady state, and the measure that a multiple stands on."""

from __future__ import annotations

from decimal import Decimal

from xlcheck.checking import Finding, NotApplicable, Outcomes, Params, check
from xlcheck.roles import Located


@check("terminal.growth-range", consequence_of=("fatal.growth-not-below-wacc",))
def growth_range(terminal_growth: Located, params: Params) -> Outcomes:
    """The terminal growth lies within the range that the rubric sets.

    What it holds:
        low ≤ terminal growth ≤ high.
    Why it matters:
        No business outgrows its economy for ever; half a point of growth moves the value by a tenth.
    Accepted conventions:
        Negative growth, where the range admits it.
    Example:
        8.8 % perpetual growth beside a note that the economy grows by 3.2 %.
    How to fix:
        Use a growth rate at or below the long-run nominal growth of the economy.
    Units and tolerance:
        A decimal rate per year; the bounds belong to the range.
    Source:
        Damodaran, Investment Valuation, ch. 12; the range is the rubric's.
    """
    growth = terminal_growth.amount
    low, high = params.get("low"), params.get("high")
    if not isinstance(low, Decimal) or not isinstance(high, Decimal):
        yield NotApplicable(reason="the rubric sets no range for the terminal growth")
    elif growth is not None and not float(low) <= growth <= float(high):
        message = f"the terminal growth of {growth:.2%} lies outside {float(low):.2%} to {float(high):.2%}"
        bound = float(low) if growth < float(low) else float(high)
        unit = bound / terminal_growth.factor
        yield Finding(
            message=message, cell=terminal_growth.cell, found=terminal_growth.value, expected=unit, unit="rate"
        )
