"""What differs between two versions of a workbook, cell by cell, rows and columns inserted or not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Literal

from xlcheck.cells import CellRef, Frozen, Scalar, as_number
from xlcheck.engines import Unsolved
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.workbook import Cell, Sheet

ALIKE = 0.6
"""Share of texts in common from which a sheet of another name is taken for the same."""
IN_PLACE = 0.9
"""Share of lines that agree from which all are taken to stand where they stood."""
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


class Difference(Frozen):
    """What a cell came to in the first version and comes to in the second, for people."""

    kind: Literal["output", "input", "overwritten", "formula"]
    """A headline value; or what changed in the cell."""
    label: str
    """The role of an output, the row's own words for another cell."""
    before: CellRef
    after: CellRef
    old: float | str | None
    new: float | str | None
    declared: bool | None = None
    """Whether the answer says that it changed this cell; None for an output."""


@dataclass(frozen=True)
class Alignment:
    """Which cell of the second version stands for which cell of the first."""

    sheets: Mapping[str, str]
    """Sheet name in the first version to its name in the second."""
    rows: Mapping[str, Mapping[int, int]]
    """Sheet name to row of the first version to row of the second."""
    columns: Mapping[str, Mapping[int, int]]

    def after(self, ref: CellRef) -> CellRef | None:
        """Return the cell of the second version, None where it is gone."""
        row = self.rows.get(ref.sheet, {}).get(ref.row)
        column = self.columns.get(ref.sheet, {}).get(ref.column)
        return None if row is None or column is None else CellRef(self.sheets[ref.sheet], row, column)

    @cached_property
    def shifted(self) -> bool:
        """Say whether any sheet, row or column stands elsewhere."""
        lines = (*self.rows.values(), *self.columns.values())
        renamed = any(old != new for old, new in self.sheets.items())
        return renamed or any(old != new for line in lines for old, new in line.items())


def align(first: Recalc, second: Recalc) -> Alignment:
    """Match sheets by name (or, renamed, by their texts), rows and columns by their texts and years."""
    pairs = _sheets(first, second)
    rows = {old.name: _matched(_lines(first, old, by_row=True), _lines(second, new, by_row=True)) for old, new in pairs}
    columns = {
        old.name: _matched(_lines(first, old, by_row=False), _lines(second, new, by_row=False)) for old, new in pairs
    }
    return Alignment({old.name: new.name for old, new in pairs}, rows, columns)


def _sheets(first: Recalc, second: Recalc) -> list[tuple[Sheet, Sheet]]:
    pairs = [(sheet, other) for sheet in first.book.sheets if (other := second.book.sheet(sheet.name)) is not None]
    left = [sheet for sheet in first.book.sheets if second.book.sheet(sheet.name) is None]
    free = [sheet for sheet in second.book.sheets if first.book.sheet(sheet.name) is None]
    for sheet in left:
        best = max(free, key=lambda other: _likeness(sheet, other), default=None)
        if best is not None and _likeness(sheet, best) >= ALIKE:
            pairs.append((sheet, best))
            free.remove(best)
    return pairs


def _likeness(one: Sheet, other: Sheet) -> float:
    """Return the share of texts that two sheets have in common."""
    mine, theirs = (
        {cell.stored for cell in sheet.cells.values() if isinstance(cell.stored, str)} for sheet in (one, other)
    )
    return len(mine & theirs) / max(len(mine | theirs), 1)


def _lines(recalc: Recalc, sheet: Sheet, *, by_row: bool) -> list[tuple[str, ...]]:
    """Return the texts and years of every row (or column), from the first to the last."""
    marks: dict[int, list[tuple[int, str]]] = {}
    for row, column in sheet.cells:
        mark = _mark(recalc.value(CellRef(sheet.name, row, column)))
        if mark:
            line, place = (row, column) if by_row else (column, row)
            marks.setdefault(line, []).append((place, mark))
    last = sheet.max_row if by_row else sheet.max_column
    return [tuple(mark for _, mark in sorted(marks.get(line, ()))) for line in range(1, last + 1)]


def _mark(value: Scalar | Unsolved) -> str:
    if isinstance(value, str):
        return value.strip().casefold()
    number = as_number(value)
    return f"{number:.0f}" if number in range(1950, 2151) else ""


def _matched(first: Sequence[tuple[str, ...]], second: Sequence[tuple[str, ...]]) -> dict[int, int]:
    """Match lines by what marks them; in two lists of one length that mostly agree each stays where it is."""
    if len(first) == len(second):
        marked = [(old, new) for old, new in zip(first, second, strict=True) if old or new]
        if sum(old == new for old, new in marked) >= IN_PLACE * len(marked):
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
