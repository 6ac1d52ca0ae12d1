"""The normalised copy of a book: what an engine loads for the whole recalculation.

No stored formula value is in it. References to other workbooks read their stored values from added
sheets; the cells of data tables are blank until a what-if fills them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from xlcheck.cells import CellRef, RangeRef, Scalar
from xlcheck.package import Content, Draft, Formula
from xlcheck.rewrite import Reference, quote, rewrite_references
from xlcheck.workbook import Book, Cell, Sheet

_LINK = re.compile(r"(?:[^\[\]]*[\\/])?\[(\d+)\](.*)\Z", re.DOTALL)


def normalise(book: Book) -> Draft:
    """Return the book as an engine may see it: formulas and constants only."""
    links = external_sheets(book)
    sheets: dict[str, Mapping[tuple[int, int], Content]] = {
        sheet.name: dict(_contents(sheet, links)) for sheet in book.sheets
    }
    for (link, name), title in links.items():
        sheets[title] = {
            (ref.row, ref.column): value for ref, value in book.external[link].items() if ref.sheet.casefold() == name
        }
    return Draft(
        sheets=sheets,
        names=[replace(name, formula=localise(name.formula, links)) for name in book.names],
        tables=book.tables,
        date1904=book.calc.date1904,
        hidden_rows={sheet.name: sheet.hidden_rows for sheet in book.sheets if sheet.hidden_rows},
    )


def filled_ranges(sheet: Sheet) -> list[RangeRef]:
    """Return the ranges whose cells a formula or data table fills beyond its own cell."""
    return [area for cell in sheet.cells.values() if (area := _filled(cell)) is not None]


def _filled(cell: Cell) -> RangeRef | None:
    return cell.data_table.range if cell.data_table else cell.array


def followers(sheet: Sheet) -> set[tuple[int, int]]:
    """Return the cells of a sheet that another cell's array formula or data table fills."""
    found: set[tuple[int, int]] = set()
    for cell in sheet.cells.values():
        area = _filled(cell)
        if area is None:
            continue
        found.update((ref.row, ref.column) for ref in area.cells() if cell.data_table or ref != cell.ref)
    return found


def _contents(sheet: Sheet, links: Links) -> Iterator[tuple[tuple[int, int], Content]]:
    skipped = followers(sheet)
    for place, cell in sheet.cells.items():
        if cell.formula is not None:
            text = localise(cell.formula, links) if links or "[" in cell.formula else cell.formula
            yield place, Formula(text, cell.array, cell.dynamic)
        elif place not in skipped:
            yield place, cell.stored


Links = Mapping[tuple[int, str], str]
"""(link number, case-folded sheet name) to the title of the added sheet."""


def external_sheets(book: Book) -> Links:
    """Return a title for each sheet of a linked workbook that has stored values, none of the book's own names."""
    taken = {sheet.name.casefold() for sheet in book.sheets}
    found: dict[tuple[int, str], str] = {}
    for link, values in book.external.items():
        for name in dict.fromkeys(ref.sheet.casefold() for ref in values):
            title = f"External_{link}_{len(found) + 1}"
            while title.casefold() in taken:
                title += "_"
            found[link, name] = title
    return found


def external_reference(sheet: str) -> tuple[int, str] | None:
    """Return (link number, sheet name) of a prefix such as ``[1]Sheet``, or None if it is no external one."""
    match = _LINK.match(sheet)
    return (int(match[1]), match[2]) if match else None


def localise(formula: str, links: Links) -> str:
    """Re-point references to other workbooks at the added sheets; those without stored values stay as they are."""
    if "[" not in formula:
        return formula

    def rewrite(reference: Reference) -> str | None:
        target = external_reference(reference.sheet) if reference.sheet is not None else None
        title = links.get((target[0], target[1].casefold())) if target else None
        return f"{quote(title)}{reference.body}" if title else None

    return rewrite_references(formula, rewrite)


def constant(book: Book, ref: CellRef) -> Scalar:
    """Return the constant that stands in a cell, None if it is blank."""
    cell = book.get(ref)
    return cell.stored if cell is not None and cell.formula is None else None
