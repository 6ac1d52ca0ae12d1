"""What a WACC formula weighs, read from the formula where the weights have no label of their own."""

from __future__ import annotations

from xlcheck.cells import CellRef
from xlcheck.checks import claims, memory
from xlcheck.formula import Binary, Node, Ref, factors, terms, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles


def unshielded_debt(roles: Roles, recalc: Recalc, graph: Graph) -> tuple[CellRef, float] | None:
    """Return the WACC cell and the rate it should show where its formula weighs the debt at its pre-tax cost.

    None unless one product of the formula holds the bound cost of equity and another nothing but a weight and the
    bound pre-tax cost of debt, no tax stands behind either, and a tax rate or an after-tax cost is stated.
    """
    wacc, equity, debt = (roles.get(role) for role in ("wacc", "cost_of_equity", "pre_tax_cost_of_debt"))
    if wacc is None or wacc.cell is None or wacc.amount is None or equity is None or equity.cell is None:
        return None
    if debt is None or debt.cell is None or not debt.amount:
        return None
    source = graph.pure_link(wacc.cell)
    node = claims.formula_node(source, recalc)
    own, cost = graph.pure_link(equity.cell), graph.pure_link(debt.cell)
    products = [part for sign, part in (terms(node) if node is not None else ()) if sign > 0]
    lending = [part for part in products if cost in _reads(part, graph)]
    if len(products) != 2 or len(lending) != 1 or own not in _reads(_other(products, lending[0]), graph):
        return None
    parts = [part for part, power in factors(lending[0]) if power == 1]
    weight = [part for part in parts if cost not in _reads(part, graph)]
    if len(parts) != 2 or len(weight) != 1 or own in _reads(lending[0], graph):
        return None
    relief = _relief(roles, debt.amount)
    tax = roles.get("tax_rate")
    behind = memory.above(graph, [cost, *_reads(weight[0], graph)])
    if relief is None or (tax is not None and tax.cell is not None and graph.pure_link(tax.cell) in behind):
        return None
    share = _value(weight[0], recalc)
    return None if share is None or not 0 < share < 1 else (source, wacc.amount - share * relief)


def _relief(roles: Roles, cost: float) -> float | None:
    """Return how much cheaper the debt is after tax: by the stated after-tax cost, else by the tax rate."""
    stated, tax = roles.get("after_tax_cost_of_debt"), roles.get("tax_rate")
    if stated is not None and stated.amount is not None:
        return cost - stated.amount if 0 < stated.amount < 0.999 * cost else None
    return cost * tax.amount if tax is not None and tax.amount and 0 < tax.amount < 0.6 else None


def _other(products: list[Node], one: Node) -> Node:
    return next(part for part in products if part is not one)


def _reads(node: Node, graph: Graph) -> frozenset[CellRef]:
    return frozenset(graph.pure_link(part.cell) for part in walk(node) if isinstance(part, Ref))


def _value(node: Node, recalc: Recalc) -> float | None:
    """Return a weight that is one cell, or one less one cell."""
    if isinstance(node, Ref):
        return recalc.number(node.cell)
    if isinstance(node, Binary) and node.operator == "-" and isinstance(node.right, Ref):
        rest = recalc.number(node.right.cell)
        return None if rest is None else 1 - rest
    return None
