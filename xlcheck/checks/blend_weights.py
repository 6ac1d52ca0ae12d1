"""Values blended from several methods: their weights add up to one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.checks import memory
from xlcheck.checks.headline import output_cells
from xlcheck.checks.sheet import row_label
from xlcheck.checks.trees import trees
from xlcheck.formula import Binary, Node, Number, Ref, factors, terms
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles

_VALUE = re.compile(
    r"\bvalue\b|\bprice\b|\bEV\b|\bequity\b|\bDCF\b|\bcomp(?:arable)?s\b|价值|股价|每股|wert\b|valeur|valor",
    re.IGNORECASE,
)


_BLENDED = re.compile(
    r"blend|weighted|average|target|fair value|综合|加权|目标|gewichtet|pondér|ponderad", re.IGNORECASE
)
"""Labels of the cell that holds the mean."""
_STAKE = re.compile(r"stake|owner|owned|holding|interest in|持股|anteil|particip", re.IGNORECASE)
"""Labels of shares in companies, which need not add up to one."""


def blends_off_one(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find a weighted mean of values behind the headline whose weights add up to more, or less, than one.

    A mean of terminal values is left to ``terminal.gordon-identity``.
    """
    outputs = list(output_cells(roles).values())
    terminal = [one.cell for one in map(roles.get, ("terminal_value", "pv_terminal_value")) if one and one.cell]
    for cell in sorted({*outputs, *memory.above(graph, outputs)} - {*terminal, *memory.above(graph, terminal)}):
        node, value = trees(recalc).get(cell), recalc.number(cell)
        parts = terms(node) if node is not None else ()
        named = value is not None and _BLENDED.search(row_label(recalc, cell))
        if value is None or not named or len(parts) < 2 or any(sign < 0 for sign, _ in parts):
            continue
        weighed = [_weighed(part, recalc) for _, part in parts]
        weights = [one[0] for one in weighed if one is not None]
        values = {one[1] for one in weighed if one is not None}
        total = sum(weights)
        if len(values) < len(parts) or abs(total - 1) < 1e-6 or not 0.2 < total < 2.5:
            continue
        shown = [recalc.number(one) or 0.0 for one in values]
        if min(shown) > 1 and max(shown) < 5 * min(shown) and all(_VALUE.search(row_label(recalc, c)) for c in values):
            message = f"{cell} blends values with weights that add up to {total:.4g}"
            yield Finding(message=message, cell=cell, found=value, expected=value / total, unit="weights of one")


def _weighed(part: Node, recalc: Recalc) -> tuple[float, CellRef] | None:
    """Return weight and value cell of a product of the two."""
    pieces = factors(part)
    if len(pieces) != 2 or any(power != 1 for _, power in pieces):
        return None
    shares = [share for piece, _ in pieces if (share := _share(piece, recalc)) is not None]
    values = [piece.cell for piece, _ in pieces if isinstance(piece, Ref) and _share(piece, recalc) is None]
    return (shares[0], values[0]) if len(shares) == len(values) == 1 else None


def _share(node: Node, recalc: Recalc) -> float | None:
    """Return a number from 0 to 1: typed, in a cell, or one less such a cell."""
    if isinstance(node, Binary) and node.operator == "-" and node.left == Number(1.0):
        rest = _share(node.right, recalc)
        return None if rest is None else 1 - rest
    if isinstance(node, Ref) and _STAKE.search(row_label(recalc, node.cell)):
        return None
    value = node.value if isinstance(node, Number) else recalc.number(node.cell) if isinstance(node, Ref) else None
    return value if value is not None and 0 <= value <= 1 else None
