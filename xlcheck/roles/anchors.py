"""Roles that labels and position hold where the formulas contradict them.

The formula graph leads from the headline down; a fault that reads the wrong cell, or forgets one, would lead past the
cell that the author labelled for the purpose. So the labelled steps of the headline's own block are bound all the
same: the present value of the terminal value that enterprise value passes over, the equity value that the value per
share passes over, the lines between enterprise and equity value that equity does not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xlcheck.cells import CellRef
from xlcheck.formula import walk
from xlcheck.roles.candidates import Candidate
from xlcheck.roles.chain import Walk
from xlcheck.roles.claims import CLAIMS
from xlcheck.roles.picks import Chain, Pick
from xlcheck.roles.shapes import Shapes

SURE = 0.85
"""How well a label must name a role to be held against the formulas."""

PLACED = 0.6
"""How well a label must name a claim where the cell stands between enterprise and equity value."""


@dataclass(frozen=True)
class Anchors:
    """Holds the labelled steps of one valuation."""

    shapes: Shapes
    candidates: Mapping[str, tuple[Candidate, ...]]
    chain: Chain

    def hold(self) -> None:
        """Bind the steps that stand labelled in the block and that the formulas pass over."""
        if not self.chain.rivals:
            self._present_terminal()
        self._equity()
        self._lines()

    def _present_terminal(self) -> None:
        """Keep a terminal value that is added undiscounted from becoming its own present value."""
        taken, whole = self.chain.picks.get("pv_terminal_value"), self.chain.cell("terminal_value")
        if taken is None or taken.cell is None or whole is None:
            return
        if self.shapes.root(taken.cell) != self.shapes.root(whole) or taken.label >= SURE:
            return
        found = [
            one
            for one in self._labelled("pv_terminal_value")
            if self.shapes.root(one.num.ref) != self.shapes.root(whole) and self._kind(one.num.ref) == "pv_tv"
        ]
        if len(found) == 1:
            self.chain.picks["pv_terminal_value"] = _pick(found[0])

    def _equity(self) -> None:
        """Bind the equity value that a value per share on the enterprise value passes over."""
        top, value = self.chain.top, self.chain.cell("enterprise_value")
        if "value_per_share" not in self.chain.picks or value is None or self.chain.top.sheet != value.sheet:
            return
        bound = self.chain.picks.get("equity_value")
        if bound is not None and (bound.cell is None or bound.label >= 0.5 or bound.cell == top):
            return
        found = [one for one in self._labelled("equity_value") if self._builds_on(one.num.ref, value)]
        if len(found) == 1:
            if bound is not None and bound.cell is not None and self.shapes.root(found[0].num.ref) == bound.cell:
                return  # a link to the cell that is bound
            self.chain.picks.pop("equity_value", None)
            Walk(self.shapes, self.chain).take_equity(found[0].num.ref, found[0])

    def _builds_on(self, cell: CellRef, value: CellRef, depth: int = 3) -> bool:
        """Say whether a cell is an equity value whose formula reads the enterprise value, at most three steps away."""
        tree = self.shapes.tree(cell)
        if self._kind(cell) not in ("equity", "ev") or tree is None or depth == 0:
            return False
        read = {self.shapes.root(one) for one in self.shapes.cells(walk(tree))}
        return self.shapes.root(value) in read or any(self._builds_on(one, value, depth - 1) for one in read)

    def _lines(self) -> None:
        """Bind the lines between enterprise and equity value that equity does not read."""
        value, equity = self.chain.cell("enterprise_value"), self.chain.cell("equity_value")
        if value is None or equity is None:
            return
        net = "net_debt" in self.chain.picks
        for cell in between(value, equity):
            role = self._claim(cell)
            if role is None or role in self.chain.picks or (net and role in ("cash", "debt")):
                continue
            if role == "net_debt" and {"cash", "debt"} & set(self.chain.picks):
                continue
            named = self.shapes.naming.at(cell)[role]
            evidence = [f"{named.label} reads {named.text!r}", f"stands between {value} and {equity}"]
            self.chain.put(Pick(role, cell, label=named.score, evidence=evidence))

    def _claim(self, cell: CellRef) -> str | None:
        """Return the claim that the label of a cell names, above every other role; the place speaks for it too."""
        if not self.shapes.naming.layout.value(cell):
            return None
        best = max(self.shapes.naming.at(cell).values(), key=lambda one: one.score, default=None)
        return best.role if best is not None and best.score >= PLACED and best.role in CLAIMS else None

    def _labelled(self, role: str) -> list[Candidate]:
        """Return the surely labelled numbers of the headline's own sheets, one for each cell they repeat."""
        sheets = {self.chain.top.sheet, *(pick.cell.sheet for pick in self.chain.picks.values() if pick.cell)}
        found: dict[CellRef, Candidate] = {}
        for candidate in self.candidates.get(role, ()):
            if candidate.score >= SURE and not candidate.series and candidate.num.ref.sheet in sheets:
                found.setdefault(self.shapes.root(candidate.num.ref), candidate)
        near = {root: one for root, one in found.items() if one.num.ref.sheet == self.chain.top.sheet}
        return list((near or found).values())

    def _kind(self, cell: CellRef) -> str | None:
        shape = self.shapes.at(cell)
        return shape.kind if shape else None


def between(first: CellRef, last: CellRef) -> Iterator[CellRef]:
    """Yield the cells of one column (or row) between two cells, in order."""
    if first.sheet != last.sheet:
        return
    if first.column == last.column and 1 < last.row - first.row <= 40:
        yield from (first.offset(step, 0) for step in range(1, last.row - first.row))
    elif first.row == last.row and 1 < last.column - first.column <= 40:
        yield from (first.offset(0, step) for step in range(1, last.column - first.column))


def _pick(candidate: Candidate) -> Pick:
    evidence = [f"{candidate.label} reads {candidate.text!r}", "the enterprise value passes it over"]
    return Pick(candidate.role, candidate.num.ref, label=candidate.score, evidence=evidence)
