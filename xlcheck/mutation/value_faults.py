"""Faults in discounting, terminal value, bridge and value per share."""

from __future__ import annotations

from collections.abc import Iterator

from xlcheck.cells import CellRef, RangeRef
from xlcheck.mutation.edits import reading, sign_flipped, with_reference, without_term, written
from xlcheck.mutation.subject import Mutation, Subject, fault, operator, rewritten, written_anew

BRIDGE_IDENTITY = "bridge.equity-identity bridge.signs"


@operator
def debt_added(subject: Subject) -> Iterator[Mutation]:
    """Debt or net debt is added in the equity bridge."""
    yield from rewritten(subject, "equity_value", BRIDGE_IDENTITY, sign_flipped, "net_debt", "debt")


@operator
def cash_subtracted(subject: Subject) -> Iterator[Mutation]:
    """Cash is subtracted in the equity bridge."""
    yield from rewritten(subject, "equity_value", BRIDGE_IDENTITY, sign_flipped, "cash")


@operator
def minority_interest_added(subject: Subject) -> Iterator[Mutation]:
    """Minority interest is added in the equity bridge."""
    yield from rewritten(
        subject, "equity_value", BRIDGE_IDENTITY, sign_flipped, "minority_interest", "preferred_equity"
    )


@operator
def bridge_item_dropped(subject: Subject) -> Iterator[Mutation]:
    """A claim is left out of the equity bridge although its line stands there."""
    items = ("minority_interest", "lease_liabilities", "investments", "cash", "debt")
    yield from rewritten(subject, "equity_value", "bridge.completeness bridge.equity-identity", without_term, *items)


@operator
def cash_linked_to_debt(subject: Subject) -> Iterator[Mutation]:
    """The cash line of the bridge links to debt."""
    located, debt = subject.paper.roles.scalars.get("cash"), subject.cell("debt")
    cell = None if located is None else located.cell
    if cell is not None and debt is not None and subject.formula(cell) is not None and debt != subject.cell("cash"):
        yield fault("bridge.source-matches-label bridge.net-debt", cell, f"={written(debt, cell.sheet)}")


@operator
def value_per_share_off_by_a_thousand(subject: Subject) -> Iterator[Mutation]:
    """The factor between money and shares is lost."""
    cell = subject.cell("value_per_share")
    formula = subject.formula(cell)
    if cell is not None and formula is not None:
        yield fault("bridge.per-share fatal.unit-mix", cell, f"=({formula.removeprefix('=')})/1000")


@operator
def shares_entered_in_thousands(subject: Subject) -> Iterator[Mutation]:
    """The share count is a thousand times too large for the unit it is labelled with."""
    cell = subject.cell("shares")
    value = subject.number(cell)
    if cell is not None and value is not None and subject.formula(cell) is None:
        yield fault("fatal.unit-mix bridge.per-share metric.upside", cell, value * 1000, anywhere=True)


@operator
def no_shares(subject: Subject) -> Iterator[Mutation]:
    """The share count is zero or below."""
    cell = subject.cell("shares")
    if cell is not None and subject.formula(cell) is None and subject.cell("value_per_share") is not None:
        yield fault("fatal.share-count", cell, -abs(subject.number(cell) or 1.0))


@operator
def upside_turned_round(subject: Subject) -> Iterator[Mutation]:
    """Upside is price over value less one."""
    pattern = "={current_price}/{value_per_share}-1"
    yield from written_anew(subject, "upside", "bridge.upside", pattern, "current_price", "value_per_share")


@operator
def terminal_value_added_undiscounted(subject: Subject) -> Iterator[Mutation]:
    """Enterprise value adds the terminal value itself, not its present value."""
    terminal = subject.cell("terminal_value")
    checks = "terminal.discounted-once bridge.enterprise-value fatal.terminal-not-discounted"
    if terminal is not None and terminal != subject.cell("pv_terminal_value"):
        yield from rewritten(subject, "enterprise_value", checks, reading(terminal), "pv_terminal_value")


@operator
def enterprise_value_without_terminal_value(subject: Subject) -> Iterator[Mutation]:
    """Enterprise value leaves the present value of the terminal value out."""
    yield from rewritten(subject, "enterprise_value", "bridge.enterprise-value", without_term, "pv_terminal_value")


def _present_terminal(subject: Subject, pattern: str, checks: str) -> Iterator[Mutation]:
    yield from written_anew(subject, "pv_terminal_value", checks, pattern, "terminal_value", "wacc")


@operator
def terminal_value_never_discounted(subject: Subject) -> Iterator[Mutation]:
    """The present value of the terminal value is the terminal value."""
    yield from _present_terminal(subject, "={terminal_value}", "terminal.discounted-once fatal.terminal-not-discounted")


@operator
def terminal_value_discounted_twice(subject: Subject) -> Iterator[Mutation]:
    """The factor of the last year is applied twice."""
    yield from _present_terminal(subject, "=({own})*({own})/{terminal_value}", "terminal.discounted-once")


@operator
def terminal_value_one_year_too_far(subject: Subject) -> Iterator[Mutation]:
    """The terminal value is discounted one year too many."""
    yield from _present_terminal(subject, "=({own})/(1+{wacc})", "terminal.discounted-once")


def _gordon(subject: Subject, pattern: str, checks: str) -> Iterator[Mutation]:
    cell, flows = subject.cell("terminal_value"), subject.series("fcff") or subject.series("fcfe")
    if cell is None or flows is None or subject.formula(cell) is None:
        return
    rate = subject.text("wacc", cell) or subject.text("cost_of_equity", cell)
    growth = subject.text("terminal_growth", cell)
    if rate is None or growth is None or subject.cell("terminal_growth") not in subject.paper.graph.ancestors([cell]):
        return
    words = {"flow": written(flows.cells[-1], cell.sheet), "first": written(flows.cells[0], cell.sheet)}
    present = subject.series("pv_fcff")
    words["present"] = "" if present is None else written(present.cells[-1], cell.sheet)
    if "{present}" not in pattern or present is not None:
        yield fault(checks, cell, pattern.format(rate=rate, growth=growth, **words))


GORDON = "terminal.gordon-identity"


@operator
def growth_added_to_the_rate(subject: Subject) -> Iterator[Mutation]:
    """The perpetuity divides by the rate plus growth."""
    yield from _gordon(subject, "={flow}*(1+{growth})/({rate}+{growth})", GORDON)


@operator
def terminal_value_on_the_first_flow(subject: Subject) -> Iterator[Mutation]:
    """The perpetuity starts from the first forecast flow."""
    yield from _gordon(subject, "={first}*(1+{growth})/({rate}-{growth})", GORDON)


@operator
def growth_not_deducted(subject: Subject) -> Iterator[Mutation]:
    """The perpetuity of a growing flow is capitalised at the full rate."""
    yield from _gordon(subject, "={flow}*(1+{growth})/{rate}", GORDON)


@operator
def terminal_value_on_a_discounted_flow(subject: Subject) -> Iterator[Mutation]:
    """The perpetuity is built on a present value and discounted again."""
    checks = "fatal.double-discounting terminal.discounted-once terminal.gordon-identity"
    yield from _gordon(subject, "={present}*(1+{growth})/({rate}-{growth})", checks)


@operator
def terminal_value_at_cost_of_equity(subject: Subject) -> Iterator[Mutation]:
    """The flow to the firm is capitalised at the cost of equity."""
    equity = subject.cell("cost_of_equity")
    checks = "terminal.gordon-identity fatal.flow-rate-mismatch wacc.is-the-rate-used"
    if equity is not None and equity != subject.cell("wacc"):
        yield from rewritten(subject, "terminal_value", checks, reading(equity), "wacc")


@operator
def growth_above_the_rate(subject: Subject) -> Iterator[Mutation]:
    """Terminal growth exceeds the discount rate."""
    cell, rate = subject.cell("terminal_growth"), subject.number(subject.cell("wacc"))
    terminal = subject.cell("terminal_value") or subject.cell("pv_terminal_value")
    if terminal is None or cell not in subject.paper.graph.ancestors([terminal]):
        return  # no perpetuity grows by it
    if cell is not None and rate is not None and subject.formula(cell) is None:
        yield fault("fatal.growth-not-below-wacc", cell, rate + 0.005)


@operator
def exit_multiple_on_revenue(subject: Subject) -> Iterator[Mutation]:
    """The exit multiple is applied to revenue instead of EBITDA."""
    cell, revenue = subject.cell("terminal_value"), subject.series("revenue")
    multiple = None if cell is None else subject.named_in(cell, "exit_multiple")
    if cell is not None and revenue is not None and multiple is not None:
        wrong = f"={written(revenue.cells[-1], cell.sheet)}*{written(multiple, cell.sheet)}"
        yield fault("terminal.multiple-basis terminal.exit-multiple-identity", cell, wrong)


@operator
def last_year_not_in_the_sum(subject: Subject) -> Iterator[Mutation]:
    """The sum of present values stops one year short."""
    present = subject.series("pv_fcff")
    if present is None or len(present.cells) < 3:
        return
    for role in ("sum_pv_fcff", "enterprise_value"):
        cell = subject.cell(role)
        formula = subject.formula(cell)
        whole, short = _span(present.cells), _span(present.cells[:-1])
        if cell is None or formula is None or whole is None or short is None:
            continue
        if whole.address in formula:
            wrong = formula.replace(whole.address, short.address)
            yield fault("discount.pv-sum recompute.range-coverage bridge.enterprise-value", cell, wrong)
            return


def _span(cells: tuple[CellRef, ...]) -> RangeRef | None:
    rows, columns = {ref.row for ref in cells}, {ref.column for ref in cells}
    if len({ref.sheet for ref in cells}) > 1 or (len(rows) > 1 and len(columns) > 1):
        return None
    return RangeRef(cells[0].sheet, min(rows), min(columns), max(rows), max(columns))


@operator
def factors_inverted(subject: Subject) -> Iterator[Mutation]:
    """Flows are compounded instead of discounted."""
    cells = subject.formula_cells("discount_factor")
    present = subject.formula_cells("pv_fcff")
    if not cells or not present:
        return
    rows = {ref: f"=1/({(subject.formula(ref) or '').removeprefix('=')})" for ref in cells}
    yield fault("discount.factor-identity", cells[0], rows[cells[0]], dict(rows))


@operator
def one_factor_a_year_late(subject: Subject) -> Iterator[Mutation]:
    """One discount factor carries one year too many."""
    cells, rate = subject.formula_cells("discount_factor"), subject.cell("wacc")
    if len(cells) < 3 or rate is None:
        return
    cell = cells[subject.random.randrange(1, len(cells) - 1)]
    own = (subject.formula(cell) or "").removeprefix("=")
    wrong = f"=({own})/(1+{written(rate, cell.sheet)})"
    yield fault("discount.factor-identity recompute.row-consistency", cell, wrong)


@operator
def factors_at_a_typed_rate(subject: Subject) -> Iterator[Mutation]:
    """The discount factors read a typed rate, not the rate that the workbook derives."""
    cells, rate = subject.formula_cells("discount_factor"), subject.number(subject.cell("wacc"))
    if not cells or rate is None:
        return
    rows: dict[CellRef, str] = {}
    for ref in cells:
        item = subject.named_in(ref, "wacc")
        formula = subject.formula(ref) or ""
        wrong = None if item is None else with_reference(formula, item, item, ref.sheet)
        if item is None or wrong is None:
            return
        rows[ref] = wrong.replace(written(item, ref.sheet), f"{rate + 0.01:.4f}", 1)
    yield fault("wacc.is-the-rate-used discount.factor-identity", cells[0], rows[cells[0]], dict(rows))


@operator
def present_value_at_the_neighbours_factor(subject: Subject) -> Iterator[Mutation]:
    """One present value reads the factor of the year before."""
    present, factors = subject.formula_cells("pv_fcff"), subject.series("discount_factor")
    if factors is None or len(present) != len(factors.cells) or len(present) < 3:
        return
    at = subject.random.randrange(1, len(present))
    formula = subject.formula(present[at]) or ""
    wrong = with_reference(formula, factors.cells[at], factors.cells[at - 1], present[at].sheet)
    if wrong is not None:
        checks = "recompute.row-consistency basis.period-alignment discount.factor-identity discount.pv-sum"
        yield fault(checks, present[at], wrong)
