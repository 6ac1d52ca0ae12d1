"""The seam to recalculation engines: a protocol, and one file per engine, imported on use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Literal, Protocol

from xlcheck.cells import CellRef, Frozen, Scalar
from xlcheck.errors import UsageError

UnsolvedKind = Literal[
    "unsupported_function",
    "cycle",
    "indeterminate_loop",
    "external_link",
    "engine_failure",
    "engines_disagree",
    "clock",
    "random",
    "rich_data",
]


class Unsolved(Frozen):
    """A cell that could not be recomputed: *the engine cannot* is never *the model is wrong*."""

    kind: UnsolvedKind
    detail: str
    """One sentence: the function, the loop's cells, the link, the engine's own words."""


BLOCKED = "it depends on a cell that could not be calculated"
"""How the detail begins of a cell that is unsolved only because one that it reads is."""


@dataclass(frozen=True, slots=True)
class Clock:
    """What TODAY() and NOW() return, as Excel serial numbers; None leaves their cones unsolved."""

    today: float | None = None
    now: float | None = None


class Session(Protocol):
    """One workbook, loaded in one engine."""

    def recalculate(self) -> Mapping[CellRef, Scalar | Unsolved]:
        """Return the value of every formula cell; stored values are ignored."""
        ...

    def what_if(
        self, changes: Mapping[CellRef, Scalar], outputs: Sequence[CellRef]
    ) -> Mapping[CellRef, Scalar | Unsolved]:
        """Return the outputs with those cells (inputs or formulas) replaced; the session stays as it was."""
        ...


class Engine(Protocol):
    """Opens a normalised .xlsx package."""

    @property
    def name(self) -> str:
        """The name of the engine, a key of `ENGINES`."""
        ...

    @property
    def version(self) -> str:
        """The version of its package."""
        ...

    def open(self, package: bytes, clock: Clock) -> Session:
        """Load the package; EngineError if the engine cannot."""
        ...


ENGINES: dict[str, str] = {
    "cellrune": "xlcheck.engines.cellrune",
    "formualizer": "xlcheck.engines.formualizer",
    "formulas": "xlcheck.engines.formulas",
}
"""Engine name to module; each module has an `ENGINE` object of the `Engine` protocol."""
PRIMARY = next(iter(ENGINES))
"""The engine of the whole recalculation, and the first opinion on a cell."""


def engine(name: str) -> Engine:
    """Import and return an engine by name; UsageError names the choices."""
    if name not in ENGINES:
        raise UsageError(f"engine {name!r} is unknown; choose one of {', '.join(ENGINES)}")
    found: Engine = import_module(ENGINES[name]).ENGINE
    return found


def is_panic(error: BaseException) -> bool:
    """Say whether an exception is the panic of an engine written in Rust, which is no `Exception`."""
    return type(error).__name__ == "PanicException"
