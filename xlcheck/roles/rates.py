"""The parts of a cost of capital by the build of its formula, where no label names them."""

from __future__ import annotations

from collections.abc import Iterator

from xlcheck.cells import CellRef
from xlcheck.formula import Binary, Node, Number, Ref, factors, terms, walk
from xlcheck.roles.layout import Layout
from xlcheck.roles.naming import Naming
from xlcheck.roles.shape import rate_of, unwrapped

HIGHEST_BETA = 3.5
LOWEST_BETA = 0.25
HIGHEST_PREMIUM = 0.2
COSTS = ("cost_of_equity", "pre_tax_cost_of_debt", "after_tax_cost_of_debt")
WEIGHTS = ("weight_equity", "weight_debt")


def compares(tree: Node, other: CellRef) -> bool:
    """Say whether a formula sets a cell against another one: a ratio of the two, or their difference."""

    def cells(node: Node) -> set[CellRef]:
        return {part.cell for part in walk(node) if isinstance(part, Ref)}

    for part in walk(tree):
        if isinstance(part, Binary) and part.operator in ("/", "-"):
            sides = cells(part.left), cells(part.right)
            if len(sides[0]) == len(sides[1]) == 1 and sides[0] != sides[1] and {other} in sides:
                return True
    return False


def is_upside(tree: Node, price: CellRef, value: CellRef) -> bool:
    """Say whether a formula is value over price less one, in either way to write it."""
    parts = terms(tree)
    if len(parts) == 2:
        (first, ratio), (second, one) = parts
        divided = _quotient(ratio, price)
        return first > 0 > second and isinstance(one, Number) and one.value == 1 and _is(divided, value)
    difference = _quotient(tree, price)
    both = terms(difference) if difference is not None else ()
    return [sign for sign, _ in both] == [1, -1] and _is(both[0][1], value) and _is(both[1][1], price)


def _is(node: Node | None, cell: CellRef) -> bool:
    return isinstance(node, Ref) and node.cell == cell


def _quotient(node: Node, below: CellRef) -> Node | None:
    """Return what is divided by a cell."""
    node = unwrapped(node)
    if isinstance(node, Binary) and node.operator == "/" and _is(unwrapped(node.right), below):
        return unwrapped(node.left)
    return None


def capital_parts(tree: Node, naming: Naming) -> Iterator[tuple[str, CellRef]]:
    """Yield role and cell for what a sum of weight times cost is made of; a tax shield names tax and debt."""
    for sign, part in terms(tree):
        pieces = [unwrapped(one) for one, exponent in factors(part) if exponent > 0]
        if sign < 0 or len(pieces) != len(factors(part)):
            return
        taxes = [cell for one in pieces if (cell := _shield(one)) is not None and not _weight(one, naming)]
        plain = [one.cell for one in pieces if isinstance(one, Ref)]
        if len(taxes) == 1 and len(pieces) == 3 and 1 <= len(plain) <= 2:
            yield "tax_rate", taxes[0]
            yield from _debt(plain, naming)


def _debt(plain: list[CellRef], naming: Naming) -> Iterator[tuple[str, CellRef]]:
    costs = [cell for cell in plain if naming.score(cell, *COSTS) > naming.score(cell, *WEIGHTS)]
    if len(costs) == 1:
        yield "pre_tax_cost_of_debt", costs[0]
        yield from (("weight_debt", cell) for cell in plain if cell != costs[0])


def _shield(node: Node) -> CellRef | None:
    """Return t of ``1 - t``."""
    taken = isinstance(node, Binary) and node.operator == "-" and unwrapped(node.left) == Number(1.0)
    return rate_of(node.right) if taken and isinstance(node, Binary) else None


def _weight(node: Node, naming: Naming) -> bool:
    cell = _shield(node)
    return cell is not None and naming.score(cell, *WEIGHTS) >= 0.4


def beta_and_premium(pair: tuple[Node, Node], layout: Layout) -> tuple[CellRef, CellRef] | None:
    """Return (beta, premium) of a product of two cells of which only one can be either, by size and format."""
    if not all(isinstance(one, Ref) for one in pair):
        return None
    left, right = (one.cell for one in pair if isinstance(one, Ref))
    fitting = [(a, b) for a, b in ((left, right), (right, left)) if _is_beta(a, layout) and _is_premium(b, layout)]
    return fitting[0] if len(fitting) == 1 else None


def _is_beta(cell: CellRef, layout: Layout) -> bool:
    num = layout.num(cell)
    return bool(num and num.value and not num.percent and LOWEST_BETA < num.value < HIGHEST_BETA)


def _is_premium(cell: CellRef, layout: Layout) -> bool:
    num = layout.num(cell)
    return bool(num and num.value and num.percent and 0 < num.value < HIGHEST_PREMIUM)
