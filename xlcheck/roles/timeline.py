"""Timelines: rows or columns of years, dates or period labels, and what is actual, forecast or terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from xlcheck.cells import CellRef
from xlcheck.roles.layout import SheetLayout
from xlcheck.roles.text import fold

Kind = Literal["actual", "forecast", "terminal", "unknown"]
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d{2})(?!\d)")
_SHORT = re.compile(r"^(?:fy|cy)?\s?'?(\d{2})\s?(?:fy|cy)?\s*([aefpb])?\b")
_MONTH = re.compile(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[\s\-'’.]*(\d{2,4})")
_QUARTER = re.compile(
    r"^(?:([1-4])q|q([1-4]))[\s\-'’/]*(?:fy|cy)?[\s\-'’]*(\d{4}|\d{2})(?!\d)|"
    r"^(\d{4})[\s\-]*q([1-4])(?!\d)|^(\d{4})年?第?([1-4])季"
)
_HALF = re.compile(r"^(?:([12])h|h([12]))[\s\-'’/]*(?:fy|cy)?[\s\-'’]*(\d{4}|\d{2})(?!\d)|^(\d{4})[\s\-]*h([12])(?!\d)")
_ORDINAL = re.compile(
    r"(?:year|yr|y|period|jahr|t|第)\s*\+?\s*(\d{1,2})\s*(?:年|期)?|^(\d{1,2})\s*(?:year|yr|st|nd|rd|th)"
)
_TERMINAL = re.compile(
    r"terminal|perpetu|normali[sz]|steady|永续|终值|終値|永久|stable|\btv\b|ewig|rente|residual|continuing|horizon|\bexit\b|n\+1"
)
_ACTUAL = re.compile(
    r"actual|histor|audited|reported|^(?:real|reel|realise|realizado|reale)s?$|consuntiv|\bist\b|实际|實際|历史|歷史|実績|\d\s*\(?a\)?$|(?:19|20)\d{2}\s*a\b|\bltm\b"
)
_FORECAST = re.compile(
    r"forecast|project|estimate|budget|previst|previsi|prevu|proyect|projetad|\bplan\b|预测|預測|予想|予測|計画|\d\s*\(?[efp]\)?$|(?:19|20)\d{2}\s*[efp]\b|guidance"
)


@dataclass(frozen=True, slots=True)
class Tick:
    """One period of a timeline."""

    position: int
    """Column of a horizontal timeline, row of a vertical one."""
    year: float | None
    """Calendar year, or the ordinal of the period where no year is named."""
    kind: Kind
    label: CellRef


@dataclass(frozen=True, slots=True)
class Timeline:
    """Periods along a row (``across``) or down a column of a sheet."""

    sheet: str
    across: bool
    line: int
    """Row of a horizontal timeline, column of a vertical one."""
    ticks: tuple[Tick, ...]
    dated: bool
    """True where years or dates are named, False for bare ordinals."""

    def tick(self, position: int) -> Tick | None:
        """Return the period at a column (row), or None."""
        return next((tick for tick in self.ticks if tick.position == position), None)


def find_timelines(layout: SheetLayout) -> tuple[Timeline, ...]:
    """Find the timelines of a sheet, across and down."""
    found = []
    for across, lines in ((True, layout.rows), (False, layout.columns)):
        for line, positions in lines.items():
            if len(positions) >= 3:
                found += _in_line(layout, across, line, positions)
    return tuple(found)


def _in_line(layout: SheetLayout, across: bool, line: int, positions: tuple[int, ...]) -> list[Timeline]:
    marks = []
    for position in positions:
        place = (line, position) if across else (position, line)
        mark = _mark(layout, place)
        if mark is not None:
            marks.append((position, *mark))
    runs: list[list[tuple[int, float | None, Kind, int]]] = []
    for found in marks:
        run = runs[-1] if runs else None
        if run is not None and _continues(run, found):
            run.append(found)
        elif found[3]:
            runs.append([found])
    return [_timeline(layout, across, line, run) for run in runs if sum(1 for one in run if one[1] is not None) >= 3]


def _continues(run: list[tuple[int, float | None, Kind, int]], mark: tuple[int, float | None, Kind, int]) -> bool:
    position, year, _, rank = mark
    last = next((entry for entry in reversed(run) if entry[1] is not None), None)
    if last is None or position - run[-1][0] > 4:
        return False
    if year is None:
        return rank == 0 and run[-1][1] is not None
    assert last[1] is not None
    return rank == last[3] and 0 < year - last[1] <= (1.01 if rank else 0) and run[-1][1] is not None


def _mark(layout: SheetLayout, place: tuple[int, int]) -> tuple[float | None, Kind, int] | None:
    """Return (year or ordinal, kind, rank); rank 3 date, 2 year, 1 ordinal, 0 a terminal word."""
    number = layout.numbers.get(place)
    if number is not None:
        if number.value is None:
            return None
        if number.date and 20_000 < number.value < 80_000:
            when = datetime(1899, 12, 30) + timedelta(days=number.value)
            return when.year + (when.month - 1) / 12, "unknown", 3
        if 1950 <= number.value <= 2150 and number.value == int(number.value):
            return number.value, "unknown", 2
        if 0 <= number.value <= 60 and number.value * 2 == int(number.value * 2):
            return number.value, "unknown", 1
        return None
    text = layout.texts.get(place)
    if text is None or len(text) > 30:
        return None
    return _text_mark(fold(text))


def _text_mark(text: str) -> tuple[float | None, Kind, int] | None:
    kind: Kind = "actual" if _ACTUAL.search(text) else "forecast" if _FORECAST.search(text) else "unknown"
    for pattern, parts in ((_QUARTER, 4), (_HALF, 2)):
        part = pattern.match(text)
        if part:
            number, digits = (int(found) for found in part.groups() if found)
            year_of, number = (number, digits) if number > 4 else (digits, number)
            return year_of + (2000 if year_of < 100 else 0) + (number - 1) / parts, kind, 2
    year = _YEAR.search(text)
    if year and len(text) <= 24:
        terminal = _TERMINAL.search(text) and "exit" not in text
        return float(year[1]), "terminal" if terminal else kind, 2
    if _TERMINAL.search(text):
        return None, "terminal", 0
    month = _MONTH.search(text)
    if month:
        digits = int(month[1])
        return float(digits if digits > 100 else 2000 + digits), kind, 2
    short = _SHORT.match(text)
    if short and (text.startswith(("fy", "cy", "'")) or "fy" in text or short[2]):
        return 2000.0 + int(short[1]), kind, 2
    ordinal = _ORDINAL.search(text)
    if ordinal and len(text) <= 14:
        return float(ordinal[1] or ordinal[2]), kind, 1
    return None


def _timeline(layout: SheetLayout, across: bool, line: int, run: list[tuple[int, float | None, Kind, int]]) -> Timeline:
    ticks = []
    for position, year, said, _ in run:
        place = (line, position) if across else (position, line)
        kind = _kind_beside(layout, across, line, position) if said == "unknown" else said
        ticks.append(Tick(position, year, kind, layout.ref(*place)))
    return Timeline(layout.name, across, line, tuple(ticks), run[0][3] >= 2)


def _kind_beside(layout: SheetLayout, across: bool, line: int, position: int) -> Kind:
    for step in (-1, 1, -2):
        place = (line + step, position) if across else (position, line + step)
        text = fold(layout.texts.get(place, ""))
        if text and len(text) <= 24:
            if _ACTUAL.search(text):
                return "actual"
            if _FORECAST.search(text):
                return "forecast"
    return "unknown"


Timelines = Mapping[str, tuple[Timeline, ...]]
"""Sheet name to its timelines."""
