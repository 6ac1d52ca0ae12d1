"""Precedents, dependents and influence in the formula graph.

Ranges stay ranges, and every walk is a loop over an explicit stack: a chain of 100,000 cells is no deeper than one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, overload

from xlcheck.cells import CellRef, RangeRef
from xlcheck.formula import Ref, is_dynamic_formula, is_link, references, walk
from xlcheck.keyed import parse_keyed
from xlcheck.reading.intervals import Intervals
from xlcheck.workbook import Book, DataTable

_T = TypeVar("_T")


@dataclass(frozen=True)
class Graph:
    """The formula graph of a book. Ranges are kept as ranges; names and tables are resolved.

    Beside formula cells it knows the cells that a data table fills (they read its inputs, axes and corner) and the
    cells that an array formula fills (they read its first cell).
    """

    book: Book
    reads: Mapping[CellRef, tuple[RangeRef, ...]]
    """Formula cell to the rectangles it reads (a single cell is a 1 × 1 rectangle)."""

    @cached_property
    def dynamic(self) -> frozenset[CellRef]:
        """Formula cells that compute which cells they read (OFFSET, INDIRECT): their precedents are incomplete."""
        book = self.book
        return frozenset(
            cell.ref for cell in book.formula_cells() if is_dynamic_formula(cell.formula or "", cell.ref.sheet, book)
        )

    def precedents(self, ref: CellRef) -> tuple[CellRef, ...]:
        """Return the non-blank cells that a formula reads directly, in the order of the formula."""
        found: dict[CellRef, None] = {}
        for rectangle in self.reads.get(ref, ()):
            found.update(dict.fromkeys(self._cells.within(rectangle)))
        return tuple(found)

    def dependents(self, ref: CellRef) -> tuple[CellRef, ...]:
        """Return the formula cells that read this cell directly."""
        return tuple(dict.fromkeys(self._readers.of(ref)))

    def ancestors(self, refs: Iterable[CellRef]) -> frozenset[CellRef]:
        """Return every cell that the given cells depend on, directly or not, themselves included."""
        start = frozenset(refs)
        known = self._above.get(start)
        if known is None:
            known = self._walked_up(start)
            if len(self._above) < _REMEMBERED:
                self._above[start] = known
        return known

    def _walked_up(self, refs: frozenset[CellRef]) -> frozenset[CellRef]:
        found = set(refs)
        stack = list(found)
        unvisited = _Unvisited(self._cells)
        seen: set[RangeRef] = set()
        while stack:
            for rectangle in self.reads.get(stack.pop(), ()):
                if rectangle in seen:
                    continue
                seen.add(rectangle)
                sheet, r1, c1, r2, c2 = rectangle
                if r1 == r2 and c1 == c2:  # most are single cells, and need no memory of what was handed out
                    ref = CellRef(sheet, r1, c1)
                    if ref not in found and self.book.get(ref) is not None:
                        found.add(ref)
                        stack.append(ref)
                    continue
                for ref in unvisited.take(rectangle):
                    if ref not in found:
                        found.add(ref)
                        stack.append(ref)
        return frozenset(found)

    def descendants(self, refs: Iterable[CellRef]) -> frozenset[CellRef]:
        """Return every formula cell that depends on the given cells, themselves included."""
        found = set(refs)
        stack = list(found)
        struck: dict[object, list[int]] = {}
        while stack:
            for ref in self._readers.of(stack.pop(), struck):
                if ref not in found:
                    found.add(ref)
                    stack.append(ref)
        return frozenset(found)

    def pure_link(self, ref: CellRef) -> CellRef:
        """Follow a chain of plain references (``=Sheet1!B5``) to its end and return that cell."""
        seen = {ref}
        while (target := self._linked(ref)) is not None and target not in seen:
            seen.add(target)
            ref = target
        return ref

    def _linked(self, ref: CellRef) -> CellRef | None:
        cell = self.book.get(ref)
        if cell is None or cell.formula is None:
            return None
        node = parse_keyed(cell.formula, ref.sheet, self.book, ref)
        if not is_link(node):
            return None
        return next(one.cell for one in walk(node) if isinstance(one, Ref))

    @cached_property
    def _above(self) -> dict[frozenset[CellRef], frozenset[CellRef]]:
        """Answers of `ancestors`: the locator and the checks ask about the same few outputs again and again."""
        return {}

    @cached_property
    def _cells(self) -> _Cells:
        return _Cells(self.book)

    @cached_property
    def _readers(self) -> _Readers:
        return _Readers(self.reads)


_REMEMBERED = 64
"""Sets of cells whose ancestors are remembered."""


def build_graph(book: Book) -> Graph:
    """Build the graph of a book; formulas are read when they are first asked for."""
    return Graph(book, _Reads(book))


class _Reads(Mapping[CellRef, tuple[RangeRef, ...]]):
    """Reads formulas on demand, each once."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._known: dict[CellRef, tuple[RangeRef, ...]] = {}
        self._filled = dict(_filled_cells(book))

    def __getitem__(self, ref: CellRef) -> tuple[RangeRef, ...]:
        found = self.get(ref)
        if found is None:
            raise KeyError(ref)
        return found

    @overload
    def get(self, ref: CellRef, default: None = None, /) -> tuple[RangeRef, ...] | None: ...
    @overload
    def get(self, ref: CellRef, default: tuple[RangeRef, ...] | _T, /) -> tuple[RangeRef, ...] | _T: ...
    def get(self, ref: CellRef, default: object = None, /) -> object:
        """Return what a cell reads, else the default; constants are asked about more often than formulas."""
        found = self._known.get(ref)
        if found is None:
            cell = self._book.get(ref)
            if cell is not None and cell.formula is not None:
                found = references(cell.formula, ref.sheet, self._book, ref)
            else:
                found = self._filled.get(ref)
            if found is None:
                return default
            self._known[ref] = found
        return found

    def __contains__(self, ref: object) -> bool:
        if not isinstance(ref, CellRef):
            return False
        cell = self._book.get(ref)
        return (cell is not None and cell.formula is not None) or ref in self._filled

    def __iter__(self) -> Iterator[CellRef]:
        yield from (cell.ref for cell in self._book.formula_cells())
        yield from self._filled

    def __len__(self) -> int:
        return sum(1 for _ in self._book.formula_cells()) + len(self._filled)


def _filled_cells(book: Book) -> Iterator[tuple[CellRef, tuple[RangeRef, ...]]]:
    """Yield the cells without a formula of their own that a data table or an array formula fills, each once."""
    fillers = [cell for cell in book.cells() if cell.data_table or (cell.array and cell.array.size > 1)]
    unvisited = _Unvisited(_Cells(book)) if fillers else None
    for cell in fillers:
        filled = cell.data_table.range if cell.data_table else cell.array
        if unvisited is None or filled is None:
            continue
        for place in unvisited.take(filled):
            inside = book.get(place)
            if inside is None or inside.formula is not None:
                continue
            yield place, tuple(_table_reads(cell.data_table, place)) if cell.data_table else (_one(cell.ref),)


def _table_reads(table: DataTable, place: CellRef) -> Iterator[RangeRef]:
    """Yield what one cell of a data table follows from: its formula, its axis cells, the input cells."""
    sheet, top, left = table.range[:3]
    head = CellRef(sheet, top - 1, left - 1 if table.row_input and table.column_input else place.column)
    if table.row_input and not table.column_input:
        head = CellRef(sheet, place.row, left - 1)
    yield _one(head)
    if table.row_input:
        yield _one(CellRef(sheet, top - 1, place.column))
        yield _one(table.row_input)
    if table.column_input:
        yield _one(CellRef(sheet, place.row, left - 1))
        yield _one(table.column_input)


def _one(ref: CellRef) -> RangeRef:
    return RangeRef(ref.sheet, ref.row, ref.column, ref.row, ref.column)


class _Cells:
    """The non-blank cells of a book by column, to find those of a rectangle."""

    def __init__(self, book: Book) -> None:
        self._book = book
        rows: dict[tuple[str, int], list[int]] = defaultdict(list)
        for sheet in book.sheets:
            for row, column in sheet.cells:
                rows[sheet.name, column].append(row)
        for column_rows in rows.values():
            column_rows.sort()
        columns: dict[str, list[int]] = defaultdict(list)
        for name, column in sorted(rows):
            columns[name].append(column)
        self.rows: Mapping[tuple[str, int], list[int]] = rows
        self.columns: Mapping[str, list[int]] = columns

    def within(self, rectangle: RangeRef) -> list[CellRef]:
        """Return the non-blank cells of a rectangle, row by row."""
        sheet, r1, c1, r2, c2 = rectangle
        if r1 == r2 and c1 == c2:
            ref = CellRef(sheet, r1, c1)
            return [ref] if self._book.get(ref) is not None else []
        found = []
        columns = self.columns.get(sheet, [])
        for column in columns[bisect_left(columns, c1) : bisect_right(columns, c2)]:
            rows = self.rows[sheet, column]
            found += [CellRef(sheet, row, column) for row in rows[bisect_left(rows, r1) : bisect_right(rows, r2)]]
        return sorted(found) if c1 != c2 else found


class _Unvisited:
    """Hands out the cells of rectangles, each cell once over all of them; exhausted columns are passed over."""

    def __init__(self, cells: _Cells) -> None:
        self._cells = cells
        self._rows: dict[tuple[str, int], list[int]] = {}
        self._columns: dict[str, list[int]] = {}

    def take(self, rectangle: RangeRef) -> Iterator[CellRef]:
        """Yield the non-blank cells of a rectangle that were not handed out before."""
        sheet, _, c1, _, c2 = rectangle
        columns = self._cells.columns.get(sheet, [])
        following = self._columns.get(sheet)
        if following is None:
            following = self._columns[sheet] = list(range(len(columns) + 1))
        index = _find(following, bisect_left(columns, c1))
        while index < len(columns) and columns[index] <= c2:
            yield from self._of_column(rectangle, columns[index])
            if _find(self._rows[sheet, columns[index]], 0) == len(self._cells.rows[sheet, columns[index]]):
                following[index] = index + 1
            index = _find(following, index + 1)

    def _of_column(self, rectangle: RangeRef, column: int) -> Iterator[CellRef]:
        sheet, r1, _, r2, _ = rectangle
        rows = self._cells.rows[sheet, column]
        following = self._rows.get((sheet, column))
        if following is None:
            following = self._rows[sheet, column] = list(range(len(rows) + 1))
        index = _find(following, bisect_left(rows, r1))
        while index < len(rows) and rows[index] <= r2:
            yield CellRef(sheet, rows[index], column)
            following[index] = index + 1
            index = _find(following, index + 1)


def _find(following: list[int], index: int) -> int:
    """Return the first unvisited index from `index` on, shortening the path behind it."""
    root = index
    while following[root] != root:
        root = following[root]
    while following[index] != root:
        following[index], index = root, following[index]
    return root


_WIDE = 256


class _Readers:
    """Which formula cells read a cell: single references by place, ranges by an interval index.

    A range is listed under each of its columns, or of its rows where these are fewer; ranges wide both ways stand in
    one list of their sheet.
    """

    def __init__(self, reads: Mapping[CellRef, tuple[RangeRef, ...]]) -> None:
        self._single: dict[tuple[str, int, int], list[CellRef]] = defaultdict(list)
        self._of_range: dict[RangeRef, list[CellRef]] = defaultdict(list)
        for reader in reads:
            for rectangle in reads[reader]:
                sheet, r1, c1, r2, c2 = rectangle
                if r1 == r2 and c1 == c2:
                    self._single[sheet, r1, c1].append(reader)
                else:
                    self._of_range[rectangle].append(reader)
        lines: dict[tuple[str, str, int], list[tuple[int, int, RangeRef]]] = defaultdict(list)
        for rectangle in self._of_range:
            sheet, r1, c1, r2, c2 = rectangle
            if min(c2 - c1, r2 - r1) > _WIDE:
                lines[sheet, "wide", 0].append((r1, r2, rectangle))
            elif c2 - c1 <= r2 - r1:
                for column in range(c1, c2 + 1):
                    lines[sheet, "column", column].append((r1, r2, rectangle))
            else:
                for row in range(r1, r2 + 1):
                    lines[sheet, "row", row].append((c1, c2, rectangle))
        self._lines = {line: Intervals(items) for line, items in lines.items()}

    def of(self, ref: CellRef, struck: dict[object, list[int]] | None = None) -> Iterator[CellRef]:
        """Yield the readers of a cell; with `struck`, no narrow range twice over a whole walk."""
        sheet, row, column = ref
        yield from self._single.get((sheet, row, column), ())
        for line, point in (((sheet, "column", column), row), ((sheet, "row", row), column)):
            intervals = self._lines.get(line)
            if intervals is None:
                continue
            tree = None if struck is None else struck.get(line)
            if struck is not None and tree is None:
                tree = struck[line] = intervals.fresh()
            for rectangle in intervals.stab(point, tree):
                yield from self._of_range[rectangle]
        wide = self._lines.get((sheet, "wide", 0))
        for rectangle in wide.stab(row) if wide else ():
            if rectangle.first_column <= column <= rectangle.last_column:
                yield from self._of_range[rectangle]
