"""Implicit intersection: in a plain formula a range where one value is wanted means the cell beside the formula.

Excel before dynamic arrays, and every file that does not mark a formula as an array, calculates
``=SUM(A1:A3*2)`` from the one cell of A1:A3 in the formula's own row, or as #VALUE! if there is none. Engines
calculate the whole array instead, so the cell is written out for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xlcheck.cells import CellRef, column_letters
from xlcheck.reading.scope import defined_name, name_area
from xlcheck.reading.tokens import Area, Token, tokens
from xlcheck.workbook import Book

_OPERATORS = frozenset({"+", "-", "*", "/", "^", "&", "=", "<", ">", "<=", ">=", "<>", "%"})
_ARRAY_NAMES = """SUMPRODUCT MMULT MDETERM MINVERSE LOOKUP INDEX AGGREGATE SUMX2MY2 SUMX2PY2 SUMXMY2 TRANSPOSE FREQUENCY
LINEST LOGEST TREND GROWTH LET LAMBDA FILTER SORT SORTBY UNIQUE XLOOKUP XMATCH SEQUENCE MAP REDUCE SCAN BYROW BYCOL
MAKEARRAY CHOOSECOLS CHOOSEROWS TAKE DROP HSTACK VSTACK TOCOL TOROW TEXTJOIN CONCAT"""
_SCALAR_NAMES = """ABS ROUND ROUNDUP ROUNDDOWN INT TRUNC SQRT EXP LN LOG LOG10 MOD SIGN POWER YEAR MONTH DAY EDATE
EOMONTH LEN LEFT RIGHT MID TRIM UPPER LOWER VALUE TEXT ISNUMBER ISBLANK ISERROR ISTEXT ISNA ISERR NOT N DATE FLOOR
CEILING FACT COS SIN"""
_ARRAYS = frozenset(f"{name}(" for name in _ARRAY_NAMES.split())
"""Functions that calculate their arguments as arrays in any formula."""
_SCALARS = frozenset(f"{name}(" for name in _SCALAR_NAMES.split())
"""Functions that want one value in each argument."""
_NOTHING = Token("space", "")
_REFERENCES = frozenset({"ref", "name", "table"})
"""Kinds of words that, standing side by side, are joined by the intersection blank."""


def intersect(text: str, at: CellRef, book: Book) -> str:
    """Return a plain formula (without its ``=``) with each range that stands for one value written as that cell."""
    words = list(tokens(text))
    if not any(_several(word, at, book) for word in words):
        return text
    significant = [index for index, word in enumerate(words) if word.kind != "space"]
    out = [word.text for word in words]
    stack: list[str] = []
    for place, index in enumerate(significant):
        word = words[index]
        if word.kind == "function" or word.text in ("(", "{"):
            stack.append(word.text.rpartition(".")[2].upper() if word.text.startswith("_xl") else word.text.upper())
        elif word.kind == "close":
            stack[-1:] = []
        elif (area := _several(word, at, book)) and _wants_one(words, significant, place, stack):
            out[index] = _cell(area, at)
    return "".join(out)


def _several(word: Token, at: CellRef, book: Book) -> Area | None:
    """Return the reference of a word if it is a rectangle of several cells."""
    area = word.area
    if word.kind == "name":
        name = defined_name(word.text, at.sheet, book)
        area = name_area(name, at) if name else None
    if area is None or area.single or ":" in area.sheet or "[" in area.sheet:
        return None
    one = area.first_row == area.last_row != 0 and area.first_column == area.last_column != 0
    return None if one else area


def _wants_one(words: Sequence[Token], significant: Sequence[int], place: int, stack: Sequence[str]) -> bool:
    """Say whether one value is wanted where a range stands: beside an operator, or in an argument for one value."""
    functions = [name for name in stack if name not in ("(", "{")]
    if any(name in _ARRAYS for name in functions):
        return False
    before, after = place - 1, place + 1
    while before >= 0 and after < len(significant) and _bracketed(words, significant, before, after):
        before, after = before - 1, after + 1
    left = words[significant[before]] if before >= 0 else _NOTHING
    right = words[significant[after]] if after < len(significant) else _NOTHING
    if left.text in (":", "#", "@") or right.text in (":", "#") or _REFERENCES.intersection((left.kind, right.kind)):
        return False
    if left.text in _OPERATORS or right.text in _OPERATORS:
        return True
    return bool(functions) and functions[-1] in _SCALARS and stack[-1] == functions[-1] and len(functions) > 1


def _bracketed(words: Sequence[Token], significant: Sequence[int], before: int, after: int) -> bool:
    return words[significant[before]].text == "(" and words[significant[after]].text == ")"


def _cell(area: Area, at: CellRef) -> str:
    """Return the cell of the area in the formula's row or column, ``#VALUE!`` if there is none."""
    if area.first_column == area.last_column != 0 and area.first_row <= at.row <= (area.last_row or at.row):
        return f"{area.sheet}${column_letters(area.first_column)}${at.row}"
    if area.first_row == area.last_row != 0 and area.first_column <= at.column <= (area.last_column or at.column):
        return f"{area.sheet}${column_letters(at.column)}${area.first_row}"
    return "#VALUE!"
