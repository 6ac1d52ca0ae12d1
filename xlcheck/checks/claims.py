"""The bridge from enterprise value to equity value, read from the live model: what each cell adds to the equity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xlcheck.cells import CellRef, Scalar
from xlcheck.checks import live, memory, valuation
from xlcheck.checks.sheet import row_label
from xlcheck.formula import Node, Range, Ref, terms
from xlcheck.graph import Graph
from xlcheck.keyed import parse_keyed, single_precedents
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles
from xlcheck.roles.lexicon import load_lexicon
from xlcheck.roles.vocabulary import SCALAR_ROLES

ASSETS = ("cash", "investments")
"""Bridge roles that add to the equity."""
CLAIMS = ("debt", "lease_liabilities", "minority_interest", "preferred_equity", "pension_deficit")
"""Bridge roles that are deducted."""
SURE_LABEL = 0.85
"""How well a label must name a role for an unbound cell of the equity formula to be read as that item."""
MAY_BE_NEGATIVE = ("minority_interest", "pension_deficit")
"""Claims that can be negative in truth: losses borne by minorities, a pension surplus."""


@dataclass(frozen=True)
class Item:
    """A bridge role as it acts on the equity value."""

    role: str
    located: Located
    cell: CellRef
    """The cell that moves the equity: the bound one, its source, or a link to it."""
    value: float
    """As the cell shows it."""
    slope: float
    """d equity / d cell with the enterprise value held."""
    natural: float
    """The amount before any sign that formulas put in front of it: what the balance sheet shows."""
    wholesale: bool
    """True where the equity formula takes the cell in by a range, so that its sign is set in the cell itself."""

    @property
    def amount(self) -> float:
        """What the item adds to the equity."""
        return self.slope * self.value

    @property
    def wrong(self) -> bool:
        """Say whether a positive amount acts in the wrong direction, or a negative one cannot be negative."""
        adds = self.amount > 0
        if self.role in ASSETS:
            return not adds and self.natural > 0
        return adds and self.natural > 0


def items(roles: Roles, recalc: Recalc, graph: Graph) -> list[Item]:
    """Return the bridge roles that move the equity value; nothing where no equity value is a cell."""
    return memory.for_roles(recalc, roles, "items", lambda: _items(roles, recalc, graph))


def _items(roles: Roles, recalc: Recalc, graph: Graph) -> list[Item]:
    equity = equity_cell(roles, recalc, graph)
    if equity is None:
        return []
    held = held_operations(roles, recalc)
    ranged = _ranged(equity, recalc)
    found = []
    for role in (*ASSETS, *CLAIMS):
        located = roles.get(role)
        if located is None or located.cell is None or located.value in (None, 0):
            continue
        acting = acting_cell(located.cell, equity, held, recalc, graph)
        if acting is None:
            continue
        cell, slope = acting
        value = recalc.number(cell) or 0.0
        found.append(Item(role, located, cell, value, slope, natural_amount(cell, value, recalc), cell in ranged))
    found.extend(_unbound(equity, roles, recalc, graph, held, ranged))
    return found


def _unbound(
    equity: CellRef,
    roles: Roles,
    recalc: Recalc,
    graph: Graph,
    held: dict[CellRef, Scalar],
    ranged: frozenset[CellRef],
) -> Iterator[Item]:
    """Yield further cells of the equity formula whose label surely names a bridge role that is not bound."""
    taken = {
        cell
        for located in roles.scalars.values()
        if located.cell
        for cell in (located.cell, graph.pure_link(located.cell))
    }
    for cell in graph.precedents(equity):
        value = recalc.number(cell)
        if not value or cell in taken or cell in held or graph.pure_link(cell) in taken:
            continue
        scores = label_scores(row_label(recalc, cell))
        named = {role: score for role, score in scores.items() if role in (*ASSETS, *CLAIMS)}
        role = max(named, key=lambda name: named[name], default="")
        if not role or role in roles.scalars or named[role] < SURE_LABEL:
            continue
        slope = live.derivative(recalc, equity, cell, held)
        if slope is not None and abs(slope) > 1e-9:
            located = Located(role=role, cell=cell, value=value, unit="money", confidence=scores[role], how="label")
            yield Item(role, located, cell, value, slope, natural_amount(cell, value, recalc), cell in ranged)


def equity_cell(roles: Roles, recalc: Recalc, graph: Graph) -> CellRef | None:
    """Return the cell of the equity value: the bound one, else the only formula that adds to the enterprise value."""
    bound, total = _cell(roles.get("equity_value")), _cell(named(roles, "enterprise_value", recalc))
    if bound is not None or total is None or roles.get("equity_value") is not None:
        return bound
    found = []
    for cell in graph.dependents(total):
        node = formula_node(cell, recalc)
        parts = terms(node) if node is not None else ()
        if len(parts) > 1 or (len(parts) == 1 and isinstance(parts[0][1], Range)):
            slope = live.derivative(recalc, cell, total)
            if slope is not None and valuation.close(slope, 1.0, 1e-6):
                found.append(cell)
    return found[0] if len(found) == 1 else None


def named(roles: Roles, role: str, recalc: Recalc) -> Located | None:
    """Return a bound role; in a small sheet where nothing is bound at all, the only number that its label names."""
    located = roles.get(role)
    if located is not None or roles.scalars or roles.ambiguous:
        return located
    return memory.for_roles(recalc, roles, f"named {role}", lambda: _by_label(role, recalc))


def _by_label(role: str, recalc: Recalc) -> Located | None:
    numbers = [held.ref for held in recalc.book.cells() if recalc.number(held.ref) is not None]
    if len(numbers) > 200:
        return None
    found = [cell for cell in numbers if label_scores(row_label(recalc, cell)).get(role, 0.0) >= SURE_LABEL]
    if len(found) != 1:
        return None
    unit = SCALAR_ROLES[role]
    value = recalc.number(found[0])
    return Located(role=role, cell=found[0], value=value, unit=unit, confidence=SURE_LABEL, how="label")


def _cell(located: Located | None) -> CellRef | None:
    return located.cell if located is not None else None


def held_operations(roles: Roles, recalc: Recalc) -> dict[CellRef, Scalar]:
    """Return what is held while a bridge item is moved: the enterprise value, else flows and terminal value."""
    value = _cell(named(roles, "enterprise_value", recalc))
    if value is not None:
        return live.values_of(recalc, [value])
    flows = valuation.flows_of(roles)
    cells = [*(flows.cells if flows else ()), _cell(roles.get("terminal_value")), _cell(roles.get("wacc"))]
    return live.values_of(recalc, [cell for cell in cells if cell is not None])


def acting_cell(
    cell: CellRef, equity: CellRef, held: dict[CellRef, Scalar], recalc: Recalc, graph: Graph
) -> tuple[CellRef, float] | None:
    """Return the cell through which an item moves the equity, and d equity / d cell; None where none does."""
    above = memory.above(graph, [equity])
    for candidate in dict.fromkeys((cell, graph.pure_link(cell), *sorted(valuation.links(graph, cell)))):
        if candidate in above and candidate != equity and candidate not in held:
            slope = live.derivative(recalc, equity, candidate, held)
            if slope is not None and abs(slope) > 1e-9:
                return candidate, slope
    return None


def formula_node(cell: CellRef, recalc: Recalc) -> Node | None:
    """Return the formula of a cell as a tree, or None for a constant."""
    held = recalc.book.get(cell)
    if held is None or held.formula is None:
        return None
    return parse_keyed(held.formula, cell.sheet, recalc.book, cell)


def _ranged(equity: CellRef, recalc: Recalc) -> frozenset[CellRef]:
    node = formula_node(equity, recalc)
    if node is None:
        return frozenset()
    areas = [term.range for _, term in terms(node) if isinstance(term, Range)]
    return frozenset(cell for area in areas if area.size < 500 for cell in area.cells())


def natural_amount(cell: CellRef, value: float, recalc: Recalc) -> float:
    """Undo the minus signs on the way to the source: ``=-BS!B7`` showing -400 is an amount of 400."""
    seen: set[CellRef] = set()
    sign = 1.0
    while cell not in seen:
        seen.add(cell)
        node = formula_node(cell, recalc)
        if node is None:
            break
        parts = terms(node)
        negative = bool(parts) and all(part < 0 for part, _ in parts)
        sign = -sign if negative else sign
        if len(parts) != 1 or not isinstance(parts[0][1], Ref):
            break
        cell = parts[0][1].cell
    return sign * value


def label_scores(label: str) -> dict[str, float]:
    """Return how well any text of a row label names each role."""
    scores: dict[str, float] = {}
    for text in label.split(" | "):
        for role, score in load_lexicon().match(text).items():
            scores[role] = max(score, scores.get(role, 0.0))
    return scores


def forgotten(roles: Roles, graph: Graph) -> list[tuple[str, Located]]:
    """Return bridge roles that stand between enterprise and equity value on their sheet but move neither of them."""
    equity, value = _cell(roles.get("equity_value")), _cell(roles.get("enterprise_value"))
    if equity is None or value is None or equity.sheet != value.sheet or equity == value:
        return []
    above = _beside(equity, value, graph)
    found = []
    split = any(_reaches(roles.get(role), above, graph) for role in ("cash", "debt"))
    for role in (*ASSETS, *CLAIMS, *(() if split else ("net_debt",))):
        located = roles.get(role)
        if located is None or located.cell is None or not located.value or not _between(located.cell, value, equity):
            continue
        parts = graph.precedents(graph.pure_link(located.cell))
        if not _reaches(located, above, graph) and not (parts and all(part in above for part in parts)):
            found.append((role, located))
    return found


def _beside(equity: CellRef, value: CellRef, graph: Graph) -> frozenset[CellRef]:
    """Return what the equity depends on other than through the enterprise value (whose rate may weigh the debt)."""
    whole = memory.above(graph, [equity])
    stops = valuation.links(graph, graph.pure_link(value)) & whole
    if not stops:
        return whole
    found, fresh = {equity}, [equity]
    while fresh:
        read = fresh.pop()
        for cell in single_precedents(graph.book, read) or graph.precedents(read):
            if cell not in found and cell not in stops:
                found.add(cell)
                fresh.append(cell)
    return frozenset(found)


def _reaches(located: Located | None, above: frozenset[CellRef], graph: Graph) -> bool:
    """Say whether a role's cell, its source or a link to it is among the cells that the equity depends on."""
    if located is None or located.cell is None:
        return False
    same = valuation.links(graph, located.cell) | {graph.pure_link(located.cell)}
    return any(cell in above for cell in same)


def _between(cell: CellRef, first: CellRef, last: CellRef) -> bool:
    if cell.sheet != first.sheet:
        return False
    if first.column == last.column == cell.column:
        return first.row < cell.row < last.row
    return first.row == last.row == cell.row and first.column < cell.column < last.column
