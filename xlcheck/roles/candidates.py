"""Candidates for scalar roles from labels: the number right of, below or left of a label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xlcheck.cells import CellRef
from xlcheck.roles.layout import REACH, Layout, Num, SheetLayout, is_unit
from xlcheck.roles.lexicon import Lexicon
from xlcheck.roles.names import LESS, named_cells
from xlcheck.roles.text import fold
from xlcheck.roles.vocabulary import SCALAR_ROLES

BELOW = 0.1
SERIES = 0.3
"""What a value at the head of a row of periods loses as a scalar."""
LEFT = 0.25
BARE = 0.45
"""What the percent format adds to a label that leaves out the word rate."""
_BLEND = re.compile(r"\bblend|\bcombined\b|^(?:weighted )?average$|综合|加权平均|^平均|加重平均|混合")
"""Headings of a column that blends the methods of the columns beside it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A number that a label may name."""

    role: str
    num: Num
    score: float
    label: CellRef
    text: str
    series: bool
    """True where the number is one of a row (column) of periods."""


def find_candidates(layout: Layout, lexicon: Lexicon) -> Mapping[str, tuple[Candidate, ...]]:
    """Return role → candidates of every sheet, best first."""
    found: dict[str, list[Candidate]] = {}
    for sheet in layout.sheets:
        for place, text in sheet.texts.items():
            matches = {role: score for role, score in lexicon.match(text).items() if role in SCALAR_ROLES}
            if not matches or max(matches.values()) < 0.35:
                continue
            for num, less, series in _values(sheet, place, lexicon):
                for role, score in _of_percent(matches, num).items():
                    if score - less > 0.25 and _plausible(role, num):
                        found.setdefault(role, []).append(
                            Candidate(role, num, score - less, sheet.ref(*place), text, series)
                        )
    for one in _by_name(layout, lexicon):
        found.setdefault(one.role, []).append(one)
    return {role: tuple(sorted(some, key=lambda one: -one.score)) for role, some in found.items()}


def _of_percent(matches: Mapping[str, float], num: Num) -> Mapping[str, float]:
    """Return the matches of a label for a number: a percentage labelled only ``Tax`` is a tax rate."""
    named = matches.get("tax_rate", 0.0)
    best = named > 0 and named >= max(matches.values())  # "cost of debt (pre tax)" is no tax rate
    return {**matches, "tax_rate": min(0.9, named + BARE)} if best and num.percent else matches


def _by_name(layout: Layout, lexicon: Lexicon) -> Iterator[Candidate]:
    """Yield the numbers that defined names name."""
    for cell, names in named_cells(layout.book).items():
        num = layout.num(cell)
        for name in names if num is not None else ():
            for role, score in lexicon.match(name).items():
                if num is not None and role in SCALAR_ROLES and score - LESS > 0.25 and _plausible(role, num):
                    yield Candidate(role, num, score - LESS, cell, name, False)


def _values(sheet: SheetLayout, place: tuple[int, int], lexicon: Lexicon) -> Iterator[tuple[Num, float, bool]]:
    row, column = place
    right = list(_right(sheet, row, column, lexicon))
    if right:
        series = len(right) >= 3
        blended = next((one for one in right[:6] if len(right) > 1 and _blends(sheet, one)), None)
        if blended is not None:
            yield blended, 0.0, False
        yield right[0], SERIES if series else 0.02 * (len(right) - 1), series
        for other in right[1:2] if len(right) == 2 else ():
            yield other, 0.06, False
        return
    below = _below(sheet, row, column)
    if below is not None:
        yield below, BELOW, False
        return
    left = sheet.numbers.get((row, column - 1))
    if left is not None and not any(True for _ in sheet.left_texts(row, column - 1)):
        if not sheet.labelled_right:
            yield left, LEFT, False
        elif len(sheet.rows[row]) == 2:
            yield left, 0.0, False


def _blends(sheet: SheetLayout, num: Num) -> bool:
    """Say whether a formula stands in the column that blends the columns of several methods."""
    above = sheet.text_above(num.ref.row, num.ref.column) if num.formula else None
    return above is not None and len(above[1]) <= 24 and _BLEND.search(fold(above[1])) is not None


def _right(sheet: SheetLayout, row: int, column: int, lexicon: Lexicon) -> Iterator[Num]:
    skipped = 0
    started = False
    for other in sheet.rows.get(row, ()):
        if other <= column:
            continue
        number = sheet.numbers.get((row, other))
        if number is not None:
            if not started and other - column > REACH:
                return
            started = True
            yield number
            continue
        text = sheet.texts[row, other]
        if is_unit(text):
            continue
        if started or skipped >= 2 or any(score >= 0.5 for score in lexicon.match(text).values()):
            return
        skipped += 1


def _below(sheet: SheetLayout, row: int, column: int) -> Num | None:
    """Return the number under a heading of a dashboard, not the first of a table's column."""
    for other in (row + 1, row + 2):
        if (other, column) in sheet.texts:
            return None
        number = sheet.numbers.get((other, column))
        if number is None:
            continue
        below = sheet.numbers.get((other + 1, column))
        beside = any(True for at, text in sheet.left_texts(other, column) if at >= column - 3 and not is_unit(text))
        return None if beside or (below is not None and (other + 2, column) in sheet.numbers) else number
    return None


def _plausible(role: str, num: Num) -> bool:
    """Say whether a number may play a role, by its unit and size."""
    unit = SCALAR_ROLES[role]
    if unit == "date":
        return num.date or (num.value is not None and 30_000 < num.value < 60_000)
    if num.date:
        return False
    if num.percent and unit in ("money", "count", "per_share", "multiple"):
        return False
    if num.value is None:
        return num.formula
    if unit == "rate" and role != "upside":
        return abs(num.value) <= (10 if num.percent else 100)
    if unit == "multiple":
        return 0.5 <= num.value <= 500
    if unit == "count":
        return num.value >= 0
    return True
