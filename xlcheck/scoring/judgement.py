"""The score of a research judgement: what judges decide, less deductions (SCORING: research judgement).

total = max(0, Σ weight · grade − Σ points of triggered deductions).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xlcheck.errors import RubricError
from xlcheck.overrides import Override
from xlcheck.rubric import Rubric
from xlcheck.scoring.card import ScoreCard
from xlcheck.scoring.model import score
from xlcheck.verdicts import Verdict


def score_judgement(
    rubric: Rubric,
    verdicts: Iterable[Verdict],
    *,
    leak: str | None = None,
    overrides: Sequence[Override] = (),
) -> ScoreCard:
    """Score an answer from verdicts alone; open items make an interval as in a financial model.

    Raises RubricError for a rubric of another mode.
    """
    if rubric.mode != "research_judgement":
        raise RubricError(f"the rubric {rubric.id} has the mode {rubric.mode}; research_judgement is needed here")
    return score(rubric, (), verdicts, leak=leak, overrides=overrides)
