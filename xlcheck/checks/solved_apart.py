"""Reverse DCFs worked beside the model: each answer, the value that hangs on it and what that value is solved for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xlcheck.cells import CellRef
from xlcheck.checks import live, memory, valuation
from xlcheck.checks.sheet import row_label
from xlcheck.checks.trees import trees
from xlcheck.formula import Binary, Call, Node, Number, Ref, terms, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.roles.implied import names_an_answer

_TIE = re.compile(
    r"\bties?\b|\btie[\s-]?out|\bchecks?\b|\bproof\b|\bprobe\b|\bresidual\b|\bdiff(?:erence|\.)?(?!\w)|\bdelta\b|\berror\b|"
    r"\bzero\b|\bgoal\b|\bobjective\b|\btarget cell\b|\bmatch|\breconcil|\bgap\b|"
    r"\b(?:less|minus|vs\.?) (?:the )?(?:market |share )*price\b|差|校[验驗]|核[对對]|[验驗][证證]|検証|確認",
    re.IGNORECASE,
)
_PRICE = re.compile(r"\bprice\b|股价|股價|株価|\bkurs\b", re.IGNORECASE)
_PER_SHARE = re.compile(r"\bper share\b|每股|一株|1株|je aktie\b", re.IGNORECASE)
_WHOLE = re.compile(
    r"\b(?:market|implied|reverse)\b.*\b(?:ev|enterprise value|firm value)\b|\bev\b.*\b(?:market|price)\b|"
    r"市[场場].*[企公][业業司][价價]值",
    re.IGNORECASE,
)
_EQUITY = re.compile(r"\bmarket (?:cap\w*|value of equity|equity)\b|\bequity value\b|市值", re.IGNORECASE)
MOST_ANSWERS = 8
"""Answers of one workbook that are solved afresh."""
LOOSE = 0.005
"""Share of the price within which a value counts as solved for it."""


@dataclass(frozen=True)
class Apart:
    """One answer, worked beside the model."""

    answer: CellRef
    tie: CellRef
    """The cell that compares, else the value per share that should be the price."""
    value: CellRef | None
    """The value at the answer, where it has a cell of its own."""
    target: CellRef
    """What the value is solved for: the price, or a value of the whole business at the price."""
    relative: bool
    """The tie is a ratio less one."""
    compares: bool
    """The tie is a difference; else it is the value itself."""

    def gap(self, shown: float, aim: float) -> float:
        """Return value less target in the target's unit, from what the tie shows."""
        if not self.compares:
            return shown - aim
        return shown * aim if self.relative else shown


def answers(roles: Roles, recalc: Recalc, graph: Graph) -> tuple[Apart, ...]:
    """Return every answer worked beside the model that can be held against a price."""
    return memory.for_roles(recalc, roles, "answers apart", lambda: tuple(_answers(roles, recalc, graph)))


def _answers(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Apart]:
    value, price = roles.get("value_per_share") or roles.get("equity_value"), roles.get("current_price")
    rates = [cell for role in ("wacc", "cost_of_equity") if (cell := _root(roles, graph, role)) is not None]
    if value is None or value.cell is None or price is None or price.cell is None or not rates:
        return
    head, root = memory.above(graph, [value.cell]), graph.pure_link(price.cell)
    after_price, after_rate = graph.descendants([root]), graph.descendants(rates)
    found = 0
    for cell in _named(recalc):
        if graph.pure_link(cell) in head or recalc.number(cell) is None:
            continue
        below = graph.descendants([cell]) - {cell}
        aims = after_price - below
        one = _tie(cell, below & after_rate, aims, recalc, graph) or _bare(cell, below & after_rate, price.cell, recalc)
        if one is not None:
            yield one
            found += 1
        if found == MOST_ANSWERS:
            return


def _root(roles: Roles, graph: Graph, role: str) -> CellRef | None:
    located = roles.get(role)
    return graph.pure_link(located.cell) if located is not None and located.cell is not None else None


def _named(recalc: Recalc) -> list[CellRef]:
    """Return the cells whose row label names an answer: the first number of the row, unless it is a link elsewhere."""
    found = []
    for cell in recalc.book.cells():
        if isinstance(cell.stored, str) and cell.formula is None and names_an_answer(cell.stored):
            sheet = recalc.book.sheet(cell.ref.sheet)
            for column in range(cell.ref.column + 1, cell.ref.column + 6):
                held = sheet.cells.get((cell.ref.row, column)) if sheet else None
                if held is not None and recalc.number(held.ref) is not None:
                    found.append(held.ref)
                    break
    return found


def _tie(
    answer: CellRef, below: frozenset[CellRef], aims: frozenset[CellRef], recalc: Recalc, graph: Graph
) -> Apart | None:
    """Return the comparison of what hangs on the answer with the price or with a value that follows from it."""
    for cell in sorted(below):
        if not _TIE.search(row_label(recalc, cell)):
            continue
        node = trees(recalc).get(cell)
        sides = _sides(node) if node is not None else None
        if sides is None:
            continue
        left, right, relative = sides
        if isinstance(right, Ref) and _is_aim(right.cell, answer, aims, recalc, graph) and _reads(left, below):
            return Apart(answer, cell, left.cell if isinstance(left, Ref) else None, right.cell, relative, True)
        if isinstance(left, Ref) and _is_aim(left.cell, answer, aims, recalc, graph) and _reads(right, below):
            return Apart(answer, cell, right.cell if isinstance(right, Ref) else None, left.cell, relative, True)
    return None


def _sides(node: Node) -> tuple[Node, Node, bool] | None:
    """Return the two sides of a difference (A - B, its absolute or rounded value, A/B - 1)."""
    match node:
        case Call(function="ABS" | "ROUND", arguments=(inner, *_)) if inner is not None:
            return _sides(inner)
        case Binary(operator="-", left=Binary(operator="/", left=left, right=right), right=Number(value=1.0)):
            return left, right, True
        case Binary(operator="-", left=left, right=right) if len(terms(node)) == 2:
            return left, right, False
        case _:
            return None


def _reads(node: Node, cells: frozenset[CellRef]) -> bool:
    return any(isinstance(one, Ref) and one.cell in cells for one in walk(node))


def _is_aim(cell: CellRef, answer: CellRef, aims: frozenset[CellRef], recalc: Recalc, graph: Graph) -> bool:
    if cell == answer:
        return False
    return cell in aims or graph.pure_link(cell) in aims or typed_price(cell, recalc, graph) is not None


def typed_price(cell: CellRef, recalc: Recalc, graph: Graph) -> CellRef | None:
    """Return the typed number behind a cell that is labelled as a price, or None."""
    root = graph.pure_link(cell)
    held = recalc.book.get(root)
    typed = held is not None and held.formula is None and recalc.number(root) is not None
    return root if typed and _PRICE.search(row_label(recalc, root)) else None


def _bare(answer: CellRef, below: frozenset[CellRef], price: CellRef, recalc: Recalc) -> Apart | None:
    """Return the one value per share on the answer's sheet that hangs on it, where nothing compares it."""
    near = [cell for cell in below if cell.sheet == answer.sheet and _PER_SHARE.search(row_label(recalc, cell))]
    return Apart(answer, near[0], near[0], price, False, False) if len(near) == 1 else None


def market_amounts(one: Apart, roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[tuple[CellRef, float]]:
    """Yield the amounts at the price behind a target, deepest first, each with what the model's own bridge makes of it.

    Equity at the price is the model's equity times price over value per share, so that units, exchange rates and
    discounts stand as in the model; the whole business adds what lies between its equity and enterprise value.
    """
    value, equity, total, price = (
        found.value if (found := roles.get(role)) is not None else None
        for role in ("value_per_share", "equity_value", "enterprise_value", "current_price")
    )
    if not value or equity is None or price is None:
        return
    at_price = equity * price / value
    behind = memory.above(graph, [one.target, one.answer])
    behind &= graph.descendants([_root(roles, graph, "current_price") or one.target])
    for cell in sorted(behind - graph.descendants([one.answer]), key=lambda cell: (cell == one.target, cell)):
        label = row_label(recalc, cell)
        if _WHOLE.search(label) and total is not None:
            yield cell, at_price + total - equity
        elif _EQUITY.search(label) and not _WHOLE.search(label):
            yield cell, at_price


def rates_of(one: Apart, roles: Roles, recalc: Recalc, graph: Graph) -> list[tuple[CellRef, CellRef]]:
    """Return (cell, rate) for the formulas behind an answer's value that discount at another rate of the model's build.

    Only where the model itself discounts at its WACC: a cost of equity or of debt is no rate for the same flows.
    """
    value, wacc = roles.get("value_per_share"), _root(roles, graph, "wacc")
    wrong = {
        cell
        for role in ("cost_of_equity", "after_tax_cost_of_debt", "pre_tax_cost_of_debt", "risk_free_rate")
        if (cell := _root(roles, graph, role)) is not None and cell != wacc
    }
    if value is None or value.cell is None or wacc is None or "fcff" not in roles.series:
        return []
    beside = memory.above(graph, [one.tie]) - memory.above(graph, [value.cell])
    return [
        (cell, graph.pure_link(rate))
        for cell in sorted(beside)
        if (node := trees(recalc).get(cell)) is not None
        for rate in discounting(node)
        if graph.pure_link(rate) in wrong
    ]


def discounting(node: Node) -> Sequence[CellRef]:
    """Return the cells that stand in a formula as the rate of ``(1 + r)^t`` or of NPV."""
    found = []
    for part in walk(node):
        match part:
            case Binary(operator="^", left=Binary(operator="+", left=Number(value=1.0), right=Ref(cell=cell))):
                found.append(cell)
            case Call(function="NPV" | "XNPV", arguments=(Ref(cell=cell), *_)):
                found.append(cell)
            case _:
                pass
    return found


def slope(one: Apart, recalc: Recalc) -> float | None:
    """Return the change of the tie per unit of the answer."""
    return live.derivative(recalc, one.tie, one.answer)


def same(found: float, expected: float) -> bool:
    """Say whether two amounts differ by less than two per cent: counts move a little with the price."""
    return valuation.close(found, expected, 0.02)
