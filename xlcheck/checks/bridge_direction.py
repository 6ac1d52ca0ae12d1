"""The net debt's direction in a bridge of several items, and balances that two lines of it add."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from xlcheck.cells import CellRef
from xlcheck.checking import Finding
from xlcheck.checks import claims, live, valuation
from xlcheck.checks.amounts import money
from xlcheck.checks.bridge_sources import sources
from xlcheck.checks.flow_terms import traced
from xlcheck.checks.sheet import first_text, row_label
from xlcheck.formula import terms
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.roles.text import fold

_NET_CASH = re.compile(
    r"^(?:plus|add|less)?\W*net cash(?: position)?\s*(?:/?\s*\(\s*(?:net )?debt\s*\))?\W*$"
    r"|^(?:加|减)?\W*(?:净现金|ネットキャッシュ|纯现金)$"
)
_NET_DEBT = re.compile(
    r"^(?:plus|add|less)?\W*(?:total )?net (?:financial )?debt\W*$"
    r"|^(?:加|减)?\W*(?:净(?:有息)?(?:债务|负债)|纯有利子负债|ネット(?:デット|有利子负债))$"
)
_OWNED = re.compile(r"cash|deposit|现金|货币资金", re.IGNORECASE)


def net_turned(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find net cash that lowers the equity, or net debt that raises it, by the label of the amount itself.

    The label at the end of the links counts: ``=-B5`` in a line "Net cash" says what the author made of it, the label
    of B5 what it is.
    """
    net, equity = roles.get("net_debt"), claims.equity_cell(roles, recalc, graph)
    if net is None or net.cell is None or equity is None:
        return
    acting = claims.acting_cell(net.cell, equity, claims.held_operations(roles, recalc), recalc, graph)
    if acting is None:
        return
    cell, slope = acting
    sign, home = traced(recalc, cell)
    value, label = recalc.number(home), fold(first_text(row_label(recalc, home)))
    if value is None or value <= 0 or abs(abs(slope) - 1) > 1e-3:
        return
    adds = slope * sign > 0
    if (_NET_CASH.match(label) and not adds) or (_NET_DEBT.match(label) and adds and not _cash_first(home, recalc)):
        name, how = ("net debt", "raises") if adds else ("net cash", "lowers")
        at = cell if home != cell and _all_added(equity, recalc) else equity
        stated = recalc.number(at) or 0.0
        message = f"{name} of {value:.6g} ({home}) {how} the equity value through {cell}"
        expected = -stated if at == cell else stated - 2 * slope * sign * value
        yield money(message, at, stated, expected)


def _cash_first(home: CellRef, recalc: Recalc) -> bool:
    """Say whether the amount is cash less debt, whatever it is called."""
    node = claims.formula_node(home, recalc)
    parts = terms(node) if node is not None else ()
    added = [cell for sign, part in parts if sign > 0 and (cell := getattr(part, "cell", None)) is not None]
    return any(_OWNED.search(row_label(recalc, cell)) for cell in added)


def _all_added(equity: CellRef, recalc: Recalc) -> bool:
    """Say whether the equity adds all its terms, so that each line's sign is set in its own cell."""
    node = claims.formula_node(equity, recalc)
    return node is not None and all(sign > 0 for sign, _ in terms(node))


def counted_twice(items: Iterable[claims.Item], roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find a typed balance inside a bridge item that moves the equity by twice its amount: another line adds it too."""
    equity = claims.equity_cell(roles, recalc, graph)
    if equity is None:
        return
    held, seen = claims.held_operations(roles, recalc), set[CellRef]()
    for item in items:
        parts = sources(item.cell, recalc, graph)
        for source in parts if len(parts) > 1 else ():
            typed = recalc.book.get(source.cell)
            if source.cell in seen or typed is None or typed.formula is not None or not recalc.number(source.cell):
                continue
            seen.add(source.cell)
            slope = live.derivative(recalc, equity, source.cell, held)
            if slope is not None and valuation.close(abs(slope), 2.0, 1e-3):
                message = f"{item.cell} takes {source.cell} in, which another line of the bridge counts as well"
                amount = recalc.number(source.cell) or 0.0
                yield money(message, item.cell, item.value, item.value - source.sign * amount)
