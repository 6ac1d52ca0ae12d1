"""Valuations in several alike blocks (segments, countries): a step built unlike its fellows, a block not added."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.checks import claims, memory
from xlcheck.checks.headline import output_cells
from xlcheck.checks.sheet import first_text, row_label
from xlcheck.formula import Binary, Ref, r1c1, terms, walk
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles

STEPS = ("enterprise_value", "equity_value", "sum_pv_fcff", "terminal_value", "pv_terminal_value")
"""Labels of steps that every block has once; other lines may well be built in another way in each."""
NAMED = 0.6
LEAST = 3


def odd_steps(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Yield steps of a block whose formula differs from the one that all other blocks share, and blocks not added."""
    above = memory.above(graph, list(output_cells(roles).values()))
    for cells in _alike(recalc):
        forms = [_form(recalc, cell) for cell in cells]
        usual, count = Counter(forms).most_common(1)[0]
        odd = [cell for cell, form in zip(cells, forms, strict=True) if form != usual]
        if count == len(cells) - 1 and count >= 2 and odd[0] in above:
            message = (
                f"{odd[0]} is built unlike {cells[0] if cells[0] != odd[0] else cells[1]}, the same step elsewhere"
            )
            yield Finding(message=message, cell=odd[0], found=_written(recalc, odd[0]), expected="the same formula")
        unread = [cell for cell in cells if not graph.dependents(cell)]
        reader = _adds_rest(cells, unread, recalc, graph) if len(unread) == 1 and not odd else None
        if reader is not None and reader in above:
            message = f"{reader} adds {len(cells) - 1} of {len(cells)} alike blocks: {unread[0]} is left out"
            value, rest = recalc.number(reader), recalc.number(unread[0])
            expected = None if value is None or rest is None else value + rest
            yield Finding(message=message, cell=reader, found=value, expected=expected)


def growth_at_rate(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Yield perpetuities behind the headline whose labelled growth is not below the labelled rate they read."""
    for cell in sorted(memory.above(graph, list(output_cells(roles).values()))):
        node = claims.formula_node(cell, recalc)
        for part in walk(node) if node is not None else ():
            spread = part.right if isinstance(part, Binary) and part.operator == "/" else None
            if not (isinstance(spread, Binary) and spread.operator == "-"):
                continue
            rate, growth = spread.left, spread.right
            if isinstance(rate, Ref) and isinstance(growth, Ref) and _called(recalc, rate, growth):
                held, wanted = recalc.number(growth.cell), recalc.number(rate.cell)
                if held is not None and wanted is not None and held >= wanted - 1e-12:
                    message = f"{cell}: terminal growth of {held:.2%} is not below the rate of {wanted:.2%}"
                    yield Finding(
                        message=message, cell=graph.pure_link(growth.cell), found=held, expected=None, unit="rate"
                    )


def _called(recalc: Recalc, rate: Ref, growth: Ref) -> bool:
    rates, growths = (claims.label_scores(row_label(recalc, one.cell)) for one in (rate, growth))
    return (
        max(rates.get("wacc", 0.0), rates.get("cost_of_equity", 0.0)) >= 0.8
        and growths.get("terminal_growth", 0.0) >= 0.8
    )


def _alike(recalc: Recalc) -> Iterator[list[CellRef]]:
    """Yield the formula cells of one label, one column and one distance from block to block."""
    groups: dict[tuple[str, int, str], list[CellRef]] = defaultdict(list)
    for held in recalc.book.formula_cells():
        label = first_text(row_label(recalc, held.ref)).casefold().strip()
        if len(label) >= 6 and max(claims.label_scores(label).get(step, 0.0) for step in STEPS) >= NAMED:
            groups[held.ref.sheet, held.ref.column, label].append(held.ref)
    for cells in groups.values():
        cells.sort()
        steps = {later.row - earlier.row for earlier, later in pairwise(cells)}
        if len(cells) >= LEAST and len(steps) == 1 and min(steps) > 2:
            yield cells


def _form(recalc: Recalc, cell: CellRef) -> str:
    return r1c1(_written(recalc, cell) or "", cell)


def _written(recalc: Recalc, cell: CellRef) -> str | None:
    held = recalc.book.get(cell)
    return held.formula if held is not None else None


def _adds_rest(cells: Sequence[CellRef], unread: Sequence[CellRef], recalc: Recalc, graph: Graph) -> CellRef | None:
    """Return the one formula that adds every block but the unread one."""
    others = {cell for cell in cells if cell not in unread}
    for reader in graph.dependents(min(others)):
        node = claims.formula_node(reader, recalc)
        added = {part.cell for _, part in terms(node) if isinstance(part, Ref)} if node is not None else set()
        if others <= added:
            return reader
    return None
