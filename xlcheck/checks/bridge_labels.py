"""Bridge lines that act against the sign their own label states: ``Less: value of options`` that is added."""

from __future__ import annotations

from collections.abc import Iterator

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.checks import claims, live
from xlcheck.checks.amounts import money
from xlcheck.checks.sheet import first_text, row_label
from xlcheck.formula import Ref, terms
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.roles.text import stated_sign

_EITHER_WAY = ("net_debt", *claims.MAY_BE_NEGATIVE)
"""Roles whose amount can be negative in truth, so that the label says nothing of its direction."""


def against_labels(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find positive amounts of the equity formula that their label deducts and the formula adds, or the other way."""
    equity = claims.equity_cell(roles, recalc, graph)
    judged = {item.cell for item in claims.items(roles, recalc, graph)}
    free = {graph.pure_link(located.cell) for role in _EITHER_WAY if (located := roles.get(role)) and located.cell}
    total = recalc.number(equity) if equity is not None else None
    for cell in _terms(equity, recalc) if equity is not None and total is not None else ():
        value, said = recalc.number(cell), stated_sign(first_text(row_label(recalc, cell)))
        if not value or said is None or cell in judged or graph.pure_link(cell) in free or cell in free:
            continue
        slope = live.derivative(recalc, equity, cell) if equity is not None else None
        if slope is None or claims.natural_amount(cell, value, recalc) <= 0 or slope * value * said >= 0:
            continue
        how = "deducts" if said < 0 else "adds"
        message = f"the label of {cell} {how} its {abs(value):.6g}, the equity value does the opposite"
        yield money(message, equity or cell, total, (total or 0.0) - 2 * slope * value)


def _terms(equity: CellRef, recalc: Recalc) -> Iterator[CellRef]:
    """Yield the cells that the equity formula adds up, and those of an equity value that it starts from."""
    for depth, start in ((0, equity), *((1, one) for one in _added(equity, recalc))):
        for cell in _added(start, recalc):
            if depth == 0 or recalc.book.get(cell) is not None:
                yield cell


def _added(cell: CellRef, recalc: Recalc) -> list[CellRef]:
    node = claims.formula_node(cell, recalc)
    parts = [part for _, part in terms(node)] if node is not None else []
    return [part.cell for part in parts if isinstance(part, Ref)] if len(parts) > 1 else []
