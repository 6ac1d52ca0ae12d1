"""How well a rubric tells answers apart: what each planted fault costs, and which items never decide anything.

Faults are those of `mutation`, planted one at a time in the workbook of the reference answer, which is graded again
with the reference's verdicts. Items are looked at over the answers of the calibration, the mutants, and, where there
is one, a folder of graded answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from statistics import StatisticsError, correlation
from typing import Literal, NamedTuple

import xlcheck.mutate  # noqa: F401 - declares the faults
from xlcheck.calibrate import Case, Held
from xlcheck.cells import CellRef, Frozen
from xlcheck.checking import CHECKS, Workpaper, run_checks
from xlcheck.errors import UsageError
from xlcheck.mutation.matrix import must_work, mutated, output_moved, planted_faults
from xlcheck.mutation.subject import Mutation
from xlcheck.pipeline import excel_serial, grade_with_papers
from xlcheck.quotes import memo_passages, verify, workbook_passages
from xlcheck.rubric import Rubric, load_rubric, requests
from xlcheck.scoring.card import Line, ScoreCard
from xlcheck.scoring.model import score
from xlcheck.verdicts import Verdict, load_verdicts

FEWEST = 4
"""Answers below which a correlation says nothing."""
Cost = Literal["costs", "open", "free", "harmless"]
"""`open` leaves an item undecided and costs nothing for certain; `harmless` leaves the headline as it was."""


class PlantedFault(Frozen):
    """One fault in the reference's workbook, and what the rubric takes off for it."""

    operator: str
    cell: CellRef
    content: str | None
    """What was put into the cell, as text; None for a blank."""
    drop: Decimal
    """Points that the reference certainly loses by it."""
    at_stake: Decimal
    """Further points that it leaves open."""
    cost: Cost
    items: tuple[str, ...]
    """Items that lose points by it, most first, then the fatal errors that it triggers."""
    expected: tuple[str, ...]
    """The checks made for the fault."""
    asked: tuple[str, ...]
    """Of those, the ones that the rubric runs."""


class ItemUse(Frozen):
    """What one rubric item decided over all answers looked at."""

    item: str
    title: str
    kind: Literal["program", "judge"]
    weight: Decimal
    passed: int
    """Answers with full credit."""
    failed: int
    """Answers with less, decided."""
    undecided: int
    """Answers for which it is open."""
    correlation: float | None
    """Of its credit with the points of all other items, over the graded answers; None where either does not vary."""

    @property
    def idle(self) -> str | None:
        """What it never does: ``never fails``, ``never passes``; None for an item that does both."""
        if not self.failed:
            return "never fails"
        return None if self.passed else "never passes"


class Discrimination(Frozen):
    """What a rubric tells apart."""

    rubric_id: str
    reference: str
    """Name of the answer whose workbook took the faults."""
    faults: tuple[PlantedFault, ...]
    """Free ones first, then by what they cost."""
    items: tuple[ItemUse, ...]
    """In the order of the rubric."""
    graded: int
    """Answers over which correlations were taken."""

    @property
    def killed(self) -> int:
        """Return the number of faults that cost points."""
        return sum(fault.cost == "costs" for fault in self.faults)

    @property
    def decided(self) -> int:
        """Return the number of faults that do harm."""
        return sum(fault.cost != "harmless" for fault in self.faults)

    @property
    def kill_rate(self) -> Decimal:
        """Return the share of the harmful faults that cost points, in percent; 100 where none could be planted."""
        return Decimal(100 * self.killed) / self.decided if self.decided else Decimal(100)


def discriminate(answers: Sequence[Held], folder: Path | None = None, seed: int = 0) -> Discrimination:
    """Plant faults in the reference answer and look at every item over all answers.

    `answers` are those of a calibration, one of them of the kind ``reference``; `folder` holds reports of the same
    rubric (``report.json``, at any depth), else correlations are taken over the calibration's own answers. `seed`
    fixes the cells that faults are planted in. Raises UsageError where there is no reference, no report, or one of
    another rubric.
    """
    reference = next((one for one in answers if one.case.answer.kind == "reference"), None)
    if reference is None:
        raise UsageError("no answer of the kind 'reference': there is no good workbook to plant faults in")
    rules = load_rubric(reference.case.rubric, CHECKS)
    given = list(read_cards(folder, rules)) if folder is not None else None
    trials = list(_trials(reference.case, rules, seed))
    base = next(trial.card for trial in trials if trial.mutation is None)
    asked = {request.check_id for request in requests(rules)}
    faults = [_fault(trial, base, asked) for trial in trials if trial.mutation is not None]
    first_round = [one.card for one in answers if one.case.followup is None and one.case.answer.kind != "empty"]
    graded = first_round if given is None else given
    seen = [*first_round, *(trial.card for trial in trials), *(given or ())]
    order: dict[Cost, int] = {"free": 0, "open": 1, "costs": 2, "harmless": 3}
    return Discrimination(
        rubric_id=rules.id,
        reference=reference.case.answer.name,
        faults=tuple(sorted(faults, key=lambda fault: (order[fault.cost], fault.drop))),
        items=tuple(_use(item.id, seen, graded) for item in rules.items),
        graded=len(graded),
    )


class _Trial(NamedTuple):
    """A mutant of the reference (or the reference itself, without a mutation), graded."""

    name: str
    mutation: Mutation | None
    card: ScoreCard
    harmless: bool = False


def _trials(case: Case, rules: Rubric, seed: int) -> Iterator[_Trial]:
    """Grade the reference, its values regenerated as those of the mutants are, and then each mutant."""
    paper = grade_with_papers(case.submission, case.rubric, case.verdicts).paper
    if paper is None:
        raise UsageError(f"{case.submission}: there is no workbook to plant faults in")
    must_work(paper)
    day = None if rules.valuation_date is None else excel_serial(rules.valuation_date)
    rulings = _verified(case, rules, paper)
    yield _Trial("reference", None, _card(mutated(paper, None, day), rules, rulings))
    for name, mutation in planted_faults(paper, seed):
        if mutation is not None:
            mutant = mutated(paper, mutation, day)
            harmless = not mutation.structural and not output_moved(paper, mutant)
            yield _Trial(name, mutation, _card(mutant, rules, rulings), harmless)


def _verified(case: Case, rules: Rubric, paper: Workpaper) -> tuple[Verdict, ...]:
    rulings = load_verdicts(case.verdicts, rules) if case.verdicts is not None else ()
    return verify(rulings, workbook_passages(paper.book, paper.recalc) + memo_passages(paper.memos))


def _card(paper: Workpaper, rules: Rubric, rulings: Iterable[Verdict]) -> ScoreCard:
    return score(rules, run_checks(paper, requests(rules)), rulings)


def _fault(trial: _Trial, base: ScoreCard, asked: Collection[str]) -> PlantedFault:
    assert trial.mutation is not None  # the base is no fault
    low, high = trial.card.low or Decimal(0), trial.card.high or Decimal(0)
    drop = max((base.high or Decimal(0)) - high, Decimal(0))
    at_stake = max(high - low - ((base.high or Decimal(0)) - (base.low or Decimal(0))), Decimal(0))
    cost: Cost = "costs" if drop else "harmless" if trial.harmless else "open" if at_stake else "free"
    content = trial.mutation.changes[trial.mutation.cell]
    return PlantedFault(
        operator=trial.name,
        cell=trial.mutation.cell,
        content=None if content is None else str(content),
        drop=drop,
        at_stake=at_stake,
        cost=cost,
        items=_losers(trial.card, base),
        expected=trial.mutation.checks,
        asked=tuple(check for check in trial.mutation.checks if check in asked),
    )


def _losers(card: ScoreCard, base: ScoreCard) -> tuple[str, ...]:
    """Return the items that lose more than in the base, most points first, then the fatal errors."""
    before = {line.item: line.lost for line in base.lines}
    lost = [(line.lost - before.get(line.item, Decimal(0)), line.item) for line in card.lines if line.kind != "fatal"]
    ordered = sorted((pair for pair in lost if pair[0] > 0), key=lambda pair: -pair[0])
    return (*(item for _, item in ordered), *(item for item in card.fatal if item not in base.fatal))


def read_cards(folder: Path, rules: Rubric) -> Iterator[ScoreCard]:
    """Yield the score cards of the reports under a folder; UsageError for none, or for one of another rubric."""
    from xlcheck.report.exports import read_report

    found = sorted(folder.rglob("report.json"))
    if not found:
        raise UsageError(f"{folder}: there is no report.json in it; grade answers with --out into it, or use batch")
    for path in found:
        report = read_report(path)
        if report.rubric_id != rules.id:
            raise UsageError(f"{path} is a report by the rubric {report.rubric_id!r}, not by {rules.id!r}")
        if report.score_card is not None and report.score_card.lines:
            yield report.score_card


def _use(item: str, seen: Sequence[ScoreCard], graded: Sequence[ScoreCard]) -> ItemUse:
    lines = [line for card in seen for line in card.lines if line.item == item]
    first = lines[0]
    decided = [line for line in lines if not line.open]
    return ItemUse(
        item=item,
        title=first.title,
        kind="judge" if first.kind == "judge" else "program",
        weight=first.weight,
        passed=sum(line.credit_high == 1 for line in decided),
        failed=sum(line.credit_high < 1 for line in decided),
        undecided=len(lines) - len(decided),
        correlation=item_total(item, graded),
    )


def item_total(item: str, cards: Sequence[ScoreCard]) -> float | None:
    """Return Pearson's correlation of an item's credit with the points of all other items over graded answers.

    Answers for which the item is open are left out. None below four answers, and where either does not vary.
    """
    pairs = [pair for card in cards if (pair := _item_and_rest(item, card.lines)) is not None]
    if len(pairs) < FEWEST:
        return None
    try:
        return correlation([one for one, _ in pairs], [rest for _, rest in pairs])
    except StatisticsError:
        return None


def _item_and_rest(item: str, lines: Iterable[Line]) -> tuple[float, float] | None:
    own = None
    rest = Decimal(0)
    for line in lines:
        if line.item == item:
            own = None if line.open else float(line.credit_high)
        elif line.kind in ("program", "judge"):
            rest += line.weight - line.lost
    return None if own is None else (own, float(rest))
