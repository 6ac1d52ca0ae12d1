"""Cell addresses, scalar values, and how two numbers are compared.

Addresses are written ``Sheet name!A1`` everywhere: no quotes, no ``$``. `CellRef` and `RangeRef` are
named tuples (hundreds of thousands of them live in one book) that pydantic reads and writes as that text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

MAX_ROW = 1_048_576
MAX_COLUMN = 16_384
_A1 = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})\Z")


class Frozen(BaseModel):
    """Base of every record: immutable, no unknown fields, no NaN or infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class CellError(Frozen):
    """An Excel error value, kept apart from text."""

    error: str
    """The code as Excel shows it: ``#REF!``, ``#DIV/0!``, ``#VALUE!``, ``#NAME?``, ``#NUM!``, ``#N/A``, …"""

    def __str__(self) -> str:
        return self.error


Scalar = float | bool | str | CellError | None
"""What a cell can hold. Dates are serial numbers; ``None`` is a blank cell or *no stored value*."""


@lru_cache(maxsize=20_000)
def column_letters(column: int) -> str:
    """Return the letters of a 1-based column number: 28 is ``AB``."""
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


@lru_cache(maxsize=20_000)
def column_number(letters: str) -> int:
    """Return the 1-based number of column letters: ``AB`` is 28."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def parse_a1(text: str) -> tuple[int, int]:
    """Return (row, column), both 1-based, of ``B7`` or ``$B$7``; ValueError beyond XFD1048576 or if malformed."""
    match = _A1.match(text)
    if match is None:
        raise ValueError(f"{text!r} is no cell address such as B7")
    row, column = int(match[2]), column_number(match[1])
    if not (1 <= row <= MAX_ROW and column <= MAX_COLUMN):
        raise ValueError(f"{text!r} lies outside the grid A1:XFD1048576")
    return row, column


def _split_sheet(text: str) -> tuple[str, str]:
    sheet, bang, address = text.rpartition("!")
    if not bang or not sheet:
        raise ValueError(f"{text!r} names no sheet; write Sheet name!A1")
    if len(sheet) > 1 and sheet[0] == sheet[-1] == "'":
        sheet = sheet[1:-1].replace("''", "'")
    return sheet, address


class CellRef(NamedTuple):
    """One cell: sheet name, 1-based row, 1-based column. Ordered by sheet, row, column."""

    sheet: str
    row: int
    column: int

    @classmethod
    def parse(cls, text: str) -> CellRef:
        """Read ``Sheet name!A1`` (quotes and ``$`` are accepted); ValueError if it is malformed."""
        sheet, address = _split_sheet(text)
        return cls(sheet, *parse_a1(address))

    @property
    def address(self) -> str:
        """The address without its sheet: ``B7``."""
        return f"{column_letters(self.column)}{self.row}"

    def offset(self, rows: int, columns: int) -> CellRef:
        """Return the cell that many rows down and columns right (no grid check)."""
        return CellRef(self.sheet, self.row + rows, self.column + columns)

    def __str__(self) -> str:
        return f"{self.sheet}!{self.address}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        """Read from and write to the text form, also as a dictionary key."""
        return _text_schema(cls)


class RangeRef(NamedTuple):
    """A rectangle on one sheet; all four bounds are 1-based and inclusive."""

    sheet: str
    first_row: int
    first_column: int
    last_row: int
    last_column: int

    @classmethod
    def parse(cls, text: str) -> RangeRef:
        """Read ``Sheet name!A1:C3`` or a single cell; ValueError if it is malformed."""
        sheet, address = _split_sheet(text)
        start, _, end = address.partition(":")
        (r1, c1), (r2, c2) = parse_a1(start), parse_a1(end or start)
        return cls(sheet, min(r1, r2), min(c1, c2), max(r1, r2), max(c1, c2))

    @property
    def address(self) -> str:
        """The address without its sheet: ``B7:C9``, or ``B7`` for one cell."""
        start = f"{column_letters(self.first_column)}{self.first_row}"
        end = f"{column_letters(self.last_column)}{self.last_row}"
        return start if start == end else f"{start}:{end}"

    @property
    def size(self) -> int:
        """The number of cells."""
        return (self.last_row - self.first_row + 1) * (self.last_column - self.first_column + 1)

    def __contains__(self, ref: object) -> bool:
        return (
            isinstance(ref, CellRef)
            and ref.sheet == self.sheet
            and self.first_row <= ref.row <= self.last_row
            and self.first_column <= ref.column <= self.last_column
        )

    def cells(self) -> Iterator[CellRef]:
        """Yield every cell, row by row."""
        for row in range(self.first_row, self.last_row + 1):
            for column in range(self.first_column, self.last_column + 1):
                yield CellRef(self.sheet, row, column)

    def __str__(self) -> str:
        return f"{self.sheet}!{self.address}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        """Read from and write to the text form, also as a dictionary key."""
        return _text_schema(cls)


def _text_schema(kind: type[CellRef] | type[RangeRef]) -> CoreSchema:
    def read(value: object) -> CellRef | RangeRef:
        if isinstance(value, kind):
            return value
        if isinstance(value, str):
            return kind.parse(value)
        raise ValueError("a cell address such as 'Sheet name!A1' is expected")

    return core_schema.no_info_plain_validator_function(
        read,
        json_schema_input_schema=core_schema.str_schema(),
        serialization=core_schema.plain_serializer_function_ser_schema(str, return_schema=core_schema.str_schema()),
    )


class Tolerance(Frozen):
    """How far two numbers may lie apart: ``max(absolute, relative * scale)``."""

    relative: float = 1e-6
    """Share of the scale (the largest absolute term of the identity, unless said otherwise)."""
    absolute: float = 0.0
    """In the unit of the compared values: half a unit of the last digit where a rounding stands in the chain."""

    def allows(self, found: float, expected: float, scale: float | None = None) -> bool:
        """Say whether the two are equal within the tolerance; scale defaults to the larger absolute value."""
        largest = max(abs(found), abs(expected)) if scale is None else abs(scale)
        return abs(found - expected) <= max(self.absolute, self.relative * largest)


DEFAULT_TOLERANCE = Tolerance()


def is_number(value: object) -> bool:
    """Say whether a scalar is a finite number (booleans are not)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def as_number(value: object) -> float | None:
    """Return a scalar as a float, or None if it is no finite number."""
    return float(value) if is_number(value) else None  # type: ignore[arg-type]
