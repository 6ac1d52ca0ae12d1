"""The normalised copy of a book: what an engine loads for the whole recalculation.

No stored formula value is in it. References to other workbooks read their stored values from added
sheets; the cells of data tables are blank until a what-if fills them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from xlcheck.cells import CellRef, RangeRef
from xlcheck.engines.package import Content, Draft, Formula, SheetCells
from xlcheck.normalise.rewrite import Rewriter, alias
from xlcheck.workbook import Book, Cell, DefinedName, Sheet


def normalise(book: Book, rewriter: Rewriter, held: Collection[CellRef] = ()) -> Draft:
    """Return the book as an engine may see it: formulas and constants only; `held` cells are left blank."""
    sheets: dict[str, SheetCells] = {sheet.name: dict(_contents(sheet, rewriter, held)) for sheet in book.sheets}
    sheets.update(external_sheets(rewriter))
    return Draft(
        sheets=sheets,
        names=workbook_names(rewriter),
        tables=book.tables,
        date1904=book.calc.date1904,
        hidden_rows={sheet.name: sheet.hidden_rows for sheet in book.sheets if sheet.hidden_rows},
    )


_UNLOADABLE = Formula("=ARRAY_THAT_CANNOT_BE_LOADED()")


def formula_of(rewriter: Rewriter, cell: Cell, *, pinned: bool = False) -> Formula:
    """Return what is written for a cell's formula, `pinned` to be moved to another sheet.

    An array larger than any honest one is not loaded.
    """
    if cell.array is not None and cell.array.size > _LARGE:
        return _UNLOADABLE
    text = rewriter.pin(cell) if pinned else rewriter.rewrite(cell)
    return Formula(text, cell.array, cell.dynamic, rewriter.for_primary(text, cell.ref))


def without_arrays(draft: Draft) -> Draft:
    """Return the draft with every array formula replaced by one that no engine knows: its values are unsolved."""
    return replace(
        draft,
        sheets={
            name: {
                place: _UNLOADABLE if isinstance(content, Formula) and content.array is not None else content
                for place, content in cells.items()
            }
            for name, cells in draft.sheets.items()
        },
    )


def external_sheets(rewriter: Rewriter) -> Mapping[str, SheetCells]:
    """Return the added sheets with the stored values of linked workbooks."""
    return {
        title: {
            (ref.row, ref.column): value
            for ref, value in rewriter.book.external[link].items()
            if ref.sheet.casefold() == name
        }
        for (link, name), title in rewriter.links.items()
    }


def workbook_names(rewriter: Rewriter) -> list[DefinedName]:
    """Return the defined names, and for each that belongs to a sheet one that can be read from everywhere."""
    names = [replace(name, formula=rewriter.name(name)) for name in rewriter.book.names]
    scoped = [name for name in names if name.sheet is not None]
    return names + [replace(name, name=alias(name, rewriter.book), sheet=None) for name in scoped]


def filled(cell: Cell) -> RangeRef | None:
    """Return the range that a cell's data table or array formula fills."""
    return cell.data_table.range if cell.data_table else cell.array


def followers(sheet: Sheet) -> set[tuple[int, int]]:
    """Return the cells of a sheet that a data table, or another cell's array formula, fills."""
    found: set[tuple[int, int]] = set()
    for cell in sheet.cells.values():
        area = filled(cell)
        if area is not None and (area.size > 1 or cell.data_table):
            found.update((ref.row, ref.column) for ref in cells_of(area, sheet) if cell.data_table or ref != cell.ref)
    return found


_LARGE = 100_000


def cells_of(area: RangeRef, sheet: Sheet | None) -> list[CellRef]:
    """Return the cells of a filled range; of one that no honest workbook has, only those that hold something."""
    if area.size <= _LARGE:
        return list(area.cells())
    held = sheet.cells if sheet is not None else {}
    return [cell.ref for cell in held.values() if cell.ref in area]  # type: ignore[comparison-overlap]


def _contents(sheet: Sheet, rewriter: Rewriter, held: Collection[CellRef]) -> Iterator[tuple[tuple[int, int], Content]]:
    skipped = followers(sheet)
    for place, cell in sheet.cells.items():
        if cell.ref in held:
            continue
        if cell.formula is not None:
            yield place, formula_of(rewriter, cell)
        elif place not in skipped:
            yield place, cell.stored
