"""Differences between neighbouring periods of one line, as formulas write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xlcheck.cells import CellRef
from xlcheck.formula import Node, Range, Ref, factors, terms


class Difference(NamedTuple):
    """A line's later period less its earlier one, as a formula writes it."""

    later: CellRef
    earlier: CellRef
    sign: int
    """+1 where the later period is positive: growth of the line comes out positive."""


def differences(node: Node) -> Iterator[Difference]:
    """Yield the pairs of neighbouring cells of one line that a formula subtracts from each other."""
    signed = [(sign, term) for sign, term in terms(node)]
    cells = [(sign, one.cell) for sign, one in signed if isinstance(one, Ref)]
    for sign, one in cells:
        for other_sign, other in cells:
            across = one.sheet == other.sheet and one.row == other.row and 1 <= one.column - other.column <= 2
            down = one.sheet == other.sheet and one.column == other.column and one.row == other.row + 1
            if (across or down) and other_sign == -sign:
                yield Difference(one, other, sign)
    for sign, term in signed:
        if not isinstance(term, Ref | Range):
            for factor, exponent in factors(term):
                if exponent == 1 and factor is not term:
                    yield from (found._replace(sign=found.sign * sign) for found in differences(factor))


def difference(node: Node) -> Difference | None:
    """Return the difference that a formula is nothing but (``=C7-B7``, ``=-(C7-B7)``), or None."""
    found = list(differences(node))
    return found[0] if len(found) == 1 and len(terms(node)) == 2 else None
