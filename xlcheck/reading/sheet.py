"""One worksheet part, streamed: formulas and stored values in the same pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from math import isfinite

from xlcheck.cells import MAX_COLUMN, MAX_ROW, CellError, CellRef, RangeRef, Scalar, column_letters, column_number
from xlcheck.errors import SubmissionError
from xlcheck.intake import Limits
from xlcheck.reading.styles import PLAIN, Style
from xlcheck.reading.text import unescaped
from xlcheck.reading.tokens import Pieces, moved, pieces
from xlcheck.reading.xml import MAX_DEPTH, local, stream, truth, whole_number
from xlcheck.workbook import Cell, DataTable

_CAPTURED = frozenset({"v", "f", "t"})


@dataclass(slots=True)
class Budget:
    """What of the workbook may still be read."""

    cells: int
    formula_characters: int


@dataclass(slots=True)
class SheetContext:
    """What a worksheet part needs from the rest of the workbook."""

    file_name: str
    sheet: str
    strings: Sequence[str]
    styles: Sequence[Style]
    date1904: bool
    limits: Limits
    budget: Budget


@dataclass(slots=True)
class SheetContent:
    """What a worksheet part holds."""

    cells: dict[tuple[int, int], Cell] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    merged: list[RangeRef] = field(default_factory=list)


def read_sheet(data: Iterable[bytes], context: SheetContext) -> SheetContent:
    """Read a worksheet part; SubmissionError names file, sheet and cell of what cannot be read."""
    reader = _Reader(context)
    stream(
        (_BLANK.sub(b"", chunk) for chunk in data),
        f"{context.file_name}: sheet {context.sheet}",
        reader.start,
        reader.end,
        reader.text,
    )
    reader.resolve_orphans()
    return reader.content


_BLANK = re.compile(rb'<c r="[A-Z]{1,3}[0-9]{1,7}"(?: s="[0-9]{1,6}")?(?:/>|></c>)(?=<c r="|</row>)')
"""Cells that hold nothing but a format: some programs write a thousand rows of them, and each costs the parser."""


class _Reader:
    """The state between the events of one part."""

    __slots__ = (
        "_attributes", "_before", "_capture", "_column", "_context", "_depth", "_formula", "_formula_attributes",
        "_in_cell", "_in_data", "_inline", "_orphans", "_phonetic", "_pieces", "_row", "_row_text", "_shared", "_tags",
        "_value", "content",
    )  # fmt: skip

    def __init__(self, context: SheetContext) -> None:
        self._context = context
        self.content = SheetContent()
        self._tags: dict[str, str] = {}
        self._row = self._column = 0
        self._row_text = ""
        self._before: str | None = None
        self._depth = 0
        self._in_cell = self._in_data = False
        self._attributes: dict[str, str] = {}
        self._capture = False
        self._phonetic = 0
        self._pieces: list[str] = []
        self._value: str | None = None
        self._inline: str | None = None
        self._formula: str | None = None
        self._formula_attributes: dict[str, str] | None = None
        self._shared: dict[str, tuple[int, int, Pieces]] = {}
        self._orphans: list[tuple[int, int, str]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        tag = self._tags.get(name) or self._tag(name)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._refuse("its XML nests elements deeper than any workbook needs")
        if self._in_cell:
            if tag in _CAPTURED:
                self._capture = not self._phonetic
                if tag == "f":
                    self._formula_attributes = attributes
            elif tag == "rPh":
                self._phonetic += 1
        elif tag == "c":
            self._in_cell = True
            self._attributes = attributes
            self._value = self._inline = self._formula = self._formula_attributes = None
        elif tag == "row" and self._in_data:  # anchors of controls have <row> and <col> too
            self._start_row(attributes)
        elif tag == "sheetData":
            self._in_data = True
        elif tag == "col":
            self._hide_columns(attributes)
        elif tag == "mergeCell":
            self._merge(attributes)

    def text(self, data: str) -> None:
        if self._capture:
            self._pieces.append(data)

    def end(self, name: str) -> None:
        self._depth -= 1
        tag = self._tags.get(name) or self._tag(name)
        if not self._in_cell:
            self._in_data = self._in_data and tag != "sheetData"
            return
        if tag in _CAPTURED:
            self._capture = False
            text = "".join(self._pieces)
            self._pieces.clear()
            if tag == "v":
                self._value = text
            elif tag == "f":
                self._formula = text
            elif not self._phonetic:
                self._inline = (self._inline or "") + text
        elif tag == "rPh":
            self._phonetic -= 1
        elif tag == "c":
            self._in_cell = False
            if self._value is None and self._formula_attributes is None and self._inline is None:
                self._skip_cell()
            else:
                self._end_cell()

    def _tag(self, name: str) -> str:
        tag = local(name)
        if len(self._tags) < 1_000:
            self._tags[name] = tag
        return tag

    def _refuse(self, problem: str) -> SubmissionError:
        return SubmissionError(f"{self._context.file_name}: sheet {self._context.sheet}: {problem}")

    def _start_row(self, attributes: dict[str, str]) -> None:
        text = attributes.get("r")
        self._row = self._row + 1 if text is None else whole_number(text)
        if not 0 < self._row <= MAX_ROW:
            raise self._refuse(f"row {text or self._row} lies outside the grid; rows 1 to {MAX_ROW} are accepted")
        self._column, self._before, self._row_text = 0, None, text or ""
        if truth(attributes.get("hidden", "")) or attributes.get("ht") == "0":
            self.content.hidden_rows.add(self._row)

    def _hide_columns(self, attributes: dict[str, str]) -> None:
        if len(self.content.hidden_columns) == MAX_COLUMN:
            return  # a file may hide them all again and again
        if truth(attributes.get("hidden", "")) or attributes.get("width") == "0":
            first, last = whole_number(attributes.get("min", "")), whole_number(attributes.get("max", ""))
            self.content.hidden_columns.update(range(max(first, 1), min(last, MAX_COLUMN) + 1))

    def _merge(self, attributes: dict[str, str]) -> None:
        if len(self.content.merged) >= self._context.limits.merges:
            raise self._refuse(f"more than {self._context.limits.merges:,} merged ranges; fewer are accepted")
        self.content.merged.append(self._range(_bounded(attributes.get("ref", ""))))

    def _range(self, text: str) -> RangeRef:
        try:
            return RangeRef.parse("-!" + text.replace("!", "?"))._replace(sheet=self._context.sheet)
        except ValueError:
            raise self._refuse(f"{text!r} is no range of the grid A1:XFD{MAX_ROW}") from None

    def _skip_cell(self) -> None:
        """Pass a cell that holds nothing: it only counts where the next cell has no address."""
        text = self._attributes.get("r")
        if text is None:
            self._column = self._reached() + 1
        else:
            self._before = text

    def _reached(self) -> int:
        """Return the column of the cell before this one, 0 at the start of a row."""
        if self._before is not None:
            self._column, self._before = _column(self._before.rstrip("0123456789")), None
        return self._column

    def _place(self) -> tuple[int, int]:
        text = self._attributes.get("r")
        if text is None:
            row, column = max(self._row, 1), self._reached() + 1
        else:
            letters = text.rstrip("0123456789")
            digits = text[len(letters) :]
            column, row = _column(letters), self._row if digits == self._row_text else whole_number(digits)
        if not (0 < column <= MAX_COLUMN and 0 < row <= MAX_ROW):
            raise self._refuse(f"cell {text or f'{column} of row {row}'} lies outside the grid A1:XFD{MAX_ROW}")
        self._column, self._before = column, None
        return row, column

    def _end_cell(self) -> None:
        row, column = place = self._place()
        formula_attributes = self._formula_attributes
        context = self._context
        ref = CellRef(context.sheet, row, column)
        stored = self._stored(ref)
        formula, array, table = None, None, None
        if formula_attributes is not None:
            formula, array, table = self._read_formula(ref, formula_attributes)
            self._spend(ref, len(formula or ""))
        if formula is None and table is None and stored is None:
            return
        if place in self.content.cells:
            raise self._refuse(f"cell {ref.address} stands twice in the file")
        context.budget.cells -= 1
        if context.budget.cells < 0:
            raise self._refuse(f"the workbook has more than {context.limits.cells:,} cells")
        attributes = self._attributes
        index = attributes.get("s")
        style = PLAIN if index is None else self._style(index)
        self.content.cells[place] = Cell(
            ref,
            formula,
            stored,
            style.number_format,
            array,
            formula is not None and "cm" in attributes,
            table,
            "vm" in attributes,
            style.white,
        )

    def _spend(self, ref: CellRef, characters: int) -> None:
        limits, budget = self._context.limits, self._context.budget
        if characters > limits.formula_length:
            raise self._refuse(
                f"the formula of cell {ref.address} has {characters:,} characters; "
                f"at most {limits.formula_length:,} are accepted"
            )
        budget.formula_characters -= characters
        if budget.formula_characters < 0:
            raise self._refuse(f"the formulas have more than {limits.formula_characters:,} characters")

    def _style(self, index: str) -> Style:
        number = whole_number(index, -1)
        return self._context.styles[number] if 0 <= number < len(self._context.styles) else PLAIN

    def _read_formula(
        self, ref: CellRef, attributes: dict[str, str]
    ) -> tuple[str | None, RangeRef | None, DataTable | None]:
        kind = attributes.get("t", "normal")
        text = self._formula or ""
        if kind == "shared":
            return self._shared_formula(ref, attributes.get("si", ""), text), None, None
        if kind == "dataTable":
            return None, None, self._data_table(ref, attributes)
        array = self._range(attributes.get("ref") or ref.address) if kind == "array" else None
        return ("=" + text if text.strip() else None), array, None

    def _shared_formula(self, ref: CellRef, key: str, text: str) -> str | None:
        if text:
            self._shared[key] = (ref.row, ref.column, pieces("=" + text))
            return "=" + text
        if key in self._shared:
            row, column, master = self._shared[key]
            return moved(master, ref.row - row, ref.column - column)
        self._orphans.append((ref.row, ref.column, key))
        return "=#REF!"

    def resolve_orphans(self) -> None:
        """Write the shared formulas whose first cell came later in the file."""
        for row, column, key in self._orphans:
            cell = self.content.cells[row, column]
            if key not in self._shared:
                raise self._refuse(f"cell {cell.ref.address} shares a formula ({key}) that no cell holds")
            first_row, first_column, master = self._shared[key]
            formula = moved(master, row - first_row, column - first_column)
            self._spend(cell.ref, len(formula))
            self.content.cells[row, column] = Cell(
                cell.ref, formula, cell.stored, cell.number_format, None, cell.dynamic, None, cell.rich, cell.white
            )

    def _data_table(self, ref: CellRef, attributes: dict[str, str]) -> DataTable:
        first = self._input(attributes, "r1", "del1")
        filled = self._range(attributes.get("ref") or ref.address)
        if truth(attributes.get("dt2D", "")):
            return DataTable(filled, first, self._input(attributes, "r2", "del2"))
        by_row = truth(attributes.get("dtr", ""))
        return DataTable(filled, first if by_row else None, None if by_row else first)

    def _input(self, attributes: dict[str, str], name: str, deleted: str) -> CellRef | None:
        text = attributes.get(name)
        if not text or truth(attributes.get(deleted, "")):
            return None
        bounds = self._range(text)
        return CellRef(bounds.sheet, bounds.first_row, bounds.first_column)

    def _stored(self, ref: CellRef) -> Scalar:
        kind, raw = self._attributes.get("t", "n"), self._value
        if kind == "inlineStr":
            text = self._inline if self._inline is not None else raw
            return None if text is None else unescaped(text)
        if raw is None:
            return None
        if kind == "s":
            number = whole_number(raw.strip(), -1)
            if not 0 <= number < len(self._context.strings):
                raise self._refuse(
                    f"cell {ref.address} points to shared string {raw!r}, "
                    f"but the file holds {len(self._context.strings)} of them"
                )
            return self._context.strings[number]
        return _converted(kind, raw, self._context.date1904)


def _converted(kind: str, raw: str, date1904: bool) -> Scalar:
    """Return the scalar of a ``v`` element of any type but a shared string."""
    if kind == "str":
        return unescaped(raw)
    text = raw.strip()
    if not text:
        return None
    if kind == "b":
        return truth(text)
    if kind == "e":
        return _error(text)
    if kind == "d":
        return _serial(text, date1904)
    try:
        number = float(text)
    except ValueError:
        return raw
    return number if isfinite(number) else _error("#NUM!")


@lru_cache(maxsize=64)
def _error(code: str) -> CellError:
    return CellError(error=code)


def _serial(text: str, date1904: bool) -> Scalar:
    """Return the serial number of an ISO 8601 date, in days of the workbook's date system."""
    try:
        moment = datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return text
    origin = datetime(1904, 1, 1) if date1904 else datetime(1899, 12, 30)
    return (moment - origin).total_seconds() / 86_400


@lru_cache(maxsize=20_000)
def _column(letters: str) -> int:
    """Return a column number, 0 for what is no column."""
    valid = letters.isascii() and letters.isalpha() and len(letters) <= 3
    return column_number(letters) if valid else 0


def _bounded(merge: str) -> str:
    """Return a merged range with all its corners: LibreOffice writes whole rows as ``1:3``, columns as ``A:C``."""
    start, _, end = merge.partition(":")
    if start.isdecimal() and end.isdecimal():
        return f"A{start}:{column_letters(MAX_COLUMN)}{end}"
    if start.isalpha() and end.isalpha():
        return f"{start}1:{end}{MAX_ROW}"
    return merge
