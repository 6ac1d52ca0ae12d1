"""The first and the second round of one task side by side: what had to move, what moved, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xlcheck.cells import CellRef, Scalar, as_number
from xlcheck.checking import Workpaper
from xlcheck.checks import live
from xlcheck.checks.headline import OUTPUTS
from xlcheck.checks.memory import remembered
from xlcheck.checks.sheet import timeline_of
from xlcheck.diff import Alignment, Change, align, changes
from xlcheck.engines import Unsolved
from xlcheck.followup import Move, SecondRound
from xlcheck.graph import Graph
from xlcheck.recompute import Recalc
from xlcheck.roles import Located, LocatedSeries, Roles


@dataclass(frozen=True, slots=True)
class Step:
    """One cell of a role, in both rounds."""

    before: CellRef
    after: CellRef | None
    """None where the second workbook has no such cell."""
    year: int | None
    told: bool
    """True where the new information names this period."""


@dataclass(frozen=True, slots=True)
class Target:
    """A move that the second round asks for (or that a false challenge asks for), and its cells."""

    words: str
    move: Move
    located: Located | LocatedSeries
    """The role in the first round."""
    steps: tuple[Step, ...]
    source: Step | None = None
    """The input that the role's one cell only links to."""


@dataclass(frozen=True)
class Rounds:
    """Both rounds; cells of the first are called *before*, those of the second *after*."""

    first: Workpaper
    recalc: Recalc
    graph: Graph
    roles: Roles
    asked: SecondRound

    @cached_property
    def alignment(self) -> Alignment:
        """Which cell stands for which."""
        return align(self.first.recalc, self.recalc)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Every cell that holds something else now."""
        return tuple(changes(self.first.graph, self.graph, self.alignment))

    @cached_property
    def outputs(self) -> dict[str, tuple[CellRef, CellRef]]:
        """Headline role to its cell before and after, the value per share first."""
        found = {}
        for role in OUTPUTS:
            old, new = self.first.roles.get(role), self.roles.get(role)
            before = old.cell if old is not None else None
            after = None if before is None else self.alignment.after(before) or (new.cell if new is not None else None)
            if before is not None and after is not None:
                found[role] = before, after
        return found

    @cached_property
    def targets(self) -> tuple[Target | str, ...]:
        """Every move asked for with its cells, or in words why they cannot be told."""
        return tuple(self.target(words, move) for words, move in self.asked.wanted())

    @cached_property
    def pins(self) -> dict[CellRef, Scalar]:
        """The cells that were told to move (before) with the value they have now, an input behind a link with them."""
        known = [target for target in self.targets if isinstance(target, Target)]
        steps = [step for target in known for step in target.steps]
        steps += [target.source for target in known if target.source and self._agrees(target)]
        values = {step.before: self.now(step.after) for step in steps if step.told and step.after is not None}
        return {before: value for before, value in values.items() if value is not None}

    def _agrees(self, target: Target) -> bool:
        return target.source is not None and same(self.now(target.source.after), self.now(target.steps[0].after))

    def target(self, words: str, move: Move) -> Target | str:
        """Return the cells of a move, or in words why they cannot be told."""
        scalar, line = self.first.roles.get(move.role), self.first.roles.series.get(move.role)
        if scalar is not None and scalar.cell is not None:
            own, source = (
                Step(cell, self.alignment.after(cell), None, told=True)
                for cell in (scalar.cell, self.first.graph.pure_link(scalar.cell))
            )
            return Target(words, move, scalar, (own,), source if source != own else None)
        if line is None:
            return f"{move.role} could not be located in the first workbook"
        steps = tuple(self._step(cell, move) for cell in line.cells)
        dated = move.from_year is not None or move.to_year is not None
        if dated and any(step.year is None for step in steps):
            return f"the years of {move.role} in the first workbook cannot be told"
        if not any(step.told for step in steps):
            return f"{move.role} has no year from {move.from_year} to {move.to_year} in the first workbook"
        return Target(words, move, line, steps)

    def _step(self, before: CellRef, move: Move) -> Step:
        year = timeline_of(self.first.recalc, before.sheet).year(before)
        first, last = move.from_year, move.to_year
        told = (first is None or (year or 0) >= first) and (last is None or (year or 9999) <= last)
        return Step(before, self.alignment.after(before), year, told)

    def now(self, after: CellRef | None) -> Scalar:
        """Return what a cell of the second workbook comes to, None where that is not known."""
        value = self.recalc.value(after) if after is not None else None
        return None if isinstance(value, Unsolved) else value

    def predicted(self, changed: Mapping[CellRef, Scalar], cells: Sequence[CellRef]) -> Mapping[CellRef, float | None]:
        """Return what cells of the first workbook come to with some of its cells replaced."""
        if not changed:
            return {cell: self.first.recalc.number(cell) for cell in cells}
        return live.run(self.first.recalc, changed, cells)

    @cached_property
    def roots(self) -> tuple[Change, ...]:
        """The changes at which something begins: inputs, and formulas off the path of the cells told to move."""
        behind = self.first.graph.descendants(self.pins)
        known = (one for one in self.changes if one.before not in self.pins and self.now(one.after) is not None)
        return tuple(one for one in known if one.kind == "input" or (one.before not in behind and self._began(one)))

    def _began(self, one: Change) -> bool:
        """Say whether a formula's cell came to something else although what it read came to the same."""
        if same(self.now(one.after), self.first.recalc.number(one.before)):
            return False
        reads = self.first.graph.precedents(one.before)
        return all(same(self.now(self.alignment.after(cell)), self.first.recalc.number(cell)) for cell in reads)

    @cached_property
    def twisted(self) -> dict[Change, float]:
        """The formulas on the path that read what they read before and make something else of it, with what was due."""
        behind = self.first.graph.descendants(self.pins) - set(self.pins)
        found = [one for one in self.changes if one.kind == "formula" and one.before in behind]
        read = {one: self.first.graph.precedents(one.before) for one in found}
        cells = list({cell for one in found for cell in (one.before, *read[one])})
        due = self.predicted({**self.moved(self.roots), **self.pins}, cells) if cells else {}
        wrong = {}
        for one in found:
            places = {self.alignment.after(cell): cell for cell in read[one]}
            reads_alike = set(self.graph.precedents(one.after)) <= set(places) and all(
                same(self.now(after), due[cell]) for after, cell in places.items()
            )
            expected = due[one.before]
            if reads_alike and expected is not None and not same(self.now(one.after), expected):
                wrong[one] = expected
        return wrong

    def moved(self, changes: Iterable[Change]) -> dict[CellRef, Scalar]:
        """Return the cells of changes (before) with what they come to now."""
        return {one.before: self.now(one.after) for one in changes}

    def moves_outputs(self, changed: Mapping[CellRef, Scalar], beside: Mapping[CellRef, Scalar]) -> bool:
        """Say whether replacing cells moves a headline output when others are replaced already."""
        cells = [before for before, _ in self.outputs.values()]
        base = self.predicted(beside, cells)
        moved = self.predicted({**changed, **beside}, cells)
        return any(not same(base[cell], moved[cell]) for cell in cells)


def rounds(recalc: Recalc, graph: Graph, roles: Roles, asked: SecondRound, previous: Workpaper) -> Rounds:
    """Return both rounds, worked out once per second workbook."""
    return remembered(recalc, ("rounds", id(previous)), lambda: Rounds(previous, recalc, graph, roles, asked))


def same(found: Scalar, wanted: Scalar, near: float = 1e-6) -> bool:
    """Say whether two results are the same number (or the same text), within a share of the larger one."""
    a, b = as_number(found), as_number(wanted)
    if a is None or b is None:
        return found == wanted
    return abs(a - b) <= near * max(abs(a), abs(b), 1e-9)


def in_order(graph: Graph, cells: Iterable[CellRef]) -> list[CellRef]:
    """Return cells with those that others depend on first."""
    return sorted(cells, key=lambda cell: (len(graph.ancestors([cell])), cell))
