"""The assumption register of a workbook: a table of assumptions with their values and sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from xlcheck.cells import CellRef, Scalar, is_number
from xlcheck.engines import Unsolved
from xlcheck.recompute import Recalc
from xlcheck.workbook import Sheet

Column = Literal["name", "value", "unit", "source", "day"]
_HEADINGS: Mapping[Column, re.Pattern[str]] = {
    "name": re.compile(
        r"(?:(?:key|model|main|input)\s+)?(?:assumption|parameter|input|driver|item|variable|metric|description|label)s?"
        r"(?:\s+(?:name|description))?|name|(?:关键|主要|模型)?(?:假设|参数|项目|指标|变量|名称|输入)(?:名称|项)?",
        re.IGNORECASE,
    ),
    "value": re.compile(
        r"(?:(?:input|assumed|model|base|used|current)\s+)?(?:value|amount|figure|number|base case)s?"
        r"(?:\s+(?:used|in (?:the )?model))?|(?:取值|数值|值|数据|金额|采用值)",
        re.IGNORECASE,
    ),
    "unit": re.compile(r"units?|uom|unit of measure|(?:计量)?单位", re.IGNORECASE),
    "source": re.compile(
        r"(?:data\s+)?sources?(?:\s+(?:document|of data|reference|/\s*\w+))?|basis|evidence|reference|citation|"
        r"(?:数据|资料)?(?:来源|出处|依据)(?:文件)?",
        re.IGNORECASE,
    ),
    "day": re.compile(
        r"date|dated|published|as of|source date|date of (?:the )?source|publication(?: date)?|release(?:d| date)?|"
        r"(?:来源|发布|公布|披露|数据)?(?:日期|时间|日)",
        re.IGNORECASE,
    ),
}
"""Column to what its heading says, whole; a date of retrieval or entry is none of publication."""
_CALLED = re.compile(r"regist|\blog\b|ledger|登记|清单|台账|台帐|假设表|来源表", re.IGNORECASE)
_BLANK_ROWS = 4
"""So many rows without a name end a register."""
_HEADING_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Entry:
    """One assumption of a register."""

    name: str
    name_cell: CellRef
    value: Scalar | Unsolved
    value_cell: CellRef
    unit: str
    unit_cell: CellRef | None
    source: str
    source_cell: CellRef
    day: date | None
    """The earliest day that its date can mean; None where there is no date."""
    day_cell: CellRef | None


@dataclass(frozen=True, slots=True)
class Register:
    """A table of assumptions."""

    sheet: str
    heading: int
    """Row of the headings."""
    columns: Mapping[Column, int]
    entries: tuple[Entry, ...]

    @property
    def cell(self) -> CellRef:
        """The first heading."""
        return CellRef(self.sheet, self.heading, self.columns["name"])


def find_registers(recalc: Recalc) -> tuple[Register, ...]:
    """Find the assumption registers of a workbook, in sheet order.

    A table is one if its sheet or title calls it so, or if it has columns for name, value, unit, source and date; a
    plain table of inputs with remarks is none.
    """
    return tuple(register for sheet in recalc.book.sheets for register in _on_sheet(recalc, sheet))


def _on_sheet(recalc: Recalc, sheet: Sheet) -> Iterator[Register]:
    rows: dict[int, dict[int, str]] = {}
    for (row, column), cell in sheet.cells.items():
        if isinstance(cell.stored, str) and cell.formula is None and len(cell.stored) <= _HEADING_WIDTH:
            rows.setdefault(row, {})[column] = " ".join(cell.stored.split())
    headings = {row: columns for row, texts in sorted(rows.items()) if (columns := _columns(texts)) is not None}
    for row, columns in headings.items():
        last = min((other for other in headings if other > row), default=sheet.max_row + 1)
        entries = tuple(_entries(recalc, sheet, columns, range(row + 1, last)))
        if len(entries) >= 3 and ({"unit", "day"} <= set(columns) or _is_called(sheet, row)):
            yield Register(sheet.name, row, columns, entries)


def _columns(texts: Mapping[int, str]) -> dict[Column, int] | None:
    """Return the columns that a row of headings names, None unless it has a name, a value and a source."""
    found: dict[Column, int] = {}
    for column, text in sorted(texts.items()):
        bare = re.sub(r"[(（].*?[)）]", "", text).strip(" :：*#")
        for key, pattern in _HEADINGS.items():
            if key not in found and pattern.fullmatch(bare):
                found[key] = column
                break
    complete = {"name", "value", "source"} <= set(found)
    return found if complete and found["name"] < found["value"] else None


def _is_called(sheet: Sheet, heading: int) -> bool:
    titles = [
        cell.stored
        for (row, _), cell in sheet.cells.items()
        if heading - 4 <= row < heading and isinstance(cell.stored, str)
    ]
    return any(_CALLED.search(text) for text in (sheet.name, *titles))


def _entries(recalc: Recalc, sheet: Sheet, columns: Mapping[Column, int], rows: range) -> Iterator[Entry]:
    empty = 0
    for row in rows:
        cells = {key: CellRef(sheet.name, row, column) for key, column in columns.items()}
        name = _text(recalc, cells["name"])
        empty = 0 if name else empty + 1
        if empty >= _BLANK_ROWS:
            return
        value = recalc.value(cells["value"])
        if not name or value is None or value == "":
            continue
        yield Entry(
            name=name,
            name_cell=cells["name"],
            value=value,
            value_cell=cells["value"],
            unit=_text(recalc, cells.get("unit")),
            unit_cell=cells.get("unit"),
            source=_text(recalc, cells["source"]),
            source_cell=cells["source"],
            day=_day(recalc, cells.get("day")),
            day_cell=cells.get("day"),
        )


def _text(recalc: Recalc, cell: CellRef | None) -> str:
    value = recalc.value(cell) if cell is not None else None
    if isinstance(value, str):
        return " ".join(value.split())
    return f"{value:g}" if is_number(value) else ""


def _day(recalc: Recalc, cell: CellRef | None) -> date | None:
    value = recalc.value(cell) if cell is not None else None
    if isinstance(value, str):
        return day_in(value)
    if not is_number(value):
        return None
    number = float(value)  # type: ignore[arg-type]
    if 1950 <= number <= 2150:
        return date(int(number), 1, 1)
    epoch = date(1904, 1, 1) if recalc.book.calc.date1904 else date(1899, 12, 30)
    return epoch + timedelta(days=int(number)) if 15_000 < number < 95_000 else None


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]*\.?"
_YEAR = r"((?:19|20)\d\d)"
_DAYS = (
    (re.compile(rf"{_YEAR}[-/.年]\s?(\d{{1,2}})[-/.月]\s?(\d{{1,2}})(?!\d)"), "ymd"),
    (re.compile(rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th)?[\s-]+{_MONTH}[\s,-]+{_YEAR}", re.IGNORECASE), "dMy"),
    (re.compile(rf"{_MONTH}\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}", re.IGNORECASE), "Mdy"),
    (re.compile(rf"(?<!\d)(\d{{1,2}})[/.](\d{{1,2}})[/.]{_YEAR}"), "??y"),
    (re.compile(rf"{_MONTH}[\s,-]+{_YEAR}", re.IGNORECASE), "My"),
    (re.compile(rf"{_YEAR}[-/年]\s?(\d{{1,2}})(?:月|(?![\d/-]))"), "ym"),
    (re.compile(rf"(?<!\d){_YEAR}(?!\d)"), "y"),
)
"""How dates are written, the most exact forms first."""


def day_in(text: str) -> date | None:
    """Return the earliest day that the most exact date in a text can mean, or None.

    2026 is 1 January 2026; 3/4/2026 is 4 March.
    """
    return next((day for day, _ in days_in(text)), None)


def days_in(text: str) -> Iterator[tuple[date, bool]]:
    """Yield every date of a text at its earliest and whether it names a day, those with a day first."""
    for pattern, form in _DAYS:
        rest, end = "", 0
        for match in pattern.finditer(text):
            found = _earliest(form, match.groups())
            if found is not None:
                yield found, len(form) == 3
                rest, end = rest + text[end : match.start()] + " ", match.end()
        text = rest + text[end:]


def _earliest(form: str, groups: tuple[str, ...]) -> date | None:
    if form == "??y":
        first, second, year = (int(group) for group in groups)
        days = [_date(year, first, second), _date(year, second, first)]
        return min((day for day in days if day is not None), default=None)
    parts = dict(zip(form.lower(), groups, strict=True))
    month = parts.get("m", "1")
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    return _date(int(parts["y"]), number, int(parts.get("d", "1")))


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
