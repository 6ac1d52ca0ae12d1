"""Where a further valuation of the workbook contradicts the headline: the same inputs, taken in another way.

A workbook with two methods shares the net debt, the share count and often the terminal value between them. What the
one does with such a cell and the other does otherwise is wrong in one of them, whichever of them is the headline.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.checks import claims, live, memory, valuation
from xlcheck.checks.flow_terms import traced
from xlcheck.checks.rounding import rounding_of
from xlcheck.checks.sheet import row_label
from xlcheck.formula import Number, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Block, Located, Roles

ABOVE = 10
"""So many rows above an enterprise value its parts may stand."""
NAMED = 0.7
"""How well a label must name such a part."""


def left_out_terminal(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find an enterprise value that only repeats a sum of present values below a terminal value which nothing reads."""
    for block in _live(roles):
        total = _cell(block.scalars.get("enterprise_value"))
        source = graph.precedents(total) if total is not None else ()
        if total is None or len(source) != 1 or not _named(total, "enterprise_value", recalc):
            continue
        present = _labelled_above(total, "pv_terminal_value", recalc)
        value, stated = recalc.number(source[0]), recalc.number(total)
        if present is None or stated is None or value != stated or graph.dependents(present) or present == source[0]:
            continue
        message = f"{total} is {source[0]} alone: the present value of the terminal value in {present} is left out"
        expected = stated + (recalc.number(present) or 0.0)
        yield Finding(message=message, cell=total, found=stated, expected=expected, unit="money")


def net_debt_turned(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find the valuation that adds the net debt which the other one deducts."""
    slopes = [(block, slope) for block in _blocks(roles) if (slope := _net_debt_slope(block, recalc, graph))]
    for block, slope in slopes:
        against = [other for other, sign in slopes if sign < 0 and _same(block, other, "net_debt", graph)]
        equity = block.scalars["equity_value"]
        if slope > 0 and against and equity.cell is not None and equity.value is not None:
            net, other = block.scalars["net_debt"], against[0].scalars["equity_value"]
            message = f"{equity.cell} adds the net debt {net.cell} that {other.cell} deducts"
            expected = equity.value - 2 * slope * (net.value or 0.0)
            yield Finding(message=message, cell=equity.cell, found=equity.value, expected=expected, unit="money")


def bridge_item_turned(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find the valuation that deducts a balance which the other one adds: cash that lowers it, or a claim that adds."""
    main = _blocks(roles)[0]
    for block in _live(roles):
        for role in (*claims.ASSETS, *claims.CLAIMS):
            one, other = _effect(block, role, recalc, graph), _effect(main, role, recalc, graph)
            if one is None or other is None or one[1] != other[1] or one[0] * other[0] >= 0 or one[2] <= 0:
                continue
            turned, right = (block, main) if (one[0] > 0) != (role in claims.ASSETS) else (main, block)
            cell, equity = (_cell(turned.scalars.get(name)) for name in (role, "equity_value"))
            value = recalc.number(cell) if cell is not None else None
            if cell is not None and value is not None and equity is not None and cell != _cell(right.scalars[role]):
                how = "deducts" if role in claims.ASSETS else "adds"
                message = f"{equity} {how} {role.replace('_', ' ')} {cell}; the other valuation does not"
                yield Finding(message=message, cell=cell, found=value, expected=-value, unit="money")


def _effect(block: Block, role: str, recalc: Recalc, graph: Graph) -> tuple[float, CellRef, float] | None:
    """Return what an item adds to a block's equity value, the cell at the end of its links, and the amount there."""
    equity, cell = _cell(block.scalars.get("equity_value")), _cell(block.scalars.get(role))
    if equity is None or cell is None or cell not in graph.precedents(equity):
        return None
    slope, value = live.derivative(recalc, equity, cell), recalc.number(cell)
    home = traced(recalc, cell)[1]
    return None if slope is None or not value else (slope * value, home, recalc.number(home) or 0.0)


def _net_debt_slope(block: Block, recalc: Recalc, graph: Graph) -> float | None:
    equity, total, net = (_cell(block.scalars.get(role)) for role in ("equity_value", "enterprise_value", "net_debt"))
    if equity is None or total is None or net is None or net not in graph.precedents(equity):
        return None
    return live.derivative(recalc, equity, net, live.values_of(recalc, [total]))


@dataclass(frozen=True)
class Division:
    """An equity value divided by a share count."""

    cell: CellRef
    value: float
    equity: CellRef
    worth: float
    shares: CellRef
    count: float
    loose: float
    """What a ROUND may have moved the value by, relative to it."""
    literals: int
    """How many powers of ten stand in the formula."""

    @property
    def factor(self) -> float:
        """Value per share × count / equity: 1, a power of ten, an exchange rate."""
        return self.value * self.count / self.worth

    def agrees(self, other: Division) -> bool:
        """Say whether two values per share carry one factor, as far as their rounding tells."""
        return valuation.close(self.factor, other.factor, 1e-3 + min(0.5, self.loose + other.loose))


def odd_scale(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find the value per share that carries a factor which the other ones over as many shares do not.

    Or one that rests on a thousand times the shares (or a thousandth), for the same equity value.
    """
    found = list(_divisions(roles, recalc, graph))
    for one in found:
        others = [other for other in found if other.cell != one.cell and valuation.close(other.count, one.count, 1e-9)]
        against = _outvoted(one, others)
        if against is not None:
            words = f"{one.cell} is {one.equity} over the shares {one.shares} times {one.factor:.6g}"
            message = f"{words}; {against.cell} takes its equity value times {against.factor:.6g}"
            right = one.worth / one.count * against.factor
            yield Finding(message=message, cell=one.cell, found=one.value, expected=right, unit="per share")
        for other in found:
            power = math.log10(one.count / other.count)
            same = valuation.close(one.worth, other.worth, 1e-9) and one.agrees(other)
            if same and round(power) in (3, 6) and abs(power - round(power)) < 1e-9:
                message = f"{one.shares} is 10^{round(power)} times the {other.shares} shares of the same equity value"
                yield Finding(message=message, cell=one.shares, found=one.count, expected=other.count, unit="count")


def _outvoted(one: Division, others: list[Division]) -> Division | None:
    """Return a value per share whose factor speaks against one: the majority's, of two the plainer one."""
    alike = [other for other in others if one.agrees(other)]
    plain = [other for other in others if other not in alike]
    if len(plain) > len(alike) + 1:
        return plain[0]
    return plain[0] if len(plain) == 1 and not alike and _oddness(plain[0]) < _oddness(one) else None


def _oddness(one: Division) -> tuple[bool, int, bool]:
    """Order factors by how plainly they are one: powers of ten, few in the formula, from a large unit of money."""
    power = round(math.log10(one.factor))
    return abs(one.factor / 10.0**power - 1) > 1e-3 + one.loose, one.literals, power < 0


def _divisions(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Division]:
    blocks = _blocks(roles)
    equities = {cell for block in blocks if (cell := _cell(block.scalars.get("equity_value"))) is not None}
    counts = {graph.pure_link(cell) for block in blocks if (cell := _cell(block.scalars.get("shares"))) is not None}
    seen: set[CellRef] = set()
    for block in blocks:
        cell = _cell(block.scalars.get("value_per_share"))
        value = recalc.number(cell) if cell is not None else None
        read = graph.precedents(cell) if cell is not None else ()
        shares = next((ref for ref in read if graph.pure_link(ref) in counts), None)
        equity = next((ref for ref in read if ref in equities), None)
        if cell is None or cell in seen or not value or shares is None or equity is None:
            continue
        seen.add(cell)
        worth, count = recalc.number(equity), recalc.number(shares)
        slope = live.derivative(recalc, cell, equity)
        whole = worth is not None and slope is not None and valuation.close(slope * worth, value, 1e-4)
        if whole and worth and count and count > 0 and value / worth > 0:
            loose = rounding_of(recalc, cell) / abs(value)
            node = claims.formula_node(cell, recalc)
            numbers = [part.value for part in walk(node) if isinstance(part, Number)] if node is not None else []
            literals = sum(number >= 100 and math.log10(number).is_integer() for number in numbers)
            yield Division(cell, value, equity, worth, graph.pure_link(shares), count, loose, literals)


def other_present_value(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find a terminal value that another valuation of the workbook shows too, but brings back otherwise."""
    held = [roles.get(role) for role in ("terminal_value", "pv_terminal_value")]
    if any(one is None or one.cell is None or not one.value for one in held):
        return
    whole, present = (one.value or 0.0 for one in held if one is not None)
    for block in _live(roles):
        total = _cell(block.scalars.get("enterprise_value"))
        value = _labelled_above(total, "terminal_value", recalc) if total is not None else None
        own = _labelled_above(total, "pv_terminal_value", recalc) if total is not None else None
        if total is None or value is None or own is None or own not in memory.above(graph, [total]) or value == own:
            continue
        shown = recalc.number(own)
        if shown and valuation.close(recalc.number(value) or 0.0, whole, 1e-6) and not valuation.close(shown, present):
            message = (
                f"{own} brings the terminal value {value} back to {shown:.6g}; {held[1].cell} makes it {present:.6g}"  # type: ignore[union-attr]
            )
            yield Finding(message=message, cell=own, found=shown, expected=present, unit="money")


def _blocks(roles: Roles) -> list[Block]:
    return [Block(name=roles.headline or "", scalars=roles.scalars, series=roles.series, live=True), *_live(roles)]


def _live(roles: Roles) -> list[Block]:
    return [block for block in roles.alternates if block.live]


def _cell(located: Located | None) -> CellRef | None:
    return None if located is None else located.cell


def _same(one: Block, other: Block, role: str, graph: Graph) -> bool:
    cells = [_cell(block.scalars.get(role)) for block in (one, other)]
    return None not in cells and len({graph.pure_link(cell) for cell in cells if cell is not None}) == 1


def _named(cell: CellRef, role: str, recalc: Recalc) -> bool:
    scores = claims.label_scores(row_label(recalc, cell))
    return scores.get(role, 0.0) >= NAMED and scores[role] == max(scores.values())


def _labelled_above(total: CellRef, role: str, recalc: Recalc) -> CellRef | None:
    """Return the nearest number above a total, in its column, whose label names a role best."""
    for step in range(1, min(ABOVE, total.row - 1) + 1):
        cell = total.offset(-step, 0)
        if recalc.number(cell) is not None and _named(cell, role, recalc):
            return cell
    return None
