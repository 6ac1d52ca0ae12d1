"""The shapes a formula can have, and how the pieces of one are read."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from xlcheck.cells import CellRef
from xlcheck.formula import Array, Binary, Call, Node, Number, Range, Ref, Unary, factors

Kind = Literal["factor", "divisor", "pv", "sum_pv", "tv", "pv_tv", "ev", "equity", "per_share"]
WRAPPERS = {
    "ROUND": 0,
    "ROUNDUP": 0,
    "ROUNDDOWN": 0,
    "IFERROR": 0,
    "IFNA": 0,
    "SINGLE": 0,
    "ABS": 0,
    "INT": 0,
    "N": 0,
    "MROUND": 0,
}
"""Functions that hand on their argument, and its place."""


TYPED: dict[str, Kind] = {
    "sum_pv_fcff": "sum_pv",
    "pv_terminal_value": "pv_tv",
    "terminal_value": "tv",
    "enterprise_value": "ev",
    "equity_value": "equity",
}
"""What a typed number is by its label."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a formula is."""

    kind: Kind
    rate: CellRef | None = None
    growth: CellRef | None = None
    flow: CellRef | None = None
    """The single flow behind a present value or a terminal value."""
    flows: tuple[CellRef, ...] = ()
    """For a sum: the cells summed, or the flows of NPV."""
    inline: bool = False
    """True where `flows` are undiscounted (NPV, SUMPRODUCT)."""
    multiple: CellRef | None = None
    blended: bool = False
    """An average of several values of the kind."""
    with_tv: bool = False
    perpetual: bool = False
    """A factor that brings back all years after the last one: 1/(1 + r)^n/(r - g)."""

    def endless(self, growth: CellRef | None) -> Shape:
        """Return what a factor or a present value is where it stands for all years to come."""
        if self.kind == "factor":
            return replace(self, growth=growth, perpetual=True)
        return Shape("pv_tv", self.rate, growth, flow=self.flow) if self.kind == "pv" else self


def combined(kinds: list[tuple[Shape, Node]], other: int) -> Shape | None:
    """Return what a sum of such parts is: PVs and a discounted TV make an EV, an EV and claims make equity."""
    names = [shape.kind for shape, _ in kinds]
    rate = next((shape.rate for shape, _ in kinds if shape.rate), None)
    growth = next((shape.growth for shape, _ in kinds if shape.growth), None)
    cells = tuple(node.cell for shape, node in kinds if isinstance(node, Ref) and shape.kind == "pv")
    if not kinds:
        return None
    if "per_share" in names:
        return Shape("per_share", rate, growth)
    whole = [name for name in names if name in ("ev", "equity")]
    has_tv = "pv_tv" in names or any(shape.with_tv for shape, _ in kinds)
    has_pv = "sum_pv" in names or "pv" in names
    if whole:
        shape = next(shape for shape, _ in kinds if shape.kind in ("ev", "equity"))
        if len(whole) > 1:
            return replace(shape, blended=True)
        legs = all(name in ("ev", "sum_pv", "pv_tv") for name in names)
        if legs and not other and len(kinds) > 1:
            return replace(shape, kind="ev")  # operations and a further leg, such as the tax shield of an APV
        return replace(shape, kind="equity" if other or len(kinds) > 1 else shape.kind)
    if (has_tv and (has_pv or names.count("pv_tv") >= 2)) or ("tv" in names and has_pv):
        return Shape("equity" if other else "ev", rate, growth, flows=cells, with_tv=True)
    if names.count("pv") >= 2 or "sum_pv" in names:
        inner = next((shape for shape, _ in kinds if shape.kind == "sum_pv"), None)
        if other and inner is not None:
            return Shape("equity", rate, growth, flows=inner.flows)
        return inner or (None if other > 2 else Shape("sum_pv", rate, flows=cells))
    if names == ["pv_tv"] and other:
        return None
    return kinds[0][0] if len(kinds) == 1 and not other else None


def unwrapped(node: Node) -> Node:
    """Take the rounding, error guards and plus signs off an expression."""
    while True:
        if isinstance(node, Unary) and node.operator == "+":
            node = node.operand
        elif isinstance(node, Call) and node.function in WRAPPERS and node.arguments and node.arguments[0] is not None:
            node = node.arguments[0]
        else:
            return node


def rate_of(node: Node | None) -> CellRef | None:
    """Return the cell of a rate: a plain reference, or one divided by 100."""
    if node is None:
        return None
    node = unwrapped(node)
    if isinstance(node, Ref):
        return node.cell
    if isinstance(node, Range) and node.range.size > 1:
        return CellRef(*node.range[:3])
    if isinstance(node, Binary) and node.operator == "/" and node.right in (Number(100.0), Number(100)):
        return rate_of(node.left)
    return None


def power_of(node: Node) -> tuple[CellRef | None, Node | None] | None:
    """Return (rate, time) of ``(1+r)^t``, (rate, None) of ``(1+r)``, else None."""
    node = unwrapped(node)
    if isinstance(node, Call) and node.function == "POWER" and len(node.arguments) == 2 and node.arguments[0]:
        base = _one_plus(node.arguments[0])
        return None if base is None else (base[0], node.arguments[1])
    if isinstance(node, Binary) and node.operator == "^":
        base = _one_plus(node.left)
        return None if base is None else (base[0], node.right)
    base = _one_plus(node)
    return None if base is None else (base[0], None)


def powers(node: Node) -> list[tuple[CellRef | None, Node | None, int]]:
    """Return (rate, time, exponent) for each ``(1+r)^t`` among the factors."""
    found = []
    for factor, exponent in factors(node):
        power = power_of(factor)
        if power is not None:
            found.append((*power, exponent))
    return found


def in_own_unit(node: Node) -> Node:
    """Return the cell that an expression only takes to another unit (``C5*1000``), else the expression."""
    parts = factors(node)
    cells = [part for part, exponent in parts if isinstance(part, Ref) and exponent == 1]
    numbers = [part.value for part, _ in parts if isinstance(part, Number)]
    tens = all(map(is_power_of_ten, numbers))
    return cells[0] if len(cells) == 1 and tens and len(numbers) + 1 == len(parts) else node


def is_power_of_ten(number: float) -> bool:
    """Say whether a number is 1, 10, 100, … or 0.1, 0.01, …."""
    size = math.log10(number) if number > 0 else 0.5
    return abs(size - round(size)) < 1e-9


def _one_plus(node: Node) -> tuple[CellRef | None] | None:
    node = unwrapped(node)
    if not (isinstance(node, Binary) and node.operator == "+"):
        return None
    for one, rate in ((node.left, node.right), (node.right, node.left)):
        if isinstance(unwrapped(one), Number) and unwrapped(one) == Number(1.0):
            inner = unwrapped(rate)
            if isinstance(inner, Number | Array):
                return (None,)
            cell = rate_of(inner)
            if cell is not None:
                return (cell,)
    return None


def compounded(
    rate: CellRef | None, others: list[Node], values: list[Shape | None], *, discounted: bool
) -> Shape | None:
    """Return what (1 + r)^t times other factors is: a divisor, or a value carried forward (NPV·(1 + r)^½)."""
    money = [one for one in others if not isinstance(one, Number)]
    if not money:
        return Shape("factor" if discounted else "divisor", rate)
    known = [shape for shape in values if shape is not None]
    if len(money) > 1 or len(known) != 1 or known[0].kind not in ("tv", "pv_tv", "sum_pv", "ev"):
        return None
    if not discounted:
        return known[0]
    flow = money[0].cell if isinstance(money[0], Ref) else None
    return Shape("pv_tv", rate, known[0].growth, flow=flow) if known[0].kind in ("tv", "pv_tv") else None


def growth_divisor(part: Node) -> CellRef | None:
    """Return x of ``1 - g/x``: inside a terminal value the return on new capital."""
    if not (isinstance(part, Binary) and part.operator == "-" and unwrapped(part.left) == Number(1.0)):
        return None
    ratio = unwrapped(part.right)
    return rate_of(ratio.right) if isinstance(ratio, Binary) and ratio.operator == "/" else None


def linked(node: Node) -> CellRef:
    """Return the cell that a plain link repeats."""
    while not isinstance(node, Ref):
        inner = node.operand if isinstance(node, Unary) else node.arguments[0] if isinstance(node, Call) else None
        assert inner is not None
        node = inner
    return node.cell
