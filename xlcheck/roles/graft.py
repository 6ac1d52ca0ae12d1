"""Mending a valuation whose formulas stop short: a typed value cuts the way from the top to its present values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from xlcheck.cells import CellRef
from xlcheck.roles.candidates import Candidate
from xlcheck.roles.chain import Walk
from xlcheck.roles.picks import Chain, Pick
from xlcheck.roles.shapes import Shapes

WELL = 0.6
"""How well a label must name the part that is grafted on."""


@dataclass(frozen=True)
class Graft:
    """Adds to a chain what its own formulas do not lead to, from parts of the same workbook."""

    shapes: Shapes
    candidates: Mapping[str, tuple[Candidate, ...]]
    chain: Chain

    def mend(self, others: Iterable[Chain]) -> None:
        """Take over the one other valuation, or the labelled sums and terminal values, that the chain lacks."""
        if self.chain.sums is None and "pv_terminal_value" not in self.chain.picks:
            self._take_over([other for other in others if other.sums is not None])
        walk = Walk(self.shapes, self.chain)
        if self.chain.sums is None:
            self._part("sum_pv_fcff", "sum_pv", walk.take_sum)
        if self.chain.rivals:
            return
        if "terminal_value" not in self.chain.picks and "pv_terminal_value" not in self.chain.picks:
            self._part("pv_terminal_value", "pv_tv", walk.take_terminal)
        if "terminal_value" not in self.chain.picks:
            self._part("terminal_value", "tv", walk.take_terminal)

    def _take_over(self, others: list[Chain]) -> None:
        near = [other for other in others if other.top.sheet == self.chain.top.sheet] or others
        flows = {(shape.flows if shape else ()) for shape in (self.shapes.of(one.sums) for one in near if one.sums)}
        if not near or len(flows) > 1:
            return
        other = near[0]
        for role, pick in other.picks.items():
            if role not in self.chain.picks and not (role == "value_per_share" or pick.cell is None):
                self.chain.put(pick)
        self.chain.sums, self.chain.sums_home = other.sums, other.sums_home
        self.chain.rates += other.rates
        self.chain.methods |= other.methods

    def _part(self, role: str, kind: str, take: Callable[[CellRef, Candidate], None]) -> None:
        found: dict[CellRef, Candidate] = {}
        for candidate in self.candidates.get(role, ()):
            root = self.shapes.root(candidate.num.ref)
            shape = self.shapes.at(root)
            if candidate.score >= WELL and shape is not None and shape.kind == kind:
                found.setdefault(root, candidate)
        own = {root: one for root, one in found.items() if root.sheet == self.chain.top.sheet} or found
        if len(own) == 1:
            root, candidate = next(iter(own.items()))
            take(root, candidate)


BELOW = 6
"""Rows below the equity value in which its own value per share is looked for."""


def typed_value_per_share(chain: Chain, candidates: Mapping[str, tuple[Candidate, ...]], shapes: Shapes) -> Pick | None:
    """Return the one typed value per share beside a live valuation: a headline that no formula leads to.

    Of several the one right below the last step counts.
    """
    sheets = {pick.cell.sheet for pick in chain.picks.values() if pick.cell is not None}
    found = {
        candidate.num.ref: candidate
        for candidate in candidates.get("value_per_share", ())
        if candidate.score >= 0.9
        and candidate.num.ref.sheet in sheets
        and not candidate.series
        and shapes.tree(candidate.num.ref) is None
    }
    top = chain.top
    below = [cell for cell in found if cell[::2] == top[::2] and top.row < cell.row <= top.row + BELOW]
    if len(found) != 1 and len(below) != 1:
        return None
    cell = below[0] if len(below) == 1 else next(iter(found))
    candidate = found[cell]
    evidence = [f"{candidate.label} reads {candidate.text!r}; the value is typed"]
    return Pick("value_per_share", cell, label=candidate.score, evidence=evidence)
