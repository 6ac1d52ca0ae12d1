"""Faults in how the workbook computes: typed outputs, masks, loops, hidden drivers, dead tables."""

from __future__ import annotations

from collections.abc import Iterator

from xlcheck.cells import CellRef
from xlcheck.mutation.edits import written
from xlcheck.mutation.subject import Mutation, Subject, fault, operator


def _final(subject: Subject) -> CellRef | None:
    return next((ref for ref in subject.outputs if subject.formula(ref) is not None), None)


def _input(subject: Subject, *roles: str) -> CellRef | None:
    """Return a typed number that the headline depends on, the first of the roles that has one."""
    outputs = subject.outputs
    reached = subject.paper.graph.ancestors(outputs) if outputs else frozenset()
    for role in roles:
        cell = subject.cell(role)
        if cell in reached and subject.formula(cell) is None and subject.number(cell):
            return cell
    return None


BRIDGE_INPUTS = ("cash", "debt", "net_debt", "minority_interest", "shares", "terminal_growth")


@operator
def output_typed(subject: Subject) -> Iterator[Mutation]:
    """The headline output is a typed number."""
    cell = _final(subject)
    value = subject.number(cell)
    if cell is not None and value is not None:
        yield fault("recompute.outputs-are-live fatal.not-recomputable", cell, round(value, 2), structural=True)


@operator
def enterprise_value_typed(subject: Subject) -> Iterator[Mutation]:
    """Enterprise value is typed, so that neither rate nor flows reach the result."""
    cell, value = subject.cell("enterprise_value"), subject.number(subject.cell("enterprise_value"))
    if cell is not None and value is not None and subject.formula(cell) is not None:
        yield fault("recompute.outputs-are-live fatal.not-recomputable", cell, round(value, 1), structural=True)


@operator
def output_blank(subject: Subject) -> Iterator[Mutation]:
    """The value per share was deleted."""
    cell = subject.cell("equity_value") if subject.cell("value_per_share") is None else subject.cell("value_per_share")
    if cell is not None and subject.formula(cell) is not None:
        yield fault("recompute.no-blank-outputs recompute.outputs-are-live", cell, None, structural=True)


@operator
def number_as_text(subject: Subject) -> Iterator[Mutation]:
    """An input is a number kept as text."""
    cell = _input(subject, *BRIDGE_INPUTS)
    if cell is not None:
        yield fault("recompute.no-text-numbers", cell, f"{subject.number(cell):.15g}", structural=True)


@operator
def broken_reference_masked(subject: Subject) -> Iterator[Mutation]:
    """A bridge item is IFERROR around a broken reference."""
    cell = _input(subject, *BRIDGE_INPUTS[:4])
    if cell is not None:
        yield fault("recompute.no-masked-errors", cell, "=IFERROR(#REF!,0)")


@operator
def error_in_the_chain(subject: Subject) -> Iterator[Mutation]:
    """An input is an error value."""
    cell = _input(subject, *BRIDGE_INPUTS)
    if cell is not None:
        yield fault("recompute.no-error-values fatal.not-recomputable", cell, "=1/0")


@operator
def formula_as_text(subject: Subject) -> Iterator[Mutation]:
    """A formula of the chain is kept as text."""
    cell = subject.cell("equity_value")
    formula = subject.formula(cell)
    if cell is not None and formula is not None:
        checks = "recompute.no-formula-as-text recompute.formulas-parse recompute.no-error-values"
        yield fault(checks, cell, " " + formula, structural=True)


@operator
def stale_value(subject: Subject) -> Iterator[Mutation]:
    """A stored value no longer follows from its formula."""
    cell = subject.cell("equity_value")
    formula, value = subject.formula(cell), subject.number(cell)
    if cell is None or formula is None or not value:
        return
    mutation = fault("recompute.cached-values-match", cell, formula, structural=True)
    yield mutation.model_copy(update={"stored": {cell: value * 1.1}})


@operator
def result_feeds_its_own_input(subject: Subject) -> Iterator[Mutation]:
    """An input depends on the result although iteration is off."""
    cell, final = _input(subject, "cash", "net_debt", "debt"), _final(subject)
    if cell is not None and final is not None and not subject.paper.book.calc.iterate:
        value = subject.number(cell)
        wrong = f"={value:g}+0.001*{written(final, cell.sheet)}"
        yield fault("recompute.circularity recompute.indeterminate-loop", cell, wrong, structural=True, anywhere=True)


@operator
def volatile_driver(subject: Subject) -> Iterator[Mutation]:
    """An input changes with every calculation."""
    cell = _input(subject, *BRIDGE_INPUTS)
    if cell is not None:
        wrong = f"={subject.number(cell):g}*(1+RAND()/100)"
        yield fault("recompute.no-volatile-drivers", cell, wrong, structural=True)


@operator
def external_driver(subject: Subject) -> Iterator[Mutation]:
    """An input links to another workbook."""
    cell = _input(subject, *BRIDGE_INPUTS)
    if cell is not None:
        yield fault("recompute.no-external-links", cell, "='[1]Inputs'!$B$7", structural=True)


@operator
def adjustment_far_from_the_model(subject: Subject) -> Iterator[Mutation]:
    """The value per share is scaled by a white number off the page."""
    cell = _final(subject)
    formula = subject.formula(cell)
    sheet = None if cell is None else subject.paper.book.sheet(cell.sheet)
    if cell is None or formula is None or sheet is None:
        return
    place = CellRef(cell.sheet, sheet.max_row + 40, sheet.max_column + 20)
    wrong = f"=({formula.removeprefix('=')})*{written(place, cell.sheet)}"
    checks = "bridge.per-share bridge.equity-identity bridge.enterprise-value recompute.no-hidden-drivers"
    yield fault(checks, cell, wrong, {place: 0.93})


@operator
def table_typed_off_the_model(subject: Subject) -> Iterator[Mutation]:
    """One cell of a sensitivity table is typed and not what the model gives."""
    for grid in subject.paper.roles.grids:
        middle = list(grid.cells.cells())[grid.cells.size // 3]
        value = subject.number(middle)
        if value and subject.formula(middle) is not None:
            yield fault("sensitivity.grid-recomputed sensitivity.live", middle, round(value * 1.05, 2))
            return


@operator
def axis_shifted(subject: Subject) -> Iterator[Mutation]:
    """One value of a table's axis is not where the even steps put it."""
    for grid in subject.paper.roles.grids:
        for axis in (grid.row_axis, grid.column_axis):
            if len(axis) < 4:
                continue
            first, value = subject.number(axis[0]), subject.number(axis[1])
            if first is not None and value is not None and first != value:
                yield fault("sensitivity.even-steps sensitivity.grid-recomputed", axis[1], value + (value - first) / 2)
                return
