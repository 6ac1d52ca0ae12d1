"""What a WACC formula weighs, read from the formula where the weights have no label of their own."""

from __future__ import annotations

import math

from xlcheck.cells import CellRef
from xlcheck.checks import claims, live, memory
from xlcheck.formula import Node, Number, Ref, factors, terms, walk
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
    idle = _idle_shield(source, cost, roles, recalc, graph)
    if idle is not None:
        return idle
    if len(products) != 2 or len(lending) != 1 or own not in _reads(_other(products, lending[0]), graph):
        return None
    parts = [(part, power) for part, power in factors(lending[0]) if part != Number(1.0)]
    weight = [(part, power) for part, power in parts if cost not in _reads(part, graph)]
    if len(weight) != len(parts) - 1 or own in _reads(lending[0], graph):
        return None
    relief = _relief(roles, debt.amount)
    tax = roles.get("tax_rate")
    behind = memory.above(graph, [cost, *(cell for part, _ in weight for cell in _reads(part, graph))])
    if relief is None or (tax is not None and tax.cell is not None and graph.pure_link(tax.cell) in behind):
        return None
    values = [(_value(part, recalc), power) for part, power in weight]
    if not values or any(value is None or value <= 0 for value, _ in values):
        return None
    share = math.prod((value or 1.0) ** power for value, power in values)
    return (source, wacc.amount - share * relief) if 0 < share < 1 else None


def _idle_shield(
    source: CellRef, cost: CellRef, roles: Roles, recalc: Recalc, graph: Graph
) -> tuple[CellRef, float] | None:
    """Return the WACC cell and its rate after tax where it reads the pre-tax cost of debt past the after-tax one.

    The after-tax cost is built from the pre-tax one, and no formula reads it.
    """
    after, tax = roles.get("after_tax_cost_of_debt"), roles.get("tax_rate")
    wacc, debt = roles.get("wacc"), roles.get("pre_tax_cost_of_debt")
    if after is None or after.cell is None or wacc is None or debt is None or not after.value or not debt.value:
        return None
    built = cost in memory.above(graph, [after.cell]) and not graph.dependents(after.cell)
    read = {graph.pure_link(one) for one in graph.precedents(source)}
    taxed = tax is not None and tax.cell is not None and graph.pure_link(tax.cell) in read
    if not built or cost not in read or taxed or not after.value < debt.value:
        return None
    moved = live.run(recalc, {cost: after.value}, [source])[source]
    return None if moved is None else (source, moved * wacc.factor)


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
    """Return what a part of a weight is: a cell, a number, or cells and numbers added and subtracted."""
    total = 0.0
    for sign, part in terms(node):
        value = recalc.number(part.cell) if isinstance(part, Ref) else part.value if isinstance(part, Number) else None
        if value is None:
            return None
        total += sign * value
    return total
