"""The way from enterprise to equity value as the workbook itself takes it, told by moving each item of the bridge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xlcheck.cells import CellRef
from xlcheck.checking import Workpaper
from xlcheck.checks.live import derivatives
from xlcheck.report.document import Report
from xlcheck.roles import Located

SIGNS = {
    "debt": -1, "cash": 1, "net_debt": 0, "lease_liabilities": -1, "minority_interest": -1, "preferred_equity": -1,
    "pension_deficit": -1, "other_claims": -1, "investments": 1,
}  # fmt: skip
"""Item to the sign that it belongs into the equity value with; 0 where its own sign tells."""
_ACCUSING = ("bridge.signs", "bridge.equity-identity")
_UNEXPLAINED = 0.0005
"""Share of the enterprise value below which a rest is left out."""


class Item(NamedTuple):
    """One step of the bridge, in currency units."""

    role: str
    stated: float
    """As the workbook takes it."""
    right: float
    """As it belongs there; the same number unless a check failed that says so."""


class Bridge(NamedTuple):
    """From enterprise to equity value, in currency units."""

    start: float
    items: tuple[Item, ...]
    rest: float
    """What no bound item explains; 0 where that is next to nothing."""
    stated: float

    @property
    def right(self) -> float:
        """The equity value with every item taken as it belongs."""
        return self.stated + sum(item.right - item.stated for item in self.items)


def live_bridge(paper: Workpaper, report: Report) -> Bridge | None:
    """Return the bridge; None where an end is bound to no cell or the one does not move with the other."""
    start, end = paper.roles.get("enterprise_value"), paper.roles.get("equity_value")
    if start is None or end is None or not start.amount or end.amount is None or end.cell is None:
        return None
    wrong = any(result.status == "fail" and result.check_id in _ACCUSING for result in report.results)
    items = tuple(_item(role, located, weight, end, wrong) for role, located, weight in _acting(paper, end.cell))
    rest = end.amount - start.amount - sum(item.stated for item in items)
    return Bridge(start.amount, items, rest if abs(rest) > _UNEXPLAINED * abs(start.amount) else 0.0, end.amount)


def _item(role: str, located: Located, weight: float, end: Located, wrong: bool) -> Item:
    assert located.value is not None
    stated = weight * located.value * end.factor
    sign = SIGNS[role]
    return Item(role, stated, sign * abs(stated) if wrong and sign else stated)


def _acting(paper: Workpaper, equity: CellRef) -> Iterator[tuple[str, Located, float]]:
    """Yield the bound items that move the equity value, each with its slope; none that only feeds another one."""
    found = []
    for role in SIGNS:
        located = paper.roles.get(role)
        if located is not None and located.cell is not None and located.value:
            slope = derivatives(paper.recalc, [equity], located.cell)[equity]
            if slope and abs(slope) > 1e-9:
                found.append((role, located, slope))
    moving = {role for role, _, _ in found}
    if {"debt", "cash"} <= moving:
        found = [one for one in found if one[0] != "net_debt"]
    elif "net_debt" in moving:
        found = [one for one in found if one[0] not in ("debt", "cash")]
    cells = [located.cell for _, located, _ in found]
    for role, located, slope in found:
        others = [cell for cell in cells if cell is not None and cell != located.cell]
        if located.cell not in paper.graph.ancestors(others) and cells.count(located.cell) == 1:
            yield role, located, slope
