"""How values are written for people: numbers with their unit, text that cannot disturb a terminal."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from xlcheck.cells import CellError, Scalar
from xlcheck.engines import Unsolved

if TYPE_CHECKING:
    from xlcheck.roles import Located
from xlcheck.scoring.card import ScoreCard

_SCALES = {1e3: "thousand", 1e4: "万", 1e5: "lakh", 1e6: "million", 1e7: "crore", 1e8: "亿", 1e9: "billion"}
LONGEST = 120
"""Characters of submission text that one line shows."""


def plain(text: str, longest: int = LONGEST) -> str:
    """Return text of a submission on one line, without control and direction characters, cut to a length."""
    shown = "".join(" " if char.isspace() else char for char in text)
    shown = "".join(char for char in shown if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co"))
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def number(value: float) -> str:
    """Return a number with thousands separators and six significant digits, without exponent where readable."""
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e15:
        return f"{value:.6g}"
    digits = max(0, 5 - math.floor(math.log10(abs(value))))
    shown = f"{value:,.{min(digits, 9)}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def quantity(value: Scalar | Unsolved, unit: str = "") -> str:
    """Return a value as a person reads it: a rate of unit ``rate`` in percent when it is a fraction."""
    if value is None:
        return "nothing"
    if isinstance(value, Unsolved):
        return f"not recomputed ({value.kind.replace('_', ' ')})"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, CellError):
        return value.error
    if isinstance(value, str):
        return plain(value)
    if unit == "rate" and abs(value) < 1:
        return f"{number(value * 100)} %"
    if unit in ("number", "years") and value == int(value) and 1900 <= value < 2200:
        return str(int(value))
    if unit == "date" and 1 <= value < 2_958_466:
        return serial_date(value)
    return number(value)


def amount(located: Located) -> str:
    """Return a located value with its scale and currency: ``3,389.01 million EUR``, ``9.73 %``."""
    if located.value is None:
        return "not recomputed"
    if located.unit == "rate" and located.factor == 0.01:
        return f"{quantity(located.value)} %"
    shown = quantity(located.value, located.unit if located.factor == 1 else "")
    return " ".join(filter(None, (shown, _SCALES.get(located.factor), located.currency)))


def figures(found: Scalar, expected: Scalar, unit: str = "") -> list[str]:
    """Return ``found 360`` and ``expected 280``, those that there are."""
    both = {"found": found, "expected": expected}
    return [f"{name} {quantity(value, unit)}" for name, value in both.items() if value is not None]


def serial_date(serial: float) -> str:
    """Return an Excel serial number (1900 system) as an ISO date."""
    from datetime import date, timedelta

    return (date(1899, 12, 30) + timedelta(days=int(serial))).isoformat()


def columns(rows: Iterable[Sequence[str]], indent: str = "  ") -> str:
    """Return rows as text columns, each as wide as its widest entry; the last column is not padded."""
    table = [list(row) for row in rows]
    if not table:
        return ""
    widths = [max(width(row[at]) for row in table) for at in range(len(table[0]) - 1)]
    lines = []
    for row in table:
        padded = [entry + " " * (wide - width(entry)) for entry, wide in zip(row, widths, strict=False)]
        lines.append((indent + "  ".join([*padded, row[-1]])).rstrip())
    return "\n".join(lines) + "\n"


def width(text: str) -> int:
    """Return how many terminal columns a text takes: wide East Asian characters take two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def count(amount: int, singular: str, plural: str | None = None) -> str:
    """Return ``1 check`` or ``3 checks``."""
    return f"{amount:,} {singular if amount == 1 else plural or singular + 's'}"


def points(value: Decimal) -> str:
    """Return points of a score as a person reads them: at most two decimals, ``74.2`` or ``40``."""
    shown = f"{value.quantize(Decimal('0.01'), ROUND_HALF_UP):f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def status_words(card: ScoreCard) -> str:
    """Return the status, with a mark where a person changed a result."""
    return f"{card.status}, {count(len(card.overruled), 'result')} changed by hand" if card.overruled else card.status
