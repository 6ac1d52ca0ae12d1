"""A value pasted as a number where a formula belongs."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from xlcheck.cells import CellRef, as_number
from xlcheck.checking import Finding
from xlcheck.graph import Graph
from xlcheck.roles import Roles

PASTED = 0.05
"""How far a pasted enterprise value may have drifted from the present values that it once was."""


def pasted_value(graph: Graph, roles: Roles, reached: Collection[CellRef], inputs: Iterable[CellRef]) -> CellRef | None:
    """Return the typed number behind an output that stands for the sum of present values which nothing reads."""
    parts = [roles.scalars.get(name) for name in ("sum_pv_fcff", "pv_terminal_value")]
    flows = [ref for name in ("fcff", "fcfe", "pv_fcff") if name in roles.series for ref in roles.series[name].cells]
    if not flows or any(flow in reached for flow in flows) or any(part is None or not part.value for part in parts):
        return None
    total = sum(part.value or 0.0 for part in parts if part is not None)
    near = {ref: abs(as_number(held.stored) or 0.0) for ref in inputs if (held := graph.book.get(ref))}
    close = [ref for ref, value in near.items() if abs(value - abs(total)) <= PASTED * abs(total)]
    return close[0] if len(close) == 1 else None


def pasted_finding(graph: Graph, pasted: CellRef, reader: str) -> Finding:
    """Return the finding that names the pasted number."""
    held = graph.book.get(pasted)
    return Finding(
        message=f"{pasted} is typed in where {reader} should read the present values",
        cell=pasted,
        found=as_number(held.stored) if held else None,
        expected="a formula that adds the present values of flows and terminal value",
    )
