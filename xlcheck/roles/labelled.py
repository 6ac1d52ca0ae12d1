"""What a formula is by its label where its build is no accepted one: a fault must not hide the step it stands in.

Only steps that hardly anything else is called are read so: discount factors, sums of present values, and terminal
values. A build that is known wins, except a present value that its label calls the sum of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from xlcheck.cells import CellRef
from xlcheck.formula import Call, Node, Ref, factors, walk
from xlcheck.roles.naming import Naming
from xlcheck.roles.shape import Kind, Shape, power_of, rate_of

SURE = 0.85
"""How well a label must name a step."""
INPUT = 0.6
"""How well a label must name the rate, growth or multiple that a step reads."""
MOST_MULTIPLE = 60
WHOLES: Mapping[str, tuple[Kind, tuple[Kind, ...]]] = {
    "enterprise_value": ("ev", ("ev", "sum_pv", "pv_tv")),
    "equity_value": ("equity", ("ev", "equity")),
    "value_per_share": ("per_share", ("equity",)),
}
"""Role → what it is, and what its formula must read for that."""
RATES = ("wacc", "discount_rate", "cost_of_equity")


def named_step(naming: Naming, cell: CellRef) -> str | None:
    """Return the role that the label of a cell surely names, or None."""
    best = max(naming.at(cell).values(), key=lambda one: one.score, default=None)
    return best.role if best is not None and best.score >= SURE else None


def named_shape(naming: Naming, cell: CellRef, node: Node, shape: Shape | None, inside: list[Shape]) -> Shape | None:
    """Return what a cell is, by its build or else by its label; `inside` is what the cells it reads are."""
    if shape is not None and shape.kind != "pv":
        return shape
    running = _running(naming, cell, node, inside) if shape is None else None
    if running is not None:
        return Shape("divisor", running)
    role = named_step(naming, cell)
    if role == "sum_pv_fcff":
        return _sum(node) or shape
    if shape is not None and role == "pv_terminal_value":
        return replace(shape, kind="pv_tv")
    if shape is not None or role is None:
        return shape
    if role in WHOLES and (found := _whole(role, inside)) is not None:
        return found
    read = list(dict.fromkeys(part.cell for part in walk(node) if isinstance(part, Ref)))
    rate = _named(naming, read, *RATES)
    if role == "discount_factor" and rate is not None and not _small(naming, cell):
        return Shape("factor", rate)
    growth = _named(naming, read, "terminal_growth")
    multiple = _named(naming, read, "exit_multiple") or _multiple(naming, node)
    if role == "terminal_value" and (rate or growth or multiple):
        others = [one for one in read if one not in (rate, growth, multiple)]
        return Shape("tv", rate, growth, flow=others[0] if others else None, multiple=multiple)
    if role == "pv_terminal_value" and any(one.kind == "tv" for one in inside):
        return Shape("pv_tv", rate, flow=next((one for one in read if one != rate), None))
    return None


def in_points(naming: Naming, rate: CellRef, growth: CellRef | None) -> bool:
    """Say whether a rate and a growth are typed in percent points (8.4 and 2), by the label of the rate."""
    over, under = (naming.layout.value(cell) if cell else None for cell in (rate, growth))
    named = naming.score(rate, "wacc", "cost_of_equity", "discount_rate") >= 0.7
    return named and over is not None and under is not None and 1 < over < 40 and -5 <= under < over


def _running(naming: Naming, cell: CellRef, node: Node, inside: list[Shape]) -> CellRef | None:
    """Return the rate of a divisor that grows from period to period: 1 + r, then the one before times 1 + r."""
    parts = [one for one, exponent in factors(node) if exponent == 1]
    grown = [power[0] for one in parts if (power := power_of(one)) is not None and power[1] is None]
    before = [one.cell for one in parts if isinstance(one, Ref)]
    if len(grown) != 1 or grown[0] is None or len(grown) + len(before) != len(factors(node)) or len(before) > 1:
        return None
    beside = [one for one in before if (cell.row - one.row, cell.column - one.column) in ((0, 1), (1, 0))]
    from_one = all(naming.layout.value(one) == 1 for one in before)
    chained = bool(beside) and (from_one or any(one.kind == "divisor" for one in inside))
    return grown[0] if naming.score(grown[0], *RATES) >= INPUT and (chained or not before) else None


def _whole(role: str, inside: list[Shape]) -> Shape | None:
    """Return what a labelled value is that builds on a step before it in some way of its own."""
    kind, before = WHOLES[role]
    built = [one for one in inside if one.kind in before]
    if not built:
        return None
    rate = next((one.rate for one in built if one.rate), None)
    growth = next((one.growth for one in built if one.growth), None)
    return Shape(kind, rate, growth, with_tv=any(one.with_tv or one.kind == "pv_tv" for one in built))


def _multiple(naming: Naming, node: Node) -> CellRef | None:
    """Return the small typed number of a product of two cells: the multiple of a labelled terminal value."""
    cells = [one.cell for one, exponent in factors(node) if isinstance(one, Ref) and exponent > 0]
    if len(cells) != 2 or len(factors(node)) != 2:
        return None
    typed = [one for one in cells if (num := naming.layout.num(one)) and not num.formula and not num.percent]
    fitting = [one for one in typed if 1 < (naming.layout.value(one) or 0.0) < MOST_MULTIPLE]
    return fitting[0] if len(fitting) == 1 else None


def _sum(node: Node) -> Shape | None:
    """Read a sum of present values whose terms are none, or that is discounted once more."""
    for part in walk(node):
        if isinstance(part, Call) and part.function in ("NPV", "XNPV") and part.arguments:
            return Shape("sum_pv", rate_of(part.arguments[0]), inline=True)
    ranged = any(isinstance(part, Call) and part.function == "SUM" for part in walk(node))
    return Shape("sum_pv") if ranged else None


def _named(naming: Naming, cells: list[CellRef], *roles: str) -> CellRef | None:
    best = max(cells, key=lambda cell: naming.score(cell, *roles), default=None)
    return best if best is not None and naming.score(best, *roles) >= INPUT else None


def _small(naming: Naming, cell: CellRef) -> bool:
    value = naming.layout.value(cell)
    return value is not None and value <= 0
