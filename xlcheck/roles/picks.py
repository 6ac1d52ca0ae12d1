"""What a search found for a role, before it becomes a `Located`."""

from __future__ import annotations

from dataclasses import dataclass, field

from xlcheck.cells import CellRef
from xlcheck.formula import Node


@dataclass
class Pick:
    """A cell (or an expression inside a formula) that plays a role, with what speaks for it."""

    role: str
    cell: CellRef | None
    node: Node | None = None
    """For a role inside a formula: the expression."""
    label: float = 0.0
    """How well the cell's label names the role, 0 to 1."""
    graph: bool = False
    """True where the formulas lead to it."""
    identity: bool = False
    """True where the numbers satisfy an identity that it takes part in."""
    sign: int = 1
    """For a claim: +1 where its cell is added, -1 where it is subtracted."""
    evidence: list[str] = field(default_factory=list)


@dataclass
class Chain:
    """One valuation: its outputs, and what their formulas lead to."""

    top: CellRef
    picks: dict[str, Pick] = field(default_factory=dict)
    rivals: dict[str, list[Pick]] = field(default_factory=dict)
    """Roles with several cells of equal standing (two terminal values that are averaged)."""
    sums: Node | None = None
    """The expression that sums the present values."""
    sums_home: CellRef | None = None
    rates: list[tuple[CellRef, str]] = field(default_factory=list)
    """Cells used as rate, each with where: ``discount`` or ``terminal``."""
    methods: set[str] = field(default_factory=set)
    steps: set[CellRef] = field(default_factory=set)
    """Values per share on the way to the top (before a currency conversion)."""
    blank: set[str] = field(default_factory=set)
    """Roles whose cell the formulas name, but which is empty (a template, a forgotten input)."""

    def put(self, pick: Pick) -> None:
        """Keep the first pick of a role."""
        self.picks.setdefault(pick.role, pick)

    def cell(self, role: str) -> CellRef | None:
        """Return the cell of a role, or None."""
        pick = self.picks.get(role)
        return pick.cell if pick else None


@dataclass
class Line:
    """A row or column of cells over the periods."""

    role: str
    cells: tuple[CellRef, ...]
    label: float
    graph: bool
    evidence: list[str] = field(default_factory=list)
    identity: bool = False
    terminal: CellRef | None = None
    history: tuple[CellRef, ...] = ()
    sign: int | None = None
