"""OFFSET by constants is a reference like any other, and is written as one.

``=OFFSET(B5,-1,0)`` in B5 itself, the rolling forward of models that grow row by row, is no loop then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xlcheck.cells import MAX_COLUMN, MAX_ROW, column_letters
from xlcheck.normalise.calls import rewritten
from xlcheck.reading.tokens import Token

_OFFSET = re.compile(r"\bOFFSET\(", re.IGNORECASE)
_WHOLE = re.compile(r"[-+]?[0-9]{1,7}\Z")


def without_constant_offsets(formula: str) -> str:
    """Return a formula in which no OFFSET of a reference by constants stands."""
    if "(" not in formula or not _OFFSET.search(formula):
        return formula
    return rewritten(formula, ("OFFSET",), _reference)


def _reference(_: str, arguments: Sequence[list[Token]], texts: Sequence[str]) -> str | None:
    anchor = [word for word in arguments[0] if word.kind != "space"]
    moves = [text.strip() for text in texts[1:]]
    if len(anchor) != 1 or not 2 <= len(moves) <= 4 or not all(_WHOLE.match(move or "0") for move in moves):
        return None
    area = anchor[0].area
    if area is None or not (area.first_row and area.first_column) or ":" in area.sheet:
        return None
    rows, columns = (int(move or 0) for move in moves[:2])
    sizes = [abs(area.last_row - area.first_row) + 1, abs(area.last_column - area.first_column) + 1]
    height, width = (int(move) if move else size for move, size in zip([*moves[2:], "", ""], sizes, strict=False))
    top, left = min(area.first_row, area.last_row) + rows, min(area.first_column, area.last_column) + columns
    top, left = top + min(height + 1, 0), left + min(width + 1, 0)  # a negative size reaches up and to the left
    height, width = abs(height), abs(width)
    bottom, right = top + height - 1, left + width - 1
    if not (height and width and 0 < top <= bottom <= MAX_ROW and 0 < left <= right <= MAX_COLUMN):
        return None
    end = f":${column_letters(right)}${bottom}" if height > 1 or width > 1 else ""
    return f"{area.sheet}${column_letters(left)}${top}{end}"
