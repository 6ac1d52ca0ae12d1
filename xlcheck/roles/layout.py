"""A sheet as an analyst sees it: texts, numbers, and which text stands for which number."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from xlcheck.cells import CellError, CellRef, as_number
from xlcheck.engines import Unsolved
from xlcheck.recompute import Recalc
from xlcheck.roles.text import fold
from xlcheck.workbook import Book, Cell, Sheet

REACH = 16
"""How many columns right of its label a value may stand."""
MOSTLY = 5
"""Rows at least in which the label follows the numbers, for a sheet that is labelled on the right."""
_DATE_FORMAT = re.compile(r"(?i)(?<![a-z])(yy|mmm|d/m|m/d|d\.m|dd)|年|月")
_NUMBER_TEXT = re.compile(
    r"^\s*[\(\-−]?\s*[$€£¥₹]?\s*\d[\d,]*(?:\.\d+)?\s*(?:x|%|倍|元|m|mn|bn)?\s*\)?\s*$", re.IGNORECASE
)
_UNIT = re.compile(
    r"(?i)^\W*(?:(?:in\s+)?(?:usd|eur|gbp|cny|rmb|hkd|jpy|inr|cad|aud|chf|krw|twd|sgd|pkr|vnd|brl|a\$|c\$|hk\$|us\$|s\$|rs\.?|"
    r"[$€£¥₹₽₩元円])?\s*[/'\-]?\s*"
    r"(?:m|mm|mn|mio\.?|mln|million(?:s|en)?|k|000s?|'000|thousand(?:s)?|tsd\.?|bn|b|billion(?:s)?|mrd\.?|cr\.?|crores?|lakhs?|"
    r"(?:人民币|港币|新?台币|美金|日币)?\s*(?:十亿|百万|千万|[百千万亿])?\s*(?:[港美欧日]元|人民币|港币|[元圆円股株])?(?:/[股株])?|"
    r"per share|/share|/股|shares?|stück|mio\. stück|"
    r"days?|years?|yrs?|yr|x|%|倍|天|年|日期|"
    r"date|number|#|times|ratio|pct|percent|value|wert|数值|hkd/rmb|[a-z]{3}/[a-z]{3})?)\W*$"
)


@dataclass(frozen=True, slots=True)
class Num:
    """A cell that holds a number, or a formula whose number is not known."""

    ref: CellRef
    value: float | None
    """Recomputed; None where it could not be or where a template leaves it empty."""
    formula: bool
    date: bool
    percent: bool
    """The number format shows a percentage."""


@dataclass(frozen=True)
class SheetLayout:
    """Texts and numbers of one sheet by (row, column)."""

    sheet: Sheet
    order: int
    texts: Mapping[tuple[int, int], str]
    numbers: Mapping[tuple[int, int], Num]

    @property
    def name(self) -> str:
        """The sheet's name."""
        return self.sheet.name

    @cached_property
    def rows(self) -> Mapping[int, tuple[int, ...]]:
        """Columns that hold something, by row."""
        return _grouped(((row, column) for row, column in (*self.texts, *self.numbers)))

    @cached_property
    def columns(self) -> Mapping[int, tuple[int, ...]]:
        """Rows that hold something, by column."""
        return _grouped(((column, row) for row, column in (*self.texts, *self.numbers)))

    @cached_property
    def labelled_right(self) -> bool:
        """Whether the labels of this sheet stand right of their numbers: first numbers, then one text, row by row."""
        right = sum(1 for row in self.rows if self._text_after(row) is not None)
        left = sum(1 for row, columns in self.rows.items() if (row, columns[0]) in self.texts and len(columns) > 1)
        return right >= MOSTLY and right > 2 * left

    def _text_after(self, row: int) -> int | None:
        """Return the column of the one text that ends a row of numbers, or None."""
        *numbers, last = self.rows[row]
        ends = bool(numbers) and (row, last) in self.texts and not is_unit(self.texts[row, last])
        return last if ends and all((row, one) in self.numbers for one in numbers) else None

    def right_text(self, row: int, column: int) -> tuple[int, str] | None:
        """Return the label right of a number, on a sheet whose labels stand there."""
        at = self._text_after(row) if self.labelled_right and row in self.rows else None
        return None if at is None or at < column else (at, self.texts[row, at])

    def ref(self, row: int, column: int) -> CellRef:
        """Return the address of a cell of this sheet."""
        return CellRef(self.name, row, column)

    def left_texts(self, row: int, column: int) -> Iterator[tuple[int, str]]:
        """Yield the texts left of a cell that may be its label, nearest first.

        Once a text was met, a number ends the search: what stands beyond belongs to that number.
        """
        met = False
        for other in reversed(self.rows.get(row, ())):
            if other >= column:
                continue
            if (row, other) in self.numbers:
                if met:
                    return
                continue
            met = met or not is_unit(self.texts[row, other])
            yield other, self.texts[row, other]

    def text_above(self, row: int, column: int, reach: int = 60) -> tuple[int, str] | None:
        """Return the nearest text above a cell, in its own column."""
        filled = self.columns.get(column, ())
        for at in range(bisect_left(filled, row) - 1, -1, -1):
            other = filled[at]
            if row - other > reach:
                return None
            if (other, column) in self.texts and not is_unit(self.texts[other, column]):
                return other, self.texts[other, column]
        return None

    def headings(self, row: int, column: int) -> Iterator[str]:
        """Yield the headings above a cell, nearest first: texts that stand without a number in their row."""
        for other in range(row - 1, max(0, row - 45), -1):
            found = self.rows.get(other)
            if not found or any((other, c) in self.numbers for c in found):
                continue
            texts = [(c, self.texts[other, c]) for c in found if c <= column + 1]
            if texts:
                yield texts[-1][1]


def _grouped(pairs: Iterator[tuple[int, int]]) -> dict[int, tuple[int, ...]]:
    groups: dict[int, list[int]] = {}
    for first, second in pairs:
        groups.setdefault(first, []).append(second)
    return {first: tuple(sorted(seconds)) for first, seconds in groups.items()}


def is_unit(text: str) -> bool:
    """Say whether a text only names a unit (``EUR m``, ``%``, ``百万元``)."""
    return len(text) <= 16 and _UNIT.match(fold(text)) is not None


def number_in_text(text: str) -> float | None:
    """Return the number that a typed text such as ``12.1x`` or ``8.5%`` shows, or None."""
    if not _NUMBER_TEXT.match(text):
        return None
    digits = re.sub(r"[^\d.]", "", text)
    if not digits or digits.count(".") > 1:
        return None
    value = float(digits) * (0.01 if "%" in text else 1.0)
    return -value if re.match(r"\s*[\(\-−]", text) else value


@dataclass(frozen=True)
class Layout:
    """Every sheet of a book as an analyst sees it."""

    book: Book
    recalc: Recalc
    sheets: tuple[SheetLayout, ...]

    @cached_property
    def by_name(self) -> Mapping[str, SheetLayout]:
        """Sheet name to its layout."""
        return {sheet.name: sheet for sheet in self.sheets}

    def num(self, ref: CellRef) -> Num | None:
        """Return the number cell at an address, or None."""
        sheet = self.by_name.get(ref.sheet)
        return sheet.numbers.get((ref.row, ref.column)) if sheet else None

    def value(self, ref: CellRef) -> float | None:
        """Return the recomputed number at an address, or None."""
        found = self.num(ref)
        return found.value if found else None


def read_layout(book: Book, recalc: Recalc) -> Layout:
    """Sort the cells of every sheet into texts and numbers."""
    sheets = []
    for order, sheet in enumerate(book.sheets):
        texts: dict[tuple[int, int], str] = {}
        numbers: dict[tuple[int, int], Num] = {}
        for place, cell in sheet.cells.items():
            _sort(cell, place, recalc, texts, numbers)
        sheets.append(SheetLayout(sheet, order, texts, numbers))
    return Layout(book, recalc, tuple(sheets))


def _sort(
    cell: Cell,
    place: tuple[int, int],
    recalc: Recalc,
    texts: dict[tuple[int, int], str],
    numbers: dict[tuple[int, int], Num],
) -> None:
    value = recalc.value(cell.ref) if cell.formula is not None or cell.ref in recalc.values else cell.stored
    shown = cell.stored if isinstance(value, Unsolved) else value
    if isinstance(shown, str):
        typed = number_in_text(shown) if cell.formula is None else None
        if typed is None:
            if shown.strip():
                texts[place] = shown.strip()
            return
        numbers[place] = Num(cell.ref, typed, False, False, "%" in shown)
        return
    if cell.formula is None and (isinstance(shown, bool) or not isinstance(shown, int | float | CellError)):
        return
    number = None if isinstance(value, Unsolved) else as_number(value)
    form = cell.number_format
    numbers[place] = Num(
        cell.ref,
        number,
        cell.formula is not None,
        bool(_DATE_FORMAT.search(form)) and "General" not in form,
        "%" in form,
    )
