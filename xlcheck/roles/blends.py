"""Enterprise values that are blended from several methods: weighted means, and what their branches share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from xlcheck.cells import CellRef
from xlcheck.formula import Binary, Call, Node, Number, Range, Ref, factors, terms, walk
from xlcheck.roles.layout import Layout
from xlcheck.roles.naming import Naming
from xlcheck.roles.picks import Chain, Pick
from xlcheck.roles.shape import Shape, unwrapped


def mean_of(options: list[Shape | None]) -> Shape | None:
    """Return what a weighted mean of values of one kind is: an enterprise or a terminal value; None for any other."""
    first = options[0] if len(options) > 1 else None
    if first is None or any(one is None or one.kind != first.kind for one in options):
        return None
    return replace(first, blended=True) if first.kind in ("ev", "tv", "pv_tv") else None


def mixed(parts: Iterable[tuple[int, Node]], layout: Layout) -> list[Ref]:
    """Return the cells that a sum of products weighs, one for each product, all on one sheet; else none."""
    options = []
    for sign, part in parts:
        product = isinstance(part, Binary) and part.operator == "*"
        pieces = [unwrapped(one) for one, _ in factors(part)] if product else []
        weights = [one for one in pieces if _is_weight(one, layout)]
        values = [one for one in pieces if isinstance(one, Ref) and one not in weights]
        if sign < 0 or not weights or len(values) != 1 or len(weights) + 1 != len(pieces):
            return []
        options.append(values[0])
    return options if len({one.cell.sheet for one in options}) == 1 else []


def averaged(tree: Node, layout: Layout) -> list[Ref]:
    """Return the cells that a formula averages, weighted or not; none where it does something else."""
    if isinstance(tree, Call) and tree.function in ("AVERAGE", "MEDIAN"):
        cells = [part for part in walk(tree) if isinstance(part, Ref)]
        cells += [Ref(one) for part in walk(tree) if isinstance(part, Range) for one in part.range.cells()]
        return cells
    halved = isinstance(tree, Binary) and tree.operator == "/" and unwrapped(tree.right) == Number(2.0)
    if halved and isinstance(tree, Binary):
        parts = [unwrapped(part) for _, part in terms(tree.left)]
        return [part for part in parts if isinstance(part, Ref)] if len(parts) == 2 else []
    return mixed(terms(tree), layout)


def on_a_sum(multiple: Ref, over: list[Node], naming: Naming) -> bool:
    """Say whether the product of `over` is an exit multiple on a sum of lines, such as EBIT and D&A."""
    value = naming.layout.value(multiple.cell)
    summed = all(isinstance(one, Ref) or len(terms(one)) > 1 for one in over)
    return summed and value is not None and value > 1 and naming.score(multiple.cell, "exit_multiple") >= 0.7


def _is_weight(node: Node, layout: Layout) -> bool:
    """Say whether a factor is a share of one: a number or a cell from 0 to 1, or one less such a cell."""
    if isinstance(node, Number):
        return 0 <= node.value <= 1
    if isinstance(node, Binary) and node.operator == "-" and unwrapped(node.left) == Number(1.0):
        return _is_weight(unwrapped(node.right), layout)
    value = layout.value(node.cell) if isinstance(node, Ref) else None
    return value is not None and 0 <= value <= 1


def merge(chain: Chain, branches: list[Chain], sums: dict[CellRef, tuple[CellRef, ...]]) -> None:
    """Take what the branches share into a chain; their own terminal values are rivals.

    `sums` holds, for sums of present values, the cells summed: two sums of the same cells are one.
    """

    def same(pick: Pick) -> object:
        return (sums.get(pick.cell) if pick.cell is not None else None) or pick.cell

    for branch in branches:
        chain.rates += branch.rates
        chain.methods |= branch.methods
        for role, pick in branch.picks.items():
            if role == "enterprise_value":
                continue
            if len({same(other.picks[role]) for other in branches if role in other.picks}) == 1:
                chain.put(pick)
            else:
                chain.rivals.setdefault(role, []).append(pick)
        chain.sums = chain.sums or branch.sums
        chain.sums_home = chain.sums_home or branch.sums_home
