"""Rates carried over to another currency, or to real terms, by inflation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlcheck.checking import Finding
from xlcheck.checks.sheet import row_label
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles

_INFLATION = re.compile(r"inflation|\bcpi\b|price level|通胀|通货膨胀|インフレ", re.IGNORECASE)


def before_inflation(wacc: Located, recalc: Recalc, graph: Graph) -> float | None:
    """Return the rate that a WACC carries over to another currency, or to real terms, by inflation; None for no such.

    (1 + w)·(1 + there)/(1 + here) - 1 by the parity of real rates, (1 + w)/(1 + inflation) - 1 for a real rate.
    """
    if wacc.cell is None or wacc.amount is None:
        return None
    read = graph.precedents(graph.pure_link(wacc.cell))
    inflation = [cell for cell in read if _INFLATION.search(row_label(recalc, cell))]
    others = [cell for cell in read if cell not in inflation]
    if not inflation or len(inflation) > 2 or len(others) != 1:
        return None
    rate, *shown = (
        value * wacc.factor for cell in (others[0], *inflation) if (value := recalc.number(cell)) is not None
    )
    parts = (1 + shown[0], 1 / (1 + shown[0])) if len(shown) == 1 else ()
    if len(shown) == 2:
        parts = ((1 + shown[0]) / (1 + shown[1]), (1 + shown[1]) / (1 + shown[0]))
    fits = any(abs((1 + rate) * part - 1 - wacc.amount) < 1e-6 for part in parts)
    return rate if fits else None


def mixed(roles: Roles, recalc: Recalc, graph: Graph) -> Iterator[Finding]:
    """Find a terminal value at the nominal rate where the flows are discounted at the real one made from it, or so."""
    flows, terminal, value = roles.get("wacc"), roles.get("terminal_wacc"), roles.get("terminal_value")
    if flows is None or terminal is None or value is None or value.cell is None or "discount_rate" in roles.series:
        return
    if flows.cell is None or terminal.cell is None:
        return
    for made, source in ((flows, terminal), (terminal, flows)):
        rate = before_inflation(made, recalc, graph)
        read = graph.precedents(graph.pure_link(made.cell)) if made.cell is not None else ()
        if rate is not None and source.cell is not None and graph.pure_link(source.cell) in read:
            words = f"the terminal value is capitalised at {terminal.cell}, the flows are discounted at {flows.cell}"
            message = f"{words}: one is the other before inflation"
            yield Finding(message=message, cell=value.cell, found=terminal.value, expected=flows.value, unit="rate")
            return
