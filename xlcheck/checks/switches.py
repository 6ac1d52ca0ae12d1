"""Formulas that pick a case by a switch: CHOOSE, INDEX and OFFSET."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck.cells import CellRef, is_number
from xlcheck.checks.cases import Choice, case_in, choices
from xlcheck.checks.sheet import column_label, row_label
from xlcheck.checks.trees import trees
from xlcheck.formula import Binary, Call, Node, Number, Range, Ref, walk
from xlcheck.recompute import Recalc

_PICKS = re.compile(r"\b(?:INDEX|OFFSET)\s*\(", re.IGNORECASE)
_NUMBERED = re.compile(r"\b(?:case|scenario|szenario)\W*\d|情景\s*[一二三1-9]|シナリオ", re.IGNORECASE)
MOST_CASES = 6


def selections(recalc: Recalc) -> list[Choice]:
    """Return every formula that picks by a typed position, with its options in the order of positions 1, 2, 3."""
    found = list(choices(recalc))
    for ref, node in trees(recalc).matching(_PICKS):
        for one in walk(node):
            if isinstance(one, Call) and one.function in ("INDEX", "OFFSET"):
                found += _selection(recalc, ref, one)
    return found


def _selection(recalc: Recalc, ref: CellRef, call: Call) -> Iterator[Choice]:
    moves = [(place, at) for place, part in enumerate(call.arguments[1:3]) if part is not None and (at := _at(part))]
    source = call.arguments[0]
    if len(moves) != 1 or source is None:
        return
    place, (switch, first, step) = moves[0]
    if not _is_position(recalc, switch):
        return
    places = [first + step * position for position in range(1, MOST_CASES + 1)]
    cells = _listed(source, places) if call.function == "INDEX" else _moved(recalc, source, places, across=place == 1)
    if len(cells) >= 2 and switch not in cells:
        yield Choice(ref, switch, tuple(Ref(cell) for cell in cells), plain=(first, step) == (0, 1))


def _is_position(recalc: Recalc, switch: CellRef) -> bool:
    """Say whether a cell holds a small whole number: typed, or the place of a typed name (MATCH)."""
    held, node = recalc.book.get(switch), trees(recalc).get(switch)
    looked_up = isinstance(node, Call) and node.function in ("MATCH", "XMATCH")
    value = None if held is None else recalc.number(switch) if looked_up else held.stored
    return value in range(1, 10) if is_number(value) and (held is None or held.formula is None or looked_up) else False


def _at(node: Node) -> tuple[CellRef, int, int] | None:
    """Return (switch, first, step) of a position ``first + step × switch``."""
    if isinstance(node, Ref):
        return node.cell, 0, 1
    if isinstance(node, Binary) and node.operator in ("+", "-"):
        left, right = node.left, node.right
        if isinstance(left, Number) and isinstance(right, Ref):
            return right.cell, int(left.value), 1 if node.operator == "+" else -1
        if isinstance(left, Ref) and isinstance(right, Number):
            return left.cell, int(right.value) * (1 if node.operator == "+" else -1), 1
    return None


def _listed(source: Node, places: list[int]) -> list[CellRef]:
    cells = list(source.range.cells()) if isinstance(source, Range) and 2 <= source.range.size <= MOST_CASES else []
    line = len({cell.row for cell in cells}) == 1 or len({cell.column for cell in cells}) == 1
    return [cells[place - 1] for place in places if 1 <= place <= len(cells)] if line else []


def _moved(recalc: Recalc, source: Node, places: list[int], *, across: bool) -> list[CellRef]:
    """Return the cases that OFFSET reaches, up to the first cell that no label calls one."""
    found: list[CellRef] = []
    anchor = source.cell if isinstance(source, Ref) else None
    for place in places if anchor is not None else ():
        row, column = (0, place) if across else (place, 0)
        if anchor is None or place == 0 or anchor.row + row < 1 or anchor.column + column < 1:
            break
        cell = anchor.offset(row, column)
        label = column_label(recalc, cell) if across else row_label(recalc, cell)
        if recalc.number(cell) is None or not (case_in(label) or _NUMBERED.search(label)):
            break
        found.append(cell)
    return found
