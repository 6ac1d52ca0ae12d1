"""What differs between two versions of a workbook, cell by cell, rows and columns inserted or not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from xlcheck.cells import CellRef, Scalar
from xlcheck.graph import Graph
from xlcheck.workbook import Book, Cell, Sheet

Kind = Literal["input", "overwritten", "formula"]
"""An input that holds something else; a formula replaced by a constant; a formula that reads differently."""


@dataclass(frozen=True, slots=True)
class Change:
    """One cell of the first version that holds something else in the second."""

    kind: Kind
    before: CellRef
    after: CellRef
    old: Scalar
    """Constant or formula text in the first version."""
    new: Scalar
    """The same in the second."""


@dataclass(frozen=True)
class Alignment:
    """Which cell of the second version stands for which cell of the first."""

    rows: Mapping[str, Mapping[int, int]]
    """Sheet name to row of the first version to row of the second."""
    columns: Mapping[str, Mapping[int, int]]

    def after(self, ref: CellRef) -> CellRef | None:
        """Return the cell of the second version, None where it is gone."""
        row = self.rows.get(ref.sheet, {}).get(ref.row)
        column = self.columns.get(ref.sheet, {}).get(ref.column)
        return None if row is None or column is None else CellRef(ref.sheet, row, column)

    @property
    def shifted(self) -> bool:
        """Say whether any row or column stands elsewhere."""
        lines = (*self.rows.values(), *self.columns.values())
        return any(old != new for line in lines for old, new in line.items())


def align(first: Book, second: Book) -> Alignment:
    """Match sheets by name, and their rows and columns by the texts in them."""
    rows, columns = {}, {}
    for sheet in first.sheets:
        other = second.sheet(sheet.name)
        if other is not None:
            rows[sheet.name] = _matched(_lines(sheet, by_row=True), _lines(other, by_row=True))
            columns[sheet.name] = _matched(_lines(sheet, by_row=False), _lines(other, by_row=False))
    return Alignment(rows, columns)


def _lines(sheet: Sheet, *, by_row: bool) -> list[tuple[str, ...]]:
    """Return the texts of every row (or column), from the first to the last."""
    texts: dict[int, list[tuple[int, str]]] = {}
    for (row, column), cell in sheet.cells.items():
        if isinstance(cell.stored, str) and cell.formula is None and cell.stored.strip():
            line, place = (row, column) if by_row else (column, row)
            texts.setdefault(line, []).append((place, cell.stored.strip().casefold()))
    last = sheet.max_row if by_row else sheet.max_column
    return [tuple(text for _, text in sorted(texts.get(line, ()))) for line in range(1, last + 1)]


def _matched(first: Sequence[tuple[str, ...]], second: Sequence[tuple[str, ...]]) -> dict[int, int]:
    if len(first) == len(second):
        return {line: line for line in range(1, len(first) + 1)}
    found: dict[int, int] = {}
    matcher = SequenceMatcher(None, first, second, autojunk=len(first) > 3_000)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag in ("equal", "replace"):
            found |= {a + step + 1: c + step + 1 for step in range(min(b - a, d - c))}
    return found


def changes(first: Graph, second: Graph, alignment: Alignment) -> Iterator[Change]:
    """Yield what the second version changed, in the order of the first; added and removed cells are left out."""
    for cell in first.book.cells():
        place = alignment.after(cell.ref)
        other = second.book.get(place) if place is not None else None
        if place is None or other is None or cell.data_table is not None:
            continue
        kind = _kind(cell, other, lambda old, new: _reads_the_same(first, second, alignment, old, new))
        if kind is not None:
            yield Change(kind, cell.ref, place, _content(cell), _content(other))


def _content(cell: Cell) -> Scalar:
    return cell.formula if cell.formula is not None else cell.stored


def _kind(cell: Cell, other: Cell, same: Callable[[Cell, Cell], bool]) -> Kind | None:
    if cell.formula is None:
        return "input" if other.formula is not None or cell.stored != other.stored else None
    if other.formula is None:
        return "overwritten"
    return None if same(cell, other) else "formula"


def _reads_the_same(first: Graph, second: Graph, alignment: Alignment, old: Cell, new: Cell) -> bool:
    """Say whether two formulas are one formula, wherever the rows they read stand now."""
    assert old.formula is not None
    assert new.formula is not None
    if not alignment.shifted:
        return _plain(old.formula) == _plain(new.formula)
    wanted = {alignment.after(ref) for ref in first.precedents(old.ref)}
    return _without_places(old.formula) == _without_places(new.formula) and wanted == set(second.precedents(new.ref))


def _plain(formula: str) -> str:
    return re.sub(r"[\s$]", "", formula).casefold()


_PLACE = re.compile(r"(?:'(?:[^']|'')+'!|[\w.]+!)?[a-z]{1,3}\d{1,7}(?![\w(])")


def _without_places(formula: str) -> str:
    return _PLACE.sub("@", _plain(formula))
