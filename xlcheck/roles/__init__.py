"""Where a valuation's roles stand in a workbook (CHECKS: WACC, terminal growth, flows, bridge, shares …)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from xlcheck.cells import CellRef, Frozen, RangeRef

Unit = Literal["rate", "money", "count", "per_share", "multiple", "date", "years", "number", "text"]


class Located(Frozen):
    """A scalar role: one cell, or an expression over cells where the role lives only inside a formula."""

    role: str
    cell: CellRef | None
    """None for a derived role."""
    expression: str | None = None
    """For a derived role: the expression over cells, e.g. ``SUM(DCF!B27:F27)``."""
    value: float | None
    """Recomputed, as the sheet shows it (a rate in percent points stays 9.73: see `factor`)."""
    unit: Unit
    factor: float = 1.0
    """Multiply `value` by it to get base units: 0.01 for percent points, 1e6 for millions, 1e8 for 亿."""
    currency: str | None = None
    """ISO code where the sheet, block or cell declares one."""
    confidence: float
    """0 to 1."""
    how: str
    """``binding``, ``label``, ``label+identity``, ``label+graph``, ``derived`` …"""
    evidence: tuple[str, ...] = ()
    """What speaks for it: label cells with their text, identities that hold, graph paths."""

    @property
    def amount(self) -> float | None:
        """The value in base units: a decimal rate, currency units, a plain count."""
        return None if self.value is None else self.value * self.factor


class LocatedSeries(Frozen):
    """A series role: one row or column of cells over the forecast periods, in time order."""

    role: str
    cells: tuple[CellRef, ...]
    values: tuple[float | None, ...]
    """Recomputed, as the sheet shows them; None where a cell is no number."""
    unit: Unit
    factor: float = 1.0
    currency: str | None = None
    confidence: float
    how: str
    evidence: tuple[str, ...] = ()
    history: tuple[CellRef, ...] = ()
    """Cells of the same line left of the forecast (actuals), in time order."""
    terminal: CellRef | None = None
    """The cell of the same line in a terminal or normalised column, where there is one."""
    sign: Literal[1, -1] | None = None
    """+1 where an outflow line (capex, increase in NWC) is entered positive and subtracted, -1 where it is
    entered negative and added; None where it does not apply or is not known."""


class Grid(Frozen):
    """A sensitivity table."""

    cells: RangeRef
    row_axis: tuple[CellRef, ...]
    """Axis cells above the grid, left to right; empty where there is none."""
    column_axis: tuple[CellRef, ...]
    """Axis cells left of the grid, top to bottom; empty where there is none."""
    row_role: str | None
    """Role that the row axis varies (``wacc``, ``terminal_growth``, …), None if not known."""
    column_role: str | None
    corner: CellRef | None
    output_role: str | None
    """What the cells show: ``value_per_share``, ``equity_value``, ``enterprise_value``, …"""
    live: bool
    """True for data tables and formula grids, False for typed numbers."""
    evidence: tuple[str, ...] = ()


class Block(Frozen):
    """One valuation of the workbook (a scenario, a copy, a second method)."""

    name: str
    """Sheet and label that tell it from the others."""
    scalars: Mapping[str, Located]
    series: Mapping[str, LocatedSeries]
    live: bool
    """False for pasted-value copies."""


class Roles(Frozen):
    """Everything the locator found. `scalars` and `series` are those of the headline block."""

    scalars: Mapping[str, Located]
    series: Mapping[str, LocatedSeries]
    ambiguous: Mapping[str, tuple[Located, ...]]
    """Roles with candidates that cannot be told apart, or none of them certain enough: not bound."""
    grids: tuple[Grid, ...] = ()
    alternates: tuple[Block, ...] = ()
    headline: str | None = None
    """Name of the headline block; None if none was found or it is ambiguous."""
    headline_ambiguous: bool = False

    def __getitem__(self, role: str) -> Located:
        """Return a bound scalar role; KeyError if it is not bound."""
        return self.scalars[role]

    def get(self, role: str) -> Located | None:
        """Return a bound scalar role, or None."""
        return self.scalars.get(role)
