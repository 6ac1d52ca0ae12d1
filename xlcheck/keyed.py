"""Lookups by a fixed key, such as ``INDEX(B:B,MATCH("wacc",A:A,0))``, read as the one cell that they return."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

from xlcheck.cells import CellRef, RangeRef
from xlcheck.formula import Binary, Call, Node, Number, Range, Ref, Text, Unary, parse, walk
from xlcheck.workbook import Book

_LOOKUP = re.compile(r"\b(?:MATCH|[VHX]LOOKUP)\s*\(", re.IGNORECASE)
_WILD = re.compile(r"[*?~]")


def parse_keyed(text: str, sheet: str, book: Book, at: CellRef) -> Node:
    """Parse a formula as `parse` does, with the exact lookups of a constant text in it replaced by the cell found."""
    if not _LOOKUP.search(text):
        return parse(text, sheet, book, at)
    key = "keyed", text, sheet, at
    node = book.parsed.get(key)
    if node is None:
        node = book.parsed[key] = _resolved(parse(text, sheet, book, at), book)
    return cast(Node, node)


def single_precedents(book: Book, ref: CellRef) -> tuple[CellRef, ...] | None:
    """Return the cells that a formula with such lookups reads, without the tables they stand in; else None."""
    held = book.get(ref)
    if held is None or held.formula is None or not _LOOKUP.search(held.formula):
        return None
    found: dict[CellRef, None] = {}
    for part in walk(parse_keyed(held.formula, ref.sheet, book, ref)):
        if isinstance(part, Ref):
            found[part.cell] = None
        elif isinstance(part, Range):
            found.update(dict.fromkeys(part.range.cells()))
    return tuple(found)


def _resolved(node: Node, book: Book) -> Node:
    match node:
        case Binary(left=left, right=right):
            return replace(node, left=_resolved(left, book), right=_resolved(right, book))
        case Unary(operand=operand):
            return replace(node, operand=_resolved(operand, book))
        case Call(arguments=arguments):
            found = _found(node, book)
            inner = tuple(None if one is None else _resolved(one, book) for one in arguments)
            return Ref(found, absolute_row=True, absolute_column=True) if found else replace(node, arguments=inner)
    return node


def _found(call: Call, book: Book) -> CellRef | None:
    """Return the cell that an exact lookup of a constant text returns; None for any other call."""
    match call:
        case Call(function="INDEX", arguments=(Range(range=area), *places)):
            return _indexed(area, places, book)
        case Call(function="VLOOKUP", arguments=(key, Range(range=area), Number(value=offset), mode)) if _exact(mode):
            row = _place(key, area._replace(last_column=area.first_column), book)
            return None if row is None else _at(area, row, int(offset))
        case Call(function="HLOOKUP", arguments=(key, Range(range=area), Number(value=offset), mode)) if _exact(mode):
            column = _place(key, area._replace(last_row=area.first_row), book)
            return None if column is None else _at(area, int(offset), column)
        case Call(function="XLOOKUP", arguments=(key, Range(range=keys), Range(range=area), *_)):
            place = _place(key, keys, book)
            return None if place is None or keys.size != area.size else _along(area, place)
    return None


def _indexed(area: RangeRef, places: list[Node | None], book: Book) -> CellRef | None:
    found = [_matched(one, book) for one in places]
    if None in found or not found or len(found) > 2:
        return None
    if len(found) == 1:
        return _along(area, found[0] or 0)
    return _at(area, found[0] or 0, found[1] or 0)


def _matched(node: Node | None, book: Book) -> int | None:
    match node:
        case Number(value=value) if value == int(value) and value > 0:
            return int(value)
        case Call(function="MATCH", arguments=(key, Range(range=keys), mode)) if _exact(mode):
            return _place(key, keys, book)
    return None


def _exact(mode: Node | None) -> bool:
    return (isinstance(mode, Number) and mode.value == 0) or (isinstance(mode, Text) and mode.value.upper() == "FALSE")


def _place(key: Node | None, keys: RangeRef, book: Book) -> int | None:
    """Return the place, from 1, of a constant text in a row or column of constants."""
    text = _text(key, book)
    if text is None or _WILD.search(text) or 1 not in (_height(keys), _width(keys)):
        return None
    known = cast(dict[str, int | None] | None, book.parsed.get(("keys", keys)))
    if known is None:
        known = {}
        for place, ref in enumerate(keys.cells(), start=1):
            held = book.get(ref)
            if held is not None and isinstance(held.stored, str):
                known.setdefault(held.stored.casefold(), place if held.formula is None else None)
        book.parsed["keys", keys] = known
    return known.get(text.casefold())


def _text(key: Node | None, book: Book) -> str | None:
    if isinstance(key, Text) and key.value.startswith('"'):
        return key.value[1:-1].replace('""', '"')
    held = book.get(key.cell) if isinstance(key, Ref) else None
    return held.stored if held is not None and held.formula is None and isinstance(held.stored, str) else None


def _height(area: RangeRef) -> int:
    return area.last_row - area.first_row + 1


def _width(area: RangeRef) -> int:
    return area.last_column - area.first_column + 1


def _along(area: RangeRef, place: int) -> CellRef | None:
    return _at(area, place, 1) if _width(area) == 1 else _at(area, 1, place) if _height(area) == 1 else None


def _at(area: RangeRef, row: int, column: int) -> CellRef | None:
    inside = 1 <= row <= _height(area) and 1 <= column <= _width(area)
    return CellRef(area.sheet, area.first_row + row - 1, area.first_column + column - 1) if inside else None
