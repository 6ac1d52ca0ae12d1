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
    across, down = _pairs(cells, across=True), _pairs(cells, across=False)
    whole = [found for found in (across, down) if _pairs_all(found, cells)]
    yield from whole[0] if len(whole) == 1 else (*across, *down)
    for sign, term in signed:
        if not isinstance(term, Ref | Range):
            for factor, exponent in factors(term):
                if exponent == 1 and factor is not term:
                    yield from (found._replace(sign=found.sign * sign) for found in differences(factor))


def _pairs(cells: list[tuple[int, CellRef]], *, across: bool) -> list[Difference]:
    """Return the cells of opposite signs that stand one after the other in a row (with a gap at most), or a column."""
    found = []
    for sign, one in cells:
        for other_sign, other in cells:
            beside = one.row == other.row and 1 <= one.column - other.column <= 2
            below = one.column == other.column and one.row == other.row + 1
            if one.sheet == other.sheet and (beside if across else below) and other_sign == -sign:
                found.append(Difference(one, other, sign))
    return found


def _pairs_all(found: list[Difference], cells: list[tuple[int, CellRef]]) -> bool:
    """Say whether each cell stands in just one pair: then that is the way time runs (a + b - c at two dates)."""
    paired = [cell for one in found for cell in (one.later, one.earlier)]
    return len(found) > 1 and len(paired) == len(set(paired)) == len(cells)


def difference(node: Node) -> Difference | None:
    """Return the difference that a formula is nothing but (``=C7-B7``, ``=-(C7-B7)``), or None."""
    found = list(differences(node))
    return found[0] if len(found) == 1 and len(terms(node)) == 2 else None
