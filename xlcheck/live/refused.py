"""A session for a copy that the engine refuses to load, such as one whose sheet name Excel could not write."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from xlcheck.cells import CellRef, Scalar
from xlcheck.engines import Unsolved
from xlcheck.errors import EngineError


class RefusedCopy:
    """Knows no value: every formula cell is unsolved, in the engine's own words."""

    def __init__(self, formula_cells: Collection[CellRef], error: EngineError) -> None:
        self._cells = formula_cells
        self._unsolved = Unsolved(kind="engine_failure", detail=str(error))

    def recalculate(self) -> Mapping[CellRef, Scalar | Unsolved]:
        """Return every formula cell as unsolved."""
        return dict.fromkeys(self._cells, self._unsolved)

    def what_if(
        self, changes: Mapping[CellRef, Scalar], outputs: Sequence[CellRef]
    ) -> Mapping[CellRef, Scalar | Unsolved]:
        """Return the outputs that are changed, and the others as unsolved."""
        return {ref: changes.get(ref, self._unsolved) for ref in outputs}
