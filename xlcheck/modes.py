"""Grading in the modes without a financial model: judgement, quantile forecast, outcome over questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from xlcheck.checking import CheckResult, Request, Workpaper, run_checks
from xlcheck.checks.instructions import CHECK_ID
from xlcheck.citations import leak_in
from xlcheck.errors import SubmissionError, UsageError
from xlcheck.evidence import Evidence
from xlcheck.intake import MEMO_SUFFIXES, find_workbook
from xlcheck.memo import Memo, read_memo
from xlcheck.overrides import Override
from xlcheck.recompute import Recalc
from xlcheck.roles import Roles
from xlcheck.rubric import Rubric
from xlcheck.rubric_sections import ForecastTask
from xlcheck.scoring.card import ScoreCard
from xlcheck.scoring.forecast import Forecast, ForecastScore
from xlcheck.scoring.outcome import Outcome, OutcomeItem
from xlcheck.tabular import SUFFIXES, Row, read_table
from xlcheck.taskfiles import day_of, number_of
from xlcheck.verdicts import Verdict
from xlcheck.workbook import Book

if TYPE_CHECKING:
    from xlcheck.quotes import Passages
    from xlcheck.scoring.decisions import Decision

_DIGITS = 9
"""Most digits of a whole number in a table."""


class Marked(NamedTuple):
    """What a mode comes to."""

    card: ScoreCard
    forecast: ForecastScore | None = None
    outcome: Outcome | None = None
    results: tuple[CheckResult, ...] = ()
    """Of the checks that run on any answer; they warn and change no score."""


class _Answer(NamedTuple):
    memos: tuple[Memo, ...]
    recalc: Recalc | None
    """Of a workbook beside the memos."""

    def passages(self) -> Passages:
        """Return everything that was handed in, to look quotes up in."""
        from xlcheck.quotes import memo_passages, workbook_passages

        found = memo_passages(self.memos)
        return found if self.recalc is None else found + workbook_passages(self.recalc.book, self.recalc)


def judged(
    rules: Rubric,
    submission: Path,
    verdicts: Iterable[Verdict],
    evidence: Evidence | None,
    changed: Sequence[Override] = (),
) -> Marked:
    """Score a written answer (a memo file, or a folder of them) by verdicts alone, some `changed` by a person.

    Raises UsageError for a path that does not exist, SubmissionError for a workbook beside it that cannot be read.
    """
    from xlcheck.quotes import verify
    from xlcheck.scoring.judgement import score_judgement
    from xlcheck.scoring.model import empty_card

    answer = _answer(submission, rules)
    passages = answer.passages()
    if not passages.unread and not any(text.strip() for text in passages.texts):
        return Marked(empty_card(rules, f"{submission.name}: there is nothing to read in it"))
    leak = leak_in(answer.recalc, answer.memos, evidence)
    card = score_judgement(rules, verify(verdicts, passages), leak=leak, overrides=changed)
    return Marked(card, results=warned(answer.memos, answer.recalc))


def warned(memos: tuple[Memo, ...], recalc: Recalc | None = None) -> tuple[CheckResult, ...]:
    """Run the checks that need no model on a written answer, with the workbook beside it if there is one."""
    from xlcheck.recompute import recompute

    recalc = recalc or recompute(Book("", "", ()))
    nowhere = Roles(scalars={}, series={}, ambiguous={})
    paper = Workpaper(recalc.book, recalc, recalc.graph, nowhere, memos)
    return run_checks(paper, [Request(CHECK_ID, severity="warn")])


def _answer(submission: Path, rules: Rubric) -> _Answer:
    from xlcheck.recompute import recompute
    from xlcheck.workbook import load

    if submission.is_file() and submission.suffix.lower() in MEMO_SUFFIXES:
        return _Answer((read_memo(submission),), None)
    found = find_workbook(submission, rules.submission)
    recalc = recompute(load(found.workbook)) if found.workbook is not None else None
    return _Answer(tuple(read_memo(path) for path in found.memos), recalc)


def forecast(rules: Rubric, submission: Path, outcomes: dict[date, Decimal]) -> Marked:
    """Score a table of quantile forecasts with the columns ``day, horizon, level, value, data_until``, ``made_at``.

    A forecast that rests on amounts later than allowed makes the run invalid. Raises SubmissionError for a table that
    is incomplete or has crossing quantiles, UsageError for a path that does not exist.
    """
    from xlcheck.scoring.forecast import score_forecasts
    from xlcheck.scoring.model import total, without_total
    from xlcheck.scoring.parts import blank, part

    task = rules.forecast
    assert task is not None  # the rubric of this mode has one
    path = _table(submission, rules)
    found = _forecasts(path)
    late = [one for one in found if _is_late(one, task)]
    if late:
        worst = late[0]
        last = worst.day - timedelta(days=task.lag_days)
        more = f", and {len(late) - 1} more forecasts do so" if len(late) > 1 else ""
        leak = f"the forecast for {worst.day} rests on amounts of {worst.data_until}, later than {last}{more}"
        return Marked(without_total(total(rules, ()), "invalid", leak))
    try:
        scored = score_forecasts(found, outcomes, task)
    except UsageError as problem:
        raise SubmissionError(f"{path.name}: {problem}") from None
    apart = "; ".join(f"{days} day{'s' if days > 1 else ''} ahead {value}" for days, value in scored.by_horizon.items())
    message = f"mean WIS {scored.wis} over {scored.days} forecasts ({apart}); baseline {task.baseline_wis}"
    line = blank("WIS", "program", "Weighted interval score", found=float(scored.wis), message=message,
                 expected=float(task.reference_wis))  # fmt: skip
    credit = Fraction(scored.score) / 100
    return Marked(total(rules, [part(line, Fraction(100), credit, credit)]), forecast=scored)


def _is_late(one: Forecast, task: ForecastTask) -> bool:
    return one.data_until is not None and one.data_until > one.day - timedelta(days=task.lag_days)


def _table(submission: Path, rules: Rubric) -> Path:
    if not submission.exists():
        raise UsageError(f"{submission}: no such file or folder; give a table ({' or '.join(SUFFIXES)})")
    if submission.is_file():
        return submission
    tables = sorted(path for path in submission.glob(rules.submission or "*") if path.suffix.lower() in SUFFIXES)
    if len(tables) != 1:
        names = ", ".join(path.name for path in tables[:5]) or "none"
        raise SubmissionError(f"{submission.name}: one table ({' or '.join(SUFFIXES)}) is expected; found {names}")
    return tables[0]


def _forecasts(path: Path) -> list[Forecast]:
    rows = read_table(path, ("day", "horizon", "level", "value", "data_until"), SubmissionError)
    quantiles: dict[tuple[date, int], dict[Decimal, Decimal]] = {}
    until: dict[tuple[date, int], date] = {}
    for row in rows:
        key, level, value, seen = _quantile(path, row)
        if level in quantiles.setdefault(key, {}):
            raise SubmissionError(f"{path.name}:{row.number}: the level {level} for {key[0]} stands there twice")
        quantiles[key][level] = value
        until[key] = max(seen, until.get(key, seen))
    return [
        Forecast(day=day, horizon=horizon, quantiles=found, data_until=until[day, horizon])
        for (day, horizon), found in quantiles.items()
    ]


def _quantile(path: Path, row: Row) -> tuple[tuple[date, int], Decimal, Decimal, date]:
    cells = row.cells
    where = f"{path.name}:{row.number}"
    day, until = day_of(cells["day"]), day_of(cells["data_until"])
    if day is None or until is None:
        name = "day" if day is None else "data_until"
        raise SubmissionError(f"{where}: {name} is {cells[name]!r}; a date such as 2026-03-31 is expected")
    level, value = number_of(cells["level"]), number_of(cells["value"])
    if level is None or value is None:
        name = "level" if level is None else "value"
        raise SubmissionError(f"{where}: {name} is {cells[name]!r}; a finite number is expected")
    horizon = cells["horizon"]
    if not horizon.isdecimal() or len(horizon) > _DIGITS or int(horizon) < 1:
        raise SubmissionError(f"{where}: horizon is {horizon!r}; a whole number of days is expected")
    made = day_of(cells["made_at"]) if cells.get("made_at") else None
    if made is not None and (day - made).days < int(horizon):
        raise SubmissionError(f"{where}: made on {made}, which is not {horizon} days ahead of {day}")
    if made is not None and until > made:
        raise SubmissionError(f"{where}: made on {made} from amounts of {until}; one of the two stamps is wrong")
    return (day, int(horizon)), level, value, until


def questions(rules: Rubric, submission: Path, verdicts: Sequence[Verdict], evidence: Evidence | None) -> Marked:
    """Score a set of questions, each item 0 to 4: from a table of scores, or from verdicts on a folder of answers.

    The table has the columns ``question, item, score`` and, if kept, ``leaked`` (true or false). Raises UsageError
    for a missing, unknown or doubled score, and for one that its quote leaves open.
    """
    from xlcheck.quotes import verify
    from xlcheck.scoring.model import said, total, without_total
    from xlcheck.scoring.outcome import outcome
    from xlcheck.scoring.parts import blank, part

    results: tuple[CheckResult, ...] = ()
    decided: dict[str, Decision] = {}
    if submission.is_file() and submission.suffix.lower() in SUFFIXES:
        (scores, leaked), leak = _scores(submission), None
    else:
        answer = _answer(submission, rules)
        decided = _decided(rules, verify(verdicts, answer.passages()))
        scores = _grades(rules, decided)
        leak = leak_in(answer.recalc, answer.memos, evidence)
        leaked = ["the answers"] if leak is not None else []
        results = warned(answer.memos, answer.recalc)
    asked = {name: [item for item in rules.judge if item.question == name] for name in rules.questions}
    wanted = {name: [OutcomeItem(id=item.id, part=item.part) for item in items] for name, items in asked.items()}
    found = outcome(wanted, scores, leaked)
    parts = [
        part(
            blank(
                item.id,
                "judge",
                item.title or item.pass_if,
                stage=item.stage,
                dimension=item.dimension,
                **said(decided.get(item.id)),
            ),
            Fraction(100, len(asked) * len(items)),
            *[Fraction(scores[name][item.id], 4)] * 2,
        )
        for name, items in asked.items()
        for item in items
    ]
    card = total(rules, parts)
    reason = leak or found.reason
    card = card if reason is None else without_total(card, "invalid", reason)
    return Marked(card, outcome=found, results=results)


def _decided(rules: Rubric, verdicts: Iterable[Verdict]) -> dict[str, Decision]:
    """Return what the verdicts on each item come to; UsageError for an item that they leave open."""
    from xlcheck.scoring.decisions import by_item, decide

    given = by_item(verdicts)
    found = {
        item.id: decide(given[item.id], item.quote == "required", rules.unverified_quote)
        for item in rules.judge
        if item.id in given
    }
    for name, decision in found.items():
        if decision.open:
            raise UsageError(f"item {name}: {decision.reason}; an outcome leaves no item open")
    return found


def _grades(rules: Rubric, decided: Mapping[str, Decision]) -> dict[str, dict[str, int]]:
    return {
        name: {
            item.id: int(4 * decided[item.id].low)
            for item in rules.judge
            if item.question == name and item.id in decided
        }
        for name in rules.questions
    }


def _scores(path: Path) -> tuple[dict[str, dict[str, int]], list[str]]:
    scores: dict[str, dict[str, int]] = {}
    leaked: list[str] = []
    for row in read_table(path, ("question", "item", "score"), UsageError):
        question, item, score = (row.cells[name] for name in ("question", "item", "score"))
        where = f"{path.name}:{row.number}"
        if not score.isdecimal() or len(score) > _DIGITS:
            raise UsageError(f"{where}: the score of {item} is {score!r}; write a whole number from 0 to 4")
        if item in scores.setdefault(question, {}):
            raise UsageError(f"{where}: the item {item} of {question} stands there twice")
        scores[question][item] = int(score)
        told = row.cells.get("leaked", "") or "false"
        if told.lower() not in ("true", "false"):
            raise UsageError(f"{where}: leaked is {told!r}; write true or false")
        if told.lower() == "true" and question not in leaked:
            leaked.append(question)
    return scores, leaked
