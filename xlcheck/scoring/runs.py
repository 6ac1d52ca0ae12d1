"""Many runs of one task: never the mean alone."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from statistics import median

from pydantic import Field

from xlcheck.cells import Frozen
from xlcheck.errors import UsageError
from xlcheck.scoring.card import ScoreCard, exact

RESAMPLES = 10_000


class Runs(Frozen):
    """The scores of several runs, in points."""

    n: int
    mean: Decimal
    median: Decimal
    min: Decimal
    max: Decimal
    standard_deviation: float | None
    """Of the sample (n − 1); None for a single run."""
    interval: tuple[float, float] | None
    """Bootstrap 95 % interval of the mean (percentiles of 10,000 seeded resamples); None for a single run."""
    flips: dict[str, float] = Field(default={})
    """Item to the share of run pairs that disagree on it; only items that are decided in every run."""
    left_out: dict[str, str] = Field(default={})
    """Run to the reason why it has no score (invalid, ungradable, provisional): stated, never averaged."""


def summarise(scores: Sequence[Decimal | int | float | Fraction], seed: int = 0) -> Runs:
    """Summarise the scores of runs; UsageError where there are none or one is not finite."""
    if not scores:
        raise UsageError("there is no run with a score to summarise")
    for value in scores:
        if not math.isfinite(value):
            raise UsageError(f"a run's score is {value!r}; a finite number is expected")
    points = [Fraction(value) for value in scores]
    mean = sum(points, Fraction(0)) / len(points)
    spread = None
    if len(points) > 1:
        spread = math.sqrt(sum((value - mean) ** 2 for value in points) / (len(points) - 1))
    return Runs(
        n=len(points),
        mean=exact(mean),
        median=exact(Fraction(median(points))),
        min=exact(min(points)),
        max=exact(max(points)),
        standard_deviation=spread,
        interval=bootstrap_interval([float(value) for value in points], seed) if len(points) > 1 else None,
    )


def bootstrap_interval(values: Sequence[float], seed: int = 0, resamples: int = RESAMPLES) -> tuple[float, float]:
    """Return the 2.5 % and 97.5 % percentiles of the means of seeded resamples: same input, same interval."""
    generator = random.Random(seed)  # noqa: S311 - resampling, no secret
    size = len(values)
    means = sorted(math.fsum(generator.choices(values, k=size)) / size for _ in range(resamples))
    return _percentile(means, 0.025), _percentile(means, 0.975)


def _percentile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def summarise_cards(cards: Mapping[str, ScoreCard], seed: int = 0) -> Runs:
    """Summarise the score cards of runs by name; runs without one number are named in `left_out`.

    Raises UsageError where no run has a score.
    """
    scored = {name: card.score for name, card in cards.items() if card.score is not None}
    if not scored:
        raise UsageError(f"none of the {len(cards)} runs has a score to summarise")
    left_out = {name: card.reason or card.status for name, card in cards.items() if card.score is None}
    flips = _flips([card for name, card in cards.items() if name in scored])
    return summarise(list(scored.values()), seed).model_copy(update={"flips": flips, "left_out": left_out})


def _flips(cards: Sequence[ScoreCard]) -> dict[str, float]:
    given: dict[str, list[Decimal]] = {}
    for card in cards:
        for line in card.lines:
            if not line.open:
                given.setdefault(line.item, []).append(line.credit_low)
    pairs = len(cards) * (len(cards) - 1) // 2
    flips = {}
    for item, found in given.items():
        if pairs and len(found) == len(cards):
            agreeing = sum(found.count(value) * (found.count(value) - 1) // 2 for value in set(found))
            flips[item] = (pairs - agreeing) / pairs
    return flips
