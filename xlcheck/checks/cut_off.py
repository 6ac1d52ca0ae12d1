"""Results cut off from their model: typed, or emptied, where the parts of their formula still stand beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product

from xlcheck.cells import CellRef, is_number
from xlcheck.checks import claims, memory
from xlcheck.checks.lines import result_cells
from xlcheck.checks.sheet import row_label
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles

BELOW = 12
"""So many rows apart a total and its parts may stand."""
BESIDE = 3
"""So many columns apart a total and its parts may stand."""
LEAST_DIGITS = 6
"""A typed total must show so many digits to be known by them: a shorter number meets a sum by chance."""
NAMED = 0.7
"""How well a label must name what is typed."""
PER_SHARE = 0.5
"""How well a label must name an empty cell as a value per share; a price is one too, but for less."""
SURE_DIGITS = 5
"""So many digits tell a value per share under any label and power of ten."""
POWERS = (3, -3, 6, -6, 4, 5, 8)
"""Powers of ten that may stand between equity over shares and a value per share."""


@dataclass(frozen=True)
class CutOff:
    """A result without its formula."""

    role: str
    cell: CellRef
    parts: str
    """What its formula would read."""
    value: float
    """What the formula would give."""
    counted: bool = False
    """True where a label names the divisor of a value per share as a share count."""


def typed(roles: Roles, recalc: Recalc, graph: Graph) -> list[CutOff]:
    """Return the typed numbers that are, to their last digit, the total of live cells which stand above them."""
    return memory.for_roles(recalc, roles, "typed totals", lambda: list(_typed(roles, recalc, graph)))


def _typed(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[CutOff]:
    for place in _per_share_places(roles, recalc, graph):
        stated = recalc.number(place.cell)
        if stated and _is_constant(place.cell, recalc):
            surely = 3 if place.counted and _says_per_share(place.cell, recalc) >= PER_SHARE - 0.2 else SURE_DIGITS
            fits = [(place.value, surely), *((place.value * 10.0**power, SURE_DIGITS) for power in POWERS)]
            right = next((value for value, least in fits if _to_the_digit(stated, value, least)), None)
            if right is not None:
                yield replace(place, value=right)
    for cell, role, stated in _typed_outputs(recalc):
        on_the_model = [ref for ref in _near(cell, recalc) if _rests_on_the_model(ref, roles, recalc, graph)]
        found = _sum_of_two(stated, cell, on_the_model, recalc)
        if found is None and role == "equity_value":
            found = _bridge_above(stated, cell, on_the_model, recalc) or _bridged(stated, on_the_model, roles, recalc)
        if found is not None:
            yield CutOff(role, cell, found[0], found[1])


def emptied(roles: Roles, recalc: Recalc, graph: Graph) -> CutOff | None:
    """Return the empty cell below an equity value that its label names best as the value per share, if there is one."""
    places = [place for place in _per_share_places(roles, recalc, graph) if recalc.value(place.cell) in (None, "")]
    named = [(_says_per_share(place.cell, recalc), place.cell.row, place) for place in places]
    best = max(named, key=lambda item: item[:2], default=None)
    return best[2] if best is not None and best[0] >= PER_SHARE and not typed(roles, recalc, graph) else None


def _says_per_share(cell: CellRef, recalc: Recalc) -> float:
    scores = claims.label_scores(row_label(recalc, cell))
    return max(scores.get("value_per_share", 0.0), scores.get("current_price", 0.0) - 0.2)


def _per_share_places(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[CutOff]:
    """Yield the labelled cells under an equity value that nothing divides, each with a share count nothing reads."""
    bound = roles.get("value_per_share")
    for block in (roles.scalars, *(one.scalars for one in roles.alternates)):
        located = block.get("equity_value")
        equity = located.cell if located is not None else None
        if located is None or equity is None or not located.value or _is_constant(equity, recalc):
            continue
        if bound is not None and bound.cell is not None and equity in memory.above(graph, [bound.cell]):
            continue
        named = [ref for ref in _idle(equity.sheet, recalc, graph) if _names_count(ref, recalc)]
        elsewhere = [ref for _, ref in sorted((abs(ref.row - equity.row), ref) for ref in named)]
        for step in range(1, BELOW + 1):
            cell = equity.offset(step, 0)
            between = [equity.offset(rows, 0) for rows in range(1, step)] if not graph.dependents(equity) else []
            counts = [ref for ref in between if _is_idle(ref, recalc, graph)] or elsewhere
            for count in counts if row_label(recalc, cell) else ():
                right = located.value / (recalc.number(count) or 1.0)
                counted = _names_count(count, recalc)
                yield CutOff("value_per_share", cell, f"{equity} over the share count {count}", right, counted)


def _idle(sheet: str, recalc: Recalc, graph: Graph) -> list[CellRef]:
    """Return the positive numbers of a sheet that no formula reads."""
    held = recalc.book.sheet(sheet)
    cells = [cell.ref for cell in held.cells.values()] if held is not None else []
    return [ref for ref in cells if _is_idle(ref, recalc, graph)]


def _is_idle(cell: CellRef, recalc: Recalc, graph: Graph) -> bool:
    return (recalc.number(cell) or 0.0) > 0 and not graph.dependents(cell)


def _names_count(cell: CellRef, recalc: Recalc) -> bool:
    scores = claims.label_scores(row_label(recalc, cell))
    count = max(scores.get(role, 0.0) for role in ("shares", "diluted_shares", "basic_shares"))
    return count >= NAMED and count > scores.get("value_per_share", 0.0)


def _typed_outputs(recalc: Recalc) -> Iterator[tuple[CellRef, str, float]]:
    """Yield the typed numbers that their label names as an enterprise or equity value."""
    for sheet in recalc.book.sheets:
        filled = result_cells(sheet)
        for cell in sheet.cells.values():
            if cell.formula is not None or not is_number(cell.stored) or cell.ref in filled:
                continue
            stated = float(cell.stored)  # type: ignore[arg-type]
            if len(_digits(stated)) < LEAST_DIGITS - 1:
                continue
            scores = claims.label_scores(row_label(recalc, cell.ref))
            role = max(("enterprise_value", "equity_value"), key=lambda name: scores.get(name, 0.0))
            if scores.get(role, 0.0) >= NAMED:
                yield cell.ref, role, stated


def _near(cell: CellRef, recalc: Recalc) -> list[CellRef]:
    """Return the formula cells above a cell, and beside it, that hold numbers."""
    found = []
    for row in range(max(1, cell.row - BELOW), cell.row):
        for column in range(max(1, cell.column - BESIDE), cell.column + BESIDE + 1):
            ref = CellRef(cell.sheet, row, column)
            held = recalc.book.get(ref)
            if held is not None and held.formula is not None and recalc.number(ref):
                found.append(ref)
    return found


def _rests_on_the_model(cell: CellRef, roles: Roles, recalc: Recalc, graph: Graph) -> bool:
    """Say whether a cell depends on the discount rate: the bound one, or any that its label names."""
    rates = memory.for_roles(recalc, roles, "named rates", lambda: _rates(roles, recalc, graph))
    return bool(rates & memory.above(graph, [cell]))


def _rates(roles: Roles, recalc: Recalc, graph: Graph) -> frozenset[CellRef]:
    bound = [located.cell for role in ("wacc", "cost_of_equity") if (located := roles.get(role)) is not None]
    found = {graph.pure_link(cell) for cell in bound if cell is not None}
    if not found:
        numbers = (cell.ref for cell in recalc.book.cells() if 0 < (recalc.number(cell.ref) or 0.0) < 100)
        found = {ref for ref in numbers if claims.label_scores(row_label(recalc, ref)).get("wacc", 0.0) >= NAMED}
    return frozenset(found)


def _sum_of_two(stated: float, total: CellRef, cells: list[CellRef], recalc: Recalc) -> tuple[str, float] | None:
    """Return what makes up a typed total: one run of cells, or two of the runs and single cells."""
    amounts = {str(ref): recalc.number(ref) or 0.0 for ref in cells}
    amounts |= {f"{run[0]} to {run[-1]}": sum(recalc.number(ref) or 0.0 for ref in run) for run in _runs(cells)}
    runs = {words: value for words, value in amounts.items() if " to " in words}
    for words, value in runs.items():
        if _to_the_digit(stated, value, LEAST_DIGITS):
            return f"the sum of {words}", value
    for (one, first), (other, second) in combinations(amounts.items(), 2):
        if _to_the_digit(stated, first + second, LEAST_DIGITS):
            return f"{one} plus {other}", first + second
    return None


def _runs(cells: list[CellRef]) -> Iterator[list[CellRef]]:
    """Yield the rows and columns of at least three neighbouring cells."""
    for across in (True, False):
        ordered = sorted(cells, key=lambda ref: (ref.row, ref.column) if across else (ref.column, ref.row))
        run = ordered[:1]
        for before, cell in pairwise(ordered):
            if cell == before.offset(*((0, 1) if across else (1, 0))):
                run.append(cell)
                continue
            if len(run) >= 3:
                yield run
            run = [cell]
        if len(run) >= 3:
            yield run


def _bridge_above(stated: float, total: CellRef, cells: list[CellRef], recalc: Recalc) -> tuple[str, float] | None:
    """Return the bridge of a typed equity value: the numbers above it from a live one down, each plus or minus."""
    above: list[CellRef] = []
    for step in range(1, BELOW + 1):
        cell = total.offset(-step, 0) if total.row > step else total
        if not recalc.number(cell):
            return None
        above.append(cell)
        if cell in cells and len(above) >= 2:
            break
    if not above or above[-1] not in cells or len(above) > 7:
        return None
    *items, value = (recalc.number(cell) or 0.0 for cell in above)
    for signs in product((-1, 1), repeat=len(items)):
        right = value + sum(sign * item for sign, item in zip(signs, items, strict=True))
        if _to_the_digit(stated, right, LEAST_DIGITS - 1):
            return f"{above[-1]} and the lines down to {above[0]}", right
    return None


def _bridged(stated: float, cells: list[CellRef], roles: Roles, recalc: Recalc) -> tuple[str, float] | None:
    """Return the bridge of a typed equity value: a live enterprise value above it and bound items, plus or minus."""
    names = ("net_debt", "debt", "cash", "minority_interest", "preferred_equity", "investments", "lease_liabilities")
    items = [value for name in names if (one := roles.get(name)) is not None and (value := one.value)]
    for cell in cells:
        if claims.label_scores(row_label(recalc, cell)).get("enterprise_value", 0.0) < NAMED:
            continue
        value = recalc.number(cell) or 0.0
        for signs in product((-1, 0, 1), repeat=len(items)) if any(items) else ():
            right = value + sum(sign * item for sign, item in zip(signs, items, strict=True))
            if any(signs) and _to_the_digit(stated, right, LEAST_DIGITS):
                return f"{cell} and the bridge", right
    return None


def _is_constant(cell: CellRef, recalc: Recalc) -> bool:
    held = recalc.book.get(cell)
    return held is not None and held.formula is None and held.array is None and is_number(held.stored)


def _digits(value: float) -> str:
    return f"{abs(value):.12g}".replace(".", "").strip("0")


def _to_the_digit(typed_value: float, right: float, least: int) -> bool:
    """Say whether a typed number is another one at its own printed decimals, of which it must show enough digits."""
    decimals = len(f"{typed_value:.12g}".partition(".")[2])
    shown = len(f"{abs(right):.{decimals}f}".replace(".", "").lstrip("0"))
    return shown >= least and abs(typed_value - right) <= 0.5000001 * 10.0**-decimals
