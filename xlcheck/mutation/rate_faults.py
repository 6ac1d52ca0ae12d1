"""Faults in the build of the discount rate."""

from __future__ import annotations

from collections.abc import Iterator

from xlcheck.mutation.edits import reading, without_term, written
from xlcheck.mutation.subject import Mutation, Subject, fault, operator, rewritten, written_anew


@operator
def no_tax_shield(subject: Subject) -> Iterator[Mutation]:
    """The cost of debt enters the discount rate before tax."""
    before = subject.cell("pre_tax_cost_of_debt")
    cell = subject.cell("after_tax_cost_of_debt")
    if before is None or subject.cell("wacc") is None:
        return
    if cell is not None and subject.formula(cell) is not None and cell != before:
        yield fault("wacc.after-tax-debt wacc.identity", cell, f"={written(before, cell.sheet)}")
        return
    yield from rewritten(subject, "wacc", "wacc.identity wacc.after-tax-debt", without_term, "tax_rate")


@operator
def weights_above_one(subject: Subject) -> Iterator[Mutation]:
    """The capital weights sum to 110 %."""
    for role in ("weight_debt", "weight_equity"):
        cell = subject.cell(role)
        value, formula = subject.number(cell), subject.formula(cell)
        if cell is None or value is None or subject.cell("weight_equity") is None:
            continue
        content = f"={formula.removeprefix('=')}+0.1" if formula is not None else value + 0.1
        yield fault("wacc.weights-sum-to-one wacc.debt-weight", cell, content)
        return


@operator
def debt_to_equity_as_weight(subject: Subject) -> Iterator[Mutation]:
    """D/E is used where D/(D+E) belongs."""
    cell, ratio = subject.cell("weight_debt"), subject.cell("debt_to_equity")
    if cell is None or ratio is None or subject.formula(cell) is None:
        return
    if cell not in subject.paper.graph.ancestors([ratio]):  # else the fault would be a loop
        yield fault("wacc.debt-weight wacc.weights-sum-to-one", cell, f"={written(ratio, cell.sheet)}")


@operator
def capm_without_risk_free_rate(subject: Subject) -> Iterator[Mutation]:
    """The cost of equity is beta times the premium only."""
    pattern = "={beta}*{equity_risk_premium}"
    yield from written_anew(subject, "cost_of_equity", "wacc.capm", pattern, "beta", "equity_risk_premium")


@operator
def capm_with_unlevered_beta(subject: Subject) -> Iterator[Mutation]:
    """The cost of equity reads the unlevered beta."""
    other = subject.cell("unlevered_beta")
    if other is not None and other != subject.cell("beta"):
        yield from rewritten(subject, "cost_of_equity", "wacc.relevered-beta wacc.capm", reading(other), "beta")


@operator
def rate_typed_beside_its_build(subject: Subject) -> Iterator[Mutation]:
    """The discount rate is typed and no longer what its parts give."""
    cell, value = subject.cell("wacc"), subject.number(subject.cell("wacc"))
    if cell is not None and value is not None and subject.formula(cell) is not None and subject.cell("weight_debt"):
        yield fault("wacc.identity", cell, round(value * 0.8, 4))


@operator
def debt_dearer_than_equity(subject: Subject) -> Iterator[Mutation]:
    """The cost of debt exceeds the cost of equity."""
    cell, equity = subject.cell("pre_tax_cost_of_debt"), subject.number(subject.cell("cost_of_equity"))
    if cell is not None and equity is not None and subject.formula(cell) is None:
        yield fault("wacc.debt-cheaper-than-equity wacc.cost-of-debt", cell, round(equity * 1.2, 4))


@operator
def percent_typed_as_points(subject: Subject) -> Iterator[Mutation]:
    """A rate is typed a hundred times too large for the formulas that read it."""
    for role in ("terminal_growth", "risk_free_rate", "tax_rate", "wacc"):
        cell = subject.cell(role)
        value = subject.number(cell)
        if cell is not None and value is not None and subject.formula(cell) is None and 0 < value < 1:
            checks = "basis.percent-scale fatal.growth-not-below-wacc terminal.growth-range wacc.range"
            yield fault(checks, cell, value * 100)
            return
