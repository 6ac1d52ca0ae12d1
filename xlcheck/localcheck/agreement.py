"""When a stored and a recomputed value are the same."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

from xlcheck.cells import Scalar, as_number

CLOSE = 1e-9
"""Relative: two programs add the same numbers in different order."""
CANCELLED = 3e-14
"""Of the largest number read: what is left of a difference of large numbers."""
SOLVED = 1e-6
"""Relative and absolute, for functions that search for a root, or add up a series, and stop when they are near."""

ABSOLUTE = 1e-9
"""Nothing of a model is smaller."""

_SOLVER = re.compile(
    r"\b(?:X?IRR|MIRR|RATE|YIELD|ODDFYIELD|DURATION|BESSEL[IJKY]|ERFC?|GAMMA(?:LN)?|[A-Z.]+(?:INV|DIST)(?:\.RT|\.2T)?)\(",
    re.IGNORECASE,
)


def tolerance_of(formula: str) -> float:
    """Return the relative tolerance that a formula's own result deserves."""
    return SOLVED if "(" in formula and _SOLVER.search(formula) else CLOSE


def agree(
    stored: Scalar,
    value: Scalar,
    relative: float = CLOSE,
    read: Iterable[Scalar] = (),
    cancelled: float = CANCELLED,
) -> bool:
    """Say whether two values are the same; `read` are the values that the formula reads.

    Blank equals zero and empty text: a formula cell shows 0 for a blank. How a writer stored a result (a number as
    text, TRUE as 1) makes no difference.
    """
    if stored is None or value is None:
        other = value if stored is None else stored
        return other is None or other in (0, "")
    found, expected = _numeric(stored), _numeric(value)
    if found is None or expected is None:
        return _same_text(str(stored), str(value))
    difference = abs(found - expected)
    if difference <= relative * max(abs(found), abs(expected)) or (relative >= SOLVED and difference <= SOLVED):
        return True
    scale = max((abs(number) for one in read if (number := as_number(one)) is not None), default=0.0)
    return difference <= max(ABSOLUTE, cancelled * scale)


def _numeric(value: Scalar) -> float | None:
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    return as_number(value)


_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def _same_text(stored: str, value: str) -> bool:
    """Compare texts; numbers within them may differ in their last digits, as programs write them differently."""
    if stored == value:
        return True
    one, other = _NUMBER.findall(stored), _NUMBER.findall(value)
    if len(one) != len(other) or _NUMBER.split(stored) != _NUMBER.split(value):
        return False
    return all(
        abs(float(first) - float(second)) <= CLOSE * max(abs(float(first)), abs(float(second)))
        for first, second in zip(one, other, strict=True)
    )


_SECTION = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')


def displayed_decimals(number_format: str) -> int | None:
    """Return the decimals that a number format shows (percent counted), None for General, dates and text."""
    section = _SECTION.sub("", number_format.split(";", maxsplit=1)[0])
    if section.strip().lower() in ("general", "@", "") or re.search(r"[dmyhs/?]|[eE][+-]", section):
        return None
    if not re.search(r"[0#]", section):
        return None
    _, _, decimals = section.partition(".")
    scale = len(re.search(r",*$", re.sub(r"[^0#,.]", "", section)).group()) * 3  # type: ignore[union-attr]
    return len(re.findall(r"[0#]", decimals)) + 2 * section.count("%") - scale


def as_displayed(value: float, decimals: int) -> float:
    """Round half away from zero, as Excel displays."""
    step = Decimal(1).scaleb(-decimals)
    return float(Decimal(repr(value)).quantize(step, rounding=ROUND_HALF_UP)) if decimals < 15 else value
