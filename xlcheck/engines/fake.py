"""An engine that answers from a mapping, so that most tests need no engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlcheck.cells import CellRef, Scalar
from xlcheck.engines import Clock, Unsolved


@dataclass(frozen=True, slots=True)
class FakeEngine:
    """Returns the given values whatever is asked; changed cells answer with what they were changed to."""

    values: Mapping[CellRef, Scalar | Unsolved]
    name: str = "fake"
    version: str = "0"

    def open(self, package: bytes, clock: Clock) -> FakeEngine:
        """Return itself: the package is not read."""
        del package, clock
        return self

    def recalculate(self) -> Mapping[CellRef, Scalar | Unsolved]:
        """Return the values."""
        return self.values

    def what_if(
        self, changes: Mapping[CellRef, Scalar], outputs: Sequence[CellRef]
    ) -> Mapping[CellRef, Scalar | Unsolved]:
        """Return the outputs: changed cells as changed, the others as given, blank where nothing is given."""
        return {ref: changes.get(ref, self.values.get(ref)) for ref in outputs}
