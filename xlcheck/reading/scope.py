"""What a reference, a defined name or a structured reference stands for in a book, as rectangles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from xlcheck.cells import MAX_COLUMN, MAX_ROW, CellRef, RangeRef
from xlcheck.reading.tokens import Area, Token, tokens, unquoted
from xlcheck.workbook import Book, DefinedName, Sheet, Table

_ITEM = re.compile(r"(:?)\s*\[((?:[^\[\]']|'.)*)\]")
_MAX_NAME_DEPTH = 20
_LINK = re.compile(r"\[([0-9]{1,5})\]")


@lru_cache(maxsize=10_000)
def sheet_of(prefix: str) -> str:
    """Return the sheet name of a prefix as written (``'It''s'!``)."""
    return unquoted(prefix)


def link_number(prefix: str) -> int:
    """Return the number of the external link in a sheet prefix, 0 where the file is named in words."""
    match = _LINK.search(prefix)
    return int(match[1]) if match else 0


def rectangles(area: Area, sheet: str, book: Book | None) -> tuple[RangeRef, ...]:
    """Return what a reference covers: one rectangle, several for a 3-D reference, none outside the workbook."""
    name = sheet_of(area.sheet) if area.sheet else sheet
    if "[" in name:
        return ()
    if book is None:
        return () if ":" in name else (_cut(area, name, MAX_ROW, MAX_COLUMN),)
    found = book.sheet(name)
    if found is not None:
        if area.single:
            return (RangeRef(found.name, area.first_row, area.first_column, area.first_row, area.first_column),)
        return (_cut(area, found.name, found.max_row, found.max_column),)
    if ":" not in name:
        return (_cut(area, name, 1, 1),)
    return tuple(_cut(area, one.name, one.max_row, one.max_column) for one in spanned(name, book))


def spanned(name: str, book: Book) -> tuple[Sheet, ...]:
    """Return the sheets of a 3-D reference, whose sheet name is ``First:Last``; none where an end is missing."""
    first, _, last = name.casefold().partition(":")
    names = [one.name.casefold() for one in book.sheets]
    if first not in names or last not in names:
        return ()
    start, end = sorted((names.index(first), names.index(last)))
    return book.sheets[start : end + 1]


def _cut(area: Area, sheet: str, max_row: int, max_column: int) -> RangeRef:
    _, r1, c1, r2, c2, _, single = area
    if single:
        return RangeRef(sheet, r1, c1, r1, c1)
    if r1 == 0:
        r1, r2 = 1, max(max_row, 1)
    elif r1 > r2:
        r1, r2 = r2, r1
    if c1 == 0:
        c1, c2 = 1, max(max_column, 1)
    elif c1 > c2:
        c1, c2 = c2, c1
    return RangeRef(sheet, r1, c1, r2, c2)


def defined_name(text: str, sheet: str, book: Book) -> DefinedName | None:
    """Return the defined name that a word means on a sheet: the sheet's own first, then the workbook's."""
    prefix, bang, name = text.rpartition("!")
    if bang and "[" in prefix:
        return None
    return book.name(name, sheet_of(prefix + "!") if bang else sheet)


def name_area(name: DefinedName, at: CellRef | None) -> Area | None:
    """Return the reference that a name is, if it is a plain one; relative names count from the cell `at`."""
    words = [word for word in tokens(name.formula) if word.kind != "space"]
    if len(words) != 1 or words[0].area is None:
        return None
    return placed(words[0].area, at)


def placed(area: Area, at: CellRef | None) -> Area | None:
    """Move the relative parts of a name's reference: in the file they count from A1, and wrap round the grid."""
    if all(area.absolute):
        return area
    if at is None:
        return None
    rows, columns = at.row - 1, at.column - 1
    fixed = area.absolute
    return area._replace(
        first_row=area.first_row if fixed[0] else _wrapped(area.first_row, rows, MAX_ROW),
        first_column=area.first_column if fixed[1] else _wrapped(area.first_column, columns, MAX_COLUMN),
        last_row=area.last_row if fixed[2] else _wrapped(area.last_row, rows, MAX_ROW),
        last_column=area.last_column if fixed[3] else _wrapped(area.last_column, columns, MAX_COLUMN),
    )


def _wrapped(number: int, shift: int, size: int) -> int:
    return (number - 1 + shift) % size + 1


def named_rectangles(
    text: str, sheet: str, book: Book, at: CellRef | None, depth: int = 0
) -> Iterator[tuple[RangeRef, bool]]:
    """Yield every rectangle that a defined name reads, through other names too.

    The second value is False where the name computes its reference (OFFSET, INDIRECT).
    """
    name = defined_name(text, sheet, book)
    if name is None or depth > _MAX_NAME_DEPTH:
        return
    home = name.sheet or sheet
    words = list(tokens(name.formula))
    sure = not any(word.kind == "function" and is_dynamic(word.text) for word in words)
    for word in words:
        if word.area is not None:
            moved = placed(word.area, at)
            for rectangle in rectangles(moved, home, book) if moved else ():
                yield rectangle, sure
        elif word.kind == "table":
            found = structured(word.text, book, at)
            if found is not None:
                yield found, sure
        elif word.kind == "name" and word.text.casefold() != text.casefold():
            yield from named_rectangles(word.text, home, book, at, depth + 1)


def is_dynamic(function: str) -> bool:
    """Say whether a function token (``OFFSET(``) computes which cells it reads."""
    return function.rstrip("( ").rpartition(".")[2].upper() in ("OFFSET", "INDIRECT")


def structured(text: str, book: Book, at: CellRef | None) -> RangeRef | None:
    """Return the rectangle of a structured reference (``T[Price]``, ``T[[#This Row],[Price]]``), None if unknown."""
    name, _, rest = text.partition("[")
    if "!" in name and "[" in text.partition("!")[0]:
        return None
    table = book.table(name.rpartition("!")[2]) if name else _table_at(book, at)
    if table is None:
        return None
    inner = rest.removesuffix("]").strip()
    items = _ITEM.findall(inner)
    if not items:
        items = [("", inner)] if inner else []
    if inner.startswith("@"):
        items = [("", "#This Row"), *([("", inner[1:])] if len(items) == 1 and inner[1:2] not in ("", "[") else items)]
        items = [item for item in items if item[1] not in ("@",)]
    return _table_part(table, items, at)


def _table_at(book: Book, at: CellRef | None) -> Table | None:
    inside = (table for table in book.tables if at is not None and at in table.range)  # type: ignore[comparison-overlap]
    return next(inside, None)


def _table_part(table: Table, items: list[tuple[str, str]], at: CellRef | None) -> RangeRef | None:
    sheet, r1, c1, r2, c2 = table.range
    body_first, body_last = r1 + table.header_rows, r2 - table.totals_rows
    regions = {"#all": (r1, r2), "#data": (body_first, body_last), "#headers": (r1, r1), "#totals": (r2, r2)}
    rows: list[tuple[int, int]] = []
    columns: list[int] = []
    for _, item in items:
        word = re.sub(r"'(.)", r"\1", item).strip() if not item.startswith("#") else item
        key = word.casefold()
        if key in ("#this row", "#thisrow"):
            if at is None or not body_first <= at.row <= body_last:
                return None
            rows.append((at.row, at.row))
        elif (key == "#totals" and not table.totals_rows) or (key == "#headers" and not table.header_rows):
            return None
        elif key in regions and item.startswith("#"):
            rows.append(regions[key])
        else:
            index = next((i for i, column in enumerate(table.columns) if _same(column, word)), None)
            if index is None:
                return None
            columns.append(c1 + index)
    rows = rows or [(body_first, body_last)]
    first, last = (min(columns), max(columns)) if columns else (c1, c2)
    top, bottom = min(row for row, _ in rows), max(row for _, row in rows)
    return RangeRef(sheet, top, first, bottom, last) if top <= bottom else None


def _same(column: str, word: str) -> bool:
    return " ".join(column.split()).casefold() == " ".join(word.split()).casefold()


def is_operand_end(word: Token) -> bool:
    """Say whether an intersection blank may follow this word."""
    return word.kind in ("ref", "name", "table") or word.text in (")", "#")


def is_operand_start(word: Token) -> bool:
    """Say whether a reference may start with this word."""
    return word.kind in ("ref", "name", "table", "function") or word.text == "("
