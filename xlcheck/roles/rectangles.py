"""Rectangles of numbers with the values of an assumption above and left of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from xlcheck.cells import CellRef, RangeRef
from xlcheck.recompute import Recalc
from xlcheck.workbook import Sheet

LEAST_SIDE = 3
"""Fewer values on an axis are a comparison, not a grid."""
LONGEST_SIDE = 25
FIRST_YEAR, LAST_YEAR = 1950, 2150
Rectangle = tuple[RangeRef, tuple[CellRef, ...], tuple[CellRef, ...]]
"""The cells inside, those of the axis above, and those of the axis left of them."""


def rectangles(recalc: Recalc, sheet: Sheet) -> Iterator[Rectangle]:
    """Yield rectangles of numbers with a rising or falling line of numbers above and one left of them."""
    numbers = {key: recalc.number(cell.ref) for key, cell in sheet.cells.items()}
    held = {key: value for key, value in numbers.items() if value is not None}
    used: set[tuple[int, int]] = set()
    for row, column in sorted(held):
        if (row, column) in used or (row + 1, column) not in held or (row + 2, column) not in held:
            continue
        top = _run(held, row, column)
        for gap in (1, 2) if len(top) >= LEAST_SIDE else ():
            left = _down(held, row + 1, column - gap)
            if len(left) < LEAST_SIDE or (row, column - gap) in used:
                continue
            if not _is_axis([held[key] for key in top]) or not _is_axis([held[key] for key in left]):
                continue
            inside = [(down, across) for down, _ in left for _, across in top]
            if all(key in held for key in inside):
                used.update(inside)
                used.update(top)
                area = RangeRef(sheet.name, row + 1, column, left[-1][0], top[-1][1])
                yield area, _refs(sheet.name, top), _refs(sheet.name, left)
                break


def _refs(sheet: str, keys: Sequence[tuple[int, int]]) -> tuple[CellRef, ...]:
    return tuple(CellRef(sheet, row, column) for row, column in keys)


def _run(held: dict[tuple[int, int], float], row: int, column: int) -> list[tuple[int, int]]:
    """Return the numbers from a cell to the right, or nothing where the cell left of it is one as well (no start)."""
    found: list[tuple[int, int]] = []
    while (row, column) in held and len(found) <= LONGEST_SIDE:
        found.append((row, column))
        column += 1
    return found


def _down(held: dict[tuple[int, int], float], row: int, column: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    while (row, column) in held and len(found) <= LONGEST_SIDE:
        found.append((row, column))
        row += 1
    return found


def _is_axis(values: Sequence[float]) -> bool:
    """Say whether numbers look like the values of an assumption: distinct, close to each other, no years or counts."""
    if len(set(values)) != len(values) or len(values) > LONGEST_SIDE:
        return False
    if all(value == int(value) and (FIRST_YEAR <= value <= LAST_YEAR or abs(value) < 13) for value in values):
        return all(3 <= value <= 40 for value in values) and not any(
            b - a == 1 == values[0] for a, b in pairwise(values)
        )
    low, high = min(values), max(values)
    return high <= 60 and low >= -0.2 and (high < 0.25 or (low > 0 and high <= 6 * low)) and _is_spaced(values)


def _is_spaced(values: Sequence[float]) -> bool:
    """Say whether the values rise or fall (one may be out of place) in steps of like size."""
    steps = [b - a for a, b in pairwise(values)]
    against = min(sum(step < 0 for step in steps), sum(step > 0 for step in steps))
    sizes = sorted(abs(step) for step in steps)
    usual = sizes[len(sizes) // 2]
    even = sum(abs(size - usual) <= 0.05 * usual for size in sizes)
    return against <= (1 if len(values) > 3 else 0) and even * 2 >= len(sizes)
