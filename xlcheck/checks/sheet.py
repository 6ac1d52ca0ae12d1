"""Reading a sheet as a person does: which text labels a cell, and which period heads its column or row."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator
from datetime import date, timedelta

from xlcheck.cells import CellRef, is_number
from xlcheck.checks.memory import remembered
from xlcheck.recompute import Recalc
from xlcheck.workbook import Sheet

_YEAR = re.compile(r"(?<!\d)(?:FY\s*'?|CY\s*)?((?:19|20)\d\d)(?!\d)", re.IGNORECASE)
_SHORT_YEAR = re.compile(r"^\s*(?:(?:FY|CY)\s*'?(\d\d)|(\d\d)\s*(?:FY|CY))\s*[AEFP]?\s*$", re.IGNORECASE)
_MONTH_YEAR = re.compile(
    r"^\s*(?:\d{1,2}\W)?(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)[a-z]*\W{1,2}(\d\d)\s*[AEFP]?\s*$",
    re.IGNORECASE,
)
_PART_YEAR = re.compile(r"Q[1-4]|[1-4]Q|H[12]\b|[12]H|LTM|TTM|YTD|季|月|半年", re.IGNORECASE)
_DATE_FORMAT = re.compile(r"[dy]", re.IGNORECASE)
LONGEST_LABEL = 500
"""Characters of one text that are read as a label; longer ones are notes, or made to cost time."""
FIRST_YEAR, LAST_YEAR = 1950, 2150
_EPOCH = date(1899, 12, 30)
_EPOCH_1904 = date(1904, 1, 1)


def text_at(recalc: Recalc, ref: CellRef) -> str:
    """Return the text that a cell shows (of a constant or a formula), or '' where it holds none."""
    value = recalc.value(ref)
    return value.strip() if isinstance(value, str) else ""


def is_label(text: str) -> bool:
    """Say whether a text can name a row: at least two letters, or one CJK character."""
    return sum(2 if ord(sign) > 0x2E7F else 1 for sign in text if sign.isalpha()) >= 2


def row_label(recalc: Recalc, ref: CellRef) -> str:
    """Return the texts left of a cell up to the next number, the leftmost first, joined by `` | ``.

    The label comes first, unit and note columns after it; blanks between them do not matter.
    """
    known = remembered(recalc, "row labels", dict[CellRef, str])
    label = known.get(ref)
    if label is None:
        label = known[ref] = _row_label(recalc, ref, known)
    return label


def _row_label(recalc: Recalc, ref: CellRef, known: dict[CellRef, str]) -> str:
    found: list[str] = []
    for column in range(ref.column - 1, 0, -1):
        if not found and (same := known.get(CellRef(ref.sheet, ref.row, column + 1))) is not None:
            return same  # no label stands between the two cells
        value = recalc.value(CellRef(ref.sheet, ref.row, column))
        if isinstance(value, str) and is_label(value):
            found.append(value.strip()[:LONGEST_LABEL])
        elif found and value is not None and value != "":
            break
    return " | ".join(reversed(found))


def first_text(label: str) -> str:
    """Return the first of the texts that `row_label` joins: the label itself, without unit and note columns."""
    return label.split(" | ", maxsplit=1)[0]


def column_label(recalc: Recalc, ref: CellRef) -> str:
    """Return the nearest text above a cell in its column, or ''."""
    for row in range(ref.row - 1, 0, -1):
        text = text_at(recalc, CellRef(ref.sheet, row, ref.column))
        if is_label(text):
            return text
    return ""


def year_of(value: object, number_format: str, *, date1904: bool = False) -> int | None:
    """Return the year that a heading stands for (2026, FY2026E, 31/12/2026), or None; parts of years give None."""
    if isinstance(value, str):
        if len(value) > 24 or _PART_YEAR.search(value):
            return None
        years = _YEAR.findall(value)
        if len(years) == 1:
            return int(years[0])
        short = _SHORT_YEAR.match(value) or _MONTH_YEAR.match(value)
        return 2000 + int(next(filter(None, short.groups()))) if short else None
    if not is_number(value):
        return None
    number = float(value)  # type: ignore[arg-type]
    if number == int(number) and FIRST_YEAR <= number <= LAST_YEAR:
        return int(number)
    if _DATE_FORMAT.search(_bare(number_format)) and 15_000 < number < 95_000:
        return ((_EPOCH_1904 if date1904 else _EPOCH) + timedelta(days=int(number))).year
    return None


def _bare(number_format: str) -> str:
    """Return a number format without its quoted and bracketed parts."""
    return re.sub(r'"[^"]*"|\[[^\]]*\]|\\.|General', "", number_format)


class Timeline:
    """The years that head the columns (or rows) of one sheet; blocks below each other keep their own headings."""

    def __init__(self, sheet: Sheet, recalc: Recalc) -> None:
        years: dict[tuple[int, int], int] = {}
        for (row, column), cell in sheet.cells.items():
            value = recalc.value(cell.ref)
            year = year_of(value, cell.number_format, date1904=recalc.book.calc.date1904)
            if year is not None:
                years[row, column] = year
        self.across = _headings(years, across=True)
        self.down = _headings(years, across=False)

    def year(self, ref: CellRef) -> int | None:
        """Return the year of a cell: by the nearest heading row above it, else by the nearest heading column left."""
        above = _nearest(self.across, ref.row, ref.column)
        return above if above is not None else _nearest(self.down, ref.column, ref.row)

    def columns(self) -> list[int]:
        """Return the columns that a heading row dates."""
        return sorted({column for heading in self.across.values() for column in heading})

    def runs_down(self, ref: CellRef) -> bool:
        """Say whether time runs down the column of a cell (no heading row above it dates it)."""
        return (
            _nearest(self.across, ref.row, ref.column) is None and _nearest(self.down, ref.column, ref.row) is not None
        )


_TIMELINES: dict[int, dict[str, Timeline]] = {}


def timeline_of(recalc: Recalc, sheet: str) -> Timeline:
    """Return the timeline of a sheet; remembered for as long as the recomputation lives.

    KeyError where the workbook has no sheet of that name.
    """
    known = _TIMELINES.get(id(recalc))
    if known is None:
        known = _TIMELINES[id(recalc)] = {}
        weakref.finalize(recalc, _TIMELINES.pop, id(recalc), None)
    if sheet not in known:
        found = recalc.book.sheet(sheet)
        if found is None:
            raise KeyError(sheet)
        known[sheet] = Timeline(found, recalc)
    return known[sheet]


def _headings(years: dict[tuple[int, int], int], *, across: bool) -> dict[int, dict[int, int]]:
    """Return line number to its dated positions, for lines with three or more years that rise one by one."""
    lines: dict[int, dict[int, int]] = {}
    for (row, column), year in years.items():
        line, position = (row, column) if across else (column, row)
        lines.setdefault(line, {})[position] = year
    return {line: kept for line, found in lines.items() if len(kept := _rising(found)) >= 3}


def _rising(found: dict[int, int]) -> dict[int, int]:
    """Keep the stretches of three or more positions (gaps of two allowed) whose years rise by one."""
    kept: dict[int, int] = {}
    current: dict[int, int] = {}
    last: tuple[int, int] | None = None
    for position in sorted(found):
        year = found[position]
        if last is None or year != last[1] + 1 or position - last[0] > 3:
            current = {}
        current[position] = year
        last = (position, year)
        if len(current) >= 3:
            kept |= current
    return kept


def _nearest(headings: dict[int, dict[int, int]], line: int, position: int) -> int | None:
    for heading in sorted((number for number in headings if number <= line), reverse=True):
        if position in headings[heading]:
            return headings[heading][position]
    return None


def neighbours(ref: CellRef, *, across: bool) -> Iterator[CellRef]:
    """Yield the cell before and the cell after along a row (or a column)."""
    for step in (-1, 1):
        other = ref.offset(0, step) if across else ref.offset(step, 0)
        if other.row > 0 and other.column > 0:
            yield other
