"""Known-quality answers: does a rubric give them the scores they must have.

``calibration.yaml`` beside a task's fixtures lists the answers; paths are relative to that file::

    schema_version: 1
    rubric: sic-epitaxy-dcf              # a bundled id, or a path to a rubric file
    answers:
      - {name: reference, kind: reference, submission: reference, verdicts: reference/verdicts.json}
      - {name: empty, kind: empty, submission: empty}
      - {name: growth-above-wacc, kind: fatal, submission: growth-above-wacc, verdicts: reference/verdicts.json}
      - {name: careless, kind: other, submission: careless, verdicts: careless/verdicts.json, low: 55, high: 80}

`kind` sets the band: ``reference`` at least 95 (its low end), ``empty`` exactly 0, ``numbers-only`` below 50 (its
high end), ``fatal`` at most 40 (its high end). ``low`` and ``high`` state the band of ``other`` answers, or narrow
another kind's: the low end may not lie below `low`, nor the high end above `high`. An answer with ``followup`` (and
``followup_verdicts``) is held to its band by the score of its second round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, model_validator

from xlcheck.cells import Frozen
from xlcheck.errors import UsageError
from xlcheck.progress import watched
from xlcheck.resources import bundled
from xlcheck.rubric import fingerprint, load_rubric
from xlcheck.rubric_items import Id, Score
from xlcheck.scoring.card import Line, ScoreCard
from xlcheck.yamltext import MisfitError, read_document, validate

Kind = Literal["reference", "empty", "numbers-only", "fatal", "other"]


class Answer(Frozen):
    """One answer of known quality."""

    name: Id
    kind: Kind
    submission: str
    """Workbook or folder, relative to the calibration file."""
    verdicts: str | None = None
    """Verdict file, relative to the calibration file; None leaves every judge item open."""
    followup: str | None = None
    """Workbook or folder of the second round; the band is then that of the second round's score."""
    followup_verdicts: str | None = None
    """Verdict file of the second round."""
    low: Score | None = None
    """The low end may not lie below this."""
    high: Score | None = None
    """The high end may not lie above this."""


class CalibrationFile(Frozen):
    """The content of ``calibration.yaml``."""

    schema_version: int
    """1 for this version."""
    rubric: str
    """Bundled id, or path relative to the calibration file."""
    answers: Annotated[tuple[Answer, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> CalibrationFile:
        if self.schema_version != 1:
            raise MisfitError(("schema_version",), f"found {self.schema_version}; this version of xlcheck reads 1")
        counts = Counter(answer.name for answer in self.answers)
        for index, answer in enumerate(self.answers):
            if counts[answer.name] > 1:
                raise MisfitError(("answers", index, "name"), f"{answer.name!r} names two answers")
            if answer.kind == "other" and answer.low is None and answer.high is None:
                raise MisfitError(("answers", index), "an answer of kind 'other' states its band with low or high")
            if answer.followup_verdicts is not None and answer.followup is None:
                raise MisfitError(("answers", index, "followup_verdicts"), "there is no 'followup' that they speak of")
        return self


class Row(Frozen):
    """How one answer fared."""

    name: str
    kind: Kind
    low: Decimal | None
    high: Decimal | None
    status: str
    band: str
    """What must hold, in words."""
    holds: bool
    reason: str | None = None
    """For a broken band: what is wrong."""
    moved: tuple[str, ...] = ()
    """For a broken band: the items that moved it, most points first."""


class Calibration(Frozen):
    """All answers of a task against its rubric."""

    rubric_id: str
    rubric_sha256: str
    """Fingerprint of the rubric as it was calibrated."""
    rows: tuple[Row, ...]

    @property
    def holds(self) -> bool:
        """Say whether every band holds."""
        return all(row.holds for row in self.rows)


class Case(NamedTuple):
    """An answer with the files that grading it takes."""

    answer: Answer
    submission: Path
    rubric: str | Path
    verdicts: Path | None
    followup: Path | None = None
    followup_verdicts: Path | None = None


Grade = Callable[[Case], ScoreCard]
"""Scores an answer."""


class Held(NamedTuple):
    """An answer, its score card, and whether that lies in its band."""

    case: Case
    card: ScoreCard
    row: Row


def calibrate(source: str | Path, grade: Grade | None = None) -> Calibration:
    """Grade the answers of a calibration file (its path, its folder, or the id of a bundled task).

    Raises UsageError for a calibration file, rubric, verdict file or path that is not valid.
    """
    return calibration_of(hold_all(source, grade))


def hold_all(source: str | Path, grade: Grade | None = None) -> tuple[Held, ...]:
    """Grade every answer of a calibration file and keep the score cards; raises as `calibrate` does."""
    return tuple(hold(case, grade) for case in watched(read_cases(source), "Grading known-quality answers"))


def calibration_of(answers: Sequence[Held]) -> Calibration:
    """Return what became of the answers; there is at least one."""
    rules = load_rubric(answers[0].case.rubric)
    rows = tuple(answer.row for answer in answers)
    return Calibration(rubric_id=rules.id, rubric_sha256=fingerprint(rules), rows=rows)


def read_cases(source: str | Path) -> tuple[Case, ...]:
    """Read a calibration file; UsageError if it is not valid or names a file that is not there."""
    path = calibration_path(source)
    plan = validate(read_document(path, UsageError), CalibrationFile, UsageError)
    return tuple(_case(answer, path, _rubric(plan, path)) for answer in plan.answers)


def grade_case(case: Case, grade: Grade | None = None) -> Row:
    """Grade one answer and hold it to its band; UsageError for a rubric or verdict file that is not valid."""
    return hold(case, grade).row


def hold(case: Case, grade: Grade | None = None) -> Held:
    """Grade one answer and keep its score card; raises as `grade_case` does."""
    card = (grade or _pipeline_grade)(case)
    return Held(case, card, _row(case.answer, card))


def calibration_path(source: str | Path) -> Path:
    """Return the calibration file of a path, a folder or a bundled task id; UsageError where there is none."""
    path = Path(source)
    candidates = [path, path / "calibration.yaml"]
    task = bundled("fixtures", str(source))
    if task is not None:
        candidates.append(task / "calibration.yaml")
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise UsageError(f"{source}: there is no calibration.yaml; give that file, its folder or a bundled task's id")


def _rubric(plan: CalibrationFile, path: Path) -> str | Path:
    is_path = "/" in plan.rubric or plan.rubric.endswith((".yaml", ".yml"))
    return path.parent / plan.rubric if is_path else plan.rubric


def _case(answer: Answer, path: Path, rubric: str | Path) -> Case:
    def beside(name: str | None) -> Path | None:
        if name is None:
            return None
        if not (path.parent / name).exists():
            raise UsageError(f"{path}: answer {answer.name}: there is no {name} beside the calibration file")
        return path.parent / name

    submission = beside(answer.submission)
    assert submission is not None  # the key is needed
    said = beside(answer.verdicts), beside(answer.followup), beside(answer.followup_verdicts)
    return Case(answer, submission, rubric, *said)


def _pipeline_grade(case: Case) -> ScoreCard:
    from xlcheck.pipeline import grade

    again, said = case.followup, case.followup_verdicts
    report = grade(case.submission, case.rubric, case.verdicts, followup=again, followup_verdicts=said)
    card = (report.followup or report).score_card
    assert card is not None  # `grade` always scores
    return card


def _row(answer: Answer, card: ScoreCard) -> Row:
    low, high = card.low, card.high
    missing: tuple[str | None, tuple[str, ...]] = (f"it has no total: {card.reason}", ())
    reason, moved = missing if low is None or high is None else _verdict(answer, low, high, card)
    return Row(
        name=answer.name,
        kind=answer.kind,
        low=low,
        high=high,
        status=card.status,
        band=band(answer),
        holds=reason is None,
        reason=reason,
        moved=moved,
    )


def band(answer: Answer) -> str:
    """Return in words what an answer must score."""
    by_kind = {
        "reference": "at least 95",
        "empty": "exactly 0",
        "numbers-only": "below 50",
        "fatal": "at most 40",
        "other": "",
    }
    parts = [by_kind[answer.kind]]
    parts += [f"at least {answer.low}"] if answer.low is not None else []
    parts += [f"at most {answer.high}"] if answer.high is not None else []
    return " and ".join(dict.fromkeys(part for part in parts if part))


def _verdict(answer: Answer, low: Decimal, high: Decimal, card: ScoreCard) -> tuple[str | None, tuple[str, ...]]:
    floor = max(answer.low or Decimal(0), Decimal(95 if answer.kind == "reference" else 0))
    ceilings = {"fatal": Decimal(40), "empty": Decimal(0)}
    ceiling = min(answer.high if answer.high is not None else Decimal(100), ceilings.get(answer.kind, Decimal(100)))
    if low < floor:
        return f"its low end {low} lies below {floor}", _losers(card, floor - low)
    if high > ceiling:
        cause = "" if answer.kind != "fatal" or card.fatal else ", for no fatal error was triggered"
        return f"its high end {high} lies above {ceiling}{cause}", _untriggered(card) if cause else _winners(card)
    if answer.kind == "numbers-only" and high >= 50:
        return f"its high end {high} does not lie below 50", _winners(card, kind="judge")
    return None, ()


def _losers(card: ScoreCard, short: Decimal) -> tuple[str, ...]:
    """Return what cost most, until it explains the shortfall; a fatal error that caps comes first."""
    capped = card.uncapped > (card.low or 0)
    fatals = [line for line in card.lines if line.kind == "fatal" and line.credit_low == 0 and capped]
    moved = [_fatal_words(line) for line in fatals]
    lines = sorted(card.lines, key=lambda line: line.lost + line.at_stake, reverse=True)
    explained = Decimal(0)
    for line in lines:
        points = line.lost + line.at_stake
        if points <= 0 or (explained >= short and not capped):
            break
        explained += points
        open_words = " open" if line.open else ""
        moved.append(f"{line.item} −{points}{open_words}: {line.message or line.reason or line.title}")
    return tuple(moved)


def _fatal_words(line: Line) -> str:
    return f"{line.item} {'open, ' if line.open else ''}caps the total: {line.message or line.reason or line.title}"


def _untriggered(card: ScoreCard) -> tuple[str, ...]:
    """Return every fatal error that was not found, with the reason; what earned most where the rubric has none."""
    words = [
        f"{line.item} {'is open' if line.open else 'was not found'}: {line.message or line.reason or 'it holds'}"
        for line in card.lines
        if line.kind == "fatal"
    ]
    return tuple(words) or _winners(card)


def _winners(card: ScoreCard, kind: str | None = None) -> tuple[str, ...]:
    """Return what earned most at the high end, judge items alone where those should have earned little."""
    earned = [
        (line.weight - line.lost, line)
        for line in card.lines
        if line.kind in ("program", "judge") and kind in (None, line.kind) and line.weight > line.lost
    ]
    earned.sort(key=lambda pair: pair[0], reverse=True)
    return tuple(f"{line.item} +{points}: {line.title}" for points, line in earned[:5])
