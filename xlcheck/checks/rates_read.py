"""Which rate the flows are really discounted at: the cell that the discounting formulas read, whatever its label."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from xlcheck import dcf
from xlcheck.cells import CellRef
from xlcheck.checks import claims, memory
from xlcheck.checks.sheet import row_label
from xlcheck.formula import Ref, factors, terms, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles


def discounting_cells(roles: Roles, recalc: Recalc, graph: Graph) -> tuple[CellRef, ...]:
    """Return the factor row, else the row of present values, else the cell that sums them (NPV, XNPV)."""
    for role in ("discount_factor", "pv_fcff"):
        row = roles.series.get(role)
        if row is not None:
            return row.cells
    total = roles.get("sum_pv_fcff")
    return (total.cell,) if total is not None and total.cell is not None else ()


def rate_behind(roles: Roles, recalc: Recalc, graph: Graph) -> CellRef | None:
    """Return the source of the one rate that most discounting cells read directly; None where it is not one cell."""
    cells = discounting_cells(roles, recalc, graph)
    rows = {cell for role, line in roles.series.items() if role != "discount_rate" for cell in line.cells}
    counts = Counter(
        source
        for cell in cells
        for source in {graph.pure_link(near) for near in graph.precedents(cell) if near not in rows}
        if _is_rate(source, recalc)
    )
    common = [cell for cell, count in counts.items() if count * 2 > len(cells)]
    return common[0] if len(common) == 1 else None


def _is_rate(cell: CellRef, recalc: Recalc) -> bool:
    value = recalc.number(cell)
    return value is not None and 0 < value < 100 and value not in (0.5, 1.0, 100.0)


def is_weighted(cell: CellRef, costs: Sequence[Located | None], recalc: Recalc, graph: Graph) -> bool:
    """Say whether a rate is a weighted one by its own formula: a sum of products, the cost of equity in one of them."""
    node = claims.formula_node(cell, recalc)
    products = [part for _, part in (terms(node) if node is not None else ()) if len(factors(part)) > 1]
    read = {graph.pure_link(part.cell) for product in products for part in walk(product) if isinstance(part, Ref)}
    known = {graph.pure_link(held.cell) for held in costs if held is not None and held.cell is not None}
    return len(products) >= 2 and bool(read & known)


def timing_at_another(
    values: Sequence[float | None], roles: Roles, recalc: Recalc, graph: Graph
) -> tuple[str, CellRef] | None:
    """Return the timing of discount factors at the rate that their formulas read, and that rate's cell."""
    cell = rate_behind(roles, recalc, graph)
    rate = recalc.number(cell) if cell is not None else None
    if cell is None or rate is None:
        return None
    rate = rate / 100 if rate > 1 else rate
    years = [dcf.exponent_of(value, rate) if value is not None else None for value in values]
    known = [one for one in years if one is not None]
    timing = next(dcf.timings(known), None) if len(known) == len(years) else None
    return (timing.name, cell) if timing is not None else None


def at_cost_of_equity(roles: Roles, recalc: Recalc, graph: Graph) -> tuple[CellRef, ...] | None:
    """Return the cells that discount flows to the firm at the cost of equity, although a WACC is there to be read.

    None unless each step is certain: the flow rests on an operating profit after tax and on no interest, every
    discounting formula reads the cell of the cost of equity itself, and the two rates differ.
    """
    wacc, equity, flows = roles.get("wacc"), roles.get("cost_of_equity"), roles.series.get("fcff")
    if wacc is None or equity is None or flows is None or wacc.cell is None or equity.cell is None:
        return None
    if wacc.amount is None or equity.amount is None or abs(wacc.amount - equity.amount) <= 1e-4:
        return None
    source = graph.pure_link(equity.cell)
    if source == graph.pure_link(wacc.cell) or rate_behind(roles, recalc, graph) != source:
        return None
    labels = f"{row_label(recalc, equity.cell)} {row_label(recalc, source)}"
    named = claims.label_scores(row_label(recalc, wacc.cell)).get("wacc", 0.0) >= claims.SURE_LABEL
    if not named or _UNLEVERED.search(labels) or not before_interest(roles, recalc, graph):
        return None
    return discounting_cells(roles, recalc, graph)


_UNLEVERED = re.compile(r"unlever|ungear|asset|无杠杆|無負債|désendett|unverschuld|sin apalanc", re.I)
_INTEREST = re.compile(r"\binterest|net borrowing|利息|支払利息|zins|intérêt|interes", re.I)


def before_interest(roles: Roles, recalc: Recalc, graph: Graph) -> bool:
    """Say whether the flows rest on a bound operating profit and on no cell of interest or borrowing."""
    flows, interest = roles.series.get("fcff"), roles.series.get("interest")
    profits = [line for role in ("nopat", "ebit") if (line := roles.series.get(role)) is not None]
    if flows is None or not profits:
        return False
    above = memory.above(graph, [flows.cells[-1]])
    paid = set(interest.cells) if interest is not None else set()
    if not any(above & set(line.cells) for line in profits) or above & paid:
        return False
    return not any(_INTEREST.search(row_label(recalc, cell)) for cell in above)
