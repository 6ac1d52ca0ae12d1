"""Quantile forecasts: pinball loss and the weighted interval score (Bracher, Ray, Gneiting, Reich 2021).

WIS = (½·|y − m| + Σ_k (α_k/2)·IS_{α_k}) / (K + ½) over K central intervals and the median m, which equals twice
the mean pinball loss over all 2K + 1 levels. Losses are in the unit of the outcome; lower is better.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

from xlcheck.cells import Frozen
from xlcheck.errors import UsageError
from xlcheck.rubric_sections import ForecastTask
from xlcheck.scoring.card import exact

Number = int | float | Decimal | Fraction


class Forecast(Frozen):
    """The quantiles forecast for one day."""

    day: date
    """The day forecast."""
    horizon: int = 1
    """Days ahead."""
    quantiles: dict[Decimal, Decimal]
    """Level (0 to 1) to value."""
    data_until: date | None = None
    """The last day whose amounts were used, at least `lag_days` of the task before `day`. None if not recorded."""


class ForecastScore(Frozen):
    """The score of a set of quantile forecasts."""

    score: Decimal
    """0 to 100: the baseline scores 0, the reference 100."""
    wis: Decimal
    """Mean weighted interval score over all days and horizons."""
    by_horizon: dict[int, Decimal]
    """Mean weighted interval score by days ahead."""
    days: int
    """Forecasts scored."""


def rational(value: Number, what: str) -> Fraction:
    """Return a finite number as a rational; UsageError for NaN, infinity or no number."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction) or not math.isfinite(value):
        raise UsageError(f"{what} is {value!r}; a finite number is expected")
    return Fraction(value)


def pinball(level: Fraction, error: Fraction) -> Fraction:
    """Return the pinball loss of `error` = outcome − quantile at one level."""
    return error * level if error >= 0 else error * (level - 1)


def interval_score(alpha: Fraction, lower: Fraction, upper: Fraction, outcome: Fraction) -> Fraction:
    """Return IS_α: width, plus 2/α times the distance by which the outcome lies outside."""
    outside = max(lower - outcome, outcome - upper, Fraction(0))
    return upper - lower + 2 / alpha * outside


def wis(quantiles: Mapping[Decimal, Number], outcome: Number, what: str = "the forecast") -> Fraction:
    """Return the weighted interval score of one forecast, in the unit of the outcome.

    Raises UsageError where levels are not symmetric about a median, quantiles cross, or a number is not finite.
    """
    levels = sorted(quantiles)
    values = [rational(quantiles[level], f"{what}: the quantile {level}") for level in levels]
    observed = rational(outcome, f"{what}: the outcome")
    _check_levels(levels, what)
    for below, above, low, high in zip(values, values[1:], levels, levels[1:], strict=False):
        if below > above:
            raise UsageError(
                f"{what}: the quantiles cross: {exact(below)} at {low} lies above {exact(above)} at {high}"
            )
    count = len(levels) // 2
    total = abs(observed - values[count]) / 2
    for k in range(count):
        alpha = 2 * Fraction(levels[k])
        total += alpha / 2 * interval_score(alpha, values[k], values[-1 - k], observed)
    return total / (count + Fraction(1, 2))


def _check_levels(levels: Sequence[Decimal], what: str) -> None:
    if not levels or levels[0] <= 0 or levels[-1] >= 1:
        raise UsageError(f"{what}: the levels {_listed(levels)} must lie between 0 and 1")
    if any(low + high != 1 for low, high in zip(levels, reversed(levels), strict=True)) or len(levels) % 2 == 0:
        raise UsageError(f"{what}: the levels {_listed(levels)} must lie symmetrically about a median of 0.5")


def _listed(levels: Sequence[Decimal]) -> str:
    return ", ".join(map(str, levels)) or "(none)"


def scaled(value: Fraction, baseline: Number, reference: Number) -> Fraction:
    """Return 100 · (baseline − WIS) / (baseline − reference), between 0 and 100.

    Raises UsageError unless the reference lies below the baseline.
    """
    worst, best = rational(baseline, "the baseline WIS"), rational(reference, "the reference WIS")
    if best >= worst:
        raise UsageError(f"the reference WIS {reference} must lie below the baseline WIS {baseline}")
    return max(Fraction(0), min(Fraction(100), 100 * (worst - value) / (worst - best)))


def score_forecasts(
    forecasts: Sequence[Forecast], outcomes: Mapping[date, Number], task: ForecastTask
) -> ForecastScore:
    """Score forecasts for every day with an outcome, at every horizon of the task.

    Raises UsageError for a missing or doubled day, other levels than asked for, crossing quantiles, or data used
    that is younger than the task allows.
    """
    if not outcomes:
        raise UsageError("there is no day with an outcome to score against")
    by_key: dict[tuple[date, int], Forecast] = {}
    for forecast in forecasts:
        key = (forecast.day, forecast.horizon)
        if key in by_key:
            raise UsageError(f"{_what(*key)} stands there twice")
        by_key[key] = forecast
    unasked = [key for key in by_key if key[0] not in outcomes or key[1] not in task.horizons]
    if unasked:
        raise UsageError(f"{_what(*unasked[0])} was not asked for")
    losses = {
        horizon: [_loss(by_key, day, horizon, outcomes[day], task) for day in outcomes] for horizon in task.horizons
    }
    every = [loss for found in losses.values() for loss in found]
    mean = sum(every, Fraction(0)) / len(every)
    return ForecastScore(
        score=exact(scaled(mean, task.baseline_wis, task.reference_wis)),
        wis=exact(mean),
        by_horizon={horizon: exact(sum(found, Fraction(0)) / len(found)) for horizon, found in losses.items()},
        days=len(every),
    )


def _loss(
    forecasts: Mapping[tuple[date, int], Forecast], day: date, horizon: int, outcome: Number, task: ForecastTask
) -> Fraction:
    what, levels, last = _what(day, horizon), task.quantiles, day - timedelta(days=task.lag_days)
    forecast = forecasts.get((day, horizon))
    if forecast is None:
        raise UsageError(f"{what} is missing")
    if sorted(forecast.quantiles) != sorted(levels):
        raise UsageError(f"{what} has the levels {_listed(sorted(forecast.quantiles))}; asked for {_listed(levels)}")
    if forecast.data_until is not None and forecast.data_until > last:
        raise UsageError(f"{what} uses amounts of {forecast.data_until}; only those until {last} may be used")
    return wis(forecast.quantiles, outcome, what)


def _what(day: date, horizon: int) -> str:
    return f"the forecast for {day}, {horizon} day{'s' if horizon > 1 else ''} ahead,"
