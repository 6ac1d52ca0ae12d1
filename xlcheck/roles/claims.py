"""Claims on the enterprise value: what a term of the equity bridge is, by its label."""

from __future__ import annotations

from xlcheck.cells import CellRef
from xlcheck.formula import Node, Ref, walk
from xlcheck.roles.naming import Named
from xlcheck.roles.shapes import Shapes

CLAIMS = (
    "cash", "debt", "net_debt", "lease_liabilities", "minority_interest", "preferred_equity", "investments",
    "pension_deficit", "other_claims",
)  # fmt: skip
PLAIN = 0.5
"""How well a label must name a claim."""


def cells_of(node: Node) -> list[CellRef]:
    """Return the single cells that an expression reads."""
    return [part.cell for part in walk(node) if isinstance(part, Ref)]


def claim_role(shapes: Shapes, node: Node) -> str | None:
    """Return the claim that a term is: by the label of its first cell, else of the cell that this one repeats."""
    cells = cells_of(node)
    if not cells:
        return None
    best = _best(shapes, cells[0])
    if best is None or best.score < PLAIN:
        root = shapes.root(cells[0])
        best = _best(shapes, root) if root != cells[0] else None
    return best.role if best is not None and best.score >= PLAIN else None


def _best(shapes: Shapes, cell: CellRef) -> Named | None:
    named = shapes.naming.at(cell)
    return max((named[role] for role in CLAIMS if role in named), key=lambda one: one.score, default=None)
