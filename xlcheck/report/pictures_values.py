"""Pictures of what the value hangs on: grids over rate and growth, the tornado, and what each fault does to it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from xlcheck.report.language import Words
from xlcheck.report.pictures import WIDE, cut, line, rect, svg, text
from xlcheck.report.studies import HeatMap, Mover
from xlcheck.report.words import width

SHADES = 7
_STEP = 44
_MARGIN = 52
"""Room at both ends of a tornado for its numbers."""
_CELL, _ROW = 76, 32


def decimals(values: Iterable[float]) -> int:
    """Return how many decimals give the largest of some values four digits; none for whole numbers."""
    held = list(values)
    largest = max((abs(value) for value in held), default=0.0)
    if all(value == int(value) for value in held):
        return 0
    return min(6, max(0, 3 - math.floor(math.log10(largest)))) if largest else 0


def grid(
    heat: HeatMap, values: Sequence[Sequence[float | None]], wrong: frozenset[tuple[int, int]] = frozenset()
) -> str:
    """Draw one grid: rates down, growths across, darker where the value is higher; the base is framed."""
    known = [value for row in values for value in row if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    left, top, places = 76, 28, decimals(known)
    parts = [text(left + _CELL * at + _CELL / 2, 19, percent(g), "middle") for at, g in enumerate(heat.growths)]
    for down, (rate, row) in enumerate(zip(heat.rates, values, strict=True)):
        y = top + _ROW * down
        parts.append(text(left - 10, y + 21, percent(rate), "end"))
        for across, value in enumerate(row):
            x = left + _CELL * across
            shade = 0 if value is None or high == low else math.floor((value - low) / (high - low) * (SHADES - 1) + 0.5)
            parts.append(
                rect(x + 1, y + 1, _CELL - 2, "shade h" + str(shade) if value is not None else "track", _ROW - 2)
            )
            mark = "≠ " if (down, across) in wrong else ""
            shown = "–" if value is None else f"{mark}{value:,.{places}f}"
            parts.append(text(x + _CELL / 2, y + 21, shown, "middle", "deep" if shade >= SHADES - 2 else "label"))
            if (down, across) in wrong:
                parts.append(rect(x + 2, y + 2, _CELL - 4, "wrong", _ROW - 4))
    base = _position(heat.rates, heat.base[0]), _position(heat.growths, heat.base[1])
    if base[0] is not None and base[1] is not None:
        parts.append(rect(left + _CELL * base[1] + 1, top + _ROW * base[0] + 1, _CELL - 2, "base", _ROW - 2))
    return svg(max(WIDE, left + _CELL * len(heat.growths) + 4), top + _ROW * len(heat.rates) + 4, parts)


def percent(rate: float) -> str:
    """Return a decimal rate in per cent with at most two decimals."""
    return f"{rate * 100:.2f}".rstrip("0").rstrip(".") + " %"


def _position(axis: Sequence[float], base: float | None) -> int | None:
    if base is None:
        return None
    near = [at for at, value in enumerate(axis) if abs(value - base) <= 1e-6 * max(abs(base), 1e-9)]
    return near[0] if near else None


def tornado(movers: Sequence[Mover], base: float, say: Words) -> str:
    """Draw what a tenth down and up does to the value, line by line, around the value as it stands."""
    ends = [value for mover in movers for value in (mover.low, mover.high)]
    low, high, places = min(*ends, base), max(*ends, base), decimals(ends)
    scale = (WIDE - 2 * _MARGIN) / ((high - low) or 1)
    middle = _MARGIN + (base - low) * scale
    parts = [
        rect(0, 3, 12, "lower", 12), text(18, 14, say("lower"), "start", "figure"),
        rect(130, 3, 12, "higher", 12), text(148, 14, say("higher"), "start", "figure"),
    ]  # fmt: skip
    for at, mover in enumerate(movers):
        y = at * _STEP + 24
        name = say.role(mover.role) if mover.role and say.language != "en" else mover.label or str(mover.cells)
        parts.append(_named(y, name, "" if name == str(mover.cells) else str(mover.cells)))
        parts.append(text(WIDE, y + 14, f"{mover.elasticity(base):+.2f}", "end", "strong"))
        for value, kind in ((mover.low, "lower"), (mover.high, "higher")):
            stop = _MARGIN + (value - low) * scale
            parts.append(rect(min(middle, stop), y + 19, abs(stop - middle), kind))
        left, right = sorted((mover.low, mover.high))
        ends_at = _MARGIN + (min(left, base) - low) * scale, _MARGIN + (max(right, base) - low) * scale
        parts.append(text(ends_at[0] - 5, y + 30, f"{left:,.{places}f}", "end", "figure small"))
        parts.append(text(ends_at[1] + 5, y + 30, f"{right:,.{places}f}", "start", "figure small"))
        parts.append(line(middle, y + 17, middle, y + 34))
    return svg(WIDE, len(movers) * _STEP + 24, parts)


def _named(y: float, name: str, where: str, longest: int = 30, all_in_all: int = 52) -> str:
    """Return a label with its cells behind it, cut so that a number fits at the right."""
    shown = cut(name, longest)
    return (
        f'<text class="label" x="0" y="{y + 14:.1f}">{escape(shown)} '
        f'<tspan class="figure small">{escape(cut(where, all_in_all - width(shown)))}</tspan></text>'
    )


class Repair(NamedTuple):
    """What repairing one finding does to the headline value."""

    name: str
    """Item or check."""
    where: str
    """Cell, empty where there is none."""
    stated: float
    repaired: float


def repairs(rows: Sequence[Repair]) -> str:
    """Draw an arrow from the stated to the repaired value for each finding."""
    values = [value for row in rows for value in (row.stated, row.repaired)]
    low, high = min(values), max(values)
    scale = (WIDE - 16) / ((high - low) or 1)
    parts = []
    for at, row in enumerate(rows):
        y = at * _STEP
        start, stop = 8 + (row.stated - low) * scale, 8 + (row.repaired - low) * scale
        parts.append(_named(y, row.name, row.where, 24, 33))
        parts.append(text(WIDE, y + 14, _moved(row), "end", "strong"))
        parts.append(line(8, y + 28, WIDE - 8, y + 28, "rail"))
        parts.append(line(start, y + 28, stop, y + 28, "arrow"))
        parts.append(f'<circle class="stated" cx="{start:.1f}" cy="{y + 28}" r="4.5"/>')
        parts.append(f'<circle class="repaired" cx="{stop:.1f}" cy="{y + 28}" r="6"/>')
    return svg(WIDE, len(rows) * _STEP, parts)


def _moved(row: Repair) -> str:
    """Return both values, and the change in per cent, or as a multiple where it is more than tenfold."""
    places = decimals([row.stated])
    shown = f"{row.stated:,.{places}f} → {row.repaired:,.{places}f}"
    ratio = row.repaired / row.stated if row.stated else 0.0
    if abs(ratio) > 10:
        return f"{shown} (×{ratio:,.0f})"
    return f"{shown} ({(ratio - 1) * 100:+.1f} %)" if row.stated else shown
