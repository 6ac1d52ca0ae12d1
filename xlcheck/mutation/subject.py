"""The workbook in which faults are planted, seen through its bound roles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random

from pydantic import Field

from xlcheck.cells import CellRef, Frozen, Scalar
from xlcheck.checking import Workpaper
from xlcheck.mutation.edits import Content, Edit, written
from xlcheck.roles import LocatedSeries
from xlcheck.workbook import DataTable

Changes = dict[CellRef, Content]


class Mutation(Frozen):
    """One planted fault."""

    checks: tuple[str, ...]
    """The checks that should notice, any of them: the one made for the fault first."""
    cell: CellRef
    """Where the fault sits."""
    changes: dict[CellRef, Content]
    """Cell to its new content."""
    stored: dict[CellRef, Scalar] = Field(default_factory=dict)
    """Stored values to forge (only the operators that plant a stale value)."""
    tables: dict[CellRef, DataTable] = Field(default_factory=dict)
    """What-if tables that get other inputs, by the cell that holds them."""
    needs: tuple[str, str] | None = None
    """Check and parameter that the rubric must set, or there is nothing that the fault departs from."""
    anywhere: bool = False
    """True where the fault has no cell of its own: a loop may be reported at any of its cells."""
    structural: bool = False
    """True where the fault may leave every value as it is (a typed output, a text number, a hidden driver)."""

    @property
    def places(self) -> frozenset[CellRef]:
        """The cells where the fault sits."""
        return frozenset({self.cell, *self.changes, *self.tables})


@dataclass(frozen=True)
class Subject:
    """A good workbook with its roles; operators read it and yield mutations."""

    paper: Workpaper
    random: Random

    def cell(self, role: str) -> CellRef | None:
        """Return the cell where a scalar role is made: the end of its chain of plain links."""
        located = self.paper.roles.scalars.get(role)
        return None if located is None or located.cell is None else self.paper.graph.pure_link(located.cell)

    def formula(self, ref: CellRef | None) -> str | None:
        """Return the formula of a cell, None for a constant or a blank."""
        cell = None if ref is None else self.paper.book.get(ref)
        return None if cell is None else cell.formula

    def number(self, ref: CellRef | None) -> float | None:
        """Return the recomputed number of a cell."""
        return None if ref is None else self.paper.recalc.number(ref)

    def series(self, role: str) -> LocatedSeries | None:
        """Return a bound series of at least two cells."""
        found = self.paper.roles.series.get(role)
        return found if found is not None and len(found.cells) > 1 else None

    def formula_cells(self, role: str) -> list[CellRef]:
        """Return the cells of a series that hold formulas."""
        found = self.series(role)
        return [] if found is None else [ref for ref in found.cells if self.formula(ref) is not None]

    def named_in(self, formula_cell: CellRef, *roles: str) -> CellRef | None:
        """Return the cell of a role as the formula names it: the role's own cell or a link on its chain."""
        direct = set(self.paper.graph.precedents(formula_cell))
        for role in roles:
            located = self.paper.roles.scalars.get(role)
            if located is None or located.cell is None:
                continue
            end = self.paper.graph.pure_link(located.cell)
            for ref in direct:
                if ref == located.cell or self.paper.graph.pure_link(ref) == end:
                    return ref
        return None

    def text(self, role: str, on: CellRef) -> str | None:
        """Return a scalar role's cell as a formula in `on` writes it."""
        located = self.paper.roles.scalars.get(role)
        return None if located is None or located.cell is None else written(located.cell, on.sheet)

    @cached_property
    def outputs(self) -> list[CellRef]:
        """Return the cells of the headline outputs."""
        roles = ("value_per_share", "equity_value", "enterprise_value")
        return [ref for ref in map(self.cell, roles) if ref is not None]


Operator = Callable[[Subject], Iterator[Mutation]]
OPERATORS: dict[str, Operator] = {}
"""Operator name to function, in the order in which they are declared."""


def operator(function: Operator) -> Operator:
    """Declare an operator under its function's name, words joined by hyphens; ValueError if it is taken."""
    name = function.__name__.replace("_", "-")
    if name in OPERATORS:
        raise ValueError(f"operator {name!r} is declared twice")
    OPERATORS[name] = function
    return function


def fault(checks: str, cell: CellRef, content: Content, more: Changes | None = None, **flags: bool) -> Mutation:
    """Return a mutation that gives a cell new content; `checks` are ids separated by blanks."""
    changes = {cell: content, **(more or {})}
    return Mutation.model_validate({"checks": tuple(checks.split()), "cell": cell, "changes": changes, **flags})


def rewritten(subject: Subject, result: str, checks: str, edit: Edit, *items: str) -> Iterator[Mutation]:
    """Edit the formula of a result where it names an item, the first of these roles that it names and can lose."""
    cell = subject.cell(result)
    formula = subject.formula(cell)
    for role in items:
        item = None if cell is None else subject.named_in(cell, role)
        wrong = None if cell is None or item is None or formula is None else edit(formula, item, cell.sheet)
        if cell is not None and wrong is not None:
            yield fault(checks, cell, wrong)
            return


def written_anew(subject: Subject, result: str, checks: str, pattern: str, *roles: str) -> Iterator[Mutation]:
    """Write the formula of a result anew over the cells of roles: ``={current_price}/{value_per_share}-1``.

    ``{own}`` is the formula as it was. Nothing where one of the roles has no cell of its own.
    """
    cell = subject.cell(result)
    formula = subject.formula(cell)
    if cell is None or formula is None or cell in map(subject.cell, roles):
        return
    texts = {role: text for role in roles if (text := subject.text(role, cell)) is not None}
    if len(texts) == len(roles):
        yield fault(checks, cell, pattern.format(own=formula.removeprefix("="), **texts))
