"""The view of the workbook in the report: the rows around flagged cells and bound roles, as tables with addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from xlcheck.cells import CellRef, column_letters
from xlcheck.checking import Workpaper
from xlcheck.quotes import displayed
from xlcheck.report.document import Report
from xlcheck.report.words import plain
from xlcheck.workbook import Sheet

ROWS, COLUMNS = 90, 24
"""Rows and columns of one sheet that are shown at most."""
AROUND = 2
"""Rows shown above and below a cell of interest."""
PER_CHECK = 8
"""Findings of one check whose surroundings are shown."""
READS = 16
"""References of one formula that are shown at most."""
HEADLINES = ("value_per_share", "equity_value", "enterprise_value")
_LONGEST = 60


class ViewCell(NamedTuple):
    """One cell as the page shows it."""

    anchor: str
    shown: str
    formula: str
    """For the pointer to show; empty for a constant."""
    number: bool
    flag: str = ""
    """``fault``, ``warning`` or empty."""
    role: str = ""
    """The role bound to it, or empty."""
    named: bool = False
    """True where the page names the role: in the first cell of a line only."""
    reads: str = ""
    """What its formula reads, a line each: number of the sheet, address, name of the sheet (``0!C5:C7 Bridge``)."""


class ViewRow(NamedTuple):
    """One row; `gap` tells that rows before it are left out."""

    number: int
    gap: bool
    cells: tuple[ViewCell, ...]


class SheetView(NamedTuple):
    """The part of one sheet that is shown."""

    number: int
    """Its position in the workbook, from 0; its cells have ids such as ``s0-C9``."""
    name: str
    letters: tuple[str, ...]
    rows: tuple[ViewRow, ...]

    @property
    def open(self) -> bool:
        """True where it holds a flagged cell or a headline value; others are shown folded."""
        return any(cell.flag or cell.role in HEADLINES for row in self.rows for cell in row.cells)


class View(NamedTuple):
    """All shown parts, and where each cell stands on the page."""

    sheets: tuple[SheetView, ...]
    anchors: Mapping[str, str]
    """``Sheet name!A1`` to the id of its table cell."""


def workbook_view(paper: Workpaper, report: Report) -> View:
    """Return the regions around what the report speaks of; values are recomputed, in the cell's own number format."""
    flags, roles = dict(_flags(report)), dict(_roles(report))
    named = {line.cells[0] for line in report.series.values()}
    named |= {located.cell for located in report.roles.values() if located.cell is not None}
    sheets, anchors = [], {}
    for at, sheet in enumerate(paper.book.sheets):
        wanted = {ref for ref in (*flags, *roles) if ref.sheet == sheet.name}
        rows, columns = _window(sheet, wanted)
        if not rows:
            continue
        shown = []
        for before, row in zip((None, *rows), rows, strict=False):
            refs = [CellRef(sheet.name, row, column) for column in columns]
            bare = (_cell(paper, ref, f"s{at}-{ref.address}") for ref in refs)
            cells = tuple(
                cell._replace(flag=flags.get(ref, ""), role=roles.get(ref, ""), named=ref in named)
                for ref, cell in zip(refs, bare, strict=True)
            )
            shown.append(ViewRow(row, before is not None and row > before + 1, cells))
            anchors.update({str(ref): cell.anchor for ref, cell in zip(refs, cells, strict=True)})
        sheets.append(SheetView(at, plain(sheet.name), tuple(map(column_letters, columns)), tuple(shown)))
    return View(tuple(sheets), anchors)


def _flags(report: Report) -> Iterator[tuple[CellRef, str]]:
    """Yield flagged cells, warnings first so that a fault on the same cell wins."""
    wrong = [result for result in report.results if result.status in ("fail", "partial")]
    for kind in ("warning", "fault"):
        for result in wrong:
            if (kind == "warning") == (result.severity == "warn" or result.caused_by is not None):
                for finding in result.findings[:PER_CHECK]:
                    if isinstance(finding.cell, CellRef):
                        yield finding.cell, kind
                    elif finding.cell is not None:
                        yield from ((ref, kind) for _, ref in zip(range(PER_CHECK), finding.cell.cells(), strict=False))


def _roles(report: Report) -> Iterator[tuple[CellRef, str]]:
    for line in report.series.values():
        yield from ((ref, line.role) for ref in line.cells)
    for located in report.roles.values():
        if located.cell is not None:
            yield located.cell, located.role


def _window(sheet: Sheet, wanted: Iterable[CellRef]) -> tuple[list[int], list[int]]:
    """Return the rows and columns to show: around the wanted cells, blank ones left out, labels kept."""
    refs = list(wanted)
    used_rows = {row for row, _ in sheet.cells}
    near = {row for ref in refs for row in range(ref.row - AROUND, ref.row + AROUND + 1)}
    rows = sorted(near & (used_rows | {ref.row for ref in refs}))[:ROWS]
    chosen = set(rows)
    used_columns = {column for row, column in sheet.cells if row in chosen}
    return rows, sorted(used_columns | {ref.column for ref in refs if ref.row in chosen})[:COLUMNS]


def _cell(paper: Workpaper, ref: CellRef, anchor: str) -> ViewCell:
    cell = paper.book.get(ref)
    if cell is None:
        return ViewCell(anchor, "", "", number=False)
    value = paper.recalc.value(ref)
    shown = plain(displayed(value, cell.number_format), _LONGEST)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    reads = _reads(paper, ref) if cell.formula is not None else ""
    return ViewCell(anchor, shown, plain(cell.formula or "", 600), number, reads=reads)


def _reads(paper: Workpaper, ref: CellRef) -> str:
    sheets = {sheet.name: at for at, sheet in enumerate(paper.book.sheets)}
    found = list(dict.fromkeys(paper.graph.reads.get(ref, ())))[:READS]
    return "\n".join(
        f"{sheets[area.sheet]}!{area.address} {plain(area.sheet)}" for area in found if area.sheet in sheets
    )
