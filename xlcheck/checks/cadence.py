"""How long the periods of a forecast are: years, half-years, quarters or months, by their headings."""

from __future__ import annotations

import re
from itertools import pairwise

from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, Roles

_QUARTER = re.compile(r"(?<![A-Za-z])(?:[1-4]\s?Q|Q\s?[1-4])(?![A-Za-z])|第?[1-4一二三四]季", re.IGNORECASE)
_HALF = re.compile(r"(?<![A-Za-z])(?:[12]\s?H|H\s?[12])(?![A-Za-z])|[上下]半年", re.IGNORECASE)
_DAYS = ((1.0, 350, 380), (0.5, 175, 190), (0.25, 85, 95), (1 / 12, 27, 32))
"""Length in years, and the days between two dates that show it."""


def length(roles: Roles, recalc: Recalc) -> float:
    """Return the length of one forecast period in years; 1 where the headings do not say otherwise."""
    period = roles.series.get("period")
    if period is None or len(period.cells) < 3:
        return 1.0
    shown = [recalc.value(cell) for cell in period.cells]
    for years, pattern in ((0.25, _QUARTER), (0.5, _HALF)):
        if all(isinstance(one, str) and pattern.search(one) for one in shown):
            return years
    days = [one for one in shown if isinstance(one, int | float) and one > 20_000]
    if len(days) != len(shown):
        return 1.0
    steps = [later - earlier for earlier, later in pairwise(days)]
    return next((years for years, low, high in _DAYS if all(low <= step <= high for step in steps[1:] or steps)), 1.0)


def step_of(rate: Located | None, roles: Roles, recalc: Recalc, graph: Graph) -> float:
    """Return the length of a period in years, or in periods (1) where a rate is one for a period."""
    step = length(roles, recalc)
    return 1.0 if rate is not None and yearly_rate(rate, step, recalc, graph) is not None else step


def yearly_rate(rate: Located, step: float, recalc: Recalc, graph: Graph) -> float | None:
    """Return the yearly rate that a rate for one period of `step` years is made from; None where it is none such.

    Accepted are the compound rate (1 + y)^step - 1 and the simple one y·step of a cell that the rate's formula reads.
    """
    if rate.cell is None or rate.amount is None or step >= 1:
        return None
    for cell in graph.precedents(graph.pure_link(rate.cell)):
        value = recalc.number(cell)
        yearly = value * rate.factor if value is not None else 0.0
        if yearly > 0 and any(abs(rate.amount - one) < 1e-7 for one in ((1 + yearly) ** step - 1, yearly * step)):
            return yearly
    return None
