"""The words of a formula: one regular expression, used by the reader, the parser and the graph.

Formulas are those of files: English function names, commas, ``A1`` addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from xlcheck.cells import MAX_COLUMN, MAX_ROW, RangeRef, column_letters, column_number

_QUOTED = r"'(?:[^']|'')*+'"
_SHEET = rf"(?:{_QUOTED}|(?:\[[^\[\]]{{1,255}}\])?[\w.]{{1,255}}(?::[\w.]{{1,255}})?|\[[0-9]{{1,5}}\])!"
_CELL = r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}"
_ITEM = r"\[(?:[^\[\]']|'.)*+\]"
_BRACKETS = rf"\[(?:[^\[\]']|'.|{_ITEM})*+\](?![\w.!])"
_CODES = (
    "REF! DIV/0! N/A NAME\\? NULL! NUM! VALUE! SPILL! CALC! FIELD! BLOCKED! CONNECT! BUSY! UNKNOWN! EXTERNAL! PYTHON!"
)
_ERRORS = rf"\#(?:{'|'.join(_CODES.split())}|GETTING_DATA)"
_NAME = r"[^\W\d][\w.?\\]*+|\\[\w.?\\]*+"
_END = r"(?![\w.(!\[\\?])"
_TOKEN = re.compile(
    rf"""(?P<operator><>|<=|>=|[-+*/^&=<>%:@])
    |(?P<separator>[,;])
    |(?P<open>[({{])
    |(?P<close>[)}}])
    |(?P<text>"(?:[^"]|"")*+"?)
    |(?P<space>[ \t\r\n\u00a0]+)
    |(?P<sheet>{_SHEET})?(?:
        (?P<ref>(?:(?P<a>{_CELL})(?::(?P<b>{_CELL}){_END})?
            |(?P<c1>\$?[A-Za-z]{{1,3}}):(?P<c2>\$?[A-Za-z]{{1,3}})|(?P<r1>\$?[0-9]{{1,7}}):(?P<r2>\$?[0-9]{{1,7}})){_END})
        |(?P<error>{_ERRORS})
        |(?P<function>[^\W\d][\w.]*+[ ]*\()
        |(?P<table>(?:{_NAME})?{_BRACKETS})
        |(?P<name>{_NAME}))
    |(?P<number>(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)(?![\w!])
    |(?P<spill>\#)
    |(?P<other>[\w.]++|{_QUOTED}|'[^']*+|\[(?:[^\[\]']|'.)*+|.)""",
    re.VERBOSE | re.DOTALL,
)
# Each word is tried a fixed number of times and what fails is taken whole: no text takes longer than its length.


class Area(NamedTuple):
    """A reference as written; 0 in a bound means the whole column or row."""

    sheet: str
    """Sheet prefix with quotes and ``!``, as written, or ''."""
    first_row: int
    first_column: int
    last_row: int
    last_column: int
    absolute: tuple[bool, bool, bool, bool]
    """Dollar signs, in the order of the four bounds."""
    single: bool
    """True for one cell written without a colon."""


class Token(NamedTuple):
    """One word; `area` is set for references only."""

    kind: str
    text: str
    area: Area | None = None


def tokens(formula: str) -> Iterator[Token]:
    """Yield the words of a formula (its leading ``=`` left out or not); never raises."""
    for match in _TOKEN.finditer(formula):
        kind = match.lastgroup or "other"
        if kind == "spill":
            kind = "operator"
        if kind == "ref":
            area = _area(match[0])
            yield Token("ref", match[0], area) if area else Token("name", match[0])
        else:
            yield Token(kind, match[0])


_READING = frozenset({"ref", "name", "table"})
_STARTS = _READING | {"function", "open"}


def reading_words(formula: str) -> list[Token] | None:
    """Return the references, names and tables of a formula; None where ``:`` or a blank joins references.

    The short way for whole workbooks: everything else is skipped without making a `Token` of it.
    """
    found: list[Token] = []
    ended = joining = False
    for match in _TOKEN.finditer(formula):
        kind = match.lastgroup
        if kind in _READING:
            area = _area(match[0]) if kind == "ref" else None
            found.append(Token("name" if kind == "ref" and area is None else kind, match[0], area))
        elif kind == "space":
            joining = ended
            continue
        elif kind == "operator" and match[0] == ":":
            return None
        if joining and kind in _STARTS:
            return None
        joining = False
        ended = kind in _READING or kind in ("close", "spill")
    return found


@lru_cache(maxsize=30_000)
def _area(text: str) -> Area | None:
    """Read the bounds of a reference; None if it lies outside the grid (it is a name then)."""
    match = _TOKEN.match(text)
    assert match is not None
    sheet, a, b, c1, c2, r1, r2 = match.group("sheet", "a", "b", "c1", "c2", "r1", "r2")
    prefix = sheet or ""
    if a:
        row, column, fixed_row, fixed_column = _cell(a)
        if b:
            row2, column2, fixed_row2, fixed_column2 = _cell(b)
        else:
            row2, column2, fixed_row2, fixed_column2 = row, column, fixed_row, fixed_column
        if not (0 < row <= MAX_ROW and column <= MAX_COLUMN and 0 < row2 <= MAX_ROW and column2 <= MAX_COLUMN):
            return None
        fixed = (fixed_row, fixed_column, fixed_row2, fixed_column2)
        return Area(prefix, row, column, row2, column2, fixed, b is None)
    if c1:
        first, last = column_number(c1.lstrip("$")), column_number(c2.lstrip("$"))
        fixed = (True, c1[0] == "$", True, c2[0] == "$")
        return Area(prefix, 0, first, 0, last, fixed, False) if max(first, last) <= MAX_COLUMN else None
    first, last = int(r1.lstrip("$")), int(r2.lstrip("$"))
    fixed = (r1[0] == "$", True, r2[0] == "$", True)
    inside = 0 < first <= MAX_ROW and 0 < last <= MAX_ROW
    return Area(prefix, first, 0, last, 0, fixed, False) if inside else None


def _cell(text: str) -> tuple[int, int, bool, bool]:
    fixed_column = text[0] == "$"
    letters = text.strip("$0123456789")
    rest = text[fixed_column + len(letters) :]
    fixed_row = rest[0] == "$"
    return int(rest[fixed_row:]), column_number(letters), fixed_row, fixed_column


Pieces = tuple[str | Area, ...]


def pieces(formula: str) -> Pieces:
    """Cut a formula into plain text and references, for moving it about."""
    found: list[str | Area] = []
    plain = ""
    for token in tokens(formula):
        if token.area is None:
            plain += token.text
        else:
            found += [plain, token.area]
            plain = ""
    return (*found, plain)


def moved(formula: Pieces, rows: int, columns: int) -> str:
    """Write a formula as it reads after filling it that far down and right (``#REF!`` beyond the grid)."""
    return "".join([part if isinstance(part, str) else _moved_area(part, rows, columns) for part in formula])


def _moved_area(area: Area, rows: int, columns: int) -> str:
    fixed = area.absolute
    r1 = area.first_row if fixed[0] else area.first_row + rows
    c1 = area.first_column if fixed[1] else area.first_column + columns
    if area.single:
        if 0 < r1 <= MAX_ROW and 0 < c1 <= MAX_COLUMN:
            return f"{area.sheet}{'$' if fixed[1] else ''}{column_letters(c1)}{'$' if fixed[0] else ''}{r1}"
        return f"{area.sheet}#REF!"
    r2 = area.last_row if fixed[2] else area.last_row + rows
    c2 = area.last_column if fixed[3] else area.last_column + columns
    whole_columns, whole_rows = area.first_row == 0, area.first_column == 0
    if not whole_columns and not (0 < r1 <= MAX_ROW and 0 < r2 <= MAX_ROW):
        return f"{area.sheet}#REF!"
    if not whole_rows and not (0 < c1 <= MAX_COLUMN and 0 < c2 <= MAX_COLUMN):
        return f"{area.sheet}#REF!"
    start, end = _corner(r1, c1, fixed[0], fixed[1], area), _corner(r2, c2, fixed[2], fixed[3], area)
    return f"{area.sheet}{start}:{end}"


def _corner(row: int, column: int, fixed_row: bool, fixed_column: bool, area: Area) -> str:
    letters = "" if area.first_column == 0 else ("$" if fixed_column else "") + column_letters(column)
    number = "" if area.first_row == 0 else ("$" if fixed_row else "") + str(row)
    return letters + number


def unquoted(prefix: str) -> str:
    """Return the sheet name of a prefix: ``'It''s'!`` is ``It's``."""
    name = prefix.removesuffix("!")
    return name[1:-1].replace("''", "'") if len(name) > 1 and name[0] == "'" else name


_PLAIN = re.compile(r"[^\W\d][\w.]*\Z")
_ADDRESS = re.compile(r"[A-Za-z]{1,3}[0-9]{1,7}\Z|[Rr][0-9]*[Cc][0-9]*\Z|[Rr]\Z|[Cc]\Z")


def quote(sheet: str) -> str:
    """Return the prefix that names a sheet, with its ``!`` and with quotes where they are needed."""
    if _PLAIN.match(sheet) and not _ADDRESS.match(sheet):
        return f"{sheet}!"
    return "'" + sheet.replace("'", "''") + "'!"


def written(area: RangeRef) -> str:
    """Return a rectangle as a formula writes it, its sheet in front."""
    return f"{quote(area.sheet)}{area.address}"
