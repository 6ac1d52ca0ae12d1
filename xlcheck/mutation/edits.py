"""Edits of formula texts and of books; values are never touched here, an engine recomputes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from xlcheck.cells import CellRef, RangeRef, Scalar
from xlcheck.reading.scope import sheet_of
from xlcheck.reading.tokens import Token, tokens
from xlcheck.workbook import Book, Cell, DataTable, Sheet

Edit = Callable[[str, CellRef, str], str | None]
"""Rewrites a formula (text, the cell it names, its own sheet); None where it does not fit."""
Content = str | float | bool | None
"""What a cell is given: a text with a leading ``=`` is a formula, anything else a constant, None a blank."""
_PLAIN_SHEET = re.compile(r"[A-Za-z_\u0080-\uffff][\w.\u0080-\uffff]*\Z")
_LIKE_A_REFERENCE = re.compile(r"(?:[A-Za-z]{1,3}[0-9]+|[Rr][0-9]*[Cc]?[0-9]*|[Cc][0-9]*)\Z")


def written(ref: CellRef | RangeRef, on_sheet: str) -> str:
    """Return a reference as a formula on a sheet writes it: ``B7``, ``DCF!B7``, ``'Cash flow'!B7:C9``."""
    if ref.sheet == on_sheet:
        return ref.address
    bare = _PLAIN_SHEET.match(ref.sheet) and not _LIKE_A_REFERENCE.match(ref.sheet)
    name = ref.sheet if bare else "'" + ref.sheet.replace("'", "''") + "'"
    return f"{name}!{ref.address}"


def position(words: list[Token], target: CellRef, on_sheet: str) -> int | None:
    """Return where a formula names exactly this one cell, None if nowhere."""
    for index, word in enumerate(words):
        area = word.area
        if area is None or not area.single or (area.first_row, area.first_column) != (target.row, target.column):
            continue
        sheet = sheet_of(area.sheet) if area.sheet else on_sheet
        if sheet.casefold() == target.sheet.casefold():
            return index
    return None


def sign_flipped(formula: str, target: CellRef, on_sheet: str) -> str | None:
    """Return the formula with the sign before this cell turned round; None where it stands in no plain sum."""
    words = list(tokens(formula))
    at = position(words, target, on_sheet)
    if at is None:
        return None
    before = _word_before(words, at)
    if before is not None and words[before].text in ("+", "-") and words[before].kind == "operator":
        words[before] = Token("operator", "-" if words[before].text == "+" else "+")
    elif before is None or words[before].text in ("=", "("):
        words[at] = Token("other", "-" + words[at].text)
    else:
        return None
    return "".join(word.text for word in words)


def without_term(formula: str, target: CellRef, on_sheet: str) -> str | None:
    """Return the formula without this cell and the ``+`` or ``-`` before it; None where it is no such term."""
    words = list(tokens(formula))
    at = position(words, target, on_sheet)
    before = None if at is None else _word_before(words, at)
    if at is None or before is None or words[before].text not in ("+", "-") or _multiplied(words, at):
        return None
    return "".join(word.text for word in words[:before] + words[at + 1 :])


def with_reference(formula: str, target: CellRef, other: CellRef, on_sheet: str) -> str | None:
    """Return the formula reading another cell in place of this one; None where it does not name it."""
    words = list(tokens(formula))
    at = position(words, target, on_sheet)
    if at is None:
        return None
    words[at] = Token("other", written(other, on_sheet))
    return "".join(word.text for word in words)


def reading(other: CellRef) -> Edit:
    """Return the edit that reads another cell in place of the one named."""
    return lambda formula, target, on_sheet: with_reference(formula, target, other, on_sheet)


def divided(formula: str, target: CellRef, on_sheet: str) -> str | None:
    """Return the formula dividing by this cell where it multiplied with it; None where it does neither."""
    words = list(tokens(formula))
    at = position(words, target, on_sheet)
    before = None if at is None else _word_before(words, at)
    if before is None or words[before].text not in ("*", "/"):
        return None
    words[before] = Token("operator", "/" if words[before].text == "*" else "*")
    return "".join(word.text for word in words)


def _word_before(words: list[Token], at: int) -> int | None:
    return next((index for index in range(at - 1, -1, -1) if words[index].kind != "space"), None)


def _multiplied(words: list[Token], at: int) -> bool:
    after = next((word.text for word in words[at + 1 :] if word.kind != "space"), "")
    return after in ("*", "/", "^", ":")


def edited(
    book: Book,
    changes: Mapping[CellRef, Content],
    stored: Mapping[CellRef, Scalar] | None = None,
    tables: Mapping[CellRef, DataTable] | None = None,
) -> Book:
    """Return the book with cells changed and no formula holding a stored value, but for those given in `stored`.

    `tables` gives what-if tables other inputs, by the cell that holds them.
    """
    return replace(book, sheets=tuple(_sheet(sheet, changes, stored or {}, tables or {}) for sheet in book.sheets))


def _sheet(
    sheet: Sheet,
    changes: Mapping[CellRef, Content],
    stored: Mapping[CellRef, Scalar],
    tables: Mapping[CellRef, DataTable],
) -> Sheet:
    cells = dict(sheet.cells)
    for ref, table in tables.items():
        if ref.sheet == sheet.name:
            cells[ref.row, ref.column] = replace(cells[ref.row, ref.column], data_table=table)
    for ref, content in changes.items():
        if ref.sheet != sheet.name:
            continue
        place = (ref.row, ref.column)
        if content is None:
            cells.pop(place, None)
        else:
            cells[place] = _changed(cells.get(place), ref, content)
    for place, cell in cells.items():
        if cell.formula is not None or cell.ref in stored:
            cells[place] = replace(cell, stored=stored.get(cell.ref))
    return replace(sheet, cells=cells)


def _changed(old: Cell | None, ref: CellRef, content: str | float | bool) -> Cell:
    blank = Cell(ref=ref, formula=None, stored=None) if old is None else old
    if isinstance(content, str) and content.startswith("="):
        return replace(blank, formula=content, stored=None, array=None, dynamic=False)
    return replace(blank, formula=None, stored=content, array=None, dynamic=False)
