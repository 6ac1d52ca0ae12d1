"""What the verdicts of one or several judges come to on one item, after their quotes are looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from xlcheck.verdicts import Verdict

UnverifiedQuote = Literal["open", "fail", "accept"]


class Decision(NamedTuple):
    """An interval of credit (0 to 1); for deductions and fatal errors credit 0 means triggered."""

    low: Fraction
    high: Fraction
    reason: str | None = None
    """Why it is open, or why the verdict did not count as given."""
    verdict: Verdict | None = None
    """The verdict that stands for it (the first of the majority)."""

    @property
    def open(self) -> bool:
        """Say whether it is undecided."""
        return self.low != self.high


UNDECIDED = Decision(Fraction(0), Fraction(1), "no verdict")


def decide(verdicts: Sequence[Verdict], quote_required: bool, unverified: UnverifiedQuote) -> Decision:
    """Return what the verdicts on one item come to: more than half decides, anything else is open."""
    if not verdicts:
        return UNDECIDED
    votes = [_vote(verdict, quote_required, unverified) for verdict in verdicts]
    if len(votes) == 1:
        return votes[0]
    settled = Counter(vote.low for vote in votes if not vote.open)
    credit, count = settled.most_common(1)[0] if settled else (Fraction(0), 0)
    if 2 * count > len(votes):
        return next(vote for vote in votes if not vote.open and vote.low == credit)
    low, high = min(vote.low for vote in votes), max(vote.high for vote in votes)
    return Decision(low, high, f"{len(votes)} verdicts and no majority", votes[0].verdict)


def _vote(verdict: Verdict, quote_required: bool, unverified: UnverifiedQuote) -> Decision:
    credit = _credit(verdict)
    problem = _quote_problem(verdict) if quote_required and _needs_quote(verdict) else None
    if problem is None:
        return Decision(credit, credit, None, verdict)
    if unverified == "accept":
        return Decision(credit, credit, f"{problem}; the rubric accepts that", verdict)
    if unverified == "fail":
        worst = Fraction(0) if verdict.triggered is None else Fraction(1)
        return Decision(worst, worst, f"{problem}, so it is not credited", verdict)
    high = Fraction(1) if verdict.triggered is not None or not credit else credit
    return Decision(Fraction(0), high, problem, verdict)


def _credit(verdict: Verdict) -> Fraction:
    if verdict.triggered is not None:
        return Fraction(0 if verdict.triggered else 1)
    if verdict.grade is not None:
        return Fraction(verdict.grade, 4)
    return Fraction(1 if verdict.verdict == "pass" else 0)


def _needs_quote(verdict: Verdict) -> bool:
    """Say whether the decision claims something; a thing that did not happen or is missing has no words to quote."""
    return verdict.triggered is not False and not verdict.absent


def _quote_problem(verdict: Verdict) -> str | None:
    if not verdict.quotes:
        return "the required quote is missing"
    for quote in verdict.quotes:
        if quote.found is None:
            return f"the quote {_short(quote.text)} could not be looked up in everything that was handed in"
        if quote.found == "not_found":
            return f"the quote {_short(quote.text)} was not found in what was handed in"
    return None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= 60 else line[:57] + "…")


def by_item(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Group verdicts by the id they decide, in order."""
    grouped: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        grouped.setdefault(verdict.item, []).append(verdict)
    return grouped
