"""One line of a score card with the exact rationals behind it."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from xlcheck.scoring.card import Line, LineKind, exact


class Part(NamedTuple):
    """One line with the rationals behind it."""

    line: Line
    weight: Fraction
    low: Fraction
    high: Fraction


def part(line: Line, weight: Fraction, low: Fraction, high: Fraction) -> Part:
    """Return a part whose line shows the weight and the interval of credit."""
    figures = {
        "weight": exact(weight),
        "credit_low": exact(low),
        "credit_high": exact(high),
        "lost": exact(weight * (1 - high)),
        "at_stake": exact(weight * (high - low)),
        "open": low != high,
    }
    return Part(line.model_copy(update=figures), weight, low, high)


def blank(item: str, kind: LineKind, title: str, **more: object) -> Line:
    """Return a line without figures, which `part` fills in."""
    zero = exact(Fraction(0))
    figures = {"weight": zero, "credit_low": zero, "credit_high": zero, "lost": zero, "at_stake": zero}
    return Line.model_validate({"item": item, "kind": kind, "title": title, **figures, **more})
