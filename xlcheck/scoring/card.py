"""The score card: one line for every item, every number an exact decimal."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Literal

from xlcheck.cells import Frozen
from xlcheck.overrides import Override
from xlcheck.verdicts import Quote

LineKind = Literal["program", "judge", "deduction", "fatal"]
CardStatus = Literal["final", "provisional", "invalid", "ungradable"]


class Overruled(Frozen):
    """A person's word on a line, and what was decided before."""

    override: Override
    was_low: Decimal
    """Credit before, with everything open at its worst."""
    was_high: Decimal
    """Credit before, with everything open at its best."""
    was_reason: str | None
    """What the line's `reason` was."""


class Line(Frozen):
    """What one rubric item, deduction or fatal rule came to."""

    item: str
    """Id in the rubric."""
    kind: LineKind
    title: str
    weight: Decimal
    """Points it carries, after weight taken over from skipped items of its group; 0 for a fatal rule."""
    credit_low: Decimal
    """0 to 1, with everything open taken at its worst; for a deduction or fatal rule 0 means triggered."""
    credit_high: Decimal
    """0 to 1, with everything open taken at its best."""
    lost: Decimal
    """Points certainly lost: weight × (1 − credit_high)."""
    at_stake: Decimal
    """Points that are open: weight × (credit_high − credit_low)."""
    open: bool = False
    """True where it cannot be decided yet."""
    check: str | None = None
    """Id of the check that decided it; None where a judge does."""
    stage: str | None = None
    dimension: str | None = None
    cell: str | None = None
    """Where to look: ``Sheet name!A1``."""
    found: float | str | None = None
    """The recomputed value there."""
    expected: float | str | None = None
    """What would be right."""
    message: str | None = None
    """The finding or the judge's reason, in one sentence."""
    reason: str | None = None
    """Why it is open, skipped, absent or credited in spite of a finding."""
    quotes: tuple[Quote, ...] = ()
    """What the judge quoted, and whether it was found."""
    overruled: Overruled | None = None
    """Set where a person changed the result; message, cell and quotes stay those of the original."""


class Sums(Frozen):
    """The parts of a total at one end of the interval, in points."""

    program: Decimal
    judged: Decimal
    deducted: Decimal
    raw: Decimal
    """program + judged − deducted, neither clamped nor capped."""
    uncapped: Decimal
    """raw between 0 and 100: the total without any fatal error."""


class ScoreCard(Frozen):
    """A score as an interval of 0 to 100 points; both ends are one number when `status` is final.

    JSON writes every decimal as a string. A repeating decimal (weight spread over three items) is rounded
    half up at the sixth place here, at the very end; nothing before that is rounded.
    """

    low: Decimal | None
    """With everything open at its worst; None if invalid, or ungradable without a stated score."""
    high: Decimal | None
    """With everything open at its best."""
    status: CardStatus
    headline: int | None
    """The whole number to show (half up); None unless both ends round to the same."""
    score: Decimal | None
    """The one number: `low` when final, the end that the rubric's `open_scores` names when provisional, else None."""
    lines: tuple[Line, ...]
    program: Decimal
    """Points from checks, at the low end."""
    judged: Decimal
    """Points from the judge, at the low end."""
    deducted: Decimal
    """Points taken off, at the low end."""
    raw: Decimal
    """program + judged − deducted, at the low end."""
    cap: Decimal
    """The most points an answer with a fatal error can have."""
    fatal: tuple[str, ...]
    """Ids of the fatal errors found; open ones stand in `open_items`."""
    uncapped: Decimal
    """What the low end would be without fatal errors."""
    best: Sums | None = None
    """The same sums at the high end; None when final."""
    open_items: tuple[str, ...] = ()
    """Ids of everything that is not decided."""
    overruled: tuple[str, ...] = ()
    """Ids of everything that a person changed."""
    reason: str | None = None
    """Why it is empty, invalid or ungradable."""


def exact(value: Fraction) -> Decimal:
    """Return a rational as a decimal of at most six places, half up, without trailing zeros."""
    with localcontext() as context:
        context.prec = 60
        rounded = (Decimal(value.numerator * 10**6) / Decimal(value.denominator)).quantize(Decimal(1), ROUND_HALF_UP)
        plain = rounded.scaleb(-6).normalize()
        return plain.quantize(Decimal(1)) if plain == plain.to_integral_value() else plain


def half_up(value: Fraction | Decimal) -> int:
    """Return the nearest whole number, halves upward (scores are never negative)."""
    return int(Fraction(value) + Fraction(1, 2))


class Lost(Frozen):
    """Points lost under one heading."""

    lost: Decimal
    """Certainly lost."""
    at_stake: Decimal
    """Open."""


def lost_points(cards: Iterable[ScoreCard], by: Literal["stage", "dimension"]) -> dict[str, Lost]:
    """Total the points lost by stage or dimension over one or many cards; lines without one stand under ``(none)``."""
    totals: dict[str, tuple[Decimal, Decimal]] = {}
    for card in cards:
        for line in card.lines:
            heading = (line.stage if by == "stage" else line.dimension) or "(none)"
            lost, at_stake = totals.get(heading, (Decimal(0), Decimal(0)))
            totals[heading] = (lost + line.lost, at_stake + line.at_stake)
    return {
        heading: Lost(lost=lost, at_stake=at_stake)
        for heading, (lost, at_stake) in sorted(totals.items())
        if lost or at_stake
    }
