"""A workbook with cells changed and recalculated, every other part of its package as it was."""

from __future__ import annotations

from collections.abc import Mapping

import cellrune

from xlcheck.cells import CellRef
from xlcheck.errors import EngineError


def resaved(package: bytes, changes: Mapping[CellRef, str | float | bool | None]) -> bytes:
    """Return the package with cells changed (a leading ``=`` makes a formula) and values recalculated.

    Stored values that the engine cannot compute are dropped, never kept. Raises EngineError where the package
    cannot be edited without losing something, or a formula cannot be read.
    """
    try:
        with cellrune.Workbook.from_bytes(package) as workbook:
            for ref, content in changes.items():
                _put(workbook, ref, content)
            workbook.calculate()
            return bytes(workbook.to_bytes(invalidate_unavailable=True))
    except cellrune.CellRuneError as error:
        raise EngineError(f"the changed workbook cannot be written: {error}") from error


def _put(workbook: cellrune.Workbook, ref: CellRef, content: str | float | bool | None) -> None:
    if content is None:
        workbook.clear_cell(ref.sheet, ref.address)
    elif isinstance(content, bool):
        workbook.set_logical(ref.sheet, ref.address, content)
    elif isinstance(content, str) and content.startswith("="):
        workbook.set_formula(ref.sheet, ref.address, content)
    elif isinstance(content, str):
        workbook.set_text(ref.sheet, ref.address, content)
    else:
        workbook.set_number(ref.sheet, ref.address, float(content))
