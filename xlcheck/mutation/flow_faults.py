"""Faults in the build of the free cash flow, and in the rows of the forecast."""

from __future__ import annotations

from collections.abc import Iterator

from xlcheck.cells import CellRef
from xlcheck.mutation.edits import Content, Edit, sign_flipped, with_reference, without_term, written
from xlcheck.mutation.subject import Mutation, Subject, fault, operator


def _flow_role(subject: Subject) -> str:
    return "fcff" if subject.series("fcff") is not None else "fcfe"


def _along(subject: Subject, result: str, item: str, edit: Edit, checks: str) -> Iterator[Mutation]:
    """Edit the formula of each year of a result where it names the item of the same year."""
    results, items = subject.series(result), subject.series(item)
    if results is None or items is None or len(results.cells) != len(items.cells):
        return
    changes: dict[CellRef, Content] = {}
    for cell, part in zip(results.cells, items.cells, strict=True):
        formula = subject.formula(cell)
        wrong = None if formula is None else edit(formula, part, cell.sheet)
        if wrong is None:
            return
        changes[cell] = wrong
    first = results.cells[0]
    yield fault(checks, first, changes[first], changes)


@operator
def capex_added(subject: Subject) -> Iterator[Mutation]:
    """Capital expenditure enters the flow with the wrong sign."""
    checks = "flow.sign-convention flow.fcff-identity"
    yield from _along(subject, _flow_role(subject), "capex", sign_flipped, checks)


@operator
def depreciation_left_out(subject: Subject) -> Iterator[Mutation]:
    """Depreciation is not added back."""
    yield from _along(subject, _flow_role(subject), "depreciation", without_term, "flow.fcff-identity")


@operator
def working_capital_turned_round(subject: Subject) -> Iterator[Mutation]:
    """The increase in working capital is added."""
    checks = "flow.nwc-sign flow.sign-convention flow.fcff-identity"
    yield from _along(subject, _flow_role(subject), "change_in_nwc", sign_flipped, checks)


@operator
def working_capital_level(subject: Subject) -> Iterator[Mutation]:
    """The level of working capital is deducted, not its change."""
    levels = subject.series("nwc")
    if levels is None:
        return
    at = iter(levels.cells)

    def level(formula: str, part: CellRef, sheet: str) -> str | None:
        return with_reference(formula, part, next(at), sheet)

    checks = "flow.nwc-is-a-change flow.fcff-identity flow.row-is-what-it-says"
    if subject.series("change_in_nwc") is not None and len(levels.cells) == len(_cells(subject, "change_in_nwc")):
        yield from _along(subject, _flow_role(subject), "change_in_nwc", level, checks)


def _cells(subject: Subject, role: str) -> tuple[CellRef, ...]:
    found = subject.series(role)
    return () if found is None else found.cells


@operator
def interest_deducted_from_the_firm_flow(subject: Subject) -> Iterator[Mutation]:
    """Interest is deducted from a flow to the firm."""
    flows, interest = subject.series("fcff"), subject.series("interest")
    if flows is None or interest is None or len(flows.cells) != len(interest.cells):
        return
    changes: dict[CellRef, Content] = {}
    for cell, part in zip(flows.cells, interest.cells, strict=True):
        formula, value = subject.formula(cell), subject.number(part)
        if formula is None or not value:
            return
        changes[cell] = f"{formula}{'-' if value > 0 else '+'}{written(part, cell.sheet)}"
    yield fault("flow.no-financing-flows flow.fcff-identity", flows.cells[0], changes[flows.cells[0]], changes)


@operator
def operating_profit_untaxed(subject: Subject) -> Iterator[Mutation]:
    """NOPAT is EBIT before tax."""
    profits, ebit = subject.series("nopat"), subject.series("ebit")
    if profits is None or ebit is None or len(profits.cells) != len(ebit.cells):
        return
    changes: dict[CellRef, Content] = {}
    for cell, part in zip(profits.cells, ebit.cells, strict=True):
        if subject.formula(cell) is None or cell == part:
            return
        changes[cell] = f"={written(part, cell.sheet)}"
    yield fault("flow.nopat flow.tax-on-ebit", profits.cells[0], changes[profits.cells[0]], changes)


@operator
def tax_on_revenue(subject: Subject) -> Iterator[Mutation]:
    """Operating taxes are taken on the wrong row."""
    taxes, ebit, revenue = subject.series("taxes"), subject.series("ebit"), subject.series("revenue")
    if taxes is None or ebit is None or revenue is None:
        return
    at = iter(revenue.cells)

    def wrong_row(formula: str, part: CellRef, sheet: str) -> str | None:
        return with_reference(formula, part, next(at), sheet)

    if len(revenue.cells) == len(ebit.cells):
        yield from _along(subject, "taxes", "ebit", wrong_row, "flow.tax-on-ebit flow.nopat")


@operator
def row_reads_the_year_before(subject: Subject) -> Iterator[Mutation]:
    """The depreciation, capex or tax of each year enters the flow of the next."""
    role = _flow_role(subject)
    for item in ("capex", "depreciation", "taxes"):
        parts = subject.series(item)
        flows = subject.series(role)
        if parts is None or flows is None or len(parts.cells) != len(flows.cells):
            continue
        earlier = iter((parts.history[-1] if parts.history else parts.cells[0], *parts.cells[:-1]))

        def shifted(formula: str, part: CellRef, sheet: str, before: Iterator[CellRef] = earlier) -> str | None:
            return with_reference(formula, part, next(before), sheet)

        found = list(_along(subject, role, item, shifted, "basis.period-alignment recompute.row-consistency"))
        if found:
            yield from found
            return


FORECAST_ROWS = ("revenue", "ebit", "nopat", "capex", "depreciation", "fcff", "fcfe", "pv_fcff")


def _middle_cell(subject: Subject) -> CellRef | None:
    """Return a formula cell in the middle of a forecast row, chosen by the seed."""
    rows = [cells for role in FORECAST_ROWS if len(cells := subject.formula_cells(role)) > 3]
    if not rows:
        return None
    row = subject.random.choice(rows)
    return row[subject.random.randrange(1, len(row) - 1)]


@operator
def typed_cell_among_formulas(subject: Subject) -> Iterator[Mutation]:
    """One year of a forecast row is a typed number."""
    cell = _middle_cell(subject)
    value = subject.number(cell)
    if cell is not None and value:
        yield fault("recompute.no-hardcoded-forecast", cell, round(value * 1.07, 1) or 1.0)


@operator
def literal_inside_a_formula(subject: Subject) -> Iterator[Mutation]:
    """One year of a forecast row adds a typed amount."""
    cell = _middle_cell(subject)
    value = subject.number(cell)
    if cell is not None and value:
        amount = max(1, round(abs(value) * 0.05))
        wrong = f"={(subject.formula(cell) or '').removeprefix('=')}+{amount}.37"
        yield fault("recompute.no-hardcoded-forecast recompute.row-consistency", cell, wrong)


@operator
def formula_of_one_year_broken(subject: Subject) -> Iterator[Mutation]:
    """One year of the flow leaves out what all its neighbours hold."""
    for role in ("fcff", "fcfe", "nopat", "ebit"):
        cells = subject.formula_cells(role)
        if len(cells) < 4:
            continue
        cell = cells[subject.random.randrange(1, len(cells) - 1)]
        for part in subject.paper.graph.precedents(cell):
            wrong = without_term(subject.formula(cell) or "", part, cell.sheet)
            if wrong is not None and subject.number(part):
                yield fault("recompute.row-consistency flow.fcff-identity flow.nopat", cell, wrong)
                return
