"""A submission as text: sheets as rows of address and displayed value, comments, memos."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from xlcheck.cells import CellRef, Frozen
from xlcheck.checking import Workpaper
from xlcheck.judging.fencing import as_data
from xlcheck.memo import Memo
from xlcheck.quotes import displayed, row_text
from xlcheck.workbook import Cell, Sheet

MOST_CELLS = 30_000
"""Cells of all sheets together that are written out; what is left out is said."""


class Passage(Frozen):
    """One sheet or one memo as text."""

    kind: Literal["sheet", "memo"]
    name: str
    """Sheet or file name."""
    text: str


def transcript(paper: Workpaper | None, memos: Iterable[Memo], *, formulas: bool = False) -> tuple[Passage, ...]:
    """Return the memos, then the sheets in order, with recomputed values as their number formats show them."""
    passages = [_memo(memo) for memo in memos if memo.unread is None]
    left = MOST_CELLS
    for sheet in paper.book.sheets if paper is not None else ():
        assert paper is not None
        lines = list(_rows(sheet, paper, left, formulas=formulas))
        left = max(0, left - len(sheet.cells))
        notes = [
            f"comment at {CellRef(sheet.name, *place).address}: {_line(text)}" for place, text in sheet.comments.items()
        ]
        state = "" if sheet.state == "visible" else " (a hidden sheet)"
        text = "\n".join([f"sheet {_line(sheet.name)}{state}", *lines, *notes])
        passages.append(Passage(kind="sheet", name=_line(sheet.name), text=text))
    return tuple(passages)


def _memo(memo: Memo) -> Passage:
    pages = [as_data(text) for text in memo.texts[: memo.pages]]
    if len(pages) > 1:
        pages = [f"(page {number})\n{page}" for number, page in enumerate(pages, 1)]
    return Passage(kind="memo", name=_line(memo.name), text="\n".join([f"file {_line(memo.name)}", *pages]))


def _rows(sheet: Sheet, paper: Workpaper, most: int, *, formulas: bool) -> Iterator[str]:
    rows: dict[int, list[Cell]] = {}
    for cell in list(sheet.cells.values())[:most]:
        rows.setdefault(cell.ref.row, []).append(cell)
    for _, cells in sorted(rows.items()):
        shown = [(cell.ref, _shown(cell, paper, formulas=formulas)) for cell in cells]
        if any(text for _, text in shown):
            yield row_text(sorted((ref, text) for ref, text in shown if text))
    if len(sheet.cells) > most:
        yield f"({len(sheet.cells) - most:,} more cells of this sheet are not shown)"


def _shown(cell: Cell, paper: Workpaper, *, formulas: bool) -> str:
    value = paper.recalc.value(cell.ref)
    text = _line(displayed(value, cell.number_format, date1904=paper.book.calc.date1904))
    formula = f"{{{_line(cell.formula)}}}" if formulas and cell.formula else ""
    return f"{text} {formula}".strip()


def _line(text: str) -> str:
    return " ".join(as_data(text).split())
