"""What a judge is asked: the items, deductions and fatal errors of a rubric that no check decides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from xlcheck.cells import Frozen
from xlcheck.checking import CHECKS, CheckResult, Finding
from xlcheck.rubric import Deduction, JudgeItem, Rubric

GRADER_HELD = frozenset({"actuals"})
"""What checks read that no packet may show: published after the fact, held by the grader."""


class Shown(Frozen):
    """A finding of the program that bears on an item."""

    check_id: str
    finding: Finding


class Asked(Frozen):
    """One thing that a judge decides."""

    id: str
    kind: Literal["item", "deduction", "fatal error"]
    answer: Literal["verdict", "grade", "triggered"]
    """The key under which the decision is given."""
    title: str = ""
    pass_if: str | None = None
    fail_if: str | None = None
    when: str | None = None
    """For a deduction or a fatal error: what triggers it."""
    quote_required: bool = False
    findings: tuple[Shown, ...] = ()


def asked(rubric: Rubric, results: Sequence[CheckResult] = ()) -> tuple[Asked, ...]:
    """Return everything that a judge decides by a rubric, with the findings that bear on it; no weights."""
    items = [
        Asked(
            id=item.id,
            kind="item",
            answer="grade" if item.scale == "0-4" else "verdict",
            title=item.title or rubric.questions.get(item.question or "", ""),
            pass_if=item.pass_if,
            fail_if=item.fail_if,
            quote_required=item.quote == "required",
            findings=_bearing(item, rubric, results),
        )
        for item in rubric.judge
    ]
    items += [
        Asked(
            id=item.id,
            kind="deduction",
            answer="triggered",
            when=item.when,
            quote_required=item.quote == "required",
            findings=_bearing(item, rubric, results),
        )
        for item in rubric.deductions
    ]
    fatal = [
        Asked(id=rule.key, kind="fatal error", answer="triggered", when=rule.judge,
              quote_required=rule.quote == "required")
        for rule in rubric.fatal
        if rule.judge
    ]  # fmt: skip
    return (*items, *fatal)


def _bearing(item: JudgeItem | Deduction, rubric: Rubric, results: Iterable[CheckResult]) -> tuple[Shown, ...]:
    """Return the findings of the checks that an item names, else of the program items of its dimension."""
    alike = {other.check for other in rubric.program if item.dimension and other.dimension == item.dimension}
    return tuple(
        Shown(check_id=result.check_id, finding=finding)
        for result in results
        if _named(result.check_id, item.findings) or (not item.findings and result.check_id in alike)
        if result.status in ("fail", "partial") and not CHECKS[result.check_id].whole & GRADER_HELD
        for finding in result.findings
    )


def _named(check_id: str, names: Iterable[str]) -> bool:
    return any(check_id == name or check_id.startswith(f"{name}.") for name in names)
