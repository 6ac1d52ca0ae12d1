"""How the result of an array formula fills the range that it was entered in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlcheck.cells import CellError, CellRef, RangeRef, Scalar
from xlcheck.engines import Unsolved

_BEYOND = CellError(error="#N/A")


def fill(
    area: RangeRef, rows: Sequence[Sequence[Scalar | Unsolved]], *, dynamic: bool
) -> Iterator[tuple[CellRef, Scalar | Unsolved]]:
    """Yield each cell of the range with its part of the result.

    A formula entered over a range spreads a single row, column or value over all of it, and gives #N/A past the end
    of anything else. A dynamic one leaves what it does not reach blank. What is unsolved is so in every cell.
    """
    height, width = len(rows), len(rows[0])
    spread = not dynamic or isinstance(rows[0][0], Unsolved)
    beyond = None if dynamic else _BEYOND
    for ref in area.cells():
        row = 0 if spread and height == 1 else ref.row - area.first_row
        column = 0 if spread and width == 1 else ref.column - area.first_column
        yield ref, rows[row][column] if row < height and column < width else beyond
