"""Present values summed stage by stage: the years of growth in one cell, those of the fade in another."""

from __future__ import annotations

from xlcheck.cells import CellRef
from xlcheck.formula import Node, Ref, terms
from xlcheck.roles.shapes import Shapes


def stages_of(shapes: Shapes, parts: list[Node]) -> list[Node]:
    """Return the parts that sum different stretches of one row or column of present values; none for fewer than two."""
    found: list[Node] = []
    places: set[CellRef] = set()
    for part in parts:
        shape = shapes.of(part)
        if isinstance(part, Ref) and shape and shape.kind == "sum_pv" and not shape.inline and not shape.with_tv:
            if places & set(shape.flows):
                return []
            places |= set(shape.flows)
            found.append(part)
    along = len({(cell.sheet, cell.row) for cell in places}) == 1 or len({(c.sheet, c.column) for c in places}) == 1
    return found if len(found) > 1 and along else []


def opened(shapes: Shapes, node: Node, stages: list[Node]) -> list[Node]:
    """Return the present values that a stage sums; any other part as it is."""
    shape = shapes.of(node) if node in stages else None
    return [Ref(cell) for cell in shape.flows] if shape else [node]


def present_values(shapes: Shapes, cell: CellRef) -> list[Node]:
    """Return the present values that a value adds itself: flows to equity, or returns beyond book equity."""
    if (shape := shapes.at(cell)) and shape.kind == "sum_pv":
        return [Ref(cell)]
    tree = shapes.tree(shapes.root(cell))
    parts = [part for _, part in terms(tree)] if tree is not None else []
    kinds = {"sum_pv", "pv_tv", "pv", "tv"}
    return [part for part in parts if (shape := shapes.of(part)) and shape.kind in kinds]
