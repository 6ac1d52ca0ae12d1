"""Sensitivity lists: one column of rates or growth beside one of results, each under its heading."""

from __future__ import annotations

from collections.abc import Iterator

from xlcheck.cells import CellRef
from xlcheck.recompute import Recalc
from xlcheck.roles.lexicon import load_lexicon
from xlcheck.workbook import Sheet

SURE = 0.85
"""How well the headings must name what is varied and what is shown."""
SHORTEST, LONGEST = 3, 15
VARIED = ("wacc", "terminal_growth", "exit_multiple")
SHOWN = ("value_per_share", "equity_value", "enterprise_value")


def sensitivity_lists(recalc: Recalc, sheet: Sheet) -> Iterator[tuple[str, tuple[CellRef, ...], str, list[CellRef]]]:
    """Yield (role varied, its values, role shown, its values) of each list, top to bottom."""
    named = {key: _named(recalc, cell.ref) for key, cell in sheet.cells.items() if isinstance(cell.stored, str)}
    for (row, column), role in named.items():
        if role not in VARIED:
            continue
        inputs = _below(recalc, CellRef(sheet.name, row, column))
        shown = named.get((row, column + 1))
        outputs = _below(recalc, CellRef(sheet.name, row, column + 1))
        if any(isinstance(recalc.value(cell.offset(0, -1)), str) for cell in inputs if cell.column > 1):
            continue  # the rows are cases with names: more than one input may differ
        if shown in SHOWN and SHORTEST <= len(inputs) == len(outputs) <= LONGEST and _rises(recalc, inputs):
            yield role, tuple(inputs), shown, outputs


def _named(recalc: Recalc, ref: CellRef) -> str | None:
    text = recalc.value(ref)
    scores = load_lexicon().match(text) if isinstance(text, str) and len(text) <= 40 else {}
    best = max((*VARIED, *SHOWN), key=lambda role: scores.get(role, 0.0))
    return best if scores.get(best, 0.0) >= SURE else None


def _below(recalc: Recalc, head: CellRef) -> list[CellRef]:
    found: list[CellRef] = []
    while len(found) <= LONGEST and recalc.number(cell := head.offset(len(found) + 1, 0)) is not None:
        found.append(cell)
    return found


def _rises(recalc: Recalc, cells: list[CellRef]) -> bool:
    values = [recalc.number(cell) or 0.0 for cell in cells]
    return values in (sorted(values), sorted(values, reverse=True)) and len(set(values)) == len(values)
