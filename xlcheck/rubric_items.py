"""The entries of a rubric file: what a check or a judge decides, and what each is worth."""

from __future__ import annotations

from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from xlcheck.cells import CellRef, Frozen, RangeRef
from xlcheck.checking import Severity
from xlcheck.yamltext import MisfitError

Stage = Literal["assumption", "derivation", "verification"]
Quoting = Literal["required", "optional"]

Id = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9._-]*$", max_length=80)]
Text = Annotated[str, Field(min_length=1)]
Points = Annotated[Decimal, Field(gt=0, le=100, max_digits=9, decimal_places=6)]
"""A weight or a deduction, in points of 100, exact."""
Share = Annotated[Decimal, Field(ge=0, le=1, decimal_places=6)]
Score = Annotated[Decimal, Field(ge=0, le=100, decimal_places=6)]


def _parameter(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value in ("true", "false"):
        return value == "true"
    try:
        number = Decimal(value)
    except InvalidOperation:
        return value
    return number if number.is_finite() else value


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    return RangeRef.parse(value) if ":" in value.rpartition("!")[2] else CellRef.parse(value)


Parameter = Annotated[Decimal | bool | str, BeforeValidator(_parameter)]
"""A rate is a decimal (0.085); several words are one text, separated by commas."""
Place = Annotated[CellRef | RangeRef, BeforeValidator(_cell)]


class Basis(Frozen):
    """The basis on which the task wants money stated."""

    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    """ISO 4217 code."""
    unit: Annotated[Decimal, Field(gt=0)]
    """Size of one unit of money: 1000000 for millions."""


class Price(Frozen):
    """The market price that the task gives."""

    value: Annotated[Decimal, Field(gt=0)]
    """Per share, in the currency of the basis."""
    as_of: date
    """The day whose price it is; not later than the cutoff."""
    tolerance: Annotated[Decimal, Field(ge=0)] = Decimal("0.005")
    """How far the price in a workbook may lie from it, in the same unit; half a cent unless stated."""


class ProgramItem(Frozen):
    """A rubric item that a check decides."""

    id: Id
    check: Id
    """Check id, as `xlcheck checks` lists them."""
    weight: Points
    group: str | None = None
    """Items of one group take over each other's weight where `when_absent` is skip."""
    stage: Stage | None = None
    dimension: str | None = None
    when_absent: Literal["fail", "skip"] = "fail"
    """What a workbook without any candidate for the check means: no credit, or the weight goes to its group."""
    severity: Severity | None = None
    """Overrides the check's own."""
    params: dict[str, Parameter] = Field(default={})
    """What the check is told: ``low``, ``high``, …"""
    title: str | None = None
    """For people; the check id stands in where it is missing."""


def _outcome_leaves_out(schema: dict[str, Any]) -> None:
    schema["required"] = [name for name in schema["required"] if name not in ("dimension", "weight")]


class JudgeItem(Frozen):
    """A rubric item that a judge decides."""

    model_config = ConfigDict(json_schema_extra=_outcome_leaves_out)

    id: Id
    dimension: str
    """The quality it belongs to, by which lost points are totalled; in the mode `outcome` its question if left out."""
    stage: Stage | None = None
    weight: Points
    """Points of 100; in the mode `outcome` it is left out, as each question weighs the same."""
    pass_if: Text
    fail_if: Text | None = None
    quote: Quoting = "optional"
    """Whether a decision counts only with a quote that stands in the submission."""
    scale: Literal["pass-fail", "0-4"] = "pass-fail"
    """With 0-4 the judge gives a grade, credited as grade/4."""
    title: str | None = None
    """For people; `pass_if` stands in where it is missing."""
    findings: tuple[Id, ...] = ()
    """Checks, or families of them such as `bridge`, whose findings the judge is shown; else those of its dimension."""
    question: Id | None = None
    """The question it belongs to; for the mode `outcome`, and only there."""
    part: Literal["pre", "post"] | None = None
    """In the mode `outcome`: about what was known before the cutoff, or about what came after."""
    challenge: Id | None = None
    """In a follow-up round: the challenge whose answer it judges."""


class Deduction(Frozen):
    """Points taken off where a judge (or a point-in-time leak) triggers it."""

    id: Id
    points: Points
    when: Text
    stage: Stage | None = None
    dimension: str | None = None
    quote: Quoting = "optional"
    findings: tuple[Id, ...] = ()
    """Checks, or families of them such as `bridge`, whose findings the judge is shown; else those of its dimension."""
    leak: bool = False
    """True for the deduction that evidence dated after the cutoff triggers under `on_leak: deduct`."""


class FatalRule(Frozen):
    """A fatal error: either a check by id, or a condition that a judge decides."""

    id: Id | None = None
    check: Id | None = None
    judge: Text | None = None
    """The condition, in words."""
    params: dict[str, Parameter] = Field(default={})
    """What the check is told."""
    quote: Quoting = "optional"

    @model_validator(mode="after")
    def _one_of_two(self) -> FatalRule:
        if (self.check is None) == (self.judge is None):
            raise MisfitError((), "a fatal rule has either 'check' or 'judge'")
        if self.judge is not None and self.id is None:
            raise MisfitError((), "the key 'id' is missing: a fatal error decided by a judge needs one for its verdict")
        return self

    @property
    def key(self) -> str:
        """The id that results and verdicts use: `id`, else the check id."""
        return self.id or self.check or ""
