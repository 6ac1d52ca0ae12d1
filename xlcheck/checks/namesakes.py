"""Cells that carry the same label as a line: what the line should read where it reads something else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck.cells import CellRef
from xlcheck.checks.sheet import first_text, row_label, timeline_of
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc

_ASIDE = re.compile(r"\([^)]*\)|（[^）]*）|\[[^]]*\]")
_DIRECTION = re.compile(
    r"^\W*(?:(?:less|plus|add|minus|deduct|moins|abzgl|abzüglich|zzgl|zuzüglich|menos|más|meno|più|mais)\b\.?|[减減加]\s*[:：])",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{4,}")
_IDEOGRAM = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


def plain_label(label: str) -> str:
    """Return the first text of a label without signs, asides, case and punctuation: ``Less: Capex (net)`` is capex."""
    text = _ASIDE.sub(" ", first_text(label))
    return re.sub(r"[\W_]+", "", _DIRECTION.sub("", text)).casefold()


def unlike(one: str, other: str) -> bool:
    """Say whether two labels have no word, and no two neighbouring ideograms, in common."""
    a, b = plain_label(one), plain_label(other)
    if not a or not b or a in b or b in a:
        return False
    if {word.casefold() for word in _WORD.findall(one)} & {word.casefold() for word in _WORD.findall(other)}:
        return False
    return not any(a[place : place + 2] in b for place in range(len(a) - 1) if _IDEOGRAM.match(a[place]))


def namesakes(recalc: Recalc, line: CellRef, label: str, near: CellRef) -> Iterator[CellRef]:
    """Yield the numbers in the column of the cell that a line reads, other than both, whose rows are labelled so."""
    wanted, sheet = plain_label(label), recalc.book.sheet(near.sheet)
    rows = sorted(row for row, column in sheet.cells if column == near.column) if sheet is not None and wanted else []
    for row in rows:
        cell = CellRef(near.sheet, row, near.column)
        if cell not in (near, line) and recalc.number(cell) and plain_label(row_label(recalc, cell)) == wanted:
            yield cell


def idle_namesake(recalc: Recalc, graph: Graph, line: CellRef, label: str, near: CellRef) -> CellRef | None:
    """Return the only cell of a line's label in the column of what the line reads, where no formula reads it."""
    found = list(namesakes(recalc, line, label, near))
    return found[0] if len(found) == 1 and not graph.dependents(found[0]) else None


def idle_anywhere(recalc: Recalc, graph: Graph, line: CellRef) -> CellRef | None:
    """Return a number of the same label as a line that no formula reads, undated or of the line's own year."""
    wanted = plain_label(row_label(recalc, line))
    if not wanted:
        return None
    year = timeline_of(recalc, line.sheet).year(line)
    for held in recalc.book.cells():
        cell = held.ref
        if (cell.sheet, cell.row) == (line.sheet, line.row) or not recalc.number(cell) or graph.dependents(cell):
            continue
        if plain_label(row_label(recalc, cell)) == wanted and timeline_of(recalc, cell.sheet).year(cell) in (
            None,
            year,
        ):
            return cell
    return None
