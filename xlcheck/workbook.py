"""The one reader: a workbook file becomes a `Book` of cells with formulas *and* stored values.

Per-cell records are slotted dataclasses, not pydantic models: a book can hold half a million of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from xlcheck.cells import CellRef, RangeRef, Scalar
from xlcheck.errors import SubmissionError
from xlcheck.intake import DEFAULT_LIMITS, Limits, open_package

SheetState = Literal["visible", "hidden", "veryHidden"]


@dataclass(frozen=True, slots=True)
class DataTable:
    """An Excel what-if table (``{=TABLE(row_input, column_input)}``), held by its top-left cell."""

    range: RangeRef
    """The cells that the table fills (without axes)."""
    row_input: CellRef | None
    """The cell that receives the values of the row above the table."""
    column_input: CellRef | None
    """The cell that receives the values of the column left of the table."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell that holds something (a cell with a number format only is left out)."""

    ref: CellRef
    formula: str | None
    """With its leading ``=``, shared formulas translated, ``_xlfn.`` prefixes kept; None for a constant."""
    stored: Scalar
    """The value the file carries. For a formula None means *no stored value*, never zero or blank."""
    number_format: str = "General"
    array: RangeRef | None = None
    """The range that an array or spilling formula fills, on its first cell only."""
    dynamic: bool = False
    """True for a dynamic-array formula (``cm`` attribute): no implicit intersection."""
    data_table: DataTable | None = None
    """Set on the first cell of a data table; such a cell has no formula."""
    rich: bool = False
    """True for rich data (``vm`` attribute): an error stored here may be a placeholder."""
    white: bool = False
    """True where font colour or format ``;;;`` make the value invisible."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A worksheet; `cells` is keyed by (row, column), both 1-based."""

    name: str
    state: SheetState
    cells: Mapping[tuple[int, int], Cell]
    hidden_rows: frozenset[int] = frozenset()
    hidden_columns: frozenset[int] = frozenset()
    merged: tuple[RangeRef, ...] = ()
    comments: Mapping[tuple[int, int], str] = field(default_factory=dict)
    max_row: int = field(init=False, compare=False)
    """The last row that holds a cell, 0 for an empty sheet."""
    max_column: int = field(init=False, compare=False)
    """The last column that holds a cell, 0 for an empty sheet."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_row", max((row for row, _ in self.cells), default=0))
        object.__setattr__(self, "max_column", max((column for _, column in self.cells), default=0))


@dataclass(frozen=True, slots=True)
class DefinedName:
    """A defined name; `sheet` is None for the whole workbook."""

    name: str
    sheet: str | None
    formula: str
    """Without leading ``=``: a reference, a constant or a formula."""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A structured table."""

    name: str
    range: RangeRef
    columns: tuple[str, ...]
    header_rows: int = 1
    totals_rows: int = 0


@dataclass(frozen=True, slots=True)
class CalcSettings:
    """The calculation settings of the workbook (``calcPr``), at Excel's defaults where missing."""

    mode: Literal["auto", "autoNoTable", "manual"] = "auto"
    iterate: bool = False
    iterate_count: int = 100
    iterate_delta: float = 0.001
    full_precision: bool = True
    date1904: bool = False
    full_calc_on_load: bool = False


@dataclass(frozen=True, slots=True)
class Book:
    """A workbook as read: formulas and stored values, nothing recomputed."""

    file_name: str
    """Without folders, so that reports carry no path."""
    sha256: str
    sheets: tuple[Sheet, ...]
    names: tuple[DefinedName, ...] = ()
    tables: tuple[Table, ...] = ()
    calc: CalcSettings = CalcSettings()
    application: str = ""
    """The writing program as docProps/app.xml names it, or ''."""
    last_saved: datetime | None = None
    """docProps/core.xml modified, UTC."""
    external: Mapping[int, Mapping[CellRef, Scalar]] = field(default_factory=dict)
    """Stored values of linked workbooks by link number (``[1]Sheet1!A1``)."""
    external_names: Mapping[int, str] = field(default_factory=dict)
    """Target of each external link as written in the file; never followed."""
    parsed: dict[object, object] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The memory of `formula.parse`: the locator and the checks read the same formulas."""
    _by_name: Mapping[str, Sheet] = field(init=False, repr=False, compare=False)
    _names: Mapping[tuple[str, str | None], DefinedName] = field(init=False, repr=False, compare=False)
    _tables: Mapping[str, Table] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_name: dict[str, Sheet] = {}
        for sheet in self.sheets:
            by_name.setdefault(sheet.name.casefold(), sheet)
        for sheet in self.sheets:
            by_name[sheet.name] = sheet
        names = {(one.name.casefold(), one.sheet.casefold() if one.sheet else None): one for one in self.names}
        object.__setattr__(self, "_by_name", by_name)
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_tables", {table.name.casefold(): table for table in self.tables})

    def name(self, name: str, sheet: str | None = None) -> DefinedName | None:
        """Return the defined name that a word means on a sheet: the sheet's own first, then the workbook's."""
        folded = name.casefold()
        own = self._names.get((folded, sheet.casefold())) if sheet else None
        return own or self._names.get((folded, None))

    def table(self, name: str) -> Table | None:
        """Return the structured table of that name (case-insensitive), or None."""
        return self._tables.get(name.casefold())

    def sheet(self, name: str) -> Sheet | None:
        """Return the sheet of that name (case-insensitive, as Excel), or None."""
        return self._by_name.get(name) or self._by_name.get(name.casefold())

    def get(self, ref: CellRef) -> Cell | None:
        """Return the cell, or None where it is blank."""
        name, row, column = ref
        sheet = self._by_name.get(name) or self._by_name.get(name.casefold())
        return sheet.cells.get((row, column)) if sheet else None

    def cells(self) -> Iterator[Cell]:
        """Yield every non-blank cell, sheet by sheet in file order."""
        for sheet in self.sheets:
            yield from sheet.cells.values()

    def formula_cells(self) -> Iterator[Cell]:
        """Yield every cell that holds a formula."""
        return (cell for cell in self.cells() if cell.formula is not None)


def load(path: str | Path, limits: Limits = DEFAULT_LIMITS) -> Book:
    """Read an .xlsx or .xlsm workbook; nothing is recomputed, followed or written.

    Raises UsageError if there is no such file, SubmissionError (one sentence) if it is no workbook that can be read
    within the limits.
    """
    from xlcheck.reading.book import read_book

    try:
        return read_book(open_package(path, limits))
    except SubmissionError as error:  # names of sheets and parts are the submitter's: no control characters of theirs
        raise SubmissionError("".join(letter if letter.isprintable() else "?" for letter in str(error))) from None
