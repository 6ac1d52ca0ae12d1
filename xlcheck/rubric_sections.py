"""Sections of a rubric file beside its items: evidence, the second round, forecasts."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from xlcheck.cells import Frozen
from xlcheck.followup import Challenge, Information
from xlcheck.rubric_items import Deduction, FatalRule, JudgeItem, ProgramItem, Share

FileName = Annotated[str, Field(min_length=1, pattern=r"^[^/\\].*$")]
"""A file of the task: beside the rubric file, or in ``fixtures/<rubric id>`` for a bundled rubric."""


class EvidenceRule(Frozen):
    """What an answer may rest on."""

    pack: FileName | None = None
    """The evidence pack (``pack.yaml``); None where `grade --evidence` names one or the task has none."""
    closed: bool = True
    """True where every source has to come from the pack; false allows others."""


class FollowUp(Frozen):
    """The second round: a rubric of its own, of 100 points, on a second workbook compared with the first."""

    information: tuple[Information, ...] = ()
    """What is new since the first round."""
    challenges: tuple[Challenge, ...] = ()
    """Objections, sound and false."""
    cutoff: date | None = None
    """Evidence published later is a leak in the second round; None for no cutoff there, as the news is later."""
    program_share: tuple[Share, Share] = (Decimal(0), Decimal(1))
    """Lowest and highest share of the round's points that checks may decide."""
    program: tuple[ProgramItem, ...] = ()
    """Items that checks decide, on the second workbook."""
    judge: tuple[JudgeItem, ...] = ()
    """Items that a judge decides; those on a challenge name it."""
    deductions: tuple[Deduction, ...] = ()
    """What takes points off in the second round."""
    fatal: tuple[FatalRule, ...] = ()
    """What caps the total of the second round."""


class ForecastTask(Frozen):
    """What a quantile forecast is measured against."""

    baseline_wis: Annotated[Decimal, Field(gt=0)]
    """Weighted interval score of the naive forecast (score 0), in the unit of the outcome."""
    reference_wis: Annotated[Decimal, Field(ge=0)]
    """Weighted interval score of the reference forecast (score 100); below the baseline's."""
    quantiles: tuple[Annotated[Decimal, Field(gt=0, lt=1)], ...]
    """Levels, rising and symmetric about 0.5."""
    horizons: tuple[Annotated[int, Field(ge=1)], ...] = (1,)
    """Days ahead."""
    lag_days: Annotated[int, Field(ge=1)] = 2
    """A forecast for day t rests on amounts until day t − this."""
    outcomes: FileName | None = None
    """What came true (CSV or Parquet with ``day`` and ``value``), held by the grader."""
