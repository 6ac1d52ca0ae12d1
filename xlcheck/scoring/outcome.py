"""The outcome over a set of questions (FinanceGym, arXiv 2607.27853 §3.3).

Outcome = (1/|Q|) Σ_q Σ_c score(q, c) / (4·|R(q)|), integer scores 0 to 4: every *question* weighs the same, however
many rubric items it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from xlcheck.cells import Frozen
from xlcheck.errors import UsageError
from xlcheck.scoring.card import exact


class OutcomeItem(Frozen):
    """One rubric item of a question."""

    id: str
    part: Literal["pre", "post"] | None = None
    """Whether it is about what was known before the cutoff or about what came after."""


class Outcome(Frozen):
    """The outcome of a set of questions, 0 to 1."""

    status: Literal["final", "invalid"]
    outcome: Decimal | None
    """None when invalid."""
    pre: Decimal | None
    """The same over items marked `pre` (questions without any are left out); None if there are none."""
    post: Decimal | None
    """The same over items marked `post`."""
    by_question: dict[str, Decimal]
    """Question to its own share, 0 to 1."""
    reason: str | None = None
    """For invalid: the questions whose run leaked."""


def outcome(
    questions: Mapping[str, Sequence[OutcomeItem]],
    scores: Mapping[str, Mapping[str, int]],
    leaked: Sequence[str] = (),
) -> Outcome:
    """Return the outcome of scores by question and item; one leaking question makes the whole invalid.

    Raises UsageError naming what is missing, unknown, or no whole number from 0 to 4.
    """
    _complete(questions, scores)
    shares = {name: _share(items, scores[name]) for name, items in questions.items()}
    figures = {
        "by_question": {name: exact(share) for name, share in shares.items() if share is not None},
        "pre": _mean([_share([i for i in items if i.part == "pre"], scores[q]) for q, items in questions.items()]),
        "post": _mean([_share([i for i in items if i.part == "post"], scores[q]) for q, items in questions.items()]),
        "outcome": _mean(list(shares.values())),
    }
    if not leaked:
        return Outcome(status="final", **figures)
    reason = f"evidence later than the cutoff was used in {', '.join(leaked)}"
    return Outcome(status="invalid", reason=reason, **{**figures, "outcome": None, "pre": None, "post": None})


def _complete(questions: Mapping[str, Sequence[OutcomeItem]], scores: Mapping[str, Mapping[str, int]]) -> None:
    if not questions:
        raise UsageError("the set has no questions")
    for name in scores:
        if name not in questions:
            raise UsageError(f"{name!r} is no question of the set; it has {', '.join(questions)}")
    for name, items in questions.items():
        if not items:
            raise UsageError(f"question {name}: it has no rubric items")
        if name not in scores:
            raise UsageError(f"question {name}: its scores are missing")
        _complete_question(name, [item.id for item in items], scores[name])


def _complete_question(name: str, wanted: Sequence[str], scores: Mapping[str, int]) -> None:
    if len(set(wanted)) < len(wanted):
        raise UsageError(f"question {name}: an item id stands twice in {', '.join(wanted)}")
    for item in (*wanted, *scores):
        if item not in wanted:
            raise UsageError(f"question {name}: {item!r} is no item of it; it has {', '.join(wanted)}")
        if item not in scores:
            raise UsageError(f"question {name}: the score of item {item} is missing")
        value = scores[item]
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 4:
            raise UsageError(f"question {name}, item {item}: found {value!r}; write a whole number from 0 to 4")


def _share(items: Sequence[OutcomeItem], scores: Mapping[str, int]) -> Fraction | None:
    return Fraction(sum(scores[item.id] for item in items), 4 * len(items)) if items else None


def _mean(shares: Sequence[Fraction | None]) -> Decimal | None:
    known = [share for share in shares if share is not None]
    return exact(sum(known, Fraction(0)) / len(known)) if known else None
