"""From picks to located roles: value, unit, scale, currency, confidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xlcheck.cells import CellRef
from xlcheck.formula import Range, Ref, walk
from xlcheck.roles import Located, LocatedSeries
from xlcheck.roles.basis import Bases, Basis, share_scale
from xlcheck.roles.expressions import written
from xlcheck.roles.layout import Layout
from xlcheck.roles.picks import Line, Pick
from xlcheck.roles.vocabulary import SCALAR_ROLES, SERIES_ROLES

NOT_POINTS = ("debt_to_equity", "upside")
"""Rates that may exceed 1 without being percent points."""


@dataclass(frozen=True)
class Valuer:
    """Turns picks into located roles."""

    layout: Layout
    bases: Bases

    def scalars(self, picks: Mapping[str, Pick]) -> dict[str, Located]:
        """Return the located scalars; the scale of a share count follows from the per-share formula if undeclared."""
        implied = self._implied_count(picks)
        return {role: self.scalar(pick, implied) for role, pick in picks.items()}

    def scalar(self, pick: Pick, implied_count: float | None = None) -> Located:
        """Return one located scalar."""
        value = self.layout.value(pick.cell) if pick.cell else None
        unit = SCALAR_ROLES[pick.role]
        factor, basis = 1.0, Basis(None, None)
        if unit == "rate":
            factor = 0.01 if value is not None and abs(value) > 1 and pick.role not in NOT_POINTS else 1.0
        elif unit == "money" and (cell := _first_cell(pick)) is not None:
            basis = self.bases.money(cell)
            factor = basis.scale or 1.0
        elif unit == "per_share" and pick.cell is not None:
            basis = self.bases.per_share(pick.cell)
        elif unit == "count" and pick.cell is not None:
            factor = self._count_factor(pick.cell, value, implied_count)
        return Located(
            role=pick.role,
            cell=pick.cell,
            expression=None if pick.cell else written(pick.node),
            value=value,
            unit=unit,
            factor=factor,
            currency=basis.currency,
            confidence=confidence(pick.label, graph=pick.graph, identity=pick.identity),
            how=how(pick.label, graph=pick.graph, identity=pick.identity, derived=pick.cell is None),
            evidence=tuple(pick.evidence),
        )

    def _count_factor(self, cell: CellRef, value: float | None, implied: float | None) -> float:
        declared = self.bases.count(cell)
        if declared is not None:
            return declared
        if value is not None and abs(value) >= 1e8:
            return 1.0
        return implied or (1.0 if value is None or abs(value) >= 1e6 else self.bases.money(cell).scale or 1.0)

    def _implied_count(self, picks: Mapping[str, Pick]) -> float | None:
        cells = [picks[role].cell if role in picks else None for role in ("equity_value", "shares", "value_per_share")]
        equity, shares, per_share = cells
        if equity is None or shares is None or per_share is None:
            return None
        value = self.layout.value
        return share_scale(value(equity), value(shares), value(per_share), self.bases.money(equity).scale or 1.0)

    def series(self, lines: Mapping[str, Line]) -> dict[str, LocatedSeries]:
        """Return the located series."""
        return {role: self._line(line) for role, line in lines.items()}

    def _line(self, line: Line) -> LocatedSeries:
        unit = SERIES_ROLES[line.role]
        values = tuple(self.layout.value(cell) for cell in line.cells)
        known = [abs(value) for value in values if value is not None]
        basis = self.bases.money(line.cells[0]) if unit == "money" else Basis(None, None)
        points = unit == "rate" and bool(known) and sorted(known)[len(known) // 2] > 1
        return LocatedSeries(
            role=line.role,
            cells=line.cells,
            values=values,
            unit=unit,
            factor=0.01 if points else basis.scale or 1.0,
            currency=basis.currency,
            confidence=confidence(line.label, graph=line.graph, identity=line.identity),
            how=how(line.label, graph=line.graph, identity=line.identity, derived=False),
            evidence=tuple(line.evidence),
            history=line.history,
            terminal=line.terminal,
            sign=1 if line.sign == 1 else -1 if line.sign == -1 else None,
        )


def _first_cell(pick: Pick) -> CellRef | None:
    """Return the pick's cell, or the first cell of its expression."""
    if pick.cell is not None or pick.node is None:
        return pick.cell
    for part in walk(pick.node):
        if isinstance(part, Ref):
            return part.cell
        if isinstance(part, Range):
            return CellRef(*part.range[:3])
    return None


def confidence(label: float, *, graph: bool, identity: bool) -> float:
    """Return how sure a binding is, 0 to 1, from what speaks for it."""
    sure = 0.55 + 0.35 * min(label, 1.0) if not graph else 0.86 + 0.1 * min(label, 1.0)
    return round(min(0.99, sure + (0.03 if identity else 0.0)), 3)


def how(label: float, *, graph: bool, identity: bool, derived: bool) -> str:
    """Name what a binding rests on, such as ``label+graph+identity``."""
    if derived:
        return "derived"
    words = [word for word, given in (("label", label >= 0.4), ("graph", graph), ("identity", identity)) if given]
    return "+".join(words) or "graph"
