"""The headline outputs of a valuation and what they depend on: where a fault costs the reader something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xlcheck.cells import CellRef
from xlcheck.checking import NotApplicable, Unverifiable
from xlcheck.graph import Graph
from xlcheck.roles import Roles

OUTPUTS = ("value_per_share", "equity_value", "enterprise_value")
"""The results a reader acts on, the last of the chain first."""
STEPS = (*OUTPUTS, "pv_terminal_value", "terminal_value", "sum_pv_fcff")


def output_cells(roles: Roles, names: Iterable[str] = OUTPUTS) -> dict[str, CellRef]:
    """Return role to cell of the bound headline outputs (derived ones have no cell and are left out)."""
    found = {name: roles.scalars[name].cell for name in names if name in roles.scalars}
    return {name: cell for name, cell in found.items() if cell is not None}


def headline_chain(graph: Graph, roles: Roles) -> frozenset[CellRef]:
    """Return every cell that the headline outputs depend on, themselves included; empty if none is bound."""
    cells = set(output_cells(roles, STEPS).values())
    for series in ("fcff", "fcfe", "pv_fcff"):
        if series in roles.series:
            cells.update(roles.series[series].cells)
    return graph.ancestors(cells) if cells else frozenset()


def nothing_bound(roles: Roles) -> Iterator[NotApplicable | Unverifiable]:
    """Yield why there is no headline output: none was found, or two that cannot be told apart."""
    rivals = [str(rival.cell) for name in OUTPUTS for rival in roles.ambiguous.get(name, ()) if rival.cell]
    if rivals:
        yield Unverifiable(reason=f"the headline output cannot be told with confidence: {', '.join(rivals[:4])}")
    else:
        yield NotApplicable(reason="no headline output of a valuation was found")
