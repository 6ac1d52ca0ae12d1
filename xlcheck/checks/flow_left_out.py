"""Lines of the flow that stand above it, labelled and computed, and that it does not read."""

from __future__ import annotations

from collections.abc import Sequence

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.checks import memory
from xlcheck.checks.flow_terms import BASES, Item, linked
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import LocatedSeries, Roles

_LINES = ("capex", "change_in_nwc")
_FARTHEST = 8
"""Lines between a term of the flow and the flow, at most."""


def left_out(recalc: Recalc, graph: Graph, roles: Roles, fcff: LocatedSeries, items: Sequence[Item]) -> Finding | None:
    """Find a line between the operating profit and the flow, in every year, that no flow depends on.

    Only where every term of the flow is known: an unnamed one may bring the same amount in.
    """
    flows = [linked(recalc, cell) for cell in fcff.cells]
    kinds = {item.kind for item in items}
    bases = [linked(recalc, item.cell) for item in items if item.kind in BASES and item.cell is not None]
    if not bases or any(item.kind is None or item.cell is None for item in items):
        return None
    above = memory.above(graph, flows)
    for kind in _LINES:
        line = roles.series.get(kind)
        if line is None or kind in kinds or not all(line.values) or above & set(line.cells):
            continue
        beside = [next((cell for cell in line.cells if _between(bases[0], cell, flow)), None) for flow in flows]
        if all(beside):
            name = "capital expenditure" if kind == "capex" else "the change in working capital"
            return Finding(
                message=f"{flows[0]} leaves {name} out: the line of {beside[0]} is read by no flow",
                cell=flows[0],
                found=recalc.number(flows[0]),
                expected=f"with {beside[0]}",
            )
    return None


def _between(base: CellRef, cell: CellRef, flow: CellRef) -> bool:
    """Say whether a cell stands between profit and flow, in the column (or row) of the flow."""
    if not base.sheet == cell.sheet == flow.sheet:
        return False
    down = cell.column == flow.column and base.row < cell.row < flow.row
    across = cell.row == flow.row and base.column < cell.column < flow.column
    return (down and flow.row - cell.row <= _FARTHEST) or (across and flow.column - cell.column <= _FARTHEST)
