"""Claims on the enterprise value: what a term of the equity bridge is, by its label."""

from __future__ import annotations

from xlcheck.cells import CellRef
from xlcheck.formula import Node, Ref, terms, walk
from xlcheck.roles.naming import Named
from xlcheck.roles.shapes import Shapes

CLAIMS = (
    "cash", "debt", "net_debt", "lease_liabilities", "minority_interest", "preferred_equity", "investments",
    "pension_deficit", "other_claims",
)  # fmt: skip
PLAIN = 0.5
"""How well a label must name a claim."""


SURE = 0.8
"""How well a label must name the enterprise value to outweigh the build of its formula."""


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


def is_named_claim(shapes: Shapes, node: Node) -> bool:
    """Say whether a share of an enterprise value is a claim by its label (a minority's part of a segment)."""
    role = claim_role(shapes, node)
    if role is None or not isinstance(node, Ref):
        return False
    score = shapes.naming.score
    return score(node.cell, role) > score(node.cell, "enterprise_value", "sum_pv_fcff")


def is_named_whole(shapes: Shapes, node: Node) -> bool:
    """Say whether a label insists that a value with further terms, none a known claim, is the enterprise value."""
    tree = shapes.tree(shapes.root(node.cell)) if isinstance(node, Ref) else None
    if not isinstance(node, Ref) or tree is None:
        return False
    if any(claim_role(shapes, part) is not None for _, part in terms(tree)):
        return False  # cash and investments belong to the bridge, wherever it draws its line
    value, equity = (shapes.naming.score(node.cell, role) for role in ("enterprise_value", "equity_value"))
    return value >= SURE and value > equity


def adds_further(shapes: Shapes, node: Node) -> bool:
    """Say whether an equity value adds an amount that no claim is: the book value that excess returns go on."""
    tree = shapes.tree(shapes.root(node.cell)) if isinstance(node, Ref) else None
    cells = shapes.cells([part for _, part in terms(tree)]) if tree is not None else []
    return any(shapes.at(cell) is None and claim_role(shapes, Ref(cell)) is None for cell in cells)


def _best(shapes: Shapes, cell: CellRef) -> Named | None:
    named = shapes.naming.at(cell)
    return max((named[role] for role in CLAIMS if role in named), key=lambda one: one.score, default=None)
