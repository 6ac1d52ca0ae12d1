"""Faults in what stands around the model: tables, scenario switches, exchange rates, the price of the task."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from xlcheck.cells import CellRef
from xlcheck.checks.cases import choices
from xlcheck.checks.exchange_rates import quotes
from xlcheck.checks.fatal_units import label_code
from xlcheck.checks.sheet import row_label
from xlcheck.checks.trees import trees
from xlcheck.formula import Call, Ref
from xlcheck.mutation.edits import Content, divided, position, written
from xlcheck.mutation.subject import Mutation, Subject, fault, operator
from xlcheck.reading.tokens import Token, tokens
from xlcheck.workbook import Cell, DataTable

_SCENARIO = re.compile(r"scenario|\bcase\b|情景|情境|シナリオ|szenario|scénario|escenario", re.IGNORECASE)


@operator
def data_table_on_the_wrong_input(subject: Subject) -> Iterator[Mutation]:
    """A what-if table sends the values of each axis into the other axis's input, or into another typed input."""
    outputs = subject.outputs
    reached = subject.paper.graph.ancestors(outputs) if outputs else frozenset()
    for held in subject.paper.book.cells():
        table = held.data_table
        if table is None or not {table.row_input, table.column_input} & reached:
            continue  # the table of a pasted copy moves nothing to begin with
        wrong = _wrong_inputs(subject, table)
        if wrong is not None:
            checks = "sensitivity.input-is-the-driver sensitivity.grid-recomputed"
            mutation = fault(checks, held.ref, subject.number(held.ref), structural=True)
            yield mutation.model_copy(update={"changes": {}, "tables": {held.ref: wrong}})
            return


def _wrong_inputs(subject: Subject, table: DataTable) -> DataTable | None:
    if table.row_input is not None and table.column_input is not None:
        return replace(table, row_input=table.column_input, column_input=table.row_input)
    other = subject.cell("tax_rate")
    if other is None or other in (table.row_input, table.column_input) or subject.formula(other) is not None:
        return None
    return replace(table, row_input=table.row_input and other, column_input=table.column_input and other)


@operator
def table_pasted_as_values(subject: Subject) -> Iterator[Mutation]:
    """A sensitivity table holds the numbers of an older run, typed."""
    for grid in subject.paper.roles.grids:
        cells = list(grid.cells.cells())
        values = {cell: value for cell in cells if (value := subject.number(cell)) is not None}
        if grid.live and len(values) == len(cells) and all(subject.formula(cell) is not None for cell in cells):
            stale: dict[CellRef, Content] = {cell: round(value * 1.03, 2) for cell, value in values.items()}
            yield fault("sensitivity.grid-recomputed sensitivity.live", cells[0], stale[cells[0]], stale)
            return


@operator
def driver_fixed_on_one_case(subject: Subject) -> Iterator[Mutation]:
    """A driver that picks by the scenario switch is linked to the case that now runs."""
    rows: dict[tuple[str, int], dict[CellRef, Content]] = {}
    for choice in choices(subject.paper.recalc):
        place = subject.number(choice.switch)
        picked = choice.options[int(place) - 1] if place and 1 <= place <= len(choice.options) else None
        node = trees(subject.paper.recalc)[choice.cell]
        whole = isinstance(node, Call) and node.function == "CHOOSE"
        if whole and isinstance(picked, Ref):
            row = rows.setdefault((choice.cell.sheet, choice.cell.row), {})
            row[choice.cell] = f"={written(picked.cell, choice.cell.sheet)}"
    if len(rows) >= 3:
        changes = list(rows.values())[len(rows) // 2]
        first = min(changes)
        yield fault("scenario.switch-works", first, changes[first], changes, structural=True)


@operator
def scenario_switch_that_nothing_reads(subject: Subject) -> Iterator[Mutation]:
    """Every formula that picks by the scenario switch holds the number of the present case instead."""
    switches = {choice.switch for choice in choices(subject.paper.recalc)}
    if len(switches) != 1:
        return
    switch = switches.pop()
    if not _SCENARIO.search(row_label(subject.paper.recalc, switch)):
        return  # it chooses between methods or units
    held = subject.number(switch)
    changes: dict[CellRef, Content] = {}
    for reader in subject.paper.graph.dependents(switch):
        words = list(tokens(subject.formula(reader) or ""))
        while (at := position(words, switch, reader.sheet)) is not None:
            words[at] = Token("other", f"{held:g}")
        changes[reader] = "".join(word.text for word in words)
    if held is not None and subject.formula(switch) is None and changes:
        yield fault("scenario.switch-works", switch, held, changes, structural=True)


@operator
def exchange_rate_upside_down(subject: Subject) -> Iterator[Mutation]:
    """An amount is divided by an exchange rate that is quoted to multiply with, or the other way round."""
    outputs = subject.outputs
    above = subject.paper.graph.ancestors(outputs) if outputs else frozenset()
    for quote in quotes(subject.paper.recalc):
        for reader in subject.paper.graph.dependents(quote.cell):
            wrong = divided(subject.formula(reader) or "", quote.cell, reader.sheet) if reader in above else None
            if wrong is not None:
                yield fault("fatal.currency-mix", reader, wrong)
                return


@operator
def price_in_another_currency(subject: Subject) -> Iterator[Mutation]:
    """The price is quoted in another currency than the value it is compared with, and nothing converts it."""
    roles, recalc = subject.paper.roles, subject.paper.recalc
    price, value, upside = (roles.get(role) for role in ("current_price", "value_per_share", "upside"))
    if price is None or value is None or upside is None or price.cell is None or quotes(recalc):
        return
    code, own = label_code(price, recalc), label_code(value, recalc)
    label = _label_with(subject, price.cell, code) if code is not None and code == own else None
    if code is None or label is None or upside.cell is None:
        return
    other = "USD" if code != "USD" else "EUR"
    text = re.sub(rf"\b{code}\b", other, str(label.stored))
    yield fault("fatal.currency-mix bridge.upside", label.ref, text, structural=True, anywhere=True)


def _label_with(subject: Subject, cell: CellRef, code: str) -> Cell | None:
    """Return the typed text left or right of a cell that names a currency code."""
    for step in (*range(-1, -cell.column, -1), 1):
        held = subject.paper.book.get(cell.offset(0, step))
        if held is not None and held.formula is None and isinstance(held.stored, str) and code in held.stored:
            return held
    return None


@operator
def price_of_another_day(subject: Subject) -> Iterator[Mutation]:
    """The price is not the one of the day that the task names."""
    cell = subject.cell("current_price")
    value = subject.number(cell)
    if cell is not None and value and subject.formula(cell) is None:
        mutation = fault("reverse.price-anchor", cell, round(value * 1.07, 2), structural=True)
        yield mutation.model_copy(update={"needs": ("reverse.price-anchor", "price")})
